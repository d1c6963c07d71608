//! The page of a rumour in a real browser. Skipped, with a message, where there is no Chromium.

use crate::prepare;

use std::time::Duration;

use serde_json::json;
use sottovoce_report::RumorReport;
use sottovoce_report::rumor::{Dot, Frame, Moment, State, Suspicion, Trade};
use sottovoce_testing::chromium::Browser;

const PEERS: usize = 25;

/// A rumour that goes through the peers in their order, four at a time; the last two told are active.
fn report() -> RumorReport {
    let moment = |round: usize| {
        let informed = (4 * round + 1).min(PEERS);
        Moment { round: 10 * round as u64, informed, active: informed.min(2) }
    };
    let state = |peer: usize, moment: Moment| match peer {
        p if p >= moment.informed => State::Unaware,
        p if p + moment.active >= moment.informed => State::Active,
        _ => State::Informed,
    };
    let frame =
        |moment: Moment| Frame { moment, states: (0..PEERS).map(|peer| state(peer, moment)).collect() };
    let course: Vec<Moment> = (0..=6).map(moment).collect();
    let trade = |muting: f64| Trade {
        muting,
        rounds: 60.0 / (muting + 0.1),
        delta: 0.2 + 0.8 * muting,
        printed: 1.0,
    };
    RumorReport {
        title: "Rumour".into(),
        peers: PEERS,
        dots: (0..PEERS).map(|peer| Dot { peer, curious: peer == 7 }).collect(),
        source: 0,
        guess: Some(3),
        frames: course.iter().copied().map(frame).collect(),
        course,
        trade: [0.0, 0.5, 1.0].map(trade).to_vec(),
        chosen: trade(0.5),
        attack: "<img src=x onerror=alert(1)>".into(),
        suspicions: vec![Suspicion {
            suspects: 2,
            found: 0.6,
            low: 0.5,
            high: 0.7,
            bound: 0.8,
            uncertainty: None,
        }],
        ..RumorReport::default()
    }
}

fn attribute(browser: &mut Browser, dot: usize, name: &str) -> String {
    let expression = format!("document.querySelectorAll('#crowd .dots .dot')[{dot}].getAttribute('{name}')");
    browser.value(&expression).as_str().unwrap().into()
}

fn shown(browser: &mut Browser, id: &str) -> String {
    browser.value(&format!("document.getElementById('{id}').textContent")).as_str().unwrap().into()
}

#[test]
#[ignore = "second tier: a browser"]
fn readers_can_play_and_move_through_the_course() {
    let folder = tempfile::tempdir().unwrap();
    let Some((program, page)) = prepare(folder.path(), &report().files().unwrap()) else { return };
    let mut browser = Browser::start(&program);
    browser.open(&page);
    // Half of 25 know after round 30.
    assert_eq!((shown(&mut browser, "round"), shown(&mut browser, "informed")), ("30".into(), "13".into()));
    moving_the_slider(&mut browser);
    playing(&mut browser);
    pointing(&mut browser);
    browser.switches_the_theme();
    browser.fits_a_telephone();
    assert_eq!(browser.value("document.images.length"), 0);
    assert_eq!(browser.errors, Vec::<String>::new());
}

fn moving_the_slider(browser: &mut Browser) {
    let line = "document.querySelector('#course .now').getAttribute('d')";
    let before = browser.value(line);
    let grown = attribute(browser, 24, "r");
    browser.value("document.getElementById('frame').focus()");
    browser.press("End");
    assert_eq!(shown(browser, "informed"), "25");
    assert_eq!(attribute(browser, 24, "fill"), "var(--series-1)");
    assert_eq!(attribute(browser, 0, "fill"), "var(--series-0)");
    assert_ne!(attribute(browser, 24, "r"), grown);
    assert_ne!(browser.value(line), before);
    assert_eq!(browser.value("location.hash"), "#frame=6");
    let words = browser.value("document.getElementById('frame').getAttribute('aria-valuetext')");
    assert_eq!(words, "round 60: 25 know, 2 are telling");
    browser.press("Home");
    assert_eq!((shown(browser, "round"), shown(browser, "frame-value")), ("0".into(), "0".into()));
    assert_eq!(attribute(browser, 24, "fill"), "var(--edge)");
}

fn playing(browser: &mut Browser) {
    browser.click("#play");
    assert_eq!(shown(browser, "play"), "Pause");
    let end = (0..100).find(|_| {
        std::thread::sleep(Duration::from_millis(100));
        shown(browser, "play") == "Play"
    });
    assert!(end.is_some(), "it plays to its end and stops");
    assert_eq!(shown(browser, "round"), "60");
}

fn pointing(browser: &mut Browser) {
    browser.point("#crowd .dots .dot:nth-child(8)");
    let tip = shown(browser, "tip");
    assert!(tip.contains("peer 7, curious") && tip.contains("informed, silent"), "{tip}");
}

#[test]
#[ignore = "second tier: a browser"]
fn the_address_decides_what_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let Some((program, page)) = prepare(folder.path(), &report().files().unwrap()) else { return };
    let mut browser = Browser::start(&program);
    browser.open(&format!("{page}#frame=2"));
    assert_eq!((shown(&mut browser, "round"), shown(&mut browser, "informed")), ("20".into(), "9".into()));
    for nonsense in ["frame=99", "frame=-1", "frame=x"] {
        browser.open("about:blank");
        browser.open(&format!("{page}#{nonsense}"));
        assert_eq!(shown(&mut browser, "round"), "30", "{nonsense}");
    }
    assert_eq!(browser.errors, Vec::<String>::new());
}

/// Without scripts the small multiples tell the course, and nothing is shown that does not work.
#[test]
#[ignore = "second tier: a browser"]
fn the_page_is_whole_without_scripts() {
    let folder = tempfile::tempdir().unwrap();
    let Some((program, page)) = prepare(folder.path(), &report().files().unwrap()) else { return };
    let mut browser = Browser::start(&program);
    browser.call("Emulation.setScriptExecutionDisabled", json!({"value": true}));
    browser.open(&page);
    let hidden = "getComputedStyle(document.getElementById('play').parentElement).display";
    assert_eq!(browser.value(hidden), "none");
    assert_eq!(browser.value("document.querySelectorAll('.multiples svg').length"), 7);
    let visible = "document.querySelector('.multiples svg').getBoundingClientRect().width > 50";
    assert_eq!(browser.value(visible), true);
}
