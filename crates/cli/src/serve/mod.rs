//! `sottovoce serve`: a folder of runs, and of runs that are under way, side by side in a browser of this machine.
//!
//! ```text
//!   folder ──► shelf.rs: which folders hold a run (nothing is followed, everything has a limit) ──► found.rs: what a run left
//!                                                                                                      │
//!   site.rs: GET /, /rows, /compare, /runs.json, /run/ID/FILE  ◄── list.rs, beside.rs: markup ◄────────┘
//! ```
//!
//! Folders may hold anything: what is in their files is text wherever it is shown, and a file that is too large or no document is shown as broken.

mod beside;
mod file;
mod found;
mod list;
mod shelf;
mod site;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;

use anyhow::{Context, bail};
use clap::Args;
use serde::Serialize;

use crate::Global;
use crate::output::{self, note};
use found::{Found, Status};
use shelf::Shelf;

/// Where it listens, if nobody else does.
const PORT: u16 = 8686;

/// Arguments of `serve`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  sottovoce run averaging --peers 32 --epsilon 2 --out runs/a\n  sottovoce run averaging --peers 32 --epsilon 2 --relay-noise 0.2 --out runs/b\n  \
                  sottovoce serve runs\n  sottovoce serve runs --json\n\nThe page is for this machine only: whoever has an account on it can read it, and nobody else. Nothing is \
                  changed, and nothing is opened by itself. Ctrl-C ends it."
)]
pub(crate) struct Serve {
    /// Folder with runs in it, at any depth.
    folder: PathBuf,
    /// Port on this machine (default: 8686, or a free one where that is taken).
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
}

/// The runs of a folder.
#[derive(Debug, Clone, Serialize, schemars::JsonSchema)]
pub(crate) struct Listing {
    /// The folder.
    folder: PathBuf,
    /// The runs in it, by their folders.
    runs: Vec<Found>,
    /// What was not looked at, and why.
    notes: Vec<String>,
}

impl Serve {
    pub(crate) fn run(&self, global: &Global) -> anyhow::Result<()> {
        let shelf = Shelf::open(&self.folder)?;
        let listing = shelf.look();
        if global.json {
            return global.print(&listing);
        }
        let (listener, moved) = self.listen()?;
        let address = listener.local_addr().context("`port` cannot be asked for")?;
        if moved {
            note(&format!("port {PORT} is taken; this is {} instead (or give --port)", address.port()));
        }
        if listing.runs.is_empty() {
            note(&format!("there are no runs in {} yet: {}", self.folder.display(), listing.none()));
        }
        let said = match global.quiet {
            true => format!("http://{address}/\n"),
            false => format!("{listing}: http://{address}/ (Ctrl-C ends it)\n"),
        };
        site::serve(listener, shelf, || output::write(said.as_bytes()))
    }

    /// A place to listen on, and whether it is another than usual.
    fn listen(&self) -> anyhow::Result<(TcpListener, bool)> {
        let at = |port: u16| TcpListener::bind((Ipv4Addr::LOCALHOST, port));
        let Some(port) = self.port else {
            return match at(PORT) {
                Ok(listener) => Ok((listener, false)),
                Err(_) => {
                    let free = at(0).context("`port` is missing: no port of this machine is free")?;
                    Ok((free, true))
                }
            };
        };
        match at(port) {
            Ok(listener) => Ok((listener, false)),
            Err(cause) => {
                bail!(
                    "`port` is {port}: it cannot be listened on ({cause}); give another, or leave it out for one that is free"
                )
            }
        }
    }
}

impl Listing {
    /// What to do where there are none.
    fn none(&self) -> String {
        format!(
            "`sottovoce run quickstart --out {}` makes one, and it will appear",
            self.folder.join("first").display()
        )
    }
}

impl fmt::Display for Listing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = |status: Status| self.runs.iter().filter(|run| run.status == status).count();
        let all = self.runs.len();
        write!(f, "{all} run{} in {}", if all == 1 { "" } else { "s" }, self.folder.display())?;
        for (status, what) in
            [(Status::Running, "under way"), (Status::Silent, "silent"), (Status::Broken, "broken")]
        {
            if count(status) > 0 {
                write!(f, ", {} {what}", count(status))?;
            }
        }
        Ok(())
    }
}
