//! What the table does not ask: the same losses as bounds for everybody and towards everyone, for a trusted curator and for noise that cancels.
//!
//! The table's losses are means over pairs, guarantees for nobody. Here they bound what any peer loses to someone who sees every message, and of noise that
//! cancels to someone who also holds the secrets of some peers, whoever they are.

use sottovoce::learning::{Method, Secrets};
use sottovoce_learning::Clip;
use sottovoce_protocol::public::Cancelling;
use sottovoce_topology::family::{Family, generate};

use super::super::graphs::peers;
use super::runs::{self, Attempt, Learned};
use super::{CLIP, GOSSIP_STEPS, ITERATIONS, LOSSES, noise};
use crate::learners::Data;
use crate::{Options, Result};

/// Secrets of each peer, how loud a pair is, and how many peers may collude.
pub(super) const KEYS: (usize, f64, usize) = (32, 100.0, 6);
/// Runs of each.
pub(super) const RUNS: usize = 10;

/// Both at one worst-case loss, tuned.
pub(super) struct Worst {
    pub(super) loss: f64,
    pub(super) curator: Learned,
    pub(super) cancelling: Learned,
}

impl Worst {
    /// By how much noise that cancels falls short of the curator.
    pub(super) fn short(&self) -> f64 {
        self.curator.accuracy().mean - self.cancelling.accuracy().mean
    }
}

/// All losses of the table, and what a release costs with noise that cancels, in units of a local one.
pub(super) fn worst(data: &Data, options: &Options) -> Result<(f64, Vec<Worst>)> {
    let n = peers(options);
    let task = data.task(n, Clip::Example(CLIP))?;
    let (degree, kappa, colluders) = KEYS;
    let keys = match n > degree {
        true => generate(&Family::RandomRegular { n, degree }, options.seed, true)?,
        false => generate(&Family::Complete { n }, options.seed, true)?,
    };
    let secrets = Secrets::new(Cancelling::new(keys, kappa)?, colluders)?;
    let all = ITERATIONS as f64;
    let mut attempts = Vec::new();
    for loss in LOSSES {
        for (method, units, secrets) in
            [(Method::Central, all, None), (Method::Butterfly, all * secrets.worst(), Some(&secrets))]
        {
            let (sigma, steps) = (noise(units, loss)?, &GOSSIP_STEPS[..]);
            attempts.push(Attempt { task: &task, mixings: &[], method, sigma, steps, secrets });
        }
    }
    let runs = if options.quick { 2 } else { RUNS };
    let mut results = runs::all(&attempts, runs, options.seed)?.into_iter();
    let mut one = |loss| Some(Worst { loss, curator: results.next()?, cancelling: results.next()? });
    Ok((secrets.worst(), LOSSES.into_iter().filter_map(&mut one).collect()))
}
