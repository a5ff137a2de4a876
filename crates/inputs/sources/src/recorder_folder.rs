//! Recorder's own folder (format 2.3 to 2.5): calls as a grammar.
//!
//! | file | holds |
//! |---|---|
//! | `VERSION` | `2.5.0` |
//! | `recorder.mt` | 40 bytes: ranks (i32 at 0), start (f64 at 8), length of a tick in seconds (f64 at 16); then a name of a function a line |
//! | `N.cst` | of rank N, every distinct call: number, function, depth, arguments |
//! | `N.cfg` | rules of numbers and repetitions; rule −1 is the sequence of all calls |
//! | `N.ts` | for each call begin and end, in ticks since the begin of the call before |
//!
//! Everything is little-endian. Lengths are not believed: a call takes 8 bytes of `N.ts`, and no more calls
//! are read than that file holds.

use super::bandwidth_piece::BandwidthPiece;
use super::calls::Calls;
use super::error::SourceError;
use super::functions::function;
use super::intake::{Fed, Feed, Intake};
use super::job::{Job, Source};
use super::options::OpenOptions;
use crate::request::Span;
use crate::request::layer::Layer;
use crate::time::nanoseconds;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Rules deeper than this are a circle.
const MAX_DEPTH: usize = 256;

/// The bytes of `recorder.mt` before the names.
const HEAD: usize = 40;

/// Is it such a folder?
pub(super) fn is_folder(path: &Path) -> bool {
    path.join("recorder.mt").is_file() && path.join("VERSION").is_file()
}

/// The trace in a folder.
pub(super) fn open(path: &Path, options: &OpenOptions) -> Result<Box<dyn Source>, SourceError> {
    let name = path.display().to_string();
    let version = read(&path.join("VERSION"))?;
    let version = String::from_utf8_lossy(&version).trim().to_owned();
    let known = ["2.3", "2.4", "2.5"].iter().any(|known| version.starts_with(known));
    if !known {
        let expected = "version 2.3, 2.4 or 2.5 of Recorder's format (recorder2text reads others)".into();
        return Err(SourceError::Malformed { name, place: "VERSION".into(), expected, found: version });
    }
    let folder = Folder { path: path.to_owned(), name: name.clone(), layer: options.layer };
    Ok(Box::new(Fed(name, folder)))
}

#[derive(Debug)]
struct Folder {
    path: PathBuf,
    name: String,
    layer: Option<Layer>,
}

/// What `recorder.mt` says.
struct About {
    ranks: u32,
    tick: f64,
    functions: Vec<String>,
}

impl Feed for Folder {
    fn feed(self, _: Span, intake: &mut Intake<'_>) -> Result<Job, SourceError> {
        let about = self.about()?;
        let mut job = Job { ranks: Some(about.ranks), start: Some(0), complete: true, ..Job::default() };
        let mut calls = Calls::default();
        let mut last_end = 0.0f64;
        // A rank that is missing or damaged does not hide the others.
        for rank in 0..about.ranks {
            match self.rank(rank, &about, &mut calls) {
                Ok(end) => last_end = last_end.max(end),
                Err(problem) => {
                    job.complete = false;
                    if job.warnings.len() < 10 {
                        job.warnings.push(problem.to_string());
                    }
                }
            }
        }
        job.end = Some(nanoseconds(last_end)).filter(|end| *end > 0);
        calls.feed(&self.name, self.layer, "call", &mut job, intake)?;
        Ok(job)
    }
}

impl Folder {
    fn wrong(&self, file: &str, expected: &str, found: impl ToString) -> SourceError {
        SourceError::Malformed {
            name: self.name.clone(),
            place: file.to_owned(),
            expected: expected.to_owned(),
            found: found.to_string(),
        }
    }

    fn about(&self) -> Result<About, SourceError> {
        let file = "recorder.mt";
        let bytes = read(&self.path.join(file))?;
        let mut fields = Fields(&bytes);
        let head = (fields.i32(), fields.skip(4), fields.skip(8), fields.f64());
        let (Some(ranks), Some(()), Some(()), Some(tick)) = head else {
            return Err(self.wrong(
                file,
                "40 bytes and names of functions",
                format!("{} bytes", bytes.len()),
            ));
        };
        let ranks = u32::try_from(ranks).ok().filter(|ranks| (1..=1 << 24).contains(ranks));
        let Some(ranks) = ranks else { return Err(self.wrong(file, "a number of ranks", "another number")) };
        if !(tick > 0.0 && tick < 1.0) {
            return Err(self.wrong(file, "the seconds of a tick", tick));
        }
        let names = String::from_utf8_lossy(bytes.get(HEAD..).unwrap_or_default()).into_owned();
        let functions = names.lines().map(str::to_owned).collect();
        Ok(About { ranks, tick, functions })
    }

