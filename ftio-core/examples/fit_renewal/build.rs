//! Look at the traces of all kinds.

use crate::rows::{Row, Seen, save};
use crate::{Asked, in_parallel};
use ftio_core::detect::{Options, detect_trace};
use ftio_core::renewal::answer::exact;
use ftio_core::renewal::residual::bytes;
use ftio_core::renewal::rows::{Place, Search};
use ftio_core::renewal::weights::COUNT;
use sources::content::Content;
use sources::{OpenOptions, Source, open_content};
use std::collections::HashMap;
use std::error::Error;
use std::time::Instant;
use trace_generator::generated::Truth;
use trace_generator::kinds::{Kind, Made, Recording, families};
use trace_generator::write::recording;

/// Alternatives of a trace that are kept: the others have no probability to speak of.
const KEPT: usize = 60;

pub fn source(name: &str, made: &Made) -> Result<Box<dyn Source>, Box<dyn Error>> {
    let mut bytes = Vec::new();
    recording(&made.recording, &mut bytes)?;
    let opened = open_content(Content::from_bytes(name, bytes)?, &OpenOptions::default())?;
    Ok(opened.into_iter().next().ok_or("no source")?.into_source()?)
}

/// All kinds that were asked for. Long jobs are looked at in sections, which are like others.
pub fn kinds(asked: &Asked) -> Vec<Kind> {
    let is_asked = |kind: &Kind| {
        kind.at_most == u64::MAX
            && asked.kinds.as_ref().is_none_or(|names| names.iter().any(|name| name == kind.name))
    };
    families().flat_map(|(_, _, kinds)| kinds).copied().filter(is_asked).collect()
}

/// Reads and writes are looked at apart: of two rhythms, one of reads and one of writes, either is right.
fn of_one_direction(made: Made) -> Truth {
    let Recording::Requests { writes, reads, .. } = &made.recording else { return made.truth };
    let Truth { periods, changes, .. } = &made.truth;
    if writes.is_empty() || reads.is_empty() || periods.is_empty() || !changes.is_empty() {
        return made.truth;
    }
    let (period, also) = (made.truth.periods.first().copied(), made.truth.periods.clone());
    Truth { period, also, periods: Vec::new(), ..made.truth }
}

fn row(search: &Search, row: &ftio_core::renewal::rows::Row, known: &mut HashMap<Place, f64>) -> Row {
    let mut said = |place: Place| *known.entry(place).or_insert_with(|| exact(search, place));
    let mut places = row.hypotheses.clone();
    if row.is_pair() {
        let volume = |place: &Place| {
            bytes(&search.views[place.0], &search.described(*place).hypothesis).iter().sum::<f64>()
        };
        places.sort_by(|a, b| volume(b).total_cmp(&volume(a)));
    }
    let said =
        if row.is_change { row.periods.clone() } else { places.iter().map(|place| said(*place)).collect() };
    let name = |place: &Place| 1 << search.views[place.0].reading.name as u32;
    Row {
        is_pair: row.is_pair(),
        is_change: row.is_change,
        is_wave: row.is_wave,
        has_twin: row.may_be_alias,
        readings: row.hypotheses.iter().map(name).fold(0, |all, one: u32| all | one),
        form: search.described(row.hypotheses[0]).hypothesis.form as u32,
        loose: row.loose,
        periods: row.periods.clone(),
        said,
        features: row.features.0,
    }
}

/// The alternatives of one trace: the best by some weights, and all that are right.
pub fn look(kind: &Kind, seed: u64, asked: &Asked) -> Result<Seen, Box<dyn Error>> {
    let made = kind.generate(seed);
    let weights: &[f64; COUNT] = &asked.weights;
    let trace = detect_trace(source(kind.name, &made)?, &Options::default())?;
    let mut seen = Seen {
        kind: kind.name,
        is_sealed: kind.is_sealed(),
        tolerance: kind.tolerance,
        seed,
        is_held_out: !asked.seeds.contains(&seed),
        truth: of_one_direction(made),
        rows: Vec::new(),
    };
    let Some(search) = trace.and_then(|trace| Search::of(&trace, weights)) else { return Ok(seen) };
    let mut order: Vec<usize> = (0..search.rows.len()).collect();
    let score = |i: usize| search.rows[i].features.score(weights);
    order.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
    let mut known = HashMap::new();
    for (place, i) in order.into_iter().enumerate() {
        let one = &search.rows[i];
        let simple = Row {
            is_pair: one.is_pair(),
            is_change: one.is_change,
            is_wave: one.is_wave,
            has_twin: false,
            readings: 0,
            form: 0,
            loose: one.loose,
            periods: one.periods.clone(),
            said: Vec::new(),
            features: one.features.0,
        };
        if place < KEPT || seen.is_right(&simple) {
            seen.rows.push(row(&search, one, &mut known));
        }
    }
    Ok(seen)
}

pub fn build(asked: &Asked) -> Result<(), Box<dyn Error>> {
    let [file] = &asked.files[..] else { return Err("build wants one FILE".into()) };
    let kinds = kinds(asked);
    let begin = Instant::now();
    let seeds = || asked.seeds.clone().chain(asked.held_out.clone());
    let jobs: Vec<(Kind, u64)> = kinds.iter().flat_map(|kind| seeds().map(|seed| (*kind, seed))).collect();
    let slow = std::sync::Mutex::new(HashMap::<&str, f64>::new());
    let one = |i: usize| {
        let begin = Instant::now();
        let (kind, seed) = &jobs[i];
        let seen = look(kind, *seed, asked).map_err(|error| format!("{} {seed}: {error}", kind.name));
        if let Ok(mut slow) = slow.lock() {
            *slow.entry(kind.name).or_default() += begin.elapsed().as_secs_f64();
        }
        seen
    };
    let mut traces = Vec::new();
    for seen in in_parallel(jobs.len(), asked.threads, one) {
        match seen {
            Ok(seen) => traces.push(seen),
            Err(error) => eprintln!("{error}"),
        }
    }
    save(file, &traces)?;
    let rows: usize = traces.iter().map(|trace| trace.rows.len()).sum();
    println!(
        "{} traces of {} kinds, {rows} alternatives, {:.0} s",
        traces.len(),
        kinds.len(),
        begin.elapsed().as_secs_f64()
    );
    let mut slow: Vec<(&str, f64)> = slow.into_inner()?.into_iter().collect();
    slow.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (kind, spent) in slow.iter().take(5) {
        println!("  {kind}: {spent:.1} s");
    }
    Ok(())
}
