//! Eight hosts of their own, each a network namespace with a peer: packets are lost, slowed, delayed and overtaken, links go down and come back, and nobody is spoken to but peers.
//!
//! Skipped, with the reason, where namespaces or their tools are not to be had.

use crate::common;

use std::fs::File;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use common::real::{Ended, MASKED, Process, Setting, Town, all_near, until};
use sottovoce_node::Phase;
use sottovoce_testing::skipped;

const PEERS: usize = 8;

/// One village at a time, whichever process tests it: names and addresses are the same.
fn alone() -> File {
    let file = File::create(std::env::temp_dir().join("sottovoce-namespaces")).unwrap();
    file.lock().unwrap();
    file
}

fn run(words: &str) -> Result<String, String> {
    let mut all = words.split_whitespace();
    let output =
        Command::new(all.next().unwrap()).args(all).output().map_err(|why| format!("{words}: {why}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{words}: {}", String::from_utf8_lossy(&output.stderr).trim_end())),
    }
}

/// Hosts, and a hub between them.
struct Hosts;

fn host(peer: usize) -> String {
    format!("sottovoce-{peer}")
}

const HUB: &str = "sottovoce-hub";

impl Hosts {
    /// All of them, each with a cable to the hub; none where that cannot be.
    fn new(make: impl Fn() -> Result<(), String>) -> Option<Self> {
        Self::clear();
        let made = run(&format!("ip netns add {HUB}")).and_then(|_| {
            run(&format!("ip -n {HUB} link set lo up"))?;
            for peer in 0..PEERS {
                let name = host(peer);
                run(&format!("ip netns add {name}"))?;
                run(&format!("ip -n {name} link set lo up"))?;
                run(&format!("ip link add v netns {name} type veth peer name h{peer} netns {HUB}"))?;
                run(&format!("ip -n {name} link set v up"))?;
                run(&format!("ip -n {HUB} link set h{peer} up"))?;
            }
            make()
        });
        match made {
            Ok(()) => Some(Self),
            Err(why) => {
                skipped("namespaces", &format!("no network namespaces here ({why})"));
                Self::clear();
                None
            }
        }
    }

    /// Everybody on one switch, at 10.77.0.1 and up.
    fn switched() -> Option<Self> {
        Self::new(|| {
            run(&format!("ip -n {HUB} link add name bridge0 type bridge"))?;
            run(&format!("ip -n {HUB} link set bridge0 up"))?;
            for peer in 0..PEERS {
                run(&format!("ip -n {HUB} link set h{peer} master bridge0"))?;
                run(&format!("ip -n {} addr add 10.77.0.{}/24 dev v", host(peer), peer + 1))?;
            }
            Ok(())
        })
    }

    /// Nobody reaches anybody but the hub, which has an address for each: 10.79.0.1 and up.
    fn apart() -> Option<Self> {
        Self::new(|| {
            for peer in 0..PEERS {
                run(&format!("ip -n {HUB} addr add 10.78.{peer}.1/24 dev h{peer}"))?;
                run(&format!("ip -n {HUB} addr add 10.79.0.{}/32 dev lo", peer + 1))?;
                run(&format!("ip -n {} addr add 10.78.{peer}.2/24 dev v", host(peer)))?;
                run(&format!("ip -n {} route add default via 10.78.{peer}.1", host(peer)))?;
            }
            Ok(())
        })
    }

    fn clear() {
        for name in (0..PEERS).map(host).chain([HUB.to_owned()]) {
            let _ = run(&format!("ip netns del {name}"));
        }
    }
}

impl Drop for Hosts {
    fn drop(&mut self) {
        Self::clear();
    }
}

/// Rules of a host's own packet filter.
fn rule(peer: usize, words: &str) -> Result<String, String> {
    run(&format!("ip netns exec {} nft {words}", host(peer)))
}

fn tables() -> Result<(), String> {
    for peer in 0..PEERS {
        rule(peer, "add table inet t")?;
        rule(peer, "add chain inet t heard { type filter hook input priority 0 ; }")?;
        rule(peer, "add chain inet t said { type filter hook output priority 0 ; }")?;
        rule(peer, "add rule inet t said meta l4proto { tcp, udp } ip daddr != 10.77.0.1-10.77.0.8 counter")?;
        rule(peer, "add rule inet t said meta l4proto { tcp, udp } meta nfproto ipv6 counter")?;
    }
    Ok(())
}

/// One packet in ten is lost, and links are slow.
fn bad_links() -> Result<(), String> {
    for peer in 0..PEERS {
        rule(peer, "add rule inet t heard meta l4proto udp numgen random mod 100 < 10 drop")?;
        run(&format!(
            "tc -n {} qdisc add dev v root tbf rate 20mbit burst 32kbit latency 100ms",
            host(peer)
        ))?;
    }
    Ok(())
}

/// Packets that went to anybody but peers.
fn strangers() -> u64 {
    let counted = |peer| {
        let text = rule(peer, "list chain inet t said").unwrap();
        let words: Vec<&str> = text.split_whitespace().collect();
        let counts =
            words.windows(2).filter(|pair| pair[0] == "packets").map(|pair| pair[1].parse::<u64>().unwrap());
        let counts: Vec<u64> = counts.collect();
        assert_eq!(counts.len(), 2, "{text}");
        counts.iter().sum::<u64>()
    };
    (0..PEERS).map(counted).sum()
}

fn start(town: &Town, peer: usize) -> Process {
    town.start_by(&["ip", "netns", "exec", &host(peer)], peer, 60.0)
}

fn addresses() -> Vec<String> {
    (1..=PEERS).map(|place| format!("10.77.0.{place}:4001")).collect()
}

