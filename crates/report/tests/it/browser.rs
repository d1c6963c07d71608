//! The page in a real browser: what a reader sees and does. Skipped, with a message, where there is no Chromium.

use crate::prepare;

use std::process::Command;

use sottovoce_report::{Attack, AttackRow, AveragingReport, Cell, GuaranteeLine, Promised, Series, scale};
use sottovoce_testing::chromium::Browser;

const PEERS: usize = 12;

/// A ring whose losses depend on the cell and on both peers, so that a wrong index shows.
fn report() -> AveragingReport {
    let hops = |a: usize, b: usize| a.abs_diff(b).min(PEERS - a.abs_diff(b)) as u16;
    let loss = |cell: usize, a: usize, b: usize| match hops(a, b) {
        0 => 0.0,
        d => ((1 + cell) as f32 / 6.0) * 0.5f32.powi(i32::from(d)) * (1.0 - 0.02 * b as f32),
    };
    let cell = |c: usize| Cell {
        losses: (0..PEERS).map(|a| (0..PEERS).map(|b| loss(c, a, b)).collect()).collect(),
        error: 0.5 / (1 + c) as f64,
        mean: 0.01 * (1 + c) as f64,
        worst_far: 0.1 * (1 + c) as f64,
        headline: format!("Cell {c}"),
        promised: vec![Promised { loss: format!("epsilon {c}"), ..Promised::default() }],
    };
    let row = |peer: usize| AttackRow {
        peer,
        distance: hops(0, peer),
        loss: 0.9 / peer as f64,
        predicted: 0.5 + 0.04 * peer as f64,
        measured: 0.5 + 0.04 * peer as f64,
        low: 0.45,
        high: 0.95,
        exposed: peer == 3,
    };
    AveragingReport {
        title: "Ring".into(),
        positions: (0..PEERS).map(|i| (i as f64 * std::f64::consts::TAU / PEERS as f64).sin_cos()).collect(),
        edges: (0..PEERS as u32).map(|i| (i, (i + 1) % PEERS as u32)).collect(),
        labels: Some((0..PEERS).map(|i| format!("<img src=x onerror=alert({i})>")).collect()),
        relay_noises: vec![0.5, 1.0],
        steps: vec![10, 20, 40],
        cells: (0..6).map(cell).collect(),
        chosen: (0, 1),
        distances: (0..PEERS).map(|a| (0..PEERS).map(|b| hops(a, b)).collect()).collect(),
        central: 0.05,
        errors: vec![Series { name: "run".into(), points: vec![(0.0, 1.0), (9.0, 0.1)], band: None }],
        headline: "Cell 1".into(),
        guarantees: vec![GuaranteeLine { loss: "epsilon 1".into(), ..GuaranteeLine::default() }],
        attack: Attack { text: "Guesses.".into(), rows: (1..PEERS).map(row).collect(), fell: false },
        ..AveragingReport::default()
    }
}

#[test]
#[ignore = "second tier: a browser"]
fn the_address_decides_what_is_shown() {
    let folder = tempfile::tempdir().unwrap();
    let Some((program, page)) = prepare(folder.path(), &report().files().unwrap()) else { return };
    let out = Command::new(program)
        .args(
            "--headless --no-sandbox --disable-gpu --virtual-time-budget=5000 --enable-logging=stderr --v=0"
                .split(' '),
        )
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .args(["--dump-dom", &format!("{page}#observer=5&relay=1&steps=2")])
        .output()
        .unwrap();
    let (dom, log) = (String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr));
    assert!(!log.contains("CONSOLE"), "{log}");
    for shown in
        ["data-observer=\"5\"", "data-relay=\"1\"", "data-steps=\"2\"", "<dd id=\"mean\">0.0600</dd>"]
    {
        assert!(dom.contains(shown), "{shown}");
    }
    assert!(!dom.contains("<img"));
}

#[test]
#[ignore = "second tier: a browser"]
fn readers_can_point_click_type_and_sort() {
    let folder = tempfile::tempdir().unwrap();
    let Some((program, page)) = prepare(folder.path(), &report().files().unwrap()) else { return };
    let mut browser = Browser::start(&program);
    browser.open(&page);
    assert_eq!(browser.value("document.body.dataset.observer"), "0");
    choosing_an_observer(&mut browser);
    reading_a_curve(&mut browser);
    moving_the_sliders(&mut browser);
    sorting_and_filtering(&mut browser);
    browser.switches_the_theme();
    browser.fits_a_telephone();
    assert_eq!(browser.value("document.images.length + document.querySelectorAll('#main script').length"), 0);
    assert_eq!(browser.errors, Vec::<String>::new());
}

