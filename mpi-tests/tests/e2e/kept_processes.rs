//! What processes without MPI did is kept, or it is told that it is not: killed at once, with other rights
//! than they began with, by the thousand, where no trace can be written.

use crate::harness::{Outcome, copy_libtmio, ftio, libtmio, plain_program, run_limited, wait_until};
use crate::traced::{Scratch, info, names};
use crate::ways::{Way, bytes_in, helper_of, is_root, open_to_all, says_that_more_was_done, settled};
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Whoever is killed in its first second, before its first megabyte, leaves its trace under `ftio trace`.
#[test]
fn a_program_that_ends_early_and_badly() {
    for (count, how) in [(15, "kill"), (15, "abort"), (15, "term"), (15, "segv"), (15, "_exit"), (15, "raw")]
        .into_iter()
        .chain([(1, "kill"), (1, "raw")])
    {
        let scratch = Scratch::new();
        let mut command = Command::new(plain_program("ends_early"));
        let outcome = Way::Traced.run(&scratch, command.args([how, &count.to_string()]));
        let what = format!("{how} after {count}");
        let code = match how {
            "kill" => 137,
            "abort" => 134,
            "term" => 143,
            "segv" => 139,
            _ => 3,
        };
        assert_eq!(outcome.code, Some(code), "{what}: {outcome:?}");
        let written = (0, count * 65_536 + 1000);
        let info = settled(&scratch, |info| bytes_in(&scratch, info) == written);
        let info = info.unwrap_or_else(|| panic!("{what}: nothing to read: {outcome:?}"));
        assert_eq!(bytes_in(&scratch, &info), written, "{what}: {info:#}");
    }
}

fn posix_written(info: &Value) -> u64 {
    info["layers"]["posix"]["write"]["bytes"].as_u64().unwrap_or(0)
}

#[test]
fn a_program_that_gives_up_its_rights() {
    if !is_root() {
        return;
    }
    let ways = ["setuid", "seteuid", "setreuid", "setresuid", "initgroups", "setfsuid", "raw", "chroot"];
    // A run takes as long as a helper lingers: each moment in each way, but not all with all, and side by
    // side.
    std::thread::scope(|scope| {
        for (number, how) in ways.into_iter().enumerate() {
            for (moment, when) in ["before", "early", "late"].into_iter().enumerate() {
                let way = [Way::Recorded, Way::Traced][(number + moment) % 2];
                scope.spawn(move || assert_kept_without_rights(how, when, way));
            }
        }
    });
}

fn assert_kept_without_rights(how: &str, when: &str, way: Way) {
    // Its new user may write the trace, or may not.
    let scratch = if when == "early" { open_to_all() } else { Scratch::new() };
    let mut command = Command::new(plain_program("gives_up_rights"));
    let outcome = way.run(&scratch, command.args([how, when]));
    let what = format!("{how}, {when}, {way:?}");
    assert_eq!(outcome.code, Some(3), "{what}: {outcome:?}");
    let truth: u64 = outcome.stdout.trim().parse().expect("a number");
    let is_right = |info: &Value| {
        let kept = posix_written(info);
        kept == truth || kept < truth && says_that_more_was_done(info)
    };
    let info = settled(&scratch, is_right);
    let info = info.unwrap_or_else(|| panic!("{what}: nothing to read: {outcome:?}"));
    assert!(is_right(&info), "{what}: {} of {truth} bytes: {info:#}", posix_written(&info));
}

/// What a program was told at its start is known, whatever it makes of that memory.
#[test]
fn a_program_that_writes_over_its_arguments_and_variables() {
    for how in ["arguments", "title", "freed"] {
        for way in [Way::Recorded, Way::Traced] {
            let scratch = Scratch::new();
            let file = scratch.data().join("written");
            let mut command = Command::new(plain_program("writes_over_its_start"));
            let outcome = way.run(&scratch, command.arg(&file).arg(how).env("TMIO_MIN_BYTES", "0"));
            let what = format!("{how}, {way:?}");
            assert_eq!(
                (outcome.code, outcome.stdout.as_str()),
                (Some(3), "2097152\n"),
                "{what}: {outcome:?}"
            );
            let info = settled(&scratch, |info| posix_written(info) == 2_097_152);
            let info = info.unwrap_or_else(|| panic!("{what}: nothing to read: {outcome:?}"));
            assert_eq!(posix_written(&info), 2_097_152, "{what}: {info:#}");
            assert_eq!(names(&scratch.data()), ["written"], "{what}: a trace where none was wanted");
        }
    }
}

