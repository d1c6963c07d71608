//! A ledger whose bytes were changed is refused, or has spent no less than its chain says.

use std::io;
use std::sync::Mutex;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha20Rng;
use sottovoce_privacy::Adjacency;

use super::*;
use crate::Price;

/// A disk in memory that can be read and changed.
#[derive(Debug, Clone, Default)]
struct Bytes(Arc<Mutex<Vec<u8>>>);

impl Bytes {
    fn of(bytes: Vec<u8>) -> Self {
        Self(Arc::new(Mutex::new(bytes)))
    }

    fn get(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl StorageBackend for Bytes {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let all = self.0.lock().unwrap();
        let from = usize::try_from(offset).map_err(io::Error::other)?;
        let piece = from.checked_add(out.len()).and_then(|to| all.get(from..to));
        out.copy_from_slice(piece.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let len = usize::try_from(len).ok().filter(|len| *len < 1 << 28).ok_or(io::ErrorKind::StorageFull)?;
        self.0.lock().unwrap().resize(len, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut all = self.0.lock().unwrap();
        let from = usize::try_from(offset).map_err(io::Error::other)?;
        let piece = from.checked_add(data.len()).and_then(|to| all.get_mut(from..to));
        piece.ok_or(io::ErrorKind::UnexpectedEof)?.copy_from_slice(data);
        Ok(())
    }
}

const ALLOWED: Allowed = Allowed { epsilon: 4.0, delta: 1e-6, chances: 0.0 };

fn key() -> Key {
    Key::simulated(1)
}

fn observers() -> Vec<Observer> {
    let peers = (2..5).map(|peer| Observer::Peer(Key::simulated(peer).name()));
    peers.chain([Observer::WireTapper]).collect()
}

/// A ledger in which three runs were paid for, and what it had spent after each.
fn used() -> (Vec<u8>, Vec<Standing>) {
    let disk = Bytes::default();
    let mut ledger = Ledger::on(disk.clone(), key()).unwrap();
    ledger.hold("patients", Hash::of(b"a file")).unwrap();
    let budgets: Vec<_> = observers().into_iter().map(|one| (one, ALLOWED)).collect();
    ledger.declare_all("patients", &budgets).unwrap();
    for run in 0..3_u8 {
        let cost = Cost {
            adjacency: Adjacency::Replace,
            unit: Unit::User,
            releases: Vec::new(),
            prices: observers().into_iter().map(|one| (one, Price::concentrated(0.05).unwrap())).collect(),
        };
        for step in 0..4_u8 {
            let body = Arc::new(vec![step; 300]);
            let said = Said {
                message: u64::from(step),
                label: b"mean".to_vec(),
                hash: Hash::of(&body),
                body,
                to: vec![(1, u64::from(step))],
            };
            let page = Page {
                run: Hash::of(&[run]),
                label: "patients",
                data: Hash::of(b"a file"),
                cost: (step == 0).then_some(&cost),
                book: vec![step; 50],
                state: vec![step; 2000],
                releases: Vec::new(),
                covered: Vec::new(),
                heard: None,
                said: vec![said],
                notes: Vec::new(),
                answered: Vec::new(),
            };
            ledger.commit(&page).unwrap();
        }
    }
    let spent = ledger.budgets().unwrap();
    drop(ledger);
    (disk.get(), spent)
}

/// Opens changed bytes; whether they are accepted, and then nothing is less spent.
fn accepted(bytes: Vec<u8>, spent: &[Standing], what: &str) -> bool {
    let Ok(ledger) = Ledger::on(Bytes::of(bytes), key()) else { return false };
    let now = ledger.budgets().unwrap();
    for one in spent {
        let found = now.iter().find(|now| (&now.label, &now.observer) == (&one.label, &one.observer));
        let found = found.unwrap_or_else(|| panic!("{what}: a budget is gone"));
        assert!(found.allowed == one.allowed && found.loss >= one.loss, "{what}: {found:?} of {one:?}");
    }
    assert_eq!(ledger.sets().unwrap()[0].files.len(), 1, "{what}: a file is gone");
    true
}

fn damage(trials: usize) {
    let (whole, spent) = used();
    assert!(spent.iter().all(|one| one.epsilon > 0.5));
    assert!(accepted(whole.clone(), &spent, "as it is"));
    // Pages that something was written to, and the header most of all.
    let pages: Vec<usize> = (0..whole.len() / 4096)
        .filter(|page| whole[page * 4096..][..4096].iter().any(|byte| *byte != 0))
        .collect();
    let mut draw = ChaCha20Rng::seed_from_u64(34);
    let mut kept = 0;
    for trial in 0..trials {
        let mut bytes = whole.clone();
        let page = |draw: &mut ChaCha20Rng| pages[draw.random_range(0..pages.len())] * 4096;
        let what = match trial % 8 {
            0 => {
                let length = draw.random_range(0..bytes.len());
                bytes.truncate(length);
                format!("cut to {length}")
            }
            1 => {
                let (a, b) = (page(&mut draw), page(&mut draw));
                for i in 0..4096 {
                    bytes.swap(a + i, b + i);
                }
                format!("pages {a} and {b} swapped")
            }
            2 => {
                let a = page(&mut draw);
                bytes[a..a + 4096].fill(0);
                format!("page {a} zeroed")
            }
            3 => {
                let at = draw.random_range(0..320);
                bytes[at] ^= 1 << draw.random_range(0..8);
                format!("a bit of byte {at} of the header")
            }
            _ => {
                let at = page(&mut draw) + draw.random_range(0..4096);
                bytes[at] ^= 1 << draw.random_range(0..8);
                format!("a bit of byte {at}")
            }
        };
        kept += usize::from(accepted(bytes, &spent, &what));
    }
    println!("{kept} of {trials} accepted");
    assert!(kept < trials, "nothing was refused");
}

#[test]
fn no_damage_gives_a_budget_back() {
    damage(10_000);
}

#[test]
fn a_chain_that_was_cut_or_signed_by_another_is_refused() {
    let (whole, _) = used();
    let other = Ledger::on(Bytes::of(whole), Key::simulated(2)).map(drop).unwrap_err();
    assert!(other.to_string().contains("belongs to another key"), "{other}");
}
