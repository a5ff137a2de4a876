//! What a program does that a tracer could turn into its end: each runs with and without, and does the same.

use crate::harness::{
    Lack, Mpi, Outcome, around, copy_libtmio, installed_mpis, installed_mpis_with, libtmio, plain_program,
    run_limited, skip, skip_for_lack_of,
};
use crate::traced::{Scratch, info, traced};
use crate::ways::{Way, is_the_same};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Runs a program of `programs/` on two ranks, which takes a directory and `args`; it must end well without
/// a tracer, and with one say the same.
fn does_the_same(mpi: &Mpi, program: &str, args: &[&str]) -> (Outcome, Scratch) {
    let scratch = Scratch::new();
    let job = mpi.job(2, mpi.program(program)).args([scratch.data()]).args(args.iter().copied());
    let untraced = job.run();
    assert!(untraced.success(), "{}: {program} without a tracer: {untraced:?}", mpi.name);
    let outcome = traced(job, &scratch).run();
    assert!(outcome.success(), "{}: {program}: {outcome:?}", mpi.name);
    assert_eq!(outcome.stdout, untraced.stdout, "{}: {program}", mpi.name);
    (outcome, scratch)
}

#[test]
fn a_datatype_that_is_none() {
    for mpi in installed_mpis() {
        let (outcome, scratch) = does_the_same(&mpi, "bad_datatype", &[]);
        assert_eq!(outcome.stdout, "error error\n".repeat(2), "{}", mpi.name);
        let info = info(&scratch.trace());
        assert_eq!(info["write_sync"]["bytes"], 10_000, "{}", mpi.name);
        assert_eq!(info["complete"], true, "{}", mpi.name);
    }
}

/// The program has no more memory. What can be kept without any is kept, and the program goes on; also while
/// the library takes care of what a dead process has left, which takes some.
#[test]
fn no_memory() {
    for mpi in installed_mpis() {
        for what in ["writes", "flush"] {
            let run = |preload: Option<PathBuf>| {
                let scratch = Scratch::new();
                let start = |program: &str, args: &[&str]| {
                    let mut command = mpi.singleton(&mpi.program(program));
                    command.arg(scratch.data()).args(args).current_dir(scratch.data());
                    command.envs(preload.iter().map(|library| ("LD_PRELOAD", library)));
                    command.env("TMIO_SPOOL", scratch.spool());
                    run_limited(command, Duration::from_secs(60))
                };
                start("killed", &["6000", "all"]);
                let dead = std::fs::read_dir(scratch.spool()).map_or(0, Iterator::count);
                assert_eq!(dead > 0, preload.is_some(), "{}: {dead} spools", mpi.name);
                start("runs_out_of_memory", &[what])
            };
            let [untraced, traced] = [run(None), run(Some(libtmio()))];
            assert!(untraced.success(), "{}, {what}, without a tracer: {untraced:?}", mpi.name);
            assert!(traced.success(), "{}, {what}: {traced:?}", mpi.name);
            assert_eq!(traced.stdout, "went on\n", "{}, {what}: {traced:?}", mpi.name);
        }
    }
}

#[test]
fn a_stack_that_is_freed() {
    for mpi in installed_mpis_with(Lack::LeavingItsHandler) {
        let scratch = Scratch::new();
        let job = mpi.job(1, mpi.program("leaves_a_coroutine")).args([scratch.data()]);
        let mut untraced = Command::new("timeout");
        let command = job.command();
        untraced.arg("10").arg(command.get_program()).args(command.get_args());
        untraced.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if !run_limited(untraced, Duration::from_secs(60)).success() {
            skip_for_lack_of(&format!("{} after an error handler that was left for good", mpi.name));
            continue;
        }
        let outcome = traced(job, &scratch).run();
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 10, "{}", mpi.name);
    }
}

#[test]
fn a_thread_that_is_cancelled() {
    for mpi in installed_mpis() {
        let (_, scratch) = does_the_same(&mpi, "cancels_a_thread", &[]);
        let info = info(&scratch.trace());
        assert_eq!(info["write_sync"]["ops"], 20, "{}", mpi.name);
        assert_eq!(info["complete"], true, "{}", mpi.name);
    }
}

/// The signal comes at another moment every time, and often while a block is written.
#[test]
fn a_signal_handler_that_ends_the_job() {
    for mpi in installed_mpis() {
        let ways = [("exit", Lack::ExitInHandler), ("abort", Lack::AbortInHandler)];
        for (how, _) in ways.into_iter().filter(|(_, lack)| !mpi.lacks(*lack)) {
            for round in 0..20 {
                let scratch = Scratch::new();
                // Without a launcher: MPICH's may see the connection end before the process, and call that 1.
                let mut command = mpi.singleton(&mpi.program("ends_in_signal_handler"));
                command.arg(scratch.data()).args([how, &(20_000 + 997 * round).to_string()]);
                command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool());
                command.env("TMIO_BUFFER", "64K").env("LD_PRELOAD", libtmio());
                let outcome = run_limited(command, Duration::from_secs(60));
                assert_eq!(outcome.code, Some(3), "{}, {how}: {outcome:?}", mpi.name);
                assert!(
                    info(&scratch.trace())["write_sync"]["ops"].as_u64() > Some(0),
                    "{}, {how}",
                    mpi.name
                );
            }
        }
    }
}

