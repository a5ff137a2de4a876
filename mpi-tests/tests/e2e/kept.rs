//! Nothing that was recorded is lost, whatever happens to the file system or between jobs, and nothing of
//! others is touched.

use crate::harness::{Job, Mpi, Outcome, installed_mpis, run_limited, troubled_libtmio};
use crate::traced::{Scratch, info, names, run_ftio, traced};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// Every rank writes `count` requests, `meanwhile` is called, and every rank writes `count` more.
fn half_way(mpi: &Mpi, scratch: &Scratch, ranks: u32, count: u32, meanwhile: impl FnOnce()) -> Outcome {
    half_way_job(job(mpi, scratch, ranks, count), scratch, meanwhile)
}

fn job(mpi: &Mpi, scratch: &Scratch, ranks: u32, count: u32) -> Job {
    let job = mpi.job(ranks, mpi.program("waits_between")).args([scratch.data()]);
    traced(job.args([count.to_string().into(), scratch.data().join("go")]), scratch)
}

fn half_way_job(job: Job, scratch: &Scratch, meanwhile: impl FnOnce()) -> Outcome {
    job.run_with(|_| {
        wait_for(|| !recorded(scratch).is_empty());
        sleep(Duration::from_millis(300));
        meanwhile();
        fs::write(scratch.data().join("go"), "").expect("the scratch directory can be written");
    })
}

/// The program's files: the ranks have begun.
fn recorded(scratch: &Scratch) -> Vec<String> {
    names(&scratch.data()).into_iter().filter(|name| name.starts_with("some_")).collect()
}

fn wait_for(condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() && start.elapsed() < Duration::from_secs(60) {
        sleep(Duration::from_millis(10));
    }
}

fn operations(trace: &Path) -> u64 {
    info(trace)["write_sync"]["ops"].as_u64().expect("a number")
}

fn without_program(stderr: &str) -> Vec<&str> {
    stderr.lines().filter(|line| !line.contains("half-way")).collect()
}

/// A directory, or something else that is in the way, where the trace is to be.
#[test]
fn a_commit_that_fails() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let outcome = half_way(&mpi, &scratch, 2, 1000, || {
            // All that the end of the job could do is taken from it.
            fs::rename(scratch.path().join("traces"), scratch.path().join("away")).expect("it is there");
            fs::write(scratch.path().join("traces"), "in the way").expect("it can be written");
        });
        fs::remove_file(scratch.path().join("traces")).expect("it is there");
        fs::rename(scratch.path().join("away"), scratch.path().join("traces")).expect("it is there");
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let said = without_program(&outcome.stderr).join("\n");
        assert!(said.contains("no complete trace") && said.contains("its parts"), "{}: {said}", mpi.name);
        assert_eq!(operations(&scratch.trace()), 4000, "{}: {said}", mpi.name);
        assert_eq!(info(&scratch.trace())["complete"], false);
    }
}

/// A write that fails once is repeated; it costs neither the rank nor the job its trace.
#[test]
fn transient_errors() {
    for mpi in installed_mpis() {
        for trouble in ["interrupted", "short", "stale", "input-output"] {
            let scratch = Scratch::new();
            let job = mpi.job(2, mpi.program("waits_between")).args([scratch.data()]).args(["20000", "-"]);
            let library = troubled_libtmio(&mpi, &scratch.path().join("tool"), trouble, ".parts/");
            let outcome = traced(job, &scratch).env("LD_PRELOAD", library).run();
            let label = format!("{}: {trouble}", mpi.name);
            assert!(outcome.success(), "{label}: {outcome:?}");
            assert_eq!(outcome.stderr, "", "{label}");
            let info = info(&scratch.trace());
            assert_eq!(info["write_sync"]["ops"], 80_000, "{label}");
            assert_eq!(info["complete"], true, "{label}");
            assert_eq!(scratch.leftovers(), [""; 0], "{label}");
        }
    }
}

/// The program has all its descriptors in use while blocks are full.
#[test]
fn no_descriptor_left_for_a_while() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = mpi.job(1, mpi.program("waits_between")).args([scratch.data()]);
        let outcome = traced(job.args(["20000", "-", "descriptors"]), &scratch).run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        assert_eq!(operations(&scratch.trace()), 40_000, "{}", mpi.name);
        assert_eq!(info(&scratch.trace())["complete"], true, "{}", mpi.name);
    }
}

