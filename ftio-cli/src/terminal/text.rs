//! Text that is safe to print.

use std::borrow::Cow;

/// A name from outside, with control characters made visible: a file name must not move the cursor.
pub fn printable(name: &str) -> Cow<'_, str> {
    if !name.chars().any(is_unsafe) {
        return Cow::Borrowed(name);
    }
    let escape = |c: char| match c {
        '\t' => " ".to_owned(),
        c if is_unsafe(c) => c.escape_unicode().to_string(),
        c => c.to_string(),
    };
    Cow::Owned(name.chars().map(escape).collect())
}

/// Control characters, and those that reorder or hide text.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2066}'..='\u{2069}' | '\u{feff}')
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_become_visible() {
        assert_eq!(printable("plain ü.msgpack"), "plain ü.msgpack");
        assert_eq!(printable("a\x1b[31mb\n"), "a\\u{1b}[31mb\\u{a}");
        assert_eq!(printable("a\tb"), "a b");
        assert_eq!(printable("x\u{202e}y"), "x\\u{202e}y");
    }
}
