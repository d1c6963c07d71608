//! One agent by herself.

use std::sync::Arc;

use super::*;
use crate::personal::{Hidden, Warm};
use crate::{Chance, Law, Release, Uncovered};

/// Noise of 1 in every coordinate, a budget of so many releases, and a clock that always takes the same time.
struct Ones {
    budget: usize,
    laws: Vec<Law>,
}

impl Chance for Ones {
    fn bits(&mut self) -> u64 {
        1 << 63
    }
}

impl Means<Vec<f64>> for Ones {
    fn admit(&mut self, release: &Release) -> Result<(), Overspent> {
        self.laws.push(release.law);
        self.budget = self.budget.checked_sub(1).ok_or(Overspent { asked: 1.0, left: 0.0 })?;
        Ok(())
    }

    fn cover(&mut self, draw: u64, scale: f64, value: &mut Vec<f64>) -> Result<(), Uncovered> {
        self.cover_by(Law::Gaussian, draw, scale, value)
    }

    fn cover_by(&mut self, _: Law, _: u64, scale: f64, value: &mut Vec<f64>) -> Result<(), Uncovered> {
        value.iter_mut().for_each(|x| *x += scale);
        Ok(())
    }
}

fn means(budget: usize) -> Ones {
    Ones { budget, laws: Vec::new() }
}

const RULE: Rule = Rule { pull: 1.0, size: 0.5, ridge: 0.0 };

fn plan(updates: usize) -> Plan {
    let hidden = Hidden { law: Law::Laplace, sensitivity: 0.5, multipliers: Arc::from(vec![2.0; updates]) };
    Plan { rule: RULE, updates, hidden: Some(hidden), warm: None, repeats: 0, patience: None }
}

fn agent(plan: Plan) -> Agent {
    Agent::new(vec![(0, 1.0), (2, 3.0)], vec![0.0], plan)
}

fn drain(agent: &mut Agent) -> Vec<Output> {
    std::iter::from_fn(|| agent.poll()).collect()
}

fn said(count: u64, done: bool, x: f64) -> Message {
    Message::Model { count, done, model: vec![x] }
}

/// Wakes her and answers her question with this gradient.
fn wake(agent: &mut Agent, gradient: f64, means: &mut Ones) -> Vec<Output> {
    let tick = agent.at.ticks;
    agent.handle(Input::Timer(tick), means);
    let mut all = drain(agent);
    let asked = all.iter().find_map(|output| match output {
        Output::Compute { ticket, .. } => Some(*ticket),
        _ => None,
    });
    if let Some(ticket) = asked {
        agent.handle(Input::Computed { ticket, value: vec![gradient] }, means);
        all.extend(drain(agent));
    }
    all
}

fn sent(outputs: &[Output]) -> Vec<&Message> {
    let send = |output: &'_ Output| matches!(output, Output::Send { .. });
    let sends = outputs.iter().filter(|output| send(output));
    sends
        .filter_map(|output| if let Output::Send { message, .. } = output { Some(message) } else { None })
        .collect()
}

#[test]
fn a_wake_up_asks_covers_moves_and_tells() {
    let (mut agent, mut means) = (agent(plan(2)), means(9));
    agent.handle(Input::Command(Command::Begin), &mut means);
    agent.handle(Input::heard(0, said(1, false, 8.0)), &mut means);
    let outputs = wake(&mut agent, 3.0, &mut means);
    // Half of what she had, half of (a quarter of 8 less the gradient with noise 1).
    assert_eq!(sent(&outputs), [&said(1, false, 0.5 * (2.0 - 4.0))]);
    assert_eq!(means.laws, [Law::Laplace]);
    let release = Release::laplace(0.5, 1.0);
    assert!(outputs.contains(&Output::Release(release)));
    // Her last model says so, and then she sleeps for ever.
    let outputs = wake(&mut agent, 0.0, &mut means);
    assert!(matches!(sent(&outputs)[..], [Message::Model { count: 2, done: true, .. }]));
    assert!(outputs.contains(&Output::Note(Note::Done { overspent: None })));
    assert_eq!(wake(&mut agent, 0.0, &mut means), []);
    assert_eq!((agent.updates(), means.budget), (2, 7));
}

#[test]
fn a_spent_budget_ends_it_and_nothing_new_is_sent() {
    let (mut agent, mut means) = (agent(plan(5)), means(1));
    agent.handle(Input::Command(Command::Begin), &mut means);
    wake(&mut agent, 1.0, &mut means);
    let model = agent.model().to_vec();
    let outputs = wake(&mut agent, 100.0, &mut means);
    assert_eq!(agent.model(), model);
    let last = Message::Model { count: 2, done: true, model };
    assert_eq!(sent(&outputs), [&last]);
    assert!(outputs.iter().any(|output| matches!(output, Output::Note(Note::Done { overspent: Some(_) }))));
    assert!(agent.is_done() && agent.updates() == 1);
}

#[test]
fn what_is_no_number_is_never_released() {
    for gradient in [f64::NAN, f64::INFINITY] {
        let (mut agent, mut means) = (agent(plan(5)), means(9));
        agent.handle(Input::Command(Command::Begin), &mut means);
        let outputs = wake(&mut agent, gradient, &mut means);
        assert!(outputs.contains(&Output::Note(Note::Unhidden)));
        assert_eq!((agent.model(), means.budget), (&[0.0][..], 9));
    }
}

