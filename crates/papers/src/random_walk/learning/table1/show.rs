//! Tables, pictures and data of table 1.

use sottovoce_report::{Axis, Chart, Curve, Series, text};

use super::super::graphs::Shape;
use super::runs::Learned;
use super::units::RELAY;
use super::worst::{KEYS, RUNS, Worst};
use super::{CLIP, TOKEN_STEP};
use super::{Cell, Found, GOSSIP_STEP, GOSSIP_STEPS, ITERATIONS, LOSSES, ORDER, Pair, TOKEN_STEPS};
use crate::Item;
use crate::Result;
use crate::learners::{Data, Spread};

pub(super) fn show(mut item: Item, found: &Found, data: &Data) -> Result<Item> {
    describe(&mut item, found, data);
    draw(&mut item, found)?;
    item.csv(
        "mean_loss,graph,accounting,tuned,method,units,sigma,step,run,accuracy",
        lines(found).into_iter(),
    );
    let (keys, kappa, colluders) = KEYS;
    item.say(format!(
        "Means are guarantees for nobody. The second table has the same losses as bounds for every peer: of a trusted curator towards whoever sees its models, of noise that cancels \
         ({keys} secrets a peer, pairs {kappa} times as loud as the own noise) towards someone who sees every message and holds the secrets of any {colluders} peers; a release costs \
         {} of a local one. {RUNS} runs, step sizes tuned as above.",
        text::up(found.share, 3)
    ));
    item.table(
        &["loss of every peer, at most", "trusted curator", "noise that cancels", "falls short by"],
        found.worst.iter().map(worst).collect(),
    );
    item.table(
        &[
            "mean loss",
            "graph",
            "gossip, paper",
            "walk, paper",
            "gossip, here",
            "walk, here",
            "gossip, tuned",
            "walk, tuned",
            "gossip, true loss",
            "walk, true loss",
            "gossip, true and tuned",
            "walk, true and tuned",
            "relay noise, true and tuned",
            "butterfly, tuned",
        ],
        found.cells_by_loss().map(|cell| row(cell, found)).collect(),
    );
    Ok(item)
}

fn describe(item: &mut Item, found: &Found, data: &Data) {
    item.say(format!(
        "Logistic regression {}, gradients of rows clipped to {CLIP}. Noise is set so that the mean over all pairs of the Rényi loss at order \
         {ORDER} is what the row says. Gossip: {ITERATIONS} steps of size {GOSSIP_STEP} of everyone, each followed by accelerated gossip; \
         the walk: {ITERATIONS} steps for each peer on average, of size {TOKEN_STEP}, at most {ITERATIONS} contributions each. {} runs. \
         Accuracy of gossip is the mean over peers.",
        data.source(),
        found.runs
    ));
    item.say(data.terms());
    let parts: Vec<String> = found
        .cells
        .iter()
        .filter(|cell| cell.paper.loss == LOSSES[0])
        .map(|cell| {
            let u = &cell.units;
            format!(
                "{} ({} rounds): gossip {} and {} ({}), walk {} and {}, gossip with relay noise {}",
                cell.paper.shape.name(),
                u.rounds,
                text::up(u.gossip_printed, 3),
                text::up(u.gossip_true, 3),
                u.how,
                text::up(u.walk_printed, 3),
                text::up(u.walk_true, 3),
                u.relay_true.map_or("–".into(), |loss| text::up(loss, 3))
            )
        })
        .collect();
    item.say(format!(
        "Mean losses of a pair as printed and truly, before noise, where a contribution that is seen as it is counts 1: {}. Butterfly rounds: \
         {} (proven).",
        parts.join("; "),
        text::up(found.consensus, 3)
    ));
    item.say(format!(
        "On the complete graph one round of gossip is exact; the formula for the rounds asks for {}, which as printed multiplies the loss. \
         The noise of the walk is below what its theorem asks for (sigma² of at least 4 at order {ORDER}): sigma² is {} at most. Step sizes are \
         tuned on the training loss, from {GOSSIP_STEPS:?} for gossip and butterflies and from {TOKEN_STEPS:?} for the walk, in runs that do not \
         count; what tuning reveals is not accounted for, and where the largest step is chosen a larger one might be better. True losses of gossip \
         are those towards one peer, number n/2, which stands for all. True losses of the walk are means over sampled paths of what a path reveals (convex \
         losses, steps of at most 2/smoothness). Relay noise: {} rounds of plain gossip, every message with fresh noise of {} of that on gradients; it \
         is left out on the complete graph, where it does nothing. Butterflies have no use for a graph and have 2^m peers, whatever the row.",
        found.formula_rounds(),
        text::digits(found.largest_walk_variance(), 2),
        RELAY.0,
        RELAY.1
    ));
}

fn short(result: &Learned) -> String {
    let Spread { mean, deviation, .. } = result.accuracy();
    format!("{mean:.3} ± {deviation:.2}")
}

fn tuned(result: &Learned) -> String {
    format!("{} (step {})", short(result), result.step)
}

fn worst(row: &Worst) -> Vec<String> {
    vec![row.loss.to_string(), tuned(&row.curator), tuned(&row.cancelling), format!("{:.4}", row.short())]
}

