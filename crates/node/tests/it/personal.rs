//! From one agreement to agents with models of their own: they learn, every update is paid for by the row, and wild rows cost no more.

use crate::common;

use common::parts::{agreement, check_debits, check_transcripts, holdings, rehearse, rho, stands, text};
use sottovoce::experiment::Experiment;
use sottovoce_node::personal::Personal;
use sottovoce_node::{Agreement, Observer, Part, Priced, Stands};
use sottovoce_privacy::Unit;

const PEERS: usize = 4;
/// Four of five rows are learned from.
const ROWS: usize = 32;
const UPDATES: usize = 6;
const CLIP: f64 = 0.5;
const EDGES: &str = "edges = [['p0','p1'],['p1','p2'],['p2','p3'],['p3','p0']]";

/// The text of an agreement in which everybody has so many rows.
fn of(rows: usize, grid: i32, more: &str) -> String {
    let fields = format!("grid = {:?}\nwidth = 2\n{EDGES}", 2f64.powi(grid));
    let experiment = format!(
        "experiment = 'personalized'\ntask = {{ range = ['x=-1:1'], positive = '1' }}\nprotocol = {{ updates = {UPDATES}, mu = 5.0 }}\n{more}"
    );
    text(PEERS, &fields, &experiment).replace("address =", &format!("rows = {rows}\naddress ="))
}

fn parts(agreement: &Agreement) -> Vec<Personal> {
    let Experiment::Personalized(asked) = agreement.experiment().unwrap() else { panic!("personalised") };
    (0..PEERS).map(|peer| Personal::new(agreement, &asked, peer).unwrap()).collect()
}

/// Rows whose label is the sign of `x`, or of `-x` for half of the agents.
fn table(peer: usize) -> String {
    let row = |i: usize| {
        let x = ((i * 7 + peer) % 40) as f64 / 20.0 - 0.98;
        let up = (x > 0.0) == (peer < 2);
        format!("{x},{}\n", i32::from(up))
    };
    format!("x,label\n{}", (0..40).map(row).collect::<String>())
}

fn run(all: &[Personal], contents: &[String]) -> Vec<Vec<f64>> {
    let folder = tempfile::tempdir().unwrap();
    let holdings = holdings(folder.path(), contents, "csv");
    let mut rehearsal = rehearse(all, &holdings, folder.path(), 100_000);
    check_debits(all, &mut rehearsal);
    let model = |stands| match stands {
        Stands::Done(model) => model,
        other => panic!("{other:?}"),
    };
    stands(all, &mut rehearsal).into_iter().map(model).collect()
}

#[test]
fn agents_learn_what_is_theirs() {
    for law in ["gaussian", "laplace"] {
        let noise = format!("noise = {{ law = '{law}', sigma = 0.05, clip = {CLIP} }}");
        let agreement = Agreement::parse(&of(ROWS, -30, &noise)).unwrap();
        let all = parts(&agreement);
        let (folder, contents) = (tempfile::tempdir().unwrap(), (0..PEERS).map(table).collect::<Vec<_>>());
        let own = holdings(folder.path(), &contents, "csv");
        let mut rehearsal = rehearse(&all, &own, folder.path(), 100_000);
        check_transcripts::<Personal>(&agreement, &mut rehearsal, Unit::Record);
        let models = run(&all, &(0..PEERS).map(table).collect::<Vec<_>>());
        for (peer, model) in models.iter().enumerate() {
            assert!(if peer < 2 { model[0] > 0.1 } else { model[0] < -0.1 }, "{law} {peer}: {models:?}");
        }
    }
}

#[test]
fn every_update_is_paid_for_by_the_row() {
    let of_law = |law: &str| {
        parts(
            &Agreement::parse(&of(ROWS, -30, &format!("noise = {{ law = '{law}', sigma = 3.0 }}"))).unwrap(),
        )
    };
    let all = of_law("gaussian");
    let cost = all[0].cost(&[]).unwrap();
    assert_eq!((cost.unit, cost.releases.len(), cost.releases[0].1), (Unit::Record, 1, UPDATES as u64));
    assert_eq!(cost.releases[0].0.sensitivity, 2.0 * CLIP / ROWS as f64);
    let known = UPDATES as f64 / (2.0 * 9.0);
    for all in [all, of_law("laplace")] {
        for observer in all[1].observers() {
            let found = rho(&all[1], &observer);
            assert!(found >= known && found < 1.0001 * known, "{observer}: {found} {known}");
        }
    }
    // A coarse grid costs more: rows are rounded one by one.
    let coarse = parts(&Agreement::parse(&of(ROWS, -8, "noise = { sigma = 3.0 }")).unwrap());
    let moved = (2.0 * CLIP / ROWS as f64 * 256.0 + 2f64.sqrt()) / (3.0 * 2.0 * CLIP / ROWS as f64 * 256.0);
    let found = rho(&coarse[0], &Observer::WireTapper);
    assert!((found / (UPDATES as f64 * moved * moved / 2.0) - 1.0).abs() < 1e-9, "{found}");
    // A target is kept.
    for law in ["gaussian", "laplace"] {
        let more = format!("noise = {{ law = '{law}' }}\ntarget = {{ epsilon = 2.0, delta = 1e-6 }}");
        let all = parts(&Agreement::parse(&of(ROWS, -30, &more)).unwrap());
        let rho = rho(&all[0], &Observer::WireTapper);
        let epsilon = sottovoce_privacy::Loss::zcdp(rho).unwrap().epsilon(1e-6).unwrap().upper;
        assert!(epsilon <= 2.0 && epsilon > 1.98, "{law}: {epsilon}");
    }
}

