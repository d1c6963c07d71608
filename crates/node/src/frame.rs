//! What goes over a wire. Versions, lengths and hashes are checked before anything else is made of it.

use serde::{Deserialize, Serialize};

use crate::{Hash, Mark, Name, Notice};

/// The version of frames and of what is in them.
pub const VERSION: u16 = 1;

/// Marks in a greeting, at the most: those of the latest runs.
pub(crate) const MARKS: usize = 1024;

/// One thing that a peer says to another, of whom the network knows the key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Frame {
    /// Here I am.
    Hello(Hello),
    /// A message, sealed.
    Parcel(Vec<u8>),
    /// The message of this number, and all before it, are durable here.
    Answer {
        /// Its number.
        number: u64,
    },
    /// What was agreed on here, as text, for a peer who has agreed to something else.
    Terms(String),
    /// Something that a peer has signed, for everybody.
    Notice(Notice),
    /// The run is over here, and nothing more is needed of the other.
    Done,
}

/// What peers say when they meet, also again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// [`VERSION`].
    pub version: u16,
    /// What was agreed on.
    pub run: Hash,
    /// The last that was seen of the other's ledger, in each of the latest runs.
    pub witness: Vec<Mark>,
    /// Whether the other was heard already: then it need not say hello again.
    pub reply: bool,
}

/// A message between two peers of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parcel {
    /// The run.
    pub run: Hash,
    /// Its number among all messages between the two, in this direction.
    pub number: u64,
    /// The step of the sender's ledger that says it.
    pub mark: Mark,
    /// The message.
    pub body: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Header {
    version: u16,
    run: Hash,
    number: u64,
    mark: Mark,
    length: u64,
    hash: Hash,
}

impl Parcel {
    /// As bytes: a function of the parcel alone.
    pub fn seal(&self) -> Vec<u8> {
        Self::sealed((self.run, self.number, self.mark), &self.body, Hash::of(&self.body))
    }

    /// The same, where the hash of the body is known.
    pub(crate) fn sealed((run, number, mark): (Hash, u64, Mark), body: &[u8], hash: Hash) -> Vec<u8> {
        let header = Header { version: VERSION, run, number, mark, length: body.len() as u64, hash };
        // A header is plain numbers: there is nothing that could fail.
        let mut bytes = postcard::to_stdvec(&header).unwrap_or_default();
        bytes.reserve_exact(body.len());
        bytes.extend_from_slice(body);
        bytes
    }

    /// The number of a sealed parcel, as its header has it.
    pub(crate) fn number_of(bytes: &[u8]) -> Option<u64> {
        postcard::take_from_bytes::<Header>(bytes).ok().map(|(header, _)| header.number)
    }

    /// Read again, if it is a parcel of this run and its body is no longer than `longest`; else what is wrong with it.
    pub fn open(bytes: &[u8], run: Hash, longest: usize) -> Result<Self, String> {
        let Opened { number, mark, body, .. } = Self::opened(bytes, run, longest)?.whole()?;
        Ok(Self { run, number, mark, body: body.to_vec() })
    }

    /// Looks at the hash and the mark of what a peer sent: whoever handles it need not.
    pub fn vouch(bytes: Vec<u8>, run: Hash, longest: usize, by: &Name) -> Result<Vouched, String> {
        let opened = Self::opened(&bytes, run, longest)?.whole()?;
        if !opened.mark.is_of(by) {
            return Err(format!("message {} with a mark that is not its sender's", opened.number));
        }
        Ok(Vouched(bytes))
    }

    /// The same where it lies, before its hash is looked at.
    fn opened(bytes: &[u8], run: Hash, longest: usize) -> Result<Opened<'_>, String> {
        let (header, body) =
            postcard::take_from_bytes::<Header>(bytes).map_err(|_| "no header of a message".to_owned())?;
        if header.version != VERSION {
            return Err(format!("version {} of messages, and this is version {VERSION}", header.version));
        }
        if header.run != run {
            return Err(format!("a message of another run, {:?}", header.run));
        }
        if header.length != body.len() as u64 || body.len() > longest {
            return Err(format!(
                "a message of {} bytes that says it has {}; at most {longest} were agreed on",
                body.len(),
                header.length
            ));
        }
        Ok(Opened { number: header.number, mark: header.mark, body, hash: header.hash })
    }
}

/// A parcel where it lies: its number, its mark, its body and that one's hash.
pub(crate) struct Opened<'a> {
    pub(crate) number: u64,
    pub(crate) mark: Mark,
    pub(crate) body: &'a [u8],
    pub(crate) hash: Hash,
}

impl Opened<'_> {
    fn whole(self) -> Result<Self, String> {
        let same = self.hash == Hash::of(self.body);
        same.then_some(self).ok_or_else(|| "a message that is not what its hash says".to_owned())
    }
}

/// A sealed parcel whose hash is right and whose mark is its sender's ([`Parcel::vouch`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vouched(Vec<u8>);

impl Vouched {
    pub(crate) fn opened(&self, run: Hash, longest: usize) -> Result<Opened<'_>, String> {
        Parcel::opened(&self.0, run, longest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parcel() -> Parcel {
        let mark = Mark::of(&crate::Key::simulated(1), Hash::of(b"seven"));
        Parcel { run: Hash::of(b"run"), number: 3, mark, body: b"hello".to_vec() }
    }

    #[test]
    fn a_parcel_comes_back_as_it_was() {
        assert_eq!(Parcel::open(&parcel().seal(), parcel().run, 5), Ok(parcel()));
    }

    #[test]
    fn every_change_is_noticed() {
        let sealed = parcel().seal();
        let open = |bytes: &[u8]| Parcel::open(bytes, parcel().run, 1 << 20);
        for place in 0..sealed.len() {
            let mut bytes = sealed.clone();
            bytes[place] ^= 0x41;
            // The number and the mark are vouched for by the connection, not by the parcel.
            assert!(
                open(&bytes).is_err() || open(&bytes).is_ok_and(|other| other.body == parcel().body),
                "{place}"
            );
            assert!(open(&sealed[..place]).is_err(), "{place}");
        }
        let mut longer = sealed.clone();
        longer.push(0);
        assert!(open(&longer).unwrap_err().contains("6 bytes"));
        assert!(Parcel::open(&sealed, parcel().run, 4).unwrap_err().contains("at most 4"));
        assert!(Parcel::open(&sealed, Hash::of(b"other"), 5).unwrap_err().contains("another run"));
        // A length beyond all memory is no allocation.
        let header = Header {
            version: VERSION,
            run: parcel().run,
            number: 0,
            mark: parcel().mark,
            length: u64::MAX,
            hash: Hash::default(),
        };
        assert!(open(&postcard::to_stdvec(&header).unwrap()).is_err());
    }
}
