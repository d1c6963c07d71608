//! Table 1: ratings of films. The paper's rows, the rows that it leaves out, and ratings for which collaboration does add something.
//!
//! | file | what |
//! | --- | --- |
//! | `films` | MovieLens-100K, over five splits |
//! | `generated` | generated ratings, over five draws: few rows, features not made from anybody's ratings |

mod films;
mod generated;

use sottovoce_learning::Spread;
use sottovoce_learning::personal::movielens;

use crate::registry::Desk;
use crate::{Item, Result, Verdict};

/// What is measured of one way to a model for everybody, once for each split or draw.
struct Row {
    name: String,
    /// What anybody's row loses; none where nothing is protected.
    epsilon: Option<f64>,
    /// What the paper prints.
    paper: Option<f64>,
    values: Vec<f64>,
}

/// The rows, in the order in which they were first seen.
#[derive(Default)]
struct Rows(Vec<Row>);

impl Rows {
    fn add(&mut self, name: impl Into<String>, epsilon: Option<f64>, paper: Option<f64>, value: f64) {
        let name = name.into();
        match self.0.iter_mut().find(|row| row.name == name) {
            Some(row) => row.values.push(value),
            None => self.0.push(Row { name, epsilon, paper, values: vec![value] }),
        }
    }

    fn mean(&self, name: &str) -> f64 {
        self.0.iter().find(|row| row.name == name).map_or(f64::NAN, |row| Spread::of(&row.values).mean)
    }

    /// How often the first is smaller than the second.
    fn better(&self, one: &str, other: &str) -> (usize, usize) {
        let values = |name: &str| self.0.iter().find(|row| row.name == name).map(|row| row.values.as_slice());
        let (one, other) = (values(one).unwrap_or(&[]), values(other).unwrap_or(&[]));
        (one.iter().zip(other).filter(|(one, other)| one < other).count(), one.len())
    }

    fn show(&self, item: &mut Item, prefix: &str) {
        let dash = || "–".to_string();
        let cells = |row: &Row| {
            let spread = Spread::of(&row.values);
            vec![
                row.name.clone(),
                row.epsilon.map_or_else(dash, |epsilon| epsilon.to_string()),
                row.paper.map_or_else(dash, |paper| paper.to_string()),
                format!("{:.4} ± {:.4}", spread.mean, spread.deviation),
                format!("{:.4} to {:.4}", spread.least, spread.most),
            ]
        };
        item.table(&["models", "epsilon", "paper", "RMSE", "range"], self.0.iter().map(cells).collect());
        self.0
            .iter()
            .for_each(|row| item.number(format!("{prefix}: {}", row.name), Spread::of(&row.values).mean));
    }
}

pub(super) fn table(mut item: Item, desk: &Desk) -> Result<Item> {
    let folder = desk.options.data.as_deref();
    let Some(folder) = folder.filter(|folder| movielens::is_in(folder)) else {
        return Ok(
            item.skip("MovieLens-100K is not part of this project; give a folder that has it with --data")
        );
    };
    let films = films::rows(folder, desk)?;
    item.say(
        "Per-user test RMSE on MovieLens-100K, the mean over users, over splits of everybody's ratings (four fifths to train on). Features by alternating least \
         squares with weighted ridges (p = 20, 0.05) and similarities (union of the 10 nearest by cosine) are made from everybody's training ratings, and must \
         be taken for public. The paper's squared loss is twice ours: its mu, lambda and C are 2 mu, a ridge of lambda and C/2 here, and are printed in its units.",
    );
    films.show(&mut item, "films");
    item.say(films::NOTES);
    let generated = generated::rows(desk)?;
    item.say(generated::NOTES);
    generated.show(&mut item, "generated");
    item.csv("data,models,run,rmse", csv("films", &films).chain(csv("generated", &generated)));
    Ok(judge(item, &films, &generated))
}

fn csv<'a>(data: &'a str, rows: &'a Rows) -> impl Iterator<Item = String> + 'a {
    let lines = move |row: &'a Row| {
        row.values
            .iter()
            .enumerate()
            .map(move |(run, value)| format!("{data},\"{}\",{run},{value}", row.name))
    };
    rows.0.iter().flat_map(lines)
}

fn judge(item: Item, films: &Rows, generated: &Rows) -> Item {
    let [joint, tuned, own] = [films::JOINT, films::TUNED, films::OWN].map(|name| films.mean(name));
    let printed = films.mean(films::PRINTED);
    let ((wins, of), (quiet, _)) =
        (films.better(films::OWN, films::TUNED), films.better(films::OWN, films::ALONE));
    let (others, draws) = generated.better(generated::OWN, generated::TUNED);
    item.judge(Verdict {
        reproduced: (0.940..=0.955).contains(&joint) && (printed - 0.9527).abs() <= 0.02,
        holds: wins == of && quiet == of,
        claim: "private collaboration (0.9527 at epsilon 1, 0.9855 at 0.1) is almost as good as collaboration without privacy (0.9502) and far better than local \
                models (1.2834)"
            .into(),
        criterion: "reproduced if the joint optimum at mu = 0.04 is between 0.940 and 0.955 and the private row at epsilon 1, run as printed, within 0.02 of the \
                    paper's; holds if at epsilon 1, honestly hidden, collaboration is better on every split than both local models that were tuned and the \
                    same block solved without a message"
            .into(),
        ours: format!(
            "joint optimum {joint:.4}; as printed at epsilon 1 {printed:.4}, from a constant start; local {:.4} as printed, {tuned:.4} tuned, {:.4} by one's own mean",
            films.mean(films::LOCAL),
            films.mean(films::CONSTANT),
        ),
        exact: format!(
            "at epsilon 1 honest models are at {:.4} as released and at {own:.4} after everybody has solved her own block at home, better than tuned local ones on \
             {wins} of {of} splits, and than the same block without a message ({:.4}) on {quiet}: the features already carry the collaboration; on generated ratings, with few rows and features of items alone, they are better at epsilon 4 \
             in {others} of {draws} draws ({:.4} against {:.4})",
            films.mean(films::RELEASED),
            films.mean(films::ALONE),
            generated.mean(generated::OWN),
            generated.mean(generated::TUNED),
        ),
    })
}
