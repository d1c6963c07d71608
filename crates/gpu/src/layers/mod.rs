//! Clipped gradients of residual nets on a card: convolutions, GroupNorm, leaky ReLU, max pools, residual blocks, one linear layer at the end. A [`Trainer`], as
//! [`Gradients`](crate::Gradients) is for the small net.
//!
//! Every image's own gradient is written down (31 MB of ResNet-9), measured, shortened and added: a card has room for a few hundred. Agents' lots come one by one.

mod pass;
mod plan;

use std::sync::{Mutex, PoisonError};

use sottovoce_learning::Images;
use sottovoce_learning::net::Net;
use sottovoce_protocol::Peer;
use sottovoce_simulator::consensus::Trainer;

use crate::room::sent;
use crate::{Card, Error, Result};
use pass::{Bench, Tools};
use plan::{Plan, Work, pixels};

/// Images that are computed at a time: a lot of 250, as a rule.
const BATCH: usize = 320;

/// Everybody's images on a card, and a residual net.
pub struct Layers {
    /// Where each agent's images begin, and where the last one's end.
    begins: Vec<usize>,
    parameters: usize,
    bench: Mutex<Bench>,
}

impl Layers {
    /// Of these images. Refused where no kernels are written for a layer.
    pub fn new(card: &Card, net: &Net, rows: &[Images]) -> Result<Self> {
        let Plan { steps, slots, parameters, .. } = Plan::new(card, net)?;
        let mut begins = vec![0];
        begins.extend(rows.iter().scan(0, |end, images| {
            *end += images.len();
            Some(*end)
        }));
        let channels = net.input().channels;
        let tables =
            |images: &Images| (0..channels).map(|c| images.table(c).copied()).collect::<Option<Vec<_>>>();
        let table = rows.iter().find_map(tables).unwrap_or_else(|| vec![[0.0; 256]; channels]);
        for images in rows {
            if images.shape() != net.input()
                || images.classes() > net.classes()
                || tables(images).as_ref() != Some(&table)
            {
                let remedy = "all must have the net's shape and classes, and be normalised alike";
                return Err(Error::parameter("images", format!("{:?}", images.shape()), remedy));
            }
        }
        let bytes: Vec<u8> = rows
            .iter()
            .flat_map(|images| (0..images.len()).flat_map(|at| images.pixels(at)))
            .copied()
            .collect();
        let labels: Vec<u8> = rows.iter().flat_map(Images::labels).copied().collect();
        let patches = steps.iter().map(|step| match step.work {
            Work::Convolution { kernel, .. } => {
                pixels(slots[step.to].shape) * slots[step.from].shape.channels * kernel * kernel
            }
            _ => 1,
        });
        let patches = patches.max().unwrap_or(1);
        let floats = |count: usize| card.stream.alloc_zeros::<f32>(count);
        let bench = Bench {
            tools: Tools::new(card)?,
            bytes: sent(card, &bytes)?,
            labels: sent(card, &labels)?,
            table: sent(card, &table.concat())?,
            model: floats(parameters)?,
            columns: floats(BATCH * patches)?,
            own: floats(BATCH * parameters)?,
            squares: floats(BATCH * 128)?,
            factor: floats(BATCH)?,
            loss: floats(BATCH)?,
            sum: floats(parameters)?,
            steps,
            slots,
        };
        Ok(Self { begins, parameters, bench: Mutex::new(bench) })
    }

    /// Adds the clipped gradients of an agent's images to `sum`.
    pub fn add(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) -> Result<()> {
        let known = self.begins.get(agent).zip(self.begins.get(agent + 1));
        let (&begin, &end) =
            known.ok_or_else(|| Error::parameter("agent", agent, "she has no images here"))?;
        if let Some(at) = picked.iter().find(|&&at| at as usize >= end - begin) {
            let remedy = format!("she has {} images, counted from 0", end - begin);
            return Err(Error::parameter("picked", at, remedy));
        }
        if model.len() != self.parameters || sum.len() != self.parameters {
            let remedy = format!("the net has {}", self.parameters);
            return Err(Error::parameter("model", format!("of {} numbers", model.len()), remedy));
        }
        let mut bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        let stream = bench.tools.stream.clone();
        stream.memcpy_htod(model, &mut bench.model)?;
        stream.memset_zeros(&mut bench.sum)?;
        let picked: Vec<u32> = picked.iter().map(|&at| begin as u32 + at).collect();
        for part in picked.chunks(BATCH) {
            bench.learn(part, clip as f32)?;
        }
        let more = stream.clone_dtoh(&bench.sum)?;
        drop(bench);
        sum.iter_mut().zip(&more).for_each(|(sum, more)| *sum += more);
        Ok(())
    }

    /// How long so many clipped gradients take that stay on the card, again and again: seconds of each time. To be measured.
    pub fn time(&self, images: usize, clip: f64, times: usize) -> Result<f64> {
        let mut bench = self.bench.lock().unwrap_or_else(PoisonError::into_inner);
        let all = self.begins.last().copied().unwrap_or(0).max(1); // whole numbers
        let picked: Vec<u32> = (0..images).map(|at| (at % all) as u32).collect();
        let began = std::time::Instant::now();
        for _ in 0..times {
            for part in picked.chunks(BATCH) {
                bench.learn(part, clip as f32)?;
            }
        }
        bench.tools.stream.synchronize()?;
        Ok(began.elapsed().as_secs_f64() / times as f64)
    }
}

impl Trainer for Layers {
    fn add_clipped(&self, agent: Peer, picked: &[u32], clip: f64, model: &[f32], sum: &mut [f32]) {
        if self.add(agent, picked, clip, model, sum).is_err() {
            // What cannot be computed is no number, and the driver refuses it.
            sum.fill(f32::NAN);
        }
    }
}