#[test]
fn strangers_wild_models_and_overtaken_ones_are_refused() {
    let (mut agent, mut means) = (agent(plan(5)), means(9));
    agent.handle(Input::Command(Command::Begin), &mut means);
    drain(&mut agent);
    agent.handle(Input::heard(0, said(4, false, 1.0)), &mut means);
    assert_eq!(drain(&mut agent), []);
    for (from, message, reason) in [
        (3, said(5, false, 1.0), Refusal::Stranger),
        (1, said(5, false, 1.0), Refusal::Stranger),
        (0, said(3, false, 1.0), Refusal::Late),
        (0, said(5, false, f64::NAN), Refusal::NotFinite),
        (0, said(u64::MAX, false, 1.0), Refusal::Impossible),
        (0, Message::Model { count: 5, done: false, model: vec![1.0, 2.0] }, Refusal::Shape),
    ] {
        agent.handle(Input::heard(from, message), &mut means);
        assert_eq!(drain(&mut agent), [Output::Note(Note::Refused { from, reason })]);
    }
    assert_eq!(agent.at.others[0].model, [1.0]);
}

#[test]
fn who_is_silent_is_left_out_and_taken_back() {
    let mut means = means(99);
    let mut agent =
        agent(Plan { patience: Some(2), rule: Rule { pull: 0.0, size: 1.0, ridge: 0.0 }, ..plan(50) });
    agent.handle(Input::Command(Command::Begin), &mut means);
    agent.handle(Input::heard(0, said(1, true, 8.0)), &mut means);
    agent.handle(Input::heard(2, said(1, false, 4.0)), &mut means);
    wake(&mut agent, 0.0, &mut means);
    wake(&mut agent, 0.0, &mut means);
    assert_eq!(agent.model(), [5.0]);
    let outputs = wake(&mut agent, 0.0, &mut means);
    // Who said that she is done stays for ever.
    assert!(outputs.contains(&Output::Note(Note::Left(2))));
    assert_eq!(agent.model(), [8.0]);
    agent.handle(Input::heard(2, said(2, false, 4.0)), &mut means);
    assert_eq!(drain(&mut agent), [Output::Note(Note::Came(2))]);
    wake(&mut agent, 0.0, &mut means);
    assert_eq!(agent.model(), [5.0]);
}

#[test]
fn a_newcomer_asks_and_begins_among_her_neighbours() {
    let (mut agent, mut means) = (agent(plan(5)), means(9));
    agent.handle(Input::Command(Command::Join), &mut means);
    assert_eq!(sent(&drain(&mut agent)), [&Message::Hello]);
    // Nobody has answered: she asks again, and releases nothing.
    assert_eq!(sent(&wake(&mut agent, 0.0, &mut means)), [&Message::Hello]);
    agent.handle(Input::heard(0, said(7, false, 2.0)), &mut means);
    agent.handle(Input::heard(2, said(0, false, 6.0)), &mut means);
    assert_eq!((agent.model(), means.budget), (&[5.0][..], 9));
    drain(&mut agent);
    // She is asked herself, and says where she is.
    agent.handle(Input::heard(2, Message::Hello), &mut means);
    assert_eq!(sent(&drain(&mut agent)), [&said(0, false, 5.0)]);
}

#[test]
fn a_warm_start_is_released_once_and_propagated() {
    let warm = Warm { release: Some(Release::radial(1.0, 0.25)), wakes: 2 };
    let (mut agent, mut means) = (agent(Plan { warm: Some(warm), ..plan(1) }), means(9));
    agent.handle(Input::Command(Command::Begin), &mut means);
    let outputs = drain(&mut agent);
    assert!(matches!(outputs[0], Output::Compute { ticket: 0, iteration: 0, .. }));
    // Not before it is there.
    assert!(sent(&wake(&mut agent, 0.0, &mut means)).is_empty());
    agent.handle(Input::Computed { ticket: 0, value: vec![4.0] }, &mut means);
    assert_eq!(sent(&drain(&mut agent)), [&said(1, false, 4.25)]);
    assert_eq!(means.laws, [Law::Radial]);
    // Halfway between her own model and her neighbours', who are at 0; without another release.
    let outputs = wake(&mut agent, 99.0, &mut means);
    assert_eq!(sent(&outputs), [&said(2, false, 2.125)]);
    wake(&mut agent, 99.0, &mut means);
    assert_eq!((means.budget, agent.updates()), (8, 0));
    wake(&mut agent, 0.0, &mut means);
    assert_eq!((means.budget, agent.updates(), agent.is_done()), (7, 1, true));
}

#[test]
fn what_is_lost_can_be_repeated() {
    let (mut agent, mut means) = (agent(Plan { repeats: 2, ..plan(1) }), means(9));
    agent.handle(Input::Command(Command::Begin), &mut means);
    wake(&mut agent, 1.0, &mut means);
    let model = agent.model().to_vec();
    let last = Message::Model { count: 1, done: true, model };
    assert_eq!(sent(&wake(&mut agent, 9.0, &mut means)), [&last]);
    assert_eq!(sent(&wake(&mut agent, 9.0, &mut means)), [&last]);
    assert_eq!(wake(&mut agent, 9.0, &mut means), []);
    assert_eq!(means.budget, 8);
}

#[test]
fn a_state_of_another_agent_is_refused() {
    let mut agent = agent(plan(2));
    let good = agent.state();
    let other = |change: &dyn Fn(&mut State)| {
        let mut state = good.clone();
        change(&mut state);
        state
    };
    for bad in [
        other(&|state| state.model.push(0.0)),
        other(&|state| state.others.truncate(1)),
        other(&|state| state.others[0].model = vec![f64::NAN]),
        other(&|state| state.updates = 3),
    ] {
        assert!(agent.resume(bad).is_err());
    }
    assert_eq!(agent.state(), good);
}
