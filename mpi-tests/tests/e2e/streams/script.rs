//! A script: calls on streams and descriptors, as `programs/plays_streams` executes them.

use super::rows::{Arg, ROWS, Row};
use std::fmt;
use std::str::FromStr;

/// A call with its arguments.
#[derive(Clone, Debug)]
pub struct Op {
    pub row: &'static Row,
    pub words: Vec<String>,
}

impl Op {
    /// The number in a word such as `s3` or `d11`; of the standard streams, that of their places.
    pub fn slot(&self, word: usize) -> usize {
        slot(&self.words[word]).expect("it fits its row")
    }
}

/// Places for streams; the last three are the standard ones.
pub const STREAMS: usize = 9;
/// Places for descriptors; the first three are the standard ones.
pub const DESCRIPTORS: usize = 12;
pub const DIRECTORIES: usize = 2;
pub const IN: usize = STREAMS - 3;
pub const OUT: usize = STREAMS - 2;
pub const ERR: usize = STREAMS - 1;

fn slot(word: &str) -> Option<usize> {
    match word {
        "in" => Some(IN),
        "out" => Some(OUT),
        "err" => Some(ERR),
        _ => word.get(1..)?.parse().ok(),
    }
}

fn fits(arg: Arg, word: &str) -> bool {
    let is_place = |letter: char, places: usize| {
        (word.starts_with(letter) || letter == 's' && ["in", "out", "err"].contains(&word))
            && slot(word).is_some_and(|slot| slot < places)
    };
    match arg {
        Arg::Stream | Arg::NewStream => is_place('s', STREAMS),
        Arg::Descriptor | Arg::NewDescriptor => is_place('d', DESCRIPTORS),
        Arg::Directory | Arg::NewDirectory => is_place('g', DIRECTORIES),
        Arg::Name | Arg::NameOfProgram => !word.is_empty() && word != "-",
        Arg::Bytes
        | Arg::Characters
        | Arg::FewCharacters
        | Arg::WideCharacters
        | Arg::Element
        | Arg::Buffer
        | Arg::Place => word.parse::<u32>().is_ok(),
        Arg::Offset => word.parse::<i32>().is_ok(),
        Arg::Word(words) => words.contains(&word),
    }
}

impl FromStr for Op {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace().map(str::to_owned);
        let name = words.next().unwrap_or_default();
        let words: Vec<String> = words.collect();
        let row = ROWS.iter().find(|row| {
            row.name == name
                && row.args.len() == words.len()
                && row.args.iter().zip(&words).all(|(&arg, word)| fits(arg, word))
        });
        Ok(Op { row: row.ok_or_else(|| format!("no such call: {line}"))?, words })
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row.name)?;
        self.words.iter().try_for_each(|word| write!(f, " {word}"))
    }
}

/// Who plays a script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// A child of the program that was started.
    Fork,
    /// A child that has executed the program anew.
    Fresh,
    /// The program that was started: only one script can be played so.
    Here,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::Fork => "fork",
            Way::Fresh => "fresh",
            Way::Here => "here",
        }
    }
}

/// The last operation is its end.
#[derive(Clone, Debug)]
pub struct Script {
    pub way: Way,
    pub ops: Vec<Op>,
}

impl Script {
    /// As the player reads it.
    pub fn numbered(&self, number: usize) -> String {
        format!("script {number} {}\n{self}", self.way.name())
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.ops.iter().try_for_each(|op| writeln!(f, "{op}"))
    }
}

impl FromStr for Script {
    type Err = String;

    /// Calls, one a line; the first line may say who plays them: `script 0 fresh`.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty()).peekable();
        let way =
            match lines.next_if(|line| line.starts_with("script ")).and_then(|line| line.split(' ').nth(2)) {
                Some("fork") => Way::Fork,
                Some("fresh") => Way::Fresh,
                None | Some("here") => Way::Here,
                Some(other) => return Err(format!("who is {other}?")),
            };
        Ok(Script { way, ops: lines.map(str::parse).collect::<Result<_, _>>()? })
    }
}
