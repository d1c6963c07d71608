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
//! | `messages` | how many messages are sent, with a proven probability |
//! | `informed`, `active`, `prior`, `votes`, `table1` | a figure each |

mod active;
mod informed;
pub(crate) mod messages;
mod prior;
mod spread;
mod table1;
mod theory;
mod votes;
mod words;
mod work;

use sottovoce_report::Page;

use crate::registry::{Desk, Figure, Once, Paper};
use crate::{Item, Options, Result};
use work::{Found, Plan, Size};

/// The paper.
pub(crate) static PAPER: Paper = Paper {
    name: "rumor",
    figures: &[
        Figure::experiment("2a", "peers informed by round", |item, desk| {
            informed::figure(item, found(desk)?)
        }),
        Figure::experiment("2b", "peers active by round", |item, desk| active::figure(item, found(desk)?)),
        Figure::experiment("3a", "how often the source is found among suspects", |item, desk| {
            prior::figure(item, found(desk)?)
        }),
        Figure::experiment("3b", "how often the source of several rumours is found", |item, desk| {
            votes::figure(item, found(desk)?)
        }),
        Figure::experiment("table1", "privacy and spreading time", |item, desk| {
            table1::table(item, found(desk)?)
        }),
    ],
    page,
    shared_parts: |wanted, options| Plan::new(wanted, options).parts(),
    trials: false,
    nets: false,
};

/// What was simulated for all figures that are wanted.
#[derive(Default)]
pub(crate) struct Shared {
    found: Once<Found>,
}

fn found<'a>(desk: &'a Desk) -> Result<&'a Found> {
    desk.rumor.found.get(|| Plan::new(&desk.wanted, desk.options).carry_out(desk.options, desk.watch))
}

fn page(items: &[Item], options: &Options) -> Page {
    let size = Size::new(options);
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
        ..Page::default()
    }
}
