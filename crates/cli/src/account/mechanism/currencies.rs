//! The same loss in the currencies of other accountants.

use std::fmt;

use serde::Serialize;
use sottovoce_fault::decimal::scientific;
use sottovoce_privacy::{GaussianBound, Group, Kind, round_up};

/// Orders at which Rényi losses are shown.
const ORDERS: [f64; 8] = [1.5, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0];

/// Rényi, concentrated and Gaussian privacy; where there is none, the reason.
#[derive(Serialize, schemars::JsonSchema)]
pub(super) struct Currencies {
    /// Rényi losses by order, or why there are none.
    renyi: Known<Vec<Loss>>,
    /// Concentrated loss.
    zcdp: Known<Rho>,
    /// Gaussian loss.
    gdp: Known<GaussianBound>,
}

#[derive(Serialize, schemars::JsonSchema)]
#[serde(untagged)]
enum Known<T> {
    Yes(T),
    No { none: String },
}

#[derive(Serialize, schemars::JsonSchema)]
struct Loss {
    order: f64,
    loss: f64,
}

#[derive(Serialize, schemars::JsonSchema)]
struct Rho {
    rho: f64,
}

const GIVEN: &str = "a given delta has none";

impl Currencies {
    pub(super) fn new(group: &Group, orders: &[f64]) -> Self {
        let orders = if orders.is_empty() { &ORDERS[..] } else { orders };
        let rho = group.zcdp().filter(|rho| rho.is_finite());
        Self {
            renyi: renyi(group, orders).map_or_else(|none| Known::No { none }, Known::Yes),
            zcdp: rho.map_or(Known::No { none: "none is known".into() }, |rho| Known::Yes(Rho { rho })),
            gdp: group.gaussian().map_or_else(|none| Known::No { none }, Known::Yes),
        }
    }
}

fn renyi(group: &Group, orders: &[f64]) -> Result<Vec<Loss>, String> {
    let Some(composition) = group.exactly() else {
        return Err(
            "none is known for several records of a sample; those of one are shown without --group".into()
        );
    };
    let at = |order: f64| match composition.renyi(order) {
        Ok(Some(loss)) => Ok(Loss { order, loss }),
        Ok(None) => Err(GIVEN.to_owned()),
        Err(error) => Err(error.to_string()),
    };
    orders.iter().copied().map(at).collect()
}

impl fmt::Display for Currencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.renyi {
            Known::Yes(losses) => {
                // As many as fit a hundred columns; the others are in JSON.
                let shown = || losses.iter().skip(usize::from(losses.len() > 7)).take(7);
                let orders: Vec<String> = shown().map(|at| format!("{:>10}", at.order)).collect();
                let values: Vec<String> = shown().map(|at| format!("{:>10}", short(at.loss))).collect();
                writeln!(f, "  Rényi order          {}", orders.join(" "))?;
                writeln!(f, "  Rényi loss           {}", values.join(" "))?;
            }
            Known::No { none } => writeln!(f, "  Rényi losses         none: {none}")?,
        }
        match &self.zcdp {
            Known::Yes(zcdp) => writeln!(f, "  zCDP                 rho <= {}", round_up(zcdp.rho))?,
            Known::No { none } => writeln!(f, "  zCDP                 none: {none}")?,
        }
        match &self.gdp {
            Known::Yes(gdp) => {
                let kind = if gdp.kind == Kind::Exact { "exact" } else { "a bound" };
                writeln!(f, "  Gaussian DP          mu <= {} ({kind})", round_up(gdp.mu))
            }
            Known::No { none } => writeln!(f, "  Gaussian DP          none: {none}"),
        }
    }
}

/// Six digits, rounded up, in as few characters.
fn short(value: f64) -> String {
    let plain = round_up(value);
    if plain.len() <= 10 { plain } else { scientific(value) }
}
