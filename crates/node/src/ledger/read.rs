//! What can be read of a ledger: records of the chain, marks, messages of runs.

use super::*;

impl Ledger {
    /// A record of the chain, from 0.
    pub fn record(&self, index: u64) -> Result<Option<Signed>> {
        let read = self.turns.read()?;
        let chain = read.open_table(CHAIN)?;
        chain.get(index)?.map(|bytes| decode(bytes.value())).transpose()
    }

    /// Every record, in order, with the step that it is of; refuses a chain that was changed.
    fn each(&self, mut look: impl FnMut(Signed, Option<Record>)) -> Result<()> {
        let read = self.turns.read()?;
        let chain = read.open_table(CHAIN)?;
        let mut before = Head::default();
        for entry in chain.iter()? {
            let (index, bytes) = entry?;
            let signed: Signed = decode(bytes.value())?;
            if !signed.link.is_of(&self.name())
                || index.value() != before.count
                || signed.link.before != before
            {
                return Err(damage::damaged(&format!("record {} follows another", index.value())));
            }
            before = signed.link.head();
            let content = signed.content()?;
            look(signed, if let Content::Step(record) = content { Some(*record) } else { None });
        }
        Ok(())
    }

    /// The records of a run, in order; refuses a chain that was changed.
    pub fn records(&self, run: Hash) -> Result<Vec<Record>> {
        let mut all = Vec::new();
        self.each(|_, record| all.extend(record.filter(|record| record.run == run)))?;
        Ok(all)
    }

    /// The chain from the first record of a run to its last, as others may see it: of other runs' records the links only.
    pub fn shown(&self, run: Hash) -> Result<Vec<Shown>> {
        let (mut all, mut between) = (Vec::new(), Vec::new());
        self.each(|signed, record| match (record.is_some_and(|record| record.run == run), all.is_empty()) {
            (true, _) => {
                all.append(&mut between);
                all.push(Shown::Whole(signed));
            }
            (false, true) => {}
            (false, false) => between.push(Shown::Withheld(signed.link)),
        })?;
        Ok(all)
    }

    /// The last marks that were seen of a peer's ledger, one for each run.
    pub fn seen(&self, name: &Name) -> Result<Vec<Mark>> {
        self.newest(name, usize::MAX)
    }

    /// The same, of the latest runs, at most so many.
    pub(crate) fn newest(&self, name: &Name, most: usize) -> Result<Vec<Mark>> {
        let read = self.turns.read()?;
        let runs = read.open_table(RUNS)?;
        let all = runs.all()?.into_iter().map(|run| runs.seen(run, name));
        let mut all: Vec<_> = all.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
        all.sort_by_key(|&(_, when)| std::cmp::Reverse(when));
        Ok(all.into_iter().take(most).map(|(mark, _)| mark).collect())
    }

    /// The hash of a message that was heard.
    pub(crate) fn heard(&self, run: Hash, from: Peer, number: u64) -> Result<Option<Hash>> {
        Ok(self.index.heard(run, from, number))
    }

    /// The book and the state of a run, if it has begun.
    pub(crate) fn run<B: DeserializeOwned, S: DeserializeOwned>(&self, run: Hash) -> Result<Option<(B, S)>> {
        let read = self.turns.read()?;
        let runs = read.open_table(RUNS)?;
        let Some(book) = runs.book(run)? else { return Ok(None) };
        let state = runs.state(run)?.ok_or_else(|| Error::storage("the ledger", "a state is not whole"))?;
        Ok(Some((decode(&book)?, decode(&state)?)))
    }

    /// Messages of a run that were not answered: to whom, and their numbers.
    pub(crate) fn unanswered(&self, run: Hash) -> Result<Vec<(Peer, u64)>> {
        let all = self.turns.read()?.open_table(RUNS)?.unanswered(run)?;
        Ok(all.into_iter().map(|(_, peer, number, _)| (peer, number)).collect())
    }

    /// Messages to a peer that it has not answered, in order.
    pub(crate) fn waiting(&self, run: Hash, to: Peer) -> Result<Vec<Waiting>> {
        self.turns.read()?.open_table(RUNS)?.waiting(run, to)
    }
}
