//! Curious peers who remember whom they told and when, by brute force: what is proven holds against them.

use super::crowd;
use super::machine::{Crowd, Label, Machine};

/// Peers, curious ones, muting, and lengths of sequences without and with a clock.
const CROWDS: [(usize, usize, f64, usize, usize); 9] = [
    (3, 1, 0.5, 6, 7),
    (4, 1, 0.0, 5, 6),
    (4, 1, 0.3, 5, 6),
    (4, 1, 0.7, 6, 6),
    (4, 1, 1.0, 5, 6),
    (4, 2, 0.7, 4, 5),
    (5, 1, 0.5, 4, 5),
    (5, 2, 0.9, 3, 4),
    (5, 1, 0.9, 4, 5),
];

/// A telling as the curious see it, by name: all of it if one of them is part of it, the coin of a curious teller included; else nothing.
fn seen(crowd: &Crowd, teller: usize, told: usize, stays: bool) -> Label {
    let coin = usize::from(crowd.is_curious(teller) && stays);
    (crowd.is_curious(teller) || crowd.is_curious(told)).then_some(200 * coin + 10 * teller + told)
}

/// One telling after the other, each lost with probability `loss`; the curious know of their own whether they arrived.
fn remembering(crowd: Crowd, loss: f64) -> Machine<u32> {
    let step = move |&active: &u32| {
        if active == 0 {
            return vec![(Some(999), 0, 1.0)];
        }
        let mut all = Vec::new();
        let one = 1.0 / f64::from(active.count_ones()) / crowd.peers as f64;
        for teller in (0..crowd.peers).filter(|i| active >> i & 1 == 1) {
            for told in 0..crowd.peers {
                for (stays, chance) in [(true, crowd.muting), (false, 1.0 - crowd.muting)] {
                    let rest = if stays { active } else { active & !(1 << teller) };
                    let label = seen(&crowd, teller, told, stays);
                    let lost = if teller == told { 0.0 } else { loss };
                    all.push((label, rest | 1 << told, one * chance * (1.0 - lost)));
                    let own = crowd.is_curious(teller).then(|| 1000 + label.unwrap_or(0));
                    all.push((own, rest, one * chance * lost));
                }
            }
        }
        all.retain(|step| step.2 > 0.0);
        all
    };
    Machine::explore(&[1, 2], step)
}

#[test]
fn whom_they_told_is_covered() {
    for (n, f, s, untimed, timed) in CROWDS {
        let (crowd, rumor) = crowd(n, f, s);
        let sharp = rumor.sharp().unwrap().at_zero;
        let without = remembering(crowd, 0.0).without_clock().hockey_stick(&[1, 2], untimed, 1.0);
        let with = remembering(crowd, 0.0).hockey_stick(&[1, 2], timed, 1.0);
        for loss in [without, with] {
            assert!(loss <= sharp.upper && loss <= rumor.improved_delta(), "{n} {f} {s}: {loss} {sharp:?}");
        }
        let ratio = rumor.pure_epsilon().exp();
        let beyond =
            remembering(crowd, 0.0).without_clock().hockey_stick(&[1, 2], untimed, ratio * (1.0 + 1e-9));
        assert!(beyond < 1e-12, "{n} {f} {s}: {beyond}");
    }
}

/// It is more than what they hear: the value that was once called exact is exceeded.
#[test]
fn whom_they_told_tells_more_than_what_they_hear() {
    let (crowd, rumor) = crowd(4, 1, 0.7);
    let loss = remembering(crowd, 0.0).without_clock().hockey_stick(&[1, 2], 6, 1.0);
    let heard = rumor.heard().unwrap().at_zero.upper;
    assert!((heard - 0.36145383).abs() < 1e-8 && loss > heard + 5e-4, "{loss} {heard}");
}

#[test]
fn whom_they_told_is_covered_with_losses() {
    for (n, f, s, lost) in
        [(4, 1, 0.9, 0.3), (4, 1, 0.4, 0.7), (4, 2, 1.0, 0.2), (4, 1, 0.0, 0.5), (3, 1, 0.8, 0.2)]
    {
        let (crowd, rumor) = crowd(n, f, s);
        for (machine, length) in
            [(remembering(crowd, lost).without_clock(), 3), (remembering(crowd, lost), 4)]
        {
            let loss = machine.hockey_stick(&[1, 2], length, 1.0);
            assert!(loss <= rumor.improved_delta(), "{n} {f} {s}: {loss}");
        }
    }
}

/// Tellings of one round that the curious know of: teller, told, and of their own what became of them.
type Log = Vec<(usize, usize, u8)>;

/// All active peers tell at once, with a clock; the label numbers what the curious see of a round.
fn in_rounds(crowd: Crowd, loss: f64) -> Machine<u32> {
    use std::collections::BTreeMap;
    let steps = move |active: u32| {
        let mut all: BTreeMap<(Log, u32), f64> = BTreeMap::from([((Vec::new(), 0), 1.0)]);
        for teller in (0..crowd.peers).filter(|i| active >> i & 1 == 1) {
            let mut next = BTreeMap::new();
            for ((log, after), p) in &all {
                for told in 0..crowd.peers {
                    for (stays, chance) in [(1, crowd.muting), (0, 1.0 - crowd.muting)] {
                        let lost = if teller == told { 0.0 } else { loss };
                        for (arrives, arrival) in [(1, 1.0 - lost), (0, lost)] {
                            let (tells, hears) =
                                (crowd.is_curious(teller), crowd.is_curious(told) && arrives == 1);
                            let mut log = log.clone();
                            if tells || hears {
                                log.push((
                                    teller,
                                    told,
                                    if tells { 2 * stays as u8 + arrives as u8 } else { 9 },
                                ));
                            }
                            let after = after | (arrives << told) | (stays << teller);
                            *next.entry((log, after)).or_insert(0.0) +=
                                p * chance * arrival / crowd.peers as f64;
                        }
                    }
                }
            }
            all = next;
        }
        all
    };
    let mut names: BTreeMap<Log, usize> = BTreeMap::new();
    for active in 0..1 << crowd.peers {
        for (log, _) in steps(active).into_keys() {
            let next = names.len();
            names.entry(log).or_insert(next);
        }
    }
    Machine::explore(&[1, 2], |active: &u32| {
        let named = |((log, after), p): ((Log, u32), f64)| (Some(names[&log]), after, p);
        steps(*active).into_iter().filter(|step| step.1 > 0.0).map(named).collect()
    })
}

#[test]
fn whom_they_told_is_covered_in_rounds() {
    for (n, f, s, length) in
        [(3, 1, 0.8, 4), (3, 1, 1.0, 4), (4, 1, 0.3, 3), (4, 1, 0.7, 3), (4, 1, 0.95, 3), (4, 2, 0.6, 2)]
    {
        let (crowd, rumor) = crowd(n, f, s);
        let loss = in_rounds(crowd, 0.0).hockey_stick(&[1, 2], length, 1.0);
        assert!(
            loss <= rumor.rounds_delta() && rumor.rounds_delta() >= rumor.improved_delta() * (1.0 - 1e-12),
            "{n} {f} {s}: {loss}"
        );
        let lost = in_rounds(crowd, 0.3).hockey_stick(&[1, 2], length.min(2), 1.0);
        assert!(lost <= rumor.lossy_rounds_delta(), "{n} {f} {s}: {lost}");
    }
}
