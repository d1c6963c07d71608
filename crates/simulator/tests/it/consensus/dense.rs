//! The algorithms as plain loops over dense matrices, in doubles, as the papers print them; lots and noise are the only things shared.

use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_protocol::Shared;
use sottovoce_simulator::noise::PeerNoise;

use super::*;

const SEED: u64 = 21;

type Matrix = Vec<Vec<f64>>;

struct Dense<'a> {
    bowls: &'a Bowls,
    hidden: &'a [Option<Hidden>],
    w: Matrix,
    plan: Plan,
    draws: Vec<u64>,
}

impl<'a> Dense<'a> {
    fn new(bowls: &'a Bowls, hidden: &'a [Option<Hidden>], mixing: &Mixing, plan: Plan) -> Self {
        let n = mixing.nodes();
        let w = (0..n).map(|u| (0..n).map(|v| mixing.weight(u, v)).collect()).collect();
        Self { bowls, hidden, w, plan, draws: vec![0; n] }
    }

    /// `G_i(theta)`: a lot, clipped, summed, over the mean size of lots, with noise.
    fn gradient(&mut self, i: usize, theta: &[f64]) -> Vec<f64> {
        let mut sum = vec![0.0; theta.len()];
        let Some(hidden) = &self.hidden[i] else { return sum };
        let (mut lot, draw) = (Vec::new(), self.draws[i]);
        self.draws[i] += 1;
        hidden.lots.draw(Seed(SEED), i as u64, draw, &mut lot);
        for row in lot {
            let bottom = &self.bowls.bottoms[i][row as usize];
            let g: Vec<f64> = theta
                .iter()
                .zip(bottom)
                .map(|(x, b)| f64::from(self.bowls.steepness[i]) * (x - f64::from(*b)))
                .collect();
            let norm = g.iter().map(|x| x * x).sum::<f64>().sqrt();
            let share = if norm > hidden.clip { hidden.clip / norm } else { 1.0 };
            sum.iter_mut().zip(g).for_each(|(sum, g)| *sum += share * g);
        }
        let noise = PeerNoise::new(SEED, i).standard(draw, theta.len());
        let expected = hidden.lots.rows() as f64 * hidden.lots.rate();
        let one = |(sum, xi): (&f64, f64)| (sum + hidden.multiplier * hidden.clip * xi) / expected;
        sum.iter().zip(noise).map(one).collect()
    }

    fn mix(&self, x: &Matrix, i: usize) -> Vec<f64> {
        (0..x[0].len()).map(|c| (0..x.len()).map(|j| self.w[i][j] * x[j][c]).sum()).collect()
    }

    fn eta(&self, k: usize) -> f64 {
        let Rates { start, finish } = self.plan.rates;
        start * (finish / start).powf(k as f64 / (self.plan.iterations - 1) as f64)
    }

    fn dsgd(&mut self, start: &[f64], at: At) -> Matrix {
        let (n, decay) = (self.w.len(), self.plan.optimiser.decay);
        let mut theta = vec![start.to_vec(); n];
        let mut velocity = vec![vec![0.0; start.len()]; n];
        let beta = if let Rule::Momentum { beta } = self.plan.optimiser.rule { beta } else { 0.0 };
        for k in 0..self.plan.iterations {
            let before = theta.clone();
            for i in 0..n {
                let mixed = self.mix(&before, i);
                let point = if at == At::Own { before[i].clone() } else { mixed.clone() };
                let g = self.gradient(i, &point);
                for c in 0..start.len() {
                    velocity[i][c] = beta * velocity[i][c] + g[c] + decay * point[c];
                    theta[i][c] = mixed[c] - self.eta(k) * velocity[i][c];
                }
            }
        }
        theta
    }

