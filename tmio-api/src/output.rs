//! Where the trace goes: the pattern of `TMIO_OUTPUT`, and what is there already.

use crate::options::{DEFAULT_OUTPUT, Format};
use crate::{clock, message, system};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tmio_trace::RankInfo;
use tmio_trace::frame::{FrameKind, FrameReader};
use tmio_trace::reader::{is_trace_start, parts_path};
use tmio_trace::tmio;

/// What stands behind the letters of a pattern.
#[derive(Debug)]
pub(crate) struct Values {
    pub(crate) job: String,
    pub(crate) ranks: u32,
    pub(crate) host: String,
    pub(crate) format: Format,
}

fn expand(pattern: &str, values: &Values) -> Result<String, String> {
    let mut path = String::new();
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        if letter != '%' {
            path.push(letter);
            continue;
        }
        match letters.next() {
            Some('j') => path.push_str(&values.job),
            Some('n') => path.push_str(&values.ranks.to_string()),
            Some('h') => path.push_str(&values.host),
            Some('p') => path.push_str(&std::process::id().to_string()),
            Some('e') => {
                let executable = system::executable();
                path.push_str(&executable.file_name().unwrap_or_default().to_string_lossy());
            }
            Some('t') => path.push_str(&(clock::realtime() / 1_000_000_000).to_string()),
            Some('%') => path.push('%'),
            other => {
                let found = other.map(String::from).unwrap_or_default();
                return Err(format!(
                    "TMIO_OUTPUT={pattern}: expected %j, %n, %h, %p, %e, %t or %%, found '%{found}'"
                ));
            }
        }
    }
    Ok(path)
}

/// Rank 0: decides where the trace goes and makes the directory of its parts.
pub(crate) fn prepare(pattern: Option<&str>, values: &Values) -> Result<PathBuf, String> {
    let default = DEFAULT_OUTPUT.replace("msgpack", values.format.ending());
    let expanded = expand(pattern.unwrap_or(&default), values)?;
    let here = std::env::current_dir()
        .map_err(|error| format!("the current directory: {}", message::plain(&error)))?;
    let wanted = here.join(expanded);
    if wanted.is_dir() {
        return Err(format!("{} is a directory", wanted.display()));
    }
    // A path that the user gave is replaced, unless another job is writing it right now. One that
    // was made up is never: two runs in one batch job both keep theirs.
    let mut output = wanted.clone();
    for number in 2..10_000 {
        let parts = parts_path(&output);
        let taken = if pattern.is_some() { is_live(&parts) } else { output.exists() || parts.exists() };
        if !taken {
            clear(&output, &parts, values.format)?;
            match fs::create_dir(&parts) {
                Ok(()) => {
                    if pattern.is_some() && output != wanted {
                        let (wanted, output) = (wanted.display(), output.display());
                        message::warn(format_args!(
                            "{wanted} is being written by another job; this trace is {output}"
                        ));
                    }
                    return Ok(output);
                }
                // Another job was faster.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(format!("cannot create {}: {}", parts.display(), message::plain(&error)));
                }
            }
        }
        output = with_number(&wanted, number);
    }
    Err(format!("{}: there are too many traces of that name", wanted.display()))
}

/// `a/trace.msgpack` → `a/trace-2.msgpack`
fn with_number(path: &Path, number: u32) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}-{number}.{}", extension.to_string_lossy()),
        None => format!("{stem}-{number}"),
    };
    path.with_file_name(name)
}

/// Takes away an earlier trace of that name; anything else of that name is left alone.
fn clear(output: &Path, parts: &Path, format: Format) -> Result<(), String> {
    if output.exists() {
        if !begins_like_a_trace(output, format) {
            return Err(format!("{} exists and is not a tmio trace", output.display()));
        }
        fs::remove_file(output)
            .map_err(|error| format!("cannot replace {}: {}", output.display(), message::plain(&error)))?;
    }
    if parts.exists() {
        remove_parts(parts);
    }
    Ok(())
}

