//! Figure 8: losses, and distances between peers' current estimates, by how far apart peers are.

use sottovoce_report::{Axis, Chart, Curve, Series};
use sottovoce_views::parallel;
use sottovoce_views::walk::PublishedWalk;

use super::places::Places;
use crate::learning::Task;
use crate::reproduce::learners::{Token, seed_of};
use crate::reproduce::Item;

/// Parts of all pairs, by Euclidean distance.
const QUANTILES: usize = 10;
/// When estimates are compared: steps for each peer.
pub(super) const TIMES: [usize; 4] = [1, 2, 5, 20];
const STEP: f64 = 0.05;
/// Rényi order, and the mean over pairs of the printed loss in the end: little privacy, so that noise does not hide the data.
const ORDER: f64 = 2.0;
const MEAN: f64 = 10.0;
/// What must be left of the first difference in the end.
pub(super) const LEFT: f64 = 0.5;

/// The settings of the walk.
pub(super) struct Course {
    runs: usize,
}

impl Course {
    pub(super) fn new(runs: usize) -> Self {
        Self { runs }
    }

    pub(super) fn words(&self) -> String {
        format!(
            "The token makes {} steps for each peer, of size {STEP}; noise for a mean printed loss of {MEAN} at order {ORDER}, weak on \
             purpose, so that it does not hide the data. A peer's current estimate is the token as it last passed it on, or the start. {} \
             runs; both cases have the same paths and the same noise.",
            TIMES[TIMES.len() - 1],
            self.runs
        )
    }
}

/// A mean for each quantile of distance, at each time.
type ByTime = Vec<Vec<f64>>;

/// What is compared.
pub(super) struct Found {
    /// The mean distance of each quantile.
    pub(super) apart: Vec<f64>,
    pub(super) printed: ByTime,
    /// True losses and estimates: of the case by place, and of the shuffled one.
    pub(super) truly: [ByTime; 2],
    pub(super) estimates: [ByTime; 2],
}

pub(super) fn compare(mut item: Item, places: &Places, course: &Course, seed: u64) -> anyhow::Result<Item> {
    let found = Found::new(places, course, seed)?;
    found.draw(&mut item)?;
    item.csv(
        "steps,quantile,mean_distance,printed_loss,true_loss,estimates_by_place,estimates_shuffled",
        found.lines(places.positions.len()).into_iter(),
    );
    found.tabulate(&mut item, places.positions.len());
    Ok(item.judge(found.verdict()))
}

impl Found {
    fn new(places: &Places, course: &Course, seed: u64) -> anyhow::Result<Self> {
        let n = places.positions.len();
        let pairs = Pairs::new(&places.positions);
        let printed_at = |time: usize| -> anyhow::Result<Vec<f64>> {
            let walk = PublishedWalk::new(&places.mixing, time * n)?.with_contributions(time as f64)?;
            let rows: Vec<Vec<f64>> = (0..n).map(|v| walk.contribution(v)).collect::<Result<_, _>>()?;
            Ok(pairs.means(|v, u| rows[v][u]))
        };
        let printed = TIMES.into_iter().map(printed_at).collect::<anyhow::Result<ByTime>>()?;
        let last = PublishedWalk::new(&places.mixing, TIMES[TIMES.len() - 1] * n)?;
        let units = last.mean() * TIMES[TIMES.len() - 1] as f64;
        let sigma = (ORDER * units / (2.0 * MEAN)).sqrt();
        let case = |task: &Task| -> anyhow::Result<(ByTime, ByTime)> {
            let run = |i: usize| one(places, task, &pairs, sigma, seed_of(seed, 1 + i as u64));
            let runs = parallel::map(course.runs, run, |_| ());
            let runs = runs.into_iter().collect::<anyhow::Result<Vec<_>>>()?;
            let (truly, estimates): (Vec<ByTime>, Vec<ByTime>) = runs.into_iter().unzip();
            Ok((mean(&truly), mean(&estimates)))
        };
        let ((a, b), (c, d)) = (case(&places.by_place)?, case(&places.shuffled)?);
        let apart = pairs.means(|u, v| pairs.distance(u, v));
        Ok(Self { apart, printed, truly: [a, c], estimates: [b, d] })
    }

    /// Mean over quantiles of the difference that the place makes, at each time.
    pub(super) fn differences(&self) -> Vec<f64> {
        let [place, shuffled] = &self.estimates;
        let at = |(a, b): (&Vec<f64>, &Vec<f64>)| {
            a.iter().zip(b).map(|(a, b)| a - b).sum::<f64>() / a.len() as f64
        };
        place.iter().zip(shuffled).map(at).collect()
    }

