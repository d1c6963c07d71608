//! What durability and the network cost, as ratios within one run: two peers on this machine, on real files, against bare streams and bare writes.
//!
//! `cargo bench -p sottovoce-node` (options: `exchange`, `commit`, `relay`, `many`)
#![allow(clippy::unwrap_used)]

use std::collections::VecDeque;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use iroh::endpoint::{Connection, presets};
use iroh::{Endpoint, EndpointAddr};
use sottovoce_node::{
    Agreement, Allowed, Cost, Due, Frame, Hash, Host, Key, Ledger, Observer, OnGrid, Options, Parcel, Place,
    Price, Signatures, Stands, Terms,
};
use sottovoce_privacy::noise::exact::Grid;
use sottovoce_privacy::{Adjacency, Unit};
use sottovoce_protocol::averaging::{Averager, Gossip, Noising, Row, Start};
use sottovoce_protocol::{Peer, Release};
use sottovoce_testing::figure;

const PEER: &str = "SOTTOVOCE_NODE_BENCH_PEER";
/// Ticks that hardly delay anything.
const QUICK: f64 = 0.001;

fn main() {
    if let Some(folder) = std::env::var_os(PEER) {
        return peer(Path::new(&folder));
    }
    let chosen: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let wanted = |name: &str| chosen.is_empty() || chosen.iter().any(|word| word == name);
    if wanted("exchange") {
        exchange();
    }
    if wanted("commit") {
        commit();
    }
    if wanted("relay") {
        relay();
    }
    if wanted("many") {
        many();
    }
}

/// A run of one peer.
fn peer(folder: &Path) {
    let place = Place::open(folder).unwrap();
    let file = folder.parent().unwrap().join("agreement.toml");
    let agreement = Agreement::parse(&std::fs::read_to_string(&file).unwrap()).unwrap();
    let signatures = Signatures::read(&file.with_extension("toml.signed")).unwrap();
    let ended = sottovoce_node::run(
        &place,
        &agreement,
        &signatures,
        &Options { meeting: Duration::from_secs(300), ..Options::default() },
    )
    .unwrap();
    assert!(matches!(ended.stands, Stands::Done(_)), "{:?}", ended.stands);
    std::fs::write(folder.join("took"), ended.took.as_secs_f64().to_string()).unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find(|line| line.starts_with("VmHWM")).and_then(|line| line.split_whitespace().nth(1));
    std::fs::write(folder.join("peak"), peak.unwrap_or("0")).unwrap();
}

