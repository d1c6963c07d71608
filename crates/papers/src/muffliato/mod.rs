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

use std::str::FromStr;

use sottovoce_report::Page;
use study::RELAY;

use super::{Item, Options, Reproduction, Watch};
use crate::{Error, Result};

/// The paper's short name.
pub const NAME: &str = "muffliato";

/// A figure or table that can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Loss against distance on four graphs.
    Distance,
    /// Loss on one social graph.
    Ego,
    /// Learning by gossip.
    Learning,
    /// Loss on the four graphs, drawn.
    Graphs,
    /// Loss on hypercubes of growing size.
    Growth,
    /// Loss against Euclidean distance.
    Euclidean,
    /// Loss on the nine other social graphs.
    Egos,
    /// Error at a fixed mean loss.
    Table1,
}

impl Figure {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 8] = [
        Self::Distance,
        Self::Ego,
        Self::Learning,
        Self::Graphs,
        Self::Growth,
        Self::Euclidean,
        Self::Egos,
        Self::Table1,
    ];

    /// Its number in the paper.
    pub fn id(self) -> &'static str {
        match self {
            Self::Distance => "1a",
            Self::Ego => "1b",
            Self::Learning => "1c",
            Self::Graphs => "2",
            Self::Growth => "3",
            Self::Euclidean => "4",
            Self::Egos => "5",
            Self::Table1 => "table1",
        }
    }

    /// What it shows.
    pub fn title(self) -> &'static str {
        match self {
            Self::Distance => "loss by distance on four graphs",
            Self::Ego => "loss on a social graph (Facebook ego 1912)",
            Self::Learning => "learning by gossip beside a trusted aggregator, and what it costs",
            Self::Graphs => "the four graphs, coloured by loss",
            Self::Growth => "loss on hypercubes of 16 to 4096 peers",
            Self::Euclidean => "loss against Euclidean distance on a geometric graph",
            Self::Egos => "loss on nine other social graphs",
            Self::Table1 => "error at a fixed mean loss, by topology",
        }
    }

    fn item(self) -> Item {
        match self {
            Self::Learning => Item::experiment(self.id(), self.title()),
            _ => Item::new(self.id(), self.title()),
        }
    }
}

impl FromStr for Figure {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        let wanted = name.to_ascii_lowercase();
        let known = || Self::ALL.map(Self::id).join(", ");
        let found = Self::ALL.into_iter().find(|figure| figure.id() == wanted);
        found.ok_or_else(|| Error::parameter("figure", name, format!("{NAME} has {}", known())))
    }
}

/// Everything there is, with what it shows.
pub fn listing() -> Vec<(String, String)> {
    Figure::ALL.map(|figure| (format!("{NAME}/{}", figure.id()), figure.title().into())).to_vec()
}

/// Reproduces figures, in the paper's order.
pub fn run(figures: &[Figure], options: &Options, watch: &Watch) -> Result<Reproduction> {
    let wants = |figure: Figure| figures.contains(&figure);
    let four = if wants(Figure::Distance) || wants(Figure::Graphs) {
        synthetic::studies(options, watch)?
    } else {
        Vec::new()
    };
    let mut items = Vec::new();
    for figure in Figure::ALL.into_iter().filter(|&figure| wants(figure)) {
        (watch.doing)(figure.id());
        items.push(match figure {
            Figure::Distance => synthetic::by_distance(figure.item(), &four)?,
            Figure::Graphs => synthetic::graphs(figure.item(), &four, options)?,
            Figure::Ego => egos::one(figure.item(), options, watch)?,
            Figure::Learning => learning::figure(figure.item(), options, watch)?,
            Figure::Egos => egos::others(figure.item(), options, watch)?,
            Figure::Growth => growth::hypercubes(figure.item(), options, watch)?,
            Figure::Euclidean => euclid::geometric(figure.item(), options)?,
            Figure::Table1 => table1::table(figure.item(), options, watch)?,
        });
        (watch.finished)();
    }
    let page = page(&items, options);
    Ok(Reproduction { paper: NAME, seed: options.seed, quick: options.quick, items, page })
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
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_found_by_their_number() {
        assert_eq!("Table1".parse::<Figure>().unwrap(), Figure::Table1);
        assert!(Figure::ALL.iter().all(|figure| figure.id().parse::<Figure>().unwrap() == *figure));
        assert!("9".parse::<Figure>().unwrap_err().to_string().contains("1a, 1b, 1c, 2"));
        assert_eq!(listing().len(), 8);
    }
}
