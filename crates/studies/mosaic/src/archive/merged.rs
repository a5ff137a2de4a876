//! Parts as one archive: that nothing is missing or twice, and their records in one order.

use super::part::{Header, PartError, Records, Written, difference};
use super::{Record, Settings};
use crate::category::Categories;
use serde::Deserialize;
use std::borrow::Cow;

/// Parts that make up an archive: the same settings, and every shard once. Their settings.
pub(super) fn check(parts: &[Written], partial: bool) -> Result<Settings, PartError> {
    let Some(first) = parts.first() else {
        return Err(PartError::Incomplete("there are no parts".into()));
    };
    let count = first.header.shard.count;
    for part in &parts[1..] {
        let same = Header { shard: part.header.shard, ..first.header.clone() };
        if let Some((expected, found)) = difference(&same, &part.header) {
            return Err(PartError::Different { path: part.path.clone(), expected, found });
        }
        if part.header.shard.count != count {
            let (expected, found) = (format!("{count} shards"), format!("{}", part.header.shard.count));
            return Err(PartError::Different { path: part.path.clone(), expected, found });
        }
    }
    if let Some(part) = parts.iter().find(|part| !part.finished && !partial) {
        let what = format!("{} is not finished: run its shard again to continue it", part.path.display());
        return Err(PartError::Incomplete(what));
    }
    let mut seen: Vec<u32> = parts.iter().map(|part| part.header.shard.index).collect();
    seen.sort_unstable();
    if let Some(twice) = seen.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(PartError::Incomplete(format!("shard {}/{count} is there twice", twice[0])));
    }
    let missing: Vec<String> = (0..count)
        .filter(|index| seen.binary_search(index).is_err())
        .map(|index| index.to_string())
        .collect();
    if !missing.is_empty() && !partial {
        return Err(PartError::Incomplete(format!("missing of {count}: {}", missing.join(", "))));
    }
    Ok(first.header.settings.clone())
}

/// A record without all that only the second pass needs.
#[derive(Debug, Deserialize)]
pub(super) struct Weight<'a> {
    #[serde(borrow)]
    pub source: Cow<'a, str>,
    #[serde(borrow, default)]
    pub valid: Option<WeightOfValid<'a>>,
}

/// See [`Weight`].
#[derive(Debug, Deserialize)]
pub(super) struct WeightOfValid<'a> {
    pub user: i64,
    #[serde(borrow)]
    pub application: Cow<'a, str>,
    pub bytes: u64,
    pub categories: Categories,
}

/// Records of several runs as one, in the order of their logs' paths. A log that is there twice counts once.
#[derive(Debug)]
pub(super) struct Merged {
    runs: Vec<Records>,
    next: std::collections::BinaryHeap<std::cmp::Reverse<(String, usize, Vec<u8>)>>,
    last: Option<String>,
}

impl Merged {
    pub fn of(parts: &[Written]) -> Result<Merged, PartError> {
        let runs = parts.iter().flat_map(Written::runs).collect::<Result<Vec<_>, _>>()?;
        let mut merged = Merged { runs, next: Default::default(), last: None };
        for run in 0..merged.runs.len() {
            merged.fetch(run)?;
        }
        Ok(merged)
    }

    fn fetch(&mut self, run: usize) -> Result<(), PartError> {
        if let Some((source, line)) = self.runs[run].next_record()? {
            self.next.push(std::cmp::Reverse((source, run, line)));
        }
        Ok(())
    }

    /// Hand every record to `visit`.
    pub fn each(
        mut self,
        mut visit: impl FnMut(&Records, &[u8]) -> Result<(), PartError>,
    ) -> Result<(), PartError> {
        while let Some(std::cmp::Reverse((source, run, line))) = self.next.pop() {
            if self.last.as_ref() != Some(&source) {
                visit(&self.runs[run], &line)?;
            }
            self.last = Some(source);
            self.fetch(run)?;
        }
        Ok(())
    }
}

/// A record of the second pass.
pub(super) fn record(from: &Records, line: &[u8]) -> Result<Record, PartError> {
    from.parse(line)
}
