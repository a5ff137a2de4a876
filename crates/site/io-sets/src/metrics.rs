//! Stretch, I/O slowdown and utilisation over a time frame (report §4.3).
//!
//! Phases that reach beyond the frame are cut to it; of a cut I/O phase, as many bytes count as its mean
//! bandwidth moved within. With T the length of the frame, e_cpu an application's time in compute phases, and
//! e_io its bytes divided by the bandwidth it reaches alone:
//!
//! - stretch = T / (e_cpu + e_io), how much longer the application took than alone, at least 1;
//! - I/O slowdown = (T − e_cpu) / e_io, how much longer its I/O took than alone;
//! - utilisation = Σ e_cpu / (N · T), the part of all time in which applications computed.

use crate::simulate::{Course, Outcome};
use schemars::JsonSchema;
use serde::Serialize;

/// A time frame in seconds.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Frame {
    /// Its start.
    pub begin: f64,
    /// Its end.
    pub end: f64,
}

/// The four numbers of an execution.
#[derive(Clone, Copy, Debug, PartialEq, JsonSchema, Serialize)]
pub struct Metrics {
    /// The largest stretch of an application.
    pub stretch_max: f64,
    /// The geometric mean of the applications' stretches.
    pub stretch_geomean: f64,
    /// The geometric mean of their I/O slowdowns.
    pub io_slowdown: f64,
    /// How much of all time was spent computing, 0 … 1.
    pub utilisation: f64,
}

/// Work of an application within a frame, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Work {
    /// Time in compute phases.
    pub compute: f64,
    /// What its I/O would have taken alone.
    pub io: f64,
}

impl Frame {
    /// Its length in seconds.
    pub fn length(self) -> f64 {
        self.end - self.begin
    }

    /// How much of `[start, end]` lies within.
    fn within(self, start: f64, end: f64) -> f64 {
        (end.min(self.end) - start.max(self.begin)).max(0.0)
    }

    /// What an application that reaches `alone` bytes per second alone did in this frame.
    pub fn work(self, course: &Course, alone: f64) -> Work {
        let mut work = Work { compute: 0.0, io: 0.0 };
        let mut computing_since = course.start;
        for phase in &course.phases {
            work.compute += self.within(computing_since, phase.start);
            let part = match phase.end - phase.start {
                length if length > 0.0 => self.within(phase.start, phase.end) / length,
                _ => f64::from(u8::from((self.begin..self.end).contains(&phase.start))),
            };
            work.io += part * phase.bytes / alone;
            computing_since = phase.end;
        }
        work.compute += self.within(computing_since, course.end);
        work
    }
}

impl Metrics {
    /// Of an execution. An application that did no I/O in the frame has no I/O slowdown.
    pub fn of(outcome: &Outcome, frame: Frame, alone: f64) -> Self {
        let works: Vec<Work> = outcome.courses.iter().map(|course| frame.work(course, alone)).collect();
        let time = frame.length();
        let stretches = works.iter().map(|work| time / (work.compute + work.io));
        let slowdowns = works.iter().filter(|work| work.io > 0.0).map(|work| (time - work.compute) / work.io);
        Metrics {
            stretch_max: stretches.clone().fold(f64::NEG_INFINITY, f64::max),
            stretch_geomean: geometric_mean(stretches),
            io_slowdown: geometric_mean(slowdowns),
            utilisation: works.iter().map(|work| work.compute).sum::<f64>() / (works.len() as f64 * time),
        }
    }

    /// The mean of several executions; `None` if there are none.
    pub fn mean(of: &[Metrics]) -> Option<Self> {
        let mean = |get: fn(&Metrics) -> f64| of.iter().map(get).sum::<f64>() / of.len() as f64;
        (!of.is_empty()).then(|| Metrics {
            stretch_max: mean(|m| m.stretch_max),
            stretch_geomean: mean(|m| m.stretch_geomean),
            io_slowdown: mean(|m| m.io_slowdown),
            utilisation: mean(|m| m.utilisation),
        })
    }
}

