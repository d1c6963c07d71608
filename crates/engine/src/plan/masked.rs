//! Masks on a ring: what peers agree on beforehand, the least noise that keeps a target, and the row of the table.
//!
//! Towards someone who sees every message, with the secrets of so many peers, a sum is known and nothing else (`docs/theorems/ring.md`): the error is a trusted
//! server's times the number of peers over that of the honest ones, but for rounding.

use sottovoce_privacy::{Adversary, Gdp};
use sottovoce_protocol::public::Scheme;
use sottovoce_protocol::ring::{Agreed, Ring};
use sottovoce_views::exact::Leakage;
use sottovoce_views::ring::Masked;

use super::point::Point;
use super::row::{Epsilons, Kind, up};
use super::search::Observers;
use super::target::mu_squared_at;
use super::{Losses, Problem, Protocol, Row};
use crate::learning::Secrets;
use crate::learning::method::messages;
use crate::{Error, Result, require};

/// By how much more noise than a Gaussian's would need is tried first, relatively.
const HAIR: f64 = 1e-6;
/// Noises that are tried until one is enough: each twice as far above the first.
const TRIES: usize = 48;

/// What is public of the values that are added up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sums {
    /// Numbers of each peer.
    pub width: usize,
    /// None is larger, whatever its sign.
    pub range: f64,
    /// How far one person can move a peer's vector, in the 2-norm.
    pub sensitivity: f64,
}

impl Sums {
    /// The ring of so many peers with these shares of noise.
    pub fn ring(self, peers: usize, sigma: f64, grid: Option<f64>) -> Result<Ring> {
        let Self { width, range, sensitivity } = self;
        let step = grid.unwrap_or_else(|| Ring::step(peers, sigma, sensitivity / (width as f64).sqrt()));
        let remedy = "no grid from 2^-100 to 2^100 is fine enough for it; give values in other units";
        let counted = (2f64.powi(-100)..=2f64.powi(100)).contains(&step);
        require(grid.is_some() || counted, "sensitivity", sensitivity, remedy)?;
        let remedy = format!("a share of noise of {sigma} must have at least half a step; take a finer grid");
        require(sigma >= 0.5 * step, "grid", step, remedy)?;
        Ok(Ring::smallest(Agreed { peers, width, range, sigma, step, bits: 64 })?)
    }

    /// The ring with the least noise that keeps epsilon at delta for this peer, and a bit. Shares are first tried as small as a Gaussian's could be.
    pub fn calibrated(
        self,
        masked: &Masked,
        peers: usize,
        grid: Option<f64>,
        (epsilon, delta): (f64, f64),
    ) -> Result<Ring> {
        let Some((peer, size)) = masked.worst() else {
            return Err(Error::parameter("observers", "everybody", "nobody is left to hide; leave one out"));
        };
        let mu_squared = mu_squared_at(epsilon, delta)?;
        let first = self.sensitivity / (mu_squared * size as f64).sqrt();
        let first = grid.map_or(first, |step| if first < 0.5 * step { 0.5 * step } else { first });
        let keeps = |sigma: f64| -> Result<Option<Ring>> {
            let ring = self.ring(peers, sigma, grid)?;
            let lost = masked.guarantee(peer, &ring, self.sensitivity, 1)?.epsilon(delta)?.upper;
            Ok(Some(ring).filter(|_| lost <= epsilon))
        };
        let (mut low, mut more, mut enough) = (first, HAIR, None);
        for _ in 0..TRIES {
            let sigma = up(first * (1.0 + more));
            if let Some(ring) = keeps(sigma)? {
                enough = Some(ring);
                break;
            }
            (low, more) = (sigma, 2.0 * more);
        }
        let missing = || match grid {
            Some(step) => {
                let remedy =
                    "no noise was found that keeps the target on this grid; take another, or leave it out";
                Error::parameter("grid", step, remedy)
            }
            None => {
                Error::parameter("epsilon", epsilon, "no noise was found that keeps it; give a larger one")
            }
        };
        let mut ring = enough.ok_or_else(missing)?;
        loop {
            let high = ring.agreed().sigma;
            let middle = up(0.5 * (low + high));
            if !(middle > low && middle < high && high - low > HAIR * high) {
                return Ok(ring);
            }
            match keeps(middle)? {
                Some(smaller) => ring = smaller,
                None => low = middle,
            }
        }
    }
}

