//! `sottovoce node transcript`: a node's own record of a run, as a file that others can judge; and what `account transcript` and `audit transcript` make of it.

use std::fmt;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;
use sottovoce::terms::{Stated, not_covered};
use sottovoce::transcript::Void;
use sottovoce_node::transcript::{Judged, Learnt, Read, together};
use sottovoce_node::{Place, Signatures};
use sottovoce_report::store;

use super::{agree, up};
use crate::audit::Failed;
use crate::{Global, output};

/// Arguments of `node transcript`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sottovoce node transcript ana mean.toml --out ana.json\n  sottovoce account transcript ana.json\n  \
                        sottovoce audit transcript ana.json ben.json eva.json\n\n\
                        The file holds what was agreed on with all signatures, releases, prices, budgets, the label of the data set, and of every message its number and a salted hash; \
                        the keys of all observers that the data set has a budget towards are in it. It holds no value, no noise, and nothing that a guess could be tried on."
)]
pub(crate) struct Transcript {
    /// The node's folder.
    folder: PathBuf,
    /// The agreement; signatures are read from FILE.signed.
    file: PathBuf,
    /// File to write (default: standard output).
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Replace the file if it is there.
    #[arg(long)]
    overwrite: bool,
}

/// A file that was written.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Written {
    /// The file.
    out: PathBuf,
    /// Whose record it is.
    node: String,
    /// Names the agreement.
    agreement: String,
    /// Steps that are in it.
    steps: usize,
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (out, node) = (self.out.display(), &self.node);
        writeln!(f, "{out} has {} steps of {node}, each signed\n", self.steps)?;
        writeln!(f, "  what was revealed: sottovoce account transcript {out}")?;
        writeln!(f, "  was it as agreed:  sottovoce audit transcript {out} ...")
    }
}

impl Transcript {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        if let Some(out) = &self.out {
            store::check_file("out", out, self.overwrite)?;
        }
        let (agreement, place) = (agree::read(&self.file)?, Place::open(&self.folder)?);
        let signatures = Signatures::read(&agree::signatures(&self.file))?;
        // (Whoever reads slowly does not keep the ledger from a run.)
        let of = |ledger| sottovoce_node::transcript::Transcript::of(&ledger, &agreement, &signatures);
        let transcript = of(place.look_at_ledger()?)?;
        let text = transcript.to_json()?;
        let Some(out) = &self.out else { return output::write(&text) };
        // (The label of a data set, and keys of observers: who may see it is up to the node's owner.)
        store::write_private_file("out", out, self.overwrite, |file| anyhow::Ok(file.write_all(&text)?))?;
        global.print(&Written {
            out: out.clone(),
            node: transcript.node().to_owned(),
            agreement: transcript.summary().agreement.clone(),
            steps: transcript.summary().steps.len(),
        })
    }
}

/// What a node's run revealed.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Revealed {
    /// In a sentence.
    headline: String,
    /// Whose record it is.
    node: String,
    /// Names the agreement.
    agreement: String,
    /// What was run.
    called: String,
    /// Whether it has a result, where that can be told.
    #[serde(skip_serializing_if = "Option::is_none")]
    finished: Option<bool>,
    /// Who could learn what.
    observers: Vec<Debited>,
    /// Observers with a budget who have no part in the run, and learn nothing.
    strangers: Vec<String>,
    /// What is worth knowing.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    remarks: Vec<String>,
}

/// What one observer could learn, and what was debited for it.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Debited {
    /// Who, by name.
    observer: String,
    /// Epsilon that was debited, at the budget's delta: the accountant's, or this would not be printed.
    debited: f64,
    /// The budget.
    budget: f64,
    /// What is promised.
    guarantee: Stated,
}

impl Revealed {
    fn new(file: &Read, judged: &Judged) -> anyhow::Result<Self> {
        let debited = |one: &Learnt| {
            let guarantee = one.guarantee.as_ref()?;
            let stated = Stated::at(one.observer.clone(), guarantee, one.allowed.delta, one.epsilon);
            Some(Debited {
                observer: one.observer.clone(),
                debited: one.debited,
                budget: one.allowed.epsilon,
                guarantee: stated,
            })
        };
        let observers: Vec<Debited> = judged.learnt.iter().filter_map(debited).collect();
        let worst = observers.iter().max_by(|a, b| a.debited.total_cmp(&b.debited));
        let node = file.agreement.peers[file.peer].name.clone();
        let headline = worst.map_or_else(
            || format!("{node} released nothing, and nothing was debited"),
            |worst| {
                let (who, epsilon, delta) = (&worst.observer, up(worst.debited), worst.guarantee.delta);
                format!("of {node}, {who} could learn most: epsilon {epsilon:.4} at delta {delta:e}, which was debited")
            },
        );
        let strangers = judged.learnt.iter().filter(|one| one.guarantee.is_none());
        Ok(Self {
            headline,
            node,
            agreement: file.agreement.hash()?.to_string(),
            called: file.agreement.role(file.peer)?.called(),
            finished: judged.finished,
            strangers: strangers.map(|one| one.observer.clone()).collect(),
            observers,
            remarks: judged.remarks.clone(),
        })
    }
}

