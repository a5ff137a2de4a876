//! How daemons log: lines for people, or JSON for journald and its like, on standard error.

use crate::exit::wrong_usage;
use files::printable;
use std::fmt;
use std::io;
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

/// What is left out.
const LEVEL: &str = "FTIO_LOG";
/// How it looks.
const FORMAT: &str = "FTIO_LOG_FORMAT";

/// From here on, what this process and its libraries log is written. `before` stands before every line for
/// people.
pub fn set_up(before: &'static str) -> anyhow::Result<()> {
    let level = match variable(LEVEL).as_deref() {
        None => Level::INFO,
        Some(word) => {
            let known = ["error", "warn", "info", "debug", "trace"].contains(&word);
            let level = word.parse().ok().filter(|_| known);
            level.ok_or_else(|| wrong(LEVEL, "error, warn, info, debug or trace", word))?
        }
    };
    let log = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr).with_ansi(false);
    let done = match variable(FORMAT).as_deref() {
        None | Some("text") => log.event_format(Lines { before }).try_init(),
        Some("json") => log.json().with_current_span(false).with_span_list(false).try_init(),
        Some(word) => return Err(wrong(FORMAT, "text or json", word)),
    };
    done.map_err(anyhow::Error::from_boxed)
}

fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).filter(|value| !value.is_empty()).map(|value| value.to_string_lossy().into_owned())
}

fn wrong(name: &str, expected: &str, found: &str) -> anyhow::Error {
    wrong_usage(format!("{name}: expected {expected}, found {found:?}"))
}

/// A line for each event: its message, whatever is in the names in it. Its other fields are for programs.
struct Lines {
    before: &'static str,
}

impl<S, N> FormatEvent<S, N> for Lines
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut out: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut message = Message::default();
        event.record(&mut message);
        writeln!(out, "{}{}", self.before, printable(&message.0))
    }
}

/// The message of an event.
#[derive(Default)]
struct Message(String);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if field.name() == "message" {
            self.0 = format!("{value:?}");
        }
    }
}
