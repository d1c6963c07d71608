//! Figure 2b: how many are active after each round.

use sottovoce_report::{Axis, Chart};

use super::informed::{HEADER, curve, horizon, lines};
use super::spread::{Count, Spread};
use super::theory::plateau;
use super::words::{by_muting, named, number, percent};
use super::work::Found;
use crate::{Item, Result, Verdict};

/// Peers that have to be active before growth is measured, and the largest part of the plateau at which it still is.
const FEW: (usize, f64) = (20, 0.1);
/// How far growth and plateau may be from theory.
const CLOSE: (f64, f64) = (0.2, 0.05);

pub(super) fn figure(mut item: Item, found: &Found) -> Result<Item> {
    item.say(
        "Share of peers who are active after each round: the middle of all runs, and between a tenth and nine tenths of them. At \
         first those active multiply; then as many are told who are active already as fall silent. At s = 0 one peer is active, \
         always.",
    );
    draw(&mut item, &found.spreads)?;
    item.csv(HEADER, found.spreads.iter().flat_map(|spread| lines(spread, Count::Active)));
    item.table(
        &["s", "growth in a round", "1 + s", "plateau", "fixed point", "plateau / s"],
        found.spreads.iter().filter(|spread| spread.muting > 0.0).map(row).collect(),
    );
    Ok(judge(item, found))
}

fn draw(item: &mut Item, spreads: &[Spread]) -> Result<()> {
    let until = horizon(spreads);
    let curves = || spreads.iter().map(|spread| curve(spread, Count::Active, until)).collect();
    let rounds = || Axis::whole("round").range(0.0, until);
    let share = Axis::linear("share of peers active").range(0.0, 1.0);
    let chart = Chart::new("Share of peers active by round", rounds(), share, curves());
    item.picture("rounds", &chart.picture(), "The plateau grows with s.".into())?;
    let least = spreads.first().map_or(1e-5, |spread| 1.0 / spread.peers as f64);
    let share = Axis::log10("share of peers active").range(least, 1.0);
    let chart = Chart::new("Share of peers active by round, logarithmic", rounds(), share, curves());
    item.picture(
        "logarithmic",
        &chart.picture(),
        "On a logarithmic axis growth by the same factor is a straight line; s = 0 lies on the axis: one peer.".into(),
    )
}

fn growth(spread: &Spread) -> f64 {
    spread.growth(FEW.0, FEW.1 * plateau(spread.muting)).unwrap_or(f64::NAN)
}

fn level(spread: &Spread) -> f64 {
    spread.plateau().unwrap_or(f64::NAN)
}

fn row(spread: &Spread) -> Vec<String> {
    let s = spread.muting;
    vec![
        s.to_string(),
        number(growth(spread)),
        number(1.0 + s),
        number(level(spread)),
        number(plateau(s)),
        number(level(spread) / s),
    ]
}

fn judge(mut item: Item, found: &Found) -> Item {
    let all: Vec<&Spread> = found.spreads.iter().filter(|spread| spread.muting > 0.0).collect();
    for spread in &all {
        item.number(format!("{}: growth", named(spread.muting)), growth(spread));
        item.number(format!("{}: plateau", named(spread.muting)), level(spread));
    }
    // Not a number must not pass for close.
    let largest = |off: &dyn Fn(&Spread) -> f64| {
        all.iter()
            .map(|spread| off(spread))
            .fold(0.0, |most: f64, off| if off > most || off.is_nan() { off } else { most })
    };
    let rate = largest(&|spread| ((growth(spread) - 1.0) / spread.muting - 1.0).abs());
    let height = largest(&|spread| (level(spread) / plateau(spread.muting) - 1.0).abs());
    let of_order = |spread: &&Spread| (0.5..=2.5).contains(&(level(spread) / spread.muting));
    let grows = |spread: &&Spread| growth(spread) > 1.0 + 0.5 * spread.muting;
    let list = |value: &dyn Fn(&Spread) -> f64| {
        by_muting(all.iter().map(|spread| (spread.muting, number(value(spread)))))
    };
    item.judge(Verdict {
        reproduced: all.iter().all(of_order) && all.iter().all(grows),
        holds: rate <= CLOSE.0 && height <= CLOSE.1,
        claim: "the share active grows exponentially for every s > 0 and reaches a plateau of order s".into(),
        criterion: format!(
            "reproduced if, while they are few, those active multiply by more than 1 + s/2 in a round, and the plateau is between s/2 \
             and 2.5 s; holds if growth beyond 1 is within {} of s and the plateau within {} of the fixed point",
            percent(CLOSE.0),
            percent(CLOSE.1)
        ),
        ours: format!("growth in a round {}; plateau {}", list(&growth), list(&level)),
        exact: format!(
            "growth by 1 + s, of which what is beyond 1 is off by {} at most; the fixed point of a = 1 - (1 - s a) e^-a is {}, off by \
             {} at most",
            percent(rate),
            list(&|spread| plateau(spread.muting)),
            percent(height)
        ),
    })
}
