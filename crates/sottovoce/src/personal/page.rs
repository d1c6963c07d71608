//! The report: what came of it for whom, and what it cost.

use sottovoce_report::{
    Axis, Chart, ColourBar, Curve, Figure, GraphPicture, Page, Picture, Section, Series, Table, layout,
};

use super::{Found, Person};
use crate::Result;
use crate::spine::{Beside, Files};
use crate::terms::{risks, short_up};

/// Files of a report, besides pictures.
pub(super) const FILES: [&str; 2] = ["report.html", "agents.csv"];
/// Pictures, by the names of their files without endings.
const PICTURES: [&str; 2] = ["gain", "graph"];
/// Agents of a graph that is drawn.
const MOST_DRAWN: usize = 1000;
/// Agents listed on the page.
const LISTED: usize = 200;

/// The files of a report by name, the page first.
pub(super) fn files(found: &Found, beside: Beside) -> Result<Files> {
    let pictures: Vec<(&str, Picture, String)> = pictures(found);
    let page = page(found, &pictures, beside);
    let mut all =
        vec![(FILES[0].to_owned(), page.html().into_bytes()), (FILES[1].to_owned(), csv(found).into_bytes())];
    for (name, picture, _) in &pictures {
        all.extend(picture.files(name)?);
    }
    Ok(all)
}

/// By how much an agent gains over learning alone; more is better.
fn gain(found: &Found, person: &Person) -> Option<f64> {
    let (own, tuned) = (person.own?, person.tuned?);
    Some(if found.measure == "rmse" { tuned - own } else { own - tuned })
}

fn pictures(found: &Found) -> Vec<(&'static str, Picture, String)> {
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

fn page(found: &Found, pictures: &[(&str, Picture, String)], beside: Beside) -> Page {
    let columns = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
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
    let not_covered = found.guarantees.first().map_or(Vec::new(), |stated| stated.not_covered.clone());
    let mut files: Vec<String> = FILES[1..].iter().map(|name| (*name).to_owned()).collect();
    files.extend(pictures.iter().flat_map(|(name, _, _)| [format!("{name}.svg"), format!("{name}.png")]));
    files.extend(beside.files.into_iter().map(|(name, _)| name));
    let figures = pictures
        .iter()
        .map(|(name, picture, caption)| Figure { svg: picture.embedded(name), caption: caption.clone() });
    let table = |names: &[&str], rows: Vec<Vec<String>>| Table { columns: columns(names), rows };
    Page {
        title: "Personalised models".into(),
        intro: vec![found.headline.clone()],
        sections: vec![
            Section {
                title: "What is promised".into(),
                list: found.statements.iter().cloned().chain(risks(&found.guarantees)).collect(),
                text: vec![crate::SIMULATED.into()],
                ..Section::default()
            },
            Section { title: "Not covered".into(), list: not_covered, ..Section::default() },
            Section {
                title: "What came of it".into(),
                figures: figures.collect(),
                tables: vec![table(&["Models", measure, "Epsilon of a row"], ways.collect())],
                ..Section::default()
            },
            Section {
                title: "By how many rows an agent has".into(),
                tables: vec![table(
                    &["Rows", "Agents", "As released", "After the own solve", "Alone", "Alone, tuned"],
                    sizes.collect(),
                )],
                ..Section::default()
            },
            Section {
                title: "Agents".into(),
                text: (found.agents > LISTED)
                    .then(|| format!("The first {LISTED}; all are in agents.csv."))
                    .into_iter()
                    .collect(),
                tables: vec![table(
                    &["Agent", "Rows", "Updates", "Epsilon", "After the own solve", "Alone, tuned"],
                    people.collect(),
                )],
                ..Section::default()
            },
            Section {
                title: "How it was set up".into(),
                list: found
                    .setup
                    .iter()
                    .map(|(name, value)| format!("{name}: {value}"))
                    .chain(found.notes.clone())
                    .collect(),
                files,
                ..Section::default()
            },
        ],
        provenance: beside.provenance,
        ..Page::default()
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
