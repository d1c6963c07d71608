//! Any peers that average, over a perfect network: every message arrives, in the order in which they were sent.

use std::collections::VecDeque;
use std::sync::Arc;

use super::{Averager, Input, Message, Note, Output, Plan, Round, Start};
use crate::{Chance, Error, Law, Machine, Means, Noise, Overspent, Peer, Release, Result, Uncovered, Value};

/// A machine that averages, whatever is around it.
pub trait Averages:
    Machine<
        Command = Start,
        Message = Message<<Self as Machine>::Value>,
        Timer = Round,
        Label = Round,
        Note = Note,
    >
{
    /// Its present value: its result, once it has finished.
    fn value(&self) -> &<Self as Machine>::Value;
}

impl<V: Value, P: Plan> Averages for Averager<V, P> {
    fn value(&self) -> &V {
        self.value()
    }
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

    fn hide(&mut self, _: Law, draw: u64, scale: f64, value: &mut V) -> std::result::Result<(), Uncovered> {
        // Averaging knows Gaussian noise alone.
        let mut noise = self.0.draw(draw, scale, value)?;
        self.0.share(draw, scale, &mut noise)?;
        value.add(1.0, &noise);
        Ok(())
    }
}
