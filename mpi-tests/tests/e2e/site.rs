//! The site's own file, `/etc/tmio.conf`: what it sets for everybody, what it locks, and whom it leaves
//! alone.
//!
//! Each job runs in a mount namespace with an `/etc` of its own, which only root can make.

use crate::harness::{Job, Mpi, Outcome, around, installed_mpis, run_limited, skip};
use crate::traced::{Scratch, info, names, traced};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(180);

/// Makes an `/etc` of its own for what it runs, with a file of the site in it.
const IN_ETC_OF_ITS_OWN: &str = r#"
etc=$1 conf=$2 mode=$3 owner=$4
shift 4
mount --make-rprivate / && cp -a /etc/. "$etc" && cp "$conf" "$etc/tmio.conf" && chmod "$mode" "$etc/tmio.conf" &&
chown "$owner" "$etc/tmio.conf" && mount --bind "$etc" /etc || exit 97
exec "$@"
"#;

fn may_unshare() -> bool {
    let done = Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|status| status.success());
    if !done {
        skip("no permission to make a mount namespace");
    }
    done
}

/// Runs a job where the site's file holds this text.
fn at_a_site_with(job: &Job, scratch: &Scratch, text: &str, mode: &str, owner: &str) -> Outcome {
    let (etc, conf) = (scratch.path().join("etc"), scratch.path().join("site.conf"));
    let _ = fs::remove_dir_all(&etc);
    fs::create_dir(&etc).expect("target/tmp can be written");
    fs::write(&conf, text).expect("target/tmp can be written");
    let mut command = Command::new("unshare");
    command.args(["-m", "sh", "-c", IN_ETC_OF_ITS_OWN, "sh"]).arg(&etc).arg(&conf).args([mode, owner]);
    let outcome = run_limited(around(command, &job.command()), LIMIT);
    assert_ne!(outcome.code, Some(97), "no /etc of its own: {}", outcome.stderr);
    outcome
}

fn at_a_site(job: &Job, scratch: &Scratch, text: &str) -> Outcome {
    at_a_site_with(job, scratch, text, "644", "root")
}

/// Two ranks with 20 writes each, in a working directory and a home of their own; `TMIO_OUTPUT` is not set.
fn writer(mpi: &Mpi, scratch: &Scratch) -> Job {
    let job = mpi.job(2, mpi.program("workload")).args(
        ["--compute", "0", "--iterations", "2", "--requests", "10", "--size", "1000", "--dir"]
            .map(PathBuf::from)
            .into_iter()
            .chain([scratch.data()]),
    );
    traced(job, scratch).env("TMIO_OUTPUT", scratch.trace()).env("HOME", scratch.path())
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files_below(&path));
        } else {
            found.push(path);
        }
    }
    found
}

#[test]
fn a_central_directory_that_users_cannot_change() {
    if !may_unshare() {
        return;
    }
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let logs = scratch.path().join("logs");
        fs::create_dir(&logs).unwrap();
        fs::set_permissions(&logs, fs::Permissions::from_mode(0o1777)).unwrap();
        let text = format!(
            "# of the site\nlocked output = {}/%Y/%m/%d/%u/%e_%j.msgpack\nlocked mode = 0400\nbuffer = 1M\n",
            logs.display()
        );
        let outcome = at_a_site(&writer(&mpi, &scratch), &scratch, &text);
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        assert_eq!(
            outcome.stderr.trim(),
            "tmio: TMIO_OUTPUT cannot be changed here: locked by /etc/tmio.conf:2",
            "{}",
            mpi.name
        );
        assert_eq!(scratch.traces(), [""; 0], "{}: where the user wanted it", mpi.name);
        let [trace] = &files_below(&logs)[..] else { panic!("{}: not one trace", mpi.name) };
        assert_eq!(fs::metadata(trace).unwrap().mode() & 0o7777, 0o400);
        assert_eq!(info(trace)["write_sync"]["ops"], 40, "{}", mpi.name);
        // Directories of dates are everybody's, as the one above them is; that of the user is the user's.
        let mut directory = trace.parent().unwrap();
        assert_eq!(fs::metadata(directory).unwrap().mode() & 0o7777, 0o700);
        for _ in 0..3 {
            directory = directory.parent().unwrap();
            assert_eq!(fs::metadata(directory).unwrap().mode() & 0o7777, 0o1777);
        }
        assert_eq!(directory.parent().unwrap(), logs);
    }
}

