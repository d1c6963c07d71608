//! From `--family` and its parameters to a [`Family`]. Parameters of other families are refused by name, and so are
//! missing ones. The ranges of the values are checked by the topology crate; here its errors get the names of the
//! options.

use std::str::FromStr;

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use sottovoce_topology::Error;
use sottovoce_topology::family::{Family, radius_reaching, root, share_of_pairs};

use super::{count, real};

/// The families, as they are written after `--family`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Kind {
    /// A cycle: --peers
    Ring,
    /// A line: --peers
    Path,
    /// One centre joined to all others: --peers
    Star,
    /// All pairs: --peers
    Complete,
    /// A rectangle: rows and cols, or --peers (a perfect square)
    Grid,
    /// A grid that wraps around: sides, or --peers (a perfect power) and dimensions
    Torus,
    /// Numbers that differ in one bit: --peers (a power of two) or dimensions
    Hypercube,
    /// Steps of 1, 2, 4, ... around a cycle: --peers
    Exponential,
    /// Every pair independently: --peers, and probability or --mean-degree
    ErdosRenyi,
    /// The same number of neighbours for all: --peers, --degree
    RandomRegular,
    /// Points of the unit square, joined when near: --peers, and radius or --mean-degree
    Geometric,
    /// As geometric, at a given Fiedler value divided by nodes: --peers, fiedler
    GeometricFiedler,
    /// Communities: sizes, p-in, p-out
    StochasticBlock,
    /// Preferential attachment: --peers, attach
    BarabasiAlbert,
    /// A small world, a rewired cycle: --peers, neighbors, rewire
    WattsStrogatz,
    /// Davis's southern women and their events, a data set of 32 nodes: no parameters
    Davis,
}

impl Kind {
    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }

    /// The parameters the family takes, by option name.
    fn takes(self) -> &'static [&'static str] {
        match self {
            Self::Ring | Self::Path | Self::Star | Self::Complete | Self::Exponential => &["peers"],
            Self::Grid => &["rows", "cols", "peers"],
            Self::Torus => &["sides", "peers", "dimensions"],
            Self::Hypercube => &["peers", "dimensions"],
            Self::ErdosRenyi => &["peers", "probability", "mean-degree"],
            Self::RandomRegular => &["peers", "degree"],
            Self::Geometric => &["peers", "radius", "mean-degree"],
            Self::GeometricFiedler => &["peers", "fiedler"],
            Self::StochasticBlock => &["sizes", "p-in", "p-out", "peers"],
            Self::BarabasiAlbert => &["peers", "attach"],
            Self::WattsStrogatz => &["peers", "neighbors", "rewire"],
            Self::Davis => &[],
        }
    }
}

/// A family and its parameters, as given.
#[derive(Debug, Args)]
#[command(next_help_heading = "Family and parameters")]
pub(super) struct Choice {
    /// The kind of graph.
    #[arg(long, value_name = "F")]
    family: Kind,
    /// Number of nodes.
    #[arg(long = "peers", short, value_name = "N", value_parser = count, allow_negative_numbers = true)]
    nodes: Option<usize>,
    /// Expected number of neighbours (erdos-renyi, geometric).
    #[arg(long, value_name = "D", value_parser = real, allow_negative_numbers = true)]
    mean_degree: Option<f64>,
    /// Number of neighbours of every node (random-regular).
    #[arg(long, value_name = "D", value_parser = count, allow_negative_numbers = true)]
    degree: Option<usize>,
    /// Another parameter of the family, such as radius=0.3 or sizes=50,50.
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
}

/// Options that set a parameter by themselves.
const OPTIONS: [&str; 3] = ["peers", "mean-degree", "degree"];

