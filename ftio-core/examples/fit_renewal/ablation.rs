//! What each feature, reading and form is worth: log-loss and right answers on kinds left out, without it;
//! and what more kinds and more seeds are worth.

use crate::judge::{Best, Calibration, Counts, LeftOut, calibrated};
use crate::logit::{How, Stack, Weights, fit, mean_loss};
use crate::rows::{Row, Said, Seen};
use crate::{Asked, in_parallel};
use ftio_core::renewal::hypotheses::Form;
use ftio_core::renewal::readings::Name;
use ftio_core::renewal::table::ANSWER;
use ftio_core::renewal::weights::{COUNT, Sign, WEIGHTS};
use std::collections::BTreeSet;

const READINGS: [Name; 6] = [Name::Small, Name::Calm, Name::Root, Name::Above, Name::Part, Name::Rest];
const FORMS: [Form; 5] = [Form::Mean, Form::Comb, Form::Drift, Form::Change, Form::Wave];

/// Groups of kinds, if it was not asked for a number of them.
const GROUPS: usize = 8;

struct Line {
    name: String,
    used: [bool; COUNT],
    without: Without,
}

#[derive(Clone, Copy)]
enum Without {
    Nothing,
    Reading(Name),
    Form(Form),
}

impl Without {
    fn keeps(self, row: &Row) -> bool {
        match self {
            Without::Nothing => true,
            Without::Reading(name) => row.readings & (1 << name as u32) == 0,
            Without::Form(form) => row.form != form as u32,
        }
    }
}

fn lines(used: [bool; COUNT]) -> Vec<Line> {
    let without = |i: usize| std::array::from_fn(|j| used[j] && i != j);
    let mut lines = vec![Line { name: "all".into(), used, without: Without::Nothing }];
    let features = WEIGHTS.iter().enumerate().filter(|(i, weight)| used[*i] && weight.sign != Sign::Constant);
    lines.extend(features.map(|(i, weight)| Line {
        name: weight.name.into(),
        used: without(i),
        without: Without::Nothing,
    }));
    let reading =
        |name: Name| Line { name: format!("reading {name:?}"), used, without: Without::Reading(name) };
    let form = |form: Form| Line { name: format!("form {form:?}"), used, without: Without::Form(form) };
    lines.extend(READINGS.into_iter().map(reading));
    lines.extend(FORMS.into_iter().map(form));
    lines
}

fn counts(
    open: &[&Seen],
    of: impl Fn(&str) -> Weights,
    without: Without,
    calibration: Calibration,
) -> Counts {
    let said = |trace: &&Seen| {
        let rows: Vec<Row> = trace.rows.iter().filter(|row| without.keeps(row)).cloned().collect();
        let best = Best::of(&rows, &of(trace.kind));
        let confidence = calibrated(best.probability, calibration);
        if confidence < ANSWER {
            return Said { confidence, ..Said::default() };
        }
        Said { period: best.period, periods: best.periods, confidence }
    };
    Counts::of(open.iter().map(|trace| (*trace, said(trace))))
}

