use super::*;
use sottovoce_protocol::averaging::Noising;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::Weights;
use sottovoce_views::door::account;
use sottovoce_views::trace::trace;
use std::slice::from_ref;

fn mixing(n: usize) -> Mixing {
    let graph = generate(&Family::ErdosRenyi { n, p: 0.4 }, 3, true).unwrap();
    Mixing::new(&graph, Weights::MetropolisPlusOne)
}

fn question(method: Method, mixing: &Mixing) -> Question<'_> {
    let (mixings, peers) = (from_ref(mixing), mixing.nodes());
    Question {
        method,
        mixings,
        peers,
        iterations: 3,
        nonexpansive: true,
        sample: 1,
        seed: 5,
        network: None,
        secrets: None,
    }
}

/// Runs the machines, and counts what everyone hears.
fn heard(scheme: &Scheme) -> u64 {
    let all: Vec<usize> = (0..scheme.peers()).collect();
    let noising = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };
    trace(scheme, noising, &all).unwrap().heard.len() as u64
}

#[test]
fn messages_are_those_that_the_machines_send() {
    for n in [2, 3, 5, 8, 12, 13, 16] {
        let scheme = Scheme::Butterfly { positions: positions(n, 1, 0) };
        assert_eq!(messages(&scheme).unwrap(), heard(&scheme), "{n}");
        if n > 3 {
            let mixing = mixing(n);
            assert_eq!(
                Method::Butterfly.way().messages(&question(Method::Butterfly, &mixing)).unwrap(),
                3 * heard(&scheme)
            );
            assert_eq!(Method::Butterfly.way().rounds(n), scheme.rounds());
        }
    }
    // Twelve are eight with four guests: 3 times 8, and one message in and one out for each guest.
    assert_eq!(messages(&Scheme::Butterfly { positions: (0..12).collect() }).unwrap(), 32);
    let mixing = mixing(12);
    for accelerated in [false, true] {
        let gossip = Gossip { rounds: 4, accelerated, relay: 0.0 };
        let scheme = Scheme::Gossip { mixing: mixing.clone(), rounds: 4, accelerated };
        let sent = gossip.messages(&question(Method::Gossip(gossip), &mixing)).unwrap();
        assert_eq!((sent, sent), (3 * heard(&scheme), 24 * mixing.graph().edge_count() as u64));
    }
}

#[test]
fn values_are_written_as_they_always_were() {
    let written = |method: Method| serde_json::to_string(&method).unwrap();
    let gossip = Method::Gossip(Gossip { rounds: 7, accelerated: true, relay: 0.0 });
    for (method, text) in [
        (gossip, r#"{"gossip":{"rounds":7,"accelerated":true,"relay":0.0}}"#),
        (Method::Butterfly, r#""butterfly""#),
        (Method::Walk(Walk { tokens: 2, burn_in: 3 }), r#"{"walk":{"tokens":2,"burn_in":3}}"#),
        (Method::Local, r#""local""#),
        (Method::Central, r#""central""#),
    ] {
        assert_eq!(written(method), text);
        assert_eq!(serde_json::from_str::<Method>(text).unwrap(), method);
    }
}

#[test]
fn every_option_belongs_to_a_method_and_is_refused_by_the_others() {
    let all = Options {
        rounds: Some(3),
        heterogeneity: Some(0.1),
        accelerated: true,
        relay: Some(0.1),
        tokens: Some(2),
        burn_in: Some(1),
        markov_step: Some(1.0),
        weighted: true,
    };
    let one = |name: &str| Options {
        rounds: all.rounds.filter(|_| name == "steps"),
        heterogeneity: all.heterogeneity.filter(|_| name == "heterogeneity"),
        accelerated: name == "accelerated",
        relay: all.relay.filter(|_| name == "relay-noise"),
        tokens: all.tokens.filter(|_| name == "tokens"),
        burn_in: all.burn_in.filter(|_| name == "burn-in"),
        markov_step: all.markov_step.filter(|_| name == "markov-step"),
        weighted: name == "final-model",
    };
    let mixing = mixing(8);
    for (name, _) in all.given() {
        assert!(METHODS.iter().any(|entry| entry.options.contains(&name)), "{name}");
        for entry in &METHODS {
            let found = entry.method(&one(name), from_ref(&mixing));
            match entry.options.contains(&name) {
                true => assert!(found.is_ok(), "{name} {}", entry.name),
                false => {
                    let said = found.unwrap_err().to_string();
                    assert!(
                        said.starts_with(&format!("`{name}` is ")) && said.contains("leave it out"),
                        "{said}"
                    );
                }
            }
        }
    }
    for entry in &METHODS {
        let method = entry.method(&Options::default(), from_ref(&mixing)).unwrap();
        assert!(entry.options.iter().all(|name| all.given().any(|(known, _)| known == *name)));
        assert_eq!(entry.check_graph(Some("lazy")).is_ok(), entry.needs_graph);
        assert_eq!(Entry::find(entry.name).unwrap().name, entry.name);
        let (step, tried) = method.way().step_sizes();
        assert!(step > 0.0 && tried.iter().all(|step| *step > 0.0));
    }
    let said = Entry::find("dance").err().unwrap().to_string();
    assert_eq!(said, "`method` is dance: give one of gossip, butterfly, walk, local, central");
    let said = Entry::find("local").unwrap().check_graph(Some("graph")).unwrap_err().to_string();
    assert_eq!(said, "`graph` is given: only gossip and walk have a use for one; leave it out");
}

#[test]
fn gossip_that_never_mixes_is_refused() {
    let ring = Mixing::new(&generate(&Family::Ring { n: 6 }, 0, true).unwrap(), Weights::Metropolis);
    // Two neighbours with 1/2 each and nothing kept: whatever was even is odd after a round.
    let gossip = Entry::find("gossip").unwrap();
    let said = gossip.method(&Options::default(), from_ref(&ring)).unwrap_err().to_string();
    assert!(
        said.starts_with("`weights` is such that gossip never mixes") && said.contains("--lazy"),
        "{said}"
    );
    assert!(gossip.method(&Options { rounds: Some(4), ..Options::default() }, from_ref(&ring)).is_ok());
}

#[test]
fn nobody_learns_more_than_a_wire_tapper() {
    let mixing = mixing(12);
    for entry in &METHODS {
        let question = question(entry.method(&entry.planned, from_ref(&mixing)).unwrap(), &mixing);
        let way = question.method.way();
        let overheard = way.overheard(&question, &Past::PLANNED).unwrap();
        let loss = account(&overheard, &Adversary::Peer(2)).unwrap().leakage;
        assert_eq!((loss.losses.len(), loss.losses[2]), (12, 0.0), "{}", entry.name);
        assert!(loss.losses.iter().all(|loss| (0.0..=3.0 + 1e-9).contains(loss)), "{}: {loss:?}", entry.name);
        let ours = question.ours().unwrap();
        assert!(ours.worst <= 3.0 && ours.mean <= ours.worst + 1e-9, "{}: {ours:?}", entry.name);
        assert_eq!(way.steps(12, 3), if entry.name == "walk" { 36 } else { 3 });
        assert!(account(&overheard, &Adversary::Peer(12)).is_err(), "{}", entry.name);
    }
}
