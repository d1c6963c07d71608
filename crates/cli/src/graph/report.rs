//! What `graph inspect` found, as one flat JSON object and as a table for people.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_topology::paths;
use sottovoce_topology::spectrum::{self, Eigenvalue, Method, Spectrum};

use sottovoce::names::Names;

use super::centrality::Centrality;
use super::counted;

/// The total-variation distance at which a walk counts as mixed: the usual one.
const EPS: f64 = 0.25;

/// Everything that is known about a graph. Numbers that are infinite or undefined are null in JSON.
#[derive(Serialize, schemars::JsonSchema)]
pub(crate) struct Inspection {
    /// The file.
    pub(super) file: String,
    #[serde(flatten)]
    pub(super) structure: Structure,
    /// What neighbours give to each other.
    pub(super) weights: Weights,
    /// Share of its own value that a peer keeps.
    pub(super) lazy: f64,
    #[serde(flatten)]
    pub(super) speed: Speed,
    #[serde(flatten)]
    pub(super) hops: Option<Hops>,
    #[serde(flatten)]
    pub(super) centrality: Option<Centrality>,
    /// Every node's neighbours, in number; a list for people.
    #[serde(skip)]
    degrees: Vec<usize>,
    #[serde(skip)]
    names: Names,
}

impl Inspection {
    /// Inspects a graph (all but its distances) under the given weights.
    pub(crate) fn new(file: String, graph: &Graph, weights: Weights, lazy: f64) -> anyhow::Result<Self> {
        let mixing = Mixing::new(graph, weights).lazy(lazy)?;
        let structure = Structure::new(graph);
        if !mixing.is_symmetric() {
            let Structure { min_degree, max_degree, .. } = structure;
            anyhow::bail!(
                "`weights` is {weights}: they are symmetric only where all nodes have the same number of neighbours, \
                 here it runs from {min_degree} to {max_degree}; use --weights metropolis",
            );
        }
        let speed = if graph.nodes() > 1 { Speed::new(graph, &mixing)? } else { Speed::default() };
        let degrees = (0..graph.nodes()).map(|node| graph.degree(node)).collect();
        let names = Names::of_graph(graph);
        Ok(Self { file, structure, weights, lazy, speed, hops: None, centrality: None, degrees, names })
    }
}

/// Who is joined to whom, in numbers.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Structure {
    /// Number of peers.
    nodes: usize,
    /// Number of edges.
    edges: usize,
    /// Whether everyone can reach everyone.
    connected: bool,
    /// Number of pieces.
    components: usize,
    /// Peers of the largest piece.
    largest_component: usize,
    /// Fewest neighbours of a peer.
    pub(super) min_degree: usize,
    /// Most neighbours of a peer.
    pub(super) max_degree: usize,
    /// Neighbours on average.
    mean_degree: f64,
}

impl Structure {
    pub(super) fn new(graph: &Graph) -> Self {
        let (components, degrees) =
            (graph.components(), || (0..graph.nodes()).map(|node| graph.degree(node)));
        Self {
            nodes: graph.nodes(),
            edges: graph.edge_count(),
            connected: components.count() == 1,
            components: components.count(),
            largest_component: components.sizes().iter().copied().max().unwrap_or(0),
            min_degree: degrees().min().unwrap_or(0),
            max_degree: degrees().max().unwrap_or(0),
            mean_degree: 2.0 * graph.edge_count() as f64 / graph.nodes() as f64,
        }
    }
}

/// How fast values mix. A single node has none of these numbers.
#[derive(Default, Serialize, schemars::JsonSchema)]
pub(super) struct Speed {
    #[serde(flatten)]
    eigenvalues: Eigenvalues,
    /// Divided by the number of peers.
    fiedler_normalized: Option<f64>,
    /// Steps in which differences shrink by e; null is never.
    relaxation_time: Option<f64>,
    /// Distance from uniform at which a walk counts as mixed.
    mixing_time_eps: Option<f64>,
    /// Steps until then at least.
    mixing_time_lower: Option<f64>,
    /// Steps until then at most.
    mixing_time_upper: Option<f64>,
    /// Momentum weight of accelerated averaging.
    chebyshev_gamma: Option<f64>,
}

