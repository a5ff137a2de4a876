//! The end of the job: one trace of all ranks' records.
//!
//! The helper of each node writes what the ranks of that node have; one rank of the node, its leader, asks it
//! to. A scan over the leaders tells where each node's bytes go in `OUT.NUMBER.tmp`; no two nodes touch one
//! page of it. All agree that it worked, and rank 0's helper gives the trace its place. That is the commit.
//! Then parts and spools go.
//!
//! Whatever fails before the commit, nothing is removed that is not somewhere else.

use crate::options::Options;
use crate::process::preloaded::{self, Spool};
use crate::process::system::ProcessIo;
use crate::process::{clock, message, system};
use crate::ranks::ask::Helper;
use crate::ranks::clocks;
use crate::ranks::nodes::Nodes;
use crate::ranks::plan::Plan;
use crate::ranks::world::{NO_MPI, World, agree, receive_numbers, send_numbers};
use crate::store::in_flight;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tmio_spool::control;
use tmio_spool::layout;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{Beside, Header, RankInfo};

/// The unit that no two nodes share.
const PAGE: u64 = 4096;
/// A job of which nothing was recorded gets a trace only if it was asked for by name, and if the program has
/// moved this much otherwise: the trace then says so.
const OTHER_IO: i64 = 1 << 20;

/// What a rank brings to the commit.
pub(crate) struct Job<'a> {
    pub(crate) options: &'a Options,
    /// As it was agreed on at the start.
    pub(crate) plan: &'a Plan,
    pub(crate) header: &'a Header,
    pub(crate) info: &'a RankInfo,
    /// The lowest of the ranks that began together.
    pub(crate) is_first: bool,
    /// The same number for all ranks of a node that began together.
    pub(crate) node: i64,
    pub(crate) io_at_start: ProcessIo,
    /// Nanoseconds that the start took.
    pub(crate) start_time: i64,
}

pub(crate) fn commit(job: &Job<'_>, world: &dyn World) {
    let began = clock::monotonic();
    let mut helper = Helper::new(job.options.finalize_timeout);
    match try_commit(job, world, &mut helper, began) {
        Ok(None) => {
            preloaded::get().inspect(|core| (core.end)(true));
        }
        Ok(Some(done)) if world.rank() == 0 => {
            // A name that was not asked for needs no word.
            if done.path != done.wanted && job.options.output.is_some() {
                let (wanted, path) = (done.wanted.display(), done.path.display());
                message::remark(format_args!("{wanted} is the trace of another job; this one is {path}"));
            }
            if done.lost > 0 {
                message::warn(format_args!("{} operations could not be kept", done.lost));
            }
            if !done.note.is_empty() {
                message::warn(&done.note);
            }
            message::info(format_args!("{} operations in {}", done.operations, done.path.display()));
        }
        Ok(Some(_)) => {}
        Err(reason) => {
            let waited = Duration::from_nanos((clock::monotonic() - began).max(0) as u64);
            let reason = match reason == NO_MPI && waited >= job.options.finalize_timeout {
                true => helper.nobody_answered(),
                false => reason,
            };
            keep(job, world, &reason, &mut helper);
        }
    }
}

/// Why there is no trace if no rank could make a spool.
const NO_ROOM: &str = "no memory can be had for records";

/// There is no trace: the helper writes what there is to the parts, or does when the file system answers
/// again.
fn keep(job: &Job<'_>, world: &dyn World, reason: &str, helper: &mut Helper) {
    let is_leader = Nodes::find(world, job.node).is_some_and(|nodes| nodes.is_leader());
    let kept = match is_leader && !helper.is_late() && !reason.starts_with(NO_ROOM) {
        true => helper.ask(control::KEEP, [0; 6], b"").map(|([lost, failed, ..], _)| (lost, failed)),
        false => Ok((0, 0)),
    };
    let lost = world.sum(kept.as_ref().map_or(0, |(lost, _)| *lost as i64));
    let failed = world.sum(kept.as_ref().map_or(0, |(_, failed)| *failed as i64));
    if world.rank() == 0 {
        let output = job.plan.place.path.display();
        let rest = match (failed, lost) {
            // What could not be written anywhere is said by the reason.
            (Some(1..), _) => String::new(),
            _ if reason.starts_with(NO_ROOM) => String::new(),
            (_, Some(lost @ 1..)) => {
                format!("; {lost} operations are lost, `ftio {output}` reads the others")
            }
            (_, _) if helper.is_late() || kept.is_err() => {
                format!("; `ftio recover {output}` finds what was recorded")
            }
            (_, _) => format!("; `ftio {output}` reads what was recorded from its parts"),
        };
        let what = if matches!(failed, Some(1..)) || reason.starts_with(NO_ROOM) {
            "no trace"
        } else {
            "no complete trace"
        };
        message::warn(format_args!("{what}: {reason}{rest}"));
    }
}

