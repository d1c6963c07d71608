//! A run of nodes once more, in the simulator: the same machines, driven by the simulator's own loop, with what noise made of values taken from everybody's recordings. Every
//! result is the same, bit for bit: what was deployed is what is simulated.
//!
//! Private values are not needed: what is first said hides them, and it is recorded.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use sottovoce_protocol::averaging::{Averager, Averages};
use sottovoce_protocol::{Noise, Peer, Uncovered};
use sottovoce_simulator::driver::Simulation;
use sottovoce_simulator::network::Network;
use sottovoce_simulator::record::Coordinates;

use crate::averaging::Prepared;
use crate::error::require;
use crate::{Error, Recording, Result};

/// Noise that is drawn no more: what it was put on, and what it made of that, is known.
struct Known<V> {
    draws: BTreeMap<u64, (Option<V>, V)>,
    /// Draws that were asked for, here and of all peers.
    asked: BTreeSet<u64>,
    all_asked: Rc<Cell<usize>>,
}

impl<V: Clone + serde::Serialize> Noise<V> for Known<V> {
    /// What was not recorded hides nothing: the peer says no more.
    fn draw(&mut self, draw: u64, scale: f64, _: &V) -> std::result::Result<V, Uncovered> {
        Err(Uncovered { draw, scale })
    }

    /// Only where the value is what it was, bit for bit.
    fn again(&mut self, draw: u64, value: &V) -> Option<V> {
        let (before, after) = self.draws.get(&draw)?;
        if !before.as_ref().is_none_or(|before| alike(before, value)) {
            return None;
        }
        if self.asked.insert(draw) {
            self.all_asked.set(self.all_asked.get() + 1);
        }
        Some(after.clone())
    }
}

/// Whether two values are stored in the same bytes.
fn alike<V: serde::Serialize>(one: &V, other: &V) -> bool {
    matches!((postcard::to_stdvec(one), postcard::to_stdvec(other)), (Ok(one), Ok(other)) if one == other)
}

/// Everybody's result in the simulator, in the order of peers; none where a peer has none. It takes a recording of every peer, of one and the same averaging.
///
/// Where a recorded result differs by one bit, or a value that noise was put on, the recordings are not of one run, and that is an error; so is noise that nobody asks for here, where everybody has a
/// result. A peer whose run was halted may have a result here: nobody is late. Recordings without any result are refused: there would be nothing to compare.
pub fn replay(recordings: &[Recording]) -> Result<Vec<Option<Vec<f64>>>> {
    let first = recordings.first().ok_or_else(|| Error::parameter("recordings", 0, "give everybody's"))?;
    let names = first.agreement.names();
    let mut all: BTreeMap<Peer, &Recording> = BTreeMap::new();
    for one in recordings {
        let same = one.agreement == first.agreement && one.peer < names.len();
        require(same, "recordings", "of several agreements", "give those of one run")?;
        let new = all.insert(one.peer, one).is_none();
        require(new, "recordings", format_args!("two of {}", names[one.peer]), "give one of each")?;
    }
    if let Some(missing) = (0..names.len()).find(|peer| !all.contains_key(peer)) {
        let value = format!("none of {}", names[missing]);
        return Err(Error::parameter("recordings", value, "give everybody's"));
    }
    let finished = recordings.iter().filter(|one| one.result.is_some()).count();
    let remedy =
        "none of these has a result that could be compared: give those of a run that somebody finished";
    require(finished > 0, "recordings", "of a run without a result", remedy)?;
    let parts =
        (0..names.len()).map(|peer| Prepared::new(&first.agreement, peer)).collect::<Result<Vec<_>>>()?;
    let (results, asked) = if parts[0].is_on_ring() {
        let peers = parts.iter().map(Prepared::still_on_ring).collect::<Result<_>>()?;
        let (sums, asked) = run(peers, &all)?;
        let mean = |(part, sum): (&Prepared, Option<_>)| sum.map(|sum| part.mean(&sum)).transpose();
        (parts.iter().zip(sums).map(mean).collect::<Result<Vec<_>>>()?, asked)
    } else {
        run(parts.iter().map(Prepared::still_on_grid).collect::<Result<_>>()?, &all)?
    };
    for (peer, result) in results.iter().enumerate() {
        let known = all.get(&peer).and_then(|one| one.result.as_ref());
        if known.is_some_and(|known| !result.as_ref().is_some_and(|result| alike(known, result))) {
            let name = &names[peer];
            let why = format!(
                "the result of {name} is another one in the simulator: the recordings are not of one run, or a program was changed"
            );
            return Err(Error::disagreement(why, std::slice::from_ref(name)));
        }
    }
    let left = recordings.iter().map(|one| one.covered.len()).sum::<usize>() - asked;
    let remedy = "noise was drawn that nobody asks for: the recordings are not of one run";
    let everybody = finished == recordings.len();
    require(!everybody || left == 0, "recordings", format_args!("{left} draws too many"), remedy)?;
    Ok(results)
}

/// Runs machines whose noise is known, on a network without faults: their results, and how many draws were asked for.
fn run<V: Coordinates, P>(
    machines: Vec<Averager<V, P>>,
    recordings: &BTreeMap<Peer, &Recording>,
) -> Result<(Vec<Option<V>>, usize)>
where
    Averager<V, P>: Averages<Value = V>,
{
    let asked = Rc::new(Cell::new(0));
    let known = |recording: &&Recording| {
        let value = |draw: &u64, bytes: &Vec<u8>| {
            postcard::from_bytes::<V>(bytes).map_err(|_| {
                Error::parameter("recording", format_args!("draw {draw}"), "it is no value of this protocol")
            })
        };
        let mut all = BTreeMap::new();
        for (draw, (before, after)) in &recording.covered {
            let before = before.as_ref().map(|before| value(draw, before)).transpose()?;
            all.insert(*draw, (before, value(draw, after)?));
        }
        Ok(Known { draws: all, asked: BTreeSet::new(), all_asked: Rc::clone(&asked) })
    };
    let noises = recordings.values().map(known).collect::<Result<Vec<_>>>()?;
    let finals = Simulation::new(machines, noises, Network::perfect(), 0)?.run().finals;
    Ok((finals, asked.get()))
}
