//! What peers agree on before anything is released: one TOML file, whose canonical form is hashed and signed by all.
//!
//! Comments, white space and the order of fields do not matter; everything else does. Files are not named in it: the graph is a list of pairs, and values stay with their owners.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use sottovoce::experiment::{Averaging, Experiment};
use sottovoce_privacy::noise::exact::Grid;
use sottovoce_protocol::Peer;
use sottovoce_topology::Graph;

use crate::error::require;
use crate::part::Role;
use crate::{Error, Hash, Key, Name, Result, VERSION};
use crate::{averaging, deep, descent, personal, rumor, walk};

/// What peers agree on.
///
/// ```
/// use sottovoce_node::{Agreement, Key};
/// let [ana, ben] = [1, 2].map(|seed| Key::simulated(seed).name());
/// let text = format!("version = 1\nname = 'mean'\nnonce = '7'\ngrid = 0.0009765625\nedges = 'complete'\n
///     [[peers]]\nname = 'ana'\nkey = '{ana}'\naddress = '127.0.0.1:4001'\n
///     [[peers]]\nname = 'ben'\nkey = '{ben}'\naddress = '127.0.0.1:4002'\n
///     [experiment]\nexperiment = 'averaging'\nnoise = {{ sigma = 2.0 }}");
/// let agreement = Agreement::parse(&text)?;
/// let other = Agreement::parse(&text.replace("sigma = 2.0", "sigma = 1.0"))?;
/// assert_ne!(agreement.hash()?, other.hash()?);
/// assert_eq!(agreement.diff(&other)?, ["`experiment.noise.sigma` is 2.0 here and 1.0 there"]);
/// # Ok::<(), sottovoce_node::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Agreement {
    /// The version of what peers say to each other.
    pub version: u16,
    /// What the run is called.
    pub name: String,
    /// Any text that no other run has: two runs of the same terms are two runs.
    pub nonce: String,
    /// The step that values are rounded to: a power of two.
    pub grid: f64,
    /// How many numbers everybody holds.
    #[serde(default = "one")]
    pub width: usize,
    /// How long a peer waits for an answer, in seconds.
    #[serde(default = "ten")]
    pub answer: f64,
    /// Messages leave at multiples of this time, in seconds: when one leaves says no more of what was computed than how many of them that took.
    #[serde(default = "hundredth")]
    pub tick: f64,
    /// How long a round lasts at the most, in seconds. A step of a node's own program has half of it.
    #[serde(default = "minute")]
    pub round: f64,
    /// How long a run lasts that has no end of its own, in seconds: tokens, rumours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Whether what is summed up after every private step is under masks that cancel.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub masks: bool,
    /// Who can speak to whom.
    pub edges: Edges,
    /// Peers whose pooled knowledge has a budget of its own, by name.
    #[serde(default)]
    pub coalitions: Vec<Vec<String>>,
    /// Everybody, numbered from 0.
    pub peers: Vec<Member>,
    /// What is run, as `sottovoce run` takes it, without a graph and without files.
    pub experiment: toml::Table,
}

/// Who can speak to whom.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Edges {
    /// A word: `complete`.
    All(String),
    /// Pairs of names.
    Pairs(Vec<(String, String)>),
}

/// A peer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// What people call it.
    pub name: String,
    /// Its public key: 64 letters and digits.
    pub key: String,
    /// Where it is found.
    pub address: String,
    /// How many rows it learns from, where a price is that of one row: public, and the same whichever row is exchanged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<usize>,
}

fn one() -> usize {
    1
}

fn ten() -> f64 {
    10.0
}

fn hundredth() -> f64 {
    0.01
}

fn minute() -> f64 {
    60.0
}

impl Agreement {
    /// How long a step of a node's own program may last: half a round, so that what takes its place is there before neighbours give up.
    pub(crate) fn program_time(&self) -> Duration {
        Duration::from_secs_f64(0.5 * self.round)
    }

    /// Reads and checks the text of a file.
    pub fn parse(text: &str) -> Result<Self> {
        let read: Self = toml::from_str(text)
            .map_err(|problem| Error::parameter("agreement", "unreadable", problem.to_string().trim_end()))?;
        read.check()?;
        Ok(read)
    }

