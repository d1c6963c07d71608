//! A teller and those who tell it.

use super::*;
use std::collections::BTreeSet;

use crate::rumor::Muting;
use crate::rumor::tests::Weyl;

fn rules(s: f64) -> RumorRules {
    let muting = Muting::new(s).unwrap();
    RumorRules { muting, clock: Clock::Rounds, start: Start::Alike, acknowledged: false }
}

fn drain(teller: &mut Teller) -> Vec<Output> {
    std::iter::from_fn(|| teller.poll()).collect()
}

fn told(id: Id, number: u64) -> Input {
    Input::heard(1, Message::Tell { told: Told { id, number, attempt: 0 }, payload: vec![9] })
}

/// To whom, and the names of the tellings.
fn sent(outputs: &[Output]) -> Vec<(Peer, u64)> {
    let to = |output: &Output| match output {
        Output::Send { to, message: Message::Tell { told, .. } } => Some((to[0], told.number)),
        _ => None,
    };
    outputs.iter().filter_map(to).collect()
}

#[test]
fn a_rumour_is_learned_once_and_told_again_after_every_telling() {
    let (mut teller, mut chance) = (Teller::new(0, vec![1, 2], rules(0.0)), Weyl(1));
    teller.handle(told(5, 1), &mut chance);
    assert!(drain(&mut teller).contains(&Output::Note(Note::Learned { id: 5 })));
    teller.handle(Input::Timer(Tick { id: 5, tick: 0 }), &mut chance);
    assert_eq!(sent(&drain(&mut teller)).len(), 1);
    assert!(!teller.is_active(5));
    // The same telling again changes nothing; another makes it active.
    teller.handle(told(5, 1), &mut chance);
    assert!(!teller.is_active(5) && drain(&mut teller).is_empty());
    teller.handle(told(5, 2), &mut chance);
    assert!(teller.is_active(5));
    assert_eq!(
        drain(&mut teller),
        [Output::Wait { timer: Tick { id: 5, tick: 1 }, span: Span::Periods(1.0) }]
    );
}

#[test]
fn a_tick_of_the_past_says_nothing() {
    let (mut teller, mut chance) = (Teller::new(0, vec![1], rules(0.0)), Weyl(1));
    teller.handle(told(5, 1), &mut chance);
    teller.handle(Input::Timer(Tick { id: 5, tick: 0 }), &mut chance);
    teller.handle(told(5, 2), &mut chance);
    drain(&mut teller);
    for stale in [Input::Timer(Tick { id: 5, tick: 0 }), Input::Timer(Tick { id: 6, tick: 0 })] {
        teller.handle(stale, &mut chance);
        assert!(drain(&mut teller).is_empty());
    }
}

#[test]
fn an_unheard_telling_is_repeated_to_the_same_peer_until_it_is_heard() {
    let acknowledged = RumorRules { acknowledged: true, ..rules(0.0) };
    let (mut teller, mut chance) = (Teller::new(0, (1..50).collect(), acknowledged), Weyl(1));
    teller.handle(Input::Command(Begin { id: 5, payload: vec![] }), &mut chance);
    let mut tellings = BTreeSet::new();
    for tick in 0..20 {
        teller.handle(Input::Timer(Tick { id: 5, tick }), &mut chance);
        tellings.extend(sent(&drain(&mut teller)));
    }
    assert!(tellings.len() == 1 && teller.is_active(5));
    let (target, name) = *tellings.first().unwrap();
    let heard = |from, number| Input::heard(from, Message::Heard(Told { id: 5, number, attempt: 3 }));
    for (from, number) in [(target, name + 1), (target + 1, name)] {
        teller.handle(heard(from, number), &mut chance);
        assert!(teller.is_active(5), "that was no answer to this telling");
    }
    teller.handle(heard(target, name), &mut chance);
    assert!(!teller.is_active(5));
}

/// Who was told after the attempt that arrived had fallen silent before, and is active again; who was told before it is not.
#[test]
fn what_was_told_meanwhile_counts_from_the_attempt_that_arrived() {
    for (arrived, active) in [(0, true), (1, true), (2, false)] {
        let acknowledged = RumorRules { acknowledged: true, ..rules(0.0) };
        let (mut teller, mut chance) = (Teller::new(0, vec![1, 2], acknowledged), Weyl(1));
        teller.handle(Input::Command(Begin { id: 5, payload: vec![] }), &mut chance);
        for tick in 0..2 {
            teller.handle(Input::Timer(Tick { id: 5, tick }), &mut chance);
        }
        teller.handle(told(5, 1), &mut chance);
        teller.handle(Input::Timer(Tick { id: 5, tick: 2 }), &mut chance);
        let (target, number) = sent(&drain(&mut teller))[0];
        let message = Message::Heard(Told { id: 5, number, attempt: arrived });
        teller.handle(Input::heard(target, message), &mut chance);
        assert_eq!(teller.is_active(5), active, "attempt {arrived}");
    }
}

