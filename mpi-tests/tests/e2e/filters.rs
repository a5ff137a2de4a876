//! A filter of system calls that a program inherits over `exec`, as from bwrap, systemd or a judge: what is
//! allowed is what the program does alone. It does the same with the library.

use crate::harness::{plain_program, run_limited, skip};
use crate::mpis::in_path;
use crate::traced::Scratch;
use crate::ways::{Way, is_the_same};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::process::Command;
use std::time::Duration;

/// Programs, and what they are given.
fn programs() -> Vec<Vec<String>> {
    let ours = plain_program("writes_a_megabyte").display().to_string();
    let script = "i=0; while [ $i -lt 3 ]; do echo $i >> lines; i=$((i+1)); done; \
                  dd if=/dev/zero of=out bs=65536 count=40 2> /dev/null; cat lines; exit 4";
    let python = "f = open('out', 'wb')\nfor i in range(40): f.write(bytes(65536))\nf.close()\nprint('end')";
    let words = |words: &[&str]| words.iter().map(|word| word.to_string()).collect();
    vec![
        words(&[&ours, "own"]),
        words(&["dd", "if=/dev/zero", "of=out", "bs=65536", "count=40", "status=none"]),
        words(&["sh", "-c", script]),
        words(&["/usr/bin/python3", "-c", python]),
    ]
}

/// The numbers of all system calls that a program makes, separated by commas.
fn calls_of(words: &[String]) -> String {
    let mut numbers = BTreeSet::new();
    // Some depend on chance: what the second time shows is allowed as well.
    for _ in 0..2 {
        let scratch = Scratch::new();
        let log = scratch.path().join("calls");
        let mut strace = Command::new("strace");
        strace.args(["-f", "-n", "-qq", "-o"]).arg(&log).args(words).current_dir(scratch.data());
        run_limited(strace, Duration::from_secs(120));
        let log = fs::read_to_string(log).expect("strace has written it");
        let number = |line: &str| line.split('[').nth(1)?.split(']').next()?.trim().parse::<u32>().ok();
        numbers.extend(log.lines().filter_map(number));
    }
    assert!(numbers.len() > 10, "{words:?}: {numbers:?}");
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
}

#[test]
fn that_a_program_inherits() {
    if !in_path("strace") {
        return skip("no strace");
    }
    for words in programs() {
        let calls = calls_of(&words);
        for action in ["kill", "trap", "errno=1", "errno=38"] {
            is_the_same(&format!("{action}, {}", words.join(" ")), &Way::WITH_US, |_| {
                let mut command = Command::new(plain_program("filters_calls"));
                command.args(["allow", action, &calls]).args(&words);
                command
            });
        }
    }
}

/// The same as others do it.
#[test]
fn of_bubblewrap() {
    if !in_path("strace") || !in_path("bwrap") {
        return skip("no strace, or no bubblewrap");
    }
    for words in programs() {
        let calls = calls_of(&words);
        is_the_same(&format!("bwrap, {}", words.join(" ")), &Way::WITH_US, |scratch| {
            let filter = scratch.path().join("filter");
            let mut write = Command::new(plain_program("filters_calls"));
            write.args(["allow", "kill", &calls, "-"]).stdout(File::create(&filter).expect("it is ours"));
            assert!(write.status().is_ok_and(|status| status.success()));
            let mut command = Command::new("sh");
            let script = "exec bwrap --dev-bind / / --seccomp 9 \"$@\" 9< \"$0\"";
            command.args(["-c", script]).arg(&filter).args(&words);
            command
        });
    }
}
