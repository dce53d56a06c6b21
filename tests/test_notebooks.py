"""The notebooks of the documentation run from top to bottom, and show tables and pictures."""

from pathlib import Path

import pytest

from tests import ROOT

NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.mark.needs("nbclient", "ipykernel", "matplotlib", "pandas")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=[path.stem for path in NOTEBOOKS])
def test_a_notebook_runs_and_shows_pictures(path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    assert all(not cell.get("outputs") for cell in notebook.cells)  # they are committed without outputs
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    kinds = {kind for cell in notebook.cells for output in cell.get("outputs", ()) for kind in output.get("data", {})}
    assert {"image/png", "text/html"} <= kinds


def test_there_are_notebooks() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["epsilon", "mechanisms", "survey"]
