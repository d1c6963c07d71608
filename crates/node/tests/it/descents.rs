//! From one agreement to peers who descend: the model is right but for the noise, what was debited is what the accountant says, and wild data costs no more.

use crate::common;

use common::parts::{
    agreement, check_debits, check_transcripts, holdings, key, peer, rehearse, rho, stands, text,
};
use sottovoce::experiment::Experiment;
use sottovoce_learning::{Clip, Loss, Model, Shard};
use sottovoce_node::descent::{Descent, Gossiped, Summed};
use sottovoce_node::{Agreement, Observer, Part, Priced, Stands};
use sottovoce_privacy::Unit;
use sottovoce_protocol::Peer;
use sottovoce_protocol::averaging::{Butterfly, Plan};

const PEERS: usize = 5;
const STEPS: usize = 4;
/// Step size and clipping, and so the length of a step.
const SIZE: f64 = 1.0;
const CLIP: f64 = 0.5;

fn experiment(more: &str) -> String {
    format!(
        "experiment = 'learning'\ntask = {{ range = ['a=-1:1', 'b=-1:1'], positive = 'yes', clip = {CLIP} }}\nstep = {{ size = {SIZE:?} }}\n{more}"
    )
}

fn butterfly(sigma: f64, grid: i32, masks: bool) -> Agreement {
    let fields =
        format!("grid = {:?}\nwidth = 3\nmasks = {masks}\ncoalitions = [['p0', 'p1']]", 2f64.powi(grid));
    let more = format!(
        "protocol = {{ method = 'butterfly', iterations = {STEPS} }}\nnoise = {{ sigma = {sigma:?} }}"
    );
    agreement(PEERS, &fields, &experiment(&more))
}

fn parts(agreement: &Agreement) -> Vec<Descent> {
    let Experiment::Learning(learning) = agreement.experiment().unwrap() else { panic!("learning") };
    (0..PEERS).map(|peer| Descent::new(agreement, &learning, peer).unwrap()).collect()
}

/// Rows that a line tells apart, other ones at each peer.
fn rows(peer: Peer) -> Vec<(f64, f64, bool)> {
    (0..20)
        .map(|i| {
            let (a, b) = ((i * 7 + peer * 3) % 20, (i * 11 + peer) % 20);
            let (a, b) = (a as f64 / 10.0 - 1.0, b as f64 / 10.0 - 1.0);
            (a, b, a + 0.5 * b > 0.1)
        })
        .collect()
}

fn table(peer: Peer) -> String {
    let line = |(a, b, yes): &(f64, f64, bool)| format!("{a},{b},{}\n", if *yes { "yes" } else { "no" });
    format!("a,b,label\n{}", rows(peer).iter().map(line).collect::<String>())
}

/// The model without noise.
fn plain() -> Vec<f64> {
    let model = Model { loss: Loss::Logistic, width: 3, ridge: 0.0 };
    let mut theta = vec![0.0; 3];
    for _ in 0..STEPS {
        let mut sum = vec![0.0; 3];
        for peer in 0..PEERS {
            // Every fifth row is for testing; rows are scaled to a length of 1 at most, and have an intercept.
            let kept: Vec<_> = rows(peer).into_iter().enumerate().filter(|(i, _)| i % 5 != 4).collect();
            let root = 2f64.sqrt();
            let features: Vec<f64> =
                kept.iter().flat_map(|(_, (a, b, _))| [a / root, b / root, 1.0]).collect();
            let labels: Vec<f64> = kept.iter().map(|(_, (.., yes))| if *yes { 1.0 } else { -1.0 }).collect();
            let mut gradient = vec![0.0; 3];
            let shard = Shard { features: &features, labels: &labels, width: 3 };
            model.gradient(&theta, shard, Clip::Example(CLIP), &mut gradient);
            sum.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += g);
        }
        theta.iter_mut().zip(sum).for_each(|(x, g)| *x -= SIZE * g / PEERS as f64);
    }
    theta
}

fn models(stands: Vec<Stands>) -> Vec<Vec<f64>> {
    let model = |stands| match stands {
        Stands::Done(model) => model,
        other => panic!("{other:?}"),
    };
    stands.into_iter().map(model).collect()
}

fn run<P: Part>(parts: &[P], contents: &[String]) -> Vec<Vec<f64>>
where
    <P::Machine as sottovoce_protocol::Machine>::Value: 'static,
{
    let folder = tempfile::tempdir().unwrap();
    let holdings = holdings(folder.path(), contents, "csv");
    let mut rehearsal = rehearse(parts, &holdings, folder.path(), usize::MAX);
    check_debits(parts, &mut rehearsal);
    models(stands(parts, &mut rehearsal))
}

