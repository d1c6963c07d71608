//! The same without messages: a hundred thousand agents on a perfect network, on all cores, bit for bit as the machines.
//!
//! Who wakes when is a function of the clocks alone, so all wake-ups are known and put in order beforehand. A wake-up reads the models of its neighbours and
//! writes its own: two of them commute unless their agents are equal or neighbours. So each is given a level, one above the last wake-up in its
//! neighbourhood, and those of one level are computed side by side, whatever the number of threads.

use std::slice::from_ref;

use prefetch_index::prefetch_index;
use rayon::prelude::*;
use sottovoce_fault::stop;
use sottovoce_protocol::personal::{Plan, Rule, pulled, update};
use sottovoce_protocol::{Chance, Peer};

use super::{Clock, PERIOD, PersonalSetup, Rows};
use crate::budget::Allowance;
use crate::noise::PeerNoise;
use crate::{Error, Result};

/// Wake-ups that one thread takes at a time: the first of them was not foreseen.
const SHARE: usize = 128;

/// Models that one thread puts in their places at a time.
const WRITTEN: usize = 1024;

/// Bytes that come from memory together.
const LINE: usize = 64;

/// The neighbours of so many wake-ups are on their way from memory.
const AHEAD: usize = 8;

/// A run under way.
pub struct FastPersonal<'a, R> {
    setup: PersonalSetup<'a>,
    rows: &'a R,
    width: usize,
    models: Vec<f64>,
    /// Released local models, of those who began with one.
    locals: Vec<f64>,
    /// Agents in the order in which they wake, and what each wake-up is: the agent's own number of it.
    wakes: Vec<(u32, u32)>,
    at: usize,
    /// One above the level of each agent's last wake-up, and how many she has had.
    woken: Vec<(u32, u32)>,
    /// Private updates so far.
    updates: Vec<usize>,
}

impl<'a, R: Rows> FastPersonal<'a, R> {
    /// Everybody at the start, or at her own released model.
    pub fn new(mut setup: PersonalSetup<'a>, rows: &'a R) -> Result<Self> {
        setup.check()?;
        let (agents, width) = (setup.plans.len(), setup.start.len());
        if setup.plans.iter().any(|plan| plan.patience.is_some() || plan.repeats > 0) {
            let remedy = "without messages nobody is silent and nothing is lost; run it by messages, or leave both out";
            return Err(Error::parameter("patience", "given", remedy));
        }
        let mut models: Vec<f64> = setup.start.iter().copied().cycle().take(agents * width).collect();
        let each = setup.plans.par_iter().zip(&mut setup.allowances).zip(models.par_chunks_exact_mut(width));
        let here = stop::here();
        let planned: Vec<Result<usize>> = each
            .enumerate()
            .map(|(agent, ((plan, allowance), model))| {
                here.look();
                begin(agent, plan, allowance, rows, PeerNoise::new(setup.seed, agent), model)
            })
            .collect();
        let wakes = order(&setup, &planned.into_iter().collect::<Result<Vec<_>>>()?)?;
        Ok(Self {
            rows,
            width,
            locals: models.clone(),
            models,
            wakes,
            at: 0,
            woken: vec![(0, 0); agents],
            updates: vec![0; agents],
            setup,
        })
    }

    /// Wake-ups to come.
    pub fn remaining(&self) -> usize {
        self.wakes.len() - self.at
    }

    /// All models, one after the other.
    pub fn models(&self) -> &[f64] {
        &self.models
    }

    /// Private updates of each agent so far.
    pub fn updates(&self) -> &[usize] {
        &self.updates
    }

    /// What each agent may still release once the run has ended.
    pub fn allowances(&self) -> &[Allowance] {
        &self.setup.allowances
    }

    /// Models sent so far, one for each receiver, where nobody begins with a model of her own.
    pub fn sent(&self) -> u64 {
        let graph = self.setup.similarity.graph();
        self.wakes[..self.at].iter().map(|(agent, _)| graph.degree(*agent as usize) as u64).sum()
    }

    /// The next so many wake-ups, or as many as there are.
    pub fn advance(&mut self, wakes: usize) {
        let to = self.wakes.len().min(self.at.saturating_add(wakes)); // whole numbers
        let mut moved = Vec::new();
        for level in self.by_level(to) {
            stop::look();
            moved.resize(level.len() * self.width, 0.0);
            self.move_all(&level, &mut moved);
            self.write(&level, &moved);
        }
        let counts = self.updates.par_iter_mut().zip(&self.woken).zip(self.setup.plans);
        counts.for_each(|((updates, &(_, wakes)), plan)| {
            *updates = (wakes as usize).saturating_sub(plan.warm.map_or(0, |warm| warm.wakes));
        });
        self.at = to;
    }

