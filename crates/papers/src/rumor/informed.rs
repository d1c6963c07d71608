//! Figure 2a: how many are informed after each round.

use sottovoce_report::{Axis, Chart, Curve, Series};

use super::spread::{Count, Point, Spread};
use super::theory::rounds_per_log;
use super::words::{by_muting, named, number, percent};
use super::work::Found;
use crate::statistics::slope;
use crate::{Item, Result, Verdict};

/// How far the mean dynamics may be off.
const CLOSE: f64 = 0.15;
/// How much larger one step of growth may be than another.
const EVEN: f64 = 1.5;

pub(super) fn figure(mut item: Item, found: &Found) -> Result<Item> {
    item.say(
        "Share of peers who know the rumour after each round: the middle of all runs, and between a tenth and nine tenths of them. \
         In a round every active peer tells once. At s = 0 only one peer is ever active, so that a round is a single telling: within \
         the rounds that the others need, that curve lies on the axis. The second picture gives it room.",
    );
    draw(&mut item, &found.spreads)?;
    item.csv(HEADER, found.spreads.iter().flat_map(|spread| lines(spread, Count::Informed)));
    let rows = found.spreads.iter().map(|spread| row(spread, found)).collect::<Result<_>>()?;
    item.table(
        &[
            "s",
            "rounds, middle",
            "one in ten below",
            "one in ten above",
            "mean",
            "predicted",
            "Theorem 9",
            "tellings",
        ],
        rows,
    );
    judge(item, found)
}

/// The header of [`lines`].
pub(super) const HEADER: &str = "muting,round,low,median,high";

/// One line for each round that is kept.
pub(super) fn lines(spread: &Spread, count: Count) -> impl Iterator<Item = String> {
    let line = |p: Point| format!("{},{},{},{},{}", spread.muting, p.round, p.low, p.median, p.high);
    spread.course(count).into_iter().map(line)
}

/// A curve with its band.
pub(super) fn curve(spread: &Spread, count: Count, until: f64) -> Curve {
    let points: Vec<Point> =
        spread.course(count).into_iter().take_while(|point| point.round as f64 <= until).collect();
    Curve::line(Series {
        name: named(spread.muting),
        points: points.iter().map(|p| (p.round as f64, p.median)).collect(),
        band: Some(points.iter().map(|p| (p.low, p.high)).collect()),
    })
}

/// The rounds that all but the walk need.
pub(super) fn horizon(spreads: &[Spread]) -> f64 {
    let needed = spreads.iter().filter(|spread| spread.muting > 0.0).map(|spread| spread.band_of_rounds()[1]);
    needed.fold(1.0, f64::max)
}

fn draw(item: &mut Item, spreads: &[Spread]) -> Result<()> {
    let share = || Axis::linear("share of peers informed").range(0.0, 1.0);
    let until = horizon(spreads);
    let cut = spreads.iter().map(|spread| curve(spread, Count::Informed, until)).collect();
    let rounds = Axis::whole("round").range(0.0, until);
    let chart = Chart::new("Share of peers informed by round", rounds, share(), cut);
    item.picture("rounds", &chart.picture(), "As in the paper: s = 0 is cut, and lies on the axis.".into())?;
    let whole = spreads.iter().map(|spread| curve(spread, Count::Informed, f64::INFINITY)).collect();
    let longest = spreads.iter().map(|spread| spread.band_of_rounds()[1]).fold(2.0, f64::max);
    let rounds = Axis::log10("round").range(1.0, longest);
    let chart = Chart::new("Share of peers informed by round, logarithmic", rounds, share(), whole);
    item.picture("logarithmic", &chart.picture(), "The same on a logarithmic axis, s = 0 to its end.".into())
}

