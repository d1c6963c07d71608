//! What a peer refuses: what it cannot pay, what it cannot store, to be what it is not any more.

use crate::common;

use common::disk::{Disk, Mode};
use common::peers::{ALLOWED, Scenario, Village, begun, key, ledger, price, roster, terms};
use sottovoce_node::{
    Allowed, Cost, Due, Error, Frame, Hash, Hello, Host, Ledger, Mark, Observer, OnGrid, Parcel, Price,
    Terms, VERSION,
};
use sottovoce_privacy::noise::exact::Grid;
use sottovoce_privacy::{Adjacency, Loss, Unit};
use sottovoce_protocol::averaging::{Averager, Gossip, Noising, Row, Start};
use sottovoce_protocol::{Peer, Release};

const NOISING: Noising = Noising { sensitivity: 1.0, local: 2.0, relay: 0.0 };

/// Two peers who mix once.
struct Pair;

impl Scenario for Pair {
    type Machine = Averager<Vec<f64>, Gossip>;
    const PEERS: usize = 2;

    fn machine(peer: Peer) -> Self::Machine {
        Averager::new(vec![peer as f64], Gossip::new(Row::mutual(0.5, [(1 - peer, 0.5)]), 2), NOISING, None)
    }

    fn cost(_: Peer) -> Cost {
        Cost {
            adjacency: Adjacency::Replace,
            unit: Unit::User,
            releases: vec![(Release::gaussian(1.0, 2.0), 1)],
            prices: price(Price::concentrated(0.125).unwrap()),
        }
    }

    fn begin(_: Peer) -> Option<Start> {
        Some(Start)
    }

    fn compute(_: Peer, _: usize, _: f64, _: &mut Vec<f64>) {}
}

type Peered = Host<<Pair as Scenario>::Machine, OnGrid>;
type Dues = Vec<Due<sottovoce_protocol::averaging::Round, sottovoce_protocol::averaging::Note, Vec<f64>>>;

fn open_with(disk: &Disk, peer: Peer, terms: Terms) -> sottovoce_node::Result<(Peered, Dues)> {
    let noise = OnGrid::deployed(Grid::new(2f64.powi(-20)).unwrap()).unwrap();
    Host::open(ledger(disk, peer)?, terms, Pair::machine(peer), noise)
}

fn open(disk: &Disk, peer: Peer) -> sottovoce_node::Result<(Peered, Dues)> {
    open_with(disk, peer, terms::<Pair>(peer))
}

fn hello(witness: Vec<Mark>) -> Frame {
    Frame::Hello(Hello { version: VERSION, run: terms::<Pair>(0).run, witness, reply: true })
}

fn parcels(dues: &Dues) -> Vec<Vec<u8>> {
    let parcel = |due: &_| match due {
        Due::Send { frame: Frame::Parcel(bytes), .. } => Some(bytes.clone()),
        _ => None,
    };
    dues.iter().filter_map(parcel).collect()
}

#[test]
fn nothing_begins_before_everybody_is_there() {
    let (mut host, _) = open(&begun(0), 0).unwrap();
    let error = host.command(Start, &Pair::cost(0)).unwrap_err();
    assert_eq!((error.exit_code(), error.at_fault().map(|fault| fault.field)), (2, Some("neighbours")));
    assert!(error.to_string().contains("1 is missing"), "{error}");
    host.hear(1, hello(Vec::new())).unwrap();
    assert_eq!(parcels(&host.command(Start, &Pair::cost(0)).unwrap()).len(), 1);
}

#[test]
fn what_cannot_be_paid_is_not_sent() {
    let disk = begun(0);
    let (mut host, _) = open(&disk, 0).unwrap();
    host.hear(1, hello(Vec::new())).unwrap();
    let dear = Cost { prices: price(Price::concentrated(1e3).unwrap()), ..Pair::cost(0) };
    let error = host.command(Start, &dear).unwrap_err();
    assert_eq!(error.exit_code(), 3);
    let text = error.to_string();
    assert!(
        text.contains("the wire-tapper") && text.contains("patients") && text.contains("is left"),
        "{text}"
    );
    assert_eq!(
        host.ledger().head().count,
        2,
        "nothing happened but that a budget was declared, and a file named"
    );
    // What is priced towards nobody, or towards strangers, is no price.
    let free = Cost { prices: Vec::new(), ..Pair::cost(0) };
    assert!(host.command(Start, &free).unwrap_err().to_string().contains("none towards the wire-tapper"));
    let stranger = (Observer::Peer(roster(2)[1]), Price::concentrated(0.1).unwrap());
    let odd = Cost { prices: [Pair::cost(0).prices, vec![stranger]].concat(), ..Pair::cost(0) };
    assert!(host.command(Start, &odd).unwrap_err().to_string().contains("declare"));
    assert!(host.command(Start, &Pair::cost(0)).is_ok(), "and it can still begin");
}

