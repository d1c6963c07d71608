"""What is written beside the code: examples in docstrings, the README, notebooks; and types."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import sottovoce

ROOT = Path(__file__).parent.parent
#: Modules that need what may not be here.
OPTIONAL = {"training", "torch", "peer"}

MODULES = [one.name for one in pkgutil.iter_modules(sottovoce.__path__) if one.name not in OPTIONAL | {"_sottovoce"}]


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_in_docstrings_run(name):
    module = importlib.import_module(f"sottovoce.{name}" if name else "sottovoce")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebooks_run_and_keep_no_outputs(path, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and all(not cell.outputs and cell.execution_count is None for cell in code), "strip its outputs"
    for module in notebook.metadata.get("needs", []):
        pytest.importorskip(module)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()


def test_types_are_sound(tmp_path):
    pytest.importorskip("mypy")
    checked = [ROOT / "python" / "sottovoce" / f"{name}.py" for name in ["__init__", *MODULES]]
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path]
    ran = subprocess.run([*command, *checked, ROOT / "examples" / "club.py"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_package_says_that_it_is_typed():
    assert (Path(sottovoce.__file__).parent / "py.typed").exists()
