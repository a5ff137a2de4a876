//! Recorder's traces as text, which its `recorder2text` writes: one file a rank, one line a call.
//!
//! ```text
//! 0.012345 0.012399 pwrite 1 0 ( /scratch/out 0x7ffd12 1048576 0 )
//! begin    end      name depth kind ( arguments )
//! ```
//!
//! Times are seconds since the program began. The Python FTIO keeps lines with the words `read` and `write`,
//! and so misses `pwrite`, `fwrite`, `MPI_File_write_at` and others; here a table of functions tells which
//! calls move data, of which layer they are, and how many bytes.

use super::bandwidth_piece::BandwidthPiece;
use super::calls::Calls;
use super::content::{Content, beginning};
use super::error::SourceError;
use super::functions::function;
use super::intake::{Fed, Feed, Intake};
use super::job::{Job, Source};
use super::options::OpenOptions;
use crate::request::Span;
use crate::request::layer::Layer;
use crate::time::nanoseconds;

/// The trace.
pub(super) fn open(content: Content, options: &OpenOptions) -> Result<Box<dyn Source>, SourceError> {
    let name = content.name.clone();
    let text = content.into_text()?;
    Ok(Box::new(Fed(name.clone(), Recorder { name, text, layer: options.layer })))
}

/// Is the first line that holds anything a call?
pub(super) fn looks_like(head: &[u8]) -> bool {
    let text = String::from_utf8_lossy(beginning(head));
    let first = text.lines().find(|line| !line.trim().is_empty());
    first.is_some_and(|line| call(line).is_some_and(|call| call.is_whole))
}

/// A line.
struct Call<'a> {
    start: f64,
    end: f64,
    function: &'a str,
    arguments: Vec<&'a str>,
    /// The closing parenthesis is there.
    is_whole: bool,
}

fn call(line: &str) -> Option<Call<'_>> {
    let mut words = line.split_ascii_whitespace();
    let start: f64 = words.next()?.parse().ok()?;
    let end: f64 = words.next()?.parse().ok()?;
    let function = words.next()?;
    let is_name = function.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_<>:~.@-".contains(&byte));
    if !is_name || function.parse::<f64>().is_ok() {
        return None;
    }
    // The depth of the call, and what kind of function it is.
    words.next()?.parse::<i64>().ok()?;
    words.next()?.parse::<i64>().ok()?;
    if words.next()? != "(" {
        return None;
    }
    let mut arguments: Vec<&str> = words.collect();
    let is_whole = arguments.last() == Some(&")");
    if is_whole {
        arguments.pop();
    }
    Some(Call { start, end, function, arguments, is_whole })
}

/// The trace of a rank.
#[derive(Debug)]
struct Recorder {
    name: String,
    text: String,
    layer: Option<Layer>,
}

impl Feed for Recorder {
    fn feed(self, _: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let mut job = Job { ranks: Some(1), complete: true, ..Job::default() };
        let mut calls = Calls::default();
        let mut last_end = None;
        for (number, line) in (1..).zip(self.text.lines()) {
            if line.trim().is_empty() {
                continue;
            }
            let Some(call) = call(line).filter(|call| call.is_whole) else {
                let found: String = line.chars().take(40).collect();
                intake.leave_out(|| {
                    format!(
                        "line {number}: expected \"begin end name depth kind ( arguments )\", found {found:?}"
                    )
                });
                continue;
            };
            last_end = last_end.max(Some(nanoseconds(call.end)));
            let Some(function) = function(call.function) else { continue };
            match function.bytes(&call.arguments) {
                Ok(bytes) => {
                    let phase = BandwidthPiece {
                        start: call.start,
                        end: call.end,
                        bandwidth: bytes as f64 / (call.end - call.start),
                        bytes: Some(bytes),
                        rank: Some(0),
                        class: function.class,
                    };
                    calls.push(Some(function.layer), number, phase);
                }
                Err(found) => calls.unusable(Some(function.layer), || {
                    format!("line {number}: expected the bytes of {}, found {found}", function.name)
                }),
            }
        }
        // Times count from the begin of the program, and its last call is near its end.
        job.start = Some(0);
        job.end = last_end.filter(|end| *end > 0);
        calls.feed(&self.name, self.layer, "line", &mut job, intake)?;
        Ok(job)
    }
}
