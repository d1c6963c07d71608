//! The page as somebody on this machine gets it: over a real connection.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;

use super::*;
use crate::agreement::tests::text;
use crate::{Agreement, Frame};

const EXPERIMENT: &str = "[experiment]\nexperiment = 'averaging'\n[experiment.noise]\nsigma = 2.0\n";

/// Four peers, one of them with a name that nobody should have, as peer 0 sees them.
fn board() -> Arc<Board> {
    let text = text(4, EXPERIMENT).replace("'p2'", "'\"><script>alert(1)</script>{{me}}\\\\'");
    let agreement = Agreement::parse(&text).unwrap();
    let links = [vec![1, 2], vec![0, 3], vec![0, 3], vec![1, 2]];
    let board = Board::new(&agreement, 0, ("averaging by gossip".into(), 6, &links), None).unwrap();
    board.met(1, true);
    board.said(1, &Frame::Parcel(vec![0; 9]));
    board.count_sent(1234);
    board.refused(2, "a frame of kind 9, which there is not");
    board.stands(Phase::Running, Some(3));
    Arc::new(board)
}

/// A page that is served until the runtime is dropped.
struct Served(SocketAddr, #[allow(dead_code)] tokio::runtime::Runtime);

fn serve(board: Arc<Board>) -> Served {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let page = Page::listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let address = page.address();
    runtime.spawn(page.serve(board));
    Served(address, runtime)
}

impl Served {
    /// Head and body of what is answered to these first lines.
    fn ask(&self, request: &str) -> (String, String) {
        let mut stream = TcpStream::connect(self.0).unwrap();
        let request = request.replace('\n', "\r\n");
        stream.write_all(format!("{request}\r\nConnection: close\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.to_ascii_lowercase(), body.to_owned())
    }

    fn get(&self, path: &str) -> (String, String) {
        self.ask(&format!("GET {path} HTTP/1.1\nHost: localhost"))
    }
}

#[test]
fn an_address_that_others_can_reach_is_refused() {
    for at in ["0.0.0.0:0", "10.0.0.1:8080", "[::]:8080", "[::ffff:127.0.0.1]:8080"] {
        let error = Page::listen(at.parse().unwrap()).err().unwrap();
        assert_eq!((error.exit_code(), error.at_fault().map(|fault| fault.field)), (2, Some("page")));
        assert!(error.to_string().contains("127.0.0.1:8080"), "{error}");
    }
    let first = Page::listen("127.0.0.1:0".parse().unwrap()).unwrap();
    let error = Page::listen(first.address()).err().unwrap().to_string();
    assert!(error.contains("`page` is 127.0.0.1:") && error.contains("another port"), "{error}");
}

#[test]
fn the_page_is_whole_and_nothing_else_can_run_in_it() {
    let served = serve(board());
    let (head, page) = served.get("/");
    assert!(head.starts_with("http/1.1 200") && head.contains("text/html"), "{head}");
    sottovoce_report::structure::sound(&page);
    assert!(page.contains("mean goes on: round 3 of 6, at the moment without"), "{page}");
    assert!(page.contains("a frame of kind 9") && page.contains("1.2 kB") && page.contains("not connected"));
    // A name is text, wherever it stands, and no place for anything else.
    assert!(!page.contains("<script>alert") && page.contains("&lt;script&gt;alert(1)&lt;/script&gt;{{me}}"));
    let (_, raw) = served.ask("GET / HTTP/1.1\nHost: 127.0.0.1:80");
    assert_eq!(page.matches("<script>").count(), 1);
    assert_eq!(raw.matches("<style>").count(), 2);
    let policy = html::policy().to_ascii_lowercase();
    assert!(head.contains(&format!("content-security-policy: {policy}")), "{head}");
    assert!(!policy.contains("unsafe") && policy.contains("default-src 'none'"), "{policy}");
    for header in ["cache-control: no-store", "x-content-type-options: nosniff", "x-frame-options: deny"] {
        assert!(head.contains(header), "{head}");
    }
    assert!(!head.contains("access-control"), "nobody else's page may read it");
}

#[test]
fn only_this_machine_asks_and_it_only_asks() {
    let served = serve(board());
    for host in ["localhost", "127.0.0.1:9", "[::1]"] {
        assert!(served.ask(&format!("GET /healthz HTTP/1.1\nHost: {host}")).0.starts_with("http/1.1 200"));
    }
    for lines in [
        "GET / HTTP/1.1\nHost: example.org",
        "GET /status.json HTTP/1.1\nHost: localhost.example.org",
        "GET /metrics HTTP/1.0",
        "GET http://example.org/ HTTP/1.1\nHost: localhost",
    ] {
        let (head, body) = served.ask(lines);
        assert!(head.starts_with("http/1.1 421") || head.starts_with("http/1.0 421"), "{lines}: {head}");
        assert!(!body.contains("mean"), "{body}");
    }
    for method in ["POST", "PUT", "DELETE", "HEAD", "OPTIONS"] {
        let (head, _) = served.ask(&format!("{method} / HTTP/1.1\nHost: localhost\nContent-Length: 0"));
        assert!(head.starts_with("http/1.1 405") && head.contains("allow: get"), "{method}: {head}");
    }
    let (head, body) = served.get("/key");
    assert!(head.starts_with("http/1.1 404") && body.contains("/status.json"), "{head}");
}

#[test]
fn the_same_in_data_in_metrics_and_in_a_word() {
    let board = board();
    let served = serve(Arc::clone(&board));
    let (_, text) = served.get("/status.json");
    let answer: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&answer["phase"], &answer["round"]), (&"running".into(), &3.into()));
    assert_eq!(answer["shown"]["texts"]["round"], "3 of 6");
    let status: crate::Status = serde_json::from_str(&text).unwrap();
    assert_eq!(status.names, board.status().names);
    let (head, metrics) = served.get("/metrics");
    assert!(head.contains("application/openmetrics-text"), "{head}");
    for line in [
        "sottovoce_phase{phase=\"running\"} 1",
        "sottovoce_phase{phase=\"done\"} 0",
        "sottovoce_round 3",
        "sottovoce_rounds 6",
        "sottovoce_sent_bytes_total 1234",
        "sottovoce_connected_neighbours 1",
        "sottovoce_messages_total{peer=\"p1\"} 1",
        // Quotation marks and backslashes of a name do not end it.
        "sottovoce_refused_total{peer=\"\\\"><script>alert(1)</script>{{me}}\\\\\\\\\"} 1",
    ] {
        assert!(metrics.lines().any(|known| known == line), "{line}\n{metrics}");
    }
    assert!(metrics.ends_with("# EOF\n"));
    assert_eq!(served.get("/metrics").1, metrics, "in the same order each time");
    assert_eq!(served.get("/healthz").1, "running\n");
    board.stands(Phase::Halted, Some(3));
    let (head, word) = served.get("/healthz");
    assert!(head.starts_with("http/1.1 503") && word == "halted\n", "{head}");
}
