//! Muffliato: peer-to-peer privacy amplification for decentralized optimization and averaging (Cyffers, Even, Bellet and Massoulié, 2022).
//!
//! Losses are in units of local DP, `alpha Delta²/(2 sigma²)`: 1 is no amplification at all.

mod collusion;
mod privacy;
mod random_graphs;
mod utility;

use super::Statement;

const WHO: &[&str] = &["graph", "observers", "steps"];
const ERROR: &[&str] = &["graph", "sigma", "spread"];
const ERROR_AT: &[&str] = &["graph", "sigma", "spread", "steps"];

pub(super) static STATEMENTS: &[Statement] = &[
    Statement::new("theorem-1", "Losses of gossip, message by message", WHO, privacy::theorem_1),
    Statement::new(
        "theorem-2",
        "Error of synchronous Muffliato at its stopping time",
        ERROR,
        utility::theorem_2,
    ),
    Statement::new("corollary-1", "Losses by the random walk on the graph", WHO, privacy::corollary_1),
    Statement::new(
        "theorem-3",
        "Error of randomised Muffliato at its stopping time",
        ERROR,
        utility::theorem_3,
    ),
    Statement::new(
        "footnote-2",
        "How fast randomised Muffliato can be accelerated",
        &["graph"],
        utility::footnote_2,
    ),
    Statement::new(
        "theorem-4",
        "Losses on a secret random graph",
        &["peers", "factor", "steps"],
        random_graphs::theorem_4,
    ),
    Statement::new(
        "theorem-5",
        "Rounds between gradient steps, and the error of learning",
        &["graph", "sigma", "iterations", "smoothness", "convexity", "heterogeneity", "variance", "distance"],
        utility::theorem_5,
    ),
    Statement::new(
        "theorem-6",
        "Losses of learning by gossip",
        &["graph", "observers", "steps", "iterations"],
        privacy::theorem_6,
    ),
    Statement::new(
        "theorem-7",
        "Error of synchronous Muffliato after any number of steps",
        ERROR_AT,
        utility::theorem_7,
    ),
    Statement::new(
        "theorem-8",
        "Error of randomised Muffliato after any number of steps",
        ERROR_AT,
        utility::theorem_8,
    ),
    Statement::new(
        "corollary-2",
        "Losses of randomised gossip, for the edges that were drawn",
        WHO,
        privacy::corollary_2,
    ),
    Statement::new(
        "appendix-d",
        "How many messages a peer hears in randomised gossip",
        &["graph", "observers", "steps", "excess"],
        random_graphs::messages,
    ),
    Statement::new(
        "theorem-9",
        "Losses on a secret random graph, given the observer's neighbours",
        &["peers", "factor", "steps"],
        random_graphs::theorem_4,
    ),
    Statement::new(
        "theorem-10",
        "The error of learning, with its terms",
        &["graph", "sigma", "iterations", "smoothness", "convexity", "heterogeneity", "variance", "distance"],
        utility::theorem_5,
    ),
    Statement::new(
        "theorem-11",
        "Losses of learning on varying graphs",
        &["peers", "factor", "observers", "steps", "iterations"],
        privacy::theorem_11,
    ),
    Statement::new("theorem-12", "Losses to a coalition, message by message", WHO, privacy::theorem_1),
    Statement::new(
        "corollary-3",
        "Losses to a coalition, by the random walk on the graph",
        WHO,
        privacy::corollary_1,
    ),
    Statement::new(
        "corollary-4",
        "Error at a given mean loss to a coalition, up to constants",
        &["graph", "observers", "alpha", "epsilon"],
        collusion::corollary_4,
    ),
    Statement::new(
        "corollary-5",
        "Losses to a coalition on a secret random graph",
        &["peers", "factor", "steps", "coalition"],
        random_graphs::corollary_5,
    ),
    Statement::new(
        "proposition-1",
        "Losses of learning to a coalition on varying random graphs",
        &["peers", "factor", "steps", "iterations", "coalition"],
        random_graphs::proposition_1,
    ),
    Statement::new(
        "appendix-g4",
        "Whether a coalition sees every message",
        &["graph", "observers"],
        collusion::dominating,
    ),
];
