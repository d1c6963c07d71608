//! `sottovoce node demo`: real peers on this machine, each a process with a key, a ledger and a port of its own.

use std::fmt;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use sottovoce_node::{Agreement, Error, Observer, Place, Signatures};

use super::{agree, up};
use crate::Global;

/// Arguments of `node demo`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sottovoce node demo --peers 8\n  sottovoce node demo --peers 5 --width 1000 --out five"
)]
pub(crate) struct Demo {
    /// How many peers.
    #[arg(long, value_name = "N", default_value_t = 8)]
    peers: usize,
    /// How many numbers everybody holds.
    #[arg(long, value_name = "N", default_value_t = 1)]
    width: usize,
    /// The epsilon of the run, towards who sees every message and has one of the peers helping.
    #[arg(long, value_name = "EPSILON", default_value_t = 2.0)]
    epsilon: f64,
    /// Folder to write into, which is made.
    #[arg(long, value_name = "DIR", default_value = "sottovoce-demo")]
    out: PathBuf,
}

/// How the demonstration ended.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Shown {
    /// Its folder.
    folder: PathBuf,
    /// Names the agreement.
    agreement: String,
    /// The mean of all values, which nobody knows in a deployment.
    mean: f64,
    /// Standard deviation that noise leaves in each number of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    deviation: Option<f64>,
    /// Seconds from the first process to the last result.
    seconds: f64,
    /// Every peer.
    peers: Vec<Peer>,
}

/// A peer.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Peer {
    /// What people call it.
    name: String,
    /// What it holds, the first number of it.
    value: f64,
    /// Its result, the first number of it.
    result: f64,
    /// Epsilon of the run towards the peer who learns most of it, at delta 1e-6.
    worst_peer: f64,
    /// Epsilon of the run towards who sees every message, at delta 1e-6.
    wire_tapper: f64,
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worst = self.peers.iter().map(|peer| peer.wire_tapper).max_by(f64::total_cmp).unwrap_or(0.0);
        let result = self.peers.first().map_or(f64::NAN, |peer| peer.result);
        writeln!(
            f,
            "{} processes averaged to {result:.4} (the mean is {:.4}, noise leaves ± {:.4}) in {:.1} s;\nwho sees every message learns epsilon {:.4} at the most\n",
            self.peers.len(),
            self.mean,
            self.deviation.unwrap_or(0.0),
            self.seconds,
            up(worst)
        )?;
        writeln!(
            f,
            "  {:<12} {:>10} {:>10} {:>16} {:>16}",
            "peer", "holds", "result", "to a peer", "to who sees all"
        )?;
        for peer in &self.peers {
            writeln!(
                f,
                "  {:<12} {:>10.4} {:>10.4} {:>16.4} {:>16.4}",
                peer.name,
                peer.value,
                peer.result,
                up(peer.worst_peer),
                up(peer.wire_tapper)
            )?;
        }
        let folder = self.folder.display();
        writeln!(f, "\n  {folder} has all keys, ledgers and the agreement; see")?;
        writeln!(f, "    sottovoce node status {folder}/peer0")?;
        writeln!(f, "    sottovoce node plan {folder}/peer0 {folder}/agreement.toml")
    }
}

/// The delta of a new node's budgets.
const DELTA: f64 = 1e-6;

/// What a peer holds: spread over the range.
fn value(peer: usize, peers: usize) -> f64 {
    (peer as f64 + 0.5) / peers as f64
}

/// Processes that end with the demonstration, however it ends.
struct Children(Vec<Child>);

impl Drop for Children {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

impl Demo {
    fn agreement(&self, keys: &[String]) -> anyhow::Result<String> {
        // All are taken before any is free again.
        let sockets: Vec<UdpSocket> = keys
            .iter()
            .map(|_| UdpSocket::bind("127.0.0.1:0"))
            .collect::<Result<_, _>>()
            .context("no free port")?;
        let mut members = String::new();
        for (i, (key, socket)) in keys.iter().zip(&sockets).enumerate() {
            let address = socket.local_addr()?;
            members +=
                &format!("\n[[peers]]\nname = \"peer{i}\"\nkey = \"{key}\"\naddress = \"{address}\"\n");
        }
        let text = agree::template("demo", &members)?;
        let text = text.replace("width = 1\n", &format!("width = {}\n", self.width));
        Ok(text.replace("epsilon = 2.0\n", &format!("epsilon = {:?}\n", self.epsilon)))
    }

