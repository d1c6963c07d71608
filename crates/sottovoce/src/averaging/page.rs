//! The report of an averaging: what its page shows.

use sottovoce_audit::reconstruct::{Claim, Findings, Target};
use sottovoce_privacy::{Guarantee, limits};
use sottovoce_protocol::public::Scheme;
use sottovoce_report::{
    Attack, AttackRow, AveragingReport, Cell, GuaranteeLine, Promised, Provenance, Series, layout,
};
use sottovoce_topology::Graph;
use sottovoce_views::door::Source;
use sottovoce_views::utility::Contraction;

use super::grid::{Grid, Point, left, with};
use super::run::{ATTACKS, Averaged, Judged, Measured};
use super::trade::Trade;
use super::words;
use crate::Result;
use crate::names::Names;
use crate::origin::graph_hash;
use crate::terms::Stated;

const NOTES: [&str; 3] = [
    "Losses are in units of local DP: 1 is no protection beyond a peer's own noise, 0 is nothing learnt. They are exact \
     (docs/theorems/linear-views.md) and assume that peers follow the protocol and are merely curious.",
    "The mean over pairs is a summary, and a guarantee for nobody.",
    super::STARRED,
];

const MASKED: &str = "Under masks whoever sees every message knows the sum of the honest peers and nothing else (docs/theorems/ring.md). The pictures show whose noise is in it: a loss \
                      of 1/m where m peers hide each other. It bounds what a single peer learns, too; what is promised are the epsilons.";

/// The observers' best reconstruction of everyone's value in this run, against what the accountant says.
pub(super) fn attack(run: &Judged<'_>) -> Result<Attack> {
    if run.views.run.source(&run.observers()) != Source::Planned {
        let text = "Not attacked: peers went on without neighbours that they did not hear, and the attack knows only planned messages. The losses are \
                    those of what was really sent.";
        return Ok(Attack { text: text.into(), rows: Vec::new(), fell: false });
    }
    match run.question().reconstruct(&Claim::Exact, |_| ()) {
        Ok(findings) => {
            let (text, rows) = (verdict(run, &findings), findings.targets.iter().map(row).collect());
            Ok(Attack { text, rows, fell: !findings.passed() })
        }
        // Too many messages for a matrix: everything else still holds.
        Err(refusal) => {
            Ok(Attack { text: format!("Not attacked: {refusal}."), rows: Vec::new(), fell: false })
        }
    }
}

fn verdict(run: &Judged<'_>, findings: &Findings) -> String {
    let outcome = if findings.passed() {
        "the measured errors agree with the accountant for every peer"
    } else {
        "THE MEASURED ERRORS DO NOT AGREE WITH THE ACCOUNTANT: please report the seed"
    };
    let names: Vec<String> = run.question().observers.iter().map(|&peer| run.ready.name(peer)).collect();
    let who = match (&names[..], run.ready.setting.cancelling.is_some()) {
        ([], _) => "Someone who sees every message".to_owned(),
        (_, true) => format!("Someone who sees every message and holds the secrets of {}", names.join(", ")),
        ([one], _) => format!("Peer {one}"),
        (several, _) => format!("Peers {}", several.join(", ")),
    };
    let column = match &run.ready.values.columns[..] {
        [_] => String::new(),
        several => format!(" (of {})", several[0]),
    };
    format!(
        "{who} attacked everyone {ATTACKS} times with the best unbiased estimate of their private value{column}, knowing all other values. The \
         values are those of this run. The mean squared error should be sigma² / loss; {outcome} ({:.1} % confidence over all peers together). Fully \
         exposed: {}.",
        100.0 * findings.confidence,
        match findings.exposed().len() {
            0 => "nobody".to_owned(),
            n => format!("{n} of {}", findings.targets.len()),
        }
    )
}

fn row(target: &Target) -> AttackRow {
    AttackRow {
        peer: target.peer,
        distance: target.distance.and_then(|hops| u16::try_from(hops).ok()).unwrap_or(u16::MAX),
        loss: target.loss,
        predicted: target.informed.map_or(f64::INFINITY, |errors| errors.predicted),
        measured: target.informed.map_or(f64::INFINITY, |errors| errors.measured),
        low: target.interval.map_or(0.0, |interval| interval.lower),
        high: target.interval.map_or(f64::INFINITY, |interval| interval.upper),
        exposed: target.exposed,
    }
}

/// Everything that the page shows.
pub(super) fn report(
    run: &Judged<'_>,
    found: &Averaged,
    grid: &Grid,
    points: &[Point],
    measured: &Measured,
    attack: Attack,
    all: &[(String, Guarantee)],
) -> Result<AveragingReport> {
    let (ready, n) = (run.ready, run.ready.peers());
    let chosen = &points[grid.chosen.0 * grid.steps.len() + grid.chosen.1];
    let graph = &ready.place.graph;
    let report = AveragingReport {
        title: found.title.clone(),
        summary: found.summary.clone(),
        positions: positions(graph, run.seed),
        edges: pairs(graph),
        labels: ready.names(),
        observer: run.observers()[0],
        relay_noises: grid.relay.clone(),
        steps: grid.steps.clone(),
        chosen: grid.chosen,
        distances: (run.views.hops.iter())
            .map(|hops| hops.iter().map(|&hops| u16::try_from(hops).unwrap_or(u16::MAX)).collect())
            .collect(),
        central: ready.sigma * ready.sigma / ((n * n) as f64 * chosen.error),
        errors: errors(run, measured)?,
        traded: found.trade.as_ref().map(Trade::traded),
        attack,
        guarantees: lines(all, found.delta, graph)?,
        notes: [crate::SIMULATED]
            .iter()
            .chain(ready.setting.masks.as_ref().map(|_| &MASKED))
            .chain(&NOTES)
            .map(|note| note.to_string())
            .collect(),
        cells: cells(run, found, grid, points, all)?,
        headline: found.headline.clone(),
        beside: Vec::new(),
        provenance: Provenance {
            seed: Some(run.seed),
            graph_hash: Some(short(ready.place.sha256.as_ref()).unwrap_or_else(|| graph_hash(graph))),
            ..Provenance::default()
        },
    };
    report.check()?;
    Ok(report)
}

