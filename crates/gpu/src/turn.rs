//! What an agent does in a step of a run on the card: the numbers that `protocol::consensus` would use, rounded as it does.

use cudarc::driver::DeviceRepr;
use sottovoce_protocol::consensus::{At, Band, Hidden, Method, Plan, Rule};

/// One agent's step. The same fields in the same order as in `kernels/learn.cu`.
#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Turn {
    method: u32,
    rule: u32,
    afresh: u32,
    last: u32,
    idle: u32,
    at_mixed: u32,
    key: [u32; 6],
    kept: u32,
    most: u32,
    slot: u32,
    past: u32,
    diagonals: u32,
    share: f32,
    scale: f32,
    rate: f32,
    decay: f32,
    rho: f32,
    spring: f32,
    beta: f32,
    fresh: f32,
    square: f32,
    more: f32,
    epsilon: f32,
    size: f32,
    root: f32,
}

// SAFETY: whole and single-precision numbers of four bytes each, without gaps, in the order of the kernel's text.
#[allow(unsafe_code)]
unsafe impl DeviceRepr for Turn {}

impl Turn {
    /// Of an agent whose run is over, or who has made her steps of the round.
    pub(crate) fn idle() -> Self {
        Self { idle: 1, ..Self::default() }
    }

    /// Step `made` (from 0) of iteration `k`; the optimiser has made `steps` before, since its moments began. Without a gradient, unless one is given.
    pub(crate) fn new(plan: &Plan, neighbours: usize, k: usize, made: usize, steps: u64) -> Self {
        let rate = plan.rates.at(k, plan.iterations);
        let optimiser = plan.optimiser;
        let mut turn = Self {
            last: u32::from(made + 1 == plan.draws_each()),
            afresh: u32::from(steps == 0),
            rate: rate as f32,
            decay: optimiser.decay as f32,
            ..Self::default()
        };
        match plan.method {
            Method::Dsgd { at } => turn.at_mixed = u32::from(at == At::Mixed),
            Method::Dsgt => turn.method = 1,
            Method::Dinno { rho, growth, .. } => {
                let rho = rho * growth.powf((k + 1) as f64);
                turn.method = 2;
                turn.rho = rho as f32;
                turn.spring = (2.0 * rho * neighbours as f64) as f32;
            }
        }
        match optimiser.rule {
            Rule::Sgd => {}
            Rule::Momentum { beta } => (turn.rule, turn.beta) = (1, beta as f32),
            Rule::Adam { beta, square, epsilon } => {
                let [mean, root] = [beta, square].map(|kept| 1.0 - kept.powf((steps + 1) as f64));
                (turn.size, turn.root) = ((rate / mean) as f32, (1.0 / root.sqrt()) as f32);
                [turn.fresh, turn.more] = [beta, square].map(|kept| (1.0 - kept) as f32);
                [turn.beta, turn.square, turn.epsilon] =
                    [beta, square, epsilon].map(|constant| constant as f32);
                turn.rule = 2;
            }
        }
        turn
    }

    /// The same with a gradient under noise: that of a draw of an agent.
    pub(crate) fn hidden(mut self, hidden: &Hidden, seed: u64, agent: u64, draw: u64) -> Self {
        self.share = (1.0 / hidden.lots.expected()) as f32;
        self.scale = at_least(hidden.release().scale);
        for (two, word) in self.key.as_chunks_mut::<2>().0.iter_mut().zip([seed, agent, draw]) {
            *two = [word as u32, (word >> 32) as u32];
        }
        self
    }

    /// The same with noise that is correlated with that of the last draws: where they are kept, and where the diagonals are.
    pub(crate) fn banded(mut self, band: &Band, draw: u64, (past, diagonals): (usize, usize)) -> Self {
        let most = band.cycle() as u64 - 1;
        if most > 0 {
            self.kept = draw.min(most) as u32; // whole numbers
            (self.most, self.slot) = (most as u32, (draw % most) as u32);
            (self.past, self.diagonals) = (past as u32, diagonals as u32);
        }
        self
    }

    /// Whether a draw was made for it.
    pub(crate) fn draws(&self) -> bool {
        self.share > 0.0
    }

    /// Whether DSGD takes the gradient at the mixed model, as the others do at theirs.
    pub(crate) fn at_mixed(&self) -> bool {
        self.method != 0 || self.at_mixed == 1
    }
}

/// In single precision, and not below what is accounted for.
fn at_least(scale: f64) -> f32 {
    let single = scale as f32;
    if f64::from(single) < scale { single.next_up() } else { single }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_never_rounded_down() {
        for scale in [0.0, 0.1, 1.296, 8.36, 1.0 / 3.0, 1e-12] {
            let single = f64::from(at_least(scale));
            assert!(single >= scale && single <= scale * (1.0 + 2e-7), "{scale} became {single}");
        }
    }

    /// The kernel reads words of four bytes.
    #[test]
    fn there_are_no_gaps() {
        assert_eq!(size_of::<Turn>(), 4 * (6 + 6 + 5 + 13));
    }
}
