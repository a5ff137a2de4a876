//! The `TMIO_*` options: one table makes parser, dump and documentation.

use crate::message::{self, Level};
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;
use std::time::Duration;
use tmio_trace::tmio;

/// When blocks leave memory before they are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flush {
    /// Only when they are full, and in `MPI_Finalize`.
    Finalize,
    /// Also this often, by a thread of tmio's own.
    Interval(Duration),
    /// Also whenever a file is closed.
    Close,
}

/// Which clock stamps operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockChoice {
    /// The time stamp counter where the kernel itself uses it, else `CLOCK_MONOTONIC`.
    Auto,
    /// `CLOCK_MONOTONIC`.
    Monotonic,
}

/// Format of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The format of `docs/trace-format.md`.
    Msgpack,
    /// One of the C++ TMIO's, into which rank 0 turns the trace at the end.
    Tmio(tmio::Format),
}

impl Format {
    /// Ending of the default output's name.
    pub fn ending(self) -> &'static str {
        match self {
            Format::Msgpack | Format::Tmio(tmio::Format::Msgpack) => "msgpack",
            Format::Tmio(tmio::Format::Jsonl) => "jsonl",
            Format::Tmio(tmio::Format::Json) => "json",
        }
    }
}

/// All options, with their defaults filled in.
#[derive(Clone, Debug)]
pub struct Options {
    /// Path pattern of the trace; `None`: the default pattern.
    pub output: Option<OsString>,
    /// Format of the trace.
    pub format: Format,
    /// When blocks leave memory.
    pub flush: Flush,
    /// Memory per rank for records, bytes.
    pub buffer: usize,
    /// Directory for the current blocks; `None`: `/dev/shm`, else `$TMPDIR`, else `/tmp`.
    pub spool: Option<PathBuf>,
    /// Ranks to record; empty: all.
    pub ranks: Vec<(u32, u32)>,
    /// Patterns of files to record; empty: all.
    pub files: Vec<String>,
    /// Do nothing at all.
    pub disable: bool,
    /// How much to say.
    pub log: Level,
    /// Show the options at start.
    pub dump_config: bool,
    /// Which clock.
    pub clock: ClockChoice,
    /// How long a record stays in memory; zero: until its block is full.
    pub max_age: Duration,
    /// How long other ranks or the file system may take in `MPI_Finalize`.
    pub finalize_timeout: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            output: None,
            format: Format::Msgpack,
            flush: Flush::Finalize,
            buffer: 4 << 20,
            spool: None,
            ranks: Vec::new(),
            files: Vec::new(),
            disable: false,
            log: Level::Warn,
            dump_config: false,
            clock: ClockChoice::Auto,
            max_age: Duration::from_secs(60),
            finalize_timeout: Duration::from_secs(30),
        }
    }
}

/// Default of `TMIO_OUTPUT`; the ending is that of the format.
pub const DEFAULT_OUTPUT: &str = "tmio_%j_%n.msgpack";

/// One option: its name (`TMIO_` before it in the environment, as it is in a file), its default
/// for people, what it means, and how its text is understood.
struct Entry {
    name: &'static str,
    default: &'static str,
    help: &'static str,
    set: fn(&mut Options, &str) -> Result<(), &'static str>,
}

