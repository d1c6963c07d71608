//! Ways to deal a table out to peers whose data are not alike.
//!
//! Even blocks and lists of rows are [`Shards::even`](crate::Shards::even) and [`Shards::by_lists`](crate::Shards::by_lists).
//! Here are mixtures of classes drawn at random ([`dirichlet`]), the matrix `A(t)` between equal and exclusive shares of
//! the classes ([`similarity`]), and data that is alike where peers are near ([`by_position`]). The classes are the distinct labels,
//! in increasing order.
//!
//! All of these look at everybody's rows to say who holds which. That is for experiments on public data: a guarantee of replacing one
//! user's rows then holds only if what was looked at is public, and has to say so.

mod classes;
mod dirichlet;
mod position;
mod similarity;

pub use dirichlet::dirichlet;
pub use position::{Key, by_position};
pub use similarity::{similarity, similarity_lists};
