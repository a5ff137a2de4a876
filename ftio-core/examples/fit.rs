//! Fits the weights of `ftio-core/src/estimate/weights.rs`: conditional logit over the hypotheses of a trace
//! (`scripts/fit` runs it).
//!
//!     fit [--seeds FROM..TO] [--held-out FROM..TO] [--l2 X] [--none-weight X] [--leave-one-kind-out]
//!         [--drop NAME,…] [--only NAME,…]
//!
//! With `--only`, all other weights and the constant stay as they are in the table.
//!
//! Traces of all fitted kinds of `trace-generator` are looked at; a hypothesis is right if its period is
//! within 3 % of the truth. What is maximised is the logarithm of the probability of the right ones, or of
//! *no period* where none is, with the same weight for every kind (`--none-weight`: another one for those
//! without a period), less an L2 penalty on the standardised weights. The new table goes to standard output,
//! as it stands in weights.rs; how good it is, to standard error: on seeds held out, on the kinds that are
//! never fitted on, and, if asked for, on each kind after a fit without it.

use ftio_core::detect::{Options, detect_hypotheses};
use ftio_core::estimate::features::Described;
use ftio_core::estimate::hypotheses::Form;
use ftio_core::estimate::score::{is_one_burst, posterior_by};
use ftio_core::estimate::weights::{CONSTANT, FEATURES, WEIGHTS};
use sources::content::Content;
use sources::{OpenOptions, open_content};
use std::error::Error;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use trace_generator::generated::Truth;
use trace_generator::kinds::{Kind, families};
use trace_generator::write::recording;

/// From here on an answer is sure.
const SURE: f64 = 0.9;

/// A constant and the weights.
type Parameters = [f64; FEATURES + 1];

/// How to fit.
struct How {
    l2: f64,
    none_weight: f64,
    keep: Vec<bool>,
    /// Weights that are fitted alone, if any, and what all were before.
    only: Option<(Vec<bool>, Parameters)>,
}

struct Trace {
    kind: &'static str,
    pool: Vec<Described>,
    right: Vec<bool>,
    /// Is *no period* right, because there is none or because no hypothesis is right?
    none: bool,
    /// Is there truly no period?
    without: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let (mut seeds, mut held_out, mut l2, mut leave_out) = (10_000..10_040, 20_000..20_010, 0.0005, false);
    let mut none_weight = 1.5;
    let (mut dropped, mut only) = (Vec::new(), Vec::new());
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} wants a value"));
        match arg.as_str() {
            "--seeds" => seeds = range(&value()?)?,
            "--held-out" => held_out = range(&value()?)?,
            "--none-weight" => none_weight = value()?.parse()?,
            "--l2" => l2 = value()?.parse()?,
            "--leave-one-kind-out" => leave_out = true,
            "--drop" => dropped.extend(value()?.split(',').map(str::to_owned)),
            "--only" => only.extend(value()?.split(',').map(str::to_owned)),
            _ => return Err(format!("{arg}: unknown; see the head of examples/fit.rs").into()),
        }
    }
    let named = |names: &[String]| -> Vec<bool> {
        WEIGHTS.iter().map(|weight| names.iter().any(|name| name == weight.name)).collect()
    };
    let keep: Vec<bool> = named(&dropped).into_iter().map(|dropped| !dropped).collect();
    let mut now = [CONSTANT; FEATURES + 1];
    WEIGHTS.iter().enumerate().for_each(|(i, weight)| now[i + 1] = weight.value);
    let only = (!only.is_empty()).then(|| (named(&only), now));
    let kinds = |wanted: bool| -> Vec<Kind> {
        families()
            .filter(|(_, fitted, _)| *fitted == wanted)
            .flat_map(|(_, _, kinds)| kinds.iter().copied())
            .collect()
    };
    let how = How { l2, none_weight, keep, only };
    let fitted = gather(&kinds(true), &seeds);
    let judged = gather(&kinds(true), &held_out);
    let unseen = gather(&kinds(false), &held_out);
    eprintln!(
        "{} traces to fit on, {} held out, {} of kinds never fitted on",
        fitted.len(),
        judged.len(),
        unseen.len()
    );
    report("today's weights, seeds held out", &judged, false, |_| now);
    report("today's weights, other kinds", &unseen, false, |_| now);
    let found = fit(&fitted.iter().collect::<Vec<_>>(), &how, None);
    report("new weights, seeds held out", &judged, false, |_| found);
    report("new weights, other kinds", &unseen, false, |_| found);
    if leave_out {
        let mut names: Vec<&str> = judged.iter().map(|trace| trace.kind).collect();
        names.dedup();
        let others = |kind: &str| fitted.iter().filter(|trace| trace.kind != kind).collect::<Vec<_>>();
        let without: Vec<Parameters> =
            names.iter().map(|kind| fit(&others(kind), &how, Some(&found))).collect();
        let of = |kind: &str| without[names.iter().position(|name| *name == kind).unwrap_or(0)];
        report("leave one kind out", &judged, true, of);
    }
    print_table(&found);
    Ok(())
}