fn row(spread: &Spread, found: &Found) -> Result<Vec<String>> {
    let [low, middle, high] = spread.band_of_rounds();
    let mut row = vec![spread.muting.to_string()];
    row.extend([middle, low, high].map(|rounds| rounds.to_string()));
    row.push(number(spread.mean_rounds()));
    let theory = found.theory(spread.muting)?;
    row.push(number(theory.rounds()));
    let printed = theory.rumor.spread().and_then(|spread| spread.theorem9_rounds);
    row.push(printed.map_or("–".into(), number));
    row.push(number(spread.mean_tellings()));
    Ok(row)
}

/// Mean rounds by the logarithm of the number of peers, smallest crowd first.
fn growth(spread: &Spread, found: &Found) -> Vec<(f64, f64)> {
    let own = found.growth.iter().filter(|other| other.muting == spread.muting);
    own.map(|s| ((s.peers as f64).ln(), s.mean_rounds())).collect()
}

/// How much larger the largest addition of rounds is than the smallest, from one crowd to the next.
fn unevenness(growth: &[(f64, f64)]) -> f64 {
    let steps = growth.windows(2).map(|pair| pair[1].1 - pair[0].1);
    let (low, high) = steps.fold((f64::INFINITY, 0.0), |(l, h): (f64, f64), step| (l.min(step), h.max(step)));
    if low > 0.0 { high / low } else { f64::INFINITY }
}

fn judge(mut item: Item, found: &Found) -> Result<Item> {
    let mean = |s: f64| {
        let spread = found.spreads.iter().find(|spread| spread.muting == s);
        spread.map_or(f64::NAN, Spread::mean_rounds)
    };
    let fast: Vec<&Spread> = found.spreads.iter().filter(|spread| spread.muting > 0.0).collect();
    let mut worst: f64 = 0.0;
    for spread in &found.spreads {
        let (seen, said) = (spread.mean_rounds(), found.theory(spread.muting)?.rounds());
        item.number(format!("{}: mean rounds", named(spread.muting)), seen);
        item.number(format!("{}: predicted rounds", named(spread.muting)), said);
        item.number(format!("{}: mean tellings", named(spread.muting)), spread.mean_tellings());
        worst = worst.max((said / seen - 1.0).abs());
    }
    let uneven = fast.iter().map(|spread| unevenness(&growth(spread, found))).fold(0.0, f64::max);
    let doubling = |per_log: f64| number(per_log * 2f64.ln());
    let (half, walk) = (mean(0.5) / mean(1.0), mean(0.0) / mean(0.1));
    let rounds = |spread: &Spread| (spread.muting, number(spread.mean_rounds()));
    let ours = format!(
        "rounds until everyone knows: {}; rounds more for twice as many peers: {} (largest addition {} times the \
         smallest); s = 0.5 takes {} times as long as s = 1, and the walk {} times as long as s = 0.1",
        by_muting(found.spreads.iter().map(rounds)),
        by_muting(fast.iter().map(|spread| (spread.muting, doubling(slope(&growth(spread, found)))))),
        number(uneven),
        number(half),
        number(walk),
    );
    let exact = format!(
        "the mean dynamics are off by {} at most; twice as many peers should take so many rounds more: {}",
        percent(worst),
        by_muting(fast.iter().map(|spread| (spread.muting, doubling(rounds_per_log(spread.muting))))),
    );
    Ok(item.judge(Verdict {
        reproduced: uneven <= EVEN && half <= 2.0 && walk >= 100.0,
        holds: worst <= CLOSE,
        claim: "time is logarithmic in the number of peers for every s > 0; s = 0.5 is almost as fast as s = 1; even small s is \
                much faster than s = 0"
            .into(),
        criterion: format!(
            "reproduced if, for every s > 0, four times as many peers always cost about as many rounds more (the largest addition at \
             most {EVEN} times the smallest), s = 0.5 takes at most twice as long as s = 1, and s = 0 at least a hundred times as \
             long as s = 0.1; holds if the mean dynamics are off by {} at most",
            percent(CLOSE)
        ),
        ours,
        exact,
    }))
}
