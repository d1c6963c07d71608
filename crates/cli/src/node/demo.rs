//! `sottovoce node demo`: real peers on this machine, each a process with a key, a ledger and a port of its own.

use std::fmt;
use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use sottovoce_fault::file;
use sottovoce_node::{Agreement, Error, Observer, Place, Signatures, write_private};

use super::kinds::Kind;
use super::{agree, up};
use crate::Global;

/// Arguments of `node demo`.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  sottovoce node demo --peers 8\n  sottovoce node demo --kind learning --peers 5\n  sottovoce node demo --values ours.csv --out ours\n\n\
                  With --values each line of the file is what one peer holds: numbers between 0 and 1. Where rows are learned from, it is one table with columns x \
                  and label, and its rows are dealt out."
)]
pub(crate) struct Demo {
    /// What is run.
    #[arg(long, value_enum, default_value_t = Kind::Averaging)]
    kind: Kind,
    /// How many peers (default: 8, or one for each line of --values).
    #[arg(long, value_name = "N")]
    peers: Option<usize>,
    /// How many numbers everybody holds, where numbers are averaged (default: as the kind has it, or as --values has them).
    #[arg(long, value_name = "N")]
    width: Option<usize>,
    /// What peers hold, instead of numbers made up.
    #[arg(long, value_name = "FILE")]
    values: Option<PathBuf>,
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
    /// What was run.
    called: String,
    /// Names the agreement.
    agreement: String,
    /// The mean of the first numbers of all peers, which nobody knows in a deployment; none where nothing is averaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    mean: Option<f64>,
    /// Standard deviation that noise leaves in each number of the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    deviation: Option<f64>,
    /// Seconds from the first process to the last result.
    seconds: f64,
    /// How many of all numbers lay outside of what was agreed on, and were clipped, where numbers were given.
    #[serde(skip_serializing_if = "Option::is_none")]
    clipped: Option<Clipped>,
    /// Every peer.
    peers: Vec<Peer>,
}

/// Numbers that were clipped.
#[derive(Debug, Clone, Copy, Serialize, schemars::JsonSchema)]
struct Clipped {
    /// So many ...
    values: usize,
    /// ... of so many.
    of: usize,
}

/// A peer.
#[derive(Debug, Serialize, schemars::JsonSchema)]
struct Peer {
    /// What people call it.
    name: String,
    /// What it holds, the first number of it, where numbers are averaged.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    /// The first numbers of its result; none where others have it.
    result: Vec<f64>,
    /// What it heard.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    texts: Vec<String>,
    /// Epsilon of the run towards the peer who learns most of it, at delta 1e-6.
    worst_peer: f64,
    /// Epsilon of the run towards who sees every message, at delta 1e-6.
    wire_tapper: f64,
    /// The largest chance that a peer learns that it began a rumour.
    #[serde(skip_serializing_if = "Option::is_none")]
    chance: Option<f64>,
}

