//! Threads that are cancelled at any time, also inside of our code: the program goes on as it does alone, and
//! the trace has what was done, or says that there was more.

use crate::harness::plain_program;
use crate::traced::{Scratch, names};
use crate::ways::{Way, assert_same, bytes_in, says_that_more_was_done, settled};
use std::process::Command;

fn goes_on(kind: &str, call: &str) {
    let command = || {
        let mut command = Command::new(plain_program("cancels_at_any_time"));
        command.args([kind, call]);
        command
    };
    let alone = Way::Alone.run(&Scratch::new(), &command());
    assert_eq!(alone.code, Some(3), "{kind} {call}, alone: {alone:?}");
    for way in Way::WITH_US {
        let scratch = Scratch::new();
        let outcome = way.run(&scratch, &command());
        let what = format!("{kind} {call}, {way:?}");
        assert_same(&what, &outcome, &alone);
        if !way.records() {
            continue;
        }
        let bounds = names(&scratch.data()).into_iter().find(|name| name.starts_with("between-"));
        let bounds = bounds.unwrap_or_else(|| panic!("{what}: {outcome:?}"));
        let bounds: Vec<u64> = bounds.split('-').filter_map(|word| word.parse().ok()).collect();
        let [least, most] = bounds[..] else { panic!("{what}: {bounds:?}") };
        let moved = |info: &_| {
            let (read, written) = bytes_in(&scratch, info);
            read + written
        };
        let is_right = |info: &_| {
            (least..=most).contains(&moved(info)) || moved(info) < least && says_that_more_was_done(info)
        };
        let info = settled(&scratch, is_right).unwrap_or_else(|| panic!("{what}: nothing to read"));
        assert!(is_right(&info), "{what}: {} of {least} to {most} bytes: {info:#}", moved(&info));
    }
}

/// The standard does not allow this in functions of the library; it works alone, and goes on working.
#[test]
fn at_any_instruction() {
    for call in ["write", "pwrite", "pread", "writev"] {
        goes_on("any", call);
    }
}

#[test]
fn at_cancellation_points() {
    for call in ["write", "open", "fsync", "stream"] {
        goes_on("points", call);
    }
}

#[test]
fn while_a_call_waits() {
    for call in ["write", "stream"] {
        goes_on("blocked", call);
    }
}
