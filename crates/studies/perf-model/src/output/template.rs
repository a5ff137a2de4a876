//! Format strings: text with placeholders in curly brackets.
//!
//! `{name}`, `{?name}` (leave out what was printed last), `{name:options}`; `{{` and `}}` for the brackets
//! themselves. Options of lists are `sep:'…'; format:'…'`, in which `\'` is an apostrophe.

use crate::error::{Error, Result};

/// A piece of a format string.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Piece {
    Text(String),
    Placeholder { name: String, once: bool, options: String, position: usize },
}

/// Options of a list.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ListOptions {
    pub separator: Option<String>,
    pub format: Option<String>,
}

fn error(position: usize, expected: impl Into<String>, found: impl Into<String>) -> Error {
    Error::Template { position: position + 1, expected: expected.into(), found: found.into() }
}

/// Splits a format string.
pub(super) fn pieces(text: &str) -> Result<Vec<Piece>> {
    let characters: Vec<char> = text.chars().collect();
    let mut pieces = Vec::new();
    let mut literal = String::new();
    let mut at = 0;
    while let Some(&character) = characters.get(at) {
        match (character, characters.get(at + 1)) {
            ('{', Some('{')) | ('}', Some('}')) => {
                literal.push(character);
                at += 2;
            }
            ('{', _) => {
                let end = closing(&characters, at)?;
                if !literal.is_empty() {
                    pieces.push(Piece::Text(std::mem::take(&mut literal)));
                }
                let inner: String = characters[at + 1..end].iter().collect();
                let (name, options) = inner.split_once(':').unwrap_or((&inner, ""));
                let once = name.starts_with('?');
                let name = name.trim_start_matches('?').trim().to_owned();
                pieces.push(Piece::Placeholder { name, once, options: options.to_owned(), position: at });
                at = end + 1;
            }
            ('}', _) => return Err(error(at, "`}}` for a bracket", "a single `}`")),
            ('\\', Some('n')) => {
                literal.push('\n');
                at += 2;
            }
            ('\\', Some('t')) => {
                literal.push('\t');
                at += 2;
            }
            _ => {
                literal.push(character);
                at += 1;
            }
        }
    }
    if !literal.is_empty() {
        pieces.push(Piece::Text(literal));
    }
    Ok(pieces)
}

/// Where the bracket that opens at `start` closes; brackets nest, in quotes or not.
fn closing(characters: &[char], start: usize) -> Result<usize> {
    let mut depth = 0;
    for (at, character) in characters.iter().enumerate().skip(start) {
        match character {
            '{' => depth += 1,
            '}' => {
                depth -= 1;
                if depth == 0 {
                    return Ok(at);
                }
            }
            _ => {}
        }
    }
    Err(error(start, "a closing `}`", "the end"))
}

/// Reads `sep:'…'; format:'…'`.
pub(super) fn list_options(text: &str, position: usize) -> Result<ListOptions> {
    let mut options = ListOptions::default();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (key, after) = rest
            .split_once(':')
            .ok_or_else(|| error(position, "`sep:'…'` or `format:'…'`", format!("`{rest}`")))?;
        let (value, after) = quoted(after.trim_start(), position)?;
        match key.trim() {
            "sep" => options.separator = Some(value),
            "format" => options.format = Some(value),
            other => return Err(error(position, "`sep` or `format`", format!("`{other}`"))),
        }
        rest = after.trim_start();
        rest = rest.strip_prefix(';').unwrap_or(rest).trim_start();
    }
    Ok(options)
}

/// Text in apostrophes, and what follows. Apostrophes inside of nested placeholders belong to those.
fn quoted(text: &str, position: usize) -> Result<(String, &str)> {
    let missing = || error(position, "text in apostrophes", format!("`{text}`"));
    let inner = text.strip_prefix('\'').ok_or_else(missing)?;
    let mut value = String::new();
    let mut depth = 0;
    let mut characters = inner.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        match character {
            '\\' if depth == 0 && characters.next_if(|(_, next)| *next == '\'').is_some() => value.push('\''),
            '\'' if depth == 0 => return Ok((value, &inner[at + 1..])),
            _ => {
                depth += i32::from(character == '{') - i32::from(character == '}');
                value.push(character);
            }
        }
    }
    Err(missing())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splits_and_nests() {
        let parts = pieces("{?metric}, {{{points: sep:' \\' ' ; format:'({point})'}}}").unwrap();
        assert_eq!(parts.len(), 4);
        assert!(matches!(&parts[0], Piece::Placeholder { name, once: true, .. } if name == "metric"));
        assert_eq!(parts[1], Piece::Text(", {".to_owned()));
        let Piece::Placeholder { options, .. } = &parts[2] else { panic!() };
        let options = list_options(options, 0).unwrap();
        assert_eq!(options.separator.as_deref(), Some(" ' "));
        assert_eq!(options.format.as_deref(), Some("({point})"));
        assert_eq!(parts[3], Piece::Text("}".to_owned()));
    }

    #[test]
    fn nested_quotes_belong_to_the_inner_placeholder() {
        let options =
            list_options("sep:', '; format:'{point: sep:';';format:'{parameter}'}--{mean}'", 0).unwrap();
        assert_eq!(options.format.as_deref(), Some("{point: sep:';';format:'{parameter}'}--{mean}"));
    }

    #[test]
    fn malformed_strings_are_errors() {
        for text in ["{", "}", "a {b", "{{}"] {
            assert!(pieces(text).is_err(), "{text}");
        }
        for text in ["sep", "sep:x", "sep:'x", "other:'x'"] {
            assert!(list_options(text, 0).is_err(), "{text}");
        }
    }
}
