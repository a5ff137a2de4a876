//! What the ranks do in each phase: how many take part, how far apart they begin, and how much of their time
//! it takes.
//!
//! A request belongs to the phase in which it begins. What lies between two phases is divided half-way: what
//! trails after a phase belongs to it, and a slow first request to the phase that it leads into.

use crate::waiting::Waiting;
use ftio_core::detect::detection::Detection;
use ftio_core::detect::listed_phases::ListedPhase;
use sources::darshan::DarshanLog;
use sources::request::{Detail, Mode, Request, Span};
use sources::time::{nanoseconds, seconds, seconds_of_sum};
use sources::{Source, SourceError};
use std::collections::{BTreeMap, HashMap};

/// First requests of ranks that are remembered over all phases. Of jobs with more it is not told how far
/// apart their ranks begin.
const MAX_BEGINS: usize = 4_000_000;

/// What the ranks do in one phase. What the input does not tell is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Participation {
    /// Ranks that move bytes.
    pub ranks: Option<u32>,
    /// Seconds in which ranks could do nothing else, over all ranks: in blocking calls, and in calls that
    /// issue, test and wait for nonblocking requests.
    pub lost_time: Option<f64>,
    /// Seconds between the first and the last of these ranks to begin; `None` if there is only one.
    pub spread: Option<f64>,
}

/// What the ranks do in each phase of a result, in the order of the phases.
///
/// # Errors
///
/// The source cannot be read.
pub fn participation(
    source: Box<dyn Source + '_>,
    found: &Detection,
) -> Result<Vec<Participation>, SourceError> {
    let mut counting = Counting::new(found);
    let job = source.read_detailed(Span::Actual, &mut |batch| {
        batch.requests.iter().for_each(|detail| counting.add(detail));
    })?;
    Ok(counting.finish(job.sampled))
}

/// The same from the heatmap of a Darshan log.
pub fn participation_in_heat(log: &DarshanLog, found: &Detection) -> Vec<Participation> {
    let mut counting = Counting::new(found);
    let bin = log.heat_of_ranks(&mut |request| counting.add(&Detail::new(request)));
    counting.finish(bin)
}

struct Counting {
    mode: Mode,
    /// Where each phase begins, in nanoseconds; and where the last one ends.
    cuts: Vec<i64>,
    phases: Vec<OfPhase>,
    waiting: Waiting,
    begins: usize,
}

#[derive(Default)]
struct OfPhase {
    /// Which ranks were seen: 64 of them in each entry.
    seen: BTreeMap<u32, u64>,
    /// When each of them began.
    begins: HashMap<u32, i64>,
    lost: i128,
    /// A request of nobody in particular was seen, or one of which it is not known how long it took.
    without_rank: bool,
    without_time: bool,
}

impl Counting {
    fn new(found: &Detection) -> Self {
        Counting {
            mode: found.mode,
            cuts: cuts(&found.phases, [found.t_start, found.t_end]),
            phases: found.phases.iter().map(|_| OfPhase::default()).collect(),
            waiting: Waiting::default(),
            begins: 0,
        }
    }

    fn add(&mut self, detail: &Detail) {
        let Request { start, bytes, class, rank, .. } = detail.request;
        if !self.mode.selects(class) || bytes == 0 {
            return;
        }
        let Some(place) = self.cuts.partition_point(|cut| *cut <= start).checked_sub(1) else { return };
        let Some(phase) = self.phases.get_mut(place) else { return };
        let Some(rank) = rank else {
            phase.without_rank = true;
            return;
        };
        *phase.seen.entry(rank / 64).or_default() |= 1 << (rank % 64);
        if self.begins <= MAX_BEGINS {
            let begin = phase.begins.entry(rank).or_insert_with(|| {
                self.begins += 1;
                start
            });
            *begin = start.min(*begin);
        }
        match detail.held {
            Some(held) => {
                let waited = held.wait.map_or(0, |wait| self.waiting.wait(rank, held.thread, wait));
                phase.lost += i128::from(held.calls) + waited;
            }
            None => phase.without_time = true,
        }
    }

    /// `bin`: requests have been put into bins of this many nanoseconds.
    fn finish(self, bin: Option<i64>) -> Vec<Participation> {
        let all_begins = self.begins <= MAX_BEGINS;
        self.phases.iter().map(|phase| phase.told(all_begins, bin)).collect()
    }
}

impl OfPhase {
    fn told(&self, all_begins: bool, bin: Option<i64>) -> Participation {
        let ranks = self.seen.values().map(|bits| bits.count_ones()).sum::<u32>();
        if self.without_rank || ranks == 0 {
            return Participation::default();
        }
        let first = self.begins.values().min().copied().unwrap_or(0);
        let last = self.begins.values().max().copied().unwrap_or(0);
        let apart = last.saturating_sub(first);
        // What is less than a bin is not known.
        let known = all_begins && ranks > 1 && bin.is_none_or(|bin| apart >= bin);
        Participation {
            ranks: Some(ranks),
            lost_time: (bin.is_none() && !self.without_time).then(|| seconds_of_sum(self.lost)),
            spread: known.then(|| seconds(apart)),
        }
    }
}

