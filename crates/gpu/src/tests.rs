//! The card against the processor. Without a card each says so and is skipped.
#![allow(clippy::unwrap_used)]

use cudarc::driver::CudaSlice;
use rand::Rng;
use sottovoce_learning::images::drawn;
use sottovoce_learning::net::{Net, Scratch, Shape};
use sottovoce_learning::{Images, images};
use sottovoce_privacy::Lots;
use sottovoce_privacy::noise::simulation::{Seed, Stream};
use sottovoce_protocol::Shared;
use sottovoce_protocol::consensus::{At, Band, Hidden, Method, Optimiser, Plan, Rates, Rule};
use sottovoce_simulator::consensus::{BulkConsensus, ConsensusSetup, Course, Trainer};
use sottovoce_topology::Graph;
use sottovoce_topology::mixing::{Mixing, Weights};

use crate::card::{PARAMETERS, launch};
use crate::room::sent;
use crate::turn::Turn;
use crate::{Card, Error, Gradients, Layers, Result, Together};

/// The card, where there is one; kernels that are not compiled are a fault.
fn card() -> Option<Card> {
    match Card::open() {
        Ok(card) => Some(card),
        Err(error @ Error::Missing(_)) => {
            sottovoce_testing::skipped("card", &error.to_string());
            None
        }
        Err(error) => panic!("{error}"),
    }
}

fn pictures(count: usize, seed: u64) -> Images {
    drawn(count, seed).unwrap().normalised(&images::MNIST).unwrap()
}

/// The length of a difference, in parts of the length.
fn apart(one: &[f32], other: &[f32]) -> f64 {
    let length = |numbers: &mut dyn Iterator<Item = f64>| numbers.map(|x| x * x).sum::<f64>().sqrt();
    let difference = length(&mut one.iter().zip(other).map(|(x, y)| f64::from(*x) - f64::from(*y)));
    difference / length(&mut other.iter().map(|x| f64::from(*x)))
}

/// Without driver, card or compiler there is a message and no panic.
#[test]
fn what_is_missing_is_said() {
    if let Err(error) = Card::open() {
        let text = error.to_string();
        assert!(text.starts_with("`device` is gpu: ") && text.contains("processor"), "{text}");
    }
}

/// Lots of all sizes around those of blocks, clipped never, sometimes and always; models that are new and such as were trained.
#[test]
fn gradients_are_the_processors() {
    let Some(card) = card() else { return };
    let (net, rows) = (Net::consensus_cnn(), [pictures(500, 1), pictures(40, 2)]);
    let gradients = Gradients::new(&card, &net, &rows).unwrap();
    let mut scratch = Scratch::new(&net);
    for (seed, large) in [(1, 1.0), (2, 3.0)] {
        let model: Vec<f32> = net.start(seed).iter().map(|x| x * large).collect();
        for (agent, lot) in [(0, 1), (0, 31), (0, 64), (0, 65), (0, 256), (0, 500), (1, 40)] {
            for clip in [0.01, 2.0, 1e3, f64::INFINITY] {
                let picked: Vec<u32> = (0..lot).map(|at| (at * 7) % rows[agent].len() as u32).collect();
                let (mut here, mut there) = (vec![0.0; PARAMETERS], vec![0.0; PARAMETERS]);
                gradients.add_clipped(agent, &picked, clip, &model, &mut there);
                match clip.is_finite() {
                    true => {
                        net.clipped_sum(&model, &rows[agent], &picked, clip as f32, &mut scratch, &mut here)
                    }
                    false => net.gradient_sum(&model, &rows[agent], &picked, &mut scratch, &mut here),
                }
                .unwrap();
                let apart = apart(&there, &here);
                assert!(apart < 1e-5, "lot {lot}, clip {clip}: {apart:e}");
                for part in [0..78, 78..37_710, 37_710..37_774, 37_774..38_414, 38_414..38_424] {
                    let apart = self::apart(&there[part.clone()], &here[part.clone()]);
                    assert!(apart < 1e-4, "lot {lot}, clip {clip}, parameters {part:?}: {apart:e}");
                }
                let length = there.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
                assert!(length <= clip * f64::from(lot), "{length} of {lot} times {clip}");
            }
        }
    }
}