    /// The calls of a rank. Returns when the last one ended.
    fn rank(&self, rank: u32, about: &About, calls: &mut Calls) -> Result<f64, SourceError> {
        let file = |ending: &str| format!("{rank}.{ending}");
        let bytes = |ending: &str| read(&self.path.join(file(ending)));
        let (table, rules, times) = (bytes("cst")?, bytes("cfg")?, bytes("ts")?);
        let table =
            kinds(&table, about).ok_or_else(|| self.wrong(&file("cst"), "a table of calls", "damage"))?;
        let rules =
            grammar(&rules).ok_or_else(|| self.wrong(&file("cfg"), "rules of a grammar", "damage"))?;
        let mut walk = Walk { rules: &rules, times: times.chunks_exact(8), begin: 0, last_end: 0, number: 0 };
        let mut visit = |kind: i32, number: u64, start: u64, end: u64| {
            let Some(Some(call)) = table.get(&kind) else { return };
            let (start, end) = (start as f64 * about.tick, end as f64 * about.tick);
            match &call.bytes {
                Ok(bytes) => {
                    let phase = BandwidthPiece {
                        start,
                        end,
                        bandwidth: *bytes as f64 / (end - start),
                        bytes: Some(*bytes),
                        rank: Some(rank),
                        class: call.class,
                    };
                    calls.push(Some(call.layer), number, phase);
                }
                Err(found) => calls.unusable(Some(call.layer), || {
                    format!("rank {rank}, call {number}: expected the bytes of {}, found {found}", call.name)
                }),
            }
        };
        if !walk.rule(-1, 0, &mut visit) {
            return Err(self.wrong(&file("cfg"), "rules that lead to calls", "a cycle, or a missing rule"));
        }
        Ok(walk.last_end as f64 * about.tick)
    }
}

/// A distinct call that moves data.
struct Kind {
    name: String,
    layer: Layer,
    class: crate::request::Class,
    bytes: Result<u64, String>,
}

/// Calls by their numbers; `None` for one that moves no data.
fn kinds(bytes: &[u8], about: &About) -> Option<HashMap<i32, Option<Kind>>> {
    let mut fields = Fields(bytes);
    let count = fields.i32()?;
    let mut table = HashMap::new();
    for _ in 0..count {
        let number = fields.i32()?;
        fields.skip(4)?;
        let length = usize::try_from(fields.i32()?).ok()?;
        fields.skip(4)?;
        let mut key = Fields(fields.take(length)?);
        key.skip(8)?;
        let id = key.u8()?;
        key.skip(2)?;
        let length = usize::try_from(key.i32()?).ok()?;
        let arguments = String::from_utf8_lossy(key.take(length)?).into_owned();
        let name = about.functions.get(usize::from(id));
        let kind = name.and_then(|name| {
            let function = function(name)?;
            let arguments: Vec<&str> = arguments.split_ascii_whitespace().collect();
            let bytes = function.bytes(&arguments);
            Some(Kind { name: name.clone(), layer: function.layer, class: function.class, bytes })
        });
        table.insert(number, kind);
    }
    Some(table)
}

/// Rules by their numbers: symbols and how often each is repeated.
type Grammar = HashMap<i32, Vec<(i32, i32)>>;

fn grammar(bytes: &[u8]) -> Option<Grammar> {
    let mut fields = Fields(bytes);
    let count = fields.i32()?;
    let mut rules = Grammar::new();
    for _ in 0..count {
        let (number, symbols) = (fields.i32()?, fields.i32()?);
        let symbols = (0..symbols).map(|_| Some((fields.i32()?, fields.i32()?))).collect::<Option<_>>()?;
        rules.insert(number, symbols);
    }
    Some(rules)
}

/// Goes through the calls that the rules stand for.
struct Walk<'a> {
    rules: &'a Grammar,
    times: std::slice::ChunksExact<'a, u8>,
    /// When the call before began, in ticks.
    begin: u64,
    last_end: u64,
    number: u64,
}

impl Walk<'_> {
    /// `false` if the rules lead nowhere. Where times end, calls end.
    fn rule(&mut self, rule: i32, depth: usize, visit: &mut dyn FnMut(i32, u64, u64, u64)) -> bool {
        let rules = self.rules;
        let Some(symbols) = rules.get(&rule).filter(|_| depth < MAX_DEPTH) else { return false };
        for (symbol, count) in symbols {
            for _ in 0..*count {
                if self.times.len() == 0 {
                    return true;
                }
                if *symbol < 0 {
                    // A rule without calls would go on for ever.
                    let before = self.number;
                    if !self.rule(*symbol, depth + 1, visit) {
                        return false;
                    }
                    if self.number == before {
                        break;
                    }
                } else if let Some(times) = self.times.next() {
                    let tick = |at: usize| {
                        let bytes: [u8; 4] = times[at..at + 4].try_into().unwrap_or_default();
                        u64::from(u32::from_le_bytes(bytes))
                    };
                    let (start, end) = (self.begin + tick(0), self.begin + tick(4));
                    self.number += 1;
                    (self.begin, self.last_end) = (start, self.last_end.max(end));
                    visit(*symbol, self.number, start, end);
                }
            }
        }
        true
    }
}

