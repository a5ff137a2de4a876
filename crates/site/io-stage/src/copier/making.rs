//! The data of a draft: copied here, or by a program of the user's, as fast as is allowed.

use super::command::Template;
use super::data::{self, Ends};
use super::flow::{Flow, Pace};
use crate::ledger::Ledger;
use crate::stop::Stop;
use files::{Dir, Expect, Stat, Why};
use rustix::fs::fstatvfs;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// How drafts are made.
#[derive(Debug)]
#[allow(private_interfaces)] // nobody else makes one
pub struct Making<'a> {
    pub(super) flow: &'a Flow,
    pub(super) pace: &'a mut Pace,
    pub(super) progress: &'a AtomicU64,
    pub(super) command: Option<&'a Template>,
    pub(super) ledger: &'a Mutex<Ledger>,
}

impl<'a> Making<'a> {
    /// By ourselves.
    pub(crate) fn new(
        flow: &'a Flow,
        pace: &'a mut Pace,
        progress: &'a AtomicU64,
        ledger: &'a Mutex<Ledger>,
    ) -> Self {
        Making { flow, pace, progress, command: None, ledger }
    }

    /// Make a draft of the first `size` bytes of a file. Returns it, with the checksum of what was read if
    /// that is asked for.
    pub(crate) fn make(
        &mut self,
        (source, from): (&File, &Path),
        (at, draft): (&Dir, &OsStr),
        size: u64,
        checksum: bool,
    ) -> Result<(File, Option<u64>), Stop> {
        let path = at.path().join(draft);
        has_room(source, from, at)?;
        match self.command {
            None => {
                let target = at.create(draft, 0o600).map_err(Stop::writing)?;
                let ends = Ends { source: (source, from), target: (&target, &path) };
                let checksum = data::copy(ends, size, checksum, self.flow, self.pace, self.progress)?;
                Ok((target, checksum))
            }
            Some(command) => {
                command.run(from, &path, self)?;
                // What the program has left: a file of ours, with no other name.
                let expect = Expect::of_user(files::user::effective()).with_one_name();
                let target = at.file(draft, files::Access::Write, &expect).map_err(Stop::writing)?;
                let found = target.metadata().map_err(|error| Stop::writing_at(&path, error))?.len();
                if found != size {
                    let from = files::shown(from);
                    return Err(Stop::Failed(format!(
                        "{from}: the command left {found} bytes, expected {size}"
                    )));
                }
                // Nobody knows what the program has read: the copy must be what is there now.
                let read = data::checksum((source, from), size, self.flow, self.pace)?;
                if data::checksum((&target, &path), size, self.flow, self.pace)? != read {
                    let from = files::shown(from);
                    return Err(Stop::Failed(format!("{from}: the command's copy is not like the file")));
                }
                Ok((target, Some(read)))
            }
        }
    }

    /// The checksum of a file's data.
    pub(crate) fn checksum(&mut self, file: &File, size: u64) -> Result<u64, Stop> {
        data::checksum((file, Path::new("")), size, self.flow, self.pace)
    }
}

/// Is there room for the data of a file?
pub(super) fn has_room(source: &File, from: &Path, at: &Dir) -> Result<(), Stop> {
    let found = Stat::of(source).map_err(|errno| Stop::reading(files::Error::new(from, errno)))?;
    if found.kind != files::Kind::File {
        return Err(Stop::why(from, Why::NotRegular));
    }
    let free = fstatvfs(at.as_fd()).map(|found| found.f_bavail.saturating_mul(found.f_frsize));
    if free.is_ok_and(|free| free < found.size.min(found.room)) { Err(Stop::Full) } else { Ok(()) }
}
