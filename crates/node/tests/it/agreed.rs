//! From one agreement to peers who average it: the mean is right but for the noise, and what was debited is what the accountant says.

use sottovoce_node::averaging::Prepared;
use sottovoce_node::memory::Rehearsal;
use sottovoce_node::{Agreement, Allowed, Hash, Hiding, Host, Key, Ledger, Observer, Priced};
use sottovoce_privacy::{Adversary, Loss};
use sottovoce_protocol::averaging::{Note, Start};
use sottovoce_protocol::{Machine, Peer};

const PEERS: u64 = 8;
const ALLOWED: Allowed = Allowed { epsilon: 50.0, delta: 1e-6, chances: 0.0 };

fn agreement(experiment: &str, grid: i32) -> Agreement {
    let member = |i: u64| {
        let key = Key::simulated(100 + i).name();
        format!("[[peers]]\nname = 'p{i}'\nkey = '{key}'\naddress = '127.0.0.1:{}'\n", 4000 + i)
    };
    let members: String = (0..PEERS).map(member).collect();
    let grid = 2f64.powi(grid);
    let text = format!(
        "version = 1\nname = 'mean'\nnonce = '1'\ngrid = {grid}\nwidth = 2\nedges = 'complete'\ncoalitions = [['p0', 'p1']]\n{members}\
         [experiment]\nexperiment = 'averaging'\n{experiment}"
    );
    Agreement::parse(&text).unwrap()
}

fn value(peer: Peer) -> [f64; 2] {
    [0.1 * peer as f64, 1.0 - 0.1 * peer as f64]
}

/// The mean of all.
const MEAN: [f64; 2] = [0.35, 0.65];

fn ledger(prepared: &Prepared, peer: Peer, folder: &std::path::Path) -> Ledger {
    let path = folder.join(format!("{peer}.ledger"));
    Ledger::create(&path, Key::simulated(100 + peer as u64)).unwrap();
    let mut ledger = Ledger::open(&path, Key::simulated(100 + peer as u64)).unwrap();
    for observer in prepared.observers() {
        ledger.declare("values", &observer, ALLOWED).unwrap();
    }
    ledger
}

/// Runs peers to their end.
fn run<M: Machine<Command = Start, Note = Note>, N: Hiding<M::Value>>(
    all: &[Prepared],
    open: impl Fn(&Prepared, Peer) -> (Host<M, N>, Vec<sottovoce_node::Due<M::Timer, M::Note, M::Value>>),
) -> Rehearsal<M, N> {
    let mut rehearsal = Rehearsal::new(all.len(), |_, _, _, _| ());
    for (peer, prepared) in all.iter().enumerate() {
        rehearsal.arrive(peer, open(prepared, peer)).unwrap();
    }
    loop {
        let done = rehearsal.advance();
        for (peer, prepared) in all.iter().enumerate() {
            let waits = rehearsal.host(peer).is_some_and(|host| host.is_ready() && !host.has_begun());
            if waits {
                let cost = prepared.cost(&[]).unwrap();
                rehearsal.with(peer, |host| host.command(Start, &cost)).unwrap();
            }
        }
        match done {
            None => break,
            Some(done) => done.unwrap(),
        }
    }
    let finished = rehearsal.notes.iter().filter(|(_, note)| *note == Note::Finished).count();
    assert_eq!(finished, all.len(), "{:?}", rehearsal.notes);
    rehearsal
}

fn prepared(agreement: &Agreement) -> Vec<Prepared> {
    (0..PEERS as Peer).map(|peer| Prepared::new(agreement, peer).unwrap()).collect()
}

fn rho(prepared: &Prepared, observer: &Observer) -> f64 {
    let cost = prepared.cost(&[]).unwrap();
    let (_, price) = cost.prices.iter().find(|(known, _)| known == observer).unwrap();
    let Some(Loss::Zcdp(rho)) = price.loss else { panic!("{price:?}") };
    rho
}

