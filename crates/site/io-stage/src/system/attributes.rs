//! Owner, rights, attributes and times of a copy: like those of the original, and never wider.
//!
//! Who could not read the original must not be able to read the copy. So where the owner, the group or an
//! access list cannot be kept, rights are taken away rather than given to somebody else: set-uid and set-gid
//! bits fall with the owner, the group's rights are no more than everybody's if the group is another one, and
//! without its list a file gives nobody more than all entries of the list allow.

use files::Stat;
use rustix::fs::{
    Gid, Mode, Timespec, Timestamps, Uid, XattrFlags, fchmod, fchown, fgetxattr, flistxattr, fremovexattr,
    fsetxattr, futimens,
};
use rustix::io::Errno;
use std::ffi::CString;
use std::os::fd::BorrowedFd;

/// The access list of POSIX.
const ACL: &str = "system.posix_acl_access";
/// And the one that a folder hands on to what is made in it.
const DEFAULT_ACL: &str = "system.posix_acl_default";
/// The longest attribute, and list of names, that Linux has.
const MAX_ATTRIBUTE: usize = 64 << 10;

/// A copy gets everything that it can have. Says what it cannot.
pub(super) fn dress(like: BorrowedFd<'_>, made: BorrowedFd<'_>) -> Result<Vec<String>, Errno> {
    let original = Stat::of(like)?;
    let mut lost = Vec::new();
    let kept = give_owner(&original, made)?;
    copy_attributes(like, made, kept.both(), &mut lost);
    let mode = give_list(like, made, &original, &mut lost)?;
    fchmod(made, Mode::from_raw_mode(narrowed(mode, kept)))?;
    let time = |time: i64| Timespec {
        tv_sec: time.div_euclid(1_000_000_000),
        tv_nsec: time.rem_euclid(1_000_000_000) as _,
    };
    let (last_access, last_modification) = (time(original.accessed), time(original.modified));
    futimens(made, &Timestamps { last_access, last_modification })?;
    Ok(lost)
}

/// A new folder likewise, but for its times; its owner can always use it.
pub(super) fn dress_folder(like: BorrowedFd<'_>, made: BorrowedFd<'_>) -> Result<(), Errno> {
    let original = Stat::of(like)?;
    let kept = give_owner(&original, made)?;
    let mut lost = Vec::new();
    match attribute(like, DEFAULT_ACL) {
        Some(list) => drop(fsetxattr(made, DEFAULT_ACL, &list, XattrFlags::empty())),
        None => drop(fremovexattr(made, DEFAULT_ACL)),
    }
    let mode = give_list(like, made, &original, &mut lost)?;
    fchmod(made, Mode::from_raw_mode(narrowed(mode, kept) | 0o700))
}

/// What of the owner could be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    user: bool,
    group: bool,
}

impl Kept {
    fn both(self) -> bool {
        self.user && self.group
    }
}

fn give_owner(original: &Stat, made: BorrowedFd<'_>) -> Result<Kept, Errno> {
    let (user, group) = (Uid::from_raw(original.user), Gid::from_raw(original.group));
    // Only the administrator may give files away; a group of one's own can be set by everybody.
    if fchown(made, Some(user), Some(group)).is_err() {
        let _ = fchown(made, None, Some(group));
    }
    let found = Stat::of(made)?;
    Ok(Kept { user: found.user == original.user, group: found.group == original.group })
}

/// Rights for the owner that the copy has.
fn narrowed(mode: u32, kept: Kept) -> u32 {
    let mode = if kept.both() { mode } else { mode & !0o6000 };
    if kept.group {
        return mode;
    }
    // Who is in the new group was anybody; who was in the old group is anybody now.
    let both = (mode >> 3) & mode & 0o7;
    (mode & !0o077) | both << 3 | both
}

/// The access list of the original, if the copy can have it. Returns the rights that go with it.
fn give_list(
    like: BorrowedFd<'_>,
    made: BorrowedFd<'_>,
    original: &Stat,
    lost: &mut Vec<String>,
) -> Result<u32, Errno> {
    let Some(list) = attribute(like, ACL) else {
        // What the folder has handed on would open the copy to others.
        match fremovexattr(made, ACL) {
            Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => return Ok(original.mode),
            Err(errno) => return Err(errno),
        }
    };
    if fsetxattr(made, ACL, &list, XattrFlags::empty()).is_ok() {
        return Ok(original.mode);
    }
    match fremovexattr(made, ACL) {
        Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
        Err(errno) => return Err(errno),
    }
    lost.push("the access list (ACL)".into());
    Ok(without_list(original.mode, &list))
}

