//! Fits the weights of the [renewal estimator](ftio_core::renewal) on the kinds of `trace-generator`, and
//! judges them (`scripts/fit` runs it).
//!
//!     fit_renewal build FILE [--seeds FROM..TO] [--held-out FROM..TO] [--kinds NAME,…]
//!     fit_renewal fit FILE… [--l2 X,…] [--leave-kinds-out K] [--ablate] [--curve] [--by-kind]
//!                          [--drop NAME,…] [--weights FILE] [--out FILE]
//!     fit_renewal next [--seeds FROM..TO] [--kinds NAME,…] [--weights FILE]
//!     fit_renewal show [--seeds FROM..TO] [--kinds NAME,…] [--weights FILE]
//!
//! and `--threads N` with each. *build* looks at the traces of all kinds and saves what was found, so that
//! fits can be repeated: seeds to fit on, and held out to calibrate. *fit* reads one or more such files,
//! writes weights and calibration to FILE as `name value`, and judges them on seeds held out, on kinds left
//! out (K groups of them), and on the sealed kinds, on which nothing is ever fitted and of which only the
//! total is shown. Weights are drawn towards those of the prototype (`prior.txt`). Of several `--l2`, that
//! with the least log-loss on kinds left out is taken. `--ablate`: without each feature, reading and form,
//! and without more and more features, those that are worth least first. *next* judges the next start of
//! running jobs. *show* tells what was found in traces of some kinds, and what parts the best alternative
//! from the best right one.

mod ablation;
mod build;
mod judge;
mod logit;
mod next;
mod rows;
mod show;

use ftio_core::renewal::weights::{COUNT, WEIGHTS, fitted};
use std::error::Error;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};

/// What was asked for.
struct Asked {
    files: Vec<String>,
    seeds: Range<u64>,
    held_out: Range<u64>,
    kinds: Option<Vec<String>>,
    l2: Vec<f64>,
    groups: usize,
    ablate: bool,
    curve: bool,
    by_kind: bool,
    dropped: Vec<String>,
    weights: [f64; COUNT],
    out: Option<String>,
    threads: usize,
}

fn range(text: &str) -> Result<Range<u64>, Box<dyn Error>> {
    let (from, to) = text.split_once("..").ok_or("expected FROM..TO")?;
    Ok(from.parse()?..to.parse()?)
}

fn names(text: &str) -> Vec<String> {
    text.split(',').map(str::to_owned).collect()
}

/// Weights as `fit --out` writes them; 0 for those that are not named.
fn weights_of(text: &str) -> Result<[f64; COUNT], Box<dyn Error>> {
    let mut weights = [0.0; COUNT];
    for line in text.lines() {
        let (name, value) = line.split_once(' ').ok_or("expected NAME VALUE")?;
        if let Some(i) = WEIGHTS.iter().position(|weight| weight.name == name) {
            weights[i] = value.parse()?;
        }
    }
    Ok(weights)
}

/// Do the jobs on several threads; the results in their order.
fn in_parallel<T: Send>(count: usize, threads: usize, job: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= count {
                return done;
            }
            done.push((index, job(index)));
        }
    };
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let running: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        running.into_iter().flat_map(|thread| thread.join().expect("a job failed")).collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut asked = Asked {
        files: Vec::new(),
        seeds: 0..8,
        held_out: 1000..1004,
        kinds: None,
        l2: vec![0.005],
        groups: 0,
        ablate: false,
        curve: false,
        by_kind: false,
        dropped: Vec::new(),
        weights: fitted(),
        out: None,
        threads: std::thread::available_parallelism().map_or(1, usize::from),
    };
    let mut args = std::env::args().skip(1);
    let what = args.next().ok_or("build, fit, next or show; see the head of examples/fit/main.rs")?;
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} wants a value"));
        match arg.as_str() {
            "--seeds" => asked.seeds = range(&value()?)?,
            "--held-out" => asked.held_out = range(&value()?)?,
            "--kinds" => asked.kinds = Some(names(&value()?)),
            "--l2" => asked.l2 = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--leave-kinds-out" => asked.groups = value()?.parse()?,
            "--ablate" => asked.ablate = true,
            "--curve" => asked.curve = true,
            "--by-kind" => asked.by_kind = true,
            "--drop" => asked.dropped = names(&value()?),
            "--weights" => asked.weights = weights_of(&std::fs::read_to_string(value()?)?)?,
            "--out" => asked.out = Some(value()?),
            "--threads" => asked.threads = value()?.parse()?,
            _ if !arg.starts_with('-') => asked.files.push(arg),
            _ => return Err(format!("{arg}: unknown; see the head of examples/fit/main.rs").into()),
        }
    }
    match what.as_str() {
        "build" => build::build(&asked),
        "fit" => judge::fit_and_judge(&asked),
        "next" => next::judge(&asked),
        "show" => show::show(&asked),
        _ => Err(format!("{what}: build, fit, next or show").into()),
    }
}
