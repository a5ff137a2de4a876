//! The library that traces: where it is, and how it is preloaded.

use crate::error::{Context, Error};
use crate::helper;
use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// What the library is called.
const LIBRARY: &str = "libtmio.so";

/// The library asked for, or the first one found together with its recorder, as an absolute path.
pub fn find(asked: Option<&Path>) -> Result<PathBuf, Error> {
    let named = asked.map(PathBuf::from).or_else(|| env::var_os("TMIO_LIBRARY").map(PathBuf::from));
    let places = match &named {
        Some(path) => vec![path.clone()],
        None => {
            let binary = env::current_exe().context("cannot find out where ftio is")?;
            let binary = binary.canonicalize().unwrap_or(binary);
            let beside = binary.parent().unwrap_or(Path::new(".")).to_owned();
            // Debian has a folder of libraries for each processor.
            let multiarch = format!("../lib/{}-linux-gnu", env::consts::ARCH);
            ["", "../lib", "../lib64", &multiarch, "../lib/tmio"]
                .map(|place| beside.join(place).join(LIBRARY))
                .into()
        }
    };
    let found = places.iter().filter(|path| path.is_file()).map(|path| path.canonicalize());
    let found: Vec<PathBuf> =
        found.collect::<Result<_, _>>().context("cannot find out where the library is")?;
    if let Some(whole) = found.iter().find(|path| path.with_file_name(helper::RECORDER).is_file()) {
        return Ok(whole.clone());
    }
    if let Some(alone) = found.first() {
        let recorder = alone.with_file_name(helper::RECORDER);
        return Err(Error::new(format!(
            "{} is missing: without it {} traces nothing; install both",
            recorder.display(),
            alone.display()
        )));
    }
    let tried: Vec<String> = places.iter().map(|path| path.display().to_string()).collect();
    let tried = tried.join(", ");
    Err(Error::new(format!("cannot find {LIBRARY}: tried {tried} (name it with --library or TMIO_LIBRARY)")))
}

/// The library in front of what is preloaded already.
pub(crate) fn preload(library: &Path, before: Option<OsString>) -> Result<OsString, Error> {
    // The loader splits LD_PRELOAD at spaces and colons and knows no quotes.
    let text = library.to_string_lossy();
    if text.contains([' ', ':', '\t', '\n']) {
        return Err(Error::new(format!(
            "{text}: a path with a space or a colon cannot be preloaded; copy or link the library elsewhere"
        )));
    }
    let mut value = library.as_os_str().to_owned();
    if let Some(before) = before.filter(|before| !before.is_empty()) {
        value.push(":");
        value.push(before);
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_library_comes_first() {
        let value =
            |before: Option<&str>| preload(Path::new("/l/libtmio.so"), before.map(OsString::from)).unwrap();
        assert_eq!(value(None), "/l/libtmio.so");
        assert_eq!(value(Some("")), "/l/libtmio.so");
        assert_eq!(value(Some("/o.so")), "/l/libtmio.so:/o.so");
        assert!(preload(Path::new("/a b/libtmio.so"), None).is_err());
    }
}
