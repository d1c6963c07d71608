//! How long a gradient takes on a shard of the size that simulations use.
//!
//! `cargo bench -p sottovoce-learning --bench gradient`
//!
//! Times one thread over all shards of the synthetic Houses set dealt out to 2064 peers (8 rows of 9 features each), and softmax on
//! ten classes. The best of many passes counts, since other work on the machine can only slow them down.

use std::hint::black_box;
use std::time::Instant;

use sottovoce_learning::{Clip, Loss, Model, Result, Shards, houses};

const REPEATS: usize = 200;

fn main() -> Result<()> {
    let train = houses::look_alike(1).train;
    let shards = Shards::even(&train, 2064)?;
    let shape = format!("{} rows x {} features", shards.shard(0).labels.len(), train.width());
    println!("one call, {shape}, nanoseconds");
    for (name, loss) in [
        ("logistic", Loss::Logistic),
        ("squared", Loss::Squared),
        ("softmax 10", Loss::Softmax { classes: 10 }),
    ] {
        let model = Model { loss, width: train.width(), ridge: 1e-3 };
        for clip in [Clip::None, Clip::Example(1.0), Clip::User(1.0)] {
            println!("{name:<10} {:<14} {:8.1}", format!("{clip:?}"), time(&model, &shards, clip));
        }
    }
    Ok(())
}

/// Nanoseconds a call.
fn time(model: &Model, shards: &Shards, clip: Clip) -> f64 {
    let theta: Vec<f64> = (0..model.parameters()).map(|k| 0.1 * k as f64 - 0.4).collect();
    let mut out = vec![0.0; theta.len()];
    let mut best = f64::INFINITY;
    for _ in 0..REPEATS {
        let start = Instant::now();
        for peer in 0..shards.peers() {
            model.gradient(black_box(&theta), shards.shard(peer), clip, black_box(&mut out));
        }
        best = best.min(start.elapsed().as_secs_f64());
    }
    best * 1e9 / shards.peers() as f64
}
