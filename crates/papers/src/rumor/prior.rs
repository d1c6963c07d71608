//! Figure 3a: how often the first suspect who is heard is the source.

use sottovoce_report::{Axis, Chart, Curve};

use super::theory::{HEADER, Held, Theory, beyond};
use super::words::{above, bound, found_axis, line, measured, named, number};
use super::work::Found;
use crate::{Item, Result, Verdict};

/// Muting parameters that count as small.
const SMALL: f64 = 0.1;
/// How far apart what is gained beyond guessing may be where prior knowledge does not help, and how far where it does.
const ALIKE: f64 = 0.05;
const APART: f64 = 0.1;

pub(super) fn figure(mut item: Item, found: &Found) -> Result<Item> {
    item.say(
        "The curious know that the source is one of some suspects, all equally likely, and name the first of them who tells one of them: \
         no attack does better (Theorem 10). With few suspects part of the success is mere guessing: one in two of two is found without \
         looking. What is gained beyond guessing, (p - 1/m) / (1 - 1/m) with m suspects, is at most delta.",
    );
    let held = held(found)?;
    let numbers = suspects(&held);
    draw(&mut item, found, &held, &numbers)?;
    item.csv(HEADER, held.iter().map(Held::csv));
    let mut columns: Vec<String> = vec!["s".into()];
    columns.extend(numbers.iter().map(|&m| name(m, found)));
    columns.extend(["gained, 2 suspects", "exact delta", "Theorem 7"].map(String::from));
    let rows = mutings(&held).into_iter().map(|s| row(s, &held, &numbers, found));
    let rows = rows.collect::<Result<_>>()?;
    item.table(&columns.iter().map(String::as_str).collect::<Vec<_>>(), rows);
    judge(item, found, &held)
}

fn held(found: &Found) -> Result<Vec<Held>> {
    let all = found.attacks.iter();
    all.map(|attack| {
        let bounds = found.theory(attack.muting)?.bounds(attack.number, 1)?;
        Ok(Held::new(*attack, found.attacks.len(), bounds))
    })
    .collect()
}

fn suspects(held: &[Held]) -> Vec<usize> {
    let mut numbers: Vec<usize> = held.iter().map(|held| held.attack.number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

fn mutings(held: &[Held]) -> Vec<f64> {
    let mut mutings: Vec<f64> = held.iter().map(|held| held.attack.muting).collect();
    mutings.dedup();
    mutings
}

fn at(held: &[Held], s: f64, suspects: usize) -> Option<&Held> {
    held.iter().find(|held| held.attack.muting == s && held.attack.number == suspects)
}

fn name(suspects: usize, found: &Found) -> String {
    if suspects == found.size.honest() { "everyone honest".into() } else { format!("{suspects} suspects") }
}

fn draw(item: &mut Item, found: &Found, held: &[Held], numbers: &[usize]) -> Result<()> {
    let muting = || Axis::linear("muting parameter s").range(0.0, 1.0);
    let of = |number: usize| {
        let own = move |held: &&Held| held.attack.number == number;
        held.iter().filter(own).map(|held| (held.attack.muting, *held))
    };
    let curves = numbers.iter().map(|&m| measured(name(m, found), of(m))).collect();
    let chart = Chart::new("How often the source is found", muting(), found_axis(), curves);
    item.picture(
        "found",
        &chart.picture(),
        "Points with intervals that hold together with 99.9 % confidence.".into(),
    )?;
    let chart = Chart::new(
        "What the attack gains beyond guessing, and delta",
        muting(),
        Axis::linear("gained beyond guessing").range(0.0, 1.0),
        gains(found, held, numbers)?,
    );
    let caption = "With two suspects nothing is lost: what is gained is the exact delta. Everything lies below Theorem 7.";
    item.picture("gained", &chart.picture(), caption.into())
}

/// What is gained with the fewest and with the most suspects, and three deltas.
fn gains(found: &Found, held: &[Held], numbers: &[usize]) -> Result<Vec<Curve>> {
    let (fewest, most) = (numbers[0], numbers[numbers.len() - 1]);
    let gained = |number: usize| {
        let own = held.iter().filter(|held| held.attack.number == number);
        let mut curve = measured(name(number, found), own.map(|held| (held.attack.muting, *held)));
        let series = &mut curve.series;
        series.points.iter_mut().for_each(|point| point.1 = beyond(point.1, number));
        series.band.iter_mut().flatten().for_each(|(low, high)| {
            (*low, *high) = (beyond(*low, number).max(0.0), beyond(*high, number));
        });
        curve
    };
    let grid: Vec<f64> = (0..=20).map(|i| f64::from(i) / 20.0).collect();
    let theories = Theory::all(found.size, &grid)?;
    let along = |of: fn(&Theory) -> f64| theories.iter().map(|t| (t.rumor.muting(), of(t))).collect();
    Ok(vec![
        gained(fewest),
        gained(most),
        line("exact delta", along(|theory| theory.exact().upper)),
        line("Theorem 7", along(|theory| theory.published)),
        line("Table 1", along(|theory| theory.rumor.table1())),
    ])
}

fn row(s: f64, held: &[Held], numbers: &[usize], found: &Found) -> Result<Vec<String>> {
    let theory = found.theory(s)?;
    let mut row = vec![s.to_string()];
    row.extend(numbers.iter().map(|&m| at(held, s, m).map_or("–".into(), |held| number(held.estimate))));
    row.push(at(held, s, 2).map_or("–".into(), |held| number(held.beyond_guessing(2))));
    row.push(bound(theory.exact().upper));
    row.push(bound(theory.published));
    Ok(row)
}

/// The smallest and the largest gain over all sets of suspects.
fn spread_of_gains(s: f64, held: &[Held]) -> (f64, f64) {
    let own = held.iter().filter(|held| held.attack.muting == s);
    let gains = own.map(|held| held.beyond_guessing(held.attack.number));
    gains.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), gain| (low.min(gain), high.max(gain)))
}