#[test]
fn a_release_that_was_not_paid_for_is_not_admitted() {
    let (mut host, _) = open(&begun(0), 0).unwrap();
    host.hear(1, hello(Vec::new())).unwrap();
    let other = Cost { releases: vec![(Release::gaussian(1.0, 3.0), 5)], ..Pair::cost(0) };
    let dues = host.command(Start, &other).unwrap();
    assert!(parcels(&dues).is_empty(), "{dues:?}");
    assert!(matches!(&dues[..], [Due::Note(sottovoce_protocol::averaging::Note::Stopped(_))]), "{dues:?}");
}

#[test]
fn budgets_last_over_runs_and_files_of_a_data_set() {
    let disk = begun(0);
    let mut runs = 0u32;
    for run in 0..100u8 {
        let named = Terms { run: Hash::of(&[run]), data: Hash::of(&[run, 1]), ..terms::<Pair>(0) };
        let (mut host, _) = open_with(&disk, 0, named.clone()).unwrap();
        let there =
            Frame::Hello(Hello { version: VERSION, run: named.run, witness: Vec::new(), reply: true });
        host.hear(1, there).unwrap();
        match host.command(Start, &Pair::cost(0)) {
            Ok(_) => runs += 1,
            Err(error) => {
                assert_eq!(error.exit_code(), 3, "{error}");
                break;
            }
        }
    }
    let worth =
        |runs: u32| Loss::zcdp(0.125 * f64::from(runs)).unwrap().epsilon(ALLOWED.delta).unwrap().upper;
    assert!(worth(runs) <= ALLOWED.epsilon && worth(runs + 1) > ALLOWED.epsilon, "{runs}");
    let mut ledger = ledger(&disk, 0).unwrap();
    let error = ledger.hold("others", Hash::of(&[3, 1])).unwrap_err().to_string();
    assert!(error.contains("`patients`"), "a file under another label: {error}");
    let more = Allowed { epsilon: 80.0, ..ALLOWED };
    let error = ledger.declare("patients", &Observer::WireTapper, more).unwrap_err().to_string();
    assert!(error.contains("declared once"), "{error}");
}

#[test]
fn a_disk_that_is_full_sends_nothing() {
    for last in 1..200 {
        let disk = begun(0);
        let (mut host, _) = open(&disk, 0).unwrap();
        host.hear(1, hello(Vec::new())).unwrap();
        let disk = disk.until(Some(last));
        match host.command(Start, &Pair::cost(0)) {
            Ok(_) => {
                assert!(last > 5, "it took no writing");
                return;
            }
            Err(error) => {
                assert_eq!(error.exit_code(), 3, "{error}");
                assert!(host.command(Start, &Pair::cost(0)).is_err(), "a broken host does nothing more");
                assert!(host.hear(1, hello(Vec::new())).is_err());
                let (host, _) = open(&disk.found(Mode::Torn, last), 0).unwrap();
                let stored = host.ledger().records(terms::<Pair>(0).run).unwrap();
                let (_, _, spent, _) = host.ledger().spent("patients").unwrap().remove(0);
                assert_eq!(spent > 0.0, !stored.is_empty(), "paid and stored together");
            }
        }
    }
    panic!("it never had room enough");
}

/// Runs a pair to its end; the disks.
fn ended() -> Vec<Disk> {
    let mut village = Village::<Pair>::new((0..2).map(begun).collect());
    village.run(Mode::Lost);
    village.check();
    village.disks
}

#[test]
fn an_older_copy_sends_nothing_and_says_why() {
    let disks = ended();
    let seen = ledger(&disks[1], 1).unwrap().seen(&roster(2)[0]).unwrap();
    // A backup from before the run.
    let (mut host, _) = open(&begun(0), 0).unwrap();
    let error = host.hear(1, hello(seen.clone())).unwrap_err();
    assert_eq!(error.exit_code(), 5);
    assert!(
        error.to_string().contains("older copy") && error.to_string().contains("bring the newest"),
        "{error}"
    );
    assert_eq!(host.command(Start, &Pair::cost(0)).unwrap_err().to_string(), error.to_string());
    // The ledger itself is believed.
    let (mut host, _) = open(&disks[0], 0).unwrap();
    assert!(host.hear(1, hello(seen.clone())).is_ok());
}

