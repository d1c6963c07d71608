//! A real browser for tests, driven without any package: Chromium's debugging pipe, which is two streams of JSON
//! messages with a zero byte after each. The streams are named pipes, because the standard library cannot hand other
//! file descriptors to a process.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// The browser; where this machine has none, says that the test is skipped.
pub fn program() -> Option<PathBuf> {
    let places = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
    let found = places.map(PathBuf::from).into_iter().find(|place| place.exists());
    if found.is_none() {
        crate::skipped("browser", "no Chromium on this machine");
    }
    found
}

/// A page in a running browser.
pub struct Browser {
    process: Arc<Mutex<Child>>,
    input: File,
    output: BufReader<File>,
    session: String,
    next: u64,
    /// Errors that the page raised or logged.
    pub errors: Vec<String>,
    _folder: tempfile::TempDir,
}

impl Browser {
    /// The button of the theme changes the paper.
    pub fn switches_the_theme(&mut self) {
        let paper = "getComputedStyle(document.body).backgroundColor";
        let light = self.value(paper);
        self.click("#theme");
        assert_ne!(self.value(paper), light);
    }

    /// A small screen shows the page without scrolling sideways.
    pub fn fits_a_telephone(&mut self) {
        let size = json!({"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", size);
        assert_eq!(self.value("innerWidth"), 400);
        assert_eq!(self.value("document.documentElement.scrollWidth"), 400);
    }

    /// Starts a browser with a profile of its own.
    pub fn start(program: &Path) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let (to, from) = (folder.path().join("to"), folder.path().join("from"));
        assert!(Command::new("mkfifo").args([&to, &from]).status().unwrap().success());
        let flags = "--headless --no-sandbox --disable-gpu --remote-debugging-pipe --hide-scrollbars --window-size=1200,1400";
        let process = Command::new("sh")
            .arg("-c")
            .arg(format!("exec \"$0\" {flags} --user-data-dir=\"$1\" 3<\"$2\" 4>\"$3\""))
            .args([program, &folder.path().join("profile"), &to, &from])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let process = Arc::new(Mutex::new(process));
        watch(&process);
        let input = File::options().write(true).open(&to).unwrap();
        let output = BufReader::new(File::open(&from).unwrap());
        let (session, errors) = (String::new(), Vec::new());
        let mut browser = Self { process, input, output, session, next: 0, errors, _folder: folder };
        let target = browser.call("Target.createTarget", json!({"url": "about:blank"}))["targetId"].clone();
        let attached = browser.call("Target.attachToTarget", json!({"targetId": target, "flatten": true}));
        browser.session = attached["sessionId"].as_str().unwrap().into();
        for domain in ["Page", "Runtime", "Log"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        browser
    }

    /// Sends a command and waits for its answer; events on the way are looked at for errors.
    pub fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next += 1;
        let mut message = json!({"id": self.next, "method": method});
        message["params"] = parameters;
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        self.input.write_all(format!("{message}\0").as_bytes()).unwrap();
        loop {
            let event = self.read();
            if event["id"] == json!(self.next) {
                assert!(event["error"].is_null(), "{method}: {}", event["error"]);
                return event["result"].clone();
            }
        }
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        self.output.read_until(0, &mut bytes).unwrap();
        assert_eq!(bytes.pop(), Some(0), "the browser has gone");
        let event: Value = serde_json::from_slice(&bytes).unwrap();
        let kind = event["method"].as_str().unwrap_or_default();
        let logged = &event["params"]["entry"]["level"] == "error" || &event["params"]["type"] == "error";
        if kind == "Runtime.exceptionThrown" || logged {
            self.errors.push(event.to_string());
        }
        event
    }

    /// Opens a page and waits until it is loaded.
    pub fn open(&mut self, address: &str) {
        self.call("Page.navigate", json!({"url": address}));
        while self.read()["method"] != "Page.loadEventFired" {}
    }

    /// The value of an expression in the page.
    pub fn value(&mut self, expression: &str) -> Value {
        let parameters = json!({"expression": expression, "returnByValue": true});
        let answer = self.call("Runtime.evaluate", parameters);
        assert!(answer["exceptionDetails"].is_null(), "{expression}: {answer}");
        answer["result"]["value"].clone()
    }

    /// Moves the pointer to the middle of an element, after scrolling it into view, and gives the place.
    pub fn point(&mut self, selector: &str) -> (f64, f64) {
        let place = self.value(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{block: 'center'}}); \
             const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        let (x, y) = (place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
        self.call("Input.dispatchMouseEvent", json!({"type": "mouseMoved", "x": x, "y": y}));
        (x, y)
    }

    /// Clicks on an element as a person would.
    pub fn click(&mut self, selector: &str) {
        let (x, y) = self.point(selector);
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        for kind in ["rawKeyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({"type": kind, "key": key, "code": key}));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        end(&self.process);
    }
}

/// Ends a browser that hangs, so that a test fails instead of waiting for ever.
fn watch(process: &Arc<Mutex<Child>>) {
    let process = Arc::clone(process);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(600));
        end(&process);
    });
}

fn end(process: &Mutex<Child>) {
    if let Ok(mut process) = process.lock() {
        // A browser that has gone already needs no ending.
        let _ = process.kill();
        let _ = process.wait();
    }
}
