//! A trusted party that sees all data: in each step it draws peers, each with the same small probability, and adds noise to the sum of their
//! gradients. Nobody knows who was drawn, which is what makes it need so little noise (Poisson subsampling).

use rand::RngExt;
use sottovoce::learning::Task;
use sottovoce_privacy::noise::simulation::{ContinuousLaw, Seed, SimulatedNoise, Stream};
use sottovoce_privacy::{Adjacency, Mechanism, calibrate};

use crate::Result;

/// The curator's number among noises: no peer has it.
const CURATOR: u64 = u64::MAX;

/// Everything a curator's run is a function of.
#[derive(Clone, Copy)]
pub(crate) struct Curator<'a> {
    pub(crate) task: &'a Task,
    pub(crate) steps: usize,
    /// Step size; in each step one peer is drawn on average.
    pub(crate) step: f64,
    /// Noise in sensitivities.
    pub(crate) sigma: f64,
    pub(crate) seed: u64,
}

/// The noise, in sensitivities, with which so many steps are `(epsilon, delta)`-private for every peer's whole data, if each of `peers` is
/// drawn with probability `1/peers` in each step and the result of every step is seen. Neighbours replace one peer's data.
pub(crate) fn curator_sigma(peers: usize, steps: usize, epsilon: f64, delta: f64) -> Result<f64> {
    let rate = 1.0 / peers as f64;
    let noise = calibrate::least(
        |multiplier| Mechanism::gaussian(multiplier)?.poisson(rate),
        steps as u64,
        Adjacency::Replace,
        epsilon,
        delta,
        calibrate::Method::Pld,
    )?
    .noise;
    // It is relative to one gradient of norm 1, and replacing one moves the sum by twice that.
    Ok(0.5 * noise)
}

impl Curator<'_> {
    /// Learns. Hears of every step: how many are done, and the model.
    pub(crate) fn learn(&self, mut hear: impl FnMut(usize, &[f64])) -> Result<Vec<f64>> {
        let law = ContinuousLaw::gaussian(self.step * self.sigma * self.task.sensitivity())?;
        let mut model = self.task.start();
        let (mut before, mut moved) = (model.clone(), model.clone());
        for t in 0..self.steps {
            before.copy_from_slice(&model);
            for peer in self.sample(t) {
                moved.copy_from_slice(&before);
                self.task.descend(self.seed, peer, t, self.step, &mut moved);
                model.iter_mut().zip(&moved).zip(&before).for_each(|((x, new), old)| *x += new - old);
            }
            SimulatedNoise::new(self.seed, CURATOR, t as u64).add(law, &mut model);
            hear(t + 1, &model);
        }
        Ok(model)
    }

    /// Who is drawn in a step: gaps between them are geometric.
    fn sample(&self, step: usize) -> Vec<usize> {
        let peers = self.task.peers();
        if peers == 1 {
            return vec![0];
        }
        let mut rng = Seed(self.seed).stream(Stream::Sample, CURATOR, step as u64);
        let others = (-1.0 / peers as f64).ln_1p();
        let mut skip = || (rng.random::<f64>().max(f64::MIN_POSITIVE).ln() / others) as usize;
        let mut drawn = Vec::new();
        let mut next = skip();
        while next < peers {
            drawn.push(next);
            next = next.saturating_add(1).saturating_add(skip());
        }
        drawn
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use sottovoce_learning::Clip;

    #[test]
    fn one_peer_is_drawn_on_average_and_all_are_equally_likely() {
        let data = crate::learners::Data::read(
            &crate::Options::default(),
            sottovoce_learning::houses::Split::Eighty,
        );
        let task = data.unwrap().task(8, Clip::Example(0.4)).unwrap();
        let curator = Curator { task: &task, steps: 1, step: 0.1, sigma: 0.0, seed: 3 };
        let mut counts = [0_usize; 8];
        (0..40_000).flat_map(|step| curator.sample(step)).for_each(|peer| counts[peer] += 1);
        // 5000 expected each, with a standard deviation of 66.
        assert!(counts.iter().all(|count| count.abs_diff(5000) < 330), "{counts:?}");
    }

    #[test]
    fn a_curator_needs_less_noise_than_one_who_shows_every_contribution() {
        let sampled = curator_sigma(256, 2560, 5.0, 1e-6).unwrap();
        let target = sottovoce::learning::Target::Approximate { epsilon: 5.0, delta: 1e-6 };
        let shown = target.sigma(10.0, sottovoce::learning::calibrate::Currency::Gaussian).unwrap();
        assert!(sampled > 0.0 && sampled < 0.5 * shown, "{sampled} {shown}");
    }
}
