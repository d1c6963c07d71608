"""What is written beside the code: examples in docstrings, the README, notebooks; and types."""

import doctest
import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import sottovoce
from sottovoce import _sottovoce

ROOT = Path(__file__).parent.parent
MODULES = [one.name for one in pkgutil.iter_modules(sottovoce.__path__) if one.name != "_sottovoce"]
#: But for the one that has a test of its own.
NOTEBOOKS = sorted(path for path in (ROOT / "notebooks").glob("*.ipynb") if path.stem != "private-training")


@pytest.mark.parametrize("name", ["", *MODULES])
def test_examples_in_docstrings_run(name):
    if name == "training":
        pytest.importorskip("numpy")
    module = importlib.import_module(f"sottovoce.{name}" if name else "sottovoce")
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_run_and_keep_no_outputs(path, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(path, as_version=4)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert code and all(not cell.outputs and cell.execution_count is None for cell in code), "strip its outputs"
    for module in notebook.metadata.get("needs", []):
        pytest.importorskip(module)
    nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}).execute()


def test_types_are_sound(tmp_path):
    pytest.importorskip("mypy")
    checked = [ROOT / "python" / "sottovoce" / f"{name}.py" for name in ["__init__", *MODULES]]
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file", ROOT / "pyproject.toml", "--cache-dir", tmp_path]
    ran = subprocess.run([*command, *checked, ROOT / "examples" / "club.py"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_stub_is_what_was_compiled(tmp_path):
    pytest.importorskip("mypy")
    left_out = tmp_path / "left_out"
    # A wheel without nodes lacks what they need; the module's own list of names is no part of its interface.
    left_out.write_text("sottovoce._sottovoce.__all__\n" + ("" if hasattr(_sottovoce, "held") else "sottovoce._sottovoce.(held|take_part)\n"))
    command = [sys.executable, "-m", "mypy.stubtest", "--concise", "--allowlist", left_out, "--ignore-unused-allowlist", "sottovoce._sottovoce"]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_the_package_says_that_it_is_typed():
    assert (Path(sottovoce.__file__).parent / "py.typed").exists()
