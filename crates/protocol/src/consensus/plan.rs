//! What agents have agreed to do. Everything in it is public.

use serde::{Deserialize, Serialize};
use sottovoce_privacy::{Adjacency, Lots, Mechanism, calibrate};

use super::{Band, Optimiser, Rule};
use crate::{Error, Release, Result};

/// What everybody does.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The algorithm.
    pub method: Method,
    /// Rounds of talk, each followed by an update.
    pub iterations: usize,
    /// The size of steps.
    pub rates: Rates,
    /// What becomes of a gradient before it is a step. DSGT steps along its tracker, and knows plain steps alone.
    pub optimiser: Optimiser,
}

/// An algorithm of consensus learning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// Mix, and step against the gradient.
    Dsgd {
        /// Where the gradient is taken.
        at: At,
    },
    /// Mix, and step against a tracker of everybody's gradients, which is mixed as well.
    Dsgt,
    /// Dual ascent on the disagreement, and primal steps on the loss with its penalty.
    Dinno {
        /// Primal steps in each round, every one a draw of its own.
        primal: usize,
        /// The penalty `rho` ...
        rho: f64,
        /// ... and by how much it is multiplied before every round, the first included.
        growth: f64,
    },
}

/// Where DSGD takes its gradient.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum At {
    /// At the agent's own model, as printed.
    #[default]
    Own,
    /// At the mixed one.
    Mixed,
}

/// Step sizes from one to another, by equal factors.
///
/// ```
/// use sottovoce_protocol::consensus::Rates;
/// let rates = Rates { start: 0.1, finish: 0.001 };
/// assert_eq!([0, 1, 2].map(|k| (rates.at(k, 3) * 1e6).round()), [1e5, 1e4, 1e3]);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rates {
    /// The first.
    pub start: f64,
    /// The last.
    pub finish: f64,
}

impl Rates {
    /// Always the same.
    pub fn constant(rate: f64) -> Self {
        Self { start: rate, finish: rate }
    }

    /// The rate of iteration `k` of so many, from 0.
    pub fn at(&self, k: usize, iterations: usize) -> f64 {
        match iterations {
            0 | 1 => self.start,
            _ => self.start * (self.finish / self.start).powf(k as f64 / (iterations - 1) as f64),
        }
    }
}

/// How an agent's gradients are hidden.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Hidden {
    /// How rows come into a lot.
    pub lots: Lots,
    /// How long one row's gradient may be, in the 2-norm; infinite where nothing is clipped, and nothing can be promised.
    pub clip: f64,
    /// The scale of the noise on a lot's sum, as a multiple of `clip`; 0 hides nothing, and counts as an infinite loss.
    pub multiplier: f64,
    /// How noises of successive draws depend on each other.
    pub band: Band,
    /// Whether every draw counts as one of all rows, one of them exchanged: where nothing is known of lots.
    pub exchanged: bool,
}

impl Hidden {
    /// Every noise by itself.
    pub fn new(lots: Lots, clip: f64, multiplier: f64) -> Self {
        Self { lots, clip, multiplier, band: Band::NONE, exchanged: false }
    }

    /// Refuses what cannot be hidden.
    pub fn check(&self) -> Result<()> {
        let Hidden { clip, multiplier, .. } = *self;
        if !(multiplier >= 0.0 && multiplier.is_finite()) {
            return Err(Error::parameter("multiplier", multiplier, "give a finite number, 0 or more"));
        }
        let Band { width, memory } = self.band;
        if width == 0 || self.rate() > 1.0 {
            let remedy = format!(
                "a row has its turn once in a cycle; give from 1 to 1/{}, 1 over the rate of lots",
                self.lots.rate()
            );
            return Err(Error::parameter("band", width, remedy));
        }
        if !(memory > 0.0 && memory <= 1.0) {
            return Err(Error::parameter("memory", memory, "give a share above 0 and at most 1"));
        }
        if !(clip > 0.0 && (clip.is_finite() || multiplier == 0.0)) {
            return Err(Error::parameter(
                "clip",
                clip,
                "give a positive number, finite where there is noise",
            ));
        }
        Ok(())
    }

    /// The same with the least noise for which so many draws stay within `(epsilon, delta)`, by certified laws or by Rényi divergences.
    pub fn calibrated(
        self,
        draws: usize,
        (epsilon, delta): (f64, f64),
        method: calibrate::Method,
    ) -> sottovoce_privacy::Result<Self> {
        let build = |noise: f64| Mechanism::gaussian(noise)?.poisson(self.rate());
        let releases = self.releases(draws) as u64;
        let found = calibrate::least(build, releases, Adjacency::AddRemove, epsilon, delta, method)?;
        // Accountants cut the last digits of noise over sensitivity; there must be enough of it then, too.
        Ok(Self { multiplier: found.noise * calibrate::headroom(epsilon, delta), ..self })
    }

    /// The rate at which a row comes into the draw in which it has its turn: that of lots, and of all turns of a cycle together the same.
    pub fn rate(&self) -> f64 {
        self.lots.rate() * self.band.cycle() as f64
    }

    /// How many releases so many draws are: one for every cycle that was begun.
    pub fn releases(&self, draws: usize) -> usize {
        draws.div_ceil(self.band.cycle())
    }

    /// The release of one draw: the sum of clipped gradients over the public mean size of a lot, under noise. With a band, of one cycle of draws.
    pub fn release(&self) -> Release {
        let sensitivity = self.clip / self.lots.expected();
        // (Zero times an infinite clip is no number.)
        let scale = if self.multiplier == 0.0 { 0.0 } else { self.multiplier * sensitivity };
        match self.exchanged {
            false => Release::gaussian(sensitivity, scale).sampled(self.rate()),
            true => Release::gaussian(2.0 * sensitivity, scale),
        }
    }
}

