//! Programs that are built in other ways than most: with copies of the dynamic linker's data, with a garbage
//! collector, with sanitizers, statically, for 32 bits; and node. They do what they do alone, also where the
//! library is named in /etc/ld.so.preload, and are recorded if they can be.

use crate::harness::{Mpi, Outcome, installed_mpis, libtmio, skip};
use crate::mpis::in_path;
use crate::traced::{Scratch, info, traced};
use crate::ways::{Way, assert_same, built, bytes_in, can_build, is_root, settled};
use std::path::{Path, PathBuf};
use std::process::Command;

/// A command for which the library is named in /etc/ld.so.preload, in a mount namespace of its own.
fn named_in_etc(scratch: &Scratch, program: &Path, layers: &str) -> Command {
    let script = "mkdir -p \"$1\"/upper \"$1\"/work
        mount -t overlay -o lowerdir=/etc,upperdir=\"$1\"/upper,workdir=\"$1\"/work overlay /etc
        export TMIO_LAYERS=\"$3\"; [ -n \"$3\" ] || unset TMIO_LAYERS
        echo \"$2\" > /etc/ld.so.preload; shift 3; exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "--propagation", "private", "sh", "-ec", script, "sh"]).arg(scratch.path());
    command.arg(libtmio()).arg(layers).arg(program).env("TMIO_OUTPUT", scratch.trace());
    command
}

/// All ways to run a program: those of `Way`, and twice with the library in /etc/ld.so.preload.
fn in_all_ways(
    program: &Path,
    args: &[&str],
    mut judge: impl FnMut(&str, &Outcome, &Outcome, &Scratch, bool),
) {
    let command = || {
        let mut command = Command::new(program);
        command.args(args);
        command
    };
    let alone = Way::Alone.run(&Scratch::new(), &command());
    assert!(alone.code.is_some_and(|code| code < 126), "{program:?}, alone: {alone:?}");
    for way in Way::WITH_US {
        let scratch = Scratch::new();
        let outcome = way.run(&scratch, &command());
        judge(&format!("{program:?} {args:?}, {way:?}"), &outcome, &alone, &scratch, way.records());
    }
    for layers in if is_root() { &["", "posix,stdio"][..] } else { &[] } {
        let scratch = Scratch::new();
        let mut command = named_in_etc(&scratch, program, layers);
        let outcome = Way::Alone.run(&scratch, command.args(args));
        let what = format!("{program:?} {args:?}, in /etc/ld.so.preload, layers '{layers}'");
        judge(&what, &outcome, &alone, &scratch, !layers.is_empty());
    }
}

/// It is the same, and what it writes, `written` bytes, is recorded.
fn is_recorded(program: &Path, written: u64) {
    in_all_ways(program, &[], |what, outcome, alone, scratch, records| {
        assert_same(what, outcome, alone);
        if records {
            let info = settled(scratch, |info| bytes_in(scratch, info) == (0, written));
            let info = info.unwrap_or_else(|| panic!("{what}: nothing to read"));
            assert_eq!(bytes_in(scratch, &info), (0, written), "{what}: {info:#}");
        }
    });
}

/// It is the same, whether it can be recorded or not.
fn is_passed_over(program: &Path, args: &[&str]) {
    in_all_ways(program, args, |what, outcome, alone, _, _| assert_same(what, outcome, alone));
}

#[test]
fn copies_of_the_dynamic_linker_s_data() {
    let scratch = Scratch::new();
    for flags in [
        &["-fPIE", "-pie"][..],
        &["-fno-pie", "-no-pie"],
        &["-fno-pie", "-no-pie", "-Wl,-z,now"],
        &["-fPIE", "-pie", "-fno-plt", "-Wl,-z,now"],
        &["-fno-pie", "-no-pie", "-Wl,--hash-style=sysv"],
    ] {
        is_recorded(&built(&scratch, "cc", "copies_symbols", flags), 2_000_000);
    }
}

/// The same in an MPI program.
#[test]
fn copies_in_an_mpi_program() {
    for mpi in installed_mpis() {
        for flags in [&["-fPIE", "-pie"], &["-fno-pie", "-no-pie"]] {
            let scratch = Scratch::new();
            let program = built_with(&mpi, &scratch, flags);
            let job = mpi.job(2, program).args([scratch.data()]);
            let alone = job.run();
            let outcome = traced(job, &scratch).run();
            assert!(alone.success() && outcome.stdout == alone.stdout, "{}: {outcome:?}", mpi.name);
            assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
            assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 20, "{}", mpi.name);
        }
    }
}

fn built_with(mpi: &Mpi, scratch: &Scratch, flags: &[&str]) -> PathBuf {
    let program = scratch.path().join("copies_symbols_in_mpi");
    let (mut compiler, libraries) = mpi.compiler();
    compiler.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/programs/copies_symbols_in_mpi.c")).args(flags);
    compiler.args(libraries).arg("-o").arg(&program);
    assert!(compiler.status().is_ok_and(|status| status.success()), "{}", mpi.name);
    program
}

