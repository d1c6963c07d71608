//! What messages are made of: the very same peers on coefficients, over a perfect network.
//!
//! The exact accountant asks what an observer's messages are as linear combinations of the noises. No formula is trusted for
//! that: peers run on [`Coefficients`] instead of numbers, with [`Tracer`] naming their noises, and what arrives is written down.
//! Private values are zero: a peer's value and its first noise enter together, so that the coefficient of the value is that
//! of variable `peer`, divided by `sigma`. No value is ever seen here.

use std::collections::VecDeque;
use std::sync::Arc;

use sottovoce_protocol::averaging::{Input, Message, Noising, Note, Output, Start};
use sottovoce_protocol::{Chance, Coefficients, Law, Means, Overspent, Peer, Release, Uncovered, Value};

use crate::averaging::{Averages, Scheme};
use crate::noise::{Noise, Tracer};
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

/// Drives any peers over a perfect network, shows every delivered message to `hear` (sender, receiver, message), and returns the
/// results. Nobody's budget is limited, and gradients are zero.
///
/// Messages arrive in the order in which they were sent.
pub fn listen<M: Averages, N: Noise<M::Value>>(
    peers: &mut [M],
    noises: &mut [N],
    mut hear: impl FnMut(Peer, Peer, &Message<M::Value>),
) -> Result<Vec<M::Value>> {
    let mut finals = vec![None; peers.len()];
    let mut wire = VecDeque::new();
    for (peer, (machine, noise)) in peers.iter_mut().zip(noises.iter_mut()).enumerate() {
        finals[peer] = tell(peer, machine, Input::Command(Start), noise, &mut wire);
    }
    while let Some((from, to, message)) = wire.pop_front() {
        let (Some(machine), Some(noise)) = (peers.get_mut(to), noises.get_mut(to)) else {
            return Err(Error::parameter("to", to, "a peer wrote to somebody who does not exist"));
        };
        hear(from, to, &message);
        let last = tell(to, machine, Input::Message { from, message }, noise, &mut wire);
        finals[to] = last.or(finals[to].take());
    }
    finals.into_iter().enumerate().map(|(peer, last)| last.ok_or(Error::Stuck { peer })).collect()
}

type Wire<V> = VecDeque<(Peer, Peer, Arc<Message<V>>)>;

/// Hands an input over and takes what the peer has to say; returns its result, once it has one. Nobody is silent on this network, so timers are not needed.
fn tell<M: Averages>(
    from: Peer,
    machine: &mut M,
    input: Input<M::Value>,
    noise: &mut impl Noise<M::Value>,
    wire: &mut Wire<M::Value>,
) -> Option<M::Value> {
    let mut means = Unlimited(noise);
    machine.handle(input, &mut means);
    let mut last = None;
    while let Some(output) = machine.poll() {
        match output {
            Output::Send { to, message } => {
                let message = Arc::new(message);
                wire.extend(to.into_iter().map(|to| (from, to, Arc::clone(&message))));
            }
            Output::Compute { ticket, value, .. } => {
                machine.handle(Input::Computed { ticket, value }, &mut means);
            }
            Output::Note(Note::Finished) => last = Some(machine.value().clone()),
            _ => {}
        }
    }
    last
}

/// Noise, and no limit.
struct Unlimited<'n, N>(&'n mut N);

impl<N> Chance for Unlimited<'_, N> {
    /// Averaging throws no dice.
    fn bits(&mut self) -> u64 {
        0
    }
}

impl<V: Value, N: Noise<V>> Means<V> for Unlimited<'_, N> {
    fn admit(&mut self, _: &Release) -> std::result::Result<(), Overspent> {
        Ok(())
    }

    fn cover(&mut self, draw: u64, scale: f64, value: &mut V) -> std::result::Result<(), Uncovered> {
        value.add(1.0, &self.0.draw(draw, scale, value)?);
        Ok(())
    }

    fn hide(
        &mut self,
        _: Law,
        draw: u64,
        scale: f64,
        value: &mut V,
    ) -> std::result::Result<(), Uncovered> {
        // Averaging knows Gaussian noise alone.
        let mut noise = self.0.draw(draw, scale, value)?;
        self.0.share(draw, scale, &mut noise)?;
        value.add(1.0, &noise);
        Ok(())
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
