//! Where the trace goes: the pattern of `TMIO_OUTPUT` at the start, and its place at the end.
//!
//! Nothing is made at the start, and nothing that is there is touched before there is something
//! better. At the end the trace takes its place in one step: a name that is free, or that of the
//! trace that was there when the job began. Whoever else has come there first keeps it.

use crate::options::{DEFAULT_OUTPUT, Format};
use crate::place::parts as local_parts;
use crate::process::surroundings::Surroundings;
use crate::process::{clock, message};
use std::ffi::{CString, OsStr, OsString};
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use tmio_trace::parts;
use tmio_trace::reader::is_trace_start;
use tmio_trace::tmio;

/// What stands behind the letters of a pattern.
#[derive(Debug)]
pub(crate) struct Values<'a> {
    pub(crate) job: String,
    pub(crate) ranks: u32,
    pub(crate) host: String,
    pub(crate) format: Format,
    pub(crate) around: &'a Surroundings,
}

fn expand(pattern: &OsStr, values: &Values<'_>) -> Result<OsString, String> {
    let mut path = Vec::new();
    let mut letters = pattern.as_bytes().iter();
    while let Some(&letter) = letters.next() {
        if letter != b'%' {
            path.push(letter);
            continue;
        }
        let (year, month, day) = clock::date(clock::realtime());
        let text = match letters.next() {
            Some(b'j') => values.job.clone(),
            Some(b'n') => values.ranks.to_string(),
            Some(b'h') => values.host.clone(),
            Some(b'p') => values.around.pid.to_string(),
            Some(b'e') => {
                values.around.executable().file_name().unwrap_or_default().to_string_lossy().into_owned()
            }
            Some(b't') => (clock::realtime() / 1_000_000_000).to_string(),
            Some(b'u') => values.around.user(),
            Some(b'Y') => format!("{year:04}"),
            Some(b'm') => format!("{month:02}"),
            Some(b'd') => format!("{day:02}"),
            Some(b'%') => "%".to_owned(),
            other => {
                let found = other.map(|&letter| char::from(letter)).map(String::from).unwrap_or_default();
                return Err(format!(
                    "TMIO_OUTPUT={}: expected %j, %n, %h, %p, %e, %t, %u, %Y, %m, %d or %%, found '%{found}'",
                    pattern.display()
                ));
            }
        };
        path.extend_from_slice(text.as_bytes());
    }
    Ok(OsString::from_vec(path))
}

/// The directory above the first one whose name is made of letters: those below it are made.
fn stem(pattern: &OsStr) -> &Path {
    let bytes = pattern.as_bytes();
    let first = bytes.iter().position(|&byte| byte == b'%').unwrap_or(bytes.len());
    let end = bytes.get(..first).and_then(|fixed| fixed.iter().rposition(|&byte| byte == b'/'));
    Path::new(OsStr::from_bytes(bytes.get(..end.unwrap_or(0)).unwrap_or_default()))
}

/// Where the trace is to go.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) path: PathBuf,
    /// Directories below this one are made.
    pub(crate) stem: PathBuf,
    /// The first directory of the user's own (%u); empty: there is none.
    pub(crate) private: PathBuf,
}

/// Decides where the trace goes, by words alone: no file system is asked.
pub(crate) fn choose(pattern: Option<&OsStr>, values: &Values<'_>) -> Result<Place, String> {
    let default = DEFAULT_OUTPUT.replace("msgpack", values.format.ending());
    let expanded = expand(pattern.unwrap_or(OsStr::new(&default)), values)?;
    let here = values.around.directory();
    let here = here.map_err(|error| format!("the current directory: {}", message::plain(&error)))?;
    let path = here.join(expanded);
    let stem = here.join(stem(pattern.unwrap_or_default()));
    let private = private(&here.join(pattern.unwrap_or_default()), &path);
    Ok(Place { path, stem, private })
}

/// Looks whether a trace can be put there. What is there already and will be replaced,
/// if that was asked for by name.
pub(crate) fn look(place: &Place, format: Format) -> Result<Option<Identity>, String> {
    let Place { path, stem, private } = place;
    local_parts::check_owner(private).map_err(|error| message::plain(&error))?;
    match fs::metadata(path) {
        Ok(meta) if meta.is_dir() => Err(format!("{} is a directory", path.display())),
        // A pipe would be waited for, and a device never ends.
        Ok(meta) if !meta.is_file() => Err(format!("{} is not a regular file", path.display())),
        Ok(_) if !begins_like_a_trace(path, format) => {
            Err(format!("{} exists and is not a tmio trace", path.display()))
        }
        Ok(meta) => Ok(Some(Identity::new(&meta))),
        Err(error) => {
            let directory = path.parent().unwrap_or(path);
            // Those below the stem will be made.
            if directory == stem || error.kind() != io::ErrorKind::NotFound {
                let look = fs::metadata(directory).and(if error.kind() == io::ErrorKind::NotFound {
                    Ok(())
                } else {
                    Err(error)
                });
                look.map_err(|error| {
                    let parts = parts::directory(path);
                    format!("cannot create {}: {}", parts.display(), message::plain(&error))
                })?;
            }
            Ok(None)
        }
    }
}