/// What the noise of pairs is measured by: the least noise of anyone. It is the same for everybody, or pairs would not cancel.
pub fn loudness(hidden: &[Option<Hidden>]) -> f64 {
    let scales = hidden.iter().flatten().map(|hidden| hidden.release().scale);
    scales.fold(f64::INFINITY, |least, scale| if scale < least { scale } else { least })
}

impl Plan {
    /// Refuses a plan that nobody can follow.
    pub fn check(&self) -> Result<()> {
        let positive = |x: f64| x > 0.0 && x.is_finite();
        for rate in [self.rates.start, self.rates.finish] {
            if !positive(rate) {
                return Err(Error::parameter("rates", rate, "give positive, finite step sizes"));
            }
        }
        let optimiser = self.optimiser;
        if !(optimiser.decay >= 0.0 && optimiser.decay.is_finite()) {
            return Err(Error::parameter("decay", optimiser.decay, "give a finite number, 0 or more"));
        }
        let shares = match optimiser.rule {
            Rule::Sgd => vec![],
            Rule::Momentum { beta } => vec![beta],
            Rule::Adam { beta, square, epsilon } if positive(epsilon) => vec![beta, square],
            Rule::Adam { epsilon, .. } => {
                return Err(Error::parameter("epsilon", epsilon, "give Adam a positive, finite number"));
            }
        };
        if let Some(beta) = shares.into_iter().find(|beta| !(0.0..1.0).contains(beta)) {
            return Err(Error::parameter("beta", beta, "give a share from 0 to below 1"));
        }
        match self.method {
            Method::Dsgt if optimiser.rule != Rule::Sgd => {
                let remedy = "gradient tracking steps along its tracker; take plain steps";
                Err(Error::parameter("optimiser", format!("{:?}", optimiser.rule), remedy))
            }
            Method::Dinno { primal: 0, .. } => {
                Err(Error::parameter("primal", 0, "give at least one primal step"))
            }
            Method::Dinno { rho, growth, .. } if !(positive(rho) && positive(growth)) => {
                Err(Error::parameter(
                    "rho",
                    format!("{rho} growing by {growth}"),
                    "give positive, finite numbers",
                ))
            }
            _ => Ok(()),
        }
    }

    /// Private draws in each iteration.
    pub fn draws_each(&self) -> usize {
        match self.method {
            Method::Dsgd { .. } | Method::Dsgt => 1,
            Method::Dinno { primal, .. } => primal,
        }
    }

    /// Private draws in all.
    pub fn draws(&self) -> usize {
        self.iterations.saturating_mul(self.draws_each())
    }

    /// Vectors in a message.
    pub fn vectors(&self) -> usize {
        if self.method == Method::Dsgt { 2 } else { 1 }
    }

    pub(super) fn rate(&self, k: usize) -> f64 {
        self.rates.at(k, self.iterations)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consensus::Rule;

    #[test]
    fn draws_are_counted_and_not_messages() {
        let plan = |method| Plan {
            method,
            iterations: 30,
            rates: Rates::constant(0.1),
            optimiser: Optimiser::new(Rule::Sgd),
        };
        let dinno = Method::Dinno { primal: 2, rho: 0.5, growth: 1.0 };
        for (method, draws, vectors) in
            [(Method::Dsgd { at: At::Own }, 30, 1), (Method::Dsgt, 30, 2), (dinno, 60, 1)]
        {
            assert_eq!((plan(method).draws(), plan(method).vectors()), (draws, vectors));
        }
    }

    /// Everybody's noise is her own: of more rows each is drawn less often. The paper's noise for an epsilon of 10, at its own rate.
    #[test]
    fn noise_is_calibrated_to_what_is_released() {
        let of = |rows: usize, method| {
            let lots = Lots::new(rows, 1.0 / rows.div_ceil(256) as f64).unwrap();
            let hidden = Hidden::new(lots, 10.0, 0.0).calibrated(2000, (10.0, 1e-5), method).unwrap();
            let mut all = sottovoce_privacy::Accountant::new(Adjacency::AddRemove);
            all.compose(hidden.release().mechanism().unwrap(), 2000).unwrap();
            (hidden.multiplier, all.rdp_epsilon(1e-5).unwrap().0)
        };
        let (noise, epsilon) = of(5421, calibrate::Method::Rdp);
        assert!((noise - 1.296).abs() < 2e-3 && (epsilon - 10.0).abs() < 1e-4 && epsilon <= 10.0, "{noise}");
        assert!(of(60_000, calibrate::Method::Rdp).0 < noise);
    }

    #[test]
    fn a_release_is_that_of_the_lots() {
        let lots = Lots::of_size(1000, 50.0).unwrap();
        let release = Hidden::new(lots, 10.0, 2.0).release();
        assert_eq!((release.sensitivity, release.scale, release.rate), (0.2, 0.4, Some(0.05)));
        let plain = Hidden::new(lots, f64::INFINITY, 0.0).release();
        assert!(plain.scale == 0.0 && plain.loss().is_err());
        let banded = Hidden { band: Band { width: 4, memory: 1.0 }, ..Hidden::new(lots, 10.0, 2.0) };
        assert_eq!((banded.release().rate, banded.release().scale), (Some(0.2), 0.4));
        assert_eq!([0, 1, 4, 5, 8].map(|draws| banded.releases(draws)), [0, 1, 1, 2, 2]);
    }
}
