//! *Muffliato: Peer-to-Peer Privacy Amplification for Decentralized Optimization and Averaging* (Cyffers, Even, Bellet and
//! Massoulié, 2022): figures 1a, 1b, 1c, 2, 3, 4, 5 and table 1.
//!
//! Settings, from the paper and, where it is silent, the authors' code: weights `1/(max(d_u, d_v) + 1)`, Rényi order 2, noise
//! and sensitivity 1, so that local DP loses 1; `T = ceil(gap^(-1/2) ln((n/sigma²) max(1/4, sigma²)))` steps.

mod draw;
mod egos;
mod euclid;
mod growth;
mod learning;
pub(super) mod study;
mod synthetic;
mod table1;
pub(super) mod words;

use sottovoce_report::Page;

use crate::registry::{Desk, Figure, Once, Paper};
use crate::{Item, Options, Result};
use study::{RELAY, Study};

/// The paper.
pub(crate) static PAPER: Paper = Paper {
    name: "muffliato",
    figures: &[
        Figure::formula("1a", "loss by distance on four graphs", |item, desk| {
            synthetic::by_distance(item, four(desk)?)
        }),
        Figure::formula("1b", "loss on a social graph (Facebook ego 1912)", egos::one),
        Figure::experiment(
            "1c",
            "learning by gossip beside a trusted aggregator, and what it costs",
            learning::figure,
        ),
        Figure::formula("2", "the four graphs, coloured by loss", |item, desk| {
            synthetic::graphs(item, four(desk)?, desk.options)
        }),
        Figure::formula("3", "loss on hypercubes of 16 to 4096 peers", growth::hypercubes),
        Figure::formula("4", "loss against Euclidean distance on a geometric graph", euclid::geometric),
        Figure::formula("5", "loss on nine other social graphs", egos::others),
        Figure::formula("table1", "error at a fixed mean loss, by topology", table1::table),
    ],
    page,
    shared_parts: |_, _| 0,
    trials: false,
    nets: false,
};

/// The four graphs of figures 1a and 2.
#[derive(Default)]
pub(crate) struct Shared {
    four: Once<Vec<Study>>,
}

fn four<'a>(desk: &'a Desk) -> Result<&'a [Study]> {
    Ok(desk.muffliato.four.get(|| synthetic::studies(desk.options, desk.watch))?)
}

fn page(items: &[Item], options: &Options) -> Page {
    let size =
        if options.quick { " Graphs are small ones here (--quick): verdicts are about those." } else { "" };
    Page {
        title: "Muffliato, reproduced".into(),
        intro: vec![
            "Cyffers, Even, Bellet and Massoulié (2022) let every peer add noise to its value and gossip, and print a \
             formula (Theorem 1) for what one peer learns about another. The formula adds up the losses of single messages. \
             They do not add up: the messages share the same noises, and an observer can solve for what they have in common. \
             So each figure is shown twice, by the formula as printed and by exact accounting, and, as a repair, with a \
             little fresh noise on every message."
                .into(),
            format!(
                "Weights 1/(max(d) + 1), Rényi order 2, noise and sensitivity 1: local DP loses 1. Relay noise is {RELAY} \
                 of the local noise. Seed {}.{size} “Reproduced” says whether the printed formula gives here what the \
                 paper says it gives; “holds” whether the claim survives exact accounting.",
                options.seed
            ),
            "Pictures of the printed formula show, as in the paper, what one peer loses to each other one. Exact losses are those \
             of each other peer towards this one, and are compared with the printed formula in that direction."
                .into(),
            "Known faults of the authors' code, which change their pictures: its sum runs from step 1 to T instead of from 0 to T - 1, so \
             that direct neighbours lose nearly a whole unit less than the formula says; pictures clip losses to 1, which hides sums above \
             it; and the five runs of the random graph are one."
                .into(),
        ],
        sections: items.iter().map(Item::section).collect(),
        ..Page::default()
    }
}
