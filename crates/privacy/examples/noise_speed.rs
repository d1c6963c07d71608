//! How many draws a second each sampler makes: `cargo run --release -p sottovoce-privacy --example noise_speed`.

use std::time::Instant;

use sottovoce_privacy::noise::exact::{DeployedNoise, DiscreteGaussian, DiscreteLaplace, ExactLaw, Rational};
use sottovoce_privacy::noise::simulation::{ContinuousLaw, SimulatedNoise};

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
    Ok(())
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
