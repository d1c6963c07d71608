//! How fast a graph mixes: the second and the last eigenvalue of a mixing matrix, and the Fiedler value of a graph.
//!
//! Every number comes with a bound on its error and the method that found it. Up to 1000 nodes all eigenvalues are
//! computed and matched one to one (`dense.rs`). Above, `lanczos.rs` finds an eigenvalue within a proven distance of
//! the value returned, and by the variational principle the gap is at most the value plus its bound; that no smaller
//! eigenvalue was missed is not proven, only made as unlikely as a random start can. Gaps that are zero for a reason
//! of structure (a graph in pieces, a bipartite one without self-weights) are recognised as exactly zero.
//!
//! ```text
//! 1 - lambda_2 = smallest eigenvalue of I - W beside the constants = sum of w (x_u - x_v)²                  form.rs
//! 1 + lambda_n = smallest eigenvalue of I + W                      = sum of w (x_u + x_v)² + 2 W_uu x_u²    form.rs
//! ```

mod dense;
mod exchanges;
mod factor;
mod form;
mod lanczos;
mod times;

pub use exchanges::Exchanges;
pub use times::{
    Interval, accelerated_steps, chebyshev_weight, mixing_time, optimisation_rounds, pairwise_rate,
    randomised_steps,
};

use crate::{Error, Graph, Result, mixing::Mixing};
use form::{EdgeForm, ROUNDING};
use serde::Serialize;

/// How an eigenvalue was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// It follows from the structure of the graph: components, or a bipartition.
    Structure,
    /// All eigenvalues were computed; it is certain that this is the one asked for.
    Dense,
    /// Restarted Lanczos: an eigenvalue is within the bound; that it is the one asked for is highly likely, not
    /// proven.
    Lanczos,
}

/// A number and how far the truth can be from it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Eigenvalue {
    /// The eigenvalue (or difference of eigenvalues).
    pub value: f64,
    /// An eigenvalue of the exact matrix is within this distance, rounding errors included.
    pub error_bound: f64,
    /// How it was found.
    pub method: Method,
}

impl Eigenvalue {
    /// The smallest number it can be.
    pub fn lower(&self) -> f64 {
        self.value - self.error_bound
    }

    /// The largest number it can be.
    pub fn upper(&self) -> f64 {
        self.value + self.error_bound
    }

    /// `offset + sign * self` for `sign` 1 or -1, with one more rounding.
    fn shifted(self, offset: f64, sign: f64) -> Self {
        let value = offset + sign * self.value;
        Self { value, error_bound: self.error_bound + ROUNDING * value.abs(), ..self }
    }

    fn loosened(self, by: f64) -> Self {
        Self { error_bound: self.error_bound + by, ..self }
    }
}

/// What governs the convergence of `x <- W x`.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spectrum {
    /// The second largest eigenvalue (with multiplicity: 1 if the graph is in pieces).
    pub lambda_2: Eigenvalue,
    /// The smallest eigenvalue (-1 if a piece is bipartite and no node of it keeps a share of its own value).
    pub lambda_n: Eigenvalue,
    /// `1 - max(|lambda_2|, |lambda_n|)`, computed from `1 - lambda_2` and `1 + lambda_n`, so that a small gap keeps
    /// its digits.
    pub gap: Eigenvalue,
}

impl Spectrum {
    /// The spectrum of a symmetric doubly stochastic matrix; anything else is refused by [`Mixing::check`].
    ///
    /// A graph in pieces is not an error: its gap is exactly 0.
    ///
    /// ```
    /// use sottovoce_topology::{Graph, mixing::{Mixing, Weights}, spectrum::Spectrum};
    /// let ring = Graph::from_edges(6, (0..6).map(|u| (u, (u + 1) % 6)))?;
    /// let mixing = Mixing::new(&ring, Weights::Metropolis);
    /// assert_eq!(Spectrum::of(&mixing)?.gap.value, 0.0); // an even ring is bipartite: it never mixes ...
    /// let gap = Spectrum::of(&mixing.lazy(0.5)?)?.gap; // ... unless it is lazy
    /// assert!((gap.value - 0.25).abs() < 1e-12);
    /// # Ok::<(), sottovoce_topology::Error>(())
    /// ```
    pub fn of(mixing: &Mixing) -> Result<Self> {
        Self::by(mixing, mixing.nodes() <= dense::DENSE_LIMIT)
    }

