//! What text and code of the paper leave open, tried one at a time at epsilon 10.

use super::cell::{Cell, Choice, Way};
use super::cells::{all, beside, spread, trials};
use super::noise::Noise;
use super::printed::accuracy;
use super::task::Task;
use crate::registry::Desk;
use crate::{Item, Options, Result, Verdict};

const EPSILON: f64 = 10.0;
const GRAPHS: [f64; 2] = [1.0, 0.06];

/// A method, what is done otherwise, and in words.
const TRIED: [(Way, Choice, &str); 7] = [
    (Way::Dsgd, Choice::Usual, "gradient at the own model (text), rows 1/(d + 1)"),
    (Way::Dsgd, Choice::Mixed, "gradient at the mixed model (code)"),
    (Way::Dsgd, Choice::Metropolis, "doubly stochastic weights"),
    (Way::Dsgt, Choice::Usual, "rows 1/(d + 1)"),
    (Way::Dsgt, Choice::Metropolis, "doubly stochastic weights"),
    (Way::Dinno, Choice::Usual, "Adam begun afresh in every iteration (code)"),
    (Way::Dinno, Choice::Kept, "Adam's moments kept"),
];

fn one((way, choice): (Way, Choice), fiedler: f64) -> Cell {
    Cell { choice, ..Cell::new(way, Noise::Published(EPSILON), fiedler, 0) }
}

pub(super) fn cells(options: &Options) -> Vec<Cell> {
    let of = |(way, choice, _): (Way, Choice, &str)| GRAPHS.map(|fiedler| one((way, choice), fiedler));
    all(options, TRIED.into_iter().flat_map(of))
}

pub(super) fn table(mut item: Item, desk: &Desk) -> Result<Item> {
    item.say(format!(
        "Test accuracy {}, in percent, at epsilon {EPSILON} under the paper's noise, and in brackets what is printed. The text of the paper has doubly stochastic weights and gradients at the own model; \
         its code has rows 1/(d + 1), gradients at the mixed model, and optimisers that are built anew in every iteration, so that Adam steps by signs.",
        Task::Digits.source(desk.options)
    ));
    let (mut shown, mut means) = (Vec::new(), Vec::new());
    for (way, choice, name) in TRIED {
        let told = GRAPHS.map(|fiedler| trials(desk, one((way, choice), fiedler)));
        let [complete, sparse] = told;
        let told = [complete?, sparse?];
        let cells = GRAPHS
            .iter()
            .zip(&told)
            .map(|(fiedler, told)| beside(told, accuracy(way, *fiedler, Some(EPSILON))));
        shown
            .push([way.name().to_owned(), name.to_owned()].into_iter().chain(cells).collect::<Vec<String>>());
        for (fiedler, told) in GRAPHS.iter().zip(&told) {
            let mean = spread(told).mean;
            if mean.is_finite() {
                item.number(format!("{}, {name}, Fiedler {fiedler}", way.name()), mean);
            }
            means.push((way, choice, *fiedler, mean));
        }
    }
    item.table(&["method", "done so", "complete graph", "Fiedler 0.06"], shown);
    let lines = means
        .iter()
        .map(|(way, choice, fiedler, mean)| format!("{},{choice:?},{fiedler},{mean}", way.name()));
    item.csv("method,choice,fiedler,accuracy", lines);
    let of = |wanted: (Way, Choice), fiedler: f64| {
        means
            .iter()
            .find(|one| (one.0, one.1, one.2) == (wanted.0, wanted.1, fiedler))
            .map_or(f64::NAN, |one| one.3)
    };
    let gain =
        |wanted: (Way, Choice), fiedler: f64| of(wanted, fiedler) - of((wanted.0, Choice::Usual), fiedler);
    let mixed = GRAPHS.map(|fiedler| gain((Way::Dsgd, Choice::Mixed), fiedler));
    let weights = [Way::Dsgd, Way::Dsgt].map(|way| gain((way, Choice::Metropolis), GRAPHS[1]));
    let kept = GRAPHS.map(|fiedler| gain((Way::Dinno, Choice::Kept), fiedler));
    let points = |gain: f64| if gain.is_nan() { "diverges".to_owned() } else { format!("{gain:+.1}") };
    let pair = |gains: [f64; 2]| format!("{} and {}", points(gains[0]), points(gains[1]));
    Ok(item.judge(Verdict {
        reproduced: mixed.iter().all(|gain| gain.abs() <= 2.0),
        holds: weights.iter().all(|gain| *gain >= -2.0),
        claim: "weights are doubly stochastic, and the gradient is taken at the own model".into(),
        criterion: "reproduced if where DSGD takes its gradient moves its accuracy by at most 2 points on either graph; holds if doubly stochastic weights, which theory asks for, lose DSGD and DSGT at most 2 \
                    points on sparse graphs"
            .into(),
        ours: format!(
            "points that DSGD wins at the mixed model, on complete and sparse graphs: {}; DiNNO if Adam's moments are kept: {}",
            pair(mixed),
            pair(kept)
        ),
        exact: format!("points that doubly stochastic weights win on sparse graphs, DSGD and DSGT: {}", pair(weights)),
    }))
}
