//! *Who Started This Rumor? Quantifying the Natural Differential Privacy of Gossip Protocols* (Bellet, Guerraoui and Hendrikx,
//! 2020): figures 2a, 2b, 3a, 3b and table 1.
//!
//! Settings, from the paper: 65,536 peers who can all reach each other, one in ten of them curious, 100 runs of each rumour that
//! is watched spreading (in rounds), 15,000 of each attack (on Algorithm 1, one telling after another). The muting parameters and
//! the prior sets are ours: the paper does not name them.
//!
//! | file | what |
//! | --- | --- |
//! | `work` | what is simulated, once for all figures that need it |
//! | `spread` | many runs of one rumour |
//! | `theory` | what the simulations are held against |
//! | `informed`, `active`, `prior`, `votes`, `table1` | a figure each |

mod active;
mod informed;
mod prior;
mod spread;
mod table1;
mod theory;
mod votes;
mod words;
mod work;

use std::str::FromStr;

use sottovoce_report::Page;
use work::{Plan, Size};

use super::{Item, Options, Reproduction, Watch};
use crate::{Error, Result};

/// The paper's short name.
pub const NAME: &str = "rumor";

/// A figure or table that can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Share informed by round.
    Informed,
    /// Share active by round.
    Active,
    /// Attack with prior knowledge.
    Prior,
    /// Attack on several rumours.
    Votes,
    /// Delta and spreading time.
    Table1,
}

impl Figure {
    /// All of them, in the paper's order of discussion.
    pub const ALL: [Self; 5] = [Self::Informed, Self::Active, Self::Prior, Self::Votes, Self::Table1];

    /// Its number in the paper.
    pub fn id(self) -> &'static str {
        match self {
            Self::Informed => "2a",
            Self::Active => "2b",
            Self::Prior => "3a",
            Self::Votes => "3b",
            Self::Table1 => "table1",
        }
    }

    /// What it shows.
    pub fn title(self) -> &'static str {
        match self {
            Self::Informed => "peers informed by round",
            Self::Active => "peers active by round",
            Self::Prior => "how often the source is found among suspects",
            Self::Votes => "how often the source of several rumours is found",
            Self::Table1 => "privacy and spreading time",
        }
    }

    fn item(self) -> Item {
        Item::experiment(self.id(), self.title())
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

/// How often [`run`] will say that something is finished.
pub fn parts(figures: &[Figure], options: &Options) -> usize {
    Plan::new(figures, options).parts()
}

/// Reproduces figures, in the paper's order.
pub fn run(figures: &[Figure], options: &Options, watch: &Watch) -> Result<Reproduction> {
    let plan = Plan::new(figures, options);
    let found = plan.carry_out(options, watch)?;
    (watch.doing)("drawing");
    let mut items = Vec::new();
    for figure in Figure::ALL.into_iter().filter(|figure| figures.contains(figure)) {
        items.push(match figure {
            Figure::Informed => informed::figure(figure.item(), &found)?,
            Figure::Active => active::figure(figure.item(), &found)?,
            Figure::Prior => prior::figure(figure.item(), &found)?,
            Figure::Votes => votes::figure(figure.item(), &found)?,
            Figure::Table1 => table1::table(figure.item(), &found)?,
        });
    }
    let page = page(&items, plan.size, options);
    Ok(Reproduction { paper: NAME, seed: options.seed, quick: options.quick, items, page })
}

fn page(items: &[Item], size: Size, options: &Options) -> Page {
    let small = if options.quick { " This is small (--quick): verdicts are about that." } else { "" };
    Page {
        title: "Who started this rumour? Reproduced".into(),
        intro: vec![
            "Bellet, Guerraoui and Hendrikx (2020) ask how well a rumour hides who began it. Whoever is told becomes active and \
             tells others at random; after each telling it stays active with probability s, the muting parameter. At s = 1 this is \
             the usual push, fast and hardly private; at s = 0 the rumour walks from peer to peer, slow and as private as can be. \
             Some peers are curious and write down who tells them, in order."
                .into(),
            format!(
                "{} peers, {} of them curious; {} runs of each rumour that is watched spreading, {} of each attack on one rumour, {} on \
                 several. Seed {}.{small} The muting parameters and the prior sets are ours: the paper does not name them.",
                size.peers, size.curious, size.runs, size.attacks, size.votes, options.seed
            ),
            "“Reproduced” says whether the simulations here show what the paper says they show; “holds” whether what was \
             measured stays within what is proven or predicted. Intervals hold together with 99.9 % confidence in each figure."
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
        assert!("9".parse::<Figure>().unwrap_err().to_string().contains("2a, 2b, 3a"));
        assert_eq!(listing().len(), 5);
    }
}
