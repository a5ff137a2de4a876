//! The library is two files: the recorder is beside the one that is preloaded, or nothing is traced, and
//! nobody is harmed.

use crate::harness::{RECORDER, copy_libtmio, installed_mpis, run_limited};
use crate::traced::{Scratch, info};
use crate::ways::is_root;
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(100);
const SAID: &str = "tmio: no trace: libtmio_recorder.so is not beside libtmio.so, or cannot be loaded\n";

/// Writes 4 MB by POSIX calls.
fn writes(scratch: &Scratch, preload: &str) -> Command {
    let mut command = Command::new("dd");
    command.args(["if=/dev/zero", "bs=64k", "count=64", "status=none"]);
    command.arg(format!("of={}", scratch.data().join("zeros").display()));
    command.current_dir(scratch.path()).env("LD_PRELOAD", preload).env("TMIO_LAYERS", "posix,stdio");
    command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool());
    command
}

/// A program without MPI and one with each MPI run as if the library were not there, and one line says why
/// there is no trace.
fn assert_harmless(spoil: impl Fn(&Path), said: &str) {
    let scratch = Scratch::new();
    let library = scratch.path().join("libtmio.so");
    copy_libtmio(&library);
    spoil(&scratch.path().join(RECORDER));
    let outcome = run_limited(writes(&scratch, library.to_str().expect("a path")), LIMIT);
    assert!(outcome.success() && outcome.stderr == said, "{outcome:?}");
    assert_eq!(fs::metadata(scratch.data().join("zeros")).expect("its file").len(), 4 << 20);
    // As a program, it may still run: what was cut off may be what only debuggers read.
    if scratch.trace().is_file() {
        assert_eq!(info(&scratch.trace())["layers"]["posix"]["write"]["bytes"], 4 << 20);
        fs::remove_file(scratch.trace()).expect("it is there");
    }
    assert_eq!(scratch.traces(), [""; 0]);
    for mpi in installed_mpis() {
        let job = mpi.job(2, mpi.program("waits_between")).args([scratch.data()]).args(["10", "-"]);
        let job = job.env("LD_PRELOAD", &library).env("TMIO_OUTPUT", scratch.trace());
        let outcome = job.env("TMIO_SPOOL", scratch.spool()).run();
        assert!(outcome.success() && outcome.stderr == SAID, "{}: {outcome:?}", mpi.name);
        assert_eq!(scratch.traces(), [""; 0], "{}", mpi.name);
    }
}

#[test]
fn a_missing_recorder() {
    assert_harmless(|recorder| fs::remove_file(recorder).expect("it is there"), SAID);
}

/// What no dynamic linker takes.
#[test]
fn a_spoilt_recorder() {
    // The helper says nothing: it has nobody to say it to.
    assert_harmless(|recorder| fs::write(recorder, "not a library\n").expect("it can be written"), "");
}

/// One that was cut off, as by a full disk: the dynamic linker itself would end the program with a signal.
#[test]
fn a_recorder_that_was_cut_off() {
    for left in [0.02, 0.5, 0.9, 1.0] {
        let cut = |recorder: &Path| {
            let length = fs::metadata(recorder).expect("it is there").len();
            let file = fs::OpenOptions::new().write(true).open(recorder).expect("it can be written");
            file.set_len((length as f64 * left) as u64 - 1).expect("it can be written");
        };
        assert_harmless(cut, "");
    }
}

/// Nobody leaves a spool behind that will never be read.
#[test]
fn a_missing_recorder_leaves_nothing_behind() {
    let scratch = Scratch::new();
    let library = scratch.path().join("libtmio.so");
    copy_libtmio(&library);
    fs::remove_file(scratch.path().join(RECORDER)).expect("it is there");
    let outcome = run_limited(writes(&scratch, library.to_str().expect("a path")), LIMIT);
    assert!(outcome.success() && outcome.stderr == SAID, "{outcome:?}");
    assert_eq!(scratch.leftovers(), [""; 0]);
}

#[test]
fn a_recorder_that_this_user_may_not_read() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new();
    let library = scratch.path().join("libtmio.so");
    copy_libtmio(&library);
    fs::set_permissions(scratch.path().join(RECORDER), Permissions::from_mode(0o600)).expect("it is ours");
    for path in [scratch.path(), &scratch.data(), &scratch.path().join("traces"), scratch.spool()] {
        fs::set_permissions(path, Permissions::from_mode(0o777)).expect("it is ours");
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid", "61236", "--regid", "61236", "--clear-groups"]);
    let command = crate::harness::around(command, &writes(&scratch, library.to_str().expect("a path")));
    let outcome = run_limited(command, LIMIT);
    assert!(outcome.success() && outcome.stderr == SAID, "{outcome:?}");
    assert_eq!((scratch.traces(), scratch.leftovers()), (vec![], vec![]));
}

/// A path that is relative to where the program began, which then goes elsewhere; and one through links.
#[test]
fn the_recorder_is_found_by_every_path_to_the_library() {
    let scratch = Scratch::new();
    fs::create_dir_all(scratch.path().join("opt/lib")).expect("a directory");
    copy_libtmio(&scratch.path().join("opt/lib/libtmio.so.0.2.0"));
    for (link, target) in [
        ("opt/lib/libtmio.so.0", "libtmio.so.0.2.0"),
        ("opt/lib/libtmio.so", "libtmio.so.0"),
        ("alternative.so", "opt/lib/libtmio.so"),
        ("preloaded.so", "./alternative.so"),
    ] {
        symlink(target, scratch.path().join(link)).expect("a link");
    }
    let data = scratch.data();
    fs::write(data.join("zeros"), vec![0; 4 << 20]).expect("a file");
    let absolute = scratch.path().join("preloaded.so").display().to_string();
    for preload in ["./preloaded.so", "opt/lib/libtmio.so", absolute.as_str()] {
        // tar goes to the directory that it packs.
        let mut command = Command::new("tar");
        command.arg("-cf").arg(scratch.path().join("packed.tar")).arg("-C").arg(&data).arg("zeros");
        command.current_dir(scratch.path()).env("LD_PRELOAD", preload);
        command.env("TMIO_LAYERS", "posix").env("TMIO_OUTPUT", scratch.trace());
        command.env("TMIO_SPOOL", scratch.spool());
        let outcome = run_limited(command, LIMIT);
        assert!(outcome.success() && outcome.stderr.is_empty(), "{preload}: {outcome:?}");
        assert_eq!(info(&scratch.trace())["read_sync"]["bytes"], 4 << 20, "{preload}");
        fs::remove_file(scratch.trace()).expect("a trace");
    }
}
