//! `ftio recover --host`: what dead processes have left in the memory of this host.

use crate::exit::Exit;
use crate::print;
use crate::terminal::text::{Severity, complain, error};
use crate::terminal::units::{bytes, counted};
use files::Dir;
use files::user::{self, Identity, run_as};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;
use tmio_trace::roll;
use tmio_trace::salvage::{SpoolDirectory, Tally};

/// How long to wait for what is done in another user's name.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// The line of `--json`.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Record {
    schema: &'static str,
    /// Spools that were removed.
    removed: u64,
    /// Their bytes.
    bytes: u64,
    /// Operations that were added to traces.
    operations: u64,
    /// Spools that belong to programs that still run.
    kept: u64,
    /// Spools that stay because their records could not be added to a trace.
    failed: u64,
    /// Lists that processes had left which were killed while they started.
    lists: u64,
    /// Why spools stay, of the first of them.
    problems: Vec<String>,
}

/// Adds it to the traces, and removes it. `directories` is where spools are, or empty for the usual places.
pub fn run(directories: &[PathBuf], json: bool) -> anyhow::Result<Exit> {
    let mut places = directories.to_vec();
    if places.is_empty() {
        places.push("/dev/shm".into());
        places.extend(std::env::var_os("TMPDIR").map(PathBuf::from));
        places.push("/tmp".into());
    }
    let (tally, lists) = clean_all(&places);
    let Tally { removed, bytes: size, operations, kept, failed, problems } = tally;
    for problem in &problems {
        complain(Severity::Error, problem);
    }
    let schema = "ftio.clean/1";
    let record = Record { schema, removed, bytes: size, operations, kept, failed, lists, problems };
    print::result(json, &record, |_| {
        let (spools, operations) = (counted(removed, "spool"), counted(operations, "operation"));
        let size = bytes(size as f64);
        format!("{spools} removed ({size}), {operations} added to their traces, {kept} in use\n")
    })?;
    if failed > 0 {
        let spools = counted(failed, "spool");
        error!("{spools} kept: their records could not be added to their traces");
        return Ok(Exit::Failed);
    }
    Ok(Exit::Done)
}

/// What one user may have left: folders of spools, and places with lists.
#[derive(Default)]
struct Left {
    spools: Vec<SpoolDirectory>,
    lists: Vec<Dir>,
}

/// Cleans for every user who has left something, in that user's name. Returns what was done, and how many
/// lists were removed.
fn clean_all(places: &[PathBuf]) -> (Tally, u64) {
    let mut left: BTreeMap<u32, Left> = BTreeMap::new();
    for place in places {
        let Ok(directory) = Dir::open(place) else { continue };
        // One of them may have been named itself.
        for spools in SpoolDirectory::all_in(&directory).into_iter().chain(SpoolDirectory::at(place)) {
            left.entry(spools.user).or_default().spools.push(spools);
        }
        let names = directory.entries().into_iter().flatten().flatten().map(|entry| entry.name);
        let users: BTreeSet<u32> = names.filter_map(|name| roll::user_of(&name)).collect();
        for (user, directory) in users.into_iter().filter_map(|user| Some((user, directory.again().ok()?))) {
            left.entry(user).or_default().lists.push(directory);
        }
    }
    let (mut sum, mut lists) = (Tally::default(), 0);
    for (user, left) in left {
        match clean_for(user, left) {
            Some(Ok((tally, removed))) => {
                lists += removed;
                sum.add(tally);
            }
            Some(Err(error)) => {
                sum.failed += 1;
                sum.problems.push(format!("spools of user {user}: {error}"));
            }
            None => {}
        }
    }
    (sum, lists)
}

/// In the name of that user; `None`: this process may not act for him.
fn clean_for(user: u32, left: Left) -> Option<std::io::Result<(Tally, u64)>> {
    let me = user::effective();
    if user != me && !user::is_root() {
        return None;
    }
    let who = if user == me { Identity::alone(me) } else { Identity::of_user(user) };
    // A path that another user has written may lead to a server that does not answer.
    let limit = (user != me).then_some(MAX_WAIT);
    Some(run_as(&who, limit, move || {
        let mut tally = Tally::default();
        left.spools.iter().for_each(|spools| spools.clean(None, &mut tally));
        (tally, left.lists.iter().map(roll::clean_in).sum())
    }))
}
