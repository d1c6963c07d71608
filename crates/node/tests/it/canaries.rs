//! No value of a peer is in anything that it says to who looks: logs at the finest level, its page, its metrics, its status file, its errors. Numbers that stand nowhere else are
//! planted in values files, and looked for.

use std::io;
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::common::canary::Canary;
use crate::common::sites::{Sites, Terms};
use sottovoce_node::Stands;
use tracing_subscriber::fmt::MakeWriter;

const GRID: f64 = 1.0 / (1u64 << 30) as f64;

/// What three peers hold: within the range, and nowhere else in the world.
fn values() -> [(&'static str, Vec<f64>); 3] {
    [
        ("ana", vec![0.731_058_578_630_004_9, 0.268_941_421_369_995_1]),
        ("ben", vec![0.880_797_077_977_882_3, 0.119_202_922_022_117_7]),
        ("eva", vec![0.952_574_126_822_433_4, 0.182_425_523_806_356_3]),
    ]
}

const MASKED: &str = "[experiment]\nexperiment = 'averaging'\nprotocol = { method = 'butterfly' }\nnoise = { sigma = 0.5, masks = true, relay-noise = 0.0 }\n\
                      adversary = { colluders = 1 }";
const RELAYED: &str = "[experiment]\nexperiment = 'averaging'\nprotocol = { method = 'gossip', steps = 20 }\nnoise = { sigma = 0.5, relay-noise = 0.5 }";
const LOCAL: &str = "[experiment]\nexperiment = 'averaging'\nprotocol = { method = 'gossip', steps = 20 }\nnoise = { sigma = 0.5, relay-noise = 0.0 }";

const LEARNT: &str = "[experiment]\nexperiment = 'learning'\ntask = { range = ['a=-1:1', 'b=-1:1'], positive = 'yes', clip = 2.0 }\nstep = { size = 1.0 }\n\
                      protocol = { method = 'butterfly', iterations = 20 }\nnoise = { sigma = 0.5 }";

/// All that is logged in this process, by whichever crate, from TRACE on.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'a> MakeWriter<'a> for Log {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }
}

/// Everything logged from now on; time stamps are left out, since digits of theirs are no canaries.
fn log() -> &'static Log {
    static LOG: OnceLock<Log> = OnceLock::new();
    LOG.get_or_init(|| {
        let log = Log::default();
        let lines = tracing_subscriber::fmt().without_time().with_ansi(false);
        let lines = lines.with_max_level(tracing::Level::TRACE).with_writer(log.clone());
        tracing::subscriber::set_global_default(lines.finish()).unwrap();
        log
    })
}

fn logged() -> Vec<u8> {
    log().0.lock().unwrap().clone()
}

fn canaries() -> Vec<(String, Canary)> {
    let all = values();
    let each = all.iter().flat_map(|(name, values)| values.iter().map(move |&value| (name, value)));
    each.map(|(name, value)| (format!("{value} of {name}"), Canary::new(value, GRID))).collect()
}

/// Fails where a value is told.
fn silent(where_: &str, text: &[u8]) {
    for (value, canary) in canaries() {
        if let Some(how) = canary.found(text) {
            panic!("{value} is told {how} in {where_}");
        }
    }
}

fn sites(experiment: &str, tick: f64, budget: f64) -> Sites {
    let peers = values();
    let edges = "'complete'";
    Sites::new(&Terms { peers: &peers, edges, grid: GRID, tick, more: "", experiment, budget })
}

/// Rows, the first of them with a peer's values; the others are in between.
fn rows(peer: usize) -> String {
    let (_, first) = &values()[peer];
    let row =
        |i: usize| format!("{:?},{:?},{}\n", i as f64 / 16.0 - 0.5, 0.25, if i < 8 { "yes" } else { "no" });
    let others: String = (0..16).map(row).collect();
    format!("a,b,label\n{:?},{:?},yes\n{others}", first[0], first[1])
}

