//! A node's folder: its key, its ledger and what it holds.

use std::fs::{self, File, TryLockError};
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use sottovoce_protocol::Peer;

use crate::part::{Holding, Role};
use crate::{Agreement, Allowed, Error, Hash, Key, Ledger, Name, Observer, Result, Spending, Status};

/// The commented file that a new node has.
const TEMPLATE: &str = include_str!("config.toml");

/// What a node holds, and what that may cost.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// The data set, as budgets know it.
    pub label: String,
    /// The file of its numbers or rows, or a folder of images.
    pub values: PathBuf,
    /// A program that computes gradients of what the file holds, with its arguments (`docs/node-program.md`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Vec<String>>,
    /// Whether in that program each record enters one example's gradient and no other.
    #[serde(default)]
    pub one_by_one: bool,
    /// What may be learnt of it.
    pub budget: Budgets,
    /// Where it listens; if this is not said, at its address in the agreement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bind: Option<SocketAddr>,
    /// A relay of one's own, for peers that cannot reach each other directly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relay: Option<String>,
    /// Whether peers are looked for on the local network.
    #[serde(default)]
    pub local: bool,
    /// Where a page shows how it stands: on this machine only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<SocketAddr>,
}

/// Budgets towards each kind of observer.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Budgets {
    /// Each single peer.
    pub peer: Allowed,
    /// Each coalition that is named.
    pub coalition: Allowed,
    /// Someone who sees every message.
    pub wire_tapper: Allowed,
}

impl Budgets {
    /// Towards this one.
    pub fn towards(&self, observer: &Observer) -> Allowed {
        match observer {
            Observer::Peer(_) => self.peer,
            Observer::Coalition(_) => self.coalition,
            Observer::WireTapper => self.wire_tapper,
        }
    }
}

/// A node's folder.
#[derive(Debug, Clone)]
pub struct Place {
    folder: PathBuf,
    /// Read once.
    key: OnceLock<Key>,
}

impl Place {
    /// Makes a folder with a new key, an empty ledger and a commented file to fill in. A folder that is there is left alone.
    pub fn create(folder: &Path) -> Result<(Self, Name)> {
        Self::create_after(folder, None)
    }

