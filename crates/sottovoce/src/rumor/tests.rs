use super::*;

fn settings(nodes: usize, privacy: Privacy) -> Settings {
    Settings { nodes, curious: None, privacy, seed: 3 }
}

#[test]
fn the_target_is_met_and_the_attack_stays_within_it() {
    let found = run(&settings(256, Privacy::TwiceTheBest), || ()).unwrap();
    assert_eq!((found.account.nodes, found.account.curious), (256, 16));
    assert!(found.delta <= 0.125 && found.account.delta <= 0.125 && found.account.muting > 0.5);
    assert!(found.within_bounds && found.attack.contains("Every attack stays within what is proven"));
    assert_eq!(found.suspicions.iter().map(|s| s.suspects).collect::<Vec<_>>(), [2, 10, 100, 240]);
    let pair = found.suspicions[0];
    assert!(pair.low > 0.5 && pair.found < pair.bound + 0.03, "{pair:?}");
    let predicted = found.account.spreading.unwrap().rounds;
    assert!((found.mean_rounds.0 / predicted - 1.0).abs() < 0.25, "{:?} {predicted}", found.mean_rounds);
    assert_eq!(found.report.peers, 256);
}

#[test]
fn the_same_seed_gives_the_same_report() {
    let page = |seed: u64| {
        let settings = Settings { seed, ..settings(64, Privacy::Muting(0.3)) };
        run(&settings, || ()).unwrap().report.html()
    };
    assert!(page(1) == page(1) && page(1) != page(2));
}

#[test]
fn push_and_walk_are_examples_too() {
    let push = run(&settings(100, Privacy::Muting(1.0)), || ()).unwrap();
    assert!(push.within_bounds && push.suspicions[0].found > 0.6 && push.target.is_none());
    let walk = run(&settings(100, Privacy::Muting(0.0)), || ()).unwrap();
    assert!(walk.within_bounds && walk.delta < 0.0601 && walk.rounds == walk.tellings);
}

#[test]
fn what_makes_no_sense_is_refused_with_a_remedy() {
    let refused = |settings: Settings, words: &str| {
        let message = run(&settings, || ()).unwrap_err().to_string();
        assert!(message.contains(words), "{message}");
    };
    refused(settings(3, Privacy::TwiceTheBest), "`peers` is 3");
    refused(settings(2_000_000, Privacy::TwiceTheBest), "from 4 to 1000000");
    refused(Settings { curious: Some(0), ..settings(100, Privacy::TwiceTheBest) }, "`curious` is 0");
    refused(Settings { curious: Some(99), ..settings(100, Privacy::TwiceTheBest) }, "from 1 to 98");
    refused(settings(100, Privacy::Delta(0.01)), "f/n = 0.06");
    refused(settings(100, Privacy::Delta(f64::NAN)), "`delta` is NaN");
    refused(settings(100, Privacy::Muting(1.5)), "`muting` is 1.5");
}