/// Peers who learn: from rows, and by a program whose gradients are numbers that stand nowhere else.
fn learners() -> Sites {
    let mut peers = values();
    peers.iter_mut().for_each(|(_, values)| values.push(0.5));
    let (edges, more) = ("'complete'", "masks = true\n");
    let terms = Terms {
        peers: &peers,
        edges,
        grid: 2f64.powi(-22),
        tick: 0.03,
        more,
        experiment: LEARNT,
        budget: 1000.0,
    };
    let sites = Sites::new(&terms);
    (1..3).for_each(|peer| sites.hold(peer, "rows.csv", rows(peer)));
    let gradient: Vec<u8> = peers[0].1.iter().flat_map(|number| number.to_le_bytes()).collect();
    sites.hold(0, "gradient", gradient);
    let program = "read -r welcome\nwhile read -r question; do head -c 24 > model; echo '{\"vectors\": 1, \"numbers\": 3}'; cat gradient; done";
    std::fs::write(sites.home(0).join("step.sh"), program).unwrap();
    sites.configure(0, "[budget.peer]", "program = ['sh', 'step.sh']\n[budget.peer]");
    sites
}

/// Runs all peers, and reads whatever there is to read on the way.
fn run(sites: &Sites) -> Vec<(String, String)> {
    let mut read: Vec<(String, String)> = Vec::new();
    let mut running = vec![sites.start(0), sites.start(1)];
    let look = |read: &mut Vec<(String, String)>| {
        for peer in 0..3 {
            for path in ["/", "/status.json", "/metrics", "/healthz", "/nothing"] {
                let answer = sites.get(peer, path);
                read.extend(answer.map(|text| (format!("{path} of peer {peer}"), text)));
            }
            let file = std::fs::read_to_string(sites.status_file(peer));
            read.extend(file.map(|text| (format!("status.json of peer {peer}"), text)));
        }
    };
    while !read.iter().any(|(_, text)| text.contains("waits for eva")) {
        if let Some(ended) = running.iter().position(JoinHandle::is_finished) {
            panic!("peer {ended} did not wait: {:?}", running.remove(ended).join().unwrap());
        }
        look(&mut read);
    }
    running.push(sites.start(2));
    while running.iter().any(|peer| !peer.is_finished()) {
        look(&mut read);
        std::thread::sleep(Duration::from_millis(20));
    }
    look(&mut read);
    for peer in running {
        let ended = peer.join().unwrap().unwrap();
        assert!(matches!(&ended.stands, Stands::Done(result) if result.len() >= 2), "{ended:?}");
    }
    read
}

#[test]
fn a_run_tells_no_value_to_who_looks() {
    log();
    // Sums have two rounds: long ones, so that somebody looks while they go on.
    let [masked, relayed, local] =
        [(MASKED, 0.3), (RELAYED, 0.03), (LOCAL, 0.03)].map(|(one, tick)| sites(one, tick, 1000.0));
    for sites in [masked, relayed, local, learners()] {
        let read = run(&sites);
        for seen in ["waits for eva", "goes on", "sottovoce_epsilon_spent", "\"shown\""] {
            assert!(read.iter().any(|(_, text)| text.contains(seen)), "{seen}: the search looks at nothing");
        }
        for (where_, text) in &read {
            silent(where_, text.as_bytes());
        }
    }
    let logged = logged();
    let text = String::from_utf8_lossy(&logged);
    assert!(text.contains("everybody is there") && text.contains("TRACE"), "the search looks at nothing");
    silent("what is logged", &logged);
}