fn read(path: &Path) -> Result<Vec<u8>, SourceError> {
    std::fs::read(path).map_err(|source| SourceError::Io { name: path.display().to_string(), source })
}

/// Numbers one after the other.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(bytes)
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.take(length).map(|_| ())
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|bytes| bytes[0])
    }

    fn i32(&mut self) -> Option<i32> {
        self.take(4).and_then(|bytes| bytes.try_into().ok()).map(i32::from_le_bytes)
    }

    fn f64(&mut self) -> Option<f64> {
        self.take(8).and_then(|bytes| bytes.try_into().ok()).map(f64::from_le_bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Request;
    use proptest::prelude::*;

    fn words(numbers: &[i32]) -> Vec<u8> {
        numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
    }

    fn key(function: u8, arguments: &str) -> Vec<u8> {
        let mut key = vec![0; 8];
        key.extend([function, 0, 3]);
        key.extend((arguments.len() as i32).to_le_bytes());
        key.extend(arguments.as_bytes());
        key
    }

    /// Rank 0 writes 100 bytes twice, then 7, and this five times; ticks are milliseconds.
    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| std::fs::write(dir.path().join(name), bytes).unwrap();
        let mut about = words(&[1, 0]);
        about.extend(1.7e9f64.to_le_bytes());
        about.extend(1e-3f64.to_le_bytes());
        about.extend([0; 16]);
        about.extend(b"open\nwrite\nclose\n");
        write("VERSION", b"2.5.0");
        write("recorder.mt", &about);
        let mut table = words(&[3]);
        for (number, key) in
            [key(1, "/a %p 100 "), key(1, "/a %p 7 "), key(0, "/a 66 420 ")].iter().enumerate()
        {
            table.extend(words(&[number as i32, 0, key.len() as i32, 1]));
            table.extend(key);
        }
        write("0.cst", &table);
        // −1: open, then five times −2; −2: twice the first, then the second.
        write("0.cfg", &words(&[2, -1, 2, 2, 1, -2, 5, -2, 2, 0, 2, 1, 1]));
        write(
            "0.ts",
            &words(&[1000, 1001]).into_iter().chain(words(&[10, 15].repeat(15))).collect::<Vec<u8>>(),
        );
        dir
    }

    fn requests(path: &Path) -> Result<(Vec<Request>, Job), SourceError> {
        let mut requests = Vec::new();
        let job = open(path, &OpenOptions::default())?
            .read(Span::Actual, &mut |batch| requests.extend_from_slice(batch))?;
        Ok((requests, job))
    }

    #[test]
    fn a_grammar_becomes_calls() {
        let dir = folder();
        assert!(is_folder(dir.path()));
        let (requests, job) = requests(dir.path()).unwrap();
        let bytes: Vec<u64> = requests.iter().map(|request| request.bytes).collect();
        assert_eq!(bytes, [100, 100, 7].repeat(5));
        let ms = 1_000_000;
        assert_eq!((requests[0].start, requests[0].end), (1010 * ms, 1015 * ms));
        assert_eq!((requests[14].start, job.end), (1150 * ms, Some(1155 * ms)));
        assert_eq!((job.ranks, job.complete, job.warnings.len()), (Some(1), true, 0));
    }

    #[test]
    fn what_is_missing_is_named() {
        let dir = folder();
        std::fs::remove_file(dir.path().join("0.ts")).unwrap();
        let problem = requests(dir.path()).unwrap_err().to_string();
        assert!(problem.contains("found none"), "{problem}");
        std::fs::write(dir.path().join("VERSION"), "3.0").unwrap();
        assert!(requests(dir.path()).unwrap_err().to_string().contains("VERSION: expected version 2.3"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn damage_is_survived(file in 0usize..4, at in any::<prop::sample::Index>(), value in any::<u8>()) {
            let dir = folder();
            let path = dir.path().join(["recorder.mt", "0.cst", "0.cfg", "0.ts"][file]);
            let mut bytes = std::fs::read(&path).unwrap();
            let at = at.index(bytes.len());
            bytes[at] = value;
            std::fs::write(&path, bytes).unwrap();
            let _ = requests(dir.path());
        }
    }
}
