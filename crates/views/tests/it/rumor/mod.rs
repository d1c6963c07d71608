//! Rumours by brute force: what is proven holds sequence by sequence, and what is not covered is shown to be not covered.

mod graphs;
mod limits;
mod machine;
mod memory;

use machine::{Crowd, Label, Machine};
use sottovoce_views::rumor::Rumor;

const CROWDS: [(usize, usize, f64, usize); 9] = [
    (3, 1, 0.5, 8),
    (4, 1, 0.0, 6),
    (4, 1, 0.3, 6),
    (4, 1, 0.7, 6),
    (4, 1, 1.0, 6),
    (4, 2, 0.7, 6),
    (5, 1, 0.5, 5),
    (5, 2, 0.9, 5),
    (5, 2, 1.0, 5),
];

fn crowd(peers: usize, curious: usize, muting: f64) -> (Crowd, Rumor) {
    (Crowd { peers, curious, muting }, Rumor::new(peers, curious, muting).unwrap())
}

/// Which of the suspects is seen first.
fn first(sequence: &[Label]) -> Option<usize> {
    sequence.iter().flatten().copied().find(|&sender| sender < 2)
}

#[test]
fn whoever_is_seen_first_is_the_likelier_source_of_every_sequence() {
    for (n, f, s, length) in CROWDS {
        for itself in [true, false] {
            let machine = crowd(n, f, s).0.asynchronous(itself).without_clock();
            machine.sequences(&[1, 2], length, |sequence, p| match first(sequence) {
                Some(0) => assert!(p[0] >= p[1] - 1e-15, "{n} {s} {sequence:?}: {p:?}"),
                Some(_) => assert!(p[1] >= p[0] - 1e-15, "{n} {s} {sequence:?}: {p:?}"),
                None => assert!((p[0] - p[1]).abs() < 1e-15, "{n} {s} {sequence:?}: {p:?}"),
            });
        }
    }
}

#[test]
fn the_sharp_loss_is_reached_from_below() {
    for (n, f, s, length) in CROWDS {
        let (crowd, rumor) = crowd(n, f, s);
        let sharp = rumor.sharp().unwrap();
        let machine = crowd.asynchronous(true).without_clock();
        let found = |length| machine.hockey_stick(&[1, 2], length, 1.0);
        let heard = rumor.heard().unwrap().at_zero;
        assert!(found(length) <= heard.upper + 1e-13 && found(length) > heard.lower - 2e-3, "{n} {s}");
        assert!(found(length - 1) <= found(length) + 1e-15);
        for epsilon in [0.2, 0.5, 1.0, 2.0] {
            let loss = machine.hockey_stick(&[1, 2], length, f64::exp(epsilon));
            assert!(loss <= sharp.delta(epsilon, 1) + 1e-13, "{n} {s} {epsilon}: {loss}");
            if s == 0.0 {
                assert!((loss - rumor.delta(epsilon, 1).unwrap()).abs() < 1e-14, "{epsilon}: {loss}");
            }
        }
    }
}

/// Telling oneself changes nothing, where nobody has a clock.
#[test]
fn not_telling_oneself_has_the_same_loss() {
    for (n, f, s, length) in CROWDS {
        let (crowd, rumor) = crowd(n, f, s);
        let found = crowd.asynchronous(false).without_clock().hockey_stick(&[1, 2], length, 1.0);
        let heard = rumor.heard().unwrap().at_zero;
        assert!(found <= heard.upper + 1e-13 && found > heard.lower - 3e-3, "{n} {s}: {found} {heard:?}");
    }
}

#[test]
fn no_sequence_exceeds_the_pure_epsilon_or_the_prediction_uncertainty() {
    for (n, f, s, length) in CROWDS {
        let (crowd, rumor) = crowd(n, f, s);
        let machine = crowd.asynchronous(true).without_clock();
        let sources: Vec<u32> = (0..n - f).map(|i| 1 << i).collect();
        let (ratio, c) = (rumor.pure_epsilon().exp(), rumor.improved_uncertainty(1));
        assert!(c >= rumor.prediction_uncertainty(1) - 1e-13);
        let (mut worst, mut least) = (0.0_f64, f64::INFINITY);
        machine.sequences(&sources, length - 1, |_, p| {
            worst = worst.max(p[0] / p[1]);
            least = least.min(p[1..].iter().sum::<f64>() / p[0]);
        });
        assert!(worst <= ratio * (1.0 + 1e-12), "{n} {s}: {worst} {ratio}");
        assert!(least >= c * (1.0 - 1e-12), "{n} {s}: {least} {c}");
        if s == 0.0 {
            assert!((worst - ratio).abs() < 1e-12 && (least - c).abs() < 1e-12, "{worst} {least}");
        }
    }
}

