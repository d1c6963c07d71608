//! Processes on this machine, each a peer: they find each other, average, survive kills and pauses, and say who is missing.

use crate::common;

use std::time::{Duration, Instant};

use common::real::{Ended, MASKED, RELAYED, Setting, Town, all_near, until};
use sottovoce_node::{Phase, Priced};

fn ends(processes: Vec<common::real::Process>) -> Vec<Ended> {
    processes.into_iter().map(common::real::Process::end).collect()
}

#[test]
fn sixteen_processes_average_under_masks() {
    let town = Town::new(&Setting::loopback(16, MASKED));
    let results = all_near(ends(town.start_all()), &town.mean(2), 8.0 * 0.05 / 4.0);
    assert!(results.iter().all(|result| *result == results[0]), "a sum of integers is the same everywhere");
    for peer in 0..16 {
        let ledger = town.place(peer).open_ledger().unwrap();
        let run = town.agreement().hash().unwrap();
        let records = ledger.records(run).unwrap();
        assert_eq!(records.iter().filter(|record| record.cost.is_some()).count(), 1, "paid once");
        assert_eq!(records.iter().map(|record| record.releases.len()).sum::<usize>(), 1, "released once");
        let said: usize = records.iter().map(|record| record.said.len()).sum();
        assert_eq!(said, 4, "a butterfly of sixteen has four rounds");
    }
}

#[test]
fn gossip_with_relay_noise_ends_as_well() {
    let edges = "[['p0','p1'],['p1','p2'],['p2','p3'],['p3','p0'],['p0','p2']]";
    let setting = Setting { edges, ..Setting::loopback(4, RELAYED) };
    let town = Town::new(&setting);
    all_near(ends(town.start_all()), &town.mean(2), 0.5);
}

/// Nothing is released while somebody far away is missing; who comes late delays everybody, and that is all.
#[test]
fn who_comes_late_is_waited_for() {
    let edges = "[['p0','p1'],['p1','p2'],['p2','p3']]";
    let town = Town::new(&Setting { edges, ..Setting::loopback(4, RELAYED) });
    let mut processes: Vec<_> = (0..3).map(|peer| town.start(peer)).collect();
    until("three are connected", || {
        processes.iter().all(|process| {
            let connected =
                |status: sottovoce_node::Status| status.neighbours.iter().filter(|one| one.connected).count();
            process.status().map(connected) == Some(if process.id() == processes[1].id() { 2 } else { 1 })
        })
    });
    std::thread::sleep(Duration::from_millis(300));
    assert!(processes.iter().all(|process| process.status().unwrap().phase == Phase::Meeting));
    assert!(
        processes.iter().all(|process| process
            .status()
            .unwrap()
            .budgets
            .iter()
            .all(|one| one.epsilon == 0.0))
    );
    processes.push(town.start(3));
    all_near(ends(processes), &town.mean(2), 0.5);
}

#[test]
fn who_is_killed_goes_on_where_it_was() {
    let setting = Setting {
        width: 2000,
        tick: 0.1,
        ..Setting::loopback(
            4,
            "protocol = { method = 'gossip', steps = 40 }\nnoise = { sigma = 0.05, relay-noise = 0.01 }",
        )
    };
    let town = Town::new(&setting);
    let mut processes: Vec<_> = town.start_all().into_iter().map(Some).collect();
    let round = |process: &common::real::Process| process.status().map_or(0, |status| status.round);
    for kill in 1..=4 {
        let victim = kill % 4;
        until("rounds go on", || {
            processes[victim].as_ref().is_some_and(|process| round(process) >= 8 * kill)
        });
        let mut process = processes[victim].take().unwrap();
        process.kill();
        let began = Instant::now();
        processes[victim] = Some(town.start(victim));
        until("it goes on", || {
            processes[victim].as_ref().is_some_and(|process| {
                process.status().is_some_and(|status| {
                    status.process == process.id() && status.phase == Phase::Running
                        || status.phase == Phase::Done
                })
            })
        });
        assert!(began.elapsed() < Duration::from_secs(15), "it took {:?} to come back", began.elapsed());
    }
    all_near(ends(processes.into_iter().flatten().collect()), &town.mean(2000), 1.0);
    for peer in 0..4 {
        let ledger = town.place(peer).open_ledger().unwrap();
        let records = ledger.records(town.agreement().hash().unwrap()).unwrap();
        assert_eq!(records.iter().filter(|record| record.cost.is_some()).count(), 1, "paid once");
        let numbers: std::collections::BTreeSet<_> =
            records.iter().flat_map(|record| record.said.iter().map(|one| (one.peer, one.number))).collect();
        assert_eq!(numbers.len(), 3 * 40, "every message once, whatever was killed");
    }
}