const TABLE: &[Entry] = &[
    Entry {
        name: "OUTPUT",
        default: DEFAULT_OUTPUT,
        help: "path of the trace: %j job id and step (else rank 0's pid), %n ranks, %h host, %p pid, %e executable, %t start time, %u user, %Y %m %d date (UTC), %% a percent sign; all of rank 0; directories whose names have such letters are made",
        set: |o, text| {
            o.output = Some(text.into());
            if text.is_empty() { Err("a path") } else { Ok(()) }
        },
    },
    Entry {
        name: "FORMAT",
        default: "msgpack",
        help: "format of the trace: msgpack, or one of the C++ TMIO's for the Python FTIO: tmio-msgpack, tmio-jsonl, tmio-json (rank 0 converts at the end of MPI_Finalize)",
        set: |o, text| {
            o.format = match (text, tmio::Format::from_name(text)) {
                ("msgpack", _) => Format::Msgpack,
                (_, Some(format)) => Format::Tmio(format),
                _ => return Err("msgpack, tmio-msgpack, tmio-jsonl or tmio-json"),
            };
            Ok(())
        },
    },
    Entry {
        name: "FLUSH",
        default: "finalize",
        help: "when blocks are written: finalize, interval:SECONDS, close (whenever a file is closed)",
        set: |o, text| {
            const FORMS: &str = "finalize, close, or interval:SECONDS with 0.01 or more";
            o.flush = match text {
                "finalize" => Flush::Finalize,
                "close" => Flush::Close,
                _ => {
                    let seconds = text.strip_prefix("interval:").and_then(|s| s.parse::<f64>().ok());
                    match seconds.filter(|s| (0.01..=1e6).contains(s)) {
                        Some(seconds) => Flush::Interval(Duration::from_secs_f64(seconds)),
                        None => return Err(FORMS),
                    }
                }
            };
            Ok(())
        },
    },
    Entry {
        name: "BUFFER",
        default: "4M",
        help: "memory per rank for records (K, M or G may follow); full blocks are written out",
        set: |o, text| {
            o.buffer = size(text).filter(|&n| n >= 64 << 10).ok_or("a size of 64K or more")?;
            Ok(())
        },
    },
    Entry {
        name: "SPOOL",
        default: "/dev/shm, else $TMPDIR, else /tmp",
        help: "directory where the current block of each rank lives until it is written",
        set: |o, text| {
            o.spool = Some(PathBuf::from(text));
            if text.starts_with('/') { Ok(()) } else { Err("an absolute path") }
        },
    },
    Entry {
        name: "RANKS",
        default: "all",
        help: "record only these ranks, e.g. 0,4-7",
        set: |o, text| {
            o.ranks = if text == "all" { Vec::new() } else { ranges(text).ok_or("ranks like 0,4-7")? };
            Ok(())
        },
    },
    Entry {
        name: "FILES",
        default: "all",
        help: "record only files whose path matches one of these patterns (* and ?, separated by commas)",
        set: |o, text| {
            o.files = if text == "all" { Vec::new() } else { text.split(',').map(str::to_owned).collect() };
            Ok(())
        },
    },
    Entry {
        name: "DISABLE",
        default: "0",
        help: "1: do nothing",
        set: |o, text| {
            o.disable = boolean(text)?;
            Ok(())
        },
    },
    Entry {
        name: "LOG",
        default: "warn",
        help: "what is said on stderr: silent, warn, info, debug",
        set: |o, text| {
            o.log = match text {
                "silent" => Level::Silent,
                "warn" => Level::Warn,
                "info" => Level::Info,
                "debug" => Level::Debug,
                _ => return Err("silent, warn, info or debug"),
            };
            Ok(())
        },
    },
    Entry {
        name: "DUMP_CONFIG",
        default: "0",
        help: "1: rank 0 prints all options and their values at start",
        set: |o, text| {
            o.dump_config = boolean(text)?;
            Ok(())
        },
    },
    Entry {
        name: "MAX_AGE",
        default: "60",
        help: "seconds after which a record leaves the node, so that a killed job can be read without its nodes; 0: when its block is full (one thread per rank that does I/O wakes up this often)",
        set: |o, text| {
            let seconds = text.parse().ok().filter(|s| *s == 0.0 || (1.0..=1e6).contains(s));
            o.max_age = Duration::from_secs_f64(seconds.ok_or("0, or seconds from 1 on")?);
            Ok(())
        },
    },
    Entry {
        name: "FINALIZE_TIMEOUT",
        default: "30",
        help: "seconds that other ranks or the file system may take in MPI_Finalize; past them the job ends, and the parts of the trace stay",
        set: |o, text| {
            let seconds = text.parse().ok().filter(|s| (0.1..=1e6).contains(s));
            o.finalize_timeout = Duration::from_secs_f64(seconds.ok_or("seconds from 0.1 on")?);
            Ok(())
        },
    },
    Entry {
        name: "CLOCK",
        default: "auto",
        help: "auto: the time stamp counter where the kernel itself uses it; monotonic: always CLOCK_MONOTONIC",
        set: |o, text| {
            o.clock = match text {
                "auto" => ClockChoice::Auto,
                "monotonic" => ClockChoice::Monotonic,
                _ => return Err("auto or monotonic"),
            };
            Ok(())
        },
    },
];