    fn by(mixing: &Mixing, dense: bool) -> Result<Self> {
        let below = below_one(mixing, dense)?;
        let slack = mixing.diagonal().iter().map(|w| 2.0 * w).collect();
        let above = smallest(form_of(mixing, slack, 1.0), dense)?.loosened(defect(mixing));
        let closer = if below.value <= above.value { below } else { above };
        let lower = below.lower().min(above.lower());
        let gap = Eigenvalue { error_bound: closer.error_bound.max(closer.value - lower), ..closer };
        Ok(Self { lambda_2: below.shifted(1.0, -1.0), lambda_n: above.shifted(-1.0, 1.0), gap })
    }

    /// `1 / gap`; infinite when the gap is 0.
    pub fn relaxation_time(&self) -> f64 {
        1.0 / self.gap.value
    }
}

/// `1 - lambda_2`, with the digits that `lambda_2` itself cannot keep when it is close to 1.
fn below_one(mixing: &Mixing, dense: bool) -> Result<Eigenvalue> {
    require_two(mixing.nodes())?;
    mixing.check()?;
    Ok(smallest(form_of(mixing, vec![0.0; mixing.nodes()], -1.0), dense)?.loosened(defect(mixing)))
}

fn form_of(mixing: &Mixing, slack: Vec<f64>, sign: f64) -> EdgeForm {
    let (offsets, targets) = mixing.graph().rows();
    EdgeForm::new(offsets, targets, mixing.weights(), slack, sign)
}

/// How far the matrix is from the two forms made of it: row sums that miss 1, and directions that differ, by
/// rounding.
fn defect(mixing: &Mixing) -> f64 {
    let skew = |u: usize| mixing.row(u).map(|(v, w)| (w - mixing.weight(v, u)).abs()).sum::<f64>();
    (0..mixing.nodes()).map(|u| (mixing.row_sum(u) - 1.0).abs() + skew(u)).fold(0.0, f64::max)
}

/// The second smallest eigenvalue of the Laplacian `D - A`; 0 for a graph in pieces.
///
/// ```
/// use sottovoce_topology::{Graph, spectrum::fiedler};
/// let path = Graph::from_edges(3, [(0, 1), (1, 2)])?;
/// assert!((fiedler(&path)? - 1.0).abs() < 1e-12);
/// # Ok::<(), sottovoce_topology::Error>(())
/// ```
pub fn fiedler(graph: &Graph) -> Result<f64> {
    Ok(fiedler_value(graph)?.value)
}

/// The Fiedler value with its error bound and method.
pub fn fiedler_value(graph: &Graph) -> Result<Eigenvalue> {
    require_two(graph.nodes())?;
    smallest(EdgeForm::laplacian(graph), graph.nodes() <= dense::DENSE_LIMIT)
}

/// The Fiedler value divided by the number of nodes, from 0 (in pieces) to 1 (complete), as the deep-learning paper
/// has it.
pub fn normalized_fiedler(graph: &Graph) -> Result<f64> {
    Ok(fiedler(graph)? / graph.nodes() as f64)
}

fn require_two(nodes: usize) -> Result<()> {
    if nodes >= 2 {
        return Ok(());
    }
    let remedy = "a spectrum has a second eigenvalue only from 2 nodes on; add nodes";
    Err(Error::parameter("nodes", nodes, remedy))
}

/// The smallest eigenvalue of a form, the constants of a Laplacian set aside.
fn smallest(form: EdgeForm, dense: bool) -> Result<Eigenvalue> {
    let laplacian = form.sign() < 0.0;
    let (offset, form) = form.without_common_slack();
    let (pieces, balanced) = form.pieces();
    let (value, error_bound, method) = if (laplacian && pieces > 1) || (!laplacian && balanced) {
        (0.0, 0.0, Method::Structure)
    } else if dense {
        let spectrum = dense::eigenvalues(&form)?;
        (spectrum.values[usize::from(laplacian)], spectrum.error_bound, Method::Dense)
    } else {
        let ritz = lanczos::smallest(&form, offset)?;
        (ritz.value, ritz.error_bound, Method::Lanczos)
    };
    // Slacks are at most 2, so taking off the common part rounds by at most one unit of 1.
    let rounding = if offset > 0.0 { 2.0 * ROUNDING } else { 0.0 };
    Ok(Eigenvalue { value: value.max(0.0) + offset, error_bound: error_bound + rounding, method })
}

#[cfg(test)]
mod tests;
