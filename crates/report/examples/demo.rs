//! Writes a made-up report into a folder, to look at: `cargo run -p sottovoce-report --example demo -- FOLDER [PEERS]`.
//!
//! The numbers are shaped like an experiment's but mean nothing.

use std::error::Error;
use std::path::Path;

use sottovoce_report::{Attack, AttackRow, AveragingReport, Cell, GuaranteeLine, Series};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("give the folder to write into")?;
    let peers = arguments.next().map_or(Ok(64), |n| n.parse())?;
    for file in report(peers).write(Path::new(&folder), true)? {
        println!("{}", file.display());
    }
    Ok(())
}

/// A number in [0, 1) from a counter.
fn draw(counter: u64) -> f64 {
    let mut z = counter.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
}

fn report(n: usize) -> AveragingReport {
    let positions: Vec<(f64, f64)> = (0..n as u64).map(|i| (draw(2 * i), draw(2 * i + 1))).collect();
    let edges = near(&positions, 1.55 / (n as f64).sqrt());
    let distances = hops(n, &edges);
    let (relay_noises, steps) = (vec![0.25, 0.5, 1.0, 2.0, 4.0], vec![5, 10, 20, 40, 80, 160]);
    let axes = relay_noises.iter().flat_map(|r| steps.iter().map(move |s| (*r, *s)));
    let cells = axes.map(|(relay, steps)| cell(&distances, relay, steps)).collect();
    AveragingReport {
        title: format!("Private averaging on a geometric graph of {n} peers"),
        summary: summary(n, edges.len()),
        observer: 5.min(n - 1),
        chosen: (2, 2),
        published: matrix(&distances, |d, _| 2.4 / (0.6 + f64::from(d))),
        central: 1.0 / n as f64,
        errors: errors(),
        attack: attack(&distances[5.min(n - 1)]),
        guarantees: guarantees(),
        notes: vec!["These data are made up: they show the page, not a result.".into()],
        labels: None,
        positions,
        edges,
        relay_noises,
        steps,
        cells,
        distances,
        ..AveragingReport::default()
    }
}

fn near(at: &[(f64, f64)], reach: f64) -> Vec<(u32, u32)> {
    let far = |a: usize, b: usize| (at[a].0 - at[b].0).hypot(at[a].1 - at[b].1);
    (0..at.len())
        .flat_map(|a| (a + 1..at.len()).map(move |b| (a, b)))
        .filter(|(a, b)| far(*a, *b) < reach)
        .map(|(a, b)| (a as u32, b as u32))
        .collect()
}

fn hops(n: usize, edges: &[(u32, u32)]) -> Vec<Vec<u16>> {
    let mut next = vec![Vec::new(); n];
    for (a, b) in edges.iter().map(|(a, b)| (*a as usize, *b as usize)) {
        next[a].push(b);
        next[b].push(a);
    }
    let from = |start: usize| {
        let mut row = vec![u16::MAX; n];
        row[start] = 0;
        let mut queue = std::collections::VecDeque::from([start]);
        while let Some(at) = queue.pop_front() {
            for to in next[at].iter().copied() {
                if row[to] == u16::MAX {
                    row[to] = row[at] + 1;
                    queue.push_back(to);
                }
            }
        }
        row
    };
    (0..n).map(from).collect()
}

fn matrix(distances: &[Vec<u16>], value: impl Fn(u16, u64) -> f64) -> Vec<Vec<f64>> {
    let row = |(a, row): (usize, &Vec<u16>)| {
        let at = |(b, d): (usize, &u16)| match *d {
            0 | u16::MAX => 0.0,
            d => value(d, (a * row.len() + b) as u64),
        };
        row.iter().enumerate().map(at).collect()
    };
    distances.iter().enumerate().map(row).collect()
}

