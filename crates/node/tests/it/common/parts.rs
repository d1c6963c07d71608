//! Peers of one agreement, whatever the protocol, in one process: from their files to their results.

use std::path::Path;

use sottovoce_node::memory::Rehearsal;
use sottovoce_node::transcript::{Transcript, together};
use sottovoce_node::{
    Agreement, Allowed, Holding, Key, Ledger, Observer, Part, Price, Priced, Signatures, Stands,
};
use sottovoce_privacy::{Loss, Unit};
use sottovoce_protocol::{Machine, Peer};

pub(crate) const ALLOWED: Allowed = Allowed { epsilon: 1e6, delta: 1e-6, chances: 0.5 };

pub(crate) fn key(peer: Peer) -> Key {
    Key::simulated(100 + peer as u64)
}

/// The text of an agreement among so many peers, with these fields before the table of the experiment.
pub(crate) fn text(peers: usize, fields: &str, experiment: &str) -> String {
    let member = |i: usize| {
        format!("[[peers]]\nname = 'p{i}'\nkey = '{}'\naddress = '127.0.0.1:{}'\n", key(i).name(), 4000 + i)
    };
    let members: String = (0..peers).map(member).collect();
    let edges = if fields.contains("edges") { "" } else { "edges = 'complete'\n" };
    format!("version = 1\nname = 'run'\nnonce = '1'\n{edges}{fields}\n{members}[experiment]\n{experiment}")
}

pub(crate) fn agreement(peers: usize, fields: &str, experiment: &str) -> Agreement {
    Agreement::parse(&text(peers, fields, experiment)).unwrap()
}

/// A ledger with these budgets towards everybody whom a part knows.
pub(crate) fn ledger(part: &impl Priced, peer: Peer, folder: &Path, allowed: Allowed) -> Ledger {
    let path = folder.join(format!("{peer}.ledger"));
    Ledger::create(&path, key(peer)).unwrap();
    let mut ledger = Ledger::open(&path, key(peer)).unwrap();
    for observer in part.observers() {
        let all = Allowed { chances: 1.0, ..allowed };
        let allowed = if observer == Observer::WireTapper { all } else { allowed };
        ledger.declare("data", &observer, allowed).unwrap();
    }
    ledger
}

/// Files of these contents, one for each peer.
pub(crate) fn holdings(folder: &Path, contents: &[String], ending: &str) -> Vec<Holding> {
    let one = |(peer, content): (usize, &String)| {
        let path = folder.join(format!("{peer}.{ending}"));
        std::fs::write(&path, content).unwrap();
        Holding::of("data", &path).unwrap()
    };
    contents.iter().enumerate().map(one).collect()
}

/// Runs peers until nothing is under way, or so many events have happened.
pub(crate) fn rehearse<P: Part>(
    parts: &[P],
    holdings: &[Holding],
    folder: &Path,
    events: usize,
) -> Rehearsal<P::Machine, P::Noise>
where
    <P::Machine as Machine>::Value: 'static,
{
    rehearse_with(parts, holdings, folder, events, |_, _| {})
}

/// The same, with something done to everybody's ledger before.
pub(crate) fn rehearse_with<P: Part>(
    parts: &[P],
    holdings: &[Holding],
    folder: &Path,
    events: usize,
    prepare: impl Fn(Peer, &mut Ledger),
) -> Rehearsal<P::Machine, P::Noise>
where
    <P::Machine as Machine>::Value: 'static,
{
    let mut steps: Vec<_> = parts.iter().zip(holdings).map(|(part, own)| part.steps(own).unwrap()).collect();
    let mut rehearsal = Rehearsal::new(parts.len(), move |peer: Peer, step, size, value: &mut _| {
        steps[peer](step, size, value).unwrap();
    });
    for (peer, (part, own)) in parts.iter().zip(holdings).enumerate() {
        let mut ledger = ledger(part, peer, folder, ALLOWED);
        prepare(peer, &mut ledger);
        let opened = part.open(ledger, own).unwrap();
        rehearsal.arrive(peer, opened).unwrap();
    }
    for _ in 0..events {
        let done = rehearsal.advance();
        for (peer, part) in parts.iter().enumerate() {
            if rehearsal.host(peer).is_some_and(|host| host.is_ready() && !host.has_begun()) {
                let cost = part.cost(&[]).unwrap();
                let begun = rehearsal.with(peer, |host| match part.begin() {
                    Some(command) => host.command(command, &cost),
                    None => host.pay(&cost),
                });
                begun.unwrap();
            }
        }
        match done {
            None => break,
            Some(done) => done.unwrap(),
        }
    }
    rehearsal
}

