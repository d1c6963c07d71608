//! What stands below the help of each `account` of a spec.

pub(super) const AVERAGING: &str = "Examples:
  sottovoce account averaging --graph ring.txt --lazy 0.333 --steps 6 --observers 0
  sottovoce account averaging --graph ring.txt --steps 10 --observers 0,5 --relay-noise 0.1 --json
  sottovoce account averaging --schedule pairs.json --observers 2 --sigma 1
  sottovoce account averaging --graph ring.txt --steps 10 --all-pairs --relay-noise 0.1
  sottovoce account averaging --graph ring.txt --steps 3 --worst-coalition 2
  sottovoce account averaging --graph ring.txt --steps 10 --observers 0 --results published
  sottovoce account averaging --protocol butterfly --peers 64 --observers 0 --epsilon 1
  sottovoce account averaging --peers 64 --keys keys.txt --cancel 10 --wire-tapper --observers 3,7
  sottovoce account averaging --peers 64 --cancel 10 --colluders 6 --epsilon 4
  sottovoce account averaging --protocol butterfly --peers 64 --masks --colluders 6 --epsilon 4

The options are those of `run averaging`, and mean the same. Leakage is a share of local DP: 1 is no protection beyond a peer's own noise, 0 is nothing learnt.
Without relay noise, acceleration changes none. For large graphs give no --epsilon: the noise for it is found by looking at all pairs. A schedule file is
{\"edges_per_step\": [[[u, v], ...], ...]} or {\"pairwise\": [[u, v], ...]}.";

pub(super) const LEARNING: &str = "Examples:
  sottovoce account learning --graph friends.txt --iterations 10
  sottovoce account learning --graph friends.txt --iterations 9 --steps 1 --observers 0 --sigma 4
  sottovoce account learning --peers 256 --fresh-graphs 1 --iterations 5 --observers 0
  sottovoce account learning --method butterfly --peers 64 --iterations 10 --observers 0 --json
  sottovoce account learning --method butterfly --peers 64 --observers 0 --cancel 10 --colluders 6

The options are those of `run learning`, and mean the same. Everyone makes a private gradient step, adds fresh noise, and averages with the others; so often as
--iterations says. A leakage of 1 is that of one gradient released under its own noise; as many as there are iterations is no amplification at all.";

pub(super) const PERSONALIZED: &str = "Examples:
  sottovoce account personalized
  sottovoce account personalized --law laplace --set protocol.allocation=optimal --epsilon 0.5
  sottovoce account personalized --law laplace --delta 0
  sottovoce account personalized --data ml-100k --set task.centre=public --clip 3
  sottovoce account personalized --sigma 5 --updates 30 --json

Nothing is run: what everybody would release is known beforehand, from how many rows she has. The proof is in docs/theorems/personalized.md.";

pub(super) const DEEP: &str = "Examples:
  sottovoce account deep
  sottovoce account deep --method dinno --set protocol.primal=2 --noise-multiplier 3
  sottovoce account deep --noise-multiplier 1 --cancel 10 --keys regular:4 --colluders 2
  sottovoce account deep --data mnist --split 1 --rounds 2000 --lot 256 --epsilon 1 --json

Nothing is learned: what everybody would release is known beforehand, from how many images she has. The proof is in docs/theorems/consensus-descent.md.";

pub(super) const RUMOR: &str = "Examples:
  sottovoce account rumor --peers 100 --curious 10 --muting 0.1
  sottovoce account rumor --peers 100 --curious 10 --muting 0 --epsilon 1 --rumors 5 --json
  sottovoce account rumor --graph friends.txt --curious-peers 3,17 --muting 0.2

An active peer tells a peer drawn among all (itself included), stays active with probability S, and whoever is told becomes
active. With --muting 0 the rumour walks (most private), with --muting 1 it is pushed (fastest). Curious peers log, in order,
who tells them and whom they tell. On a graph only neighbours tell each other, and the loss of each pair of sources is computed.
The proofs, and what they do not cover, are in docs/theorems/rumor-source.md and rumor-graphs.md.";

pub(super) const FILE: &str = "Examples:\n  sottovoce new averaging > my.toml\n  sottovoce account my.toml\n  sottovoce account my.toml --verbose";
