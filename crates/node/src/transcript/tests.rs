//! Owners who lie: they sign what they like, and are found out all the same.

use sottovoce_protocol::averaging::{Note, Round, Start};
use sottovoce_protocol::{Peer, Release};

use super::*;
use crate::averaging::Prepared;
use crate::memory::Rehearsal;
use crate::part::Priced;
use crate::{Head, Price, Receipt};

const PEERS: usize = 4;
const ALLOWED: Allowed = Allowed { epsilon: 50.0, delta: 1e-6, chances: 0.0 };

fn key(peer: Peer) -> Key {
    Key::simulated(100 + peer as u64)
}

/// A run of peers who all hear each other, three rounds with fresh noise; everybody's file.
fn files() -> Vec<Transcript> {
    let experiment = "[experiment]\nexperiment = 'averaging'\nprotocol = { method = 'gossip', steps = 3 }\nnoise = { sigma = 0.5, relay-noise = 0.5 }";
    let text = crate::agreement::tests::text(PEERS as u64, experiment);
    let text = text.replace(&format!("{}", 2f64.powi(-34)), &format!("{}", 2f64.powi(-30)));
    let agreement = Agreement::parse(&text).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = |peer: Peer| folder.path().join(format!("{peer}"));
    let mut rehearsal = Rehearsal::new(PEERS, |_, _, _, _| ());
    let parts: Vec<Prepared> = (0..PEERS).map(|peer| Prepared::new(&agreement, peer).unwrap()).collect();
    for (peer, part) in parts.iter().enumerate() {
        Ledger::create(&path(peer), key(peer)).unwrap();
        let mut ledger = Ledger::open(&path(peer), key(peer)).unwrap();
        for observer in part.observers() {
            ledger.declare("values", &observer, ALLOWED).unwrap();
        }
        rehearsal
            .arrive(peer, part.on_grid(ledger, &[0.5], "values", Hash::of(&[peer as u8])).unwrap())
            .unwrap();
    }
    while let Some(done) = rehearsal.advance() {
        done.unwrap();
        for (peer, part) in parts.iter().enumerate() {
            if rehearsal.host(peer).is_some_and(|host| host.is_ready() && !host.has_begun()) {
                let cost = part.cost(&[]).unwrap();
                rehearsal.with(peer, |host| host.command(Start, &cost)).unwrap();
            }
        }
    }
    let mut signatures = Signatures::default();
    for peer in 0..PEERS {
        let signature = agreement.sign(&key(peer)).unwrap();
        signatures.add(&folder.path().join("signed"), &key(peer).name(), &signature).unwrap();
    }
    drop(rehearsal);
    let file = |peer| {
        let ledger = Ledger::open(&path(peer), key(peer)).unwrap();
        Transcript::of(&ledger, &agreement, &signatures).unwrap()
    };
    (0..PEERS).map(file).collect()
}

fn read(file: &Transcript) -> Read {
    Transcript::parse(&file.to_json().unwrap()).unwrap()
}

/// Puts records into a file as its owner would: the chain, all signatures and the summary fit.
fn with(file: &Transcript, records: &[Record]) -> Transcript {
    let mut before: Option<Head> = None;
    let mut shown = Vec::new();
    for record in records {
        let before = before.get_or_insert(record.before);
        let signed = Record { before: *before, ..record.clone() }.sign(&key(file.peer)).unwrap();
        *before = signed.link.head();
        shown.push(Shown::Whole(signed));
    }
    shows(file, &shown)
}

fn shows(file: &Transcript, shown: &[Shown]) -> Transcript {
    let agreement = Agreement::parse(&file.agreement).unwrap();
    let whole = |shown: &Shown| match shown {
        Shown::Whole(signed) => Some(postcard::from_bytes(&signed.bytes).unwrap()),
        Shown::Withheld(_) => None,
    };
    let records: Vec<Record> = shown.iter().filter_map(whole).collect();
    let role = agreement.role(file.peer).unwrap();
    let changed = Transcript {
        records: shown.iter().map(|one| to_hex(&postcard::to_stdvec(one).unwrap())).collect(),
        summary: Summary::of(&agreement, role.as_ref(), &records).unwrap(),
        ..file.clone()
    };
    changed.sign(&key(file.peer)).unwrap()
}

/// What is found in a file whose records were changed.
fn found(file: &Transcript, change: impl FnOnce(&mut Vec<Record>)) -> String {
    let mut records = read(file).records;
    change(&mut records);
    read(&with(file, &records)).judge().unwrap().problems.join("\n")
}

/// The place of the first record that says something after others were heard.
fn later(records: &[Record]) -> usize {
    records.iter().position(|record| record.heard.is_some() && !record.said.is_empty()).unwrap()
}

fn label(round: usize) -> Vec<u8> {
    postcard::to_stdvec(&Round(round)).unwrap()
}

fn noted(note: &Note) -> Vec<u8> {
    postcard::to_stdvec(note).unwrap()
}

fn cost(records: &mut [Record]) -> &mut crate::Cost {
    records.iter_mut().find_map(|record| record.cost.as_mut()).unwrap()
}