/// As much of a SHA-256 as a page shows.
fn short(sha256: Option<&String>) -> Option<String> {
    sha256.map(|all| all.chars().take(16).collect())
}

/// Where peers are drawn: where they are, or where forces put them.
fn positions(graph: &Graph, seed: u64) -> Vec<(f64, f64)> {
    match graph.coordinates() {
        Some(places) => places.iter().map(|&[x, y]| (x, y)).collect(),
        None => layout(graph.nodes(), &pairs(graph), seed),
    }
}

fn pairs(graph: &Graph) -> Vec<(u32, u32)> {
    graph.edges().map(|(u, v)| (u as u32, v as u32)).collect()
}

/// Mean squared error by step of plain gossip: measured, predicted, and what would remain without relay noise.
fn errors(run: &Judged<'_>, measured: &Measured) -> Result<Vec<Series>> {
    let ready = run.ready;
    let Scheme::Gossip { mixing, accelerated: false, .. } = &ready.setting.scheme else {
        return Ok(Vec::new());
    };
    let steps = measured.by_step.len() - 1;
    let contraction = Contraction::new(mixing, steps)?;
    let left = left(mixing, ready, steps)?;
    let curve = |name: &str, value: &dyn Fn(usize) -> f64| Series {
        name: name.into(),
        points: (0..=steps).map(|t| (t as f64, value(t))).collect(),
        band: None,
    };
    let (sigma, tau) = (ready.sigma, ready.tau());
    let seen = curve(&format!("measured over {} runs (95 %)", measured.runs), &|t| measured.by_step[t].0);
    let band = |(mean, error): &(f64, f64)| (mean - 1.96 * error, mean + 1.96 * error);
    let mut all = vec![
        Series { band: Some(measured.by_step.iter().map(band).collect()), ..seen },
        curve("predicted", &|t| left[t] + contraction.noise_error(t, sigma, tau)),
    ];
    if tau > 0.0 {
        all.push(curve("without relay noise", &|t| left[t] + contraction.noise_error(t, sigma, 0.0)));
    }
    all.push(curve("all noises averaged perfectly", &|_| sigma * sigma / ready.peers() as f64));
    Ok(all)
}

/// The lines of guarantees.
fn lines(all: &[(String, Guarantee)], delta: f64, graph: &Graph) -> Result<Vec<GuaranteeLine>> {
    all.iter().map(|(about, guarantee)| line(about, guarantee, delta, graph)).collect()
}

/// The grid for the page: losses, and what would be said and promised at each point of it.
fn cells(
    run: &Judged<'_>,
    found: &Averaged,
    grid: &Grid,
    points: &[Point],
    own: &[(String, Guarantee)],
) -> Result<Vec<Cell>> {
    let mut cells = Vec::with_capacity(points.len());
    for (i, point) in points.iter().enumerate() {
        let place = (i / grid.steps.len(), i % grid.steps.len());
        let (all, headline) = if place == grid.chosen {
            (own.to_vec(), found.headline.clone())
        } else {
            let setting = with(&run.ready.setting, grid.relay[place.0], grid.steps[place.1]);
            let all = run.views.elsewhere(setting, point.pairs.clone())?.guarantees()?;
            let average = format!(
                "With relay noise {} and {} steps, an average known to ± {:.2}",
                grid.relay[place.0],
                grid.steps[place.1],
                point.error.sqrt()
            );
            let said = words::costs(&average, &all, found.delta, true, None)?;
            (all, said)
        };
        let promised = lines(&all, found.delta, &run.ready.place.graph)?.iter().map(Promised::from).collect();
        cells.push(Cell { headline, promised, ..cell(point) });
    }
    Ok(cells)
}

fn line(about: &str, guarantee: &Guarantee, delta: f64, graph: &Graph) -> Result<GuaranteeLine> {
    let mut line = Stated::new(about, guarantee, delta)?.named(&Names::of_graph(graph)).line();
    line.not_covered.push(limits::SIMULATION.to_owned());
    Ok(line)
}

fn cell(point: &Point) -> Cell {
    // Never shown smaller than it is.
    let up = |loss: &f64| {
        let near = *loss as f32;
        if f64::from(near) < *loss { near.next_up() } else { near }
    };
    Cell {
        losses: point.pairs.leakages.iter().map(|leakage| leakage.losses.iter().map(up).collect()).collect(),
        error: point.error,
        mean: point.mean,
        worst_far: point.worst_far,
        ..Cell::default()
    }
}