fn range(text: &str) -> Result<Range<u64>, Box<dyn Error>> {
    let (from, to) = text.split_once("..").ok_or("expected FROM..TO")?;
    Ok(from.parse()?..to.parse()?)
}

/// Look at the traces of all kinds, on all processors.
fn gather(kinds: &[Kind], seeds: &Range<u64>) -> Vec<Trace> {
    let jobs: Vec<(Kind, u64)> = kinds
        .iter()
        // Long jobs are looked at in sections, which are like others.
        .filter(|kind| kind.at_most == u64::MAX)
        .flat_map(|kind| seeds.clone().map(|seed| (*kind, seed)))
        .collect();
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((kind, seed)) = jobs.get(index) else { return done };
            match look(kind, *seed) {
                Ok(trace) => done.extend(trace.map(|trace| (index, trace))),
                Err(error) => eprintln!("{} {seed}: {error}", kind.name),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all: Vec<(usize, Trace)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, trace)| trace).collect()
}

/// The hypotheses about one trace; `None` if there are none.
fn look(kind: &Kind, seed: u64) -> Result<Option<Trace>, Box<dyn Error>> {
    let made = kind.generate(seed);
    let mut bytes = Vec::new();
    recording(&made.recording, &mut bytes)?;
    let content = Content::from_bytes(kind.name, bytes)?;
    let source = open_content(content, &OpenOptions::default())?.swap_remove(0).into_source()?;
    let Some(view) = detect_hypotheses(source, &Options::default())? else { return Ok(None) };
    let pool: Vec<Described> = view.pool.into_iter().filter(|one| !is_one_burst(one)).collect();
    let right: Vec<bool> = pool.iter().map(|one| is_right(&made.truth, one)).collect();
    let without = made.truth.or_none || (made.truth.period.is_none() && made.truth.periods.is_empty());
    let none = without || !right.contains(&true);
    Ok(Some(Trace { kind: kind.name, pool, right, none, without }))
}

fn is_right(truth: &Truth, one: &Described) -> bool {
    const TOLERANCE: f64 = 0.03;
    let near = |a: f64, b: f64| (a / b - 1.0).abs() <= TOLERANCE;
    let hypothesis = &one.hypothesis;
    if !truth.changes.is_empty() || hypothesis.form == Form::Change {
        let ends = hypothesis.ends.filter(|_| hypothesis.form == Form::Change && !truth.changes.is_empty());
        return ends.is_some_and(|ends| {
            truth.periods.iter().all(|&wanted| ends.iter().any(|&end| near(end, wanted)))
        });
    }
    let wanted = truth.period.iter().chain(&truth.periods).chain(&truth.also);
    wanted.into_iter().any(|&wanted| near(hypothesis.period, wanted))
}

fn score(parameters: &Parameters, features: &[f64; FEATURES]) -> f64 {
    parameters[0]
        + parameters[1..].iter().zip(features).map(|(weight, feature)| weight * feature).sum::<f64>()
}

