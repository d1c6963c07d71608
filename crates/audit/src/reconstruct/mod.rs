//! The reconstruction attack: what observers of an averaging run make of what they hear, against what the accountant says.
//!
//! ```text
//! the protocol on coefficients ──► messages as a matrix ──► best linear estimates ─┐
//! the protocol on numbers, many times ──► messages ────────────────────────────────┴─► measured errors ─┐
//! the accountant ──► loss f(u) ──► the error must be sigma² / f(u) ─────────────────────────────────────┴─► verdict
//! ```
//!
//! It is the end-to-end test of the accountant: the estimates come from messages that the very same protocol code sent. A measured
//! error that is too *small* proves a loss above the claim, and the audit fails. The accountant counts every direction, also
//! those that doubles cannot tell from rounding; where the attack sees less for that reason, this is said and nothing smaller is
//! claimed. Proofs: `docs/theorems/reconstruction.md`.
//!
//! [`Question`] is the door; [`remedy`] says what could be done about what was found.

mod attack;
mod error;
mod finding;
mod judge;
mod masked;
mod measure;
pub mod remedy;
mod solve;
mod stage;
mod view;

pub(crate) use error::require;
pub use error::{Error, Result};
pub use finding::{Errors, Findings, Game, Target};
pub use judge::Judgement;
pub use solve::TOLERANCE;

use serde::Serialize;
use sottovoce_protocol::Peer;
use sottovoce_protocol::averaging::Noising;
use sottovoce_views::door::{Overheard, Setting};
use sottovoce_views::exact::Leakage;

use attack::Attackers;
use judge::Judge;
use masked::Sight;
use measure::Experiment;
use stage::Stage;
use view::View;

/// A loss above this counts as fully exposed.
pub const EXPOSED: f64 = 1.0 - 1e-9;

/// Fewest and most runs: below, no interval says anything; above, the tails take longer than the runs.
const RUNS: std::ops::RangeInclusive<usize> = 20..=10_000_000;

/// What the uninformed attacker believes of every private value: and how it is drawn, at `mean` plus or minus `deviation`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prior {
    /// Its mean.
    pub mean: f64,
    /// Its standard deviation.
    pub deviation: f64,
}

/// Whose losses are put to the test.
#[derive(Debug, Clone, PartialEq)]
pub enum Claim {
    /// The exact accountant's.
    Exact,
    /// Anybody's: one for each peer.
    Given(Vec<f64>),
}

/// An averaging run to attack.
///
/// ```
/// use sottovoce_audit::reconstruct::{Claim, Prior, Question};
/// use sottovoce_protocol::public::Scheme;
/// use sottovoce_views::door::Setting;
/// let question = Question {
///     setting: Setting::of(Scheme::Butterfly { positions: (0..8).collect() }),
///     observers: vec![0],
///     tapped: false,
///     sigma: 2.0,
///     sensitivity: 1.0,
///     prior: Prior { mean: 0.0, deviation: 0.5 },
///     values: None,
///     runs: 500,
///     seed: 1,
/// };
/// let findings = question.reconstruct(&Claim::Exact, |_| ())?;
/// assert!(findings.passed());
/// assert_eq!(findings.exposed(), [1]); // the first partner, and nobody else
/// # Ok::<(), sottovoce_audit::reconstruct::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Who mixes with whom, under which relay noise, and what becomes of the results.
    pub setting: Setting,
    /// Peers who pool what they hear.
    pub observers: Vec<Peer>,
    /// Whether someone attacks who sees every message and knows all that they know, instead of themselves.
    pub tapped: bool,
    /// Standard deviation of the local noise.
    pub sigma: f64,
    /// How far one person can move a peer's value.
    pub sensitivity: f64,
    /// What the uninformed attacker believes of private values, and how they are drawn where they are not given.
    pub prior: Prior,
    /// The private values of the run under attack, if there is one: the same in every run. Without them they are drawn anew each time.
    pub values: Option<Vec<f64>>,
    /// Number of runs.
    pub runs: usize,
    /// Seed of everything random.
    pub seed: u64,
}

