//! How good weights are: log-loss, right answers, sure ones, and how far the stated probabilities are true.

use crate::logit::{How, Stack, Weights, fit, mean_loss};
use crate::rows::{Row, Said, Seen, load};
use crate::{Asked, ablation, in_parallel, weights_of};
use ftio_core::renewal::table::{ANSWER, MOST_ASKED, SAME, TWIN};
use ftio_core::renewal::weights::{COUNT, Feature, WEIGHTS};
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fmt::Write;
use trace_generator::verdict::{Verdict, verdict};

/// From here on an answer is sure.
const SURE: f64 = 0.9;

/// Slope and offset of the logit of the confidence against that of the probability.
pub type Calibration = (f64, f64);

/// The best answer to a trace, said or not.
pub struct Best {
    pub probability: f64,
    pub period: Option<f64>,
    pub periods: Vec<f64>,
    /// The probability that there is none.
    pub none: f64,
}

impl Best {
    /// As [`Answer::of`](ftio_core::renewal::answer::Answer::of) chooses it.
    pub fn of(rows: &[Row], weights: &Weights) -> Self {
        let scores: Vec<f64> = rows.iter().map(|row| score(row, weights)).collect();
        let highest = scores.iter().copied().fold(0.0, f64::max);
        let powers: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
        let twins: f64 =
            rows.iter().zip(&powers).filter(|(row, _)| row.has_twin).map(|(_, power)| power).sum();
        let none = (-highest).exp() + TWIN * twins;
        let all = powers.iter().sum::<f64>() + none;
        let probability: Vec<f64> = powers.iter().map(|power| power / all).collect();
        let mut best = Best { probability: 0.0, period: None, periods: Vec::new(), none: none / all };
        let mut order: Vec<usize> = (0..rows.len()).collect();
        order.sort_by(|&a, &b| probability[b].total_cmp(&probability[a]));
        for &top in order.iter().take(MOST_ASKED) {
            let one = &rows[top];
            let asked: Vec<Option<f64>> =
                if one.is_change { vec![None] } else { one.periods.iter().copied().map(Some).collect() };
            for period in asked {
                let says: Vec<usize> = (0..rows.len()).filter(|&i| says(&rows[i], one, period)).collect();
                let total: f64 = says.iter().map(|&i| probability[i]).sum();
                if total <= best.probability {
                    continue;
                }
                best.probability = total;
                let Some(period) = period else {
                    (best.period, best.periods) = (None, one.said.clone());
                    continue;
                };
                let most = |a: usize, b: usize| if probability[b] > probability[a] { b } else { a };
                let (pairs, singles): (Vec<usize>, Vec<usize>) = says.iter().partition(|i| rows[**i].is_pair);
                let of_pairs: f64 = pairs.iter().map(|&i| probability[i]).sum();
                let pair = pairs.into_iter().reduce(most).filter(|_| 2.0 * of_pairs >= total);
                best.periods = match pair {
                    Some(pair) => rows[pair].said.clone(),
                    None => {
                        let chosen = &rows[singles.into_iter().reduce(most).unwrap_or(top)];
                        let nearest = |a: &f64, b: &f64| (a - period).abs().total_cmp(&(b - period).abs());
                        chosen.said.iter().copied().min_by(nearest).into_iter().collect()
                    }
                };
                best.period = best.periods.first().copied();
            }
        }
        best
    }

    fn said(&self, calibration: Calibration) -> Said {
        let confidence = calibrated(self.probability, calibration);
        if confidence < ANSWER {
            return Said { confidence, ..Said::default() };
        }
        Said { period: self.period, periods: self.periods.clone(), confidence }
    }
}

fn score(row: &Row, weights: &Weights) -> f64 {
    row.features.iter().zip(weights).map(|(feature, weight)| feature * weight).sum()
}

fn near(one: f64, other: f64, share: f64) -> bool {
    (one / other - 1.0).abs() < share
}

