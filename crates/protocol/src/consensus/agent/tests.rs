//! One agent by herself.

use sottovoce_privacy::Lots;

use super::*;
use crate::consensus::{At, Method, Optimiser, Rates, Rule};
use crate::{Chance, Overspent, Release, Uncovered};

/// Noise of one scale in every coordinate, and a budget of so many releases.
struct Ones(usize);

impl Chance for Ones {
    fn bits(&mut self) -> u64 {
        0
    }
}

impl Means<Shared> for Ones {
    fn admit(&mut self, _: &Release) -> Result<(), Overspent> {
        self.0 = self.0.checked_sub(1).ok_or(Overspent { asked: 1.0, left: 0.0 })?;
        Ok(())
    }

    fn cover(&mut self, draw: u64, scale: f64, value: &mut Shared) -> Result<(), Uncovered> {
        if !scale.is_finite() {
            return Err(Uncovered { draw, scale });
        }
        value.to_mut().iter_mut().for_each(|x| *x += scale as f32);
        Ok(())
    }
}

fn plan(method: Method, iterations: usize) -> Plan {
    Plan { method, iterations, rates: Rates::constant(0.5), optimiser: Optimiser::new(Rule::Sgd) }
}

/// Lots of two rows on average, clipped to 4: the noise of a draw is `2 * 4 / 2`.
fn hidden() -> Hidden {
    Hidden::new(Lots::of_size(8, 2.0).unwrap(), 4.0, 2.0)
}

fn vector(x: f32) -> Shared {
    Shared::from(vec![x])
}

fn agent(method: Method, iterations: usize) -> Agent {
    Agent::new(vec![(0, 0.25), (2, 0.5)], vector(1.0), plan(method, iterations), Some(hidden()))
}

fn told(round: usize, model: f32) -> Message {
    Message { round, said: Said { model: vector(model), tracker: None } }
}

fn drain(agent: &mut Agent) -> Vec<Output> {
    std::iter::from_fn(|| agent.poll()).collect()
}

/// Tells her what both neighbours say in a round.
fn tell(agent: &mut Agent, round: usize, means: &mut Ones) -> Vec<Output> {
    for (from, model) in [(0, 5.0), (2, 3.0)] {
        agent.handle(Input::heard(from, told(round, model)), means);
    }
    drain(agent)
}

fn asked(outputs: &[Output]) -> Vec<(u64, f32)> {
    let ask = |output: &Output| match output {
        Output::Compute { ticket, value, .. } => Some((*ticket, value[0])),
        _ => None,
    };
    outputs.iter().filter_map(ask).collect()
}

const DSGD: Method = Method::Dsgd { at: At::Own };

#[test]
fn a_round_is_told_heard_computed_covered_and_stepped() {
    let (mut agent, mut means) = (agent(DSGD, 2), Ones(9));
    agent.handle(Input::Command(Start), &mut means);
    let outputs = drain(&mut agent);
    assert_eq!(outputs[0], Output::Send { to: vec![0, 2], message: told(0, 1.0) });
    let outputs = tell(&mut agent, 0, &mut means);
    assert_eq!(asked(&outputs), [(0, 1.0)]);
    agent.handle(Input::Computed { ticket: 0, value: vector(2.0) }, &mut means);
    let outputs = drain(&mut agent);
    assert_eq!(outputs[0], Output::Release(Release::gaussian(2.0, 4.0).sampled(0.25)));
    // One and a quarter of four and a half of two, less half of the gradient 2 and its noise 4.
    assert_eq!(agent.model()[0], 1.0 + 1.0 + 1.0 - 0.5 * 6.0);
    assert_eq!((agent.draws(), means.0), (1, 8));
    assert_eq!(outputs[1], Output::Send { to: vec![0, 2], message: told(1, 0.0) });
}

#[test]
fn the_mixed_model_is_where_it_is_wanted() {
    let (mut agent, mut means) = (agent(Method::Dsgd { at: At::Mixed }, 2), Ones(9));
    agent.handle(Input::Command(Start), &mut means);
    assert_eq!(asked(&tell(&mut agent, 0, &mut means)), [(0, 3.0)]);
}

