"""What the wheel does where nothing else is installed: run as a program, in a clean environment or with other packages hidden."""

import sys

import sottovoce

OPTIONAL = {"numpy", "networkx", "pandas", "scipy", "matplotlib", "torch"}

result = sottovoce.ask("account", "rumor", peers=40, curious=4, progress=True)
assert result.guarantees[0].epsilon >= 0 and result._repr_html_()
ring = [(i, (i + 1) % 8) for i in range(8)]
found = sottovoce.account.averaging(graph=ring, steps=3, observers=[0])
assert found.guarantees
experiment = sottovoce.Experiment(experiment="averaging", graph=ring, values=[0.5] * 8, noise={"sigma": 2.0})
assert experiment.account(0).guarantees and experiment.run(no_report=True)["error"]
assert sottovoce.graphs.to_edges(ring)[0] == ("0", "1")
accountant = sottovoce.accounting.Accountant()
accountant.step(noise_multiplier=1.1, sample_rate=0.01)
assert accountant.get_epsilon(delta=1e-5) > 0

# What needs more says what it needs.
NEEDS = {
    "numpy": [
        lambda: found.array("leakage"),
        lambda: sottovoce.graphs.to_numpy(ring),
        lambda: sottovoce.training.train(lambda peer, model, rows: rows, [[1.0]], [0.0]),
        lambda: sottovoce.training.audit(lambda peer, model, rows: rows, [[1.0]], [0.0], instead=[2.0]),
    ],
    "pandas": [lambda: found.to_pandas()],
    "networkx": [lambda: sottovoce.graphs.to_networkx(ring), lambda: sottovoce.graphs.generate("ring", peers=8)],
    "scipy": [lambda: sottovoce.graphs.to_scipy(ring)],
    "matplotlib": [lambda: sottovoce.plots.losses(found)],
    "torch": [lambda: sottovoce.training.TorchModel(None, None)],
}
assert set(NEEDS) == OPTIONAL
for name, calls in NEEDS.items():
    for needs in calls:
        try:
            needs()
        except (ModuleNotFoundError, sottovoce.SottovoceError) as error:
            missing = error.name.split(".")[0] if isinstance(error, ModuleNotFoundError) else error.field
            # SciPy's matrices and matplotlib's pictures are NumPy's arrays, too.
            assert missing == name or missing == "numpy" and name in ("scipy", "matplotlib"), (name, error)
            assert missing in str(error), error
        else:
            sys.exit(f"without {name} it should have said what is missing")
print("used")