fn near(models: &[Vec<f64>], deviation: f64) {
    for model in models {
        for (found, known) in model.iter().zip(plain()) {
            assert!((found - known).abs() < 6.0 * deviation, "{model:?} and not {:?}", plain());
        }
    }
}

#[test]
fn sums_descend_like_a_server_that_sees_all_and_everybody_has_the_same_model() {
    for masks in [false, true] {
        let sigma = 0.02;
        let agreement = butterfly(sigma, -24, masks);
        let all: Vec<Summed> = parts(&agreement).into_iter().map(Summed).collect();
        let (folder, contents) = (tempfile::tempdir().unwrap(), (0..PEERS).map(table).collect::<Vec<_>>());
        let own = holdings(folder.path(), &contents, "csv");
        let mut rehearsal = rehearse(&all, &own, folder.path(), usize::MAX);
        check_transcripts::<Summed>(&agreement, &mut rehearsal, Unit::User);
        let models = run(&all, &(0..PEERS).map(table).collect::<Vec<_>>());
        assert!(models.iter().all(|model| *model == models[0]), "{models:?}");
        // Noise moves gradients, too: a little room for that.
        near(&models, 1.5 * sigma * 2.0 * SIZE * CLIP * (STEPS as f64 / PEERS as f64).sqrt());
    }
}

#[test]
fn every_step_is_paid_for() {
    let sigma = 4.0;
    let one = 1.0 / (2.0 * sigma * sigma);
    let all = parts(&butterfly(sigma, -24, false));
    // Someone who sees every message sees every step.
    for part in &all {
        let found = rho(part, &Observer::WireTapper);
        let known = STEPS as f64 * one;
        assert!(found >= known && found < known * 1.00001, "{found} {known}");
    }
    // A peer sees what it is told in each position; somebody else is told less.
    let towards = |part: &Descent| {
        (0..PEERS)
            .map(peer)
            .filter(|o| part.observers().contains(o))
            .map(|o| rho(part, &o))
            .collect::<Vec<_>>()
    };
    for part in &all {
        let each = towards(part);
        assert!(each.iter().all(|found| *found <= STEPS as f64 * one * 1.00001 && *found >= one), "{each:?}");
        assert!(each.iter().sum::<f64>() < 0.95 * 4.0 * STEPS as f64 * one, "positions are drawn: {each:?}");
    }
    let pooled = Observer::coalition((0..2).map(|peer| key(peer).name()).collect());
    assert!(rho(&all[3], &pooled) >= rho(&all[3], &peer(0)));
    assert!(!all[0].observers().contains(&pooled), "oneself is no observer");
    // Masks: the sum of all honest ones, under all their noise.
    let masked = parts(&butterfly(sigma, -24, true));
    for (observer, honest) in [(Observer::WireTapper, 4.0), (peer(0), 4.0), (pooled, 3.0)] {
        let (found, known) = (rho(&masked[3], &observer), STEPS as f64 * one / honest);
        assert!(found >= known && found < known * 1.0001, "{observer}: {found} {known}");
    }
    let cost = all[0].cost(&[]).unwrap();
    assert_eq!(cost.releases.iter().map(|(_, times)| *times).collect::<Vec<_>>(), [STEPS as u64]);
    // Somebody else's budget, of another run: nothing is learnt without a part in this one.
    let stranger = Observer::Peer(sottovoce_node::Key::simulated(7).name());
    let cost = all[0].cost(std::slice::from_ref(&stranger)).unwrap();
    let (_, price) = cost.prices.iter().find(|(known, _)| *known == stranger).unwrap();
    assert!(price.loss.is_none() && price.delta == 0.0);
}

#[test]
fn a_target_is_kept_by_what_is_debited() {
    for (masks, against) in
        [(false, "wire-tapper"), (false, "worst-peer"), (true, "wire-tapper"), (true, "worst-peer")]
    {
        let fields = format!("grid = {:?}\nwidth = 3\nmasks = {masks}", 2f64.powi(-20));
        let more = format!(
            "protocol = {{ method = 'butterfly', iterations = 7 }}\ntarget = {{ epsilon = 2.0, delta = 1e-6, against = '{against}' }}"
        );
        let all = parts(&agreement(PEERS, &fields, &experiment(&more)));
        let mut worst = 0.0;
        for part in &all {
            let observers = if against == "wire-tapper" {
                vec![Observer::WireTapper]
            } else {
                part.observers().into_iter().filter(|o| matches!(o, Observer::Peer(_))).collect()
            };
            for observer in observers {
                let rho = rho(part, &observer);
                let epsilon = sottovoce_privacy::Loss::zcdp(rho).unwrap().epsilon(1e-6).unwrap().upper;
                assert!(epsilon <= 2.0, "{masks} {against}: {epsilon}");
                worst = if epsilon > worst { epsilon } else { worst };
            }
        }
        assert!(worst > 1.98, "{masks} {against}: {worst}");
    }
}

