//! `sottovoce graph inspect`.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use clap::Args;
use sottovoce_topology::Graph;
use sottovoce_topology::io::{self, Format};
use sottovoce_topology::mixing::Weights;

use super::report::{Hops, Inspection};
use super::{Global, formats, note, real, weights};

const EXAMPLES: &str = "Example:
  sottovoce graph inspect torus.graphml
  sottovoce graph inspect ring.txt --lazy 0.5 --distances
  sottovoce graph generate --family davis | sottovoce graph inspect - --json";

/// Arguments of `graph inspect`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Inspect {
    /// File to read; `-` is standard input.
    file: PathBuf,
    /// Format; without it the extension tells, and standard input is read as an edge list.
    #[arg(long, value_name = "FORMAT", value_parser = formats())]
    format: Option<Format>,
    /// What neighbours give to each other in one step; uniform needs equal degrees.
    #[arg(long, value_name = "WEIGHTS", default_value = "metropolis", value_parser = weights())]
    weights: Weights,
    /// Share of its own value that every node keeps in a step, from 0 to below 1.
    #[arg(long, value_name = "L", default_value = "0", value_parser = real, allow_negative_numbers = true)]
    lazy: f64,
    /// Also find diameter and average distance: one search per node, so slow above some ten thousand nodes.
    #[arg(long)]
    distances: bool,
}

impl Inspect {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let inspection = self.inspect(&self.read()?)?;
        global.print(&inspection)?;
        inspection.remarks().iter().for_each(|remark| note(global, remark));
        Ok(())
    }

    fn read(&self) -> anyhow::Result<Graph> {
        let path = &self.file;
        if path == Path::new("-") {
            let format = self.format.unwrap_or(Format::EdgeList);
            return io::read(std::io::stdin().lock(), format).context("standard input");
        }
        let missing = |error: std::io::Error| match error.kind() {
            std::io::ErrorKind::NotFound => "there is no such file; check the name".to_owned(),
            _ => format!("it cannot be opened ({error}); check the name and the permissions"),
        };
        let file =
            File::open(path).map_err(|error| anyhow!("`file` is {}: {}", path.display(), missing(error)))?;
        if path.is_dir() {
            bail!("`file` is {}: it is a folder; give a file in it", path.display());
        }
        let format = self.format.map_or_else(|| Format::from_path(path), Ok)?;
        io::read(file, format).with_context(|| format!("{} (read as {format})", path.display()))
    }

    fn inspect(&self, graph: &Graph) -> anyhow::Result<Inspection> {
        let mut inspection =
            Inspection::new(self.file.display().to_string(), graph, self.weights, self.lazy)?;
        inspection.hops = self.distances.then(|| Hops::new(graph));
        Ok(inspection)
    }
}
