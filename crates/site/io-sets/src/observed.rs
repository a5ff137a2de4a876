//! What was seen of a job's I/O so far, and whether it supports a period that somebody predicts.
//!
//! Applications that share a file system leave their mark in each other's bandwidth: during a long I/O phase
//! of one, the short phases of another make dents in it at their period. Seen from within that phase, and
//! nothing else has been seen of a job that has just done its first I/O, the period of the dents is all there
//! is. But a job that was silent for six minutes before does not do I/O every twenty seconds. So a period
//! that is much shorter than the silence before the first request is believed only when the job has shown it
//! for twice as long as it had been silent.

/// A silence of up to this many periods is nothing unusual.
const USUAL_SILENCE: f64 = 3.0;

/// After a longer silence, the period must have been visible for this many times the silence.
const SHOWN: f64 = 2.0;

/// When a job began, and when it first did I/O. Times are in seconds of job time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observed {
    begins: f64,
    first: Option<f64>,
}

impl Observed {
    /// A job that began at this time, and has done no I/O.
    pub fn new(begins: f64) -> Self {
        Observed { begins, first: None }
    }

    /// When the job began.
    pub fn begins(&self) -> f64 {
        self.begins
    }

    /// A request that started at this time. They may come in any order.
    pub fn request(&mut self, start: f64) {
        self.first = Some(self.first.map_or(start, |first| first.min(start)));
    }

    /// Is there enough to act on this period at the time `now`?
    pub fn supports(&self, period: f64, now: f64) -> bool {
        let Some(first) = self.first else { return false };
        let silence = first - self.begins;
        silence <= USUAL_SILENCE * period || now - first >= SHOWN * silence
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A job that did nothing for 360 s, and has written since.
    fn after_silence() -> Observed {
        let mut observed = Observed::new(0.0);
        observed.request(380.0);
        observed.request(360.0);
        observed
    }

    #[test]
    fn a_short_period_after_a_long_silence_must_show_itself() {
        let observed = after_silence();
        assert!(!observed.supports(20.3, 540.0));
        assert!(!observed.supports(20.3, 1079.0));
        assert!(observed.supports(20.3, 1081.0));
    }

    #[test]
    fn a_usual_silence_does_not_matter() {
        assert!(after_silence().supports(384.0, 540.0));
        assert!(!Observed::new(0.0).supports(384.0, 540.0), "nothing was written");
    }
}
