//! From one agreement to peers whom tokens visit: what ends is right but for the noise, every contribution is paid for, and wild data costs no more.

use crate::common;

use common::parts::{
    agreement, check_debits, check_transcripts, holdings, rehearse, rehearse_with, rho, stands, text,
};
use sottovoce::experiment::Experiment;
use sottovoce_node::walk::Walk;
use sottovoce_node::{Agreement, Part, Priced, Recorder, Stands};
use sottovoce_privacy::Unit;

const PEERS: usize = 4;

fn averaging(more: &str) -> Agreement {
    let fields = format!("grid = {:?}\nwidth = 2\ntime = 60.0", 2f64.powi(-24));
    agreement(
        PEERS,
        &fields,
        &format!("experiment = 'averaging'\nprotocol = {{ method = 'walk', steps = 80 }}\n{more}"),
    )
}

fn average(agreement: &Agreement) -> Vec<Walk> {
    let averaging = agreement.averaging().unwrap();
    (0..PEERS).map(|peer| Walk::averaging(agreement, &averaging, peer).unwrap()).collect()
}

fn values() -> Vec<String> {
    (0..PEERS).map(|peer| format!("{} {}\n", 0.2 * peer as f64, 1.0 - 0.2 * peer as f64)).collect()
}

/// What ended, where, and how often everybody contributed.
fn run(all: &[Walk], contents: &[String], ending: &str) -> (Vec<Vec<f64>>, Vec<usize>) {
    let folder = tempfile::tempdir().unwrap();
    let holdings = holdings(folder.path(), contents, ending);
    let mut rehearsal = rehearse(all, &holdings, folder.path(), 100_000);
    check_debits(all, &mut rehearsal);
    let given = (0..PEERS).map(|peer| rehearsal.host(peer).unwrap().machine().contributions()).collect();
    let mut ended = Vec::new();
    for (peer, stands) in stands(all, &mut rehearsal).into_iter().enumerate() {
        let machine = rehearsal.host(peer).unwrap().machine();
        match (stands, all[peer].ends(machine).unwrap()) {
            (Stands::Done(value), Stands::Done(same)) => {
                assert_eq!(value, same);
                ended.push(value);
            }
            (Stands::Going { round, rounds }, end) => {
                assert_eq!(round, machine.contributions(), "the odometer");
                assert!(round <= rounds);
                if let Stands::Done(value) = end {
                    ended.push(value);
                } else {
                    assert_eq!(end, Stands::Elsewhere);
                }
            }
            other => panic!("{other:?}"),
        }
    }
    (ended, given)
}

#[test]
fn a_token_ends_with_the_mean_of_what_was_given() {
    let all = average(&averaging("walk = { cap = 80, burn-in = 2 }\nnoise = { sigma = 0.05 }"));
    let (ended, given) = run(&all, &values(), "txt");
    assert_eq!(given.iter().sum::<usize>(), 80);
    let [mean] = &ended[..] else { panic!("{ended:?}") };
    // The mean of those who were visited, each as often as it was.
    for (i, found) in mean.iter().enumerate() {
        let value = |peer: usize| if i == 0 { 0.2 * peer as f64 } else { 1.0 - 0.2 * peer as f64 };
        let known = (0..PEERS).map(|peer| given[peer] as f64 * value(peer)).sum::<f64>() / 80.0;
        assert!((found - known).abs() < 8.0 * 0.05 / 80f64.sqrt() + 1e-6, "{mean:?} {known} {given:?}");
    }
}

#[test]
fn contributions_stop_at_the_cap_and_all_of_them_are_paid_for() {
    let all = average(&averaging("walk = { cap = 3, burn-in = 0, tokens = 2 }\nnoise = { sigma = 0.5 }"));
    let (ended, given) = run(&all, &values(), "txt");
    assert!(given.iter().all(|given| *given == 3) && !ended.is_empty(), "{given:?}");
    // Two numbers between 0 and 1: all of a peer moves them by the root of 2. The last steps are the smallest, and feel the grid most.
    let local = 3.0 * 2.0 / (2.0 * 0.25);
    for observer in all[1].observers() {
        let found = rho(&all[1], &observer);
        assert!(found >= local && found < 1.001 * local, "{observer}: {found} {local}");
    }
    let coarse = averaging("walk = { cap = 3, burn-in = 0 }\nnoise = { sigma = 0.5 }");
    let coarse = Agreement { grid: 2f64.powi(-8), ..coarse };
    let found = rho(&average(&coarse)[0], &sottovoce_node::Observer::WireTapper);
    let moved = (2f64.sqrt() / 80.0 * 256.0 + 2f64.sqrt()) / (0.5 / 80.0 * 256.0);
    assert!((found / (3.0 * moved * moved / 2.0) - 1.0).abs() < 1e-6, "{found}");
}

#[test]
fn a_target_is_kept() {
    let all = average(&averaging("walk = { cap = 5 }\ntarget = { epsilon = 3.0, delta = 1e-6 }"));
    let rho = rho(&all[0], &sottovoce_node::Observer::WireTapper);
    let epsilon = sottovoce_privacy::Loss::zcdp(rho).unwrap().epsilon(1e-6).unwrap().upper;
    assert!(epsilon <= 3.0 && epsilon > 2.97, "{epsilon}");
}