/// The first directory of `path` whose name in the pattern has the letter of the user.
fn private(pattern: &Path, path: &Path) -> PathBuf {
    let has_user = |part: &std::path::Component<'_>| {
        let pairs = part.as_os_str().as_bytes().windows(2);
        // Not the second of two percent signs.
        let mut letters = 0;
        pairs.zip(0..).any(|(pair, at)| {
            let begins = at >= letters && pair.first() == Some(&b'%');
            letters = if begins { at + 2 } else { letters };
            begins && pair == b"%u"
        })
    };
    let directories = pattern.components().count().saturating_sub(1);
    match pattern.components().take(directories).position(|part| has_user(&part)) {
        Some(position) => path.components().take(position + 1).collect(),
        None => PathBuf::new(),
    }
}

/// Whether a file is a trace of ours, or what such a trace was turned into.
fn begins_like_a_trace(path: &Path, format: Format) -> bool {
    let mut start = Vec::new();
    let read = File::open(path).and_then(|file| file.take(64).read_to_end(&mut start));
    let converted = matches!(format, Format::Tmio(wanted) if tmio::detect(&start) == Some(wanted));
    read.is_ok() && (is_trace_start(&start) || converted)
}

/// What tells a file from another one of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity([i64; 5]);

impl Identity {
    fn new(meta: &fs::Metadata) -> Self {
        Self([meta.dev() as i64, meta.ino() as i64, meta.len() as i64, meta.mtime(), meta.mtime_nsec()])
    }

    fn of(path: &Path) -> Option<Self> {
        fs::symlink_metadata(path).ok().map(|meta| Self::new(&meta))
    }
}

/// Gives the finished trace its place: the one that was chosen, or one with a number if somebody else
/// has taken that meanwhile. Returns where it is.
pub(crate) fn settle(finished: &Path, wanted: &Path, previous: Option<Identity>) -> io::Result<PathBuf> {
    if previous.is_some() && Identity::of(wanted) == previous {
        match rename(finished, wanted, libc::RENAME_EXCHANGE) {
            // What was there is here now: mostly the earlier trace, which goes.
            Ok(()) if Identity::of(finished) == previous => fs::remove_file(finished)?,
            // Another job's, which came at the same moment.
            Ok(()) => drop(settle_beside(finished, wanted)?),
            Err(error) if is_unsupported(&error) => fs::rename(finished, wanted)?,
            Err(error) => return Err(error),
        }
        return Ok(wanted.to_owned());
    }
    match move_if_free(finished, wanted)? {
        true => Ok(wanted.to_owned()),
        false => settle_beside(finished, wanted),
    }
}

/// `a/trace.msgpack` → `a/trace-2.msgpack`, or the next number that is free.
fn settle_beside(finished: &Path, wanted: &Path) -> io::Result<PathBuf> {
    for number in 2..10 {
        let path = with_number(wanted, number);
        if move_if_free(finished, &path)? {
            return Ok(path);
        }
    }
    // Of very many, the last one is found at once.
    let directory = wanted.parent().unwrap_or(wanted);
    let names = fs::read_dir(directory)?.flatten().map(|entry| entry.path());
    let highest = names.filter_map(|path| number_of(&path, wanted)).max().unwrap_or(9);
    for number in highest.saturating_add(1).. {
        let path = with_number(wanted, number);
        if move_if_free(finished, &path)? {
            return Ok(path);
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}

fn with_number(path: &Path, number: u64) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!("-{number}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

/// The number that `path` has as a variant of `wanted`.
fn number_of(path: &Path, wanted: &Path) -> Option<u64> {
    let stem = path.file_stem()?.as_bytes().strip_prefix(wanted.file_stem()?.as_bytes())?;
    let number = std::str::from_utf8(stem.strip_prefix(b"-")?).ok()?.parse().ok()?;
    (path.extension() == wanted.extension()).then_some(number)
}

/// Moves a file to a name that nobody has; `false`: somebody has it.
fn move_if_free(from: &Path, to: &Path) -> io::Result<bool> {
    match rename(from, to, libc::RENAME_NOREPLACE) {
        Ok(()) => return Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        Err(error) if is_unsupported(&error) => {}
        Err(error) => return Err(error),
    }
    // Network file systems may know only the older ways.
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) if is_unsupported(&error) => {
            if fs::symlink_metadata(to).is_ok() {
                Ok(false)
            } else {
                fs::rename(from, to).map(|()| true)
            }
        }
        Err(error) => Err(error),
    }
}

/// Whether a way of renaming is not there: the file system does not know it, or the kernel, or a container
/// does not allow the call (which ends with `EPERM`; where that has another reason, the other ways end so,
/// too).
fn is_unsupported(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS | libc::EOPNOTSUPP | libc::EPERM))
}

