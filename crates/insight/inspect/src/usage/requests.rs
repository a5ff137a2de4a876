//! Usage from requests alone: sizes, ranks, files and times as far as the input has them.

use super::access::{Tally, join_common};
use super::{FileUsage, Flow, LayerUsage, RankUsage, Usage, sort_files};
use sources::request::is_write;
use sources::time::seconds;
use sources::{Source, SourceError, Span};
use std::collections::{BTreeMap, BTreeSet, HashMap};

pub(super) fn usage(source: Box<dyn Source>) -> Result<Usage, SourceError> {
    let (mut reads, mut writes) = (Tally::default(), Tally::default());
    let mut layer = LayerUsage::default();
    let mut ranks: BTreeMap<u32, RankUsage> = BTreeMap::new();
    let mut files: HashMap<String, (FileUsage, BTreeSet<u32>)> = HashMap::new();
    let mut unknown_rank = false;
    let mut last_end = 0;
    let in_bins = source.bin().is_some();
    let job = source.read_detailed(Span::Actual, &mut |batch| {
        for detail in batch.requests {
            let request = &detail.request;
            let write = is_write(request.class);
            let time = seconds(request.end.saturating_sub(request.start).max(0));
            last_end = last_end.max(request.end);
            if write { &mut writes } else { &mut reads }.add(request.bytes, 1, false);
            let flow = |read: &mut Flow, write_flow: &mut Flow| {
                if write { write_flow } else { read }.add(1, request.bytes, time);
            };
            flow(&mut layer.read, &mut layer.write);
            match request.rank {
                Some(rank) => {
                    let of = ranks.entry(rank).or_insert(RankUsage { rank, ..RankUsage::default() });
                    let (bytes, seconds) = if write {
                        (&mut of.bytes_written, &mut of.write_time)
                    } else {
                        (&mut of.bytes_read, &mut of.read_time)
                    };
                    *bytes = bytes.saturating_add(request.bytes);
                    *seconds += time;
                }
                None => unknown_rank = true,
            }
            let name = detail.file.and_then(|file| batch.files.iter().find(|(number, _)| *number == file));
            if let Some((_, name)) = name.filter(|(_, name)| !name.is_empty()) {
                let (file, users) = files.entry((*name).to_owned()).or_default();
                flow(&mut file.read, &mut file.write);
                users.extend(request.rank);
            }
        }
    })?;
    let mut usage = Usage {
        run_time: job.end.map_or(0.0, seconds).max(seconds(last_end)) - job.start.map_or(0.0, seconds),
        ranks: job.ranks,
        ..Usage::default()
    };
    if job.per_unit.is_some() {
        usage.gaps.push("this input is a quantity over time, and has no requests".into());
        return Ok(usage);
    }
    usage.layer = Some("requests".into());
    usage.layers.insert("requests".into(), LayerUsage { files: files.len() as u64, ..layer });
    (usage.reads, usage.writes) = (reads.finish(), writes.finish());
    usage.common = join_common(usage.reads.common.iter().chain(&usage.writes.common).copied());
    if in_bins {
        usage.common.clear();
        // What was put into bins has lost its sizes and times.
        for access in [&mut usage.reads, &mut usage.writes] {
            (access.sizes, access.small_independent, access.ops) = (None, None, 0);
            access.common.clear();
        }
        usage
            .gaps
            .push("this input holds bytes per interval: sizes and times of requests are not known".into());
    } else if !unknown_rank {
        usage.by_rank = ranks.into_values().collect();
    }
    if unknown_rank {
        usage.gaps.push("this input does not tell ranks apart".into());
    }
    let named = |(name, (file, users)): (String, (FileUsage, BTreeSet<u32>))| FileUsage {
        name,
        ranks: (!users.is_empty()).then_some(users.len() as u32),
        ..file
    };
    usage.files = files.into_iter().map(named).collect();
    sort_files(&mut usage.files);
    if usage.files.is_empty() {
        usage.gaps.push("this input does not name files".into());
    }
    usage.gaps.push("this input does not tell offsets, metadata operations or collective calls".into());
    Ok(usage)
}
