//! What text and code of the paper leave open, tried one at a time: at epsilon 10, and which graphs are near enough at 1, where it matters.

use super::cell::{Cell, Choice, Way};
use super::cells::{all, beside, learned_on, spread, trials};
use super::noise::Noise;
use super::printed::accuracy;
use super::task::Task;
use crate::registry::Desk;
use crate::{Item, Options, Result, Verdict};

const EPSILON: f64 = 10.0;
const GRAPHS: [f64; 2] = [1.0, 0.06];

/// Where it matters how sparse graphs are.
const LITTLE: f64 = 1.0;

/// A method, what is done otherwise, at which epsilon, and in words.
const TRIED: [(Way, Choice, f64, &str); 9] = [
    (Way::Dsgd, Choice::Usual, EPSILON, "gradient at the own model (text), rows 1/(d + 1)"),
    (Way::Dsgd, Choice::Mixed, EPSILON, "gradient at the mixed model (code)"),
    (Way::Dsgd, Choice::Metropolis, EPSILON, "doubly stochastic weights"),
    (Way::Dsgt, Choice::Usual, EPSILON, "rows 1/(d + 1)"),
    (Way::Dsgt, Choice::Metropolis, EPSILON, "doubly stochastic weights"),
    (Way::Dinno, Choice::Usual, EPSILON, "Adam begun afresh in every iteration (code)"),
    (Way::Dinno, Choice::Kept, EPSILON, "Adam's moments kept"),
    (Way::Dinno, Choice::Usual, LITTLE, "at epsilon 1: graphs within 0.05 of their Fiedler value"),
    (Way::Dinno, Choice::Nearest, LITTLE, "at epsilon 1: of twenty such graphs the nearest to it"),
];

fn one((way, choice, epsilon): (Way, Choice, f64), fiedler: f64) -> Cell {
    Cell { choice, ..Cell::new(way, Noise::Published(epsilon), fiedler, 0) }
}

pub(super) fn cells(options: &Options) -> Vec<Cell> {
    let of = |(way, choice, epsilon, _): (Way, Choice, f64, &str)| {
        GRAPHS.map(|fiedler| one((way, choice, epsilon), fiedler))
    };
    all(options, TRIED.into_iter().flat_map(of))
}

pub(super) fn table(mut item: Item, desk: &Desk) -> Result<Item> {
    item.say(format!(
        "Test accuracy {}, in percent, at epsilon {EPSILON} (but for the last two rows) under the paper's noise, and in brackets what is printed. The text of the paper has doubly stochastic weights and gradients at the own model; \
         its code has rows 1/(d + 1), gradients at the mixed model, and optimisers that are built anew in every iteration, so that Adam steps by signs.",
        Task::Digits.source(desk.options)
    ));
    let (mut shown, mut means, mut seen) = (Vec::new(), Vec::new(), Vec::new());
    for (way, choice, epsilon, name) in TRIED {
        let told = GRAPHS.map(|fiedler| trials(desk, one((way, choice, epsilon), fiedler)));
        let [complete, sparse] = told;
        let told = [complete?, sparse?];
        let cells = GRAPHS
            .iter()
            .zip(&told)
            .map(|(fiedler, told)| beside(told, accuracy(way, *fiedler, Some(epsilon))));
        shown
            .push([way.name().to_owned(), name.to_owned()].into_iter().chain(cells).collect::<Vec<String>>());
        for (fiedler, told) in GRAPHS.iter().zip(&told) {
            let mean = spread(told).mean;
            if mean.is_finite() {
                item.number(format!("{}, {name}, Fiedler {fiedler}", way.name()), mean);
            }
            means.push(((way, choice, epsilon), *fiedler, mean));
        }
        seen.extend(told.into_iter().flatten());
    }
    item.say(learned_on(&seen));
    item.table(&["method", "done so", "complete graph", "Fiedler 0.06"], shown);
    let lines = means.iter().map(|((way, choice, epsilon), fiedler, mean)| {
        format!("{},{choice:?},{epsilon},{fiedler},{mean}", way.name())
    });
    item.csv("method,choice,epsilon,fiedler,accuracy", lines);
    let of = |wanted: (Way, Choice, f64), fiedler: f64| {
        means.iter().find(|one| (one.0, one.1) == (wanted, fiedler)).map_or(f64::NAN, |one| one.2)
    };
    let gain = |(way, choice, epsilon): (Way, Choice, f64), fiedler: f64| {
        of((way, choice, epsilon), fiedler) - of((way, Choice::Usual, epsilon), fiedler)
    };
    let mixed = GRAPHS.map(|fiedler| gain((Way::Dsgd, Choice::Mixed, EPSILON), fiedler));
    let weights = [Way::Dsgd, Way::Dsgt].map(|way| gain((way, Choice::Metropolis, EPSILON), GRAPHS[1]));
    let kept = GRAPHS.map(|fiedler| gain((Way::Dinno, Choice::Kept, EPSILON), fiedler));
    let nearest = gain((Way::Dinno, Choice::Nearest, LITTLE), GRAPHS[1]);
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
            "points that DSGD wins at the mixed model, on complete and sparse graphs: {}; DiNNO if Adam's moments are kept: {}; DiNNO on the nearest sparse graphs, at epsilon {LITTLE}: {}",
            pair(mixed),
            pair(kept),
            points(nearest)
        ),
        exact: format!("points that doubly stochastic weights win on sparse graphs, DSGD and DSGT: {}", pair(weights)),
    }))
}
