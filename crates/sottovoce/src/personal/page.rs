//! The report: what came of it for whom, and what it cost.

use sottovoce_report::{
    Axis, Chart, ColourBar, Curve, GraphPicture, Picture, Section, Series, Table, layout,
};

use super::{Found, Person};
use crate::spine::{Drawn, RunPage};
use crate::terms::short_up;

/// Files of a report, besides pictures.
pub(super) const FILES: [&str; 6] =
    ["report.html", "agents.csv", "gain.svg", "gain.png", "graph.svg", "graph.png"];
/// Pictures, by the names of their files without endings.
const PICTURES: [&str; 2] = ["gain", "graph"];
/// Agents of a graph that is drawn.
const MOST_DRAWN: usize = 1000;
/// The section with the pictures.
const RESULTS: &str = "What came of it";
/// Agents listed on the page.
const LISTED: usize = 200;

/// By how much an agent gains over learning alone; more is better.
fn gain(found: &Found, person: &Person) -> Option<f64> {
    let (own, tuned) = (person.own?, person.tuned?);
    Some(if found.measure == "rmse" { tuned - own } else { own - tuned })
}

fn pictures(found: &Found) -> Vec<Drawn> {
    let points = |of: &dyn Fn(&Person) -> Option<f64>| {
        let mut points: Vec<(f64, f64)> =
            found.people.iter().filter_map(|person| Some((person.rows as f64, of(person)?))).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        points
    };
    let series = |name: &str, points| Curve::points(Series { name: name.into(), points, band: None });
    let curves = vec![series("an agent", points(&|person| gain(found, person)))];
    let unit = if found.measure == "rmse" { "RMSE saved" } else { "accuracy gained" };
    let chart = Chart::new(
        "Gain of each agent over learning alone",
        Axis::whole("her rows"),
        Axis::linear(unit),
        curves,
    );
    let caption = "Above 0 an agent is better off than alone, with a ridge chosen on her own rows. In the run that is shown, after her own solve.";
    let mut all = vec![(PICTURES[0], chart.picture(), caption.to_owned())];
    if found.agents <= MOST_DRAWN {
        all.push((
            PICTURES[1],
            graph(found),
            "Similar agents are connected; the colour says how many rows each has.".to_owned(),
        ));
    }
    all
}

fn graph(found: &Found) -> Picture {
    let edges: Vec<(u32, u32)> = found.similar.iter().map(|&(u, v, _)| (u as u32, v as u32)).collect();
    let most = found.people.iter().map(|person| person.rows).max().unwrap_or(1).max(1); // whole numbers
    let label = |person: &Person| {
        let epsilon = person
            .epsilon
            .map_or_else(|| "not hidden".to_owned(), |epsilon| format!("epsilon {}", short_up(epsilon)));
        format!("agent {}: {} rows, {epsilon}", person.called(), person.rows)
    };
    GraphPicture {
        title: "Who resembles whom".into(),
        description: format!("{} agents and {} pairs of similar ones", found.agents, edges.len()),
        positions: layout(found.agents, &edges, found.seed),
        edges,
        values: found.people.iter().map(|person| person.rows as f64 / most as f64).collect(),
        labels: found.people.iter().map(label).collect(),
        observer: None,
        bar: ColourBar { title: "rows".into(), ticks: vec![(0.0, "0".into()), (1.0, most.to_string())] },
        size: (640.0, 480.0),
    }
    .picture()
}

/// The page of a run.
pub(super) fn page(found: &Found) -> RunPage {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"));
    let loss = |epsilon: Option<f64>| {
        epsilon.map_or_else(
            || "not protected".to_owned(),
            |epsilon| if epsilon == 0.0 { "0".into() } else { short_up(epsilon) },
        )
    };
    let measure = if found.measure == "rmse" { "RMSE" } else { "Accuracy" };
    let ways = found.ways.iter().map(|way| {
        vec![
            way.about.clone(),
            format!("{:.4} ± {:.4}", way.worth.mean, way.worth.deviation),
            loss(way.epsilon),
        ]
    });
    let sizes = found.by_size.iter().map(|group| {
        let rows = format!("{} to {}", group.fewest, group.most);
        let [released, own, local, tuned] = [group.released, group.own, group.local, group.tuned].map(number);
        vec![rows, group.agents.to_string(), released, own, local, tuned]
    });
    let people = found.people.iter().take(LISTED).map(|person| {
        let Person { rows, updates, .. } = person;
        vec![
            person.called(),
            rows.to_string(),
            updates.to_string(),
            loss(person.epsilon),
            number(person.own),
            number(person.tuned),
        ]
    });
    let section =
        |title: &str, table| Section { title: title.into(), tables: vec![table], ..Section::default() };
    let sizes_table = Table::new(
        &["Rows", "Agents", "As released", "After the own solve", "Alone", "Alone, tuned"],
        sizes.collect(),
    );
    let people_table = Table::new(
        &["Agent", "Rows", "Updates", "Epsilon", "After the own solve", "Alone, tuned"],
        people.collect(),
    );
    let cut = format!("The first {LISTED}; all are in agents.csv.");
    RunPage {
        title: "Personalised models".into(),
        headline: found.headline.clone(),
        guarantees: found.guarantees.clone(),
        nothing: "Nothing is promised: something left without noise.",
        sections: vec![
            section(RESULTS, Table::new(&["Models", measure, "Epsilon of a row"], ways.collect())),
            section("By how many rows an agent has", sizes_table),
            Section {
                text: (found.agents > LISTED).then_some(cut).into_iter().collect(),
                ..section("Agents", people_table)
            },
        ],
        pictures: (RESULTS, pictures(found)),
        setup: found.setup.clone(),
        notes: found.notes.clone(),
        data: vec![("agents.csv", "every agent", csv(found).into_bytes())],
        graph_hash: None,
    }
}

fn csv(found: &Found) -> String {
    let named = found.people.iter().any(|person| person.name.is_some());
    let name = |text: &str| if named { format!(",{text}") } else { String::new() };
    let mut out = format!("agent,rows,updates,epsilon,released,own,local,tuned{}\n", name("name"));
    let number = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    for person in &found.people {
        let Person { agent, rows, updates, .. } = person;
        let [epsilon, released, own, local, tuned] =
            [person.epsilon, person.released, person.own, person.local, person.tuned].map(number);
        let called = name(&format!("\"{}\"", person.called().replace('"', "\"\"")));
        out += &format!("{agent},{rows},{updates},{epsilon},{released},{own},{local},{tuned}{called}\n");
    }
    out
}
