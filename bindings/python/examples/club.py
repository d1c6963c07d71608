"""Who overhears what in a karate club: an example that types are checked on."""

from __future__ import annotations

import networkx

import sottovoce


def worst(result: sottovoce.Result) -> sottovoce.Guarantee:
    """The guarantee of the largest loss."""
    return max(result.guarantees, key=lambda guarantee: guarantee.epsilon)


def main() -> None:
    """Asks for everybody at two distances, and says what is proven."""
    club = networkx.karate_club_graph()
    found = sottovoce.account.averaging(graph=club, steps=6, observers=[0], results="kept")
    losses = found.array("leakage")
    print(f"{losses[1:].max():.3f} of local DP's loss at most; {worst(found)}")
    names: list[str] = sottovoce.graphs.edges(club)[0]
    print(len(names), "peers")


if __name__ == "__main__":
    main()