fn row(cell: &Cell, found: &Found) -> Vec<String> {
    let printed = |(mean, deviation): (f64, f64)| format!("{mean} ± {deviation}");
    let mut row = vec![cell.paper.loss.to_string(), cell.paper.shape.name().into()];
    row.extend([cell.paper.gossip, cell.paper.walk].map(printed));
    row.extend([&cell.printed.gossip, &cell.printed.walk].map(short));
    row.extend([&cell.printed_tuned.gossip, &cell.printed_tuned.walk].map(tuned));
    row.extend([&cell.truly.gossip, &cell.truly.walk].map(short));
    row.extend([&cell.truly_tuned.gossip, &cell.truly_tuned.walk].map(tuned));
    row.push(cell.relay.as_ref().map_or("–".into(), tuned));
    row.push(found.butterfly(cell.paper.loss).map_or("–".into(), |butterfly| tuned(&butterfly.tuned)));
    row
}

fn lines(found: &Found) -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |words: [&str; 4], loss: f64, units: f64, result: &Learned| {
        let [graph, accounting, tuned, method] = words;
        let Learned { sigma, step, accuracies } = result;
        for (run, accuracy) in accuracies.iter().enumerate() {
            lines.push(format!(
                "{loss},{graph},{accounting},{tuned},{method},{units},{sigma},{step},{run},{accuracy}"
            ));
        }
    };
    for cell in &found.cells {
        let (graph, loss, units) = (cell.paper.shape.name(), cell.paper.loss, &cell.units);
        let printed = (units.gossip_printed, units.walk_printed);
        let truly = (units.gossip_true, units.walk_true);
        for (accounting, tuned, (gossip, walk), pair) in [
            ("printed", "no", printed, &cell.printed),
            ("printed", "yes", printed, &cell.printed_tuned),
            ("true", "no", truly, &cell.truly),
            ("true", "yes", truly, &cell.truly_tuned),
        ] {
            add([graph, accounting, tuned, "gossip"], loss, gossip, &pair.gossip);
            add([graph, accounting, tuned, "walk"], loss, walk, &pair.walk);
        }
        if let (Some(units), Some(result)) = (units.relay_true, &cell.relay) {
            add([graph, "true", "yes", "gossip with relay noise"], loss, units, result);
        }
    }
    for butterfly in &found.butterflies {
        add(["none", "proven", "no", "butterfly"], butterfly.loss, found.consensus, &butterfly.fixed);
        add(["none", "proven", "yes", "butterfly"], butterfly.loss, found.consensus, &butterfly.tuned);
    }
    for worst in &found.worst {
        let (all, share) = (ITERATIONS as f64, found.share);
        add(["none", "worst", "yes", "curator"], worst.loss, all, &worst.curator);
        add(["none", "worst", "yes", "noise that cancels"], worst.loss, all * share, &worst.cancelling);
    }
    lines
}

/// One of the conditions under which gossip and token are compared.
type Condition = fn(&Cell) -> &Pair;

fn draw(item: &mut Item, found: &Found) -> Result<()> {
    let pictures: [(&str, &str, Condition); 2] = [
        ("printed", "At equal printed mean loss, with the published step sizes.", |cell| &cell.printed),
        ("true", "At equal true mean loss, step sizes tuned.", |cell| &cell.truly_tuned),
    ];
    for (part, caption, of) in pictures {
        let mut curves = Vec::new();
        for shape in [Shape::Complete, Shape::Hypercube, Shape::Geometric, Shape::Grid] {
            let own = || found.cells.iter().filter(|cell| cell.paper.shape == shape);
            let curve = |method: &str, accuracy: fn(&Pair) -> Spread| {
                let points = own().map(|cell| (cell.paper.loss, accuracy(of(cell)).mean)).collect();
                Curve::marked(Series { name: format!("{method}, {}", shape.name()), points, band: None })
            };
            curves.push(curve("gossip", |pair| pair.gossip.accuracy()));
            curves.push(curve("walk", |pair| pair.walk.accuracy()));
        }
        let points = found.butterflies.iter().map(|butterfly| {
            let result = if part == "true" { &butterfly.tuned } else { &butterfly.fixed };
            (butterfly.loss, result.accuracy().mean)
        });
        let series = Series { name: "butterfly".into(), points: points.collect(), band: None };
        curves.push(Curve::marked(series));
        let axes = (Axis::linear("mean loss").range(0.4, 2.1), Axis::linear("accuracy").range(0.4, 1.0));
        let mut chart = Chart::new(format!("Accuracy, {part} losses"), axes.0, axes.1, curves);
        chart.size = (560.0, 420.0);
        item.picture(part, &chart.picture(), caption.into())?;
    }
    Ok(())
}

impl Found {
    /// Cells in the order of the paper.
    fn cells_by_loss(&self) -> impl Iterator<Item = &Cell> {
        LOSSES.into_iter().flat_map(|loss| self.cells.iter().filter(move |cell| cell.paper.loss == loss))
    }

    fn formula_rounds(&self) -> usize {
        self.cells.first().map_or(0, |cell| cell.units.asked)
    }

    fn largest_walk_variance(&self) -> f64 {
        self.cells.iter().map(|cell| cell.printed.walk.sigma.powi(2)).fold(0.0, f64::max)
    }
}