#[test]
fn a_clone_that_went_another_way_is_found_by_both_sides() {
    // Two clones of peer 0 begin the same run, each with noise of its own.
    let first = begun(0);
    let second = first.copy();
    let begin = |disk: &Disk| {
        let (mut host, _) = open(disk, 0).unwrap();
        host.hear(1, hello(Vec::new())).unwrap();
        let said = parcels(&host.command(Start, &Pair::cost(0)).unwrap()).remove(0);
        (host, said)
    };
    let ((_, one), (mut clone, other)) = (begin(&first), begin(&second));
    assert_ne!(one, other);
    let disk = begun(1);
    let (mut neighbour, _) = open(&disk, 1).unwrap();
    neighbour.hear(0, hello(Vec::new())).unwrap();
    // Also while it waits for the run to be paid for.
    neighbour.hear(0, Frame::Parcel(one.clone())).unwrap();
    let error = neighbour.hear(0, Frame::Parcel(other.clone())).unwrap_err();
    assert_eq!((error.exit_code(), error.kind()), (5, "runs-twice"), "{error}");
    let (error, peers) = error.named(&roster(2), &["ana".to_owned(), "ben".to_owned()]);
    assert!(peers == ["ana"] && error.to_string().contains("ana says message 0 in two ways"), "{error}");
    neighbour.command(Start, &Pair::cost(1)).unwrap();
    // What the other says under the same number is not taken for a repetition.
    let before = neighbour.ledger().head();
    let error = neighbour.hear(0, Frame::Parcel(other)).unwrap_err();
    assert!(error.exit_code() == 5 && error.to_string().contains("in two ways"), "{error}");
    assert_eq!(neighbour.ledger().head(), before);
    let seen = neighbour.ledger().seen(&roster(2)[0]).unwrap();
    let error = clone.hear(1, hello(seen.clone())).unwrap_err();
    assert!(error.to_string().contains("runs elsewhere"), "{error}");
    drop(clone);
    // It is never believed again, whoever it meets.
    let error = open(&second, 0).err().unwrap();
    assert!(matches!(error, Error::Doubted(_)), "{error}");
}

#[test]
fn nobody_can_be_stopped_by_marks_it_never_made() {
    let disks = ended();
    let (mut host, _) = open(&begun(0), 0).unwrap();
    // What peer 0 has seen of peer 1, said to be of peer 0.
    let theirs = ledger(&disks[0], 0).unwrap().seen(&roster(2)[1]).unwrap();
    assert_eq!(theirs.len(), 1);
    host.hear(1, hello(theirs)).unwrap();
    assert!(host.is_ready() && host.command(Start, &Pair::cost(0)).is_ok());
}

#[test]
fn what_was_owed_waits_until_everybody_was_met() {
    let disk = begun(0);
    let (mut host, _) = open(&disk, 0).unwrap();
    host.hear(1, hello(Vec::new())).unwrap();
    host.command(Start, &Pair::cost(0)).unwrap();
    drop(host);
    let (mut host, dues) = open(&disk, 0).unwrap();
    assert!(matches!(&dues[..], [Due::Send { frame: Frame::Hello(_), .. }]), "nothing but a hello: {dues:?}");
    let dues = host.hear(1, hello(Vec::new())).unwrap();
    assert!(dues.iter().any(|due| matches!(due, Due::Wait { .. })) && parcels(&dues).len() == 1, "{dues:?}");
}

#[test]
fn a_message_that_is_garbage_does_not_take_others_along() {
    let run = terms::<Pair>(0).run;
    let (mut other, _) = open(&begun(1), 1).unwrap();
    other.hear(0, hello(Vec::new())).unwrap();
    let first = parcels(&other.command(Start, &Pair::cost(1)).unwrap()).remove(0);
    let (mut host, _) = open(&begun(0), 0).unwrap();
    host.hear(1, hello(Vec::new())).unwrap();
    let mut next = Parcel::open(&first, run, 1 << 16).unwrap();
    (next.number, next.body) = (1, vec![0xff; 9]);
    assert!(matches!(host.hear(1, Frame::Parcel(next.seal())), Err(Error::Garbled { .. })));
    next.number = 1 << 21;
    assert!(
        matches!(host.hear(1, Frame::Parcel(next.seal())), Err(Error::Garbled { .. })),
        "more than was agreed on"
    );
    // Nothing is taken up before the run is paid for; then it is.
    assert!(host.hear(1, Frame::Parcel(first)).is_ok_and(|dues| dues.is_empty()));
    let dues = host.command(Start, &Pair::cost(0)).unwrap();
    assert!(dues.iter().any(|due| matches!(due, Due::Send { frame: Frame::Answer { number: 0 }, .. })));
}

