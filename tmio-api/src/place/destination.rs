//! Where the records of a spool go, and what becomes of them on the way: what the helper is told by a rank,
//! and finds out by itself for other processes.

use crate::options::{Flush, Options};
use crate::place::output::Place;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tmio_trace::Filter;
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

/// Which files a job records, as its options say.
fn filter_of(options: &Options) -> Filter {
    Filter {
        files: options.files.join(","),
        excluded: options.exclude_files.join(","),
        excluded_paths: options.exclude_paths.as_ref().map(|paths| paths.join(",")),
    }
}

impl Destination {
    pub(crate) fn new(part: PathBuf, place: &Place, most_bytes: u64, options: &Options) -> Self {
        let launch = None;
        let age = match options.flush {
            Flush::Interval(interval) => Some(interval),
            _ => Some(options.max_age).filter(|age| !age.is_zero()),
        };
        let filter = filter_of(options);
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
        let entries: [(&str, Vec<u8>); 5] = [
            ("stem", self.stem.as_os_str().as_bytes().to_vec()),
            ("private", self.private.as_os_str().as_bytes().to_vec()),
            ("most", self.most_bytes.to_string().into_bytes()),
            ("age", self.age.map_or(0, |age| age.as_nanos()).to_string().into_bytes()),
            ("launch", self.launch.map(|launch| launch.to_string()).unwrap_or_default().into_bytes()),
        ];
        let filter = self.filter.tell().map(|(name, value)| (name, value.into_bytes()));
        let mut text = Vec::new();
        for (name, value) in entries.into_iter().chain(filter) {
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
            filter: Filter::told(|name| said(text, name)),
        }
    }

    /// The trace that is to be.
    pub(crate) fn trace(&self) -> PathBuf {
        self.part.parent().unwrap_or(Path::new("")).with_extension("")
    }
}

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
    }
}
