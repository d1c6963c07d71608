//! From one agreement to peers who tell: texts spread, the source pays what is proven, and nothing is given away that was not said to be.

use crate::common;

use common::parts::{
    ALLOWED, agreement, check_debits, holdings, key, ledger, peer, price, rehearse, signatures, text,
};
use sottovoce::experiment::Experiment;
use sottovoce_node::rumor::Telling;
use sottovoce_node::{Agreement, Allowed, Observer, Part, Priced, Stands};

const PEERS: usize = 8;
const FIELDS: &str = "grid = 1.0\ntime = 6000.0\nround = 10.0\nanswer = 0.09\ncoalitions = [['p6', 'p7']]";

fn tellers(agreement: &Agreement, says: &[(usize, &str)]) -> Vec<Telling> {
    let Experiment::Rumor(rumor) = agreement.experiment().unwrap() else { panic!("a rumour") };
    let said = |peer| says.iter().find(|(who, _)| *who == peer).map(|(_, text)| *text);
    (0..PEERS).map(|peer| Telling::new(agreement, &rumor, said(peer), peer).unwrap()).collect()
}

fn rumor(more: &str) -> Agreement {
    agreement(PEERS, FIELDS, &format!("experiment = 'rumor'\n{more}"))
}

#[test]
fn texts_spread_and_their_sources_pay() {
    for muting in ["", "muting = 0.05"] {
        let all = tellers(&rumor(muting), &[(2, "spring"), (5, "autumn")]);
        let folder = tempfile::tempdir().unwrap();
        let contents: Vec<String> = (0..PEERS).map(|peer| format!("{peer}")).collect();
        let holdings = holdings(folder.path(), &contents, "txt");
        // A rumour never ends: so many events are the agreed time.
        let mut rehearsal = rehearse(&all, &holdings, folder.path(), 1500);
        check_debits(&all, &mut rehearsal);
        for (peer, part) in all.iter().enumerate() {
            let machine = rehearsal.host(peer).unwrap().machine();
            assert_eq!(part.stands(machine).unwrap(), Stands::Going { round: 1, rounds: 1 });
            let Stands::Told(mut texts) = part.ends(machine).unwrap() else { panic!("{peer}") };
            texts.sort();
            assert_eq!(texts, ["autumn", "spring"], "peer {peer}");
        }
    }
}

#[test]
fn a_source_pays_what_is_proven_and_who_waits_nothing() {
    let all = tellers(&rumor(""), &[(2, "spring")]);
    // Arrivals differ by a hundredth of a round: 3 (n-1)/(n-2) of that beside f/(n-2).
    let known = |f: f64| (f + 3.0 * 0.01 * 7.0) / 6.0;
    let pooled = Observer::coalition((6..8).map(|peer| key(peer).name()).collect());
    for (observer, delta) in
        [(peer(0), known(1.0)), (pooled.clone(), known(2.0)), (Observer::WireTapper, 1.0)]
    {
        let price = price(&all[2], &observer);
        assert!(price.loss.is_none() && (price.delta - delta).abs() < 1e-9, "{observer}: {price:?}");
    }
    for observer in all[3].observers() {
        assert_eq!(price(&all[3], &observer).delta, 0.0);
    }
    assert!(all[2].cost(&[]).unwrap().releases.is_empty());
    let signatures = signatures(&rumor(""));
    let folder = tempfile::tempdir().unwrap();
    let own = ledger(&all[2], 2, folder.path(), ALLOWED);
    let error = sottovoce_node::transcript::Transcript::of(&own, &rumor(""), &signatures).unwrap_err();
    assert!(error.to_string().contains("tells who began"), "{error}");
    // Faster tellings hide less.
    let quick = tellers(&rumor("muting = 0.3"), &[(2, "spring")]);
    assert!(price(&quick[2], &peer(0)).delta > known(1.0));
}

