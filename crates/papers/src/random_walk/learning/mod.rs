//! The figures and tables that learn: figure 2, figures 7 and 8, table 1.
//!
//! Settings from the paper and, where it is silent, from the authors' code: gradients of each row clipped to 0.4, step size 0.034 for
//! tokens, weights `1/(max(d_u, d_v) + 1)`.
//!
//! | file | what |
//! | --- | --- |
//! | `graphs` | the graphs of figure 2 and table 1 |
//! | `lines`, `objective` | figure 2: a token beside central and local learning |
//! | `places`, `pairs`, `distances`, `outcome` | figures 7 and 8: data that depends on the place, and the same data shuffled |
//! | `table1` | table 1: gossip and token at the same mean loss, as printed and truly |

mod distances;
mod graphs;
mod lines;
mod objective;
mod outcome;
mod pairs;
mod places;
mod table1;

pub(super) use objective::figure as figure2;
pub(super) use places::figure as figures7_8;
pub(super) use table1::table as table1;

/// The bound on each row's gradient.
const CLIP: f64 = 0.4;
/// The authors' step size for tokens.
const TOKEN_STEP: f64 = 0.034;
