//! How accurate the period is on every kind of signal of `trace-generator`, without any file:
//! `accuracy [OPTION…]`.
//!
//!     --kinds fitted|unseen|all|NAME,…   which kinds (all)
//!     --seeds FROM..TO                   which seeds (0..20)
//!     --compat                           as the Python FTIO does
//!     --json                             one object per trace on standard output instead of a table
//!     --answers FILE                     judge the answers of somebody else: JSON lines {kind, seed, period,
//!     confidence} --wrong                            name the traces that are wrong or refused
//!
//! An answer is *sure* from a confidence of 0.9 on.

use ftio_core::detect::{Method, Options, detect};
use serde::{Deserialize, Serialize};
use sources::content::Content;
use sources::{OpenOptions, open_content};
use std::collections::HashMap;
use std::error::Error;
use std::ops::Range;
use trace_generator::kinds::{Kind, Made, families};
use trace_generator::verdict::{Verdict, verdict};
use trace_generator::write::recording;

/// From here on an answer is sure.
const SURE: f64 = 0.9;

#[derive(Clone, Debug, Default, Deserialize, Serialize)]
struct Answer {
    kind: String,
    seed: u64,
    period: Option<f64>,
    confidence: f64,
    #[serde(default)]
    periods: Vec<f64>,
    #[serde(default)]
    score: Option<f64>,
}

#[derive(Serialize)]
struct Judged<'a> {
    #[serde(flatten)]
    answer: &'a Answer,
    family: &'static str,
    fitted: bool,
    truth: Option<f64>,
    wanted: &'a [f64],
    verdict: Verdict,
    /// It is right only because "no period" and the period both are.
    either: bool,
    error: Option<f64>,
}

struct Asked {
    kinds: String,
    seeds: Range<u64>,
    compat: bool,
    json: bool,
    wrong: bool,
    answers: Option<HashMap<(String, u64), Answer>>,
}

fn asked() -> Result<Asked, Box<dyn Error>> {
    let mut asked =
        Asked { kinds: "all".into(), seeds: 0..20, compat: false, json: false, wrong: false, answers: None };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(|| format!("{arg} wants a value"));
        match arg.as_str() {
            "--kinds" => asked.kinds = value()?,
            "--seeds" => {
                let value = value()?;
                let (from, to) = value.split_once("..").ok_or("expected --seeds FROM..TO")?;
                asked.seeds = from.parse()?..to.parse()?;
            }
            "--compat" => asked.compat = true,
            "--json" => asked.json = true,
            "--wrong" => asked.wrong = true,
            "--answers" => {
                let text = std::fs::read_to_string(value()?)?;
                let answers =
                    text.lines().map(serde_json::from_str::<Answer>).collect::<Result<Vec<_>, _>>()?;
                let keyed = answers.into_iter().map(|answer| ((answer.kind.clone(), answer.seed), answer));
                asked.answers = Some(keyed.collect());
            }
            _ => return Err(format!("{arg}: unknown; see the head of examples/accuracy.rs").into()),
        }
    }
    Ok(asked)
}

/// What we say about it.
fn ask(kind: &Kind, seed: u64, made: &Made, compat: bool) -> Result<Answer, Box<dyn Error>> {
    let mut bytes = Vec::new();
    recording(&made.recording, &mut bytes)?;
    let content = Content::from_bytes(kind.name, bytes)?;
    let source = open_content(content, &OpenOptions::default())?.swap_remove(0).into_source()?;
    let found = detect(
        kind.name,
        source,
        &Options { method: if compat { Method::Compat } else { Method::Ours }, ..Options::default() },
    )?
    .detection;
    Ok(Answer {
        kind: kind.name.into(),
        seed,
        period: found.period,
        confidence: found.confidence,
        periods: found.periods.iter().map(|one| one.period).collect(),
        score: found.characterization.periodicity_score,
    })
}

#[derive(Default)]
struct Counts {
    traces: usize,
    right: usize,
    refused: usize,
    wrong: usize,
    sure: usize,
    sure_wrong: usize,
    bad: Vec<String>,
}

impl Counts {
    fn add(&mut self, answer: &Answer, verdict: Verdict) {
        self.traces += 1;
        self.right += usize::from(verdict == Verdict::Right);
        self.refused += usize::from(verdict == Verdict::Refused);
        self.wrong += usize::from(verdict == Verdict::Wrong);
        if answer.period.is_some() || !answer.periods.is_empty() {
            self.sure += usize::from(answer.confidence >= SURE);
            self.sure_wrong += usize::from(answer.confidence >= SURE && verdict == Verdict::Wrong);
        }
    }

    fn line(&self, name: &str) -> String {
        format!(
            "{name:<26} {:>4} traces  {:>4} right {:>4} refused {:>4} wrong  {:>4} wrong and sure of {:>4} \
             sure",
            self.traces, self.right, self.refused, self.wrong, self.sure_wrong, self.sure
        )
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let asked = asked()?;
    let mut all = [Counts::default(), Counts::default()];
    for (family, fitted, kinds) in families() {
        for kind in kinds {
            let chosen = match asked.kinds.as_str() {
                "all" => true,
                "fitted" => fitted,
                "unseen" => !fitted,
                names => names.split(',').any(|name| name == kind.name),
            };
            if !chosen {
                continue;
            }
            let mut counts = Counts::default();
            for seed in asked.seeds.clone().take(usize::try_from(kind.at_most).unwrap_or(usize::MAX)) {
                let known = asked.answers.as_ref().map(|answers| answers.get(&(kind.name.to_owned(), seed)));
                if matches!(known, Some(None)) {
                    continue;
                }
                let made = kind.generate(seed);
                let answer = match known.flatten() {
                    Some(answer) => answer.clone(),
                    None => ask(kind, seed, &made, asked.compat)?,
                };
                let verdict = verdict(&made.truth, kind.tolerance, answer.period, &answer.periods);
                let error = made.truth.period.zip(answer.period).map(|(truth, found)| found / truth - 1.0);
                counts.add(&answer, verdict);
                all[usize::from(!fitted)].add(&answer, verdict);
                if asked.json {
                    let (truth, wanted) = (made.truth.period, &made.truth.periods[..]);
                    let refused = answer.period.is_none() && answer.periods.is_empty();
                    let expected = truth.is_none() && wanted.is_empty();
                    let either = verdict == Verdict::Right && refused != expected;
                    let judged =
                        Judged { answer: &answer, family, fitted, truth, wanted, verdict, either, error };
                    println!("{}", serde_json::to_string(&judged)?);
                } else if verdict != Verdict::Right {
                    let wanted = made.truth.period.map_or("none".into(), |period| format!("{period:.4}"));
                    let found = answer.period.map_or("none".into(), |period| format!("{period:.4}"));
                    counts.bad.push(format!(
                        "    {} {seed}: {found} at {:.2}, all {:.3?}; truth {wanted} {:.3?}; {} phases",
                        kind.name,
                        answer.confidence,
                        answer.periods,
                        made.truth.periods,
                        made.truth.starts.len()
                    ));
                }
            }
            if !asked.json {
                println!("{}", counts.line(kind.name));
                if asked.wrong {
                    counts.bad.iter().for_each(|line| println!("{line}"));
                }
            }
        }
    }
    if !asked.json {
        println!("{}\n{}", all[0].line("ALL FITTED"), all[1].line("ALL UNSEEN"));
    }
    Ok(())
}
