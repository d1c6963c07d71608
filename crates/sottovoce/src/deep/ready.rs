//! An experiment that can be run: images dealt out, noise calibrated.

use std::path::Path;

use sottovoce_engine::deep::{Amount, Holdings, POINTS, Setting, check, draws, hidden};
use sottovoce_learning::images::{self, Found};
use sottovoce_learning::net::{Net, Shape};
use sottovoce_learning::{Images, read::Source};
use sottovoce_protocol::consensus::{Band, Hidden, Method, Optimiser, Plan, Rates, Rule};
use sottovoce_topology::Graph;
use sottovoce_topology::family::Family;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::cancelling::Secrets;
use sottovoce_views::door::{self, Account, Released};

use crate::experiment::graph::near;
use crate::experiment::{Deep, DeepMethod, DeepNoise, DeepTask, Model, Pairing, Pictures, Place, Steps};
use crate::names::Names;
use crate::{Error, Result, require};

/// Epsilon where neither it nor noise is given.
pub(super) const EPSILON: f64 = 8.0;
/// Draws of a run, at most.
const MOST_DRAWS: usize = 10_000_000;

/// Draws of a cycle of correlated noise, at most: as many noises are kept.
const MOST_BAND: usize = 1000;

/// All that a run needs.
pub struct Ready {
    /// What the run is a function of.
    pub setting: Setting,
    /// What agents are called.
    pub names: Names,
    /// Files of images that were read.
    pub sources: Vec<Source>,
    /// SHA-256 of the graph's file.
    pub graph_sha256: Option<String>,
    /// What was noticed in it.
    pub notes: Vec<String>,
}

impl Ready {
    /// What so many draws of everybody lose to someone who sees every message, with the help of those who may collude.
    pub fn account(&self, draws: &[usize]) -> Result<Account<Released>> {
        let drawn = self.setting.drawn(draws);
        Ok(door::account(&drawn, &drawn.sees_all())?)
    }
}

impl Deep {
    /// Reads what the experiment names; `folder` is where relative names begin.
    pub fn ready(&self, folder: &Path, seed: u64) -> Result<Ready> {
        let plan = self.plan()?;
        self.amount()?;
        self.band()?;
        self.pairing()?;
        let place = self.place(folder, seed)?;
        let agents = self.agents(place.as_ref())?;
        let (holdings, sources) = self.holdings(folder, agents, seed)?;
        let net = self.net(&holdings.test)?;
        let place = match place {
            Some(place) => place,
            None => self.drawn(holdings.rows.len(), seed)?,
        };
        let pairing = self.pairing()?;
        let secrets = pairing.secrets(folder, (Some(&place.graph), holdings.rows.len()), seed)?;
        let hidden = self.hidden(&holdings.sizes(), secrets.as_ref())?;
        let draws = self.draws(&hidden, secrets.as_ref())?;
        let mixing = self.mixing(&place.graph)?;
        let names = Names::of_graph(&place.graph);
        let delta = self.target.delta;
        let setting =
            Setting { net, holdings, mixing, plan, hidden, secrets, draws, delta, seed, points: POINTS };
        Ok(Ready { setting, names, sources, graph_sha256: place.sha256, notes: place.notes })
    }

    /// Whether agents hear each other.
    fn talks(&self) -> bool {
        !matches!(self.protocol.method, DeepMethod::Central | DeepMethod::Local)
    }

    /// How agents with so many rows are hidden: a function of public numbers alone.
    pub(crate) fn hidden(&self, rows: &[usize], secrets: Option<&Secrets>) -> Result<Vec<Option<Hidden>>> {
        let lots = (self.protocol.lot, self.noise.clip);
        hidden(rows, lots, self.band()?, (self.amount()?, self.plan()?.draws()), secrets)
    }

    /// How many draws agents with so many rows may make.
    pub(crate) fn draws(&self, hidden: &[Option<Hidden>], secrets: Option<&Secrets>) -> Result<Vec<usize>> {
        draws(hidden, &self.plan()?, self.within(), secrets)
    }

