//! A run as bytes, to go on from: whose it is, a hash, and all that must survive.
//!
//! ```text
//! "sottovoce deep 1\n"   SHA-256 of the rest, 64 letters   (experiment and files that were read, checkpoint)
//! ```

use serde::{Deserialize, Serialize};
use sottovoce_engine::deep::Checkpoint;

use super::Ready;
use crate::experiment::{Deep, Experiment, sha256};
use crate::{Error, Result};

const HEAD: &[u8] = b"sottovoce deep 1\n";
/// Letters of a hash.
const HASH: usize = 64;

#[derive(Serialize, Deserialize)]
struct Stored {
    owner: String,
    checkpoint: Checkpoint,
}

/// What a run is one of: the experiment with its seed, the graph, and the images.
fn owner(experiment: &Deep, ready: &Ready) -> Result<String> {
    let whole = Deep { seed: Some(ready.setting.seed), ..experiment.clone() };
    let mut text = Experiment::Deep(Box::new(whole)).to_toml()?;
    let files = ready.sources.iter().map(|source| &source.sha256).chain(&ready.graph_sha256);
    files.for_each(|hash| text += &format!("# {hash}\n"));
    if let Some(secrets) = &ready.setting.secrets {
        let pairs = secrets.pairs().keys().edges().flat_map(|(u, v)| [u, v].map(|end| end as u64));
        let bytes: Vec<u8> = pairs.flat_map(u64::to_le_bytes).collect();
        text += &format!("# {}\n", sha256(&bytes));
    }
    Ok(text)
}

fn broken(remedy: impl Into<String>) -> Error {
    Error::parameter("checkpoint", "unreadable", remedy)
}

/// The bytes of a file.
pub(super) fn stored(experiment: &Deep, ready: &Ready, checkpoint: Checkpoint) -> Result<Vec<u8>> {
    let whole = Stored { owner: owner(experiment, ready)?, checkpoint };
    let body =
        postcard::to_stdvec(&whole).map_err(|error| broken(format!("it cannot be written ({error})")))?;
    Ok([HEAD, sha256(&body).as_bytes(), &body].concat())
}

/// What those bytes hold, if they are whole and of this very run.
pub(super) fn read(bytes: &[u8], experiment: &Deep, ready: &Ready) -> Result<Checkpoint> {
    let rest = bytes.strip_prefix(HEAD).filter(|rest| rest.len() > HASH);
    let Some((hash, body)) = rest.map(|rest| rest.split_at(HASH)) else {
        return Err(broken("it is no checkpoint of a net; give the file that --checkpoint wrote"));
    };
    if sha256(body).as_bytes() != hash {
        return Err(broken("it is not whole; begin anew"));
    }
    let Stored { owner: of, checkpoint } = postcard::from_bytes(body)
        .map_err(|error| broken(format!("it is of another version ({error}); begin anew")))?;
    if of != owner(experiment, ready)? {
        let remedy = "all options, the seed and the files must be those of the first run; or begin anew";
        return Err(Error::parameter("checkpoint", "of another run", remedy));
    }
    Ok(checkpoint)
}
