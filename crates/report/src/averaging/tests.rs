//! The page as a whole: what it shows comes from the data, and hostile data stay data.

use super::*;
use crate::structure::sound;
use crate::svg::tests::elements;
use crate::text::up;

/// A ring with hostile names.
fn ring(peers: usize) -> AveragingReport {
    let hops = |a: usize, b: usize| a.abs_diff(b).min(peers - a.abs_diff(b)) as u16;
    let matrix = |f: &dyn Fn(u16) -> f64| -> Vec<Vec<f64>> {
        (0..peers).map(|a| (0..peers).map(|b| if a == b { 0.0 } else { f(hops(a, b)) }).collect()).collect()
    };
    let cell = |strength: f64| Cell {
        losses: matrix(&|d| strength / f64::from(d).powi(2))
            .iter()
            .map(|r| r.iter().map(|v| *v as f32).collect())
            .collect(),
        error: 0.1 / strength,
        mean: 0.123_4 * strength,
        worst_far: 0.234_5 * strength,
        ..Cell::default()
    };
    AveragingReport {
        title: "Ring & <friends>".into(),
        summary: vec![("Peers".into(), "<b>many</b>".into())],
        positions: (0..peers).map(|i| (i as f64).sin_cos()).collect(),
        edges: (0..peers as u32).map(|i| (i, (i + 1) % peers as u32)).collect(),
        labels: Some(
            (0..peers).map(|i| format!("</script><script>alert({i})</script>\" onfocus='x'")).collect(),
        ),
        observer: 2,
        relay_noises: vec![0.5, 1.0],
        steps: vec![10, 20, 40],
        cells: (1..=6).map(|i| cell(f64::from(i) / 6.0)).collect(),
        chosen: (1, 1),
        distances: (0..peers).map(|a| (0..peers).map(|b| hops(a, b)).collect()).collect(),
        central: 0.02,
        errors: vec![Series { name: "gossip".into(), points: vec![(1.0, 0.5), (2.0, 0.1)], band: None }],
        attack: Attack {
            text: "An <attack>.".into(),
            rows: vec![AttackRow { peer: 1, distance: 1, loss: 0.5, exposed: true, ..AttackRow::default() }],
            fell: false,
        },
        guarantees: vec![GuaranteeLine {
            statement: "<s>".into(),
            standing: "Proven".into(),
            ..Default::default()
        }],
        notes: vec!["<note>".into()],
        ..AveragingReport::default()
    }
}

#[test]
fn hostile_names_stay_text() {
    let page = ring(8).html();
    // The data block is inert text, in which a quote is escaped by a backslash.
    let page = page.replace("\\\" onfocus", "");
    assert!(!page.contains("<script>alert") && !page.contains("\" onfocus") && !page.contains("<b>many"));
    assert_eq!(page.matches("<script").count(), 2);
    for escaped in
        ["Ring &amp; &lt;friends&gt;", "&lt;b&gt;many", "An &lt;attack&gt;", "&lt;s&gt;", "&lt;note&gt;"]
    {
        assert!(page.contains(escaped), "{escaped}");
    }
}

#[test]
fn the_page_is_sound_whatever_the_reader_uses() {
    sound(&ring(8).html());
    sound(&ring(20).html());
}

#[test]
fn headline_and_guarantees_follow_the_sliders() {
    let mut report = ring(8);
    report.headline = "Run <1>".into();
    let own: Vec<Promised> = report.guarantees.iter().map(Promised::from).collect();
    for (i, cell) in report.cells.iter_mut().enumerate() {
        (cell.headline, cell.promised) = (format!("cell {i}"), own.clone());
    }
    let page = report.html();
    assert!(page.contains("Run &lt;1&gt;</p>") && page.contains("\"headline\":\"cell 5\""));
    assert!(page.find("id=\"guaranteed\"").unwrap() < page.find("id=\"graph\"").unwrap());
    report.cells[0].promised.pop();
    assert!(report.check().unwrap_err().to_string().contains("promised"));
    report.cells[0].promised = own.clone();
    report.cells[4].promised[0].loss = "another".into();
    assert!(
        report.check().unwrap_err().to_string().contains("promised"),
        "the run says one thing, its cell another"
    );
}

#[test]
fn every_file_beside_the_page_is_linked() {
    let page = ring(8).html();
    for (name, _) in &files::FILES[1..] {
        assert!(page.contains(&format!("<a href=\"{name}\">")), "{name}");
    }
}

#[test]
fn long_lists_of_peers_are_folded() {
    let mut report = ring(40);
    assert!(report.html().contains("<details open>"));
    report.attack.rows = (1..40).map(|peer| AttackRow { peer, ..AttackRow::default() }).collect();
    assert!(report.html().contains("<details><summary>Each of the 39 peers"));
}

#[test]
fn the_page_loads_nothing_and_is_the_same_every_time() {
    let page = ring(8).html();
    assert_eq!(page, ring(8).html());
    assert!(page.contains("default-src 'none'"));
    for forbidden in [" src=", "@import", "url(", "https://", "style=\"", "onclick"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

#[test]
fn shown_numbers_are_the_chosen_cells() {
    let report = ring(8);
    let (cell, page) = (report.chosen_cell(), report.html());
    assert!(page.contains(&format!("<dd id=\"mean\">{}</dd>", up(cell.mean, 3))));
    assert!(page.contains(&format!("<dd id=\"worst\">{}</dd>", up(cell.worst_far, 3))));
}

#[test]
fn pictures_are_valid_xml() {
    let report = ring(8);
    let pictures = [
        report.graph(),
        report.loss_by_distance(),
        report.error_by_step(),
        report.trade(),
        report.attack_chart(),
    ];
    for picture in pictures {
        assert!(elements(&picture.svg()) > 10 && elements(&picture.embedded("x")) > 10);
    }
}

#[test]
fn a_single_peer_is_a_report_too() {
    let mut report = ring(1);
    (report.observer, report.attack.rows, report.edges) = (0, Vec::new(), Vec::new());
    report.check().unwrap();
    assert!(report.html().contains("<svg"));
}

#[test]
fn what_does_not_fit_is_named_and_not_drawn() {
    type Spoil = fn(&mut AveragingReport);
    let spoils: [(&str, Spoil); 8] = [
        ("observer", |r| r.observer = 99),
        ("labels", |r| r.labels = Some(Vec::new())),
        ("edges", |r| r.edges.push((0, 99))),
        ("cells", |r| r.cells.truncate(5)),
        ("cells", |r| r.cells[3].losses[1].clear()),
        ("chosen", |r| r.chosen = (2, 0)),
        ("distances", |r| r.distances.clear()),
        ("attack.rows", |r| r.attack.rows[0].peer = 8),
    ];
    for (field, spoil) in spoils {
        let mut report = ring(8);
        spoil(&mut report);
        assert!(report.check().unwrap_err().to_string().contains(field));
        assert!(report.html().contains("cannot be shown"));
    }
    AveragingReport::default().html();
}

#[test]
fn the_files_are_those_that_a_folder_is_checked_for() {
    let files = ring(8).files().unwrap();
    assert_eq!(
        files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        AveragingReport::file_names()
    );
    let content = |name: &str| &files.iter().find(|file| file.0 == name).unwrap().1;
    assert_eq!(String::from_utf8_lossy(content("losses.csv")).lines().count(), 1 + 8 * 7);
    let json: serde_json::Value = serde_json::from_slice(content("report.json")).unwrap();
    assert_eq!(json["cells"][5]["losses"][0].as_array().unwrap().len(), 8);
}