/// In a place for spools that all users share, somebody else may have ours. A process of ours that gave up
/// its user does not make it so, and what the next one did is kept although it is killed; where another user
/// was there before we came, a line may say that it is not.
#[test]
fn a_spool_that_belongs_to_somebody_else() {
    if !is_root() {
        return;
    }
    use std::os::unix::fs::chown;
    for before in ["seteuid", "setfsuid", "raw", "made by another user"] {
        let scratch = open_to_all();
        if before == "made by another user" {
            let taken = scratch.spool().join("tmio-0");
            fs::create_dir(&taken)
                .and_then(|()| chown(&taken, Some(65_534), Some(65_534)))
                .expect("root may");
        } else {
            let mut command = Command::new(plain_program("gives_up_rights"));
            Way::Traced.run(&scratch, command.args([before, "before"]));
        }
        let mut command = Command::new(plain_program("ends_early"));
        let outcome = Way::Traced.run(&scratch, command.args(["kill", "40"]));
        assert_eq!(outcome.code, Some(137), "{before}: {outcome:?}");
        let written = 40 * 65_536 + 1000;
        let info = settled(&scratch, |info| bytes_in(&scratch, info).1 == written);
        let kept = info.as_ref().map_or(0, |info| bytes_in(&scratch, info).1);
        let said = outcome.stderr.contains("tmio: ") || outcome.stderr.contains("ftio: ");
        let told = said && before == "made by another user";
        assert!(kept == written || told, "{before}: {kept} of {written} bytes, no word: {outcome:?}");
    }
}

/// Directories and other entries below one.
fn entries(directory: &Path) -> (usize, usize) {
    let mut sum = (0, 0);
    for name in names(directory) {
        let path = directory.join(name);
        if path.is_dir() {
            let inside = entries(&path);
            sum = (sum.0 + inside.0 + 1, sum.1 + inside.1);
        } else {
            sum.1 += 1;
        }
    }
    sum
}

/// What all traces in a directory have, added up.
fn all_written(directory: &Path, spool: &Path) -> u64 {
    let read = |name: &String| {
        let mut command = Command::new(ftio());
        command.args(["info", "--json"]).arg(directory.join(name)).env("TMIO_SPOOL", spool);
        let outcome = run_limited(command, Duration::from_secs(120));
        if outcome.success() { posix_written(&outcome.json()) } else { 0 }
    };
    names(directory).iter().map(read).sum()
}

/// Many processes that each move a little, one after the other and some at once, without `ftio trace`: those
/// of a batch job have a few files, and without one each has its trace, but no directory. All is in them.
/// `MPI_TESTS_MANY=10000` by hand.
#[test]
fn very_many_processes() {
    let many: usize = std::env::var("MPI_TESTS_MANY").map_or(1000, |many| many.parse().expect("a number"));
    for job in [&[("SLURM_JOB_ID", "77")][..], &[]] {
        let scratch = Scratch::new();
        let traces = scratch.path().join("traces");
        let script = "seq $1 | xargs -P 4 -I % dd if=/dev/zero of=../data/own-% bs=100 count=10 status=none";
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh", &many.to_string()]).current_dir(&traces);
        command.env("TMIO_LAYERS", "posix").env("TMIO_MIN_BYTES", "0").envs(job.iter().copied());
        let outcome = Way::Preloaded.run(&scratch, &command);
        let what = format!("{many} processes, {job:?}");
        assert!(outcome.success() && outcome.stdout.is_empty(), "{what}: {outcome:?}");
        // A helper may have something to do still.
        let most = if job.is_empty() { many } else { many / 4 };
        let few = || entries(&traces).0 <= 20 && entries(&traces).1 <= most;
        wait_until(Duration::from_secs(20), few);
        let (directories, files) = entries(&traces);
        assert!(few(), "{what}: {directories} directories, {files} files");
        let truth = many as u64 * 1000;
        wait_until(Duration::from_secs(20), || all_written(&traces, scratch.spool()) == truth);
        assert_eq!(all_written(&traces, scratch.spool()), truth, "{what}: {outcome:?}");
    }
}