#[test]
#[ignore = "second tier: waits"]
fn a_pause_is_waited_for_and_silence_is_named() {
    let setting = Setting {
        answer: 1.0,
        round: 8.0,
        tick: 0.05,
        ..Setting::loopback(
            4,
            "protocol = { method = 'gossip', steps = 200 }\nnoise = { sigma = 0.05, relay-noise = 0.01 }",
        )
    };
    let town = Town::new(&setting);
    let processes = town.start_all();
    let going = |round: usize| {
        processes[0].status().is_some_and(|status| status.phase == Phase::Running && status.round >= round)
    };
    until("it goes on", || going(5));
    processes[2].signal("-STOP");
    std::thread::sleep(Duration::from_millis(700));
    processes[2].signal("-CONT");
    let before = processes[0].status().unwrap().round;
    until("it goes on after the pause", || going(before + 5));
    // Now for good: all wait as long as a round may take, and halt.
    processes[2].signal("-STOP");
    let others: Vec<_> = processes.into_iter().enumerate().collect();
    let mut silent = None;
    for (peer, process) in others {
        if peer == 2 {
            silent = Some(process);
            continue;
        }
        match process.end() {
            Ended::Halted(named) => assert_eq!(named, "[2]", "peer {peer}"),
            other => panic!("{other:?}"),
        }
    }
    // Who stood still blames nobody else for it.
    let silent = silent.unwrap();
    silent.signal("-CONT");
    assert_eq!(silent.end(), Ended::Halted("[2]".to_owned()));
}

#[test]
fn what_was_done_is_not_done_again() {
    let town = Town::new(&Setting::loopback(3, MASKED));
    let first = ends(town.start_all());
    // Nobody else is there: the result is in the ledger.
    let again = town.start_by(&[], 1, 1.0).end();
    assert_eq!(again, first[1]);
    let spent = |peer| town.place(peer).open_ledger().unwrap().spent("values").unwrap();
    let once = spent(1);
    town.start_by(&[], 1, 1.0).end();
    assert_eq!(spent(1), once);
}

/// On a ring of five most have never exchanged a message with the one that is gone, and time out on others.
#[test]
fn everybody_names_the_peer_that_fell_silent() {
    let town = Town::new(&Setting {
        edges: "[['p0','p1'],['p1','p2'],['p2','p3'],['p3','p4'],['p4','p0']]",
        answer: 0.5,
        round: 2.0,
        tick: 0.05,
        ..Setting::loopback(
            5,
            "protocol = { method = 'gossip', steps = 200 }\nnoise = { sigma = 0.05, relay-noise = 0.01 }",
        )
    });
    let mut processes = town.start_all();
    until("it goes on", || {
        processes[0].status().is_some_and(|status| status.phase == Phase::Running && status.round >= 3)
    });
    processes.remove(2).kill();
    for (process, peer) in processes.into_iter().zip([0, 1, 3, 4]) {
        let end = process.end();
        assert_eq!(end, Ended::Halted("[2]".to_owned()), "peer {peer}");
    }
    // It is in the ledger: after a restart the same is said, with nobody there.
    assert_eq!(town.start_by(&[], 0, 1.0).end(), Ended::Halted("[2]".to_owned()));
}

/// Who crashed after the begin and comes back late is told by anybody who runs it again; alone it is promised nothing.
#[test]
fn who_was_cut_off_hears_that_the_run_is_over() {
    let town = Town::new(&Setting {
        answer: 0.5,
        round: 3.0,
        tick: 0.05,
        ..Setting::loopback(
            3,
            "protocol = { method = 'gossip', steps = 400 }\nnoise = { sigma = 0.05, relay-noise = 0.01 }",
        )
    });
    let mut processes = town.start_all();
    until("it goes on", || {
        processes[2].status().is_some_and(|status| status.phase == Phase::Running && status.round >= 3)
    });
    processes.remove(2).kill();
    let halted = Ended::Halted("[2]".to_owned());
    assert_eq!(ends(processes), [halted.clone(), halted.clone()]);
    let Ended::Error(4, message) = town.start_by(&[], 2, 1.0).end() else { panic!() };
    assert!(message.contains("had begun") && message.contains("`node status`"), "{message}");
    let late = town.start(2);
    until("it waits", || late.status().is_some_and(|status| status.process == late.id()));
    assert_eq!(town.start(0).end(), halted);
    let end = late.end();
    let Ended::Error(6, message) = end else { panic!("{end:?}") };
    assert!(message.contains("p2 stopped responding"), "{message}");
    // It is in its ledger by now.
    assert!(matches!(town.start_by(&[], 2, 1.0).end(), Ended::Error(6, _)));
}

