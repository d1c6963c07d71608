//! A target that falls with a public distance: from where distances come, and what pairs may lose at which.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use sottovoce_topology::Graph;

#[cfg(feature = "flags")]
use super::flags::real;
use super::graph::{bytes, peer};
use super::values::{header_of, reader, table};
use crate::plan::target::mu_squared_at;
use crate::plan::{Distances, Falling, Metric};
use crate::{Error, Result, require};

/// A step of the bound, written `D=EPS`: pairs within this distance may lose this epsilon.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Within {
    /// Largest distance.
    pub distance: f64,
    /// What a pair may lose.
    pub epsilon: f64,
}

impl FromStr for Within {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let ends =
            text.split_once('=').and_then(|(d, e)| Some((d.trim().parse().ok()?, e.trim().parse().ok()?)));
        let remedy = "give a distance and an epsilon, such as 0.1=4";
        let (distance, epsilon) = ends.ok_or_else(|| Error::parameter("within", text, remedy))?;
        Ok(Self { distance, epsilon })
    }
}

impl TryFrom<String> for Within {
    type Error = Error;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

impl fmt::Display for Within {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={}", self.distance, self.epsilon)
    }
}

impl From<Within> for String {
    fn from(within: Within) -> Self {
        within.to_string()
    }
}

/// Bounds that fall with a public distance.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
#[cfg_attr(feature = "flags", derive(clap::Args))]
#[cfg_attr(feature = "flags", command(next_help_heading = "Target that falls with a public distance"))]
pub struct ByDistance {
    /// Distances, which are public: `hops`, `coordinates` (those of the graph's nodes), or a table: a column `peer` and columns of numbers, or
    /// `peer,other,distance` for every pair.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "hops|coordinates|FILE", requires = "within"))]
    pub distance: Option<PathBuf>,
    /// How far rows of such a table are apart: euclidean, or cosine (one less the cosine of their angle; default: euclidean).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "METRIC", requires = "distance"))]
    pub metric: Option<Metric>,
    /// Pairs within this distance may lose this epsilon; once for each step, the nearest first. No bound rises with distance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "D=EPS", requires = "distance"))]
    pub within: Vec<Within>,
    /// Epsilon of pairs that are farther apart (default: that of the last step).
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "flags", arg(long, value_name = "EPS", value_parser = real, allow_negative_numbers = true, requires = "within"))]
    pub farther: Option<f64>,
}

impl ByDistance {
    /// Whether nothing is said.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// The bounds alone, checked, whatever the distances are.
    pub fn bounds(&self, delta: f64) -> Result<Option<Falling>> {
        self.with(delta, Distances::Hops)
    }

    /// The bounds with the distances between the peers of a graph. `folder` is where relative names begin.
    pub fn falling(&self, folder: &Path, graph: &Graph, delta: f64) -> Result<Option<Falling>> {
        // Bounds first: they cost nothing.
        if self.bounds(delta)?.is_none() {
            return Ok(None);
        }
        self.with(delta, self.distances(folder, graph)?)
    }

    /// The bounds with the distances that a run wrote down, which are refused where they are not of the kind that was asked for, or not those of a graph that
    /// is known.
    pub(crate) fn again(
        &self,
        written: Option<&Distances>,
        drawn: Option<&Graph>,
        peers: usize,
        delta: f64,
    ) -> Result<Option<Falling>> {
        let by_hops = self.is_none() || self.distance.as_deref() == Some(Path::new("hops"));
        let distances = match written {
            None if by_hops => Distances::Hops,
            Some(places @ Distances::Places(_, metric)) if *metric == self.metric.unwrap_or_default() => {
                places.clone()
            }
            Some(given @ Distances::Given(_)) if self.metric.is_none() => given.clone(),
            _ => return Err(Error::refused("the distances are not those that were asked for")),
        };
        let remedy = format!("give one for each of the {peers} peers");
        require(distances.fits(peers) && (by_hops == written.is_none()), "distances", "of others", remedy)?;
        if let (Some(graph), Some("coordinates")) = (drawn, self.distance.as_deref().and_then(Path::to_str)) {
            let same = self.distances(Path::new(""), graph)? == distances;
            require(same, "distances", "of others", "they are the graph's; run again")?;
        }
        self.with(delta, distances)
    }

    fn with(&self, delta: f64, distances: Distances) -> Result<Option<Falling>> {
        if self.is_none() {
            return Ok(None);
        }
        let remedy = "say by which distance bounds fall: give hops, coordinates or a table";
        self.distance.as_ref().ok_or_else(|| Error::missing("distance", remedy))?;
        let squared = |within: &Within| Ok((within.distance, mu_squared_at(within.epsilon, delta)?));
        let within = self.within.iter().map(squared).collect::<Result<Vec<_>>>()?;
        let farther = self.farther.map(|epsilon| mu_squared_at(epsilon, delta)).transpose()?;
        Ok(Some(Falling::new(distances, &within, farther)?))
    }

    fn distances(&self, folder: &Path, graph: &Graph) -> Result<Distances> {
        let file = self.distance.as_deref().unwrap_or(Path::new("hops"));
        let known = |distances| match self.metric {
            Some(_) => {
                let remedy = "it is about the rows of a table; leave it out";
                Err(Error::parameter("metric", "given", remedy))
            }
            None => Ok(distances),
        };
        if file == Path::new("hops") {
            return known(Distances::Hops);
        }
        if file == Path::new("coordinates") {
            let remedy = "the graph's nodes have no places; give a GraphML file with x and y, a geometric family, or a table";
            let places =
                graph.coordinates().ok_or_else(|| Error::parameter("distance", "coordinates", remedy))?;
            let places = places.iter().map(|place| place.to_vec()).collect();
            return known(Distances::Places(places, Metric::Euclidean));
        }
        let path = folder.join(file);
        let bytes = bytes("distance", &path)?;
        let refused = |remedy: String| Error::parameter("distance", path.display(), remedy);
        match pairs(&bytes, graph).map_err(refused)? {
            Some(given) => known(Distances::Given(given)),
            None => {
                let (rows, _) = table(&bytes, graph).map_err(refused)?;
                Ok(Distances::Places(rows, self.metric.unwrap_or_default()))
            }
        }
    }
}