/// Where each phase begins, and where the last one ends: half-way between two phases. The first reaches as
/// far on its outer side, and the last to the end of the window; a single one has all of it.
fn cuts(phases: &[ListedPhase], window: [f64; 2]) -> Vec<i64> {
    let half_way = |pair: &[ListedPhase]| 0.5 * (pair[1].start - pair[0].end);
    let Some(first) = phases.first() else { return Vec::new() };
    let reach = phases.windows(2).next().map_or(f64::INFINITY, half_way);
    let mut cuts = vec![(first.start - reach).max(window[0])];
    cuts.extend(phases.windows(2).map(|pair| pair[0].end + half_way(pair)));
    cuts.push(window[1]);
    cuts.into_iter().map(nanoseconds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use sources::request::{Class, Held};
    use sources::{InMemory, Job};

    const MS: i64 = 1_000_000;

    fn phase(start: f64, end: f64) -> ListedPhase {
        ListedPhase { start, end, bytes: 1, ..ListedPhase::default() }
    }

    fn found(phases: &[ListedPhase]) -> Detection {
        let mut found = Detection::default();
        (found.t_end, found.phases) = (100.0, phases.to_vec());
        found
    }

    fn of_rank(rank: u32, from: i64, to: i64) -> Request {
        Request { rank: Some(rank), ..Request::new(from * MS, to * MS, 10, Class::WriteSync) }
    }

    fn counted(found: &Detection, details: &[Detail], bin: Option<i64>) -> Vec<Participation> {
        let mut counting = Counting::new(found);
        details.iter().for_each(|detail| counting.add(detail));
        counting.finish(bin)
    }

    #[test]
    fn ranks_times_and_begins_of_each_phase() {
        let found = found(&[phase(10.0, 11.0), phase(20.0, 21.0)]);
        let requests = [
            // A slow first request of rank 70, before the phase begins as it is counted.
            of_rank(70, 9_900, 10_400),
            of_rank(0, 10_000, 10_500),
            of_rank(0, 10_500, 11_000),
            // What trails after it.
            of_rank(1, 14_000, 14_100),
            of_rank(1, 20_000, 21_000),
            // Reads are not of this mode, and what is long before the first phase is of none.
            Request { class: Class::ReadSync, ..of_rank(5, 20_000, 21_000) },
            of_rank(9, 1_000, 2_000),
        ];
        let source = Box::new(InMemory { requests: &requests, job: Job::default() });
        let told = participation(source, &found).unwrap();
        let first = Participation { ranks: Some(3), lost_time: Some(1.6), spread: Some(4.1) };
        assert_eq!(told[0], first);
        // One rank has nobody to begin apart from.
        assert_eq!(told[1], Participation { ranks: Some(1), lost_time: Some(1.0), spread: None });
    }

    #[test]
    fn one_wait_for_several_requests_counts_once() {
        let held = Held { calls: MS, wait: Some((10_500 * MS, 10_700 * MS)), thread: 0 };
        let request = Request { class: Class::WriteAsync, ..of_rank(0, 10_000, 10_700) };
        let one = Detail { held: Some(held), ..Detail::new(request) };
        let told = counted(&found(&[phase(10.0, 11.0)]), &[one, one, one], None);
        assert_eq!(told[0].lost_time, Some(0.203));
        // Nonblocking, and not known when it was waited for.
        let told = counted(&found(&[phase(10.0, 11.0)]), &[one, Detail::new(request)], None);
        assert_eq!((told[0].ranks, told[0].lost_time), (Some(1), None));
    }

    #[test]
    fn what_is_not_known_is_absent() {
        let found = found(&[phase(10.0, 11.0)]);
        let nobody = Request { rank: None, ..of_rank(0, 10_000, 10_500) };
        let with_nobody = [Detail::new(of_rank(1, 10_000, 10_500)), Detail::new(nobody)];
        assert_eq!(counted(&found, &with_nobody, None), [Participation::default()]);
        assert_eq!(counted(&found, &[], None), [Participation::default()]);
        // In bins, times are not known, and begins only as far as bins are apart.
        let apart = |to: i64| {
            let two = [of_rank(0, 10_000, 10_100), of_rank(1, to, to + 100)].map(Detail::new);
            counted(&found, &two, Some(100 * MS))[0]
        };
        assert_eq!(apart(10_000), Participation { ranks: Some(2), lost_time: None, spread: None });
        assert_eq!(apart(10_300).spread, Some(0.3));
    }

    #[test]
    fn any_request_has_at_most_one_phase() {
        assert!(cuts(&[], [0.0, 1.0]).is_empty());
        assert_eq!(cuts(&[phase(3.0, 4.0)], [0.0, 9.0]), [0, 9_000 * MS]);
        let three = [phase(3.0, 4.0), phase(6.0, 7.0), phase(7.0, 8.0)];
        assert_eq!(cuts(&three, [2.5, 9.0]), [2_500, 5_000, 7_000, 9_000].map(|ms| ms * MS));
    }
}
