//! Many runs side by side, on one card: lots come from the host, all else stays there.
//!
//! While the card computes a step of all agents of all runs, the host throws the coins of the next. What an agent draws is admitted by her budget, as in
//! the simulator.

use cudarc::driver::{CudaSlice, DevicePtr};
use rayon::prelude::*;
use sottovoce_learning::Images;
use sottovoce_learning::net::{Net, Tally};
use sottovoce_privacy::noise::simulation::Seed;
use sottovoce_protocol::consensus::{Hidden, Method, Plan};
use sottovoce_protocol::{Release, Shared};
use sottovoce_simulator::Allowance;
use sottovoce_simulator::consensus::{Course, allowance, pick};

use crate::card::{PARAMETERS, launch};
use crate::pool::Pool;
use crate::room::{Batch, Room, sent};
use crate::turn::Turn;
use crate::{Card, Error, Result};

/// Runs under way.
pub struct Together<'a> {
    card: &'a Card,
    pool: Pool,
    room: Room,
    runs: Vec<Span>,
    agents: Vec<Agent>,
    state: State,
    train: usize,
    test: usize,
    round: usize,
    ready: Option<Prepared>,
}

/// A run's agents among all, and what they do.
struct Span {
    agents: std::ops::Range<usize>,
    plan: Plan,
}

/// An agent, on the host.
struct Agent {
    plan: Plan,
    seed: u64,
    number: u64,
    neighbours: usize,
    rows: Vec<u32>,
    /// The row among hers that contributes nothing.
    absent: Option<u32>,
    hidden: Option<(Hidden, Release)>,
    /// Where her last noises and the diagonals of her band lie.
    band: Kept,
    allowance: Allowance,
    made: u64,
    spent: bool,
    /// Steps since the optimiser's moments began.
    steps: u64,
    picked: Vec<u32>,
}

/// Where what is kept for correlated noise begins: vectors of noise, and diagonals.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    past: usize,
    diagonals: usize,
}

/// Numbers of all agents, on the card.
struct State {
    rows: CudaSlice<u32>,
    neighbours: CudaSlice<u32>,
    weights: CudaSlice<f32>,
    model: CudaSlice<f32>,
    mixed: CudaSlice<f32>,
    tracker: CudaSlice<f32>,
    pull: CudaSlice<f32>,
    moment: CudaSlice<f32>,
    second: CudaSlice<f32>,
    sums: CudaSlice<f32>,
    /// The last noises of those whose noises are correlated, and the diagonals.
    past: CudaSlice<f32>,
    diagonals: CudaSlice<f32>,
    diverged: CudaSlice<u32>,
}

/// What the host knows of a step before the card comes to it.
struct Prepared {
    turns: Vec<Turn>,
    batch: Batch,
    begins: bool,
}

impl<'a> Together<'a> {
    /// Everybody at the start of her run. All runs learn from the same images, each agent from hers, and are judged on `test`.
    pub fn new(card: &'a Card, train: &Images, test: &Images, courses: &[Course]) -> Result<Self> {
        let (mut runs, mut agents) = (Vec::new(), Vec::<Agent>::new());
        let (mut past, mut diagonals) = (0, Vec::new());
        let (mut rows, mut neighbours, mut weights) = (vec![0u32], Vec::new(), Vec::new());
        let mut models = Vec::new();
        let net = Net::consensus_cnn();
        for course in courses {
            let begin = agents.len();
            course.check(train.len())?;
            let start = net.start(course.start);
            for agent in 0..course.mixing.nodes() {
                let row: Vec<(usize, f64)> = course.mixing.row(agent).collect();
                neighbours.extend(row.iter().map(|(peer, _)| (begin + peer) as u32));
                weights.extend(row.iter().map(|(_, weight)| *weight as f32));
                rows.push(neighbours.len() as u32);
                models.extend_from_slice(&start);
                let band = Kept { past, diagonals: diagonals.len() };
                if let Some(hidden) = course.hidden[agent].filter(|hidden| hidden.band.cycle() > 1) {
                    past += hidden.band.cycle() - 1;
                    diagonals.extend(hidden.band.diagonals().iter().map(|c| *c as f32));
                }
                agents.push(Agent::new(course, agent, row.len(), band)?);
            }
            runs.push(Span { agents: begin..agents.len(), plan: course.plan });
        }
        if agents.is_empty() {
            return Err(Error::parameter("courses", courses.len(), "give a run of one agent at least"));
        }
        let largest = agents.iter().map(|agent| agent.rows.len()).max().unwrap_or(0); // whole numbers
        let largest = largest.max(test.len()); // whole numbers
        let zeros = || card.stream.alloc_zeros::<f32>(models.len());
        let state = State {
            rows: sent(card, &rows)?,
            neighbours: sent(card, &neighbours)?,
            weights: sent(card, &weights)?,
            model: sent(card, &models)?,
            mixed: zeros()?,
            tracker: zeros()?,
            pull: zeros()?,
            moment: zeros()?,
            second: zeros()?,
            sums: zeros()?,
            past: card.stream.alloc_zeros::<f32>(past.max(1) * PARAMETERS)?, // whole numbers
            diagonals: sent(card, &diagonals)?,
            diverged: card.stream.alloc_zeros(agents.len())?,
        };
        let (pool, room) = (Pool::new(card, &[train, test])?, Room::new(card, largest)?);
        let (train, test) = (train.len(), test.len());
        Ok(Self { card, pool, room, runs, agents, state, train, test, round: 0, ready: None })
    }

