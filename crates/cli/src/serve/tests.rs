//! A folder of runs, good and bad, as somebody on this machine gets it: over a real connection.
#![allow(clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;

use serde_json::json;

use super::words::{graph, moment, protocol};
use super::*;
use crate::underway::{self, now};
use sottovoce::terms::Stated;

const EXPERIMENT: &str = "experiment = 'averaging'\nseed = 3\n[graph]\nfamily = { ring = { n = 12 } }\nweights = 'metropolis'\n[protocol]\nmethod = 'gossip'\nsteps = 5\n[noise]\nsigma = 2.0\n";

/// A guarantee as runs print it.
fn stated(epsilon: f64, standing: &str) -> serde_json::Value {
    json!({ "about": "each peer", "epsilon": epsilon, "delta": 1e-5, "adversary": "wire-tapper", "unit": "user", "adjacency": "replace",
        "standing": standing, "not_covered": ["timing"], "risk": sottovoce_privacy::Risk::of_pair(epsilon, 1e-5) })
}

/// A run that is over.
fn result(headline: &str, epsilon: f64) -> serde_json::Value {
    json!({ "headline": headline, "seed": 3, "error": { "mean": 0.25, "low": 0.2 }, "results": [[0.5], null],
        "guarantees": [stated(0.01, "refuted"), stated(epsilon, "proven")] })
}

fn put(folder: &Path, files: &[(&str, &str)]) {
    std::fs::create_dir_all(folder).unwrap();
    files.iter().for_each(|(name, text)| std::fs::write(folder.join(name), text).unwrap());
}

/// A folder with three good runs, one of them under way, and three that are broken in different ways.
fn runs() -> tempfile::TempDir {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let picture = "<svg xmlns=\"http://www.w3.org/2000/svg\"/>";
    put(
        &at("a"),
        &[
            ("result.json", &result("It went well.", 1.2344).to_string()),
            ("experiment.toml", EXPERIMENT),
            ("report.html", "<p>the report</p>"),
            ("graph.svg", picture),
            ("values.csv", "peer,value\nana,41\n"),
        ],
    );
    let evil = "<script>alert(1)</script>\" onload=\"x {{rows}}";
    put(
        &at("deeper/<b>evil</b>"),
        &[
            ("result.json", &result(evil, 0.5).to_string()),
            ("experiment.toml", &EXPERIMENT.replace("5\n", "7\n")),
            ("graph.svg", picture),
        ],
    );
    let word = json!({ "schema_version": 1, "process": 1, "begun": now(), "written": now(), "what": evil, "done": 3, "all": 9, "experiment": EXPERIMENT });
    put(&at("live"), &[(underway::FILE, &word.to_string())]);
    put(&at("torn"), &[("result.json", "{\"headline\": \"half")]);
    put(&at("list"), &[("result.json", "[]")]);
    put(&at("odd"), &[("result.json", "{\"headline\": 7}"), ("experiment.toml", "experiment = 'cookery'")]);
    put(&at("none"), &[("notes.txt", "no run")]);
    put(&at(".hidden"), &[("result.json", "{}")]);
    place
}

/// A folder that is served until it is dropped.
struct Served(SocketAddr, #[allow(dead_code)] tokio::runtime::Runtime);

fn served(folder: &Path) -> Served {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let (address, shelf) = (listener.local_addr().unwrap(), Arc::new(Shelf::open(folder).unwrap()));
    runtime.spawn(async move {
        let listener = tokio::net::TcpListener::from_std(listener).unwrap();
        axum::serve(sottovoce_loopback::Few::new(listener), site::router(shelf)).await
    });
    Served(address, runtime)
}

impl Served {
    /// Head and body of what is answered to these first lines.
    fn ask(&self, request: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.0).unwrap();
        let request = request.replace('\n', "\r\n");
        stream.write_all(format!("{request}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer).into_owned();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_ascii_lowercase(), body.to_owned())
    }

    fn get(&self, path: &str) -> (String, String) {
        self.ask(&format!("GET {path} HTTP/1.1\nHost: localhost"))
    }
}

fn find<'a>(listing: &'a Listing, folder: &str) -> &'a Found {
    listing.runs.iter().find(|run| run.folder == folder).unwrap()
}