#[test]
fn every_primal_step_is_a_draw() {
    let dinno = Method::Dinno { primal: 2, rho: 0.5, growth: 1.0 };
    let (mut agent, mut means) = (agent(dinno, 1), Ones(9));
    agent.handle(Input::Command(Start), &mut means);
    assert_eq!(asked(&tell(&mut agent, 0, &mut means)), [(0, 1.0)]);
    agent.handle(Input::Computed { ticket: 0, value: vector(-4.0) }, &mut means);
    // S = -6, so y = -3 and the pull is -6: half of it, and the gradient is hidden by just as much noise.
    assert_eq!(asked(&drain(&mut agent)), [(1, 4.0)]);
    agent.handle(Input::Computed { ticket: 1, value: vector(-4.0) }, &mut means);
    // Two neighbours pull back by 2 rho each for every unit moved: 2 * 3 = 6 in all, which is the pull.
    assert_eq!((agent.model()[0], agent.draws(), means.0), (4.0, 2, 7));
    assert!(drain(&mut agent).contains(&Output::Note(Note::Finished)));
}

#[test]
fn a_spent_budget_leaves_her_without_a_gradient_and_she_goes_on() {
    let (mut agent, mut means) = (agent(DSGD, 3), Ones(1));
    agent.handle(Input::Command(Start), &mut means);
    tell(&mut agent, 0, &mut means);
    agent.handle(Input::Computed { ticket: 0, value: vector(2.0) }, &mut means);
    tell(&mut agent, 1, &mut means);
    agent.handle(Input::Computed { ticket: 1, value: vector(1e9) }, &mut means);
    let outputs = drain(&mut agent);
    assert!(matches!(outputs[0], Output::Note(Note::Stopped(_))));
    assert_eq!(agent.model()[0], 0.25 * 5.0 + 0.5 * 3.0);
    // Nothing more is asked.
    assert_eq!(asked(&tell(&mut agent, 2, &mut means)), []);
    assert_eq!(agent.draws(), 1);
}

#[test]
fn what_is_no_number_is_never_released_and_nothing_is_said_thereafter() {
    let wide = vec![0.0; 3].into();
    for gradient in [vector(f32::NAN), vector(f32::INFINITY), wide] {
        let (mut agent, mut means) = (agent(DSGD, 3), Ones(9));
        agent.handle(Input::Command(Start), &mut means);
        tell(&mut agent, 0, &mut means);
        agent.handle(Input::Computed { ticket: 0, value: gradient }, &mut means);
        assert_eq!(drain(&mut agent), [Output::Note(Note::Unhidden)]);
        assert_eq!(means.0, 9);
    }
    let (mut agent, mut means) = (agent(DSGD, 3), Ones(9));
    agent.handle(Input::Command(Start), &mut means);
    tell(&mut agent, 0, &mut means);
    // An answer to another question is none.
    agent.handle(Input::Computed { ticket: 7, value: vector(1.0) }, &mut means);
    assert_eq!(drain(&mut agent), []);
    agent.handle(Input::Computed { ticket: 0, value: vector(f32::MAX) }, &mut means);
    agent.handle(Input::heard(0, told(1, -f32::MAX)), &mut means);
    agent.handle(Input::heard(2, told(1, -f32::MAX)), &mut means);
    drain(&mut agent);
    agent.handle(Input::Computed { ticket: 1, value: vector(f32::MAX) }, &mut means);
    agent.handle(Input::heard(0, told(2, f32::MAX)), &mut means);
    agent.handle(Input::heard(2, told(2, f32::MAX)), &mut means);
    assert!(drain(&mut agent).contains(&Output::Note(Note::Diverged { round: 1 })));
}