#[test]
fn excluded_programs_and_files_and_users() {
    if !may_unshare() {
        return;
    }
    for mpi in installed_mpis() {
        for (text, recorded) in [
            ("exclude_programs = work*, gdb", None),
            ("exclude_programs = */no/such/*", Some(40)),
            ("exclude_files = *.key, */data/*", Some(0)),
            ("users = !0", None),
            ("users = all, !@root", None),
            ("users = nobody", None),
            ("users = @root, !nobody", Some(40)),
        ] {
            let label = format!("{}: {text}", mpi.name);
            let scratch = Scratch::new();
            let outcome = at_a_site(&writer(&mpi, &scratch), &scratch, text);
            assert!(outcome.success(), "{label}: {outcome:?}");
            assert_eq!(outcome.stderr, "", "{label}");
            match recorded {
                None => assert_eq!(scratch.traces(), [""; 0], "{label}"),
                Some(operations) => {
                    let found = info(&scratch.trace());
                    assert_eq!(found["write_sync"]["ops"], operations, "{label}");
                    let files = found["files"].as_array().map_or(0, Vec::len);
                    assert_eq!(files, if operations == 0 { 0 } else { 1 }, "{label}: {found}");
                }
            }
            assert_eq!(scratch.leftovers(), [""; 0], "{label}");
        }
    }
}

#[test]
fn users_opt_in_and_out() {
    if !may_unshare() {
        return;
    }
    for mpi in installed_mpis() {
        for (text, file, enable, is_traced) in [
            ("opt_in = 1", None, false, false),
            ("opt_in = 1", None, true, true),
            ("opt_in = 1", Some(".tmio_enable"), false, true),
            ("opt_in = 0", None, false, true),
            ("opt_in = 0", Some(".tmio_disable"), true, false),
        ] {
            let label = format!("{}: {text}, {file:?}, {enable}", mpi.name);
            let scratch = Scratch::new();
            if let Some(file) = file {
                fs::write(scratch.path().join(file), "").unwrap();
            }
            let job = writer(&mpi, &scratch).env("TMIO_ENABLE", if enable { "1" } else { "0" });
            let outcome = at_a_site(&job, &scratch, text);
            assert!(outcome.success(), "{label}: {outcome:?}");
            assert_eq!(outcome.stderr, "", "{label}");
            assert_eq!(scratch.trace().exists(), is_traced, "{label}");
        }
    }
}

#[test]
fn a_file_that_is_not_to_be_trusted_or_understood() {
    if !may_unshare() {
        return;
    }
    for mpi in installed_mpis() {
        for (text, mode, owner, reason) in [
            ("log = info", "664", "root", "not only root may write it"),
            ("log = info", "644", "nobody", "it does not belong to root"),
            ("what is this", "644", "root", "/etc/tmio.conf:1: expected name = value"),
            ("locked colour = red", "644", "root", "/etc/tmio.conf:1: there is no option 'colour'"),
            ("mode = 0644", "644", "root", "/etc/tmio.conf:1: expected 0400, 0440"),
        ] {
            let label = format!("{}: {text} {mode} {owner}", mpi.name);
            let scratch = Scratch::new();
            let outcome = at_a_site_with(&writer(&mpi, &scratch), &scratch, text, mode, owner);
            assert!(outcome.success(), "{label}: {outcome:?}");
            assert_eq!(outcome.stderr.lines().count(), 1, "{label}: {}", outcome.stderr);
            assert!(outcome.stderr.contains(reason), "{label}: {}", outcome.stderr);
            assert_eq!(names(&scratch.path().join("traces")), [""; 0], "{label}");
        }
    }
}

#[test]
fn past_its_largest_size_a_trace_gets_coarser_and_says_so() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let args = ["--compute", "0", "--iterations", "10", "--requests", "4000", "--size", "64", "--dir"];
        let job = |scratch: &Scratch| {
            let job = mpi.job(2, mpi.program("workload")).args(args).args([scratch.data()]);
            traced(job, scratch)
        };
        let outcome = job(&scratch).run();
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let whole = info(&scratch.trace());
        let size = fs::metadata(scratch.trace()).unwrap().len();
        assert!(size > 300_000 && whole["merged"]["operations"] == 0, "{}: {size} {whole}", mpi.name);

        let capped = Scratch::new();
        let outcome = job(&capped).env("TMIO_MAX_BYTES", "64K").run();
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        assert_eq!(outcome.stderr, "", "{}", mpi.name);
        let coarse = info(&capped.trace());
        let size = fs::metadata(capped.trace()).unwrap().len();
        assert!(size < 200_000, "{}: {size} bytes", mpi.name);
        for key in ["ops", "bytes", "ranks"] {
            assert_eq!(coarse["write_sync"][key], whole["write_sync"][key], "{}: {key}", mpi.name);
        }
        assert_eq!(coarse["complete"], true, "{}: {coarse}", mpi.name);
        let merged = coarse["merged"]["operations"].as_u64().unwrap();
        assert!(merged > 40_000 && coarse["merged"]["records"].as_u64().unwrap() < 1000, "{}", mpi.name);
        let warnings = coarse["warnings"].to_string();
        assert!(warnings.contains("were merged into") && warnings.contains("TMIO_MAX_BYTES"), "{warnings}");
    }
}