/// A program that writes nothing itself has children, one after the other: they are one run, however long it
/// takes and whether a helper has ended meanwhile.
#[test]
fn children_one_after_the_other() {
    for pause in ["0", "3"] {
        let scratch = Scratch::new();
        let mut command = Command::new(plain_program("starts_writers"));
        let outcome = Way::Recorded.run(&scratch, command.args(["3", pause]));
        assert_eq!(outcome.code, Some(0), "{pause}: {outcome:?}");
        let truth = 3 * 2_097_152;
        let info = settled(&scratch, |info| posix_written(info) == truth && info["complete"] == true);
        let info = info.unwrap_or_else(|| panic!("{pause}: nothing to read: {outcome:?}"));
        assert_eq!((posix_written(&info), &info["complete"]), (truth, &true.into()), "{pause}: {info:#}");
        assert_eq!(info["ranks"], 3, "{pause}: {info:#}");
    }
}

/// The nodes of a batch job number their processes by themselves: in the trace each has its own number.
#[test]
fn processes_of_a_batch_job_on_several_hosts() {
    if !is_root() {
        return;
    }
    for told in [true, false] {
        let scratch = Scratch::new();
        for (node, host) in ["here", "there", "elsewhere"].into_iter().enumerate() {
            let spool = Scratch::new();
            let mut command = Command::new("unshare");
            let script =
                "hostname $1 && for i in 1 2; do dd if=/dev/zero of=$1.$i bs=64k count=32 status=none; done";
            command.args(["--uts", "sh", "-c", script, "sh", host]).env("TMIO_SPOOL", spool.spool());
            command.env("SLURM_JOB_ID", "77").envs(told.then(|| ("SLURM_NODEID", node.to_string())));
            let outcome = Way::Recorded.run(&scratch, &command);
            assert!(outcome.success() && outcome.stderr.is_empty(), "{host}: {outcome:?}");
            let is_idle = || names(spool.spool()).is_empty();
            assert!(wait_until(Duration::from_secs(20), is_idle), "{host}: {:?}", names(spool.spool()));
        }
        let info = info(&scratch.trace());
        assert_eq!((posix_written(&info), &info["ranks"]), (6 * (2 << 20), &6.into()), "{told}: {info:#}");
    }
}

/// Containers that share `/dev/shm` have processes and sessions of the same numbers.
#[test]
fn containers_with_one_place_for_spools() {
    if !is_root() {
        return;
    }
    let scratch = Scratch::new();
    let script = "for i in 1 2 3 4; do TMIO_OUTPUT=../traces/$i.msgpack unshare --pid --fork --mount-proc dd if=/dev/zero of=own-$i bs=64k \
                  count=32 status=none & done; wait";
    let mut command = Command::new("sh");
    let outcome = Way::Recorded.run(&scratch, command.args(["-c", script]));
    assert!(outcome.success() && outcome.stderr.is_empty(), "{outcome:?}");
    let traces = scratch.path().join("traces");
    let truth = 4 * 2_097_152;
    wait_until(Duration::from_secs(20), || all_written(&traces, scratch.spool()) == truth);
    assert_eq!(all_written(&traces, scratch.spool()), truth, "{:?}: {outcome:?}", names(&traces));
}

/// Where `ftio trace` and `ftio run` cannot write, they say so, and do not say that the program did nothing.
/// The helper of a job is at the spool of a process that has ended: others that clean up leave it alone.
#[test]
fn a_spool_that_is_being_written() {
    let scratch = Scratch::new();
    let data = scratch.data();
    let mut command = Command::new(plain_program("goes_on"));
    command.arg(&data).args(["-", "exit"]).env("LD_PRELOAD", libtmio()).env("TMIO_LAYERS", "posix,stdio");
    command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool());
    command.env("TMIO_FINALIZE_TIMEOUT", "0.1").stdout(Stdio::null());
    let mut program = command.spawn().expect("it was just compiled");
    let mut helper = None;
    for point in ["begin", "middle", "end"] {
        assert!(wait_until(LIMIT, || data.join(format!("at-{point}.0")).is_dir()), "{point}");
        if point == "end" {
            let parts = scratch.trace().with_extension("msgpack.parts");
            assert!(wait_until(LIMIT, || parts.is_dir()));
            helper = helper_of(&scratch);
            signal("-STOP", helper.as_deref().expect("it runs"));
        }
        fs::create_dir(data.join(format!("go-{point}"))).expect("it is ours");
    }
    let ended = program.wait().expect("it is our child");
    let spools = || {
        let mut found = names(scratch.spool()).into_iter().map(|name| scratch.spool().join(name));
        found.next().map(|directory| names(&directory)).unwrap_or_default()
    };
    let before = spools();
    // Who takes the spool has it for a while.
    let mut clean = Command::new("strace");
    clean.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=renameat2,renameat,rename"]);
    clean.args(["-e", "inject=renameat2,renameat,rename:delay_exit=1000000"]);
    clean.arg(ftio()).arg("clean").arg(scratch.spool());
    let cleaned = std::thread::scope(|scope| {
        let cleaning = scope.spawn(|| run_limited(clean, LIMIT));
        assert!(wait_until(LIMIT, || cleaning.is_finished() || spools() != before));
        signal("-CONT", &helper.unwrap_or_default());
        cleaning.join().expect("it has its time")
    });
    assert!(cleaned.success() && ended.code() == Some(3), "{cleaned:?}\n{ended:?}");
    let written = (0, 2 * (20_000 * 100 + 200 * 100));
    let is_whole = |info: &Value| bytes_in(&scratch, info) == written && info["complete"] == true;
    let info = settled(&scratch, is_whole).expect("a trace");
    assert!(is_whole(&info), "{cleaned:?}\n{info:#}");
}