#[test]
fn whoever_is_told_answers() {
    let acknowledged = RumorRules { acknowledged: true, ..rules(0.5) };
    let (mut teller, mut chance) = (Teller::in_crowd(0, 4, acknowledged), Weyl(1));
    for _ in 0..2 {
        teller.handle(told(5, 3), &mut chance);
        let answer =
            Output::Send { to: vec![1], message: Message::Heard(Told { id: 5, number: 3, attempt: 0 }) };
        assert!(drain(&mut teller).contains(&answer));
    }
}

#[test]
fn a_delayed_source_speaks_once() {
    let delayed = RumorRules { start: Start::Delayed, ..rules(1.0) };
    let (mut teller, mut chance) = (Teller::new(0, vec![1, 2], delayed), Weyl(1));
    teller.handle(Input::Command(Begin { id: 5, payload: vec![] }), &mut chance);
    teller.handle(Input::Timer(Tick { id: 5, tick: 0 }), &mut chance);
    assert!(!teller.is_active(5));
    // Told by others it goes on like them.
    teller.handle(told(5, 1), &mut chance);
    teller.handle(Input::Timer(Tick { id: 5, tick: 1 }), &mut chance);
    assert!(teller.is_active(5));
}

#[test]
fn who_tells_itself_stays_active_and_sends_nothing() {
    let (mut teller, mut chance) = (Teller::in_crowd(0, 1, rules(0.0)), Weyl(1));
    teller.handle(Input::Command(Begin { id: 5, payload: vec![] }), &mut chance);
    drain(&mut teller);
    teller.handle(Input::Timer(Tick { id: 5, tick: 0 }), &mut chance);
    assert!(teller.is_active(5));
    assert_eq!(
        drain(&mut teller),
        [Output::Wait { timer: Tick { id: 5, tick: 1 }, span: Span::Periods(1.0) }]
    );
}

#[test]
fn strangers_are_refused_and_no_flood_is_kept() {
    let (mut teller, mut chance) = (Teller::new(0, vec![1, 2], rules(0.5)), Weyl(1));
    let tell =
        |id, number, payload: Vec<u8>| Message::Tell { told: Told { id, number, attempt: 0 }, payload };
    let refused = |teller: &mut Teller, from, message, reason| {
        let before = teller.state();
        teller.handle(Input::heard(from, message), &mut Weyl(1));
        assert_eq!(drain(teller), [Output::Note(Note::Refused { from, reason })]);
        assert_eq!(teller.state(), before);
    };
    refused(&mut teller, 3, tell(5, 1, vec![]), Refusal::Stranger);
    refused(&mut teller, 1, tell(5, 1, vec![0; LONGEST + 1]), Refusal::Shape);
    for id in 0..MOST_RUMORS as Id {
        teller.handle(Input::heard(1, tell(id, id, vec![])), &mut chance);
    }
    drain(&mut teller);
    refused(&mut teller, 1, tell(MOST_RUMORS as Id, 1, vec![]), Refusal::Flood);
}

#[test]
fn each_sender_s_last_tellings_are_remembered_and_no_more() {
    let (mut teller, mut chance) = (Teller::new(0, vec![1, 2], rules(0.0)), Weyl(1));
    let tell = |from, number| {
        Input::heard(from, Message::Tell { told: Told { id: 5, number, attempt: 0 }, payload: vec![] })
    };
    teller.handle(tell(2, 7), &mut chance);
    for number in 0..10_000 {
        teller.handle(tell(1, number), &mut chance);
    }
    let kept: usize = teller.at.rumors[&5].heard.values().map(VecDeque::len).sum();
    assert_eq!(kept, REMEMBERED + 1);
    let tick = teller.at.rumors[&5].ticks - 1;
    teller.handle(Input::Timer(Tick { id: 5, tick }), &mut chance);
    assert!(!teller.is_active(5));
    // What another sender said does not make it forget; nor is the last of the many another telling.
    teller.handle(tell(2, 7), &mut chance);
    teller.handle(tell(1, 9_999), &mut chance);
    assert!(!teller.is_active(5));
    teller.handle(tell(1, 10_000), &mut chance);
    assert!(teller.is_active(5));
}

#[test]
fn a_state_of_another_run_is_refused() {
    let (mut teller, mut chance) = (Teller::new(0, vec![1, 2], rules(0.0)), Weyl(1));
    teller.handle(told(5, 1), &mut chance);
    let mut other = Teller::new(0, vec![2], rules(0.0));
    let error = other.resume(teller.state()).unwrap_err();
    assert!(error.to_string().starts_with("`rumors` is rumour 5 with peer 1"), "{error}");
    assert!(!other.knows(5));
}