#[test]
fn runs_are_found_and_what_is_broken_is_said() {
    let place = runs();
    let listing = Shelf::open(place.path()).unwrap().look();
    let folders: Vec<&str> = listing.runs.iter().map(|run| run.folder.as_str()).collect();
    assert_eq!(folders, ["a", "deeper/<b>evil</b>", "list", "live", "odd", "torn"]);
    let a = find(&listing, "a");
    assert_eq!((a.status, a.seed, a.kind.as_deref()), (Status::Done, Some(3), Some("averaging")));
    assert_eq!(a.graph.as_deref(), Some("ring n 12"));
    assert_eq!(a.protocol.as_deref(), Some("gossip, 5 steps"));
    assert_eq!((a.measures[0].name.as_str(), a.measures[0].value), ("error", 0.25));
    // What was refuted is never the epsilon of a run, and what is shown is not less than what is lost.
    assert_eq!(a.promise().unwrap().shown(), "1.24");
    assert_eq!(a.files, ["experiment.toml", "graph.svg", "report.html", "result.json"], "and no values");
    let live = find(&listing, "live");
    assert_eq!((live.status, live.progress.as_ref().map(|far| far.done)), (Status::Running, Some(3)));
    for (folder, why) in [
        ("torn", "result.json is damaged"),
        ("list", "result.json is damaged"),
        ("odd", "experiment.toml: `experiment` is cookery"),
    ] {
        let run = find(&listing, folder);
        assert_eq!(run.status, Status::Broken);
        assert!(run.problem.as_ref().unwrap().contains(why), "{:?}", run.problem);
    }
    assert_eq!(listing.to_string(), format!("6 runs in {}, 1 under way, 3 broken", place.path().display()));
}

#[test]
fn a_run_that_was_stopped_goes_silent_and_one_that_ends_is_read_again() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().join("x");
    let word = |written: u64| {
        json!({ "schema_version": 1, "process": 1, "begun": written, "written": written, "what": "", "done": 0, "all": 0, "experiment": "" }).to_string()
    };
    // Another length: some systems stamp files in ticks.
    put(&folder, &[(underway::FILE, &(word(now() - 60) + " "))]);
    let shelf = Shelf::open(place.path()).unwrap();
    assert_eq!(shelf.look().runs[0].status, Status::Silent);
    put(&folder, &[(underway::FILE, &word(now()))]);
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert_eq!(shelf.look().runs[0].status, Status::Running);
    std::fs::remove_file(folder.join(underway::FILE)).unwrap();
    put(&folder, &[("result.json", &result("Done.", 1.0).to_string())]);
    std::thread::sleep(std::time::Duration::from_millis(600));
    assert_eq!((shelf.look().runs[0].status, shelf.look().runs.len()), (Status::Done, 1));
}

/// A run into the folder of an earlier one is not shown with that one's numbers, also once it was stopped.
#[test]
fn what_an_earlier_run_left_is_not_shown_as_that_of_one_under_way() {
    let place = tempfile::tempdir().unwrap();
    for written in [now(), now() - 60] {
        let word = json!({ "schema_version": 1, "process": 1, "begun": written, "written": written, "what": "", "done": 1, "all": 2,
            "experiment": EXPERIMENT.replace("seed = 3", "seed = 4") });
        let earlier =
            [("result.json", result("It went well.", 0.5).to_string()), (underway::FILE, word.to_string())];
        let files = [("experiment.toml", EXPERIMENT), ("report.html", "x"), ("graph.svg", "<svg/>")];
        put(&place.path().join("x"), &files);
        earlier.iter().for_each(|(name, text)| put(&place.path().join("x"), &[(name, text)]));
        let found = Shelf::open(place.path()).unwrap().look().runs.remove(0);
        assert_eq!((found.seed, found.headline.as_deref(), found.promise()), (Some(4), None, None));
        assert!(
            found.measures.is_empty() && found.guarantees.is_empty() && found.files.is_empty(),
            "{found:?}"
        );
        assert!(matches!(found.status, Status::Running | Status::Silent));
    }
}

/// What none of a document's guarantees speaks of is on the page; a loss without bound is no missing one.
#[test]
fn limits_of_a_document_and_losses_without_bound_are_shown() {
    let place = tempfile::tempdir().unwrap();
    for (name, epsilon) in [("a", json!(1.0)), ("b", json!(null))] {
        let mut whole = result("Done.", 1.0);
        whole["guarantees"][1]["epsilon"] = epsilon;
        whole["not_covered"] = json!(["timing", "the output of this run"]);
        put(
            &place.path().join(name),
            &[("result.json", &whole.to_string()), ("experiment.toml", EXPERIMENT)],
        );
    }
    let listing = Shelf::open(place.path()).unwrap().look();
    assert_eq!(listing.runs[0].guarantees[1].not_covered, ["timing", "the output of this run"]);
    let page = beside::page(&listing.runs, place.path());
    assert!(page.contains("the output of this run") && page.contains("without bound at delta"), "{page}");
}

