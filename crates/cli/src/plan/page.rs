//! The page of a plan: what was chosen, beside what, and what all pairs of peers lose under each protocol.

use sottovoce::plan::{Plan, Row};
use sottovoce::terms::{Stated, short_up};
use sottovoce_privacy::Gdp;
use sottovoce_report::{Axis, Chart, Curve, Figure, Page, Section, Series, Table};

/// Points of a curve.
const POINTS: usize = 200;

/// Curves in one picture.
const CURVES: usize = 8;

/// `relay gossip on ring(n=12)`.
pub(super) fn name(row: &Row) -> String {
    match &row.graph {
        Some(graph) => format!("{} on {graph}", row.protocol.name()),
        None => row.protocol.name().to_owned(),
    }
}

/// The page.
pub(super) fn of(plan: &Plan, headline: String) -> Page {
    let target = format!("{} peers, sensitivity {}; {}", plan.peers, plan.sensitivity, plan.target);
    Page {
        title: headline,
        intro: vec![target, plan.reason.clone()],
        guarantees: plan.guarantees.iter().map(Stated::line).collect(),
        sections: classes(plan).into_iter().chain([pairs(plan)]).collect(),
        ..Page::default()
    }
}

/// What each class of distance got.
fn classes(plan: &Plan) -> Option<Section> {
    let row = |class: &sottovoce::plan::Class| {
        vec![class.step.to_string(), class.pairs.to_string(), shown(class.allowed), shown(class.epsilon)]
    };
    let columns = ["Distance", "Pairs", "Epsilon allowed", "Epsilon of the worst pair"];
    let table = Table::new(&columns, plan.classes.iter().map(row).collect());
    (!plan.classes.is_empty()).then(|| Section {
        title: "By distance".into(),
        text: vec!["Distances are public: what they tell of a person is not protected.".into()],
        tables: vec![table],
        ..Section::default()
    })
}

/// The losses of all pairs: a curve and a line of quantiles for each row.
fn pairs(plan: &Plan) -> Section {
    let columns = ["Protocol", "Error", "Least", "10 %", "50 %", "90 %", "99 %", "All", "At local DP"];
    let line = |row: &Row| {
        let pairs = row.pairs.as_ref()?;
        let cells = pairs.epsilon.all().map(shown);
        let local = format!("{:.1} %", 100.0 * pairs.at_local);
        Some([name(row), format!("{:.1e}", row.error)].into_iter().chain(cells).chain([local]).collect())
    };
    let rows = plan.rows.iter().filter_map(line).collect();
    let below = plan.below.iter().map(|one| {
        format!("{} loses less than {} at every rank.", name(&plan.rows[one.row]), name(&plan.rows[one.than]))
    });
    Section {
        title: "What all pairs of peers lose".into(),
        text: vec![format!(
            "Each row has the noise that the target asks of it. Epsilons are at delta = {:e}; a column says what so many of the ordered pairs lose at most. Where one row \
             is below another at every rank (first-order stochastic dominance), a pair drawn at random is better off there whatever loss it fears.",
            plan.delta
        )],
        list: below.collect(),
        figures: vec![picture(plan)],
        tables: vec![Table::new(&columns, rows)],
        ..Section::default()
    }
}

/// Share of the pairs that lose at most so much, for the rows of least error.
fn picture(plan: &Plan) -> Figure {
    let epsilon = |mu_squared: f64| Some(Gdp::of_square(mu_squared).ok()?.epsilon(plan.delta).ok()?.upper);
    let curve = |row: &Row| {
        let points = row.pairs.as_ref()?.curve(POINTS);
        let points = points.into_iter().filter_map(|(mu_squared, share)| Some((epsilon(mu_squared)?, share)));
        Some(Curve::line(Series { name: name(row), points: points.collect(), band: None }))
    };
    let curves: Vec<Curve> =
        plan.rows.iter().filter(|row| !row.protocol.is_baseline()).filter_map(curve).take(CURVES).collect();
    let x = Axis::linear("epsilon of a pair");
    let y = Axis::linear("share of pairs that lose at most this").range(0.0, 1.0);
    let picture = Chart::new("Losses of all pairs of peers", x, y, curves).picture();
    let caption = format!(
        "Farther left is more private. The {CURVES} rows of least error at most; every curve ends at its worst pair."
    );
    Figure { svg: picture.embedded("pairs"), caption }
}

fn shown(epsilon: Option<f64>) -> String {
    epsilon.map_or_else(|| "-".to_owned(), short_up)
}
