//! The experiment: one description that flags, files and other languages build, and that `run`, `plan`, `account` and `audit` all take.
//!
//! ```text
//! flags ─┐
//! TOML ──┼─► Experiment ─► ready: files read, defaults filled in, noise calibrated ─► run, plan, account, audit
//! Python ┘
//! ```
//!
//! A file begins with what it is about (`experiment = "averaging"`), and then has a table for each of graph, protocol, walk, noise, values, network,
//! adversary and target. The fields of a table are the options of the command line: one type is both (feature `flags`). Unknown fields are refused.

mod averaging;
mod deep;
mod distance;
#[cfg(feature = "flags")]
pub mod flags;
pub mod graph;
mod learning;
mod learning_graph;
mod network;
mod paper;
mod personalized;
mod planned;
mod rumor;
mod task;
mod template;
mod values;
mod walk;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

pub use averaging::{AdversarySpec, Against, Averaging, Method, MixingSpec, NoiseSpec, Ready, TargetSpec};
pub use deep::{
    Deep, DeepGraph, DeepMethod, DeepNoise, DeepProtocol, DeepTarget, DeepTask, Model, Pictures, Steps,
};
pub use distance::{ByDistance, Within};
pub use graph::{GraphFile, GraphSpec, Place};
pub use learning::{
    FinalModel, GradientNoise, Learning, LearningTarget, MethodSpec, ReadyLearning, StepSpec, Whom,
};
pub use learning_graph::{Graphs, LearningGraph};
pub use network::{NetworkSpec, TokenNetwork};
pub use paper::Paper;
pub(crate) use personalized::pair;
pub use personalized::{
    PersonalNetwork, PersonalNoise, PersonalProtocol, PersonalTarget, PersonalTask, Personalized, Tasks,
};
pub use planned::{Chosen, Coalition};
pub use rumor::{Clocks, Rumor};
pub use task::{Clipped, LossSpec, Said, TaskSpec};
pub use template::template;
pub use values::{Range, Values, ValuesSpec};
pub use walk::{Agreed, ReadyWalk, StepSize, WalkSpec, worth};

use crate::{Error, Result};

/// An experiment of any kind.
///
/// ```
/// use sottovoce::experiment::Experiment;
/// let experiment = Experiment::parse("experiment = 'averaging'\n[graph]\nfamily = { ring = { n = 12 } }\n[noise]\nsigma = 2.0")?;
/// let Experiment::Averaging(averaging) = &experiment else { panic!("an averaging") };
/// assert_eq!(averaging.noise.sigma, Some(2.0));
/// assert_eq!(Experiment::parse(&experiment.to_toml()?)?, experiment);
/// assert!(Experiment::parse("experiment = 'averaging'\n[noise]\nsigam = 2.0").is_err());
/// # Ok::<(), sottovoce::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "experiment", rename_all = "kebab-case")]
pub enum Experiment {
    /// Peers average their private values.
    Averaging(Box<Averaging>),
    /// Peers learn a model together.
    Learning(Box<Learning>),
    /// Everyone learns a model of her own.
    Personalized(Box<Personalized>),
    /// A net is learned together from images.
    Deep(Box<Deep>),
    /// A rumour spreads.
    Rumor(Rumor),
    /// A figure or table of a paper.
    Paper(Paper),
}

/// Names of the kinds, as a file has them.
pub const KINDS: [&str; 6] = ["averaging", "learning", "personalized", "deep", "rumor", "paper"];

impl Experiment {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self> {
        let wrong = |problem: String| Error::parameter("experiment", "unreadable", problem);
        let mut table: toml::Table =
            text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
        let kind = match table.remove("experiment") {
            Some(toml::Value::String(kind)) => kind,
            Some(other) => return Err(Error::parameter("experiment", other, kinds())),
            None => return Err(Error::missing("experiment", kinds())),
        };
        let read = |error: toml::de::Error| wrong(error.to_string().trim_end().to_owned());
        match kind.as_str() {
            "averaging" => Ok(Self::Averaging(Box::new(Averaging::deserialize(table).map_err(read)?))),
            "learning" => Ok(Self::Learning(Box::new(Learning::deserialize(table).map_err(read)?))),
            "personalized" => {
                Ok(Self::Personalized(Box::new(Personalized::deserialize(table).map_err(read)?)))
            }
            "deep" => Ok(Self::Deep(Box::new(Deep::deserialize(table).map_err(read)?))),
            "rumor" => Ok(Self::Rumor(Rumor::deserialize(table).map_err(read)?)),
            "paper" => Ok(Self::Paper(Paper::deserialize(table).map_err(read)?)),
            _ => Err(Error::parameter("experiment", kind, kinds())),
        }
    }

    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|error| {
            let remedy = match error.kind() {
                std::io::ErrorKind::NotFound => "there is no such file; check the name".to_owned(),
                _ => format!("it cannot be read ({error}); check the name and the permissions"),
            };
            Error::parameter("experiment", path.display(), remedy)
        })?;
        Self::parse(&text).map_err(|error| Error::refused(format!("{}: {error}", path.display())))
    }

    /// The seed that it names.
    pub fn seed(&self) -> Option<u64> {
        match self {
            Self::Averaging(averaging) => averaging.seed,
            Self::Learning(learning) => learning.seed,
            Self::Personalized(personalized) => personalized.seed,
            Self::Deep(deep) => deep.seed,
            Self::Rumor(rumor) => rumor.seed,
            Self::Paper(paper) => paper.seed,
        }
    }

    /// The same with names of files that hold wherever it is written: those that are relative begin in `folder`.
    pub fn from_anywhere(&self, folder: &Path) -> Self {
        let whole = |name: &mut Option<PathBuf>| {
            if let Some(path) = name.as_mut().filter(|path| path.as_os_str() != "-") {
                let joined = folder.join(&*path);
                *path = std::path::absolute(&joined).unwrap_or(joined);
            }
        };
        let mut same = self.clone();
        match &mut same {
            Self::Averaging(averaging) => {
                whole(&mut averaging.graph.base.file);
                whole(&mut averaging.graph.schedule);
                whole(&mut averaging.values.file);
                // Two names are no files.
                let table = &mut averaging.target.by_distance.distance;
                if table
                    .as_ref()
                    .is_some_and(|name| !["hops", "coordinates"].iter().any(|one| name.as_os_str() == *one))
                {
                    whole(table);
                }
            }
            Self::Learning(learning) => {
                whole(&mut learning.graph.base.file);
                whole(&mut learning.graph.schedule);
                whole(&mut learning.task.data);
                whole(&mut learning.task.bounds);
            }
            Self::Personalized(personalized) => whole(&mut personalized.task.data),
            Self::Deep(deep) => {
                whole(&mut deep.graph.base.file);
                whole(&mut deep.task.data);
            }
            Self::Rumor(rumor) => whole(&mut rumor.graph),
            Self::Paper(paper) => whole(&mut paper.data),
        }
        same
    }

    /// As the text of a file.
    pub fn to_toml(&self) -> Result<String> {
        toml::to_string(self)
            .map_err(|error| Error::refused(format!("`experiment` cannot be written: {error}")))
    }
}

fn kinds() -> String {
    format!("say what it is about, in its first line: experiment = \"{}\"", KINDS.join("\" or \""))
}

/// Where relative names of files in an experiment begin.
pub fn folder_of(file: &Path) -> PathBuf {
    file.parent().map(Path::to_path_buf).unwrap_or_default()
}

/// The SHA-256 of some bytes, in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
