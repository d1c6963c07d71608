//! *Differentially Private Decentralized Learning with Random Walks* (Cyffers, Bellet and Upadhyay, 2024).
//!
//! Settings, from the paper and, where it is silent, the authors' code: transitions `1/max(d_u, d_v)`, Rényi order 2, noise and
//! sensitivity 1, so that a contribution loses 1 by local DP; `T = 20 ceil(ln(n)/gap) (1/4 + sigma²)/sigma²` steps.
//!
//! | file | what |
//! | --- | --- |
//! | `walk` | transitions, steps and printed losses on a graph |
//! | `paths` | what random paths reveal |
//! | `four`, `tally`, `curves` | the four graphs of figures 1 and 4 |
//! | `pairs`, `matrix` | all pairs of one graph, and how they are drawn |
//! | `anonymous`, `sender`, `similarity`, `katz`, `blocks`, `egos` | figures 1, 4, 3a and 3b, 3c, 5, 6 |
//! | `learning` | figures 2, 7 and 8, and table 1: what is learned |

mod anonymous;
mod blocks;
mod curves;
mod egos;
mod four;
mod katz;
mod learning;
mod matrix;
mod pairs;
mod paths;
mod sender;
mod similarity;
mod tally;
mod walk;
mod words;

use std::str::FromStr;

use sottovoce_report::Page;

use super::{Item, Options, Reproduction, Watch};
use crate::{Error, Result};

/// The paper's short name.
pub const NAME: &str = "random-walk";

/// A figure or table that can be reproduced.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Figure {
    /// Walk and gossip by distance.
    Distance,
    /// The training loss along the walk.
    Objective,
    /// Losses and communicability on a social graph.
    Ego,
    /// The same on the southern women.
    Davis,
    /// Mean losses and Katz centrality.
    Katz,
    /// Figure 1 with senders known.
    Sender,
    /// A stochastic block model.
    Blocks,
    /// Losses on the nine other social graphs.
    Egos,
    /// Data by place, and the same data shuffled.
    Places,
    /// Accuracy at a mean loss.
    Table1,
}

impl Figure {
    /// All of them, in the paper's order.
    pub const ALL: [Self; 10] = [
        Self::Distance,
        Self::Objective,
        Self::Ego,
        Self::Davis,
        Self::Katz,
        Self::Sender,
        Self::Blocks,
        Self::Egos,
        Self::Places,
        Self::Table1,
    ];

    /// Its number in the paper.
    pub fn id(self) -> &'static str {
        match self {
            Self::Distance => "1",
            Self::Objective => "2",
            Self::Ego => "3a",
            Self::Davis => "3b",
            Self::Katz => "3c",
            Self::Sender => "4",
            Self::Blocks => "5",
            Self::Egos => "6",
            Self::Places => "7-8",
            Self::Table1 => "table1",
        }
    }

    /// What it shows.
    pub fn title(self) -> &'static str {
        match self {
            Self::Distance => "loss by distance on four graphs, beside gossip",
            Self::Objective => "training loss along the walk, beside central and local learning",
            Self::Ego => "loss beside communicability on a social graph (Facebook ego 0)",
            Self::Davis => "loss beside communicability on the southern women graph",
            Self::Katz => "mean loss beside Katz centrality",
            Self::Sender => "loss by distance on four graphs, senders known",
            Self::Blocks => "loss on a stochastic block model",
            Self::Egos => "loss on nine other social graphs",
            Self::Places => "data by place and shuffled data: losses and estimates by distance",
            Self::Table1 => "accuracy of gossip and walk at the same mean loss",
        }
    }

    fn item(self) -> Item {
        match self {
            Self::Objective | Self::Places | Self::Table1 => Item::experiment(self.id(), self.title()),
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
    let four = if wants(Figure::Distance) || wants(Figure::Sender) {
        four::studies(options, watch)?
    } else {
        Vec::new()
    };
    let social = similarity::Social::new(options);
    let mut items = Vec::new();
    for figure in Figure::ALL.into_iter().filter(|&figure| wants(figure)) {
        (watch.doing)(figure.id());
        items.push(match figure {
            Figure::Distance => anonymous::figure(figure.item(), &four)?,
            Figure::Objective => learning::figure2(figure.item(), options, watch)?,
            Figure::Ego => similarity::ego(figure.item(), &social)?,
            Figure::Davis => similarity::davis(figure.item(), &social)?,
            Figure::Katz => katz::figure(figure.item(), &social)?,
            Figure::Sender => sender::figure(figure.item(), &four)?,
            Figure::Blocks => blocks::figure(figure.item(), options)?,
            Figure::Egos => egos::figure(figure.item(), options, watch)?,
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
        title: "Learning by random walks, reproduced".into(),
        intro: vec![
            "Cyffers, Bellet and Upadhyay (2024) let a token walk from peer to peer; each holder adds its contribution and noise, and sends the \
             token to a random neighbour. What one peer learns about another is printed as a sum over all walks between them (equation 13), \
             times the number of contributions. That sum is right for one contribution. Several contributions between two visits of the \
             observer share one noise, and add like amplitudes: their losses do not add."
                .into(),
            format!(
                "So each figure is shown beside what random paths of the token really reveal (for convex losses and steps that do not expand). \
                 Rényi order 2, noise and sensitivity 1: a contribution loses 1 by local DP. T = 20 ceil(ln(n)/gap) (1/4 + sigma²)/sigma² steps. Seed \
                 {}.{size} “Reproduced” says whether the printed formula gives here what the paper says it gives; “holds” whether \
                 that survives the accounting of paths.",
                options.seed
            ),
            "The theorem asks for sigma² >= 2 alpha (alpha - 1), which is 4 here, and the paper's figures have 1: they show what the formula looks \
             like, and nothing that was proven. The authors' code takes weights 1/(max(d) + 1) where the text has 1/max(d); here it is the \
             text's, unless the walk would then never mix."
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
        assert!(Figure::ALL.iter().all(|figure| figure.id().parse::<Figure>().unwrap() == *figure));
        assert_eq!("3A".parse::<Figure>().unwrap(), Figure::Ego);
        assert!("9".parse::<Figure>().unwrap_err().to_string().contains("1, 2, 3a, 3b"));
        assert_eq!(listing().len(), 10);
    }
}
