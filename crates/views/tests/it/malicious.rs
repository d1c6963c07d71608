//! Peers who deviate at will: in strict rounds they learn a part of what was planned, in lenient ones more.
//!
//! The honest run the protocol's own code on coefficients; the others send, in every round and to everyone apart, any combination of what they have
//! heard so far and of numbers of their own, or nothing. Variables `0..n` are the honest noises, those from `n` on what the others made up.

use proptest::prelude::*;
use rand::RngExt;
use sottovoce_privacy::noise::simulation::SimulationRng;
use sottovoce_protocol::averaging::{Averager, Input, Message, Noising, Output, Plan, Round, Start};
use sottovoce_protocol::public::{AveragingPeer, Scheme};
use sottovoce_protocol::{Chance, Coefficients, Machine, Means, Noise, Overspent, Release, Uncovered, Value};
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};
use sottovoce_views::exact;
use sottovoce_views::trace::Tracer;

const NOISING: Noising = Noising { sensitivity: 1.0, local: 1.0, relay: 0.0 };

/// What a member says to a neighbour in a round, given all that was heard: `script(round, member, neighbour, heard)`, or nothing.
type Script<'a> = dyn FnMut(usize, usize, usize, &[Vec<f64>]) -> Option<Vec<f64>> + 'a;

/// Whether a message between honest peers is held back: `late(round, from, to)`.
type Late<'a> = dyn Fn(usize, usize, usize) -> bool + 'a;

/// Runs honest machines against a script, round by round; returns all that the coalition heard.
fn attacked(
    scheme: &Scheme,
    coalition: &[usize],
    lenient: bool,
    late: &Late<'_>,
    script: &mut Script<'_>,
) -> Vec<Vec<f64>> {
    let parts = scheme.parts().unwrap();
    let machine = |part: &_| -> AveragingPeer<Coefficients> {
        let peer = Averager::new(Coefficients::default(), Clone::clone(part), NOISING, None);
        if lenient { peer.lenient() } else { peer }
    };
    let mut peers: Vec<_> = parts.iter().map(machine).collect();
    let mut noises: Vec<Named> = Tracer::all(peers.len()).into_iter().map(Named).collect();
    let (mut heard, mut wire) = (Vec::new(), Vec::new());
    let honest: Vec<usize> = (0..peers.len()).filter(|peer| !coalition.contains(peer)).collect();
    for &u in &honest {
        tell(&mut peers[u], Input::Command(Start), &mut noises[u], u, &mut wire);
    }
    for round in 0..scheme.rounds() {
        let now: Vec<_> = std::mem::take(&mut wire);
        let to_coalition = now.iter().filter(|(_, to, _)| coalition.contains(to));
        heard.extend(to_coalition.map(|(_, _, message)| message.value.0.clone()));
        let arrives = |(from, to, _): &_| !coalition.contains(to) && !late(round, *from, *to);
        let mut mail: Wire = now.into_iter().filter(arrives).collect();
        for &v in coalition {
            for &to in parts[v].row(round).to.iter().filter(|to| !coalition.contains(to)) {
                if let Some(value) = script(round, v, to, &heard) {
                    mail.push((v, to, Message { round, value: Coefficients(value) }));
                }
            }
        }
        for (from, to, message) in mail {
            tell(&mut peers[to], Input::heard(from, message), &mut noises[to], to, &mut wire);
        }
        for &u in &honest {
            tell(&mut peers[u], Input::Timer(Round(round)), &mut noises[u], u, &mut wire);
        }
    }
    heard
}

type Wire = Vec<(usize, usize, Message<Coefficients>)>;

fn tell(
    peer: &mut AveragingPeer<Coefficients>,
    input: Input<Coefficients>,
    means: &mut dyn Means<Coefficients>,
    from: usize,
    wire: &mut Wire,
) {
    peer.handle(input, means);
    while let Some(output) = peer.poll() {
        if let Output::Send { to, message } = output {
            wire.extend(to.into_iter().map(|to| (from, to, message.clone())));
        }
    }
}

/// A remainder below this share of a message is rounding: runs are short, and what is injected is of the size of what is heard.
const ROUNDING: f64 = 1e-9;

/// Losses of honest peers, and the rank: what the coalition drew or made up is known to it. Plain Gram-Schmidt, apart from the accountant's.
fn losses(heard: &[Vec<f64>], coalition: &[usize], n: usize) -> (Vec<f64>, usize) {
    let honest = |u: usize| !coalition.contains(&u);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for message in heard {
        let entry = |u: usize| if honest(u) { message.get(u).copied().unwrap_or(0.0) } else { 0.0 };
        let mut row: Vec<f64> = (0..n).map(entry).collect();
        let size = length(&row);
        for known in basis.iter().chain(&basis) {
            let along: f64 = known.iter().zip(&row).map(|(a, b)| a * b).sum();
            row.iter_mut().zip(known).for_each(|(x, y)| *x -= along * y);
        }
        let rest = length(&row);
        if rest > ROUNDING * size {
            row.iter_mut().for_each(|x| *x /= rest);
            basis.push(row);
        }
    }
    ((0..n).map(|u| basis.iter().map(|row| row[u] * row[u]).sum()).collect(), basis.len())
}

