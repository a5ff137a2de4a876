//! Descriptors: no file of ours has a number that the program could expect, keeps one that it has closed, or
//! takes one that it needs; with threads, in handlers, at limits.

use crate::harness::{installed_mpis, libtmio, plain_program, run_limited};
use crate::traced::{Scratch, info, names};
use crate::ways::{Way, assert_same, bytes_in, is_root, open_to_all, says_that_more_was_done, settled};
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs `minds_descriptors` in all ways. It says the same, and all that it wrote is in the trace, which may
/// also say that there was more if `may_lose`.
fn are_as_alone(way_of_program: &str, may_lose: bool) {
    let command = || {
        let mut command = Command::new(plain_program("minds_descriptors"));
        command.arg(way_of_program).env("TMIO_BUFFER", "64K");
        command
    };
    let alone = Way::Alone.run(&Scratch::new(), &command());
    assert_eq!(alone.code, Some(3), "{way_of_program}, alone: {alone:?}");
    assert!(alone.stdout.contains("none wrong"), "{way_of_program}, alone: {alone:?}");
    for way in Way::WITH_US {
        let scratch = Scratch::new();
        let outcome = way.run(&scratch, &command());
        let what = format!("{way_of_program}, {way:?}");
        assert_same(&what, &outcome, &alone);
        if !way.records() {
            continue;
        }
        let data = names(&scratch.data());
        let truth = data.iter().find_map(|name| name.strip_prefix("written-")).expect("it says so");
        let truth: u64 = truth.parse().expect("a number");
        let is_right = |info: &_| {
            let (_, kept) = bytes_in(&scratch, info);
            kept == truth || may_lose && kept < truth && says_that_more_was_done(info)
        };
        let Some(info) = settled(&scratch, is_right) else {
            assert!(may_lose && outcome.stderr.contains("tmio: "), "{what}: no trace, no word: {outcome:?}");
            continue;
        };
        let (_, kept) = bytes_in(&scratch, &info);
        assert!(is_right(&info), "{what}: {kept} of {truth} bytes: {info:#}");
    }
}

#[test]
fn standard_ones_that_are_closed_stay_closed() {
    are_as_alone("closed", false);
}

#[test]
fn the_lowest_number_is_the_program_s() {
    are_as_alone("threads", false);
    are_as_alone("handler", false);
}

#[test]
fn as_many_as_the_limit_allows() {
    are_as_alone("few", false);
    are_as_alone("none", true);
}

/// A program has as few as it needs, and none for the standard ones. Its helper may have more, or does with
/// three; if there are fewer, no program waits for a helper that cannot start.
#[test]
fn hardly_any_at_all() {
    let program = plain_program("writes_a_megabyte");
    let setpriv = "setpriv --reuid 61237 --regid 61237 --clear-groups";
    for user in ["exec", setpriv].into_iter().take(if is_root() { 2 } else { 1 }) {
        for closed in ["", "2>&-", "1>&- 2>&-", "0<&- 1>&- 2>&-"] {
            for limit in 1..=5 {
                let command = || {
                    let mut command = Command::new("sh");
                    let exec = if user == "exec" { "exec" } else { "exec $3" };
                    let script = format!("exec {closed}; ulimit -n {limit}; {exec} \"$1\" $2");
                    command.args(["-c", &script, "sh"]).arg(&program).args(["own", setpriv]);
                    command
                };
                let what = format!("{user}, {closed}, {limit}");
                let alone = Way::Alone.run(&open_to_all(), &command());
                if alone.code != Some(3) {
                    continue;
                }
                let scratch = open_to_all();
                let began = Instant::now();
                let outcome = Way::Recorded.run(&scratch, &command());
                assert_eq!(
                    (outcome.code, &outcome.stdout),
                    (alone.code, &alone.stdout),
                    "{what}: {outcome:?}"
                );
                assert!(began.elapsed() < Duration::from_secs(8), "{what}: {:?}", began.elapsed());
                let is_right = |info: &_| bytes_in(&scratch, info) == (0, 1 << 20);
                let has_trace = settled(&scratch, is_right).as_ref().is_some_and(is_right);
                let has_word = closed.is_empty() && outcome.stderr.contains("tmio: no trace: ");
                let may_lack = user != "exec" && limit < 3;
                assert!(has_trace || may_lack && (has_word || !closed.is_empty()), "{what}: {outcome:?}");
            }
        }
    }
}

#[test]
fn loops_that_close_everything() {
    are_as_alone("closes", false);
    are_as_alone("closing", true);
}

#[test]
fn lists_of_what_is_open() {
    are_as_alone("lists", false);
}

/// What is closed by a stream or by a child that shares the table is not taken for what has its number next.
#[test]
fn numbers_that_mean_something_else() {
    for layers in ["posix", "posix,stdio"] {
        for way_of_program in ["stream", "mapped", "descriptors", "memory"] {
            let scratch = Scratch::new();
            let mut command = Command::new(plain_program("reuses_numbers"));
            command.arg(way_of_program).env("TMIO_LAYERS", layers);
            let what = format!("{way_of_program}, {layers}");
            let outcome = Way::Recorded.run(&scratch, &command);
            assert!(outcome.success(), "{what}: {outcome:?}");
            let info = settled(&scratch, |info| bytes_in(&scratch, info).1 > 0).expect("a trace");
            let (read, written) = bytes_in(&scratch, &info);
            assert!(read <= 4096 && written == 1 << 20, "{what}: {read}, {written}: {info:#}");
        }
    }
}

#[test]
fn in_mpi_programs() {
    for mpi in installed_mpis() {
        for preload in [None, Some(libtmio())] {
            let scratch = Scratch::new();
            let mut command = mpi.singleton(&mpi.program("minds_descriptors_in_mpi"));
            command.arg(scratch.data()).current_dir(scratch.data());
            command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool());
            command.env("TMIO_BUFFER", "64K").envs(preload.iter().map(|library| ("LD_PRELOAD", library)));
            let outcome = run_limited(command, Duration::from_secs(120));
            let what = format!("{}, {preload:?}", mpi.name);
            assert_eq!((outcome.code, &*outcome.stdout), (Some(0), "none wrong\n"), "{what}: {outcome:?}");
            if preload.is_some() {
                assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 39_001, "{what}");
            }
        }
    }
}
