//! Table 2: accuracy by who holds which digits, on sparse graphs.

use super::cell::{Cell, Way};
use super::cells::{all, beside, learned_on, spread, trials};
use super::noise::Noise;
use super::printed::{SPLIT_EPSILONS, SPLITS, by_split};
use super::task::Task;
use crate::registry::Desk;
use crate::{Item, Options, Result, Verdict};

/// The graphs' Fiedler value.
const FIEDLER: f64 = 0.06;
/// What the split may cost DSGT, in points.
const LITTLE: f64 = 2.0;

fn splits(options: &Options) -> Vec<f64> {
    SPLITS.into_iter().filter(|split| !options.quick || [0.0, 1.0].contains(split)).collect()
}

fn one(way: Way, epsilon: f64, published: bool, split: f64) -> Cell {
    Cell { split, ..Cell::new(way, Noise::of(Some(epsilon), published), FIEDLER, 0) }
}

pub(super) fn cells(options: &Options) -> Vec<Cell> {
    let mut cells = Vec::new();
    for way in Way::TALKING {
        for epsilon in SPLIT_EPSILONS {
            for published in [true, false] {
                cells.extend(splits(options).into_iter().map(|split| one(way, epsilon, published, split)));
            }
        }
    }
    all(options, cells)
}

pub(super) fn table(mut item: Item, desk: &Desk) -> Result<Item> {
    let splits = splits(desk.options);
    item.say(format!(
        "Test accuracy {}, in percent, and in brackets what is printed; graphs at a Fiedler value of {FIEDLER}. At t = 0 everybody has the same share of every digit, at t = 1 a digit of her own. \
         (The paper prints t = 1 in Table 1 too, and at epsilon 10 not with the same numbers.)",
        Task::Digits.source(desk.options)
    ));
    // What the split costs, by noise, budget and method: from the best to the worst of it.
    let (mut cost, mut lines, mut seen) = ([Vec::new(), Vec::new()], Vec::new(), Vec::new());
    for (published, cost) in [true, false].into_iter().zip(&mut cost) {
        let of = if published { "the paper's noise" } else { "our noise" };
        let mut shown = Vec::new();
        for epsilon in SPLIT_EPSILONS {
            for way in Way::TALKING {
                let told = splits.iter().map(|&split| trials(desk, one(way, epsilon, published, split)));
                let told = told.collect::<Result<Vec<_>>>()?;
                let means: Vec<f64> = told.iter().map(|told| spread(told).mean).collect();
                for (split, mean) in splits.iter().zip(&means).filter(|(_, mean)| mean.is_finite()) {
                    let noise = Noise::of(Some(epsilon), published).name();
                    item.number(format!("{}, {noise}, t = {split}", way.name()), *mean);
                    lines.push(format!(
                        "{},{},{epsilon},{split},{mean}",
                        if published { "published" } else { "certified" },
                        way.name()
                    ));
                }
                let fell = means[0] - means[means.len() - 1];
                cost.push((way, epsilon, if fell.is_nan() { 100.0 } else { fell }));
                let cells = splits
                    .iter()
                    .zip(&told)
                    .map(|(&split, told)| beside(told, by_split(way, epsilon, split)));
                shown.push(
                    [epsilon.to_string(), way.name().into()]
                        .into_iter()
                        .chain(cells)
                        .collect::<Vec<String>>(),
                );
                seen.extend(told.into_iter().flatten());
            }
        }
        let columns: Vec<String> = ["epsilon".into(), of.into()]
            .into_iter()
            .chain(splits.iter().map(|split| format!("t = {split}")))
            .collect();
        item.table(&columns.iter().map(String::as_str).collect::<Vec<_>>(), shown);
    }
    item.say(learned_on(&seen));
    item.csv("noise,method,epsilon,split,accuracy", lines.into_iter());
    let of = |cost: &[(Way, f64, f64)], way: Way, epsilon: f64| {
        cost.iter().find(|one| (one.0, one.1) == (way, epsilon)).map_or(f64::NAN, |one| one.2)
    };
    let kept = |cost: &[(Way, f64, f64)]| {
        SPLIT_EPSILONS.into_iter().all(|epsilon| {
            let dsgt = of(cost, Way::Dsgt, epsilon);
            dsgt <= LITTLE && of(cost, Way::Dsgd, epsilon) > dsgt
        })
    };
    let told = |cost: &[(Way, f64, f64)]| {
        let one =
            |(way, epsilon, fell): &(Way, f64, f64)| format!("{} {fell:.1} at epsilon {epsilon}", way.name());
        cost.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    Ok(item.judge(Verdict {
        reproduced: kept(&cost[0]),
        holds: kept(&cost[1]),
        claim: "DSGT keeps its accuracy whoever holds which digits; DSGD and DiNNO lose 8 and 10 points at epsilon 0.5".into(),
        criterion: format!(
            "reproduced if under the paper's noise DSGT loses at most {LITTLE} points from equal shares (t = 0) to digits of one's own (t = 1), and DSGD more than DSGT, at both budgets; holds \
             if so under certified noise"
        ),
        ours: format!("points lost: {}", told(&cost[0])),
        exact: format!("under certified noise: {}", told(&cost[1])),
    }))
}
