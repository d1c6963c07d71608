"""The notebook on private training runs from the first cell to the last, and is kept without outputs."""

import json
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parent.parent / "notebooks" / "private-training.ipynb"


def test_no_outputs_are_kept():
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert cells and all(not cell.get("outputs") and cell.get("execution_count") is None for cell in cells)


def test_it_runs():
    pytest.importorskip("torch", reason="PyTorch is not installed; pip install torch")
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3").execute()
    said = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", []))
    assert "the claim stands" in said and "not covered" in said and "`gradient` is NaN" in said