    /// The wake-ups up to `to`, those that commute together, by agents: their rows, plans and neighbours lie in memory in that order.
    fn by_level(&mut self, to: usize) -> Vec<Vec<(u32, u32)>> {
        let graph = self.setup.similarity.graph();
        let woken = &mut self.woken;
        woken.iter_mut().for_each(|(level, _)| *level = 0);
        let (mut all, wakes): (Vec<Vec<(u32, u32)>>, _) = (Vec::new(), &self.wakes[self.at..to]);
        for (i, &(agent, wake)) in wakes.iter().enumerate() {
            if let Some(&(later, _)) = wakes.get(i + AHEAD) {
                let others = graph.neighbors(later as usize);
                fetch(others, 0, others.len());
            }
            let others = graph.neighbors(agent as usize).iter().map(|&other| woken[other as usize].0);
            let level = others.fold(woken[agent as usize].0, u32::max); // whole numbers
            if level as usize == all.len() {
                all.push(Vec::new());
            }
            all[level as usize].push((agent, wake));
            woken[agent as usize] = (level + 1, wake + 1);
        }
        all.par_iter_mut().for_each(|level| level.sort_unstable());
        all
    }

    /// Where the models of these agents are after their wake-ups.
    fn move_all(&self, wakes: &[(u32, u32)], moved: &mut [f64]) {
        let shares = moved.par_chunks_mut(SHARE * self.width).zip(wakes.par_chunks(SHARE));
        shares.for_each_init(
            || (vec![0.0; self.width], vec![0.0; self.width]),
            |(sum, gradient), (out, wakes)| {
                for (i, model) in out.chunks_exact_mut(self.width).enumerate() {
                    let (agent, wake) = wakes[i];
                    let next = wakes.get(i + 1).map_or(agent, |next| next.0);
                    self.foresee(&wakes[i..]);
                    model.copy_from_slice(self.model(agent as usize));
                    self.wake((agent as usize, wake as usize, next as usize), (sum, gradient), model);
                }
            },
        );
    }

    /// Puts moved models, which are in the order of their agents, in their places: each thread those of a range of agents.
    fn write(&mut self, wakes: &[(u32, u32)], moved: &[f64]) {
        let width = self.width;
        let (mut rest, mut first) = (&mut self.models[..], 0);
        let shares = wakes.chunks(WRITTEN).zip(moved.chunks(WRITTEN * width)).map(|(wakes, moved)| {
            let end = wakes.last().map_or(first, |&(agent, _)| agent as usize + 1);
            let (models, others) = std::mem::take(&mut rest).split_at_mut((end - first) * width);
            rest = others;
            (std::mem::replace(&mut first, end), models, wakes, moved)
        });
        shares.collect::<Vec<_>>().into_par_iter().for_each(|(first, models, wakes, moved)| {
            for (&(agent, _), model) in wakes.iter().zip(moved.chunks_exact(width)) {
                models[(agent as usize - first) * width..][..width].copy_from_slice(model);
            }
        });
    }

    fn model(&self, agent: Peer) -> &[f64] {
        &self.models[agent * self.width..][..self.width]
    }

    /// Tells the memory who comes: where those who are four wake-ups away have their rows and neighbours, who is near those two away, and what the next
    /// one has agreed to. Her rows and her neighbours' models are asked for while this one's gradient is computed.
    #[inline(always)]
    fn foresee(&self, coming: &[(u32, u32)]) {
        let (similarity, graph) = (self.setup.similarity, self.setup.similarity.graph());
        let at = |away: usize| coming.get(away).map(|&(agent, _)| agent as usize);
        if let Some(far) = at(4) {
            self.rows.expect(far);
            prefetch_index(graph.rows().0, far);
        }
        if let Some(near) = at(2) {
            let (others, weights) = (graph.neighbors(near), similarity.weights_of(near));
            fetch(others, 0, others.len());
            fetch(weights, 0, weights.len());
        }
        if let Some(next) = at(1) {
            let plan = &self.setup.plans[next];
            prefetch_index(from_ref(&plan.rule), 0);
            prefetch_index(from_ref(&plan.hidden), 0);
            prefetch_index(from_ref(&plan.warm), 0);
            self.fetch(next);
        }
    }

    /// Asks the memory for an agent's model.
    #[inline(always)]
    fn fetch(&self, agent: Peer) {
        fetch(&self.models, agent * self.width, self.width);
    }

