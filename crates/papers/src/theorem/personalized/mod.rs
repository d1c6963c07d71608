//! Personalized and private peer-to-peer machine learning (Bellet, Guerraoui, Taziki and Tommasi, 2018). What is true instead:
//! `docs/theorems/personalized.md`.
//!
//! Utility is asked about on a problem that can be computed exactly (`exact.rs`), privacy about single rows that are exchanged.

mod exact;
mod privacy;
mod utility;

use super::Statement;

const ON_A_RING: &[&str] = &["peers", "dimension", "iterations", "trade-off", "sigma", "distance"];

pub(super) static STATEMENTS: &[Statement] = &[
    Statement::new(
        "equation-4",
        "Steps computed from private rows",
        &["rows", "epsilon"],
        privacy::equation_4,
    ),
    Statement::new(
        "proposition-1",
        "Rate of coordinate descent",
        &["peers", "iterations", "trade-off"],
        utility::proposition_1,
    ),
    Statement::new(
        "theorem-1",
        "Loss of all of an agent's messages",
        &["epsilon", "delta", "iterations", "rows", "clip"],
        privacy::theorem_1,
    ),
    Statement::new("theorem-2", "Error of the private algorithm", ON_A_RING, utility::theorem_2),
    Statement::new(
        "proposition-2",
        "Shares of a budget over time",
        &["peers", "dimension", "iterations", "trade-off", "epsilon", "rows", "clip"],
        utility::proposition_2,
    ),
    Statement::new(
        "lemma-1",
        "How far one row moves a gradient",
        &["dimension", "epsilon"],
        privacy::lemma_1,
    ),
    Statement::new(
        "remark-4",
        "Gaussian noise",
        &["epsilon", "delta", "iterations", "rows", "clip"],
        privacy::remark_4,
    ),
    Statement::new(
        "appendix-b",
        "How many updates",
        &[
            "peers",
            "dimension",
            "iterations",
            "trade-off",
            "sigma",
            "distance",
            "epsilon",
            "delta",
            "rows",
            "clip",
        ],
        utility::appendix_b,
    ),
    Statement::new(
        "appendix-d2",
        "Clipping, centring and features",
        &["dimension", "epsilon", "rows", "clip"],
        privacy::appendix_d2,
    ),
];