#[test]
fn a_report_cannot_send_the_browser_elsewhere() {
    let report = |text: &[u8]| file::still("report.html", text.to_vec());
    let sent =
        report(b"<META HTTP-EQUIV='refresh' content='0;url=http://x'><p>http-equi</p>http-equiv").unwrap();
    assert_eq!(sent, b"<META data-equiv='refresh' content='0;url=http://x'><p>http-equi</p>data-equiv");
    assert!(report(b"\xff\xfe<\0m\0").is_err(), "read as UTF-16, it could be anything");
    assert_eq!(file::still("a.svg", vec![255]).unwrap(), [255]);
}

#[test]
fn huge_files_pipes_and_links_are_not_read() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join("shelf").join(name);
    let secret = place.path().join("secret.json");
    std::fs::write(&secret, result("outside", 1.0).to_string()).unwrap();
    put(&at("large"), &[]);
    std::fs::File::create(at("large/result.json")).unwrap().set_len(file::MOST + 1).unwrap();
    put(&at("linked"), &[("result.json", &result("inside", 1.0).to_string())]);
    std::os::unix::fs::symlink(&secret, at("linked/report.html")).unwrap();
    std::os::unix::fs::symlink(place.path(), at("out")).unwrap();
    put(&at("pipe"), &[]);
    let made = std::process::Command::new("mkfifo").arg(at("pipe/result.json")).status().unwrap();
    assert!(made.success());
    let root = std::fs::canonicalize(place.path().join("shelf")).unwrap();
    let listing = Shelf::open(&root).unwrap().look();
    let folders: Vec<&str> = listing.runs.iter().map(|run| run.folder.as_str()).collect();
    assert_eq!(folders, ["large", "linked"]);
    assert!(listing.runs[0].problem.as_ref().unwrap().contains("larger than 64 MiB"));
    assert!(!listing.runs[1].has("report.html"), "a link is no file of a run");
    // Even if it becomes one meanwhile.
    std::fs::create_dir(place.path().join("elsewhere")).unwrap();
    std::fs::write(place.path().join("elsewhere/result.json"), "outside").unwrap();
    std::os::unix::fs::symlink(place.path().join("elsewhere"), at("swapped")).unwrap();
    let outside = [at("out/secret.json"), at("swapped/result.json"), at("../secret.json"), secret.clone()];
    for path in [at("linked/report.html"), at("pipe/result.json")].into_iter().chain(outside) {
        assert!(file::read(&root, &path, 100).is_err(), "{}", path.display());
    }
}

#[test]
fn pages_are_whole_and_what_is_in_files_is_text() {
    let place = runs();
    let served = served(place.path());
    let (head, page) = served.get("/");
    assert!(head.starts_with("http/1.1 200") && head.contains("text/html"), "{head}");
    sottovoce_report::structure::sound(&page);
    let listing = Shelf::open(place.path()).unwrap().look();
    let query: Vec<String> = listing.runs.iter().map(|run| format!("run={}", run.id)).collect();
    let (head, beside) = served.get(&format!("/compare?{}", query.join("&")));
    assert!(head.starts_with("http/1.1 200"), "{head}\n{beside}");
    sottovoce_report::structure::sound(&beside);
    for text in [&page, &beside] {
        assert!(!text.contains("<script>alert") && !text.contains("<b>evil") && !text.contains("\" onload"));
        assert_eq!((text.matches("<script>").count(), text.matches("<style>").count()), (1, 2));
    }
    assert!(beside.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && beside.contains("{{rows}}"));
    assert!(beside.contains("protocol.steps"));
    assert!(
        beside.contains("<iframe sandbox=\"allow-scripts\" src=\"run/") && beside.contains("<li>timing</li>")
    );
    let policy = list::policy().to_ascii_lowercase();
    assert!(
        head.contains(&format!("content-security-policy: {policy}")) && !policy.contains("unsafe"),
        "{head}"
    );
    assert!(head.contains("x-frame-options: deny") && !head.contains("access-control"), "{head}");
    assert!(served.get("/rows").1.contains("data-stamp"));
    let (head, text) = served.get("/runs.json");
    let data: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(head.contains("application/json") && data["runs"].as_array().unwrap().len() == 6);
}

