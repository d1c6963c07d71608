//! Table 4 and Figure 2: CIFAR-100 by method and split, with ResNet-9. At full size it is weeks on a processor and about four days on a graphics card, and is skipped; small sizes run wherever the files are.

use sottovoce_report::{Axis, Chart};

use super::cell::{Cell, Told, Way};
use super::cells::{all, beside, spread, trials};
use super::noise::Noise;
use super::printed::{SPLITS, cifar};
use super::task::Task;
use crate::learners::band;
use crate::registry::Desk;
use crate::{Item, Options, Result, Verdict};

const EPSILON: f64 = 10.0;
/// The paper does not say which graphs; these are Table 2's.
const FIEDLER: f64 = 0.06;
/// That of small sizes.
const FEW: f64 = 0.25;

const MISSING: &str = "it needs CIFAR-100; give --data DIR, a folder with cifar-100-binary/ (train.bin and test.bin), and --quick";
const LONG: &str = "31 cells of 20,000 iterations with ResNet-9 are weeks on a processor, and days on a graphics card; --quick tries it in small sizes";

/// Why it is not made, if it is not.
fn skipped(options: &Options) -> Option<&'static str> {
    match (Task::Cifar.folder(options), options.quick) {
        (None, _) => Some(MISSING),
        (Some(_), false) => Some(LONG),
        (Some(_), true) => None,
    }
}

/// Splits that are tried.
fn splits(options: &Options) -> Vec<f64> {
    SPLITS.into_iter().filter(|split| !options.quick || [0.0, 1.0].contains(split)).collect()
}

fn one(options: &Options, way: Way, private: bool, split: f64) -> Cell {
    let noise = Noise::of(private.then_some(EPSILON), false);
    // Few agents have no graph that is so sparse and connected.
    let fiedler = if options.quick { FEW } else { FIEDLER };
    // (The centre has all images.)
    let split = if way == Way::Central { 1.0 } else { split };
    Cell { task: Task::Cifar, split, ..Cell::new(way, noise, fiedler, 0) }
}

pub(super) fn cells(options: &Options) -> Vec<Cell> {
    if skipped(options).is_some() {
        return Vec::new();
    }
    let mut cells = Vec::new();
    for way in Way::ALL {
        for private in [true, false] {
            cells.extend(splits(options).into_iter().map(|split| one(options, way, private, split)));
        }
    }
    all(options, cells)
}

/// All trials of a row, split by split.
fn row(desk: &Desk, way: Way, private: bool) -> Result<Vec<Vec<Told>>> {
    splits(desk.options)
        .into_iter()
        .map(|split| trials(desk, one(desk.options, way, private, split)))
        .collect()
}

/// The mean of a row, split by split.
fn means(desk: &Desk, way: Way, private: bool) -> Result<Vec<f64>> {
    Ok(row(desk, way, private)?.iter().map(|told| spread(told).mean).collect())
}

fn settings(options: &Options) -> String {
    format!(
        "Test accuracy {}, in percent, at epsilon {EPSILON} under certified noise and without noise. DiNNO takes two primal steps, and both are counted. (The paper counts one, and its noise is for lots of \
         50 and spent on 250.) With --quick the net is a narrow one of the same layers.",
        Task::Cifar.source(options)
    )
}

pub(super) fn table(mut item: Item, desk: &Desk) -> Result<Item> {
    if let Some(why) = skipped(desk.options) {
        return Ok(item.skip(why));
    }
    item.say(settings(desk.options));
    let splits = splits(desk.options);
    let mut shown = Vec::new();
    for private in [true, false] {
        for way in Way::ALL {
            let row = row(desk, way, private)?;
            let printed =
                |split| cifar(way, private, split).map_or(String::new(), |printed| format!(" ({printed})"));
            let cells = splits.iter().zip(&row).map(|(&split, told)| beside(told, None) + &printed(split));
            let noise = if private { "epsilon 10" } else { "no noise" };
            shown.push(
                [noise.to_owned(), way.name().to_owned()].into_iter().chain(cells).collect::<Vec<String>>(),
            );
            for (split, told) in splits.iter().zip(&row) {
                let mean = spread(told).mean;
                if mean.is_finite() {
                    item.number(format!("{}, {noise}, t = {split}", way.name()), mean);
                }
            }
        }
    }
    let columns: Vec<String> = ["noise".into(), "method".into()]
        .into_iter()
        .chain(splits.iter().map(|split| format!("t = {split}")))
        .collect();
    item.table(&columns.iter().map(String::as_str).collect::<Vec<_>>(), shown);
    judged(item, desk)
}

pub(super) fn figure(mut item: Item, desk: &Desk) -> Result<Item> {
    if let Some(why) = skipped(desk.options) {
        return Ok(item.skip(why));
    }
    item.say(settings(desk.options));
    let splits = splits(desk.options);
    for (private, part) in [(false, "plain"), (true, "private")] {
        let curve = |way: Way| Ok(band(way.name(), &splits, &[means(desk, way, private)?]));
        let curves = Way::ALL.into_iter().map(curve).collect::<Result<Vec<_>>>()?;
        let (x, y) = (Axis::linear("t"), Axis::linear("mean test accuracy, percent"));
        item.picture(
            part,
            &Chart::new("CIFAR-100 by split", x, y, curves).picture(),
            format!("Learned in {part} rounds."),
        )?;
    }
    judged(item, desk)
}

fn judged(item: Item, desk: &Desk) -> Result<Item> {
    let fell = |way: Way| -> Result<f64> {
        let means = means(desk, way, true)?;
        Ok(means[0] - means[means.len() - 1])
    };
    let lost = Way::TALKING.map(fell);
    let [dsgd, dsgt, dinno] = lost;
    let (dsgd, dsgt, dinno) = (dsgd?, dsgt?, dinno?);
    let (centre, best) = (means(desk, Way::Central, true)?[0], means(desk, Way::Dsgt, true)?[0]);
    Ok(item.judge(Verdict {
        reproduced: dsgt <= 2.0 && dsgt <= dsgd && dsgt <= dinno,
        holds: centre - best <= 6.0,
        claim: "DSGT is within 6 points of the centre at epsilon 10, and does not mind who holds which classes".into(),
        criterion: "reproduced if DSGT loses at most 2 points from equal shares to classes of one's own, and no more than the others; holds if it is within 6 points of the centre".into(),
        ours: format!("points lost: DSGD {dsgd:.1}, DSGT {dsgt:.1}, DiNNO {dinno:.1}"),
        exact: format!("the centre has {centre:.1}, DSGT {best:.1}"),
    }))
}