struct Done {
    operations: i64,
    lost: i64,
    wanted: PathBuf,
    path: PathBuf,
    /// Something that the helper has said about it.
    note: String,
}

/// `None`: there was nothing to record.
fn try_commit(
    job: &Job<'_>,
    world: &dyn World,
    helper: &mut Helper,
    began: i64,
) -> Result<Option<Done>, String> {
    // Nodes that began by themselves have plans of their own until now.
    let plan = Plan::agree(world, || Ok(job.plan.clone()))?;
    let nodes = Nodes::find(world, job.node).ok_or(NO_MPI)?;
    let offset = clocks::compare(world, &nodes, &clock::monotonic).ok_or(NO_MPI)?;
    let spool = Spool::if_any();
    let has_records = spool.is_some_and(|spool| spool.word(layout::FLAGS) & layout::FLAG_KEPT != 0);
    let has_layers = spool.is_some_and(|spool| spool.word(layout::FLAGS) & layout::FLAG_LAYERS != 0);
    let recorded = world.sum(i64::from(has_records)).ok_or(NO_MPI)?;
    let layers = world.sum(i64::from(has_layers)).ok_or(NO_MPI)? > 0;
    let mut info = final_info(job, &plan, offset, spool);
    let other_io = world.sum((info.process_read + info.process_written) as i64).ok_or(NO_MPI)?;
    let nowhere = world.sum(in_flight::kept_nowhere()).ok_or(NO_MPI)?;
    if recorded == 0 && nowhere > 0 {
        return Err(format!("{NO_ROOM}; all {nowhere} operations are lost"));
    }
    if recorded == 0 && (job.options.output.is_none() || other_io < OTHER_IO) {
        return Ok(None);
    }
    info.overhead += clock::monotonic() - began;
    let has_spool = tell(job, &plan, layers, &info);

    // The helper of the node takes what its ranks have, in as much detail as the largest size allows.
    let node_ranks = sum_of_node(world, &nodes, u64::from(has_spool)).ok_or(NO_MPI)?;
    let mut taken = [0u64; 3];
    for detail in 0..4 {
        let answer = match nodes.is_leader() && node_ranks > 0 {
            true => helper
                .ask(control::TAKE, [node_ranks, detail, 0, 0, 0, 0], b"")
                .map(|([a, b, c, ..], _)| [a, b, c]),
            false => Ok([0; 3]),
        };
        agree(world, answer.as_ref().map(drop).map_err(Clone::clone))?;
        taken = answer?;
        let [length, ..] = taken;
        let total = world.sum(length as i64).ok_or(NO_MPI)?;
        if plan.max_bytes == 0 || total as u64 <= plan.max_bytes {
            break;
        }
    }
    let [length, operations, lost] = taken;
    let aligned = if nodes.count > 1 { align(length) } else { length };
    let operations = world.sum(operations as i64).ok_or(NO_MPI)?;
    let lost = world.sum(lost as i64).ok_or(NO_MPI)? + nowhere;
    let before = world.sum_before(aligned as i64).ok_or(NO_MPI)? as u64;
    let total = world.sum(aligned as i64).ok_or(NO_MPI)? as u64;

    let temporary = with_suffix(&plan.place.path, &format!(".{:016x}.tmp", plan.number));
    let temporary = temporary.as_os_str().as_bytes();
    let asked = |helper: &mut Helper, yes: bool, what: u64, numbers: [u64; 6], text: &[u8]| match yes {
        true => helper.ask(what, numbers, text).map(|(_, text)| text),
        false => Ok(Vec::new()),
    };
    let is_first = world.rank() == 0;
    agree(world, asked(helper, is_first, control::MAKE, [0; 6], temporary).map(drop))?;
    let numbers = [before, aligned - length, 0, 0, 0, 0];
    agree(
        world,
        asked(helper, nodes.is_leader() && length > 0, control::WRITE, numbers, temporary).map(drop),
    )?;
    let end = (clock::monotonic() - plan.epoch) as u64;
    let numbers = [total, end, u64::from(world.size()), operations as u64, 0, 0];
    let finished = asked(helper, is_first, control::FINISH, numbers, temporary);
    agree(world, finished.as_ref().map(drop).map_err(Clone::clone))?;
    let finished = finished?;
    // The path, and perhaps something to be said about it.
    let mut answers = finished.splitn(2, |&byte| byte == 0);
    let path = PathBuf::from(OsStr::from_bytes(answers.next().unwrap_or_default()));
    let note = String::from_utf8_lossy(answers.next().unwrap_or_default()).into_owned();
    let _ = asked(helper, nodes.is_leader() && node_ranks > 0, control::CLEAR, [0; 6], b"");
    let _ = world.minimum(0);
    Ok(Some(Done { operations, lost, wanted: plan.place.path, path, note }))
}

