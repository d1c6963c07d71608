//! Ports for peers that begin later.

use std::net::{TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering};

/// Where the search goes on; tests that run beside this one begin elsewhere.
static NEXT: AtomicU16 = AtomicU16::new(0);
/// Below the ports that the system hands to whoever asks for any: nobody is given one before its owner comes.
const FIRST: u16 = 20_000;
const COUNT: u16 = 10_000;

/// Ports that nobody listens on, each handed out once.
pub fn ports(count: usize) -> Vec<u16> {
    let begin = std::process::id() * 37;
    let mut tried = 0;
    let next = || {
        tried += 1;
        assert!(tried < COUNT, "no port is free");
        FIRST + ((begin + u32::from(NEXT.fetch_add(1, Ordering::Relaxed))) % u32::from(COUNT)) as u16
    };
    let free = |port: &u16| {
        UdpSocket::bind(("127.0.0.1", *port)).is_ok() && TcpListener::bind(("127.0.0.1", *port)).is_ok()
    };
    std::iter::repeat_with(next).filter(free).take(count).collect()
}