/// The weights that make the right hypotheses most probable. It is faster if something `near` them is known.
fn fit(traces: &[&Trace], how: &How, near: Option<&Parameters>) -> Parameters {
    let rows = || traces.iter().flat_map(|trace| &trace.pool);
    let count = rows().count().max(1) as f64;
    let (mut mean, mut deviation) = ([0.0; FEATURES], [0.0; FEATURES]);
    for row in rows() {
        (0..FEATURES).for_each(|i| mean[i] += row.features[i] / count);
    }
    for row in rows() {
        (0..FEATURES).for_each(|i| deviation[i] += (row.features[i] - mean[i]).powi(2) / count);
    }
    deviation.iter_mut().for_each(|one| *one = one.sqrt() + 1e-9);
    // What is held must not change with what is fitted.
    let mean = if how.only.is_some() { [0.0; FEATURES] } else { mean };
    let standardised = |features: &[f64; FEATURES]| {
        std::array::from_fn(|i| if how.keep[i] { (features[i] - mean[i]) / deviation[i] } else { 0.0 })
    };
    let data: Vec<Vec<[f64; FEATURES]>> = traces
        .iter()
        .map(|trace| trace.pool.iter().map(|one| standardised(&one.features)).collect())
        .collect();
    let of_kind = |kind: &str| traces.iter().filter(|trace| trace.kind == kind).count() as f64;
    let weight = |trace: &&Trace| if trace.without { how.none_weight } else { 1.0 } / of_kind(trace.kind);
    let weights: Vec<f64> = traces.iter().map(weight).collect();
    let total: f64 = weights.iter().sum();
    let loss = |at: &Parameters| {
        let (mut value, mut slope) = (0.0, [0.0; FEATURES + 1]);
        for ((trace, rows), weight) in traces.iter().zip(&data).zip(&weights) {
            let weight = weight / total;
            let scores: Vec<f64> = rows.iter().map(|row| score(at, row)).collect();
            let highest = scores.iter().copied().fold(0.0, f64::max);
            let powers: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
            let none = (-highest).exp();
            let all = powers.iter().sum::<f64>() + none;
            let hits = |i: usize| if trace.right[i] { powers[i] } else { 0.0 };
            let good = (0..rows.len()).map(hits).sum::<f64>() + if trace.none { none } else { 0.0 };
            let good = good.max(1e-300);
            value -= weight * (good / all).ln();
            for (i, row) in rows.iter().enumerate() {
                let push = weight * (powers[i] / all - hits(i) / good);
                slope[0] += push;
                slope[1..].iter_mut().zip(row).for_each(|(slope, x)| *slope += push * x);
            }
        }
        value += 0.5 * how.l2 * at[1..].iter().map(|x| x * x).sum::<f64>();
        slope[1..].iter_mut().zip(&at[1..]).for_each(|(slope, x)| *slope += how.l2 * x);
        if let Some((free, _)) = &how.only {
            slope[0] = 0.0;
            slope[1..].iter_mut().zip(free).filter(|(_, free)| !**free).for_each(|(slope, _)| *slope = 0.0);
        }
        (value, slope)
    };
    let mut start = [0.0; FEATURES + 1];
    if let Some(near) = near.or(how.only.as_ref().map(|(_, now)| now)) {
        (0..FEATURES).for_each(|i| start[i + 1] = near[i + 1] * deviation[i]);
        start[0] = near[0] + (0..FEATURES).map(|i| near[i + 1] * mean[i]).sum::<f64>();
    }
    let best = minimise(loss, start);
    let mut out = [0.0; FEATURES + 1];
    for i in 0..FEATURES {
        out[i + 1] = if how.keep[i] { best[i + 1] / deviation[i] } else { 0.0 };
    }
    out[0] = best[0] - (0..FEATURES).map(|i| out[i + 1] * mean[i]).sum::<f64>();
    out
}

/// The minimum of a smooth function with its slope (Broyden, Fletcher, Goldfarb and Shanno).
fn minimise(function: impl Fn(&Parameters) -> (f64, Parameters), start: Parameters) -> Parameters {
    const N: usize = FEATURES + 1;
    let mut inverse = [[0.0; N]; N];
    (0..N).for_each(|i| inverse[i][i] = 1.0);
    let mut at = start;
    let (mut value, mut slope) = function(&at);
    for _ in 0..400 {
        let direction: Parameters = std::array::from_fn(|i| -dot(&inverse[i], &slope));
        let downhill = dot(&direction, &slope);
        if downhill > -1e-12 {
            break;
        }
        let mut step = 1.0;
        let (next, next_value, next_slope) = loop {
            let next: Parameters = std::array::from_fn(|i| at[i] + step * direction[i]);
            let (next_value, next_slope) = function(&next);
            if next_value <= value + 1e-4 * step * downhill || step < 1e-10 {
                break (next, next_value, next_slope);
            }
            step *= 0.5;
        };
        let moved: Parameters = std::array::from_fn(|i| next[i] - at[i]);
        let turned: Parameters = std::array::from_fn(|i| next_slope[i] - slope[i]);
        let curvature = dot(&moved, &turned);
        if curvature > 1e-14 {
            let image: Parameters = std::array::from_fn(|i| dot(&inverse[i], &turned));
            let factor = (1.0 + dot(&turned, &image) / curvature) / curvature;
            for i in 0..N {
                for j in 0..N {
                    let cross = image[i] * moved[j] + moved[i] * image[j];
                    inverse[i][j] += factor * moved[i] * moved[j] - cross / curvature;
                }
            }
        }
        let gained = value - next_value;
        (at, value, slope) = (next, next_value, next_slope);
        if gained.abs() < 1e-8 {
            break;
        }
    }
    at
}

