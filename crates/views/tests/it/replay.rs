//! A run as its transcript tells it.

use crate::faulty::*;

use proptest::prelude::*;
use sottovoce_protocol::averaging::{AveragingTranscript, Row};
use sottovoce_simulator::averaging::AveragingSetup;
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::noise::PeerNoise;
use sottovoce_simulator::record::Mail;
use sottovoce_views::exact::replay;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Rows and arrivals as they were written down reproduce what peers of a lenient run said and ended with.
    #[test]
    fn what_is_written_down_is_what_happened((setup, network, faults, seed) in any_faulty_run()) {
        let plain = setup.noising.relay == 0.0 && setup.scheme.gamma().unwrap().is_none();
        prop_assume!(plain);
        let (mut transcript, mut mail) = (AveragingTranscript::default(), Mail::default());
        let noises = PeerNoise::all(seed, setup.values.len());
        let simulation = Simulation::new(lenient(&setup), noises, network, seed).unwrap().faults(&faults).unwrap();
        let outcome = simulation.recorder(&mut transcript).recorder(&mut mail).run();
        let rounds = replay(&setup.scheme, &transcript).unwrap();
        let mut values = entries(&setup, seed);
        for (t, round) in rounds.iter().enumerate() {
            for entry in mail.0.iter().filter(|entry| entry.message.round == t) {
                prop_assert!(round.heard.contains(&(entry.from, entry.to)));
                prop_assert!(near(&entry.message.value, &values[entry.from]), "round {} of {}", t, entry.from);
            }
            let mix = |(u, row): (usize, &Row)| {
                (0..2).map(|i| row.own * values[u][i] + row.from.iter().map(|(w, x)| x * values[*w][i]).sum::<f64>())
                    .collect::<Vec<f64>>()
            };
            values = round.rows.iter().enumerate().map(mix).collect();
        }
        for (u, last) in outcome.finals.iter().enumerate() {
            prop_assert!(last.as_ref().is_none_or(|last| near(last, &values[u])), "the end of {}", u);
        }
    }
}

fn near(a: &[f64], b: &[f64]) -> bool {
    a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9)
}

/// The noisy values that peers enter with.
fn entries(setup: &AveragingSetup, seed: u64) -> Vec<Vec<f64>> {
    use sottovoce_protocol::Noise;
    let entry = |(peer, value): (usize, &Vec<f64>)| {
        let eta = PeerNoise::new(seed, peer).draw(0, setup.noising.local, value).unwrap();
        value.iter().zip(&eta).map(|(x, eta)| x + eta).collect()
    };
    setup.values.iter().enumerate().map(entry).collect()
}
