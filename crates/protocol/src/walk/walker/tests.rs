//! A walker among neighbours who answer, or do not.

use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};

use super::*;
use crate::Gate;
use crate::rumor::tests::Weyl;
use crate::walk::{Steps, Transition};

struct Ones;
impl Noise<Vec<f64>> for Ones {
    fn draw(&mut self, _: usize, scale: f64, like: &Vec<f64>) -> Vec<f64> {
        vec![scale; like.len()]
    }
}

fn course() -> Course {
    Course { steps: 50, burn_in: 2, sizes: Steps::Constant(0.5), sensitivity: 1.0, noise: 2.0, cap: 2 }
}

type Plain = Walker<Vec<f64>, fn(usize, f64, &mut Vec<f64>)>;

/// A peer of a complete graph of five without loops, whose gradient is 10.
fn walker(budget: f64) -> Plain {
    let mixing = Mixing::new(&generate(&Family::Complete { n: 5 }, 0, true).unwrap(), Weights::Metropolis);
    let descend: fn(usize, f64, &mut Vec<f64>) = |_, gamma, token| token[0] -= 10.0 * gamma;
    let host = Host::new(0, Transition::new(&mixing, 0), Gate::new(budget), descend);
    Walker::new(host, vec![0.0], course(), Patience { attempts: 2 })
}

fn token(step: usize) -> Token<Vec<f64>> {
    Token { id: 0, epoch: (0, 0), step, value: vec![1.0] }
}

fn arrive(walker: &mut Plain, token: Token<Vec<f64>>) -> Vec<Output<Vec<f64>>> {
    walker.handle(Input::Message { from: 3, message: Message::Token(token) }, &mut Ones, &mut Weyl(1));
    std::iter::from_fn(|| walker.poll()).collect()
}

fn sent(outputs: &[Output<Vec<f64>>]) -> Vec<(Peer, Token<Vec<f64>>)> {
    let sent = |output: &Output<Vec<f64>>| match output {
        Output::Send { to, message: Message::Token(token) } => Some((*to, token.clone())),
        _ => None,
    };
    outputs.iter().filter_map(sent).collect()
}

fn visits(outputs: &[Output<Vec<f64>>]) -> Vec<Visit> {
    let visit = |output: &Output<Vec<f64>>| match output {
        Output::Visited { visit, .. } => Some(*visit),
        _ => None,
    };
    outputs.iter().filter_map(visit).collect()
}

#[test]
fn a_visit_relays_contributes_or_adds_noise() {
    let mut walker = walker(f64::INFINITY);
    let mut values = Vec::new();
    for (step, expected) in
        [(1, Visit::Relayed), (2, Visit::Contributed), (7, Visit::Contributed), (9, Visit::NoiseOnly)]
    {
        let outputs = arrive(&mut walker, token(step));
        assert_eq!(visits(&outputs), [expected], "{step}");
        values.push(sent(&outputs)[0].1.value[0]);
    }
    // Noise 1, gradient step 5.
    assert_eq!(values, [1.0, -3.0, -3.0, 2.0]);
    assert_eq!(walker.contributions(), 2);
}

#[test]
fn without_budget_there_is_noise_only_and_it_is_said_once() {
    let mut walker = walker(0.3);
    let stops =
        |outputs: &[Output<Vec<f64>>]| outputs.iter().filter(|o| matches!(o, Output::Stopped(_))).count();
    assert_eq!(stops(&arrive(&mut walker, token(2))), 0);
    let outputs = arrive(&mut walker, token(7));
    assert_eq!((stops(&outputs), visits(&outputs)), (1, vec![Visit::NoiseOnly]));
    assert_eq!(stops(&arrive(&mut walker, token(8))), 0);
}