impl Problem {
    /// What is public of the values, where they are added up.
    fn sums(&self) -> Sums {
        Sums { width: self.columns, range: self.sensitivity, sensitivity: self.sensitivity }
    }
}

/// The row, where peers share secrets. Bounds of pairs that fall with a distance are not for sums, which everybody hears alike.
pub(super) fn row(problem: &Problem, peers: usize) -> Result<Option<Row>> {
    let Some(secrets) = problem.secrets.as_ref().filter(|_| problem.falling.is_none()) else {
        return Ok(None);
    };
    let masked = Masked::towards(secrets.pairs().keys(), &secrets.adversary())?;
    let epsilon = Gdp::of_square(problem.target.tightest())?.epsilon(problem.delta)?.upper;
    let ring = problem.sums().calibrated(&masked, peers, None, (epsilon, problem.delta))?;
    let scheme = Scheme::Butterfly { positions: (0..peers).collect() };
    let most = masked.leakage().worst().1;
    let point = Point {
        steps: scheme.rounds(),
        ratio: 0.0,
        variance: ring.agreed().sigma.powi(2),
        share: 1.0 / peers as f64,
        relay_share: 0.0,
        // Nobody's number is moved by more than half a step.
        spread_left: (0.5 * ring.agreed().step).powi(2),
        losses: Losses { mean: most, worst: most, far: Some(most), share: None },
    };
    let kind = Kind {
        protocol: Protocol::MaskedButterfly,
        graph: None,
        messages: messages(&scheme)? as f64 / peers as f64,
        standing: "proven, up to the cipher of the secrets; ignores the graph".into(),
    };
    Ok(Some(Row::new(problem, peers, kind, &point)))
}

/// What each observer learns, were it to see every message.
pub(super) fn views(secrets: &Secrets, observers: &Observers) -> Result<Vec<Leakage>> {
    let one = |&v: &usize| Ok(Masked::towards(secrets.pairs().keys(), &Adversary::Peer(v))?.leakage());
    observers.all.iter().map(one).collect()
}

/// How far one person moves a value, in the values' units: where values are rounded, a little further.
pub(super) fn moved(problem: &Problem, row: &Row) -> Result<f64> {
    match &problem.secrets {
        Some(secrets) if row.protocol.masks() => {
            let ring = problem.sums().ring(secrets.pairs().peers(), row.sigma, None)?;
            Ok(ring.moved(problem.sensitivity)?.steps() * ring.agreed().step)
        }
        _ => Ok(problem.sensitivity),
    }
}

/// Whether the row keeps the target, by the epsilon of integers.
pub(super) fn keeps(problem: &Problem, secrets: &Secrets, row: &Row) -> Result<bool> {
    let most = Gdp::of_square(problem.target.tightest())?.epsilon(problem.delta)?.upper;
    let epsilons = epsilons(problem, secrets, row)?;
    Ok([epsilons.peer, epsilons.wire_tapper]
        .into_iter()
        .all(|epsilon| epsilon.is_some_and(|epsilon| epsilon <= most)))
}

/// Epsilons of the row: what is said of a Gaussian's does not hold of integers.
pub(super) fn epsilons(problem: &Problem, secrets: &Secrets, row: &Row) -> Result<Epsilons> {
    let keys = secrets.pairs().keys();
    let ring = problem.sums().ring(keys.nodes(), row.sigma, None)?;
    let towards = |adversary: Adversary| -> Result<Option<f64>> {
        let masked = Masked::towards(keys, &adversary)?;
        let Some((peer, _)) = masked.worst() else { return Ok(None) };
        let epsilon = masked.guarantee(peer, &ring, problem.sensitivity, 1)?.epsilon(problem.delta)?.upper;
        Ok(Some(epsilon).filter(|epsilon| epsilon.is_finite()))
    };
    let peer = towards(Adversary::WireTapperWithAny(1))?;
    Ok(Epsilons { peer, far: peer, wire_tapper: towards(secrets.adversary())? })
}