/// The hockey stick of two independent runs, over all pairs of sequences.
fn twice(crowd: Crowd, length: usize, epsilon: f64) -> f64 {
    let mut all = Vec::new();
    crowd.asynchronous(true).without_clock().sequences(&[1, 2], length, |_, p| all.push((p[0], p[1])));
    let pairs = all.iter().flat_map(|one| all.iter().map(move |other| (one.0 * other.0, one.1 * other.1)));
    pairs.map(|(p, q)| (p - epsilon.exp() * q).max(0.0)).sum()
}

#[test]
fn two_walks_compose_as_their_sequences_do() {
    let (crowd, rumor) = crowd(5, 2, 0.0);
    for epsilon in [0.0, 0.4, 1.0, 2.0] {
        let direct = twice(crowd, 2, epsilon);
        assert!((rumor.delta(epsilon, 2).unwrap() - direct).abs() < 1e-14, "{epsilon}: {direct}");
    }
}

#[test]
fn two_rumours_lose_no_more_than_is_composed() {
    let (crowd, rumor) = crowd(4, 1, 0.6);
    for epsilon in [0.0, 0.5, 1.5] {
        let direct = twice(crowd, 4, epsilon);
        assert!(direct <= rumor.sharp().unwrap().delta(epsilon, 2), "{epsilon}: {direct}");
        assert!(direct <= rumor.delta(epsilon, 2).unwrap(), "{epsilon}: {direct}");
    }
}

/// Messages that are lost, with a clock or without: the lemma and the closed form hold. A rumour may die, and that shows.
#[test]
fn lost_messages_lose_no_more() {
    for (n, f, s, lost) in
        [(4, 1, 0.9, 0.3), (4, 1, 0.4, 0.7), (4, 2, 1.0, 0.2), (4, 1, 0.0, 0.5), (5, 2, 0.7, 0.1)]
    {
        let (crowd, rumor) = crowd(n, f, s);
        let step = |active: &u32| {
            if *active == 0 {
                return vec![(Some(9), 0, 1.0)];
            }
            let both = |(teller, told, next, p): (usize, usize, u32, f64)| {
                let stayed = if told == teller { *active } else { next & (active | !(1 << told)) };
                let heard = crowd.is_curious(told).then_some(teller);
                [(heard, next, p * (1.0 - lost)), (None, stayed, p * lost)]
            };
            crowd.tellings(*active, true).into_iter().flat_map(both).collect()
        };
        let timed = Machine::explore(&[1, 2], step);
        for (machine, length) in [(Machine::explore(&[1, 2], step).without_clock(), 5), (timed, 6)] {
            let mut loss = 0.0;
            machine.sequences(&[1, 2], length, |sequence, p| {
                let ordered = match first(sequence) {
                    Some(0) => p[0] >= p[1] - 1e-15,
                    Some(_) => p[1] >= p[0] - 1e-15,
                    None => (p[0] - p[1]).abs() < 1e-15,
                };
                assert!(ordered, "{n} {s} {sequence:?}: {p:?}");
                loss += (p[0] - p[1]).max(0.0);
            });
            assert!(loss <= rumor.improved_delta(), "{n} {s}: {loss}");
        }
    }
}

/// Rounds, with a clock: the lemma and the closed form hold, and the value for asynchronous tellings does not.
#[test]
fn rounds_lose_more_than_asynchronous_tellings_and_less_than_the_closed_form() {
    for (n, f, s, length, limit) in
        [(4, 1, 0.7, 6, 0.3745436314), (4, 1, 1.0, 6, 0.4637681159), (4, 2, 0.4, 6, 0.5555555556)]
    {
        let (crowd, rumor) = crowd(n, f, s);
        let machine = crowd.rounds();
        let mut loss = 0.0;
        machine.sequences(&[1, 2], length, |sequence, p| {
            let suspects = sequence.iter().flatten().map(|seen| seen & 3).find(|seen| *seen != 0);
            match suspects {
                Some(1) => assert!(p[0] >= p[1] - 1e-15, "{sequence:?}: {p:?}"),
                Some(2) => assert!(p[1] >= p[0] - 1e-15, "{sequence:?}: {p:?}"),
                _ => assert!((p[0] - p[1]).abs() < 1e-15, "{sequence:?}: {p:?}"),
            }
            loss += (p[0] - p[1]).max(0.0);
        });
        assert!(loss <= limit + 1e-9 && loss > limit - 0.01, "{n} {s}: {loss}");
        assert!(loss <= rumor.improved_delta());
    }
    let asynchronous = Rumor::new(4, 1, 0.7).unwrap().heard().unwrap().at_zero.upper;
    assert!(asynchronous < 0.3615);
}
