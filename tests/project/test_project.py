"""The house itself: which module may import which, what an import costs, what the wheel holds."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
import venv
import zipfile
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import okgin_env
from tests.helpers.paths import ROOT, python

PACKAGE = ROOT / "okgin_env"
ORDER = [  # imports go from later rows to earlier ones, or along a row
    {"okgin_env.utils", "okgin_env.layout"},
    {"okgin_env.cards", "okgin_env.rules"},
    {"okgin_env"},
    {"okgin_env.kernel"},
    {"okgin_env.analysis", "okgin_env.positions", "okgin_env.view"},
    {"okgin_env.render", "okgin_env.histories", "okgin_env.players"},
    {"okgin_env.engine"},
    {"okgin_env.env", "okgin_env.vector", "okgin_env.sb3", "okgin_env.aec", "okgin_env.wrappers"},
    {"okgin_env.arena"},
    {"okgin_env.peers", "okgin_env.learning"},
    {"okgin_env.cli"},
    {"okgin_env.__main__"},
    {"agents", "train", "evaluate"},
]


def _layer(module: str) -> int | None:
    """The row of a module, by its longest name in the table."""
    parts = module.split(".")
    for n in range(len(parts), 0, -1):
        name = ".".join(parts[:n])
        for k, row in enumerate(ORDER):
            if name in row:
                return k
    return None


def _modules() -> list[Path]:
    found = [*ROOT.glob("okgin_env/**/*.py"), *ROOT.glob("agents/*.py")]
    return [*found, ROOT / "train.py", ROOT / "evaluate.py"]


def _name(path: Path) -> str:
    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    return name.removesuffix(".__init__")


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names.add(node.module)
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name for name in names if name.split(".")[0] in ("okgin_env", "agents", "tests")}


@pytest.mark.parametrize("path", _modules(), ids=_name)
def test_imports_go_one_way(path: Path) -> None:
    own = _layer(_name(path))
    assert own is not None, f"{_name(path)} has no row in ORDER"
    by_its_package = own == _layer("okgin_env") and _name(path) != "okgin_env"
    assert not by_its_package, f"{_name(path)} has no row of its own in ORDER"
    for name in _imports(path):
        if name.startswith("okgin_env.__version__") or name == "okgin_env":
            continue
        other = _layer(name)
        assert other is not None, name
        assert other <= own, f"{_name(path)} imports {name}"


def _graph() -> dict[str, set[str]]:
    """Module to the modules that it imports, where they are files of this package."""
    names = {_name(path): path for path in _modules()}
    return {
        name: {other for other in _imports(path) if other in names and other != name}
        for name, path in names.items()
    }


def test_imports_make_no_circle() -> None:
    TopologicalSorter(_graph()).prepare()  # raises CycleError, which names the circle


def test_the_top_of_the_package_holds_what_programs_import() -> None:
    found = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__", "__main__"}
    assert found == {
        *("env", "vector", "sb3", "aec", "wrappers"),
        *("rules", "cards", "layout", "analysis", "positions", "view"),
    }


def test_pictures_and_players_never_see_a_state() -> None:
    for path in [*ROOT.glob("okgin_env/render/*.py"), *ROOT.glob("okgin_env/players/*.py")]:
        bad = {name for name in _imports(path) if name.startswith("okgin_env.kernel.state.new")}
        assert not bad, path
    for path in ROOT.glob("okgin_env/render/*.py"):
        assert not any("kernel" in name for name in _imports(path)), path


def test_kernel_imports_only_numpy_numba_and_layout() -> None:
    for path in ROOT.glob("okgin_env/kernel/*.py"):
        for name in _imports(path):
            assert name.startswith(("okgin_env.kernel", "okgin_env.layout")), (path, name)


def test_import_is_light_and_registers_once() -> None:
    code = (
        "import sys, okgin_env, importlib, gymnasium; importlib.reload(okgin_env);"
        "heavy = {'torch', 'numba', 'pettingzoo', 'matplotlib', 'stable_baselines3'};"
        "print(heavy & set(sys.modules), okgin_env.ENV_ID in gymnasium.registry)"
    )
    done = python("-W", "error", "-c", code)
    assert done.stdout.strip() == "set() True", done.stderr


def test_stale_compiled_code_is_never_served(tmp_path: Path) -> None:
    """Editing a callee in another file changes what its callers do at the next start."""
    package = tmp_path / "okgin_env"
    (package / "kernel").mkdir(parents=True)
    for name in ("__init__.py", "layout.py", "rules.py", "cards.py"):
        (package / name).write_text((ROOT / "okgin_env" / name).read_text())
    shutil.copytree(ROOT / "okgin_env" / "utils", package / "utils")
    for name in ("__init__.py", "jit.py", "linking.py", "cache.py"):
        source = (ROOT / "okgin_env" / "kernel" / name).read_text()
        (package / "kernel" / name).write_text(source)
    head = "from okgin_env.kernel.jit import compiled\n"
    callee = package / "kernel" / "callee.py"
    (package / "kernel" / "caller.py").write_text(
        head
        + "from okgin_env.kernel.callee import f\n\n@compiled\ndef g(x):\n    return f(x) + 1\n"
    )
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "NUMBA_DISABLE_JIT": "0"}
    env = {"PYTHONPATH": str(tmp_path), **cache}
    said = []
    for value in (10, 20):
        callee.write_text(head + f"\n@compiled\ndef f(x):\n    return x + {value}\n")
        for _ in range(2):  # the second start is served from the cache
            code = "from okgin_env.kernel.caller import g; print(g(1))"
            done = python("-c", code, env=env, cwd=tmp_path)
            said.append(done.stdout.strip() or done.stderr)
    assert said == ["12", "12", "22", "22"]


def test_continuous_integration_runs_the_readmes_test_command() -> None:
    script = (ROOT / ".ci" / "run").read_text()
    assert re.search(r"^command=.*README\.md\)$", script, re.MULTILINE)
    readme = (ROOT / "README.md").read_text()
    marked = readme.split("<!-- test -->")[1].split("```")[1]
    commands = [line for line in marked.splitlines() if line.startswith("pip install")]
    assert len(commands) == 1
    assert "pytest" in commands[0]


def test_package_data_goes_into_the_wheel() -> None:
    """Files that the package reads at run time, such as templates and match tables."""
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    listed = {path for p in patterns["package-data"]["okgin_env"] for path in PACKAGE.glob(p)}
    found = {p for p in PACKAGE.rglob("*") if p.is_file() and "__pycache__" not in p.parts}
    assert {path for path in found if path.suffix != ".py"} == listed


def test_pillow_is_asked_for_that_draws_what_pictures_need() -> None:
    """Before 11 it refuses lines of part of a pixel, with which bold text is drawn."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    asked = {need for extra in extras.values() for need in extra if need.startswith("pillow")}
    assert asked == {"pillow>=11"}