    /// Moves an agent's model; who is `next` is told to the memory meanwhile.
    fn wake(
        &self,
        (agent, wake, next): (Peer, usize, Peer),
        (sum, gradient): (&mut [f64], &mut [f64]),
        model: &mut [f64],
    ) {
        let others = self.setup.similarity.graph().neighbors(next);
        let fetch = |turn: usize| {
            self.rows.fetch(next, turn);
            others.get(turn).into_iter().for_each(|&other| self.fetch(other as usize));
        };
        let (plan, mut turns) = (&self.setup.plans[agent], 0);
        let meanwhile = |turn: usize| {
            fetch(turn);
            turns = turn + 1;
        };
        let rule = self.slope(agent, plan, wake, model, gradient, meanwhile);
        // Few rows have few turns.
        (turns..others.len()).for_each(fetch);
        let others = self.setup.similarity.row(agent).map(|(other, weight)| (weight, self.model(other)));
        let total = pulled(others, sum);
        update(rule, total, sum, gradient, model);
    }

    /// The gradient of a wake-up, under its noise.
    fn slope(
        &self,
        agent: Peer,
        plan: &Plan,
        wake: usize,
        model: &[f64],
        gradient: &mut [f64],
        meanwhile: impl FnMut(usize),
    ) -> Rule {
        let first = plan.warm.map_or(0, |warm| warm.wakes);
        let Some(update) = wake.checked_sub(first) else {
            let local = &self.locals[agent * self.width..][..self.width];
            gradient.iter_mut().zip(model.iter().zip(local)).for_each(|(slope, (x, y))| *slope = x - y);
            return Rule::propagation(plan.rule.pull);
        };
        gradient.fill(0.0);
        if let Some(release) = plan.release(update) {
            self.rows.gradient_while(agent, update, model, gradient, meanwhile);
            let draw = update as u64 + u64::from(plan.warm.is_some_and(|warm| warm.release.is_some()));
            let noise = PeerNoise::new(self.setup.seed, agent);
            // Scales were admitted, so they are scales.
            _ = noise.add_by(release.law, draw, release.scale, gradient);
        }
        plan.rule
    }
}

/// Asks the memory for so many numbers from the first on.
#[inline(always)]
fn fetch<T>(all: &[T], first: usize, count: usize) {
    let mut k = 0;
    while k < count {
        prefetch_index(all, first + k);
        k += LINE / size_of::<T>();
    }
}

/// Releases what an agent begins with, and says how many wake-ups her budget lets her have.
fn begin(
    agent: Peer,
    plan: &Plan,
    allowance: &mut Allowance,
    rows: &impl Rows,
    noise: PeerNoise,
    model: &mut [f64],
) -> Result<usize> {
    let warm = plan.warm;
    if let Some(release) = warm.and_then(|warm| warm.release) {
        if allowance.admit(&release).is_err() {
            return Ok(0);
        }
        rows.local(agent, model);
        let covered = noise.add_by(release.law, 0, release.scale, model);
        covered.map_err(|uncovered| {
            Error::parameter("scale", uncovered.scale, "give a positive, finite scale")
        })?;
    }
    let mut updates = 0;
    while updates < plan.updates {
        let Some(release) = plan.release(updates) else {
            updates = plan.updates;
            break;
        };
        if !(release.scale.is_finite() && release.scale >= 0.0) {
            return Err(Error::parameter("scale", release.scale, "give a finite scale, 0 or more"));
        }
        if allowance.admit(&release).is_err() {
            break;
        }
        updates += 1;
    }
    Ok(warm.map_or(0, |warm| warm.wakes) + updates)
}

/// Everybody's wake-ups, by time.
fn order(setup: &PersonalSetup<'_>, planned: &[usize]) -> Result<Vec<(u32, u32)>> {
    let of = |(agent, &wakes): (usize, &usize)| {
        let (mut clock, mut now) = (Clock::new(setup.seed, agent), 0u64);
        (0..wakes).map(move |wake| {
            now = now.saturating_add((-clock.unit().ln() * PERIOD as f64).round() as u64);
            (now, agent as u32, wake as u32)
        })
    };
    let mut all: Vec<(u64, u32, u32)> = planned.par_iter().enumerate().flat_map_iter(of).collect();
    all.par_sort_unstable();
    let together = |pair: &[(u64, u32, u32)]| {
        pair[0].0 == pair[1].0 && setup.similarity.graph().has_edge(pair[0].1 as usize, pair[1].1 as usize)
    };
    if all.par_windows(2).any(together) {
        let remedy = "two neighbours would wake in the same nanosecond; take another seed";
        return Err(Error::parameter("seed", setup.seed, remedy));
    }
    Ok(all.into_par_iter().map(|(_, agent, wake)| (agent, wake)).collect())
}
