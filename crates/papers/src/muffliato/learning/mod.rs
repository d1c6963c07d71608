//! Figure 1c: learning by gossip on fresh random graphs, beside a trusted aggregator, and what it costs.
//!
//! The text leaves open how gradients are bounded: rows have norm 1 there, and logistic losses are then 1-Lipschitz. The authors' code appends
//! an intercept, which makes it `sqrt(2)`. Here each row's gradient is clipped to 1, so that `Delta = 2` holds for rows as they are, and
//! noise is 1.5 sensitivities.

mod judge;
mod trial;

use sottovoce_learning::Clip;
use sottovoce_learning::houses::Split;
use sottovoce_report::{Axis, Chart, Curve, Series, text};
use sottovoce_views::parallel;
use trial::{Graphs, ITERATIONS, SIGMA, STEP, Trial};

use crate::learners::{Data, Spread, band, seed_of};
use crate::registry::Desk;
use crate::statistics::quantile;
use crate::{Item, Result};

/// The bound on a row's gradient.
const CLIP: f64 = 1.0;
/// Most peers for which iterations are accounted for together: beyond, that takes minutes.
const TOGETHER: usize = 2000;
/// Smaller losses are drawn at the axis.
const FLOOR: f64 = 1e-2;

/// What was found for one number of peers.
struct Size {
    peers: usize,
    /// The mean loss that the paper shows, where it does.
    paper: Option<f64>,
    trials: Vec<Trial>,
    /// Losses towards peer 0 in the first trial, exactly: of each averaging on its own, and their mean over iterations.
    exact: Vec<f64>,
    /// The same for all iterations together, where that does not take too long.
    together: Option<Vec<f64>>,
}

pub(super) fn figure(mut item: Item, desk: &Desk) -> Result<Item> {
    let (options, watch) = (desk.options, desk.watch);
    let data = Data::read(options, Split::Authors)?;
    let (sizes, trials) = match options.quick {
        true => ([(256, None), (512, None)], 2),
        false => ([(2000, Some(0.278)), (4000, Some(0.176))], 10),
    };
    let mut found = Vec::new();
    for (peers, paper) in sizes {
        (watch.doing)(&format!("1c: {peers} peers"));
        found.push(Size::new(&data, peers, paper, trials, options.seed)?);
    }
    describe(&mut item, &data, trials);
    draw(&mut item, &found)?;
    item.csv(
        "peers,trial,rounds,iteration,gossip_accuracy,averaged_accuracy,server_accuracy",
        found.iter().flat_map(Size::lines),
    );
    Ok(judge::judge(item, &found, &data))
}

impl Size {
    fn new(data: &Data, peers: usize, paper: Option<f64>, trials: usize, seed: u64) -> Result<Self> {
        let task = data.task(peers, Clip::Example(CLIP))?;
        let own = |trial: usize| seed_of(seed, (peers as u64) << 16 | (trial as u64) << 8);
        let trials = parallel::map(trials, |trial| Trial::run(&task, own(trial)), |_| ());
        let trials = trials.into_iter().collect::<Result<_>>()?;
        let graphs = Graphs::draw(peers, own(0))?;
        let together = if peers <= TOGETHER { Some(graphs.together()?) } else { None };
        Ok(Self { peers, paper, trials, exact: graphs.exact()?, together })
    }

    /// The printed losses of the first trial.
    fn printed(&self) -> &[f64] {
        &self.trials[0].printed
    }

    /// The printed mean over the other peers, by trial.
    fn printed_means(&self) -> Spread {
        let means: Vec<f64> = self.trials.iter().map(|trial| mean_of_others(&trial.printed)).collect();
        Spread::of(&means)
    }

    /// Accuracy after the last iteration.
    fn last(&self, curve: fn(&Trial) -> &[f64]) -> Spread {
        Spread::of(&self.trials.iter().map(|trial| curve(trial)[ITERATIONS]).collect::<Vec<_>>())
    }