#[test]
fn an_unanswered_token_is_sent_again_unchanged_and_then_elsewhere() {
    let mut walker = walker(f64::INFINITY);
    let mut chance = Weyl(9);
    let first = sent(&arrive(&mut walker, token(5))).remove(0);
    let mut wait = |walker: &mut Plain, timer| -> Vec<Output<Vec<f64>>> {
        walker.handle(Input::Timeout { id: 0, timer }, &mut Ones, &mut chance);
        std::iter::from_fn(|| walker.poll()).collect()
    };
    assert_eq!(sent(&wait(&mut walker, 0)), std::slice::from_ref(&first));
    assert!(wait(&mut walker, 0).is_empty(), "an old timer");
    let outputs = wait(&mut walker, 1);
    let (epoch, detour) = ((0, 0), (1, 0));
    assert!(outputs.contains(&Output::Rerouted { id: 0, step: 6, epoch, detour, silent: first.0 }));
    let (to, detour) = sent(&outputs).remove(0);
    assert!(to != first.0 && to != 0);
    assert_eq!((detour.epoch, &detour.value), ((1, 0), &first.1.value));
    // The older copy comes by: answered, and swallowed.
    let outputs = arrive(&mut walker, token(9));
    assert!(matches!(outputs[0], Output::Send { to: 3, message: Message::Received { step: 9, .. } }));
    assert!(sent(&outputs).is_empty());
    // An answer ends the waiting.
    let message = Message::Received { id: 0, epoch: (1, 0), step: 6 };
    walker.handle(Input::Message { from: to, message }, &mut Ones, &mut Weyl(1));
    walker.handle(Input::Timeout { id: 0, timer: 2 }, &mut Ones, &mut Weyl(1));
    assert!(walker.poll().is_none());
}

/// Two copies may bring the same step to the same peer: their noises must differ, or the difference of the two would be naked.
#[test]
fn no_noise_is_used_twice() {
    struct Numbers(Vec<usize>);
    impl Noise<Vec<f64>> for Numbers {
        fn draw(&mut self, draw: usize, _: f64, like: &Vec<f64>) -> Vec<f64> {
            self.0.push(draw);
            vec![0.0; like.len()]
        }
    }
    let (mut walker, mut numbers) = (walker(f64::INFINITY), Numbers(Vec::new()));
    for epoch in 0..4 {
        let message = Message::Token(Token { epoch: (epoch, 0), ..token(7) });
        walker.handle(Input::Message { from: 3, message }, &mut numbers, &mut Weyl(1));
    }
    assert_eq!(numbers.0, [0, 1, 2, 3]);
}

#[test]
fn where_nobody_answers_the_token_waits() {
    let mut walker = walker(f64::INFINITY);
    arrive(&mut walker, token(5));
    let mut stranded = 0;
    for timer in 0..40 {
        walker.handle(Input::Timeout { id: 0, timer }, &mut Ones, &mut Weyl(timer));
        stranded +=
            std::iter::from_fn(|| walker.poll()).filter(|o| matches!(o, Output::Stranded { .. })).count();
    }
    assert!(stranded >= 2);
}

#[test]
fn copies_of_the_network_and_nonsense_change_nothing() {
    let mut walker = walker(f64::INFINITY);
    assert_eq!(sent(&arrive(&mut walker, token(5))).len(), 1);
    assert!(sent(&arrive(&mut walker, token(5))).is_empty());
    let nonsense = Token { value: vec![f64::NAN], ..token(8) };
    assert_eq!(arrive(&mut walker, nonsense), [Output::Refused { from: 3, reason: Refusal::NotFinite }]);
    let strange = Token { value: vec![1.0, 2.0], ..token(8) };
    assert_eq!(arrive(&mut walker, strange), [Output::Refused { from: 3, reason: Refusal::Shape }]);
    assert_eq!(arrive(&mut walker, token(50)), [Output::Refused { from: 3, reason: Refusal::Late }]);
}

#[test]
fn the_last_step_ends_the_walk() {
    let mut walker = walker(f64::INFINITY);
    let outputs = arrive(&mut walker, token(49));
    let end = Token { id: 0, epoch: (0, 0), step: 50, value: vec![1.0 - 5.0 + 1.0] };
    assert_eq!(outputs.last(), Some(&Output::Finished(end)));
}
