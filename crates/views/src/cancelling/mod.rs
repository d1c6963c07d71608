//! What is learnt where pairs of peers add noise that cancels (`docs/theorems/cancelling.md`).
//!
//! ```text
//! towards someone who sees every message and holds the secrets of V:   f(u) = e_u' (I + kappa² L)^-1 e_u
//! towards peers V with their own messages, which span Q:               f(u) = q_u' (I + kappa² Q L Q')^-1 q_u
//! ```
//!
//! `L` is the Laplacian of the graph of secrets without `V`, and `q_u` what `Q` has of peer `u`. The first is solved peer by peer (`solve.rs`), the second
//! at once (`heard.rs`). `colluding.rs` has the worst `V` of a size, `secrets.rs` what learning keeps of it.

mod colluding;
mod gap;
mod heard;
mod honest;
mod secrets;
mod solve;

pub(crate) use colluding::check_colluders;
pub use colluding::{AtRandom, at_random, with_any};
pub use honest::Cut;
pub use secrets::Secrets;

/// The second smallest eigenvalue of the Laplacian of keys that connect everybody, from below.
pub(crate) fn gap_at_least(keys: &sottovoce_topology::Graph) -> f64 {
    gap::at_least(&Honest::new(keys, Vec::new()))
}

pub(crate) use heard::under;
pub(crate) use honest::Honest;
pub(crate) use secrets::{HAIR, upward};

use solve::Solver;
use sottovoce_protocol::public::Cancelling;

use crate::exact::Leakage;
use crate::{Error, Result, parallel};

/// Losses known better than this, relatively, are called exact.
const SHARP: f64 = 1e-3;

/// Edges to go along for all peers together: some seconds.
const WORK: f64 = 2e9;

/// What someone learns of everyone who sees every message and knows all that the peers of a coalition know, which may be empty.
///
/// ```
/// use sottovoce_protocol::public::Cancelling;
/// use sottovoce_topology::family::{Family, generate};
/// use sottovoce_views::cancelling::everything;
/// let keys = generate(&Family::Complete { n: 10 }, 0, true)?;
/// let found = everything(&Cancelling::new(keys, 100.0)?, &[3, 4])?;
/// assert!((found.losses[0] - 1.0 / 8.0).abs() < 1e-4); // one of eight honest peers
/// assert_eq!(found.losses[3], 0.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn everything(cancelling: &Cancelling, coalition: &[usize]) -> Result<Leakage> {
    let honest = honest(cancelling, coalition)?;
    let nodes = cancelling.peers();
    let (squared, each) = (cancelling.kappa().powi(2), WORK / nodes as f64);
    let solver = Solver::new(&honest, squared, each);
    let known = parallel::map_with(nodes, || solver.scratch(), |scratch, u| solver.loss(u, scratch));
    let bounds = |floor: f64| known.iter().map(|known| known.bounds(floor)).collect::<Vec<_>>();
    let is_sharp = |bounds: &Vec<(f64, f64)>| bounds.iter().all(|(lower, upper)| sharp(*lower, *upper));
    let mut found = bounds(1.0);
    if !is_sharp(&found) {
        // The gap of the graph says more of what is left.
        found = bounds(1.0 + squared * gap::at_least(&honest));
    }
    let certified = is_sharp(&found);
    let losses = found.into_iter().map(|(_, upper)| upper).collect();
    Ok(Leakage { observers: honest.coalition, losses, rank: None, certified, rounding: 0.0 })
}

/// In which shares someone who sees every message, and knows all that a coalition knows, adds up what all others first say, to learn of peer `u`: with these the least noise
/// is left. Only an attack needs them; nothing is promised by them.
pub fn shares(cancelling: &Cancelling, coalition: &[usize], u: usize) -> Result<Vec<f64>> {
    let honest = honest(cancelling, coalition)?;
    let solution = Solver::new(&honest, cancelling.kappa().powi(2), WORK).solution(u);
    Ok(solution.iter().map(|share| share / solution[u]).collect())
}

/// What is left of the secrets' graph without a coalition.
pub fn cut(cancelling: &Cancelling, coalition: &[usize]) -> Result<Cut> {
    Ok(honest(cancelling, coalition)?.cut())
}

fn honest<'a>(cancelling: &'a Cancelling, coalition: &[usize]) -> Result<Honest<'a>> {
    let nodes = cancelling.peers();
    let mut sorted = coalition.to_vec();
    sorted.sort_unstable();
    sorted.dedup();
    match sorted.last() {
        Some(&last) if last >= nodes => {
            Err(Error::parameter("observers", last, format!("there are {nodes} peers, from 0")))
        }
        _ => Ok(Honest::new(cancelling.keys(), sorted)),
    }
}

fn sharp(lower: f64, upper: f64) -> bool {
    upper - lower <= SHARP * upper
}
