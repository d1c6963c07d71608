//! Deep learning, for programs.

use std::path::Path;
use std::sync::Arc;

use sottovoce_engine::deep::Holdings;
use sottovoce_learning::Images;
use sottovoce_topology::Graph;

use super::{Account, Adversary, Attack, Protocol, Run, Who, setters};
use crate::deep::{self, Found};
use crate::experiment::{self, DeepMethod, Experiment, Model};
use crate::spine::Outcome;
use crate::{Result, require};

/// A net is learned together from images that stay where they are. Each image is protected.
#[derive(Debug, Clone)]
pub struct Deep {
    spec: experiment::Deep,
    against: Option<Adversary>,
}

impl Deep {
    /// Among the peers of a graph.
    pub fn new(graph: &Graph) -> Self {
        let mut spec = experiment::Deep::default();
        spec.graph.base.memory.put(&mut spec.graph.base.file, graph.clone(), graph.nodes());
        Self { spec, against: None }
    }

    /// Each peer's private images, in the order of the graph, and those to test on.
    pub fn images(mut self, own: impl IntoIterator<Item = Images>, test: Images) -> Self {
        let held = Holdings { rows: own.into_iter().collect(), test };
        let (size, task) = (held.sizes().iter().sum(), &mut self.spec.task);
        task.memory.put(&mut task.data, held, size);
        self
    }

    setters! { spec:
        /// The algorithm (default: dsgt).
        method(method: DeepMethod) { spec.protocol.method = method }

        /// The net (default: by the images).
        net(net: Model) { spec.protocol.model = Some(net) }

        /// Rounds, each followed by an update.
        rounds(rounds: usize) { spec.protocol.rounds = rounds }

        /// Expected size of a batch.
        batch(images: f64) { spec.protocol.lot = images }

        /// Largest norm of an image's gradient.
        clip(clip: f64) { spec.noise.clip = clip }

        /// Noise that each two peers add and subtract: a Gaussian of so many times a peer's own noise.
        pairwise_noise(ratio: f64) { spec.noise.cancel = Some(ratio) }

        /// Noise of every draw as a multiple of the largest norm, instead of a target.
        noise_multiplier(multiplier: f64) { spec.noise.noise_multiplier = Some(multiplier) }

        /// Epsilon that one image of anyone may lose in the whole run.
        epsilon(epsilon: f64) { spec.target.epsilon = Some(epsilon) }

        /// Probability with which it may fail (default: 1e-5).
        delta(delta: f64) { spec.target.delta = delta }
    }

    /// To whom the target's epsilon may be lost: to an eavesdropper, with colluders where pairs of peers share secrets.
    pub fn against(self, adversary: Adversary) -> Self {
        Self { against: Some(adversary), ..self }
    }

    /// Runs it with this seed.
    ///
    /// # Errors
    ///
    /// Names the field that cannot be as it is, and what to do.
    pub fn run(mut self, seed: u64) -> Result<Run<Self>> {
        if let Some(adversary) = &self.against {
            eavesdropper(adversary)?;
            self.spec.target.colluders = adversary.colluding(self.spec.noise.cancel.is_some());
        }
        let spec = Experiment::Deep(Box::new(self.spec.clone()));
        Run::new(self, &spec, seed)
    }
}

/// Refuses others than an eavesdropper.
fn eavesdropper(adversary: &Adversary) -> Result<()> {
    match &adversary.who {
        Who::Eavesdropper => Ok(()),
        _ => Err(adversary.refused("peers hear no more than an eavesdropper; ask for that one")),
    }
}

impl Protocol for Deep {
    type Found = Arc<Found>;

    fn found(outcome: &Outcome) -> Option<Self::Found> {
        outcome.found()
    }

    fn account(run: &Run<Self>, adversary: &Adversary) -> Result<Account> {
        eavesdropper(adversary)?;
        let spec = &run.protocol.spec;
        adversary.check_colluders(spec.noise.cancel.is_some(), spec.target.colluders)?;
        Ok(Account { guarantees: run.found.guarantees.clone(), pairs: Vec::new() })
    }

    fn attack(run: &Run<Self>, runs: usize) -> Result<Attack> {
        require(runs == 1, "runs", runs, "canaries are planted in one run; give 1")?;
        let found = deep::attack(&run.protocol.spec.ready(Path::new(""), run.seed)?, || ())?.found;
        Ok(Attack { headline: found.headline, refuted: !found.stands })
    }
}

impl Run<Deep> {
    /// The accuracy of peers' models on the images to test on, on average. Computed without privacy.
    pub fn accuracy(&self) -> f64 {
        self.found.accuracy
    }

    /// The net, as a safetensors file.
    pub fn model(&self) -> &[u8] {
        &self.found.model
    }
}