    /// What it says of noise that cancels. Whoever learns alone has nobody to cancel it.
    pub(crate) fn pairing(&self) -> Result<Pairing<'_>> {
        let DeepNoise { cancel, keys, noise_multiplier, .. } = &self.noise;
        if let Some(kappa) = *cancel {
            let remedy = "nobody talks to anybody with this method, so that nothing cancels; leave it out";
            require(self.talks(), "cancel", kappa, remedy)?;
            let remedy = "Adam's steps are no sums of gradients, so that nothing cancels in them; give optimiser sgd or momentum, or --method dsgt";
            require(!matches!(self.optimiser()?.rule, Rule::Adam { .. }), "cancel", kappa, remedy)?;
            let remedy = "pairs are as loud as there is noise; give some, or leave it out";
            require(*noise_multiplier != Some(0.0), "cancel", kappa, remedy)?;
        }
        Ok(Pairing { cancel: *cancel, keys: keys.as_ref(), colluders: self.target.colluders })
    }

    /// Who hears whom, where that is known without a file.
    pub(crate) fn known_graph(&self, agents: usize, seed: u64) -> Result<Option<Graph>> {
        if self.graph.base.file.is_some() {
            return Ok(None);
        }
        let place = match self.place(Path::new(""), seed)? {
            Some(place) => place,
            None => self.drawn(agents, seed)?,
        };
        Ok(Some(place.graph))
    }

    /// A budget beside noise that is given.
    fn within(&self) -> Option<(f64, f64)> {
        let given = self.noise.noise_multiplier.filter(|noise| *noise > 0.0);
        given.and(self.target.epsilon).map(|epsilon| (epsilon, self.target.delta))
    }

    /// How noises depend on each other.
    fn band(&self) -> Result<Band> {
        let Some(width) = self.noise.band else {
            let remedy = "it goes with a band; leave it out, or give a band";
            return match self.noise.memory {
                Some(memory) => Err(Error::parameter("memory", memory, remedy)),
                None => Ok(Band::NONE),
            };
        };
        let hides = self.noise.noise_multiplier != Some(0.0);
        require(hides, "band", width, "without noise there is nothing to correlate; leave it out")?;
        require(
            (1..=MOST_BAND).contains(&width),
            "band",
            width,
            format!("give from 1 to {MOST_BAND} draws"),
        )?;
        Ok(Band { width, memory: self.noise.memory.unwrap_or(1.0) })
    }

    fn amount(&self) -> Result<Amount> {
        let (clip, delta) = (self.noise.clip, self.target.delta);
        require(clip > 0.0, "clip", clip, "give a positive number")?;
        require(delta > 0.0 && delta < 1.0, "delta", delta, "give a probability between 0 and 1")?;
        let epsilon = self.target.epsilon;
        if let Some(epsilon) = epsilon {
            require(
                (1e-3..=1e4).contains(&epsilon),
                "epsilon",
                epsilon,
                "give a number from 0.001 to 10,000",
            )?;
        }
        match self.noise.noise_multiplier {
            Some(noise) => {
                require(
                    (0.0..=1e9).contains(&noise),
                    "noise-multiplier",
                    noise,
                    "give a number from 0 to 1e9",
                )?;
                let hides = noise > 0.0;
                require(
                    clip.is_finite() || !hides,
                    "clip",
                    clip,
                    "noise hides what is clipped; give a number",
                )?;
                if let Some(epsilon) = epsilon.filter(|_| !hides) {
                    let remedy = "without noise nothing is promised; leave it out, or give noise";
                    return Err(Error::parameter("epsilon", epsilon, remedy));
                }
                Ok(Amount::Multiplier(noise))
            }
            None => {
                require(clip.is_finite(), "clip", clip, "noise hides what is clipped; give a number")?;
                Ok(Amount::Target { epsilon: epsilon.unwrap_or(EPSILON), delta })
            }
        }
    }

    /// What everybody does. Options of other methods are refused.
    pub fn plan(&self) -> Result<Plan> {
        let asked = &self.protocol;
        let (dsgd, dinno) = (asked.method == DeepMethod::Dsgd, asked.method == DeepMethod::Dinno);
        let unused = [
            ("at", asked.at.is_some() && !dsgd),
            ("primal", asked.primal.is_some() && !dinno),
            ("rho", asked.rho.is_some() && !dinno),
            ("growth", asked.growth.is_some() && !dinno),
        ];
        if let Some((field, _)) = unused.into_iter().find(|(_, unused)| *unused) {
            return Err(Error::parameter(field, "given", "this method has no use for it; leave it out"));
        }
        let method = match asked.method {
            DeepMethod::Dsgt => Method::Dsgt,
            DeepMethod::Dinno => Method::Dinno {
                primal: asked.primal.unwrap_or(1),
                rho: asked.rho.unwrap_or(0.5),
                growth: asked.growth.unwrap_or(1.0003),
            },
            _ => Method::Dsgd { at: asked.at.unwrap_or_default() },
        };
        let optimiser = self.optimiser()?;
        let start = asked.rate.unwrap_or_else(|| self.usual_rate(optimiser));
        let rates = Rates { start, finish: asked.last_rate.unwrap_or(start / 10.0) };
        let plan = Plan { method, iterations: asked.rounds, rates, optimiser };
        let most = format!("give from 1 to {MOST_DRAWS} draws in all");
        let fits = (1..=MOST_DRAWS).contains(&asked.rounds) && plan.draws() <= MOST_DRAWS;
        require(fits, "rounds", asked.rounds, most)?;
        check(&plan)?;
        Ok(plan)
    }

    /// The first rate where none is given. Where gradients are clipped, rates were compared on drawn images to learn from that were held out, by the accuracy on average over the
    /// epsilons 1, 2 and 8 and several seeds (`examples/deep_rates.rs`). Plain steps keep 1: with 2 the average is 0.1 points higher, which is less than its error. Small epsilons
    /// ask for smaller steps; at 8 plain ones of 4 or 5 are better by eight points.
    fn usual_rate(&self, Optimiser { rule, kept, .. }: Optimiser) -> f64 {
        // Where they are not, they are longer.
        let (clipped, method) = (self.noise.clip.is_finite(), self.protocol.method);
        match rule {
            Rule::Sgd => 1.0,
            Rule::Momentum { .. } if clipped && method == DeepMethod::Central => 0.3,
            Rule::Momentum { .. } => 0.1,
            // Begun afresh, Adam steps by signs: it has no mean over rounds that could shorten a step.
            Rule::Adam { .. } if !kept && clipped => 0.02,
            Rule::Adam { .. } if !kept => 0.01,
            Rule::Adam { .. } if clipped && method == DeepMethod::Dsgd => 0.05,
            Rule::Adam { .. } => 0.003,
        }
    }

    fn optimiser(&self) -> Result<Optimiser> {
        let asked = &self.protocol;
        let steps = asked.optimiser.unwrap_or(match asked.method {
            DeepMethod::Dinno => Steps::Adam,
            DeepMethod::Central | DeepMethod::Local => Steps::Momentum,
            _ => Steps::Sgd,
        });
        if let Some(beta) = asked.momentum.filter(|_| steps != Steps::Momentum) {
            let remedy = "it goes with optimiser momentum; leave it out";
            return Err(Error::parameter("momentum", beta, remedy));
        }
        if asked.fresh && steps == Steps::Sgd {
            return Err(Error::parameter("fresh", "given", "plain steps remember nothing; leave it out"));
        }
        // With moments of earlier rounds dinno did not learn at any rate that was tried (0.003 and 0.0075).
        let dinno = asked.method == DeepMethod::Dinno && steps != Steps::Sgd;
        if asked.kept && (asked.fresh || !dinno) {
            let remedy = "moments are kept unless dinno, or fresh, begins them anew; leave it out";
            return Err(Error::parameter("kept", "given", remedy));
        }
        let rule = match steps {
            Steps::Sgd => Rule::Sgd,
            Steps::Momentum => Rule::Momentum { beta: asked.momentum.unwrap_or(0.9) },
            Steps::Adam => Rule::ADAM,
        };
        Ok(Optimiser { rule, decay: asked.decay, kept: asked.kept || !(asked.fresh || dinno) })
    }

    /// The graph that is given, if one is.
    pub(crate) fn place(&self, folder: &Path, seed: u64) -> Result<Option<Place>> {
        let graph = &self.graph;
        let given = [
            ("graph", graph.base.is_given()),
            ("weights", graph.base.weights.is_some()),
            ("lazy", graph.base.lazy.is_some()),
            ("fiedler", graph.fiedler.is_some()),
            ("published-weights", graph.published_weights),
        ];
        if let Some((field, _)) = given.into_iter().find(|(_, given)| *given && !self.talks()) {
            let remedy = "nobody talks to anybody with this method; leave it out";
            return Err(Error::parameter(field, "given", remedy));
        }
        let both = |one: bool, other: bool, field| {
            require(!(one && other), field, "given twice", "give one of them")
        };
        both(graph.base.is_given(), graph.fiedler.is_some(), "graph")?;
        let weighted = graph.base.weights.is_some() || graph.base.lazy.is_some();
        both(weighted, graph.published_weights, "weights")?;
        graph.base.read(folder, seed)
    }

    /// How many agents there are.
    fn agents(&self, place: Option<&Place>) -> Result<usize> {
        let central = self.protocol.method == DeepMethod::Central;
        let unused = [("agents", self.task.agents.map(|n| n as f64)), ("split", self.task.split)];
        for (field, value) in unused.into_iter().filter(|_| central) {
            if let Some(value) = value {
                return Err(Error::parameter(field, value, "a centre has all images; leave it out"));
            }
        }
        match (self.task.agents, place.map(|place| place.graph.nodes())) {
            (Some(agents), Some(nodes)) if agents != nodes => {
                Err(Error::parameter("agents", agents, format!("the graph has {nodes}; leave it out")))
            }
            (Some(agents), _) => {
                require((1..=100_000).contains(&agents), "agents", agents, "give from 1 to 100,000")?;
                Ok(agents)
            }
            (None, nodes) => Ok(nodes.unwrap_or(10)),
        }
    }

    /// A graph where none is given: agents in a square who hear those nearby; nobody where nobody talks.
    pub(crate) fn drawn(&self, agents: usize, seed: u64) -> Result<Place> {
        if !self.talks() || agents == 1 {
            let (graph, name) = (Graph::from_edges(agents, [])?, "nobody".to_owned());
            return Ok(Place { graph, schedule: None, sha256: None, notes: Vec::new(), name });
        }
        let family = match self.graph.fiedler {
            Some(target) => Family::GeometricFiedler { n: agents, target },
            None => near(agents),
        };
        Place::drawn(&family, seed)
    }

    /// Who weighs whom, on a graph.
    pub fn mixing(&self, graph: &Graph) -> Result<Mixing> {
        if !self.talks() {
            return Ok(Mixing::new(graph, Weights::Metropolis));
        }
        if self.graph.published_weights {
            graph.require_connected(
                "agents never hear of the other parts: add edges, or take the largest component",
            )?;
            return Ok(Mixing::neighbourhoods(graph));
        }
        self.graph.base.mixing(graph)
    }

    /// Everybody's images: those in memory, or else what is drawn or read, dealt out.
    fn holdings(&self, folder: &Path, agents: usize, seed: u64) -> Result<(Holdings, Vec<Source>)> {
        let file = self.task.data.as_deref().unwrap_or(Path::new(""));
        if let Some(images) = self.task.memory.of("data", file, |lent| &lent.images)? {
            let held = &images.0;
            let DeepTask { kind, images, test_images, split, .. } = &self.task;
            let all = [("task", kind.is_some()), ("images", images.is_some())];
            let all =
                all.into_iter().chain([("test-images", test_images.is_some()), ("split", split.is_some())]);
            if let Some((field, _)) = all.into_iter().find(|(_, given)| *given) {
                let remedy = "images in memory are as they are, with their owners; leave it out";
                return Err(Error::parameter(field, "given", remedy));
            }
            let same = |images: &Images| {
                (images.shape(), images.classes()) == (held.test.shape(), held.test.classes())
            };
            let remedy = "all images have one shape and as many classes, those to test on as well";
            require(held.rows.iter().all(same), "data", "of several kinds", remedy)?;
            let central = self.protocol.method == DeepMethod::Central;
            let (owners, all) = (held.rows.len(), if central { 1 } else { agents });
            let remedy = format!("give those of {all}, the number of agents");
            require(owners == all, "data", format!("the images of {owners} agents"), remedy)?;
            return Ok((held.clone(), Vec::new()));
        }
        let Found { train, test, sources } = self.images(folder, seed)?;
        let holdings = match self.protocol.method {
            DeepMethod::Central => Holdings::pooled(train, test),
            _ => Holdings::dealt(&train, test, agents, self.task.split.unwrap_or(0.5), seed)?,
        };
        Ok((holdings, sources))
    }

    /// Draws or reads the images.
    fn images(&self, folder: &Path, seed: u64) -> Result<Found> {
        let task = &self.task;
        let Some(data) = &task.data else {
            if let Some(kind) = task.kind.filter(|kind| *kind != Pictures::Drawn) {
                let remedy = format!("give --data DIR, a folder with the files of {}", kind.name());
                return Err(Error::missing("data", remedy));
            }
            let (train, test) = (task.images.unwrap_or(10_000), task.test_images.unwrap_or(1000));
            let enough = |field, count: usize| {
                require((10..=1 << 19).contains(&count), field, count, "give from 10 to 524,288")
            };
            enough("images", train)?;
            enough("test-images", test)?;
            let all = images::drawn(train + test, seed)?;
            let part = |from: usize, to: usize| all.gather(&(from..to).collect::<Vec<_>>());
            return Ok(Found {
                train: part(0, train)?,
                test: part(train, train + test)?,
                sources: Vec::new(),
            });
        };
        if task.kind == Some(Pictures::Drawn) {
            let remedy = "the images are drawn; leave it out, or give another --task";
            return Err(Error::parameter("data", data.display(), remedy));
        }
        let found = images::open(&folder.join(data))?;
        if let Some(kind) = task.kind {
            let (channels, classes) = kind.form();
            let holds = (found.train.shape().channels, found.train.classes());
            let remedy = format!(
                "the folder holds images of {} channels and {} classes; give another",
                holds.0, holds.1
            );
            require(holds == (channels, classes), "task", kind.name(), remedy)?;
        }
        let first = |images: Images, most: Option<usize>, field| -> Result<Images> {
            let Some(most) = most else { return Ok(images) };
            let remedy = format!("the folder has {}; give from 1 to as many", images.len());
            require((1..=images.len()).contains(&most), field, most, remedy)?;
            Ok(images.gather(&(0..most).collect::<Vec<_>>())?)
        };
        let (train, test) =
            (first(found.train, task.images, "images")?, first(found.test, task.test_images, "test-images")?);
        Ok(Found { train, test, sources: found.sources })
    }

    fn net(&self, images: &Images) -> Result<Net> {
        self.net_of(images.shape(), images.classes())
    }

    /// The net, where the images that were agreed on say which: those that are read are brought to 32x32.
    pub fn agreed_net(&self) -> Result<Option<Net>> {
        let of = |kind: Pictures| {
            let (channels, classes) = kind.form();
            self.net_of(Shape { channels, height: 32, width: 32 }, classes)
        };
        self.task.kind.map(of).transpose()
    }

    fn net_of(&self, shape: Shape, classes: usize) -> Result<Net> {
        let grey = shape.channels == 1;
        Ok(match self.protocol.model.unwrap_or(if grey { Model::Cnn } else { Model::Resnet9 }) {
            Model::Cnn => {
                require(
                    grey && classes <= 10,
                    "model",
                    "cnn",
                    "it tells ten kinds of grey images apart; give resnet9 or mlp",
                )?;
                Net::consensus_cnn()
            }
            Model::Mlp => Net::perceptron(shape, &[64], classes)?,
            Model::Resnet9 => Net::resnet9(shape, classes)?,
        })
    }
}

