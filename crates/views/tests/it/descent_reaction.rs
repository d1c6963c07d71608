//! Why linear views of a descent are conditional: gradients that react to hidden states tell observers more than the linear loss, even
//! if it is the protected peer's own gradient alone that reacts. Two runs of two iterations, with their laws computed.

use sottovoce_privacy::{Gdp, Standing};
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::descent::linear;

fn edge(u: usize, v: usize, weights: Weights) -> Mixing {
    Mixing::new(&Graph::from_edges(3, [(u, v)]).unwrap(), weights)
}

fn simpson(from: f64, to: f64, f: impl Fn(f64) -> f64) -> f64 {
    let (pieces, mut sum) = (2000, 0.0);
    let h = (to - from) / f64::from(pieces);
    for i in 0..=pieces {
        let weight = if i == 0 || i == pieces {
            1.0
        } else if i % 2 == 1 {
            4.0
        } else {
            2.0
        };
        sum += weight * f(from + h * f64::from(i));
    }
    sum * h / 3.0
}

fn density(x: f64) -> f64 {
    (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// The probability that a standard Gaussian is above `x`.
fn above(x: f64) -> f64 {
    if x < 0.0 { 1.0 - above(-x) } else { simpson(x, x + 12.0, density) }
}

/// Peer 0 swaps with peer 1, steps, and speaks to observer 2: `y = z_1 + z_0' + d`. Whoever knows peer 0's data but not `z_1` has
/// the linear loss 1/2. But peer 0 knows `z_1`, its own state, and steps away from zero: `d = sign(z_1)`, in one direction under one set
/// of data, and not at all under the other.
#[test]
fn the_protected_peers_own_reaction_exceeds_the_linear_loss() {
    let (swap, speak) = (edge(0, 1, Weights::Metropolis), edge(0, 2, Weights::Metropolis));
    let loss = linear::loss(&[&swap, &speak], &[2], 1, 2).unwrap();
    assert!((loss.losses[0] - 0.5).abs() < 1e-12, "{loss:?}");
    assert!(matches!(loss.standing, Standing::Conditional(_)));
    // The test: is |y| above `at`? Steps and noise are of size 1.
    let at = 2.4 * 2.0_f64.sqrt();
    let quiet = 2.0 * above(2.4);
    let towards = |z: f64| density(z) * (above(at - z - 1.0) + above(at + z + 1.0));
    let reacting = 2.0 * simpson(0.0, 10.0, towards);
    let epsilon: f64 = 1.26;
    let delta = Gdp::of_square(loss.losses[0]).unwrap().delta(epsilon).unwrap();
    let seen = reacting - epsilon.exp() * quiet;
    assert!(seen > 1.5 * delta.upper, "{seen} {delta:?}");
    // Two local releases do cover it.
    assert!(seen < Gdp::of_square(2.0).unwrap().delta(epsilon).unwrap().lower);
}

/// Peer 1 hears peer 0 and steps by `sign(x)/2` of what it then holds, which observer 2 hears under fresh noise: one
/// bit of a hidden state, amplified. Peer 0's steps are `±1/2`; only the first can have been heard.
#[test]
fn another_peers_reaction_exceeds_the_linear_loss() {
    let (mix, speak) = (edge(0, 1, Weights::MetropolisPlusOne), edge(1, 2, Weights::MetropolisPlusOne));
    let loss = linear::loss(&[&mix, &speak], &[2], 1, 2).unwrap();
    assert!((loss.losses[0] - 1.0 / 6.0).abs() < 1e-12, "{loss:?}");
    // x = (±1/2 + z_0 + z_1)/2 is hidden, y = x + sign(x)/2 + z is heard; the test: is y above 0?
    let deviation = 0.5_f64.sqrt();
    let heard = |x: f64| density((x - 0.25) / deviation) / deviation * above(-x - 0.5_f64.copysign(x));
    let hit = simpson(-8.0, 0.0, |x| heard(x.min(-0.0))) + simpson(0.0, 8.0, heard);
    let seen = 2.0 * hit - 1.0;
    let delta = Gdp::of_square(loss.losses[0]).unwrap().delta(0.0).unwrap();
    assert!((seen - 0.2205).abs() < 1e-3, "{seen}");
    assert!(seen > 1.3 * delta.upper, "{seen} {delta:?}");
}