/// A small generator.
fn dice(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    ((*state >> 33) as usize) % below
}

/// Coefficients over honest first values, then over what a coalition injects: another number into each of its messages. Every honest end is constant on the rests, the atoms of
/// what the coalition hears: so it is known.
#[test]
fn honest_states_are_known_whatever_is_injected() {
    let mut state = 5;
    for _ in 0..400 {
        let n = 2 + dice(&mut state, 12);
        let mut positions: Vec<Peer> = (0..n).collect();
        (1..n).rev().for_each(|i| positions.swap(i, dice(&mut state, i + 1)));
        let curious: Vec<bool> = (0..n).map(|_| dice(&mut state, 3) == 0).collect();
        let parts: Vec<Butterfly> = (0..n).map(|peer| Butterfly::sums(&positions, peer)).collect();
        let mut values: Vec<Vec<i64>> = (0..n).map(|i| (0..n).map(|j| i64::from(i == j)).collect()).collect();
        let mut heard: Vec<Vec<i64>> = Vec::new();
        for round in 0..parts[0].rounds() {
            let before = values.clone();
            for (peer, part) in parts.iter().enumerate() {
                let row = part.row(round);
                let mut next: Vec<i64> = before[peer].iter().map(|x| row.own as i64 * x).collect();
                for (from, weight) in &row.from {
                    if curious[peer] && !curious[*from] {
                        heard.push(before[*from].clone());
                    }
                    // What is injected is known, and has no part in what is asked.
                    if !curious[*from] {
                        next.iter_mut().zip(&before[*from]).for_each(|(x, y)| *x += *weight as i64 * y);
                    }
                }
                values[peer] = next;
            }
        }
        let honest: Vec<Peer> = (0..n).filter(|&peer| !curious[peer]).collect();
        if honest.is_empty() || honest.len() == n {
            continue;
        }
        let seen = |u: Peer, v: Peer| heard.iter().all(|message| message[u] == message[v]);
        for &peer in &honest {
            for (&u, &v) in honest.iter().flat_map(|u| honest.iter().map(move |v| (u, v))) {
                assert!(!seen(u, v) || values[peer][u] == values[peer][v], "{n} {positions:?} {curious:?}");
            }
            // Nor is it anything but a sum of what was heard: nobody's part counts twice, and who is in no message is in no state.
            assert!(honest.iter().all(|&u| [0, 1].contains(&values[peer][u])));
            let told = |u: Peer| heard.iter().any(|message| message[u] != 0);
            assert!(honest.iter().all(|&u| told(u) || values[peer][u] == 0 || heard.is_empty()));
        }
        // And the closed form has those rests.
        let observers: Vec<Peer> = (0..n).filter(|&peer| curious[peer]).collect();
        let leakage =
            sottovoce_views::descent::consensus::Averaging::butterfly(&positions, &observers).unwrap();
        for &u in &honest {
            let rest = honest.iter().filter(|&&v| seen(u, v)).count();
            assert!((leakage.leakage().losses[u] - 1.0 / rest as f64).abs() < 1e-12, "{n} {positions:?}");
        }
    }
}

#[test]
fn gossip_is_local() {
    let fields = format!(
        "grid = {:?}\nwidth = 3\nedges = [['p0','p1'],['p1','p2'],['p2','p3'],['p3','p4'],['p4','p0']]",
        2f64.powi(-24)
    );
    for accelerated in [false, true] {
        let more = format!(
            "protocol = {{ method = 'gossip', iterations = {STEPS}, steps = 12, accelerated = {accelerated} }}\nnoise = {{ sigma = 0.02 }}"
        );
        let agreement = agreement(PEERS, &fields, &experiment(&more));
        let all = parts(&agreement);
        let local = STEPS as f64 / (2.0 * 0.02 * 0.02);
        for observer in all[2].observers() {
            let found = rho(&all[2], &observer);
            assert!(found >= local && found < 1.0001 * local, "{observer}: {found}");
        }
        let all: Vec<Gossiped> = all.into_iter().map(Gossiped).collect();
        near(&run(&all, &(0..PEERS).map(table).collect::<Vec<_>>()), 0.02 * 2.0 * SIZE * CLIP * 2.0);
    }
}