#[test]
fn a_peer_that_lies_about_its_own_run_is_found() {
    let file = files().remove(1);
    assert_eq!(found(&file, |_| ()), "", "the truth stands");
    let check = |what: &str, expected: &str, change: &dyn Fn(&mut Vec<Record>)| {
        let found = found(&file, change);
        assert!(found.contains(expected), "{what}: {found}");
    };
    check("no release", "spoke before it had released", &|all| {
        all.iter_mut().for_each(|one| one.releases.clear());
    });
    check("only the last record", "its beginning was left out", &|all| drop(all.drain(..all.len() - 1)));
    check("nothing paid", "its beginning was left out", &|all| {
        all.iter_mut().for_each(|one| {
            one.cost = None;
            one.releases.clear();
        });
    });
    check("paid later", "before it was paid for", &|all| {
        let cost = all[0].cost.take();
        all[1].cost = cost;
    });
    check("a price of rows", "where User was agreed on", &|all| {
        cost(all).unit = sottovoce_privacy::Unit::Record;
    });
    check("a release without noise", "without noise", &|all| {
        all.iter_mut().filter(|one| !one.releases.is_empty()).for_each(|one| one.covered.clear());
    });
    check("two releases", "was not paid for", &|all| {
        let release = all.iter().find_map(|one| one.releases.first().copied()).unwrap();
        all.last_mut().unwrap().releases.push(release);
    });
    check("less noise", "other releases than were agreed on", &|all| {
        let loud = Release::gaussian(1.0, 0.4);
        cost(all).releases = vec![(loud, 1)];
        all.iter_mut().for_each(|one| one.releases.iter_mut().for_each(|release| *release = loud));
    });
    check("a lower price", "was debited, where it costs", &|all| {
        cost(all).prices[0].1 = Price::concentrated(1e-3).unwrap();
    });
    check("no price", "nothing was debited towards p0", &|all| drop(cost(all).prices.remove(0)));
    check("a price beyond all", "more than its budget", &|all| {
        cost(all).prices[0].1 = Price::concentrated(1e6).unwrap();
    });
    check("another adjacency", "prices are stated under", &|all| {
        cost(all).adjacency = sottovoce_privacy::Adjacency::AddRemove;
    });
    check("paid twice", "paid for twice", &|all| {
        let again = cost(all).clone();
        all.last_mut().unwrap().cost = Some(again);
    });
    check("paid late", "before it was paid for", &|all| {
        let late = cost(all).clone();
        all.iter_mut().for_each(|one| one.cost = None);
        all.last_mut().unwrap().cost = Some(late);
    });
    check("not paid", "nothing was paid for", &|all| all.iter_mut().for_each(|one| one.cost = None));
    check("a draw twice", "draw 0 of noise was used twice", &|all| {
        all.last_mut().unwrap().covered.push((0, Hash::of(b"again")));
    });
    check("another data set", "several data sets", &|all| all.last_mut().unwrap().label = "other".into());
    check("no fresh noise", "without the fresh noise", &|all| {
        let place = later(all);
        all[place].covered.clear();
    });
    check("another round", "where round 1 was planned", &|all| {
        let place = later(all);
        all[place].said[0].label = label(2);
    });
    check("nothing of this protocol", "no message of this protocol", &|all| {
        let place = later(all);
        all[place].said[0].label = vec![0xff; 3];
    });
    check("in two ways", "in several ways", &|all| {
        let place = later(all);
        all[place].said[0].hash = Hash::of(b"other");
    });
    check("a number twice", "comes where", &|all| {
        let place = later(all);
        all[place].said[0].number = 0;
    });
    check("a stranger", "somebody unknown", &|all| {
        let place = later(all);
        all[place].said[0].peer = 77;
    });
    check("too early", "had not heard", &|all| {
        let place = later(all);
        let said = std::mem::take(&mut all[place].said);
        let covered = std::mem::take(&mut all[place].covered);
        all[place - 1].said.extend(said);
        all[place - 1].covered.extend(covered);
    });
    check("too much", "where nothing was planned", &|all| {
        let receipt = Receipt { peer: 0, number: 3, label: label(3), hash: Hash::of(b"more"), mark: None };
        all[2].said.push(receipt);
    });
    check("after the end", "after it had said that it says nothing more", &|all| {
        all[1].notes.push(noted(&Note::Silent { round: 0, missing: vec![2] }));
    });
    check("without somebody", "went on without p2", &|all| {
        all[1].notes.push(noted(&Note::Missed { round: 0, from: 2, weight: 0.25 }));
    });
    check("no note", "no note of this protocol", &|all| all[1].notes.push(vec![0xee; 40]));
    check("a result of nothing", "it has a result, and had not heard", &|all| {
        all.iter_mut().for_each(|one| one.notes.clear());
        all.truncate(4);
        all.last_mut().unwrap().notes.push(noted(&Note::Finished));
    });
    check("left out", "comes where", &|all| {
        let place = later(all);
        all.remove(place);
    });
}

