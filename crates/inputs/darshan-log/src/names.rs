//! The table of names: which file a record is about.

use std::collections::BTreeMap;

use crate::endian::{ByteOrder, Fields};
use crate::error::Result;
use crate::format::Format;
use crate::region::Region;

/// What one entry costs in memory besides its characters, roughly: for the limit on collected data.
const ENTRY_COST: u64 = 48;

/// The names of the records of a log, by record id.
///
/// An id is the hash of a path; the ids of heatmap records stand for `heatmap:POSIX` and the like. Where
/// several entries have the same id, the first that is not empty counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    by_id: BTreeMap<u64, String>,
}

impl Names {
    /// The name of a record, if the log has it.
    pub fn get(&self, id: u64) -> Option<&str> {
        self.by_id.get(&id).map(String::as_str)
    }

    /// How many records have names.
    pub fn len(&self) -> usize {
        self.by_id.len()
    }

    /// Whether the log names no records.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// All names, in ascending order of id.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.by_id.iter().map(|(id, name)| (*id, name.as_str()))
    }

    pub(crate) fn read(
        format: Format,
        order: ByteOrder,
        mut region: Region<'_>,
        longest: usize,
    ) -> Result<Names> {
        let mut names = Names::default();
        let mut collected = 0;
        let limit = region.collected_limit();
        for record in 0.. {
            region.set_record(record);
            let Some(id) = region.take(8, "a name's record id")? else { break };
            let id = Fields::new(order, id).u64();
            let bytes = if format < Format::V3_10 {
                let len = Fields::new(order, region.take_promised(4, "a name's length")?).u32() as usize;
                if len > longest {
                    return Err(region.too_large(format!("a name of {len} bytes"), longest as u64));
                }
                region.take_promised(len, "a name")?
            } else {
                region.take_to_nul(longest, "a name")?
            };
            let empty = bytes.is_empty();
            let known = names.by_id.get(&id).is_some_and(|name| !name.is_empty());
            if known || (empty && names.by_id.contains_key(&id)) {
                continue;
            }
            let name = String::from_utf8_lossy(bytes).into_owned();
            collected += name.len() as u64 + ENTRY_COST;
            names.by_id.insert(id, name);
            if collected > limit {
                return Err(region.too_large("the table of names".to_owned(), limit));
            }
        }
        Ok(names)
    }
}
