//! `sottovoce node agree`: what peers agree on.

use std::fmt;
use std::path::{Path, PathBuf};

use std::io::IsTerminal;

use anyhow::{Context, bail};
use clap::{Args, Subcommand};
use serde::Serialize;
use sottovoce_node::{Agreement, Error, Name, Place, Signatures};

use super::kinds::Kind;
use super::plan::{Held, Planned};
use crate::{Global, output};

/// Arguments of `node agree`.
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
#[command(
    after_help = "Example:\n  sottovoce node agree sign ana mean.toml\n  sottovoce node agree merge mean.toml ben.signed eva.signed\n  \
                  sottovoce node agree verify mean.toml\n  sottovoce node agree diff mine.toml hers.toml"
)]
pub(crate) struct Agree {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Print a commented agreement of these peers, to fill in.
    New(New),
    /// Say what an agreement is about, ask, and sign it for a node; the signature is written beside it, into FILE.signed.
    Sign(Sign),
    /// Put signatures of several files together, into FILE.signed.
    Merge(Merge),
    /// Say who has signed an agreement; exit code 5 if not all have.
    Verify(Verify),
    /// Name every field in which two agreements differ; exit code 5 if there is one.
    Diff(Diff),
}

/// Arguments of `node agree new`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sottovoce node agree new --name mean --peer ana=KEY@10.0.0.1:4001 --peer ben=KEY@10.0.0.2:4001\n  sottovoce node agree new --kind learning --name model --peer ana=KEY@10.0.0.1:4001"
)]
struct New {
    /// What is run.
    #[arg(long, value_enum, default_value_t = Kind::Averaging)]
    kind: Kind,
    /// What the run is called.
    #[arg(long, value_name = "TEXT")]
    name: String,
    /// A peer: NAME=KEY@ADDRESS, as `node init` prints the key; twice or more.
    #[arg(long = "peer", value_name = "NAME=KEY@ADDRESS", required = true)]
    peers: Vec<String>,
}

/// Arguments of `node agree sign`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sottovoce node agree sign ana mean.toml\n  sottovoce node agree sign ana mean.toml --yes"
)]
struct Sign {
    /// The node's folder.
    folder: PathBuf,
    /// The agreement.
    file: PathBuf,
    /// Do not ask: where nobody is there to answer.
    #[arg(long)]
    yes: bool,
}

/// Arguments of `node agree merge`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce node agree merge mean.toml ben.signed eva.signed")]
struct Merge {
    /// The agreement.
    file: PathBuf,
    /// Files of signatures, as peers have sent them.
    #[arg(required = true)]
    signed: Vec<PathBuf>,
}

/// Arguments of `node agree verify`.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  sottovoce node agree verify mean.toml")]
struct Verify {
    /// The agreement; signatures are read from FILE.signed.
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
    let text = sottovoce_fault::file::text("agreement", path, MOST).map_err(Error::from)?;
    Ok(Agreement::parse(&text)?)
}

/// Bytes of the longest agreement.
const MOST: u64 = 1 << 24;

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
            What::Merge(merge) => merge.run(global),
            What::Verify(verify) => verify.run(global),
            What::Diff(diff) => diff.run(global),
        }
    }
}

impl New {
    fn run(&self) -> anyhow::Result<()> {
        let mut members = Vec::new();
        for peer in &self.peers {
            let parts = peer.split_once('=').and_then(|(name, rest)| Some((name, rest.split_once('@')?)));
            let Some((name, (key, address))) = parts else {
                bail!("`peer` is {peer}: give NAME=KEY@ADDRESS")
            };
            let known: sottovoce_node::Name = key.parse()?;
            members.push([name.to_owned(), known.to_string(), address.to_owned()]);
        }
        let text = self.kind.agreement(&self.name, &members)?;
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

impl Signed {
    fn new(agreement: &Agreement, all: &Signatures) -> anyhow::Result<Self> {
        let missing = agreement.unsigned(&all.all())?;
        Ok(Self { agreement: agreement.hash()?.to_string(), missing })
    }
}

impl Sign {
    fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (agreement, place) = (read(&self.file)?, Place::open(&self.folder)?);
        let path = signatures(&self.file);
        let mut all = Signatures::read(&path)?;
        if !self.yes {
            self.ask(&Planned::new(&place, &agreement, &all, (None, Held::Later))?, &agreement)?;
        }
        place.role(&agreement)?;
        let key = place.read_key()?;
        all.add(&path, &key.name(), &agreement.sign(&key)?)?;
        global.print(&Signed::new(&agreement, &all)?)
    }

    /// Says what would be signed, and goes on if somebody says yes.
    fn ask(&self, planned: &Planned, agreement: &Agreement) -> anyhow::Result<()> {
        let who: Vec<String> =
            agreement.peers.iter().map(|peer| format!("{} ({})", peer.name, peer.address)).collect();
        let summary = format!("{}\n  between {}\n\n{planned}", planned.headline(), who.join(", "));
        if !std::io::stdin().is_terminal() {
            bail!(
                "`yes` is missing: nobody is there to be asked; read what `node plan` says, and give --yes"
            );
        }
        output::say(&format!("{summary}\nSign it? [y/N]"));
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).context("the answer cannot be read")?;
        if !matches!(answer.trim(), "y" | "Y" | "yes") {
            bail!("`yes` is {}: nothing was signed", answer.trim());
        }
        Ok(())
    }
}

impl Merge {
    fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (agreement, path) = (read(&self.file)?, signatures(&self.file));
        let mut all = Signatures::read(&path)?;
        let roster = agreement.roster()?;
        for file in &self.signed {
            if !file.exists() {
                bail!("`signed` is {}: it is not there; give files that peers have sent", file.display());
            }
            let found = Signatures::read(file)?;
            let own = |(by, signature): &(Name, [u8; 64])| {
                roster.contains(by) && agreement.signed_by(by, signature).unwrap_or(false)
            };
            let good: Vec<_> = found.all().into_iter().filter(own).collect();
            if good.len() < found.signed.len() {
                bail!(
                    "`signed` is {}: {} of its {} signatures are not those of a peer of this agreement, or are of another text; compare the two with `node agree diff`",
                    file.display(),
                    found.signed.len() - good.len(),
                    found.signed.len()
                );
            }
            for (by, signature) in good {
                all.add(&path, &by, &signature)?;
            }
        }
        global.print(&Signed::new(&agreement, &all)?)
    }
}

impl Verify {
    fn run(&self, global: &Global) -> anyhow::Result<()> {
        let agreement = read(&self.file)?;
        let signed = Signed::new(&agreement, &Signatures::read(&signatures(&self.file))?)?;
        global.print(&signed)?;
        match &signed.missing[..] {
            [] => Ok(()),
            missing => Err(unsigned(missing).into()),
        }
    }
}

/// That not all have signed.
pub(super) fn unsigned(missing: &[String]) -> Error {
    let who = missing.join(", ");
    Error::disagreement(format!("{who} has not signed; nothing is run before all have"), missing)
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
            let why = "the agreements differ; nothing is run before they are the same";
            return Err(Error::disagreement(why, &[]).into());
        }
        Ok(())
    }
}
