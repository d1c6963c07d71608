//! A walker among neighbours who answer, or do not.

use super::*;
use crate::rumor::tests::Weyl;
use crate::walk::{Steps, Transition};
use crate::{Chance, Overspent, Release, Uncovered};

/// Noises of 1, numbered, and a budget of so many contributions.
struct Ones {
    dice: Weyl,
    budget: usize,
    draws: Vec<u64>,
}

impl Ones {
    fn new(seed: u64) -> Self {
        Self { dice: Weyl(seed), budget: usize::MAX, draws: Vec::new() }
    }
}

impl Chance for Ones {
    fn bits(&mut self) -> u64 {
        self.dice.bits()
    }
}

impl Means<Vec<f64>> for Ones {
    fn admit(&mut self, _: &Release) -> Result<(), Overspent> {
        self.budget = self.budget.checked_sub(1).ok_or(Overspent { asked: 1.0, left: 0.0 })?;
        Ok(())
    }

    fn cover(&mut self, draw: u64, scale: f64, value: &mut Vec<f64>) -> Result<(), Uncovered> {
        self.draws.push(draw);
        value.iter_mut().for_each(|x| *x += scale);
        Ok(())
    }
}

fn course() -> Course {
    Course { steps: 50, burn_in: 2, sizes: Steps::Constant(0.5), sensitivity: 1.0, noise: 2.0, cap: 2 }
}

type Plain = Walker<Vec<f64>>;

/// A peer of a complete graph of five without loops.
fn walker() -> Plain {
    let host = Host::new(0, Transition::new((1..5).map(|peer| (peer, 0.25))));
    Walker::new(host, vec![0.0], course(), Patience { attempts: 2 }, 1)
}

fn token(step: usize) -> Token<Vec<f64>> {
    Token { id: 0, epoch: (0, 0), step, value: vec![1.0] }
}

/// Drains outputs, and answers with gradients of 10.
fn drain(walker: &mut Plain, means: &mut Ones) -> Vec<Output<Vec<f64>>> {
    let mut all = Vec::new();
    while let Some(output) = walker.poll() {
        if let Output::Compute { ticket, size, mut value, .. } = output {
            value[0] -= 10.0 * size;
            walker.handle(Input::Computed { ticket, value }, means);
        } else {
            all.push(output);
        }
    }
    all
}

fn arrive_with(walker: &mut Plain, token: Token<Vec<f64>>, means: &mut Ones) -> Vec<Output<Vec<f64>>> {
    walker.handle(Input::heard(3, Message::Token(token)), means);
    drain(walker, means)
}

fn arrive(walker: &mut Plain, token: Token<Vec<f64>>) -> Vec<Output<Vec<f64>>> {
    arrive_with(walker, token, &mut Ones::new(1))
}

fn sent(outputs: &[Output<Vec<f64>>]) -> Vec<(Peer, Token<Vec<f64>>)> {
    let sent = |output: &Output<Vec<f64>>| match output {
        Output::Send { to, message: Message::Token(token) } => Some((to[0], token.clone())),
        _ => None,
    };
    outputs.iter().filter_map(sent).collect()
}

fn visits(outputs: &[Output<Vec<f64>>]) -> Vec<Visit> {
    let visit = |output: &Output<Vec<f64>>| match output {
        Output::Note(Note::Visited { visit, .. }) => Some(*visit),
        _ => None,
    };
    outputs.iter().filter_map(visit).collect()
}

#[test]
fn a_visit_relays_contributes_or_adds_noise() {
    let mut walker = walker();
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
    let (mut walker, mut means) = (walker(), Ones { budget: 1, ..Ones::new(1) });
    let stops = |outputs: &[Output<Vec<f64>>]| {
        outputs.iter().filter(|o| matches!(o, Output::Note(Note::Stopped(_)))).count()
    };
    assert_eq!(stops(&arrive_with(&mut walker, token(2), &mut means)), 0);
    let outputs = arrive_with(&mut walker, token(7), &mut means);
    assert_eq!((stops(&outputs), visits(&outputs)), (1, vec![Visit::NoiseOnly]));
    // The gradient step that was refused is forgotten: 1, and noise of 1.
    assert_eq!(sent(&outputs)[0].1.value, [2.0]);
    assert_eq!(stops(&arrive_with(&mut walker, token(8), &mut means)), 0);
}

#[test]
fn an_unanswered_token_is_sent_again_unchanged_and_then_elsewhere() {
    let mut walker = walker();
    let mut means = Ones::new(9);
    let first = sent(&arrive(&mut walker, token(5))).remove(0);
    let mut wait = |walker: &mut Plain, number| {
        walker.handle(Input::Timer(Timer { id: 0, number }), &mut means);
        drain(walker, &mut means)
    };
    assert_eq!(sent(&wait(&mut walker, 0)), std::slice::from_ref(&first));
    assert!(wait(&mut walker, 0).is_empty(), "an old timer");
    let outputs = wait(&mut walker, 1);
    let token_sent = first.1.sent();
    let rerouted = Note::Rerouted { token: token_sent, detour: (1, 0), silent: first.0 };
    assert_eq!((token_sent.epoch, token_sent.step), ((0, 0), 6));
    assert!(outputs.contains(&Output::Note(rerouted)));
    let (to, detour) = sent(&outputs).remove(0);
    assert!(to != first.0 && to != 0);
    assert_eq!((detour.epoch, &detour.value), ((1, 0), &first.1.value));
    // The older copy comes by: answered, and swallowed.
    let outputs = arrive(&mut walker, token(9));
    assert_eq!(outputs[0], Output::Send { to: vec![3], message: Message::Received(token(9).sent()) });
    assert!(sent(&outputs).is_empty());
    // An answer ends the waiting.
    let message = Message::Received(Sent { id: 0, epoch: (1, 0), step: 6 });
    walker.handle(Input::heard(to, message), &mut Ones::new(1));
    walker.handle(Input::Timer(Timer { id: 0, number: 2 }), &mut Ones::new(1));
    assert!(walker.poll().is_none());
}

