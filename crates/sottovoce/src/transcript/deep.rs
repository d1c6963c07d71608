//! A run of consensus learning: how often everybody drew, and how each draw was hidden.

use serde::{Deserialize, Serialize};
use sottovoce_engine::deep::Setting;
use sottovoce_protocol::consensus::Hidden;
use sottovoce_views::cancelling::Secrets;
use sottovoce_views::door::Drawn;

use super::{SCHEMA_VERSION, SHOWN, astray};
use crate::deep::{Revealed, reveal};
use crate::experiment::{self, Experiment};
use crate::names::Names;
use crate::{Error, Result};

/// A run as a file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deep {
    schema_version: u32,
    /// The experiment, as a file has it.
    pub(super) experiment: String,
    agents: Vec<Agent>,
    /// Who shared secrets, where noise cancelled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    secrets: Option<Secrets>,
}

/// An agent, how her draws were hidden, and how many there were.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Agent {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    rows: usize,
    hidden: Option<Hidden>,
    draws: usize,
}

impl Deep {
    /// Of a run.
    pub fn new(experiment: &Experiment, setting: &Setting, draws: &[usize]) -> Result<Self> {
        let labels = setting.mixing.graph().labels();
        let agents = setting.holdings.sizes().into_iter().zip(&setting.hidden).zip(draws).enumerate();
        let one = |(agent, ((rows, &hidden), &draws)): (usize, ((usize, &Option<Hidden>), &usize))| Agent {
            name: labels.map(|labels| labels[agent].clone()),
            rows,
            hidden,
            draws,
        };
        let agents = agents.map(one).collect();
        let (experiment, secrets) = (experiment.to_toml()?, setting.secrets.clone());
        Ok(Self { schema_version: SCHEMA_VERSION, experiment, agents, secrets })
    }

    /// The experiment.
    pub fn experiment(&self) -> Result<experiment::Deep> {
        match Experiment::parse(&self.experiment)? {
            Experiment::Deep(experiment) => Ok(*experiment),
            _ => Err(Error::parameter("experiment", "another kind", "it must be deep")),
        }
    }

    fn rows(&self) -> Vec<usize> {
        self.agents.iter().map(|agent| agent.rows).collect()
    }

    /// Whether agents drew as was agreed: problems, none where they did. Noise follows from public numbers, so no image is needed; where images were drawn,
    /// how many everybody has follows from the seed.
    pub fn check(&self) -> Result<Vec<String>> {
        let (experiment, rows) = (self.experiment()?, self.rows());
        let mut problems = Vec::new();
        if experiment.task.data.is_none() {
            let agreed = self.agreed(experiment.clone())?;
            if agreed.len() != rows.len() {
                problems.push(format!("there are {} agents instead of {}", rows.len(), agreed.len()));
            }
            for (agent, (here, agreed)) in rows.iter().zip(&agreed).enumerate().filter(|(_, (a, b))| a != b) {
                problems.push(format!("agent {agent} has {here} images instead of {agreed}"));
            }
        }
        let (secrets, seed) = (self.secrets.as_ref(), experiment.seed.unwrap_or(0));
        if problems.is_empty() {
            let graph = experiment.known_graph(rows.len(), seed)?;
            let place = (graph.as_ref(), rows.len());
            if !experiment.pairing()?.names(secrets, place, seed)? {
                problems.push("agents shared other secrets than was agreed".to_owned());
            }
        }
        if !problems.is_empty() {
            return Ok(problems);
        }
        let hidden = experiment.hidden(&rows, secrets)?;
        let draws = experiment.draws(&hidden, secrets)?;
        for (agent, (record, (hidden, draws))) in
            self.agents.iter().zip(hidden.iter().zip(&draws)).enumerate()
        {
            if record.hidden != *hidden {
                problems.push(format!("agent {agent} hid her gradients in another way than was agreed"));
            }
            if record.draws > *draws {
                problems.push(format!("agent {agent} drew {} times instead of {draws}", record.draws));
            }
        }
        Ok(problems)
    }

    /// How many images everybody has, where they are drawn. The graph is of no matter, but for how many agents it has: a file of one is not at hand.
    fn agreed(&self, mut experiment: experiment::Deep) -> Result<Vec<usize>> {
        if experiment.graph.base.file.take().is_some() {
            experiment.task.agents = Some(self.agents.len());
        }
        // Nor are secrets, which are in the transcript.
        (experiment.noise.cancel, experiment.noise.keys, experiment.target.colluders) = (None, None, None);
        // Nor is it of matter how much noise there is, which takes long to compute.
        experiment.noise.noise_multiplier.get_or_insert(1.0);
        experiment.target.epsilon = None;
        let ready = experiment.ready(std::path::Path::new(""), experiment.seed.unwrap_or(0))?;
        Ok(ready.setting.holdings.sizes())
    }

    /// What cannot be held against the experiment: how many images agents have, where a folder says it. Noise and rates follow from that, and what is promised with them.
    pub(super) fn unchecked(&self) -> Result<Option<String>> {
        let rows = self.rows();
        let sum: usize = rows.iter().sum();
        let told = format!("`rows` are {sum} images of {} agents, as the transcript says: ", rows.len());
        let more = "if an agent has fewer, her images lose more than is said here; count them in the folder";
        Ok(self.experiment()?.task.data.map(|_| told + more))
    }

    /// What the run revealed to someone who saw every message. A run that did not follow its plan is refused.
    pub fn account(&self, delta: Option<f64>) -> Result<Revealed> {
        let problems = self.check()?;
        if !problems.is_empty() {
            return Err(astray(&problems[..problems.len().min(SHOWN)].join("; "))); // whole numbers
        }
        let experiment = self.experiment()?;
        let (rows, secrets) = (self.rows(), self.secrets.as_ref());
        let hidden: Vec<Option<Hidden>> = self.agents.iter().map(|agent| agent.hidden).collect();
        // A transcript that was shortened cannot be told from a run that was paused: everybody is charged for all that was agreed on.
        let draws = experiment.draws(&hidden, secrets)?;
        let names: Option<Vec<String>> = self.agents.iter().map(|agent| agent.name.clone()).collect();
        let drawn = Drawn { hidden: &hidden, draws: &draws, secrets };
        let delta = delta.unwrap_or(experiment.target.delta);
        reveal(&experiment, &drawn, &rows, Names::new(names.as_deref()), delta)
    }
}