/// Does a row say this period, or the same change?
fn says(row: &Row, best: &Row, period: Option<f64>) -> bool {
    match period {
        Some(period) => {
            let share = row.loose.max(best.loose);
            !row.is_change && row.periods.iter().any(|other| near(*other, period, share))
        }
        None => {
            let mut pairs = row.periods.iter().zip(&best.periods);
            row.is_change
                && row.periods.len() == best.periods.len()
                && pairs.all(|(a, b)| near(*a, *b, 2.0 * SAME))
        }
    }
}

fn logit(probability: f64) -> f64 {
    let probability = probability.clamp(1e-6, 1.0 - 1e-6);
    (probability / (1.0 - probability)).ln()
}

pub fn calibrated(probability: f64, (slope, offset): Calibration) -> f64 {
    1.0 / (1.0 + (-slope * logit(probability) - offset).exp())
}

/// Slope and offset by maximum likelihood (Platt, 1999), drawn a little towards 1 and 0.
pub fn platt(answers: &[(f64, bool)]) -> Calibration {
    let (mut slope, mut offset) = (1.0, 0.0);
    for _ in 0..50 {
        let (mut g, mut h) = ([slope - 1.0, offset], [1.0, 0.0, 1.0]);
        for (probability, right) in answers {
            let x = logit(*probability);
            let p = calibrated(*probability, (slope, offset));
            let off = p - f64::from(*right);
            let v = p * (1.0 - p);
            g = [g[0] + off * x, g[1] + off];
            h = [h[0] + v * x * x, h[1] + v * x, h[2] + v];
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        slope -= (h[2] * g[0] - h[1] * g[1]) / determinant;
        offset -= (h[0] * g[1] - h[1] * g[0]) / determinant;
    }
    (slope, offset)
}

pub fn verdict_of(trace: &Seen, said: &Said) -> Verdict {
    verdict(&trace.truth, trace.tolerance, said.period, &said.periods)
}

#[derive(Clone, Copy, Default)]
pub struct Counts {
    pub traces: usize,
    pub right: usize,
    refused: usize,
    wrong: usize,
    sure: usize,
    sure_right: usize,
    /// Of traces without a period: how many, and answers.
    without: usize,
    without_answered: usize,
}

impl Counts {
    fn add(&mut self, trace: &Seen, said: &Said) {
        let verdict = verdict_of(trace, said);
        self.traces += 1;
        self.right += usize::from(verdict == Verdict::Right);
        self.refused += usize::from(verdict == Verdict::Refused);
        self.wrong += usize::from(verdict == Verdict::Wrong);
        let sure = said.is_answer() && said.confidence >= SURE;
        self.sure += usize::from(sure);
        self.sure_right += usize::from(sure && verdict == Verdict::Right);
        let without = trace.truth.period.is_none() && trace.truth.periods.is_empty();
        self.without += usize::from(without);
        self.without_answered += usize::from(without && verdict == Verdict::Wrong);
    }

    pub fn of<'a>(all: impl Iterator<Item = (&'a Seen, Said)>) -> Self {
        let mut counts = Counts::default();
        all.for_each(|(trace, said)| counts.add(trace, &said));
        counts
    }

    pub fn line(&self) -> String {
        let Counts { traces, right, refused, wrong, sure, sure_right, without, without_answered } = self;
        let share = |one: &usize, all: &usize| 100.0 * *one as f64 / (*all).max(1) as f64;
        format!(
            "{right} of {traces} right ({:.1} %), {refused} refused, {wrong} wrong ({without_answered} of \
             {without} without a period); sure {sure}, right {sure_right} ({:.2} %)",
            share(right, traces),
            share(sure_right, sure)
        )
    }
}

