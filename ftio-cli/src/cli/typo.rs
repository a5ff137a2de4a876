//! Words that were meant as a subcommand.

use clap::error::{ContextKind, ContextValue};
use std::path::Path;

/// More changes than this make another word.
const MAX_CHANGES: usize = 2;

/// What somebody may have meant who wrote `word` where a trace or a subcommand is expected; `None` if there
/// is a file of that name, or nothing is similar.
pub fn meant(word: &Path, commands: &[&str]) -> Option<String> {
    let text = word.to_str()?;
    if text.contains(['/', '.']) || text == "-" || word.exists() {
        return None;
    }
    if text == "version" {
        return Some("ftio --version".into());
    }
    let nearest = commands.iter().map(|command| (changes(text, command), *command)).min()?;
    let (changes, command) = nearest;
    let begins = text.len() >= 3 && command.starts_with(text);
    (begins || (changes <= MAX_CHANGES && 2 * changes < text.len())).then(|| format!("ftio {command}"))
}

/// A word to somebody who takes an option for another one: `-o` names the output of most programs.
pub fn tip(error: &clap::Error) -> Option<String> {
    let text = |kind: ContextKind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    let (option, value) = (text(ContextKind::InvalidArg)?, text(ContextKind::InvalidValue)?);
    let is_file = value.contains(['.', '/']);
    (option.contains("--outlier") && is_file).then(|| format!("to draw a picture, use '--plot {value}'"))
}

/// How many letters have to be inserted, removed, replaced, or swapped with their neighbour.
fn changes(one: &str, other: &str) -> usize {
    let (one, other): (Vec<char>, Vec<char>) = (one.chars().collect(), other.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=other.len()).collect();
    for (i, a) in one.iter().enumerate() {
        let mut next = vec![i + 1];
        for (j, b) in other.iter().enumerate() {
            let mut least = (row[j] + usize::from(a != b)).min(row[j + 1] + 1).min(next[j] + 1);
            if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                least = least.min(before[j - 1] + 1);
            }
            next.push(least);
        }
        before = std::mem::replace(&mut row, next);
    }
    row[other.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant() {
        let commands = ["info", "plot", "predict", "report", "schedule", "advise", "diff"];
        let meant = |word: &str| meant(Path::new(word), &commands);
        for (word, command) in
            [("inf", "info"), ("predic", "predict"), ("repotr", "report"), ("advice", "advise")]
        {
            assert_eq!(meant(word), Some(format!("ftio {command}")), "{word}");
        }
        assert_eq!(meant("version"), Some("ftio --version".into()));
        for word in ["run.msgpack", "./inf", "x", "trace42", "/typo"] {
            assert_eq!(meant(word), None, "{word}");
        }
    }

    #[test]
    fn changes_are_counted() {
        for (one, other, count) in
            [("", "abc", 3), ("info", "info", 0), ("ifno", "info", 1), ("plt", "plot", 1)]
        {
            assert_eq!((changes(one, other), changes(other, one)), (count, count), "{one} {other}");
        }
    }
}
