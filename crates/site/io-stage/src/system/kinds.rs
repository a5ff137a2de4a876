//! What file systems tell.

use rustix::fs::fstatfs;
use std::os::fd::AsFd;
use std::time::Duration;

/// File systems of this machine alone that set the times of a file at the first write through a mapping, and
/// at every other write: ext2 to ext4, XFS, Btrfs, F2FS. tmpfs does not; of others it is not known.
const TELL: [i64; 4] = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010];
/// Those whose times come from the clock of this machine, besides: tmpfs and ramfs.
const LOCAL: [i64; 2] = [0x0102_1994, 0x8584_58F6];

/// Clocks of files tick with the kernel's, every 1 to 10 ms.
const TICK: Duration = Duration::from_millis(25);
/// Where a server sets them, perhaps every second, and its clock may differ by this much.
const SERVERS_TICK: Duration = Duration::from_millis(1100);
const CLOCKS_DIFFER: Duration = Duration::from_secs(60);

fn kind(file: impl AsFd) -> i64 {
    #[allow(clippy::unnecessary_cast)] // the widths differ between processors
    fstatfs(file).map_or(0, |found| found.f_type as i64)
}

/// Does the file system tell every write, also through a mapping?
pub(super) fn tells(file: impl AsFd) -> bool {
    TELL.contains(&kind(file))
}

/// How near to now a time of change is too near, and how long to wait then.
pub(super) fn tick(file: impl AsFd, changed: i64) -> (Duration, Duration) {
    let kind = kind(file);
    let own_clock = TELL.contains(&kind) || LOCAL.contains(&kind);
    match (own_clock, changed % 1_000_000_000 == 0) {
        (true, _) => (TICK, TICK),
        (false, false) => (CLOCKS_DIFFER, TICK),
        (false, true) => (CLOCKS_DIFFER, SERVERS_TICK),
    }
}
