//! Real peers: processes with keys, ledgers and ports of their own. Each is `examples/child` with a folder to work in.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use sottovoce_node::{Agreement, Options, Place, Signatures, Stands};

use sottovoce_testing::ports;

const WAIT: &str = "SOTTOVOCE_NODE_WAIT";
const RECORD: &str = "SOTTOVOCE_NODE_RECORD";

/// What a peer's process does.
pub(crate) fn peer(folder: &Path) {
    let wait: f64 = std::env::var(WAIT).ok().and_then(|wait| wait.parse().ok()).unwrap_or(60.0);
    let place = Place::open(folder).unwrap();
    let file = folder.parent().unwrap().join("agreement.toml");
    let own = folder.join("agreement.toml");
    let file = if own.exists() { own } else { file };
    let agreement = Agreement::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let signatures = Signatures::read(&file.with_extension("toml.signed")).unwrap();
    let record = std::env::var_os(RECORD).map(PathBuf::from);
    let options = Options { meeting: Duration::from_secs_f64(wait), record, ..Options::default() };
    let text = match sottovoce_node::run(&place, &agreement, &signatures, &options) {
        Ok(ended) => match ended.stands {
            Stands::Done(result) => {
                let bits: Vec<String> = result.iter().map(|number| number.to_bits().to_string()).collect();
                format!("done {} {}", ended.unanswered.len(), bits.join(" "))
            }
            Stands::Halted { .. } => {
                format!("halted {:?}", ended.cause.map(|cause| cause.silent).unwrap_or_default())
            }
            other => format!("other {other:?} {:?}", ended.held_by),
        },
        Err(error) => format!("error {} {error}", error.exit_code()),
    };
    std::fs::write(folder.join("ended"), text).unwrap();
}

/// How a peer's process ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ended {
    Done(Vec<f64>),
    Halted(String),
    Error(u8, String),
    /// It was killed.
    Gone,
}

/// Peers in folders of their own.
pub(crate) struct Town {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) peers: usize,
}

/// A complete graph, in a butterfly, with masks.
pub(crate) const MASKED: &str = "protocol = { method = 'butterfly' }\nnoise = { sigma = 0.05, masks = true, relay-noise = 0.0 }\n\
                                 adversary = { colluders = 1 }";

/// Gossip with relay noise.
pub(crate) const RELAYED: &str =
    "protocol = { method = 'gossip', steps = 6 }\nnoise = { sigma = 0.05, relay-noise = 0.5 }";

/// Everybody to everybody.
pub(crate) const COMPLETE: &str = "'complete'";

/// What is agreed on besides the experiment.
pub(crate) struct Setting<'a> {
    pub(crate) addresses: Vec<String>,
    pub(crate) edges: &'a str,
    pub(crate) width: usize,
    pub(crate) answer: f64,
    pub(crate) round: f64,
    pub(crate) tick: f64,
    pub(crate) experiment: &'a str,
}

impl<'a> Setting<'a> {
    pub(crate) fn loopback(peers: usize, experiment: &'a str) -> Self {
        let addresses = ports(peers).into_iter().map(|port| format!("127.0.0.1:{port}")).collect();
        Self { addresses, edges: COMPLETE, width: 2, answer: 3.0, round: 20.0, tick: 0.01, experiment }
    }
}

impl Town {
    pub(crate) fn new(setting: &Setting<'_>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let peers = setting.addresses.len();
        let mut members = String::new();
        for (i, address) in setting.addresses.iter().enumerate() {
            let home = folder.path().join(format!("p{i}"));
            let (_, name) = Place::create(&home).unwrap();
            let numbers: Vec<String> = (0..setting.width).map(|j| value(i, j).to_string()).collect();
            std::fs::write(home.join("values.txt"), numbers.join(" ")).unwrap();
            let budget = "epsilon = 1e9\ndelta = 1e-6\n";
            let config = format!(
                "label = 'values'\nvalues = 'values.txt'\n[budget.peer]\n{budget}[budget.coalition]\n{budget}[budget.wire-tapper]\n{budget}"
            );
            std::fs::write(home.join("node.toml"), config).unwrap();
            members += &format!("[[peers]]\nname = 'p{i}'\nkey = '{name}'\naddress = '{address}'\n");
        }
        let Setting { edges, width, answer, round, tick, experiment, .. } = setting;
        let text = format!(
            "version = 1\nname = 'mean'\nnonce = '1'\ngrid = {}\nwidth = {width}\nedges = {edges}\nanswer = {answer}\nround = {round}\ntick = {tick}\n{members}\
             [experiment]\nexperiment = 'averaging'\n{experiment}",
            2f64.powi(-20)
        );
        std::fs::write(folder.path().join("agreement.toml"), &text).unwrap();
        let town = Self { folder, peers };
        town.sign(&text);
        town
    }

    /// Everybody signs this text.
    pub(crate) fn sign(&self, text: &str) {
        let agreement = Agreement::parse(text).unwrap();
        let path = self.folder.path().join("agreement.toml.signed");
        let mut all = Signatures::default();
        for i in 0..self.peers {
            let key = self.place(i).read_key().unwrap();
            all.add(&path, &key.name(), &agreement.sign(&key).unwrap()).unwrap();
        }
    }

