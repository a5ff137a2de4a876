//! Text that is safe to print.

pub use files::printable;

/// How bad something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It could not be done.
    Error,
    /// It was done, but the result may be wrong.
    Warning,
    /// Good to know.
    Note,
}

/// One line on stderr.
pub fn complain(severity: Severity, message: &str) {
    let kind = match severity {
        Severity::Error => "",
        Severity::Warning => "warning: ",
        Severity::Note => "note: ",
    };
    eprintln!("ftio: {kind}{}", printable(message));
}

/// One line on stderr about what could not be done; arguments as for `format!`.
macro_rules! error {
    ($($text:tt)+) => {
        $crate::terminal::text::complain($crate::terminal::text::Severity::Error, &format!($($text)+))
    };
}

/// One line on stderr about what was done, but may be wrong.
macro_rules! warning {
    ($($text:tt)+) => {
        $crate::terminal::text::complain($crate::terminal::text::Severity::Warning, &format!($($text)+))
    };
}

/// One line on stderr that is good to know.
macro_rules! note {
    ($($text:tt)+) => {
        $crate::terminal::text::complain($crate::terminal::text::Severity::Note, &format!($($text)+))
    };
}
pub(crate) use {error, note, warning};

/// Warnings about a trace: the first one, and how many there are.
pub fn warn_once(warnings: &[String]) {
    match warnings {
        [] => {}
        [only] => complain(Severity::Warning, only),
        [first, rest @ ..] => {
            complain(Severity::Warning, &format!("{first} (and {} more, see --json)", rest.len()))
        }
    }
}