/// Whether a file is empty, a trace of ours, or what such a trace was turned into.
fn begins_like_a_trace(path: &Path, format: Format) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    let converted = matches!(format, Format::Tmio(wanted) if tmio::detect(&start) == Some(wanted));
    read.is_ok() && (start.is_empty() || is_trace_start(&start) || converted)
}

/// Takes away the parts of a trace, and nothing else that may lie there.
pub(crate) fn remove_parts(parts: &Path) {
    let Ok(entries) = fs::read_dir(parts) else { return };
    for entry in entries.flatten() {
        if begins_like_a_trace(&entry.path(), Format::Msgpack) {
            let _ = fs::remove_file(entry.path());
        }
    }
    let _ = fs::remove_dir(parts);
}

/// Whether a job that writes to these parts is still there, as far as can be seen from here: its
/// process, if it ran under this kernel, or else that something was written lately.
fn is_live(parts: &Path) -> bool {
    let recently = |path: &Path, seconds| {
        let modified = fs::metadata(path).and_then(|meta| meta.modified()).ok();
        modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age < Duration::from_secs(seconds))
    };
    let Ok(entries) = fs::read_dir(parts) else { return false };
    let files: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    if files.is_empty() {
        // Made by a job that has not come to write to it yet?
        return recently(parts, 10);
    }
    let boot_id = system::boot_id();
    files.iter().any(|file| {
        first_ranks(file).iter().any(|rank| match rank.boot_id == boot_id {
            true => (rank.spool.is_empty() || Path::new(&rank.spool).exists()) && process_exists(rank.pid),
            false => recently(file, 3600),
        })
    })
}

/// The ranks that a part begins with; it may be long, so no more is read than needed.
fn first_ranks(part: &Path) -> Vec<RankInfo> {
    let mut ranks = Vec::new();
    let Ok(file) = File::open(part) else { return ranks };
    let mut frames = FrameReader::new(file);
    while let Ok(Some(frame)) = frames.next_frame() {
        match frame.kind {
            Some(FrameKind::Rank) => ranks.extend(RankInfo::parse(frame.body)),
            Some(FrameKind::Header) => {}
            _ => break,
        }
    }
    ranks
}

fn process_exists(pid: u32) -> bool {
    // SAFETY: signal 0 is never delivered; the call only checks the id.
    unsafe { libc::kill(pid as libc::pid_t, 0) == 0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        Values { job: "77.1".into(), ranks: 4, host: "n01".into(), format: Format::Msgpack }
    }

    #[test]
    fn letters_are_replaced() {
        assert_eq!(expand("/x/%j_%n_%h%%.m", &values()).unwrap(), "/x/77.1_4_n01%.m");
        assert!(expand("%q", &values()).unwrap_err().contains("'%q'"));
        assert!(expand("%", &values()).is_err());
    }

    #[test]
    fn an_earlier_trace_is_replaced_but_nothing_else() {
        let directory = std::env::temp_dir().join(format!("tmio-output-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("t.msgpack");
        let pattern = path.to_str().unwrap();
        fs::write(&path, "a text of mine").unwrap();
        assert!(prepare(Some(pattern), &values()).unwrap_err().contains("is not a tmio trace"));
        fs::write(&path, b"\x94\xa5tmio1").unwrap();
        assert_eq!(prepare(Some(pattern), &values()).unwrap(), path);
        assert!(!path.exists() && parts_path(&path).is_dir());
        fs::remove_dir_all(&directory).unwrap();
        assert!(prepare(Some(pattern), &values()).unwrap_err().contains("No such file"));
    }

    #[test]
    fn names_are_numbered_before_the_extension() {
        assert_eq!(with_number(Path::new("/a/t.msgpack"), 2), Path::new("/a/t-2.msgpack"));
        assert_eq!(with_number(Path::new("t"), 3), Path::new("t-3"));
    }
}
