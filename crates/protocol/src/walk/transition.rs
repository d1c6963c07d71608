//! A peer's row of the transition matrix, ready to draw from.

use crate::{Chance, Peer};

/// Where a token goes from here.
#[derive(Debug, Clone, PartialEq)]
pub struct Transition {
    peers: Vec<u32>,
    /// Sums of the probabilities up to each peer.
    sums: Vec<f64>,
}

impl Transition {
    /// Peers with their probabilities; oneself is among them if one may keep the token.
    pub fn new(row: impl IntoIterator<Item = (Peer, f64)>) -> Self {
        let (mut peers, mut sums, mut sum) = (Vec::new(), Vec::new(), 0.0);
        for (peer, weight) in row {
            sum += weight;
            peers.push(peer as u32);
            sums.push(sum);
        }
        Self { peers, sums }
    }

    /// Whether tokens go to this peer; rows are symmetric, so they come from the same ones.
    pub fn has(&self, peer: Peer) -> bool {
        self.peers.iter().any(|&known| known as Peer == peer)
    }

    /// The next holder; `None` where there is nowhere to go.
    #[inline]
    pub fn draw(&self, chance: &mut (impl Chance + ?Sized)) -> Option<Peer> {
        // The weights sum to one but for rounding: relative to their sum, the last one gets what is its.
        let point = chance.unit() * self.sums.last()?;
        let place = self.sums.partition_point(|&sum| sum <= point);
        Some(self.peers[place.min(self.peers.len() - 1)] as Peer)
    }

    /// The next holder, among those who are not in `silent`; `None` where nobody is left. Oneself is not among them.
    pub fn draw_except(
        &self,
        own: Peer,
        silent: &[Peer],
        chance: &mut (impl Chance + ?Sized),
    ) -> Option<Peer> {
        let allowed = |peer: Peer| peer != own && !silent.contains(&peer);
        let weight = |i: usize| self.sums[i] - if i == 0 { 0.0 } else { self.sums[i - 1] };
        let open: Vec<usize> = (0..self.peers.len()).filter(|&i| allowed(self.peers[i] as Peer)).collect();
        let total: f64 = open.iter().map(|&i| weight(i)).sum();
        let mut left = chance.unit() * total;
        let found = open.iter().find(|&&i| {
            left -= weight(i);
            left < 0.0
        });
        found.or(open.last()).map(|&i| self.peers[i] as Peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rumor::tests::Weyl;

    #[test]
    fn peers_come_with_the_probabilities_of_the_row() {
        let transition = Transition::new((0..5).map(|peer| (peer, 0.2)));
        let mut chance = Weyl(5);
        let mut counts = [0.0_f64; 5];
        (0..50_000).for_each(|_| counts[transition.draw(&mut chance).unwrap()] += 1.0);
        // Five standard deviations of 50,000 draws with probability 1/5 are 447.
        assert!(counts.iter().all(|count| (count - 10_000.0).abs() < 447.0), "{counts:?}");
        let mut counts = [0.0_f64; 5];
        (0..20_000).for_each(|_| counts[transition.draw_except(0, &[2, 3], &mut chance).unwrap()] += 1.0);
        assert!((counts[1] - 10_000.0).abs() < 354.0 && counts[1] + counts[4] == 20_000.0, "{counts:?}");
        assert_eq!(transition.draw_except(0, &[1, 2, 3, 4], &mut chance), None);
    }
}