/// Residual nets, narrow and wide: lots of one image, of a few, and of more than are computed at a time; clipped never, sometimes and always.
#[test]
fn gradients_of_residual_nets_are_the_processors() {
    let Some(card) = card() else { return };
    let shape = Shape { channels: 3, height: 32, width: 32 };
    let coloured = |count: usize| {
        let pixel = |at: usize| ((at * 7919) ^ (at >> 7) ^ (at / 3072 * 31)) as u8;
        let labels = (0..count).map(|image| (image % 10) as u8).collect();
        Images::new(shape, (0..count * 3072).map(pixel).collect(), labels, 10).unwrap()
    };
    let rows = [coloured(12), coloured(400)];
    for (widths, lots) in [([8, 8, 16, 16], vec![1, 12, 400]), ([16, 32, 32, 48], vec![5])] {
        let net = Net::residual_net(shape, 10, widths, 4).unwrap();
        let layers = Layers::new(&card, &net, &rows).unwrap();
        let (model, mut scratch) = (net.start(3), Scratch::new(&net));
        for lot in lots {
            let agent = usize::from(lot > 12);
            for clip in [0.1, 3.0, f64::INFINITY] {
                let picked: Vec<u32> = (0..lot).collect();
                let mut here = vec![0.0; net.parameters()];
                let mut there = here.clone();
                layers.add_clipped(agent, &picked, clip, &model, &mut there);
                match clip.is_finite() {
                    true => {
                        net.clipped_sum(&model, &rows[agent], &picked, clip as f32, &mut scratch, &mut here)
                    }
                    false => net.gradient_sum(&model, &rows[agent], &picked, &mut scratch, &mut here),
                }
                .unwrap();
                let apart = apart(&there, &here);
                assert!(apart < 1e-4, "{widths:?}, lot {lot}, clip {clip}: {apart:e}");
            }
        }
    }
    assert!(Layers::new(&card, &Net::consensus_cnn(), &[]).is_err());
}

/// Many threads ask at once, more than are computed together: everybody is given her own sum, with the bits that she is given alone.
#[test]
fn lots_that_wait_together_are_computed_apart() {
    let Some(card) = card() else { return };
    let (net, rows) = (Net::consensus_cnn(), [pictures(300, 1), pictures(200, 2)]);
    let gradients = Gradients::new(&card, &net, &rows).unwrap();
    let sum = |number: usize| {
        let mut sum = vec![0.0; PARAMETERS];
        let picked: Vec<u32> = (0..(number * 37 % 150) as u32).collect();
        gradients.add_clipped(number % 2, &picked, 1.0, &net.start(number as u64), &mut sum);
        sum
    };
    let together: Vec<Vec<f32>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..150).map(|number| scope.spawn(move || sum(number))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!((0..150).all(|number| together[number] == sum(number)));
}

/// An empty lot adds nothing; a gradient that is no number counts for nothing where it is clipped, and is seen where it is not.
#[test]
fn nothing_and_what_is_no_number() {
    let Some(card) = card() else { return };
    let (net, rows) = (Net::consensus_cnn(), [pictures(100, 1)]);
    let gradients = Gradients::new(&card, &net, &rows).unwrap();
    let mut sum = vec![1.5; PARAMETERS];
    gradients.add_clipped(0, &[], 1.0, &net.start(1), &mut sum);
    assert!(sum.iter().all(|x| *x == 1.5));
    let huge: Vec<f32> = net.start(1).iter().map(|x| x * 1e30).collect();
    gradients.add_clipped(0, &[1, 2, 3], 1.0, &huge, &mut sum);
    assert!(sum.iter().all(|x| *x == 1.5));
    gradients.add_clipped(0, &[1, 2, 3], f64::INFINITY, &huge, &mut sum);
    assert!(sum.iter().any(|x| !x.is_finite()));
    // A row that is not there is no number either.
    let mut sum = vec![0.0; PARAMETERS];
    gradients.add_clipped(0, &[100], 1.0, &net.start(1), &mut sum);
    assert!(sum.iter().all(|x| x.is_nan()));
}

