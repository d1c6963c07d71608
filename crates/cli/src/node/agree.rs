//! `sottovoce node agree`: what peers agree on.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::bail;
use clap::{Args, Subcommand};
use serde::Serialize;
use sottovoce_node::{Agreement, Error, Place, Signatures};

use crate::{Global, output};

/// Arguments of `node agree`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(
    after_help = "Example:\n  sottovoce node agree sign ana mean.toml\n  sottovoce node agree diff mine.toml hers.toml"
)]
pub(crate) struct Agree {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print a commented agreement of these peers, to fill in.
    New(New),
    /// Sign an agreement for a node; the signature is written beside it, into FILE.signed.
    Sign(Sign),
    /// Name every field in which two agreements differ; exit code 5 if there is one.
    Diff(Diff),
}

/// Arguments of `node agree new`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sottovoce node agree new --name mean --peer ana=KEY@10.0.0.1:4001 --peer ben=KEY@10.0.0.2:4001"
)]
struct New {
    /// What the run is called.
    #[arg(long, value_name = "TEXT")]
    name: String,
    /// A peer: NAME=KEY@ADDRESS, as `node init` prints the key; twice or more.
    #[arg(long = "peer", value_name = "NAME=KEY@ADDRESS", required = true)]
    peers: Vec<String>,
}

/// Arguments of `node agree sign`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce node agree sign ana mean.toml")]
struct Sign {
    /// The node's folder.
    folder: PathBuf,
    /// The agreement.
    file: PathBuf,
}

/// Arguments of `node agree diff`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce node agree diff mine.toml hers.toml")]
struct Diff {
    /// One agreement.
    one: PathBuf,
    /// Another.
    other: PathBuf,
}

/// Reads an agreement.
pub(super) fn read(path: &Path) -> anyhow::Result<Agreement> {
    let text = std::fs::read_to_string(path).map_err(|cause| {
        let remedy = format!("it cannot be read ({cause}); give the file that all have agreed on");
        Error::from(sottovoce_fault::Parameter::new("agreement", path.display(), remedy))
    })?;
    Ok(Agreement::parse(&text)?)
}

/// A commented agreement of these members.
pub(super) fn template(name: &str, members: &str) -> anyhow::Result<String> {
    let nonce = sottovoce_node::Key::draw()?.name();
    let text = include_str!("agreement.toml")
        .replace("NAME", &format!("{name:?}"))
        .replace("NONCE", &nonce.to_string()[..16]);
    Ok(text.replace("# PEERS\n", members.trim_start()))
}

/// Where signatures of an agreement are.
pub(super) fn signatures(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".signed");
    name.into()
}

impl Agree {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        match &self.what {
            What::New(new) => new.run(),
            What::Sign(sign) => sign.run(global),
            What::Diff(diff) => diff.run(global),
        }
    }
}

impl New {
    fn run(&self) -> anyhow::Result<()> {
        let mut members = String::new();
        for peer in &self.peers {
            let parts = peer.split_once('=').and_then(|(name, rest)| Some((name, rest.split_once('@')?)));
            let Some((name, (key, address))) = parts else {
                bail!("`peer` is {peer}: give NAME=KEY@ADDRESS")
            };
            let known: sottovoce_node::Name = key.parse()?;
            members += &format!("\n[[peers]]\nname = {name:?}\nkey = \"{known}\"\naddress = {address:?}\n");
        }
        let text = template(&self.name, &members)?;
        Agreement::parse(&text)?;
        output::write(text.as_bytes())
    }
}

/// Who has signed.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Signed {
    /// Names the agreement: everybody must see the same.
    agreement: String,
    /// Who has not signed yet.
    missing: Vec<String>,
}

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.missing[..] {
            [] => writeln!(f, "all have signed agreement {}", &self.agreement[..12]),
            missing => writeln!(f, "agreement {} waits for {}", &self.agreement[..12], missing.join(", ")),
        }
    }
}

impl Sign {
    fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (agreement, place) = (read(&self.file)?, Place::open(&self.folder)?);
        place.role(&agreement)?;
        let (key, path) = (place.read_key()?, signatures(&self.file));
        let mut all = Signatures::read(&path)?;
        all.add(&path, &key.name(), &agreement.sign(&key)?)?;
        global.print(&Signed {
            agreement: agreement.hash()?.to_string(),
            missing: agreement.unsigned(&all.all())?,
        })
    }
}

/// Where two agreements differ.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Differences {
    /// Each with both values.
    differences: Vec<String>,
}

impl fmt::Display for Differences {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.differences[..] {
            [] => writeln!(f, "the two agree in every field"),
            all => {
                writeln!(f, "the two differ in {} fields\n", all.len())?;
                all.iter().try_for_each(|one| writeln!(f, "  {one}"))
            }
        }
    }
}

impl Diff {
    fn run(&self, global: &Global) -> anyhow::Result<()> {
        let differences = read(&self.one)?.diff(&read(&self.other)?)?;
        let disagree = !differences.is_empty();
        global.print(&Differences { differences })?;
        if disagree {
            return Err(Error::Disagreement(
                "the agreements differ; nothing is run before they are the same".into(),
            )
            .into());
        }
        Ok(())
    }
}
