//! Table 1: accuracy by method, privacy budget and graph, under the paper's noise and under ours.

use sottovoce_report::text;

use super::cell::{Cell, Told, Way};
use super::cells::{all, beside, learned_on, spread, trials};
use super::noise::Noise;
use super::printed::{EPSILONS, FIEDLERS, accuracy};
use super::task::Task;
use crate::registry::Desk;
use crate::{Item, Options, Result, Verdict};

/// How far below a printed accuracy ours may be, in points.
pub(super) const WITHIN: f64 = 1.5;

/// Budgets and graphs that are tried.
pub(super) fn budgets(options: &Options) -> Vec<Option<f64>> {
    EPSILONS
        .into_iter()
        .filter(|epsilon| !options.quick || [None, Some(10.0), Some(0.5)].contains(epsilon))
        .collect()
}

pub(super) fn graphs(options: &Options) -> Vec<f64> {
    FIEDLERS.into_iter().filter(|fiedler| !options.quick || [1.0, 0.06].contains(fiedler)).collect()
}

/// Methods with their graphs; the centre has none.
fn rows(options: &Options) -> Vec<(Way, f64)> {
    let talking = |fiedler: f64| Way::TALKING.map(move |way| (way, fiedler));
    [(Way::Central, 1.0)].into_iter().chain(graphs(options).into_iter().flat_map(talking)).collect()
}

pub(super) fn cells(options: &Options) -> Vec<Cell> {
    let noises = budgets(options)
        .into_iter()
        .flat_map(|epsilon| [true, false].map(|published| Noise::of(epsilon, published)));
    let noises: Vec<Noise> = noises.collect();
    let one = |(way, fiedler): (Way, f64)| noises.iter().map(move |&noise| Cell::new(way, noise, fiedler, 0));
    all(options, rows(options).into_iter().flat_map(one))
}

/// All trials of a row, budget by budget.
type Row = Vec<Vec<Told>>;

pub(super) fn row(desk: &Desk, (way, fiedler): (Way, f64), published: bool) -> Result<Row> {
    let cell = |epsilon| trials(desk, Cell::new(way, Noise::of(epsilon, published), fiedler, 0));
    budgets(desk.options).into_iter().map(cell).collect()
}

pub(super) fn table(mut item: Item, desk: &Desk) -> Result<Item> {
    let budgets = budgets(desk.options);
    item.say(format!(
        "Test accuracy {}, in percent, and in brackets what is printed. Everybody has the images of one digit; graphs are connected Erdős–Rényi graphs within 0.05 of their Fiedler value, \
         another in every trial.",
        Task::Digits.source(desk.options)
    ));
    let mut short = [Vec::new(), Vec::new()];
    let (mut lines, mut seen) = (Vec::new(), Vec::new());
    for (published, short) in [true, false].into_iter().zip(&mut short) {
        let of = if published { "the paper's noise" } else { "our noise" };
        let (mut shown, mut spent) = (Vec::new(), vec![0.0; budgets.len()]);
        for (way, fiedler) in rows(desk.options) {
            let row = row(desk, (way, fiedler), published)?;
            for ((epsilon, told), spent) in budgets.iter().zip(&row).zip(&mut spent) {
                let mean = spread(told).mean;
                let name =
                    format!("{}, Fiedler {fiedler}, {}", way.name(), Noise::of(*epsilon, published).name());
                if mean.is_finite() {
                    item.number(name.clone(), mean);
                }
                told.iter()
                    .filter_map(|told| told.spent)
                    .for_each(|loss| *spent = if loss > *spent { loss } else { *spent });
                // (What is no number is not within anything.)
                let near =
                    accuracy(way, fiedler, *epsilon).is_some_and(|(printed, _)| mean >= printed - WITHIN);
                if !near && [Way::Dsgt, Way::Dinno].contains(&way) {
                    short.push(name);
                }
                lines.extend(
                    told.iter()
                        .enumerate()
                        .map(|(trial, told)| line(&(way, fiedler), *epsilon, published, trial, told)),
                );
            }
            let cells = budgets
                .iter()
                .zip(&row)
                .map(|(epsilon, told)| beside(told, accuracy(way, fiedler, *epsilon)));
            let fiedler = if way == Way::Central { "none".into() } else { fiedler.to_string() };
            shown.push([fiedler, way.name().into()].into_iter().chain(cells).collect::<Vec<String>>());
            seen.extend(row.into_iter().flatten());
        }
        let truly = spent.iter().map(|loss| if *loss > 0.0 { text::up(*loss, 4) } else { String::new() });
        shown.push([of.to_owned(), "epsilon truly spent, at most".into()].into_iter().chain(truly).collect());
        let named = budgets
            .iter()
            .map(|epsilon| epsilon.map_or("no noise".to_owned(), |epsilon| format!("epsilon {epsilon}")));
        let columns: Vec<String> = ["Fiedler value".into(), of.to_owned()].into_iter().chain(named).collect();
        item.table(&columns.iter().map(String::as_str).collect::<Vec<_>>(), shown);
    }
    item.say(learned_on(&seen));
    item.csv("noise,method,fiedler,epsilon,trial,graph,accuracy,spent,multiplier", lines.into_iter());
    let found = |short: &[String]| match short {
        [] => "all are".to_owned(),
        [one] => format!("all are but {one}"),
        [first, ..] => format!("all are but {}, such as {first}", short.len()),
    };
    Ok(item.judge(Verdict {
        reproduced: short[0].is_empty(),
        holds: short[1].is_empty(),
        claim: "DSGT and DiNNO learn MNIST under every budget, on complete and on sparse graphs".into(),
        criterion: format!(
            "reproduced if under the paper's noise DSGT and DiNNO are at most {WITHIN} points below what is printed, at every budget and on every graph; holds if they are under noise \
             that is certified to keep the epsilon"
        ),
        ours: format!("at most {WITHIN} points below: {}", found(&short[0])),
        exact: format!("under certified noise: {}", found(&short[1])),
    }))
}

fn line(
    (way, fiedler): &(Way, f64),
    epsilon: Option<f64>,
    published: bool,
    trial: usize,
    told: &Told,
) -> String {
    let noise = if published { "published" } else { "certified" };
    let number = |value: Option<f64>| value.map_or(String::new(), |value| value.to_string());
    format!(
        "{noise},{},{fiedler},{},{},{},{},{},{}",
        way.name(),
        number(epsilon),
        trial + 1,
        told.fiedler,
        told.accuracy(),
        number(told.spent),
        told.multiplier
    )
}
