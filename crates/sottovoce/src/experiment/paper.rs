//! A figure or table of a paper, computed again.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// Which figure, and from which data.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Paper {
    /// Seed of everything random, where the command line gives none.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub seed: Option<u64>,
    /// The paper and the figure, such as `muffliato/1a`.
    pub figure: String,
    /// Folder with data sets, for figures that need some.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub data: Option<PathBuf>,
    /// Small graphs and few runs, to try things out.
    #[serde(default)]
    pub quick: bool,
    /// Trials of each cell of a table, for papers that let them be chosen.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub trials: Option<usize>,
}
