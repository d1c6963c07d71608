//! A line of the trade-off table.

use serde::Serialize;
use sottovoce_fault::decimal;
use sottovoce_privacy::Gdp;

use super::losses::{outward, unit};
use super::point::Point;
use super::{Losses, Problem, Spread, masked};
use crate::Result;

/// How the mean is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Protocol {
    /// `x <- W x`.
    Gossip,
    /// The same with Chebyshev weights: the same loss, less error.
    AcceleratedGossip,
    /// Gossip with fresh noise on every message.
    RelayGossip,
    /// One pair at a time.
    RandomisedGossip,
    /// Exact averaging in `log2 n` rounds among partners of its own, whatever the graph.
    Butterfly,
    /// The same with noise of pairs that cancels.
    CancellingButterfly,
    /// Gossip with noise of pairs that cancels, until that is gone.
    CancellingGossip,
    /// A butterfly that adds integers up, under masks of pairs that cancel.
    MaskedButterfly,
    /// Everyone publishes a noisy value: a baseline.
    LocalDp,
    /// A trusted party adds noise to the mean: a baseline.
    CentralDp,
}

impl Protocol {
    /// Its name in text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Gossip => "gossip",
            Self::AcceleratedGossip => "accelerated gossip",
            Self::RelayGossip => "relay gossip",
            Self::RandomisedGossip => "randomised gossip",
            Self::Butterfly => "butterfly",
            Self::CancellingButterfly => "cancelling noise",
            Self::CancellingGossip => "cancelling gossip",
            Self::MaskedButterfly => "masked sums",
            Self::LocalDp => "local DP",
            Self::CentralDp => "central DP",
        }
    }

    /// Whether pairs add noise that cancels.
    pub fn cancels(self) -> bool {
        matches!(self, Self::CancellingButterfly | Self::CancellingGossip)
    }

    /// Whether pairs add masks that cancel.
    pub fn masks(self) -> bool {
        self == Self::MaskedButterfly
    }

    /// Whether pairs share secrets.
    pub fn shares_secrets(self) -> bool {
        self.cancels() || self.masks()
    }

    /// Whether it is there for comparison only: it needs everybody's noisy value in public, or a trusted party.
    pub fn is_baseline(self) -> bool {
        matches!(self, Self::LocalDp | Self::CentralDp)
    }
}

/// A protocol with its best parameters.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Row {
    /// How the mean is found.
    pub protocol: Protocol,
    /// On which graph; none where it matters not.
    pub graph: Option<String>,
    /// Standard deviation of the local noise, rounded up.
    pub sigma: f64,
    /// Standard deviation of the relay noise, rounded up; 0 for none.
    pub tau: f64,
    /// Number of steps.
    pub steps: usize,
    /// Predicted mean squared error per peer and coordinate; an upper bound over all values in an interval of width `Delta`.
    pub error: f64,
    /// The part that is due to noise (exact).
    pub noise_error: f64,
    /// The part that is due to stopping early (a bound).
    pub spread_left: f64,
    /// Relative to local DP at the same target.
    pub error_over_local: f64,
    /// Relative to central DP at the same target.
    pub error_over_central: f64,
    /// Losses in units of local DP at these noises; none for a trusted party.
    pub loss: Option<Losses>,
    /// The same as `mu²`.
    pub mu_squared: Losses,
    /// Epsilons at the plan's delta, by adversary.
    pub epsilon: Epsilons,
    /// The losses of all pairs; none where this is not the best row of its protocol, or there are too many.
    pub pairs: Option<Spread>,
    /// Messages that a peer sends, on average.
    pub messages: f64,
    /// By what right the losses are stated.
    pub standing: String,
}

/// Epsilons of a row, by adversary; none where nothing is protected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Epsilons {
    /// Of the worst pair: any one peer, who need not be a neighbour.
    pub peer: Option<f64>,
    /// Of the worst pair that is far apart; none where there is no such pair.
    pub far: Option<f64>,
    /// Of someone who sees every message. A trusted party gets naked values.
    pub wire_tapper: Option<f64>,
}

/// What a row is about.
pub(crate) struct Kind {
    pub(crate) protocol: Protocol,
    pub(crate) graph: Option<String>,
    pub(crate) messages: f64,
    pub(crate) standing: String,
}

