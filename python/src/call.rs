//! How work is done for Python: without its lock, so that other threads go on; interruptible by Ctrl-C; and
//! with every failure, also a panic, as an exception.

use pyo3::prelude::*;
use sources::SourceError;
use std::any::Any;
use std::io::ErrorKind;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::time::Duration;

/// How long Python's signals wait at most.
const SLICE: Duration = Duration::from_millis(50);

/// Why there is no result.
#[derive(Debug)]
pub struct Problem {
    text: String,
    kind: Kind,
}

/// Which exception it becomes.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Plain,
    NotFound,
    System,
    Usage,
    Internal,
}

impl Problem {
    pub fn new(text: impl Into<String>) -> Self {
        Problem { text: text.into(), kind: Kind::Plain }
    }

    /// The caller has asked for something that makes no sense.
    pub fn usage(text: impl Into<String>) -> Self {
        Problem { text: text.into(), kind: Kind::Usage }
    }

    /// Something that cannot be read or written.
    pub fn system(name: &str, error: &std::io::Error) -> Self {
        let kind = if error.kind() == ErrorKind::NotFound { Kind::NotFound } else { Kind::System };
        Problem { text: format!("{name}: {error}"), kind }
    }

    fn panic(panic: &(dyn Any + Send)) -> Self {
        let said = panic.downcast_ref::<&str>().copied().map(str::to_owned);
        let said = said.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
        Problem { text: format!("a defect in ftio: {said}"), kind: Kind::Internal }
    }

    /// The exception, of a class of `ftio_rs.errors`.
    pub fn raise(self, py: Python<'_>) -> PyErr {
        let class = match self.kind {
            Kind::Plain => "FtioError",
            Kind::NotFound => "FtioNotFoundError",
            Kind::System => "FtioSystemError",
            Kind::Usage => "FtioValueError",
            Kind::Internal => "FtioInternalError",
        };
        let made = py.import("ftio_rs.errors").and_then(|errors| errors.getattr(class)?.call1((self.text,)));
        made.map_or_else(|error| error, PyErr::from_value)
    }
}

impl From<SourceError> for Problem {
    fn from(error: SourceError) -> Self {
        let kind = match &error {
            SourceError::Io { source, .. } if source.kind() == ErrorKind::NotFound => Kind::NotFound,
            SourceError::Io { .. } => Kind::System,
            _ => Kind::Plain,
        };
        let mut text = error.to_string();
        if let SourceError::Unknown { .. } = error {
            text += "; to read other text, describe it with pattern=";
        }
        Problem { text, kind }
    }
}

impl From<perf_model::Error> for Problem {
    fn from(error: perf_model::Error) -> Self {
        Problem::new(error.to_string())
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Problem::new(error.to_string())
    }
}

/// Do some work on a thread of its own. If the user interrupts, the exception is raised at once; the thread
/// ends when its work is done, and its result is dropped.
pub fn call<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Problem> + Send + 'static,
) -> PyResult<T> {
    let (send, mut receive) = sync_channel(1);
    let guarded = move || {
        let done = catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| Err(Problem::panic(&*panic)));
        let _ = send.send(done);
    };
    let spawned = std::thread::Builder::new().name("ftio".into()).spawn(guarded);
    spawned.map_err(|error| Problem::system("cannot start a thread", &error).raise(py))?;
    loop {
        let done;
        (receive, done) = py.detach(move || {
            let done = receive.recv_timeout(SLICE);
            (receive, done)
        });
        match done {
            Ok(done) => return done.map_err(|problem| problem.raise(py)),
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Err(Problem::new("no result").raise(py)),
        }
    }
}

/// Wait without Python's lock; Ctrl-C ends it.
pub fn pause(py: Python<'_>, mut time: Duration) -> PyResult<()> {
    while !time.is_zero() {
        let slice = time.min(SLICE);
        py.detach(|| std::thread::sleep(slice));
        py.check_signals()?;
        time -= slice;
    }
    Ok(())
}

/// For the test that a defect is an exception and does not end the interpreter.
#[pyfunction]
#[pyo3(name = "_panics")]
pub fn panics(py: Python<'_>) -> PyResult<()> {
    call(py, || panic!("asked for"))
}

/// For the tests that other threads go on, and that Ctrl-C works.
#[pyfunction]
#[pyo3(name = "_sleeps")]
pub fn sleeps(py: Python<'_>, seconds: f64) -> PyResult<()> {
    call(py, move || {
        std::thread::sleep(Duration::from_secs_f64(seconds));
        Ok(())
    })
}
