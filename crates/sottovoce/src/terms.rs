//! The terms of a table of losses: who attacks, what is protected, by what right, and where it ends. No number is printed without them.

use std::fmt;

use serde::Serialize;
use sottovoce_privacy::{Adjacency, Guarantee, Standing, Unit};

/// What holds for every loss of a table.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Terms {
    /// Who attacks.
    pub adversary: String,
    /// What is protected.
    pub unit: Unit,
    /// Under which adjacency.
    pub adjacency: Adjacency,
    /// By what right.
    pub standing: Standing,
    /// What the table does not speak of.
    pub not_covered: Vec<String>,
}

impl Terms {
    /// Those of a guarantee, towards the adversary that the whole table is about.
    pub fn new(guarantee: Guarantee, adversary: impl Into<String>) -> Self {
        let Guarantee { unit, adjacency, standing, not_covered, .. } = guarantee;
        Self { adversary: adversary.into(), unit, adjacency, standing, not_covered }
    }
}

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "  against {}, for {} ({}); {}",
            self.adversary, self.unit, self.adjacency, self.standing
        )?;
        writeln!(f, "\n  not covered:")?;
        self.not_covered.iter().try_for_each(|what| writeln!(f, "  * {what}"))
    }
}

/// Guarantees, where they end, and that a simulation does not have them.
pub fn promised(f: &mut fmt::Formatter<'_>, statements: &[String], not_covered: &[String]) -> fmt::Result {
    statements.iter().try_for_each(|statement| writeln!(f, "  {statement}"))?;
    writeln!(f, "\n  {}\n\n  not covered:", crate::SIMULATED)?;
    not_covered.iter().try_for_each(|what| writeln!(f, "  * {what}"))
}