/// The options, and what has to be said about them.
#[derive(Debug)]
pub struct Parsed {
    /// Options with every text that was understood.
    pub options: Options,
    /// The first text that was not understood, if any: tracing stays off then.
    pub problem: Option<String>,
    /// What was set, and by whom.
    pub sources: Sources,
}

/// The text of every option that was set, and where it was.
#[derive(Debug, Default)]
pub struct Sources(Vec<(&'static str, String, String)>);

impl Sources {
    fn set(&mut self, name: &'static str, text: &str, by: String) {
        self.0.push((name, text.to_owned(), by));
    }
}

/// Reads the options from the environment; `TMIO_CONFIG` may name a file of `name = value` lines
/// that the environment overrides.
pub fn from_environment() -> Parsed {
    // The environment is that of a user with fewer rights than the program has.
    // SAFETY: the call has no premises.
    if unsafe { libc::getauxval(libc::AT_SECURE) } != 0 {
        let options = Options { disable: true, ..Options::default() };
        return Parsed { options, problem: None, sources: Sources::default() };
    }
    let text = |name: &str| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned());
    let file = text("TMIO_CONFIG").filter(|path| !path.is_empty());
    let mut parsed = parse(&|name| text(&format!("TMIO_{name}")), file.as_deref());
    // A path is bytes, not text.
    if let Some(raw) = std::env::var_os("TMIO_OUTPUT").filter(|raw| raw.to_str().is_none()) {
        parsed.options.output = Some(raw);
    }
    parsed
}

/// No file of options is longer.
const LONGEST_FILE: u64 = 1 << 20;

/// Reads a regular file: what is not one may never end, or make us wait.
fn read_file(path: &str) -> io::Result<String> {
    let flags = libc::O_NONBLOCK | libc::O_NOCTTY | libc::O_CLOEXEC;
    let file = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("not a regular file"));
    }
    let mut text = String::new();
    if file.take(LONGEST_FILE + 1).read_to_string(&mut text)? as u64 > LONGEST_FILE {
        return Err(io::Error::other("longer than 1 MiB"));
    }
    Ok(text)
}

fn parse(environment: &dyn Fn(&str) -> Option<String>, config: Option<&str>) -> Parsed {
    let mut options = Options::default();
    let mut problem = None;
    let mut sources = Sources::default();
    if let Some(path) = config {
        match read_file(path) {
            Ok(text) => problem = apply_file(&mut options, &mut sources, path, &text).err(),
            Err(error) => {
                problem = Some(format!("cannot read TMIO_CONFIG={path}: {}", message::plain(&error)))
            }
        }
    }
    for entry in TABLE {
        let Some(text) = environment(entry.name) else { continue };
        sources.set(entry.name, text.trim(), String::new());
        if let Err(expected) = (entry.set)(&mut options, text.trim()) {
            problem.get_or_insert_with(|| format!("TMIO_{}={text}: expected {expected}", entry.name));
        }
    }
    Parsed { options, problem, sources }
}

