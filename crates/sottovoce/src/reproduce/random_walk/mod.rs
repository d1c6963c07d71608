//! *Differentially Private Decentralized Learning with Random Walks* (Cyffers, Bellet and Upadhyay, 2024).
//!
//! | file | what |
//! | --- | --- |
//! | `learning` | figures 2, 7 and 8, and table 1: what is learned |

mod learning;

use std::str::FromStr;

use anyhow::anyhow;
use sottovoce_report::Page;

use super::{Item, Options, Reproduction, Watch};

/// The paper's short name.
pub const NAME: &str = "random-walk";

/// A figure or table that can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// The training loss along the walk.
    Objective,
    /// Data by place, and the same data shuffled.
    Places,
    /// Accuracy at a mean loss.
    Table1,
}

impl Figure {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 3] = [Self::Objective, Self::Places, Self::Table1];

    /// Its number in the paper.
    pub fn id(self) -> &'static str {
        match self {
            Self::Objective => "2",
            Self::Places => "7-8",
            Self::Table1 => "table1",
        }
    }

    /// What it shows.
    pub fn title(self) -> &'static str {
        match self {
            Self::Objective => "training loss along the walk, beside central and local learning",
            Self::Places => "data by place and shuffled data: losses and estimates by distance",
            Self::Table1 => "accuracy of gossip and walk at the same mean loss",
        }
    }

    fn item(self) -> Item {
        Item::experiment(self.id(), self.title())
    }
}

impl FromStr for Figure {
    type Err = anyhow::Error;

    fn from_str(name: &str) -> anyhow::Result<Self> {
        let wanted = name.to_ascii_lowercase();
        let known = || Self::ALL.map(Self::id).join(", ");
        let found = Self::ALL.into_iter().find(|figure| figure.id() == wanted);
        found.ok_or_else(|| anyhow!("`figure` is {name}: {NAME} has {}", known()))
    }
}

/// Everything there is, with what it shows.
pub fn listing() -> Vec<(String, String)> {
    Figure::ALL.map(|figure| (format!("{NAME}/{}", figure.id()), figure.title().into())).to_vec()
}

/// Reproduces figures, in the paper's order.
pub fn run(figures: &[Figure], options: &Options, watch: &Watch) -> anyhow::Result<Reproduction> {
    let mut items = Vec::new();
    for figure in Figure::ALL.into_iter().filter(|figure| figures.contains(figure)) {
        (watch.doing)(figure.id());
        items.push(match figure {
            Figure::Objective => learning::figure2(figure.item(), options, watch)?,
            Figure::Places => learning::figures7_8(figure.item(), options, watch)?,
            Figure::Table1 => learning::table1(figure.item(), options, watch)?,
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
        title: "Random walks, reproduced".into(),
        intro: vec![format!(
            "Cyffers, Bellet and Upadhyay (2024) let a token walk from peer to peer; every holder makes a gradient step and adds noise. \
             Seed {}.{size}",
            options.seed
        )],
        sections: items.iter().map(Item::section).collect(),
    }
}