#[test]
fn nothing_is_given_away_that_was_not_said_to_be() {
    let all = tellers(&rumor(""), &[(2, "spring")]);
    let folder = tempfile::tempdir().unwrap();
    let cost = all[2].cost(&[]).unwrap();
    let said = |chances| Allowed { chances, ..ALLOWED };
    let budgets = |part: &Telling, peers: f64, tapper: f64| {
        let one = |observer: Observer| {
            let allowed = if observer == Observer::WireTapper { said(tapper) } else { said(peers) };
            (observer, allowed)
        };
        part.observers().into_iter().map(one).collect::<Vec<_>>()
    };
    let ledger = {
        let path = folder.path().join("2.ledger");
        sottovoce_node::Ledger::create(&path, key(2)).unwrap();
        sottovoce_node::Ledger::open(&path, key(2)).unwrap()
    };
    for (peers, tapper, expected) in [
        (0.0, 1.0, "no `chances` were declared"),
        (0.5, 0.0, "`chances = 1.0`"),
        (0.5, 0.999, "`chances = 1.0`"),
        (0.1, 1.0, "is left"),
    ] {
        let error = ledger.affords("data", &budgets(&all[2], peers, tapper), &cost).unwrap_err();
        assert!(error.to_string().contains(expected) && error.exit_code() == 3, "{error}");
    }
    ledger.affords("data", &budgets(&all[2], 0.5, 1.0), &cost).unwrap();
    // Who waits needs no word.
    ledger.affords("data", &budgets(&all[3], 0.0, 0.0), &all[3].cost(&[]).unwrap()).unwrap();
}

#[test]
fn all_may_be_given_away_again_and_again() {
    let all = tellers(&rumor(""), &[(2, "spring")]);
    let folder = tempfile::tempdir().unwrap();
    let ledger = ledger(&all[2], 2, folder.path(), Allowed { chances: 0.45, ..ALLOWED });
    let own = holdings(folder.path(), &["2".to_owned()], "txt").remove(0);
    let (mut host, _) = all[2].open(ledger, &own).unwrap();
    for other in (0..PEERS).filter(|other| *other != 2) {
        let run = rumor("").hash().unwrap();
        let hello =
            sottovoce_node::Hello { version: sottovoce_node::VERSION, run, witness: Vec::new(), reply: true };
        host.hear(other, sottovoce_node::Frame::Hello(hello)).unwrap();
    }
    let cost = all[2].cost(&[]).unwrap();
    let times = (0..9).take_while(|_| host.command(all[2].begin().unwrap(), &cost).is_ok()).count();
    // One chance in five each: peers stop it, someone who sees all does not.
    assert_eq!(times, 1, "two of 0.2017 and a coalition's 0.368 in 0.45");
}

#[test]
fn what_a_node_cannot_do_is_refused() {
    let good = text(PEERS, FIELDS, "experiment = 'rumor'\nmuting = 0.1");
    assert!(Agreement::parse(&good).unwrap().role_saying(0, Some("hello")).is_ok());
    let edges =
        "edges = [['p0','p1'],['p1','p2'],['p2','p3'],['p3','p4'],['p4','p5'],['p5','p6'],['p6','p7']]";
    for (old, new, expected) in [
        ("muting = 0.1", "clocks = 'rounds'", "`clocks` is rounds"),
        ("muting = 0.1", "curious = 2", "`curious` is 2"),
        ("muting = 0.1", "delta = 0.2", "`delta` is 0.2"),
        ("muting = 0.1", "drop = 0.2", "`drop` is 0.2"),
        ("muting = 0.1", "acknowledge = true", "`acknowledge`"),
        ("muting = 0.1", "peers = 9", "`peers` is 9"),
        ("muting = 0.1", "muting = 1.5", "`muting` is 1.5"),
        ("time = 6000.0", "", "`time` is missing"),
        ("edges = 'complete'", edges, "`edges` is 7"),
    ] {
        let changed = good.replacen(old, new, 1);
        assert_ne!(changed, good, "{old}");
        let error = Agreement::parse(&changed).and_then(|agreement| agreement.role(0).map(drop)).unwrap_err();
        assert!(error.to_string().contains(expected), "{old} -> {new}: {error}");
    }
    let agreement = Agreement::parse(&good).unwrap();
    for text in [String::new(), "x".repeat(5000)] {
        let error = agreement.role_saying(0, Some(&text)).err().unwrap().to_string();
        assert!(error.contains("`say`"), "{error}");
    }
    // Where as many tell as fall silent nothing is proven, and all is lost.
    let quick = Agreement::parse(&good.replacen("muting = 0.1", "muting = 0.5", 1)).unwrap();
    let Experiment::Rumor(asked) = quick.experiment().unwrap() else { panic!("a rumour") };
    let part = Telling::new(&quick, &asked, Some("hello"), 0).unwrap();
    assert_eq!(price(&part, &peer(1)).delta, 1.0);
}
