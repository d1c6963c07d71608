//! A learning run, from its spec to what it returns.

mod page;

use std::path::PathBuf;

use crate::experiment::{Experiment, Keys, Learning};
use crate::learning::{Noise, Run};
use crate::spine::{Context, Outcome, Protocol};
use crate::{Result, transcript};

impl Protocol for Learning {
    fn seed(&self) -> Option<u64> {
        self.seed
    }

    fn seed_mut(&mut self) -> &mut Option<u64> {
        &mut self.seed
    }

    fn seeds_mut(&mut self) -> Option<&mut Option<usize>> {
        Some(&mut self.seeds)
    }

    fn files(&mut self) -> Vec<(&'static str, Option<&mut PathBuf>)> {
        vec![
            ("graph", self.graph.base.file.as_mut()),
            ("schedule", self.graph.schedule.as_mut()),
            ("data", self.task.data.as_mut()),
            ("bounds", self.task.bounds.as_mut()),
            ("keys", self.noise.keys.as_mut().and_then(Keys::file)),
        ]
    }

    fn page_files(&self) -> Vec<&'static str> {
        page::FILES.to_vec()
    }

    fn run(&self, context: &Context<'_>) -> Result<Outcome> {
        let &Context { folder, seed, progress, checkpoints, .. } = context;
        let ready = self.ready(folder, seed)?;
        if checkpoints.checkpoint.is_some() && ready.network.is_some() {
            let remedy = "a run by messages cannot be paused; leave it out, or what is said of the network";
            return Err(checkpoints.refused(remedy));
        }
        let job = self.job(&ready, seed);
        let mut run = job.start()?;
        if let Some(bytes) = checkpoints.bytes()? {
            let unread =
                |error| checkpoints.refused(format!("it is not a checkpoint of a learning run ({error})"));
            run.resume(serde_json::from_slice(&bytes).map_err(unread)?)?;
        }
        let paused = advance(&mut run, &ready.noise, context)?;
        progress.begin(self.seeds(), "other seeds");
        let found = job.conclude(&run, paused, || progress.step(""))?;
        let own = Experiment::Learning(Box::new(self.clone()));
        let transcript = transcript::Learning::new(&own, &run, self.target.delta)?;
        Ok(Outcome::new(found.clone(), context.again(own), &transcript)?
            .of_graph(ready.graph_sha256.clone(), ready.notes.clone())
            .with_page(move |beside| page::page(&found)?.files(beside)))
    }
}

/// Learns; whether there is more to do.
fn advance(run: &mut Run<'_>, noise: &Noise, context: &Context<'_>) -> Result<bool> {
    let &Context { progress, checkpoints, .. } = context;
    let (done, all) = run.progress();
    progress.begin(all, "learning");
    progress.at(done, "learning");
    let more = run.go(checkpoints.pause_after.unwrap_or(usize::MAX), |run| {
        let how = run.curve().last().map_or_else(String::new, |point| {
            format!("loss {:.3} (not private), mu² {:.3}", point.objective, point.spent)
        });
        progress.at(run.progress().0, &how);
    })?;
    checkpoints.keep(|| {
        noise.promise().map(|promise| run.may_show(&promise)).transpose()?;
        serde_json::to_vec(&run.checkpoint()).map_err(|error| checkpoints.refused(error.to_string()))
    })?;
    Ok(more)
}
