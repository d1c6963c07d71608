//! Pictures of the book, drawn by the program: a ring of peers, coloured by what listeners learn of each.
//!
//! They are committed (`docs/pictures`), so that they are seen wherever the pages are read; a test holds them against what is drawn.

use std::f64::consts::TAU;

use serde_json::Value;
use sottovoce_report::{ColourBar, GraphPicture};

/// How many sit on the ring.
const PEERS: u32 = 12;

/// The names of all pictures, and their SVG.
pub(crate) fn all() -> Result<Vec<(String, String)>, String> {
    let ring = std::env::temp_dir().join(format!("sottovoce-book-{}.txt", std::process::id()));
    let edges: String = (0..PEERS).map(|u| format!("{u} {}\n", (u + 1) % PEERS)).collect();
    std::fs::write(&ring, edges).map_err(|why| why.to_string())?;
    let file = ring.display().to_string();
    let drawn = [
        ("ring-plain", "Plain gossip", &["0"][..], &[][..]),
        ("ring-relay", "With fresh noise on every message", &["0"], &["--relay-noise", "0.1"]),
        ("ring-coalition", "The same, and two who pool", &["0", "6"], &["--relay-noise", "0.1"]),
    ]
    .map(|(name, title, observers, more)| {
        Ok((format!("docs/pictures/{name}.svg"), ring_of(title, &losses(&file, observers, more)?, observers)))
    });
    let drawn = drawn.into_iter().collect();
    // A file that stays behind in a temporary folder harms nobody.
    _ = std::fs::remove_file(ring);
    drawn
}

/// What the observers learn of each, in units of local DP, as `account averaging` says.
fn losses(ring: &str, observers: &[&str], more: &[&str]) -> Result<Vec<f64>, String> {
    let observers = observers.join(",");
    let words =
        ["account", "averaging", "--graph", ring, "--steps", "6", "--observers", &observers, "--json"];
    let answer = sottovoce_cli::ask(&[&words[..], more].concat()).map_err(|fault| fault.message)?;
    let found: Value = serde_json::from_str(&answer.printed).map_err(|why| why.to_string())?;
    let losses = found["leakage"].as_array().ok_or("`account averaging` says nothing of each peer")?;
    Ok(losses.iter().filter_map(Value::as_f64).collect())
}

fn ring_of(title: &str, losses: &[f64], observers: &[&str]) -> String {
    let place = |u: u32| (TAU * f64::from(u) / f64::from(PEERS)).sin_cos();
    let listens = |u: usize| observers.contains(&u.to_string().as_str());
    let label = |(u, loss): (usize, &f64)| match listens(u) {
        true => format!("peer {u} listens"),
        false => format!("peer {u}: loss {loss:.3}"),
    };
    let picture = GraphPicture {
        title: format!(
            "{title}: what {} of {PEERS} peers on a ring learns of the others",
            observers.join(" and ")
        ),
        description: losses.iter().enumerate().map(label).collect::<Vec<_>>().join("; "),
        positions: (0..PEERS).map(place).collect(),
        edges: (0..PEERS).map(|u| (u, (u + 1) % PEERS)).collect(),
        values: losses.to_vec(),
        labels: losses.iter().enumerate().map(label).collect(),
        observer: observers.first().and_then(|first| first.parse().ok()),
        bar: ColourBar {
            title: "loss".to_owned(),
            ticks: [0.0, 0.25, 0.5, 0.75, 1.0].map(|at| (at, format!("{at}"))).to_vec(),
        },
        size: (420.0, 320.0),
    };
    let name = |u: u32| match listens(u as usize) {
        true => format!("{u} listens"),
        false => u.to_string(),
    };
    let names: Vec<String> = (0..PEERS).map(name).collect();
    picture.named(&names, &[]).svg() + "\n"
}