    /// Iterations made.
    pub fn round(&self) -> usize {
        self.round
    }

    /// Iterations of the longest run that are to come.
    pub fn remaining(&self) -> usize {
        let longest = self.runs.iter().map(|run| run.plan.iterations).max().unwrap_or(0); // whole numbers
        longest.saturating_sub(self.round)
    }

    /// Everybody's private draws so far, of each run.
    pub fn draws(&self) -> Vec<Vec<usize>> {
        // A step that is prepared is none yet.
        let ahead = |agent: usize| self.ready.as_ref().is_some_and(|ready| ready.turns[agent].draws());
        let made = |agent: usize| self.agents[agent].made as usize - usize::from(ahead(agent));
        self.runs.iter().map(|run| run.agents.clone().map(made).collect()).collect()
    }

    /// The next so many iterations of all runs, or as many as there are.
    pub fn advance(&mut self, iterations: usize) -> Result<()> {
        let iterations = iterations.min(self.remaining()); // whole numbers
        for _ in 0..iterations {
            let steps = self.runs.iter().filter(|run| self.round < run.plan.iterations);
            let steps = steps.map(|run| run.plan.draws_each()).max().unwrap_or(1); // whole numbers
            for made in 0..steps {
                let now = match self.ready.take() {
                    Some(ready) => ready,
                    None => self.prepare(self.round, made),
                };
                self.launch(&now)?;
                // The card is busy; what comes next depends on nothing that it computes.
                let (round, made) =
                    if made + 1 < steps { (self.round, made + 1) } else { (self.round + 1, 0) };
                self.ready = Some(self.prepare(round, made));
            }
            self.round += 1;
        }
        Ok(())
    }

    /// The lots of a step, drawn and admitted.
    fn prepare(&mut self, round: usize, made: usize) -> Prepared {
        let turns = self.agents.par_iter_mut().map(|agent| agent.turn(round, made)).collect();
        let mut batch = Batch::new();
        for agent in &self.agents {
            let bound = agent.hidden.map_or(f32::INFINITY, |(hidden, _)| hidden.clip as f32);
            let there = agent.picked.iter().filter(|row| Some(**row) != agent.absent);
            batch.push(there.map(|&row| agent.rows[row as usize]), bound);
        }
        Prepared { turns, batch, begins: made == 0 }
    }

    fn launch(&mut self, now: &Prepared) -> Result<()> {
        let (card, state, agents) = (self.card, &mut self.state, self.agents.len());
        let turns = sent(card, &now.turns)?;
        let batch = now.batch.send(card)?;
        if now.begins {
            launch!(
                card,
                hear,
                (PARAMETERS.div_ceil(256), agents),
                256,
                [
                    &turns,
                    &state.rows,
                    &state.neighbours,
                    &state.weights,
                    &state.model,
                    &mut state.tracker,
                    &mut state.mixed,
                    &mut state.pull,
                    &state.moment,
                ]
            );
        }
        let places = [&state.model, &state.mixed].map(|numbers| numbers.device_ptr(&card.stream).0);
        let place = |(agent, turn): (usize, &Turn)| {
            places[usize::from(turn.at_mixed())] + (agent * PARAMETERS * size_of::<f32>()) as u64
        };
        let points: Vec<u64> = now.turns.iter().enumerate().map(place).collect();
        let points = sent(card, &points)?;
        self.room.sums(card, &self.pool, &now.batch, &batch, &points, &mut state.sums)?;
        launch!(
            card,
            step,
            (PARAMETERS.div_ceil(2048), agents),
            128,
            [
                &turns,
                &state.sums,
                &mut state.model,
                &mut state.tracker,
                &mut state.mixed,
                &state.pull,
                &mut state.moment,
                &mut state.second,
                &mut state.past,
                &state.diagonals,
                &mut state.diverged,
            ]
        );
        Ok(())
    }

