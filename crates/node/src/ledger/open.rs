//! A ledger is made, opened, verified.

use super::*;

impl Ledger {
    /// Begins a ledger in a file that is not there yet, and that nobody else can read. It is there as a whole, or not at all.
    pub fn create(path: &Path, key: Key) -> Result<()> {
        let failed = |cause: &dyn std::fmt::Display| Error::file("create", path, cause);
        let draft = path.with_extension(format!("draft-{}", std::process::id()));
        let _ = std::fs::remove_file(&draft);
        let mut options = std::fs::OpenOptions::new();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&draft).map_err(|cause| failed(&cause))?;
        drop(Self::of(Turns::alone(builder().create(&draft).map_err(|cause| failed(&cause))?), key)?);
        // A second name, which fails where there is one: what a ledger has spent is never forgotten.
        let named = std::fs::hard_link(&draft, path);
        let _ = std::fs::remove_file(&draft);
        named.map_err(|cause| failed(&format!("{cause}; what a ledger has spent is never forgotten")))?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::File::open(folder).and_then(|folder| folder.sync_all()).map_err(|cause| failed(&cause))
    }

    /// Opens a ledger. Another process that has it gives it up between two steps. One that is missing is never begun anew: what it had spent would be forgotten.
    pub fn open(path: &Path, key: Key) -> Result<Self> {
        Self::look(path, key)?.undoubted()
    }

    /// The same to read what is in it, also where nothing may be sent from it any more: no record is added to such a one.
    pub fn look(path: &Path, key: Key) -> Result<Self> {
        Self::of(Turns::of(path)?, key)
    }

    /// On other storage, which is empty or holds a ledger.
    pub fn on(backend: impl StorageBackend, key: Key) -> Result<Self> {
        let database = damage::contained(|| builder().create_with_backend(backend))??;
        Self::of(Turns::alone(database), key)?.undoubted()
    }

    fn of(turns: Turns, key: Key) -> Result<Self> {
        let (head, index, books) = (Head::default(), Index::default(), Books::default());
        let (spoken, recorder) = (None, None);
        let mut ledger = Self { turns, is_current: true, key, head, index, books, spoken, recorder };
        match damage::contained(|| ledger.verify()) {
            Ok(verified) => verified.map(|()| ledger),
            Err(error) => {
                // Storage that failed half-way is not to be tidied up on the way out: it is left as it is, open until the process ends.
                std::mem::forget(ledger);
                Err(error)
            }
        }
    }

    /// The checksums of all pages, the owner, and the chain.
    fn verify(&mut self) -> Result<()> {
        if !self.turns.database()?.check_integrity()? {
            return Err(damage::damaged("pages are not what was written"));
        }
        self.claim()?;
        self.fold()?;
        // A crash may have come between.
        let settled = self.meta("settled")?.is_some_and(|count| count == self.head.count.to_le_bytes());
        if settled || self.head.count == 0 { Ok(()) } else { self.settle() }
    }

    fn undoubted(self) -> Result<Self> {
        self.sure().map(|()| self)
    }

    /// Why nothing may be sent from it any more, if so.
    pub fn doubted(&self) -> Option<&str> {
        self.books.doubted()
    }

    /// Makes all tables where there are none yet, and sees that this is the owner's ledger.
    fn claim(&self) -> Result<()> {
        let owner = self.key.name();
        if self.turns.read()?.list_tables()?.next().is_none() {
            let write = self.write()?;
            {
                let mut meta = write.open_table(META)?;
                meta.insert("format", FORMAT)?;
                meta.insert("owner", &owner.0[..])?;
                write.open_table(RUNS)?;
                write.open_table(CHAIN)?;
            }
            return Ok(write.commit()?);
        }
        match (self.meta("format")?, self.meta("owner")?) {
            (Some(format), _) if format != FORMAT => Err(Error::parameter(
                "ledger",
                "of another version",
                "use the program that wrote it; to begin anew, `node status --files` of that one and `node init --spent` of this one bring along what was spent",
            )),
            (_, Some(other)) if other == owner.0 => Ok(()),
            _ => {
                let remedy = "it belongs to another key; give the ledger that belongs to this one";
                Err(Error::parameter("ledger", "somebody else's", remedy))
            }
        }
    }

    pub(super) fn sure(&self) -> Result<()> {
        self.doubted().map_or(Ok(()), |why| Err(Error::Doubted(why.to_owned())))
    }
}
