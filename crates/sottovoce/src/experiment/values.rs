//! Private values: everyone's own, from a file, or drawn.
//!
//! The range is public and comes from outside. A value beyond it is moved to its nearest end, each peer by itself, so that the range bounds how far
//! one person can move a value, whatever the file holds.

use std::path::{Path, PathBuf};

use rand::RngExt;
use serde::{Deserialize, Serialize};
use sottovoce_fault::file;
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_topology::Graph;

use super::memory::{MEMORY, Memory};
use crate::{Error, Result, require};

/// What is averaged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
pub struct ValuesSpec {
    /// Table of private values with a header: a column `peer` with names as in the graph, and a column for each number. Without it values are drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(id = "values", long = "values", value_name = "FILE"))]
    pub file: Option<PathBuf>,
    /// Public range of every value: LOW:HIGH. What lies outside is moved inside.
    #[cfg_attr(
        feature = "flags",
        arg(long, value_name = "LOW:HIGH", default_value = "0:1", allow_hyphen_values = true)
    )]
    pub range: Range,
    /// The values themselves, where they are in memory.
    #[serde(skip)]
    #[cfg_attr(feature = "flags", arg(skip))]
    pub memory: Memory<Vec<PeerValue>>,
}

impl Default for ValuesSpec {
    fn default() -> Self {
        Self { file: None, range: Range { low: 0.0, high: 1.0 }, memory: Memory::default() }
    }
}

/// A peer's private numbers: a number, or several, or a pair of the peer's name and its numbers. Without names they are in the order of the graph.
#[derive(Clone)]
pub struct PeerValue {
    name: Option<String>,
    numbers: Vec<f64>,
}

impl From<f64> for PeerValue {
    fn from(number: f64) -> Self {
        vec![number].into()
    }
}

impl From<Vec<f64>> for PeerValue {
    fn from(numbers: Vec<f64>) -> Self {
        Self { name: None, numbers }
    }
}

impl<N: Into<String>, V: Into<Self>> From<(N, V)> for PeerValue {
    fn from((name, value): (N, V)) -> Self {
        Self { name: Some(name.into()), ..value.into() }
    }
}

/// A public range, written `LOW:HIGH`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Range {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Range {
    /// How far a number can be moved within it.
    pub fn width(self) -> f64 {
        self.high - self.low
    }
}

impl std::str::FromStr for Range {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let ends = text
            .split_once([':', ','])
            .and_then(|(low, high)| Some((low.trim().parse().ok()?, high.trim().parse().ok()?)));
        let sound = |(low, high): &(f64, f64)| low.is_finite() && high.is_finite() && low < high;
        match ends.filter(sound) {
            Some((low, high)) => Ok(Self { low, high }),
            None => Err(Error::parameter(
                "range",
                text,
                "give two finite numbers, the lower one first, such as 0:1",
            )),
        }
    }
}

impl TryFrom<String> for Range {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl From<Range> for String {
    fn from(range: Range) -> Self {
        format!("{}:{}", range.low, range.high)
    }
}

/// Values as they enter the protocol.
#[derive(Debug, Clone, PartialEq)]
pub struct Values {
    /// One vector for each peer, all of the same length.
    pub all: Vec<Vec<f64>>,
    /// What each coordinate is called.
    pub columns: Vec<String>,
    /// How many numbers lay outside the range. Computed without privacy.
    pub moved: usize,
}

impl Values {
    /// Zeros for everybody.
    pub(crate) fn zeros(peers: usize, columns: usize) -> Self {
        Self { all: vec![vec![0.0; columns]; peers], columns: vec![String::new(); columns], moved: 0 }
    }
}

impl ValuesSpec {
    /// Reads or draws a vector for each peer of the graph.
    pub fn read(&self, folder: &Path, graph: &Graph, seed: u64) -> Result<Values> {
        let Some(file) = &self.file else { return Ok(self.drawn(graph.nodes(), seed)) };
        let (mut all, columns) = match self.memory.of("values", file, |lent| &lent.values)? {
            Some(values) => in_memory(&values.0, graph)?,
            None => {
                let path = folder.join(file);
                let refused = |remedy: String| Error::parameter("values", path.display(), remedy);
                let bytes = file::read("values", &path, file::MOST)?;
                if bytes.starts_with(&[0x1f, 0x8b]) {
                    return Err(refused("it is packed (gzip); unpack it first".into()));
                }
                table(&bytes, graph).map_err(refused)?
            }
        };
        let mut moved = 0;
        for value in all.iter_mut().flatten() {
            let inside = if *value < self.range.low {
                self.range.low
            } else if *value > self.range.high {
                self.range.high
            } else {
                *value
            };
            moved += usize::from(inside != *value);
            *value = inside;
        }
        Ok(Values { all, columns, moved })
    }

