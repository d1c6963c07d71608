"""Without NumPy, networkx, pandas, SciPy, matplotlib and tqdm everything but what needs them is there; what needs them says so."""

import subprocess
import sys

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

USED = """
import sottovoce
result = sottovoce.ask("account", "rumor", peers=40, curious=4, progress=True)
assert result.guarantees[0].epsilon >= 0 and result._repr_html_()
ring = [(i, (i + 1) % 8) for i in range(8)]
found = sottovoce.account.averaging(graph=ring, steps=3, observers=[0])
assert found.guarantees
experiment = sottovoce.Experiment(experiment="averaging", graph=ring, values=[0.5] * 8, noise={"sigma": 2.0})
assert experiment.account(0).guarantees
assert sottovoce.graphs.to_edges(ring)[0] == ("0", "1")
for needs in [lambda: found.array("exact"), lambda: found.to_pandas(), lambda: sottovoce.graphs.to_networkx(ring),
              lambda: sottovoce.graphs.to_numpy(ring), lambda: sottovoce.graphs.to_scipy(ring), lambda: sottovoce.plots.losses(found)]:
    try:
        needs()
    except ModuleNotFoundError as error:
        assert error.name.split(".")[0] in sys.meta_path[0].names, error
    else:
        raise AssertionError("it should have said what is missing")
print("used")
"""


def run(program):
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)


def test_everything_is_optional():
    ran = run(BLOCKED.format(names=ALL) + USED)
    assert ran.stdout == "used\n", ran.stderr


@pytest.mark.parametrize("name", ["numpy", "networkx", "pandas", "scipy", "matplotlib", "tqdm"])
def test_each_is_missed_by_itself_only(name):
    ran = run(BLOCKED.format(names=[name]) + "import sottovoce\nprint(sottovoce.ask('account', 'rumor', peers=40, curious=4, progress=True).nodes)")
    assert ran.stdout == "40\n", ran.stderr
