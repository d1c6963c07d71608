//! The page as a whole: what it shows comes from the data, and hostile data stay data.

use super::*;
use crate::structure::sound;
use crate::svg::tests::elements;

/// A rumour that informs ten more in every round.
fn report(peers: usize) -> RumorReport {
    let dots = (0..peers).map(|peer| Dot { peer, curious: peer % 10 == 3 }).collect();
    let moment = |round: usize| Moment {
        round: round as u64,
        informed: (10 * round + 1).min(peers),
        active: (10 * round + 1).min(peers) / 2 + 1,
    };
    let state = |peer: usize, moment: Moment| match peer {
        p if p < moment.active => State::Active,
        p if p < moment.informed => State::Informed,
        _ => State::Unaware,
    };
    let frame =
        |moment: Moment| Frame { moment, states: (0..peers).map(|peer| state(peer, moment)).collect() };
    let course: Vec<Moment> = (0..=peers.div_ceil(10)).map(moment).collect();
    let trade = |muting: f64| Trade {
        muting,
        rounds: 100.0 / (muting + 0.1),
        delta: 0.1 + 0.9 * muting * muting,
        printed: 0.1 + 0.9 * muting,
    };
    RumorReport {
        title: "Rumour & <friends>".into(),
        summary: vec![("Peers".into(), "<b>many</b>".into())],
        peers,
        dots,
        source: 0,
        guess: Some(1.min(peers - 1)),
        frames: course.iter().copied().map(frame).collect(),
        predicted: course.iter().map(|m| (m.informed as f64 / peers as f64, 0.5)).collect(),
        course,
        trade: [0.0, 0.25, 0.5, 0.75, 1.0].map(trade).to_vec(),
        chosen: trade(0.5),
        attack: "An <attack>.".into(),
        suspicions: vec![
            Suspicion { suspects: 2, found: 0.6, low: 0.58, high: 0.62, bound: 0.7, uncertainty: None },
            Suspicion { suspects: 90, found: 0.2, low: 0.1, high: 0.3, bound: 0.41, uncertainty: Some(0.55) },
        ],
        guarantees: vec![GuaranteeLine {
            statement: "<s>".into(),
            standing: "conditional".into(),
            ..Default::default()
        }],
        notes: vec!["<note>".into()],
        ..RumorReport::default()
    }
}

#[test]
fn hostile_text_stays_text() {
    let page = report(100).html();
    assert_eq!(page.matches("<script").count(), 2);
    for escaped in
        ["Rumour &amp; &lt;friends&gt;", "&lt;b&gt;many", "An &lt;attack&gt;", "&lt;s&gt;", "&lt;note&gt;"]
    {
        assert!(page.contains(escaped), "{escaped}");
    }
    assert!(page.contains("<span class=\"badge plain\">conditional</span>"));
}

#[test]
fn the_page_is_sound_whatever_the_reader_uses() {
    sound(&report(100).html());
}

#[test]
fn the_page_loads_nothing_and_is_the_same_every_time() {
    let page = report(100).html();
    assert_eq!(page, report(100).html());
    assert!(page.contains("default-src 'none'"));
    for forbidden in [" src=", "@import", "url(", "https://", "style=\"", "onclick"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}

/// Half of a hundred are informed after round 5; the numbers and the small multiples are there without scripts.
#[test]
fn the_course_is_there_without_scripts() {
    let page = report(100).html();
    assert!(page.contains("<dd id=\"round\">5</dd>") && page.contains("<dd id=\"informed\">51</dd>"));
    for caption in ["Round 0: 1 know", "Round 10: 100 know"] {
        assert!(page.contains(caption), "{caption}");
    }
    assert_eq!(
        page.matches("id=\"panel-").count() / 3,
        8,
        "eight panels, each with a title and a description"
    );
    assert!(page.contains("0.550") && page.contains("Privacy against speed"));
}

#[test]
fn more_peers_than_dots_are_said_to_be_more() {
    let all = report(100);
    let some = RumorReport {
        dots: all.dots[..40].to_vec(),
        frames: (all.frames.iter())
            .map(|frame| Frame { states: frame.states[..40].to_vec(), ..frame.clone() })
            .collect(),
        ..all.clone()
    };
    assert!(some.html().contains("one of 40 peers out of 100") && all.html().contains("Each dot is a peer;"));
}

#[test]
fn pictures_are_valid_xml() {
    let report = report(100);
    for picture in [
        report.crowd(),
        report.spread(),
        report.panel(&report.frames[3]),
        report.course_chart(),
        report.trade_chart(),
        report.attack_chart(),
    ] {
        assert!(elements(&picture.svg()) > 5 && elements(&picture.embedded("x")) > 5);
    }
}

#[test]
fn the_smallest_rumour_is_a_report_too() {
    let mut smallest = report(2);
    (smallest.guess, smallest.suspicions, smallest.trade) = (None, Vec::new(), Vec::new());
    smallest.check().unwrap();
    let page = smallest.html();
    assert!(
        page.contains("id=\"crowd\"") && !page.contains("id=\"attack\"") && !page.contains("id=\"privacy\"")
    );
}

#[test]
fn what_does_not_fit_is_named_and_not_drawn() {
    type Spoil = fn(&mut RumorReport);
    let spoils: [(&str, Spoil); 8] = [
        ("dots", |r| r.dots.clear()),
        ("dots", |r| r.peers = 5),
        ("source", |r| r.source = 100),
        ("guess", |r| r.guess = Some(100)),
        ("frames", |r| r.frames.clear()),
        ("frames", |r| r.frames[1].states.truncate(3)),
        ("course", |r| r.course.swap(0, 1)),
        ("course", |r| r.course[3].active = 99),
    ];
    for (field, spoil) in spoils {
        let mut report = report(100);
        spoil(&mut report);
        assert!(report.check().unwrap_err().to_string().contains(field), "{field}");
        assert!(report.html().contains("cannot be shown"));
    }
    RumorReport::default().html();
}

#[test]
fn the_files_are_those_that_a_folder_is_checked_for() {
    let files = report(100).files().unwrap();
    assert_eq!(
        files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        files::FILES.map(|(name, _)| name)
    );
    let csv = String::from_utf8_lossy(&files.iter().find(|file| file.0 == "course.csv").unwrap().1);
    assert_eq!(csv.lines().count(), 1 + 11);
    assert!(csv.ends_with("10,100,51,1,0.5\n"), "{csv}");
}
