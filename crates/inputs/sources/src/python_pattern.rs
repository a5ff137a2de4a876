//! Pattern files of the Python FTIO (`-cf file.py`): two dictionaries, read without running any Python.
//!
//! ```python
//! pattern = {"bw": r"bw_mib: \[(.*)\]", "from": r"start: \[(.*)\]", "to": r"end: \[(.*)\]"}
//! translate = {"bandwidth": {"b_rank_avr": ("bw", 1.07e6),
//!     "t_rank_s": ("from", 1e-3), "t_rank_e": ("to", 1e-3)}}
//! ```
//!
//! `pattern` names regular expressions, `translate` says which field each is and by what it is multiplied.

use super::pattern_fields::{BANDWIDTH, BYTES, END, START};
use std::collections::BTreeMap;

/// What the Python FTIO calls the fields.
const NAMES: [(&str, usize); 6] = [
    ("b_rank_avr", BANDWIDTH),
    ("b_overlap_avr", BANDWIDTH),
    ("t_rank_s", START),
    ("t_overlap", START),
    ("t_rank_e", END),
    ("bytes", BYTES),
];

/// Deepest nesting of a pattern file.
const MAX_DEPTH: usize = 8;

/// A field, its expression, and the factor of its numbers.
pub(super) type Field = (usize, String, f64);

/// The fields of a file, and the expression for the number of ranks.
pub(super) fn fields(text: &str) -> Result<(Vec<Field>, Option<String>), String> {
    let expressions = dictionary(text, "pattern")?;
    let mut found = Vec::new();
    let mut ranks = None;
    for (field, value) in flat(dictionary(text, "translate")?) {
        let (name, factor) = match value {
            Value::Text(name) => (name, 1.0),
            Value::List(parts) => match <[Value; 2]>::try_from(parts) {
                Ok([Value::Text(name), Value::Number(factor)]) => (name, factor),
                _ => return Err(format!("a name and a factor for {field}")),
            },
            _ => return Err(format!("a name, or a name and a factor, for {field}")),
        };
        let Some(Value::Text(expression)) = expressions.get(&name) else {
            return Err(format!("{name} in pattern, as translate has it"));
        };
        if field == "number_of_ranks" {
            ranks = Some(expression.clone());
        }
        // Totals in the file are ignored: they are computed from the requests.
        if let Some((_, number)) = NAMES.iter().find(|(name, _)| *name == field) {
            found.push((*number, expression.clone(), factor));
        }
    }
    Ok((found, ranks))
}

/// The entries of a dictionary and of those in it.
fn flat(entries: BTreeMap<String, Value>) -> Vec<(String, Value)> {
    let mut out = Vec::new();
    for (name, value) in entries {
        match value {
            Value::Dictionary(inner) => out.extend(flat(inner)),
            value => out.push((name, value)),
        }
    }
    out
}

