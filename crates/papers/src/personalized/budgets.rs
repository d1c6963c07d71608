//! Proposition 2 tried: the printed shares of a budget over time, equal ones, and the best, on a problem that forgets fast and in the paper's own setting.
//!
//! Noise that comes early is damped by every later update, so that late updates deserve the larger shares; the paper has it the other way round.

use sottovoce_engine::personal::{Amount, Budgets, Hiding, Problem, Terms, optimum, own_factor};
use sottovoce_learning::Clip;
use sottovoce_learning::personal::Plane;
use sottovoce_privacy::Law;
use sottovoce_privacy::allotment::{Allocation, Method};
use sottovoce_report::text;
use sottovoce_topology::Similarity;
use sottovoce_views::parallel;

use super::runs::released;
use super::{FACTOR, MU, seed};
use crate::registry::Desk;
use crate::{Item, Result, Verdict};

/// What everybody may lose.
const EPSILON: f64 = 2.0;
const DELTA: f64 = 1e-5;
/// Updates of everybody.
const UPDATES: usize = 8;
/// A mean is larger than another if it is so by this many standard errors of the difference, run by run.
const SURE: f64 = 3.0;

const SHARES: [(&str, Allocation); 3] = [
    ("optimal", Allocation::Optimal),
    ("uniform", Allocation::Uniform),
    ("published", Allocation::Published),
];

/// `Q - Q*` of every run, with one law, for each way to share.
struct Tried {
    setting: &'static str,
    law: Law,
    ratio: f64,
    gaps: [Vec<f64>; 3],
}

impl Tried {
    fn mean(&self, way: usize) -> f64 {
        self.gaps[way].iter().sum::<f64>() / self.gaps[way].len() as f64
    }

    /// By how many standard errors the second way is worse than the first, run by run.
    fn worse(&self, one: usize, other: usize) -> f64 {
        let apart: Vec<f64> = self.gaps[other].iter().zip(&self.gaps[one]).map(|(x, y)| x - y).collect();
        let n = apart.len() as f64;
        let mean = apart.iter().sum::<f64>() / n;
        let variance = apart.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0);
        mean / (variance / n).sqrt()
    }

    fn row(&self) -> Vec<String> {
        let law = if self.law == Law::Gaussian { "Gaussian" } else { "Laplace" };
        let mut row = vec![self.setting.to_owned(), law.to_owned(), text::digits(self.ratio, 2)];
        for way in 0..3 {
            let n = self.gaps[way].len() as f64;
            let mean = self.mean(way);
            let error = (self.gaps[way].iter().map(|x| (x - mean) * (x - mean)).sum::<f64>()
                / (n * (n - 1.0)))
                .sqrt();
            row.push(format!("{} ± {}", text::digits(mean, 4), text::digits(error, 1)));
        }
        row.push(format!("{:.1}, {:.1}", self.worse(0, 1), self.worse(1, 2)));
        row
    }
}