/// The rights that a file may have without its list: nobody gets more than all entries allow.
fn without_list(mode: u32, list: &[u8]) -> u32 {
    // A version, and then entries: tag, rights, and whose they are (acl(5), `posix_acl_xattr.h`).
    const USER: u16 = 0x02;
    const GROUP_OBJ: u16 = 0x04;
    const GROUP: u16 = 0x08;
    const MASK: u16 = 0x10;
    const OTHER: u16 = 0x20;
    let entries = list.get(4..).unwrap_or_default().as_chunks::<8>().0;
    let entries = entries.iter().map(|[a, b, c, d, ..]| {
        (u16::from_le_bytes([*a, *b]), u32::from(u16::from_le_bytes([*c, *d])) & 0o7)
    });
    let mask = entries.clone().find(|(tag, _)| *tag == MASK).map_or(0o7, |(_, rights)| rights);
    let of = |wanted: u16| entries.clone().filter(move |(tag, _)| *tag == wanted).map(|(_, rights)| rights);
    let named = of(USER).chain(of(GROUP)).fold(0o7, |all, rights| all & rights & mask);
    let group = of(GROUP_OBJ).next().unwrap_or(0) & mask & named;
    let other = of(OTHER).next().unwrap_or(0) & named;
    (mode & !0o077) | group << 3 | other
}

/// Attributes of the user's and, for root, of the administrator's. A file that runs with rights of its own
/// keeps them only with its owner.
fn copy_attributes(like: BorrowedFd<'_>, made: BorrowedFd<'_>, owner_kept: bool, lost: &mut Vec<String>) {
    let mut names = vec![0u8; MAX_ATTRIBUTE];
    let length = flistxattr(like, &mut names[..]).unwrap_or(0);
    let mut failed = 0;
    for name in names.get(..length).unwrap_or_default().split(|byte| *byte == 0) {
        let text = String::from_utf8_lossy(name);
        let wanted = text.starts_with("user.")
            || text.starts_with("trusted.")
            || (text == "security.capability" && owner_kept);
        if text.starts_with("system.") && !text.starts_with("system.posix_acl") {
            lost.push(format!("the attribute {}", files::printable(&text)));
        }
        let Some(name) = CString::new(name).ok().filter(|_| wanted) else { continue };
        let mut value = vec![0u8; MAX_ATTRIBUTE];
        let copied = fgetxattr(like, &name, &mut value[..]).and_then(|length| {
            fsetxattr(made, &name, value.get(..length).unwrap_or_default(), XattrFlags::empty())
        });
        failed += usize::from(copied.is_err());
    }
    if failed > 0 {
        lost.push("extended attributes".into());
    }
}

fn attribute(file: BorrowedFd<'_>, name: &str) -> Option<Vec<u8>> {
    let mut value = vec![0u8; MAX_ATTRIBUTE];
    let length = fgetxattr(file, name, &mut value[..]).ok()?;
    value.truncate(length);
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_fall_with_the_owner_and_the_group() {
        let all = Kept { user: true, group: true };
        assert_eq!(narrowed(0o6755, all), 0o6755);
        assert_eq!(narrowed(0o4755, Kept { user: false, ..all }), 0o755);
        assert_eq!(narrowed(0o2755, Kept { group: false, ..all }), 0o755);
        assert_eq!(narrowed(0o660, Kept { group: false, ..all }), 0o600, "another group gets nothing");
        assert_eq!(narrowed(0o604, Kept { group: false, ..all }), 0o600, "who was shut out stays out");
        assert_eq!(narrowed(0o1640, Kept { user: false, group: true }), 0o1640);
    }

    #[test]
    fn without_its_list_nobody_gets_more() {
        let entry = |tag: u16, rights: u16, id: u32| {
            [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
        };
        let list = |entries: &[(u16, u16, u32)]| {
            let entries = entries.iter().flat_map(|(tag, rights, id)| entry(*tag, *rights, *id));
            [2u8, 0, 0, 0].into_iter().chain(entries).collect::<Vec<u8>>()
        };
        let nobody = u32::MAX;
        // u::rw u:anna:rw g::--- m::rw o::---: the mode says 0660, the group may nothing.
        let secret = list(&[(1, 6, nobody), (2, 6, 7), (4, 0, nobody), (16, 6, nobody), (32, 0, nobody)]);
        assert_eq!(without_list(0o660, &secret), 0o600);
        // u:bert:--- with everybody else allowed: Bert would be anybody.
        let shut_out = list(&[(1, 6, nobody), (2, 0, 8), (4, 4, nobody), (16, 6, nobody), (32, 4, nobody)]);
        assert_eq!(without_list(0o664, &shut_out), 0o600);
        let wider = list(&[(1, 6, nobody), (8, 7, 9), (4, 6, nobody), (16, 4, nobody), (32, 0, nobody)]);
        assert_eq!(without_list(0o640, &wider), 0o640);
        assert_eq!(without_list(0o777, b""), 0o700, "what cannot be read gives nothing");
    }
}
