//! How wide the terminal is, and text that fits it.

use std::io::IsTerminal;
use std::os::fd::AsFd;

/// Narrower is not tried.
const MIN_COLUMNS: usize = 40;

/// Columns of what standard output goes to: `COLUMNS`, or what the terminal says. `None` where it is no
/// terminal: nothing is wrapped then.
pub fn columns() -> Option<usize> {
    let told = std::env::var("COLUMNS").ok().and_then(|text| text.trim().parse().ok());
    let told = told.filter(|columns| *columns > 0).map(|columns: usize| columns.max(MIN_COLUMNS));
    told.or_else(|| columns_of(&std::io::stdout()).map(|columns| columns.max(MIN_COLUMNS)))
}

/// Columns of a terminal.
pub fn columns_of<T: IsTerminal + AsFd>(out: &T) -> Option<usize> {
    let size = out.is_terminal().then(|| rustix::termios::tcgetwinsize(out).ok()).flatten()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// The text cut to a width: what is too much in its middle becomes "…". (Names differ at their
/// ends, and numbers come last.)
pub fn cut(text: &str, columns: usize) -> String {
    let all: Vec<char> = text.chars().collect();
    if all.len() <= columns {
        return text.to_owned();
    }
    let kept = columns.saturating_sub(1);
    let (front, back) = all.split_at(kept / 3);
    let back = &back[back.len() - (kept - front.len())..];
    front.iter().chain(&['…']).chain(back).collect()
}

/// Columns that a text takes: escape sequences take none, every other character one.
pub fn width(text: &str) -> usize {
    let mut escape = false;
    let visible = |c: &char| {
        if escape {
            escape = !c.is_ascii_alphabetic();
            return false;
        }
        escape = *c == '\x1b';
        !escape
    };
    text.chars().filter(visible).count()
}

/// The text in lines of at most `columns`, broken at spaces, but not between a number and its unit. Words
/// that are longer stay whole.
pub fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    // Spaces at the beginning, and several in a row, are kept where the line is not broken.
    for (gap, word) in words(text) {
        if !line.is_empty() && width(&line) + gap + width(&word) > columns {
            lines.push(std::mem::take(&mut line));
        } else {
            line += &" ".repeat(gap);
        }
        line += &word;
    }
    lines.push(line);
    lines
}

/// The words of a text, each with the number of spaces before it.
fn words(text: &str) -> Vec<(usize, String)> {
    let mut words: Vec<(usize, String)> = Vec::new();
    let mut gap = 0;
    for (i, word) in text.split(' ').enumerate() {
        gap += usize::from(i > 0);
        if word.is_empty() {
            continue;
        }
        match words.last_mut() {
            Some((_, number)) if gap == 1 && is_unit(word) && ends_in_digit(number) => {
                *number += " ";
                *number += word;
            }
            _ => words.push((gap, word.to_owned())),
        }
        gap = 0;
    }
    words
}

fn ends_in_digit(word: &str) -> bool {
    word.ends_with(|c: char| c.is_ascii_digit())
}

/// Is a word a unit, perhaps with a prefix and what ends a clause?
fn is_unit(word: &str) -> bool {
    let unit = word.trim_end_matches([',', ';', ':', '.', ')']);
    let bare = unit.strip_prefix(['k', 'M', 'G', 'T', 'P', 'E', 'm', 'µ', 'n']).unwrap_or(unit);
    unit == "%" || ["s", "B", "B/s", "Hz"].contains(&bare)
}

/// `label  text`, the text wrapped behind the label; as one line where the width is not known.
pub fn labelled(label: &str, text: &str, columns: Option<usize>) -> String {
    let indent = width(label) + 1;
    let room = columns.map_or(usize::MAX, |columns| columns.saturating_sub(indent).max(MIN_COLUMNS / 2));
    let lines = wrapped(text, room);
    let glue = format!("\n{}", " ".repeat(indent));
    format!("{label} {}\n", lines.join(&glue))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_fit_and_lose_nothing() {
        let text = "irregular: the best guess,  36.009 s from 16 phases, has a probability of 35 %";
        for columns in [10, 20, 33, 60, 200] {
            let lines = wrapped(text, columns);
            assert!(lines.iter().all(|line| width(line) <= columns.max(12)), "{lines:?}");
            let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
            assert_eq!(words(&lines.join(" ")), words(text));
        }
        assert_eq!(wrapped(text, usize::MAX), [text]);
        assert_eq!(wrapped("", 10), [""]);
        assert_eq!(
            wrapped("in 172.0 s, 204.6 MB/s together", 10),
            ["in", "172.0 s,", "204.6 MB/s", "together"]
        );
    }

    #[test]
    fn what_is_cut_keeps_both_ends() {
        assert_eq!(cut("reading a: 5 %", 14), "reading a: 5 %");
        let short = cut("reading /scratch/project/user/run/trace.msgpack: 25.0 %, 7 s", 40);
        assert!(
            width(&short) == 40 && short.starts_with("reading /") && short.ends_with("msgpack: 25.0 %, 7 s")
        );
    }

    #[test]
    fn escapes_take_no_room() {
        assert_eq!(width("\x1b[1mperiod\x1b[0m 1 s"), 10);
        assert_eq!(labelled("  Note", "one two three", Some(46)), "  Note one two three\n");
        assert_eq!(
            labelled("  Note", "aaaaaaaaaa bbbbbbbbbb cc", Some(27)),
            "  Note aaaaaaaaaa\n       bbbbbbbbbb cc\n"
        );
    }
}
