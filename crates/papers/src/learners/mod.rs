//! What the learning figures of several papers share.
//!
//! | file | what |
//! | --- | --- |
//! | `data` | the Houses task: a user's own copy, or a synthetic look-alike |
//! | `token` | a token that learns on its walk, and what its path reveals |
//! | `curator` | a trusted party that learns from a random sample of peers in each step |
//! | `spread` | curves of several runs, with their deviation |

mod curator;
mod data;
mod spread;
mod token;

use sottovoce_privacy::noise::simulation::Seed;

pub(super) use curator::{Curator, curator_sigma};
pub(super) use data::Data;
pub(super) use spread::band;
pub(super) use token::Token;

pub(super) use sottovoce::learning::Spread;

/// The seed of a part of the work. Users' seeds are small numbers, and so are parts: kept apart.
pub(super) fn seed_of(seed: u64, part: u64) -> u64 {
    Seed(seed).part(part).0
}