    fn drawn(&self, peers: usize, seed: u64) -> Values {
        let Range { low, high } = self.range;
        let value = |peer: usize| {
            let unit = Seed(seed).stream(Stream::Values, peer as u64, 0).random::<f64>();
            vec![low + (high - low) * unit]
        };
        Values { all: (0..peers).map(value).collect(), columns: vec!["value".into()], moved: 0 }
    }

    /// How far one person can move a vector of so many numbers: the diagonal of the box.
    pub fn sensitivity(&self, coordinates: usize) -> f64 {
        // Rounded up: the square root of 2 is no double.
        let root = (coordinates as f64).sqrt();
        self.range.width() * if root * root == coordinates as f64 { root } else { root.next_up() }
    }
}

/// A reader of comma-separated values, or what else separates them in the first line.
pub(super) fn reader(bytes: &[u8]) -> csv::Reader<&[u8]> {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    let first = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let delimiter =
        [b',', b';', b'\t'].into_iter().max_by_key(|mark| first.iter().filter(|byte| *byte == mark).count());
    csv::ReaderBuilder::new()
        .delimiter(delimiter.unwrap_or(b','))
        .trim(csv::Trim::All)
        .flexible(false)
        .from_reader(text)
}

/// Its first line.
pub(super) fn header_of(reader: &mut csv::Reader<&[u8]>) -> Result<csv::StringRecord, String> {
    Ok(reader.headers().map_err(|error| error.to_string())?.clone())
}

/// Everybody's numbers, and what they are called.
type Rows = (Vec<Vec<f64>>, Vec<String>);

/// A row for each peer, in the order of the graph, and the names of the columns. What is wrong is said as the remedy.
pub(super) fn table(bytes: &[u8], graph: &Graph) -> Result<Rows, String> {
    let mut reader = reader(bytes);
    let header = header_of(&mut reader)?;
    let key = header.iter().position(|name| name.eq_ignore_ascii_case("peer"));
    let Some(key) = key else {
        return Err(format!(
            "its header is `{}`; name the column of peers `peer`, such as peer,value",
            header.iter().collect::<Vec<_>>().join(",")
        ));
    };
    let columns: Vec<String> =
        header.iter().enumerate().filter(|(i, _)| *i != key).map(|(_, name)| name.to_owned()).collect();
    if columns.is_empty() {
        return Err("it has no column but `peer`; give one for each number".into());
    }
    let mut rows: Vec<Option<Vec<f64>>> = vec![None; graph.nodes()];
    for (number, record) in reader.records().enumerate() {
        let line = number + 2;
        let record = record.map_err(|error| format!("line {line}: {error}"))?;
        let name = record.get(key).unwrap_or_default();
        let peer = super::graph::peer("peer", name, Some(graph), graph.nodes())
            .map_err(|error| format!("line {line}: {error}"))?;
        let fields = record.iter().enumerate().filter(|(i, _)| *i != key);
        let row = fields
            .map(|(i, field)| number_in(field, &header[i], line))
            .collect::<Result<Vec<f64>, String>>()?;
        if rows[peer].replace(row).is_some() {
            return Err(format!("line {line}: peer {name} has a row already; give each peer one"));
        }
    }
    Ok((complete(rows, graph)?, columns))
}

/// Everybody's row; refused where somebody has none.
fn complete(rows: Vec<Option<Vec<f64>>>, graph: &Graph) -> Result<Vec<Vec<f64>>, String> {
    let missing: Vec<String> = (0..rows.len())
        .filter(|peer| rows[*peer].is_none())
        .map(|peer| graph.label(peer).to_string())
        .collect();
    if !missing.is_empty() {
        let some = missing.iter().take(8).cloned().collect::<Vec<_>>().join(", ");
        return Err(format!(
            "{} of {} peers have no row ({some}); give each peer of the graph one",
            missing.len(),
            rows.len()
        ));
    }
    Ok(rows.into_iter().flatten().collect())
}

/// The same of values in memory.
fn in_memory(values: &[PeerValue], graph: &Graph) -> Result<Rows> {
    let width = values.first().map_or(0, |value| value.numbers.len());
    require(width > 0, "values", "empty", "give every peer at least one number")?;
    let mut rows: Vec<Option<Vec<f64>>> = vec![None; graph.nodes()];
    for (place, PeerValue { name, numbers }) in values.iter().enumerate() {
        let peer = match name {
            Some(name) => super::graph::peer("values", name, Some(graph), graph.nodes())?,
            None => place,
        };
        let remedy = format!("give one for each of the {} peers", graph.nodes());
        require(peer < graph.nodes(), "values", format!("{} in number", values.len()), remedy)?;
        let name = graph.label(peer);
        let about = |what: &str| format!("{what} of peer {name}");
        let same = numbers.len() == width;
        require(
            same,
            "values",
            about(&format!("{} numbers", numbers.len())),
            format!("give {width}, as of the first"),
        )?;
        let finite = numbers.iter().all(|number| number.is_finite());
        require(finite, "values", about("a number that is not finite"), "give finite numbers")?;
        require(rows[peer].is_none(), "values", about("a second value"), "give each peer one")?;
        rows[peer] = Some(numbers.clone());
    }
    let rows = complete(rows, graph).map_err(|remedy| Error::parameter("values", MEMORY, remedy))?;
    let columns =
        if width == 1 { vec!["value".into()] } else { (0..width).map(|i| format!("value{i}")).collect() };
    Ok((rows, columns))
}

fn number_in(field: &str, column: &str, line: usize) -> Result<f64, String> {
    let value = field.parse::<f64>().ok().filter(|value| value.is_finite());
    value.ok_or_else(|| format!("line {line}: {column} is `{field}`; give a finite number"))
}

/// Refuses a sensitivity that the range does not bound.
pub fn check_sensitivity(given: f64, bound: f64) -> Result<()> {
    require(given.is_finite() && given > 0.0, "sensitivity", given, "give a positive number")?;
    let remedy = format!(
        "within the public range one person can move a value by {bound}; give that, or a narrower --range"
    );
    require(given >= bound, "sensitivity", given, remedy)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn path() -> Graph {
        Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap()
    }

    #[test]
    fn rows_follow_the_graph_whatever_their_order_and_separator() {
        let expected =
            (vec![vec![0.5, 1.0], vec![0.25, -2.0], vec![4.0, 0.0]], vec!["a".to_owned(), "b".to_owned()]);
        for text in
            ["peer,a,b\n2,4,0\n0,0.5,1\n1,0.25,-2\n", "\u{feff}a;peer;b\r\n4;2;0\r\n0.5;0;1\r\n0.25;1;-2\r\n"]
        {
            assert_eq!(table(text.as_bytes(), &path()).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_with_its_line() {
        for (text, said) in [
            ("a,b\n1,2\n", "name the column of peers"),
            ("peer\n0\n", "no column but"),
            ("peer,a\n0,1\n1,x\n2,3\n", "line 3: a is `x`"),
            ("peer,a\n0,1\n1,NaN\n2,3\n", "line 3"),
            ("peer,a\n0,1\n0,2\n2,3\n", "has a row already"),
            ("peer,a\n0,1\n7,2\n2,3\n", "from 0 to 2"),
            ("peer,a\n0,1\n", "2 of 3 peers have no row (1, 2)"),
            ("peer,a\n0,1,5\n", "line 2"),
        ] {
            let problem = table(text.as_bytes(), &path()).unwrap_err();
            assert!(problem.contains(said), "{text}: {problem}");
        }
    }

    #[test]
    fn a_range_bounds_what_a_person_can_do() {
        let spec = ValuesSpec { range: "-1:3".parse().unwrap(), ..ValuesSpec::default() };
        assert_eq!(spec.sensitivity(1), 4.0);
        assert!(spec.sensitivity(2) >= 4.0 * 2f64.sqrt());
        for bad in ["1", "1:1", "2:1", "0:inf", "a:b", ""] {
            assert!(bad.parse::<Range>().is_err(), "{bad}");
        }
        assert!(check_sensitivity(1.0, 4.0).is_err() && check_sensitivity(4.0, 4.0).is_ok());
        assert!(check_sensitivity(f64::NAN, 4.0).is_err());
    }
}