#[test]
fn wild_rows_cost_what_others_do() {
    let all: Vec<Summed> = parts(&butterfly(0.02, -24, false)).into_iter().map(Summed).collect();
    let tame: Vec<String> = (0..PEERS).map(table).collect();
    let wild = [
        "a,b,label\n1e300,-1e300,yes\n1e300,1e300,no\n1e300,1e300,yes\n1e-300,0,yes\n0,0,no\n1,1,yes\n"
            .to_owned(),
        format!("a,b,label\n{}", "1,1,yes\n".repeat(400)),
    ];
    for wild in wild {
        let mut contents = tame.clone();
        contents[2] = wild;
        // Debits are checked against the same costs, and no single peer moves the model further than a step of hers.
        let (models, usual) = (run(&all, &contents), run(&all, &tame));
        for (x, y) in models[0].iter().zip(&usual[0]) {
            assert!((x - y).abs() < 2.0 * STEPS as f64 * SIZE * CLIP / PEERS as f64 + 0.2, "{x} {y}");
        }
    }
    // What is no table is refused before anybody is called.
    let folder = tempfile::tempdir().unwrap();
    for (content, expected) in [
        ("", "cannot be read"),
        ("a,b,label\n1,nan,yes\n1,1,yes\n1,1,no\n1,1,no\n1,1,no\n", ""),
        ("a,label\n1,yes\n1,no\n1,no\n1,no\n1,no\n", ""),
    ] {
        let own = holdings(folder.path(), &[content.to_owned()], "csv").remove(0);
        let error = all[0].steps(&own).err().unwrap();
        assert!(error.to_string().to_lowercase().contains(expected), "{error}");
    }
}

#[test]
fn a_file_that_has_changed_is_not_learned_from() {
    let folder = tempfile::tempdir().unwrap();
    let own = holdings(folder.path(), &[table(0)], "csv").remove(0);
    std::fs::write(&own.file, table(1)).unwrap();
    let part = Summed(parts(&butterfly(1.0, -24, false)).remove(0));
    let error = part.steps(&own).err().unwrap().to_string();
    assert!(error.contains("has changed"), "{error}");
}

#[test]
fn what_a_node_cannot_do_is_refused() {
    let good = text(
        PEERS,
        "grid = 0.0009765625\nwidth = 3",
        &experiment("protocol = { method = 'butterfly', iterations = 4 }\nnoise = { sigma = 2.0 }"),
    );
    for (old, new, expected) in [
        ("'butterfly'", "'local'", "`method` is local"),
        ("'butterfly'", "'central'", "`method` is central"),
        ("sigma = 2.0", "sigma = 0.0", "`sigma` is 0"),
        ("sigma = 2.0", "sigma = 2.0, cancel = 3.0", "`cancel` is 3"),
        ("clip = 0.5", "clip = 0.5, clipped = 'nothing'", "`clipped` is nothing"),
        ("clip = 0.5", "clip = 0.5, batch = 4", "`batch` is given"),
        ("clip = 0.5", "clip = 0.5, peers = 9", "`peers` is 9"),
        ("clip = 0.5", "clip = 0.5, rows = 9", "`rows` is given"),
        ("clip = 0.5", "clip = 0.5, split = 'dirichlet:1'", "`split` is dirichlet:1"),
        ("clip = 0.5", "clip = 0.5, ridge = 2.0", "`ridge` is 2"),
        ("[experiment]", "[experiment]\nfinal-model = 'weighted'", "`final-model` is weighted"),
        ("noise =", "graph = { fresh-graphs = 2.0 }\nnoise =", "`fresh-graphs`"),
        ("noise =", "target = { epsilon = 1.0 }\nnoise =", "epsilon is given as well"),
        ("0.0009765625", "1.0", "`grid` is 1"),
        ("0.0009765625", &format!("{:e}", 2f64.powi(-60)), "`grid` is"),
        ("method = 'butterfly'", "method = 'gossip', steps = 2, relay-noise = 1.0", "`relay-noise` is 1"),
    ] {
        let changed = good.replacen(old, new, 1);
        assert_ne!(changed, good, "{old}");
        let error = Agreement::parse(&changed).and_then(|agreement| agreement.role(0).map(drop)).unwrap_err();
        assert!(error.to_string().contains(expected), "{old} -> {new}: {error}");
        assert_eq!(error.exit_code(), 2, "{error}");
    }
    let masked = good.replacen("'butterfly'", "'gossip'", 1).replacen("width", "masks = true\nwidth", 1);
    let error = Agreement::parse(&masked).unwrap().role(0).err().unwrap().to_string();
    assert!(error.contains("`masks`"), "{error}");
    let agreement = Agreement::parse(&good).unwrap();
    assert!(agreement.role(PEERS).is_err() && agreement.role_saying(0, Some("hello")).is_err());
}
