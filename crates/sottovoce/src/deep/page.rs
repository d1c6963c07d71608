//! The report: how it went, for whom, and what it cost.

use sottovoce_report::{
    Axis, Chart, ColourBar, Curve, GraphPicture, Picture, Section, Series, Table, layout,
};

use super::{Agent, Found, Lost, Point};
use crate::spine::{Drawn, RunPage};
use crate::terms::short_up;

/// Files of a report, besides pictures.
pub(super) const FILES: [&str; 14] = [
    "report.html",
    "agents.csv",
    "curve.csv",
    "model.safetensors",
    "accuracy.svg",
    "accuracy.png",
    "loss.svg",
    "loss.png",
    "distance.svg",
    "distance.png",
    "epsilon.svg",
    "epsilon.png",
    "graph.svg",
    "graph.png",
];
/// Agents of a graph that is drawn.
const MOST_DRAWN: usize = 1000;
/// The section with the pictures.
const COURSE: &str = "How it went";
/// Agents listed on the page.
const LISTED: usize = 200;

/// The page of a run.
pub(super) fn page(found: &Found) -> RunPage {
    let row = |agent: &Agent| {
        let Agent { lost: Lost { rows, draws, noise_multiplier, .. }, accuracy, .. } = agent;
        vec![
            found.names.of(agent.lost.agent),
            rows.to_string(),
            draws.to_string(),
            format!("{noise_multiplier:.3}"),
            loss(agent.lost.epsilon),
            loss(agent.lost.renyi_epsilon),
            format!("{accuracy:.4}"),
        ]
    };
    let heads = ["Agent", "Images", "Draws", "Noise", "Epsilon", "Epsilon by Rényi", "Accuracy"];
    let table = Table::new(&heads, found.agents.iter().take(LISTED).map(row).collect());
    let cut = format!("The first {LISTED}; all are in agents.csv.");
    let section = |title: &str| Section { title: title.into(), ..Section::default() };
    let sections = vec![
        section(COURSE),
        Section {
            text: (found.agents.len() > LISTED).then_some(cut).into_iter().collect(),
            tables: vec![table],
            ..section("Agents")
        },
    ];
    RunPage {
        title: "A net learned together".into(),
        headline: found.headline.clone(),
        guarantees: found.guarantees.clone(),
        nothing: "Nothing is promised: gradients left without noise.",
        sections,
        pictures: (COURSE, pictures(found)),
        setup: found.setup.clone(),
        notes: found.notes.clone(),
        data: vec![
            ("agents.csv", "every agent", agents_csv(found).into_bytes()),
            ("curve.csv", "every point of the curves", curve_csv(found).into_bytes()),
            ("model.safetensors", "the model that is kept", found.model.clone()),
        ],
        graph_hash: None,
    }
}

fn chart(found: &Found, title: &str, y: Axis, of: impl Fn(&Point) -> Option<f64>) -> Chart {
    let points = found.curve.iter().filter_map(|point| Some((point.round as f64, of(point)?))).collect();
    let series = Series { name: String::new(), points, band: None };
    Chart::new(title, Axis::whole("round"), y, vec![Curve::line(series)])
}

fn pictures(found: &Found) -> Vec<Drawn> {
    let mut accuracy =
        chart(found, "Accuracy", Axis::linear("accuracy on test images"), |point| Some(point.accuracy));
    accuracy.curves[0].series.band =
        Some(found.curve.iter().map(|point| (point.least, point.most)).collect());
    let loss = chart(found, "Loss", Axis::linear("loss on own images"), |point| Some(point.train_loss));
    let distance = chart(found, "Distance", Axis::linear("distance from the mean model"), |point| {
        Some(point.disagreement)
    });
    let epsilon =
        chart(found, "Epsilon", Axis::linear("epsilon of an image").losses(), |point| point.epsilon);
    let mut all = vec![
        (
            "accuracy",
            accuracy.picture(),
            "The mean over agents, and the range from the least to the most.".to_owned(),
        ),
        (
            "loss",
            loss.picture(),
            "The mean over agents of their models' loss on their own images; not private.".to_owned(),
        ),
    ];
    if found.agents.len() > 1 {
        let caption = "How far models are from their mean: the root of the mean squared distance.".to_owned();
        all.push(("distance", distance.picture(), caption));
    }
    if !found.guarantees.is_empty() {
        all.push((
            "epsilon",
            epsilon.picture(),
            "What one image of anyone has lost by then, at most.".to_owned(),
        ));
    }
    if found.edges > 0 && found.agents.len() <= MOST_DRAWN {
        all.push((
            "graph",
            graph(found),
            "Who hears whom; the colour is the accuracy of each agent's model.".to_owned(),
        ));
    }
    all
}

fn graph(found: &Found) -> Picture {
    let edges: Vec<(u32, u32)> = found.pairs.iter().map(|&(u, v)| (u as u32, v as u32)).collect();
    let label = |agent: &Agent| {
        let name = found.names.of(agent.lost.agent);
        format!(
            "agent {name}: {} images, epsilon {}, accuracy {:.3}",
            agent.lost.rows,
            loss(agent.lost.epsilon),
            agent.accuracy
        )
    };
    GraphPicture {
        title: "Who hears whom".into(),
        description: format!("{} agents and {} pairs", found.agents.len(), edges.len()),
        positions: layout(found.agents.len(), &edges, found.seed),
        edges,
        values: found.agents.iter().map(|agent| agent.accuracy).collect(),
        labels: found.agents.iter().map(label).collect(),
        observer: None,
        bar: ColourBar { title: "accuracy".into(), ticks: vec![(0.0, "0".into()), (1.0, "1".into())] },
        size: (640.0, 480.0),
    }
    .picture()
}

fn loss(epsilon: Option<f64>) -> String {
    epsilon.map_or_else(|| "without bound".to_owned(), short_up)
}

fn number(value: Option<f64>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

fn agents_csv(found: &Found) -> String {
    let mut out =
        String::from("agent,rows,rate,noise_multiplier,draws,epsilon,renyi_epsilon,accuracy,loss\n");
    for one in &found.agents {
        let Agent { lost: Lost { agent, rows, rate, noise_multiplier, draws, .. }, accuracy, loss } = one;
        let (epsilon, renyi) = (number(one.lost.epsilon), number(one.lost.renyi_epsilon));
        out += &format!(
            "{agent},{rows},{rate},{noise_multiplier},{draws},{epsilon},{renyi},{accuracy},{loss}\n"
        );
    }
    out
}

fn curve_csv(found: &Found) -> String {
    let mut out = String::from("round,train_loss,accuracy,least,most,disagreement,epsilon\n");
    for point in &found.curve {
        let Point { round, train_loss, accuracy, least, most, disagreement, epsilon } = point;
        out +=
            &format!("{round},{train_loss},{accuracy},{least},{most},{disagreement},{}\n", number(*epsilon));
    }
    out
}
