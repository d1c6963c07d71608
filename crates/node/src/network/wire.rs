//! Frames as bytes of a stream: seven bytes that say version, kind and length, then so many more. Nothing is allocated before they were looked at.

use crate::frame::MARKS;
use crate::{Frame, Hello, Notice, VERSION};

/// Bytes before a frame.
pub(crate) const HEAD: usize = 7;

/// What the header and the mark of a parcel take, at the most.
const PARCEL: usize = 256;
/// A greeting: marks of a hundred bytes each.
const HELLO: usize = 128 + 100 * MARKS;
/// An agreement.
const TERMS: usize = 4 << 20;
const NUMBER: usize = 8;
/// A notice that names every peer of the largest run.
const NOTICE: usize = 256 + 5 * 4096;

/// What a frame says of itself before it comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    kind: u8,
    pub(crate) length: usize,
}

impl Head {
    /// Looks at the first bytes: is it a frame that may be read, where bodies of messages have at most `longest` bytes?
    pub(crate) fn read(bytes: &[u8; HEAD], longest: usize) -> Result<Self, String> {
        let [v0, v1, kind, l0, l1, l2, l3] = *bytes;
        let version = u16::from_le_bytes([v0, v1]);
        if version != VERSION {
            return Err(format!("version {version} of frames, and this is version {VERSION}"));
        }
        let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
        let most = match kind {
            0 => HELLO,
            1 => longest.saturating_add(PARCEL),
            2 => NUMBER,
            4 => NOTICE,
            3 => TERMS,
            5 => 0,
            _ => return Err(format!("a frame of kind {kind}, which there is not")),
        };
        if length > most {
            return Err(format!("a frame that says it has {length} bytes; at most {most} were agreed on"));
        }
        Ok(Self { kind, length })
    }

    /// The frame, once its bytes are there.
    pub(crate) fn frame(self, bytes: Vec<u8>) -> Result<Frame, String> {
        if bytes.len() != self.length {
            return Err(format!("{} bytes of a frame that said {}", bytes.len(), self.length));
        }
        let number = || {
            let bytes: [u8; NUMBER] = bytes[..].try_into().map_err(|_| "no number".to_owned())?;
            Ok::<_, String>(u64::from_le_bytes(bytes))
        };
        Ok(match self.kind {
            0 => match postcard::take_from_bytes::<Hello>(&bytes) {
                Ok((hello, [])) => Frame::Hello(hello),
                _ => return Err("no greeting".to_owned()),
            },
            1 => Frame::Parcel(bytes),
            2 => Frame::Answer { number: number()? },
            3 => Frame::Terms(String::from_utf8(bytes).map_err(|_| "terms that are no text".to_owned())?),
            4 => match postcard::take_from_bytes::<Notice>(&bytes) {
                Ok((notice, [])) => Frame::Notice(notice),
                _ => return Err("no notice".to_owned()),
            },
            _ => Frame::Done,
        })
    }
}

/// The bytes of a frame: its head, and what follows.
pub(crate) fn bytes(frame: Frame) -> ([u8; HEAD], Vec<u8>) {
    let (kind, body) = match frame {
        // A greeting is plain numbers: there is nothing that could fail.
        Frame::Hello(hello) => (0, postcard::to_stdvec(&hello).unwrap_or_default()),
        Frame::Parcel(bytes) => (1, bytes),
        Frame::Answer { number } => (2, number.to_le_bytes().to_vec()),
        Frame::Terms(text) => (3, text.into_bytes()),
        Frame::Notice(notice) => (4, postcard::to_stdvec(&notice).unwrap_or_default()),
        Frame::Done => (5, Vec::new()),
    };
    let [v0, v1] = VERSION.to_le_bytes();
    let [l0, l1, l2, l3] = (body.len() as u32).to_le_bytes();
    ([v0, v1, kind, l0, l1, l2, l3], body)
}

/// Reads a frame that is there as a whole: what is read from a stream piece by piece, for tests and fuzzing.
pub fn decode(bytes: &[u8], longest: usize) -> Result<Frame, String> {
    let head = bytes.first_chunk::<HEAD>().ok_or("fewer bytes than a head has")?;
    Head::read(head, longest)?.frame(bytes[HEAD..].to_vec())
}

/// A frame as the bytes of a stream.
pub fn encode(frame: Frame) -> Vec<u8> {
    let (head, body) = bytes(frame);
    [&head[..], &body].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Hash, Key, Mark, Says};

    fn frames() -> Vec<Frame> {
        let mark = Mark::of(&Key::simulated(1), Hash::of(b"seven"));
        vec![
            Frame::Hello(Hello {
                version: VERSION,
                run: Hash::of(b"run"),
                witness: vec![mark; 3],
                reply: true,
            }),
            Frame::Parcel(b"sealed".to_vec()),
            Frame::Answer { number: 7 },
            Frame::Terms("name = 'mean'".to_owned()),
            Frame::Notice(
                Notice::new(
                    &Key::simulated(1),
                    Hash::of(b"run"),
                    (3, 1),
                    Says::Silent { round: 2, missing: vec![4] },
                )
                .unwrap(),
            ),
            Frame::Done,
        ]
    }

    #[test]
    fn as_many_marks_as_are_sent_are_read() {
        let Some(Frame::Hello(hello)) = frames().into_iter().next() else { panic!("no greeting") };
        let full = Frame::Hello(Hello { witness: vec![hello.witness[0]; MARKS], ..hello });
        assert_eq!(decode(&encode(full.clone()), 100), Ok(full));
    }

    #[test]
    fn frames_come_back_as_they_were() {
        for frame in frames() {
            assert_eq!(decode(&encode(frame.clone()), 100), Ok(frame));
        }
    }

    #[test]
    fn what_lies_about_its_length_is_refused_before_it_is_read() {
        for length in [1 << 30, u32::MAX] {
            for kind in 0..=255 {
                let [l0, l1, l2, l3] = length.to_le_bytes();
                let [v0, v1] = VERSION.to_le_bytes();
                let error = Head::read(&[v0, v1, kind, l0, l1, l2, l3], 1000).unwrap_err();
                assert!(error.contains("were agreed on") || error.contains("kind"), "{error}");
            }
        }
        for frame in frames() {
            let whole = encode(frame);
            assert!(decode(&whole[..whole.len() - 1], 100).is_err());
            assert!(decode(&[&whole[..], &[0]].concat(), 100).is_err());
        }
        let mut other = encode(Frame::Answer { number: 1 });
        other[0] = 9;
        assert!(decode(&other, 100).unwrap_err().contains("version 9"));
    }
}