    fn dsgt(&mut self, start: &[f64]) -> Matrix {
        let n = self.w.len();
        let mut theta = vec![start.to_vec(); n];
        let mut y = vec![vec![0.0; start.len()]; n];
        let mut last = y.clone();
        for k in 0..self.plan.iterations {
            let (before, tracked) = (theta.clone(), y.clone());
            for i in 0..n {
                for c in 0..start.len() {
                    let stepped = |j: usize| before[j][c] - self.eta(k) * tracked[j][c];
                    theta[i][c] = (0..n).map(|j| self.w[i][j] * stepped(j)).sum();
                }
                let point = theta[i].clone();
                let g = self.gradient(i, &point);
                let mixed = self.mix(&tracked, i);
                for c in 0..start.len() {
                    y[i][c] = g[c] + mixed[c] - last[i][c];
                }
                last[i] = g;
            }
        }
        theta
    }

    fn dinno(&mut self, start: &[f64], primal: usize, (rho, growth): (f64, f64)) -> Matrix {
        let (n, width) = (self.w.len(), start.len());
        let mut theta = vec![start.to_vec(); n];
        let mut y = vec![vec![0.0; width]; n];
        let mut adam = vec![(0, vec![0.0; width], vec![0.0; width]); n];
        for k in 0..self.plan.iterations {
            let before = theta.clone();
            let rho = rho * growth.powi(k as i32 + 1);
            for i in 0..n {
                let neighbours: Vec<usize> = (0..n).filter(|&j| j != i && self.w[i][j] > 0.0).collect();
                for c in 0..width {
                    y[i][c] += rho * neighbours.iter().map(|&j| before[i][c] - before[j][c]).sum::<f64>();
                }
                if !self.plan.optimiser.kept {
                    adam[i] = (0, vec![0.0; width], vec![0.0; width]);
                }
                let mut psi = before[i].clone();
                for _ in 0..primal {
                    let g = self.gradient(i, &psi);
                    adam[i].0 += 1;
                    for c in 0..width {
                        let middle = |j: usize| psi[c] - (before[i][c] + before[j][c]) / 2.0;
                        let apart = neighbours.iter().map(|&j| middle(j)).sum::<f64>();
                        let direction = g[c] + y[i][c] + 2.0 * rho * apart;
                        let (t, m, v) = &mut adam[i];
                        psi[c] -= self.eta(k)
                            * if self.plan.optimiser.rule == Rule::ADAM {
                                m[c] = 0.9 * m[c] + 0.1 * direction;
                                v[c] = 0.999 * v[c] + 0.001 * direction * direction;
                                let [mean, square] =
                                    [m[c] / (1.0 - 0.9f64.powi(*t)), v[c] / (1.0 - 0.999f64.powi(*t))];
                                mean / (square.sqrt() + 1e-8)
                            } else {
                                direction
                            };
                    }
                }
                theta[i] = psi;
            }
        }
        theta
    }

    fn run(&mut self, start: &[f64]) -> Vec<f64> {
        match self.plan.method {
            Method::Dsgd { at } => self.dsgd(start, at),
            Method::Dsgt => self.dsgt(start),
            Method::Dinno { primal, rho, growth } => self.dinno(start, primal, (rho, growth)),
        }
        .concat()
    }
}

/// Nine agents of unlike sizes, one without rows and one whose lots are mostly empty.
fn sizes() -> Vec<Option<Hidden>> {
    let one = |agent: usize| match agent {
        3 => None,
        5 => hidden(20, 0.01, 1.5, 0.3),
        7 => hidden(20, 1.0, 1.5, 0.0),
        _ => hidden(12 + agent, 0.3, 1.5, 0.5),
    };
    (0..9).map(one).collect()
}

fn agrees(mixing: &Mixing, plan: Plan) {
    let (bowls, hidden) = (Bowls::new(9, 20, 4), sizes());
    let start = [0.5f32, -1.0, 0.0, 2.0];
    let setup = ConsensusSetup::new(mixing, Shared::from(start.to_vec()), plan, &hidden, SEED).unwrap();
    let known = Dense::new(&bowls, &hidden, mixing, plan).run(&start.map(f64::from));
    let apart = farthest(&finals(setup, &bowls), &known);
    // Forty iterations of single precision, on numbers of about 2.
    assert!(apart < 1e-5, "{plan:?}: {apart}");
}

