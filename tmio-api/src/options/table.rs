//! The table of options.

use super::{ClockChoice, Flush, Format, Layers, Options};
use crate::process::message::Level;
use std::fmt::Write as _;
use std::path::PathBuf;
use std::time::Duration;
use tmio_spool::pattern::DEFAULT_EXCLUDED;
use tmio_trace::tmio;
use turns::{FORM, IoSets};

/// Default of `TMIO_OUTPUT`; the ending is that of the format.
pub const DEFAULT_OUTPUT: &str = "tmio_%j_%n.msgpack";

/// One option: its name (`TMIO_` before it in the environment, as it is in a file), its default
/// for people, what it means, and how its text is understood.
pub(super) struct Entry {
    pub(super) name: &'static str,
    pub(super) default: &'static str,
    pub(super) help: &'static str,
    pub(super) set: fn(&mut Options, &str) -> Result<(), &'static str>,
}

/// What users may set, unless the site has locked it.
pub(super) const TABLE: &[Entry] = &[
    Entry {
        name: "OUTPUT",
        default: DEFAULT_OUTPUT,
        help: "path of the trace: %j job id and step (else rank 0's pid), %n ranks, %h host, %p pid, %e \
               executable, %t start time, %u user, %Y %m %d date (UTC), %% a percent sign; all of rank 0; \
               directories named by such letters are created",
        set: |o, text| {
            o.output = Some(text.into());
            if text.is_empty() { Err("a path") } else { Ok(()) }
        },
    },
    Entry {
        name: "FORMAT",
        default: "msgpack",
        help: "format of the trace: msgpack, or one of the C++ TMIO's for the Python FTIO: tmio-msgpack, \
               tmio-jsonl, tmio-json (rank 0 converts at the end of MPI_Finalize)",
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
        name: "EXCLUDE_FILES",
        default: "none",
        help: "do not record files whose path matches one of these patterns; the site's and the user's \
               patterns both apply",
        set: |o, text| {
            exclude(&mut o.exclude_files, text);
            Ok(())
        },
    },
    Entry {
        name: "EXCLUDE_PATHS",
        default: DEFAULT_EXCLUDED,
        help: "files that the layers posix and stdio leave out by default: patterns of paths that are used \
               instead of these; none: nothing is left out (TMIO_EXCLUDE_FILES and TMIO_FILES hold for all \
               layers)",
        set: |o, text| {
            let mut patterns = Vec::new();
            exclude(&mut patterns, text);
            o.exclude_paths = (text != DEFAULT_EXCLUDED).then_some(patterns);
            Ok(())
        },
    },
    Entry {
        name: "LAYERS",
        default: "mpiio,posix,stdio",
        help: "what is recorded: mpiio, posix, stdio (separated by commas), each call at one of them; if it \
               is set in the environment and has posix or stdio, also programs without MPI are traced, and \
               what MPI programs do before MPI_Init",
        set: |o, text| {
            let mut layers = Layers { mpiio: false, posix: false, stdio: false };
            for name in list(text) {
                match name.as_str() {
                    "mpiio" => layers.mpiio = true,
                    "posix" => layers.posix = true,
                    "stdio" => layers.stdio = true,
                    _ => return Err("mpiio, posix, stdio or several of them"),
                }
            }
            o.layers = layers;
            Ok(())
        },
    },
    Entry {
        name: "MIN_BYTES",
        default: "1M",
        help: "a process without MPI that moves fewer bytes (K, M or G may follow) in less than a second \
               leaves no trace",
        set: |o, text| {
            o.min_bytes = size(text).ok_or("a size")? as u64;
            Ok(())
        },
    },
    Entry {
        name: "EXCLUDE_PROGRAMS",
        default: "none",
        help: "do not trace programs whose path (file name, if the pattern has no slash) matches one of \
               these patterns; the site's and the user's patterns both apply",
        set: |o, text| {
            exclude(&mut o.exclude_programs, text);
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
        name: "ENABLE",
        default: "0",
        help: "1: opt in, where the site traces only users who do (so does a file ~/.tmio_enable; \
               ~/.tmio_disable opts out)",
        set: |o, text| {
            o.enable = boolean(text)?;
            Ok(())
        },
    },
    Entry {
        name: "MODE",
        default: "0600",
        help: "mode of the trace file, in octal: 0400, 0440, 0600, 0640 or 0660; nobody but the owner and \
               the group ever gets access",
        set: |o, text| {
            o.mode = match text.trim_start_matches('0') {
                "400" => 0o400,
                "440" => 0o440,
                "600" => 0o600,
                "640" => 0o640,
                "660" => 0o660,
                _ => return Err("0400, 0440, 0600, 0640 or 0660"),
            };
            Ok(())
        },
    },
    Entry {
        name: "MAX_BYTES",
        default: "0",
        help: "size of the trace (K, M or G may follow) beyond which it gets coarser: operations of one \
               kind, file and thread become one record per second, then per minute; 0: never",
        set: |o, text| {
            let bytes = size(text).filter(|&bytes| bytes == 0 || bytes >= 64 << 10);
            o.max_bytes = bytes.ok_or("0, or a size of 64K or more")? as u64;
            Ok(())
        },
    },
    Entry {
        name: "LOG",
        default: "warn",
        help: "what is printed on stderr: silent, warn, info, debug",
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
        help: "seconds after which a record leaves the node, so that a killed job can be read without its \
               nodes; 0: when its block is full (the helper of the node wakes up this often)",
        set: |o, text| {
            let seconds = text.parse().ok().filter(|s| *s == 0.0 || (1.0..=1e6).contains(s));
            o.max_age = Duration::from_secs_f64(seconds.ok_or("0, or at least 1 second")?);
            Ok(())
        },
    },
    Entry {
        name: "FINALIZE_TIMEOUT",
        default: "30",
        help: "seconds that MPI_Finalize waits for other ranks or the file system, and the end of a process \
               without MPI for the helper; after that the job ends, and the parts of the trace stay",
        set: |o, text| {
            let seconds = text.parse().ok().filter(|s| (0.1..=1e6).contains(s));
            o.finalize_timeout = Duration::from_secs_f64(seconds.ok_or("at least 0.1 seconds")?);
            Ok(())
        },
    },
    Entry {
        name: "IOSETS",
        default: "off",
        help: "take turns at I/O with other jobs: the address of an `ftio arbiter` (unix:PATH, tcp:HOST:PORT, \
               dir:PATH), then perhaps ,grace=MS (silence after which the turn is given back, 5) \
               ,patience=SECONDS (longest wait, 900) ,secret=FILE ,mount=PATH (only files below it)",
        set: |o, text| {
            o.iosets = match text {
                "" | "off" => None,
                _ => Some(IoSets::parse(text).ok_or(FORM)?),
            };
            Ok(())
        },
    },
    Entry {
        name: "CLOCK",
        default: "auto",
        help: "auto: the time stamp counter where the kernel itself uses it; monotonic: always \
               CLOCK_MONOTONIC",
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

/// What only the site may set, in its own file.
pub(super) const SITE: &[Entry] = &[
    Entry {
        name: "USERS",
        default: "all",
        help: "who is traced, separated by commas: names or numbers of users, @ before groups, ! before \
               those who are not traced",
        set: |o, text| {
            o.users = if text == "all" { Vec::new() } else { list(text).collect() };
            if o.users.iter().any(|user| user.trim_start_matches(['!', '@']).is_empty()) {
                return Err("all, or names like alice, @group, !bob, !@group");
            }
            Ok(())
        },
    },
    Entry {
        name: "OPT_IN",
        default: "0",
        help: "1: trace only users who opt in, by TMIO_ENABLE=1 or a file ~/.tmio_enable",
        set: |o, text| {
            o.opt_in = boolean(text)?;
            Ok(())
        },
    },
];

/// The options as a Markdown table, as it stands in `docs/options.md`.
pub fn markdown() -> String {
    let mut text = String::from("| name | default | meaning |\n|---|---|---|\n");
    for entry in TABLE {
        _ = writeln!(text, "| `TMIO_{}` | `{}` | {} |", entry.name, entry.default, entry.help);
    }
    text.push_str(
        "| `TMIO_CONFIG` | | file of `name = value` lines (names as above, without `TMIO_`); the environment \
         overrides it |\n",
    );
    text
}

/// What only the site may set, as it stands in `docs/site.md`.
pub fn site_markdown() -> String {
    let mut text = String::from("| name | default | meaning |\n|---|---|---|\n");
    for entry in SITE {
        _ = writeln!(text, "| `{}` | `{}` | {} |", entry.name, entry.default, entry.help);
    }
    text
}

/// The entries of a list.
fn list(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(str::to_owned)
}

fn exclude(patterns: &mut Vec<String>, text: &str) {
    if text != "none" {
        patterns.extend(list(text));
    }
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

    #[test]
    fn documentation_lists_every_option() {
        let documented = include_str!("../../../docs/options.md");
        for line in markdown().lines() {
            assert!(documented.contains(line), "docs/options.md lacks: {line}");
        }
    }

    #[test]
    fn documentation_lists_what_a_site_may_set() {
        let documented = include_str!("../../../docs/site.md");
        for line in site_markdown().lines() {
            assert!(documented.contains(line), "docs/site.md lacks: {line}");
        }
    }
}