impl fmt::Display for Revealed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = match self.finished {
            Some(true) => ", to its result",
            Some(false) => ", without a result",
            None => "",
        };
        writeln!(f, "{}\n\n  {}{end}\n", self.headline, self.called)?;
        if let Some(first) = self.observers.first() {
            writeln!(f, "  {:<44} {:>10} {:>10} {:>10}", "who", "epsilon", "budget", "at delta")?;
            for one in &self.observers {
                let (epsilon, delta) = (up(one.debited), one.guarantee.delta);
                writeln!(f, "  {:<44} {epsilon:>10.4} {:>10.4} {delta:>10.0e}", one.observer, one.budget)?;
            }
            for one in self.observers.iter().filter(|one| one.guarantee.colluders.is_some()) {
                writeln!(f, "\n  {}: {}", one.observer, one.guarantee.who())?;
            }
            let stated = &first.guarantee;
            writeln!(f, "\n  each for {} ({}); {}", stated.unit, stated.adjacency, stated.standing)?;
            not_covered(f, &stated.not_covered)?;
        }
        if !self.strangers.is_empty() {
            writeln!(f, "\n  no part in this run: {}", self.strangers.join(", "))?;
        }
        remarked(f, &self.remarks)
    }
}

fn remarked(f: &mut fmt::Formatter<'_>, remarks: &[String]) -> fmt::Result {
    if !remarks.is_empty() {
        writeln!(f, "\n  to be known:")?;
    }
    remarks.iter().try_for_each(|remark| writeln!(f, "  * {remark}"))
}

/// Nodes who did what was agreed on.
#[derive(Debug, Serialize, schemars::JsonSchema)]
pub(crate) struct Kept {
    /// In a sentence.
    headline: String,
    /// Whether the account stands: it does.
    stands: bool,
    /// Every file.
    nodes: Vec<Kind>,
    /// Messages that both ends tell alike.
    matched: usize,
    /// Of whom there is no file.
    absent: Vec<String>,
    /// What is worth knowing.
    remarks: Vec<String>,
}

/// What is in a node's file.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Kind {
    /// Whose.
    node: String,
    /// Records of the run.
    records: usize,
    /// Private values that were released.
    releases: usize,
    /// Messages that were sent ...
    said: usize,
    /// ... and received.
    heard: usize,
    /// Whether it has a result.
    #[serde(skip_serializing_if = "Option::is_none")]
    finished: Option<bool>,
}

impl fmt::Display for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline)?;
        writeln!(f, "  {:<24} {:>8} {:>9} {:>8} {:>8}", "node", "records", "releases", "said", "heard")?;
        for one in &self.nodes {
            let end = if one.finished == Some(false) { "  without a result" } else { "" };
            let Kind { node, records, releases, said, heard, .. } = one;
            writeln!(f, "  {node:<24} {records:>8} {releases:>9} {said:>8} {heard:>8}{end}")?;
        }
        if self.nodes.len() > 1 {
            writeln!(f, "\n  {} messages are told alike by both ends", self.matched)?;
        }
        if !self.absent.is_empty() {
            writeln!(f, "\n  no file of {}: what they say is not known", self.absent.join(", "))?;
        }
        remarked(f, &self.remarks)
    }
}

/// Prints what fell, and fails.
fn fallen(problems: &[String], global: &Global) -> anyhow::Result<()> {
    let Some(void) = Void::of(problems) else { return Ok(()) };
    global.print(&void)?;
    Err(Failed(format!("nodes did not do what was agreed: {}", problems.join("; "))).into())
}

/// `account transcript` of a node's file.
pub(crate) fn account(file: &Path, global: &Global) -> anyhow::Result<()> {
    let read = sottovoce_node::transcript::Transcript::read(file)?;
    let judged = read.judge()?;
    fallen(&judged.problems, global)?;
    let global = &Global { unchecked: judged.unchecked.clone(), ..global.clone() };
    global.print(&Revealed::new(&read, &judged)?)
}

/// `audit transcript` of nodes' files.
pub(crate) fn audit(files: &[PathBuf], global: &Global) -> anyhow::Result<()> {
    let read = |file: &PathBuf| sottovoce_node::transcript::Transcript::read(file);
    let read: Vec<Read> = files.iter().map(read).collect::<sottovoce_node::Result<_>>()?;
    let judged: Vec<Judged> = read.iter().map(Read::judge).collect::<sottovoce_node::Result<_>>()?;
    let finished: Vec<bool> = judged.iter().map(|judged| judged.finished == Some(true)).collect();
    let all = together(&read, &finished)?;
    let single = judged.iter().flat_map(|judged| judged.problems.iter().cloned());
    fallen(&single.chain(all.problems).collect::<Vec<_>>(), global)?;
    let nodes = read.iter().zip(&judged).map(|(file, judged)| {
        let [records, releases, said, heard] = judged.counts;
        let node = file.agreement.peers[file.peer].name.clone();
        Kind { node, records, releases, said, heard, finished: judged.finished }
    });
    let nodes: Vec<Kind> = nodes.collect();
    let names: Vec<&str> = nodes.iter().map(|one| one.node.as_str()).collect();
    let unchecked = judged.iter().flat_map(|judged| judged.unchecked.iter().cloned()).collect();
    let global = &Global { unchecked, ..global.clone() };
    global.print(&Kept {
        headline: format!("what {} did is what was agreed on, and was paid for once", names.join(", ")),
        stands: true,
        matched: all.matched,
        absent: all.absent,
        remarks: judged.iter().flat_map(|judged| judged.remarks.iter().cloned()).chain(all.remarks).collect(),
        nodes,
    })
}