#[test]
fn an_agent_without_rows_pays_nothing_and_has_a_model_all_the_same() {
    let agreed = of(ROWS, -30, "noise = { sigma = 0.05 }").replacen("rows = 32", "rows = 0", 1);
    let all = parts(&Agreement::parse(&agreed).unwrap());
    let cost = all[0].cost(&[]).unwrap();
    assert!(cost.releases.is_empty());
    let mut contents: Vec<String> = (0..PEERS).map(table).collect();
    contents[0] = "nothing".to_owned();
    let folder = tempfile::tempdir().unwrap();
    let holdings = holdings(folder.path(), &contents, "csv");
    let mut rehearsal = rehearse(&all, &holdings, folder.path(), 100_000);
    let Stands::Done(model) = stands(&all, &mut rehearsal).remove(0) else { panic!("not done") };
    assert!(model.iter().all(|x| x.is_finite()));
}

/// What one row, exchanged, moves a sum by: in steps of the grid, against what is paid for.
#[test]
fn an_exchanged_row_moves_a_sum_by_no_more_than_is_paid_for() {
    let folder = tempfile::tempdir().unwrap();
    let tame: Vec<String> = table(0).lines().map(str::to_owned).collect();
    for (grid, law) in [(-30, "gaussian"), (-9, "gaussian"), (-30, "laplace"), (-9, "laplace")] {
        let agreed = of(ROWS, grid, &format!("noise = {{ law = '{law}', sigma = 1.0, clip = {CLIP} }}"))
            .replace("positive = '1'", "objective = 'squared'");
        let part = parts(&Agreement::parse(&agreed).unwrap()).remove(0);
        let sum = |lines: &[String]| {
            let own = holdings(folder.path(), &[lines.join("\n") + "\n"], "csv").remove(0);
            let mut value = vec![0.3, -0.7];
            part.steps(&own).unwrap()(1, 1.0, &mut value).unwrap();
            value.iter().map(|x| x / 2f64.powi(grid)).collect::<Vec<f64>>()
        };
        let before = sum(&tame);
        let (l2, l1) =
            (2.0 * CLIP / ROWS as f64 * 2f64.powi(-grid), 2.0 * CLIP / ROWS as f64 * 2f64.powi(-grid));
        for wild in ["1e300,1e300", "-1e300,-1e308", "0.1,-1e300", "0,0", "1e-300,1e308"] {
            let mut lines = tame.clone();
            lines[3] = wild.to_owned();
            let after = sum(&lines);
            let apart: Vec<f64> = before.iter().zip(&after).map(|(x, y)| x - y).collect();
            assert!(apart.iter().all(|x| x.fract() == 0.0), "whole steps: {apart:?}");
            match law {
                "gaussian" => assert!(
                    apart.iter().map(|x| x * x).sum::<f64>().sqrt() <= l2 + 2f64.sqrt(),
                    "{wild}: {apart:?}"
                ),
                _ => assert!(apart.iter().map(|x| x.abs()).sum::<f64>() <= l1 + 2.0, "{wild}: {apart:?}"),
            }
        }
    }
}

#[test]
fn what_a_node_cannot_do_is_refused() {
    let good = of(ROWS, -20, "noise = { sigma = 2.0 }");
    assert!(Agreement::parse(&good).unwrap().role(0).is_ok());
    for (old, new, expected) in [
        ("rows = 32\n", "", "`rows` is missing"),
        ("mu = 5.0", "mu = 5.0, warm = 0.5", "`warm`"),
        ("mu = 5.0", "mu = 5.0, allocation = 'optimal'", "`allocation`"),
        ("mu = 5.0", "mu = -1.0", "`mu` is -1"),
        ("sigma = 2.0", "sigma = 0.0", "`sigma` is 0"),
        ("sigma = 2.0", "sigma = 2.0, clip = 0.0", "`clip` is 0"),
        ("noise = { sigma = 2.0", "noise = { law = 'laplace', clip = 1e10, sigma = 1e-9", "`grid`"),
        ("noise =", "network = { drop = 0.1 }\nnoise =", "`network`"),
        ("noise =", "target = { epsilon = 1.0 }\nnoise =", "`epsilon`"),
        ("positive = '1'", "kind = 'plane'", "`task`"),
        ("positive = '1'", "agents = 7", "`task`"),
        ("positive = '1'", "peer-column = 'who'", "`peer-column`"),
    ] {
        let changed = good.replacen(old, new, 1);
        assert_ne!(changed, good, "{old}");
        let error = Agreement::parse(&changed).and_then(|agreement| agreement.role(0).map(drop)).unwrap_err();
        assert!(error.to_string().contains(expected), "{old} -> {new}: {error}");
    }
    // Another number of rows than was agreed on is found before anything is sent.
    let folder = tempfile::tempdir().unwrap();
    let own = holdings(folder.path(), &[table(0)], "csv").remove(0);
    let part = parts(&Agreement::parse(&of(33, -20, "noise = { sigma = 2.0 }")).unwrap()).remove(0);
    let error = part.steps(&own).err().unwrap().to_string();
    assert!(error.contains("`rows` is 33") && error.contains("32 rows"), "{error}");
    let _ = agreement(2, "grid = 1.0", "experiment = 'averaging'\nnoise = { sigma = 1.0 }");
}