#[test]
fn one_adjacency_for_all_and_a_budget_towards_who_sees_all() {
    let (mut host, _) = open(&begun(0), 0).unwrap();
    host.hear(1, hello(Vec::new())).unwrap();
    host.command(Start, &Pair::cost(0)).unwrap();
    let other = Cost { adjacency: Adjacency::AddRemove, ..Pair::cost(0) };
    let error = host.command(Start, &other).unwrap_err();
    assert_eq!(error.at_fault().map(|fault| fault.field), Some("adjacency"), "{error}");
    // What one row may lose says nothing of all that is held.
    let row = Cost { unit: Unit::Record, ..Pair::cost(0) };
    let error = host.command(Start, &row).unwrap_err();
    assert!(error.at_fault().is_some_and(|fault| fault.field == "unit"), "{error}");
    assert!(error.to_string().contains("a data set of their own"), "{error}");
    let ledger = Ledger::on(Disk::default(), key(0)).unwrap();
    let free = Cost { prices: Vec::new(), ..Pair::cost(0) };
    let error = ledger.affords("patients", &[], &free).unwrap_err().to_string();
    assert!(error.contains("none towards the wire-tapper"), "{error}");
}

#[test]
fn rows_are_priced_by_themselves_or_with_all_that_is_held() {
    let (mut host, _) = open(&begun(0), 0).unwrap();
    host.hear(1, hello(Vec::new())).unwrap();
    let row = Cost { unit: Unit::Record, ..Pair::cost(0) };
    host.command(Start, &row).unwrap();
    // The price of all that is held bounds that of a row.
    host.command(Start, &Pair::cost(0)).unwrap();
    host.command(Start, &row).unwrap();
    let odd = Cost { unit: Unit::Source, ..Pair::cost(0) };
    assert!(host.command(Start, &odd).is_err());
}

#[test]
fn a_changed_file_does_not_go_on_with_an_old_release() {
    let disks = ended();
    let changed = Terms { data: Hash::of(b"new rows"), ..terms::<Pair>(0) };
    let error = open_with(&disks[0], 0, changed).err().unwrap();
    assert_eq!(error.at_fault().map(|fault| fault.field), Some("data"));
    assert!(error.to_string().contains("agree on a new run"), "{error}");
}

#[test]
fn strangers_and_other_runs_are_told_apart() {
    let (mut host, _) = open(&begun(0), 0).unwrap();
    let other = |version, run| Frame::Hello(Hello { version, run, witness: Vec::new(), reply: true });
    let error = host.hear(1, other(VERSION + 1, terms::<Pair>(0).run)).unwrap_err();
    assert!(error.exit_code() == 5 && error.to_string().contains("`version`"), "{error}");
    let error = host.hear(1, other(VERSION, Hash::of(b"else"))).unwrap_err();
    assert!(error.exit_code() == 5 && error.to_string().contains("`agreement`"), "{error}");
    assert!(host.hear(0, hello(Vec::new())).is_err() && host.hear(9, hello(Vec::new())).is_err());
    // Garbage is an error about its sender, and the host goes on.
    host.hear(1, hello(Vec::new())).unwrap();
    let error = host.hear(1, Frame::Parcel(vec![1, 2, 3])).unwrap_err();
    assert!(matches!(error, Error::Garbled { .. }) && host.is_ready(), "{error}");
    assert!(host.command(Start, &Pair::cost(0)).is_ok());
}

#[test]
fn a_ledger_belongs_to_its_key_and_is_never_begun_twice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger");
    assert!(Ledger::open(&path, key(0)).is_err(), "a missing one is not begun");
    Ledger::create(&path, key(0)).unwrap();
    assert!(Ledger::create(&path, key(0)).unwrap_err().to_string().contains("never forgotten"));
    assert!(Ledger::open(&path, key(1)).err().unwrap().to_string().contains("another key"));
    let open = Ledger::open(&path, key(0)).unwrap();
    assert!(Ledger::open(&path, key(0)).is_err(), "nobody else may have it open");
    drop(open);
    assert_eq!(Ledger::open(&path, key(0)).unwrap().head().count, 0);
    // (Beside it lies the lock by which processes take turns.)
    assert!(std::fs::read_dir(folder.path()).unwrap().count() == 2, "no draft is left");
}

#[test]
fn a_record_that_was_changed_is_found() {
    let disks = ended();
    let ledger = ledger(&disks[0], 0).unwrap();
    let signed = ledger.record(2).unwrap().unwrap();
    assert!(signed.open(&key(0).name()).is_ok() && signed.open(&key(1).name()).is_err());
    let mut changed = signed.clone();
    changed.bytes[40] ^= 1;
    assert!(changed.open(&key(0).name()).is_err());
}