/// Peers in folders, who agree on this.
fn town(folder: &Path, peers: usize, edges: &str, (width, steps): (usize, usize), (relay, tick): (f64, f64)) {
    let sockets: Vec<_> = (0..peers).map(|_| std::net::UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    let mut members = String::new();
    let mut keys = Vec::new();
    for (i, socket) in sockets.iter().enumerate() {
        let home = folder.join(format!("p{i}"));
        let (place, name) = Place::create(&home).unwrap();
        std::fs::write(home.join("values.txt"), "0.5\n".repeat(width)).unwrap();
        let budget = "epsilon = 1e12\ndelta = 1e-6\n";
        let config = format!(
            "label = 'values'\nvalues = 'values.txt'\n[budget.peer]\n{budget}[budget.coalition]\n{budget}[budget.wire-tapper]\n{budget}"
        );
        std::fs::write(home.join("node.toml"), config).unwrap();
        let address = socket.local_addr().unwrap();
        members += &format!("[[peers]]\nname = 'p{i}'\nkey = '{name}'\naddress = '{address}'\n");
        keys.push(place.read_key().unwrap());
    }
    let text = format!(
        "version = 1\nname = 'bench'\nnonce = '1'\ngrid = {}\nwidth = {width}\nedges = {edges}\nanswer = 60.0\nround = 600.0\ntick = {tick}\n{members}\
         [experiment]\nexperiment = 'averaging'\nprotocol = {{ method = 'gossip', steps = {steps} }}\nnoise = {{ sigma = 50.0, relay-noise = {relay} }}",
        2f64.powi(-20)
    );
    std::fs::write(folder.join("agreement.toml"), &text).unwrap();
    let agreement = Agreement::parse(&text).unwrap();
    let mut all = Signatures::default();
    for key in keys {
        all.add(&folder.join("agreement.toml.signed"), &key.name(), &agreement.sign(&key).unwrap()).unwrap();
    }
}

fn start(home: PathBuf) -> std::process::Child {
    Command::new(std::env::current_exe().unwrap()).env(PEER, home).spawn().unwrap()
}

/// A whole run of so many rounds; seconds from the first process to the last result.
fn run(peers: usize, edges: &str, size: (usize, usize), noise: (f64, f64)) -> Ran {
    let folder = tempfile::tempdir().unwrap();
    town(folder.path(), peers, edges, size, noise);
    let began = Instant::now();
    let children: Vec<_> = (0..peers).map(|i| start(folder.path().join(format!("p{i}")))).collect();
    for mut child in children {
        assert!(child.wait().unwrap().success());
    }
    let seconds = began.elapsed().as_secs_f64();
    let read =
        |i: usize, what: &str| std::fs::read_to_string(folder.path().join(format!("p{i}/{what}"))).unwrap();
    let peak = (0..peers).map(|i| read(i, "peak").parse().unwrap()).max().unwrap_or(0);
    let took = (0..peers).map(|i| read(i, "took").parse().unwrap()).max_by(f64::total_cmp).unwrap_or(0.0);
    Ran { seconds, took, peak }
}

/// A whole run: from the first process to the last, from the beginning to the last result, and the most memory that a process had, in kB.
struct Ran {
    seconds: f64,
    took: f64,
    peak: u64,
}

/// Seconds a round, from the difference of a long and a short run; with so much noise on messages, which leave at multiples of a tick.
fn round(width: usize, (short, long): (usize, usize), noise: (f64, f64)) -> f64 {
    let few = run(2, "'complete'", (width, short), noise).took;
    let many = run(2, "'complete'", (width, long), noise).took;
    if std::env::var_os("SOTTOVOCE_BENCH_VERBOSE").is_some() {
        println!("  {short} rounds {few:.3} s, {long} rounds {many:.3} s");
    }
    (many - few) / (long - short) as f64
}

/// Two endpoints that send each other so many bytes at once, again and again: seconds a time.
fn bare(bytes: usize, times: usize) -> f64 {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let bound = || async {
            let builder = Endpoint::builder(presets::Minimal)
                .alpns(vec![b"bare".to_vec()])
                .relay_mode(iroh::RelayMode::Disabled)
                .clear_ip_transports();
            builder.bind_addr("127.0.0.1:0").unwrap().bind().await.unwrap()
        };
        let (one, other) = (bound().await, bound().await);
        let address = EndpointAddr::new(other.id()).with_ip_addr(other.bound_sockets()[0]);
        let accept = async { other.accept().await.unwrap().accept().unwrap().await.unwrap() };
        let (a, b) = tokio::join!(async { one.connect(address, b"bare").await.unwrap() }, accept);
        let data = vec![7; bytes];
        let send = |connection: Connection, data: Vec<u8>| async move {
            let mut stream = connection.open_uni().await.unwrap();
            stream.write_all(&data).await.unwrap();
            stream.finish().unwrap();
        };
        let receive = |connection: Connection| async move {
            let mut stream = connection.accept_uni().await.unwrap();
            stream.read_to_end(usize::MAX).await.unwrap().len()
        };
        let mut best = Vec::new();
        for _ in 0..times {
            let began = Instant::now();
            let all = tokio::join!(
                tokio::spawn(send(a.clone(), data.clone())),
                tokio::spawn(send(b.clone(), data.clone())),
                tokio::spawn(receive(a.clone())),
                tokio::spawn(receive(b.clone()))
            );
            assert_eq!((all.2.unwrap(), all.3.unwrap()), (bytes, bytes));
            best.push(began.elapsed().as_secs_f64());
        }
        median(best)
    })
}

fn exchange() {
    let width = 1_250_000;
    // In turns, since a machine is not equally fast all the time.
    let turns: Vec<(f64, f64)> =
        (0..5).map(|_| (bare(8 * width, 9), round(width, (2, 22), (0.0, QUICK)))).collect();
    let of = |read: fn(&(f64, f64)) -> f64| median(turns.iter().map(read).collect());
    let (stream, durable) = (of(|turn| turn.0), of(|turn| turn.1));
    println!(
        "durable exchange of 10 MB vectors, both ways: {:.0} ms a round; a bare stream {:.0} ms",
        1e3 * durable,
        1e3 * stream
    );
    println!(
        "  {:.2} of the bare stream's speed in the median of {} turns (asked: at least 0.70)",
        of(|turn| turn.0 / turn.1),
        turns.len()
    );
    figure("durable exchange of 10 MB, of a bare stream", of(|turn| turn.0 / turn.1));
    // Nothing leaves before it is stored: that much time passes in any case.
    let stored = both_store(8 * width);
    println!(
        "  both writing and syncing these bytes to a plain file: {:.0} ms; so {:.2} if all else took no time",
        1e3 * stored,
        stream / (stream + stored)
    );
    let mut noise = OnGrid::deployed(Grid::new(2f64.powi(-20)).unwrap()).unwrap();
    let began = Instant::now();
    noise.ahead(50.0, width);
    println!("  noise for one such vector, drawn ahead: {:.0} ms", 1e3 * began.elapsed().as_secs_f64());
}

