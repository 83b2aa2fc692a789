"""The notebooks run top to bottom."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.paths import PATIENCE, ROOT

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")
pytest.importorskip("pandas")
pytest.importorskip("sb3_contrib")

FOLDER = ROOT / "notebooks"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook_runs(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    book = nbformat.read(path, as_version=4)
    monkeypatch.setenv("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    client = nbclient.NotebookClient(
        book, timeout=PATIENCE, resources={"metadata": {"path": str(FOLDER.parent)}}
    )
    client.execute()
    outputs = [out for cell in book.cells if cell.cell_type == "code" for out in cell.outputs]
    assert not [out for out in outputs if out.output_type == "error"]
    warned = [out.text for out in outputs if out.output_type == "stream" and out.name == "stderr"]
    assert not warned, "a reader sees this in a cell"
    assert any(
        "image/svg+xml" in out.get("data", {}) or "image/png" in out.get("data", {})
        for out in outputs
    )