/// What is known of this rank now that it ends.
fn final_info(job: &Job<'_>, plan: &Plan, (offset, error): (i64, i64), spool: Option<Spool>) -> RankInfo {
    let mut info = job.info.clone();
    if plan.epoch != job.plan.epoch {
        // The start was told by this node's own first rank.
        info.clock.iter_mut().for_each(|first| {
            (first.job, first.error) = (first.local + offset - plan.epoch, error);
        });
    }
    info.clock.push(clock::sample(plan.epoch, offset, error));
    info.finished = true;
    let word = |index: usize| spool.map_or(0, |spool| spool.word(index));
    info.overhead = job.start_time + word(layout::OWN_NS) as i64;
    let io = system::process_io(std::process::id()).since(job.io_at_start);
    (info.process_read, info.process_written) = (io.read, io.written);
    info.beside = spool.is_some().then(|| Beside {
        read: word(layout::BESIDE_READ),
        written: word(layout::BESIDE_WRITTEN),
        device_read: io.device_read,
        device_written: io.device_written,
    });
    info
}

/// Puts the frames with which this rank begins in the trace into its spool, for the helper. `false`: there is
/// no spool.
fn tell(job: &Job<'_>, plan: &Plan, layers: bool, info: &RankInfo) -> bool {
    let Some(spool) = Spool::make() else { return false };
    let mut frames = Vec::new();
    if info.rank == 0 || job.is_first {
        let mut header = job.header.clone();
        (header.start, header.job, header.number) = (plan.start, plan.job.clone(), Some(plan.number));
        header.layers = layers;
        frames = frame::encode(FrameKind::Header, &header).unwrap_or_default();
    }
    frames.extend(frame::encode(FrameKind::Rank, info).unwrap_or_default());
    if !spool.set_front(&frames) {
        return false;
    }
    spool.set(layout::STATE, layout::FINALIZING);
    true
}

/// The sum over all ranks of the node; only its leader gets the right answer.
fn sum_of_node(world: &dyn World, nodes: &Nodes, mine: u64) -> Option<u64> {
    let after = match nodes.next {
        Some(next) => receive_numbers::<1>(world, next)?.map(|sum| sum as u64),
        None => [0],
    };
    let sum = mine + after.iter().sum::<u64>();
    if let Some(previous) = nodes.previous {
        send_numbers(world, previous, [sum as i64])?;
    }
    Some(sum)
}

/// Up to the next page, with room for a frame that fills it.
fn align(length: u64) -> u64 {
    let aligned = length.next_multiple_of(PAGE);
    match aligned - length {
        0 => aligned,
        gap if gap < frame::HEAD as u64 => aligned + PAGE,
        _ => aligned,
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tmio_trace::frame::padding;

    #[test]
    fn the_gap_to_the_next_page_has_room_for_a_frame() {
        for length in 0..3 * PAGE {
            let aligned = align(length);
            assert!(
                aligned.is_multiple_of(PAGE)
                    && aligned >= length
                    && aligned - length < PAGE + frame::HEAD as u64
            );
            assert!(aligned == length || padding((aligned - length) as usize).is_some());
        }
    }
}