/// Several jobs of one name at the same moment, on a file system that takes its time: all keep their traces.
#[test]
fn jobs_of_one_name() {
    for mpi in installed_mpis() {
        for given in [true, false] {
            let scratch = Scratch::new();
            let library = troubled_libtmio(&mpi, &scratch.path().join("tool"), "slow", "/traces");
            let traces = scratch.path().join("traces");
            let go = scratch.data().join("go");
            let jobs: Vec<_> = (0..4)
                .map(|_| {
                    let job = mpi.job(1, mpi.program("waits_between")).args([scratch.data()]);
                    let job = job.args(["100".into(), go.clone()]);
                    let job = job.env("LD_PRELOAD", &library).env("TMIO_SPOOL", scratch.spool());
                    // The default pattern in one batch job: its name is the same for all.
                    if given {
                        job.env("TMIO_OUTPUT", scratch.trace())
                    } else {
                        job.env("SLURM_JOB_ID", "77")
                    }
                })
                .collect();
            let outcomes = std::thread::scope(|scope| {
                // Not one after the other, as jobs of the tests are when the machine is small.
                let traces = &traces;
                let run = move |job: &Job| {
                    let mut command = job.command();
                    command.current_dir(traces);
                    run_limited(command, Duration::from_secs(180))
                };
                let running: Vec<_> = jobs.iter().map(|job| scope.spawn(move || run(job))).collect();
                // All have begun before one of them ends.
                wait_for(|| recorded(&scratch).len() == 4);
                fs::write(&go, "").expect("the scratch directory can be written");
                running.into_iter().map(|job| job.join().expect("it ran")).collect::<Vec<_>>()
            });
            let label = format!("{}: {}", mpi.name, if given { "TMIO_OUTPUT" } else { "default" });
            assert!(outcomes.iter().all(Outcome::success), "{label}: {outcomes:?}");
            let found = scratch.traces();
            assert_eq!(found.len(), 4, "{label}: {found:?} {outcomes:?}");
            for name in found {
                assert_eq!(operations(&traces.join(&name)), 200, "{label}: {name}");
                assert_eq!(info(&traces.join(&name))["complete"], true, "{label}: {name}");
            }
        }
    }
}

/// A second job of the same output leaves the parts of a first one alone that runs in a container, that is,
/// whose processes it cannot see.
#[test]
fn a_job_in_a_container() {
    let unshare = ["unshare", "--pid", "--fork", "--mount-proc"];
    let able = std::process::Command::new(unshare[0]).args(&unshare[1..]).arg("true").status();
    if !able.is_ok_and(|status| status.success()) {
        return crate::harness::skip("no permission to make a PID namespace");
    }
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let program = mpi.program("waits_between");
        let count = 5000.to_string();
        let go = scratch.data().join("go");
        let arguments = [scratch.data(), count.into(), go];
        let inside = mpi.job(1, unshare[0]).args(&unshare[1..]).args([program.as_path()]).args(&arguments);
        let outcome = half_way_job(traced(inside, &scratch), &scratch, || {
            let second = mpi.job(1, &program).args([scratch.data()]).args(["100", "-"]);
            let outcome = traced(second, &scratch).run();
            assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        });
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        let traces = scratch.path().join("traces");
        let mut counts: Vec<u64> =
            scratch.traces().iter().map(|name| operations(&traces.join(name))).collect();
        counts.sort_unstable();
        assert_eq!(counts, [200, 10_000], "{}: {:?}", mpi.name, outcome.stderr);
    }
}

/// Files of the user's that only look like ours stay, and so does the earlier trace until there is a new one.
#[test]
fn files_of_the_user() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let traces = scratch.path().join("traces");
        let beside: Vec<PathBuf> = ["trace.msgpack.tmp", "note.txt"].map(|name| traces.join(name)).into();
        beside.iter().for_each(|path| fs::write(path, "mine").expect("it can be written"));
        let small = |count: &str| {
            let job = mpi.job(1, mpi.program("waits_between")).args([scratch.data()]).args([count, "-"]);
            traced(job, &scratch)
        };
        assert!(small("10").run().success(), "{}", mpi.name);
        assert_eq!(operations(&scratch.trace()), 20, "{}", mpi.name);
        // A job that dies at once does not cost the earlier trace.
        let killed = mpi.job(1, mpi.program("killed")).args([scratch.data()]).args(["20", "all"]);
        traced(killed, &scratch).run();
        assert_eq!(operations(&scratch.trace()), 20, "{}: the earlier trace", mpi.name);
        assert_eq!(operations(&traces.join("trace.msgpack.parts")), 20, "{}: the killed job", mpi.name);
        assert!(small("15").run().success(), "{}", mpi.name);
        assert_eq!(operations(&scratch.trace()), 30, "{}: the new trace", mpi.name);
        for path in &beside {
            assert_eq!(fs::read_to_string(path).expect("it is there"), "mine", "{}", mpi.name);
        }
        // An empty file is a file.
        let empty = traces.join("empty.msgpack");
        fs::write(&empty, "").expect("it can be written");
        let outcome = small("10").env("TMIO_OUTPUT", &empty).run();
        assert!(
            outcome.success() && outcome.stderr.contains("is not a tmio trace"),
            "{}: {outcome:?}",
            mpi.name
        );
        assert_eq!(fs::read(&empty).expect("it is there"), b"", "{}", mpi.name);
    }
}