#[derive(Default)]
struct Eigenvalues {
    gap: Option<Eigenvalue>,
    lambda_2: Option<Eigenvalue>,
    lambda_n: Option<Eigenvalue>,
    fiedler: Option<Eigenvalue>,
}

impl Speed {
    pub(super) fn new(graph: &Graph, mixing: &Mixing) -> anyhow::Result<Self> {
        let (spectrum, fiedler) = (Spectrum::of(mixing)?, spectrum::fiedler_value(graph)?);
        let mixing_time = spectrum::mixing_time(&spectrum, graph.nodes(), EPS)?;
        let Spectrum { gap, lambda_2, lambda_n } = spectrum;
        Ok(Self {
            fiedler_normalized: Some(fiedler.value / graph.nodes() as f64),
            relaxation_time: Some(spectrum.relaxation_time()),
            mixing_time_eps: Some(EPS),
            mixing_time_lower: Some(mixing_time.lower),
            mixing_time_upper: Some(mixing_time.upper),
            // A gap of 1 may be found a rounding above it; a gap of 0 has no such weight.
            chebyshev_gamma: spectrum::chebyshev_weight(gap.value.min(1.0)).ok(),
            eigenvalues: Eigenvalues {
                gap: Some(gap),
                lambda_2: Some(lambda_2),
                lambda_n: Some(lambda_n),
                fiedler: Some(fiedler),
            },
        })
    }
}

impl Eigenvalues {
    /// Name, value and meaning.
    fn named(&self) -> [(&'static str, Option<Eigenvalue>, &'static str); 4] {
        [
            ("spectral_gap", self.gap, "Larger mixes faster."),
            ("lambda_2", self.lambda_2, "Second largest eigenvalue."),
            ("lambda_n", self.lambda_n, "Smallest eigenvalue."),
            ("fiedler", self.fiedler, "Second smallest eigenvalue of the Laplacian."),
        ]
    }
}

/// Each with its error bound and method beside it, rather than inside it.
impl Serialize for Eigenvalues {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let entries = self.named().into_iter().flat_map(|(key, found, _)| {
            let number = |value: Option<f64>| serde_json::json!(value);
            [
                (key.to_owned(), number(found.map(|found| found.value))),
                (format!("{key}_error_bound"), number(found.map(|found| found.error_bound))),
                (format!("{key}_method"), serde_json::json!(found.map(|found| found.method))),
            ]
        });
        serializer.collect_map(entries)
    }
}

impl JsonSchema for Eigenvalues {
    fn schema_name() -> Cow<'static, str> {
        "Eigenvalues".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (number, method) =
            (<Option<f64>>::json_schema(generator), <Option<Method>>::json_schema(generator));
        let entries = Self::default().named().into_iter().flat_map(|(key, _, meaning)| {
            let described = |mut schema: Schema, text: String| {
                schema.insert("description".into(), text.into());
                schema.to_value()
            };
            [
                (key.to_owned(), described(number.clone(), meaning.to_owned())),
                (
                    format!("{key}_error_bound"),
                    described(number.clone(), "How far it may be off.".to_owned()),
                ),
                (format!("{key}_method"), described(method.clone(), "How it was found.".to_owned())),
            ]
        });
        let properties: Map<String, Value> = entries.collect();
        json_schema!({ "type": "object", "required": properties.keys().collect::<Vec<_>>(), "properties": properties })
    }
}

/// Distances in hops; a graph in pieces has none.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Hops {
    /// Hops between the two peers farthest apart.
    diameter: Option<u32>,
    /// Hops between two peers on average.
    average_distance: Option<f64>,
}

impl Hops {
    pub(super) fn new(graph: &Graph) -> Self {
        let found = paths::summary(graph).ok();
        Self {
            diameter: found.as_ref().map(|found| found.diameter),
            average_distance: found.as_ref().map(|found| found.average),
        }
    }
}

