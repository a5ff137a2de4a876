//! The next start of running jobs: those of `trace_generator::running`, and the kinds whose phases are known
//! and keep one period, cut in the quiet after some phases. Beside two rules of thumb that are given the true
//! starts: the last one and the median distance, or the mean of the last four.

use crate::build::kinds;
use crate::{Asked, in_parallel};
use ftio_core::detect::{Options, detect_trace};
use ftio_core::renewal::estimate_by;
use ftio_core::renewal::forecast::forecast;
use ftio_core::renewal::signal::Trace;
use ftio_core::signal::statistics::{mean, median};
use seeded_random::Random;
use sources::request::{Class, Request};
use sources::{InMemory, Job};
use std::error::Error;
use trace_generator::generated::Write;
use trace_generator::kinds::{Kind, Recording};
use trace_generator::running::{KINDS, running};
use trace_generator::write::nanoseconds;

/// After so many phases, and how near the next start has to be, in periods.
const AFTER: [usize; 6] = [2, 3, 4, 5, 8, 16];
const NEAR: f64 = 0.1;

/// A job that goes on.
struct Cut {
    requests: Vec<Request>,
    starts: Vec<f64>,
    now: f64,
    next: f64,
    period: f64,
}

fn request(write: &Write, class: Class) -> Request {
    Request::new(nanoseconds(write.start), nanoseconds(write.end), write.bytes, class)
}

/// A job of a kind, cut after so many phases; none if its phases are not known, have no single period, or are
/// not so many, or if the quiet between two cannot be seen.
fn cut(kind: &Kind, seed: u64, after: usize) -> Option<Cut> {
    let made = kind.generate(seed);
    let (truth, Recording::Requests { writes, reads, .. }) = (made.truth, made.recording) else {
        return None;
    };
    // Reads and writes are looked at apart: which of them begins a phase of both is not the question here.
    let is_one_direction = writes.is_empty() || reads.is_empty();
    let period = truth.period.filter(|_| truth.periods.is_empty() && !truth.or_none && is_one_direction)?;
    let (last, next) = (*truth.starts.get(after - 1)?, *truth.starts.get(after)?);
    let is_before = |write: &&Write| write.end <= next && write.start < next;
    let end = writes.iter().chain(&reads).filter(is_before).map(|write| write.end).fold(last, f64::max);
    let now = end + 0.3 * (next - end);
    if now >= next || next - last > 1.5 * period {
        return None;
    }
    let before = |list: &[Write], class: Class| -> Vec<Request> {
        list.iter()
            .filter(is_before)
            .filter(|write| write.end <= now)
            .map(|write| request(write, class))
            .collect()
    };
    let mut requests = before(&writes, Class::WriteSync);
    requests.extend(before(&reads, Class::ReadSync));
    Some(Cut { requests, starts: truth.starts[..after].to_vec(), now, next, period })
}

fn of_running(number: usize, seed: u64, after: usize) -> Cut {
    let own = 1_000_003 * (seed * 1000 + 100 * number as u64 + after as u64);
    let job = running(KINDS[number], after, &mut Random::new(own));
    let requests = job.writes.iter().map(|write| request(write, Class::WriteSync)).collect();
    Cut { requests, starts: job.starts, now: job.now, next: job.next, period: job.period }
}

#[derive(Clone, Copy, Default)]
struct Counts {
    jobs: usize,
    right: usize,
    covered: usize,
    /// Those with an answer, whose intervals are so wide together, in periods.
    told: usize,
    width: f64,
    by_median: usize,
    by_mean: usize,
}