/// How it stands at everybody's.
pub(crate) fn stands<P: Part>(parts: &[P], rehearsal: &mut Rehearsal<P::Machine, P::Noise>) -> Vec<Stands> {
    let one = |(peer, part): (usize, &P)| part.stands(rehearsal.host(peer).unwrap().machine()).unwrap();
    parts.iter().enumerate().map(one).collect()
}

/// What a run costs towards an observer.
pub(crate) fn price(part: &impl Priced, observer: &Observer) -> Price {
    let cost = part.cost(&[]).unwrap();
    cost.prices.into_iter().find(|(known, _)| known == observer).unwrap().1
}

/// The same in concentrated terms.
pub(crate) fn rho(part: &impl Priced, observer: &Observer) -> f64 {
    match price(part, observer).loss {
        Some(Loss::Zcdp(rho)) => rho,
        other => panic!("{other:?}"),
    }
}

pub(crate) fn peer(peer: Peer) -> Observer {
    Observer::Peer(key(peer).name())
}

/// What was debited is what is to be paid, at everybody's and towards everybody; and no more was released than that.
pub(crate) fn check_debits<P: Part>(parts: &[P], rehearsal: &mut Rehearsal<P::Machine, P::Noise>) {
    for (peer, part) in parts.iter().enumerate() {
        let cost = part.cost(&[]).unwrap();
        let host = rehearsal.host(peer).unwrap();
        let run = host.ledger().runs().unwrap()[0];
        let records = host.ledger().records(run).unwrap();
        let debited: Vec<_> = records.iter().filter_map(|record| record.cost.clone()).collect();
        assert_eq!(debited, std::slice::from_ref(&cost), "debited once, before anything else");
        assert!(records[0].cost.is_some() || records.iter().all(|record| record.releases.is_empty()));
        for record in &records {
            assert!(record.covered.len() >= record.releases.len(), "a release without noise");
        }
        let released: usize = records.iter().map(|record| record.releases.len()).sum();
        let paid: u64 = cost.releases.iter().map(|(_, times)| times).sum();
        assert!(released as u64 <= paid, "{released} of {paid}");
        // All have the same budget, and so the same order, at which a concentrated loss costs so many times as much.
        let mut orders = Vec::new();
        for (observer, _, loss, chances) in host.ledger().spent("data").unwrap() {
            let price = price(part, &observer);
            match price.loss {
                Some(Loss::Zcdp(rho)) => orders.push(loss / rho),
                None => assert_eq!(loss, 0.0, "{observer}"),
                other => panic!("{other:?}"),
            }
            let known = if price.delta < 1.0 { price.delta } else { 1.0 };
            assert!(chances >= known && chances <= known * (1.0 + 1e-9), "{observer}: {chances} {known}");
        }
        assert!(
            orders.iter().all(|order| *order > 1.0 && (order / orders[0] - 1.0).abs() < 1e-9),
            "{orders:?}"
        );
    }
}

/// Everybody has signed.
pub(crate) fn signatures(agreement: &Agreement) -> Signatures {
    let sign = |peer: Peer| {
        let signature = agreement.sign(&key(peer)).unwrap();
        (key(peer).name().to_string(), signature.iter().map(|byte| format!("{byte:02x}")).collect())
    };
    Signatures { signed: (0..agreement.peers.len()).map(sign).collect() }
}

/// Everybody's record as a file: it stands, and says of everybody who learns what, as was debited.
pub(crate) fn check_transcripts<P: Part>(
    agreement: &Agreement,
    rehearsal: &mut Rehearsal<P::Machine, P::Noise>,
    unit: Unit,
) {
    let signatures = signatures(agreement);
    let mut files = Vec::new();
    for peer in 0..agreement.peers.len() {
        let ledger = rehearsal.host(peer).unwrap().ledger();
        let file = Transcript::of(ledger, agreement, &signatures).unwrap().to_json().unwrap();
        let read = Transcript::parse(&file).unwrap();
        let judged = read.judge().unwrap();
        assert!(judged.problems.is_empty(), "{:?}", judged.problems);
        assert!(judged.learnt.len() >= agreement.peers.len());
        for one in &judged.learnt {
            let guarantee = one.guarantee.as_ref().unwrap();
            assert!(guarantee.unit == unit && guarantee.standing.is_reliable(), "{guarantee:?}");
            assert!(one.epsilon > 0.0 && (one.epsilon / one.debited - 1.0).abs() < 1e-12, "{one:?}");
        }
        files.push(read);
    }
    let all = together(&files, &vec![false; files.len()]).unwrap();
    assert!(all.problems.is_empty() && all.matched > 0, "{all:?}");
}
