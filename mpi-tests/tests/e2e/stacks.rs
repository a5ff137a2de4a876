//! A call takes at most 1 KB more of its caller's stack than without the library: every exported function, on
//! painted stacks, on a signal stack of 8192 bytes, and in threads with the smallest stack there is.
//!
//! The list is that of the library's own symbols: a function that is not exported any more is not asked for,
//! and one that is new needs a case in `programs/paints_stack/`.

use crate::harness::{Mpi, installed_mpis, libtmio};
use crate::traced::Scratch;
use crate::ways::built;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that a wrapper may take.
const MORE: u64 = 1024;

/// The functions that the library stands in for.
fn exported() -> Vec<String> {
    let nm = Command::new("nm").args(["-D", "--defined-only"]).arg(libtmio()).output().expect("nm");
    let text = String::from_utf8(nm.stdout).expect("names are ASCII");
    let functions = text.lines().filter_map(|line| line.split_once(" T ").or(line.split_once(" W ")));
    let names = functions.map(|(_, name)| name.split('@').next().unwrap_or(name).to_owned());
    // Between the library's own objects.
    names.filter(|name| !name.trim_start_matches('_').starts_with("tmio_")).collect()
}

fn of_the_system() -> Vec<String> {
    // The painted stack is seen by the parent as well: `daemon` has both processes return on it.
    let is_painted = |name: &String| !name.contains("MPI_") && name != "daemon";
    let names: Vec<String> = exported().into_iter().filter(is_painted).collect();
    assert!(names.iter().any(|name| name == "write"), "{names:?}");
    names
}

/// Where and when a call is made, as the program's arguments, and further settings.
#[derive(Debug, Clone, Copy)]
struct Setting {
    place: &'static str,
    moment: &'static str,
    variables: &'static [(&'static str, &'static str)],
}

/// What the program says of a call: bytes of the stack, or a word, or how it died.
fn asked(program: &Path, name: &str, setting: Setting, place: &str, traced: bool) -> Result<u64, String> {
    let scratch = Scratch::new();
    fs::write(scratch.path().join("text"), "7 7 7 7 7 7 7 7\n".repeat(500)).expect("it is ours");
    let mut command = Command::new(program);
    command.args([place, setting.moment, name]).current_dir(scratch.data());
    command.stdin(File::open(scratch.path().join("text")).expect("it was just written"));
    command.stdout(File::create(scratch.path().join("output")).expect("it is ours"));
    for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("TMIO_")) {
        command.env_remove(name);
    }
    if traced {
        command.env("LD_PRELOAD", libtmio()).env("TMIO_LAYERS", "posix,stdio").env("TMIO_BUFFER", "64K");
        command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool());
        command.envs(setting.variables.iter().copied());
    }
    let output = command.output().expect("it was just compiled");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    match output.status.signal() {
        Some(signal) => Err(format!("ended by signal {signal}")),
        None => {
            let word = said.trim().strip_prefix(name).unwrap_or(&said).trim();
            word.parse().map_err(|_| word.to_owned())
        }
    }
}

/// Calls `judge` with every exported function on two threads, and fails with all that it finds.
fn every_function(what: &str, judge: impl Fn(&str) -> Option<String> + Sync) {
    let names = of_the_system();
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(name) = names.get(next.fetch_add(1, Relaxed)) {
                    if let Some(found) = judge(name) {
                        wrong.lock().expect("no judge panics").push(format!("{name}: {found}"));
                    }
                }
            });
        }
    });
    let mut wrong = wrong.into_inner().expect("no judge panics");
    wrong.sort();
    let (all, of) = (wrong.len(), names.len());
    assert!(wrong.is_empty(), "{what}: {all} of {of} functions:\n{}", wrong.join("\n"));
}

fn program(scratch: &Scratch) -> PathBuf {
    // Bound at its start: the dynamic linker takes some of the stack, too. gcc would call other functions.
    built(scratch, "cc", "paints_stack", &["-fno-builtin", "-Wl,-z,now"])
}

/// Compares the depth of a call with and without the library.
fn is_not_deeper(setting: Setting) {
    let scratch = Scratch::new();
    let program = program(&scratch);
    let nothing = asked(&program, "nothing", setting, setting.place, false).expect("a depth");
    every_function(&format!("{setting:?}"), |name| {
        let alone = asked(&program, name, setting, setting.place, false);
        let with_us = asked(&program, name, setting, setting.place, true);
        match (alone, with_us) {
            (Err(word), _) if word == "unknown" => Some("it has no case in paints_stack".into()),
            (Ok(alone), Ok(with_us)) if with_us <= alone + MORE => None,
            (Ok(alone), Ok(with_us)) => Some(format!("{alone} bytes alone, {with_us} with the library")),
            // A function of ours, or of a newer C library.
            (Err(word), Ok(with_us)) if word == "absent" => {
                let ours = name.starts_with("iotrace_") && with_us > nothing + MORE;
                ours.then(|| format!("{with_us} bytes"))
            }
            (Err(word), Err(_)) if word == "absent" => None,
            (alone, with_us) => Some(format!("alone {alone:?}, with the library {with_us:?}")),
        }
    });
}

