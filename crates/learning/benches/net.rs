//! How long a clipped step of the consensus paper's net takes, beside a plain one, one by naive clipping, and a matrix product.
//!
//! `cargo bench -p sottovoce-learning --bench net`
//!
//! One thread, a lot of 256 drawn pictures; the best of many passes counts, since other work on the machine can only slow them down. Where `python3` has PyTorch
//! and Opacus, the same step is timed there too (`benches/peer.py`).

use std::hint::black_box;
use std::time::Instant;

use rand_distr::{Distribution, StandardNormal};
use sottovoce_dense::Mat;
use sottovoce_learning::net::{Net, Scratch, Shape};
use sottovoce_learning::{Images, Result, images};
use sottovoce_privacy::noise::simulation::{Seed, Stream};

const LOT: usize = 256;
const CLIP: f32 = 0.1;

/// Multiplications and additions of a sample, forward and backward, where only the largest pixel of a window has a gradient.
const WORK: f64 = 2.0 * (58_800.0 + 3.0 * 588.0 * 64.0 + 3.0 * 640.0 + 588.0 * 25.0);

/// What is timed.
type Work = fn(&mut Step<'_>);

/// Passes of which the fastest counts.
const TIMES: usize = 150;

fn main() -> Result<()> {
    let (net, pictures) = (Net::consensus_cnn(), images::drawn(LOT, 1)?);
    let mut step = Step::new(&net, &pictures);
    let peak = peak();
    println!("consensus net, lot of {LOT}, one thread");
    println!("{:<28} {:>9} {:>12} {:>9}", "", "µs/sample", "samples/s", "of plain");
    let plain = step.time(TIMES, Step::plain);
    let steps: [(&str, usize, Work); 4] = [
        ("plain", TIMES, |step| step.plain()),
        ("clipped", TIMES, |step| step.clipped()),
        ("clipped and noised", TIMES, |step| step.noised()),
        ("naive, one by one", 2, |step| step.naive()),
    ];
    for (name, times, work) in steps {
        let seconds = step.time(times, work);
        let sample = seconds / LOT as f64;
        println!("{name:<28} {:9.2} {:12.0} {:9.3}", 1e6 * sample, 1.0 / sample, seconds / plain);
    }
    let speed = WORK * LOT as f64 / step.time(TIMES, Step::clipped) / 1e9;
    println!(
        "{:<28} {:9.1} Gflop/s, {:.0} % of the product's {peak:.1}",
        "clipped",
        speed,
        100.0 * speed / peak
    );
    residual()?;
    peer(step.time(TIMES, Step::clipped) / LOT as f64);
    Ok(())
}

/// A step and its room.
struct Step<'a> {
    net: &'a Net,
    pictures: &'a Images,
    parameters: Vec<f32>,
    all: Vec<u32>,
    scratch: Scratch,
    sum: Vec<f32>,
    turn: u64,
}

impl<'a> Step<'a> {
    fn new(net: &'a Net, pictures: &'a Images) -> Self {
        let (parameters, scratch) = (net.start(1), Scratch::new(net));
        let (all, sum) = ((0..pictures.len() as u32).collect(), vec![0.0; net.parameters()]);
        Self { net, pictures, parameters, all, scratch, sum, turn: 0 }
    }

    /// Seconds of the fastest pass.
    fn time(&mut self, times: usize, work: fn(&mut Self)) -> f64 {
        let once = |_| {
            let start = Instant::now();
            self.sum.fill(0.0);
            work(self);
            black_box(&self.sum);
            start.elapsed().as_secs_f64()
        };
        (0..times).map(once).fold(f64::INFINITY, f64::min)
    }

    fn plain(&mut self) {
        let Self { net, pictures, parameters, all, scratch, sum, .. } = self;
        net.gradient_sum(parameters, pictures, all, scratch, sum).expect("the pictures suit the net");
    }

    fn clipped(&mut self) {
        let Self { net, pictures, parameters, all, scratch, sum, .. } = self;
        net.clipped_sum(parameters, pictures, all, CLIP, scratch, sum).expect("the pictures suit the net");
    }

    fn noised(&mut self) {
        self.clipped();
        self.turn += 1;
        let mut rng = Seed(1).stream(Stream::Noise, 0, self.turn);
        for sum in &mut self.sum {
            let noise: f32 = StandardNormal.sample(&mut rng);
            *sum += CLIP * noise;
        }
    }

    /// Every gradient written down, measured and added.
    fn naive(&mut self) {
        let Self { net, pictures, parameters, all, scratch, sum, .. } = self;
        let mut own = vec![0.0; sum.len()];
        for picked in all.chunks(1) {
            own.fill(0.0);
            net.gradient_sum(parameters, pictures, picked, scratch, &mut own)
                .expect("the pictures suit the net");
            let norm = own.iter().map(|g| g * g).sum::<f32>().sqrt();
            let factor = if norm > CLIP { CLIP / norm } else { 1.0 };
            sum.iter_mut().zip(&own).for_each(|(sum, own)| *sum += factor * own);
        }
    }
}

/// Billions of multiplications and additions a second, of a product of two matrices of 96 times 96, which one thread does: twice what
/// it is in double precision, of which registers hold half as many numbers.
fn peak() -> f64 {
    let n = 96;
    let a = Mat::from_fn(n, n, |i, j| (i * 31 + j * 17) as f64 % 7.0 - 3.0);
    let mut out = Mat::zeros(n, n);
    let once = |_| {
        let start = Instant::now();
        out.as_mut().add_product(1.0, black_box(&a), &a);
        black_box(&out);
        start.elapsed().as_secs_f64()
    };
    2.0 * 2.0 * (n * n * n) as f64 / (0..300).map(once).fold(f64::INFINITY, f64::min) / 1e9
}

/// The paper's net for CIFAR-100, on generated images.
fn residual() -> Result<()> {
    let shape = Shape { channels: 3, height: 32, width: 32 };
    let net = Net::resnet9(shape, 100)?;
    let pixels = (0..16 * shape.size()).map(|at| ((at * 2_654_435_761) >> 7) as u8).collect();
    let pictures = Images::new(shape, pixels, (0..16).collect(), 100)?;
    let mut step = Step::new(&net, &pictures);
    let (plain, clipped) = (step.time(2, |step| step.plain()), step.time(2, Step::clipped));
    let sample = 1e3 * clipped / 16.0;
    println!("{:<28} {sample:9.2} ms/sample, {:.3} of plain", "ResNet-9, clipped", clipped / plain);
    Ok(())
}

/// The same step by PyTorch and Opacus, where they are.
fn peer(ours: f64) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peer.py");
    let python = std::env::var("PYTHON").unwrap_or_else(|_| "python3".into());
    match std::process::Command::new(python).arg(script).output() {
        Ok(output) if output.status.success() => {
            for line in String::from_utf8_lossy(&output.stdout).lines() {
                let (name, seconds) = line.split_once('\t').unwrap_or((line, ""));
                let Ok(seconds) = seconds.parse::<f64>() else { continue };
                println!("{name:<28} {:9.2} µs/sample, {:.1} times ours", 1e6 * seconds, seconds / ours);
            }
        }
        _ => println!("PyTorch and Opacus are not there: skipped (set PYTHON to a python that has them)"),
    }
}