impl Choice {
    /// The family, if every parameter it needs is there and no other.
    pub(super) fn family(&self) -> anyhow::Result<Family> {
        self.refuse_strangers()?;
        Ok(match self.family {
            Kind::Ring => Family::Ring { n: self.nodes()? },
            Kind::Path => Family::Path { n: self.nodes()? },
            Kind::Star => Family::Star { n: self.nodes()? },
            Kind::Complete => Family::Complete { n: self.nodes()? },
            Kind::Exponential => Family::Exponential { n: self.nodes()? },
            Kind::Grid => self.grid()?,
            Kind::Torus => Family::Torus { sides: self.sides()? },
            Kind::Hypercube => Family::Hypercube { dimension: self.dimension()? },
            Kind::ErdosRenyi => Family::ErdosRenyi { n: self.nodes()?, p: self.edge_probability()? },
            Kind::Geometric => Family::Geometric { n: self.nodes()?, radius: self.edge_radius()? },
            Kind::RandomRegular => {
                Family::RandomRegular { n: self.nodes()?, degree: self.need(self.degree, "degree", "4")? }
            }
            Kind::GeometricFiedler => {
                let target = self.need(self.set("fiedler")?, "fiedler", "0.06")?;
                Family::GeometricFiedler { n: self.nodes()?, target }
            }
            Kind::StochasticBlock => {
                let p_in = self.need(self.set("p-in")?, "p-in", "0.3")?;
                let p_out = self.need(self.set("p-out")?, "p-out", "0.02")?;
                Family::planted_partition(self.need(self.list("sizes")?, "sizes", "50,50")?, p_in, p_out)
            }
            Kind::BarabasiAlbert => {
                Family::BarabasiAlbert { n: self.nodes()?, m: self.need(self.set("attach")?, "attach", "2")? }
            }
            Kind::WattsStrogatz => {
                let k = self.need(self.set("neighbors")?, "neighbors", "4")?;
                let beta = self.need(self.set("rewire")?, "rewire", "0.1")?;
                Family::WattsStrogatz { n: self.nodes()?, k, beta }
            }
            Kind::Davis => Family::Davis,
        })
    }

    /// Refuses a `--peers` that does not fit the other parameters.
    pub(super) fn check_nodes(&self, found: usize) -> anyhow::Result<()> {
        match self.nodes {
            Some(nodes) if nodes != found => {
                bail!(
                    "`peers` is {nodes}: the other parameters make {found}; give {found} or leave --peers out"
                )
            }
            _ => Ok(()),
        }
    }

    /// An error of the topology crate, under the names of the options.
    pub(super) fn explain(&self, error: Error) -> anyhow::Error {
        let (field, value, remedy) = match error {
            Error::Parameter(fault) => (fault.field, fault.value, fault.remedy),
            Error::Disconnected { .. } => return anyhow!("`connected` cannot be had: {error}"),
            other => return other.into(),
        };
        let is = |name| self.set::<f64>(name).is_ok_and(|p| p.is_some_and(|p| p.to_string() == value));
        let field = match field {
            "n" | "nodes" => "peers",
            "p" => "probability",
            "m" => "attach",
            "k" => "neighbors",
            "beta" => "rewire",
            "target" => "fiedler",
            "dimension" => "dimensions",
            "side" | "number of sides" | "product of sides" => "sides",
            "probabilities" if is("p-in") => "p-in",
            "probabilities" if is("p-out") => "p-out",
            "probabilities" => "sizes",
            other => other,
        };
        anyhow!("`{field}` is {value}: {remedy}")
    }

    /// The parameters that were given, by name.
    fn given(&self) -> impl Iterator<Item = &str> {
        let options = [self.nodes.is_some(), self.mean_degree.is_some(), self.degree.is_some()];
        let options = OPTIONS.into_iter().zip(options).filter(|(_, given)| *given).map(|(name, _)| name);
        options.chain(self.set.iter().map(|one| one.split_once('=').map_or(one.as_str(), |(name, _)| name)))
    }

    /// The text of a parameter.
    fn text(&self, name: &str) -> Option<&str> {
        self.set
            .iter()
            .find_map(|one| one.split_once('=').filter(|(given, _)| *given == name))
            .map(|(_, text)| text)
    }

