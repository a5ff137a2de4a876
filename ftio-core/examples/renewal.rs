//! Today's estimator and the [renewal estimator](ftio_core::renewal), on the same traces.
//!
//!     renewal [--kinds fitted|unseen|all|NAME,…] [--seeds FROM..TO]   right and wrong, by kind
//!     renewal --next [--seeds FROM..TO]                               the next start of running jobs
//!     renewal --weigh KIND [--seeds FROM..TO]                         what the renewal estimator weighs

use ftio_core::detect::{Options, detect, detect_trace};
use ftio_core::renewal::signal::Trace;
use ftio_core::renewal::weights::WEIGHTS;
use ftio_core::renewal::{Found, estimate, next_start};
use seeded_random::Random;
use sources::content::Content;
use sources::request::{Class, Request};
use sources::{InMemory, Job, OpenOptions, Source, open_content};
use std::error::Error;
use std::ops::Range;
use std::time::{Duration, Instant};
use trace_generator::kinds::{Kind, Made, families, named};
use trace_generator::running::{KINDS, Running, running};
use trace_generator::verdict::{Verdict, verdict};
use trace_generator::write::{nanoseconds, recording};

/// From here on an answer is sure.
const SURE: f64 = 0.9;

/// After so many phases, and how near the next start has to be, in periods.
const AFTER: [usize; 6] = [2, 3, 4, 5, 8, 16];
const NEAR: f64 = 0.1;

fn source(name: &str, made: &Made) -> Result<Box<dyn Source>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    recording(&made.recording, &mut bytes)?;
    let opened = open_content(Content::from_bytes(name, bytes)?, &OpenOptions::default())?;
    Ok(opened.into_iter().next().ok_or("no source")?.into_source()?)
}

/// What the renewal estimator says of a trace, and how long it takes.
type Asked = (Trace, Found, Duration);

/// Ask it; nothing if there is no I/O.
fn found(source: impl Source) -> Result<Option<Asked>, Box<dyn Error>> {
    let trace = detect_trace(source, &Options::default())?;
    Ok(trace.map(|trace| {
        let begin = Instant::now();
        let found = estimate(&trace);
        (trace, found, begin.elapsed())
    }))
}

#[derive(Default)]
struct Counts {
    traces: usize,
    right: usize,
    refused: usize,
    wrong: usize,
    sure: usize,
    sure_right: usize,
}

impl Counts {
    fn add(&mut self, verdict: Verdict, confidence: f64, is_answer: bool) {
        self.traces += 1;
        self.right += usize::from(verdict == Verdict::Right);
        self.refused += usize::from(verdict == Verdict::Refused);
        self.wrong += usize::from(verdict == Verdict::Wrong);
        let sure = is_answer && confidence >= SURE;
        self.sure += usize::from(sure);
        self.sure_right += usize::from(sure && verdict == Verdict::Right);
    }

    fn line(&self) -> String {
        let Counts { traces, right, refused, wrong, sure, sure_right } = self;
        format!(
            "{right:>4} right {refused:>3} refused {wrong:>3} wrong of {traces:>4}, sure {sure:>4}, right {sure_right:>4}"
        )
    }
}

fn judge(kinds: &str, seeds: &Range<u64>) -> Result<(), Box<dyn Error>> {
    let mut all: [[Counts; 2]; 2] = Default::default();
    let mut spent = Duration::ZERO;
    for (_, fitted, kinds) in families().map(|(name, fitted, some)| {
        let chosen = |kind: &&Kind| match kinds {
            "all" => true,
            "fitted" => fitted,
            "unseen" => !fitted,
            names => names.split(',').any(|name| name == kind.name),
        };
        (name, fitted, some.iter().filter(chosen).copied().collect::<Vec<Kind>>())
    }) {
        // Long jobs are looked at in sections.
        for kind in kinds.into_iter().filter(|kind| kind.at_most == u64::MAX) {
            let mut counts: [Counts; 2] = Default::default();
            for seed in seeds.clone() {
                let made = kind.generate(seed);
                let judged = |period: Option<f64>, periods: &[f64]| {
                    verdict(&made.truth, kind.tolerance, period, periods)
                };
                let today = detect(kind.name, source(kind.name, &made)?, &Options::default())?.detection;
                let periods: Vec<f64> = today.periods.iter().map(|one| one.period).collect();
                let answers = [
                    (today.period, periods, today.confidence),
                    found(source(kind.name, &made)?)?.map_or((None, Vec::new(), 0.0), |(_, found, took)| {
                        spent += took;
                        (found.answer.period, found.answer.periods, found.answer.confidence)
                    }),
                ];
                for (i, (period, periods, confidence)) in answers.iter().enumerate() {
                    let is_answer = period.is_some() || !periods.is_empty();
                    counts[i].add(judged(*period, periods), *confidence, is_answer);
                    all[usize::from(!fitted)][i].add(judged(*period, periods), *confidence, is_answer);
                }
            }
            println!("{:<26} {}\n{:<26} {}", kind.name, counts[0].line(), "", counts[1].line());
        }
    }
    let traces = (all[0][1].traces + all[1][1].traces).max(1);
    for (name, counts) in ["FITTED", "UNSEEN"].iter().zip(&all) {
        println!("{name:<16} today     {}\n{:<16} renewal   {}", counts[0].line(), "", counts[1].line());
    }
    println!("{:.1} ms an answer of the renewal estimator", 1e3 * spent.as_secs_f64() / traces as f64);
    Ok(())
}

