//! Files that commands write: one way for all of them.
//!
//! A regular file is written under another name and renamed when it is whole, so that no reader finds half a
//! file, and an old one stays until the new one is complete. Anything else that exists (a device, a pipe) is
//! opened and written in place. Symbolic links are followed. `-` is standard output. No command writes over a
//! file that it also reads.

use crate::exit;
use anyhow::Context;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

/// As many links of links as the kernel follows.
const MAX_LINKS: usize = 40;

/// Something that is being written. Dropped before [`finish`](Draft::finish), it leaves nothing behind.
#[derive(Debug)]
pub struct Draft {
    /// What messages call it.
    name: String,
    out: Option<Out>,
}

#[derive(Debug)]
enum Out {
    Stdout(io::Stdout),
    InPlace(File),
    Beside { file: File, draft: PathBuf, target: PathBuf },
}

/// Begin to write.
pub fn create(path: &Path) -> anyhow::Result<Draft> {
    create_with(path, EVERYBODY)
}

/// Write what others may follow while it grows.
pub fn create_in_place(path: &Path) -> anyhow::Result<Draft> {
    not_an_input(path)?;
    let name = path.display().to_string();
    let file = OpenOptions::new().write(true).create(true).truncate(true).mode(EVERYBODY).open(path);
    Ok(Draft { out: Some(Out::InPlace(file.with_context(|| name.clone())?)), name })
}

/// Begin to write what only its owner may read, unless a file that is there says otherwise.
pub fn create_private(path: &Path) -> anyhow::Result<Draft> {
    create_with(path, OWNER)
}

/// As the user's mask allows.
const EVERYBODY: u32 = 0o666;
const OWNER: u32 = 0o600;

fn create_with(path: &Path, mode: u32) -> anyhow::Result<Draft> {
    let name = path.display().to_string();
    if name == "-" {
        return Ok(Draft { name, out: Some(Out::Stdout(io::stdout())) });
    }
    not_an_input(path)?;
    let out = open(path, mode).with_context(|| name.clone())?;
    Ok(Draft { name, out: Some(out) })
}

/// Write all of it.
pub fn write(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    create(path)?.fill(content)
}

/// Before the work begins: can it be written? What is there stays as it is, and nothing new is left.
pub fn check(path: &Path) -> anyhow::Result<()> {
    if path.as_os_str() == "-" {
        return Ok(());
    }
    // A pipe is not opened: that would wait for its reader.
    if is_special(path) {
        return Ok(());
    }
    not_an_input(path)?;
    let target = followed(path);
    let existed = target.exists();
    let opened = OpenOptions::new().append(true).create(true).open(&target);
    opened.with_context(|| path.display().to_string())?;
    if !existed {
        let _ = fs::remove_file(&target);
    }
    Ok(())
}

/// A file that the command line names twice is to be written, and to be read.
fn not_an_input(path: &Path) -> anyhow::Result<()> {
    if times_named(path, std::env::args_os().skip(1)) > 1 {
        let name = path.display();
        return Err(exit::wrong_usage(format!(
            "{name}: is also an input of this command, and would be overwritten; give the output another name"
        )));
    }
    Ok(())
}

/// How many words name this file, as they are, or as `--option=FILE` and `-oFILE`.
fn times_named(path: &Path, words: impl Iterator<Item = OsString>) -> usize {
    let identity = |path: &Path| {
        let known = fs::metadata(path).ok().filter(fs::Metadata::is_file);
        known.map(|known| (known.dev(), known.ino()))
    };
    let Some(target) = identity(path) else { return 0 };
    let names = |word: &OsString| {
        let bytes = word.as_bytes();
        let value = match (bytes, bytes.iter().position(|byte| *byte == b'=')) {
            ([b'-', b'-', ..], Some(place)) => &bytes[place + 1..],
            ([b'-', letter, value @ ..], _) if *letter != b'-' => value,
            _ => bytes,
        };
        identity(Path::new(OsStr::from_bytes(value))) == Some(target)
    };
    words.filter(names).count()
}

impl Draft {
    /// What the process prints from now on goes there.
    pub fn become_stdout(&self) -> anyhow::Result<()> {
        if let Some(Out::InPlace(file) | Out::Beside { file, .. }) = &self.out {
            rustix::stdio::dup2_stdout(file).with_context(|| self.name.clone())?;
        }
        Ok(())
    }

    /// An error of a command that prints here, with the name of this file if it is what has no room.
    pub fn blamed(&self, error: anyhow::Error) -> anyhow::Error {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let is_full = |cause: &io::Error| matches!(cause.kind(), StorageFull | QuotaExceeded | FileTooLarge);
        match error.root_cause().downcast_ref::<io::Error>().is_some_and(is_full) {
            true => error.context(self.name.clone()),
            false => error,
        }
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        match &self.out {
            Some(Out::InPlace(file) | Out::Beside { file, .. }) => {
                file.metadata().is_ok_and(|meta| meta.len() == 0)
            }
            _ => false,
        }
    }

    /// This is all of it.
    pub fn fill(mut self, content: &[u8]) -> anyhow::Result<()> {
        self.write_all(content).with_context(|| self.name.clone())?;
        self.finish()
    }

