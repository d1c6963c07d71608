//! Who a peer is: a key pair, kept in a file that nobody else can read.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use ed25519_dalek::{Signature, Signer, SigningKey, VerifyingKey};
use rand::TryRng;
use rand::rngs::SysRng;
use serde::{Deserialize, Serialize};
use sottovoce_privacy::noise::exact::Secret;
use zeroize::Zeroizing;

use crate::hash::hex;
use crate::{Error, Hash, Result};

/// A peer's public key: what others call it by.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Name(pub [u8; 32]);

impl Name {
    /// Whether its owner has signed these bytes.
    pub fn signed(&self, bytes: &[u8], signature: &[u8; 64]) -> bool {
        let key = VerifyingKey::from_bytes(&self.0);
        key.is_ok_and(|key| key.verify_strict(bytes, &Signature::from_bytes(signature)).is_ok())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, &self.0)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        hex(f, &self.0[..4])
    }
}

impl FromStr for Name {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let wrong =
            || Error::parameter("key", text, "give the 64 letters and digits that `node init` prints");
        if text.len() != 64 || !text.is_ascii() {
            return Err(wrong());
        }
        let mut bytes = [0; 32];
        for (byte, place) in bytes.iter_mut().zip((0..64).step_by(2)) {
            *byte = u8::from_str_radix(&text[place..place + 2], 16).map_err(|_| wrong())?;
        }
        VerifyingKey::from_bytes(&bytes).map_err(|_| wrong())?;
        Ok(Self(bytes))
    }
}

/// A peer's key pair. Clones share one copy of it, which is wiped with the last.
///
/// ```
/// use sottovoce_node::{Hash, Key};
/// let (ana, ben) = (Key::draw()?, Key::draw()?);
/// assert!(ana.name().signed(b"agreed", &ana.sign(b"agreed")));
/// assert!(!ana.name().signed(b"agreed", &ben.sign(b"agreed")));
/// let run = Hash::of(b"agreement");
/// assert_eq!(ana.secret_with(&ben.name(), run)?, ben.secret_with(&ana.name(), run)?);
/// # Ok::<(), sottovoce_node::Error>(())
/// ```
#[derive(Clone)]
pub struct Key(Arc<SigningKey>);

impl Key {
    /// A new one, from the operating system's entropy.
    pub fn draw() -> Result<Self> {
        let mut bytes = Zeroizing::new([0; 32]);
        SysRng
            .try_fill_bytes(&mut bytes[..])
            .map_err(|cause| Error::storage("no entropy from the operating system", cause))?;
        Ok(Self(Arc::new(SigningKey::from_bytes(&bytes))))
    }

    /// A key that follows from a seed: for tests, and protects nobody.
    pub fn simulated(seed: u64) -> Self {
        Self(Arc::new(SigningKey::from_bytes(&Hash::labelled("simulated key", &[&seed.to_le_bytes()]).0)))
    }

    /// Writes a new one to a file that only its owner can read; a file that is there is left alone.
    pub fn create(path: &Path) -> Result<Self> {
        let key = Self::draw()?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path).map_err(|cause| Error::file("create", path, cause))?;
        let written = file.write_all(key.0.as_bytes()).and_then(|()| file.sync_all());
        written.map_err(|cause| Error::file("write", path, cause))?;
        Ok(key)
    }

    /// Reads one; refuses a file that others can read.
    pub fn read(path: &Path) -> Result<Self> {
        wiped(|| Self::read_once(path))
    }

    fn read_once(path: &Path) -> Result<Self> {
        let is_file = std::fs::metadata(path).is_ok_and(|known| known.is_file());
        crate::error::require(is_file, "key", path.display(), "it is no file; bring the key back")?;
        let mut file = File::open(path).map_err(|cause| Error::file("open", path, cause))?;
        #[cfg(unix)]
        {
            let metadata = file.metadata().map_err(|cause| Error::file("look at", path, cause))?;
            let mode = std::os::unix::fs::PermissionsExt::mode(&metadata.permissions());
            if mode & 0o077 != 0 {
                let value = format!("{} with permissions {:03o}", path.display(), mode & 0o777);
                let remedy = "others can read it: `chmod 600` it, and draw a new key if they may have";
                return Err(Error::parameter("key", value, remedy));
            }
        }
        let length = file.metadata().map_err(|cause| Error::file("look at", path, cause))?.len();
        let value = format_args!("{} of {length} bytes", path.display());
        crate::error::require(length == 32, "key", value, "a key has 32 bytes; make one with `node init`")?;
        let mut bytes = Zeroizing::new([0; 32]);
        file.read_exact(&mut bytes[..]).map_err(|cause| Error::file("read", path, cause))?;
        Ok(Self(Arc::new(SigningKey::from_bytes(&bytes))))
    }

    /// What others call its owner by.
    pub fn name(&self) -> Name {
        Name(self.0.verifying_key().to_bytes())
    }

    /// For the network, which vouches for it.
    pub(crate) fn bytes(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// The signature of these bytes.
    pub fn sign(&self, bytes: &[u8]) -> [u8; 64] {
        wiped(|| self.0.sign(bytes).to_bytes())
    }

    /// What seals the private parts of a record with this salt: nobody else can make it.
    pub(crate) fn blind(&self, salt: &[u8; 32]) -> Hash {
        wiped(|| Hash::labelled("sottovoce blind", &[self.0.as_bytes(), salt]))
    }

    /// The secret that two peers have in one run, by a Diffie-Hellman agreement of their own keys: nobody else knows it, and no two runs have the same.
    pub fn secret_with(&self, other: &Name, run: Hash) -> Result<Secret> {
        let wrong = |remedy: &str| Error::parameter("key", other, remedy);
        let theirs = VerifyingKey::from_bytes(&other.0).map_err(|_| wrong("it is no public key"))?;
        if theirs.is_weak() || *other == self.name() {
            return Err(wrong("no secret can be shared with it: give the key of another peer"));
        }
        let (low, high) = if self.name() < *other { (self.name(), *other) } else { (*other, self.name()) };
        Ok(wiped(|| {
            let shared = theirs.to_montgomery().mul_clamped(self.0.to_scalar_bytes()).to_bytes();
            Secret::new(Hash::labelled("sottovoce pair secret", &[&shared, &low.0, &high.0, &run.0]).0)
        }))
    }
}

