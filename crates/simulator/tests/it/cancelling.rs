//! Noise that cancels, as machines and bulk drivers draw it.

use sottovoce_protocol::Noise;
use sottovoce_protocol::averaging::{Noising, listen};
use sottovoce_protocol::public::{Cancelling, Scheme};
use sottovoce_simulator::noise::PeerNoise;
use sottovoce_simulator::paired::{Paired, secret};
use sottovoce_topology::family::{Family, generate};

fn pairs(n: usize, kappa: f64) -> Cancelling {
    Cancelling::new(generate(&Family::Complete { n }, 0, true).unwrap(), kappa).unwrap()
}

#[test]
fn the_mean_knows_nothing_of_it() {
    let (n, scheme) = (12, Scheme::Butterfly { positions: (0..12).collect() });
    let noising = Noising { sensitivity: 1.0, local: 0.5, relay: 0.0 };
    let result = |pairs: Option<&Cancelling>| {
        let mut machines = scheme.machines(|_| noising, |peer| vec![peer as f64, 1.0]).unwrap();
        listen(&mut machines, &mut Paired::all(9, n, pairs), |_, _, _| ()).unwrap()
    };
    let (plain, hidden) = (result(None), result(Some(&pairs(n, 1000.0))));
    for (plain, hidden) in plain.iter().flatten().zip(hidden.iter().flatten()) {
        assert!((plain - hidden).abs() < 1e-9, "{plain} {hidden}");
    }
}

/// What is promised of a release holds only if no two draw the same noise of a pair: here the streams of the first are used again for the second.
#[test]
fn a_stream_that_is_used_twice_is_caught() {
    let (n, kappa, runs) = (8, 10.0, 400);
    let pairs = pairs(n, kappa);
    // The squared error of the best guess of how much peer 0's value changed, from two releases: twice the variance of one over its loss.
    let loss = 1.0 / n as f64 + (1.0 - 1.0 / n as f64) / (1.0 + kappa * kappa * n as f64);
    let promised = 2.0 / loss;
    let measured = |second: u64| {
        let mut sum = 0.0;
        for seed in 0..runs {
            let mut difference = vec![0.0; n];
            for (peer, difference) in difference.iter_mut().enumerate() {
                for (draw, sign) in [(0, 1.0), (1, -1.0)] {
                    let own = PeerNoise::new(seed, peer).draw(draw, 1.0, &vec![0.0]).unwrap()[0];
                    let mut shared = [0.0];
                    for (other, share) in pairs.ends(peer) {
                        secret(seed, peer, other).add(if draw == 0 { 0 } else { second }, share, &mut shared);
                    }
                    *difference += sign * (own + shared[0]);
                }
            }
            // With other values unchanged the sum of all differences is the best guess under fresh noise; with pairs gone, the peer's own is better still.
            let all: f64 = difference.iter().sum();
            let guess = if second == 0 { difference[0] } else { all };
            sum += guess * guess;
        }
        sum / runs as f64
    };
    let (fresh, reused) = (measured(1), measured(0));
    // 400 squares of normals: a relative standard error of 7 %.
    assert!(fresh > 0.7 * promised, "{fresh} {promised}");
    assert!(reused < 0.3 * promised, "a reused stream gives {reused} away, where {promised} is promised");
}
