//! Programs that make namespaces of process ids.

use crate::harness::plain_program;
use crate::traced::Scratch;
use crate::ways::{Way, is_root};
use std::process::Command;

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
