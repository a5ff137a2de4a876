//! Which phases there were, and whether the last one is over.
//!
//! A phase ends when there was no request for the guard time. How soon that is known depends on the input:
//! some write out what a job did every second, also if that was nothing; some only while it does I/O; some
//! once for each phase.

/// Flushes whose distances tell how often they come.
const FLUSHES: usize = 8;

/// Without news for this many usual distances of flushes, nothing happened.
const SILENT_FLUSHES: f64 = 3.0;

/// A request may belong to one of this many last phases.
const REMEMBERED: usize = 4;

/// A phase of I/O, in seconds of job time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase {
    /// First request.
    pub start: f64,
    /// End of the last one.
    pub end: f64,
    /// What was transferred.
    pub bytes: u64,
}

/// The phases so far.
#[derive(Clone, Debug, Default)]
pub struct Phases {
    phases: Vec<Phase>,
    /// I/O after the last phase that is too little to be one, so far.
    little: Option<Phase>,
    known_until: f64,
    /// When the last flushes came.
    heard: Vec<f64>,
}

impl Phases {
    /// A request. `guard` is the silence that ends a phase, and `noise` how many bytes are not yet a phase.
    /// Says whether it belongs to the latest phase.
    pub fn request(&mut self, start: f64, end: f64, bytes: u64, guard: f64, noise: f64) -> bool {
        let last = self.phases.len();
        let near = |phase: &Phase| start <= phase.end + guard && end >= phase.start - guard;
        for (back, phase) in self.phases.iter_mut().rev().take(REMEMBERED).enumerate() {
            if near(phase) {
                phase.start = phase.start.min(start);
                phase.end = phase.end.max(end);
                phase.bytes = phase.bytes.saturating_add(bytes);
                return back == 0;
            }
        }
        if self.phases.get(last.wrapping_sub(1)).is_some_and(|phase| end < phase.end) {
            return false;
        }
        let little = match self.little.filter(near) {
            Some(before) => Phase {
                start: before.start.min(start),
                end: before.end.max(end),
                bytes: before.bytes.saturating_add(bytes),
            },
            None => Phase { start, end, bytes },
        };
        let is_phase = little.bytes as f64 >= noise;
        if is_phase {
            self.phases.push(little);
        }
        self.little = (!is_phase).then_some(little);
        is_phase
    }

    /// Everything up to `until` is known; that was heard at `now`.
    pub fn flush(&mut self, until: f64, now: f64) {
        self.known_until = self.known_until.max(until);
        if self.heard.len() >= FLUSHES {
            self.heard.remove(0);
        }
        self.heard.push(now);
    }

    /// How many there were, the one that goes on included.
    pub fn count(&self) -> usize {
        self.phases.len()
    }

    /// All of them.
    pub fn all(&self) -> &[Phase] {
        &self.phases
    }

    /// The number of the phase, from 1, in which something happened at this time, or the last one before it.
    pub fn number_at(&self, time: f64, guard: f64) -> usize {
        self.phases.partition_point(|phase| phase.start - guard <= time)
    }

    /// Since when it is quiet; `None` while a phase goes on, or may go on.
    pub fn quiet_since(&self, now: f64, guard: f64, period: Option<f64>) -> Option<f64> {
        let last = self.phases.last()?;
        let begin = last.end + guard;
        if now < begin {
            return None;
        }
        if self.known_until >= begin {
            return Some(begin);
        }
        let (heard, distance) = self.flushes()?;
        if period.is_some_and(|period| distance >= period / 2.0) {
            // One flush for a phase: it lasts as long as others did.
            let begin = last.end.max(last.start + self.usual_length()) + guard;
            return (now >= begin).then_some(begin);
        }
        let silent = heard + guard.max(SILENT_FLUSHES * distance);
        (now >= silent).then_some(silent.max(begin))
    }

    /// When `quiet_since` may have another answer without further events.
    pub fn look_again(&self, now: f64, guard: f64) -> Option<f64> {
        let last = self.phases.last()?;
        let (heard, distance) = self.flushes().unwrap_or((last.end, 0.0));
        let times = [
            last.end + guard,
            last.end.max(last.start + self.usual_length()) + guard,
            heard + guard.max(SILENT_FLUSHES * distance),
        ];
        times.into_iter().filter(|time| *time > now).min_by(f64::total_cmp)
    }

    /// When the last flush was heard of, and the usual time from one to the next.
    fn flushes(&self) -> Option<(f64, f64)> {
        let last = *self.heard.last()?;
        Some((last, statistics::upper_median(self.heard.windows(2).map(|pair| pair[1] - pair[0]))))
    }