#[test]
fn of_the_first_call_ever() {
    is_not_deeper(Setting { place: "context", moment: "first", variables: &[] });
}

/// The first byte that is moved begins the recording.
#[test]
fn of_a_call_that_begins_to_record() {
    is_not_deeper(Setting { place: "context", moment: "first", variables: &[("TMIO_MIN_BYTES", "0")] });
}

#[test]
fn of_a_call_with_a_new_file() {
    is_not_deeper(Setting { place: "context", moment: "new", variables: &[] });
}

#[test]
fn of_calls_that_fill_blocks() {
    is_not_deeper(Setting { place: "context", moment: "full", variables: &[] });
}

#[test]
fn of_a_call_in_a_thread() {
    is_not_deeper(Setting { place: "thread", moment: "edge", variables: &[] });
}

/// What can be done on a small stack without the library can be done with it: on 8192 bytes, the classic size
/// of a signal stack, what needs 1 KB less alone; in a thread, the same.
fn survives(setting: Setting, alone_at: &str) {
    let scratch = Scratch::new();
    let program = program(&scratch);
    let fine = |said: Result<u64, String>| said.is_err_and(|word| word == "fine");
    assert!(fine(asked(&program, "write", setting, alone_at, false)), "{setting:?}");
    every_function(&format!("{setting:?}"), |name| {
        if !fine(asked(&program, name, setting, alone_at, false)) {
            return None;
        }
        let with_us = asked(&program, name, setting, setting.place, true);
        (!fine(with_us.clone())).then(|| format!("{with_us:?}"))
    });
}

#[test]
fn on_a_signal_stack_of_8192_bytes() {
    for moment in ["first", "edge", "new"] {
        survives(Setting { place: "handler=8192", moment, variables: &[] }, "handler=7168");
    }
}

#[test]
fn in_a_thread_with_the_smallest_stack() {
    for moment in ["first", "edge", "new"] {
        survives(Setting { place: "least", moment, variables: &[] }, "least");
    }
}

/// First and deepest call of each function.
fn depths(mpi: &Mpi, library: Option<PathBuf>) -> BTreeMap<String, [u64; 2]> {
    let scratch = Scratch::new();
    let mut command = mpi.singleton(&mpi.program("paints_mpi_stack"));
    command.arg(scratch.data()).current_dir(scratch.data()).env("LD_BIND_NOW", "1");
    if let Some(library) = library {
        command.env("LD_PRELOAD", library).env("TMIO_OUTPUT", scratch.trace()).env("TMIO_BUFFER", "64K");
        command.env("TMIO_SPOOL", scratch.spool());
    }
    let outcome = crate::harness::run_limited(command, std::time::Duration::from_secs(180));
    assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        let [name, first, most] = words[..] else { panic!("{line}") };
        (name.to_owned(), [first, most].map(|word| word.parse().expect("a number")))
    };
    outcome.stdout.lines().map(line).collect()
}

/// What no case can be made of: it ends the job, is the start of it, or none of the MPIs has it.
const NOT_ASKED: [&str; 9] = [
    "MPI_Abort",
    "MPI_Finalize",
    "MPI_Init",
    "MPI_Init_thread",
    "MPI_Request_get_status_all",
    "MPI_Request_get_status_any",
    "MPI_Request_get_status_some",
    "MPI_Session_finalize",
    "MPI_Session_init",
];

#[test]
fn of_mpi_calls() {
    for mpi in installed_mpis() {
        let (alone, with_us) = (depths(&mpi, None), depths(&mpi, Some(libtmio())));
        let mut wrong = Vec::new();
        for name in exported().iter().filter(|name| name.contains("MPI_")) {
            let Some((alone, with_us)) = alone.get(name).zip(with_us.get(name)) else {
                let plain = name.trim_start_matches('P');
                let large = plain.ends_with("_c") && !mpi.has_large_counts();
                if !large && !NOT_ASKED.contains(&plain) {
                    wrong.push(format!("{name}: it has no case in paints_mpi_stack"));
                }
                continue;
            };
            if with_us.iter().zip(alone).any(|(with_us, alone)| *with_us > alone + MORE) {
                wrong.push(format!("{name}: {alone:?} bytes alone, {with_us:?} with the library"));
            }
        }
        assert!(wrong.is_empty(), "{}: {} functions:\n{}", mpi.name, wrong.len(), wrong.join("\n"));
    }
}