/// A backup that knows nothing of a run is told so by whoever has its result.
#[test]
fn an_older_ledger_is_recognised_by_who_is_done() {
    let town = Town::new(&Setting::loopback(3, MASKED));
    let ledger = town.home(2).join("ledger");
    let older = std::fs::read(&ledger).unwrap();
    let first = ends(town.start_all());
    std::fs::write(&ledger, older).unwrap();
    let restored = town.start(2);
    until("it waits", || restored.status().is_some_and(|status| status.process == restored.id()));
    assert_eq!(town.start_by(&[], 0, 20.0).end(), first[0]);
    let end = restored.end();
    assert!(matches!(end, Ended::Error(5, _)), "{end:?}");
}

#[test]
fn whoever_does_not_come_is_named_and_nothing_is_spent() {
    let town = Town::new(&Setting::loopback(3, RELAYED));
    let ends: Vec<Ended> = [0, 1]
        .map(|peer| town.start_by(&[], peer, 1.5))
        .into_iter()
        .map(common::real::Process::end)
        .collect();
    for (peer, end) in ends.iter().enumerate() {
        let Ended::Error(4, message) = end else { panic!("{end:?}") };
        assert!(message.contains("p2 did not come in time"), "{message}");
        let ledger = town.place(peer).open_ledger().unwrap();
        assert!(ledger.spent("values").unwrap().iter().all(|(_, _, loss, _)| *loss == 0.0));
    }
}

/// While a node waits for others, its ledger can be read, and it takes part in another run to the end; then in the first.
#[test]
fn who_waits_blocks_nothing() {
    let town = Town::new(&Setting::loopback(3, RELAYED));
    let first = town.agreement().hash().unwrap();
    let texts = ["agreement.toml", "agreement.toml.signed"].map(|file| town.folder.path().join(file));
    let before = texts.each_ref().map(|path| std::fs::read(path).unwrap());
    let waiting = town.start(0);
    until("it waits", || waiting.status().is_some_and(|status| status.phase == Phase::Meeting));
    // Plans and transcripts read the ledger.
    assert_eq!(town.place(0).open_ledger().unwrap().records(first).unwrap().len(), 0);
    let second = town.agree_again().hash().unwrap();
    all_near(ends(town.start_all()), &town.mean(2), 0.5);
    assert!(waiting.status().is_some_and(|status| status.phase == Phase::Meeting), "it still waits");
    for (path, bytes) in texts.iter().zip(before) {
        std::fs::write(path, bytes).unwrap();
    }
    let ended = ends(vec![waiting, town.start(1), town.start(2)]);
    all_near(ended, &town.mean(2), 0.5);
    for peer in 0..3 {
        let ledger = town.place(peer).open_ledger().unwrap();
        let paid = |run| ledger.records(run).unwrap().iter().filter(|one| one.cost.is_some()).count();
        assert_eq!([paid(first), paid(second)], [1, 1], "each run was paid once");
    }
}