/// Everybody's result, and whether what was debited is what was to be paid.
fn on_ring(experiment: &str, grid: i32) -> (Vec<Prepared>, Vec<Vec<f64>>) {
    let folder = tempfile::tempdir().unwrap();
    let all = prepared(&agreement(experiment, grid));
    assert!(all[0].is_on_ring());
    let data = |peer: Peer| Hash::of(&[peer as u8]);
    let mut rehearsal = run(&all, |prepared, peer| {
        prepared.on_ring(ledger(prepared, peer, folder.path()), &value(peer), "values", data(peer)).unwrap()
    });
    let means = (0..all.len()).map(|peer| {
        let host = rehearsal.host(peer).unwrap();
        assert!(host.ledger().spent("values").unwrap().iter().all(|(_, _, loss, _)| *loss > 0.0));
        all[peer].mean(host.machine().value()).unwrap()
    });
    let means = means.collect();
    (all, means)
}

fn on_grid(experiment: &str, grid: i32) -> (Vec<Prepared>, Vec<Vec<f64>>) {
    let folder = tempfile::tempdir().unwrap();
    let all = prepared(&agreement(experiment, grid));
    assert!(!all[0].is_on_ring());
    let data = |peer: Peer| Hash::of(&[peer as u8]);
    let mut rehearsal = run(&all, |prepared, peer| {
        prepared.on_grid(ledger(prepared, peer, folder.path()), &value(peer), "values", data(peer)).unwrap()
    });
    let means = (0..all.len()).map(|peer| rehearsal.host(peer).unwrap().machine().value().clone()).collect();
    (all, means)
}

/// All within six deviations, for noise of this deviation in the mean.
fn near(means: &[Vec<f64>], deviation: f64) {
    for mean in means {
        for (found, known) in mean.iter().zip(MEAN) {
            assert!((found - known).abs() < 8.0 * deviation, "{means:?}");
        }
    }
}

#[test]
fn masks_have_the_accuracy_and_the_price_of_a_server() {
    let (all, means) = on_ring(
        "protocol = { method = 'butterfly' }\nnoise = { sigma = 0.5, masks = true, relay-noise = 0.0 }\nadversary = { colluders = 2 }",
        -12,
    );
    near(&means, 0.5 / (PEERS as f64).sqrt());
    assert!(means.iter().all(|mean| *mean == means[0]), "a sum of integers is the same everywhere");
    // Any two may help the wire-tapper: six are left. The values are in [0, 1] twice, so one person moves a vector by the root of 2.
    let local = 2.0 / (2.0 * 0.25);
    let known = local / 6.0;
    let found = rho(&all[3], &Observer::WireTapper);
    assert!(found >= known && found < 1.01 * known, "{found} {known}");
}

#[test]
fn sums_cost_what_the_exact_accountant_says_but_for_the_grid() {
    let (all, means) =
        on_ring("protocol = { method = 'butterfly' }\nnoise = { sigma = 0.5, relay-noise = 0.0 }", -20);
    near(&means, 0.5 / (PEERS as f64).sqrt());
    let key = |peer: u64| Observer::Peer(Key::simulated(100 + peer).name());
    let local = 2.0 / (2.0 * 0.25);
    // Peer 4 is first heard by 5; its sum with 5 by 6 and 7; with three others by the rest.
    for (observer, share) in [(key(5), 1.0), (key(6), 0.5), (key(0), 0.25), (Observer::WireTapper, 1.0)] {
        let found = rho(&all[4], &observer);
        assert!(found >= share * local && found < 1.0001 * share * local, "{observer}: {found}");
    }
    let pooled = Observer::coalition((0..2).map(|peer| Key::simulated(100 + peer).name()).collect());
    assert!(
        all[0].cost(&[]).unwrap().prices.iter().all(|(observer, _)| *observer != pooled),
        "oneself is no observer"
    );
    assert!(rho(&all[4], &pooled) >= rho(&all[4], &key(0)));
}

#[test]
fn relay_noise_is_rounded_and_priced() {
    let experiment =
        "protocol = { method = 'gossip', steps = 4 }\nnoise = { sigma = 0.5, relay-noise = 0.5 }";
    let (all, means) = on_grid(experiment, -30);
    near(&means, 0.5);
    let setting = {
        let averaging = agreement(experiment, -30).averaging().unwrap();
        let graph = agreement(experiment, -30).graph().unwrap();
        let place = sottovoce::experiment::Place {
            graph,
            schedule: None,
            sha256: None,
            notes: vec![],
            name: String::new(),
        };
        averaging.setting(&place, 0).unwrap()
    };
    let leak = sottovoce_views::door::account(&setting, &Adversary::Peer(2)).unwrap().leakage.losses[5];
    let found = rho(&all[5], &Observer::Peer(Key::simulated(102).name()));
    let known = leak * 2.0 / (2.0 * 0.25);
    assert!(found >= known && found < known * (1.0 + 1e-6), "{found} {known}");
    assert!(rho(&all[5], &Observer::WireTapper) >= 4.0);
}

