//! Which logs of an archive a machine takes.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// One of `count` shards.
///
/// A log belongs to a shard by a hash of its path, so that machines need not agree on anything but the paths,
/// and a log that is added while they work moves no other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// From 0 to `count` − 1.
    pub index: u32,
    /// How many there are.
    pub count: u32,
}

impl Shard {
    /// The whole archive.
    pub const WHOLE: Shard = Shard { index: 0, count: 1 };

    /// Does a log belong to it?
    pub fn takes(self, path: &str) -> bool {
        self.count <= 1 || hash(path) % u64::from(self.count) == u64::from(self.index)
    }
}

/// `I/N`, counted from 0 or from 1: N/N is the same shard as 0/N.
impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("expected I/N with I from 0 to N, as in 3/16, found {text:?}");
        let (index, count) = text.split_once('/').ok_or_else(expected)?;
        let index: u32 = index.trim().parse().map_err(|_| expected())?;
        let count: u32 = count.trim().parse().map_err(|_| expected())?;
        if count == 0 || index > count {
            return Err(expected());
        }
        Ok(Shard { index: index % count, count })
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.count)
    }
}

/// A hash that is the same on every machine: FNV-1a of 64 bits, with its bits mixed once more so that its
/// lower ones will do.
pub(crate) fn hash(text: &str) -> u64 {
    let fnv = text.bytes().fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ (mixed >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_counted_from_0_or_1() {
        assert_eq!("0/4".parse(), Ok(Shard { index: 0, count: 4 }));
        assert_eq!("4/4".parse(), Ok(Shard { index: 0, count: 4 }));
        assert_eq!("3/4".parse(), Ok(Shard { index: 3, count: 4 }));
        for wrong in ["", "3", "5/4", "0/0", "-1/4", "a/b", "1/4/2"] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn every_log_belongs_to_one_shard_and_shards_are_even() {
        let mut sizes = [0; 7];
        for i in 0..7000 {
            let path = format!("/logs/2019/{}/{i}.darshan", i % 12);
            let taken: Vec<u32> = (0..7).filter(|&index| Shard { index, count: 7 }.takes(&path)).collect();
            assert_eq!(taken.len(), 1);
            sizes[taken[0] as usize] += 1;
        }
        assert!(sizes.iter().all(|size| (850..1150).contains(size)), "{sizes:?}");
    }
}
