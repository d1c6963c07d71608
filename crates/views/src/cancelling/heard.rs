//! What peers learn from their own messages where pairs cancel: `q_u' (I + kappa² Q L Q')^-1 q_u`, in the space of what they heard.

use sottovoce_dense::{Mat, solve_lower};
use sottovoce_protocol::public::Cancelling;

use super::honest::Honest;
use crate::exact::Leakage;
use crate::exact::relay::{Factored, relative_rounding, squared_length};
use crate::span::Space;

/// Rounding below this is added where a loss becomes a guarantee; above, to the loss itself.
const SHOWS: f64 = 1e-10;

/// What `observers`, who are in increasing order, learn in a space whose first variables are the peers' own noises. More noise never reveals more, so where
/// this cannot be certified it is what would be learnt without pairs.
pub(crate) fn under(space: Option<&Space>, cancelling: &Cancelling, observers: &[usize]) -> Leakage {
    let nodes = cancelling.peers();
    let honest = Honest::new(cancelling.keys(), observers.to_vec());
    let plain = |space: Option<&Space>| {
        let mut kept = space.cloned();
        if let Some(space) = &mut kept {
            space.keep(nodes);
        }
        Leakage { rank: None, ..Leakage::of(kept.as_ref(), observers.to_vec(), nodes) }
    };
    let found = space.and_then(|space| losses(space, cancelling, &honest));
    match found {
        // Rounding that shows is added at once, so that no loss is told too small.
        Some((losses, rounding)) if rounding > SHOWS => {
            let upward = |loss: f64| if loss + rounding < 1.0 { loss + rounding } else { 1.0 };
            let losses = losses.into_iter().map(|loss| if loss > 0.0 { upward(loss) } else { loss });
            Leakage { losses: losses.collect(), rounding: 0.0, certified: true, ..plain(space) }
        }
        Some((losses, rounding)) => Leakage { losses, rounding, certified: true, ..plain(space) },
        None => Leakage { certified: false, ..plain(space) },
    }
}

/// The losses, and by how much they may be off.
fn losses(space: &Space, cancelling: &Cancelling, honest: &Honest<'_>) -> Option<(Vec<f64>, f64)> {
    let (rank, nodes, kappa) = (space.rank(), cancelling.peers(), cancelling.kappa());
    let mut gram = Mat::identity(rank);
    let (mut loudest, mut pairs) = (0.0_f64, 0);
    for v in (0..nodes).filter(|&v| honest.group[v].is_some()) {
        loudest = loudest.max(2.0 * honest.others(v).count() as f64);
        for w in honest.others(v).filter(|&w| w > v) {
            pairs += 1;
            let difference: Vec<f64> =
                (0..rank).map(|i| kappa * (space.column(i)[v] - space.column(i)[w])).collect();
            for (i, x) in difference.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                difference[..=i].iter().enumerate().for_each(|(j, y)| gram[(i, j)] += x * y);
            }
        }
    }
    let factored = Factored::new(&gram)?;
    // Each pair is one more number in every sum, and one more rounding.
    let relative = relative_rounding(factored.condition_of(rank), rank + pairs);
    let mut solved = Mat::from_fn(rank, nodes, |i, u| space.column(i)[u]);
    solve_lower(&factored.lower, &mut solved);
    let all =
        (0..nodes).map(|u| squared_length(solved.col(u))).map(|loss| if loss < 1.0 { loss } else { 1.0 });
    // A space that is off by an angle has directions that are off by as much, and under the noise of the pairs by `sqrt` of its largest eigenvalue times that.
    let off = space.angle * (1.0 + kappa * kappa * loudest).sqrt();
    let rounding = ((1.0 + space.angle) / (1.0 - off)).powi(2) - 1.0 + relative;
    (off < 0.5 && rounding.is_finite()).then(|| (all.collect(), rounding))
}
