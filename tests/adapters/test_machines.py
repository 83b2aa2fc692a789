"""Every adapter played any which way by a state machine: a bounded slice; `tests/conftest.py` says how to go on by hand."""

from __future__ import annotations

import pytest

pytest.importorskip("stable_baselines3")
pytest.importorskip("pettingzoo")

from tests.helpers.adapter_machine import Machine
from tests.helpers.adapters import ADAPTERS, Aec, Sb3, Single, Vector


class SingleMachine(Machine):
    kind = Single


class VectorMachine(Machine):
    kind = Vector


class Sb3Machine(Machine):
    kind = Sb3


class AecMachine(Machine):
    kind = Aec


TestSingle = pytest.mark.filterwarnings("error")(SingleMachine.TestCase)
TestVector = pytest.mark.filterwarnings("error")(VectorMachine.TestCase)
TestSb3 = pytest.mark.filterwarnings("error")(Sb3Machine.TestCase)
TestAec = pytest.mark.filterwarnings("error")(AecMachine.TestCase)


def test_every_adapter_is_played() -> None:
    assert {machine.kind for machine in Machine.__subclasses__()} == {*ADAPTERS.values()}