    fn check(&self) -> Result<()> {
        let remedy = format!("this program speaks version {VERSION}; run the same everywhere");
        require(self.version == VERSION, "version", self.version, remedy)?;
        require(self.peers.len() >= 2, "peers", self.peers.len(), "give at least two")?;
        Grid::new(self.grid)?;
        require(
            (1..=1 << 24).contains(&self.width),
            "width",
            self.width,
            "give 1 number or more, at most 2^24",
        )?;
        let times = [("answer", self.answer), ("round", self.round), ("tick", self.tick)];
        for (field, seconds) in times.into_iter().chain(self.time.map(|time| ("time", time))) {
            require(seconds > 0.0 && seconds < 1e6, field, seconds, "give a number of seconds above 0")?;
        }
        let remedy = "every peer has a name of its own";
        require(
            self.names().into_iter().collect::<BTreeSet<_>>().len() == self.peers.len(),
            "peers",
            "named twice",
            remedy,
        )?;
        for peer in &self.peers {
            let plain = !peer.address.chars().any(char::is_control) && !peer.address.ends_with(":0");
            require(
                plain,
                "address",
                format_args!("{:?}", peer.address),
                "give HOST:PORT, with a port above 0",
            )?;
        }
        for name in self.names().iter().chain([&self.name]) {
            let plain = !name.is_empty() && name.len() <= 128 && !name.chars().any(char::is_control);
            let remedy = "give 1 to 128 letters, without line breaks and the like";
            require(plain, "name", format_args!("{name:?}"), remedy)?;
        }
        let keys: BTreeSet<Name> = self.roster()?.into_iter().collect();
        require(keys.len() == self.peers.len(), "key", "given twice", "every peer has a key of its own")?;
        self.graph()?.require_connected("peers in different parts never hear of each other; add edges")?;
        let mut known = BTreeSet::new();
        for coalition in &self.coalitions {
            require(
                coalition.len() >= 2,
                "coalitions",
                coalition.len(),
                "one peer alone has a budget anyway; name two or more",
            )?;
            let members = coalition.iter().map(|name| self.number(name)).collect::<Result<BTreeSet<_>>>()?;
            let remedy = "name every member once, and every coalition once";
            let new = members.len() == coalition.len() && known.insert(members);
            require(new, "coalitions", coalition.join(", "), remedy)?;
        }
        self.experiment().map(drop)
    }

    /// Everybody's name.
    pub fn names(&self) -> Vec<String> {
        self.peers.iter().map(|peer| peer.name.clone()).collect()
    }

    /// Everybody's key.
    pub fn roster(&self) -> Result<Vec<Name>> {
        self.peers.iter().map(|peer| peer.key.parse()).collect()
    }

    /// The number of a peer, by its name.
    pub fn number(&self, name: &str) -> Result<Peer> {
        let found = self.peers.iter().position(|peer| peer.name == name);
        found.ok_or_else(|| {
            Error::parameter(
                "peer",
                name,
                format!("it is none of those who agree: {}", self.names().join(", ")),
            )
        })
    }

    /// Who can speak to whom, with the peers' names.
    pub fn graph(&self) -> Result<Graph> {
        let n = self.peers.len();
        let edges: Vec<(Peer, Peer)> = match &self.edges {
            Edges::All(word) => {
                require(word == "complete", "edges", word, "give complete, or pairs of names")?;
                (0..n).flat_map(|a| (a + 1..n).map(move |b| (a, b))).collect()
            }
            Edges::Pairs(pairs) => {
                let pair = |(a, b): &(String, String)| Ok((self.number(a)?, self.number(b)?));
                pairs.iter().map(pair).collect::<Result<_>>()?
            }
        };
        if let Some((a, _)) = edges.iter().find(|(a, b)| a == b) {
            return Err(Error::parameter("edges", &self.peers[*a].name, "nobody is its own neighbour"));
        }
        Ok(Graph::from_edges(n, edges)?)
    }