#[test]
fn only_this_machine_asks_only_for_files_of_runs_and_only_asks() {
    let place = runs();
    let served = served(place.path());
    let id = &find(&Shelf::open(place.path()).unwrap().look(), "a").id.clone();
    let (head, body) = served.get(&format!("/run/{id}/report.html"));
    assert!(head.starts_with("http/1.1 200") && body == "<p>the report</p>", "{head}");
    assert!(head.contains("sandbox allow-scripts") && head.contains("x-frame-options: sameorigin"), "{head}");
    let (head, _) = served.get(&format!("/run/{id}/graph.svg"));
    assert!(head.contains("image/svg+xml") && head.contains("; sandbox\r\n"), "{head}");
    let (head, _) = served.get(&format!("/run/{id}/result.json"));
    assert!(head.contains("text/plain") && head.contains("nosniff"), "{head}");
    for name in [
        "values.csv",
        "nothing.svg",
        "..%2fa%2freport.html",
        "%2e%2e%2fnone%2fnotes.txt",
        "../../etc/passwd",
        "..%5c..%5cetc%5cpasswd",
        ".sottovoce-progress.json",
        "report.html%00.svg",
        "%2fetc%2fpasswd",
    ] {
        let (head, body) = served.get(&format!("/run/{id}/{name}"));
        assert!(head.starts_with("http/1.1 404") || head.starts_with("http/1.1 400"), "{name}: {head}");
        assert!(!body.contains("root:") && !body.contains("ana"), "{name}");
    }
    for (path, said) in [
        ("/run/../a/report.html", "nothing here"),
        ("/compare", "0 were chosen"),
        (&format!("/compare?run={id}") as &str, "1 were chosen"),
        (&format!("/compare?run={id}&run={id}") as &str, "1 were chosen"),
        (&format!("/compare?run={id}&run=%3Cscript%3E") as &str, "not there any more"),
    ] {
        let (head, body) = served.get(path);
        assert!(head.starts_with("http/1.1 404") && body.contains(said), "{path}: {head} {body}");
    }
    for lines in [
        "GET / HTTP/1.1\nHost: example.org",
        "GET /runs.json HTTP/1.1\nHost: 127.0.0.1.example.org",
        "GET / HTTP/1.0",
    ] {
        let (head, body) = served.ask(lines);
        assert!(head.contains(" 421") && !body.contains("averaging"), "{lines}: {head}");
    }
    for method in ["POST", "PUT", "DELETE", "HEAD"] {
        let (head, _) = served.ask(&format!("{method} / HTTP/1.1\nHost: localhost\nContent-Length: 0"));
        assert!(head.starts_with("http/1.1 405"), "{method}: {head}");
    }
}

#[test]
fn many_connections_that_say_nothing_do_not_shut_others_out_for_ever() {
    let place = runs();
    let served = served(place.path());
    let silent: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(served.0).unwrap()).collect();
    assert!(served.get("/").0.starts_with("http/1.1 200"));
    drop(silent);
}

#[test]
fn no_script_or_style_can_end_its_element_and_none_asks_anybody_else() {
    let (script, style) = (list::SCRIPT, list::STYLE);
    assert!(!script.contains("</script") && !script.contains("<!--") && !style.contains("</style"));
    assert!(!script.contains("innerHTML") && !script.contains("http") && !style.contains("url("));
}

#[test]
fn words_of_a_row() {
    assert_eq!(moment(0), "1970-01-01 00:00");
    assert_eq!(moment(951_827_696), "2000-02-29 12:34");
    assert_eq!(moment(1_798_761_599), "2026-12-31 23:59");
    let rumor = json!({ "experiment": "rumor", "peers": 64, "muting": 0.5 });
    assert_eq!((graph(&rumor), protocol(&rumor)), (Some("64 peers".into()), Some("muting 0.5".into())));
    let deep = json!({ "graph": { "fiedler": 0.1, "published-weights": false }, "protocol": { "method": "dsgd", "rounds": 9 } });
    assert_eq!((graph(&deep), protocol(&deep)), (Some("fiedler 0.1".into()), Some("dsgd".into())));
    let promise: Stated = serde_json::from_value(stated(2.0, "proven")).unwrap();
    assert_eq!(promise.whom(), "wire-tapper");
    let named = Stated {
        adversary: "coalition".into(),
        observers: vec![1, 2],
        observer_names: vec!["ana".into(), "ben".into()],
        ..promise.clone()
    };
    assert_eq!(named.whom(), "coalition ana, ben");
    assert_eq!(
        Stated { colluders: Some(3), ..promise }.whom(),
        "wire-tapper with the secrets of any 3 peers"
    );
}

#[test]
fn a_folder_without_runs_says_how_to_make_one() {
    let place = tempfile::tempdir().unwrap();
    let page = list::page(&Shelf::open(place.path()).unwrap().look());
    sottovoce_report::structure::sound(&page);
    assert!(page.contains("sottovoce run quickstart --out"), "{page}");
}
