//! The control page: how the processes of a job and the helper that writes for them find each other.
//!
//! The spools of a job on a node have names that begin with its number and that of the namespace of process
//! ids, `JOBnNAMESPACE-…`, and beside them lies `JOBnNAMESPACE.control`. Who makes that starts the helper.
//! Processes wake it when there is something to do, and a rank asks it in `MPI_Finalize` to make the trace: a
//! [`REQUEST`] with a number, which is answered under the same number.

/// The end of its name.
pub const ENDING: &str = ".control";
/// Between the number of a job and that of a namespace, both hexadecimal, in the names of its files.
pub const OF_NAMESPACE: &str = "n";
/// Bytes of the file.
pub const LENGTH: usize = 12 << 10;

/// First word; changes with the layout.
pub const MAGIC: u64 = u64::from_le_bytes(*b"tmioCTL1");

/// Index of the word that holds the helper's process id, and its state in the upper half.
pub const HELPER: usize = 1;
/// Counts what the helper is woken for; a futex.
pub const WAKE: usize = 2;
/// 1 while the helper sleeps.
pub const SLEEPING: usize = 3;
/// Since when the helper is in a call of a file system, by the monotonic clock; 0: it is not.
pub const WRITING: usize = 4;
/// Counts what the helper has done: as long as it changes, it gets on.
pub const STEPS: usize = 5;
/// 1: no other process of the job will come, so that the helper ends when there is nothing left to do.
pub const LAST: usize = 6;
/// Where the helper's process id is valid: the number of its namespace.
pub const NAMESPACE: usize = 7;
/// Number of the last request.
pub const REQUEST: usize = 8;
/// What is asked for, and up to six numbers for it.
pub const REQUEST_WORDS: usize = 9;
/// Number of the last request that was answered; a futex.
pub const ANSWER: usize = 16;
/// Whether it worked ([`DONE`] or [`FAILED`]), and up to six numbers.
pub const ANSWER_WORDS: usize = 17;
/// Words of a request, and of an answer.
pub const WORDS: usize = 7;
/// Counts processes that have ended and wait for their records to be written: the helper looks for their
/// spools at once.
pub const ENDS: usize = 24;
/// How far the helper had come ([`STEPS`]) when a process that ended gave up waiting for it, and one more; 0:
/// none has. Until it gets on, no other one waits.
pub const GIVEN_UP: usize = 25;

/// The text of a request: a length in eight bytes, then the text.
pub const REQUEST_TEXT: usize = 4 << 10;
/// The text of an answer.
pub const ANSWER_TEXT: usize = 8 << 10;
/// Room for a text and its length.
pub const TEXT_BYTES: usize = 4 << 10;

/// Somebody starts the helper; the process id is that somebody's.
pub const STARTING: u64 = 1 << 32;
/// The helper runs.
pub const RUNNING: u64 = 2 << 32;
/// The helper is about to end: a spool that comes now needs another one.
pub const CLOSING: u64 = 3 << 32;

/// The request was met.
pub const DONE: u64 = 1;
/// It was not; the text says why.
pub const FAILED: u64 = 2;

/// Take what the ranks of this node have: how many they are, and in how much detail (0 to 3). Answer: bytes,
/// operations, lost.
pub const TAKE: u64 = 1;
/// Make the file of the trace that is to be, whose path is the text.
pub const MAKE: u64 = 2;
/// Write what was taken to that file: at which byte, and how many bytes of padding behind it.
pub const WRITE: u64 = 3;
/// Write the last frame (at which byte; job time; ranks; operations) and give the file its place. Answer: the
/// path.
pub const FINISH: u64 = 4;
/// The trace is there: remove parts and spools.
pub const CLEAR: u64 = 5;
/// There is no trace: remove what was made of it; everything goes to the part. Answer: operations lost.
pub const KEEP: u64 = 6;