/// Stated against right, by bins: of answers, and of *none*.
fn reliability(what: &str, answers: &[(f64, bool)]) -> String {
    const EDGES: [f64; 11] = [0.0, 0.05, 0.1, 0.25, 0.5, 0.6, 0.7, 0.8, 0.9, 0.97, 1.01];
    let (mut out, mut error) = (format!("  {what}\n"), 0.0);
    for edge in EDGES.windows(2) {
        let inside: Vec<&(f64, bool)> =
            answers.iter().filter(|(p, _)| (edge[0]..edge[1]).contains(p)).collect();
        if inside.is_empty() {
            continue;
        }
        let count = inside.len() as f64;
        let stated = inside.iter().map(|(p, _)| p).sum::<f64>() / count;
        let right = inside.iter().filter(|(_, right)| *right).count() as f64 / count;
        error += (stated - right).abs() * count / answers.len() as f64;
        let _ = writeln!(
            out,
            "    {:.2} to {:.2}: {count:>5}, stated {stated:.3}, right {right:.3}, {:+.3}",
            edge[0],
            edge[1].min(1.0),
            right - stated
        );
    }
    let _ = writeln!(out, "    mean difference {error:.4}");
    out
}

/// Which group a kind is in when groups are left out in turn.
fn group(kinds: &BTreeSet<&'static str>, kind: &str, groups: usize) -> usize {
    kinds.iter().position(|one| *one == kind).map_or(0, |i| i % groups)
}

/// Weights that were fitted without each group of kinds.
pub fn without_groups(stacks: &[Stack], how: &How, groups: usize, threads: usize) -> Vec<Weights> {
    let kinds: BTreeSet<&'static str> = stacks.iter().map(|stack| stack.kind).collect();
    let one = |left_out: usize| {
        let others: Vec<&Stack> =
            stacks.iter().filter(|stack| group(&kinds, stack.kind, groups) != left_out).collect();
        fit(&others, how)
    };
    in_parallel(groups, threads, one)
}

/// The weights that a trace is judged with if its kind is left out.
pub struct LeftOut {
    kinds: BTreeSet<&'static str>,
    pub weights: Vec<Weights>,
}

impl LeftOut {
    pub fn new(stacks: &[Stack], how: &How, groups: usize, threads: usize) -> Self {
        let kinds = stacks.iter().map(|stack| stack.kind).collect();
        LeftOut { kinds, weights: without_groups(stacks, how, groups, threads) }
    }

    pub fn of(&self, kind: &str) -> &Weights {
        &self.weights[group(&self.kinds, kind, self.weights.len())]
    }
}

/// How good an estimator is on some traces.
fn judged(what: &str, all: &[&Seen], calibration: Calibration, of: impl Fn(&str) -> Weights) -> String {
    let loss =
        mean_loss(all.iter().map(|trace| (trace.kind, Stack::of(trace, |_| true).loss(&of(trace.kind)))));
    let best: Vec<Best> = all.iter().map(|trace| Best::of(&trace.rows, &of(trace.kind))).collect();
    let said = || all.iter().zip(&best).map(|(trace, best)| (*trace, best.said(calibration)));
    let mut out = format!("{what}: log-loss {loss:.4}, {}\n", Counts::of(said()).line());
    let confident = |(trace, best): (&&Seen, &Best)| {
        let said = Said { period: best.period, periods: best.periods.clone(), confidence: 0.0 };
        let right = said.is_answer() && verdict_of(trace, &said) == Verdict::Right;
        (calibrated(best.probability, calibration), right)
    };
    let answers: Vec<(f64, bool)> = all.iter().zip(&best).map(confident).collect();
    out += &reliability("confidence of the best answer, said or not", &answers);
    let none: Vec<(f64, bool)> =
        all.iter().zip(&best).map(|(trace, best)| (best.none, trace.is_none())).collect();
    out += &reliability("probability of none", &none);
    out
}