#[test]
fn a_chain_with_a_gap_or_a_strangers_record_is_found() {
    let files = files();
    let file = &files[1];
    let shown = read(file).shown;
    let problems = |shown: &[Shown]| read(&shows(file, shown)).judge().unwrap().problems.join("\n");
    assert_eq!(problems(&shown), "");
    let without = |place: usize| [&shown[..place], &shown[place + 1..]].concat();
    assert!(problems(&without(3)).contains("does not follow the one before"));
    let mut swapped = shown.clone();
    swapped.swap(2, 3);
    assert!(problems(&swapped).contains("does not follow the one before"));
    // One of its own is called another run's.
    let mut hidden = shown.clone();
    hidden[3] = Shown::Withheld(*shown[3].link());
    assert!(problems(&hidden).contains("another run, or withheld"));
    hidden[shown.len() - 1] = Shown::Withheld(*shown[shown.len() - 1].link());
    assert!(problems(&hidden).contains("do not begin and end"));
    // Somebody else's.
    let mut others = shown.clone();
    others[3] = read(&files[2]).shown[3].clone();
    assert!(problems(&others).contains("is not signed by it"), "{}", problems(&others));
    assert!(problems(&[]).contains("do not begin and end"));
    // It says of itself that more is known.
    let doubted = Transcript { doubted: true, ..file.clone() }.sign(&key(1)).unwrap();
    assert!(read(&doubted).judge().unwrap().problems[0].contains("more of this ledger than it holds"));
    // Who has not signed has not agreed.
    let mut unsigned = file.clone();
    unsigned.signatures.pop_first();
    let unsigned = unsigned.sign(&key(1)).unwrap();
    assert!(read(&unsigned).judge().unwrap().problems[0].contains("has not signed the agreement"));
    // A summary of its own, and somebody else's signature.
    let mut told = file.clone();
    told.summary.label = "nothing to speak of".into();
    let parsed = |file: Transcript| Transcript::parse(&file.to_json().unwrap()).unwrap_err().to_string();
    assert!(parsed(told.sign(&key(1)).unwrap()).contains("summary"));
    assert!(parsed(file.clone().sign(&key(2)).unwrap()).contains("not what its owner signed"));
}

#[test]
fn who_says_two_things_is_named() {
    let files = files();
    let all: Vec<Read> = files.iter().map(read).collect();
    let done = [true; PEERS];
    assert_eq!(together(&all, &done).unwrap().problems, [""; 0]);
    let instead = |peer: Peer, change: &dyn Fn(&mut Vec<Record>)| {
        let mut records = all[peer].records.clone();
        change(&mut records);
        let mut changed = all.clone();
        changed[peer] = read(&with(&files[peer], &records));
        changed
    };
    let place = later(&all[1].records);
    let other =
        instead(1, &|records| records[place].said.iter_mut().for_each(|one| one.hash = Hash::of(b"x")));
    let found = together(&other, &done).unwrap();
    assert_eq!(found.problems.len(), PEERS, "{:?}", found.problems);
    assert!(found.problems[0].contains("p1 and p0 do not agree on what message 1"), "{:?}", found.problems);
    // Alone, its file says nothing of that.
    assert!(other[1].judge().unwrap().problems.is_empty());
    // What was left out, the others have heard.
    let short = instead(1, &|records| records.truncate(place));
    let found = together(&short, &[true, false, true, true]).unwrap();
    assert!(found.problems[0].contains("whose record does not have it"), "{found:?}");
    // What was not heard is said to be so, unless it has a result.
    let last = all[1].records.iter().rposition(|record| record.heard.is_some()).unwrap();
    let deaf = instead(1, &|records| drop(records.remove(last)));
    let found = together(&deaf, &[true, false, true, true]).unwrap();
    assert!(found.problems.is_empty() && found.remarks.len() == 1, "{found:?}");
    assert!(together(&deaf, &done).unwrap().problems[0].contains("who has not heard it"));
    // Two files of one peer.
    let fork = read(&with(&files[1], &other[1].records));
    let found = together(&[all[1].clone(), fork], &[true, true]).unwrap().problems.join("\n");
    assert!(found.contains("runs twice") && found.contains("in two ways by the same peer"), "{found}");
}

#[test]
fn a_chain_that_was_written_anew_does_not_fit_what_others_heard() {
    let files = files();
    let mut records = read(&files[1]).records;
    // The same messages, in the same records, with other notes; everything is signed.
    records.iter_mut().for_each(|record| record.salt = [7; 32]);
    let anew = with(&files[1], &records);
    assert!(read(&anew).judge().unwrap().problems.is_empty(), "alone it stands");
    let mut all: Vec<Read> = files.iter().map(read).collect();
    assert!(together(&all, &[true; PEERS]).unwrap().problems.is_empty());
    let twice = together(&[all[0].clone(), all[0].clone()], &[true, true]).unwrap_err().to_string();
    assert!(twice.contains("twice"), "{twice}");
    all[1] = read(&anew);
    let problems = together(&all, &[true; PEERS]).unwrap().problems.join("\n");
    assert!(problems.contains("it was written anew"), "{problems}");
}
