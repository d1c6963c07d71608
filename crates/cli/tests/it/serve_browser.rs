//! A folder of runs in a real browser: what is seen, by eye, by keyboard, by ear and on a telephone, and while a run goes. Skipped, with a message, where there is no
//! Chromium.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};
use sottovoce_testing::chromium::{self, Browser};

/// The program while it serves.
struct Served(Child, String);

impl Served {
    fn new(folder: &Path) -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_sottovoce"))
            .arg("serve")
            .arg(folder)
            .args(["--port", "0", "--quiet"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut said = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut said).unwrap();
        Self(process, said.trim().to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        // One that has ended needs no ending.
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

fn run(folder: &Path, name: &str, arguments: &str) {
    let line = format!("run averaging --peers 8 --steps 3 --quiet {arguments} --out");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sottovoce"));
    assert!(command.args(line.split(' ')).arg(folder.join(name)).output().unwrap().status.success());
}

/// What a run says while it goes.
fn tell(folder: &Path, done: u64) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let word = json!({ "schema_version": 1, "process": 1, "begun": now, "written": now, "what": "walking", "done": done, "all": 8,
        "experiment": "experiment = 'averaging'\n[graph]\npeers = 8\n" });
    std::fs::create_dir_all(folder).unwrap();
    std::fs::write(folder.join("draft"), word.to_string()).unwrap();
    std::fs::rename(folder.join("draft"), folder.join(".sottovoce-progress.json")).unwrap();
}

/// Looks until an expression holds in the page.
fn until(browser: &mut Browser, expression: &str) {
    let last = Instant::now() + Duration::from_secs(40);
    while browser.value(expression) != json!(true) {
        assert!(Instant::now() < last, "it never came to this: {expression}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

const FOLDERS: &str = "[...document.querySelectorAll('#runs tbody tr:not([hidden]) td:nth-child(2)')].map((cell) => cell.textContent)";

#[test]
#[ignore = "second tier: a browser"]
fn runs_are_listed_sorted_chosen_and_compared() {
    let Some(program) = chromium::program() else { return };
    let place = tempfile::tempdir().unwrap();
    let folder = place.path();
    run(folder, "b-loud", "--epsilon 8");
    run(folder, "a-quiet", "--epsilon 1");
    std::fs::create_dir(folder.join("c-broken")).unwrap();
    std::fs::write(folder.join("c-broken/result.json"), "{\"headline\": \"<img src=x onerror=alert(1)>")
        .unwrap();
    // A report that somebody has changed.
    let report = folder.join("a-quiet/report.html");
    let text = std::fs::read_to_string(&report).unwrap();
    let hostile = "<script>document.title = 'taken'; parent.document.title = 'taken'</script></body>";
    std::fs::write(&report, text.replace("</body>", hostile)).unwrap();
    let served = Served::new(folder);
    let mut browser = Browser::start(&program);
    browser.open(&served.1);
    assert_eq!(browser.value(FOLDERS), json!(["a-quiet", "b-loud", "c-broken"]));
    sorted_and_filtered(&mut browser);
    while_a_run_goes(&mut browser, folder);
    by_keys(&mut browser);
    heard(&mut browser, "Runs in ");
    side_by_side(&mut browser);
    moved_beside_others(&mut browser, folder);
    heard(&mut browser, "Side by side");
    assert_eq!(browser.errors, Vec::<String>::new());
    browser.switches_the_theme();
    browser.fits_a_telephone();
    frames(&mut browser);
    browser.open(&served.1);
    browser.fits_a_telephone();
    // Whoever still looks is told that nobody answers any more.
    drop(served);
    until(&mut browser, "!document.getElementById('gone').hidden");
}

fn sorted_and_filtered(browser: &mut Browser) {
    let epsilon = "#runs th:nth-child(6) button";
    browser.click(epsilon);
    assert_eq!(browser.value(FOLDERS), json!(["a-quiet", "b-loud", "c-broken"]));
    browser.click(epsilon);
    assert_eq!(browser.value(FOLDERS)[0], json!("b-loud"), "the largest loss first");
    assert_eq!(browser.value("document.querySelector('#runs th[aria-sort]').ariaSort"), "descending");
    browser.value("(() => { const order = document.getElementById('order'); order.value = '1'; order.dispatchEvent(new Event('change')); })()");
    assert_eq!(browser.value(FOLDERS)[0], json!("a-quiet"));
    browser.value("(() => { const filter = document.getElementById('filter'); filter.value = 'LOUD proven'; filter.dispatchEvent(new Event('input')); })()");
    assert_eq!(browser.value(FOLDERS), json!(["b-loud"]));
    browser.value("document.getElementById('filter').focus()");
    browser.press("Escape");
    assert_eq!(browser.value(&format!("{FOLDERS}.length")), 3);
}

/// A run appears, moves and ends, and nothing is loaded again.
fn while_a_run_goes(browser: &mut Browser, folder: &Path) {
    browser.value("window.same = true; document.querySelector('#runs input').focus()");
    let live = folder.join("d-live");
    let bar = "document.querySelector('#runs progress')";
    tell(&live, 2);
    until(browser, &format!("{bar}?.value === 2"));
    assert!(
        browser
            .value("document.getElementById('headline').textContent")
            .as_str()
            .unwrap()
            .contains("1 under way")
    );
    tell(&live, 6);
    until(browser, &format!("{bar}?.value === 6"));
    std::fs::remove_file(live.join(".sottovoce-progress.json")).unwrap();
    run(folder, "d-live", "--epsilon 2");
    until(browser, &format!("{bar} === null && {FOLDERS}.includes('d-live')"));
    until(
        browser,
        "document.querySelector('#runs tbody tr:last-child .badge.good')?.textContent === 'proven'",
    );
    assert_eq!(
        browser.value("window.same && document.activeElement.name"),
        "run",
        "focus stays where it was"
    );
}

/// From run to run without a pointer.
fn by_keys(browser: &mut Browser) {
    browser.value("document.activeElement.blur()");
    browser.press("/");
    assert_eq!(browser.value("document.activeElement.id"), "filter");
    browser.press("ArrowDown");
    let focused = "document.activeElement.closest('tr').cells[1].textContent";
    assert_eq!(browser.value(focused), "a-quiet");
    space(browser);
    assert_eq!(
        browser.value("document.getElementById('chosen').textContent"),
        "1 chosen: one more, at least."
    );
    browser.press("Enter");
    assert_eq!(browser.value("document.body.dataset.page"), "list", "one is not enough");
    browser.press("ArrowDown");
    assert_eq!(browser.value(focused), "b-loud");
    assert_ne!(
        browser.value("getComputedStyle(document.activeElement).outlineStyle"),
        "none",
        "focus is seen"
    );
    space(browser);
    browser.press("End");
    assert_eq!(browser.value(focused), "d-live");
    space(browser);
    assert_eq!(browser.value("document.getElementById('chosen').textContent"), "3 chosen.");
}

/// A space as a keyboard types it, which is what boxes listen to.
fn space(browser: &mut Browser) {
    for kind in ["keyDown", "keyUp"] {
        let key = json!({ "type": kind, "key": " ", "code": "Space", "windowsVirtualKeyCode": 32, "text": if kind == "keyDown" { " " } else { "" } });
        browser.call("Input.dispatchKeyEvent", key);
    }
}

fn side_by_side(browser: &mut Browser) {
    browser.press("Enter");
    until(browser, "document.readyState === 'complete' && document.body?.dataset.page === 'compare'");
    let text = |id: &str| format!("document.getElementById('{id}').textContent");
    let differ = browser.value(&text("differ"));
    assert!(differ.as_str().unwrap().contains("target.epsilon"), "{differ}");
    assert_eq!(browser.value("document.querySelectorAll('#numbers .bars:first-of-type meter').length"), 3);
    browser.value("document.images[0].scrollIntoView()");
    until(
        browser,
        "[...document.images].slice(0, 2).every((image) => image.complete && image.naturalWidth > 0)",
    );
    assert!(browser.value("document.images.length").as_u64().unwrap() >= 9);
    let promised = browser.value(&text("guarantees"));
    assert!(
        promised.as_str().unwrap().contains("Not covered") && promised.as_str().unwrap().contains("proven")
    );
    assert_eq!(browser.value("document.querySelectorAll('a[href$=\"report.html\"]').length"), 6);
}

/// A run in a comparison that goes again: what has changed is shown, and what has not is not touched.
fn moved_beside_others(browser: &mut Browser, folder: &Path) {
    browser.value("document.querySelector('#differ').dataset.kept = 'no'");
    tell(&folder.join("d-live"), 4);
    until(browser, "document.querySelector('#compared progress')?.value === 4");
    // What the earlier run has left is not this one's.
    assert_eq!(browser.value("document.querySelectorAll('a[href$=\"report.html\"]').length"), 4);
    browser.value("document.querySelector('#reports').dataset.kept = 'yes'");
    tell(&folder.join("d-live"), 5);
    until(browser, "document.querySelector('#compared progress')?.value === 5");
    assert_eq!(browser.value("document.querySelector('#reports').dataset.kept"), "yes");
    assert_eq!(
        browser.value("document.querySelector('#differ').dataset.kept ?? 'new'"),
        "new",
        "another experiment"
    );
    std::fs::remove_file(folder.join("d-live/.sottovoce-progress.json")).unwrap();
    until(browser, "document.querySelector('#compared progress') === null");
}

/// Reports are shown in frames that can do nothing to the page: their own script runs, and no other.
fn frames(browser: &mut Browser) {
    browser.value("document.querySelectorAll('details.report').forEach((one) => { one.open = true; one.scrollIntoView(); })");
    until(browser, "document.querySelectorAll('iframe').length === 3");
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(browser.value("document.title"), "Side by side");
    assert_eq!(
        browser.value("document.querySelector('iframe').contentDocument"),
        Value::Null,
        "an origin of its own"
    );
    let loaded =
        "performance.getEntriesByType('resource').filter((one) => one.initiatorType === 'iframe').length";
    until(browser, &format!("{loaded} >= 1"));
    // The same alone: its own script has run, and what was added has not.
    let report = browser.value("document.querySelector('iframe').src");
    browser.open(report.as_str().unwrap());
    assert_eq!(browser.value("document.documentElement.classList.contains('js')"), json!(true));
    assert_ne!(browser.value("document.title"), "taken");
    let refused = browser.errors.iter().filter(|error| error.contains("Content Security Policy")).count();
    assert!(refused >= 1 && refused == browser.errors.len(), "{:?}", browser.errors);
    assert_eq!(
        browser.value("location.origin !== origin && origin"),
        "null",
        "it can read nobody else's page"
    );
}

/// What somebody hears who does not see: everything that is a picture, a bar, a button, a box or a link has a name.
fn heard(browser: &mut Browser, title: &str) {
    let tree = browser.call("Accessibility.getFullAXTree", json!({}));
    let named = [
        "image",
        "img",
        "progressbar",
        "meter",
        "button",
        "checkbox",
        "link",
        "searchbox",
        "combobox",
        "columnheader",
        "heading",
        "Iframe",
        "RootWebArea",
    ];
    let mut roles = Vec::new();
    for node in tree["nodes"].as_array().unwrap().iter().filter(|node| node["ignored"] != json!(true)) {
        let (role, name) =
            (node["role"]["value"].as_str().unwrap_or(""), node["name"]["value"].as_str().unwrap_or(""));
        assert!(!named.contains(&role) || !name.is_empty(), "a {role} without a name: {node}");
        if role == "heading" && !roles.contains(&role) {
            assert!(name.starts_with(title), "{name}");
        }
        roles.push(role);
    }
    for role in ["main", "table", "status", "heading"] {
        assert!(
            roles.contains(&role) || (role == "status" && title.starts_with("Side")),
            "nothing is a {role}"
        );
    }
}