/// A site that traces everybody, and a user who does so, too, with another copy of the library: one of them
/// records.
#[test]
fn two_copies_of_the_library() {
    let scratch = Scratch::new();
    let (data, copy) = (scratch.data(), scratch.path().join("libtmio.so"));
    copy_libtmio(&copy);
    let preload = format!("{}:{}", copy.display(), libtmio().display());
    let mut command = Command::new(plain_program("goes_on"));
    command.arg(&data).args(["-", "exit"]).env("LD_PRELOAD", preload).env("TMIO_LAYERS", "posix,stdio");
    command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool()).stdout(Stdio::null());
    let mut program = command.spawn().expect("it was just compiled");
    for point in ["begin", "middle", "end"] {
        assert!(wait_until(LIMIT, || data.join(format!("at-{point}.0")).is_dir()), "{point}");
        let directories = names(scratch.spool());
        let files = directories.iter().flat_map(|name| names(&scratch.spool().join(name)));
        let spools: Vec<String> = files.filter(|name| name.ends_with(".spool")).collect();
        assert_eq!(spools.len(), usize::from(point != "begin"), "{spools:?}");
        fs::create_dir(data.join(format!("go-{point}"))).expect("it is ours");
    }
    assert_eq!(program.wait().expect("it is our child").code(), Some(3));
    let written = (0, 2 * (20_000 * 100 + 200 * 100));
    let info = settled(&scratch, |info| bytes_in(&scratch, info) == written).expect("a trace");
    assert_eq!((bytes_in(&scratch, &info), &info["ranks"]), (written, &1.into()), "{info:#}");
}

const LIMIT: Duration = Duration::from_secs(60);

fn signal(which: &str, process: &str) {
    assert!(Command::new("kill").args([which, process]).status().is_ok_and(|status| status.success()));
}

