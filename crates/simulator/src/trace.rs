//! What messages are made of: the very same peers on coefficients, over a perfect network.
//!
//! The exact accountant asks what an observer's messages are as linear combinations of the noises. No formula is trusted for
//! that: peers run on [`Coefficients`] instead of numbers, with [`Tracer`] naming their noises, and what arrives is written down.
//! Private values are zero: a peer's value and its first noise enter together, so that the coefficient of the value is that
//! of variable `peer`, divided by `sigma`. No value is ever seen here.

use std::collections::VecDeque;

use sottovoce_protocol::averaging::Noising;
use sottovoce_protocol::{Coefficients, Input, Message, Noise, Output, Peer, Protocol};

use crate::averaging::Scheme;
use crate::noise::Tracer;
use crate::{Error, Result};

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
/// use sottovoce_simulator::{averaging::Scheme, trace::trace};
/// let scheme = Scheme::Butterfly { positions: vec![0, 1, 2, 3] };
/// let noising = Noising { sensitivity: 1.0, local: 2.0, relay: 0.0 };
/// let trace = trace(&scheme, noising, &[0])?;
/// assert_eq!(trace.heard[0].coefficients.0, [0.0, 2.0]); // peer 1's own noise ...
/// assert_eq!(trace.heard[1].coefficients.0, [0.0, 0.0, 1.0, 1.0]); // ... then the half-sum of 2 and 3
/// assert_eq!(trace.finals[3].0, [0.5; 4]);
/// # Ok::<(), sottovoce_simulator::Error>(())
/// ```
pub fn trace(scheme: &Scheme, noising: Noising, observers: &[Peer]) -> Result<Trace> {
    let peers = scheme.peers();
    check_observers(peers, observers)?;
    let mut machines = scheme.machines(noising, f64::INFINITY, |_| Coefficients::default())?;
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

/// Drives any peers over a perfect network, shows every delivered message to `hear` (sender, receiver, message), and returns the
/// results.
///
/// Messages arrive in the order in which they were sent.
pub fn listen<V: Clone, P: Protocol<V>, N: Noise<V>>(
    peers: &mut [P],
    noises: &mut [N],
    mut hear: impl FnMut(Peer, Peer, &Message<V>),
) -> Result<Vec<V>> {
    let mut finals = vec![None; peers.len()];
    let mut wire = VecDeque::new();
    for (peer, (machine, noise)) in peers.iter_mut().zip(noises.iter_mut()).enumerate() {
        machine.handle(Input::Start, noise);
        drain(peer, machine, &mut wire, &mut finals[peer]);
    }
    while let Some((from, to, message)) = wire.pop_front() {
        let (Some(machine), Some(noise)) = (peers.get_mut(to), noises.get_mut(to)) else {
            return Err(Error::parameter("to", to, "a peer wrote to somebody who does not exist"));
        };
        hear(from, to, &message);
        machine.handle(Input::Message { from, message }, noise);
        drain(to, machine, &mut wire, &mut finals[to]);
    }
    finals.into_iter().enumerate().map(|(peer, last)| last.ok_or(Error::Stuck { peer })).collect()
}

type Wire<V> = VecDeque<(Peer, Peer, Message<V>)>;

/// Takes what a peer has to say. Nobody is silent on this network, so timers are not needed.
fn drain<V>(from: Peer, machine: &mut impl Protocol<V>, wire: &mut Wire<V>, last: &mut Option<V>) {
    while let Some(output) = machine.poll() {
        match output {
            Output::Send { to, message } => wire.push_back((from, to, message)),
            Output::Finished(value) => *last = Some(value),
            _ => {}
        }
    }
}

fn check_observers(peers: usize, observers: &[Peer]) -> Result<()> {
    match observers.iter().find(|&&observer| observer >= peers) {
        Some(stranger) => {
            Err(Error::parameter("observers", stranger, format!("there are {peers} peers, from 0")))
        }
        None => Ok(()),
    }
}