/// Does something with a key, and writes over the part of the stack that it has used: copies of the key would stay there.
pub(crate) fn wiped<T>(work: impl FnOnce() -> T) -> T {
    #[inline(never)]
    fn apart<T>(work: impl FnOnce() -> T) -> T {
        work()
    }
    #[inline(never)]
    fn wipe() {
        let mut used = Zeroizing::new([1_u8; 1 << 18]);
        std::hint::black_box(&mut used);
    }
    let result = apart(work);
    wipe();
    result
}

/// Keeps this process's memory, keys in it, out of core dumps and from other processes of the same user.
pub fn guard_memory() {
    // Where the system has no such thing there is nothing to be done.
    #[cfg(unix)]
    {
        let none = rustix::process::Rlimit { current: Some(0), maximum: Some(0) };
        let _ = rustix::process::setrlimit(rustix::process::Resource::Core, none);
    }
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable);
}

// Written by hand: a derived one would print the key.
impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Key of {:?}", self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let key = Key::create(&path).unwrap();
        assert_eq!(Key::read(&path).unwrap().name(), key.name());
        assert!(Key::create(&path).unwrap_err().to_string().contains("key"), "it is never overwritten");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
            let error = Key::read(&path).unwrap_err().to_string();
            assert!(error.contains("640") && error.contains("chmod 600"), "{error}");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        std::fs::write(&path, [0; 40]).unwrap();
        assert!(Key::read(&path).is_err());
        assert_eq!(format!("{key:?}"), format!("Key of {:?}", key.name()), "and nothing else");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_guarded_process_is_not_dumped() {
        // (A child would need a program of its own; other tests do not mind.)
        guard_memory();
        let dumpable = rustix::process::dumpable_behavior().unwrap();
        assert_eq!(dumpable, rustix::process::DumpableBehavior::NotDumpable);
        assert_eq!(rustix::process::getrlimit(rustix::process::Resource::Core).current, Some(0));
    }

    #[test]
    fn names_are_read_as_they_are_written() {
        let name = Key::simulated(1).name();
        assert_eq!(name.to_string().parse::<Name>().unwrap(), name);
        for wrong in ["", "00", &"zz".repeat(32), &"é".repeat(32), &"0".repeat(63)] {
            assert!(wrong.parse::<Name>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn secrets_belong_to_two_peers_and_a_run() {
        let [ana, ben, eva] = [1, 2, 3].map(Key::simulated);
        let run = Hash::of(b"one");
        let secret = ana.secret_with(&ben.name(), run).unwrap();
        assert_eq!(secret, ben.secret_with(&ana.name(), run).unwrap());
        assert_ne!(secret, ana.secret_with(&ben.name(), Hash::of(b"another")).unwrap());
        assert_ne!(secret, ana.secret_with(&eva.name(), run).unwrap());
        assert!(ana.secret_with(&ana.name(), run).is_err());
        // The neutral element: whoever claims that key knows every secret with it.
        let mut neutral = [0; 32];
        neutral[0] = 1;
        assert!(ana.secret_with(&Name(neutral), run).is_err());
    }
}