    /// Another agreement of everybody, at other ports; from now on it is what peers that are started take part in.
    pub(crate) fn agree_again(&self) -> Agreement {
        let mut text = std::fs::read_to_string(self.folder.path().join("agreement.toml")).unwrap();
        text = text.replace("nonce = '1'", "nonce = '2'");
        for (old, port) in self.agreement().peers.iter().zip(ports(self.peers)) {
            text = text.replace(&old.address, &format!("127.0.0.1:{port}"));
        }
        std::fs::remove_file(self.folder.path().join("agreement.toml.signed")).unwrap();
        std::fs::write(self.folder.path().join("agreement.toml"), &text).unwrap();
        self.sign(&text);
        Agreement::parse(&text).unwrap()
    }

    pub(crate) fn agreement(&self) -> Agreement {
        Agreement::parse(&std::fs::read_to_string(self.folder.path().join("agreement.toml")).unwrap())
            .unwrap()
    }

    pub(crate) fn home(&self, peer: usize) -> PathBuf {
        self.folder.path().join(format!("p{peer}"))
    }

    pub(crate) fn place(&self, peer: usize) -> Place {
        Place::open(&self.home(peer)).unwrap()
    }

    /// A process for a peer that writes down what noise makes of its values.
    pub(crate) fn start_recorded(&self, peer: usize) -> Process {
        let record = format!("{RECORD}={}", self.recording(peer).display());
        self.start_by(&["env", &record], peer, 60.0)
    }

    pub(crate) fn recording(&self, peer: usize) -> PathBuf {
        self.folder.path().join(format!("recording-{peer}"))
    }

    /// A process for a peer, begun by these words (a network namespace, a limit).
    pub(crate) fn start_by(&self, before: &[&str], peer: usize, wait: f64) -> Process {
        let _ = std::fs::remove_file(self.home(peer).join("ended"));
        let program = super::child();
        let mut command = match before {
            [] => Command::new(program),
            [first, rest @ ..] => {
                let mut command = Command::new(first);
                command.args(rest).arg(program);
                command
            }
        };
        let child = command
            .arg("peer")
            .arg(self.home(peer))
            .env(WAIT, wait.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        Process { child, home: self.home(peer) }
    }

    pub(crate) fn start(&self, peer: usize) -> Process {
        self.start_by(&[], peer, 60.0)
    }

    pub(crate) fn start_all(&self) -> Vec<Process> {
        (0..self.peers).map(|peer| self.start(peer)).collect()
    }

    /// The mean of all values.
    pub(crate) fn mean(&self, width: usize) -> Vec<f64> {
        let mean = |j: usize| (0..self.peers).map(|i| value(i, j)).sum::<f64>() / self.peers as f64;
        (0..width).map(mean).collect()
    }
}

/// What a peer holds.
pub(crate) fn value(peer: usize, place: usize) -> f64 {
    ((peer * 37 + place * 11) % 64) as f64 / 64.0
}

/// A peer's process; it is killed when nobody wants it any more.
pub(crate) struct Process {
    child: Child,
    home: PathBuf,
}

impl Process {
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn signal(&self, signal: &str) {
        let done = Command::new("kill").args([signal, &self.id().to_string()]).status().unwrap();
        assert!(done.success());
    }

    /// How a peer said that it stands, if it has.
    pub(crate) fn status(&self) -> Option<sottovoce_node::Status> {
        Place::open(&self.home).ok()?.under_way().pop()
    }

    /// Waits for its end.
    pub(crate) fn end(mut self) -> Ended {
        self.child.wait().unwrap();
        ended(&self.home)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn ended(home: &Path) -> Ended {
    let Ok(text) = std::fs::read_to_string(home.join("ended")) else { return Ended::Gone };
    let (word, rest) = text.split_once(' ').unwrap_or((&text, ""));
    match word {
        "done" => {
            let words = rest.split_whitespace().skip(1);
            Ended::Done(words.map(|bits| f64::from_bits(bits.parse().unwrap())).collect())
        }
        "halted" => Ended::Halted(rest.to_owned()),
        "error" => {
            let (code, message) = rest.split_once(' ').unwrap();
            Ended::Error(code.parse().unwrap(), message.to_owned())
        }
        _ => panic!("{text}"),
    }
}

/// Looks until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let last = Instant::now() + Duration::from_secs(60);
    while !holds() {
        assert!(Instant::now() < last, "{what}: it never came to that");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// All have a result, near the mean.
pub(crate) fn all_near(ends: Vec<Ended>, mean: &[f64], most: f64) -> Vec<Vec<f64>> {
    let results = ends.into_iter().map(|end| match end {
        Ended::Done(result) => result,
        other => panic!("{other:?}"),
    });
    let results: Vec<Vec<f64>> = results.collect();
    for result in &results {
        for (found, known) in result.iter().zip(mean) {
            assert!((found - known).abs() < most, "{found} {known}");
        }
    }
    results
}