/// By kind, the worst first: log-loss, right, sure and wrong.
fn by_kind(all: &[&Seen], calibration: Calibration, of: impl Fn(&str) -> Weights) -> String {
    let mut kinds: BTreeMap<&str, Vec<&Seen>> = BTreeMap::new();
    all.iter().for_each(|trace| kinds.entry(trace.kind).or_default().push(trace));
    let mut lines: Vec<(f64, String)> = Vec::new();
    for (kind, traces) in kinds {
        let weights = of(kind);
        let stacks: Vec<Stack> = traces.iter().map(|trace| Stack::of(trace, |_| true)).collect();
        let loss = stacks.iter().map(|stack| stack.loss(&weights)).sum::<f64>() / stacks.len() as f64;
        let no_row = traces.iter().filter(|trace| !trace.is_none() && !trace.right().contains(&true)).count();
        let said = |trace: &&Seen| Best::of(&trace.rows, &weights).said(calibration);
        let counts = Counts::of(traces.iter().map(|trace| (*trace, said(trace))));
        lines.push((loss, format!("  {kind:<28} {loss:.3}  {}; no right row {no_row}\n", counts.line())));
    }
    lines.sort_by(|a, b| b.0.total_cmp(&a.0));
    lines.into_iter().map(|(_, line)| line).collect()
}

/// Probability and rightness of the best answers.
fn answers(all: &[&Seen], of: impl Fn(&str) -> Weights) -> Vec<(f64, bool)> {
    let one = |trace: &&Seen| {
        let best = Best::of(&trace.rows, &of(trace.kind));
        let said = Said { period: best.period, periods: best.periods, confidence: 0.0 };
        (best.probability, said.is_answer() && verdict_of(trace, &said) == Verdict::Right)
    };
    all.iter().map(one).collect()
}

/// Weights with all scores so many times as large, and every rhythm so much more probable.
fn scaled(weights: &Weights, (times, more): (f64, f64)) -> Weights {
    let mut weights = weights.map(|weight| times * weight);
    weights[Feature::Rhythm as usize] += more;
    weights[Feature::Wave as usize] += more;
    weights
}

/// The scale with the least log-loss.
fn best_scale(all: &[&Seen], threads: usize, of: impl Fn(&str) -> Weights + Sync) -> (f64, f64) {
    const ROUNDS: usize = 4;
    let stacks: Vec<Stack> = all.iter().map(|trace| Stack::of(trace, |_| true)).collect();
    let (mut best, mut reach) = ((1.0, 0.0), (0.3, 1.0));
    for _ in 0..ROUNDS {
        let tried = |i: usize| {
            let (x, y) = ((i % 5) as f64 / 2.0 - 1.0, (i / 5) as f64 / 2.0 - 1.0);
            (best.0 + x * reach.0, best.1 + y * reach.1)
        };
        let loss = |i: usize| {
            let losses =
                stacks.iter().map(|stack| (stack.kind, stack.loss(&scaled(&of(stack.kind), tried(i)))));
            mean_loss(losses)
        };
        let losses = in_parallel(25, threads, loss);
        let least = (0..25).min_by(|&a, &b| losses[a].total_cmp(&losses[b])).unwrap_or(12);
        best = tried(least);
        reach = (reach.0 / 2.0, reach.1 / 2.0);
    }
    best
}

/// That of several penalties which has the least log-loss on kinds left out.
fn best_l2(stacks: &[Stack], how: &How, asked: &Asked) -> f64 {
    let mut best = (f64::INFINITY, asked.l2[0]);
    for &l2 in asked.l2.iter().filter(|_| asked.l2.len() > 1) {
        let left_out = LeftOut::new(stacks, &How { l2, ..how.clone() }, asked.groups.max(2), asked.threads);
        let loss = mean_loss(stacks.iter().map(|stack| (stack.kind, stack.loss(left_out.of(stack.kind)))));
        println!("L2 {l2}: log-loss on kinds left out {loss:.4}");
        if loss < best.0 {
            best = (loss, l2);
        }
    }
    best.1
}

