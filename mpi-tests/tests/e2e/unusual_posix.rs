//! Ways to read and write that few programs use, and programs that a tracer easily gets in the way of.

use crate::harness::{Outcome, libtmio, run_limited, skip};
use crate::mpis::in_path;
use crate::posix::{Files, compiled, files, trace, traced};
use crate::traced::{Scratch, info};
use crate::ways::bytes_in;
use serde_json::Value;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// What the program says that it did: lines "LAYER FILE read BYTES written BYTES".
fn told(text: &str) -> Files {
    let number = |word: &str| word.parse::<u64>().unwrap_or_else(|_| panic!("{text}"));
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [layer, name, "read", read, "written", written] = words[..] else { panic!("{line}") };
        ((layer.to_owned(), name.to_owned()), (number(read), number(written)))
    };
    text.lines().map(line).collect()
}

/// What is recorded is what the program says, byte for byte.
fn is_exact(way: &str) {
    let Some(program) = compiled("unusual_io") else { return };
    let (scratch, outcome, info) = traced(&[program.to_str().unwrap(), way]);
    let told = told(&outcome.stdout);
    assert!(!told.is_empty(), "{outcome:?}");
    assert_eq!(files(&scratch, &info), told, "{way}: {info:#}");
    assert_eq!(info["lost"], 0, "{way}");
    fs::remove_file(program).unwrap();
}

#[test]
fn streams_of_wide_characters() {
    is_exact("wide");
}

#[test]
fn descriptors_that_a_child_has_from_its_parent() {
    is_exact("inherited");
}

#[test]
fn descriptors_that_come_by_other_ways_or_change_their_meaning() {
    is_exact("descriptors");
}

/// Relative names in directories into which the C library goes by itself, or that threads have alone.
#[test]
fn files_of_one_name_in_several_directories() {
    is_exact("directories");
}

/// Nobody can say what a relative name is in full there, but where its file is.
#[test]
fn a_directory_that_is_gone() {
    let script = "mkdir gone && cd gone && rmdir ../gone && \
         dd if=/dev/zero of=../zeros bs=64k count=32 status=none && dd if=../zeros of=/dev/null status=none";
    let (scratch, _, info) = traced(&["sh", "-c", script]);
    assert_eq!(bytes_in(&scratch, &info), (2 << 20, 2 << 20), "{info:#}");
}

#[test]
fn threads_with_descriptors_of_their_own() {
    is_exact("tables");
}

#[test]
fn asynchronous_operations_of_which_nobody_asks_the_result() {
    is_exact("asynchronous");
}

/// A handler that writes may interrupt the storing of a record: neither of the two is damaged or lost.
#[test]
fn signal_handlers_that_write() {
    is_exact("signals");
}

/// Who cannot begin to record because all descriptors are in use tries again.
#[test]
fn all_descriptors_in_use_for_a_while() {
    is_exact("crowded");
}

fn posix_written(scratch: &Scratch, info: &Value) -> u64 {
    files(scratch, info).values().map(|(_, written)| written).sum()
}

#[test]
fn signal_handlers_that_jump() {
    let Some(program) = compiled("unusual_io") else { return };
    let (scratch, outcome, info) = traced(&[program.to_str().unwrap(), "jumps"]);
    let bounds: Vec<u64> = outcome.stdout.split_whitespace().map(|word| word.parse().unwrap()).collect();
    let [least, most] = bounds[..] else { panic!("{outcome:?}") };
    let written = posix_written(&scratch, &info);
    assert!((least..=most).contains(&written), "{written} of {least} to {most} bytes: {info:#}");
    fs::remove_file(program).unwrap();
}

/// Of a stream that cannot write what it holds, nobody knows how much of that was written. Nothing is counted
/// that was not written, and what was written and not counted is told.
#[test]
fn streams_at_a_limit_of_the_size_of_files() {
    let Some(program) = compiled("unusual_io") else { return };
    let (scratch, outcome, info) = traced(&[program.to_str().unwrap(), "limited"]);
    let truth: u64 = outcome.stdout.trim().parse().unwrap();
    let written = posix_written(&scratch, &info);
    // All but what was in one buffer.
    assert!((truth - 4096..=truth).contains(&written), "{written} of {truth} bytes");
    let unseen = info["coverage"]["unseen"]["written"].as_u64().unwrap();
    assert!(unseen >= truth - written, "{unseen}: {written} of {truth} bytes");
    fs::remove_file(program).unwrap();
}

/// A process that is killed if it makes a system call that its filter does not know makes none because of us.
/// What it did before is kept, and the trace does not say that this was all.
#[test]
fn a_process_that_forbids_itself_system_calls() {
    let Some(program) = compiled("unusual_io") else { return };
    for way in ["sandbox", "sandbox_raw"] {
        let scratch = Scratch::new();
        let outcome = trace(&scratch, &[program.to_str().unwrap(), way]);
        assert_eq!((outcome.code, &*outcome.stdout, &*outcome.stderr), (Some(0), "done\n", ""), "{way}");
        let info = info(&scratch.trace());
        assert_eq!(posix_written(&scratch, &info), 1_500_000, "{way}: {info:#}");
        assert_eq!(info["complete"], false, "{way}: {info:#}");
        assert_eq!(scratch.leftovers(), [""; 0], "{way}");
    }
    fs::remove_file(program).unwrap();
}

