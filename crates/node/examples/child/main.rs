//! The processes that this crate's tests start, kill and watch.
#![allow(clippy::unwrap_used)]

#[path = "../../tests/it/common/mod.rs"]
mod common;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["peer", folder] => common::real::peer(folder.as_ref()),
        ["life", folder] => common::life::life(folder.as_ref()),
        ["forwarder", peers] => common::forwarder::forwarder(peers.parse().unwrap()),
        _ => panic!("peer FOLDER | life FOLDER | forwarder PEERS"),
    }
}
