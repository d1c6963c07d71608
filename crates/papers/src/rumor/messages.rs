//! How many messages a rumour sends in rounds, with a probability that is proven (Theorem 9 for a given number of peers).
//!
//! Where everyone can tell everyone, the number of active peers is a Markov chain: of `a` active peers each stays with probability `s`, and then `a` tellings fall on
//! the `n` peers independently. By Markov's inequality for `e^(-theta N)`, and any `theta > 0`,
//!
//! ```text
//! P(N < m)  <=  e^(theta m) E e^(-theta N),    N the tellings of all rounds,
//! ```
//!
//! and the expectation is that of a product along the chain: computed exactly, round by round.

/// Most peers for which it is computed.
pub(crate) const MOST_COUNTED: usize = 512;

/// The probability that fewer than `messages` are sent in so many rounds is at most this; `None` for more than 512 peers.
pub(crate) fn few_messages(peers: usize, muting: f64, rounds: usize, messages: f64) -> Option<f64> {
    if !(2..=MOST_COUNTED).contains(&peers) {
        return None;
    }
    let kernel: Vec<Vec<f64>> = (0..=peers).map(|active| next(peers, active, muting)).collect();
    let bound = |theta: f64| {
        let weight: Vec<f64> = (0..=peers).map(|active| (-theta * active as f64).exp()).collect();
        let mut value = vec![1.0; peers + 1];
        for _ in 0..rounds {
            let ahead = |row: &Vec<f64>| row.iter().zip(&value).map(|(p, v)| p * v).sum::<f64>();
            value = kernel.iter().zip(&weight).map(|(row, weight)| weight * ahead(row)).collect();
        }
        (theta * messages).exp() * value[1] * (1.0 + 1e-9)
    };
    let thetas = (-8..=6).map(|power| 2.0_f64.powi(power) / peers as f64);
    Some(thetas.map(bound).fold(1.0, |least, bound| if bound < least { bound } else { least }))
}

/// The law of the number of active peers after a round with so many.
fn next(peers: usize, active: usize, muting: f64) -> Vec<f64> {
    let mut law = vec![0.0; peers + 1];
    law[0] = 1.0;
    for _ in 0..active {
        grow(&mut law, |_| muting);
    }
    for _ in 0..active {
        grow(&mut law, |among| 1.0 - among as f64 / peers as f64);
    }
    law
}

/// One more with this probability, which depends on how many there are.
fn grow(law: &mut [f64], probability: impl Fn(usize) -> f64) {
    for count in (0..law.len() - 1).rev() {
        let more = law[count] * probability(count);
        law[count] -= more;
        law[count + 1] += more;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_protocol::public::{Among, Rules};
    use sottovoce_simulator::rumor::{Crowd, Dice};

    /// The paper's Theorem 9, with its constants: n ln n messages in 6 ln(n)/s rounds.
    #[test]
    fn few_are_sent_hardly_ever() {
        let (n, s) = (100, 0.5);
        let log = (n as f64).ln();
        let bound = few_messages(n, s, (6.0 * log / s) as usize, n as f64 * log).unwrap();
        assert!(bound < 1e-9, "{bound}");
    }

    #[test]
    fn the_chain_is_that_of_a_crowd() {
        let (n, s, runs) = (12, 0.4, 4000);
        let mut law = vec![0.0; n + 1];
        law[1] = 1.0;
        for _ in 0..4 {
            let mut after = vec![0.0; n + 1];
            for (active, p) in law.iter().enumerate() {
                next(n, active, s).iter().zip(&mut after).for_each(|(q, sum)| *sum += p * q);
            }
            law = after;
        }
        let mut counts = vec![0.0; n + 1];
        for run in 0..runs {
            let mut crowd =
                Crowd::new(Among::Everyone(n), Rules::new(s).unwrap(), 0, Dice::new(3, run, 0)).unwrap();
            (0..4).for_each(|_| crowd.silent_round());
            counts[crowd.active()] += 1.0 / runs as f64;
        }
        // Five standard errors.
        let near = |(p, q): (&f64, &f64)| (p - q).abs() < 5.0 * (p * (1.0 - p) / runs as f64).sqrt() + 1e-3;
        assert!(law.iter().zip(&counts).all(near), "{law:?} {counts:?}");
    }

    /// A walk sends one message a round: so many for certain, and no more.
    #[test]
    fn of_a_walk_it_is_certain() {
        assert_eq!(few_messages(10, 0.0, 20, 21.0), Some(1.0));
        assert!(few_messages(10, 0.0, 200, 10.0).unwrap() < 1e-9);
        assert_eq!(few_messages(MOST_COUNTED + 1, 0.5, 9, 9.0), None);
    }
}