#[test]
fn algorithms_agree_with_plain_loops() {
    for mixing in [weights(9), Mixing::neighbourhoods(weights(9).graph())] {
        for method in METHODS {
            agrees(&mixing, plan(method, 40));
        }
    }
}

#[test]
fn optimisers_agree_with_plain_loops() {
    let momentum = Optimiser { decay: 0.01, ..Optimiser::new(Rule::Momentum { beta: 0.9 }) };
    for method in [OWN, MIXED] {
        let slow = Rates { start: 0.02, finish: 0.01 };
        agrees(&weights(9), Plan { optimiser: momentum, rates: slow, ..plan(method, 40) });
    }
    for primal in [1, 2, 5] {
        for kept in [true, false] {
            let method = Method::Dinno { primal, rho: 0.2, growth: 1.01 };
            let optimiser = Optimiser { kept, ..Optimiser::new(Rule::ADAM) };
            let rates = Rates { start: 0.03, finish: 0.01 };
            agrees(&weights(9), Plan { optimiser, rates, ..plan(method, 40) });
        }
    }
}

/// An agent whose lots are empty releases noise and nothing else, and every one of them is counted.
#[test]
fn empty_lots_are_draws_like_any_other() {
    let (bowls, alone) = (Bowls::new(1, 5, 3), Graph::from_edges(1, []).unwrap());
    let mixing = Mixing::new(&alone, Weights::Metropolis);
    let rare = [hidden(5, 1e-15, 2.0, 0.5)];
    let setup = ConsensusSetup::new(&mixing, Shared::zeros(3), plan(OWN, 6), &rare, SEED).unwrap();
    let mut bulk = BulkConsensus::new(setup, &bowls).unwrap();
    bulk.advance(6).unwrap();
    assert_eq!(bulk.draws(), [6]);
    let scale = 0.5 * 2.0 / (5.0 * 1e-15);
    let mut model = [0.0; 3];
    for k in 0..6 {
        let noise = PeerNoise::new(SEED, 0).standard(k, 3);
        let eta = plan(OWN, 6).rates.at(k as usize, 6);
        model.iter_mut().zip(noise).for_each(|(x, xi)| *x -= eta * scale * xi);
    }
    let drawn: Vec<f64> = bulk.models().next().unwrap().iter().map(|x| f64::from(*x)).collect();
    assert!(farthest(&drawn, &model) < 1e-5 * scale, "{drawn:?} {model:?}");
}

/// Somebody alone with everybody's rows is the centre; everybody alone is local learning: the same code, on graphs without edges.
#[test]
fn the_centre_and_those_who_learn_alone_are_graphs_without_edges() {
    let bowls = Bowls::new(1, 60, 3);
    let pooled = [hidden(60, 0.4, 5.0, 0.1)];
    let apart = Bowls {
        steepness: vec![bowls.steepness[0]; 3],
        bottoms: bowls.bottoms[0].chunks(20).map(<[_]>::to_vec).collect(),
    };
    let parts = [hidden(20, 0.4, 5.0, 0.1); 3];
    for (bowls, hidden) in [(&bowls, &pooled[..]), (&apart, &parts[..])] {
        let nobody = Graph::from_edges(hidden.len(), []).unwrap();
        let mixing = Mixing::new(&nobody, Weights::Metropolis);
        let optimiser = Optimiser { decay: 1e-3, ..Optimiser::new(Rule::Momentum { beta: 0.9 }) };
        let plan = Plan { optimiser, ..plan(OWN, 30) };
        let setup = ConsensusSetup::new(&mixing, Shared::zeros(3), plan, hidden, SEED).unwrap();
        let known = Dense::new(bowls, hidden, &mixing, plan).run(&[0.0; 3]);
        assert!(farthest(&finals(setup, bowls), &known) < 1e-5);
    }
}