fn apply_file(options: &mut Options, sources: &mut Sources, path: &str, text: &str) -> Result<(), String> {
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.split('#').next().unwrap_or_default().trim();
        if line.is_empty() {
            continue;
        }
        let (name, value) = line
            .split_once('=')
            .ok_or_else(|| format!("{path}:{number}: expected name = value, found '{line}'"))?;
        let wanted = name.trim().to_ascii_uppercase();
        let wanted = wanted.strip_prefix("TMIO_").unwrap_or(&wanted);
        let entry = TABLE
            .iter()
            .find(|entry| entry.name == wanted)
            .ok_or_else(|| format!("{path}:{number}: there is no option '{}'", name.trim()))?;
        let value = value.trim().trim_matches('"');
        (entry.set)(options, value)
            .map_err(|expected| format!("{path}:{number}: expected {expected}, found '{value}'"))?;
        sources.set(entry.name, value, format!(" ({path}:{number})"));
    }
    Ok(())
}

/// All options with their values, one a line, for `TMIO_DUMP_CONFIG`.
pub fn dump(sources: &Sources) -> String {
    let mut text = String::from("options\n");
    for entry in TABLE {
        // What was set last counts.
        match sources.0.iter().rev().find(|(name, ..)| *name == entry.name) {
            Some((name, value, by)) => _ = writeln!(text, "  TMIO_{name} = {value}{by}"),
            None => _ = writeln!(text, "  TMIO_{} = {} (default)", entry.name, entry.default),
        }
    }
    text.truncate(text.trim_end().len());
    text
}

/// The options as a Markdown table, as it stands in `docs/options.md`.
pub fn markdown() -> String {
    let mut text = String::from("| name | default | meaning |\n|---|---|---|\n");
    for entry in TABLE {
        _ = writeln!(text, "| `TMIO_{}` | `{}` | {} |", entry.name, entry.default, entry.help);
    }
    text.push_str("| `TMIO_CONFIG` | | file of `name = value` lines (names as above, without `TMIO_`); the environment overrides it |\n");
    text
}

/// Whether `path` matches one of the patterns; with none, everything does.
pub fn wants_file(patterns: &[String], path: &str) -> bool {
    patterns.is_empty() || patterns.iter().any(|pattern| matches(pattern.as_bytes(), path.as_bytes()))
}

/// Whether `rank` is in one of the ranges; with none, every rank is.
pub fn wants_rank(ranges: &[(u32, u32)], rank: u32) -> bool {
    ranges.is_empty() || ranges.iter().any(|&(low, high)| (low..=high).contains(&rank))
}

/// Shell pattern with `*` (anything) and `?` (one byte), in linear space and no recursion.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p, t));
                p += 1;
            }
            Some(&byte) if byte == b'?' || text.get(t) == Some(&byte) => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((star, from)) => {
                    retry = Some((star, from + 1));
                    p = star + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|&byte| byte == b'*'))
}

fn size(text: &str) -> Option<usize> {
    let (digits, unit) = match text.as_bytes().last()?.to_ascii_uppercase() {
        b'K' => (text.get(..text.len() - 1)?, 1usize << 10),
        b'M' => (text.get(..text.len() - 1)?, 1 << 20),
        b'G' => (text.get(..text.len() - 1)?, 1 << 30),
        _ => (text, 1),
    };
    digits.trim().parse::<usize>().ok()?.checked_mul(unit)
}

fn ranges(text: &str) -> Option<Vec<(u32, u32)>> {
    text.split(',')
        .map(|part| {
            let (low, high) = part.split_once('-').unwrap_or((part, part));
            let (low, high) = (low.trim().parse().ok()?, high.trim().parse().ok()?);
            (low <= high).then_some((low, high))
        })
        .collect()
}