pub fn fit_and_judge(asked: &Asked) -> Result<(), Box<dyn Error>> {
    let mut traces = Vec::new();
    for file in &asked.files {
        traces.extend(load(file)?);
    }
    let fitted: Vec<&Seen> = traces.iter().filter(|trace| !trace.is_sealed && !trace.is_held_out).collect();
    let held_out: Vec<&Seen> = traces.iter().filter(|trace| !trace.is_sealed && trace.is_held_out).collect();
    let open: Vec<&Seen> = traces.iter().filter(|trace| !trace.is_sealed).collect();
    let sealed: Vec<&Seen> = traces.iter().filter(|trace| trace.is_sealed).collect();
    let stacks: Vec<Stack> = fitted.iter().map(|trace| Stack::of(trace, |_| true)).collect();
    let count = |all: &[&Seen]| all.iter().map(|trace| trace.kind).collect::<BTreeSet<_>>().len();
    println!("{} kinds fitted on, {} sealed; {} traces", count(&fitted), count(&sealed), traces.len());
    let used: [bool; COUNT] =
        std::array::from_fn(|i| !asked.dropped.iter().any(|name| name == WEIGHTS[i].name));
    let towards = weights_of(include_str!("prior.txt"))?;
    let how = How { l2: asked.l2[0], used, near: asked.weights, towards };
    let weights = fit(&stacks.iter().collect::<Vec<_>>(), &how);
    let how = How { near: weights, ..how };
    let how = How { l2: best_l2(&stacks, &how, asked), ..how };
    let weights = fit(&stacks.iter().collect::<Vec<_>>(), &how);
    let how = How { near: weights, ..how };
    let mut calibration = platt(&answers(&held_out, |_| weights));
    let mut left_out = None;
    if asked.groups > 1 {
        let groups = LeftOut::new(&stacks, &how, asked.groups, asked.threads);
        let of = |kind: &str| *groups.of(kind);
        println!("calibration on other seeds {calibration:.3?}");
        calibration = platt(&answers(&open, of));
        println!("calibration on kinds left out {calibration:.3?}");
        print!("{}", judged("kinds left out", &open, calibration, of));
        let scale = best_scale(&open, asked.threads, of);
        println!("scale on kinds left out {scale:.3?}");
        print!(
            "{}",
            judged("kinds left out, scaled instead", &open, (1.0, 0.0), |kind| scaled(&of(kind), scale))
        );
        print!(
            "{}",
            judged("sealed kinds, scaled instead", &sealed, (1.0, 0.0), |_| scaled(&weights, scale))
        );
        left_out = Some(groups);
    }
    print!("{}", judged("fitted kinds, other seeds", &held_out, calibration, |_| weights));
    print!("{}", judged("sealed kinds", &sealed, calibration, |_| weights));
    let before = ftio_core::renewal::weights::CALIBRATION;
    print!(
        "{}",
        judged("weights of before, fitted kinds, other seeds", &held_out, before, |_| asked.weights)
    );
    print!("{}", judged("weights of before, sealed kinds", &sealed, before, |_| asked.weights));
    if asked.by_kind {
        let of = |kind: &str| left_out.as_ref().map_or(weights, |groups| *groups.of(kind));
        print!("{}", by_kind(&open, calibration, of));
    }
    if let Some(out) = &asked.out {
        let lines =
            WEIGHTS.iter().zip(weights).map(|(weight, value)| format!("{} {value:.4}\n", weight.name));
        let (slope, offset) = calibration;
        let text = lines.collect::<String>() + &format!("calibration {slope:.3} {offset:.3}\n");
        std::fs::write(out, text)?;
    }
    if asked.curve {
        ablation::curve(&fitted, &how, asked);
    }
    if asked.ablate {
        ablation::ablate(&fitted, &open, calibration, &how, asked);
    }
    Ok(())
}
