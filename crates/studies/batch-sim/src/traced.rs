//! The I/O queue of jobs that share a file system, from their traces.

use crate::queue::{Chain, Course, Member, fit, resampled, simulate, templates};
use schemars::JsonSchema;
use serde::Serialize;
use sources::request::{Request, Span};
use sources::{Opened, SourceError};
use statistics::phases;

/// Why nothing can be said about the queue.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NoQueue {
    /// A trace cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// There are no phases.
    #[error("{0}: there is no I/O in it")]
    NoIo(String),
    /// There is nothing between the phases, or the phases take no time.
    #[error("{0}: it does I/O all the time, or none that takes time")]
    OneState(String),
}

type Phase = statistics::Phase<f64>;

/// A job as its trace shows it.
#[derive(Clone, Debug)]
pub struct TracedJob {
    name: String,
    length: f64,
    phases: Vec<Phase>,
}

impl TracedJob {
    /// Reads a trace. I/O that is less than `gap` seconds apart is one phase.
    pub fn read(opened: Opened, gap: f64) -> Result<Self, NoQueue> {
        let name = opened.name.clone();
        let mut requests: Vec<Request> = Vec::new();
        let job = opened.into_source()?.read(Span::Actual, &mut |batch| requests.extend_from_slice(batch))?;
        let first = job.start.or_else(|| requests.iter().map(|request| request.start).min());
        let last = job.end.max(requests.iter().map(|request| request.end).max());
        let (Some(first), Some(last)) = (first, last) else { return Err(NoQueue::NoIo(name)) };
        let at = |time: i64| sources::time::seconds(time.saturating_sub(first));
        requests.sort_by_key(|request| request.start);
        let spans = requests.iter().map(|request| (at(request.start), at(request.end), request.bytes));
        let phases = phases(spans, gap);
        match phases.is_empty() {
            true => Err(NoQueue::NoIo(name)),
            false => Ok(TracedJob { name, length: at(last), phases }),
        }
    }
}

/// What is asked.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// Each trace stands for so many jobs.
    pub copies: usize,
    /// Bytes per second of the file system; `None`: a phase takes as long as in its trace.
    pub bandwidth: Option<f64>,
    /// Requests per second of the file system.
    pub iops: Option<f64>,
    /// The jobs ran together: times are adapted until the queue is as in the traces.
    pub fit: bool,
    /// Seconds to simulate; `None`: as long as the longest job.
    pub seconds: Option<f64>,
    /// Number of simulations.
    pub runs: usize,
    /// Of all random numbers.
    pub seed: u64,
}

/// The queue of jobs that share a file system.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Queue {
    /// Which kind of record, and its version.
    pub schema: &'static str,
    /// Jobs in all.
    pub jobs: usize,
    /// Groups of jobs that behave alike.
    pub templates: Vec<Alike>,
    /// Mean length of the queue in the long run, by the closed form.
    pub mean: f64,
    /// Share of the time in which the queue has each length, from 0 on.
    pub stationary: Vec<f64>,
    /// Share of the time in which a job has to wait for another.
    pub waiting: f64,
    /// Mean length of the queue in the traces, if they ran together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<f64>,
    /// Factors that compute and service times were multiplied with to fit that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fitted: Option<[f64; 2]>,
    /// The simulated course.
    pub course: Course,
}

/// Jobs that behave alike.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct Alike {
    /// The traces.
    pub sources: Vec<String>,
    /// How many they are, and their mean times.
    #[serde(flatten)]
    pub member: Member,
    /// Share of the time in I/O along the run, in 32 parts.
    pub profile: Vec<f64>,
}

/// The queue of these jobs.
pub fn queue(jobs: &[TracedJob], question: &Question) -> Result<Queue, NoQueue> {
    let profiles: Vec<Vec<f64>> = jobs.iter().map(profile).collect();
    let mut found: Vec<Alike> = Vec::new();
    for template in templates(&profiles, question.seed) {
        let members: Vec<&TracedJob> = template.members.iter().map(|place| &jobs[*place]).collect();
        let sources = members.iter().map(|job| job.name.clone()).collect();
        let member = member(&members, question)?;
        let member = Member { jobs: question.copies * members.len(), ..member };
        found.push(Alike { sources, member, profile: template.profile });
    }
    let mut members: Vec<Member> = found.iter().map(|template| template.member).collect();
    let length = jobs.iter().map(|job| job.length).fold(0.0, f64::max);
    let measured = (question.fit && question.copies == 1).then(|| measured(jobs, length));
    let mut fitted = None;
    if let Some((mean, variance)) = measured {
        let factors = fit(&members, mean, variance);
        for member in &mut members {
            (member.compute, member.service) = (member.compute * factors[0], member.service * factors[1]);
        }
        fitted = Some(factors);
    }
    let chain = Chain::of_jobs(&members);
    let stationary = chain.stationary();
    let span = question.seconds.unwrap_or(length);
    let course = simulate(&chain, 0, span, 200, question.runs, question.seed);
    Ok(Queue {
        schema: "ftio.batch-queue/1",
        jobs: chain.most(),
        templates: found,
        mean: chain.mean(),
        waiting: stationary.iter().skip(2).sum(),
        stationary,
        measured: measured.map(|(mean, _)| mean),
        fitted,
        course,
    })
}

/// Share of the time in I/O, in parts of the run.
fn profile(job: &TracedJob) -> Vec<f64> {
    const PARTS: usize = 256;
    let width = job.length / PARTS as f64;
    let busy = |part: usize| {
        let (from, to) = (part as f64 * width, (part + 1) as f64 * width);
        let inside = |phase: &Phase| (phase.end.min(to) - phase.start.max(from)).max(0.0);
        job.phases.iter().map(inside).sum::<f64>() / width
    };
    resampled(&(0..PARTS).map(busy).collect::<Vec<f64>>())
}

/// Mean times of the jobs of a template.
fn member(jobs: &[&TracedJob], question: &Question) -> Result<Member, NoQueue> {
    let sum = |of: fn(&Phase) -> f64| jobs.iter().flat_map(|job| &job.phases).map(of).sum::<f64>();
    let phases: usize = jobs.iter().map(|job| job.phases.len()).sum();
    let io = sum(|phase| phase.end - phase.start);
    let (bytes, requests) = (sum(|phase| phase.bytes as f64), sum(|phase| phase.requests as f64));
    let length: f64 = jobs.iter().map(|job| job.length).sum();
    let each = phases as f64;
    let by_rate = [question.bandwidth.map(|most| bytes / most), question.iops.map(|most| requests / most)];
    let needed = by_rate.into_iter().flatten().reduce(f64::max);
    let service = needed.unwrap_or(io) / each;
    let compute = (length - io) / each;
    if compute <= 0.0 || service <= 0.0 {
        return Err(NoQueue::OneState(jobs[0].name.clone()));
    }
    Ok(Member { jobs: 0, compute, service })
}

/// Mean and variance of the number of jobs that do I/O at the same time.
fn measured(jobs: &[TracedJob], length: f64) -> (f64, f64) {
    let phases = || jobs.iter().flat_map(|job| &job.phases);
    let mut steps: Vec<(f64, f64)> =
        phases().flat_map(|phase| [(phase.start, 1.0), (phase.end, -1.0)]).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let (mut queue, mut since, mut sum, mut squares) = (0.0, 0.0, 0.0, 0.0);
    for (time, step) in steps {
        sum += queue * (time - since);
        squares += queue * queue * (time - since);
        (queue, since) = (queue + step, time);
    }
    let mean = sum / length;
    (mean, squares / length - mean * mean)
}