/// Distances of all pairs, if the header is `peer,other,distance`; what is wrong is said as the remedy.
fn pairs(bytes: &[u8], graph: &Graph) -> Result<Option<Vec<Vec<f64>>>, String> {
    let mut reader = reader(bytes);
    let header = header_of(&mut reader)?;
    let place = |name: &str| header.iter().position(|column| column.eq_ignore_ascii_case(name));
    let (Some(one), Some(other), Some(far)) = (place("peer"), place("other"), place("distance")) else {
        return Ok(None);
    };
    let n = graph.nodes();
    let mut all = vec![vec![f64::NAN; n]; n];
    (0..n).for_each(|peer| all[peer][peer] = 0.0);
    for (number, record) in reader.records().enumerate() {
        let line = number + 2;
        let record = record.map_err(|error| format!("line {line}: {error}"))?;
        let field = |at: usize| record.get(at).unwrap_or_default();
        let known =
            |at| peer("peer", field(at), Some(graph), n).map_err(|error| format!("line {line}: {error}"));
        let (v, u) = (known(one)?, known(other)?);
        let distance = field(far).parse::<f64>().ok().filter(|far| far.is_finite() && *far >= 0.0);
        let distance = distance
            .ok_or_else(|| format!("line {line}: distance is `{}`; give a number from 0 on", field(far)))?;
        for (a, b) in [(v, u), (u, v)] {
            if !all[a][b].is_nan() && all[a][b] != distance {
                return Err(format!(
                    "line {line}: {} and {} have another distance already; give one for both ways",
                    field(one),
                    field(other)
                ));
            }
            all[a][b] = distance;
        }
    }
    let missing = (0..n).flat_map(|v| (0..v).map(move |u| (u, v))).find(|&(u, v)| all[u][v].is_nan());
    match missing {
        Some((u, v)) => Err(format!(
            "{} and {} have no distance; give one for every pair",
            graph.label(u),
            graph.label(v)
        )),
        None => Ok(Some(all)),
    }
}

/// Refuses a target that falls with distance where nobody's own hears: someone who sees everything is no farther from one than from another.
pub(super) fn check(target: &super::TargetSpec) -> Result<()> {
    let tapped = target.against == Some(super::Against::WireTapper) && !target.by_distance.is_none();
    let remedy = "someone who sees every message is at no distance; leave out against, or the distance";
    require(!tapped, "against", "wire-tapper", remedy)?;
    target.by_distance.bounds(target.delta).map(|_| ())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn path() -> Graph {
        Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap()
    }

    #[test]
    fn pairs_are_read_both_ways_and_must_all_be_there() {
        let text = "peer,other,distance\n0,1,2\n2,1,0.5\n0,2,1\n2,0,1\n";
        let all = pairs(text.as_bytes(), &path()).unwrap().unwrap();
        assert_eq!(all, [vec![0.0, 2.0, 1.0], vec![2.0, 0.0, 0.5], vec![1.0, 0.5, 0.0]]);
        for (text, said) in [
            ("peer,other,distance\n0,1,2\n", "0 and 2 have no distance"),
            ("peer,other,distance\n0,1,2\n1,0,3\n", "line 3: 1 and 0 have another"),
            ("peer,other,distance\n0,1,-1\n", "line 2: distance is `-1`"),
            ("peer,other,distance\n0,1,NaN\n", "line 2"),
            ("peer,other,distance\n0,7,1\n", "from 0 to 2"),
        ] {
            let problem = pairs(text.as_bytes(), &path()).unwrap_err();
            assert!(problem.contains(said), "{text}: {problem}");
        }
        assert!(pairs(b"peer,x,y\n0,1,2\n", &path()).unwrap().is_none());
    }

    #[test]
    fn what_is_half_said_is_refused() {
        let within = vec!["1=4".parse().unwrap(), "2=1".parse().unwrap()];
        let half = ByDistance { within: within.clone(), ..ByDistance::default() };
        assert!(half.bounds(1e-5).unwrap_err().to_string().contains("`distance` is missing"));
        let hops = ByDistance { distance: Some("hops".into()), within, ..ByDistance::default() };
        assert_eq!(hops.falling(Path::new(""), &path(), 1e-5).unwrap().unwrap().steps().len(), 3);
        let places = ByDistance { distance: Some("coordinates".into()), ..hops.clone() };
        let said = places.falling(Path::new(""), &path(), 1e-5).unwrap_err().to_string();
        assert!(said.contains("have no places"), "{said}");
        let odd = ByDistance { metric: Some(Metric::Cosine), ..hops.clone() };
        assert!(odd.falling(Path::new(""), &path(), 1e-5).unwrap_err().to_string().contains("`metric`"));
        let empty = ByDistance { within: Vec::new(), ..hops };
        assert!(empty.bounds(1e-5).unwrap_err().to_string().contains("`within` is missing"));
        for wrong in ["1", "=", "a=1", "1=b"] {
            assert!(wrong.parse::<Within>().is_err(), "{wrong}");
        }
    }
}