fn noise(card: &Card, turns: &[Turn]) -> Result<Vec<f32>> {
    let turns_there = sent(card, turns)?;
    let mut out: CudaSlice<f32> = card.stream.alloc_zeros(turns.len() * PARAMETERS)?;
    launch!(card, noise, (PARAMETERS.div_ceil(2048), turns.len()), 128, [&turns_there, &mut out]);
    Ok(card.stream.clone_dtoh(&out)?)
}

/// The words are those of the stream that is named, in the order that is documented; their law is Gaussian.
#[test]
fn noise_is_that_of_its_stream() {
    let Some(card) = card() else { return };
    let hidden = Hidden::new(Lots::new(10, 0.5).unwrap(), 1.0, 1.0);
    let key = [(3, 0, 0), (3, 1, 0), (u64::MAX - 5, 7, 1 << 40)];
    let turns: Vec<Turn> =
        key.iter().map(|&(seed, agent, draw)| Turn::default().hidden(&hidden, seed, agent, draw)).collect();
    let noise = noise(&card, &turns).unwrap();
    for ((seed, agent, draw), noise) in key.into_iter().zip(noise.chunks_exact(PARAMETERS)) {
        let mut stream = Seed(seed).stream(Stream::Card, agent, draw);
        let words: Vec<u32> = (0..19 * 2048).map(|_| stream.next_u32()).collect();
        for (n, found) in noise.iter().enumerate() {
            let word = |place: usize| f64::from(words[((n / 2048) * 128 + n % 128) * 16 + place]);
            let place = n % 2048 / 128;
            let (far, angle) = (word(place & !1) + 0.5, word(place | 1) / 2f64.powi(32));
            let far = (-2.0 * (far / 2f64.powi(32)).ln()).sqrt();
            let turned = (std::f64::consts::TAU * angle).sin_cos();
            let exact = far * if place & 1 == 0 { turned.1 } else { turned.0 };
            assert!((f64::from(*found) - exact).abs() < 2e-5, "{n}: {found}, not {exact}");
        }
        let mean =
            |power: i32| noise.iter().map(|x| f64::from(*x).powi(power)).sum::<f64>() / PARAMETERS as f64;
        let error = 5.0 / (PARAMETERS as f64).sqrt();
        // Five standard errors, of which the fourth power's is the root of 96.
        assert!(mean(1).abs() < error && (mean(2) - 1.0).abs() < error * 2f64.sqrt());
        assert!((mean(4) - 3.0).abs() < error * 96f64.sqrt());
    }
}

/// A run's parts.
struct Small {
    train: Images,
    test: Images,
    rows: Vec<Vec<usize>>,
    mixing: Mixing,
}

fn small() -> Small {
    let (train, test) = (pictures(300, 1), pictures(100, 2));
    let rows = train.similarity(3, 0.7, 5).unwrap();
    let mixing = Mixing::new(&Graph::from_edges(3, [(0, 1), (1, 2)]).unwrap(), Weights::Metropolis);
    Small { train, test, rows, mixing }
}

impl Small {
    fn course(&self, method: Method, rule: Rule, multiplier: f64) -> Course {
        let optimiser = Optimiser { decay: 1e-3, kept: rule != Rule::ADAM, ..Optimiser::new(rule) };
        let rate = if rule == Rule::ADAM { 0.003 } else { 0.05 };
        let plan =
            Plan { method, iterations: 8, rates: Rates { start: rate, finish: rate / 3.0 }, optimiser };
        let hide =
            |rows: &Vec<usize>| Some(Hidden::new(Lots::of_size(rows.len(), 20.0).unwrap(), 1.0, multiplier));
        let hidden: Vec<_> = self.rows.iter().map(hide).collect();
        // One agent's budget ends before the others'.
        let draws = vec![plan.draws(), plan.draws(), 5];
        Course {
            mixing: self.mixing.clone(),
            plan,
            rows: self.rows.clone(),
            absent: None,
            hidden,
            draws,
            start: 9,
            seed: 9,
        }
    }