/// What killed processes leave in memory, if who writes it out was killed with them, joins their parts and
/// goes, with the user's next job on that host or with `ftio recover --host`.
#[test]
fn spools_of_the_dead() {
    for mpi in installed_mpis() {
        for cleaner in ["the next job", "ftio recover --host"] {
            let scratch = Scratch::new();
            let label = format!("{}: {cleaner}", mpi.name);
            let job = mpi.job(2, mpi.program("killed")).args([scratch.data()]).args(["20", "nobody"]);
            traced(job, &scratch).run_with(|_| {
                // A trace that is read has a beginning, so that what is in memory can be read with it.
                let is_read = || run_ftio(&["info"], &scratch.trace()).success();
                wait_for(|| scratch.data().join("ready").exists() && is_read());
                // The helpers first, so that nobody is left to write something.
                for name in ["libtmio_recorder.so", "/killed"] {
                    kill_all(name, scratch.path(), scratch.spool());
                }
            });
            let spools = |scratch: &Scratch| {
                let directories = names(scratch.spool()).into_iter().map(|name| scratch.spool().join(name));
                directories
                    .flat_map(|directory| names(&directory))
                    .filter(|name| name.ends_with(".spool"))
                    .count()
            };
            assert_eq!(spools(&scratch), 2, "{label}");
            assert_eq!(operations(&scratch.trace()), 40, "{label}");
            if cleaner == "ftio recover --host" {
                let outcome = run_ftio(&["recover", "--host"], scratch.spool());
                assert!(outcome.success(), "{label}: {outcome:?}");
            } else {
                let job = mpi.job(1, mpi.program("waits_between")).args([scratch.data()]).args(["100", "-"]);
                let job =
                    traced(job, &scratch).env("TMIO_OUTPUT", scratch.path().join("traces/next.msgpack"));
                assert!(job.run().success(), "{label}");
                wait_for(|| spools(&scratch) == 0);
            }
            assert_eq!(spools(&scratch), 0, "{label}: spools of dead processes");
            assert_eq!(operations(&scratch.trace()), 40, "{label}: after the spools went");
        }
    }
}

/// Kills the processes that have both a word and one of these paths in their command line.
fn kill_all(word: &str, path: &Path, other: &Path) {
    for entry in fs::read_dir("/proc").expect("there is one").flatten() {
        let Some(process) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else {
            continue;
        };
        let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command).into_owned();
        let is_ours = [path, other].iter().any(|path| command.contains(&*path.to_string_lossy()));
        if is_ours && command.contains(word) && !command.contains("mpirun") && !command.contains("hydra") {
            let _ = std::process::Command::new("kill").args(["-9", &process.to_string()]).status();
        }
    }
}

/// A directory whose name is not UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn any_directory() {
    use std::os::unix::ffi::OsStrExt;
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let odd = scratch.path().join(std::ffi::OsStr::from_bytes(b"d\xe9p\xf4t"));
        fs::create_dir(&odd).expect("the scratch directory can be written");
        let job = mpi.job(2, mpi.program("waits_between")).args([scratch.data()]).args(["10", "-"]);
        let job = job.env("LD_PRELOAD", crate::harness::libtmio()).env("TMIO_SPOOL", scratch.spool());
        let outcome = job.run_in(Some(&odd));
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        let found: Vec<PathBuf> =
            fs::read_dir(&odd).expect("it is there").flatten().map(|e| e.path()).collect();
        assert_eq!(found.len(), 1, "{}: {found:?}", mpi.name);
        assert_eq!(operations(&found[0]), 40, "{}", mpi.name);
    }
}

/// A program without I/O leaves nothing at all, wherever its trace would go.
#[test]
fn a_job_without_io() {
    for mpi in installed_mpis() {
        for settings in [&[][..], &[("TMIO_FLUSH", "interval:0.1")]] {
            let scratch = Scratch::new();
            let mut job = traced(mpi.job(2, mpi.program("idle")).args(["0.5"]), &scratch);
            for (name, value) in settings {
                job = job.env(name, value);
            }
            let outcome = job.run();
            assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
            assert_eq!(scratch.traces(), [""; 0], "{}: {settings:?}", mpi.name);
            assert_eq!(names(scratch.spool()), [""; 0], "{}: {settings:?}", mpi.name);
        }
    }
}

