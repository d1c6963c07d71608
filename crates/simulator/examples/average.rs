//! Gossip among many peers, for others to compare with (`benches/peers/averaging.py`).
//!
//! `cargo run --release -p sottovoce-simulator --example average -- FOLDER STEPS`
//!
//! Reads `FOLDER/edges` (pairs of 32-bit numbers) and `FOLDER/values` (64-bit floats), little endian; adds noise, which is written to
//! `FOLDER/noisy`, and mixes so many times, on one thread, which is written to `FOLDER/mixed`.

use std::error::Error;
use std::fs;
use std::path::PathBuf;

use sottovoce_protocol::averaging::Noising;
use sottovoce_simulator::bulk::Bulk;
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};

const NOISING: Noising = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut next = || words.next().ok_or("give FOLDER STEPS");
    let (folder, steps) = (PathBuf::from(next()?), next()?.parse()?);
    let edges = fs::read(folder.join("edges"))?;
    let (numbers, []) = edges.as_chunks::<4>() else { return Err("`edges` ends within a number".into()) };
    let (pairs, []) = numbers.as_chunks::<2>() else { return Err("`edges` ends within a pair".into()) };
    let values = floats(&fs::read(folder.join("values"))?)?;
    let node = |bytes: [u8; 4]| u32::from_le_bytes(bytes) as usize;
    let graph = Graph::from_edges(values.len(), pairs.iter().map(|&[u, v]| (node(u), node(v))))?;
    let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
    let mut bulk = Bulk::new(&mixing, values, NOISING, None, 1, 1)?;
    fs::write(folder.join("noisy"), bytes(bulk.values()))?;
    bulk.run(steps);
    fs::write(folder.join("mixed"), bytes(bulk.values()))?;
    Ok(())
}

fn floats(bytes: &[u8]) -> Result<Vec<f64>, Box<dyn Error>> {
    let (numbers, []) = bytes.as_chunks::<8>() else { return Err("`values` ends within a number".into()) };
    Ok(numbers.iter().map(|&number| f64::from_le_bytes(number)).collect())
}

fn bytes(values: &[f64]) -> Vec<u8> {
    values.iter().flat_map(|value| value.to_le_bytes()).collect()
}