    fn courses(&self, multiplier: f64) -> Vec<Course> {
        let dinno = Method::Dinno { primal: 2, rho: 0.5, growth: 1.0003 };
        vec![
            self.course(Method::Dsgd { at: At::Own }, Rule::Sgd, multiplier),
            self.course(Method::Dsgd { at: At::Mixed }, Rule::Momentum { beta: 0.9 }, multiplier),
            self.course(Method::Dsgt, Rule::Sgd, multiplier),
            self.course(dinno, Rule::ADAM, multiplier),
            self.course(Method::Dinno { primal: 1, rho: 0.2, growth: 1.01 }, Rule::Sgd, multiplier),
        ]
    }
}

/// Runs of all methods at once, of different lengths, against the simulator's; the noise is none, for it is the same in law alone.
#[test]
fn runs_side_by_side_are_the_simulators() {
    let Some(card) = card() else { return };
    let (small, net) = (small(), Net::consensus_cnn());
    let mut courses = small.courses(0.0);
    courses[1].plan.iterations = 5;
    let mut together = Together::new(&card, &small.train, &small.test, &courses).unwrap();
    together.advance(3).unwrap();
    assert_eq!((together.round(), together.remaining(), together.draws()[0][0]), (3, 5, 3));
    together.advance(usize::MAX).unwrap();
    assert_eq!(together.diverged().unwrap(), [false; 5]);
    let told = together.measure().unwrap();
    let holds: Vec<Images> = small.rows.iter().map(|rows| small.train.gather(rows).unwrap()).collect();
    let gradients = Gradients::new(&card, &net, &holds).unwrap();
    let all: Vec<u32> = (0..100).collect();
    for (run, course) in courses.iter().enumerate() {
        let start: Shared = net.start(course.seed).into();
        let setup = ConsensusSetup::new(&course.mixing, start, course.plan, &course.hidden, course.seed);
        let mut bulk = BulkConsensus::new(setup.unwrap(), &gradients).unwrap();
        bulk.advance(usize::MAX).unwrap();
        let models = together.models(run).unwrap();
        for (agent, (there, here)) in models.iter().zip(bulk.models()).enumerate() {
            // The gradients are the card's in both: from the same ones come the same bits.
            assert!(there == here, "run {run}, agent {agent}: {:e}", apart(there, here));
            let tally = net.measure(there, &small.test, &all, &mut Scratch::new(&net)).unwrap();
            let seen = told[run][agent];
            assert!((seen.loss - tally.loss).abs() < 1e-4 * tally.loss, "{seen:?} {tally:?}");
            assert_eq!((seen.examples, seen.correct, seen.lost), (tally.examples, tally.correct, tally.lost));
        }
    }
}

/// With noise: the same bits again, other bits from another seed, and nobody draws more than her budget admits.
#[test]
fn runs_are_functions_of_their_seeds_and_keep_budgets() {
    let Some(card) = card() else { return };
    let small = small();
    let models = |seed: u64| {
        let mut courses = small.courses(1.0);
        courses.iter_mut().for_each(|course| (course.start, course.seed) = (seed, seed));
        let mut together = Together::new(&card, &small.train, &small.test, &courses).unwrap();
        together.advance(usize::MAX).unwrap();
        let draws = together.draws();
        assert_eq!(draws, [vec![8, 8, 5], vec![8, 8, 5], vec![8, 8, 5], vec![16, 16, 5], vec![8, 8, 5]]);
        (0..courses.len()).flat_map(|run| together.models(run).unwrap()).collect::<Vec<_>>()
    };
    let once = models(4);
    assert_eq!(once, models(4));
    assert!(once.iter().zip(models(5)).all(|(one, other)| apart(one, &other) > 1e-3));
}

