//! The one way in which the service says something on stderr: a line each, whatever is in the names in it.

/// Say it.
#[allow(clippy::print_stderr)]
pub fn say(text: &str) {
    eprintln!("ftio serve: {}", printable(text));
}

fn printable(text: &str) -> String {
    text.chars().flat_map(|c| if c.is_control() { c.escape_unicode().collect() } else { vec![c] }).collect()
}
