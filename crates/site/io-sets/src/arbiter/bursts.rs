//! When a job did I/O, and what of it are phases.
//!
//! A burst lasts from the moment a job asks to the moment its last operation has ended. Between bursts there
//! is silence: short ones within a phase, long ones between phases. What is long depends on the job, so it
//! follows from the silences that were seen: if they fall into two groups with a clear distance, the border
//! is between them; if they are all alike, each ends a phase.

/// Silences shorter than this never end a phase.
const MIN_SILENCE: f64 = 0.05;
/// Silences longer than this always do.
const MAX_SILENCE: f64 = 10.0;
/// The larger of two silences that belong to different groups is so many times the smaller one.
const DISTANCE: f64 = 4.0;
/// How many bursts are remembered.
const MAX_BURSTS: usize = 64;
/// Over how many distances of phases the period is the mean.
const MAX_DISTANCES: usize = 8;

#[derive(Clone, Copy, Debug, PartialEq)]
struct Burst {
    start: f64,
    end: f64,
    bytes: u64,
}

/// The bursts of a job, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Bursts {
    list: Vec<Burst>,
    /// Older ones were forgotten: the first phase that is known began earlier than it seems.
    forgotten: bool,
}

impl Bursts {
    /// The job asks after it was idle. Tells whether a phase begins with it.
    pub(crate) fn begin(&mut self, now: f64) -> bool {
        match self.list.last_mut() {
            Some(last) if now - last.end < MIN_SILENCE => {
                last.end = now;
                return false;
            }
            _ => self.list.push(Burst { start: now, end: now, bytes: 0 }),
        }
        if self.list.len() > MAX_BURSTS {
            self.forget_one();
        }
        let last = self.list.len() - 1;
        last == 0 || self.gap(last) >= self.silence()
    }

    /// It is still doing I/O, or has ended it.
    pub(crate) fn until(&mut self, now: f64) {
        if let Some(last) = self.list.last_mut() {
            last.end = last.end.max(now);
        }
    }

    pub(crate) fn add(&mut self, bytes: u64) {
        if let Some(last) = self.list.last_mut() {
            last.bytes += bytes;
        }
    }

    /// When the last one ended.
    pub(crate) fn ended(&self) -> Option<f64> {
        self.list.last().map(|last| last.end)
    }

    /// The silence before a burst.
    fn gap(&self, index: usize) -> f64 {
        self.list[index].start - self.list[index - 1].end
    }

    /// Of short silences there may be thousands in a phase: the bursts around the shortest become one. If all
    /// are alike, the oldest goes.
    fn forget_one(&mut self) {
        let by_length = |a: &usize, b: &usize| self.gap(*a).total_cmp(&self.gap(*b));
        // Not the newest one: whether a phase begins with it is to be decided.
        let short = (1..self.list.len() - 1).min_by(by_length);
        let (Some(short), Some(long)) = (short, (1..self.list.len()).max_by(by_length)) else { return };
        if self.gap(short) * DISTANCE < self.gap(long) {
            let later = self.list.remove(short);
            let earlier = &mut self.list[short - 1];
            earlier.end = later.end;
            earlier.bytes += later.bytes;
        } else {
            self.list.remove(0);
            self.forgotten = true;
        }
    }

    /// Silences of this length and longer end a phase.
    pub(crate) fn silence(&self) -> f64 {
        let mut gaps: Vec<f64> = (1..self.list.len()).map(|index| self.gap(index)).collect();
        gaps.sort_by(f64::total_cmp);
        let ratio = |pair: &&[f64]| pair[1] / pair[0].max(1e-3);
        let widest = gaps.windows(2).max_by(|a, b| ratio(a).total_cmp(&ratio(b)));
        let border = match (widest, gaps.first()) {
            (Some(pair), _) if ratio(&pair) >= DISTANCE => (pair[0] * pair[1]).sqrt(),
            (_, Some(shortest)) => 0.8 * shortest,
            _ => 1.0,
        };
        border.clamp(MIN_SILENCE, MAX_SILENCE)
    }

