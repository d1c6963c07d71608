//! Not in the paper: the same methods, rates and graphs on Fashion-MNIST, for which nothing was tuned.

use super::cell::{Cell, Way};
use super::cells::{all, beside, learned_on, spread, trials};
use super::noise::Noise;
use super::task::Task;
use crate::registry::Desk;
use crate::{Item, Options, Result, Verdict};

const EPSILON: f64 = 10.0;
const GRAPHS: [f64; 2] = [1.0, 0.06];
/// What a sparse graph may cost DSGT, in points.
const LITTLE: f64 = 2.0;

fn one(way: Way, fiedler: f64) -> Cell {
    Cell { task: Task::Fashion, ..Cell::new(way, Noise::Certified(EPSILON), fiedler, 0) }
}

pub(super) fn cells(options: &Options) -> Vec<Cell> {
    if Task::Fashion.folder(options).is_none() {
        return Vec::new();
    }
    let of = |way| GRAPHS.map(|fiedler| one(way, fiedler));
    all(options, Way::ALL.into_iter().flat_map(of))
}

pub(super) fn table(mut item: Item, desk: &Desk) -> Result<Item> {
    if Task::Fashion.folder(desk.options).is_none() {
        return Ok(item
            .skip("it needs Fashion-MNIST; give --data DIR, a folder with fashion-mnist/ (four idx files)"));
    }
    item.say(format!(
        "Test accuracy {}, in percent, at epsilon {EPSILON} under certified noise. Rates are those for digits; the paper has no such table.",
        Task::Fashion.source(desk.options)
    ));
    let (mut shown, mut means, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for way in Way::ALL {
        let told =
            GRAPHS.iter().map(|&fiedler| trials(desk, one(way, fiedler))).collect::<Result<Vec<_>>>()?;
        let cells = told.iter().map(|told| beside(told, None));
        shown.push([way.name().to_owned()].into_iter().chain(cells).collect::<Vec<String>>());
        let both: Vec<f64> = told.iter().map(|told| spread(told).mean).collect();
        for (fiedler, mean) in GRAPHS.iter().zip(&both).filter(|(_, mean)| mean.is_finite()) {
            item.number(format!("{}, Fiedler {fiedler}", way.name()), *mean);
        }
        means.push((way, both));
        seen.extend(told.into_iter().flatten());
    }
    item.say(learned_on(&seen));
    item.table(&["method", "complete graph", "Fiedler 0.06"], shown);
    let lines = means.iter().map(|(way, both)| format!("{},{},{}", way.name(), both[0], both[1]));
    item.csv("method,complete,sparse", lines);
    let of =
        |way: Way| means.iter().find(|one| one.0 == way).map_or([f64::NAN; 2], |one| [one.1[0], one.1[1]]);
    let lost = |way: Way| of(way)[0] - of(way)[1];
    Ok(item.judge(Verdict {
        reproduced: lost(Way::Dsgt) <= LITTLE && lost(Way::Dsgd) > lost(Way::Dsgt),
        holds: of(Way::Dsgt)[1] > of(Way::Dsgd)[1] && of(Way::Dinno)[1] > of(Way::Dsgd)[1],
        claim: "(of digits) DSGT does not mind sparse graphs, and DSGD does".into(),
        criterion: format!(
            "reproduced if DSGT loses at most {LITTLE} points from complete to sparse graphs, and DSGD more than DSGT; holds if on sparse graphs DSGT and DiNNO are better than DSGD"
        ),
        ours: format!("points lost: DSGD {:.1}, DSGT {:.1}, DiNNO {:.1}", lost(Way::Dsgd), lost(Way::Dsgt), lost(Way::Dinno)),
        exact: format!("on sparse graphs DSGD {:.1}, DSGT {:.1}, DiNNO {:.1}", of(Way::Dsgd)[1], of(Way::Dsgt)[1], of(Way::Dinno)[1]),
    }))
}