/// Writes `first`, and leaves behind a process that writes `second` when it has waited.
fn leaves_a_daemon(scratch: &Scratch, wait: &str) -> Outcome {
    let write = |name: &str| format!("dd if=/dev/zero of={name} bs=65536 count=64 2> /dev/null");
    let later = format!("{wait}; {}; mv second done", write("second"));
    let script = format!("{}; setsid sh -c '{later}' > /dev/null 2>&1 < /dev/null &", write("first"));
    trace(scratch, &["sh", "-c", &script])
}

/// Both are in the trace when the daemon has ended.
fn has_what_the_daemon_wrote(scratch: &Scratch, what: &str) {
    let began = Instant::now();
    while !scratch.data().join("done").exists() {
        assert!(began.elapsed() < Duration::from_secs(60), "{what}: the daemon does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    let info = info(&scratch.trace());
    let written = |name: &str| ((String::from("posix"), name.to_owned()), (0, 4 << 20));
    assert_eq!(files(scratch, &info), Files::from([written("first"), written("second")]), "{what}: {info:#}");
}

/// A process that outlives its command, and does nothing before the command has ended, is not lost.
#[test]
fn a_daemon_that_begins_late() {
    let scratch = Scratch::new();
    let outcome = leaves_a_daemon(&scratch, "until [ -e go ]; do sleep 0.05; done");
    assert!(outcome.success() && outcome.stderr.contains("run still"), "{outcome:?}");
    fs::write(scratch.data().join("go"), "").unwrap();
    has_what_the_daemon_wrote(&scratch, "begins late");
}

/// Nor is one that ends while the parts are made one trace.
#[test]
fn daemons_that_end_soon() {
    for hundredths in (0..=45).step_by(3) {
        let scratch = Scratch::new();
        let outcome = leaves_a_daemon(&scratch, &format!("sleep 0.{hundredths:02}"));
        assert!(outcome.success(), "{outcome:?}");
        has_what_the_daemon_wrote(&scratch, &format!("0.{hundredths:02} s: {outcome:?}"));
    }
}

/// A static program loads nothing. One of another C library could not load ours and would end: but `$LIB` in
/// a path means something to glibc only, and a path that does not exist is passed over.
#[test]
fn static_programs_and_those_of_another_c_library() {
    let scratch = Scratch::new();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs/writes_a_megabyte.c");
    // As docs/site.md says.
    let prefix = scratch.path().join("prefix");
    fs::create_dir_all(prefix.join("lib")).unwrap();
    symlink(libtmio(), prefix.join("lib/libtmio.so")).unwrap();
    symlink("lib", prefix.join("lib64")).unwrap();
    symlink(".", prefix.join("lib/x86_64-linux-gnu")).unwrap();
    symlink(".", prefix.join("lib/aarch64-linux-gnu")).unwrap();
    let for_glibc = format!("{}/$LIB/libtmio.so", prefix.display());
    let everywhere = libtmio().display().to_string();
    for (compiler, preload, is_traced) in [
        (&["cc"][..], &for_glibc, true),
        (&["cc"], &everywhere, true),
        (&["cc", "-static"], &for_glibc, false),
        (&["cc", "-static"], &everywhere, false),
        (&["musl-gcc"], &for_glibc, false),
        (&["musl-gcc", "-static"], &everywhere, false),
    ] {
        if !in_path(compiler[0]) {
            skip(&format!("no {}", compiler[0]));
            continue;
        }
        let program = scratch.path().join("program");
        let compile =
            Command::new(compiler[0]).args(&compiler[1..]).arg(&source).arg("-o").arg(&program).output();
        let compile = compile.expect("it is there");
        assert!(compile.status.success(), "{}", String::from_utf8_lossy(&compile.stderr));
        let trace = scratch.path().join(format!("traces/{}", compiler.join("")));
        let mut command = Command::new(&program);
        command.arg(scratch.data().join("file")).env("LD_PRELOAD", preload).env("TMIO_LAYERS", "posix");
        command.env("TMIO_OUTPUT", &trace).env("TMIO_SPOOL", scratch.spool());
        let outcome = run_limited(command, Duration::from_secs(60));
        let what = format!("{compiler:?} with {preload}");
        assert_eq!(outcome.stdout, "1048576 bytes\n", "{what}: {outcome:?}");
        assert!(outcome.code == Some(3) && outcome.stderr.is_empty(), "{what}: {outcome:?}");
        assert_eq!(trace.is_file(), is_traced, "{what}");
        if is_traced {
            fs::remove_file(trace).unwrap();
        }
    }
}
