//! Makes a script that fails smaller: calls are left out and numbers made smaller while it fails.
//!
//! All smaller scripts of a round are one batch. What is legal after a call was left out, the model says.

use super::batch::{Checks, play};
use super::compare::Aspect;
use super::model::legal;
use super::play::{Settings, Stage};
use super::script::{Op, Script};

/// Scripts in which some calls are left out: halves, then smaller parts.
fn shorter(script: &Script) -> Vec<Script> {
    let (end, calls) = script.ops.split_last().expect("a script has an end");
    let mut found = Vec::new();
    let mut length = calls.len();
    while length > 0 {
        for first in (0..calls.len()).step_by(length) {
            let is_kept = |at: &usize| !(first..first + length).contains(at);
            let kept = (0..calls.len()).filter(is_kept).map(|at| calls[at].clone());
            let ops = legal(kept.chain([end.clone()]));
            if ops.len() < script.ops.len() {
                found.push(Script { way: script.way, ops });
            }
        }
        length /= 2;
    }
    found.sort_by_key(|script| script.ops.len());
    found
}

/// Scripts with one smaller number.
fn simpler(script: &Script) -> Vec<Script> {
    let mut found = Vec::new();
    for (at, op) in script.ops.iter().enumerate() {
        for word in 0..op.words.len() {
            let Ok(number) = op.words[word].parse::<i64>() else { continue };
            for smaller in [0, 1, 10, 100, 1000, 5000, number / 2] {
                let mut ops: Vec<Op> = script.ops.clone();
                ops[at].words[word] = smaller.to_string();
                // It must still be one of the words that the call takes.
                if smaller.abs() < number.abs() && ops[at].to_string().parse::<Op>().is_ok() {
                    found.push(Script { way: script.way, ops: legal(ops) });
                }
            }
        }
    }
    found
}

/// The smallest that is found. `fails` says which of some scripts fails, if any does.
pub fn smallest(script: &Script, mut fails: impl FnMut(&[Script]) -> Option<usize>) -> Script {
    /// One batch has at most as many.
    const MOST: usize = 100;
    let mut first = |candidates: Vec<Script>| {
        candidates.chunks(MOST).find_map(|some| fails(some).map(|at| some[at].clone()))
    };
    let mut smallest = script.clone();
    while let Some(smaller) = first(shorter(&smallest)) {
        smallest = smaller;
    }
    // Every round makes a number smaller; bounded all the same.
    for _ in 0..60 {
        let Some(simple) = first(simpler(&smallest)) else { break };
        smallest = simple;
    }
    smallest
}

/// The smallest script that fails in this aspect.
pub fn shrink(stage: &Stage, script: &Script, settings: Settings, checks: Checks, aspect: Aspect) -> Script {
    smallest(script, |candidates| {
        let shown = play(stage, candidates, settings, checks);
        (0..candidates.len()).find(|at| {
            shown.differences.get(at).is_some_and(|all| all.iter().any(|found| found.aspect == aspect))
        })
    })
}