/// Two threads that each write and sync so many bytes, at the same time: seconds until both are done, in the median.
fn both_store(bytes: usize) -> f64 {
    let folder = tempfile::tempdir().unwrap();
    let data: Vec<u8> = (0..bytes).map(|i| (i * 31 + i / 256) as u8).collect();
    let store = |name: &str| {
        let mut file = std::fs::File::create(folder.path().join(name)).unwrap();
        file.write_all(&data).unwrap();
        file.sync_data().unwrap();
    };
    let both = |_| {
        let began = Instant::now();
        std::thread::scope(|both| {
            both.spawn(|| store("one"));
            both.spawn(|| store("other"));
        });
        began.elapsed().as_secs_f64()
    };
    median((0..9).map(both).collect())
}

/// Two peers on files, frames handed over by hand: how long each step takes.
fn steps(folder: &Path, width: usize, rounds: usize) -> Vec<f64> {
    let keys = [1, 2].map(|seed| Key::simulated(seed).name());
    let open = |peer: Peer| {
        let path = folder.join(format!("{peer}.ledger"));
        Ledger::create(&path, Key::simulated(1 + peer as u64)).unwrap();
        let mut ledger = Ledger::open(&path, Key::simulated(1 + peer as u64)).unwrap();
        let allowed = Allowed { epsilon: 1e12, delta: 1e-6, chances: 0.0 };
        ledger.declare("values", &Observer::WireTapper, allowed).unwrap();
        let noising = Noising { sensitivity: 1.0, local: 0.05, relay: 0.0 };
        let row = Row::mutual(0.5, [(1 - peer, 0.5)]);
        let machine = Averager::new(vec![0.5; width], Gossip::new(row, rounds), noising, None);
        let terms = Terms {
            run: Hash::of(b"bench"),
            roster: keys.to_vec(),
            neighbours: vec![1 - peer],
            label: "values".into(),
            data: Hash::of(&[peer as u8]),
            longest: 64 + 8 * width,
            most: rounds as u64,
        };
        let noise = OnGrid::deployed(Grid::new(2f64.powi(-20)).unwrap()).unwrap();
        Host::open(ledger, terms, machine, noise).unwrap()
    };
    let ((mut a, first), (mut b, second)) = (open(0), open(1));
    let release = Release::gaussian(1.0, 0.05);
    let prices = vec![(Observer::WireTapper, Price::concentrated(1.0).unwrap())];
    let (adjacency, unit) = (Adjacency::Replace, Unit::User);
    let cost = Cost { adjacency, unit, releases: vec![(release, 1)], prices };
    let mut mail: VecDeque<(Peer, Frame)> = VecDeque::new();
    let mut times = Vec::new();
    let mut dues: Vec<(Peer, _)> =
        first.into_iter().map(|due| (0, due)).chain(second.into_iter().map(|due| (1, due))).collect();
    loop {
        for (from, due) in dues.drain(..) {
            if let Due::Send { frame, .. } = due {
                mail.push_back((1 - from, frame));
            }
        }
        let hosts = [&mut a, &mut b];
        for (peer, host) in hosts.into_iter().enumerate() {
            if host.is_ready() && !host.has_begun() {
                dues.extend(host.command(Start, &cost).unwrap().into_iter().map(|due| (peer, due)));
            }
        }
        let Some((to, frame)) = mail.pop_front() else { break };
        let host = if to == 0 { &mut a } else { &mut b };
        let heard = match frame {
            Frame::Parcel(bytes) => {
                // The network's thread has looked at it before.
                let parcel = Parcel::vouch(bytes, Hash::of(b"bench"), 96 + 8 * width, &keys[1 - to]).unwrap();
                let began = Instant::now();
                let heard = host.unpack(1 - to, parcel).unwrap();
                times.push(began.elapsed().as_secs_f64());
                heard
            }
            frame => host.hear(1 - to, frame).unwrap(),
        };
        dues.extend(heard.into_iter().map(|due| (to, due)));
    }
    times
}