    /// Start and bytes of each phase, oldest first.
    fn phases(&self) -> Vec<(f64, u64)> {
        let bursts = self.list.iter().map(|burst| (burst.start, burst.end, burst.bytes));
        let phases = statistics::phases(bursts, self.silence());
        phases.into_iter().map(|phase| (phase.start, phase.bytes)).collect()
    }

    /// The mean time from the start of a phase to that of the next, and when the last one began.
    pub(crate) fn period(&self) -> Option<(f64, f64)> {
        let phases = self.phases();
        let last = phases.last()?.0;
        let whole = phases.len() - usize::from(self.forgotten && phases.len() > 2);
        let distances = (whole - 1).min(MAX_DISTANCES);
        let first = phases[phases.len() - 1 - distances].0;
        (distances > 0).then(|| ((last - first) / distances as f64, last))
    }

    /// How many bytes a phase of this job has: the median of the last five that are over.
    pub(crate) fn typical_bytes(&self) -> Option<f64> {
        let mut phases = self.phases();
        phases.pop();
        let mut bytes: Vec<u64> = phases.iter().rev().take(5).map(|phase| phase.1).collect();
        bytes.sort_unstable();
        bytes.get(bytes.len() / 2).map(|&bytes| bytes as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tells the bursts of a job; gives how many phases were seen to begin.
    fn tell(bursts: &mut Bursts, list: &[(f64, f64)]) -> usize {
        let mut begun = 0;
        for &(start, end) in list {
            begun += usize::from(bursts.begin(start));
            bursts.add(10);
            bursts.until(end);
        }
        begun
    }

    #[test]
    fn a_job_that_computes_for_less_than_a_second() {
        let mut bursts = Bursts::default();
        let list: Vec<_> = (0..10).map(|i| (0.9 + f64::from(i) * 0.96, 0.96 * f64::from(i + 1))).collect();
        assert_eq!(tell(&mut bursts, &list), 10);
        assert!((bursts.period().unwrap().0 - 0.96).abs() < 1e-9);
        assert_eq!(bursts.typical_bytes(), Some(10.0));
    }

    #[test]
    fn thinking_between_writes_does_not_end_a_phase() {
        let mut bursts = Bursts::default();
        let mut list = Vec::new();
        // 300 writes with 0.2 s between, every 100 s.
        for phase in 0..4 {
            list.extend((0..300).map(|i| {
                let start = f64::from(phase) * 100.0 + f64::from(i) * 0.21;
                (start, start + 0.01)
            }));
        }
        tell(&mut bursts, &list);
        let (period, last) = bursts.period().unwrap();
        assert!((period - 100.0).abs() < 1.0, "{period}");
        assert!((last - 300.0).abs() < 1e-9, "{last}");
        let bytes = bursts.typical_bytes().unwrap();
        assert!((bytes - 3000.0).abs() <= 10.0, "{bytes}");
    }

    #[test]
    fn silences_that_are_all_alike_each_end_a_phase_and_tiny_ones_none() {
        let mut bursts = Bursts::default();
        assert_eq!(tell(&mut bursts, &[(0.0, 0.1), (0.12, 0.2), (0.21, 0.3)]), 1);
        assert_eq!(bursts.period(), None);
        let list: Vec<_> = (1..100).map(|i| (f64::from(i) * 3.0, f64::from(i) * 3.0 + 1.0)).collect();
        assert_eq!(tell(&mut bursts, &list), 99);
        assert!((bursts.period().unwrap().0 - 3.0).abs() < 1e-9);
    }

    #[test]
    fn a_changed_rhythm_is_learned() {
        let mut bursts = Bursts::default();
        let mut now = 0.0;
        for gap in [vec![1.0; 70], vec![8.0; 20]].concat() {
            tell(&mut bursts, &[(now, now + 0.1)]);
            now += 0.1 + gap;
        }
        let (period, _) = bursts.period().unwrap();
        assert!((period - 8.1).abs() < 0.2, "{period}");
    }
}
