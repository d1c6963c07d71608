//! *Differentially Private Decentralized Deep Learning with Consensus Algorithms* (Bayrooti, Gao and Prorok, 2023).
//!
//! ```text
//! tables and figures ──► cells: one trial of one method each ──► cells.rs: made once, kept as files, taken again by whoever asks
//!                                                                    └─► cell.rs: images, graph, noise, plan ──► engine::deep, or a card
//! ```
//!
//! Settings, from the paper: ten agents, lots of 256, 2000 iterations, delta 1e-5, gradients of at most 10 (at the centre 1), rows `1/(d + 1)`. MNIST is read from the data folder;
//! without it figures are drawn, and sizes are small.
//!
//! | file | what |
//! | --- | --- |
//! | `printed` | what the paper prints: accuracies, rates, hours |
//! | `task` | images and sizes |
//! | `graph` | connected random graphs at a Fiedler value |
//! | `noise` | the paper's noise, ours, and what either spends |
//! | `cell`, `cells` | one trial, and all of them |
//! | `table1`, `connectivity` | table 1 and figure 1: budgets and graphs |
//! | `table2` | who holds which digits |
//! | `hours` | table 3 |
//! | `choices` | what the text leaves open, tried |
//! | `rates` | other rates than the paper's, chosen on images that are held out |
//! | `fashion` | the same ordering on other images |
//! | `cifar` | table 4 and figure 2 |
//! | `members` | table 5 and figure 3 |

mod cell;
mod cells;
mod choices;
mod cifar;
mod connectivity;
mod fashion;
mod graph;
mod hours;
mod members;
mod noise;
mod printed;
mod rates;
mod table1;
mod table2;
mod task;

use std::collections::BTreeSet;

use sottovoce_report::Page;

use crate::registry::{Figure, Paper};
use crate::{Item, Options};

use cell::Cell;
pub(crate) use cells::Shared;

/// The paper.
pub(crate) static PAPER: Paper = Paper {
    name: "consensus-deep-learning",
    figures: &[
        Figure::experiment("table1", "accuracy by method, privacy budget and graph", table1::table),
        Figure::experiment(
            "1",
            "accuracy against the Fiedler value, by privacy budget",
            connectivity::figure,
        ),
        Figure::experiment("table2", "accuracy by who holds which digits", table2::table),
        Figure::experiment("table3", "hours of a trial", hours::table),
        Figure::experiment("table4", "CIFAR-100 by method and split", cifar::table),
        Figure::experiment("2", "CIFAR-100 by who holds which classes", cifar::figure),
        Figure::experiment("table5", "what an attack on membership proves", members::table),
        Figure::experiment("3", "losses of a canary with and without it", members::figure),
        Figure::experiment("choices", "what text and code leave open, tried", choices::table),
        Figure::experiment("rates", "rates chosen on images that are held out", rates::table),
        Figure::experiment("fashion", "the same methods on other images", fashion::table),
    ],
    page,
    shared_parts: parts,
    trials: true,
    nets: true,
};

/// All cells that the wanted figures need, as far as they are known beforehand.
fn cells(wanted: &[&str], options: &Options) -> Vec<Cell> {
    let of = |figure: &&str| match *figure {
        "1" | "table1" => table1::cells(options),
        "2" | "table4" => cifar::cells(options),
        "choices" => choices::cells(options),
        "fashion" => fashion::cells(options),
        "table2" => table2::cells(options),
        "table3" => hours::cells(options),
        "rates" => rates::cells(options),
        _ => Vec::new(),
    };
    wanted.iter().flat_map(of).collect()
}

/// How many there are, counted once, and with those that others decide on.
fn parts(wanted: &[&str], options: &Options) -> usize {
    let names: BTreeSet<String> = cells(wanted, options).iter().map(Cell::name).collect();
    let attacked = wanted.iter().any(|figure| ["3", "table5"].contains(figure));
    let chosen = if wanted.contains(&"rates") { rates::chosen_cells(options) } else { 0 };
    names.len() + chosen + if attacked { members::PARTS } else { 0 }
}

fn page(items: &[Item], options: &Options) -> Page {
    let size =
        if options.quick { " Sizes are small ones here (--quick): verdicts are about those." } else { "" };
    Page {
        title: "Consensus deep learning, reproduced".into(),
        intro: vec![
            "Bayrooti, Gao and Prorok (2023) let agents who each hold images learn one net: by averaging with neighbours and noisy gradient steps (DSGD), by tracking everybody's \
             gradients (DSGT), or by consensus ADMM (DiNNO). One image of one agent is protected, against whoever sees every message, for one image more or less; how many images \
             everybody has is public."
                .into(),
            format!(
                "Everything private is shown twice. Under the paper's noise: by Rényi divergences, as if every image came with probability 1 over the number of batches, rounded up. It \
                 comes with probability 256 over the number of images, and what is then spent stands beside it. And under ours: the least that is certified to keep the epsilon. \
                 Accuracies are means over agents after the last iteration, and over trials with their deviation, and are computed without privacy. Rates are the paper's, who \
                 does not say on which images they were tuned. Seed {}.{size}",
                options.seed
            ),
        ],
        sections: items.iter().map(Item::section).collect(),
        ..Page::default()
    }
}
