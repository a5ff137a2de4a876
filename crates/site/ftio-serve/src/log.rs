//! The one way in which the service says something on stderr: a line each, whatever is in the names in it.

/// Say it.
#[allow(clippy::print_stderr)]
pub fn say(text: &str) {
    eprintln!("ftio serve: {}", files::printable(text));
}
