//! What the estimator weighs for a made-up trace, or for a file:
//! `weigh [--features] KIND|SETTING|FILE [FROM..TO]`.
//!
//! KIND is a kind of `trace-generator` (`late_ranks`), SETTING one of the experiment
//! (`desynchronisation 5 s`); FROM..TO are seeds (0..1). For each trace: the truth, the answer, and the most
//! probable hypotheses; with `--features`, what speaks for each of them.

use ftio_core::detect::{Options, detect, detect_hypotheses};
use ftio_core::estimate::score::{Candidate, score};
use ftio_core::estimate::weights::WEIGHTS;
use sources::content::Content;
use sources::{Input, OpenOptions, Source, open, open_content};
use std::error::Error;
use trace_generator::experiment::settings;
use trace_generator::generated::Truth;
use trace_generator::kinds::{Made, Recording, named};
use trace_generator::write::recording;

/// At most this many hypotheses are shown.
const SHOWN: usize = 6;

fn made(name: &str, seed: u64) -> Option<Made> {
    if let Some(kind) = named(name) {
        return Some(kind.generate(seed));
    }
    let setting = settings().into_iter().find(|setting| setting.name == name)?;
    let one = setting.generate(seed);
    let recording = Recording::Requests {
        ranks: one.ranks,
        duration: one.duration,
        writes: one.writes,
        reads: Vec::new(),
    };
    Some(Made { recording, truth: one.truth })
}

fn source(name: &str, made: Option<&Made>) -> Result<Box<dyn Source>, Box<dyn Error>> {
    let mut opened = match made {
        Some(made) => {
            let mut bytes = Vec::new();
            recording(&made.recording, &mut bytes)?;
            open_content(Content::from_bytes(name, bytes)?, &OpenOptions::default())?
        }
        None => open(&Input::Path(name.into()), &OpenOptions::default())?,
    };
    Ok(opened.swap_remove(0).into_source()?)
}

fn show(candidate: &Candidate, features: bool) {
    let one = &candidate.best.hypothesis;
    println!(
        "    {:>10.4} at {:.3}  {:?} of list {} ({} of {} hypotheses): {} members, σ {:.3}, fill {:.2}, \
         pause {:.2}, extra {:.2}, cover {:.2}, duty {:.2}, score {:.2}",
        one.period,
        candidate.probability,
        one.form,
        one.list,
        1,
        candidate.hypotheses,
        one.members.len(),
        one.sigma,
        one.fill,
        one.pause,
        one.extra,
        candidate.best.cover,
        candidate.best.duty,
        score(&candidate.best),
    );
    if features {
        let shown = WEIGHTS.iter().zip(candidate.best.features).filter(|(_, value)| *value != 0.0);
        let shown: Vec<String> = shown
            .map(|(weight, value)| format!("{} {value:.2} ({:+.2})", weight.name, weight.value * value))
            .collect();
        println!("        {}", shown.join(", "));
    }
}

fn weigh(name: &str, seed: u64, features: bool) -> Result<(), Box<dyn Error>> {
    let made = made(name, seed);
    let found = detect(name, source(name, made.as_ref())?, &Options::default())?.detection;
    let truth = made.as_ref().map_or(Truth::default(), |made| made.truth.clone());
    println!(
        "{name} {seed}: {:?} at {:.3}, all {:.3?}; truth {:?} {:.3?}, also {:.3?}, {} phases; {}",
        found.period,
        found.confidence,
        found.periods.iter().map(|one| one.period).collect::<Vec<f64>>(),
        truth.period,
        truth.periods,
        truth.also,
        truth.starts.len(),
        found.reasons.join("; ")
    );
    let Some(view) = detect_hypotheses(source(name, made.as_ref())?, &Options::default())? else {
        return Ok(());
    };
    let lists = view.lists.iter().map(|marked| {
        let list = &marked.list;
        format!("{} {:?} {:.2}", list.phases.len(), list.origin, list.octaves)
    });
    println!(
        "    none {:.3}; best list {:?}; lists: {}",
        view.posterior.none,
        view.best,
        lists.collect::<Vec<_>>().join(", ")
    );
    view.posterior.candidates.iter().take(SHOWN).for_each(|candidate| show(candidate, features));
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args: Vec<String> = std::env::args().skip(1).collect();
    let features = args.iter().any(|arg| arg == "--features");
    args.retain(|arg| arg != "--features");
    let name = args.first().ok_or("weigh [--features] KIND|SETTING|FILE [FROM..TO]")?;
    let seeds = args.get(1).map_or("0..1", String::as_str);
    let (from, to) = seeds.split_once("..").ok_or("expected FROM..TO")?;
    for seed in from.parse::<u64>()?..to.parse()? {
        weigh(name, seed, features)?;
    }
    Ok(())
}