pub(super) fn figure(mut item: Item, desk: &Desk) -> Result<Item> {
    let runs = if desk.options.quick { 60 } else { 400 };
    let mut all = Vec::new();
    for (setting, problem) in
        [("forgets fast", fast(seed(desk, 1))?), ("the paper's", published(seed(desk, 2))?)]
    {
        for law in [Law::Laplace, Law::Gaussian] {
            (desk.watch.doing)(&format!("budgets: {setting}"));
            all.push(tried(setting, &problem, law, runs, seed(desk, 3))?);
        }
    }
    item.say(format!(
        "Everybody has epsilon {EPSILON} (delta {DELTA:e}) for {UPDATES} updates; {runs} runs with the same clocks for all three ways to share it. The first problem has 30 agents on \
         a ring, 50 rows each, mu = 5 and a ridge of 2; the other is the paper's in 20 dimensions. Shown is how far the released models are from the joint \
         optimum, Q - Q*."
    ));
    item.table(
        &[
            "setting",
            "noise",
            "sigma_Q/L_max",
            "optimal",
            "uniform",
            "published",
            "uniform over optimal, published over uniform (standard errors)",
        ],
        all.iter().map(Tried::row).collect(),
    );
    let lines = all.iter().flat_map(|tried| {
        let law = if tried.law == Law::Gaussian { "gaussian" } else { "laplace" };
        (0..3).flat_map(move |way| {
            tried.gaps[way]
                .iter()
                .enumerate()
                .map(move |(run, gap)| format!("{},{law},{},{run},{gap}", tried.setting, SHARES[way].0))
        })
    });
    item.csv("setting,law,shares,run,gap", lines);
    let ordered = |tried: &&Tried| tried.worse(0, 1) > SURE && tried.worse(1, 2) > SURE;
    let refuted = all.iter().filter(|tried| tried.setting == "forgets fast").all(|tried| ordered(&tried));
    let alike = all.iter().filter(|tried| tried.setting != "forgets fast").map(|tried| {
        let ratio = tried.mean(2) / tried.mean(0);
        text::digits(ratio, 4)
    });
    let alike: Vec<String> = alike.collect();
    let worst = all
        .iter()
        .filter(|tried| tried.setting == "forgets fast")
        .map(|tried| text::digits(tried.mean(2) / tried.mean(0), 3));
    let worst: Vec<String> = worst.collect();
    Ok(item.judge(Verdict {
        reproduced: !refuted,
        holds: !refuted,
        claim: "shares that fall over time lose least".into(),
        criterion: format!("equal shares are not better than those printed, by {SURE} standard errors, where sigma_Q/L_max is at least 0.2"),
        ours: format!(
            "Q - Q* is {} times as large with printed shares as with the best (Laplace, Gaussian); in the paper's own setting {} times, where all are alike",
            worst.join(" and "),
            alike.join(" and ")
        ),
        exact: "time is reversed in the proposition: shares that grow are the best (docs/theorems/personalized.md)".into(),
    }))
}

/// Agents on a ring whose errors shrink by most of their size from one own wake-up to the next.
fn fast(seed: u64) -> Result<Problem> {
    let agents = Plane { agents: 30, width: 4, fewest: 50, most: 50, ..Plane::default() }.draw(seed)?;
    let ring: Vec<_> = (0..30).map(|u| (u, (u + 1) % 30, 1.0)).collect();
    let terms = Terms::alike(&agents.train, 5.0, 2.0);
    Problem::over(Similarity::new(30, &ring)?, agents.train, agents.loss, agents.radius, terms)
}

/// The paper's own setting, in fewer dimensions.
fn published(seed: u64) -> Result<Problem> {
    let agents = Plane { width: 20, ..Plane::default() }.draw(seed)?;
    let terms = Terms::published(&agents.train, MU, FACTOR);
    Problem::new(&agents, terms)
}

fn tried(setting: &'static str, problem: &Problem, law: Law, runs: usize, seed: u64) -> Result<Tried> {
    let least = problem.objective(&optimum(problem)?.models);
    let (method, clip) = match law {
        Law::Gaussian => (Method::Gdp, Clip::Example(0.5)),
        Law::Laplace | Law::Radial => (Method::Sum, Clip::ExampleL1(0.5)),
    };
    let mut gaps = [Vec::new(), Vec::new(), Vec::new()];
    for ((_, allocation), gaps) in SHARES.into_iter().zip(&mut gaps) {
        let budgets =
            Budgets { epsilon: EPSILON, others: Default::default(), delta: DELTA, method, allocation };
        let amount = Amount::Budget(budgets);
        let hiding = Hiding { law, clip: 0.5, centring: 0.0, updates: UPDATES, amount, warm: None };
        let hidden = (hiding, clip);
        let one = |run: usize| {
            Ok(problem.objective(&released(problem, &hidden, seed.wrapping_add(run as u64))?) - least)
        };
        *gaps = parallel::map(runs, one, |_| ()).into_iter().collect::<Result<Vec<f64>>>()?;
    }
    Ok(Tried { setting, law, ratio: 1.0 - own_factor(problem), gaps })
}