/// Numbers of a result that are shown.
const NUMBERS: usize = 3;

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worst = self.peers.iter().map(|peer| peer.wire_tapper).max_by(f64::total_cmp).unwrap_or(0.0);
        let (count, seconds) = (self.peers.len(), self.seconds);
        let result = self.peers.iter().find_map(|peer| peer.result.first()).copied().unwrap_or(f64::NAN);
        let noise = self.deviation.map_or_else(String::new, |noise| format!(", noise leaves ± {noise:.4}"));
        match self.mean {
            Some(mean) => writeln!(
                f,
                "{count} processes averaged to {result:.4} (the mean is {mean:.4}{noise}) in {seconds:.1} s;"
            )?,
            None => writeln!(f, "{count} processes ran {}, in {seconds:.1} s;", self.called)?,
        }
        match self.peers.iter().find_map(|peer| peer.chance) {
            Some(chance) => {
                writeln!(f, "a peer learns who began with a chance of {:.4} at the most\n", up(chance))?;
            }
            None => writeln!(f, "who sees every message learns epsilon {:.4} at the most\n", up(worst))?,
        }
        if let Some(Clipped { values, of }) = self.clipped.filter(|clipped| clipped.values > 0) {
            writeln!(f, "  {values} of {of} values were clipped: they lay outside 0 to 1\n")?;
        }
        writeln!(
            f,
            "  {:<10} {:>10} {:<32} {:>14} {:>16}",
            "peer", "holds", "result", "to a peer", "to who sees all"
        )?;
        let averages = self.mean.is_some();
        for peer in &self.peers {
            let holds = peer.value.map_or_else(String::new, |value| format!("{value:.4}"));
            let numbers: Vec<String> = peer.result.iter().map(|number| format!("{number:.4}")).collect();
            let result = match (&numbers[..], &peer.texts[..]) {
                ([], []) if averages => "with another peer".to_owned(),
                ([], []) => "nothing has come".to_owned(),
                ([], texts) => texts.join("; "),
                (numbers, _) => numbers.join(", "),
            };
            writeln!(
                f,
                "  {:<10} {holds:>10} {result:<32} {:>14.4} {:>16.4}",
                peer.name,
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

/// What peers of a demonstration hold, each a file or a folder of images; and the first numbers, where they are averaged.
struct Held {
    files: Vec<Vec<u8>>,
    numbers: Option<Vec<f64>>,
    clipped: Option<Clipped>,
    width: usize,
}

impl Demo {
    fn averages(&self) -> bool {
        matches!(self.kind, Kind::Averaging | Kind::Statistics | Kind::Walk)
    }

    /// What peers hold: as given, or made up.
    fn held(&self) -> anyhow::Result<Held> {
        let given = self.values.as_ref().map(|path| file::text("values", path, file::MOST));
        let held = match (self.averages(), given.transpose().map_err(Error::from)?) {
            (true, Some(text)) => self.lines(&text)?,
            (true, None) => self.made_up(),
            (false, None) => self.tables(),
            (false, Some(text)) if matches!(self.kind, Kind::Learning | Kind::Personalized) => {
                self.dealt(&text)?
            }
            (false, Some(_)) => bail!("`values` is given: this kind takes none; leave it out"),
        };
        // Under masks one of the peers may help who watches: another two have to hide behind each other.
        let least =
            if matches!(self.kind, Kind::Averaging | Kind::Statistics | Kind::Learning) { 3 } else { 2 };
        if !(least..=64).contains(&held.files.len()) {
            bail!("`peers` is {}: give {least} to 64, each is a process", held.files.len());
        }
        if !(1..=1 << 24).contains(&held.width) {
            bail!("`width` is {}: give 1 number or more, at most 2^24", held.width);
        }
        Ok(held)
    }

    fn count(&self) -> usize {
        self.peers.unwrap_or(8)
    }

    /// Numbers that are spread over the range.
    fn made_up(&self) -> Held {
        let (peers, width) = (self.count(), self.width.unwrap_or(self.kind.width()));
        let value = |peer: usize| (peer as f64 + 0.5) / peers as f64;
        let numbers = |peer: usize| match self.kind {
            Kind::Statistics => format!("{:?}\n{:?}", value(peer), value(peer) * value(peer)),
            _ => vec![value(peer).to_string(); width].join("\n"),
        };
        let files = (0..peers).map(|peer| numbers(peer).into_bytes()).collect();
        Held { files, numbers: Some((0..peers).map(value).collect()), clipped: None, width }
    }

    /// A line of numbers for each peer.
    fn lines(&self, text: &str) -> anyhow::Result<Held> {
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let numbers = |line: &&str| {
            let words = line.split([',', ';', ' ', '\t']).filter(|word| !word.is_empty());
            words
                .map(|word| word.parse::<f64>().ok().filter(|value| value.is_finite()))
                .collect::<Option<Vec<f64>>>()
        };
        let all: Option<Vec<Vec<f64>>> = lines.iter().map(numbers).collect();
        let width = all.iter().flatten().map(Vec::len).next().unwrap_or(0);
        let Some(all) = all.filter(|all| width > 0 && all.iter().all(|line| line.len() == width)) else {
            bail!(
                "`values` has a line that is not made of as many numbers as the first: give one line for each peer"
            );
        };
        if self.peers.is_some_and(|peers| peers != all.len()) {
            bail!("`peers` is {}: `values` has {} lines; leave it out", self.count(), all.len());
        }
        let files = lines.iter().map(|line| line.as_bytes().to_vec()).collect();
        let outside = all.iter().flatten().filter(|value| !(0.0..=1.0).contains(*value)).count();
        let clipped = Some(Clipped { values: outside, of: all.len() * width });
        Ok(Held { files, numbers: Some(all.iter().map(|line| line[0]).collect()), clipped, width })
    }

    /// Rows, images, or nothing of interest.
    fn tables(&self) -> Held {
        let peers = self.count();
        let row = |peer: usize, i: usize| {
            let x = ((i * 7 + peer) % 40) as f64 / 20.0 - 0.98;
            format!("{x},{}\n", i32::from(x > 0.0))
        };
        let table = |peer: usize| match self.kind {
            Kind::Learning | Kind::Personalized => {
                format!("x,label\n{}", (0..40).map(|i| row(peer, i)).collect::<String>())
            }
            _ => format!("{peer}\n"),
        };
        let files = (0..peers).map(|peer| table(peer).into_bytes()).collect();
        Held { files, numbers: None, clipped: None, width: self.kind.width() }
    }

    /// A table whose rows are dealt out, with its head.
    fn dealt(&self, text: &str) -> anyhow::Result<Held> {
        let (peers, mut lines) = (self.count(), text.lines());
        let head = lines.next().unwrap_or_default();
        if head.split(',').map(str::trim).collect::<Vec<_>>() != ["x", "label"] {
            bail!(
                "`values` begins with {head:?}: give a table with the columns x,label; for another one write an agreement (`node agree new --kind`)"
            );
        }
        let rows: Vec<&str> = lines.filter(|line| !line.trim().is_empty()).collect();
        let each = rows.len() / peers.max(1);
        if each < 5 || self.kind == Kind::Personalized && each != 40 {
            bail!(
                "`values` has {} rows for {peers} peers: give each 5 or more, and 40 where models are personalised",
                rows.len()
            );
        }
        let dealt = |peer: usize| {
            let own: Vec<&str> = rows.iter().skip(peer).step_by(peers).take(each).copied().collect();
            format!("x,label\n{}\n", own.join("\n")).into_bytes()
        };
        Ok(Held {
            files: (0..peers).map(dealt).collect(),
            numbers: None,
            clipped: None,
            width: self.kind.width(),
        })
    }

    fn agreement(&self, keys: &[String], width: usize) -> anyhow::Result<String> {
        // All are taken before any is free again.
        let sockets: Vec<UdpSocket> = keys
            .iter()
            .map(|_| UdpSocket::bind("127.0.0.1:0"))
            .collect::<Result<_, _>>()
            .context("no free port")?;
        let mut members = Vec::new();
        for (i, (key, socket)) in keys.iter().zip(&sockets).enumerate() {
            members.push([format!("peer{i}"), key.clone(), socket.local_addr()?.to_string()]);
        }
        let text = self.kind.agreement("demo", &members)?;
        // Nobody wants to wait for minutes to see how it ends.
        let text = text.replace("time = 600.0", "time = 12.0").replace("time = 3600.0", "time = 15.0");
        let text = match self.kind {
            Kind::Rumor => {
                text.replace("round = 60.0", "round = 0.25").replace("answer = 0.5", "answer = 0.02")
            }
            Kind::Personalized => text.replace("round = 60.0", "round = 1.0"),
            _ => text.replace("\nwidth = 1\n", &format!("\nwidth = {width}\n")),
        };
        Ok(text.replace("epsilon = 2.0\n", &format!("epsilon = {:?}\n", self.epsilon)))
    }

    /// Keys, values, an agreement that all sign.
    fn prepare(&self, held: &Held) -> anyhow::Result<(Agreement, PathBuf)> {
        if !(self.epsilon > 0.0 && self.epsilon < 1e6) {
            bail!("`epsilon` is {}: give a number above 0, and below a million", self.epsilon);
        }
        std::fs::create_dir(&self.out).with_context(|| {
            format!("could not make {}; give another folder by --out", self.out.display())
        })?;
        let (mut places, mut keys) = (Vec::new(), Vec::new());
        for (i, content) in held.files.iter().enumerate() {
            let folder = self.out.join(format!("peer{i}"));
            let (place, key) = Place::create(&folder)?;
            let name = match self.kind {
                Kind::Learning | Kind::Personalized => "values.csv",
                Kind::Deep => "images",
                _ => "values.txt",
            };
            let values = folder.join(name);
            match self.kind {
                Kind::Deep => pictures(&values, i)?,
                _ => write_private(&values, content)?,
            }
            // A budget that a run of this target fits into, twice.
            let config = std::fs::read_to_string(folder.join("node.toml"))?;
            let mut config = config
                .replace("epsilon = 4.0\n", &format!("epsilon = {:?}\n", f64::max(4.0, 2.0 * self.epsilon)))
                .replace("epsilon = 8.0\n", &format!("epsilon = {:?}\n", f64::max(8.0, 4.0 * self.epsilon)))
                .replace("values.txt", name);
            if self.kind == Kind::Rumor {
                config = config.replace("delta = 1e-6\n", "delta = 1e-6\nchances = 1.0\n");
            }
            write_private(&folder.join("node.toml"), config.as_bytes())?;
            places.push(place);
            keys.push(key.to_string());
        }
        let file = self.out.join("agreement.toml");
        std::fs::write(&file, self.agreement(&keys, held.width)?)?;
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
    fn processes(&self, file: &Path, peers: usize) -> anyhow::Result<Vec<Value>> {
        let program = std::env::current_exe().context("this program does not know where it is")?;
        let rumour = self.out.join("rumour.txt");
        if self.kind == Kind::Rumor {
            write_private(&rumour, b"the meeting is at noon\n")?;
        }
        let start = |i: usize| {
            let mut command = Command::new(&program);
            command.args(["node", "run", "--json"]).arg(self.out.join(format!("peer{i}"))).arg(file);
            if self.kind == Kind::Rumor && i == 0 {
                command.arg("--say").arg(&rumour);
            }
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
            command.spawn().context("a process could not be started")
        };
        let mut children = Children((0..peers).map(start).collect::<anyhow::Result<_>>()?);
        let mut printed = Vec::new();
        for i in 0..peers {
            let output = children.0.remove(0).wait_with_output()?;
            // A rumour need not have come to everybody.
            let without = self.kind == Kind::Rumor && output.status.code() == Some(7);
            if !output.status.success() && !without {
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
        let held = self.held()?;
        let (agreement, file) = self.prepare(&held)?;
        let began = std::time::Instant::now();
        let printed = self.processes(&file, held.files.len())?;
        let seconds = began.elapsed().as_secs_f64();
        let mut peers = Vec::new();
        for (i, printed) in printed.iter().enumerate() {
            let says = (self.kind == Kind::Rumor && i == 0).then_some("it");
            let prices = agreement.role_saying(i, says)?.cost(&[])?.prices;
            let of = |tapper: bool| {
                prices.iter().filter(move |(observer, _)| (*observer == Observer::WireTapper) == tapper)
            };
            let most = |tapper: bool| -> anyhow::Result<f64> {
                let losses = of(tapper).filter_map(|(_, price)| price.loss.as_ref());
                let epsilons =
                    losses.map(|loss| Ok(loss.epsilon(DELTA)?.upper)).collect::<anyhow::Result<Vec<_>>>()?;
                Ok(epsilons.into_iter().max_by(f64::total_cmp).unwrap_or(0.0))
            };
            let list = |key: &str| printed[key].as_array().cloned().unwrap_or_default();
            peers.push(Peer {
                name: format!("peer{i}"),
                value: held.numbers.as_ref().map(|all| all[i]),
                result: list("result").iter().filter_map(Value::as_f64).take(NUMBERS).collect(),
                texts: list("texts").iter().filter_map(|text| text.as_str().map(str::to_owned)).collect(),
                worst_peer: most(false)?,
                wire_tapper: most(true)?,
                chance: says.and(of(false).map(|(_, price)| price.delta).max_by(f64::total_cmp)),
            });
        }
        let role = agreement.role(0)?;
        global.print(&Shown {
            folder: self.out.clone(),
            called: role.called(),
            agreement: agreement.hash()?.to_string(),
            mean: held.numbers.map(|all| all.iter().sum::<f64>() / all.len() as f64),
            deviation: role.forecast()?.deviation,
            seconds,
            clipped: held.clipped,
            peers,
        })
    }
}

/// A folder as MNIST has it, of a few pictures whose bright half tells 0 from 1.
fn pictures(folder: &Path, peer: usize) -> anyhow::Result<()> {
    std::fs::create_dir(folder)?;
    for (name, count) in [("train", 12usize), ("t10k", 4)] {
        let label = |i: usize| (i + peer) % 2;
        let pixel =
            |i: usize, at: usize| if (at / 28 < 14) == (label(i) == 0) { 200 } else { (at * 7 % 40) as u8 };
        let mut images = [0x803_u32, count as u32, 28, 28].map(u32::to_be_bytes).concat();
        images.extend((0..count).flat_map(|i| (0..784).map(move |at| pixel(i, at))));
        let mut labels = [0x801_u32, count as u32].map(u32::to_be_bytes).concat();
        labels.extend((0..count).map(|i| label(i) as u8));
        write_private(&folder.join(format!("{name}-images-idx3-ubyte")), &images)?;
        write_private(&folder.join(format!("{name}-labels-idx1-ubyte")), &labels)?;
    }
    Ok(())
}
