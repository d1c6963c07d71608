//! Sums under masks: the run, and what is public of it.

use serde::Serialize;
use sottovoce_privacy::Adversary;
use sottovoce_protocol::averaging::AveragingTranscript;
use sottovoce_protocol::public::{Scheme, Sums};
use sottovoce_protocol::ring::Agreed;
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::outcome::Outcome;
use sottovoce_simulator::ring::RingSetup;
use sottovoce_simulator::{Allowance, invariants};
use sottovoce_views::door::Setting;
use sottovoce_views::ring::{Masked, Masks};

use crate::experiment::Ready;
use crate::names::Names;
use crate::{Error, Result};

/// Masks on a ring, and what the attackers leave of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MaskedSums {
    /// Pairs who share a secret.
    pub pairs: usize,
    /// The step of the public grid.
    pub step: f64,
    /// Sums are those of integers modulo two to this.
    pub bits: u32,
    /// Values are no larger, whatever their sign.
    pub range: f64,
    /// Numbers of each peer.
    pub columns: usize,
    /// How far one person moves a sum, in steps, in the 2-norm: rounding is counted.
    pub moved: f64,
    /// A bound on the probability that a sum leaves the ring and is wrong.
    pub wraps: f64,
    /// How many honest peers hide who is hidden by the fewest, itself included; 1: nothing but its own noise does.
    pub hidden_by: usize,
    /// Whether nobody is hidden by more than is said.
    pub exact: bool,
    /// Who is hidden by nobody.
    pub alone: Vec<usize>,
    /// How far the noise of those is from a discrete Gaussian, at most (`tau`): charged for each column.
    pub apart: f64,
}

impl MaskedSums {
    /// Of the masks of a setting, if it has any, towards an adversary.
    pub(crate) fn of(setting: &Setting, adversary: &Adversary, sensitivity: f64) -> Result<Option<Self>> {
        let Some(Masks { keys, ring }) = &setting.masks else { return Ok(None) };
        let masked = Masked::towards(keys, adversary)?;
        let hidden_by = masked.worst().map_or(0, |(_, size)| size);
        let Agreed { width, range, step, bits, .. } = *ring.agreed();
        Ok(Some(Self {
            pairs: keys.edge_count(),
            step,
            bits,
            range,
            columns: width,
            moved: ring.moved(sensitivity)?.steps(),
            wraps: ring.wraps(),
            hidden_by,
            exact: masked.is_exact(),
            alone: masked.alone(),
            apart: if hidden_by == 0 { 0.0 } else { ring.shares(hidden_by as u64)?.apart() },
        }))
    }

    /// In a line.
    pub fn words(&self, names: &Names) -> String {
        let Self { pairs, step, bits, .. } = self;
        let hidden = match (self.hidden_by, &self.alone[..]) {
            (1, alone) => {
                format!(
                    "CUT OFF: nothing but its own noise hides {}",
                    if alone.len() == 1 {
                        format!("peer {}", names.of(alone[0]))
                    } else {
                        format!("each of {} peers", alone.len())
                    }
                )
            }
            (some, _) => format!(
                "everybody is hidden by {}{some} honest peers",
                if self.exact { "" } else { "at least " }
            ),
        };
        format!("{pairs} pairs; sums modulo 2^{bits} in steps of {step}; {hidden}")
    }
}

/// A run of the very machines on integers. Results are means.
pub(super) fn simulated(
    ready: &Ready,
    masks: &Masks,
    budget: f64,
    seed: u64,
) -> Result<(Outcome<Vec<f64>>, AveragingTranscript)> {
    let Scheme::Butterfly { positions } = &ready.setting.scheme else {
        return Err(Error::parameter("masks", true, "integers are added up by a butterfly; give one"));
    };
    let setup = RingSetup {
        values: ready.values.all.clone(),
        ring: masks.ring.clone(),
        keys: masks.keys.clone(),
        sums: Sums::Butterfly { positions: positions.clone() },
        sensitivity: ready.sensitivity,
        // Secrets are drawn anew for every run.
        round: 0,
    };
    let mut transcript = AveragingTranscript::default();
    let outcome = Simulation::new(setup.peers()?, setup.noises(seed), ready.network, seed)?
        .faults(&ready.faults)?
        .budgets(vec![Allowance::gaussian(budget)?; ready.peers()])?
        .invariants(invariants::of_sums(&ready.setting.scheme, budget))
        .recorder(&mut transcript)
        .run();
    Ok((outcome.read(|sum| setup.ring.mean(&sum)), transcript))
}
