"""The documentation follows the code: made pages are fresh, links lead somewhere, examples run."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import okgin_env
from okgin_env.cli.main import COMMANDS
from tests.helpers.paths import ROOT

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])


def test_made_pages_are_fresh() -> None:
    made = runpy.run_path(str(ROOT / "docs" / "make.py"))
    assert (ROOT / "docs" / "environment.md").read_text() == made["environment_page"]()
    for name, text in made["pictures"]().items():
        assert (ROOT / "docs" / "images" / name).read_text() == text, f"run docs/make.py: {name}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    text = page.read_text()
    targets = re.findall(r"\]\(([^)#\s]+)", text) + re.findall(r'src(?:set)?="([^"]+)"', text)
    for target in targets:
        if not target.startswith("http"):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_and_files_are_there(page: Path) -> None:
    """Every module of a command, script, file and folder of this project that a page names."""
    text = page.read_text()
    if page.stem == "migration":  # the first column is what was before
        text = re.sub(r"^\| [^|]*\|", "|", text, flags=re.MULTILINE)
    owned = "okgin_env|agents|tests|tools|benchmarks|examples|notebooks|docs"
    named = {
        f"{m.replace('.', '/')}.py"
        for m in re.findall(rf"python -m ((?:{owned})\.\w[\w.]*\w)", text)
    }
    named |= set(re.findall(r"(?:python|bash) ([\w/]+\.(?:py|sh))", text))
    named |= set(re.findall(rf"(?<![\w/.-])((?:{owned})/[\w/.-]*\w)", text))
    commands = set(re.findall(r"(?:^|[`:(])okgin ([a-z]+)", text, re.MULTILINE))
    assert commands <= {*COMMANDS}, page.name
    gone = {name for name in named - {okgin_env.ENV_ID} if not (ROOT / name).exists()}
    assert not gone, f"{page.name} names {sorted(gone)}"


def test_readmes_python_examples_run() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert len(blocks) == 2
    exec(compile(blocks[0], "README.md", "exec"), {})
    calls = re.findall(r">>> (.*?)(?:  #.*)?\n(?!>>>)(.*)\n", blocks[1])
    assert len(calls) == 2
    names: dict = {}
    exec("from okgin_env import analysis", names)
    for call, answer in calls:
        assert repr(eval(call, names)) == answer, call


def test_howto_examples_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("sb3_contrib")
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / "howto.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 6
    for block in blocks:
        exec(compile(block, "howto.md", "exec"), {})
    assert (tmp_path / "hands.okgin").stat().st_size > 0
    assert (tmp_path / "past.zip").stat().st_size > 0


def test_howto_samples_legal_actions_of_a_vector() -> None:
    import gymnasium as gym

    call = "env.action_space.sample(tuple(mask))"
    assert f"`{call}`" in (ROOT / "docs" / "howto.md").read_text()
    env = gym.make_vec(okgin_env.ENV_ID, num_envs=3)
    mask = env.reset(seed=1)[1]["action_mask"]
    actions = eval(call, {"env": env, "mask": mask})
    assert mask[range(3), actions].all()


def test_pettingzoo_examples_run() -> None:
    pytest.importorskip("pettingzoo")
    text = (ROOT / "docs" / "pettingzoo.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 2
    names: dict = {}
    for block in blocks:
        exec(compile(block, "pettingzoo.md", "exec"), names)
    assert names["env"].agents == []  # the loop has played the hand to its end


def test_readme_has_its_tables() -> None:
    text = (ROOT / "README.md").read_text()
    for row in ("| agent | simple |", "| agent | random |", "| camper | simple |"):
        assert row in text


def test_howto_bot_plays() -> None:
    from okgin_env import Rules, players
    from okgin_env.arena.match import play

    pytest.importorskip("rich")
    text = (ROOT / "docs" / "howto.md").read_text()
    names: dict = {}
    exec(
        compile(re.findall(r"```python\n(# mybots.py.*?)```", text, re.DOTALL)[0], "howto", "exec"),
        names,
    )
    patient, simple = names["Patient"](), players.make("simple")
    results = play(patient, simple, Rules.preset("classic"), 20, seed=0)
    assert (results.ending != 6).all()  # nothing illegal


def test_player_of_the_docs_plays_and_all_hooks_are_told() -> None:
    from okgin_env import Rules, players
    from okgin_env.arena.match import play

    pytest.importorskip("rich")
    text = (ROOT / "docs" / "players.md").read_text()
    names: dict = {}
    exec(compile(re.findall(r"```python\n(.*?)```", text, re.DOTALL)[0], "players", "exec"), names)
    results = play(names["Quick"](), players.make("simple"), Rules.preset("classic"), 20, seed=0)
    assert (results.ending != 6).all()  # nothing illegal
    with pytest.raises(ValueError, match="players=3; allowed: 2"):
        names["Quick"]().check_rules(Rules.preset("french", 3))
    told = text.split("## A player of your own")[1].split("## ")[0]
    hooks = {name for name in vars(players.Player) if not name.startswith("_")} | {"name"}
    assert set(re.findall(r"^\| `(\w+)", told, re.MULTILINE)) == hooks - {"act"}


def test_search_options_are_those_in_the_docs() -> None:
    from dataclasses import fields

    from okgin_env.players.search import SearchPlayer

    text = (ROOT / "docs" / "players.md").read_text()
    told = dict(re.findall(r"^\| `(\w+)` \| ([\w+]+) \|", text, re.MULTILINE))
    defaults = {f.name: f.default for f in fields(SearchPlayer) if f.repr}
    assert {
        k: "none" if v is None else f"{v:g}" if isinstance(v, float) else str(v)
        for k, v in defaults.items()
    } == told