/// The bandwidth that applications reach alone: the median over the I/O phases during which nobody else did
/// I/O (report §4.3, step 3). `None` if there is no such phase.
pub fn bandwidth_alone(outcomes: &[Outcome]) -> Option<f64> {
    let mut bandwidths: Vec<f64> = outcomes.iter().flat_map(unshared).collect();
    bandwidths.sort_by(f64::total_cmp);
    bandwidths.get(bandwidths.len().checked_sub(1)? / 2).copied()
}

/// Bandwidths of phases that overlap no other.
fn unshared(outcome: &Outcome) -> Vec<f64> {
    let mut phases: Vec<_> = outcome.courses.iter().flat_map(|course| &course.phases).collect();
    phases.sort_by(|a, b| a.start.total_cmp(&b.start));
    let mut busy_until = f64::NEG_INFINITY;
    let mut alone = Vec::new();
    for (i, phase) in phases.iter().enumerate() {
        let next = phases.get(i + 1).map_or(f64::INFINITY, |next| next.start);
        if busy_until <= phase.start && phase.end <= next && phase.end > phase.start {
            alone.push(phase.bytes / (phase.end - phase.start));
        }
        busy_until = busy_until.max(phase.end);
    }
    alone
}

fn geometric_mean(values: impl Iterator<Item = f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0.0), |(sum, count), value| (sum + value.ln(), count + 1.0));
    (sum / count).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simulate::IoPhase;

    fn course(phases: &[[f64; 2]], bytes: f64, end: f64) -> Course {
        let phases = phases.iter().map(|&[start, end]| IoPhase { start, end, bytes }).collect();
        Course { start: 0.0, end, phases, priorities: Vec::new(), predictions: [0; 2] }
    }

    #[test]
    fn by_hand() {
        // Frame 10 … 110. Alone at 2 bytes per second.
        let frame = Frame { begin: 10.0, end: 110.0 };
        // A: I/O 0–20 (half within: 10 of 20 bytes), computes 20–60, I/O 60–80 (20 bytes), computes 80–130.
        let a = course(&[[0.0, 20.0], [60.0, 80.0], [130.0, 140.0]], 20.0, 140.0);
        assert_eq!(frame.work(&a, 2.0), Work { compute: 70.0, io: 15.0 });
        // B: computes 0–50, I/O 50–100 (20 bytes), computes 100–150.
        let b = course(&[[50.0, 100.0], [150.0, 160.0]], 20.0, 160.0);
        assert_eq!(frame.work(&b, 2.0), Work { compute: 50.0, io: 10.0 });
        let metrics = Metrics::of(&Outcome { courses: vec![a, b] }, frame, 2.0);
        assert!((metrics.stretch_max - 100.0 / 60.0).abs() < 1e-12);
        assert!((metrics.stretch_geomean - (100.0 / 85.0 * (100.0 / 60.0_f64)).sqrt()).abs() < 1e-12);
        assert!((metrics.io_slowdown - (2.0 * 5.0_f64).sqrt()).abs() < 1e-12);
        assert!((metrics.utilisation - 0.6).abs() < 1e-12);
    }

    #[test]
    fn alone_everything_is_one() {
        let course = course(&[[18.0, 20.0], [38.0, 40.0], [58.0, 60.0]], 4.0, 60.0);
        let metrics = Metrics::of(&Outcome { courses: vec![course] }, Frame { begin: 19.0, end: 59.0 }, 2.0);
        let ones = [metrics.stretch_max, metrics.stretch_geomean, metrics.io_slowdown];
        assert!(ones.iter().all(|one| (one - 1.0).abs() < 1e-12), "{metrics:?}");
        assert!((metrics.utilisation - 0.9).abs() < 1e-12);
    }

    #[test]
    fn only_phases_that_share_with_nobody_tell_the_bandwidth() {
        let a = course(&[[0.0, 2.0], [10.0, 20.0], [30.0, 33.0]], 6.0, 40.0);
        let b = course(&[[2.0, 3.0], [19.0, 21.0]], 6.0, 40.0);
        // 3 (0–2), 2 (30–33) and 6 (2–3) bytes per second; the two others overlap.
        assert_eq!(bandwidth_alone(&[Outcome { courses: vec![a, b] }]), Some(3.0));
        assert_eq!(bandwidth_alone(&[]), None);
    }
}
