//! States without what a stored message says anyway: large vectors are written once.
//!
//! A machine's state holds the value that it has just sent. Where the bytes of its state contain those of the message, all but its first few, the ledger keeps a reference instead.

/// The first bytes of a message are its salt, and say its round and length: they are not the state's.
const HEAD: usize = 48;
/// What is looked for; messages that are shorter are not.
const PROBE: usize = 32;
/// Places that are compared, at the most.
const TRIES: usize = 8;

/// A state as it is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Spliced<'a> {
    before: &'a [u8],
    /// A message, all of whose bytes but its head stand here.
    message: Option<u64>,
    after: &'a [u8],
}

impl<'a> Spliced<'a> {
    /// A state, and the last message that was said.
    pub(crate) fn of(state: &'a [u8], said: Option<(u64, &[u8])>) -> Self {
        let found = said.and_then(|(message, body)| Some((message, place(state, body)?, body.len() - HEAD)));
        match found {
            Some((message, at, length)) => {
                Self { before: &state[..at], message: Some(message), after: &state[at + length..] }
            }
            None => Self { before: state, message: None, after: &[] },
        }
    }

    /// As bytes: the message and one more (0: none), the length of what stands before it, both parts.
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let message = self.message.map_or(0, |message| message + 1).to_le_bytes();
        let length = (self.before.len() as u64).to_le_bytes();
        [&message[..], &length, self.before, self.after].concat()
    }

    /// Read again; none if these are no such bytes.
    pub(crate) fn from_bytes(bytes: &'a [u8]) -> Option<Self> {
        let message = Self::refers(bytes);
        let (length, rest) = bytes.get(8..)?.split_first_chunk::<8>()?;
        let (before, after) = rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        Some(Self { before, message, after })
    }

    /// The message that a state refers to whose bytes begin like this.
    pub(crate) fn refers(bytes: &[u8]) -> Option<u64> {
        u64::from_le_bytes(*bytes.first_chunk()?).checked_sub(1)
    }

    /// The message that it refers to.
    pub(crate) fn message(&self) -> Option<u64> {
        self.message
    }

    /// The state again, given the message that it refers to; none if that is missing.
    pub(crate) fn whole(self, body: Option<&[u8]>) -> Option<Vec<u8>> {
        let mut state = self.before.to_vec();
        if self.message.is_some() {
            state.extend_from_slice(body?.get(HEAD..)?);
        }
        state.extend_from_slice(self.after);
        Some(state)
    }
}

/// Where a state has the bytes of a message but for its head.
fn place(state: &[u8], body: &[u8]) -> Option<usize> {
    if body.len() < HEAD + PROBE {
        return None;
    }
    let (tail, probe) = (&body[HEAD..], &body[HEAD..HEAD + PROBE]);
    let places = memchr::memmem::find_iter(state, probe).take(TRIES);
    places.into_iter().find(|&at| state[at..].starts_with(tail))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sottovoce_protocol::averaging::Message;

    fn back<'a>(state: &'a [u8], body: &[u8]) -> (Spliced<'a>, Vec<u8>) {
        let spliced = Spliced::of(state, Some((7, body)));
        assert_eq!(Spliced::from_bytes(&spliced.to_bytes()).as_ref(), Some(&spliced));
        let whole = spliced.clone().whole(Some(body)).unwrap();
        (spliced, whole)
    }

    #[test]
    fn a_value_that_was_sent_is_stored_once() {
        for value in [vec![0.5; 1000], (0..1000).map(f64::from).collect::<Vec<_>>(), vec![0.0; 1000]] {
            let message = postcard::to_stdvec(&Message { round: 300, value: value.clone() }).unwrap();
            let body = [&[7; 32][..], &message].concat();
            let state = postcard::to_stdvec(&(1_u8, 300_usize, value, "after")).unwrap();
            let (spliced, whole) = back(&state, &body);
            assert_eq!(whole, state);
            assert!(
                spliced.message().is_some() && spliced.before.len() + spliced.after.len() < 64,
                "{spliced:?}"
            );
        }
    }

    #[test]
    fn whatever_is_in_it_comes_back() {
        let body: Vec<u8> = (0..200_u8).collect();
        let mut dice = 1_u64;
        for length in 0..600_usize {
            let state: Vec<u8> = (0..length)
                .map(|i| {
                    dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    // Now and then a piece of the message, whole or not.
                    if dice >> 60 < 12 { body[i % body.len()] } else { (dice >> 40) as u8 }
                })
                .collect();
            assert_eq!(back(&state, &body).1, state);
            let whole = [&state[..length / 2], &body[..], &state[length / 2..]].concat();
            assert_eq!(back(&whole, &body).1, whole);
            assert_eq!(back(&state, b"short").1, state);
        }
        assert_eq!(
            Spliced::of(&body, Some((1, &body))).whole(None),
            None,
            "a message that is missing is noticed"
        );
        assert_eq!(Spliced::of(b"state", None).whole(None).unwrap(), b"state");
        for bytes in [&[][..], &[1; 15], &[9; 16], &[255; 40]] {
            assert_eq!(Spliced::from_bytes(bytes), None);
        }
    }
}