    /// The same for data of which something was spent before, under another key. Without its file to fill in, which comes last, a node does nothing.
    pub fn create_after(folder: &Path, spent: Option<&Spending>) -> Result<(Self, Name)> {
        let remedy =
            "there is something already, and nothing is overwritten; give a folder that is not there";
        crate::error::require(!folder.exists(), "folder", folder.display(), remedy)?;
        let mut make = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut make, 0o700);
        make.create(folder).map_err(|cause| Error::place("folder", folder, &cause))?;
        let place = Self { folder: folder.to_owned(), key: OnceLock::new() };
        // A folder that is not whole would be in the way of the next try.
        let name = place.fill(spent).inspect_err(|_| drop(fs::remove_dir_all(folder)))?;
        Ok((place, name))
    }

    /// A key, a ledger, and last the file to fill in.
    fn fill(&self, spent: Option<&Spending>) -> Result<Name> {
        let key = Key::create(&self.key_file())?;
        let name = key.name();
        Ledger::create(&self.ledger(), key)?;
        if let Some(spent) = spent {
            spent.enter(&mut self.open_ledger()?)?;
        }
        write_private(&self.config_file(), TEMPLATE.as_bytes())?;
        Ok(name)
    }

    /// A folder that is there.
    pub fn open(folder: &Path) -> Result<Self> {
        let place = Self { folder: folder.to_owned(), key: OnceLock::new() };
        let remedy = "there is no node; make one with `node init`";
        crate::error::require(place.key_file().exists(), "node", folder.display(), remedy)?;
        // Who can write there can put another key, ledger or budget in their place.
        check_private("node", folder, 0o002)?;
        Ok(place)
    }

    fn key_file(&self) -> PathBuf {
        self.folder.join("key")
    }

    fn ledger(&self) -> PathBuf {
        self.folder.join("ledger")
    }

    fn config_file(&self) -> PathBuf {
        self.folder.join("node.toml")
    }

    /// The key.
    pub fn read_key(&self) -> Result<Key> {
        if let Some(key) = self.key.get() {
            return Ok(key.clone());
        }
        let key = Key::read(&self.key_file())?;
        Ok(self.key.get_or_init(|| key).clone())
    }

    /// The ledger, which nobody else may have open.
    pub fn open_ledger(&self) -> Result<Ledger> {
        check_private("ledger", &self.ledger(), 0o077)?;
        Ledger::open(&self.ledger(), self.read_key()?)
    }

    /// The same to read what is in it, also where nothing may be sent from it any more.
    pub fn look_at_ledger(&self) -> Result<Ledger> {
        Ledger::look(&self.ledger(), self.read_key()?)
    }

    /// What it holds.
    pub fn config(&self) -> Result<Config> {
        let path = self.config_file();
        let text = sottovoce_fault::file::text("node.toml", &path, MOST)?;
        check_private("node.toml", &path, 0o002)?;
        let config: Config = toml::from_str(&text).map_err(|problem| {
            Error::parameter("node.toml", path.display(), problem.to_string().trim_end())
        })?;
        let plain = !config.label.is_empty() && !config.label.chars().any(char::is_control);
        let remedy = "name the data set in one line";
        crate::error::require(plain, "label", format_args!("{:?}", config.label), remedy)?;
        Ok(config)
    }

    /// What it brings along.
    pub fn holding(&self, config: &Config) -> Result<Holding> {
        let file = self.folder.join(&config.values);
        let holding = Holding::of(&config.label, &file)?;
        // In a folder that nobody else enters, a file may have any permissions. (Of a link, what it leads to counts.)
        let file = fs::canonicalize(&file).map_err(|cause| Error::file("look at", &file, cause))?;
        if let Some(folder) = file.parent().filter(|folder| check_private("values", folder, 0o005).is_err()) {
            tracing::debug!("{} can be entered by others", folder.display());
            check_private("values", &file, 0o007)?;
        }
        let (program, one_by_one) = (config.program.clone(), config.one_by_one);
        Ok(Holding { program, one_by_one, folder: self.folder.clone(), ..holding })
    }

    /// Where a run says how it stands.
    pub fn status_file(&self, run: Hash) -> PathBuf {
        self.running().join(format!("{}.json", short(run)))
    }

    fn running(&self) -> PathBuf {
        self.folder.join("running")
    }

    /// Keeps other processes out of a run, for as long as the file that comes back is open.
    pub(crate) fn claim(&self, run: Hash) -> Result<File> {
        let folder = self.running();
        let failed = |cause| Error::file("make", &folder, cause);
        let mut make = fs::DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut make, 0o700);
        make.recursive(true).create(&folder).map_err(failed)?;
        let path = folder.join(format!("{}.lock", short(run)));
        write_private(&path, b"")?;
        let lock = File::open(&path).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => Ok(lock),
            Err(TryLockError::WouldBlock) => Err(Error::Running(format!("run {}", short(run)))),
            Err(TryLockError::Error(cause)) => Err(failed(cause)),
        }
    }

    /// How runs stand that other processes are in now.
    pub fn under_way(&self) -> Vec<Status> {
        let locks = fs::read_dir(self.running()).into_iter().flatten().flatten().map(|entry| entry.path());
        let mut locks: Vec<PathBuf> =
            locks.filter(|path| path.extension().is_some_and(|end| end == "lock")).collect();
        locks.sort_unstable();
        let is_held = |path: &PathBuf| {
            let lock = File::open(path);
            lock.is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
        };
        let held = locks.into_iter().filter(is_held);
        held.filter_map(|path| Status::read(&path.with_extension("json")).ok()).collect()
    }

    /// Its number among those who agreed.
    pub fn number(&self, agreement: &Agreement) -> Result<Peer> {
        let me = self.read_key()?.name();
        let number = agreement.roster()?.iter().position(|key| *key == me);
        number.ok_or_else(|| {
            Error::parameter(
                "agreement",
                &agreement.name,
                format!("this node's key, {me}, is not among its peers"),
            )
        })
    }

    /// Its part in what was agreed on.
    pub fn role(&self, agreement: &Agreement) -> Result<Box<dyn Role>> {
        agreement.role(self.number(agreement)?)
    }

    /// The same with something to say, where that is what it is about.
    pub fn role_saying(&self, agreement: &Agreement, text: Option<&str>) -> Result<Box<dyn Role>> {
        agreement.role_saying(self.number(agreement)?, text)
    }
}

