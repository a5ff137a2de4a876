//! Where the records of a spool go, and what becomes of them on the way: what the helper is told by a rank,
//! and finds out by itself for other processes.

use crate::options::{Flush, Options};
use crate::place::output::Place;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tmio_trace::spool::said;

/// Where records go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Destination {
    /// The node's part of the trace.
    pub(crate) part: PathBuf,
    /// Directories above this one must be there; those below are made.
    pub(crate) stem: PathBuf,
    /// The first directory of the user's own; empty: there is none.
    pub(crate) private: PathBuf,
    /// Bytes of the part from which on blocks get coarser; 0: they never do.
    pub(crate) most_bytes: u64,
    /// How long a record stays in the spool; `None`: until there is no room.
    pub(crate) age: Option<Duration>,
    pub(crate) filter: Filter,
    /// The call of the launcher that has started the process, where it is known.
    pub(crate) launch: Option<u64>,
}

/// Which files are recorded. What only the environment says, processes see to themselves; a site's file of
/// options is read here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    /// Patterns, separated by commas: of all files that are recorded (empty: all), …
    files: String,
    /// … of those that are not, …
    excluded: String,
    /// … and of those that are left out below MPI-IO; `None`: the usual ones.
    excluded_paths: Option<String>,
}

impl Filter {
    fn of(options: &Options) -> Self {
        Self {
            files: options.files.join(","),
            excluded: options.exclude_files.join(","),
            excluded_paths: options.exclude_paths.as_ref().map(|paths| paths.join(",")),
        }
    }

    /// Whether operations on a file are recorded: those of MPI-IO, and those of the layers below it.
    pub(crate) fn wants(&self, path: &str) -> (bool, bool) {
        use tmio_spool::pattern::{DEFAULT_EXCLUDED, matches_any};
        let is_in = |patterns: &str| matches_any(patterns.as_bytes(), path.as_bytes());
        let wanted = (self.files.is_empty() || is_in(&self.files)) && !is_in(&self.excluded);
        let left_out = is_in(self.excluded_paths.as_deref().unwrap_or(DEFAULT_EXCLUDED));
        (wanted, wanted && !left_out)
    }
}

impl Destination {
    pub(crate) fn new(part: PathBuf, place: &Place, most_bytes: u64, options: &Options) -> Self {
        let launch = None;
        let age = match options.flush {
            Flush::Interval(interval) => Some(interval),
            _ => Some(options.max_age).filter(|age| !age.is_zero()),
        };
        let filter = Filter::of(options);
        Self {
            part,
            stem: place.stem.clone(),
            private: place.private.clone(),
            most_bytes,
            age,
            filter,
            launch,
        }
    }

    /// As it stands in a spool, before the frames that come first in the part.
    pub(crate) fn encode(&self, greeting: &[u8]) -> Vec<u8> {
        let Filter { files, excluded, excluded_paths } = &self.filter;
        let entries: [(&str, Vec<u8>); 8] = [
            ("stem", self.stem.as_os_str().as_bytes().to_vec()),
            ("private", self.private.as_os_str().as_bytes().to_vec()),
            ("most", self.most_bytes.to_string().into_bytes()),
            ("age", self.age.map_or(0, |age| age.as_nanos()).to_string().into_bytes()),
            ("launch", self.launch.map(|launch| launch.to_string()).unwrap_or_default().into_bytes()),
            ("files", files.clone().into_bytes()),
            ("excluded", excluded.clone().into_bytes()),
            ("paths", excluded_paths.clone().unwrap_or_else(|| USUAL.to_owned()).into_bytes()),
        ];
        let mut text = Vec::new();
        for (name, value) in entries {
            text.extend_from_slice(name.as_bytes());
            text.push(b'=');
            text.extend_from_slice(&value);
            text.push(0);
        }
        let part = self.part.as_os_str().as_bytes();
        let length = |bytes: &[u8]| (bytes.len() as u32).to_ne_bytes();
        [&length(part), part, &length(&text), &text, greeting].concat()
    }

    /// Of the path of the part and the text that follows it.
    pub(crate) fn decode(part: &[u8], text: &[u8]) -> Self {
        let path = |bytes: &[u8]| PathBuf::from(OsString::from_vec(bytes.to_vec()));
        let words = |name: &str| said(text, name).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        let known = |name: &str| words(name).and_then(|digits| digits.parse::<u64>().ok());
        let number = |name: &str| known(name).unwrap_or(0);
        Self {
            part: path(part),
            stem: path(said(text, "stem").unwrap_or_default()),
            private: path(said(text, "private").unwrap_or_default()),
            most_bytes: number("most"),
            age: Some(Duration::from_nanos(number("age"))).filter(|age| !age.is_zero()),
            launch: known("launch"),
            filter: Filter {
                files: words("files").unwrap_or_default(),
                excluded: words("excluded").unwrap_or_default(),
                excluded_paths: words("paths").filter(|paths| paths != USUAL),
            },
        }
    }

    /// The trace that is to be.
    pub(crate) fn trace(&self) -> PathBuf {
        self.part.parent().unwrap_or(Path::new("")).with_extension("")
    }
}

/// Stands for the usual paths that are left out.
const USUAL: &str = "(usual)";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_rank_says_arrives() {
        let options = Options {
            files: vec!["*.h5".into(), "/a/*".into()],
            flush: Flush::Interval(Duration::from_millis(1500)),
            exclude_paths: Some(vec!["/x/*".into()]),
            ..Options::default()
        };
        let place = Place {
            path: PathBuf::from("/l/u/t.msgpack"),
            stem: PathBuf::from("/l"),
            private: PathBuf::from("/l/u"),
        };
        let part = PathBuf::from(OsString::from_vec(b"/l/u/t.msgpack.parts/h\xe9.1.2".to_vec()));
        let told = Destination::new(part.clone(), &place, 77, &options);
        let bytes = told.encode(b"frames");
        let (&length, rest) = bytes.split_first_chunk::<4>().unwrap();
        let (path, rest) = rest.split_at(u32::from_ne_bytes(length) as usize);
        let (&length, rest) = rest.split_first_chunk::<4>().unwrap();
        let (text, greeting) = rest.split_at(u32::from_ne_bytes(length) as usize);
        assert_eq!((Destination::decode(path, text), greeting), (told.clone(), &b"frames"[..]));
        assert_eq!(told.trace(), Path::new("/l/u/t.msgpack"));
        assert_eq!(told.filter.wants("/b/c.h5"), (true, true));
        assert_eq!(told.filter.wants("/b/c.txt"), (false, false));
        assert_eq!(told.filter.wants("/x/c.h5"), (true, false));
    }
}
