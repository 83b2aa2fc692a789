"""The registry of policies: exact ids, and nothing that another player could be taken for."""

from __future__ import annotations

import numpy as np
import pytest

from okgin_env import Rules
from okgin_env.kernel import policies
from okgin_env.kernel.policies import NO_POLICY, POLICIES, choose
from okgin_env.kernel.state import as_records, new_states
from okgin_env.layout import N_ACTIONS
from okgin_env.players import DESCRIPTIONS, names


def test_ids_and_names_are_those_that_results_were_stored_under() -> None:
    """Stored fingerprints hold the ids: they never change."""
    assert [(policy.id, policy.name) for policy in POLICIES] == [
        (0, "random"), (1, "novice"), (2, "simple"), (3, "knocker"), (4, "careful"), (5, "camper"), (6, "hunter"),
    ]  # fmt: skip
    assert names() == [policy.name for policy in POLICIES]
    assert all(DESCRIPTIONS[policy.name] == policy.description for policy in POLICIES)


@pytest.mark.parametrize("broken", ["missing", "renamed", "twice", "other function"])
def test_a_policy_that_is_not_everywhere_is_an_import_error(
    broken: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *rest = POLICIES
    changed = {
        "missing": rest,
        "renamed": [first._replace(name="miser"), *rest],
        "twice": [first._replace(id=rest[0].id), *rest],
        "other function": [first._replace(move=rest[0].move), *rest],
    }
    monkeypatch.setattr(policies, "POLICIES", tuple(changed[broken]))
    with pytest.raises(ImportError, match="choose\\(\\) asks for"):
        policies._check_registry()


def test_an_unknown_id_is_nobody() -> None:
    state, rules = new_states(1), as_records(Rules().to_record())
    for policy in (-1, len(POLICIES), 100):
        action = choose(state[0], rules[0], policy, np.zeros(52, np.int16))
        assert action == NO_POLICY
        assert not 0 <= action < N_ACTIONS