impl Pictures {
    /// As files have it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Drawn => "drawn",
            Self::Mnist => "mnist",
            Self::FashionMnist => "fashion-mnist",
            Self::Cifar10 => "cifar-10",
            Self::Cifar100 => "cifar-100",
        }
    }

    /// Channels and classes.
    fn form(self) -> (usize, usize) {
        match self {
            Self::Drawn | Self::Mnist | Self::FashionMnist => (1, 10),
            Self::Cifar10 => (3, 10),
            Self::Cifar100 => (3, 100),
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, template};

    fn deep(text: &str) -> Deep {
        let Experiment::Deep(deep) = Experiment::parse(text).unwrap() else { panic!("{text}") };
        *deep
    }

    /// What the template shows as defaults of steps is what is done without it.
    #[test]
    fn the_template_tells_the_defaults() {
        let text = template("deep").unwrap();
        let shown = ["rate", "last-rate", "optimiser", "decay", "fresh", "kept"];
        let said = |line: &str| {
            let field = line
                .strip_prefix("# ")
                .filter(|rest| shown.iter().any(|name| rest.starts_with(&format!("{name} ="))));
            format!("{}\n", field.unwrap_or(line))
        };
        let said = deep(&text.lines().map(said).collect::<String>());
        assert!(said.protocol.rate.is_some() && said.protocol.last_rate.is_some());
        assert_eq!(said.plan().unwrap(), deep(text).plan().unwrap());
    }

    #[test]
    fn dinno_begins_afresh_unless_told_to_keep() {
        let of = |method, fresh, kept| {
            let mut asked = Deep::default();
            asked.protocol = crate::experiment::DeepProtocol { method, fresh, kept, ..asked.protocol };
            asked.plan().map(|plan| plan.optimiser.kept)
        };
        assert!(!of(DeepMethod::Dinno, false, false).unwrap() && of(DeepMethod::Dinno, false, true).unwrap());
        assert!(
            of(DeepMethod::Central, false, false).unwrap() && !of(DeepMethod::Central, true, false).unwrap()
        );
        assert!(of(DeepMethod::Dinno, true, true).is_err() && of(DeepMethod::Dsgt, false, true).is_err());
    }
}
