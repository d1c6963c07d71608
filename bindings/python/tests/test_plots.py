"""Pictures of documents; what is not in them is not drawn."""

import pytest

from sottovoce import SottovoceError, account, ask, plots

matplotlib = pytest.importorskip("matplotlib")
networkx = pytest.importorskip("networkx")
matplotlib.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    matplotlib.pyplot.close("all")


def test_losses_fall_with_the_distance():
    club = networkx.karate_club_graph()
    axes = plots.losses(account.averaging(graph=club, steps=6, observers=[0]))
    assert len(axes.lines) == 2 and axes.get_xlabel().startswith("hops")
    again = plots.losses(account.averaging(graph=club, steps=6, all_pairs=True), axes)
    assert again is axes


def test_a_trade_off_is_below_guessing():
    axes = plots.trade_off(account.mechanism(gaussian=True, noise_multiplier=1.0, table=True), label="one release")
    line = axes.lines[0]
    assert all(0 <= y <= 1 - x + 1e-9 for x, y in zip(line.get_xdata(), line.get_ydata()))
    with pytest.raises(SottovoceError, match="table=True"):
        plots.trade_off(account.mechanism(gaussian=True, noise_multiplier=1.0))


def test_a_graph_is_coloured_by_what_is_overheard():
    club = networkx.karate_club_graph()
    result = account.averaging(graph=club, steps=6, observers=[0])
    axes = plots.overheard(club, result, seed=1)
    assert list(axes.collections[0].get_array()) == result["leakage"]
    with pytest.raises(SottovoceError, match="34"):
        plots.overheard(networkx.cycle_graph(5), result)
    with pytest.raises(SottovoceError):
        plots.overheard(club, ask("account", "rumor", peers=40, curious=4))