#[test]
fn errors_tell_no_value() {
    log();
    let mut errors = Vec::new();
    let mut fails = |sites: &Sites, meeting: f64| {
        let error = sites.run(0, Duration::from_secs_f64(meeting)).unwrap_err();
        errors.push((error.to_string(), format!("{error:?}")));
        error.exit_code()
    };
    let nobody = sites(MASKED, 0.03, 1000.0);
    assert_eq!(fails(&nobody, 0.2), 4, "nobody came");
    let file = nobody.home(0).join("values.txt");
    let good = std::fs::read_to_string(&file).unwrap();
    // Numbers with a unit, too many of them, none at all, and such as are no numbers.
    for bad in [
        good.replace("49", "49mmol"),
        format!("{good} {good}"),
        good.replace("0.7", "0,7"),
        format!("{good} NaN"),
        "0.7310585786300049e999 1".into(),
    ] {
        std::fs::write(&file, &bad).unwrap();
        assert_eq!(fails(&nobody, 0.2), 2, "{bad}");
    }
    assert_eq!(fails(&sites(MASKED, 0.03, 0.01), 0.2), 3, "it cannot be paid");
    let open = sites(MASKED, 0.03, 1000.0);
    open.configure(0, "127.0.0.1", "0.0.0.0");
    assert_eq!(fails(&open, 0.2), 2, "a page for everybody");
    // Rows with words for numbers, without a field, of a third kind, with a header that is none, with a field too many.
    let learning = learners();
    learning.configure(0, "program", "# program");
    learning.configure(0, "'gradient'", "'rows.csv'");
    let good = rows(0);
    for bad in [
        good.replace("49,", "49mmol,"),
        good.replace("49,", "49 "),
        good.replacen(",yes", ",0.7310585786300049", 1),
        good.replacen("a,b,label", "0.7310585786300049,b,label", 1),
        good.replacen(",yes", ",yes,0.7310585786300049", 1),
    ] {
        assert_ne!(bad, good);
        std::fs::write(learning.home(0).join("rows.csv"), &bad).unwrap();
        assert_eq!(fails(&learning, 0.2), 2, "{bad}");
    }
    for (shown, inside) in errors {
        silent(&shown, shown.as_bytes());
        silent(&inside, inside.as_bytes());
    }
    silent("what is logged", &logged());
}

/// The search itself: whatever somebody might write, it finds; and it finds nothing in what has none.
#[test]
fn a_value_that_is_told_is_found() {
    for (_, values) in values() {
        for value in values {
            let canary = Canary::new(value, GRID);
            let steps = (value / GRID).round() as i64;
            let bytes = value.to_le_bytes();
            let told = [
                format!("value {value}"),
                format!("{value:?} of {:?}", [value, 1.0]),
                format!("{value:.6} {value:.9}"),
                format!("{value:e} {value:E}"),
                format!("{:x}", value.to_bits()),
                format!("{:#018X}", value.to_bits()),
                format!("{:?}", bytes),
                format!("{:02x?}", bytes).replace(", ", "").replace(['[', ']'], ""),
                bytes.escape_ascii().to_string(),
                format!("rounded to {}", steps as f64 * GRID),
                format!("{steps} steps, {steps:#x}"),
                serde_json::to_string(&vec![value]).unwrap(),
            ];
            for text in told {
                let text = format!("DEBUG sottovoce_node::drive: {text}\n");
                assert!(canary.found(text.as_bytes()).is_some(), "{value} is not found in {text}");
            }
            assert!(canary.found(&[b"raw ", &bytes[..], b" raw"].concat()).is_some());
            assert!(
                canary
                    .found(b"DEBUG sottovoce_node::drive: noted: Silent { round: 3, missing: [1] }")
                    .is_none()
            );
        }
    }
}

/// A violation on the way that real ones would take: through the log.
#[test]
fn a_value_that_is_logged_is_found() {
    let log = Log::default();
    let lines = tracing_subscriber::fmt().without_time().with_ansi(false);
    let lines = lines.with_max_level(tracing::Level::TRACE).with_writer(log.clone()).finish();
    let held = values()[0].1.clone();
    tracing::subscriber::with_default(lines, || {
        tracing::trace!(?held, "a step was made");
    });
    let logged = log.0.lock().unwrap().clone();
    let caught = std::panic::catch_unwind(|| silent("a planted log", &logged)).unwrap_err();
    let message = caught.downcast_ref::<String>().unwrap();
    assert!(message.contains("of ana is told as a decimal in a planted log"), "{message}");
}