/// `NAME = {…}`, wherever it is.
fn dictionary(text: &str, name: &str) -> Result<BTreeMap<String, Value>, String> {
    let assigned = |line: &&str| {
        line.trim_start().strip_prefix(name).is_some_and(|rest| rest.trim_start().starts_with('='))
    };
    let line = text.lines().find(assigned).ok_or_else(|| format!("a dictionary called {name}"))?;
    // Where the line is in the text: it is a part of it.
    let begin = line.as_ptr() as usize - text.as_ptr() as usize;
    let from = text[begin..].find('=').map_or(begin, |equals| begin + equals + 1);
    match (Reader { rest: &text[from..] }).value(0) {
        Some(Value::Dictionary(entries)) => Ok(entries),
        _ => Err(format!("a dictionary of texts and numbers for {name}")),
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Text(String),
    Number(f64),
    List(Vec<Value>),
    Dictionary(BTreeMap<String, Value>),
}

/// Reads literals of Python.
struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MAX_DEPTH {
            return None;
        }
        self.skip();
        match self.rest.chars().next()? {
            '{' => self.entries(depth).map(Value::Dictionary),
            '(' => self.list(')', depth).map(Value::List),
            '[' => self.list(']', depth).map(Value::List),
            '"' | '\'' | 'r' | 'R' => self.text().map(Value::Text),
            _ => self.number().map(Value::Number),
        }
    }

    /// Blanks and comments.
    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let Some(comment) = self.rest.strip_prefix('#') else { return };
            self.rest = comment.find('\n').map_or("", |end| &comment[end..]);
        }
    }

    fn take(&mut self, letter: char) -> bool {
        self.skip();
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn entries(&mut self, depth: usize) -> Option<BTreeMap<String, Value>> {
        let mut out = BTreeMap::new();
        self.take('{');
        while !self.take('}') {
            self.skip();
            let name = self.text()?;
            if !self.take(':') {
                return None;
            }
            out.insert(name, self.value(depth + 1)?);
            if !self.take(',') {
                return self.take('}').then_some(out);
            }
        }
        Some(out)
    }

    fn list(&mut self, end: char, depth: usize) -> Option<Vec<Value>> {
        let mut out = Vec::new();
        self.rest = &self.rest[1..];
        while !self.take(end) {
            out.push(self.value(depth + 1)?);
            if !self.take(',') {
                return self.take(end).then_some(out);
            }
        }
        Some(out)
    }

    /// A string; in a raw one a backslash is itself, and others here mean the same.
    fn text(&mut self) -> Option<String> {
        self.rest = self.rest.trim_start_matches(['r', 'R']);
        let quote = self.rest.chars().next().filter(|c| ['"', '\''].contains(c))?;
        let inside = &self.rest[1..];
        let end = inside.find(quote)?;
        self.rest = &inside[end + 1..];
        Some(inside[..end].to_owned())
    }

    /// A number, or a product of them.
    fn number(&mut self) -> Option<f64> {
        let mut product = 1.0;
        loop {
            self.skip();
            let other = |c: char| !(c.is_ascii_alphanumeric() || ['.', '-', '+', '_'].contains(&c));
            let end = self.rest.find(other).unwrap_or(self.rest.len());
            let (digits, rest) = self.rest.split_at(end);
            product *= digits.replace('_', "").parse::<f64>().ok().filter(|number| number.is_finite())?;
            self.rest = rest;
            if !self.take('*') {
                return Some(product);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r##"
# GekkoFS
pattern = {
    "avg": r"avg_throughput_mib:\s*\[([\d.,\s]+)\]",
    'end': r"end_t_micro:\s*\[([\d,\s]+)\]",  # in µs
    "start": r"start_t_micro:\s*\[([\d,\s]+)\]",
    "total_bytes": r"total_bytes:\s*+(\d+)",
}

def convert():
    translate = {
        "bandwidth": {
            "b_rank_avr": ("avg", 1.07 * 1e6),
            "t_rank_e": ("end", 1e-3), "t_rank_s": ("start", 1e-3),
        },
        "total_bytes": "total_bytes"
    }
    return pattern, translate
"##;

    #[test]
    fn two_dictionaries() {
        let (mut found, ranks) = fields(FILE).unwrap();
        found.sort_by_key(|field| field.0);
        let factors: Vec<(usize, f64)> = found.iter().map(|field| (field.0, field.2)).collect();
        assert_eq!(factors, [(START, 1e-3), (END, 1e-3), (BANDWIDTH, 1.07e6)]);
        assert_eq!(found[1].1, r"end_t_micro:\s*\[([\d,\s]+)\]");
        assert_eq!(ranks, None);
    }

    #[test]
    fn anything_else_is_refused() {
        for text in ["", "pattern = 3", "pattern = {}", "pattern = {'a': 'b'}\ntranslate = {'t_rank_s': 'c'}"]
        {
            assert!(fields(text).is_err(), "{text}");
        }
        let deep = format!(
            "pattern = {}{}\ntranslate = {{}}",
            "{'a': ".repeat(50),
            "1".to_owned() + &"}".repeat(50)
        );
        assert!(fields(&deep).is_err());
    }
}