    /// Keys, values, an agreement that all sign.
    fn prepare(&self) -> anyhow::Result<(Agreement, PathBuf)> {
        if !(2..=64).contains(&self.peers) {
            bail!("`peers` is {}: give 2 to 64, each is a process", self.peers);
        }
        if !(1..=1 << 24).contains(&self.width) {
            bail!("`width` is {}: give 1 number or more, at most 2^24", self.width);
        }
        if !(self.epsilon > 0.0 && self.epsilon < 1e6) {
            bail!("`epsilon` is {}: give a number above 0", self.epsilon);
        }
        std::fs::create_dir(&self.out).with_context(|| {
            format!("could not make {}; give another folder by --out", self.out.display())
        })?;
        let mut places = Vec::new();
        let mut keys = Vec::new();
        for i in 0..self.peers {
            let folder = self.out.join(format!("peer{i}"));
            let (place, key) = Place::create(&folder)?;
            let values = vec![value(i, self.peers).to_string(); self.width].join("\n");
            std::fs::write(folder.join("values.txt"), values)?;
            // A budget that a run of this target fits into, twice.
            let config = std::fs::read_to_string(folder.join("node.toml"))?;
            let config = config
                .replace("epsilon = 4.0\n", &format!("epsilon = {:?}\n", f64::max(4.0, 2.0 * self.epsilon)))
                .replace("epsilon = 8.0\n", &format!("epsilon = {:?}\n", f64::max(8.0, 4.0 * self.epsilon)));
            std::fs::write(folder.join("node.toml"), config)?;
            places.push(place);
            keys.push(key.to_string());
        }
        let file = self.out.join("agreement.toml");
        std::fs::write(&file, self.agreement(&keys)?)?;
        let agreement = agree::read(&file)?;
        let path = agree::signatures(&file);
        let mut all = Signatures::default();
        for place in &places {
            let key = place.read_key()?;
            all.add(&path, &key.name(), &agreement.sign(&key)?)?;
        }
        Ok((agreement, file))
    }

    /// A process for each peer; what they printed.
    fn processes(&self, file: &Path) -> anyhow::Result<Vec<Value>> {
        let program = std::env::current_exe().context("this program does not know where it is")?;
        let start = |i: usize| {
            Command::new(&program)
                .args(["node", "run", "--json"])
                .arg(self.out.join(format!("peer{i}")))
                .arg(file)
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .context("a process could not be started")
        };
        let mut children = Children((0..self.peers).map(start).collect::<anyhow::Result<_>>()?);
        let mut printed = Vec::new();
        for i in 0..self.peers {
            let output = children.0.remove(0).wait_with_output()?;
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr).trim_end().to_owned();
                let code = output.status.code().and_then(|code| u8::try_from(code).ok());
                return Err(
                    Error::Elsewhere { said: format!("peer{i}: {said}"), code: code.unwrap_or(1) }.into()
                );
            }
            printed.push(serde_json::from_slice(&output.stdout)?);
        }
        Ok(printed)
    }

    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let (agreement, file) = self.prepare()?;
        let began = std::time::Instant::now();
        let printed = self.processes(&file)?;
        let seconds = began.elapsed().as_secs_f64();
        let mut peers = Vec::new();
        for (i, printed) in printed.iter().enumerate() {
            let prices = agreement.role(i)?.cost(&[])?.prices;
            let most = |tapper: bool| -> anyhow::Result<f64> {
                let of = prices.iter().filter(|(observer, _)| (*observer == Observer::WireTapper) == tapper);
                let losses = of.filter_map(|(_, price)| price.loss.as_ref());
                let epsilons =
                    losses.map(|loss| Ok(loss.epsilon(DELTA)?.upper)).collect::<anyhow::Result<Vec<_>>>()?;
                Ok(epsilons.into_iter().max_by(f64::total_cmp).unwrap_or(0.0))
            };
            peers.push(Peer {
                name: format!("peer{i}"),
                value: value(i, self.peers),
                result: printed["result"][0].as_f64().unwrap_or(f64::NAN),
                worst_peer: most(false)?,
                wire_tapper: most(true)?,
            });
        }
        global.print(&Shown {
            folder: self.out.clone(),
            agreement: agreement.hash()?.to_string(),
            mean: (0..self.peers).map(|i| value(i, self.peers)).sum::<f64>() / self.peers as f64,
            deviation: agreement.role(0)?.forecast()?.deviation,
            seconds,
            peers,
        })
    }
}