#[test]
fn what_does_not_fit_is_refused() {
    let Some(card) = card() else { return };
    let small = small();
    let refused = |change: fn(&mut Course)| {
        let mut course = small.course(Method::Dsgt, Rule::Sgd, 1.0);
        change(&mut course);
        Together::new(&card, &small.train, &small.test, &[course]).err().unwrap().to_string()
    };
    assert!(refused(|course| course.rows[1][0] = 300).starts_with("`row` is 300: "));
    assert!(refused(|course| course.draws.truncate(2)).starts_with("`draws` is 2: "));
    assert!(refused(|course| course.rows[0].truncate(20)).starts_with("`lots` is "));
    assert!(refused(|course| course.plan.rates.start = f64::NAN).starts_with("`rates` is NaN: "));
    let none = Together::new(&card, &small.train, &small.test, &[]).err().unwrap().to_string();
    assert!(none.starts_with("`courses` is 0: "), "{none}");
    let other = Net::perceptron(small.train.shape(), &[8], 10).unwrap();
    assert!(Gradients::new(&card, &other, &[]).err().unwrap().to_string().starts_with("`net` is "));
}

/// A band times its noises is fresh noise, of the same streams; a row that is absent contributes nothing.
#[test]
fn correlated_noise_is_that_of_its_band() {
    let Some(card) = card() else { return };
    let small = small();
    let of = |width: usize| {
        let mut course = small.course(Method::Dsgd { at: At::Own }, Rule::Sgd, 1.0);
        course.plan.optimiser.decay = 0.0;
        course.plan.rates = Rates::constant(1.0);
        course.draws = vec![8; 3];
        course.mixing = Mixing::new(&Graph::from_edges(3, []).unwrap(), Weights::Metropolis);
        for (rows, hidden) in course.rows.iter_mut().zip(&mut course.hidden) {
            rows.truncate(1);
            // One image in a million draws: there are none.
            let lots = Lots::new(1, 1e-6).unwrap();
            let band = Band { width, memory: 0.9 };
            *hidden = Some(Hidden { lots, band, ..hidden.unwrap() });
        }
        let mut together = Together::new(&card, &small.train, &small.test, &[course]).unwrap();
        let mut models = vec![together.models(0).unwrap()];
        for _ in 0..8 {
            together.advance(1).unwrap();
            models.push(together.models(0).unwrap());
        }
        let step = |two: &[Vec<Shared>]| -> Vec<f64> {
            let both =
                two[0].iter().zip(&two[1]).flat_map(|(a, b)| a.iter().zip(b.iter()).collect::<Vec<_>>());
            both.map(|(before, after)| f64::from(*before) - f64::from(*after)).collect()
        };
        models.windows(2).map(step).collect::<Vec<_>>()
    };
    let (fresh, banded) = (of(1), of(4));
    let diagonals = Band { width: 4, memory: 0.9 }.diagonals();
    for t in 0..8 {
        for n in (0..3 * PARAMETERS).step_by(997) {
            let back = t.min(3); // whole numbers
            let row: f64 = (0..=back).map(|k| diagonals[k] * banded[t - k][n]).sum();
            let (exact, large) = (fresh[t][n], 1e6);
            assert!((row - exact).abs() < 1e-5 * large, "{t} {n}: {row} {exact}");
        }
    }
}

#[test]
fn what_is_absent_contributes_nothing() {
    let Some(card) = card() else { return };
    let small = small();
    let models = |absent: Option<(usize, usize)>, other: usize| {
        let mut course = small.course(Method::Dsgt, Rule::Sgd, 0.0);
        course
            .hidden
            .iter_mut()
            .flatten()
            .for_each(|hidden| hidden.lots = Lots::new(hidden.lots.rows(), 1.0).unwrap());
        course.absent = absent;
        course.rows[1][2] = other;
        let mut together = Together::new(&card, &small.train, &small.test, &[course]).unwrap();
        together.advance(usize::MAX).unwrap();
        together.models(0).unwrap()
    };
    let (there, other) = (small.rows[1][2], small.rows[0][0]);
    assert_ne!(models(None, there), models(None, other));
    assert_ne!(models(None, there), models(Some((1, 2)), there));
    assert_eq!(models(Some((1, 2)), there), models(Some((1, 2)), other));
}
