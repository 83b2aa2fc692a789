"""Networks in the kernel: the same scores as matrix products, alone or in any batch."""

from __future__ import annotations

import numpy as np
import pytest

from okgin_env import Rules, players
from okgin_env.engine.games import Games
from okgin_env.layout import layout
from okgin_env.players.base import Decisions
from okgin_env.players.network import NetworkPlayer
from tests.helpers.networks import network

CLASSIC = Rules.preset("classic")


def decisions(episode: str = "hand", n: int = 150) -> Decisions:
    games, everyone, camper = (
        Games(n, CLASSIC, episode=episode),
        np.arange(n),
        players.make("camper"),
    )
    games.seed(everyone, everyone.astype(np.uint64))
    games.reset(everyone)
    for _ in range(9):
        games.step(camper.act(games.decisions(everyone)), everyone, autoreset=True)
    return games.decisions(everyone)


def products(player: NetworkPlayer, observations: np.ndarray) -> np.ndarray:
    """The scores as a textbook has them, in double precision."""
    x = observations.astype(np.float64)
    for k, (weight, bias) in enumerate(zip(player.weights, player.biases, strict=True)):
        x = x @ weight.T.astype(np.float64) + bias
        if k < len(player.weights) - 1:
            x = np.maximum(x, 0) if player.activation == "relu" else np.tanh(x)
    return x


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("hidden", [(), (33,), (128, 128), (40, 7, 200)])
def test_scores_are_those_of_matrix_products(activation: str, hidden: tuple[int, ...]) -> None:
    asked = decisions()
    player = network(layout(2, False).size, *hidden, activation=activation)
    expected = products(player, asked.observations)
    assert np.abs(player.scores(asked) - expected).max() < 1e-5
    best = np.where(asked.masks == 1, player.scores(asked), -np.inf).argmax(axis=1)
    assert np.array_equal(player.act(asked), best)


def test_batches_do_not_matter() -> None:
    """Not by a bit: a game is the same alone and among thousands."""
    asked, player = decisions(), network(layout(2, False).size, 64, 64)
    whole = player.scores(asked)
    for size in (1, 5, 16, 17):
        parts = [player.scores(asked[k : k + size]) for k in range(0, len(asked), size)]
        assert np.array_equal(np.concatenate(parts), whole)


def test_scores_of_a_match_are_left_out_or_zero() -> None:
    small, large = layout(2, False).size, layout(2, True).size
    match, hand = decisions("match"), decisions("hand")
    assert match.observations.shape[1] == large
    blind = network(small, 20)
    assert np.abs(blind.scores(match) - products(blind, match.observations[:, :small])).max() < 1e-5
    seeing = network(large, 20)
    padded = np.pad(hand.observations, ((0, 0), (0, large - small)))
    assert np.abs(seeing.scores(hand) - products(seeing, padded)).max() < 1e-5
    assert np.abs(seeing.scores(match) - products(seeing, match.observations)).max() < 1e-5


def test_tables_of_another_size_are_refused() -> None:
    player = network(layout(2, False).size, 8)
    with pytest.raises(
        ValueError, match=r"net: made for observations of 675 features; allowed here"
    ):
        player.check_rules(Rules.preset("french", 3))
