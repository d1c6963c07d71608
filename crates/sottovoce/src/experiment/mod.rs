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
mod fields;
#[cfg(feature = "flags")]
pub mod flags;
pub mod graph;
pub mod keys;
pub(crate) mod learning;
mod learning_graph;
mod masks;
mod memory;
mod network;
mod personal_table;
mod personalized;
mod planned;
mod refused;
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
pub use keys::{Keys, Pairing};
pub use learning::{
    FinalModel, GradientNoise, Learning, LearningTarget, MethodSpec, ReadyLearning, StepSpec, Whom,
};
pub use learning_graph::{Graphs, LearningGraph};
pub(crate) use masks::farthest;
pub use memory::{Inputs, MEMORY, Memory, OWNER, is_memory};
pub use network::{NetworkSpec, TokenNetwork};
pub use personal_table::PersonalTable;
pub(crate) use personalized::pair;
pub use personalized::{
    Centring, PersonalNetwork, PersonalNoise, PersonalProtocol, PersonalTarget, PersonalTask, Personalized,
    Tasks,
};
pub use planned::{Chosen, Coalition};
pub use refused::places;
pub use rumor::{Clocks, Rumor};
pub use task::{Clipped, LossSpec, Said, TaskSpec};
pub use template::template;
pub use values::{PeerValue, Range, Values, ValuesSpec, check_sensitivity};
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
}

/// Names of the kinds, as a file has them.
pub const KINDS: [&str; 5] = ["averaging", "learning", "personalized", "deep", "rumor"];

impl Experiment {
    /// Reads the text of a file.
    pub fn parse(text: &str) -> Result<Self> {
        let unread = |error: toml::de::Error| Error::parameter("experiment", "unreadable", error.to_string());
        let mut table: toml::Table = text.parse().map_err(unread)?;
        let kind = match table.remove("experiment") {
            Some(toml::Value::String(kind)) => kind,
            Some(other) => return Err(Error::parameter("experiment", other, kinds())),
            None => return Err(Error::missing("experiment", kinds())),
        };
        let given = table.clone();
        let read = |error: toml::de::Error| refused::refused(&given, &error);
        let experiment = match kind.as_str() {
            "averaging" => Self::Averaging(Box::new(Averaging::deserialize(table).map_err(read)?)),
            "learning" => Self::Learning(Box::new(Learning::deserialize(table).map_err(read)?)),
            "personalized" => Self::Personalized(Box::new(Personalized::deserialize(table).map_err(read)?)),
            "deep" => Self::Deep(Box::new(Deep::deserialize(table).map_err(read)?)),
            "rumor" => Self::Rumor(Rumor::deserialize(table).map_err(read)?),
            _ => return Err(Error::parameter("experiment", kind, kinds())),
        };
        if let Ok(read) = toml::Table::try_from(&experiment) {
            refused::check_tables(&given, &read)?;
        }
        Ok(experiment)
    }

    /// Reads a file, or standard input where the name is `-`.
    pub fn read(path: &Path) -> Result<Self> {
        let bytes = graph::bytes("experiment", path)?;
        let text = String::from_utf8(bytes).map_err(|_| {
            Error::parameter("experiment", path.display(), "it is no text; give TOML in UTF-8")
        })?;
        let mut experiment = Self::parse(&text)
            .map_err(|error| Error::refused(format!("{}: {error}", graph::called(path))))?;
        // Standard input is read once.
        let again = |(_, file): &(&str, &mut PathBuf)| {
            graph::is_standard_input(path) && graph::is_standard_input(file)
        };
        match experiment.files().into_iter().find(again) {
            Some((field, _)) => {
                let remedy = "standard input is the experiment itself; give a file";
                Err(Error::parameter(field, graph::STANDARD_INPUT, remedy))
            }
            None => Ok(experiment),
        }
    }

    /// The seed that it names.
    pub fn seed(&self) -> Option<u64> {
        self.protocol().seed()
    }

    /// The same with this seed.
    pub fn with_seed(mut self, seed: u64) -> Self {
        *self.protocol_mut().seed_mut() = Some(seed);
        self
    }

    /// The same over so many seeds.
    pub fn with_seeds(mut self, seeds: usize) -> Result<Self> {
        let remedy = "a net is learned once; give --seed, and run it again";
        let own = self.protocol_mut().seeds_mut();
        *own.ok_or_else(|| Error::parameter("seeds", seeds, remedy))? = Some(seeds);
        Ok(self)
    }

    /// The files that it names, by the field that does.
    pub fn files(&mut self) -> Vec<(&'static str, &mut PathBuf)> {
        let named = self.protocol_mut().files();
        named.into_iter().filter_map(|(field, file)| Some((field, file?))).collect()
    }

    /// The same with names of files that hold wherever it is written: those that are relative begin in `folder`.
    pub fn from_anywhere(&self, folder: &Path) -> Self {
        let mut same = self.clone();
        for (_, path) in same.files().into_iter().filter(|(_, path)| !graph::is_no_file(path)) {
            let joined = folder.join(&*path);
            *path = std::path::absolute(&joined).unwrap_or(joined);
        }
        same
    }

    /// As the text of a file.
    pub fn to_toml(&self) -> Result<String> {
        toml::Table::try_from(self)
            .and_then(|table| toml::to_string(&table))
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