/// An agreement with further peers, who get budgets of their own: who waits in an earlier one goes on waiting, and pays towards all of them.
#[test]
fn budgets_of_another_run_do_not_end_the_one_that_waits() {
    let setting = Setting {
        edges: "[['p0','p1'],['p1','p2'],['p2','p3'],['p3','p0']]",
        ..Setting::loopback(4, RELAYED)
    };
    let town = Town::new(&setting);
    let all = std::fs::read_to_string(town.folder.path().join("agreement.toml")).unwrap();
    // The first one is of two peers; a third has a budget from the second on.
    let (head, members) = all.split_once("[[peers]]").unwrap();
    let members: Vec<&str> = members.split("[[peers]]").collect();
    let (last, experiment) = members[3].split_once("[experiment]").unwrap();
    assert!(last.contains("p3"));
    let edges = head.lines().find(|line| line.starts_with("edges")).unwrap();
    let of = |peers: &[usize], nonce: &str, old: Option<&str>| {
        let head =
            head.replace(edges, "edges = 'complete'").replace("nonce = '1'", &format!("nonce = '{nonce}'"));
        let listed: String = peers
            .iter()
            .map(|&peer| format!("[[peers]]{}", members[peer].split("[experiment]").next().unwrap()))
            .collect();
        let port = old.map(|_| sottovoce_testing::ports(1)[0]);
        let text = format!("{head}{listed}[experiment]{experiment}");
        port.map_or(text.clone(), |port| {
            text.replace(&town.agreement().peers[0].address, &format!("127.0.0.1:{port}"))
        })
    };
    let write = |text: &str, peers: &[usize]| {
        for &home in peers {
            std::fs::write(town.home(home).join("agreement.toml"), text).unwrap();
            let agreement = sottovoce_node::Agreement::parse(text).unwrap();
            let path = town.home(home).join("agreement.toml.signed");
            let _ = std::fs::remove_file(&path);
            let mut all = sottovoce_node::Signatures::default();
            for &peer in peers {
                let key = town.place(peer).read_key().unwrap();
                all.add(&path, &key.name(), &agreement.sign(&key).unwrap()).unwrap();
            }
        }
    };
    write(&of(&[0, 1], "one", None), &[0, 1]);
    let waiting = town.start(0);
    until("it waits", || waiting.status().is_some_and(|status| status.phase == Phase::Meeting));
    let second = of(&[0, 2, 3], "two", Some("another port"));
    write(&second, &[0, 2, 3]);
    let three = [0, 2, 3].map(|peer| town.start(peer));
    assert!(ends(three.into()).iter().all(|end| matches!(end, Ended::Done(_))));
    assert!(waiting.status().is_some_and(|status| status.phase == Phase::Meeting), "it still waits");
    let both = ends(vec![waiting, town.start(1)]);
    assert!(both.iter().all(|end| matches!(end, Ended::Done(_))), "{both:?}");
    // Towards the peers of the second run the first one costs nothing, and is paid for towards all who see everything.
    let spent = town.place(0).open_ledger().unwrap().spent("values").unwrap();
    assert_eq!(spent.len(), 4, "three peers and who sees every message");
    assert!(spent.iter().all(|(_, _, loss, _)| *loss > 0.0));
}

#[test]
fn different_agreements_are_refused_by_field() {
    let town = Town::new(&Setting { answer: 15.0, ..Setting::loopback(2, RELAYED) });
    let text = std::fs::read_to_string(town.folder.path().join("agreement.toml")).unwrap();
    let other = text.replace("round = 20", "round = 21");
    let own = town.home(1).join("agreement.toml");
    std::fs::write(&own, &other).unwrap();
    let agreement = sottovoce_node::Agreement::parse(&other).unwrap();
    let mut all = sottovoce_node::Signatures::default();
    for peer in 0..2 {
        let key = town.place(peer).read_key().unwrap();
        all.add(&town.home(1).join("agreement.toml.signed"), &key.name(), &agreement.sign(&key).unwrap())
            .unwrap();
    }
    for end in ends(town.start_all()) {
        let Ended::Error(5, message) = end else { panic!("{end:?}") };
        assert!(message.contains("`round` is 2"), "{message}");
    }
    for peer in 0..2 {
        assert!(
            town.place(peer).open_ledger().unwrap().spent("values").unwrap().iter().all(|one| one.2 == 0.0)
        );
    }
}