    /// Which runs have a model that is no longer made of numbers: they are void.
    pub fn diverged(&self) -> Result<Vec<bool>> {
        let agents = self.card.stream.clone_dtoh(&self.state.diverged)?;
        Ok(self.runs.iter().map(|run| agents[run.agents.clone()].iter().any(|&bad| bad != 0)).collect())
    }

    /// What every agent's model of every run is worth on all test images.
    pub fn measure(&mut self) -> Result<Vec<Vec<Tally>>> {
        let test: Vec<u32> = (self.train..self.train + self.test).map(|at| at as u32).collect();
        let base = self.state.model.device_ptr(&self.card.stream).0;
        let mut told = Vec::new();
        let agents: Vec<u64> = (0..self.agents.len() as u64).collect();
        // There is room for one lot of them at least.
        let at_once = self.room.slots().checked_div(test.len()).unwrap_or(1);
        for agents in agents.chunks(at_once) {
            let mut batch = Batch::new();
            agents.iter().for_each(|_| batch.push(test.iter().copied(), f32::INFINITY));
            let points: Vec<u64> = agents.iter().map(|agent| base + agent * 4 * PARAMETERS as u64).collect();
            let points = sent(self.card, &points)?;
            for seen in self.room.measure(self.card, &self.pool, &batch, &points)? {
                told.push(Tally {
                    examples: test.len(),
                    loss: f64::from(seen.loss),
                    correct: seen.right as usize,
                    clipped: 0,
                    lost: seen.lost as usize,
                });
            }
        }
        Ok(self.runs.iter().map(|run| told[run.agents.clone()].to_vec()).collect())
    }

    /// Everybody's model in a run.
    pub fn models(&self, run: usize) -> Result<Vec<Shared>> {
        let Some(run) = self.runs.get(run) else {
            let remedy = format!("there are {}, counted from 0", self.runs.len());
            return Err(Error::parameter("run", run, remedy));
        };
        let range = run.agents.start * PARAMETERS..run.agents.end * PARAMETERS;
        let numbers = self.card.stream.clone_dtoh(&self.state.model.slice(range))?;
        Ok(numbers.chunks_exact(PARAMETERS).map(|model| model.to_vec().into()).collect())
    }
}

impl Agent {
    fn new(course: &Course, agent: usize, neighbours: usize, band: Kept) -> Result<Self> {
        let hidden = course.hidden[agent];
        Ok(Self {
            plan: course.plan,
            seed: course.seed,
            number: agent as u64,
            neighbours,
            rows: course.rows[agent].iter().map(|&row| row as u32).collect(),
            absent: course.absent.filter(|(peer, _)| *peer == agent).map(|(_, row)| row as u32),
            hidden: hidden.map(|hidden| (hidden, hidden.release())),
            band,
            allowance: allowance(hidden.as_ref(), course.draws[agent])?,
            made: 0,
            spent: false,
            steps: 0,
            picked: Vec::new(),
        })
    }

    /// Her next step. Her lot is drawn, and admitted before it is; nobody is in it where she makes none, or has spent her budget.
    fn turn(&mut self, round: usize, made: usize) -> Turn {
        self.picked.clear();
        if round >= self.plan.iterations || made >= self.plan.draws_each() {
            return Turn::idle();
        }
        if made == 0 && !self.plan.optimiser.kept && self.plan.method != Method::Dsgt {
            self.steps = 0;
        }
        let turn = Turn::new(&self.plan, self.neighbours, round, made, self.steps);
        self.steps += 1;
        let Some((hidden, release)) = self.hidden.filter(|_| !self.spent) else { return turn };
        // (With a band one release is made for all draws of a cycle, before the first of them.)
        let due = self.made.is_multiple_of(hidden.band.cycle() as u64);
        if due && self.allowance.admit(&release).is_err() {
            self.spent = true;
            return turn;
        }
        let draw = self.made;
        self.made += 1;
        pick(&hidden, Seed(self.seed), (self.number as usize, draw), &mut self.picked);
        let turn = turn.hidden(&hidden, self.seed, self.number, draw);
        turn.banded(&hidden.band, draw, (self.band.past, self.band.diagonals))
    }
}