/// Writes a file that its owner alone can read.
pub fn write_private(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let written = options.open(path).and_then(|mut file| file.write_all(bytes));
    written.map_err(|cause| Error::file("write", path, cause))
}

/// Refuses a file that others than its owner can read or write; of a group, where that is not said to be right.
pub(crate) fn check_private(field: &'static str, path: &Path, forbidden: u32) -> Result<()> {
    #[cfg(unix)]
    {
        let metadata = fs::metadata(path).map_err(|cause| Error::file("look at", path, cause))?;
        let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
        let value = format_args!("{} with permissions {:03o}", path.display(), mode & 0o777);
        let mode_wanted = if metadata.is_dir() { 700 } else { 600 };
        let remedy = format!("others can read or write it: `chmod {mode_wanted}` it, and ask who may have");
        crate::error::require(mode & forbidden == 0, field, value, remedy)?;
    }
    Ok(())
}

/// Bytes of the longest file of settings or signatures.
const MOST: u64 = 1 << 24;

/// The beginning of a hash: enough to tell runs of a node apart.
fn short(run: Hash) -> String {
    run.to_string()[..12].to_owned()
}

/// Signatures beside an agreement: who signed, and what.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Signatures {
    /// By key, in 64 and 128 letters and digits.
    pub signed: std::collections::BTreeMap<String, String>,
}

impl Signatures {
    /// Reads a file; one that is not there has none.
    pub fn read(path: &Path) -> Result<Self> {
        if !path.exists() {
            return Ok(Self::default());
        }
        let text = sottovoce_fault::file::text("signatures", path, MOST)?;
        toml::from_str(&text)
            .map_err(|problem| Error::parameter("signatures", path.display(), problem.to_string().trim_end()))
    }

    /// Adds one, and writes all: the file is whole at every moment.
    pub fn add(&mut self, path: &Path, by: &Name, signature: &[u8; 64]) -> Result<()> {
        let text: String = signature.iter().map(|byte| format!("{byte:02x}")).collect();
        self.signed.insert(by.to_string(), text);
        let text = toml::to_string(self)
            .map_err(|problem| Error::parameter("signatures", "unwritable", problem.to_string()))?;
        let mut draft = path.as_os_str().to_owned();
        draft.push(format!(".draft-{}", std::process::id()));
        let written = fs::write(&draft, text).and_then(|()| fs::rename(&draft, path));
        written.map_err(|cause| Error::file("write", path, cause))
    }

    /// All that are signatures at all.
    pub fn all(&self) -> Vec<(Name, [u8; 64])> {
        let one = |(by, signature): (&String, &String)| {
            let bytes: Option<Vec<u8>> = (signature.len() == 128 && signature.is_ascii())
                .then(|| {
                    (0..128).step_by(2).map(|i| u8::from_str_radix(&signature[i..i + 2], 16).ok()).collect()
                })
                .flatten();
            Some((by.parse().ok()?, bytes?.try_into().ok()?))
        };
        self.signed.iter().filter_map(one).collect()
    }
}
