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

use sottovoce_report::Page;

use crate::registry::{Desk, Figure, Once, Paper};
use crate::{Item, Options, Result};
use pairs::Pairs;

/// The paper.
pub(crate) static PAPER: Paper = Paper {
    name: "random-walk",
    figures: &[
        Figure::formula("1", "loss by distance on four graphs, beside gossip", |item, desk| {
            anonymous::figure(item, four(desk)?)
        }),
        Figure::experiment(
            "2",
            "training loss along the walk, beside central and local learning",
            learning::figure2,
        ),
        Figure::formula(
            "3a",
            "loss beside communicability on a social graph (Facebook ego 0)",
            similarity::ego,
        ),
        Figure::formula("3b", "loss beside communicability on the southern women graph", similarity::davis),
        Figure::formula("3c", "mean loss beside Katz centrality", katz::figure),
        Figure::formula("4", "loss by distance on four graphs, senders known", |item, desk| {
            sender::figure(item, four(desk)?)
        }),
        Figure::formula("5", "loss on a stochastic block model", blocks::figure),
        Figure::formula("6", "loss on nine other social graphs", egos::figure),
        Figure::experiment(
            "7-8",
            "data by place and shuffled data: losses and estimates by distance",
            learning::figures7_8,
        ),
        Figure::experiment("table1", "accuracy of gossip and walk at the same mean loss", learning::table1),
    ],
    page,
    shared_parts: |_, _| 0,
    trials: false,
    nets: false,
};

/// The four graphs of figures 1 and 4; those of figures 3a, 3b and 3c.
#[derive(Default)]
pub(crate) struct Shared {
    four: Once<Vec<four::Study>>,
    ego: Once<Option<Pairs>>,
    davis: Once<Pairs>,
}

fn four<'a>(desk: &'a Desk) -> Result<&'a [four::Study]> {
    Ok(desk.random_walk.four.get(|| four::studies(desk.options, desk.watch))?)
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
        ..Page::default()
    }
}