    /// It is whole: put it into its place.
    pub fn finish(mut self) -> anyhow::Result<()> {
        let name = std::mem::take(&mut self.name);
        self.flush().with_context(|| name.clone())?;
        let Some(Out::Beside { file, draft, target }) = self.out.take() else { return Ok(()) };
        drop(file);
        let moved = fs::rename(&draft, target);
        if moved.is_err() {
            let _ = fs::remove_file(draft);
        }
        moved.context(name)
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.out {
            Some(Out::Stdout(out)) => out.write(bytes),
            Some(Out::InPlace(file) | Out::Beside { file, .. }) => file.write(bytes),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.out {
            Some(Out::Stdout(out)) => out.flush(),
            Some(Out::InPlace(file) | Out::Beside { file, .. }) => file.flush(),
            None => Ok(()),
        }
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(Out::Beside { draft, .. }) = &self.out {
            let _ = fs::remove_file(draft);
        }
    }
}

fn open(path: &Path, mode: u32) -> io::Result<Out> {
    if is_special(path) {
        return Ok(Out::InPlace(OpenOptions::new().write(true).open(path)?));
    }
    let target = followed(path);
    match beside(&target, mode) {
        Ok((file, draft)) => {
            // As public or private as the file that it replaces.
            if let Ok(old) = fs::metadata(&target) {
                let _ = fs::set_permissions(&draft, old.permissions());
            }
            Ok(Out::Beside { file, draft, target })
        }
        // A file that may be written in a folder that may not.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied && target.exists() => {
            Ok(Out::InPlace(OpenOptions::new().write(true).truncate(true).open(target)?))
        }
        Err(error) => Err(error),
    }
}

/// A device, a pipe, or what `/dev/stdout` stands for.
fn is_special(path: &Path) -> bool {
    let is_other = fs::metadata(path).is_ok_and(|meta| !meta.is_file());
    is_other || (path.exists() && (path.starts_with("/dev/fd") || path.starts_with("/dev/stdout")))
}

/// A new file in the same folder, which no pattern such as `*.prom` finds.
fn beside(target: &Path, mode: u32) -> io::Result<(File, PathBuf)> {
    let mut problem = io::Error::from(io::ErrorKind::AlreadyExists);
    for attempt in 0..100 {
        let mut draft = target.as_os_str().to_owned();
        draft.push(format!(".{}.{attempt}.tmp", std::process::id()));
        let draft = PathBuf::from(draft);
        match OpenOptions::new().write(true).create_new(true).mode(mode).open(&draft) {
            Ok(file) => return Ok((file, draft)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => problem = error,
            Err(error) => return Err(error),
        }
    }
    Err(problem)
}

/// What a path leads to, also if nothing is there yet.
fn followed(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        let Ok(link) = fs::read_link(&path) else { break };
        path = path.parent().unwrap_or(Path::new("")).join(link);
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};

    #[test]
    fn a_file_is_replaced_when_it_is_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("out");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        let mut draft = create(&path).unwrap();
        draft.write_all(b"new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        draft.finish().unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
        let private = dir.path().join("private");
        create_private(&private).unwrap().finish().unwrap();
        assert_eq!(fs::metadata(&private).unwrap().permissions().mode() & 0o777, 0o600);
        fs::remove_file(private).unwrap();
        drop(create(&path).unwrap());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a draft that was given up is removed");
        let missing = create(&dir.path().join("no/out")).unwrap_err();
        assert!(format!("{missing:#}").starts_with(&format!("{}: ", dir.path().join("no/out").display())));
    }

    #[test]
    fn files_are_known_by_every_spelling() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("a");
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        let words = ["", "--plot=", "-o"].map(|option| format!("{option}{}/./a", dir.path().display()));
        let words = words.into_iter().chain([dir.path().join("link").display().to_string(), "b".into()]);
        let words: Vec<OsString> = words.map(OsString::from).collect();
        assert_eq!(times_named(&file, words.iter().cloned()), 0, "what is not there cannot be overwritten");
        fs::write(&file, "x").unwrap();
        assert_eq!(times_named(&file, words.into_iter()), 4);
    }

    #[test]
    fn links_are_followed() {
        let dir = tempfile::tempdir().unwrap();
        let (real, link) = (dir.path().join("real"), dir.path().join("link"));
        symlink("real", &link).unwrap();
        check(&link).unwrap();
        assert!(!real.exists() && fs::symlink_metadata(&link).unwrap().is_symlink());
        write(&link, b"text").unwrap();
        assert_eq!(fs::read_to_string(&real).unwrap(), "text");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn devices_and_pipes_are_written_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let reader = {
            let pipe = pipe.clone();
            std::thread::spawn(move || fs::read_to_string(pipe).unwrap())
        };
        check(&pipe).unwrap();
        write(&pipe, b"text").unwrap();
        assert_eq!(reader.join().unwrap(), "text");
        assert!(fs::metadata(&pipe).unwrap().file_type().is_fifo());
        let full = Path::new("/dev/full");
        let error = write(full, b"text").unwrap_err();
        assert!(format!("{error:#}").starts_with("/dev/full: No space left"), "{error:#}");
        assert!(fs::metadata(full).unwrap().file_type().is_char_device());
    }
}