impl Question {
    /// Runs the protocol, attacks it, and holds the result against the claim. `done` hears how many runs are over.
    pub fn reconstruct(&self, claim: &Claim, done: impl Fn(usize) + Sync) -> Result<Findings> {
        self.check()?;
        let leakage = self.exact()?;
        let claimed = self.claimed(claim, &leakage)?;
        let observers = &leakage.observers;
        let sight = Sight::new(&self.setting, observers, self.sensitivity, self.farthest())?;
        let view = match &sight {
            Some(sight) => View::under_masks(&self.setting, observers, sight),
            None => View::new(&self.setting, observers, self.tapped)?,
        };
        let attackers = Attackers::new(&view, self.prior.deviation / self.sigma)?;
        let stage = Stage::new(&self.setting, self.noising())?;
        let experiment = Experiment {
            view: &view,
            attackers: &attackers,
            stage: &stage,
            sight: sight.as_ref(),
            sigma: self.sigma,
            prior: self.prior,
            values: self.values.as_deref(),
            seed: self.seed,
        };
        let tallies = experiment.tally(self.runs, done)?;
        let gap = sight.as_ref().map_or(2.0 * self.prior.deviation, |sight| sight.gap(self.prior));
        let judge = Judge::new((self, gap), claim, &leakage, &attackers.informed, view.targets.len())?;
        let hops = self.setting.hops(&leakage.observers)?;
        let target = |(i, tally): (usize, &_)| {
            let peer = view.targets[i];
            let sight = judge.sight(claimed[peer], leakage.losses[peer], &attackers, i);
            judge.target(peer, hops[peer], sight, tally)
        };
        let targets = tallies.iter().enumerate().map(target).collect::<Result<Vec<_>>>()?;
        Findings::new(self, claim, &leakage, attackers.informed.rank, targets)
    }

    /// What the accountant says.
    pub fn exact(&self) -> Result<Leakage> {
        Ok(match self.tapped {
            true => Leakage { observers: self.sorted(), ..self.setting.everything(&self.observers)? },
            false => self.setting.leakage(&self.observers)?,
        })
    }

    fn claimed(&self, claim: &Claim, leakage: &Leakage) -> Result<Vec<f64>> {
        let claimed = match claim {
            Claim::Exact => leakage.losses.clone(),
            Claim::Given(losses) => losses.clone(),
        };
        let sound = |loss: &f64| *loss >= 0.0;
        if claimed.len() == self.setting.peers() && claimed.iter().all(sound) {
            return Ok(claimed);
        }
        let remedy = format!("give one loss, 0 or more, for each of the {} peers", self.setting.peers());
        Err(Error::parameter("claim", format!("{} losses", claimed.len()), remedy))
    }

    /// The Gaussian loss of a value under its own noise: under masks, of what is moved after rounding.
    fn local_mu(&self) -> Result<f64> {
        let moved = self.setting.masks.as_ref().map(|masks| masks.moved(self.sensitivity)).transpose()?;
        Ok(moved.unwrap_or(self.sensitivity) / self.sigma)
    }

    /// No value is larger than this, whatever its sign.
    fn farthest(&self) -> f64 {
        let drawn = self.prior.mean.abs() + self.prior.deviation;
        let given = self.values.iter().flatten().map(|value| value.abs());
        given.fold(drawn, |most, value| if value > most { value } else { most })
    }

    fn noising(&self) -> Noising {
        let relay = self.sigma * self.setting.relay_noise;
        Noising { sensitivity: self.sensitivity, local: self.sigma, relay }
    }

    fn check(&self) -> Result<()> {
        let Prior { mean, deviation } = self.prior;
        for (field, value) in
            [("sigma", self.sigma), ("sensitivity", self.sensitivity), ("prior-deviation", deviation)]
        {
            require(value.is_finite() && value > 0.0, field, value, "give a positive number")?;
        }
        require(mean.is_finite(), "prior-mean", mean, "give a finite number")?;
        let share = self.setting.relay_noise;
        let remedy = "give 0 or a positive number (a share of the local noise)";
        require(share.is_finite() && share >= 0.0, "relay-noise", share, remedy)?;
        let remedy = "towards someone who sees every message relay noise is not counted on, and what is stated is a bound that no attack reaches; leave one of them out";
        require(!self.tapped || share == 0.0, "relay-noise", share, remedy)?;
        if let Some(values) = &self.values
            && !(values.len() == self.setting.peers() && values.iter().all(|value| value.is_finite()))
        {
            let remedy = format!("give a finite number for each of the {} peers", self.setting.peers());
            return Err(Error::parameter("values", format!("{} values", values.len()), remedy));
        }
        let remedy = format!("give a number from {} to {}", RUNS.start(), RUNS.end());
        require(RUNS.contains(&self.runs), "runs", self.runs, remedy)?;
        let remedy = "of peers who hear only their own messages a bound is stated that no attack reaches; add --wire-tapper";
        require(self.tapped || self.setting.masks.is_none(), "masks", true, remedy)?;
        let observers = self.sorted();
        let remedy = "nobody is left to attack; leave somebody out";
        require(observers.len() != self.setting.peers(), "observers", "everybody", remedy)?;
        self.setting.scheme.check()?;
        view::check_size(&self.setting, &observers, self.tapped)
    }

    fn sorted(&self) -> Vec<Peer> {
        let mut observers = self.observers.clone();
        observers.sort_unstable();
        observers.dedup();
        observers
    }
}
