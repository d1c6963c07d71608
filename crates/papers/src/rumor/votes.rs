//! Figure 3b: several rumours of one source, and a vote over who is heard first.

use sottovoce_report::{Axis, Chart};

use super::theory::{HEADER, Held};
use super::words::{above, bound, by_muting, found_axis, measured, named, number};
use super::work::{Found, MUTINGS, RUMORS};
use crate::{Item, Result, Verdict};

/// What counts as almost sure.
const SURE: f64 = 0.95;
/// What is found at most of the source of all rumours where privacy is graceful.
const GRACEFUL: f64 = 0.5;
const SMALL: f64 = 0.1;

pub(super) fn figure(mut item: Item, found: &Found) -> Result<Item> {
    item.say(
        "The same source, any honest peer, spreads several rumours. Of each the curious write down the ten peers who are heard first, and \
         name whoever is on most lists; of several, the one who was heard earliest.",
    );
    let all = found.votes.iter().map(|attack| {
        let bounds = found.theory(attack.muting)?.bounds(found.size.honest(), attack.number as u32)?;
        Ok(Held::new(*attack, found.votes.len(), bounds))
    });
    let held: Vec<Held> = all.collect::<Result<_>>()?;
    draw(&mut item, &held)?;
    item.csv(HEADER, held.iter().map(Held::csv));
    item.table(
        &["s", "1 rumour", "2", "3", "5", "10", "no attack on 10 exceeds"],
        MUTINGS.iter().map(|&s| row(s, &held)).collect(),
    );
    Ok(judge(item, &held))
}

fn at(held: &[Held], s: f64, rumors: usize) -> Option<&Held> {
    held.iter().find(|held| held.attack.muting == s && held.attack.number == rumors)
}

fn estimate(held: &[Held], s: f64, rumors: usize) -> f64 {
    at(held, s, rumors).map_or(f64::NAN, |held| held.estimate)
}

fn draw(item: &mut Item, held: &[Held]) -> Result<()> {
    let curve = |s: f64| {
        let own = held.iter().filter(move |held| held.attack.muting == s);
        measured(named(s), own.map(|held| (held.attack.number as f64, *held)))
    };
    let x = Axis::whole("rumours of one source").range(1.0, RUMORS as f64);
    let chart = Chart::new(
        "How often the source of several rumours is found",
        x,
        found_axis(),
        MUTINGS.map(curve).to_vec(),
    );
    item.picture(
        "found",
        &chart.picture(),
        "Points with intervals that hold together with 99.9 % confidence.".into(),
    )
}

fn row(s: f64, held: &[Held]) -> Vec<String> {
    let mut row = vec![s.to_string()];
    row.extend([1, 2, 3, 5, RUMORS].map(|rumors| number(estimate(held, s, rumors))));
    row.push(at(held, s, RUMORS).map_or("–".into(), |held| bound(held.bounds.least())));
    row
}

fn judge(mut item: Item, held: &[Held]) -> Item {
    for one in held {
        item.number(
            format!("{}, {} rumours: found", named(one.attack.muting), one.attack.number),
            one.estimate,
        );
    }
    let list = |rumors: usize| by_muting(MUTINGS.iter().map(|&s| (s, number(estimate(held, s, rumors)))));
    let bounds = MUTINGS.iter().filter_map(|&s| Some((s, bound(at(held, s, RUMORS)?.bounds.least()))));
    // Few runs must not decide by chance: the ends of the intervals count.
    let end = |s: f64, of: fn(&Held) -> f64| at(held, s, RUMORS).map_or(f64::NAN, of);
    let graceful = |s: &f64| end(*s, |held| held.low) <= GRACEFUL;
    let reproduced = end(1.0, |held| held.high) >= SURE && [0.0, SMALL].iter().all(graceful);
    item.judge(Verdict {
        reproduced,
        holds: !held.iter().any(|held| held.refutes() || held.refutes_ours()),
        claim: "with large s the attack becomes almost sure after ten rumours; with small s it improves much more gracefully".into(),
        criterion: format!(
            "reproduced if the interval after {RUMORS} rumours reaches {SURE} at s = 1, and {GRACEFUL} or less at s <= {SMALL}; holds if no \
             interval lies above a bound"
        ),
        ours: format!("one rumour: {}; {RUMORS} rumours: {}", list(1), list(RUMORS)),
        exact: format!("{}; no attack on {RUMORS} rumours exceeds {}", above(held), by_muting(bounds)),
    })
}