/// In online mode a rank that does nothing writes nothing.
#[test]
fn idle_ranks() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let parts = scratch.path().join("traces/trace.msgpack.parts");
        let size = || -> u64 {
            let entries = fs::read_dir(&parts).into_iter().flatten().flatten();
            entries.map(|entry| entry.metadata().map_or(0, |meta| meta.len())).sum()
        };
        let job = job(&mpi, &scratch, 2, 50).env("TMIO_FLUSH", "interval:0.05");
        let outcome = half_way_job(job, &scratch, || {
            sleep(Duration::from_millis(500));
            let before = size();
            sleep(Duration::from_secs(1));
            assert!(before > 0, "{}: nothing was written", mpi.name);
            assert_eq!(size(), before, "{}: twenty intervals without I/O", mpi.name);
        });
        assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
        assert_eq!(operations(&scratch.trace()), 200, "{}", mpi.name);
    }
}

/// A killed job can be read without its nodes, but for the last seconds.
#[test]
fn records_leave_the_node_in_time() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job = job(&mpi, &scratch, 2, 50).env("TMIO_MAX_AGE", "1");
        job.run_with(|launcher: &mut Child| {
            wait_for(|| recorded(&scratch).len() == 2);
            sleep(Duration::from_millis(2500));
            let _ = launcher.kill();
        });
        // As if the nodes were gone.
        fs::remove_dir_all(scratch.spool()).expect("it is there");
        assert_eq!(operations(&scratch.trace()), 100, "{}", mpi.name);
    }
}

/// Every request of a thread of its own: what they record shares blocks.
#[test]
fn short_threads() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let job =
            mpi.job(1, mpi.program("waits_between")).args([scratch.data()]).args(["500", "-", "threads"]);
        let outcome = traced(job, &scratch).run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        assert_eq!(operations(&scratch.trace()), 1000, "{}", mpi.name);
        let bytes = fs::metadata(scratch.trace()).expect("it is there").len();
        assert!(bytes < 20_000, "{}: {bytes} bytes for 1000 requests of 1000 threads", mpi.name);
    }
}

/// Marks are marks, not files, also those of a killed process.
#[test]
fn marks() {
    for mpi in installed_mpis() {
        for end in ["", "kill"] {
            let scratch = Scratch::new();
            let job = mpi.job(1, mpi.program("marks")).args([scratch.data()]).args(["5000"]);
            let job = if end.is_empty() { job } else { job.args([end]) };
            traced(job, &scratch).run();
            let info = info(&scratch.trace());
            let label = format!("{} {end}", mpi.name);
            assert_eq!(info["write_sync"]["ops"], 1, "{label}");
            assert_eq!(info["files"].as_array().map(Vec::len), Some(1), "{label}: {}", info["files"]);
            let marks = info["marks"].as_array().expect("a list");
            assert_eq!(marks.len(), 5000, "{label}");
            for (number, mark) in marks.iter().enumerate() {
                assert_eq!(mark["text"], format!("step {number}"), "{label}");
                assert_eq!(mark["rank"], 0, "{label}");
            }
            let times: Vec<f64> = marks.iter().filter_map(|mark| mark["time"].as_f64()).collect();
            assert!(times.len() == 5000 && times.is_sorted(), "{label}");
        }
    }
}

/// 8 MB in half a second are 16 MB/s, in however many requests.
#[test]
fn outstanding_requests() {
    for mpi in installed_mpis() {
        for requests in ["1", "8", "32"] {
            let scratch = Scratch::new();
            let job = mpi.job(1, mpi.program("outstanding")).args([scratch.data()]).args([requests]);
            let outcome = traced(job, &scratch).run();
            assert!(outcome.success(), "{}: {outcome:?}", mpi.name);
            let info = info(&scratch.trace());
            let required = info["write_async"]["required_bandwidth"].as_f64().expect("a number");
            // The issue itself takes time, which makes it less.
            assert!((8e6..=16.1e6).contains(&required), "{}: {requests} requests: {required}", mpi.name);
            let actual = info["write_async"]["actual_bandwidth"].as_f64().expect("a number");
            assert!(
                actual > 0.3 * required && actual <= required * 1.001,
                "{}: {requests}: {actual}",
                mpi.name
            );
        }
    }
}