fn learning() -> (Agreement, Vec<Walk>) {
    let fields = format!("grid = {:?}\nwidth = 2\ntime = 60.0", 2f64.powi(-24));
    let agreement = agreement(
        PEERS,
        &fields,
        "experiment = 'learning'\ntask = { range = ['x=-1:1'], clip = 1.0, objective = 'squared' }\nstep = { size = 0.25 }\nprotocol = { method = 'walk', iterations = 12 }\nnoise = { sigma = 0.01 }",
    );
    let Experiment::Learning(learning) = agreement.experiment().unwrap() else { panic!("learning") };
    let all = (0..PEERS).map(|peer| Walk::learning(&agreement, &learning, peer).unwrap()).collect();
    (agreement, all)
}

#[test]
fn a_token_learns() {
    let (agreement, all) = learning();
    assert!(agreement.role(0).unwrap().called().contains("learning by tokens"));
    // Labels are x/2 + 1/4, everywhere.
    let rows = |peer: usize| {
        let row = |i: usize| {
            let x = ((i * 3 + peer) % 21) as f64 / 10.0 - 1.0;
            format!("{x},{}\n", 0.5 * x + 0.25)
        };
        format!("x,y\n{}", (0..20).map(row).collect::<String>())
    };
    let contents: Vec<String> = (0..PEERS).map(rows).collect();
    let (ended, given) = run(&all, &contents, "csv");
    let [model] = &ended[..] else { panic!("{ended:?}") };
    assert!(given.iter().all(|given| *given <= 12));
    assert!((model[0] - 0.5).abs() < 0.25 && (model[1] - 0.25).abs() < 0.1, "{model:?}");
    // Twelve steps, each of which the whole of a peer's data moves by twice its length.
    let known = 12.0 / (2.0 * 0.01 * 0.01);
    let found = rho(&all[0], &sottovoce_node::Observer::WireTapper);
    assert!(found >= known && found < 1.0001 * known, "{found} {known}");
    // Labels of 1e300 are somebody's, too.
    let mut wild = contents.clone();
    wild[1] = "x,y\n1e300,1e300\n1,-1e300\n0,1e308\n-1e300,-1e308\n1,1\n1,1\n".to_owned();
    let (ended, _) = run(&all, &wild, "csv");
    assert!(ended[0].iter().all(|x| x.abs() <= 12.0 * 0.25 * 4.0), "{ended:?}");
}

#[test]
fn a_recording_has_no_contribution_without_its_noise() {
    let agreement = averaging("walk = { cap = 40 }\nnoise = { sigma = 0.05 }");
    let (all, folder) = (average(&agreement), tempfile::tempdir().unwrap());
    let holdings = holdings(folder.path(), &values(), "txt");
    let file = |peer: usize| folder.path().join(format!("{peer}.recording"));
    let mut rehearsal = rehearse_with(&all, &holdings, folder.path(), 100_000, |peer, ledger| {
        ledger.record_to(Recorder::open(&file(peer), &agreement, peer, false).unwrap());
    });
    check_transcripts::<Walk>(&agreement, &mut rehearsal, Unit::User);
    let mut draws = 0;
    for peer in 0..PEERS {
        for line in std::fs::read_to_string(file(peer)).unwrap().lines() {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            for draw in line["covered"].as_array().into_iter().flatten() {
                assert!(draw[1].is_null() && draw[2].is_string(), "{draw}");
                draws += 1;
            }
        }
    }
    assert!(draws > 0);
}

#[test]
fn values_beyond_the_range_are_moved_and_what_is_none_is_refused() {
    let all = average(&averaging("walk = { cap = 40 }\nnoise = { sigma = 0.05 }"));
    let mut wild = values();
    wild[2] = "1e300 -1e300".to_owned();
    let (ended, _) = run(&all, &wild, "txt");
    assert!(ended[0].iter().all(|x| (-0.2..1.2).contains(x)), "{ended:?}");
    let folder = tempfile::tempdir().unwrap();
    for (content, expected) in [
        ("nan 1", "finite numbers"),
        ("", "0 numbers"),
        ("1 2 3", "3 numbers"),
        ("one two", "no number in place 1"),
    ] {
        let own = holdings(folder.path(), &[content.to_owned()], "txt").remove(0);
        let error = all[0].steps(&own).err().unwrap().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn what_a_node_cannot_do_is_refused() {
    let good = text(
        PEERS,
        "grid = 0.0009765625\ntime = 60.0",
        "experiment = 'averaging'\nprotocol = { method = 'walk', steps = 20 }\nwalk = { cap = 3, burn-in = 1 }\nnoise = { sigma = 2.0 }",
    );
    assert!(Agreement::parse(&good).unwrap().role(0).is_ok());
    for (old, new, expected) in [
        ("cap = 3, ", "", "`cap` is missing"),
        ("time = 60.0", "", "`time` is missing"),
        ("cap = 3", "cap = 3, tokens = 5", "`tokens` is 5"),
        ("cap = 3", "cap = 3, step-size = '0.5'", "`step-size` is 0.5"),
        ("sigma = 2.0", "sigma = 2.0, sensitivity = 0.001", "`sensitivity`"),
        ("sigma = 2.0", "sigma = 2.0, masks = true", "`masks`"),
        ("0.0009765625", &format!("{:e}", 2f64.powi(-60)), "`grid`"),
    ] {
        let changed = good.replacen(old, new, 1);
        assert_ne!(changed, good, "{old}");
        let error = Agreement::parse(&changed).and_then(|agreement| agreement.role(0).map(drop)).unwrap_err();
        assert!(error.to_string().contains(expected), "{old} -> {new}: {error}");
        assert_eq!(error.exit_code(), 2, "{error}");
    }
}
