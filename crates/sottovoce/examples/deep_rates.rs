//! How default rates of `run deep` are chosen: on images to learn from that are held out, over several seeds. Test images are not drawn.
//!
//! `cargo run --release -p sottovoce --example deep_rates [METHOD [SEEDS]]`
//!
//! Of the 10,000 drawn images that `run deep` learns from, nine tenths are learned from and the rest judge, at three epsilons; all else is as it is where nothing is said. What counts
//! is the average over epsilons, and over methods that share a default. Six seeds at epsilon 8 and three at 1 and 2 gave, in per cent (errors of the means are up to one point at 8, and
//! up to three and a half at 1). Rates of 1 and 2 are alike for plain steps (77.4 and 77.5 on average), and 1 was the default before. The rates taken for three of them
//! were the largest tried at the small epsilons: dsgd by Adam, dinno and central may bear more.
//!
//! | | rate: epsilon 1, 2, 8 | ... | ... | taken |
//! | --- | --- | --- | --- | --- |
//! | dsgt | 1: 75.0, 79.3, 81.4 | 2: 71.6, 80.7, 85.1 | 4: 63.4, 79.6, 89.8 | 1 |
//! | dsgd | 1: 71.6, 77.0, 80.1 | 2: 63.8, 79.0, 85.0 | 4: 63.5, 74.9, 89.4 | 1 |
//! | dsgd, momentum | 0.1: 70.1, 75.4, 78.5 | 0.2: 63.7, 74.5, 80.7 | 0.4: 49.6, 69.9, 82.7 | 0.1 |
//! | dsgd, Adam | 0.003: 47.9, 63.1, 69.2 | 0.01: 66.5, 72.4, 77.4 | 0.05: 70.5, 75.4, 83.2 | 0.05 |
//! | dinno | 0.005: 44.0, 61.0, 68.8 | 0.01: 59.8, 67.3, 73.9 | 0.02: 63.6, 71.0, 76.4 | 0.02 |
//! | central | 0.1: 79.0, 79.4, 80.1 | 0.3: 79.8, 82.4, 84.8 | | 0.3 |
//! | local | 0.1: 19.3, 44.2, 65.2 | 0.14: 15.6, 37.7, 67.7 | | 0.1 |

use std::path::Path;

use sottovoce::Result;
use sottovoce::deep::{Gradients, Run};
use sottovoce::experiment::{Deep, DeepMethod, Steps};

/// Images that judge.
const HELD_OUT: usize = 1000;
const IMAGES: usize = 10_000;

const EPSILONS: [f64; 3] = [1.0, 2.0, 8.0];

type Course = (&'static str, DeepMethod, Option<Steps>, &'static [f64]);

const COURSES: [Course; 7] = [
    ("dsgt", DeepMethod::Dsgt, None, &[0.5, 1.0, 2.0, 4.0]),
    ("dsgd", DeepMethod::Dsgd, None, &[0.5, 1.0, 2.0, 4.0]),
    ("dsgd-momentum", DeepMethod::Dsgd, Some(Steps::Momentum), &[0.05, 0.1, 0.2, 0.4]),
    ("dsgd-adam", DeepMethod::Dsgd, Some(Steps::Adam), &[0.003, 0.01, 0.05, 0.1]),
    ("dinno", DeepMethod::Dinno, None, &[0.005, 0.01, 0.02, 0.05]),
    ("central", DeepMethod::Central, None, &[0.1, 0.3, 1.0]),
    ("local", DeepMethod::Local, None, &[0.05, 0.1, 0.14, 0.2]),
];

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let seeds = given.get(1).map_or(Ok(3), |seeds| seeds.parse())?;
    let asked = |course: &&Course| given.first().is_none_or(|name| name == course.0);
    for (name, method, steps, rates) in COURSES.iter().filter(asked) {
        println!("{name:<16}{}", EPSILONS.map(|epsilon| format!("     epsilon {epsilon}")).concat());
        for &rate in *rates {
            print!("  {rate:<14}");
            for epsilon in EPSILONS {
                let each = (1..=seeds).map(|seed| accuracy((*method, *steps), rate, epsilon, seed));
                let each = each.collect::<Result<Vec<f64>>>()?;
                let mean = each.iter().sum::<f64>() / each.len() as f64;
                let squares = each.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>();
                let error = (squares / (each.len() * each.len().saturating_sub(1)) as f64).sqrt();
                print!("  {:>5.1} ± {:.1}", 100.0 * mean, 100.0 * error);
            }
            println!();
        }
    }
    Ok(())
}

/// The mean over agents on images that were held out.
fn accuracy((method, steps): (DeepMethod, Option<Steps>), rate: f64, epsilon: f64, seed: u64) -> Result<f64> {
    let mut deep = Deep::default();
    (deep.task.images, deep.task.test_images) = (Some(IMAGES - HELD_OUT), Some(HELD_OUT));
    deep.target.epsilon = Some(epsilon);
    (deep.protocol.method, deep.protocol.optimiser, deep.protocol.rate) = (method, steps, Some(rate));
    let mut setting = deep.ready(Path::new(""), seed)?.setting;
    setting.points = 0;
    let gradients = Gradients::new(&setting.net, &setting.holdings.rows);
    let mut run = Run::new(&setting, &gradients)?;
    while run.go(usize::MAX)? {}
    let told = run.outcome()?.told;
    Ok(told.iter().map(|tally| tally.accuracy()).sum::<f64>() / told.len() as f64)
}
