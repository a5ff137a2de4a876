//! Stretch, I/O slowdown and utilisation of real runs, from their traces (Inria RR-9537, section 4.3).

use crate::metrics::{Frame, Metrics, bandwidth_alone};
use crate::simulate::{Course, IoPhase, Outcome};
use schemars::JsonSchema;
use serde::Serialize;
use sources::Request;
use sources::{Opened, SourceError, Span};
use statistics::{Phase, phases};

/// What sharing has cost.
#[derive(Debug, JsonSchema, Serialize)]
pub struct Measured {
    /// Which kind of record, and its version.
    pub schema: &'static str,
    /// Seconds since the first job began.
    pub frame: Frame,
    /// Bytes per second that a job reaches alone.
    pub alone: f64,
    /// Over all jobs.
    pub metrics: Metrics,
    /// Each of them.
    pub jobs: Vec<JobMeasured>,
}

/// One job in the frame.
#[derive(Debug, JsonSchema, Serialize)]
pub struct JobMeasured {
    /// Its trace.
    pub source: String,
    /// When it began, in seconds since the first one began.
    pub start: f64,
    /// When it ended.
    pub end: f64,
    /// I/O phases that touch the frame.
    pub phases: usize,
    /// Seconds of computing in the frame.
    pub compute: f64,
    /// Seconds that its I/O in the frame would have taken alone.
    pub io_alone: f64,
    /// How much longer it took than it would have taken alone.
    pub stretch: f64,
    /// The same of its I/O; null if it did none in the frame.
    pub io_slowdown: Option<f64>,
}

/// Why nothing can be said.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NotMeasured {
    /// There is no time at which all of them ran.
    #[error("the jobs did not run at the same time")]
    NotTogether,
    /// A job did not run for all of the frame.
    #[error("{job}: did not run for all of the frame")]
    Outside {
        /// Its trace.
        job: String,
        /// When it ran.
        ran: Frame,
        /// What was asked about.
        frame: Frame,
    },
    /// It is not known how fast a job is alone.
    #[error("no I/O phase met no other job's")]
    NeverAlone,
}

/// A job as its trace shows it; times in nanoseconds.
#[derive(Clone, Debug)]
pub struct Ran {
    source: String,
    /// Time of day at job time 0, and job times of its start and end.
    origin: i64,
    start: i64,
    end: i64,
    phases: Vec<Phase<i64>>,
}

impl Ran {
    /// Reads a trace. Requests with less than `silence` seconds between them are one phase.
    pub fn read(opened: Opened, silence: f64) -> Result<Self, SourceError> {
        let source = opened.name.clone();
        let mut requests: Vec<Request> = Vec::new();
        let job =
            opened.into_source()?.read(Span::default(), &mut |some| requests.extend_from_slice(some))?;
        requests.sort_by_key(|request| request.start);
        let spans = requests.iter().map(|request| (request.start, request.end, request.bytes));
        let phases = phases(spans, (silence * 1e9) as i64);
        let last = phases.last().map_or(0, |phase| phase.end);
        let end = job.end.unwrap_or(last).max(last);
        let (origin, start) = (job.origin.unwrap_or(0), job.start.unwrap_or(0));
        Ok(Ran { source, origin, start, end, phases })
    }
}

/// What sharing has cost these jobs, in a frame of seconds since the first one began (as long as all ran, if
/// none is given). `alone` is the bandwidth that a job reaches alone; without it, it is the median of the
/// phases that met no other job's.
pub fn measure(jobs: &[Ran], frame: Option<Frame>, alone: Option<f64>) -> Result<Measured, NotMeasured> {
    let first = jobs.iter().map(|job| job.origin + job.start).min().unwrap_or(0);
    let course = |job: &Ran| {
        let at = |time: i64| (job.origin - first + time) as f64 * 1e-9;
        let phase = |phase: &Phase<i64>| IoPhase {
            start: at(phase.start),
            end: at(phase.end),
            bytes: phase.bytes as f64,
        };
        Course {
            start: at(job.start),
            end: at(job.end),
            phases: job.phases.iter().map(phase).collect(),
            ..Course::default()
        }
    };
    let outcome = Outcome { courses: jobs.iter().map(course).collect() };
    let shared = Frame {
        begin: outcome.courses.iter().map(|course| course.start).fold(0.0, f64::max),
        end: outcome.courses.iter().map(|course| course.end).fold(f64::INFINITY, f64::min),
    };
    let frame = frame.unwrap_or(shared);
    if frame.length() <= 0.0 || !frame.length().is_finite() {
        return Err(NotMeasured::NotTogether);
    }
    for (job, course) in jobs.iter().zip(&outcome.courses) {
        if course.start > frame.begin || course.end < frame.end {
            let ran = Frame { begin: course.start, end: course.end };
            return Err(NotMeasured::Outside { job: job.source.clone(), ran, frame });
        }
    }
    let alone = alone.or_else(|| bandwidth_alone(std::slice::from_ref(&outcome)));
    let alone = alone.ok_or(NotMeasured::NeverAlone)?;
    let rows = jobs.iter().zip(&outcome.courses).map(|(job, course)| {
        let work = frame.work(course, alone);
        let touches = |phase: &&IoPhase| phase.start < frame.end && phase.end > frame.begin;
        JobMeasured {
            source: job.source.clone(),
            start: course.start,
            end: course.end,
            phases: course.phases.iter().filter(touches).count(),
            compute: work.compute,
            io_alone: work.io,
            stretch: frame.length() / (work.compute + work.io),
            io_slowdown: (work.io > 0.0).then(|| (frame.length() - work.compute) / work.io),
        }
    });
    Ok(Measured {
        schema: "ftio.measure/1",
        frame,
        alone,
        metrics: Metrics::of(&outcome, frame, alone),
        jobs: rows.collect(),
    })
}