fn rename(from: &Path, to: &Path, flags: libc::c_uint) -> io::Result<()> {
    let (from, to) = (CString::new(from.as_os_str().as_bytes())?, CString::new(to.as_os_str().as_bytes())?);
    // SAFETY: both paths end with a zero; glibc before 2.28 has no function for it.
    let answer = unsafe {
        let here = libc::AT_FDCWD;
        libc::syscall(libc::SYS_renameat2, here, from.as_ptr(), here, to.as_ptr(), flags)
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_values<T>(body: impl FnOnce(&Values<'_>) -> T) -> T {
        let around = &Surroundings::here();
        body(&Values { job: "77.1".into(), ranks: 4, host: "n01".into(), format: Format::Msgpack, around })
    }

    fn directory(name: &str) -> PathBuf {
        let directory = std::env::temp_dir().join(format!("tmio-{name}-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        directory
    }

    #[test]
    fn what_is_no_file_is_refused_and_not_waited_for() {
        let directory = directory("no-file");
        let pipe = directory.join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for path in [pipe.as_path(), Path::new("/dev/null")] {
            let place = with_values(|values| choose(Some(path.as_os_str()), values)).unwrap();
            let refused = look(&place, Format::Msgpack).unwrap_err();
            assert!(refused.ends_with("is not a regular file"), "{refused}");
        }
        fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn letters_are_replaced() {
        let expand = |text: &str| with_values(|values| expand(OsStr::new(text), values));
        assert_eq!(expand("/x/%j_%n_%h%%.m").unwrap(), "/x/77.1_4_n01%.m");
        assert!(expand("%q").unwrap_err().contains("'%q'"));
        assert!(expand("%").is_err());
        let date = expand("%Y-%m-%d").unwrap();
        assert_eq!(date.len(), "2026-01-31".len());
    }

    #[test]
    fn only_directories_that_a_pattern_names_are_made() {
        assert_eq!(stem(OsStr::new("/logs/%u/%Y/%m/t_%j.msgpack")), Path::new("/logs"));
        assert_eq!(stem(OsStr::new("/logs/all/t_%j.msgpack")), Path::new("/logs/all"));
        assert_eq!(stem(OsStr::new("/logs/all/t.msgpack")), Path::new("/logs/all"));
        assert_eq!(stem(OsStr::new("t.msgpack")), Path::new(""));
    }

    #[test]
    fn the_first_directory_of_the_user_s_own() {
        let of = |pattern: &str, path: &str| private(Path::new(pattern), Path::new(path));
        assert_eq!(of("/l/%u/%Y/%j", "/l/al/2026/7"), Path::new("/l/al"));
        assert_eq!(of("/l/%Y/x%%%u/%j", "/l/2026/x%al/7"), Path::new("/l/2026/x%al"));
        assert_eq!(of("/l/%Y/%%u/%u_%j", "/l/2026/%u/al_7"), Path::new(""));
    }

    #[test]
    fn what_is_there_stays_until_the_end_and_only_a_trace_is_replaced() {
        let directory = directory("settle");
        let path = directory.join("t.msgpack");
        let place = with_values(|values| choose(Some(path.as_os_str()), values)).unwrap();
        let look = || look(&place, Format::Msgpack);
        for foreign in ["a text of mine", ""] {
            fs::write(&path, foreign).unwrap();
            assert!(look().unwrap_err().contains("is not a tmio trace"));
        }
        fs::write(&path, b"\x94\xa5tmio1 the first").unwrap();
        let previous = look().unwrap();
        assert!(previous.is_some() && path.exists());
        let new = directory.join("new.tmp");
        let settle = |text: &str| {
            fs::write(&new, text).unwrap();
            let found = settle(&new, &place.path, previous).unwrap();
            assert!(!new.exists());
            (found.file_name().unwrap().to_str().unwrap().to_owned(), fs::read_to_string(found).unwrap())
        };
        assert_eq!(settle("the second"), ("t.msgpack".into(), "the second".into()));
        // Of two jobs that began beside each other, both keep their traces.
        assert_eq!(settle("the third"), ("t-2.msgpack".into(), "the third".into()));
        for number in 3..=12 {
            assert_eq!(settle("more").0, format!("t-{number}.msgpack"));
        }
        fs::write(directory.join("t-500.msgpack"), "").unwrap();
        assert_eq!(settle("more").0, "t-501.msgpack");
        assert_eq!(fs::read_to_string(&path).unwrap(), "the second");
        fs::remove_dir_all(&directory).unwrap();
        assert!(look().unwrap_err().contains("No such file"));
    }
}