impl Inspection {
    /// What a reader of the numbers should know.
    pub(super) fn remarks(&self) -> Vec<String> {
        let Structure { connected, components, largest_component, nodes, .. } = self.structure;
        let gap = self.speed.eigenvalues.gap;
        let mut remarks = Vec::new();
        if !connected {
            remarks.push(format!(
                "the graph is in {components} pieces, the largest with {largest_component} of {nodes} nodes; nothing \
                 mixes between pieces, so the gap is 0: add edges between them"
            ));
        } else if gap.is_some_and(|gap| gap.value == 0.0 && gap.method == Method::Structure) {
            remarks.push(
                "the graph is bipartite: values swing between two halves for ever, so the gap is 0; try --lazy 0.5 \
                 or --weights metropolis-plus-one"
                    .to_owned(),
            );
        } else if gap.is_none() {
            remarks.push("a single node has nobody to mix with, so it has no spectrum".to_owned());
        }
        let found = self.speed.eigenvalues.named();
        if found.iter().any(|(_, found, _)| found.is_some_and(|found| found.method == Method::Lanczos)) {
            let text = "lanczos: an eigenvalue is within the bound; that it is the one asked for is highly likely, \
                        not proven";
            remarks.push(text.to_owned());
        }
        remarks
    }

    fn graph_rows(&self) -> Vec<Row> {
        let Structure { nodes, edges, connected, components, largest_component, .. } = self.structure;
        let Structure { min_degree, max_degree, mean_degree, .. } = self.structure;
        let reach =
            if connected { "every node can reach every other" } else { "some nodes cannot reach others" };
        let mut rows = vec![
            row("nodes", nodes, "peers"),
            row("edges", edges, "pairs of peers that talk directly"),
            row("connected", if connected { "yes" } else { "no" }, reach),
        ];
        if !connected {
            rows.push(row(
                "components",
                components,
                format!("pieces; the largest has {largest_component} nodes"),
            ));
        }
        rows.push(row("min degree", min_degree, "fewest neighbours of a node"));
        rows.push(row("max degree", max_degree, "most neighbours of a node"));
        rows.push(row("mean degree", number(mean_degree), "neighbours on average"));
        rows
    }

    fn mixing_rows(&self) -> Vec<Row> {
        let (speed, found) = (&self.speed, &self.speed.eigenvalues);
        let time = match (speed.mixing_time_lower, speed.mixing_time_upper) {
            (Some(lower), Some(upper)) if lower.is_finite() && upper.is_finite() => {
                format!("{} to {}", number(lower), number(upper))
            }
            (Some(lower), Some(_)) if lower.is_finite() => format!("{} or more", number(lower)),
            (Some(_), Some(_)) => "never".to_owned(),
            _ => "-".to_owned(),
        };
        vec![
            row("spectral gap", bounded(found.gap), "larger mixes faster; 0 never mixes, 1 at once"),
            row("lambda_2", bounded(found.lambda_2), "second largest eigenvalue: the slowest wave"),
            row("lambda_n", bounded(found.lambda_n), "smallest eigenvalue: -1 swings for ever"),
            row(
                "relaxation time",
                steps(speed.relaxation_time),
                "steps in which differences shrink about 2.7-fold",
            ),
            row("mixing time", time, format!("steps until a random walk is within {EPS} of uniform")),
            row("chebyshev gamma", steps(speed.chebyshev_gamma), "momentum weight of accelerated averaging"),
        ]
    }

    fn laplacian_rows(&self) -> Vec<Row> {
        vec![
            row(
                "fiedler",
                bounded(self.speed.eigenvalues.fiedler),
                "larger is harder to cut in two; 0 is in pieces",
            ),
            row(
                "fiedler / nodes",
                steps(self.speed.fiedler_normalized),
                "normalised: 1 for the complete graph",
            ),
        ]
    }

    fn hop_rows(&self) -> Option<Vec<Row>> {
        let hops = self.hops.as_ref()?;
        let diameter = hops.diameter.map_or("infinite".to_owned(), |diameter| diameter.to_string());
        let average = hops.average_distance.map_or("infinite".to_owned(), number);
        Some(vec![
            row("diameter", diameter, "hops between the two nodes farthest apart"),
            row("average distance", average, "hops between two nodes, on average"),
        ])
    }
}

/// A line of the table.
struct Row {
    name: &'static str,
    value: String,
    meaning: String,
}