    /// What is run, without files.
    pub fn experiment(&self) -> Result<Experiment> {
        let text = toml::to_string(&self.experiment)
            .map_err(|problem| Error::parameter("experiment", "unreadable", problem.to_string()))?;
        let mut experiment = Experiment::parse(&text)?;
        if let Some((field, file)) = experiment.files().first() {
            let remedy =
                "an agreement names no files: pairs are in `edges`, and values stay with their owners";
            return Err(Error::parameter(field, file.display(), remedy));
        }
        if let Experiment::Averaging(averaging) = &experiment {
            check_averaging(averaging)?;
        }
        let remedy = "only descents are under these masks (an averaging has its own, `masks` of its noise); leave it out";
        let descends = matches!(experiment, Experiment::Learning(_));
        require(descends || !self.masks, "masks", true, remedy)?;
        Ok(experiment)
    }

    /// What is averaged and how.
    pub fn averaging(&self) -> Result<Averaging> {
        match self.experiment()? {
            Experiment::Averaging(averaging) => Ok(*averaging),
            _ => Err(self.another("it is no averaging")),
        }
    }

    /// It is about something else.
    fn another(&self, remedy: &str) -> Error {
        let kind = self.experiment.get("experiment").map(ToString::to_string).unwrap_or_default();
        Error::parameter("experiment", kind, remedy)
    }

    /// The seed of all that is drawn and public: as the experiment says, or one of this agreement alone.
    pub(crate) fn seed(&self) -> Result<u64> {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(&self.hash()?.0[..8]);
        Ok(self.experiment()?.seed().unwrap_or(u64::from_le_bytes(bytes)))
    }

    /// How many rows everybody learns from.
    pub(crate) fn rows(&self) -> Result<Vec<usize>> {
        let missing = |peer: &Member| {
            let remedy = format!("prices are those of one row: say how many rows {} learns from", peer.name);
            Error::parameter("rows", "missing", remedy)
        };
        self.peers.iter().map(|peer| peer.rows.ok_or_else(|| missing(peer))).collect()
    }

    /// How long the run lasts, where it has no end of its own.
    pub(crate) fn lasting(&self) -> Result<Duration> {
        let remedy = "nothing says when this run is over; give `time`, in seconds";
        self.time.map(Duration::from_secs_f64).ok_or_else(|| Error::parameter("time", "missing", remedy))
    }

    /// The part of a peer, whatever the protocol.
    pub fn role(&self, me: Peer) -> Result<Box<dyn Role>> {
        self.role_saying(me, None)
    }

    /// The same with something to say, where that is what it is about.
    pub fn role_saying(&self, me: Peer, text: Option<&str>) -> Result<Box<dyn Role>> {
        let experiment = self.experiment()?;
        let tells = matches!(experiment, Experiment::Rumor(_));
        let remedy = "only rumours are begun with a text; leave it out";
        require(tells || text.is_none(), "say", text.unwrap_or_default(), remedy)?;
        match experiment {
            Experiment::Averaging(averaging) if averaging.walks() => walk::average(self, &averaging, me),
            Experiment::Averaging(_) => averaging::role(self, me),
            Experiment::Learning(learning) if walk::walks(&learning)? => walk::learn(self, &learning, me),
            Experiment::Learning(learning) => descent::role(self, &learning, me),
            Experiment::Rumor(rumor) => rumor::role(self, &rumor, text, me),
            Experiment::Personalized(personalized) => personal::role(self, &personalized, me),
            Experiment::Deep(deep) => deep::role(self, &deep, me),
        }
    }

    /// The text that is hashed and signed: the same for the same terms, whoever wrote them down.
    pub fn canonical(&self) -> Result<String> {
        toml::to_string(self)
            .map_err(|problem| Error::parameter("agreement", "unwritable", problem.to_string()))
    }

    /// Names the agreement: the same for all who agree.
    pub fn hash(&self) -> Result<Hash> {
        Ok(Hash::labelled("sottovoce agreement", &[self.canonical()?.as_bytes()]))
    }

    /// A peer's word that it agrees.
    pub fn sign(&self, key: &Key) -> Result<[u8; 64]> {
        Ok(key.sign(&self.hash()?.0))
    }

    /// Whether this is the signature of this text by this key.
    pub fn signed_by(&self, key: &Name, signature: &[u8; 64]) -> Result<bool> {
        Ok(key.signed(&self.hash()?.0, signature))
    }

