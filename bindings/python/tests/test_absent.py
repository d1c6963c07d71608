"""Without NumPy, networkx, pandas, SciPy, matplotlib and tqdm everything but what needs them is there; what needs them says so."""

import subprocess
import sys
from pathlib import Path

import pytest

BLOCKED = """
import sys

class Absent:
    names = {names!r}
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Absent())
"""

ALL = ["numpy", "networkx", "pandas", "scipy", "matplotlib", "tqdm", "torch", "dp_accounting", "opacus"]

USED = (Path(__file__).parent / "alone.py").read_text(encoding="utf-8")


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_everything_is_optional():
    ran = run(BLOCKED.format(names=ALL) + USED)
    assert ran.stdout == "used\n", ran.stderr


@pytest.mark.parametrize("name", ["numpy", "networkx", "pandas", "scipy", "matplotlib", "tqdm"])
def test_each_is_missed_by_itself_only(name):
    ran = run(BLOCKED.format(names=[name]) + "import sottovoce\nprint(sottovoce.ask('account', 'rumor', peers=40, curious=4, progress=True).nodes)")
    assert ran.stdout == "40\n", ran.stderr