/// Whether what two suspects give agrees with the exact delta, at every muting parameter.
fn agrees(held: &[Held], found: &Found) -> Result<bool> {
    for held in held.iter().filter(|held| held.attack.number == 2) {
        let exact = found.theory(held.attack.muting)?.exact();
        let (low, high) = (beyond(held.low, 2), beyond(held.high, 2));
        if exact.upper < low || high < exact.lower {
            return Ok(false);
        }
    }
    Ok(true)
}

fn judge(mut item: Item, found: &Found, held: &[Held]) -> Result<Item> {
    for one in held {
        let label = format!("{}, {}", named(one.attack.muting), name(one.attack.number, found));
        item.number(format!("{label}: found"), one.estimate);
        item.number(format!("{label}: bound"), one.bounds.least());
    }
    let share = found.size.share();
    let small: Vec<f64> = mutings(held).into_iter().filter(|s| *s <= SMALL).collect();
    let unmoved = |s: &f64| {
        let (low, high) = spread_of_gains(*s, held);
        high - low <= ALIKE && high - share <= ALIKE
    };
    let push = spread_of_gains(1.0, held);
    let exact = agrees(held, found)?;
    let list = |s: f64| {
        let own = held.iter().filter(|held| held.attack.muting == s);
        own.map(|held| format!("{} {}", name(held.attack.number, found), number(held.estimate)))
            .collect::<Vec<_>>()
            .join(", ")
    };
    let gained = |s: f64| {
        let (low, high) = spread_of_gains(s, held);
        format!("{} to {}", number(low), number(high))
    };
    let agreement = if exact { "is the exact delta" } else { "DIFFERS FROM the exact delta" };
    Ok(item.judge(Verdict {
        reproduced: small.iter().all(unmoved) && push.1 - push.0 >= APART,
        holds: exact && !held.iter().any(|held| held.refutes() || held.refutes_ours()),
        claim: "when s is small, prior knowledge hardly helps and the source is found about as often as its first telling reaches a \
                curious peer; when s is large it helps much"
            .into(),
        criterion: format!(
            "reproduced if at s <= {SMALL} what is gained beyond guessing differs by at most {ALIKE} between sets of suspects and exceeds \
             f/n by at most that, and at s = 1 differs by {APART} or more; holds if no interval lies above a bound and two suspects give \
             the exact delta"
        ),
        ours: format!(
            "at s = {SMALL}: {}, beyond guessing {} (f/n = {}); at s = 1: {}, beyond guessing {}",
            list(SMALL),
            gained(SMALL),
            number(share),
            list(1.0),
            gained(1.0)
        ),
        exact: format!("{}; what two suspects give {agreement} within the intervals", above(held)),
    }))
}