    fn lines(&self) -> impl Iterator<Item = String> + '_ {
        let line = |(i, trial): (usize, &Trial)| {
            let lines: Vec<String> = (0..=ITERATIONS)
                .map(|t| {
                    let Trial { rounds, gossip, averaged, server, .. } = trial;
                    format!("{},{i},{rounds},{t},{},{},{}", self.peers, gossip[t], averaged[t], server[t])
                })
                .collect();
            lines
        };
        self.trials.iter().enumerate().flat_map(line)
    }
}

/// The mean over all but peer 0.
fn mean_of_others(losses: &[f64]) -> f64 {
    losses[1..].iter().sum::<f64>() / (losses.len() - 1) as f64
}

fn describe(item: &mut Item, data: &Data, trials: usize) {
    let (train, test) = data.rows();
    item.say(format!(
        "Logistic regression {}, {train} rows to train and {test} to test, dealt out evenly. {ITERATIONS} gradient steps of size {STEP}; \
         after each, accelerated gossip on a fresh connected Erdős–Rényi graph with edge probability ln(n)/n, as many rounds in every \
         iteration as the slowest of the {ITERATIONS} graphs needs. {trials} trials.",
        data.source()
    ));
    item.say(data.terms());
    item.say(format!(
        "Each row's gradient is clipped to {CLIP}, so that a peer's data moves its gradient by at most 2; the noise is {SIGMA} times that. \
         (With the intercept that the authors' code appends, rows have norm √2 and not 1, and without clipping the Lipschitz bound of the \
         text does not hold.) The aggregator is shown twice: one that adds the noise itself, once, and one that averages what peers have \
         noised themselves, which is gossip without its errors."
    ));
}

fn draw(item: &mut Item, found: &[Size]) -> Result<()> {
    let at: Vec<f64> = (0..=ITERATIONS).map(|t| t as f64).collect();
    let mut curves = Vec::new();
    for size in found {
        let runs = |curve: fn(&Trial) -> &[f64]| -> Vec<Vec<f64>> {
            size.trials.iter().map(|trial| curve(trial).to_vec()).collect()
        };
        let n = size.peers;
        curves.push(band(format!("gossip, {n} peers"), &at, &runs(|trial| &trial.gossip)));
        curves.push(band(format!("server averages, {n}"), &at, &runs(|trial| &trial.averaged)));
        curves.push(band(format!("trusted server, {n}"), &at, &runs(|trial| &trial.server)));
    }
    let axes = (Axis::whole("iteration"), Axis::linear("mean accuracy over peers").range(0.4, 1.0));
    let chart = Chart::new("Accuracy along iterations", axes.0, axes.1, curves);
    let caption = "Accuracy on test rows: mean over trials, and a standard deviation to both sides.";
    item.picture("accuracy", &chart.picture(), caption.into())?;
    let chart = losses(found);
    let caption = "What peers lose to peer 0 over all iterations in the first trial, from the least to the most: as printed, and exactly.";
    item.picture("loss", &chart.picture(), caption.into())
}

fn losses(found: &[Size]) -> Chart {
    let mut curves = Vec::new();
    for size in found {
        for (name, losses) in [("printed", size.printed()), ("exact", &size.exact)] {
            let points = (0..=100).map(|percent| {
                let part = f64::from(percent) / 100.0;
                (part, quantile(&losses[1..], part).max(FLOOR))
            });
            let name = format!("{name}, {} peers", size.peers);
            curves.push(Curve::line(Series { name, points: points.collect(), band: None }));
        }
    }
    let points = vec![(0.0, 1.0), (1.0, 1.0)];
    curves.push(Curve::line(Series { name: "local DP".into(), points, band: None }));
    let loss = Axis::log10("loss to peer 0 (local DP = 1)").range(FLOOR, 10.0);
    Chart::new("Loss of peers", Axis::linear("share of peers").range(0.0, 1.0), loss, curves)
}

/// A loss for people.
fn shown(value: f64) -> String {
    text::up(value, 3)
}