fn boolean(text: &str) -> Result<bool, &'static str> {
    match text.to_ascii_lowercase().as_str() {
        "" | "0" | "no" | "off" | "false" => Ok(false),
        "1" | "yes" | "on" | "true" => Ok(true),
        _ => Err("0 or 1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(pairs: &[(&str, &str)]) -> Parsed {
        let pairs: Vec<(String, String)> =
            pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        parse(&|name| pairs.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone()), None)
    }

    #[test]
    fn texts_are_understood() {
        let parsed = with(&[
            ("BUFFER", "512k"),
            ("FLUSH", "interval:2.5"),
            ("RANKS", "0,4-7"),
            ("FILES", "*.h5,/scratch/?.dat"),
            ("DISABLE", "yes"),
        ]);
        assert_eq!(parsed.problem, None);
        let options = parsed.options;
        assert_eq!(options.buffer, 512 << 10);
        assert_eq!(options.flush, Flush::Interval(Duration::from_millis(2500)));
        assert!(wants_rank(&options.ranks, 5) && !wants_rank(&options.ranks, 3));
        assert!(wants_file(&options.files, "/a/b.h5") && wants_file(&options.files, "/scratch/x.dat"));
        assert!(!wants_file(&options.files, "/scratch/xy.dat"));
        assert!(options.disable);
    }

    #[test]
    fn a_bad_text_names_the_option_and_what_was_expected() {
        for (name, text) in [
            ("BUFFER", "lots"),
            ("BUFFER", "1"),
            ("FLUSH", "interval:-1"),
            ("RANKS", "7-4"),
            ("LOG", "loud"),
            ("SPOOL", "relative"),
            ("FORMAT", "xml"),
            ("FINALIZE_TIMEOUT", "-1"),
        ] {
            let problem = with(&[(name, text)]).problem.unwrap();
            assert!(problem.starts_with(&format!("TMIO_{name}={text}: expected ")), "{problem}");
        }
    }

    #[test]
    fn the_dump_shows_what_counts_and_who_set_it() {
        let path = std::env::temp_dir().join(format!("tmio-options-{}", std::process::id()));
        std::fs::write(&path, "flush = close\nbuffer = 1M\n").unwrap();
        let path = path.to_str().unwrap();
        let parsed = parse(&|name| (name == "BUFFER").then(|| "2M".to_owned()), Some(path));
        std::fs::remove_file(path).unwrap();
        let dump = dump(&parsed.sources);
        assert!(dump.contains(&format!("  TMIO_FLUSH = close ({path}:1)\n")), "{dump}");
        assert!(dump.contains("  TMIO_BUFFER = 2M\n"), "{dump}");
        assert!(dump.contains("  TMIO_LOG = warn (default)\n"), "{dump}");
    }

    #[test]
    fn a_file_is_read_line_by_line() {
        let mut options = Options::default();
        apply_file(
            &mut options,
            &mut Sources::default(),
            "f",
            "# comment\nbuffer = 1M\nTMIO_LOG = \"info\" # why not\n\n",
        )
        .unwrap();
        assert_eq!((options.buffer, options.log), (1 << 20, Level::Info));
        assert_eq!(
            apply_file(&mut options, &mut Sources::default(), "f", "\nbuffer 1M").unwrap_err(),
            "f:2: expected name = value, found 'buffer 1M'"
        );
        assert_eq!(
            apply_file(&mut options, &mut Sources::default(), "f", "bufer = 1M").unwrap_err(),
            "f:1: there is no option 'bufer'"
        );
    }

    #[test]
    fn patterns_match_like_a_shell_without_backtracking_explosion() {
        let hit = |p: &str, t: &str| matches(p.as_bytes(), t.as_bytes());
        assert!(hit("*", "") && hit("a*c", "abbc") && hit("a*b*c", "axbxbc") && hit("??", "ab"));
        assert!(!hit("a*c", "ab") && !hit("", "a") && !hit("?", ""));
        assert!(!hit(&"a*".repeat(40), &("a".repeat(60) + "b")[..39]));
    }

    #[test]
    fn documentation_lists_every_option() {
        let documented = include_str!("../../docs/options.md");
        for line in markdown().lines() {
            assert!(documented.contains(line), "docs/options.md lacks: {line}");
        }
    }
}