@pytest.mark.slow
def test_wheel_works_in_an_empty_environment(tmp_path: Path) -> None:
    """The wheel holds okgin_env only, with its compiled code, and plays with nothing but the core dependencies."""
    subprocess.run(
        [sys.executable, str(ROOT / "tools" / "build_wheel.py"), str(tmp_path)], check=True
    )
    wheel = next(tmp_path.glob("*.whl"))
    names = zipfile.ZipFile(wheel).namelist()
    assert all(name.startswith(("okgin_env/", "okgin_env-")) for name in names), names
    venv.create(tmp_path / "venv", with_pip=True)
    inside = str(tmp_path / "venv" / "bin" / "python")
    install = ["-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt"), str(wheel)]
    subprocess.run([inside, *install], check=True, capture_output=True)
    (tmp_path / "mybots.py").write_text(
        "from okgin_env.players import Bot\nclass Mine(Bot):\n    name = 'patient'\n"
        "    def choose(self, view, rng):\n        return view.legal[0]\n"
    )

    def okgin(*words: str) -> subprocess.CompletedProcess[str]:
        settings = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), "NUMBA_CACHE_DIR": ""}
        command = [str(tmp_path / "venv" / "bin" / "okgin"), *words]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, env=settings, input="q\ny\n")  # fmt: skip

    assert okgin("--version").stdout == f"okgin-env {okgin_env.__version__}\n"
    assert "machine" in okgin("warm").stdout
    watched = okgin("watch", "expert", "search:8", "--seed", "1", "--delay", "0")
    assert "final score: expert" in watched.stdout, watched.stderr
    assert "The game ends here." in okgin("play", "--against", "camper").stdout
    own = okgin("watch", "mybots:Mine", "simple", "--seed", "1", "--delay", "0")
    assert "final score: patient" in own.stdout, own.stderr
    for command, extra in (("evaluate", "arena"), ("train", "train"), ("refine", "train")):
        words = ["simple", "camper"] if command == "evaluate" else []
        words = ["policy.safetensors", "--out", "x"] if command == "refine" else words
        refused = okgin(command, *words)
        assert refused.returncode == 2
        assert f"pip install 'okgin-env[{extra}]'" in refused.stderr
        assert refused.stderr.count("\n") == 1
    assert not [*(tmp_path / "cache").rglob("okgin_env.*")], "something was compiled"
    digest = [sys.executable, "-m", "tests.helpers.digest", "60"]
    source = subprocess.run(digest, capture_output=True, text=True, cwd=ROOT, check=True).stdout
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    digest[0] = inside
    assert subprocess.run(digest, capture_output=True, text=True, cwd=tmp_path).stdout == source
