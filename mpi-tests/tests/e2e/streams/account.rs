//! What the kernel counted: calls and bytes by script, file, layer and direction.

use super::play::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Whose call it was. `Either`: both are right.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    Either,
    Posix,
    Stdio,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Way {
    Read,
    Write,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum {
    pub calls: u64,
    /// Those of them that moved something.
    pub moved: u64,
    pub bytes: u64,
}

impl Sum {
    pub fn add(&mut self, bytes: u64) {
        *self = *self + Sum { calls: 1, moved: u64::from(bytes > 0), bytes };
    }
}

impl std::ops::Add for Sum {
    type Output = Sum;

    fn add(self, other: Sum) -> Sum {
        Sum {
            calls: self.calls + other.calls,
            moved: self.moved + other.moved,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// By script, name, layer and direction.
pub type Sums = BTreeMap<(usize, String, Layer, Way), Sum>;

/// What the kernel counted for a batch.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Account {
    pub sums: Sums,
    /// Names of one file, by script.
    pub same: BTreeSet<(usize, String, String)>,
}

impl Account {
    /// Reads what `programs/counts_kernel_calls.c` has written.
    pub fn read(path: &Path, place: &Place) -> Self {
        let text = fs::read(path).unwrap_or_default();
        let mut account = Account::default();
        for line in String::from_utf8_lossy(&text).lines() {
            let words: Vec<&str> = line.split('\t').collect();
            account.add(&words, place).unwrap_or_else(|| panic!("not a line of an account: {line}"));
        }
        account
    }

    fn add(&mut self, words: &[&str], place: &Place) -> Option<()> {
        match *words {
            ["calls", script, layer, way, calls, moved, bytes, name] => {
                let layer = match layer {
                    "either" => Layer::Either,
                    "posix" => Layer::Posix,
                    "stdio" => Layer::Stdio,
                    _ => return None,
                };
                let way = if way == "read" { Way::Read } else { Way::Write };
                let number = |text: &str| text.parse::<u64>().ok();
                let run = Sum { calls: number(calls)?, moved: number(moved)?, bytes: number(bytes)? };
                if let Some(name) = place.name(name) {
                    let sum = self.sums.entry((script.parse().ok()?, name, layer, way)).or_default();
                    *sum = *sum + run;
                }
            }
            ["same", script, one, other] => {
                // The directory of a file without a name is not its name.
                if let (Some(one), Some(other)) = (place.name(one), place.name(other))
                    && !other.ends_with("(temporary)")
                    && one != other
                {
                    self.same.insert((script.parse().ok()?, one, other));
                }
            }
            _ => return None,
        }
        Some(())
    }
}
