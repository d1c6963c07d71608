//! *Personalized and Private Peer-to-Peer Machine Learning* (Bellet, Guerraoui, Taziki and Tommasi, 2018).
//!
//! Settings, from the paper: 100 agents whose targets lie in a plane, `lambda_i = 1/m_i`, mu = 0.04, delta = exp(-5). Its `lambda |t|²` is a ridge of `2 lambda` here.
//!
//! | file | what |
//! | --- | --- |
//! | `runs` | coordinate descent, hidden as printed or honestly |
//! | `budgets` | proposition 2: shares of a budget over time |
//! | `costs` | figure 1: beside ADMM |
//! | `starts` | figures 2a and 2b: how many updates, and where they start |
//! | `classes` | figures 2c, 3 and 4: accuracy by dimension and by rows; perturbed rows |
//! | `table1` | films, and generated ratings |

mod budgets;
mod classes;
mod costs;
mod perturbed;
mod runs;
mod starts;
mod table1;

use sottovoce_engine::personal::{Problem, Terms, optimum};
use sottovoce_learning::personal::Plane;
use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_report::Page;

use crate::registry::{Desk, Figure, Paper};
use crate::{Item, Options, Result};

/// What figures share.
#[derive(Default)]
pub(crate) struct Shared {
    classes: classes::Shared,
    starts: starts::Shared,
}

/// The weight of own losses that the paper names, for films.
const MU: f64 = 0.04;
/// Ridges are so much over the number of rows: `2 lambda_i`.
const FACTOR: f64 = 2.0;

/// The paper.
pub(crate) static PAPER: Paper = Paper {
    name: "personalized",
    figures: &[
        Figure::experiment(
            "1",
            "coordinate descent beside ADMM, by iterations and by vectors sent",
            costs::figure,
        ),
        Figure::experiment("budgets", "shares of a budget over time: printed, equal, best", budgets::figure),
        Figure::experiment(
            "2a",
            "objective and accuracy by updates, from a constant start",
            starts::constant,
        ),
        Figure::experiment(
            "2b",
            "objective and accuracy by updates, from a private warm start",
            starts::warm_start,
        ),
        Figure::experiment("2c", "accuracy by dimension, for several budgets", classes::dimensions),
        Figure::experiment("3", "accuracy by how many rows an agent has", classes::sizes),
        Figure::experiment("4", "accuracy of models learned from perturbed rows", classes::perturbation),
        Figure::experiment("table1", "ratings of films, beside local models that were tuned", table1::table),
    ],
    page,
    shared_parts: |_, _| 0,
    trials: false,
    nets: false,
};

/// Weights of own losses that the synthetic task may choose from.
const MUS: [f64; 5] = [0.04, 0.4, 4.0, 40.0, 400.0];

/// The weight whose joint optimum is best on held-out rows of an instance of its own: the paper tunes it for this task, and does not say what came of it.
fn tuned_mu(width: usize, seed: u64) -> Result<f64> {
    let agents = Plane { width, ..Plane::default() }.draw(seed)?.validation(seed)?;
    let mut best = (f64::NEG_INFINITY, MUS[0]);
    for mu in MUS {
        let problem = Problem::new(&agents, Terms::published(&agents.train, mu, FACTOR))?;
        let worth = agents.mean_worth(&optimum(&problem)?.models);
        best = if worth > best.0 { (worth, mu) } else { best };
    }
    Ok(best.1)
}

/// The seed of a run, a split or a draw.
fn seed(desk: &Desk, number: u64) -> u64 {
    Seed(desk.options.seed).part(number).0
}

fn page(items: &[Item], options: &Options) -> Page {
    let size =
        if options.quick { " Sizes are small ones here (--quick): verdicts are about those." } else { "" };
    Page {
        title: "Personalised models, reproduced".into(),
        intro: vec![
            "Bellet, Guerraoui, Taziki and Tommasi (2018) let everybody learn a model of her own, drawn towards those of similar agents: whoever wakes takes a \
             noisy gradient step on her own rows, and tells her neighbours where her model is now. One row of one agent is protected, against whoever sees every \
             message; how many rows everybody has, who resembles whom and the features of items are public."
                .into(),
            format!(
                "The algorithm and its first theorem stand; several statements around them do not, and are listed with their tests in the theorem page. So private rows \
                 are shown twice: hidden as printed, which does not protect what it says, and honestly. Everything is held against local models that were tuned on \
                 their own rows and send nothing. Seed {}.{size}",
                options.seed
            ),
        ],
        sections: items.iter().map(Item::section).collect(),
        ..Page::default()
    }
}
