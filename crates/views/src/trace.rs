//! What messages are made of: the very same peers on coefficients, over a perfect network.
//!
//! The exact accountant asks what an observer's messages are as linear combinations of the noises. No formula is trusted for
//! that: peers run on [`Coefficients`] instead of numbers, with [`Tracer`] naming their noises, and what arrives is written down.
//! Private values are zero: a peer's value and its first noise enter together, so that the coefficient of the value is that
//! of variable `peer`, divided by `sigma`. No value is ever seen here.

use sottovoce_protocol::averaging::{Noising, listen};
use sottovoce_protocol::public::Scheme;
use sottovoce_protocol::{Coefficients, Noise, Peer, Uncovered};

use crate::Result;
use crate::error::check_peers;

/// A message as an observer received it.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    /// The round it belongs to.
    pub round: usize,
    /// Its sender.
    pub from: Peer,
    /// The observer.
    pub to: Peer,
    /// What it is made of: variable `k n + v` is draw `k` of peer `v`, standardised.
    pub coefficients: Coefficients,
}

/// What was heard, and what everyone ended with.
#[derive(Debug, Clone, PartialEq)]
pub struct Trace {
    /// The observers' messages, by round, receiver and sender.
    pub heard: Vec<Heard>,
    /// Each peer's result.
    pub finals: Vec<Coefficients>,
    /// Number of variables: no coefficient has an index from here on.
    pub variables: usize,
}

/// Runs a scheme without faults and returns what `observers` heard.
///
/// ```
/// use sottovoce_protocol::averaging::Noising;
/// use sottovoce_protocol::public::Scheme;
/// use sottovoce_views::trace::trace;
/// let scheme = Scheme::Butterfly { positions: vec![0, 1, 2, 3] };
/// let noising = Noising { sensitivity: 1.0, local: 2.0, relay: 0.0 };
/// let trace = trace(&scheme, noising, &[0])?;
/// assert_eq!(trace.heard[0].coefficients.0, [0.0, 2.0]); // peer 1's own noise ...
/// assert_eq!(trace.heard[1].coefficients.0, [0.0, 0.0, 1.0, 1.0]); // ... then the half-sum of 2 and 3
/// assert_eq!(trace.finals[3].0, [0.5; 4]);
/// # Ok::<(), sottovoce_views::Error>(())
/// ```
pub fn trace(scheme: &Scheme, noising: Noising, observers: &[Peer]) -> Result<Trace> {
    let peers = scheme.peers();
    check_peers(observers, peers)?;
    let mut machines = scheme.machines(|_| noising, |_| Coefficients::default())?;
    let mut heard = Vec::new();
    let finals = listen(&mut machines, &mut Tracer::all(peers), |from, to, message| {
        if observers.contains(&to) {
            heard.push(Heard { round: message.round, from, to, coefficients: message.value.clone() });
        }
    })?;
    heard.sort_by_key(|message| (message.round, message.to, message.from));
    let draws = if noising.relay > 0.0 { 1 + scheme.rounds() } else { 1 };
    Ok(Trace { heard, finals, variables: peers * draws })
}

/// Names noises instead of drawing them: draw `k` of peer `v` among `n` is the variable `k n + v`.
///
/// So draw 0, the noise on the private value, is variable `v`, and relay noises come after the first `n`.
///
/// ```
/// use sottovoce_protocol::{Coefficients, Noise};
/// use sottovoce_views::trace::Tracer;
/// let like = Coefficients::default();
/// assert_eq!(Tracer::new(3, 1).draw(0, 2.0, &like)?, Coefficients::variable(1, 2.0));
/// assert_eq!(Tracer::new(3, 1).draw(2, 0.5, &like)?, Coefficients::variable(7, 0.5));
/// # Ok::<(), sottovoce_protocol::Uncovered>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tracer {
    peers: usize,
    peer: Peer,
}

impl Tracer {
    /// The variables of `peer` among `peers`.
    pub fn new(peers: usize, peer: Peer) -> Self {
        Self { peers, peer }
    }

    /// One for each of `peers` peers.
    pub fn all(peers: usize) -> Vec<Self> {
        (0..peers).map(|peer| Self::new(peers, peer)).collect()
    }
}

impl Noise<Coefficients> for Tracer {
    fn draw(
        &mut self,
        draw: u64,
        scale: f64,
        _: &Coefficients,
    ) -> std::result::Result<Coefficients, Uncovered> {
        Ok(Coefficients::variable(draw as usize * self.peers + self.peer, scale))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn draws_of_all_peers_are_different_variables() {
        let draws = (0..5).flat_map(|peer| (0..4).map(move |draw| (peer, draw)));
        let index = |(peer, draw)| {
            Tracer::new(5, peer).draw(draw, 1.0, &Coefficients::default()).unwrap().0.len() - 1
        };
        assert_eq!(draws.map(index).collect::<BTreeSet<_>>(), (0..20).collect());
    }
}