fn length(row: &[f64]) -> f64 {
    row.iter().map(|x| x * x).sum::<f64>().sqrt()
}

/// The accountant's own losses, where it has a formula.
fn exact_loss(scheme: &Scheme, coalition: &[usize]) -> Vec<f64> {
    let messages = sottovoce_views::trace::trace(scheme, NOISING, coalition).unwrap().heard;
    match scheme {
        Scheme::Gossip { mixing, rounds, .. } => exact::gossip(mixing, coalition, *rounds).unwrap().losses,
        _ => {
            let rows: Vec<&[f64]> = messages.iter().map(|heard| &heard.coefficients.0[..]).collect();
            exact::traced(&rows, coalition, scheme.peers(), |i| coalition.contains(&i)).unwrap().losses
        }
    }
}

/// What is heard from peers who follow the protocol.
fn planned(scheme: &Scheme, coalition: &[usize]) -> (Vec<f64>, usize) {
    let trace = sottovoce_views::trace::trace(scheme, NOISING, coalition).unwrap();
    let heard: Vec<Vec<f64>> = trace.heard.iter().map(|heard| heard.coefficients.0.clone()).collect();
    let found = losses(&heard, coalition, scheme.peers());
    let exact = exact_loss(scheme, coalition);
    assert!(found.0.iter().zip(&exact).all(|(a, b)| (a - b).abs() < 1e-7), "{found:?} {exact:?}");
    found
}

/// Garbage: a combination of all that was heard, and of variables of its own; sometimes silence.
fn garbage(
    seed: u64,
    n: usize,
    silence: f64,
) -> impl FnMut(usize, usize, usize, &[Vec<f64>]) -> Option<Vec<f64>> {
    let mut dice = SimulationRng::new(seed, 0, 0);
    move |_, _, _, heard| {
        if dice.random::<f64>() < silence {
            return None;
        }
        let mut value = Coefficients::default();
        for message in heard {
            value.add(2.0 * dice.random::<f64>() - 1.0, &Coefficients(message.clone()));
        }
        value.add(100.0, &Coefficients::variable(n + dice.random_range(0..5usize), 1.0));
        Some(value.0)
    }
}

fn ring(n: usize, chords: usize) -> Scheme {
    let ring = (0..n).map(|u| (u, (u + 1) % n));
    let chords = (0..chords).map(|i| (i, i + n / 2)).filter(|&(u, v)| v < n && v > u + 1 && v - u + 1 != n);
    let graph = Graph::from_edges(n, ring.chain(chords)).unwrap();
    Scheme::Gossip { mixing: Mixing::new(&graph, Weights::MetropolisPlusOne), rounds: 5, accelerated: false }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The heart of `docs/theorems/malicious-peers.md`: the same leverages and the same rank, however they lie.
    #[test]
    fn injected_garbage_gains_nothing(n in 6usize..14, chords in 0usize..4, seed in any::<u64>(), two in any::<bool>()) {
        let coalition = if two { vec![0, n / 2] } else { vec![1] };
        for scheme in [ring(n, chords), Scheme::Butterfly { positions: (0..n).collect() }] {
            let (truth, rank) = planned(&scheme, &coalition);
            let heard = attacked(&scheme, &coalition, false, &|_, _, _| false, &mut garbage(seed, n, 0.0));
            let (found, dimension) = losses(&heard, &coalition, n);
            prop_assert_eq!(dimension, rank);
            for u in 0..n {
                prop_assert!((found[u] - truth[u]).abs() < 1e-7, "{}: {} planned, {} found", u, truth[u], found[u]);
            }
        }
    }

    /// Nor does silence, to some and not to others, nor holding back what the honest say: what then comes is a part of what was planned.
    #[test]
    fn withheld_messages_gain_nothing(n in 6usize..14, chords in 0usize..4, seed in any::<u64>(), silence in 0.02f64..0.4) {
        let late = |round: usize, from: usize, to: usize| {
            SimulationRng::new(seed, (from * n + to) as u64, round as u64).random::<f64>() < 0.3 * silence
        };
        let coalition = vec![0, n / 2];
        for scheme in [ring(n, chords), Scheme::Butterfly { positions: (0..n).collect() }] {
            let (truth, rank) = planned(&scheme, &coalition);
            let heard = attacked(&scheme, &coalition, false, &late, &mut garbage(seed, n, silence));
            let (found, dimension) = losses(&heard, &coalition, n);
            prop_assert!(dimension <= rank);
            prop_assert!((0..n).all(|u| found[u] <= truth[u] + 1e-7), "{:?} {:?}", found, truth);
        }
    }
}