fn cell(distances: &[Vec<u16>], relay: f64, steps: usize) -> Cell {
    let strength = (1.0 / (1.0 + relay)) * (steps as f64 / 160.0).powf(0.25);
    let losses = matrix(distances, |d, k| {
        let fade = 0.45f64.powi(i32::from(d) - 1) + 0.012;
        (strength * fade * (0.55 + 0.9 * draw(k))).min(1.0)
    });
    let pairs = (distances.len() * (distances.len() - 1)) as f64;
    let far = losses.iter().flatten().zip(distances.iter().flatten()).filter(|(_, d)| **d >= 2);
    Cell {
        mean: losses.iter().flatten().sum::<f64>() / pairs,
        worst_far: far.map(|(l, _)| *l).fold(0.0, f64::max),
        error: 0.004 * (1.0 + relay * relay) + 0.6 * (-0.06 * steps as f64).exp(),
        losses: losses.iter().map(|r| r.iter().map(|l| *l as f32).collect()).collect(),
        ..Cell::default()
    }
}

fn summary(peers: usize, edges: usize) -> Vec<(String, String)> {
    let rows = [
        ("Protocol", "correlated noise, then gossip".to_string()),
        ("Peers", peers.to_string()),
        ("Links", edges.to_string()),
        ("Relay noise", "1.00".into()),
        ("Steps", "20".into()),
        ("Seed", "20261115".into()),
        ("Adversary", "one honest-but-curious peer".into()),
        ("Unit", "a peer's value".into()),
    ];
    rows.map(|(label, value)| (label.to_string(), value)).to_vec()
}

fn errors() -> Vec<Series> {
    let curve = |name: &str, floor: f64, rate: f64, spread: f64| {
        let points: Vec<(f64, f64)> =
            (0..=80).map(|s| (f64::from(s), floor + 0.8 * (-rate * f64::from(s)).exp())).collect();
        let band = points.iter().map(|p| (p.1 / spread, p.1 * spread)).collect();
        Series { name: name.into(), points, band: (spread > 1.0).then_some(band) }
    };
    vec![
        curve("this run", 0.009, 0.11, 1.35),
        curve("predicted", 0.009, 0.11, 1.0),
        curve("local DP", 0.08, 0.16, 1.2),
        curve("trusted aggregator", 0.0012, 3.0, 1.0),
    ]
}

fn attack(distances: &[u16]) -> Attack {
    let row = |(peer, distance): (usize, &u16)| {
        let predicted = 0.5 + 0.45 * 0.55f64.powi(i32::from(*distance));
        let measured = predicted + 0.03 * (draw(77 + peer as u64) - 0.5);
        AttackRow {
            peer,
            distance: *distance,
            loss: 0.5 * 0.45f64.powi(i32::from(*distance) - 1),
            predicted,
            measured,
            low: measured - 0.02,
            high: measured + 0.02,
            exposed: *distance == 1 && peer % 3 == 0,
        }
    };
    let rows = distances.iter().enumerate().filter(|(_, d)| **d != 0 && **d != u16::MAX).map(row).collect();
    let text = "The observer guesses, from everything it received, which of two values each other peer started with. \
                The table gives the share of right guesses in 4000 runs, the share that the account predicts, and a \
                95 % interval.";
    Attack { text: text.into(), rows }
}

fn guarantees() -> Vec<GuaranteeLine> {
    let line = |statement: &str, loss: &str, standing: &str| GuaranteeLine {
        statement: statement.into(),
        adversary: "one honest-but-curious peer".into(),
        unit: "a peer's value".into(),
        adjacency: "replace one value".into(),
        loss: loss.into(),
        standing: standing.into(),
        not_covered: vec!["peers who deviate from the protocol".into()],
        ..GuaranteeLine::default()
    };
    vec![
        line("No peer at two hops or more learns more than this of another.", "μ = 0.31", "Proven"),
        line("The same, averaged over all pairs.", "μ = 0.12", "Conditional"),
        line("The formula of the original paper for the same graph.", "ε = 2.4", "Published"),
    ]
}
