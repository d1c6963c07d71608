//! Figure 8: losses, and distances between peers' current estimates, by how far apart peers are.

use sottovoce::learning::Task;
use sottovoce_report::{Axis, Chart, Curve, Series};
use sottovoce_views::parallel;

use super::pairs::{Pairs, QUANTILES};
use super::places::Places;
use crate::Item;
use crate::Result;
use crate::learners::{Token, seed_of};
use crate::printed::walk::PublishedWalk;

/// When estimates are compared: steps for each peer.
pub(super) const TIMES: [usize; 4] = [1, 2, 5, 20];
const STEP: f64 = 0.05;
/// Rényi order, and the mean over pairs of the printed loss in the end: little privacy, so that noise does not hide the data.
const ORDER: f64 = 2.0;
const MEAN: f64 = 10.0;
/// Runs whose paths are accounted for: those are much alike.
const ACCOUNTED: usize = 8;

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
    /// What the place adds to the mean distance between estimates: by time, and of each run.
    pub(super) differences: Vec<Vec<f64>>,
}

pub(super) fn compare(mut item: Item, places: &Places, course: &Course, seed: u64) -> Result<Item> {
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
    fn new(places: &Places, course: &Course, seed: u64) -> Result<Self> {
        let n = places.positions.len();
        let pairs = Pairs::new(&places.positions);
        let printed_at = |time: usize| -> Result<Vec<f64>> {
            let walk = PublishedWalk::new(&places.mixing, time * n)?.with_contributions(time as f64)?;
            let rows: Vec<Vec<f64>> = (0..n).map(|v| walk.contribution(v)).collect::<Result<_, _>>()?;
            Ok(pairs.means(|v, u| rows[v][u]))
        };
        let printed = TIMES.into_iter().map(printed_at).collect::<Result<ByTime>>()?;
        let last = PublishedWalk::new(&places.mixing, TIMES[TIMES.len() - 1] * n)?;
        let units = last.mean() * TIMES[TIMES.len() - 1] as f64;
        let sigma = (ORDER * units / (2.0 * MEAN)).sqrt();
        let case = |task: &Task| -> Result<(ByTime, Vec<ByTime>)> {
            let token = |i: usize| token(places, task, sigma, seed_of(seed, 1 + i as u64));
            let losses = parallel::map(course.runs.min(ACCOUNTED), |i| losses(&token(i), &pairs), |_| ());
            let estimates = parallel::map(course.runs, |i| estimates(&token(i), &pairs), |_| ());
            let losses = losses.into_iter().collect::<Result<Vec<_>>>()?;
            Ok((mean(&losses), estimates.into_iter().collect::<Result<_>>()?))
        };
        let ((a, place), (b, shuffled)) = (case(&places.by_place)?, case(&places.shuffled)?);
        let apart = pairs.means(|u, v| pairs.distance(u, v));
        let differences = differences(&place, &shuffled);
        let estimates = [mean(&place), mean(&shuffled)];
        Ok(Self { apart, printed, truly: [a, b], estimates, differences })
    }

    fn draw(&self, item: &mut Item) -> Result<()> {
        let quantiles = || Axis::linear("quantile of Euclidean distance").range(0.0, 1.0);
        let curves = |rows: &ByTime| -> Vec<Curve> {
            let line = |(time, row): (&usize, &Vec<f64>)| {
                let points = row.iter().enumerate().map(|(q, &y)| ((q as f64 + 0.5) / QUANTILES as f64, y));
                let name = format!("{time} step{} per peer", if *time == 1 { "" } else { "s" });
                Curve::marked(Series { name, points: points.collect(), band: None })
            };
            TIMES.iter().zip(rows).map(line).collect()
        };
        let most = self.estimates.iter().flatten().flatten().copied().fold(0.1, f64::max);
        for (i, name) in ["original", "shuffled"].into_iter().enumerate() {
            let axis = Axis::linear("distance between estimates").range(0.0, 1.05 * most);
            let title = format!("Distance between estimates, {name} labels");
            let chart = Chart::new(title, quantiles(), axis, curves(&self.estimates[i]));
            let caption =
                format!("Figure 8, {name} labels: mean distance between the current estimates of two peers.");
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
            format!("{},{q},{},{losses},{},{}", TIMES[t] * peers, self.apart[q], place[t][q], shuffled[t][q])
        };
        (0..TIMES.len()).flat_map(|t| (0..QUANTILES).map(move |q| (t, q))).map(line).collect()
    }
}

/// The token of a run.
fn token<'a>(places: &'a Places, task: &'a Task, sigma: f64, seed: u64) -> Token<'a> {
    let cap = TIMES[TIMES.len() - 1];
    let mixing = &places.mixing;
    Token { task, mixing, steps: cap * mixing.nodes(), cap, step: STEP, sigma, seed }
}

/// Distances between estimates, at each time.
fn estimates(token: &Token, pairs: &Pairs) -> Result<ByTime> {
    let n = token.mixing.nodes();
    let mut estimates = vec![token.task.start(); n];
    let mut distances = Vec::new();
    token.learn(|done, holder, model| {
        estimates[holder].copy_from_slice(model);
        if done.is_multiple_of(n) && TIMES.contains(&(done / n)) {
            distances.push(pairs.means(|u, v| length(&estimates[u], &estimates[v])));
        }
    })?;
    Ok(distances)
}

/// What the path reveals if the token is shown at each time.
fn losses(token: &Token, pairs: &Pairs) -> Result<ByTime> {
    let at = |time: usize| {
        let revealed = Token { steps: time * token.mixing.nodes(), ..*token }.losses()?;
        Ok(pairs.means(|v, u| revealed[v].convex[u]))
    };
    TIMES.into_iter().map(at).collect()
}

/// Means over quantiles of what the place adds: by time, and of each run.
fn differences(place: &[ByTime], shuffled: &[ByTime]) -> Vec<Vec<f64>> {
    let whole = |row: &[f64]| row.iter().sum::<f64>() / row.len() as f64;
    let at =
        |time: usize| place.iter().zip(shuffled).map(|(a, b)| whole(&a[time]) - whole(&b[time])).collect();
    (0..TIMES.len()).map(at).collect()
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
