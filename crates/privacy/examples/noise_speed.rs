//! How many draws a second each sampler makes: `cargo run --release -p sottovoce-privacy --example noise_speed`.

use std::time::Instant;

use sottovoce_privacy::noise::exact::{DeployedNoise, DiscreteGaussian, DiscreteLaplace, ExactLaw, Rational};
use sottovoce_privacy::noise::simulation::{ContinuousLaw, PairSecret, SimulatedNoise};

fn main() -> sottovoce_privacy::Result<()> {
    let mut noise = DeployedNoise::from_os()?;
    for (name, number) in [("1", 1.0), ("25", 25.0), ("2.3", 2.3), ("1e6", 1e6), ("1e12 + 0.1", 1e12 + 0.1)] {
        let parameter = Rational::from_f64(number)?;
        report(
            &format!("discrete Gaussian, sigma^2 = {name}"),
            exact(&mut noise, &DiscreteGaussian::new(parameter)),
        );
        if let Ok(law) = DiscreteLaplace::new(parameter) {
            report(&format!("discrete Laplace, scale = {name}"), exact(&mut noise, &law));
        }
    }
    report("simulated Gaussian", simulated(ContinuousLaw::gaussian(1.0)?));
    report("simulated Laplace", simulated(ContinuousLaw::laplace(1.0)?));
    let plain = simulated(ContinuousLaw::STANDARD);
    let pairs = pairs(6, 10_000, 170);
    report("noise of six pairs, 10000 coordinates each", pairs);
    println!("{:<45} {:>8.2} of the plain noise", "", pairs / plain);
    let (plain, pairs) = (peers(1_000_000), self::pairs(6, 1, 170_000));
    report("simulated Gaussian, one for each peer", plain);
    report("noise of six pairs, one coordinate each", pairs);
    println!("{:<45} {:>8.2} of the plain noise", "", pairs / plain);
    Ok(())
}

/// One draw for each of many peers.
fn peers(count: usize) -> f64 {
    let (mut values, start) = (vec![0.0; count], Instant::now());
    SimulatedNoise::add_to_each(ContinuousLaw::STANDARD, 1, 0, 3, &mut values);
    std::hint::black_box(values);
    count as f64 / start.elapsed().as_secs_f64()
}

/// Draws a second, for each coordinate and key, of a peer with so many keys.
fn pairs(keys: u64, width: usize, rounds: u64) -> f64 {
    let secrets: Vec<(PairSecret, f64)> = (1..=keys).map(|peer| (PairSecret::new(1, 0, peer), 1.0)).collect();
    let (mut values, start) = (vec![0.0; width], Instant::now());
    for round in 0..rounds {
        PairSecret::add_all(&secrets, round, std::hint::black_box(&mut values));
    }
    (keys * rounds) as f64 * width as f64 / start.elapsed().as_secs_f64()
}

/// Draws a second.
fn exact(noise: &mut DeployedNoise, law: &impl ExactLaw) -> f64 {
    let (count, start) = (300_000, Instant::now());
    std::hint::black_box((0..count).fold(0i64, |sum, _| sum.wrapping_add(noise.sample(law))));
    f64::from(count) / start.elapsed().as_secs_f64()
}

fn simulated(law: ContinuousLaw) -> f64 {
    let (mut buffer, mut noise, start) = (vec![0.0; 10_000], SimulatedNoise::new(1, 2, 3), Instant::now());
    for _ in 0..1000 {
        noise.fill(law, std::hint::black_box(&mut buffer));
    }
    1e7 / start.elapsed().as_secs_f64()
}

fn report(name: &str, rate: f64) {
    println!("{name:<45} {:>8.2} million a second", rate / 1e6);
}
