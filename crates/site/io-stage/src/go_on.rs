//! A process goes on where an earlier one was ended.

use crate::copier::{Flow, Making, Pace, left};
use crate::evictor::REST;
use crate::journal::{self, Journal, Past, Verified};
use crate::ledger::Ledger;
use crate::plan::Direction;
use crate::protocol::restart::put_in_order;
use crate::protocol::{Places, aside_name};
use crate::stamp::Stamp;
use crate::system::Real;
use files::{Dir, Error};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Mutex;
use std::sync::atomic::AtomicU64;

/// What earlier processes have done.
#[derive(Debug)]
pub struct Gone {
    /// Copies that were verified and are there still.
    pub ledger: Ledger,
    /// The same, for the planner.
    pub verified: Vec<Known>,
    /// Drafts that were removed.
    pub drafts: usize,
    /// What could not be put in order, in words.
    pub problems: Vec<String>,
}

/// A file that was copied.
#[derive(Debug)]
pub struct Known {
    /// Its path below the folders.
    pub path: PathBuf,
    /// The version in the buffer.
    pub stamp: Stamp,
    /// Every write since then would be told by another version.
    pub certain: bool,
    /// It is there.
    current: bool,
}

/// Nobody else may remove files from this folder, as long as it is open.
///
/// # Errors
///
/// Somebody does.
pub fn lock(buffer: &Dir) -> files::Result<()> {
    let why = || std::io::Error::other("another ftio stage --evict is at work in this folder");
    if journal::lock(buffer) { Ok(()) } else { Err(Error::new(buffer.path(), why())) }
}

/// Programs that still copy are ended, drafts removed, files that were set aside put back; what was verified,
/// and is there still, counts.
///
/// # Errors
///
/// The folders cannot be used, or the journal not be written.
pub fn go_on(places: &Places<Dir>, journal: Journal, past: &Past) -> files::Result<Gone> {
    let mut problems = left::end(&past.commands, journal.identity());
    let places =
        Places { buffer: Rc::new(places.buffer.again()?), storage: Rc::new(places.storage.again()?) };
    let ledger = Mutex::new(Ledger::new(journal));
    let (flow, mut pace, progress) = (Flow::default(), Pace::new(None), AtomicU64::new(0));
    let making = Making::new(&flow, &mut pace, &progress, &ledger);
    let system = Real::new(&places.buffer, &places.storage, making)?;
    let rest = || {
        std::thread::sleep(REST);
        system.look_at_holders();
    };
    let known = |path: &Path, kind| past.leaving(path, kind);
    let done = put_in_order(&system, &places, &past.drafts, known, &aside_name(&crate::host()), rest)?;
    drop(system);
    let mut ledger = ledger.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    let path = ledger.path().to_owned();
    let written = |result: std::io::Result<()>| result.map_err(|error| Error::new(&path, error));
    for draft in &done.drafts {
        written(ledger.draft_is_gone(draft.direction, &draft.path))?;
    }
    for path in &done.evicted {
        written(ledger.evicted(path))?;
    }
    let mut verified = Vec::new();
    for copy in &past.verified {
        if let Some(known) = still_there(&places, copy) {
            // A file may have been brought in, and have left in another version: the one that is there
            // counts.
            if known.current || ledger.copy_of(&known.path).is_none() {
                ledger.remember(copy.clone());
                verified.push(known);
            }
        }
    }
    problems.extend(done.problems);
    Ok(Gone { ledger, verified, drafts: done.removed, problems })
}

/// A copy that is in the storage still.
fn still_there(places: &Places<Rc<Dir>>, copy: &Verified) -> Option<Known> {
    let path = PathBuf::from(copy.path.clone());
    let (stamp, in_storage) = match copy.direction {
        Direction::Out => (copy.source, copy.target),
        Direction::In => (copy.target, copy.source),
    };
    let copied = places.storage.look(&path).ok().filter(|found| Stamp::of(found) == in_storage)?;
    let current = places.buffer.look(&path).is_ok_and(|found| Stamp::of(&found) == stamp);
    let certain = copy.sealed || copied.kind == files::Kind::Link;
    Some(Known { path, stamp, certain, current })
}