fn in_memory<'a>(requests: &'a [Request], job: &Running) -> InMemory<'a> {
    let end = Some(nanoseconds(job.now));
    InMemory { requests, job: Job { ranks: Some(1), start: Some(0), end, complete: false, ..Job::default() } }
}

/// How many next starts are right, and how many in the interval, of both.
fn judge_next(seeds: &Range<u64>) -> Result<(), Box<dyn Error>> {
    println!("{:<26} phases  right: today renewal  in the interval: today renewal", "");
    let mut all = [[0usize; 4]; AFTER.len()];
    for (number, kind) in KINDS.iter().enumerate() {
        for (place, after) in AFTER.into_iter().enumerate() {
            let mut counts = [0usize; 4];
            for seed in seeds.clone() {
                let own = 1_000_003 * (seed * 1000 + 100 * number as u64 + after as u64);
                let job = running(kind, after, &mut Random::new(own));
                let requests = job.writes.iter().map(|write| {
                    let (start, end) = (nanoseconds(write.start), nanoseconds(write.end));
                    Request::new(start, end, write.bytes, Class::WriteSync)
                });
                let requests: Vec<Request> = requests.collect();
                let today = detect(kind, in_memory(&requests, &job), &Options::default())?.detection;
                let renewal = found(in_memory(&requests, &job))?
                    .and_then(|(trace, found, _)| next_start(&trace, &found, Some(job.now)));
                let told = [
                    today.next_phase.map(|next| (next.start, next.start_low, next.start_high)),
                    renewal.map(|next| (next.start, next.low, next.high)),
                ];
                for (i, (start, low, high)) in
                    told.iter().enumerate().filter_map(|(i, told)| Some((i, (*told)?)))
                {
                    counts[i] += usize::from((start - job.next).abs() <= NEAR * job.period);
                    counts[i + 2] += usize::from((low..=high).contains(&job.next));
                }
            }
            println!("{kind:<26} {after:>6} {counts:>6?}");
            all[place].iter_mut().zip(counts).for_each(|(all, count)| *all += count);
        }
    }
    let of = (seeds.end - seeds.start) as usize * KINDS.len();
    for (after, counts) in AFTER.iter().zip(all) {
        println!("{:<26} {after:>6} {counts:>6?} of {of}", "ALL");
    }
    Ok(())
}

fn weigh(kind: &str, seed: u64) -> Result<(), Box<dyn Error>> {
    let kind = named(kind).ok_or("no such kind")?;
    let made = kind.generate(seed);
    let Some((_, found, _)) = found(source(kind.name, &made)?)? else { return Ok(()) };
    let (truth, answer) = (&made.truth, &found.answer);
    println!("{} {seed}: {answer:.4?}; truth {:?} {:?}", kind.name, truth.period, truth.periods);
    let Some(search) = &found.search else { return Ok(()) };
    let mut order: Vec<usize> = (0..search.rows.len()).collect();
    order.sort_by(|&a, &b| found.posterior.rows[b].total_cmp(&found.posterior.rows[a]));
    println!("    none {:.4}", found.posterior.none);
    for i in order.into_iter().take(8) {
        let row = &search.rows[i];
        let forms = row.hypotheses.iter().map(|place| search.described(*place).hypothesis.form);
        let readings = row.hypotheses.iter().map(|place| search.views[place.0].reading.name);
        let shown = WEIGHTS.iter().zip(row.features.0).filter(|(_, value)| *value != 0.0);
        let shown: Vec<String> =
            shown.map(|(weight, x)| format!("{} {x:.2} ({:+.2})", weight.name, weight.value * x)).collect();
        let (forms, readings) = (forms.collect::<Vec<_>>(), readings.collect::<Vec<_>>());
        let probability = found.posterior.rows[i];
        println!(
            "    {:.4?} at {probability:.4} {forms:?} of {readings:?}: {}",
            row.periods,
            shown.join(", ")
        );
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut kinds, mut seeds, mut next, mut weighed) = ("all".to_owned(), 0..5, false, None);
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} wants a value"));
        match arg.as_str() {
            "--kinds" => kinds = value()?,
            "--seeds" => {
                let value = value()?;
                let (from, to) = value.split_once("..").ok_or("expected --seeds FROM..TO")?;
                seeds = from.parse()?..to.parse()?;
            }
            "--next" => next = true,
            "--weigh" => weighed = Some(value()?),
            _ => return Err(format!("{arg}: unknown; see the head of examples/renewal.rs").into()),
        }
    }
    match weighed {
        Some(kind) => seeds.clone().try_for_each(|seed| weigh(&kind, seed)),
        None if next => judge_next(&seeds),
        None => judge(&kinds, &seeds),
    }
}