impl Row {
    /// The row of a point, its noises rounded up to six digits (more noise never reveals more).
    pub(crate) fn new(problem: &Problem, peers: usize, kind: Kind, point: &Point) -> Self {
        // A hair more than the closed form, so that rounding in the account of it does not exceed the target.
        let sigma = up(point.variance.sqrt() * (1.0 + 1e-9));
        let tau = if point.ratio > 0.0 { up(point.ratio * sigma) } else { 0.0 };
        let noise_error = sigma * sigma * point.share + tau * tau * point.relay_share;
        let error = noise_error + point.spread_left;
        let least = problem.sensitivity.powi(2) / problem.target.tightest() / peers as f64;
        Self {
            protocol: kind.protocol,
            graph: kind.graph,
            sigma,
            tau,
            steps: point.steps,
            error,
            noise_error,
            spread_left: point.spread_left,
            error_over_local: error / least,
            error_over_central: error / least * peers as f64,
            mu_squared: point.losses.scaled(problem.sensitivity, sigma),
            loss: Some(point.losses),
            epsilon: Epsilons::default(),
            pairs: None,
            messages: kind.messages,
            standing: kind.standing,
        }
    }

    /// The same with its losses as epsilons.
    pub(crate) fn with_epsilons(self, problem: &Problem) -> Result<Self> {
        if let (true, Some(secrets)) = (self.protocol.masks(), &problem.secrets) {
            return Ok(Self { epsilon: masked::epsilons(problem, secrets, &self)?, ..self });
        }
        let at = |mu_squared: f64| epsilon(mu_squared, problem.delta);
        let tapped = self.tapped(problem).map_or(Ok(None), at)?;
        let far = self.mu_squared.far.map_or(Ok(None), at)?;
        let epsilon = Epsilons { peer: at(self.mu_squared.worst)?, far, wire_tapper: tapped };
        Ok(Self { epsilon, ..self })
    }

    /// What someone who sees every message learns of a peer, as `mu²`; none where that is everything.
    pub(super) fn tapped(&self, problem: &Problem) -> Option<f64> {
        match (self.protocol, &problem.secrets) {
            (Protocol::CentralDp, _) => None,
            (protocol, Some(secrets)) if protocol.cancels() => {
                Some(outward(secrets.worst()) * unit(problem.sensitivity, self.sigma))
            }
            _ => Some(Losses::local(&problem.target).scaled(problem.sensitivity, self.sigma).worst),
        }
    }

    /// Local DP: everything is public, and the mean of all noises is the error.
    pub(crate) fn local(problem: &Problem, peers: usize) -> Self {
        let losses = Losses::local(&problem.target);
        let kind = Kind {
            protocol: Protocol::LocalDp,
            graph: None,
            messages: 1.0,
            standing: "proven, even against a wire-tapper".into(),
        };
        let point = Point {
            steps: 1,
            ratio: 0.0,
            variance: problem.target.variance(&losses, problem.sensitivity),
            share: 1.0 / peers as f64,
            relay_share: 0.0,
            spread_left: 0.0,
            losses,
        };
        Self::new(problem, peers, kind, &point)
    }

    /// Central DP: everybody sees the result and nothing else.
    pub(crate) fn central(problem: &Problem, peers: usize) -> Self {
        let mu_squared = problem.target.tightest();
        let sigma = up(problem.sensitivity / peers as f64 / mu_squared.sqrt() * (1.0 + 1e-9));
        let seen = Losses::local(&problem.target).scaled(problem.sensitivity / peers as f64, sigma);
        Self {
            protocol: Protocol::CentralDp,
            sigma,
            error: sigma * sigma,
            noise_error: sigma * sigma,
            error_over_central: 1.0,
            error_over_local: 1.0 / peers as f64,
            loss: None,
            mu_squared: seen,
            standing: "proven, if the party that adds the noise is trusted".into(),
            ..Self::local(problem, peers)
        }
    }
}

/// The epsilon of `mu²`; none where there is no protection to speak of.
pub(crate) fn epsilon(mu_squared: f64, delta: f64) -> Result<Option<f64>> {
    if mu_squared > 1e8 {
        return Ok(None);
    }
    Ok(Some(Gdp::of_square(mu_squared)?.epsilon(delta)?.upper))
}

/// Six significant digits, never less than the number.
pub fn up(value: f64) -> f64 {
    decimal::up_value(value, 6)
}
