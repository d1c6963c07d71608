//! The plan as a table.

use std::fmt;

use sottovoce_privacy::{Standing, round_up};

use super::{LearningPlan, Row};

impl LearningPlan {
    /// What was chosen, in a sentence.
    pub fn headline(&self) -> String {
        let row = &self.rows[self.chosen];
        format!(
            "Learn by {}: {} contributions of each peer under noise {} keep {}; {} {}, without features {:.3}",
            row.method,
            row.iterations,
            round_up(row.sigma),
            self.promise.target,
            row.measures.name(),
            row.measures.first(),
            self.trivial.measures.first()
        )
    }
}

impl fmt::Display for LearningPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}\n", self.headline())?;
        writeln!(
            f,
            "{} among {} peers ({} edges, spectral gap {:.4})\n",
            self.task, self.peers, self.edges, self.gap
        )?;
        if self.graphs > 1 {
            writeln!(
                f,
                "{} graphs in turn, edges in the mean, the least of their gaps; a token needs a graph that stays: no walks.\n",
                self.graphs
            )?;
        }
        writeln!(
            f,
            "  {:<20}{:>17}{:>16}{:>6}{:>6}{:>9}{:>9}  by what right",
            "method",
            format!("{} **", self.trivial.measures.name()),
            "range **",
            "times",
            "step",
            "noise",
            "messages"
        )?;
        let assumptions = assumptions(&self.rows);
        for (i, row) in self.rows.iter().enumerate() {
            let mark = if i == self.chosen { "*" } else { " " };
            let spread = row.measures.first();
            let (measured, range) =
                (spread.to_string(), format!("{:.3} to {:.3}", spread.least, spread.most));
            writeln!(
                f,
                "{mark} {:<20}{measured:>17}{range:>16}{:>6}{:>6}{:>9}{:>9}  {}",
                row.method,
                row.iterations,
                row.step,
                round_up(row.sigma),
                row.messages,
                right(&row.standing, &assumptions)
            )?;
        }
        let trivial = format!("{:.3}", self.trivial.measures.first());
        writeln!(f, "  {:<20}{trivial:>9}", "no features")?;
        writeln!(
            f,
            "\n*  the most accurate that needs no server. Noise is in units of a gradient's sensitivity.\n\
             ** computed from the rows without privacy, and so are the choices of step, times and method that rest on it."
        )?;
        if !self.public_data {
            writeln!(
                f,
                "   These rows are taken for private: the choice is not paid for, and whoever follows it reveals something of them. Plan on public rows of the same kind."
            )?;
        }
        for (i, assumption) in assumptions.iter().enumerate() {
            writeln!(f, "[{}] {assumption}", i + 1)?;
        }
        writeln!(f, "\nWhat is promised of {}", self.rows[self.chosen].method)?;
        for stated in &self.guarantees {
            writeln!(
                f,
                "  epsilon {} at delta {:e} towards {}; {}",
                stated.shown(),
                stated.delta,
                stated.who(),
                right(&stated.standing, &assumptions)
            )?;
        }
        crate::terms::not_covered(f, &self.not_covered)
    }
}

/// What some of the rows assume, each once.
fn assumptions(rows: &[Row]) -> Vec<&str> {
    let mut all = Vec::new();
    for row in rows {
        if let Standing::Conditional(list) = &row.standing {
            let new: Vec<&str> = list.iter().map(String::as_str).filter(|one| !all.contains(one)).collect();
            all.extend(new);
        }
    }
    all
}

/// A standing that fits in a table: assumptions by their numbers.
fn right(standing: &Standing, assumptions: &[&str]) -> String {
    let Standing::Conditional(list) = standing else { return standing.to_string() };
    let place = |one: &String| assumptions.iter().position(|known| known == one).map_or(0, |place| place + 1);
    let places: Vec<String> = list.iter().map(|one| format!("[{}]", place(one))).collect();
    format!("proven if {}", places.join(" and "))
}