    /// A number that was set.
    fn set<T: FromStr>(&self, name: &str) -> anyhow::Result<Option<T>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        text.parse().map(Some).map_err(|_| anyhow!("`{name}` is {text}: give a number"))
    }

    /// Several whole numbers that were set.
    fn list(&self, name: &str) -> anyhow::Result<Option<Vec<usize>>> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let all: Result<_, _> = text.split(',').map(str::parse).collect();
        all.map(Some).map_err(|_| anyhow!("`{name}` is {text}: give whole numbers, such as 4,4"))
    }

    fn refuse_strangers(&self) -> anyhow::Result<()> {
        let takes = self.family.takes();
        if let Some(bare) = self.set.iter().find(|one| !one.contains('=')) {
            bail!("`set` is {bare}: give NAME=VALUE, such as radius=0.3");
        }
        let given: Vec<&str> = self.given().collect();
        if let Some((_, twice)) = given.iter().enumerate().find(|(at, name)| given[..*at].contains(name)) {
            bail!("`{twice}` is given twice: leave one out");
        }
        let Some(stranger) = self.given().find(|name| !takes.contains(name)) else { return Ok(()) };
        let family = self.family.name();
        let list = takes.iter().map(|name| option(name)).collect::<Vec<_>>().join(", ");
        let list = if list.is_empty() { "no parameters".to_owned() } else { list };
        bail!("`{stranger}` is not a parameter of {family}: leave it out; {family} takes {list}")
    }

    fn nodes(&self) -> anyhow::Result<usize> {
        self.need(self.nodes, "peers", "16")
    }

    fn need<T>(&self, value: Option<T>, name: &str, example: &str) -> anyhow::Result<T> {
        let family = self.family.name();
        value.ok_or_else(|| {
            let by = if OPTIONS.contains(&name) { " " } else { "=" };
            anyhow!("`{name}` is missing: {family} needs it, such as {}{by}{example}", option(name))
        })
    }

    fn grid(&self) -> anyhow::Result<Family> {
        match (self.set("rows")?, self.set("cols")?, self.nodes) {
            (Some(rows), Some(cols), _) => Ok(Family::Grid { rows, cols }),
            (None, None, Some(nodes)) => match root(nodes, 2) {
                Some(side) => Ok(Family::Grid { rows: side, cols: side }),
                None => {
                    bail!("`peers` is {nodes}: it is not a perfect square; give --set rows=R --set cols=C")
                }
            },
            (Some(_), None, _) => bail!("`cols` is missing: grid needs rows and cols, such as --set cols=4"),
            (None, Some(_), _) => bail!("`rows` is missing: grid needs rows and cols, such as --set rows=4"),
            (None, None, None) => {
                bail!("`rows` is missing: grid needs rows and cols, or --peers (a perfect square)")
            }
        }
    }

    fn sides(&self) -> anyhow::Result<Vec<usize>> {
        match (self.list("sides")?, self.nodes, self.set::<u32>("dimensions")?) {
            (Some(sides), _, None) => Ok(sides),
            (Some(_), _, Some(dimensions)) => {
                bail!("`dimensions` is {dimensions}: sides have it already; leave it out")
            }
            (None, Some(_), Some(0)) => bail!("`dimensions` is 0: give at least 1"),
            (None, Some(nodes), Some(dimensions)) => match root(nodes, dimensions) {
                Some(side) if side < 3 => bail!(
                    "`peers` is {nodes}: in {dimensions} dimensions each side would be {side}, and must be at least \
                     3; give more nodes"
                ),
                Some(side) => Ok(vec![side; dimensions as usize]),
                None => {
                    bail!(
                        "`peers` is {nodes}: it is not the power {dimensions} of a whole number; give --set sides=A,B"
                    )
                }
            },
            (None, Some(_), None) => {
                bail!("`dimensions` is missing: torus needs it with --peers, such as --set dimensions=2")
            }
            (None, None, _) => {
                bail!("`sides` is missing: torus needs --set sides=4,4, or --peers and --set dimensions=2")
            }
        }
    }

    fn dimension(&self) -> anyhow::Result<u32> {
        match (self.set("dimensions")?, self.nodes) {
            (Some(dimension), _) => Ok(dimension),
            (None, Some(nodes)) if nodes >= 2 && nodes.is_power_of_two() => Ok(nodes.ilog2()),
            (None, Some(nodes)) => bail!("`peers` is {nodes}: give a power of two, such as 16 or 64"),
            (None, None) => {
                bail!("`peers` is missing: hypercube needs --peers (a power of two) or --set dimensions=D")
            }
        }
    }

    fn edge_probability(&self) -> anyhow::Result<f64> {
        self.or_mean_degree("probability", self.set("probability")?, Some)
    }

    fn edge_radius(&self) -> anyhow::Result<f64> {
        self.or_mean_degree("radius", self.set("radius")?, radius_reaching)
    }

    /// A parameter, or what stands for it at a mean degree, found from the share of all pairs that are edges.
    fn or_mean_degree(
        &self,
        name: &str,
        value: Option<f64>,
        at_share: fn(f64) -> Option<f64>,
    ) -> anyhow::Result<f64> {
        let (family, nodes) = (self.family.name(), self.nodes()?);
        match (value, self.mean_degree) {
            (Some(value), None) => Ok(value),
            (None, Some(degree)) => at_share(share_of_pairs(nodes, degree).map_err(|error| self.explain(error))?).ok_or_else(|| {
                anyhow!("`mean-degree` is {degree}: so few pairs would be left out that the radius must be given: --set {name}=R")
            }),
            (Some(_), Some(degree)) => {
                bail!("`mean-degree` is {degree}: {name} is given too, and each follows from the other; remove one")
            }
            (None, None) => bail!(
                "`{name}` is missing: {family} needs it, such as --set {name}=0.2, or --mean-degree, such as \
                 --mean-degree 6"
            ),
        }
    }
}

/// How a parameter is given.
fn option(name: &str) -> String {
    if OPTIONS.contains(&name) { format!("--{name}") } else { format!("--set {name}") }
}