fn choosing_an_observer(browser: &mut Browser) {
    let before = browser.value("document.querySelector('#distance .curve-0 .line').getAttribute('d')");
    browser.click("[data-node='7']");
    assert_eq!(browser.value("document.body.dataset.observer"), "7");
    assert_eq!(browser.value("location.hash"), "#observer=7&relay=0&steps=1");
    let label = browser.value("document.querySelector('[data-node=\"8\"]').getAttribute('aria-label')");
    // The loss is 2/6 * 1/2 * 0.84 = 0.14, and no less may be shown.
    let shown: f64 = label.as_str().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    assert!((0.14..0.15).contains(&shown), "{label}");
    let after = browser.value("document.querySelector('#distance .curve-0 .line').getAttribute('d')");
    assert_ne!(before, after);
    browser.point("[data-node='8']");
    let tip = browser.value("document.getElementById('tip').textContent");
    assert!(tip.as_str().unwrap().contains("1 hop · loss 0.14"), "{tip}");
    browser.value("document.querySelector('[data-node=\"3\"]').focus()");
    browser.press("Enter");
    assert_eq!(browser.value("document.body.dataset.observer"), "3");
    browser.press("ArrowLeft");
    assert_ne!(browser.value("document.activeElement.dataset.node"), "3");
}

/// A line says what it shows: beside the pointer, and by arrow keys.
fn reading_a_curve(browser: &mut Browser) {
    let tip = "document.getElementById('tip').textContent";
    browser.value(
        "(() => { const svg = document.getElementById('errors'); svg.scrollIntoView({block: 'center'}); \
         const line = svg.querySelector('.line'), at = line.getPointAtLength(line.getTotalLength()); \
         const to = new DOMPoint(at.x, at.y).matrixTransform(svg.getScreenCTM()); \
         svg.dispatchEvent(new PointerEvent('pointermove', {clientX: to.x, clientY: to.y, bubbles: true})); })()",
    );
    assert_eq!(browser.value(tip), "runstep: 9 · mean squared error: 0.1");
    browser.value("document.querySelector('#errors .curve').focus()");
    browser.press("ArrowLeft");
    assert_eq!(browser.value(tip), "runstep: 0 · mean squared error: 1");
    browser.press("End");
    let said = "document.activeElement.getAttribute('aria-valuetext')";
    assert_eq!(browser.value(said), "step: 9, mean squared error: 0.1");
    browser.press("Escape");
    assert_eq!(browser.value("document.getElementById('tip').hidden"), true);
    // Curves that the script draws anew tell what it has drawn, in numbers that Rust has written.
    browser.value("document.querySelector('#distance .curve-0').focus()");
    let told = browser.value(tip);
    assert!(told.as_str().unwrap().contains("1 hop: 2 peers · loss 0."), "{told}");
    browser.value("document.activeElement.blur()");
}

fn moving_the_sliders(browser: &mut Browser) {
    browser.value("document.getElementById('relay').focus()");
    browser.press("End");
    assert_eq!(browser.value("document.getElementById('relay-value').textContent"), "1");
    assert_eq!(browser.value("document.getElementById('mean').textContent"), "0.0500");
    assert_eq!(browser.value("document.getElementById('error').textContent"), "0.100");
    assert_eq!(browser.value("document.getElementById('headline').textContent"), "Cell 4");
    assert_eq!(browser.value("document.querySelector('#guaranteed strong').textContent"), "epsilon 4");
    browser.click("#reset");
    assert_eq!(browser.value("document.getElementById('mean').textContent"), "0.0200");
    let fill = browser.value("document.querySelector('[data-node=\"1\"]').getAttribute('fill')");
    let colours: Vec<String> = (0..=1000).map(|i| scale(f64::from(i) / 1000.0).hex()).collect();
    assert!(colours.iter().any(|c| fill == c.as_str()), "{fill}");
}

fn sorting_and_filtering(browser: &mut Browser) {
    let first = "document.querySelector('#attacks tbody tr').cells[2].textContent";
    browser.click("#attacks th:nth-child(3) button");
    assert_eq!(browser.value(first), "0.0819");
    browser.click("#attacks th:nth-child(3) button");
    assert_eq!(browser.value(first), "0.900");
    browser.value("document.getElementById('filter').focus()");
    browser.call("Input.insertText", serde_json::json!({"text": "alert(3)"}));
    assert_eq!(browser.value("document.getElementById('matches').textContent"), "1 of 11");
    assert_eq!(browser.value("document.querySelectorAll('#attacks tbody tr:not([hidden])').length"), 1);
}