    /// The median length of the phases before the last.
    pub fn usual_length(&self) -> f64 {
        let before = &self.phases[..self.phases.len().saturating_sub(1)];
        statistics::upper_median(before.iter().map(|phase| phase.end - phase.start))
    }
}

/// The phases of a job that is over, from its requests in the order of their starts: start, end, bytes.
pub fn phases_of(requests: impl IntoIterator<Item = (f64, f64, u64)>, guard: f64, noise: f64) -> Vec<Phase> {
    let mut phases = Phases::default();
    for (start, end, bytes) in requests {
        phases.request(start, end, bytes, guard, noise);
    }
    phases.phases
}

/// How many seconds of an interval lie in phases.
pub fn overlap(phases: &[Phase], from: f64, to: f64) -> f64 {
    let first = phases.partition_point(|phase| phase.end <= from);
    let within = phases[first..].iter().take_while(|phase| phase.start < to);
    within.map(|phase| (phase.end.min(to) - phase.start.max(from)).max(0.0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_with_little_silence_between_them_are_one_phase() {
        let mut phases = Phases::default();
        assert!(phases.request(4.0, 5.0, 100, 1.0, 0.0));
        assert!(phases.request(5.9, 6.0, 100, 1.0, 0.0));
        assert!(phases.request(14.0, 15.0, 100, 1.0, 0.0));
        assert!(!phases.request(3.5, 4.5, 50, 1.0, 0.0), "of the phase before");
        assert_eq!(phases.all()[0], Phase { start: 3.5, end: 6.0, bytes: 250 });
        assert_eq!(phases.count(), 2);
        assert_eq!((phases.number_at(5.0, 1.0), phases.number_at(10.0, 1.0)), (1, 1));
        assert_eq!((phases.number_at(0.0, 1.0), phases.number_at(14.5, 1.0)), (0, 2));
    }

    #[test]
    fn a_little_io_is_no_phase() {
        let mut phases = Phases::default();
        phases.request(4.0, 5.0, 1000, 1.0, 0.0);
        for t in [7.0, 9.0, 11.0] {
            assert!(!phases.request(t, t, 9, 1.0, 10.0));
        }
        assert!(!phases.request(14.0, 14.1, 9, 1.0, 10.0) && phases.request(14.1, 14.2, 1, 1.0, 10.0));
        assert_eq!(phases.all().last(), Some(&Phase { start: 14.0, end: 14.2, bytes: 10 }));
    }

    #[test]
    fn silence_is_believed_when_it_was_reported() {
        let mut phases = Phases::default();
        for t in 1..6 {
            phases.flush(f64::from(t), f64::from(t) + 0.1);
        }
        phases.request(3.0, 4.9, 1, 1.0, 0.0);
        assert_eq!(phases.quiet_since(5.5, 1.0, None), None);
        assert_eq!(phases.quiet_since(6.0, 1.0, None), None, "not reported yet");
        assert_eq!(phases.look_again(6.0, 1.0), Some(8.1));
        phases.flush(6.0, 6.1);
        assert_eq!(phases.quiet_since(6.1, 1.0, None), Some(5.9));
    }

    #[test]
    fn silence_is_believed_when_reports_stop() {
        let mut phases = Phases::default();
        for t in [3.2, 3.4, 3.6] {
            phases.request(t - 0.2, t, 1, 1.0, 0.0);
            phases.flush(t, t);
        }
        assert_eq!(phases.quiet_since(4.5, 1.0, None), None);
        assert_eq!(phases.quiet_since(4.7, 1.0, None), Some(4.6));
    }

    #[test]
    fn with_one_report_for_each_phase_its_usual_length_counts() {
        let mut phases = Phases::default();
        for i in 0..4 {
            let t = 10.0 * f64::from(i);
            phases.request(t, t + 3.0, 1, 1.0, 0.0);
            phases.flush(t + 3.0, t + 3.0);
        }
        phases.request(40.0, 40.5, 1, 1.0, 0.0);
        phases.flush(40.5, 40.5);
        assert_eq!(phases.quiet_since(42.0, 1.0, Some(10.0)), None, "the others took 3 s");
        assert_eq!(phases.quiet_since(44.0, 1.0, Some(10.0)), Some(44.0));
    }

    #[test]
    fn seconds_in_phases() {
        let phase = |start, end| Phase { start, end, bytes: 0 };
        let phases = [phase(0.0, 1.0), phase(5.0, 7.0), phase(10.0, 11.0)];
        assert_eq!(overlap(&phases, 0.5, 6.0), 1.5);
        assert_eq!(overlap(&phases, 1.0, 5.0), 0.0);
        assert_eq!(overlap(&phases, -1.0, 20.0), 4.0);
    }
}
