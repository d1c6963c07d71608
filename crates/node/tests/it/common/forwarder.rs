//! A hub between hosts whose packets overtake each other.

use std::net::UdpSocket;
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

/// What the hub does: passes packets on, each after a time of its own, so that many are overtaken.
pub(crate) fn forwarder(peers: usize) {
    let sockets: Vec<UdpSocket> =
        (1..=peers).map(|place| UdpSocket::bind(format!("10.79.0.{place}:4001")).unwrap()).collect();
    let (queue, packets) = channel::<(Instant, usize, usize, Vec<u8>)>();
    for (to, socket) in sockets.iter().enumerate() {
        let (socket, queue) = (socket.try_clone().unwrap(), queue.clone());
        std::thread::spawn(move || {
            let mut dice = to as u64 + 1;
            let mut packet = [0; 65_536];
            while let Ok((length, from)) = socket.recv_from(&mut packet) {
                let std::net::IpAddr::V4(address) = from.ip() else { continue };
                dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let delay = Duration::from_millis(5 + (dice >> 33) % 40);
                let from = usize::from(address.octets()[2]);
                queue.send((Instant::now() + delay, from, to, packet[..length].to_vec())).unwrap();
            }
        });
    }
    let mut waiting = std::collections::BTreeMap::new();
    for order in 0_u64.. {
        let next = waiting.first_key_value().map(|(&(time, _), _): (&(Instant, u64), _)| time);
        let wait =
            next.map_or(Duration::from_millis(50), |next| next.saturating_duration_since(Instant::now()));
        if let Ok((time, from, to, packet)) = packets.recv_timeout(wait) {
            waiting.insert((time, order), (from, to, packet));
        }
        while waiting.first_key_value().is_some_and(|((time, _), _)| *time <= Instant::now()) {
            let (_, (from, to, packet)): (_, (usize, usize, Vec<u8>)) = waiting.pop_first().unwrap();
            // To the receiver it comes from where the agreement says that the sender is.
            let _ = sockets[from].send_to(&packet, format!("10.78.{to}.2:4001"));
        }
    }
}