/// A step of a ledger (a message that is heard, mixed and answered by another) against a plain file that takes the same bytes and is synced. In turn, since disks have
/// good and bad moments.
fn commit() {
    for width in [100, 10_000, 1_250_000] {
        let times = if width > 1_000_000 { 8 } else { 60 };
        // What a step stores: the message that it says, and the machine's value.
        let data: Vec<u8> = (0..2 * 8 * width).map(|i| (i * 31 + i / 256) as u8).collect();
        let turn = |_| {
            let folder = tempfile::tempdir().unwrap();
            let plain = median(plain(folder.path(), &data, times));
            let step = median(steps(folder.path(), width, times));
            [step, median(transactions(folder.path(), &data, times)), plain]
        };
        let turns: Vec<[f64; 3]> = (0..if width > 1_000_000 { 5 } else { 25 }).map(turn).collect();
        let of = |read: fn(&[f64; 3]) -> f64| median(turns.iter().map(read).collect());
        println!(
            "a step that stores {} bytes: {:.2} ms, {:.2} times a plain write and sync (asked: at most 3); the storage engine alone, in two phases: {:.2} times",
            data.len(),
            1e3 * of(|turn| turn[0]),
            of(|turn| turn[0] / turn[2]),
            of(|turn| turn[1] / turn[2]),
        );
        figure(
            &format!("a step that stores {} bytes, times a plain write and sync", data.len()),
            of(|turn| turn[0] / turn[2]),
        );
    }
}

/// Writes and syncs these bytes, again and again, to the end of a file.
fn plain(folder: &Path, data: &[u8], times: usize) -> Vec<f64> {
    let mut file = std::fs::File::create(folder.join("plain")).unwrap();
    let write = |_| {
        let began = Instant::now();
        file.write_all(data).unwrap();
        file.sync_data().unwrap();
        began.elapsed().as_secs_f64()
    };
    (0..times).map(write).collect()
}

/// What the storage engine takes for the same bytes in one entry, without any of ours around it.
fn transactions(folder: &Path, data: &[u8], times: usize) -> Vec<f64> {
    const TABLE: redb::TableDefinition<'_, u64, &[u8]> = redb::TableDefinition::new("bytes");
    let database = redb::Database::create(folder.join("bare.redb")).unwrap();
    let insert = |_| {
        let began = Instant::now();
        let mut write = database.begin_write().unwrap();
        write.set_two_phase_commit(true);
        write.open_table(TABLE).unwrap().insert(0, data).unwrap();
        write.commit().unwrap();
        began.elapsed().as_secs_f64()
    };
    (0..times).map(insert).collect()
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

fn relay() {
    for width in [1_000, 100_000] {
        // As agreements have it where they do not say otherwise; and so quick that there is no time to draw noise while a message waits.
        for (tick, remark) in [(0.01, "asked: at most 1.3"), (QUICK, "two cores with no time left")] {
            let (without, with) = (round(width, (5, 45), (0.0, tick)), round(width, (5, 45), (0.1, tick)));
            println!(
                "a round of {width} numbers at ticks of {:.0} ms: {:.1} ms, with relay noise {:.1} ms: {:.2} times ({remark})",
                1e3 * tick,
                1e3 * without,
                1e3 * with,
                with / without
            );
            if tick > QUICK {
                figure(
                    &format!("a round of {width} numbers with relay noise, times one without"),
                    with / without,
                );
            }
        }
    }
}

/// Sixty-four processes on a graph of degree four.
fn many() {
    let (peers, width) = (64, 100_000);
    let edges: Vec<String> =
        (0..peers).flat_map(|i| [1, 2].map(|step| format!("['p{i}','p{}']", (i + step) % peers))).collect();
    let Ran { seconds, took, peak } = run(peers, &format!("[{}]", edges.join(",")), (width, 20), (0.1, 0.01));
    let allowed = 48 * 1024 + 2 * (4 + 4) * 8 * width as u64 / 1024;
    println!(
        "{peers} processes, degree 4, 20 rounds of {width} numbers: {took:.1} s of {seconds:.1} s; peak memory {peak} kB each (asked: at most {allowed})"
    );
}
