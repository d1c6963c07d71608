//! Table 1: what a muting parameter costs in privacy and in time.

use sottovoce_report::{Axis, Chart, Curve, Series};

use super::spread::Spread;
use super::theory::{Held, Theory, beyond};
use super::words::{bound, by_muting, line, named, number};
use super::work::{Found, MUTINGS};
use crate::{Item, Result, Verdict};

/// How far rounds may be from what is predicted, as a factor.
const CLOSE: f64 = 1.25;
/// The muting parameter that equals the share of curious peers.
const SWEET: f64 = 0.1;

/// One line of the table.
struct Line {
    muting: f64,
    theory: Theory,
    /// What the attack on two suspects proves delta to be at least.
    proven: f64,
    simulated: f64,
}

impl Line {
    fn new(spread: &Spread, found: &Found) -> Result<Self> {
        let theory = *found.theory(spread.muting)?;
        let bounds = theory.bounds(2, 1)?;
        let held = found.attack(spread.muting, 2).map(|attack| Held::new(*attack, MUTINGS.len(), bounds));
        Ok(Self {
            muting: spread.muting,
            theory,
            proven: held.map_or(0.0, |held| beyond(held.low, 2).max(0.0)),
            simulated: spread.mean_rounds(),
        })
    }

    fn table1(&self) -> f64 {
        self.theory.rumor.table1()
    }

    fn published(&self) -> f64 {
        self.theory.published
    }

    fn exact(&self) -> f64 {
        self.theory.exact().upper
    }

    fn predicted(&self) -> f64 {
        self.theory.rounds()
    }

    fn order(&self) -> &'static str {
        match self.muting {
            0.0 => "O(n log n)",
            1.0 => "O(log n)",
            _ => "O(log(n)/s)",
        }
    }

    fn csv(&self) -> String {
        let (table1, published, exact) = (self.table1(), self.published(), self.exact());
        let rounds = format!("{},{}", self.predicted(), self.simulated);
        format!("{},{table1},{published},{exact},{},{rounds}", self.muting, self.proven)
    }

    fn row(&self) -> Vec<String> {
        vec![
            self.muting.to_string(),
            bound(self.table1()),
            bound(self.published()),
            bound(self.exact()),
            number(self.proven),
            self.order().into(),
            number(self.predicted()),
            number(self.simulated),
        ]
    }
}

pub(super) fn table(mut item: Item, found: &Found) -> Result<Item> {
    item.say(
        "Delta is how much the view of the curious can differ between two sources. The table prints a simple bound; the series of Theorem 7 \
         is smaller, and the exact value, for tellings one after another and curious peers who do not use whom they told, smaller still. An attack that knows two suspects proves what \
         delta is at least.",
    );
    let lines: Vec<Line> =
        found.spreads.iter().map(|spread| Line::new(spread, found)).collect::<Result<_>>()?;
    draw(&mut item, &lines)?;
    item.csv(
        "muting,table1,theorem7,exact,proven_by_attack,predicted_rounds,simulated_rounds",
        lines.iter().map(Line::csv),
    );
    item.table(
        &[
            "s",
            "Table 1",
            "Theorem 5 or 7",
            "exact",
            "attack proves",
            "printed time",
            "predicted rounds",
            "simulated",
        ],
        lines.iter().map(Line::row).collect(),
    );
    Ok(judge(item, &lines, found))
}

fn draw(item: &mut Item, lines: &[Line]) -> Result<()> {
    let along =
        |of: fn(&Line) -> f64| lines.iter().map(|line| (line.simulated, of(line))).collect::<Vec<_>>();
    let marked = |name: &str, points| Curve::marked(Series { name: name.into(), points, band: None });
    let curves = vec![
        marked("exact delta", along(|line| line.exact())),
        line("Theorem 5 or 7", along(|line| line.published())),
        line("Table 1", along(|line| line.table1())),
        Curve::points(Series {
            name: "proven by attack".into(),
            points: along(|line| line.proven),
            band: None,
        }),
    ];
    let x = Axis::log10("rounds until everyone knows");
    let chart = Chart::new("Privacy against time", x, Axis::linear("delta").range(0.0, 1.0), curves);
    let ends: Vec<String> = lines.iter().rev().map(|line| named(line.muting)).collect();
    item.picture("trade", &chart.picture(), format!("From left to right: {}.", ends.join(", ")))
}

fn judge(mut item: Item, lines: &[Line], found: &Found) -> Item {
    for line in lines {
        let name = named(line.muting);
        for (what, value) in [
            ("Table 1", line.table1()),
            ("Theorem 7", line.published()),
            ("exact", line.exact()),
            ("proven by attack", line.proven),
            ("simulated rounds", line.simulated),
        ] {
            item.number(format!("{name}: {what}"), value);
        }
    }
    let ordered = |line: &Line| {
        let slack = 1e-12;
        line.published() <= line.table1() + slack && line.exact() <= line.published() + slack
    };
    let timely = |line: &Line| (1.0 / CLOSE..=CLOSE).contains(&(line.simulated / line.predicted()));
    let sweet = lines.iter().find(|line| line.muting == SWEET);
    let ratio = sweet.map_or(f64::NAN, |line| line.published() / found.size.share());
    let list = |of: &dyn Fn(&Line) -> String| by_muting(lines.iter().map(|line| (line.muting, of(line))));
    item.judge(Verdict {
        reproduced: lines.iter().all(|line| ordered(line) && timely(line)) && ratio <= 2.0,
        holds: lines.iter().all(|line| line.proven <= line.exact()),
        claim: "delta is 1 at s = 1, f/n at s = 0, s + (1 - s) f/n between; s = f/n is within a factor 2 of the best privacy and far faster \
                than s = 0"
            .into(),
        criterion: format!(
            "reproduced if the exact delta is at most that of Theorem 5 or 7, which is at most the printed one, rounds are within a factor \
             {CLOSE} of what is predicted, and Theorem 7 at s = {SWEET} is at most 2 f/n; holds if no attack proves more than the exact delta"
        ),
        ours: format!(
            "printed {}; Theorem 5 or 7: {}, at s = {SWEET} {} times f/n; rounds {}",
            list(&|line| bound(line.table1())),
            list(&|line| bound(line.published())),
            number(ratio),
            list(&|line| number(line.simulated)),
        ),
        exact: format!(
            "exact delta {}; proven by attack: at least {}",
            list(&|line| bound(line.exact())),
            list(&|line| number(line.proven))
        ),
    })
}