#[test]
fn where_no_trace_can_be_written() {
    let program = plain_program("writes_a_megabyte");
    let scratch = Scratch::new();
    let run = |mut command: Command, directory: &Path| -> Outcome {
        // A file of its own: that of root cannot be written by others.
        let own = scratch.data().join(format!("own-{}", names(&scratch.data()).len()));
        command.arg("--library").arg(libtmio()).arg("--").arg(&program).arg(own);
        command.current_dir(directory).env("TMIO_SPOOL", scratch.spool()).env_remove("LD_PRELOAD");
        run_limited(command, Duration::from_secs(60))
    };
    let check = |what: &str, outcome: Outcome| {
        assert_eq!(outcome.code, Some(3), "{what}: {outcome:?}");
        assert!(outcome.stdout.contains("1048576 bytes"), "{what}: {outcome:?}");
        let says = |words: &[&str]| words.iter().any(|word| outcome.stderr.contains(word));
        assert!(says(&["no trace", "cannot create", "cannot write"]), "{what}: no word: {outcome:?}");
        assert!(!says(&["next to nothing"]), "{what}: {outcome:?}");
    };
    for mode in ["trace", "run"] {
        let mut command = Command::new(ftio());
        command.args([mode, "-o", "/nonexistent/directory/x.msgpack"]);
        check(&format!("ftio {mode}, no directory"), run(command, &scratch.data()));
    }
    // Without `ftio trace` a process waits for its trace, but not for one that cannot be.
    let mut command = Command::new(&program);
    command.arg("alone").current_dir(scratch.data()).env("LD_PRELOAD", libtmio()).env("TMIO_LAYERS", "posix");
    command.env("TMIO_SPOOL", scratch.spool()).env("TMIO_OUTPUT", "/nonexistent/directory/x.msgpack");
    let began = Instant::now();
    check("preloaded, no directory", run_limited(command, Duration::from_secs(60)));
    assert!(began.elapsed() < Duration::from_secs(25), "it has waited for nothing: {:?}", began.elapsed());
    if is_root() {
        use std::os::unix::fs::PermissionsExt;
        for path in [scratch.path(), &scratch.data(), scratch.spool()] {
            fs::set_permissions(path, fs::Permissions::from_mode(0o777)).expect("it is ours");
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid", "61237", "--regid", "61237", "--clear-groups"]).arg(ftio()).arg("trace");
        check("a directory of somebody else's", run(command, &scratch.path().join("traces")));
    }
}

/// A regular file is data wherever it lies, and by whatever name.
#[test]
fn files_in_places_that_have_others() {
    let scratch = Scratch::new();
    // The spool's directory is a temporary one in /dev/shm.
    let shared = scratch.spool().with_extension("data");
    let standard = scratch.data().join("standard");
    let names = [shared.to_str().expect("UTF-8"), "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "./plain"];
    let mut command = Command::new("sh");
    command.args(["-c", "exec \"$@\" > \"$0\""]).arg(&standard);
    command.arg(plain_program("writes_by_other_names")).args(names);
    let outcome = Way::Traced.run(&scratch, &command);
    let _ = fs::remove_file(&shared);
    assert_eq!(outcome.code, Some(3), "{outcome:?}");
    let truth = names.len() as u64 * 2_000_000;
    let info = settled(&scratch, |info| posix_written(info) == truth);
    let info = info.unwrap_or_else(|| panic!("nothing to read: {outcome:?}"));
    assert_eq!(posix_written(&info), truth, "{info:#}");
}

/// What is written when the process ends may be the first that it does.
#[test]
fn a_program_that_says_all_at_its_end() {
    for (bytes, forks) in [(6, false), (3 << 20, false), (6, true), (3 << 20, true)] {
        for way in [Way::Recorded, Way::Traced] {
            let scratch = Scratch::new();
            let script = format!("\"$0\" {bytes} {} > out", if forks { "fork" } else { "" });
            let mut command = Command::new("sh");
            let outcome =
                way.run(&scratch, command.args(["-c", &script]).arg(plain_program("says_all_at_its_end")));
            let what = format!("{bytes}, fork: {forks}, {way:?}");
            assert_eq!(outcome.code, Some(0), "{what}: {outcome:?}");
            assert!(
                wait_until(Duration::from_secs(10), || names(scratch.spool()).is_empty()),
                "{what}: left"
            );
            if bytes < 1000 && way == Way::Recorded {
                assert_eq!(scratch.traces(), [""; 0], "{what}");
                continue;
            }
            // A process that has done next to nothing is forgotten.
            let written = if bytes < 1000 { 0 } else { bytes * (1 + u64::from(forks)) };
            let is_right = |info: &Value| bytes_in(&scratch, info).1 >= written && info["complete"] == true;
            let info = settled(&scratch, is_right).unwrap_or_else(|| panic!("{what}: no trace: {outcome:?}"));
            assert!(is_right(&info), "{what}: {info:#}");
        }
    }
}

/// A program that could not become another one goes on, and so does its trace.
#[test]
fn a_program_that_becomes_another_in_vain() {
    for (times, thread) in [("1", ""), ("5", ""), ("0", ""), ("2", "thread")] {
        for way in [Way::Recorded, Way::Traced] {
            let scratch = Scratch::new();
            let mut command = Command::new(plain_program("becomes_another_in_vain"));
            let begin = std::time::Instant::now();
            command.arg(times).args((!thread.is_empty()).then_some(thread));
            let outcome = way.run(&scratch, &command);
            let what = format!("{times} times, {thread}, {way:?}");
            assert_eq!(outcome.code, Some(7), "{what}: {outcome:?}");
            assert!(begin.elapsed() < Duration::from_secs(20), "{what}: it had to wait");
            let written = (0, (times.parse::<u64>().expect("a number") + 1) * (2 << 20));
            let is_right = |info: &Value| bytes_in(&scratch, info) == written && info["complete"] == true;
            let info = settled(&scratch, is_right).unwrap_or_else(|| panic!("{what}: no trace: {outcome:?}"));
            assert!(is_right(&info), "{what}: {:?}: {info:#}", bytes_in(&scratch, &info));
        }
    }
}
