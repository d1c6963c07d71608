//! The papers' statements as functions: what a theorem, corollary or remark says of a given case, its standing, and the truth beside it
//! where that can be computed.
//!
//! ```text
//! Inputs (graph, noise, steps, …) ──► Statement::answer ──► Answer: numbers as printed, numbers that are true, standing
//! ```
//!
//! A statement is one line in its paper's list. It names the inputs that it uses; others are refused, so that nothing is ignored silently.

mod answer;
mod consensus;
mod inputs;
mod muffliato;
mod personalized;
mod random_walk;
mod rumor;

pub use answer::{Answer, Number};
pub use inputs::Inputs;

use crate::{Error, Result};

/// All statements, by paper.
static LISTS: [(&str, &[Statement]); 5] = [
    ("consensus-deep-learning", consensus::STATEMENTS),
    ("muffliato", muffliato::STATEMENTS),
    ("personalized", personalized::STATEMENTS),
    ("random-walk", random_walk::STATEMENTS),
    ("rumor", rumor::STATEMENTS),
];

/// Something that a paper states.
#[derive(Debug)]
pub struct Statement {
    /// Its number in the paper, such as `theorem-2`.
    pub id: &'static str,
    /// What it is about.
    pub title: &'static str,
    /// Names of the inputs that it uses.
    pub uses: &'static [&'static str],
    answer: fn(&Inputs) -> Result<Answer>,
}

impl Statement {
    pub(crate) const fn new(
        id: &'static str,
        title: &'static str,
        uses: &'static [&'static str],
        answer: fn(&Inputs) -> Result<Answer>,
    ) -> Self {
        Self { id, title, uses, answer }
    }

    /// What `PAPER/STATEMENT` stands for.
    ///
    /// ```
    /// use sottovoce_papers::Statement;
    /// assert_eq!(Statement::find("muffliato/Theorem-2")?.id, "theorem-2");
    /// assert!(Statement::find("muffliato/99").unwrap_err().to_string().contains("theorem-2"));
    /// # Ok::<(), sottovoce_papers::Error>(())
    /// ```
    pub fn find(what: &str) -> Result<&'static Self> {
        let (paper, id) = what.split_once('/').unwrap_or((what, ""));
        let Some((_, list)) = LISTS.iter().find(|(name, _)| *name == paper) else {
            let names: Vec<&str> = LISTS.iter().map(|(name, _)| *name).collect();
            let remedy = format!("give PAPER/STATEMENT, where the paper is one of {}", names.join(", "));
            return Err(Error::parameter("statement", what, remedy));
        };
        let wanted = id.to_ascii_lowercase();
        let known = || list.iter().map(|one| one.id).collect::<Vec<_>>().join(", ");
        let unknown = || Error::parameter("statement", what, format!("{paper} has {}", known()));
        list.iter().find(|one| one.id == wanted).ok_or_else(unknown)
    }

    /// What it says of a case. Inputs that it does not use are refused.
    pub fn answer(&self, inputs: &Inputs) -> Result<Answer> {
        for given in inputs.given()? {
            // Whatever describes a graph is used where a graph is.
            let graph = self.uses.contains(&"graph") && inputs::GRAPH.contains(&given.as_str());
            if !graph && !self.uses.contains(&given.as_str()) {
                let option = if given == "file" { "graph".into() } else { given };
                let remedy = format!("{} does not use it; it uses {}", self.id, self.uses.join(", "));
                return Err(Error::parameter("option", option, remedy));
            }
        }
        let mut answer = (self.answer)(inputs)?;
        (answer.statement, answer.title) = (self.id.into(), self.title.into());
        Ok(answer)
    }
}

/// Every statement: `PAPER/STATEMENT` and what it is about, in the papers' order.
pub fn statements() -> Vec<(String, &'static Statement)> {
    let of = |(paper, list): &(&str, &'static [Statement])| {
        list.iter().map(|one| (format!("{paper}/{}", one.id), one)).collect::<Vec<_>>()
    };
    LISTS.iter().flat_map(of).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn every_statement_answers_without_being_given_anything_and_refuses_what_it_does_not_use() {
        for (name, statement) in statements() {
            let answer =
                statement.answer(&Inputs::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!answer.printed.is_empty(), "{name}");
            assert!(answer.numbers().all(|number| !number.value.is_nan()), "{name}: {answer:?}");
            let unused = Inputs { unused: Some(1), ..Inputs::default() };
            assert!(statement.answer(&unused).unwrap_err().to_string().contains("does not use"), "{name}");
        }
    }
}