/// A program with more rights than its user, linked with the library, does not obey that user's environment.
#[test]
fn a_set_user_id_program() {
    let root = Command::new("id").arg("-u").output().is_ok_and(|output| output.stdout == b"0\n");
    if !root {
        return skip("only root can make a program of root's");
    }
    for mpi in installed_mpis().into_iter().filter(|mpi| mpi.name == "mpich") {
        let scratch = Scratch::new();
        let program = scratch.path().join("linked");
        let (mut compiler, libraries) = mpi.compiler();
        let library = libtmio();
        let sources = concat!(env!("CARGO_MANIFEST_DIR"), "/programs/flushes.c");
        compiler.arg("-I").arg(concat!(env!("CARGO_MANIFEST_DIR"), "/../c-headers")).arg(sources);
        compiler.arg("-Wl,--no-as-needed").arg(&library).args(libraries).arg("-o").arg(&program);
        compiler.arg(format!("-Wl,-rpath,{}", scratch.path().display()));
        assert!(compiler.status().expect("a compiler").success());
        let soname = scratch.path().join("libtmio.so.0");
        copy_libtmio(&soname);
        let modes = "chmod 755 \"$1\" \"$2\"; chmod u+s \"$2\"; chmod 777 \"$3\"";
        let mut shell = Command::new("sh");
        shell.args(["-ec", modes, "sh"]).args([scratch.path(), &program, &scratch.data()]);
        assert!(shell.status().expect("a shell").success());
        let wanted = scratch.path().join("traces/taken.msgpack");
        let config = scratch.path().join("secret");
        std::fs::write(&config, "root:secret\n").expect("scratch can be written");
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&program);
        command.arg(scratch.data()).current_dir(scratch.data());
        command.env("TMIO_OUTPUT", &wanted).env("TMIO_CONFIG", &config);
        let outcome = run_limited(command, Duration::from_secs(60));
        assert!(outcome.success() && outcome.stderr.is_empty(), "{outcome:?}");
        assert!(
            !wanted.exists() && !scratch.path().join("traces/taken.msgpack.parts").exists(),
            "{outcome:?}"
        );
        assert!(!outcome.stderr.contains("secret"), "{outcome:?}");
    }
}

/// Errors that a program makes come to its own handlers, and no others do; no communicator of its own is
/// copied.
#[test]
fn error_handlers_and_attributes_of_the_program() {
    for mpi in installed_mpis() {
        let (outcome, scratch) = does_the_same(&mpi, "has_error_handlers", &[]);
        assert_eq!(outcome.stderr, "", "{}", mpi.name);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 20, "{}", mpi.name);
    }
}

/// MPIs have a limited number of communicators, which are all the program's.
#[test]
fn a_program_that_needs_all_communicators() {
    for mpi in installed_mpis() {
        let (_, scratch) = does_the_same(&mpi, "takes_all_communicators", &[]);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 20, "{}", mpi.name);
    }
}

/// Our one line is not worth a program: it is not said where writing it would be a signal, or a wait. Where
/// somebody reads it, it is said.
#[test]
fn a_standard_error_that_nobody_reads() {
    let command = |how: &str, scratch: &Scratch| {
        let file = scratch.path().join("file");
        std::fs::write(&file, [0; 65536]).expect("scratch can be written");
        let mut command = Command::new(plain_program("is_not_heard"));
        command.arg(how).arg(file);
        command
    };
    let ways = [Way::Preloaded, Way::Recorded];
    for how in ["file", "closed", "full", "socket", "background"] {
        is_the_same(how, &ways, |scratch| command(how, scratch));
    }
    let scratch = Scratch::new();
    let outcome = Way::Recorded.run(&scratch, &command("heard", &scratch));
    assert_eq!(outcome.stdout, "exit code 7\n", "{outcome:?}");
    assert!(outcome.stderr.starts_with("tmio: no trace: "), "{outcome:?}");
    assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
}

/// The same in an MPI program, whose trace cannot have its name.
#[test]
fn a_standard_error_that_nobody_reads_in_mpi_programs() {
    for mpi in installed_mpis() {
        for how in ["closed", "full", "socket", "background", "heard"] {
            let run = |preload: Option<PathBuf>| {
                let scratch = Scratch::new();
                std::fs::create_dir(scratch.trace()).expect("scratch can be written");
                let mut program = mpi.singleton(&mpi.program("workload"));
                program.args(["--compute", "0", "--iterations", "1", "--dir"]).arg(scratch.data());
                let mut outer = Command::new(plain_program("is_not_heard"));
                outer.arg(how).arg("/dev/null").arg("env").current_dir(scratch.data());
                if let Some(library) = &preload {
                    let assign = |name: &str, path: &std::path::Path| format!("{name}={}", path.display());
                    outer.arg(assign("LD_PRELOAD", library)).arg(assign("TMIO_OUTPUT", &scratch.trace()));
                    outer.arg(assign("TMIO_SPOOL", scratch.spool()));
                }
                let outcome = run_limited(around(outer, &program), Duration::from_secs(60));
                let last = outcome.stdout.lines().last().unwrap_or_default().to_owned();
                (last, outcome)
            };
            let [alone, with] = [run(None), run(Some(libtmio()))];
            assert_eq!(alone.0, "exit code 0", "{}, {how}: {alone:?}", mpi.name);
            assert_eq!(with.0, alone.0, "{}, {how}: {with:?}", mpi.name);
            let said = with.1.stderr.lines().filter(|line| line.starts_with("tmio: ")).count();
            assert_eq!(said, usize::from(how == "heard"), "{}, {how}: {with:?}", mpi.name);
        }
    }
}

/// Of the memory that a program may lock, nothing is taken for ours.
#[test]
fn a_program_that_locks_its_memory() {
    is_the_same("mlockall", &Way::WITH_US, |_| Command::new(plain_program("locks_memory")));
    let scratch = Scratch::new();
    let outcome = Way::Traced.run(&scratch, &Command::new(plain_program("locks_memory")));
    let written = info(&scratch.trace())["layers"]["posix"]["write"]["bytes"].as_u64();
    assert!(written >= Some(40 * 65536), "{outcome:?}");
}
