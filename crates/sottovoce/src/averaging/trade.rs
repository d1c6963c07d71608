//! What the same peers would pay towards someone who sees every message: with their own noise alone, with noise that cancels, and with a trusted server.
//!
//! All three promise the same epsilon. The first two are what peers can do by themselves; the server's is what they would get if they trusted somebody.

use serde::Serialize;
use sottovoce_protocol::averaging::{Noising, listen};
use sottovoce_protocol::public::{Cancelling, Scheme};
use sottovoce_report::{Series, Traded};
use sottovoce_simulator::paired::Paired;
use sottovoce_topology::family::{Family, generate};
use sottovoce_views::cancelling::with_any;

use super::grid::column;
use crate::Result;
use crate::experiment::Ready;
use crate::plan::target::mu_squared_at;
use crate::terms::short_up;

/// Loudness of pairs.
const KAPPA: f64 = 10.0;
/// Runs over which the error is measured.
const RUNS: u64 = 200;
/// Points of the curve.
const POINTS: usize = 12;

/// The price of an average that hides from someone who sees every message: mean squared errors at the same epsilon.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trade {
    /// What is promised, at the experiment's delta.
    pub epsilon: f64,
    /// Peers, whoever they are, who tell all they know.
    pub colluders: usize,
    /// With own noise alone.
    pub own_noise: f64,
    /// With noise that cancels, each two peers sharing a secret: predicted.
    pub cancelling: f64,
    /// Measured over many runs on the values of this one. Computed without privacy.
    pub cancelling_measured: f64,
    /// With a trusted server.
    pub server: f64,
    /// By number of colluders, as the page draws it.
    #[serde(skip)]
    curve: Vec<(f64, f64)>,
}

impl Trade {
    /// Of the peers and values of an experiment; none for very few peers.
    pub(super) fn of(ready: &Ready, seed: u64) -> Result<Option<Self>> {
        let n = ready.peers();
        let colluders = n / 10;
        if n < 4 {
            return Ok(None);
        }
        let target = &ready.experiment.target;
        let epsilon = target.epsilon();
        // Of one release without any protection but its own noise.
        let local = ready.sensitivity.powi(2) / mu_squared_at(epsilon, target.delta)?;
        let pairs = Cancelling::new(generate(&Family::Complete { n }, 0, true)?, KAPPA)?;
        let error = |colluders: usize| -> Result<f64> {
            Ok(with_any(&pairs, colluders)?.worst().1 * local / n as f64)
        };
        let most = n / 2;
        let mut counts: Vec<usize> = (0..=POINTS).map(|i| i * most / POINTS).collect();
        counts.dedup();
        let curve =
            counts.into_iter().map(|count| Ok((count as f64, error(count)?))).collect::<Result<Vec<_>>>()?;
        let cancelling = error(colluders)?;
        Ok(Some(Self {
            epsilon,
            colluders,
            own_noise: local / n as f64,
            cancelling,
            cancelling_measured: measured(ready, &pairs, (cancelling * n as f64).sqrt(), seed)?,
            server: local / (n * n) as f64,
            curve,
        }))
    }

    /// In a line.
    pub(super) fn words(&self) -> String {
        let root = |square: f64| short_up(square.sqrt());
        format!(
            "± {} with own noise alone, ± {} with noise that cancels even if any {} peers collude, ± {} with a trusted server",
            root(self.own_noise),
            root(self.cancelling),
            self.colluders,
            root(self.server)
        )
    }

    /// As the page shows it.
    pub(super) fn traded(&self) -> Traded {
        let ends = (self.curve.first().map_or(0.0, |p| p.0), self.curve.last().map_or(0.0, |p| p.0));
        let flat = |name: &str, error: f64| Series {
            name: name.into(),
            points: vec![(ends.0, error), (ends.1, error)],
            band: None,
        };
        let cancelling = Series { name: "noise that cancels".into(), points: self.curve.clone(), band: None };
        let text = format!(
            "All three keep epsilon {} towards someone who sees every message. With own noise alone that is the price of local privacy. If each two peers share a \
             secret and draw noise from it that one adds and the other takes away, the mean knows nothing of it, and everybody else hears it: with any {} of them \
             colluding, the error is {} times a trusted server's ({} times over {RUNS} runs on the values of this one; computed without privacy). To try it: \
             sottovoce run averaging --protocol butterfly --cancel {KAPPA} --colluders {}.",
            self.epsilon,
            self.colluders,
            short_up(self.cancelling / self.server),
            short_up(self.cancelling_measured / self.server),
            self.colluders
        );
        Traded {
            text,
            series: vec![
                flat("own noise alone", self.own_noise),
                cancelling,
                flat("a trusted server", self.server),
            ],
        }
    }
}

/// The mean squared error of runs of the very machines, on the first column.
fn measured(ready: &Ready, pairs: &Cancelling, sigma: f64, seed: u64) -> Result<f64> {
    let n = ready.peers();
    let scheme = Scheme::Butterfly { positions: (0..n).collect() };
    let values = column(ready, 0);
    let mean = values.iter().sum::<f64>() / n as f64;
    let noising = Noising { sensitivity: ready.sensitivity, local: sigma, relay: 0.0 };
    let mut sum = 0.0;
    for run in 0..RUNS {
        let mut machines = scheme.machines(|_| noising, |peer| vec![values[peer]])?;
        let mut noises = Paired::all(seed.wrapping_mul(RUNS).wrapping_add(run), n, Some(pairs));
        let results = listen(&mut machines, &mut noises, |_, _, _| ())?;
        sum += results.iter().map(|result| (result[0] - mean).powi(2)).sum::<f64>() / n as f64;
    }
    Ok(sum / RUNS as f64)
}
