//! What a statement says of a case.

use std::fmt;

use serde::Serialize;
use sottovoce_privacy::Standing;
use sottovoce_report::text;

/// A number with its meaning.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Number {
    /// What it is called.
    pub name: String,
    /// The number.
    pub value: f64,
    /// What it means.
    pub meaning: String,
}

/// What a statement says, beside what is true.
#[derive(Debug, Clone, PartialEq, Serialize, schemars::JsonSchema)]
pub struct Answer {
    /// Its number in the paper.
    pub statement: String,
    /// What it is about.
    pub title: String,
    /// What it says, in words and symbols.
    pub says: String,
    /// Whether one may rely on it.
    pub standing: Standing,
    /// The case that it was asked about.
    pub case: Vec<Number>,
    /// Numbers as printed.
    pub printed: Vec<Number>,
    /// Numbers that are true, as far as they can be computed here.
    pub truth: Vec<Number>,
    /// Whether what is printed is so here; none where the truth is not known.
    pub holds: Option<bool>,
    /// What else there is to know.
    pub notes: Vec<String>,
}

impl Answer {
    /// What a statement says, and its standing.
    pub(super) fn new(says: impl Into<String>, standing: Standing) -> Self {
        Self {
            statement: String::new(),
            title: String::new(),
            says: says.into(),
            standing,
            case: Vec::new(),
            printed: Vec::new(),
            truth: Vec::new(),
            holds: None,
            notes: Vec::new(),
        }
    }

    /// A part of the case.
    pub(super) fn case(mut self, name: &str, value: f64, meaning: &str) -> Self {
        self.case.push(Number { name: name.into(), value, meaning: meaning.into() });
        self
    }

    /// A number as printed.
    pub(super) fn printed(mut self, name: &str, value: f64, meaning: &str) -> Self {
        self.printed.push(Number { name: name.into(), value, meaning: meaning.into() });
        self
    }

    /// A number that is true.
    pub(super) fn truth(mut self, name: &str, value: f64, meaning: &str) -> Self {
        self.truth.push(Number { name: name.into(), value, meaning: meaning.into() });
        self
    }

    /// Whether what is printed is so here.
    pub(super) fn holds(mut self, holds: bool) -> Self {
        self.holds = Some(holds);
        self
    }

    /// What else there is to know.
    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// All numbers.
    pub fn numbers(&self) -> impl Iterator<Item = &Number> {
        self.case.iter().chain(&self.printed).chain(&self.truth)
    }
}

/// The room beside a number.
const ROOM: usize = 66;

/// A meaning in lines that fit beside a number, broken between words.
fn wrapped(text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= ROOM => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.into()),
        }
    }
    lines
}

/// A number for people: whole ones as they are.
fn shown(value: f64) -> String {
    if value.fract() == 0.0 && value.abs() < 1e15 { format!("{value:.0}") } else { text::digits(value, 6) }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let so = match self.holds {
            Some(true) => ": it is so here",
            Some(false) => ": it is NOT so here",
            None => "",
        };
        writeln!(f, "{} ({}){so}\n\n{}\n", self.title, self.standing, self.says)?;
        for (title, numbers) in [("Case", &self.case), ("Printed", &self.printed), ("True", &self.truth)] {
            if !numbers.is_empty() {
                writeln!(f, "{title}")?;
            }
            for Number { name, value, meaning } in numbers {
                let mut lines = wrapped(meaning).into_iter();
                let first = lines.next().unwrap_or_default();
                writeln!(f, "  {name:<12} {:>14}  {first}", shown(*value))?;
                lines.try_for_each(|line| writeln!(f, "{:31}  {line}", ""))?;
            }
        }
        self.notes.iter().try_for_each(|note| writeln!(f, "\n{note}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn meanings_are_broken_between_words_and_whole_numbers_are_whole() {
        let long = "a word ".repeat(30);
        assert!(
            wrapped(long.trim()).iter().all(|line| line.chars().count() <= ROOM && !line.starts_with(' '))
        );
        assert_eq!(wrapped(long.trim()).join(" "), long.trim());
        assert_eq!((shown(12.0).as_str(), shown(0.25).as_str()), ("12", "0.250000"));
    }
}
