//! In whose name files are touched.
//!
//! A process of root that handles the files of a user must not be led, by a link or a name that this user has
//! chosen, to something that he could not reach himself; and what it creates must be his. Checks alone cannot
//! give that: between a check and what follows, everything can change. So it becomes that user.
//!
//! The kernel keeps the user per thread. [`run_as`] starts a thread, drops root's supplementary groups, sets
//! the effective group and user, takes away every effective capability, and asks the kernel whether all of
//! that is so, before it begins to work. The real and saved user stay root's: so that user cannot send a
//! signal to the thread, which would end the whole process, or trace it. Other threads stay what they are,
//! and the thread does not come back: it ends with the work.

use rustix::process::{Gid, Uid, getegid, geteuid, getgroups, getuid};
use rustix::thread::{
    CapabilitySet, CapabilitySets, capabilities, set_capabilities, set_thread_groups, set_thread_res_gid,
    set_thread_res_uid,
};
use std::io;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// The group of nobody, for users that the system does not know.
const NO_GROUP: u32 = 65534;

/// A user with his groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Number of the user.
    pub user: u32,
    /// His first group: that of files that he creates.
    pub group: u32,
    /// All his groups.
    pub groups: Vec<u32>,
}

impl Identity {
    /// What the system knows of a user (by `id`, which asks wherever this site keeps its users). One whom it
    /// does not know is in no group.
    pub fn of_user(user: u32) -> Self {
        Self::from_system(user).unwrap_or_else(|| Self::alone(user))
    }

    /// That user without any group.
    pub fn alone(user: u32) -> Self {
        Identity { user, group: NO_GROUP, groups: Vec::new() }
    }

    fn from_system(user: u32) -> Option<Self> {
        // A user may be named like a number.
        if ask(user, "-u")? != [user] {
            return None;
        }
        let (group, groups) = (*ask(user, "-g")?.first()?, ask(user, "-G")?);
        Some(Identity { user, group, groups })
    }
}

/// The numbers that `id` tells.
fn ask(user: u32, what: &str) -> Option<Vec<u32>> {
    let mut command = Command::new("/usr/bin/id");
    command.args([what, &user.to_string()]).env_clear().stdin(Stdio::null()).stderr(Stdio::null());
    let output = command.output().ok().filter(|output| output.status.success())?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.split_whitespace().map(|number| number.parse().ok()).collect()
}

/// In whose name this thread touches files.
pub fn effective() -> u32 {
    geteuid().as_raw()
}

/// Whether this thread may touch files of everybody.
pub fn is_root() -> bool {
    geteuid().is_root()
}

/// Whether this thread acts in another name than its process was started in.
pub fn acts_for_another() -> bool {
    getuid() != geteuid()
}

/// Does the work in the name of a user, in a thread of its own; who is that user already does it in this
/// one. With a limit, the work is left alone after that time: it may hang at a server of the user's choice.
/// It may run programs only if it sets their user itself: they would inherit root as real user.
///
/// # Errors
///
/// This process may not become that user, or the kernel did not do all that was asked; then nothing of the
/// work was begun. `TimedOut`: the work has not ended in time.
///
/// # Panics
///
/// If the work does.
pub fn run_as<T: Send + 'static>(
    who: &Identity,
    limit: Option<Duration>,
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    if who.user == effective() && (limit.is_none() || !is_root()) {
        return Ok(work());
    }
    if !is_root() {
        let why = format!("only root can act for user {}", who.user);
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, why));
    }
    let (who, (send, result)) = (who.clone(), channel());
    let body = move || {
        let become_him = if who.user == effective() { Ok(()) } else { switch(&who) };
        let _ = send.send(become_him.map(|()| work()));
    };
    let thread = std::thread::Builder::new().name("as user".into()).spawn(body)?;
    let received = match limit {
        Some(limit) => result.recv_timeout(limit),
        None => result.recv().map_err(|_| RecvTimeoutError::Disconnected),
    };
    match received {
        Ok(done) => done,
        Err(RecvTimeoutError::Timeout) => Err(io::ErrorKind::TimedOut.into()),
        Err(RecvTimeoutError::Disconnected) => match thread.join() {
            Err(panic) => std::panic::resume_unwind(panic),
            Ok(()) => Err(io::Error::other("the thread has ended without a result")),
        },
    }
}

/// This thread becomes that user. An error leaves it unfit for any work.
fn switch(who: &Identity) -> io::Result<()> {
    let (user, group) = (Uid::from_raw(who.user), Gid::from_raw(who.group));
    let groups: Vec<Gid> = who.groups.iter().map(|group| Gid::from_raw(*group)).collect();
    set_thread_groups(&groups)?;
    set_thread_res_gid(None, group, None)?;
    set_thread_res_uid(None, user, None)?;
    // The kernel has done so with the change of the user, unless the process has asked to keep them.
    let sets = capabilities(None)?;
    let none = CapabilitySets { effective: CapabilitySet::empty(), ..sets };
    set_capabilities(None, none)?;
    if is_that_user(who)? { Ok(()) } else { Err(io::Error::other("the system did not change the user")) }
}

/// What the kernel says.
fn is_that_user(who: &Identity) -> io::Result<bool> {
    let sorted = |mut groups: Vec<u32>| {
        groups.sort_unstable();
        groups
    };
    let groups = sorted(getgroups()?.into_iter().map(Gid::as_raw).collect());
    let ids = (geteuid().as_raw(), getegid().as_raw()) == (who.user, who.group);
    Ok(ids && groups == sorted(who.groups.clone()) && capabilities(None)?.effective.is_empty())
}