fn row(name: &'static str, value: impl fmt::Display, meaning: impl Into<String>) -> Row {
    Row { name, value: value.to_string(), meaning: meaning.into() }
}

/// Six significant digits, without trailing zeros.
fn number(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) {
        return format!("{value:.5e}");
    }
    let decimals = (5 - value.abs().max(1e-4).log10().floor() as i32).max(0) as usize;
    let digits = format!("{value:.decimals$}");
    let short = if decimals > 0 { digits.trim_end_matches('0').trim_end_matches('.') } else { &digits };
    if short == "-0" { "0".to_owned() } else { short.to_owned() }
}

/// A number that may be missing or infinite.
fn steps(value: Option<f64>) -> String {
    match value {
        Some(value) if value.is_finite() => number(value),
        Some(_) => "infinite".to_owned(),
        None => "-".to_owned(),
    }
}

/// An eigenvalue with its error bound and method.
fn bounded(found: Option<Eigenvalue>) -> String {
    match found {
        None => "-".to_owned(),
        Some(found) if found.error_bound == 0.0 => format!("{} exactly", number(found.value)),
        Some(found) => {
            let method = match found.method {
                Method::Structure => "structure",
                Method::Dense => "dense",
                Method::Lanczos => "lanczos",
            };
            // Digits below the bound say nothing.
            let value = if found.value.abs() <= found.error_bound { 0.0 } else { found.value };
            format!("{} ± {:.0e} ({method})", number(value), found.error_bound)
        }
    }
}

impl Inspection {
    fn headline(&self) -> String {
        let Structure { nodes, edges, connected, components, .. } = self.structure;
        let (peers, edges) = (counted(nodes, "node"), counted(edges, "edge"));
        let speed = match (connected, self.speed.relaxation_time) {
            (false, _) => format!("in {components} pieces that never mix"),
            (true, Some(time)) if time.is_finite() => {
                format!("connected; differences shrink about 2.7-fold in {} steps", number(time))
            }
            (true, Some(_)) => "connected, and never mixing with these weights: add --lazy".to_owned(),
            (true, None) => "nobody to mix with".to_owned(),
        };
        format!("{}: {peers}, {edges}, {speed}", self.file)
    }
}

impl fmt::Display for Inspection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline())?;
        let lazy = if self.lazy > 0.0 { format!(", laziness {}", self.lazy) } else { String::new() };
        let mut sections = vec![("Graph".to_owned(), self.graph_rows())];
        if self.structure.nodes > 1 {
            sections.push((format!("Mixing ({} weights{lazy})", self.weights), self.mixing_rows()));
            sections.push(("Laplacian".to_owned(), self.laplacian_rows()));
        }
        sections.extend(self.hop_rows().map(|rows| ("Distances".to_owned(), rows)));
        let width =
            |of: fn(&Row) -> usize| sections.iter().flat_map(|(_, rows)| rows).map(of).max().unwrap_or(0);
        let (names, values) = (width(|row| row.name.len()), width(|row| row.value.chars().count()));
        for (index, (title, rows)) in sections.iter().enumerate() {
            writeln!(f, "{}{title}", if index > 0 { "\n" } else { "" })?;
            for Row { name, value, meaning } in rows {
                writeln!(f, "  {name:names$}  {value:values$}  {meaning}")?;
            }
        }
        if let Some(centrality) = &self.centrality {
            centrality.show(f, &self.names, f.alternate())?;
        }
        if f.alternate() {
            writeln!(f, "\nNodes\n  {:<24}  neighbours", "name")?;
            for (node, degree) in self.degrees.iter().enumerate() {
                writeln!(f, "  {}  {degree:>10}", self.names.cell(node, 24))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short_and_keep_six_digits() {
        for (value, text) in [
            (0.0, "0"),
            (-0.0, "0"),
            (1.0, "1"),
            (-1.0, "-1"),
            (2.0 / 3.0, "0.666667"),
            (0.000_123_456_78, "0.000123457"),
            (1e-5, "1.00000e-5"),
            (123_456.78, "123457"),
            (100_000.0, "100000"),
            (1.5e9, "1.50000e9"),
        ] {
            assert_eq!(number(value), text);
        }
    }
}
