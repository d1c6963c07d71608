//! Times a token that walks: steps of private logistic regression per second and core, on data of the shape of Houses among 2048 peers on a
//! hypercube; and, where Python with NumPy is at hand, the same loop there. Prints the ratio.
//!
//! `cargo bench -p sottovoce --bench learning`

use std::process::Command;
use std::time::Instant;

use sottovoce_engine::learning::{Method, Session, Settings, Task, Walk};
use sottovoce_learning::houses;
use sottovoce_testing::figure;
use sottovoce_topology::family::{Family, generate};
use sottovoce_topology::mixing::{Mixing, Weights};

fn main() {
    let task = Task::houses("look-alike", &houses::look_alike(823), 2048).expect("a task");
    let graph = generate(&Family::Hypercube { dimension: 11 }, 0, true).expect("a graph");
    let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
    let method = Method::Walk(Walk { tokens: 1, burn_in: 0 });
    let settings = Settings {
        method,
        iterations: 100,
        step: 0.034,
        sigma: 0.5,
        budget: None,
        seed: 1,
        weighted: false,
        network: None,
        secrets: None,
    };
    let mut best = f64::INFINITY;
    let mut accuracy = 0.0;
    for _ in 0..7 {
        let mut session =
            Session::new(&task, std::slice::from_ref(&mixing), settings.clone(), 1).expect("a session");
        let start = Instant::now();
        while session.advance(|_, _, _| {}).expect("a step") {}
        best = best.min(start.elapsed().as_secs_f64());
        accuracy = session.accuracy();
    }
    let steps = 204_800.0;
    println!(
        "walk: {:.2} million steps a second on one core ({:.0} ns a step, accuracy {accuracy:.3})",
        steps / best / 1e6,
        best / steps * 1e9
    );
    let peer = format!("{}/benches/learning_peer.py", env!("CARGO_MANIFEST_DIR"));
    match Command::new("python3").arg(peer).output() {
        Ok(output) if output.status.success() => {
            let text = String::from_utf8_lossy(&output.stdout);
            let theirs: f64 = text.trim().parse().unwrap_or(f64::NAN);
            println!("walk: {:.0} ns a step by NumPy, ratio {:.0}", theirs * 1e9, theirs / (best / steps));
            figure("a step of a learning walk, times NumPy", theirs / (best / steps));
        }
        _ => println!("Python with NumPy is not at hand: no ratio"),
    }
}