#[test]
fn what_can_never_work_is_refused_at_once() {
    let refused = |change: &dyn Fn(String) -> String, code: u8, expected: &str| {
        let town = Town::new(&Setting::loopback(2, RELAYED));
        let path = town.folder.path().join("agreement.toml");
        let text = change(std::fs::read_to_string(&path).unwrap());
        std::fs::write(&path, &text).unwrap();
        town.sign(&text);
        let began = Instant::now();
        let Ended::Error(found, message) = town.start(0).end() else { panic!("{expected}") };
        assert!(found == code && message.contains(expected), "{found}: {message}");
        assert!(began.elapsed() < Duration::from_secs(20), "refused, not retried");
    };
    let address = |text: String| {
        let lines = text.lines().map(|line| {
            let second = line.starts_with("address") && text.find(line) == text.rfind("address");
            if second { "address = ''" } else { line }
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    refused(&address, 2, "`address` is ");
    // Somebody has not signed.
    let town = Town::new(&Setting::loopback(2, RELAYED));
    std::fs::remove_file(town.folder.path().join("agreement.toml.signed")).unwrap();
    let Ended::Error(5, message) = town.start(0).end() else { panic!() };
    assert!(message.contains("p0, p1 has not signed"), "{message}");
    // Its own port is taken.
    let town = Town::new(&Setting::loopback(2, RELAYED));
    let taken = town.agreement().peers[0].address.clone();
    let _socket = std::net::UdpSocket::bind(&taken).unwrap();
    let Ended::Error(2, message) = town.start(0).end() else { panic!() };
    assert!(message.contains("`bind` is") && message.contains(&taken), "{message}");
    // What cannot be paid is not begun.
    let town = Town::new(&Setting::loopback(2, RELAYED));
    let config = town.home(0).join("node.toml");
    std::fs::write(&config, std::fs::read_to_string(&config).unwrap().replace("1e9", "0.01")).unwrap();
    let Ended::Error(3, message) = town.start(0).end() else { panic!() };
    assert!(message.contains("this run takes") && message.contains("Nothing was sent"), "{message}");
}

#[test]
fn links_of_a_butterfly_are_those_of_its_plan() {
    let town = Town::new(&Setting::loopback(8, MASKED));
    let role = town.agreement().role(0).unwrap();
    let links = role.links().unwrap();
    assert!(links.iter().all(|all| all.len() == 3), "{links:?}");
    let _: &dyn Priced = &sottovoce_node::averaging::Prepared::new(&town.agreement(), 0).unwrap();
}

/// A disk without room: nothing is sent that is not stored, and the exit code says so.
#[test]
fn a_full_disk_stops_a_peer_before_it_speaks() {
    let town =
        Town::new(&Setting { width: 200_000, answer: 1.0, round: 2.0, ..Setting::loopback(3, RELAYED) });
    let others: Vec<_> = [1, 2].map(|peer| town.start_by(&[], peer, 8.0)).into();
    // No file may grow beyond what the ledger has now, and a little.
    let size = std::fs::metadata(town.home(0).join("ledger")).unwrap().len() / 512 + 64;
    let limited = format!("trap '' XFSZ; ulimit -f {size}; exec \"$0\" \"$@\"");
    let end = town.start_by(&["sh", "-c", &limited], 0, 60.0).end();
    let Ended::Error(3, message) = end else { panic!("{end:?}") };
    assert!(message.contains("nothing is sent that is not stored"), "{message}");
    for end in ends(others) {
        // Whether they have begun depends on whether its last signature has left.
        match end {
            Ended::Halted(named) => assert_eq!(named, "[0]"),
            // (The one that gives up last has seen the other go, too.)
            Ended::Error(4, message) => {
                assert!(message.starts_with("p0") && message.contains("did not come in time"), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
    let ledger = town.place(0).open_ledger().unwrap();
    let records = ledger.records(town.agreement().hash().unwrap()).unwrap();
    assert!(records.iter().all(|record| record.said.is_empty()), "what was not stored was not said");
}

/// A clock that is a year off: nothing here reads the time of day to decide anything.
#[test]
#[ignore = "second tier: a clock of its own"]
fn a_wrong_clock_changes_nothing() {
    let shifted = ["faketime", "-m", "--exclude-monotonic", "-f", "+370d"];
    let there = std::process::Command::new("faketime").args(["-f", "+1d", "true"]).status();
    if !there.is_ok_and(|status| status.success()) {
        return sottovoce_testing::skipped("faketime", "no `faketime` here");
    }
    let town = Town::new(&Setting::loopback(3, RELAYED));
    let mut processes = vec![town.start_by(&shifted, 0, 60.0)];
    processes.extend([1, 2].map(|peer| town.start(peer)));
    all_near(ends(processes), &town.mean(2), 0.5);
}

/// What was deployed is what is simulated: every bit of every result, from what noise made of values.
#[test]
fn recorded_runs_are_the_simulators() {
    let accelerated =
        "protocol = { method = 'accelerated', steps = 9 }\nnoise = { sigma = 0.05, relay-noise = 0.0 }";
    for experiment in [MASKED, RELAYED, accelerated] {
        let town = Town::new(&Setting::loopback(5, experiment));
        let ended = ends((0..5).map(|peer| town.start_recorded(peer)).collect());
        let results = all_near(ended, &town.mean(2), 0.5);
        let recordings: Vec<_> =
            (0..5).map(|peer| sottovoce_node::Recording::read(&town.recording(peer)).unwrap()).collect();
        let again = sottovoce_node::replay(&recordings).unwrap();
        for (known, found) in results.iter().zip(again) {
            let bits = |all: &[f64]| all.iter().map(|number| number.to_bits()).collect::<Vec<_>>();
            assert_eq!(bits(known), bits(&found.unwrap()), "{experiment}");
        }
    }
}
