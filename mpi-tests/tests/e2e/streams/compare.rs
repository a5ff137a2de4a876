//! Holds a traced run against the one without the library, and the trace against the kernel.

use super::account::{Account, Layer, Sum, Sums, Way};
use super::play::Played;
use super::recorded::Recorded;
use std::collections::{BTreeMap, BTreeSet};

/// In what a script differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Aspect {
    /// A call returned something else, or the script ended otherwise.
    Results,
    /// It left other files.
    Contents,
    Bytes,
    /// The number of calls that moved these bytes.
    Calls,
    /// The kernel was asked for something else when the library was there.
    Behaviour,
    /// The batch, not one of its scripts.
    Trace,
}

#[derive(Clone, Debug)]
pub struct Difference {
    pub aspect: Aspect,
    pub text: String,
}

/// By script.
pub type Differences = BTreeMap<usize, Vec<Difference>>;

fn add(differences: &mut Differences, script: usize, aspect: Aspect, text: String) {
    differences.entry(script).or_default().push(Difference { aspect, text });
}

/// Results and files are the same with and without the library.
pub fn runs(alone: &Played, traced: &Played) -> Differences {
    let mut found = Differences::new();
    for (script, (one, other)) in alone.logs.iter().zip(&traced.logs).enumerate() {
        let differs = one.lines().zip(other.lines()).find(|(one, other)| one != other);
        if let Some((one, other)) = differs {
            add(&mut found, script, Aspect::Results, format!("alone \"{one}\", traced \"{other}\""));
        } else if one != other {
            let (one, other) = (one.lines().count(), other.lines().count());
            add(&mut found, script, Aspect::Results, format!("{one} results alone, {other} traced"));
        }
    }
    for (script, (one, other)) in alone.files.iter().zip(&traced.files).enumerate() {
        let names: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
        for name in names.into_iter().filter(|&name| one.get(name) != other.get(name)) {
            let length = |files: &BTreeMap<String, Vec<u8>>| match files.get(name) {
                Some(bytes) => format!("{} bytes", bytes.len()),
                None => "not there".into(),
            };
            let bytes = |files: &BTreeMap<String, Vec<u8>>| files.get(name).cloned().unwrap_or_default();
            let (first, second) = (bytes(one), bytes(other));
            let same = first.iter().zip(&second).take_while(|(one, other)| one == other).count();
            let rest = |bytes: &[u8]| {
                bytes.get(same..).unwrap_or_default().iter().take(16).copied().collect::<Vec<u8>>()
            };
            let text = format!(
                "{name} is another file: alone {}, traced {}; from {same} on {:?} and {:?}",
                length(one),
                length(other),
                rest(&first).escape_ascii().to_string(),
                rest(&second).escape_ascii().to_string(),
            );
            add(&mut found, script, Aspect::Contents, text);
        }
    }
    found
}

/// Names that may be those of one file, as one: the first of them.
struct Names(BTreeMap<(usize, String), String>);

impl Names {
    fn of(account: &Account) -> Self {
        let mut names = Names(BTreeMap::new());
        for (script, one, other) in &account.same {
            let (one, other) = (names.find(*script, one), names.find(*script, other));
            if one != other {
                let (first, second) = if one < other { (one, other) } else { (other, one) };
                names.0.insert((*script, second), first);
            }
        }
        names
    }

    fn find(&self, script: usize, name: &str) -> String {
        let mut name = name.to_owned();
        while let Some(next) = self.0.get(&(script, name.clone())) {
            name.clone_from(next);
        }
        name
    }

    fn joined(&self, sums: &Sums) -> BTreeMap<(usize, String, Way), BTreeMap<Layer, Sum>> {
        let mut joined: BTreeMap<_, BTreeMap<Layer, Sum>> = BTreeMap::new();
        for ((script, name, layer, way), &sum) in sums {
            let of = joined.entry((*script, self.find(*script, name), *way)).or_default();
            let entry = of.entry(*layer).or_default();
            *entry = *entry + sum;
        }
        joined
    }
}

/// What the kernel counted is what was recorded, by file, layer and direction.
pub fn with_kernel(kernel: &Account, recorded: &Recorded) -> Differences {
    let names = Names::of(kernel);
    let (truth, told) = (names.joined(&kernel.sums), names.joined(&recorded.sums));
    let mut found = Differences::new();
    let nothing = BTreeMap::new();
    let keys: BTreeSet<_> = truth.keys().chain(told.keys()).collect();
    for key in keys {
        let (truth, told) = (truth.get(key).unwrap_or(&nothing), told.get(key).unwrap_or(&nothing));
        let (script, name, way) = key;
        let way = if *way == Way::Read { "read" } else { "written" };
        for (aspect, text) in differences_of_file(truth, told) {
            add(&mut found, *script, aspect, format!("{name}: {way} {text}"));
        }
    }
    found
}

fn differences_of_file(truth: &BTreeMap<Layer, Sum>, told: &BTreeMap<Layer, Sum>) -> Vec<(Aspect, String)> {
    let of = |sums: &BTreeMap<Layer, Sum>, layer| sums.get(&layer).copied().unwrap_or_default();
    let all = |sums: &BTreeMap<Layer, Sum>| sums.values().fold(Sum::default(), |sum, &next| sum + next);
    let (kernel, recorded) = (all(truth), all(told));
    if kernel.bytes != recorded.bytes {
        let text = format!(
            "{} bytes in {} calls, recorded {} in {}",
            kernel.bytes, kernel.moved, recorded.bytes, recorded.moved
        );
        return vec![(Aspect::Bytes, text)];
    }
    if of(truth, Layer::Either) != Sum::default() {
        // Whose calls they are is not known, nor whether those that moved nothing are recorded.
        return match kernel.moved == recorded.moved {
            true => Vec::new(),
            false => vec![(Aspect::Calls, format!("in {} calls, recorded {}", kernel.moved, recorded.moved))],
        };
    }
    let mut found = Vec::new();
    for (layer, name) in [(Layer::Posix, "posix"), (Layer::Stdio, "stdio")] {
        let (kernel, recorded) = (of(truth, layer), of(told, layer));
        // The end of a file that a stream finds need not be an operation; a call that returns 0 is one.
        let calls = |sum: Sum| if layer == Layer::Posix { sum.calls } else { sum.moved };
        if kernel.bytes != recorded.bytes {
            let text = format!("{} bytes by {name}, recorded {}", kernel.bytes, recorded.bytes);
            found.push((Aspect::Bytes, text));
        } else if calls(kernel) != calls(recorded) {
            let text = format!("in {} calls by {name}, recorded {}", calls(kernel), calls(recorded));
            found.push((Aspect::Calls, text));
        }
    }
    found
}

/// The kernel was asked for the same with and without the library.
pub fn behaviours(alone: &Account, traced: &Account) -> Differences {
    let mut found = Differences::new();
    let keys: BTreeSet<_> = alone.sums.keys().chain(traced.sums.keys()).collect();
    for key in keys {
        let (one, other) = (alone.sums.get(key), traced.sums.get(key));
        if one != other {
            let (script, name, layer, way) = key;
            let text = format!("{name} {layer:?} {way:?}: alone {one:?}, traced {other:?}");
            add(&mut found, *script, Aspect::Behaviour, text);
        }
    }
    found
}

/// All that is found in a batch.
pub fn joined(all: impl IntoIterator<Item = Differences>) -> Differences {
    let mut sum = Differences::new();
    for differences in all {
        for (script, found) in differences {
            sum.entry(script).or_default().extend(found);
        }
    }
    sum
}