fn ends(processes: Vec<Process>) -> Vec<Ended> {
    processes.into_iter().map(Process::end).collect()
}

/// Eight deviations of a mean of eight: one chance in 10^10 that any of 20,000 numbers is farther off.
const NEAR: f64 = 8.0 * 0.05 / 2.8;

#[test]
#[ignore = "second tier: network namespaces"]
fn lost_packets_and_slow_links_delay_a_run_and_nothing_else() {
    let _one = alone();
    let Some(_hosts) = Hosts::switched() else { return };
    if let Err(why) = tables().and_then(|()| bad_links()) {
        return skipped("namespaces", &format!("no packet filter here ({why})"));
    }
    let setting = Setting {
        addresses: addresses(),
        width: 20_000,
        answer: 10.0,
        round: 60.0,
        ..Setting::loopback(0, MASKED)
    };
    let town = Town::new(&setting);
    let results =
        all_near(ends((0..PEERS).map(|peer| start(&town, peer)).collect()), &town.mean(20_000), NEAR);
    assert!(results.iter().all(|result| *result == results[0]));
    assert_eq!(strangers(), 0, "packets to somebody who is no peer");
}

const LONG: &str =
    "protocol = { method = 'gossip', steps = 60 }\nnoise = { sigma = 0.05, relay-noise = 0.01 }";

#[test]
#[ignore = "second tier: network namespaces"]
fn a_link_that_comes_back_is_used_again() {
    let _one = alone();
    let Some(_hosts) = Hosts::switched() else { return };
    let setting =
        Setting { addresses: addresses(), answer: 5.0, round: 60.0, tick: 0.1, ..Setting::loopback(0, LONG) };
    let town = Town::new(&setting);
    let processes: Vec<Process> = (0..PEERS).map(|peer| start(&town, peer)).collect();
    let round = |process: &Process| process.status().map_or(0, |status| status.round);
    until("rounds go on", || round(&processes[3]) >= 5);
    run(&format!("ip -n {} link set v down", host(3))).unwrap();
    // Longer than a connection lives without a sign of life.
    until("the others notice", || {
        processes[0].status().is_some_and(|status| status.neighbours.iter().any(|one| !one.connected))
    });
    run(&format!("ip -n {} link set v up", host(3))).unwrap();
    let began = Instant::now();
    let before = round(&processes[0]);
    until("it goes on", || round(&processes[0]) > before + 1);
    assert!(began.elapsed() < Duration::from_secs(40), "{:?}", began.elapsed());
    all_near(ends(processes), &town.mean(2), 0.5);
}

#[test]
#[ignore = "second tier: network namespaces"]
fn who_is_cut_off_for_good_is_named() {
    let _one = alone();
    let Some(_hosts) = Hosts::switched() else { return };
    let setting =
        Setting { addresses: addresses(), answer: 2.0, round: 10.0, tick: 0.1, ..Setting::loopback(0, LONG) };
    let town = Town::new(&setting);
    let processes: Vec<Process> = (0..PEERS).map(|peer| start(&town, peer)).collect();
    until("rounds go on", || {
        processes[0].status().is_some_and(|status| status.phase == Phase::Running && status.round > 3)
    });
    run(&format!("ip -n {} link set v down", host(5))).unwrap();
    let ends = ends(processes);
    for (peer, end) in ends.iter().enumerate() {
        let Ended::Halted(missing) = end else { panic!("{end:?}") };
        assert!(peer == 5 || missing.contains('5'), "{peer}: {missing}");
    }
}

#[test]
#[ignore = "second tier: network namespaces"]
fn peers_on_one_network_find_each_other_without_addresses() {
    let _one = alone();
    let Some(_hosts) = Hosts::switched() else { return };
    let setting = Setting { addresses: vec![String::new(); PEERS], ..Setting::loopback(0, MASKED) };
    let town = Town::new(&setting);
    for peer in 0..PEERS {
        run(&format!("ip -n {} route add 224.0.0.0/4 dev v", host(peer))).unwrap();
        let config = town.home(peer).join("node.toml");
        let text = std::fs::read_to_string(&config).unwrap();
        let more = format!("bind = '10.77.0.{}:4001'\nlocal = true\n", peer + 1);
        std::fs::write(&config, more + &text).unwrap();
    }
    let results = all_near(ends((0..PEERS).map(|peer| start(&town, peer)).collect()), &town.mean(2), NEAR);
    assert!(results.iter().all(|result| *result == results[0]));
}

#[test]
#[ignore = "second tier: network namespaces"]
fn packets_that_overtake_each_other_change_nothing() {
    let _one = alone();
    let Some(_hosts) = Hosts::apart() else { return };
    let mut hub = Command::new("ip")
        .args(["netns", "exec", HUB])
        .arg(common::child())
        .args(["forwarder", &PEERS.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let addresses = (1..=PEERS).map(|place| format!("10.79.0.{place}:4001")).collect();
    let setting =
        Setting { addresses, width: 5000, answer: 10.0, round: 60.0, ..Setting::loopback(0, MASKED) };
    let town = Town::new(&setting);
    for peer in 0..PEERS {
        let config = town.home(peer).join("node.toml");
        let text = std::fs::read_to_string(&config).unwrap();
        std::fs::write(&config, format!("bind = '0.0.0.0:4001'\n{text}")).unwrap();
    }
    let ended = ends((0..PEERS).map(|peer| start(&town, peer)).collect());
    let _ = hub.kill();
    let _ = hub.wait();
    let results = all_near(ended, &town.mean(5000), NEAR);
    assert!(results.iter().all(|result| *result == results[0]));
}