/// Six peers, of whom 4 and 5 are guests of 0 and 1. Guest 4 says nothing to its host, who is lenient and doubles its own value instead: it stands
/// out in what peer 2 hears, 2/3 instead of 1/3. A strict host says nothing more, and loses nothing.
#[test]
fn lenient_rounds_lose_to_a_guest_who_is_silent() {
    let scheme = Scheme::Butterfly { positions: (0..6).collect() };
    let coalition = [2, 4];
    let host = |lenient: bool| {
        let mut script = |round, v: usize, _, _: &[Vec<f64>]| {
            (v != 4 || round > 0).then(|| Coefficients::variable(v, 1.0).0)
        };
        losses(&attacked(&scheme, &coalition, lenient, &|_, _, _| false, &mut script), &coalition, 6).0[0]
    };
    assert!((planned(&scheme, &coalition).0[0] - 1.0 / 3.0).abs() < 1e-9);
    assert!((host(true) - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(host(false), 0.0);
}

/// A butterfly of 256. Seven messages to peer `u` come late, and it goes on with its own value, which it then tells the peer it differs from in the
/// highest bit: a loss of 1 instead of 2/256, by delay alone. A strict `u` says nothing to anyone.
#[test]
fn lenient_rounds_lose_to_seven_late_messages() {
    let (u, v) = (37, 37 ^ 128);
    let scheme = Scheme::Butterfly { positions: (0..256).collect() };
    let late = |round: usize, _: usize, to: usize| to == u && round < 7;
    let loss = |lenient: bool| {
        let mut script = |_, v: usize, _, _: &[Vec<f64>]| Some(Coefficients::variable(v, 1.0).0);
        losses(&attacked(&scheme, &[v], lenient, &late, &mut script), &[v], 256).0[u]
    };
    assert!((planned(&scheme, &[v]).0[u] - 2.0 / 256.0).abs() < 1e-9);
    assert!((loss(true) - 1.0).abs() < 1e-9);
    assert_eq!(loss(false), 0.0);
}

/// Noises by their names, and no limit.
struct Named(Tracer);

impl Chance for Named {
    fn bits(&mut self) -> u64 {
        0
    }
}

impl Means<Coefficients> for Named {
    fn admit(&mut self, _: &Release) -> Result<(), Overspent> {
        Ok(())
    }

    fn cover(&mut self, draw: u64, scale: f64, value: &mut Coefficients) -> Result<(), Uncovered> {
        value.add(1.0, &self.0.draw(draw, scale, value)?);
        Ok(())
    }
}

/// No noise: values are given as they are.
struct Still;

impl Chance for Still {
    fn bits(&mut self) -> u64 {
        0
    }
}

impl Means<Vec<f64>> for Still {
    fn admit(&mut self, _: &Release) -> Result<(), Overspent> {
        Ok(())
    }

    fn cover(&mut self, _: u64, _: f64, _: &mut Vec<f64>) -> Result<(), Uncovered> {
        Ok(())
    }
}

/// The hub of a star of 52 in its first round, whose leaves say `words` in order; what it says next, if it does.
fn hub(value: f64, words: &[f64], range: Option<f64>) -> Option<f64> {
    let graph = Graph::from_edges(52, (0..51).map(|leaf| (leaf, 51))).unwrap();
    let mixing = Mixing::new(&graph, Weights::MetropolisPlusOne);
    let part = Scheme::Gossip { mixing, rounds: 2, accelerated: false }.parts().unwrap().swap_remove(51);
    let peer = Averager::new(vec![value], part, NOISING, None);
    let mut peer = match range {
        Some(range) => peer.within(range).unwrap(),
        None => peer,
    };
    peer.handle(Input::Command(Start), &mut Still);
    for (from, &word) in words.iter().enumerate() {
        peer.handle(Input::heard(from, Message { round: 0, value: vec![word] }), &mut Still);
    }
    peer.handle(Input::Timer(Round(0)), &mut Still);
    let mut said = std::iter::from_fn(|| peer.poll());
    said.find_map(|output| match output {
        Output::Send { message, .. } if message.round == 1 => Some(message.value[0]),
        _ => None,
    })
}

/// Sums in doubles are not sums of reals. Leaves 1 and 2 know the hub's value and inject numbers so large that all later terms vanish beside them, at the
/// edge between two doubles: the sum's last bit says whether leaf 0 is above 0.5, of which the planned message, a sum over fifty leaves, says next to nothing.
/// A range that was agreed on keeps such numbers out.
#[test]
fn without_a_range_rounding_tells_of_a_part_of_a_sum() {
    let mut dice = SimulationRng::new(5, 0, 0);
    let weight = 1.0 / 52.0;
    let (mut above, huge) = (0, 52.0 * 1.5 * 2f64.powi(55));
    for _ in 0..200 {
        let value = dice.random::<f64>();
        let mut words: Vec<f64> = (0..51).map(|_| 4.0 * dice.random::<f64>() - 2.0).collect();
        words[1] = (4.0 - weight * value) / weight - 0.5;
        words[2] = huge;
        let said = hub(value, &words, None).unwrap();
        let bit = said - weight * huge > 4.0;
        assert_eq!(bit, words[0] > 0.5, "{said}");
        above += usize::from(bit);
        assert_eq!(hub(value, &words, Some(2f64.powi(20))), None);
        words[2] = 2f64.powi(20);
        assert!(hub(value, &words, Some(2f64.powi(20))).is_some());
    }
    assert!(above > 40 && above < 160);
}