pub fn ablate(fitted: &[&Seen], open: &[&Seen], calibration: Calibration, how: &How, asked: &Asked) {
    let lines = lines(how.used);
    let groups = if asked.groups > 1 { asked.groups } else { GROUPS };
    let one = |i: usize| {
        let line = &lines[i];
        let stacks: Vec<Stack> =
            fitted.iter().map(|trace| Stack::of(trace, |row| line.without.keeps(row))).collect();
        let how = How { used: line.used, ..how.clone() };
        let left_out = LeftOut::new(&stacks, &how, groups, 1);
        let loss = mean_loss(stacks.iter().map(|stack| (stack.kind, stack.loss(left_out.of(stack.kind)))));
        (loss, counts(open, |kind| *left_out.of(kind), line.without, calibration))
    };
    let found = in_parallel(lines.len(), asked.threads, one);
    println!("without | log-loss on kinds left out | difference | answers on kinds left out");
    for (line, (loss, counts)) in lines.iter().zip(&found) {
        println!("{} | {loss:.4} | {:+.4} | {}", line.name, loss - found[0].0, counts.line());
    }
    // More and more features less, those that are worth least alone first.
    let mut worth: Vec<(f64, usize)> = Vec::new();
    for (line, (loss, _)) in lines.iter().zip(&found) {
        worth.extend(WEIGHTS.iter().position(|weight| weight.name == line.name).map(|i| (*loss, i)));
    }
    worth.sort_by(|a, b| a.0.total_cmp(&b.0));
    let fewer = |count: usize| {
        let mut used = how.used;
        worth.iter().take(count).for_each(|(_, i)| used[*i] = false);
        let stacks: Vec<Stack> = fitted.iter().map(|trace| Stack::of(trace, |_| true)).collect();
        let left_out = LeftOut::new(&stacks, &How { used, ..how.clone() }, groups, 1);
        let loss = mean_loss(stacks.iter().map(|stack| (stack.kind, stack.loss(left_out.of(stack.kind)))));
        (loss, counts(open, |kind| *left_out.of(kind), Without::Nothing, calibration))
    };
    println!(
        "so many features less, the last of them | log-loss on kinds left out | answers on kinds left out"
    );
    let found = in_parallel(worth.len() + 1, asked.threads, fewer);
    for (i, (loss, counts)) in found.iter().enumerate() {
        let name = i.checked_sub(1).map_or("", |i| WEIGHTS[worth[i].1].name);
        println!("{i} {name} | {loss:.4} | {}", counts.line());
    }
}

/// Log-loss on kinds left out over the number of kinds fitted on, and of seeds.
pub fn curve(fitted: &[&Seen], how: &How, asked: &Asked) {
    let groups = if asked.groups > 1 { asked.groups } else { GROUPS };
    // By name, every so manieth kind is left out; those fitted on are drawn by lot among the others.
    let kinds: Vec<&str> =
        fitted.iter().map(|trace| trace.kind).collect::<BTreeSet<_>>().into_iter().collect();
    let seeds: Vec<u64> =
        fitted.iter().map(|trace| trace.seed).collect::<BTreeSet<_>>().into_iter().collect();
    let lot = |kind: &str| {
        kind.bytes().fold(7u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
        })
    };
    let mut drawn = kinds.clone();
    drawn.sort_by_key(|kind| lot(kind));
    let sizes = [16, 32, 48, 64, 96, 128, 192, 256, 384];
    let mut asked_for: Vec<(usize, usize)> =
        sizes.into_iter().filter(|size| *size < kinds.len()).map(|size| (size, seeds.len())).collect();
    asked_for.push((kinds.len(), seeds.len()));
    asked_for
        .extend([1, 2, 4].into_iter().filter(|count| *count < seeds.len()).map(|count| (kinds.len(), count)));
    let one = |i: usize| {
        let (size, count) = asked_for[i];
        let mut losses = Vec::new();
        for left_out in 0..groups {
            let out: BTreeSet<&str> = kinds.iter().copied().skip(left_out).step_by(groups).collect();
            let most = size * (groups - 1) / groups;
            let chosen: BTreeSet<&str> =
                drawn.iter().copied().filter(|kind| !out.contains(kind)).take(most.max(1)).collect();
            let stack = |trace: &&Seen| Stack::of(trace, |_| true);
            let learnt: Vec<Stack> = fitted
                .iter()
                .filter(|trace| chosen.contains(trace.kind) && seeds[..count].contains(&trace.seed))
                .map(stack)
                .collect();
            let weights = fit(&learnt.iter().collect::<Vec<_>>(), how);
            let judged = fitted.iter().filter(|trace| out.contains(trace.kind)).map(stack);
            losses.extend(judged.map(|stack| (stack.kind, stack.loss(&weights))));
        }
        mean_loss(losses.into_iter())
    };
    let losses = in_parallel(asked_for.len(), asked.threads, one);
    println!("kinds (all but 1 of {groups} groups of them fitted), seeds each | log-loss on kinds left out");
    for ((size, count), loss) in asked_for.iter().zip(losses) {
        println!("{size}, {count} | {loss:.4}");
    }
}