#[test]
fn a_garbage_collector() {
    if !Path::new("/usr/include/gc/gc.h").is_file() {
        return skip("Boehm's collector is not installed");
    }
    let scratch = Scratch::new();
    for flags in [&["-lgc"][..], &["-fno-pie", "-no-pie", "-lgc"], &["-fno-pie", "-no-pie", "-l:libgc.a"]] {
        is_recorded(&built(&scratch, "cc", "collects_garbage", flags), 2_000_000);
    }
}

#[test]
fn node() {
    if !in_path("node") {
        return skip("node is not installed");
    }
    let script = "const fs = require('fs');
        fs.writeFileSync('first', Buffer.alloc(3000000, 'a'));
        const file = fs.openSync('second', 'w');
        for (let i = 0; i < 100; i++) fs.writeSync(file, Buffer.alloc(10000, 'b'));
        fs.closeSync(file);
        const stream = fs.createWriteStream('third');
        for (let i = 0; i < 100; i++) stream.write(Buffer.alloc(10000, 'c'));
        stream.end(() => console.log(fs.statSync('first').size + fs.statSync('third').size));
        process.exitCode = 3;";
    let scratch = Scratch::new();
    let program = scratch.path().join("script");
    std::fs::write(&program, format!("#!/usr/bin/env node\n{script}\n")).expect("it is ours");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&program, mode).expect("it is ours");
    is_recorded(&program, 5_000_000);
}

/// What loads nothing runs as it is.
#[test]
fn static_programs() {
    let scratch = Scratch::new();
    for flags in [&["-static"][..], &["-static-pie"]] {
        let program = built(&scratch, "cc", "writes_a_megabyte", flags);
        is_passed_over(&program, &["own"]);
    }
}

/// The dynamic linker says that a library of 64 bits cannot be preloaded, and goes on: nothing else is said.
#[test]
fn programs_of_32_bits() {
    if !cfg!(target_arch = "x86_64") || !can_build("cc", &["-m32"]) {
        return;
    }
    let scratch = Scratch::new();
    let program = built(&scratch, "cc", "writes_a_megabyte", &["-m32"]);
    in_all_ways(&program, &["own"], |what, outcome, alone, _, _| {
        let is_loader_s = |line: &&str| line.contains("cannot be preloaded") && line.contains("ignored");
        let others: Vec<&str> = outcome.stderr.lines().filter(|line| !is_loader_s(line)).collect();
        let stderr = others.iter().map(|line| format!("{line}\n")).collect();
        let outcome = Outcome { code: outcome.code, stdout: outcome.stdout.clone(), stderr };
        assert_same(what, &outcome, alone);
    });
}

/// Runs what a sanitizer watches over; randomised addresses are not to everyone's liking.
fn sanitized(flags: &[&str]) {
    if !can_build("gcc", flags) {
        return;
    }
    let scratch = Scratch::new();
    let program = built(&scratch, "gcc", "copies_symbols", &[&["-g"], flags].concat());
    let fixed = scratch.path().join("fixed");
    let script = format!("#!/bin/sh\nexec setarch -R {} \"$@\"\n", program.display());
    std::fs::write(&fixed, script).expect("it is ours");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&fixed, mode).expect("it is ours");
    is_passed_over(&fixed, &[]);
    for mistake in ["overflow", "leak"] {
        in_all_ways(&fixed, &[mistake], |what, outcome, alone, _, _| {
            // Reports have addresses and process ids.
            let kinds = |outcome: &Outcome| {
                let kinds = ["heap-buffer-overflow", "detected memory leaks", "SUMMARY"];
                kinds.map(|kind| outcome.stderr.contains(kind))
            };
            assert_eq!(outcome.code, alone.code, "{what}: {outcome:?}, {alone:?}");
            assert_eq!(kinds(outcome), kinds(alone), "{what}: {outcome:?}, {alone:?}");
        });
    }
}

#[test]
fn the_address_sanitizer() {
    sanitized(&["-fsanitize=address"]);
    sanitized(&["-fsanitize=address", "-static-libasan"]);
}

#[test]
fn the_thread_sanitizer() {
    sanitized(&["-fsanitize=thread"]);
}

#[test]
fn the_sanitizer_of_undefined_behaviour() {
    sanitized(&["-fsanitize=undefined"]);
    sanitized(&["-fsanitize=address,undefined"]);
}

#[test]
fn the_leak_sanitizer() {
    sanitized(&["-fsanitize=leak"]);
}

/// MPI is there if a loaded object defines it, whatever letters are in its name.
#[test]
fn names_that_look_like_mpi() {
    let scratch = Scratch::new();
    let directory = scratch.path().display().to_string();
    for name in ["omptarget", "compiler", "prompt", "mpi_free", "mptools", "impish"] {
        let object = scratch.path().join(format!("lib{name}.so"));
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-x", "c", "/dev/null", "-o"]).arg(&object);
        assert!(compile.status().is_ok_and(|status| status.success()));
        let search = [format!("-L{directory}"), format!("-Wl,-rpath,{directory}"), format!("-l{name}")];
        let flags = ["-Wl,--no-as-needed", &search[0], &search[1], &search[2]];
        is_passed_over(&built(&scratch, "cc", "looks_for_mpi", &flags), &[]);
    }
}