/// Two copies may bring the same step to the same peer: their noises must differ, or the difference of the two would be naked.
#[test]
fn no_noise_is_used_twice() {
    let (mut walker, mut means) = (walker(), Ones::new(1));
    for epoch in 0..4 {
        arrive_with(&mut walker, Token { epoch: (epoch, 0), ..token(7) }, &mut means);
    }
    assert_eq!(means.draws, [0, 1, 2, 3]);
}

#[test]
fn where_nobody_answers_the_token_waits() {
    let mut walker = walker();
    arrive(&mut walker, token(5));
    let mut stranded = 0;
    for number in 0..40 {
        let mut means = Ones::new(number);
        walker.handle(Input::Timer(Timer { id: 0, number }), &mut means);
        let outputs = drain(&mut walker, &mut means);
        stranded += outputs.iter().filter(|o| matches!(o, Output::Note(Note::Stranded { .. }))).count();
    }
    assert!(stranded >= 2);
}

#[test]
fn copies_of_the_network_and_nonsense_change_nothing() {
    let mut walker = walker();
    assert_eq!(sent(&arrive(&mut walker, token(5))).len(), 1);
    assert!(sent(&arrive(&mut walker, token(5))).is_empty());
    let mut refused = |from, token, reason| {
        let before = walker.state();
        walker.handle(Input::heard(from, Message::Token(token)), &mut Ones::new(1));
        let outputs: Vec<_> = std::iter::from_fn(|| walker.poll()).collect();
        assert_eq!(outputs, [Output::Note(Note::Refused { from, reason })]);
        assert_eq!(walker.state(), before);
    };
    refused(3, Token { value: vec![f64::INFINITY], ..token(8) }, Refusal::NotFinite);
    refused(3, Token { value: vec![1.0, 2.0], ..token(8) }, Refusal::Shape);
    refused(3, token(50), Refusal::Impossible);
    refused(3, token(0), Refusal::Impossible);
    refused(3, Token { id: 1, ..token(8) }, Refusal::Impossible);
    refused(3, Token { epoch: (usize::MAX, 0), ..token(8) }, Refusal::Impossible);
    refused(5, token(8), Refusal::Stranger);
    refused(0, token(8), Refusal::Stranger);
}

/// A gradient comes back late: what was asked for an older copy is of no use, and nothing is counted twice.
#[test]
fn a_newer_copy_takes_the_place_of_one_that_is_being_computed() {
    let (mut walker, mut means) = (walker(), Ones::new(1));
    walker.handle(Input::heard(3, Message::Token(token(5))), &mut means);
    walker.handle(Input::heard(2, Message::Token(Token { epoch: (1, 4), ..token(5) })), &mut means);
    let tickets: Vec<u64> = std::iter::from_fn(|| walker.poll())
        .filter_map(|output| if let Output::Compute { ticket, .. } = output { Some(ticket) } else { None })
        .collect();
    assert_eq!(tickets, [0, 1]);
    for ticket in [0, 1, 1, 7] {
        walker.handle(Input::Computed { ticket, value: vec![0.0] }, &mut means);
    }
    assert_eq!((walker.contributions(), means.draws.len()), (1, 1));
    assert_eq!(sent(&drain(&mut walker, &mut means)).len(), 1);
}

#[test]
fn a_state_of_another_run_is_refused() {
    let mut first = walker();
    arrive(&mut first, token(5));
    let (mut short, mut alone) = (walker(), walker());
    short.course.steps = 6;
    alone.host = Host::new(0, Transition::new([(0, 1.0)]));
    for (other, words) in [(&mut short, "`token` is 0 at step 6"), (&mut alone, "`neighbour` is ")] {
        let error = other.resume(first.state()).unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
    }
    let mut same = walker();
    same.resume(first.state()).unwrap();
    assert_eq!(same.state(), first.state());
}

#[test]
fn the_last_step_ends_the_walk() {
    let mut walker = walker();
    let outputs = arrive(&mut walker, token(49));
    let end = Token { id: 0, epoch: (0, 0), step: 50, value: vec![1.0 - 5.0 + 1.0] };
    assert_eq!(outputs.last(), Some(&Output::Note(Note::Finished(end.sent()))));
    assert_eq!(walker.finished(0), Some(&end));
}

#[test]
fn an_older_copy_is_not_sent_another_way_once_a_newer_has_come() {
    let (mut walker, mut means) = (walker(), Ones::new(1));
    let old = arrive_with(&mut walker, token(3), &mut means);
    let timer = old.iter().find_map(|output| match output {
        Output::Wait { timer, .. } => Some(*timer),
        _ => None,
    });
    // Nobody answers; a newer copy comes by, and ends here.
    let newer = Token { epoch: (4, 2), ..token(course().steps - 1) };
    assert_eq!(visits(&arrive_with(&mut walker, newer.clone(), &mut means)).len(), 1);
    for _ in 0..5 {
        walker.handle(Input::Timer(timer.unwrap()), &mut means);
        assert_eq!(drain(&mut walker, &mut means), []);
    }
    // So the newer one, told again because its answer was lost, is not visited twice.
    assert_eq!(visits(&arrive_with(&mut walker, newer, &mut means)), []);
}