    /// Who has not signed, by name: signatures of others, and of other texts, count for nothing.
    pub fn unsigned(&self, signatures: &[(Name, [u8; 64])]) -> Result<Vec<String>> {
        let hash = self.hash()?;
        let signed =
            |key: &Name| signatures.iter().any(|(by, signature)| by == key && key.signed(&hash.0, signature));
        let missing = self.roster()?.into_iter().zip(self.names()).filter(|(key, _)| !signed(key));
        Ok(missing.map(|(_, name)| name).collect())
    }

    /// Every field in which two agreements differ.
    pub fn diff(&self, other: &Self) -> Result<Vec<String>> {
        let value = |agreement: &Self| {
            toml::Value::try_from(agreement)
                .map_err(|problem| Error::parameter("agreement", "unwritable", problem.to_string()))
        };
        let mut all = Vec::new();
        compare("", Some(&value(self)?), Some(&value(other)?), &mut all);
        Ok(all)
    }
}

fn check_averaging(averaging: &Averaging) -> Result<()> {
    averaging.check()?;
    let remedy = "the graph is in `edges`; leave it out here";
    require(!averaging.graph.base.is_given(), "graph", "given", remedy)?;
    let remedy = "on a node rounds are strict: who misses somebody says nothing more";
    require(!averaging.network.lenient, "lenient", true, remedy)
}

/// That a neighbour has agreed to something else, with the fields; none where this is not the text of the run that it has named.
pub(crate) fn differ(here: &str, there: &str, run: Hash, by: &str) -> Option<Error> {
    if Hash::labelled("sottovoce agreement", &[there.as_bytes()]) != run {
        return None;
    }
    let both = (toml::from_str::<toml::Value>(here), toml::from_str::<toml::Value>(there));
    let (Ok(here), Ok(there)) = both else {
        let why = format!("`agreement` of {by} is unreadable: run the same program everywhere");
        return Some(Error::disagreement(why, &[by.to_owned()]));
    };
    let mut all = Vec::new();
    compare("", Some(&here), Some(&there), &mut all);
    let shown = all.len().min(4); // whole numbers
    let more = if all.len() > shown { format!(", and {} more", all.len() - shown) } else { String::new() };
    let differences = all[..shown].join("; ");
    let why =
        format!("{by} has agreed to something else: {differences}{more}; sign the same text everywhere");
    Some(Error::disagreement(why, &[by.to_owned()]))
}

