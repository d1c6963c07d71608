//! The same gradients from inside and from outside give the same models and the same promises.

use std::path::Path;
use std::sync::Arc;

use sottovoce_engine::learning::Session;
use sottovoce_learning::outside::{Asked, Digested};
use sottovoce_learning::{Clip, Error as Wrong, Loss, Model, Oracle, Shard, Task};
use sottovoce_privacy::Standing;

use super::*;

const PEERS: usize = 12;

/// Computes a built-in task's gradients, row by row.
struct Inside(Task);

impl Oracle for Inside {
    fn gradient(&self, asked: Asked<'_>) -> Result<Digested, Wrong> {
        let Shard { features, labels, width } = self.0.shard(asked.peer);
        let model = Model { loss: Loss::Logistic, width, ridge: 0.0 };
        let all: Vec<usize> = (0..labels.len()).collect();
        let picked = asked.rows.unwrap_or(&all);
        let mut vectors = vec![0.0; picked.len() * width];
        for (out, &row) in vectors.chunks_exact_mut(width).zip(picked) {
            let one =
                Shard { features: &features[row * width..][..width], labels: &labels[row..=row], width };
            model.gradient(asked.model, one, Clip::None, out);
        }
        asked.digest.of(&vectors, &[picked.len(), width])
    }
}

fn experiment(task: &str, rest: &str) -> Experiment {
    Experiment::parse(&format!("experiment = 'learning'\n[task]\npeers = {PEERS}\n{task}\n{rest}")).unwrap()
}

fn built_in(task: &str, rest: &str) -> (Task, Vec<f64>, f64) {
    let Experiment::Learning(asked) = experiment(&format!("rows = 9\n{task}"), rest) else {
        panic!("learning")
    };
    let ready = asked.ready(Path::new(""), 5).unwrap();
    let job = asked.job(&ready, 5);
    let (settings, last) = job.settings(5).unwrap();
    let mut session = Session::new(job.task, job.mixings, settings.clone(), 2).unwrap();
    session.finish(last).unwrap();
    (ready.task.clone(), session.models(), settings.sigma)
}

fn outside(task: &Task) -> Outside {
    let rows = (0..task.peers()).map(|peer| task.rows_of(peer)).collect();
    Outside { oracle: Arc::new(Inside(task.clone())), rows, start: task.start() }
}

#[test]
fn the_same_gradients_give_the_same_models_and_promises() {
    for (task, rest) in [
        ("clip = 0.3", "[protocol]\nmethod = 'butterfly'\niterations = 4\n[target]\nepsilon = 3.0"),
        (
            "clip = 0.3\nclipped = 'user'",
            "[protocol]\nmethod = 'gossip'\niterations = 3\n[noise]\nsigma = 2.0",
        ),
        ("batch = 4", "[protocol]\nmethod = 'local'\niterations = 3\n[noise]\nsigma = 2.0"),
        ("clip = 0.3", "[protocol]\nmethod = 'central'\niterations = 3\n[noise]\nsigma = 2.0"),
        ("clip = 0.3", "[protocol]\nmethod = 'walk'\niterations = 3\n[noise]\nsigma = 2.0"),
        ("clip = 0.3", "[protocol]\nmethod = 'gossip'\niterations = 3\n[noise]\nsigma = 0.0"),
    ] {
        let (inner, models, sigma) = built_in(task, rest);
        let mut seen = 0;
        let found =
            train(&experiment(task, rest), Path::new(""), Some(5), outside(&inner), &mut |moment, models| {
                assert!(moment.step > 0 && !models().is_empty());
                seen += 1;
                true
            })
            .unwrap();
        assert_eq!(found.noise_multipliers, vec![sigma; PEERS]);
        // A row's slope is clipped there and its vector here, and sums are rounded otherwise.
        let own: Vec<f64> = found.models.concat();
        assert_eq!(own.len(), models.len());
        assert!(own.iter().zip(&models).all(|(x, y)| (x - y).abs() < 1e-12), "{rest}: {own:?} {models:?}");
        assert!(seen > 0 && found.bytes > 0 && found.sensitivity == inner.sensitivity());
        assert_eq!(found.guarantees.is_empty(), sigma == 0.0);
        for stated in &found.guarantees {
            let Standing::Conditional(on) = &stated.standing else { panic!("{:?}", stated.standing) };
            assert!(on.iter().any(|one| one.contains("reads no other peer's rows")), "{on:?}");
            assert!(stated.not_covered.iter().any(|one| one.contains("taken for public")));
        }
        // The noise is found for one observer; others are promised what follows for them.
        if let Some((_, asked)) = rest.split_once("epsilon = ") {
            let asked: f64 = asked.parse().unwrap();
            let promised = found.guarantees.iter().filter_map(|stated| stated.epsilon);
            assert!(promised.clone().any(|epsilon| epsilon <= asked), "{:?}", promised.collect::<Vec<_>>());
        }
    }
}

/// A row is a number, and the loss its squared distance: a mean is learned.
struct Numbers;

impl Oracle for Numbers {
    fn gradient(&self, asked: Asked<'_>) -> Result<Digested, Wrong> {
        let rows = asked.digest.rows;
        asked.digest.of(&vec![asked.model[0] - 0.5; rows], &[rows, 1])
    }
}