#[test]
fn strangers_repetitions_and_impossible_steps_are_refused() {
    let (mut agent, mut means) = (agent(DSGD, 9), Ones(9));
    agent.handle(Input::Command(Start), &mut means);
    agent.handle(Input::heard(0, told(0, 5.0)), &mut means);
    drain(&mut agent);
    let two = Message { round: 1, said: Said { model: vector(1.0), tracker: Some(vector(1.0)) } };
    let wide = Message { round: 1, said: Said { model: vec![0.0; 2].into(), tracker: None } };
    for (from, message, reason) in [
        (1, told(0, 1.0), Refusal::Stranger),
        (0, told(0, 1.0), Refusal::Late),
        (0, told(9, 1.0), Refusal::Impossible),
        (0, told(5, 1.0), Refusal::Flood),
        (2, two, Refusal::Shape),
        (2, wide, Refusal::Shape),
        (2, told(0, f32::NAN), Refusal::NotFinite),
    ] {
        agent.handle(Input::heard(from, message), &mut means);
        assert_eq!(drain(&mut agent), [Output::Note(Note::Refused { from, reason })]);
    }
    // While she computes, the round is closed.
    agent.handle(Input::heard(2, told(0, 1.0)), &mut means);
    agent.handle(Input::heard(2, told(0, 1.0)), &mut means);
    let last = drain(&mut agent).pop().unwrap();
    assert_eq!(last, Output::Note(Note::Refused { from: 2, reason: Refusal::Late }));
}

#[test]
fn who_is_silent_is_left_out_of_the_round() {
    let (mut agent, mut means) = (agent(DSGD, 2), Ones(9));
    agent.handle(Input::Command(Start), &mut means);
    agent.handle(Input::heard(0, told(0, 5.0)), &mut means);
    drain(&mut agent);
    agent.handle(Input::Timer(Round(1)), &mut means);
    assert_eq!(drain(&mut agent), []);
    agent.handle(Input::Timer(Round(0)), &mut means);
    let outputs = drain(&mut agent);
    assert_eq!(outputs[0], Output::Note(Note::Missed { round: 0, from: 2 }));
    agent.handle(Input::Computed { ticket: 0, value: vector(-4.0) }, &mut means);
    assert_eq!(agent.model()[0], 2.0);
}

#[test]
fn without_rows_nothing_is_asked_and_without_neighbours_nobody_is_told() {
    let mut alone = Agent::new(Vec::new(), vector(1.0), plan(DSGD, 1000), None);
    alone.handle(Input::Command(Start), &mut Ones(0));
    assert_eq!(drain(&mut alone), [Output::Note(Note::Finished)]);
}

#[test]
fn a_state_of_another_run_is_refused() {
    let mut agent = agent(Method::Dsgt, 3);
    let good = agent.state();
    let other = |change: &dyn Fn(&mut State)| {
        let mut state = good.clone();
        change(&mut state);
        state
    };
    let mail = |round: usize, from: Peer, message: Message| {
        BTreeMap::from([(round, BTreeMap::from([(from, Arc::new(message))]))])
    };
    for bad in [
        other(&|state| state.round = 4),
        other(&|state| state.learner = Learner::new(DSGD, vector(1.0))),
        other(&|state| state.learner = Learner::new(Method::Dsgt, vec![0.0; 2].into())),
        other(&|state| state.inbox = mail(0, 1, told(0, 1.0))),
        other(&|state| state.inbox = mail(0, 2, told(0, 1.0))),
        other(&|state| state.inbox = mail(7, 2, told(7, 1.0))),
    ] {
        assert!(agent.resume(bad).is_err());
    }
    assert_eq!(agent.state(), good);
    // Draws of somebody with rows.
    let mut drawn = self::agent(DSGD, 3);
    drawn.handle(Input::Command(Start), &mut Ones(9));
    tell(&mut drawn, 0, &mut Ones(9));
    drawn.handle(Input::Computed { ticket: 0, value: vector(2.0) }, &mut Ones(9));
    let mut without = Agent::new(vec![(0, 0.25), (2, 0.5)], vector(1.0), plan(DSGD, 3), None);
    assert!(without.resume(drawn.state()).is_err());
}