impl Counts {
    fn and(mut self, job: &Cut, asked: &Asked) -> Self {
        let end = Some(nanoseconds(job.now));
        let about = Job { ranks: Some(1), start: Some(0), end, complete: false, ..Job::default() };
        let source = InMemory { requests: &job.requests, job: about };
        let trace = detect_trace(source, &Options::default()).ok().flatten();
        // Times may be those since the window began.
        let first =
            job.requests.iter().map(|request| request.start as f64 / 1e9).fold(f64::INFINITY, f64::min);
        let began = |trace: &Trace| match trace {
            Trace::Requests { requests: all, .. } => {
                first - all.iter().map(|one| one.start).fold(f64::INFINITY, f64::min)
            }
            Trace::Samples { .. } | Trace::Binned(_) => 0.0,
        };
        let told = trace.and_then(|trace| {
            let found = estimate_by(&trace, &asked.weights);
            let began = began(&trace);
            let next = forecast(found.search.as_ref()?, &trace, &asked.weights).next(job.now - began)?;
            Some((next.start + began, next.low + began..=next.high + began))
        });
        let is_near = |start: f64| usize::from((start - job.next).abs() <= NEAR * job.period);
        self.jobs += 1;
        if let Some((start, interval)) = told {
            self.right += is_near(start);
            self.covered += usize::from(interval.contains(&job.next));
            self.told += 1;
            self.width += (interval.end() - interval.start()) / job.period;
        }
        let distances: Vec<f64> = job.starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let last = job.starts[job.starts.len() - 1];
        self.by_median += is_near(last + median(&distances));
        self.by_mean += is_near(last + mean(&distances[distances.len().saturating_sub(4)..]));
        self
    }

    fn plus(self, other: Counts) -> Self {
        Counts {
            jobs: self.jobs + other.jobs,
            right: self.right + other.right,
            covered: self.covered + other.covered,
            told: self.told + other.told,
            width: self.width + other.width,
            by_median: self.by_median + other.by_median,
            by_mean: self.by_mean + other.by_mean,
        }
    }

    fn line(&self) -> String {
        let share = |count: usize, all: usize| count as f64 / all.max(1) as f64;
        let Counts { jobs, right, covered, told, width, by_median, by_mean } = *self;
        format!(
            "{jobs:>5} jobs, right {:.3}, interval covers {:.3} (width {:.2} of T); last + median {:.3}, + mean of \
             four {:.3}",
            share(right, jobs),
            share(covered, told),
            width / told.max(1) as f64,
            share(by_median, jobs),
            share(by_mean, jobs)
        )
    }
}

fn table(what: &str, jobs: usize, asked: &Asked, count: impl Fn(usize, usize) -> Counts + Sync) {
    println!("{what}");
    for after in AFTER {
        let all = in_parallel(jobs, asked.threads, |i| count(i, after));
        println!("  after {after:>2}: {}", all.into_iter().fold(Counts::default(), Counts::plus).line());
    }
}

pub fn judge(asked: &Asked) -> Result<(), Box<dyn Error>> {
    let seeds: Vec<u64> = asked.seeds.clone().collect();
    table("running jobs", KINDS.len() * seeds.len(), asked, |i, after| {
        Counts::default().and(&of_running(i / seeds.len(), seeds[i % seeds.len()], after), asked)
    });
    let kinds = kinds(asked);
    for is_sealed in [false, true] {
        let some: Vec<&Kind> = kinds.iter().filter(|kind| kind.is_sealed() == is_sealed).collect();
        let what = if is_sealed { "sealed kinds" } else { "kinds fitted on" };
        table(what, some.len() * seeds.len(), asked, |i, after| {
            let job = cut(some[i / seeds.len()], seeds[i % seeds.len()], after);
            job.map_or(Counts::default(), |job| Counts::default().and(&job, asked))
        });
        if !is_sealed && asked.by_kind {
            for kind in some {
                let jobs =
                    AFTER.iter().flat_map(|after| seeds.iter().filter_map(|seed| cut(kind, *seed, *after)));
                let all = jobs.fold(Counts::default(), |all, job| all.and(&job, asked));
                println!("  {:<28} {}", kind.name, all.line());
            }
        }
    }
    Ok(())
}
