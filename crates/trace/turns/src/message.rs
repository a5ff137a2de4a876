//! One message.

use std::fmt;

/// The version of the protocol; another one is refused.
pub const VERSION: u16 = 1;

/// Bytes of a message without its text.
pub const LENGTH: usize = 32;

/// The longest text that is accepted from a node, in bytes.
pub const LONGEST_TEXT: usize = 4096;

/// What a message says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// Node: here is a node of a job. `a`: its ranks, `b`: milliseconds since `MPI_Init`; the text is a
    /// [`Hello`](crate::Hello).
    Hello = 1,
    /// Node: a rank wants to begin an operation. `a`: bytes since the last message, `b`: the collective call
    /// that it wants to enter (slot of the file above, number below), 0: none.
    Ask = 2,
    /// Node: still here. `a`: bytes since the last message, `b`: operations under way.
    Beat = 4,
    /// Node: the job ends. `a`: bytes since the last message.
    Bye = 5,
    /// Node: all ranks are idle, and the lease is given back. `a`: bytes since the last message, `b`:
    /// nanoseconds since the last operation ended.
    Yield = 6,
    /// Node: the highest number of a collective call that a rank has entered. `a`: slot, `b`: number.
    Entered = 7,
    /// Anybody: who holds, who waits? The answer is a [`Report`](Kind::Report).
    Status = 8,
    /// Arbiter: the node is known from here on.
    Welcome = 9,
    /// Arbiter: go. `seq` is that of the newest question.
    Grant = 10,
    /// Arbiter: not yet. `a`: how many are before, `b`: after how many milliseconds the arbiter lets it go in
    /// any case.
    Wait = 11,
    /// Arbiter: no new operations from here on; those under way end in peace.
    Revoke = 12,
    /// Arbiter: a collective call may be entered without a lease, because another node has. `a`: slot, `b`:
    /// number.
    Pass = 13,
    /// Arbiter: not with us. The text says why.
    Refused = 14,
    /// Arbiter: the text is the state as JSON.
    Report = 15,
}

impl Kind {
    fn from_byte(byte: u8) -> Option<Self> {
        use Kind::*;
        [Hello, Ask, Beat, Bye, Yield, Entered, Status, Welcome, Grant, Wait, Revoke, Pass, Refused, Report]
            .into_iter()
            .find(|kind| *kind as u8 == byte)
    }
}

/// A message, without the text that may follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    /// What it says.
    pub kind: Kind,
    /// The number of the question that it belongs to.
    pub seq: u32,
    /// Bytes of text that follow.
    pub text: u32,
    /// See [`Kind`].
    pub a: u64,
    /// See [`Kind`].
    pub b: u64,
}

/// Why bytes are not a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The other side has another version.
    Version(u16),
    /// There is no such kind of message.
    Kind(u8),
    /// The text is too long.
    Text(u32),
}

impl fmt::Display for Malformed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::Version(version) => {
                write!(out, "version {version} of the protocol; this is version {VERSION}")
            }
            Malformed::Kind(kind) => write!(out, "unknown message {kind}"),
            Malformed::Text(length) => {
                write!(out, "a text of {length} bytes; at most {LONGEST_TEXT} are allowed")
            }
        }
    }
}

impl std::error::Error for Malformed {}

impl Message {
    /// A message without numbers.
    pub fn new(kind: Kind) -> Self {
        Self { kind, seq: 0, text: 0, a: 0, b: 0 }
    }

    /// Belongs to this question.
    #[must_use]
    pub fn seq(self, seq: u32) -> Self {
        Self { seq, ..self }
    }

    /// With these numbers.
    #[must_use]
    pub fn with(self, a: u64, b: u64) -> Self {
        Self { a, b, ..self }
    }

    /// The bytes: kind, 0, version (2), question (4), length of the text (4), 0 (4), a (8), b (8).
    pub fn encode(&self) -> [u8; LENGTH] {
        let mut bytes = [0; LENGTH];
        let [v0, v1] = VERSION.to_le_bytes();
        let fields = [self.kind as u8, 0, v0, v1]
            .into_iter()
            .chain(self.seq.to_le_bytes())
            .chain(self.text.to_le_bytes())
            .chain([0; 4])
            .chain(self.a.to_le_bytes())
            .chain(self.b.to_le_bytes());
        bytes.iter_mut().zip(fields).for_each(|(place, byte)| *place = byte);
        bytes
    }

    /// With the text that follows it.
    pub fn encode_with(mut self, text: &str) -> Vec<u8> {
        self.text = text.len() as u32;
        [&self.encode()[..], text.as_bytes()].concat()
    }

    /// From its bytes.
    pub fn decode(bytes: &[u8; LENGTH]) -> Result<Self, Malformed> {
        let [kind, _, v0, v1, s0, s1, s2, s3, t0, t1, t2, t3, _, _, _, _, rest @ ..] = *bytes;
        let version = u16::from_le_bytes([v0, v1]);
        if version != VERSION {
            return Err(Malformed::Version(version));
        }
        let kind = Kind::from_byte(kind).ok_or(Malformed::Kind(kind))?;
        let [a0, a1, a2, a3, a4, a5, a6, a7, b0, b1, b2, b3, b4, b5, b6, b7] = rest;
        Ok(Self {
            kind,
            seq: u32::from_le_bytes([s0, s1, s2, s3]),
            text: u32::from_le_bytes([t0, t1, t2, t3]),
            a: u64::from_le_bytes([a0, a1, a2, a3, a4, a5, a6, a7]),
            b: u64::from_le_bytes([b0, b1, b2, b3, b4, b5, b6, b7]),
        })
    }
}
