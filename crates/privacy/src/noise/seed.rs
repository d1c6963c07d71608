//! Seeds, and the streams of random numbers that come of them.
//!
//! What draws for two purposes from one stream makes them dependent. So every purpose has a name here, and the compiler refuses two with
//! one number.

use super::simulation::SimulationRng;

/// What random numbers are drawn for, with what the two numbers beside the seed mean. The values are part of every result: they stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    /// Noise: the peer and the round, or the number of the draw.
    Noise = 0,
    /// The records of a batch: the peer and its turn.
    Batch = 0x6261_7463,
    /// Noise that is drawn on a graphics card: the agent and the draw.
    Card = 0x6361_7264,
    /// When agents wake: the agent.
    Clocks = 0x636c_6f63,
    /// What happens to a message on its way: the sender and the number of the message.
    Fate = 0x6e65_7477,
    /// Where a token begins: the token.
    Launch = 0x6c61_756e,
    /// The rows of a lot: the agent and the draw.
    Lots = 0x6c6f_7473,
    /// Whole paths of tokens: the path.
    Paths = 0x70_61_74_68_73,
    /// The places of peers in a butterfly: the iteration (second).
    Positions = 0x706f_7369,
    /// The coins of an attack by reconstruction: the peer and the block of runs.
    Coins = 0x7265_636f,
    /// The seeds of the runs that it attacks: the block (second).
    Runs = 0x7265_6373,
    /// The choices of those who spread a rumour: the peer and the run.
    Rumor = 0x7275_6d6f,
    /// Who is drawn from a population: the drawer and the step.
    Sample = 0x7361_6d70,
    /// The order in which rows of a table are dealt out.
    Shuffle = 0x7368_7566,
    /// Parameters that a net starts from: the tensor.
    Weights = 0x7765_6967,
    /// Pictures that are drawn to learn from: the picture.
    Pictures = 0x7069_6374,
    /// Private values to try things on: the peer.
    Values = 0x7661_6c73,
    /// The steps of a token: the token and the step.
    Walk = 0x77_61_6c_6b,
}

/// The number that everything random is a function of.
///
/// ```
/// use rand::Rng;
/// use sottovoce_privacy::noise::simulation::{Seed, Stream};
/// let first = |stream| Seed(7).stream(stream, 1, 2).next_u64();
/// assert_eq!(first(Stream::Walk), first(Stream::Walk));
/// assert_ne!(first(Stream::Walk), first(Stream::Noise));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seed(pub u64);

impl Seed {
    /// The stream of a pair of numbers, whose meaning [`Stream`] tells.
    pub fn stream(self, stream: Stream, first: u64, second: u64) -> SimulationRng {
        SimulationRng::new(self.0, first, second).numbered(stream as u64)
    }

    /// The seed of a part of the work. Users' seeds are small numbers, and so are parts: they are kept apart.
    ///
    /// ```
    /// use sottovoce_privacy::noise::simulation::Seed;
    /// assert_ne!(Seed(1).part(2), Seed(2).part(1));
    /// ```
    pub fn part(self, part: u64) -> Self {
        Self(self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(part))
    }
}