fn dot(a: &Parameters, b: &Parameters) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// How good the answers are by these weights, for every kind, or for those that are not good enough.
fn report(what: &str, traces: &[Trace], every: bool, parameters: impl Fn(&str) -> Parameters) {
    let mut kinds: Vec<(&str, [usize; 5], f64)> = Vec::new();
    let mut sure: Vec<bool> = Vec::new();
    let mut unsure: Vec<(f64, bool)> = Vec::new();
    for trace in traces {
        let parameters = parameters(trace.kind);
        let found = posterior_by(&trace.pool, &|one| score(&parameters, &one.features));
        if kinds.last().is_none_or(|(kind, ..)| *kind != trace.kind) {
            kinds.push((trace.kind, [0; 5], 0.0));
        }
        let Some((_, [count, right, wrong, sure_all, sure_wrong], loss)) = kinds.last_mut() else { continue };
        *count += 1;
        let best = found.candidates.first();
        let answer = best.filter(|best| best.probability >= 0.5);
        let is_right = |period: f64, form: Form| {
            let same = |(one, right): (&Described, &bool)| {
                *right && one.hypothesis.period == period && one.hypothesis.form == form
            };
            trace.pool.iter().zip(&trace.right).any(same)
        };
        let good = match answer {
            None => trace.without,
            Some(answer) => is_right(answer.best.hypothesis.period, answer.best.hypothesis.form),
        };
        *right += usize::from(good);
        let probability = best.map_or(0.0, |best| best.probability);
        if let Some(answer) = answer {
            *wrong += usize::from(!good);
            if answer.probability >= SURE {
                sure.push(good);
                *sure_all += 1;
                *sure_wrong += usize::from(!good);
            } else {
                unsure.push((answer.probability, good));
            }
        }
        let of_right = if good { probability.max(found.none) } else { 1.0 - probability };
        *loss -= of_right.max(1e-6).ln();
    }
    let share = |good: usize, of: usize| 100.0 * good as f64 / of.max(1) as f64;
    let loss = kinds.iter().map(|(_, counts, loss)| loss / counts[0] as f64).sum::<f64>()
        / kinds.len().max(1) as f64;
    let right_unsure = unsure.iter().filter(|(_, good)| *good).count();
    let stated = unsure.iter().map(|(probability, _)| probability).sum::<f64>() / unsure.len().max(1) as f64;
    eprintln!(
        "{what}: {:.2} % of {} sure answers right; {:.1} % of {} others (stated {:.0} %); mean log-loss \
         {loss:.4}",
        share(sure.iter().filter(|good| **good).count(), sure.len()),
        sure.len(),
        share(right_unsure, unsure.len()),
        unsure.len(),
        100.0 * stated
    );
    for (kind, [count, right, wrong, sure_all, sure_wrong], _) in kinds {
        if every || 20 * right < 19 * count || sure_wrong > 0 {
            eprintln!(
                "    {kind:<26} {right:>3} of {count:>3} right, {wrong:>3} wrong; {sure_all:>3} sure, \
                 {sure_wrong} of them wrong"
            );
        }
    }
}

fn print_table(parameters: &Parameters) {
    println!("pub const CONSTANT: f64 = {:.6};", parameters[0]);
    for (weight, value) in WEIGHTS.iter().zip(&parameters[1..]) {
        println!(
            "    Weight {{ name: {:?}, value: {value:.7}, meaning: {:?} }},",
            weight.name, weight.meaning
        );
    }
}