#[test]
fn what_noise_on_messages_does_not_hide_is_not_priced_as_if_it_did() {
    // Sums take no noise on messages: nothing is gained by asking for it.
    let agreed =
        agreement("protocol = { method = 'butterfly' }\nnoise = { sigma = 0.5, relay-noise = 30.0 }", -20);
    let error = Prepared::new(&agreed, 0).unwrap_err().to_string();
    assert!(error.contains("`relay-noise` is 30"), "{error}");
    // Results that are published carry none.
    let gossip = "protocol = { method = 'gossip', steps = 4 }\nnoise = { sigma = 0.5, relay-noise = 0.5 }\nadversary = { results = 'published' }";
    let all = prepared(&agreement(gossip, -30));
    assert!(all[5].observers().iter().all(|observer| rho(&all[5], observer) >= 4.0));
    // One person moves a value through the whole range, whatever is promised.
    let small = agreement("noise = { sigma = 0.5, sensitivity = 0.001 }", -20);
    let error = Prepared::new(&small, 0).unwrap_err();
    assert_eq!(error.at_fault().map(|fault| fault.field), Some("sensitivity"), "{error}");
}

#[test]
fn gossip_without_fresh_noise_is_local() {
    let (all, means) = on_grid(
        "protocol = { method = 'accelerated', steps = 12 }\nnoise = { sigma = 0.5, relay-noise = 0.0 }",
        -20,
    );
    near(&means, 0.5);
    for observer in all[2].observers() {
        assert!(rho(&all[2], &observer) >= 4.0, "{observer}");
    }
}

/// Noise of pairs is gone from the mean, and hides everybody among the honest: nearly as well as masks, and never better.
#[test]
fn noise_of_pairs_cancels_on_integers() {
    let butterfly = "protocol = { method = 'butterfly' }\nnoise = { sigma = 0.5";
    let (all, means) = on_ring(&format!("{butterfly}, cancel = 30.0 }}"), -20);
    near(&means, 0.5 / 8f64.sqrt());
    assert!(means.iter().all(|mean| mean == &means[0]), "{means:?}");
    let (masked, _) = on_ring(&format!("{butterfly}, masks = true }}"), -20);
    let (alone, _) = on_ring(&format!("{butterfly} }}"), -20);
    for observer in all[2].observers() {
        let [pairs, masks, none] = [&all, &masked, &alone].map(|all| rho(&all[2], &observer));
        assert!(masks <= pairs && pairs < 1.02 * masks, "{observer}: {pairs} beside {masks}");
        if observer == Observer::WireTapper {
            assert!(pairs < 0.15 * none, "{pairs} of {none}");
        }
    }
    // On a coarse grid, where rounding costs more, it is no less than local privacy promises, and no more.
    let (coarse, _) = on_ring(&format!("{butterfly}, cancel = 30.0 }}"), -2);
    let (local, _) = on_ring(&format!("{butterfly} }}"), -2);
    let tapper = Observer::WireTapper;
    assert_eq!(rho(&coarse[2], &tapper), rho(&local[2], &tapper));
}

#[test]
fn what_a_node_cannot_do_yet_is_refused() {
    let agreed = agreement("noise = { sigma = 0.5, cancel = 3.0 }", -20);
    let error = Prepared::new(&agreed, 0).unwrap_err().to_string();
    assert!(error.contains("`cancel`") && error.contains("butterfly"), "{error}");
    assert!(Prepared::new(&agreement("noise = { sigma = 0.5 }", -20), 8).is_err());
    let error = Prepared::new(&agreement("noise = { sigma = 0.5 }", -60), 0).unwrap_err().to_string();
    assert!(error.contains("`grid`") && error.contains("coarser"), "{error}");
}