/// Goes down two trees together.
fn compare(path: &str, here: Option<&toml::Value>, there: Option<&toml::Value>, all: &mut Vec<String>) {
    use toml::Value::{Array, Table};
    let below = |name: &str| if path.is_empty() { name.to_owned() } else { format!("{path}.{name}") };
    match (here, there) {
        (a, b) if a == b => {}
        (Some(Table(a)), Some(Table(b))) => {
            let fields: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
            fields.into_iter().for_each(|field| compare(&below(field), a.get(field), b.get(field), all));
        }
        (Some(Array(a)), Some(Array(b))) => {
            let longest = if a.len() > b.len() { a.len() } else { b.len() };
            (0..longest).for_each(|i| compare(&below(&i.to_string()), a.get(i), b.get(i), all));
        }
        (a, b) => {
            let text =
                |value: Option<&toml::Value>| value.map_or_else(|| "missing".to_owned(), ToString::to_string);
            all.push(format!("`{path}` is {} here and {} there", text(a), text(b)));
        }
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// So many peers with keys of these seeds, who run this.
    pub(crate) fn text(peers: u64, experiment: &str) -> String {
        let member = |i: u64| {
            let key = Key::simulated(100 + i).name();
            format!("[[peers]]\nname = 'p{i}'\nkey = '{key}'\naddress = '127.0.0.1:{}'\n", 4000 + i)
        };
        let members: String = (0..peers).map(member).collect();
        format!(
            "version = 1\nname = 'mean'\nnonce = '1'\ngrid = {}\nedges = 'complete'\n{members}{experiment}",
            2f64.powi(-34)
        )
    }

    const PLAIN: &str = "[experiment]\nexperiment = 'averaging'\n[experiment.noise]\nsigma = 2.0\n";

    #[test]
    fn what_is_written_in_another_way_is_the_same_agreement() {
        let one = text(3, PLAIN);
        let other = format!(
            "# a comment\n{}",
            one.replace(" = ", "=")
                .replace("nonce='1'\n", "")
                .replace("version=1\n", "nonce = \"1\"\nversion = 1\n")
        );
        let [one, other] = [one, other].map(|text| Agreement::parse(&text).unwrap());
        assert_eq!(one.hash().unwrap(), other.hash().unwrap());
        assert_eq!(one.diff(&other).unwrap(), [""; 0]);
    }

    #[test]
    fn names_are_plain_and_coalitions_are_named_once() {
        let good = text(3, PLAIN).replace("edges =", "coalitions = [['p0', 'p1'], ['p1', 'p2']]\nedges =");
        Agreement::parse(&good).unwrap();
        for (old, new, expected) in [
            ("name = 'mean'", "name = \"mean\\nall is well\"", "`name`"),
            ("name = 'p2'", "name = ''", "`name`"),
            ("['p1', 'p2']]", "['p1', 'p1']]", "`coalitions` is p1, p1"),
            ("['p1', 'p2']]", "['p1', 'p0']]", "`coalitions` is p1, p0"),
            ("['p1', 'p2']]", "['p1']]", "`coalitions` is 1"),
        ] {
            let error = Agreement::parse(&good.replacen(old, new, 1)).unwrap_err().to_string();
            assert!(error.contains(expected), "{new}: {error}");
        }
    }

    #[test]
    fn everybody_signs_the_same_text() {
        let agreement = Agreement::parse(&text(3, PLAIN)).unwrap();
        let sign = |agreement: &Agreement, i: u64| {
            (Key::simulated(100 + i).name(), agreement.sign(&Key::simulated(100 + i)).unwrap())
        };
        assert_eq!(agreement.unsigned(&[]).unwrap(), ["p0", "p1", "p2"]);
        let changed = Agreement::parse(&text(3, PLAIN).replace("2.0", "1.9")).unwrap();
        let signatures = [sign(&agreement, 0), sign(&changed, 1), sign(&agreement, 2)];
        assert_eq!(agreement.unsigned(&signatures).unwrap(), ["p1"]);
        // Somebody else's signature under her key.
        let forged = [(Key::simulated(101).name(), agreement.sign(&Key::simulated(7)).unwrap())];
        assert_eq!(agreement.unsigned(&forged).unwrap().len(), 3);
    }

    #[test]
    fn what_cannot_be_agreed_on_is_refused() {
        let good = text(3, PLAIN);
        for (old, new, expected) in [
            ("version = 1", "version = 2", "`version` is 2"),
            ("'p1'", "'p0'", "`peers` is named twice"),
            ("'complete'", "[['p0', 'p1']]", "never hear of each other"),
            ("'complete'", "[['p0', 'p9']]", "`peer` is p9: it is none of those who agree: p0, p1, p2"),
            ("'complete'", "[['p0', 'p0']]", "`edges` is p0: nobody is its own neighbour"),
            ("'complete'", "'ring'", "`edges` is ring"),
            ("edges", "coalitions = [['p0']]\nedges", "`coalitions` is 1"),
            ("edges", "coalitions = [['p0', 'q']]\nedges", "`peer` is q"),
            ("edges", "round = 0.0\nedges", "`round` is 0"),
            ("edges", "round = nan\nedges", "`round` is NaN"),
            ("edges", "masks = true\nedges", "only descents"),
            ("edges", "time = -1.0\nedges", "`time` is -1"),
            (
                "[experiment.noise]",
                "[experiment.values]\nfile = 'a.csv'\n[experiment.noise]",
                "names no files",
            ),
            ("[experiment.noise]", "[experiment.network]\nlenient = true\n[experiment.noise]", "`lenient`"),
            (
                "[experiment.noise]",
                "[experiment.graph]\nfamily = { ring = { n = 3 } }\n[experiment.noise]",
                "`graph` is given",
            ),
            ("sigma = 2.0", "sigma = -2.0", "`sigma` is -2"),
            ("name = 'mean'", "nam = 'mean'", "`agreement` is unreadable"),
            (&format!("{}", 2f64.powi(-34)), "0.1", "`grid` is 0.1"),
        ] {
            let error = Agreement::parse(&good.replacen(old, new, 1)).unwrap_err();
            assert!(error.to_string().contains(expected), "{old} -> {new}: {error}");
            assert_eq!(error.exit_code(), 2, "{error}");
        }
    }
}