fn numbers(peers: usize) -> Outside {
    Outside { oracle: Arc::new(Numbers), rows: vec![200; peers], start: vec![0.0] }
}

fn deep(rest: &str) -> Result<Trained> {
    let experiment = Experiment::parse(&format!("experiment = 'deep'\n{rest}")).unwrap();
    train(&experiment, Path::new(""), Some(1), numbers(6), &mut |_, _| true)
}

#[test]
fn one_row_is_protected_by_lots() {
    let rest = "[protocol]\nmethod = 'dsgt'\nrounds = 40\nlot = 20.0\nrate = 0.2\n";
    let found = deep(&format!("{rest}[target]\nepsilon = 6.0")).unwrap();
    let stated = &found.guarantees[0];
    assert!((5.5..=6.0).contains(&stated.epsilon.unwrap()), "{stated:?}");
    let Standing::Conditional(on) = &stated.standing else { panic!("{:?}", stated.standing) };
    assert!(on[0].contains("from that row and the model alone"));
    assert!(found.models.iter().all(|model| (model[0] - 0.5).abs() < 0.4), "{:?}", found.models);
    let last = found.history.last().unwrap();
    assert!(last.step == 40 && last.epsilon.unwrap() >= stated.epsilon.unwrap());
    let silent = deep(&format!("{rest}[noise]\nnoise-multiplier = 0.0")).unwrap();
    assert!(silent.guarantees.is_empty());
    assert!(
        silent.history.iter().skip(1).all(|moment| moment.epsilon.is_none()),
        "after the start, at which nothing was said"
    );
}

#[test]
fn what_does_not_suit_is_named() {
    let said = |result: Result<Trained>| result.unwrap_err().to_string();
    assert!(said(deep("[task]\nimages = 100")).starts_with("`task` is given"));
    assert!(said(deep("[task]\nagents = 5")).starts_with("`agents` is 5"));
    assert!(said(deep("[protocol]\nmodel = 'cnn'")).starts_with("`model` is given"));
    assert!(said(deep("[protocol]\nmethod = 'central'")).starts_with("`method` is central"));
    assert!(said(deep("[graph]\nfamily = { ring = { n = 5 } }")).starts_with("`graph` is one of 5 peers"));
    let learning = |text: &str, outside: Outside| {
        let experiment = Experiment::parse(&format!("experiment = 'learning'\n{text}")).unwrap();
        said(train(&experiment, Path::new(""), Some(1), outside, &mut |_, _| true))
    };
    assert!(learning("[task]\nridge = 0.1", numbers(4)).starts_with("`task` is given"));
    assert!(learning("[task]\npeers = 5", numbers(4)).starts_with("`peers` is 5"));
    assert!(learning("[task]\nclipped = 'nothing'", numbers(4)).starts_with("`clip` is none"));
    assert!(learning("[task]\nbatch = 201", numbers(4)).starts_with("`batch` is 201"));
    assert!(learning("", Outside { start: vec![], ..numbers(4) }).starts_with("`start` is empty"));
    let rumor = Experiment::parse("experiment = 'rumor'").unwrap();
    assert!(
        said(train(&rumor, Path::new(""), Some(1), numbers(4), &mut |_, _| true))
            .starts_with("`experiment` is rumor")
    );
    let stopped = experiment("", "");
    assert!(
        said(train(&stopped, Path::new(""), Some(1), numbers(PEERS), &mut |_, _| false))
            .contains("was stopped")
    );
}

/// All rows alike, on one side or on the other.
struct Sides(f64);

impl Oracle for Sides {
    fn gradient(&self, asked: Asked<'_>) -> Result<Digested, Wrong> {
        let side = if asked.peer == 2 { self.0 } else { 0.0 };
        let rows = asked.digest.rows;
        asked.digest.of(&vec![side; rows], &[rows, 1])
    }
}

#[test]
fn claims_of_own_training_are_attacked() {
    let versions =
        [9.0, -9.0].map(|side| Outside { oracle: Arc::new(Sides(side)), rows: vec![3; 4], start: vec![0.0] });
    let experiment = |sigma: f64| {
        Experiment::parse(&format!(
            "experiment = 'learning'\n[protocol]\niterations = 2\n[noise]\nsigma = {sigma:?}"
        ))
        .unwrap()
    };
    let caught = audit(&experiment(0.5), Path::new(""), 3, versions.clone(), (2, 500), || ()).unwrap();
    // The versions are as far apart as clipping lets them be.
    assert!((caught.mu - 8.0_f64.sqrt()).abs() < 1e-9, "{}", caught.mu);
    assert!(caught.stands && caught.mu_lower > 1.5, "{caught:?}");
    let said = |versions, peer| {
        audit(&experiment(0.5), Path::new(""), 3, versions, (peer, 5), || ()).unwrap_err().to_string()
    };
    assert!(said(versions.clone(), 4).starts_with("`peer` is 4"));
    let mut other = versions;
    other[1].rows[0] = 7;
    assert!(said(other, 2).starts_with("`instead` is of another form"));
}
