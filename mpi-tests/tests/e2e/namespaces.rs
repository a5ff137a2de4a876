//! Programs that make namespaces of process ids.

use crate::harness::plain_program;
use crate::traced::{Scratch, info};
use crate::ways::{Way, bytes_in, is_root};
use std::process::Command;
use std::time::{Duration, Instant};

/// The first process there is to be one of the program: were it one of ours, the namespace would end with it
/// and the program could not fork.
#[test]
fn a_program_whose_children_have_a_namespace() {
    if !is_root() {
        return;
    }
    let program = plain_program("makes_a_namespace");
    let alone = Way::Alone.run(&Scratch::new(), &Command::new(&program));
    assert!(alone.success() && alone.stdout.contains("child 1\n"), "{alone:?}");
    for way in Way::WITH_US {
        let scratch = Scratch::new();
        let outcome = way.run(&scratch, &Command::new(&program));
        assert_eq!((outcome.code, &outcome.stdout), (alone.code, &alone.stdout), "{way:?}: {outcome:?}");
    }
}

/// The helper of a child in a namespace has a number that means somebody else to whoever comes next in this
/// session: they do not wait for that one.
#[test]
fn a_program_that_follows_one_with_a_namespace() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new();
    let mut command = Command::new("sh");
    command.args(["-c", "\"$0\"; exec dd if=/dev/zero of=zeros bs=64k count=32 status=none"]);
    command.arg(plain_program("makes_a_namespace"));
    command.env("TMIO_OUTPUT", scratch.path().join("traces/%e.msgpack"));
    let began = Instant::now();
    let outcome = Way::Recorded.run(&scratch, &command);
    assert!(outcome.success(), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(25), "somebody has waited: {:?}", began.elapsed());
    let info = info(&scratch.path().join("traces/dd.msgpack"));
    assert_eq!(bytes_in(&scratch, &info), (0, 2 << 20), "{info:#}");
}
