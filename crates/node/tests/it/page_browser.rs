//! The page of a peer in a real browser, while the peer runs: what is seen, by eye, by keyboard, by ear and on a telephone. Skipped, with a message, where there is no Chromium.

use std::time::{Duration, Instant};

use crate::common::sites::{Sites, Terms};
use serde_json::{Value, json};
use sottovoce_testing::chromium::{self, Browser};

/// Long enough to be looked at.
const GOSSIP: &str = "[experiment]\nexperiment = 'averaging'\nprotocol = { method = 'gossip', steps = 150 }\nnoise = { sigma = 2.0, relay-noise = 0.5 }";

/// A ring of five and a chord.
fn sites() -> Sites {
    let peers: Vec<(&str, Vec<f64>)> =
        ["ana", "ben", "eva", "ida", "<i>tom</i>"].into_iter().map(|name| (name, vec![0.5])).collect();
    let edges = "[['ana', 'ben'], ['ben', 'eva'], ['eva', 'ida'], ['ida', '<i>tom</i>'], ['<i>tom</i>', 'ana'], ['ben', 'ida']]";
    let grid = 1.0 / (1u64 << 20) as f64;
    Sites::new(&Terms { peers: &peers, edges, grid, tick: 0.1, more: "", experiment: GOSSIP, budget: 20.0 })
}

/// Looks until an expression holds in the page.
fn until(browser: &mut Browser, expression: &str) {
    let last = Instant::now() + Duration::from_secs(40);
    while browser.value(expression) != json!(true) {
        assert!(Instant::now() < last, "it never came to this: {expression}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn text(browser: &mut Browser, id: &str) -> String {
    browser.value(&format!("document.getElementById('{id}').textContent")).as_str().unwrap().to_owned()
}

#[test]
#[ignore = "second tier: a browser"]
fn a_run_is_watched_from_its_meeting_to_its_end() {
    let Some(program) = chromium::program() else { return };
    let sites = sites();
    let mut peers = vec![sites.start(0)];
    let mut browser = Browser::start(&program);
    while sites.get(0, "/healthz").is_none() {
        assert!(!peers[0].is_finished(), "{:?}", peers.remove(0).join().unwrap());
    }
    browser.open(&format!("http://{}/", sites.pages[0]));
    until(&mut browser, "document.body.dataset.fresh !== undefined");
    assert_eq!(text(&mut browser, "headline"), "mean waits for ben, <i>tom</i>; nothing was released.");
    assert_eq!(browser.value("document.querySelectorAll('#graph .link:not(.open)').length"), 2);
    assert_eq!(browser.value("document.querySelectorAll('#graph .name').length"), 5);
    assert!((1..=4).all(|peer| told(&mut browser, peer).contains("epsilon 0 of 20")));
    let before = fill(&mut browser, 1);
    by_keys(&mut browser);
    heard(&mut browser);

    peers.extend((1..5).map(|peer| sites.start(peer)));
    until(&mut browser, "document.getElementById('headline').textContent.includes('goes on: round')");
    until(&mut browser, "document.querySelectorAll('#graph .link.open').length === 2");
    until(&mut browser, "document.getElementById('rounds').value > 0.1");
    // Neighbours have a price, and a colour for it.
    let said = told(&mut browser, 1);
    assert!(said.starts_with("ben: epsilon ") && !said.contains("epsilon 0 of"), "{said}");
    assert_ne!(fill(&mut browser, 1), before);
    until(&mut browser, "document.getElementById('bar-0').value > 0");
    assert_eq!(browser.value("document.querySelector('#neighbours .badge.good').textContent"), "connected");
    numbers_do_not_fall_behind(&mut browser, &sites);
    browser.switches_the_theme();
    browser.fits_a_telephone();
    assert_eq!(browser.value("document.querySelectorAll('i').length"), 0, "a name is text");

    for peer in peers {
        peer.join().unwrap().unwrap();
    }
    assert_eq!(browser.errors, Vec::<String>::new());
    // Whoever still looks is told that nobody answers any more.
    until(&mut browser, "!document.getElementById('gone').hidden");
    assert!(text(&mut browser, "gone").contains("sottovoce node status"));
}

fn fill(browser: &mut Browser, peer: usize) -> Value {
    browser.value(&format!("document.querySelector('[data-node=\"{peer}\"]').getAttribute('fill')"))
}

fn told(browser: &mut Browser, peer: usize) -> String {
    let label = format!("document.querySelector('[data-node=\"{peer}\"]').getAttribute('aria-label')");
    browser.value(&label).as_str().unwrap().to_owned()
}

/// From dot to dot without a pointer, and what is said of each.
fn by_keys(browser: &mut Browser) {
    browser.value("document.querySelector('#graph .node[tabindex=\"0\"]').focus()");
    assert_eq!(text(browser, "told"), "ana: this peer");
    browser.press("ArrowRight");
    assert!(text(browser, "told").starts_with("ben: "));
    browser.press("End");
    assert!(text(browser, "told").starts_with("<i>tom</i>: "));
    assert_eq!(browser.value("document.querySelectorAll('#graph .node[tabindex=\"0\"]').length"), 1);
    browser.point("[data-node='2']");
    assert!(text(browser, "told").starts_with("eva: "));
    browser.value("document.activeElement.blur()");
}

/// What somebody hears who does not see: everything that is a picture, a bar, a button or a link has a name, and there is a heading for each part.
fn heard(browser: &mut Browser) {
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let mut headings = Vec::new();
    for node in tree["nodes"].as_array().unwrap().iter().filter(|node| node["ignored"] != json!(true)) {
        let (role, name) =
            (node["role"]["value"].as_str().unwrap_or(""), node["name"]["value"].as_str().unwrap_or(""));
        let named = [
            "image",
            "img",
            "progressbar",
            "button",
            "link",
            "columnheader",
            "heading",
            "RootWebArea",
            "graphics-document",
        ];
        assert!(!named.contains(&role) || !name.is_empty(), "a {role} without a name: {node}");
        if role == "heading" {
            headings.push(name.to_owned());
        }
    }
    assert_eq!(
        headings,
        ["ana", "The run", "What others may have overheard of ana", "Budgets", "Neighbours"]
    );
    for role in ["progressbar", "main", "table", "status"] {
        let there = tree["nodes"].as_array().unwrap().iter().any(|node| node["role"]["value"] == json!(role));
        assert!(there, "nothing is a {role}");
    }
}

/// What is shown is what the node says, within two seconds.
fn numbers_do_not_fall_behind(browser: &mut Browser, sites: &Sites) {
    let answer = sites.get(0, "/status.json").unwrap();
    let status: Value = serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap();
    let round = status["round"].as_u64().unwrap();
    until(browser, &format!("parseInt(document.getElementById('round').textContent) >= {round}"));
    let spent = status["budgets"][0]["epsilon"].as_f64().unwrap();
    let shown: f64 = text(browser, "spent-0").parse().unwrap();
    assert!(shown >= spent && shown < spent * 1.001, "{shown} {spent}: a loss is rounded up");
}