    fn draw(&self, item: &mut Item) -> anyhow::Result<()> {
        let quantiles = || Axis::linear("quantile of Euclidean distance").range(0.0, 1.0);
        let curves = |rows: &ByTime| -> Vec<Curve> {
            let line = |(time, row): (&usize, &Vec<f64>)| {
                let points = row.iter().enumerate().map(|(q, &y)| ((q as f64 + 0.5) / QUANTILES as f64, y));
                let name = format!("{time} steps per peer");
                Curve::marked(Series { name, points: points.collect(), band: None })
            };
            TIMES.iter().zip(rows).map(line).collect()
        };
        let most = self.estimates.iter().flatten().flatten().copied().fold(0.1, f64::max);
        for (i, name) in ["original", "shuffled"].into_iter().enumerate() {
            let axis = Axis::linear("distance between estimates").range(0.0, 1.05 * most);
            let title = format!("Distance between estimates, {name} labels");
            let chart = Chart::new(title, quantiles(), axis, curves(&self.estimates[i]));
            let caption = format!("Figure 8, {name} labels: mean distance between the current estimates of two peers.");
            item.picture(&format!("estimates-{name}"), &chart.picture(), caption)?;
        }
        let mut losses = curves(&self.printed);
        losses.extend(curves(&self.truly[0]).into_iter().skip(TIMES.len() - 1).map(|mut curve| {
            curve.series.name = "true, at the end".into();
            curve
        }));
        let axis = Axis::log10("mean loss (one contribution = 1)");
        let chart = Chart::new("Loss by distance", quantiles(), axis, losses);
        let caption = "Figure 8: mean loss as printed, the same in both cases, and what the paths truly reveal in the end.";
        item.picture("loss", &chart.picture(), caption.into())
    }

    fn lines(&self, peers: usize) -> Vec<String> {
        let line = |(t, q): (usize, usize)| {
            let [place, shuffled] = &self.estimates;
            let losses = format!("{},{}", self.printed[t][q], self.truly[0][t][q]);
            format!(
                "{},{q},{},{losses},{},{}",
                TIMES[t] * peers,
                self.apart[q],
                place[t][q],
                shuffled[t][q]
            )
        };
        (0..TIMES.len()).flat_map(|t| (0..QUANTILES).map(move |q| (t, q))).map(line).collect()
    }
}

/// Pairs of peers by quantile of distance.
struct Pairs<'a> {
    positions: &'a [(f64, f64)],
    /// Of each quantile; `u < v`.
    parts: Vec<Vec<(usize, usize)>>,
}

impl<'a> Pairs<'a> {
    fn new(positions: &'a [(f64, f64)]) -> Self {
        let mut this = Self { positions, parts: Vec::new() };
        let n = positions.len();
        let mut all: Vec<(usize, usize)> = (0..n).flat_map(|u| (u + 1..n).map(move |v| (u, v))).collect();
        all.sort_by(|a, b| this.distance(a.0, a.1).total_cmp(&this.distance(b.0, b.1)));
        let bound = |q: usize| q * all.len() / QUANTILES;
        this.parts = (0..QUANTILES).map(|q| all[bound(q)..bound(q + 1)].to_vec()).collect();
        this
    }

    fn distance(&self, u: usize, v: usize) -> f64 {
        let ((a, b), (c, d)) = (self.positions[u], self.positions[v]);
        (a - c).hypot(b - d)
    }

    /// The mean of each part, over both directions.
    fn means(&self, value: impl Fn(usize, usize) -> f64) -> Vec<f64> {
        let mean = |part: &Vec<(usize, usize)>| {
            let sum: f64 = part.iter().map(|&(u, v)| value(u, v) + value(v, u)).sum();
            sum / (2 * part.len()) as f64
        };
        self.parts.iter().map(mean).collect()
    }
}

/// One run: true losses and distances between estimates, at each time.
fn one(
    places: &Places,
    task: &Task,
    pairs: &Pairs,
    sigma: f64,
    seed: u64,
) -> anyhow::Result<(ByTime, ByTime)> {
    let n = places.positions.len();
    let last = TIMES[TIMES.len() - 1];
    let token = |time: usize| {
        let mixing = &places.mixing;
        Token { task, mixing, steps: time * n, cap: last, step: STEP, sigma, seed }
    };
    let mut estimates = vec![task.start(); n];
    let mut distances = Vec::new();
    token(last).learn(|done, holder, model| {
        estimates[holder].copy_from_slice(model);
        if done.is_multiple_of(n) && TIMES.contains(&(done / n)) {
            distances.push(pairs.means(|u, v| length(&estimates[u], &estimates[v])));
        }
    })?;
    let mut losses = Vec::new();
    for time in TIMES {
        let revealed = token(time).losses()?;
        losses.push(pairs.means(|v, u| revealed[v].convex[u]));
    }
    Ok((losses, distances))
}

fn length(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

fn mean(runs: &[ByTime]) -> ByTime {
    let mut sums = vec![vec![0.0; QUANTILES]; TIMES.len()];
    for run in runs {
        for (sum, row) in sums.iter_mut().flatten().zip(run.iter().flatten()) {
            *sum += row / runs.len() as f64;
        }
    }
    sums
}
