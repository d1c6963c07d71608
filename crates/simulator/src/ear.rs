//! What whoever sees every message hears of each peer's own: the value that it hid, from the first thing it says.
//!
//! Who speaks in the first round says that value itself. Who was silent until then, such as the host of a guest in a [butterfly](sottovoce_protocol::averaging), speaks of it with what it has heard
//! meanwhile, by weights that everybody knows, and that was on the wire, too: it is taken away again.

use sottovoce_protocol::Peer;
use sottovoce_protocol::averaging::{Message, Plan};

use sottovoce_protocol::public::Part;

/// What somebody was told: in which round, by whom.
type Told = Vec<(usize, Peer, Vec<f64>)>;

/// Listens to one averaging by given weights.
pub(crate) struct Ear<'a> {
    parts: &'a [Part],
    /// What those who have not spoken yet were told. None once they have.
    told: Vec<Option<Told>>,
}

impl<'a> Ear<'a> {
    pub(crate) fn new(parts: &'a [Part]) -> Self {
        Self { parts, told: vec![Some(Vec::new()); parts.len()] }
    }

    /// The value that the sender hid, where this is the first thing it says.
    pub(crate) fn hears(&mut self, from: Peer, to: Peer, message: &Message<Vec<f64>>) -> Option<Vec<f64>> {
        if let Some(told) = &mut self.told[to] {
            told.push((message.round, from, message.value.clone()));
        }
        let told = self.told[from].take()?;
        let (mut weight, mut others) = (1.0, vec![0.0; message.value.len()]);
        for round in 0..message.round {
            let row = self.parts[from].row(round);
            weight *= row.own;
            others.iter_mut().for_each(|x| *x *= row.own);
            for &(by, share) in &row.from {
                let (.., value) = told.iter().find(|(at, who, _)| (*at, *who) == (round, by))?;
                others.iter_mut().zip(value).for_each(|(x, value)| *x += share * value);
            }
        }
        Some(message.value.iter().zip(&others).map(|(x, others)| (x - others) / weight).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_protocol::averaging::{Noising, listen};
    use sottovoce_protocol::public::Scheme;
    use sottovoce_protocol::{Noise, Uncovered};

    /// Adds what nobody can know.
    struct Own(f64);

    impl Noise<Vec<f64>> for Own {
        fn draw(&mut self, _: u64, _: f64, like: &Vec<f64>) -> Result<Vec<f64>, Uncovered> {
            Ok(vec![self.0; like.len()])
        }
    }

    #[test]
    fn whatever_the_number_of_peers_everybody_is_heard_once() {
        for peers in 1..20 {
            let scheme = Scheme::Butterfly { positions: (0..peers).rev().collect() };
            let noising = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };
            let mut machines = scheme.machines(|_| noising, |peer| vec![peer as f64, 1.0]).unwrap();
            let mut noises: Vec<_> = (0..peers).map(|peer| Own(0.25 * peer as f64)).collect();
            let parts = scheme.parts().unwrap();
            let (mut ear, mut heard) = (Ear::new(&parts), vec![Vec::new(); peers]);
            listen(&mut machines, &mut noises, |from, to, message| {
                heard[from].extend(ear.hears(from, to, message));
            })
            .unwrap();
            for (peer, heard) in heard.iter().enumerate().filter(|_| peers > 1) {
                let hidden = [1.25 * peer as f64, 1.0 + 0.25 * peer as f64];
                let near = |one: &Vec<f64>| one.iter().zip(hidden).all(|(x, y)| (x - y).abs() < 1e-12);
                assert!(heard.len() == 1 && heard.iter().all(near), "{heard:?} {hidden:?}");
            }
        }
    }
}
