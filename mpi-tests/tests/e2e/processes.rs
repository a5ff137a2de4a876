//! Processes: a program sees its own children and nobody else's, whatever way it waits, whoever its parent
//! is, and also where no process of ours can be started.

use crate::harness::{libtmio, plain_program, run_limited, wait_until};
use crate::traced::{Scratch, info, names};
use crate::ways::{
    Way, assert_same, bytes_in, helper_of, is_root, is_the_same, open_to_all, says_that_more_was_done,
    settled,
};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a process of the program writes.
const EACH: u64 = 2_000_000;

/// Runs `waits_for_children WAY` behind `before` alone and in `ways`: it sees the same, and all that its
/// processes wrote is in the trace, or that says that there was more, or a line says that there is none.
fn sees_the_same(before: &[&str], way_of_program: &str, processes: u64, ways: &[Way]) {
    let program = plain_program("waits_for_children");
    let mut words: Vec<PathBuf> = before.iter().map(PathBuf::from).collect();
    words.extend([program, way_of_program.into()]);
    let command = || {
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        command
    };
    let alone = Way::Alone.run(&open_to_all(), &command());
    assert!(!alone.stdout.is_empty(), "{words:?}, alone: {alone:?}");
    for &way in ways {
        let scratch = open_to_all();
        let outcome = way.run(&scratch, &command());
        let what = format!("{before:?} {way_of_program}, {way:?}");
        assert_same(&what, &outcome, &alone);
        // Programs that it starts are runs of their own if `ftio trace` does not hold them together.
        if !way.records() || way == Way::Recorded && way_of_program == "started" {
            continue;
        }
        let truth = processes * EACH;
        let is_right = |info: &_| bytes_in(&scratch, info).1 == truth || says_that_more_was_done(info);
        let Some(info) = settled(&scratch, is_right) else {
            assert!(outcome.stderr.contains("tmio: "), "{what}: no trace, no word: {outcome:?}");
            continue;
        };
        let (_, kept) = bytes_in(&scratch, &info);
        assert!(kept <= truth && is_right(&info), "{what}: {kept} of {truth} bytes: {info:#}");
    }
}

#[test]
fn a_program_that_waits_until_nobody_is_left() {
    for way in ["wait", "waitpid", "waitid"] {
        sees_the_same(&[], way, 4, &Way::WITH_US);
    }
}

#[test]
fn a_program_without_children() {
    sees_the_same(&[], "childless", 2, &Way::WITH_US);
}

#[test]
fn a_program_that_counts_signals() {
    sees_the_same(&[], "signals", 4, &Way::WITH_US);
}

#[test]
fn children_that_nobody_takes() {
    sees_the_same(&[], "ignored", 4, &Way::WITH_US);
    sees_the_same(&[], "nocldwait", 4, &Way::WITH_US);
}

#[test]
fn commands_that_it_starts() {
    sees_the_same(&[], "started", 4, &Way::WITH_US);
}

/// Orphans go to the nearest one that asks for them; a helper must not be among them.
#[test]
fn a_program_that_takes_orphans() {
    sees_the_same(&[], "subreaper", 7, &Way::WITH_US);
}

/// A helper that a child has started becomes an orphan with that child. Nothing hides it from the one who
/// takes orphans, but it does not stay.
#[test]
fn orphans_of_children_that_write() {
    sees_the_same(&[], "orphans", 6, &Way::WITH_US);
}

/// In a container: it is the first process, all orphans are its own, and nobody survives it.
#[test]
fn the_first_process_of_a_container() {
    if !is_root() {
        return;
    }
    let container = ["unshare", "--pid", "--fork", "--mount-proc"];
    for (way, processes) in [("childless", 2), ("wait", 4), ("subreaper", 7), ("orphans", 6)] {
        sees_the_same(&container, way, processes, &Way::WITH_US);
    }
}

/// In a container whose first process waits for nobody: a helper that was killed seems to be there for ever.
#[test]
fn a_helper_that_is_killed_where_nobody_notices() {
    let scratch = Scratch::new();
    let mut command = Command::new(plain_program("waits_for_nobody_else"));
    command.args(["dd", "if=/dev/zero", "of=zeros", "bs=64k", "count=64", "status=none"]);
    command.env("TMIO_EXCLUDE_PROGRAMS", "waits_for_nobody_else");
    let began = Instant::now();
    let outcome = Way::Recorded.run(&scratch, &command);
    assert!(outcome.success() && outcome.stderr.is_empty(), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(25), "it has waited for the dead: {:?}", began.elapsed());
    let info = settled(&scratch, |info| bytes_in(&scratch, info) == (0, 4 << 20)).expect("a trace");
    assert_eq!(bytes_in(&scratch, &info), (0, 4 << 20), "{info:#}");
}

/// Many processes that are recorded, without `ftio trace`: those of a batch job leave one directory with two
/// files, however many they are, and without one each leaves its trace and nothing else.
#[test]
fn many_of_them_leave_few_files() {
    const PROCESSES: u64 = 64;
    for (job, output) in [(Some("77"), "trace.msgpack"), (None, "%p.msgpack")] {
        let scratch = Scratch::new();
        let traces = scratch.path().join("traces");
        let run = |number: u64| {
            let mut command = Command::new("dd");
            command.args(["if=/dev/zero", "bs=64k", "count=16", "status=none", &format!("of={number}")]);
            command.current_dir(scratch.data()).env("LD_PRELOAD", libtmio()).env("TMIO_LAYERS", "posix");
            command.env("TMIO_SPOOL", scratch.spool()).env("TMIO_OUTPUT", traces.join(output));
            command.envs(job.map(|job| ("SLURM_JOB_ID", job)));
            let outcome = run_limited(command, Duration::from_secs(60));
            assert!(outcome.success() && outcome.stderr.is_empty(), "{outcome:?}");
        };
        std::thread::scope(|scope| {
            for first in 0..4 {
                scope.spawn(move || (first..PROCESSES).step_by(4).for_each(run));
            }
        });
        if job.is_some() {
            let truth = PROCESSES << 20;
            let info = settled(&scratch, |info| bytes_in(&scratch, info).1 == truth).expect("a trace");
            assert_eq!((bytes_in(&scratch, &info).1, &info["ranks"]), (truth, &PROCESSES.into()));
            assert_eq!(scratch.traces(), ["trace.msgpack.parts"]);
            assert_eq!(
                names(&traces.join("trace.msgpack.parts")).len(),
                2,
                "the part, and how many there are"
            );
        } else {
            let is_done = || scratch.traces().iter().filter(|name| name.ends_with(".msgpack")).count() == 64;
            assert!(wait_until(Duration::from_secs(30), is_done), "{:?}", scratch.traces());
            assert_eq!(scratch.traces().len(), 64, "{:?}", scratch.traces());
            let sizes =
                scratch.traces().into_iter().map(|name| bytes_in(&scratch, &info(&traces.join(name))).1);
            assert!(sizes.into_iter().all(|size| size == 1 << 20));
        }
        let is_empty = || names(scratch.spool()).is_empty();
        assert!(wait_until(Duration::from_secs(30), is_empty), "{:?}", names(scratch.spool()));
    }
}

/// On a busy machine a helper that ends may have no time to take its control page away. Who ends at this
/// moment waits for that, and starts another one.
#[test]
fn a_helper_that_is_slow_to_end() {
    let scratch = Scratch::new();
    let user = fs::metadata(scratch.spool()).expect("it is ours").uid();
    let directory = scratch.spool().join(format!("tmio-{user}"));
    fs::create_dir(&directory).expect("it is ours");
    fs::set_permissions(&directory, Permissions::from_mode(0o700)).expect("it is ours");
    // The helper that is about to end is this process.
    let namespace = fs::metadata("/proc/self/ns/pid").expect("it can be asked").ino();
    let page = directory.join(format!("1fn{namespace:x}.control"));
    let mut words = [0u64; 3 * 512];
    (words[0], words[1]) = (u64::from_le_bytes(*b"tmioCTL1"), 3 << 32 | u64::from(std::process::id()));
    fs::write(&page, words.map(u64::to_ne_bytes).concat()).expect("it is ours");
    let run = format!("1f:0:0:7fffffff00000001:{}", scratch.trace().display());
    let mut command = Command::new("dd");
    command.args(["if=/dev/zero", "of=zeros", "bs=64k", "count=64", "status=none"]);
    command.current_dir(scratch.data()).env("LD_PRELOAD", libtmio()).env("TMIO_LAYERS", "posix");
    command.env("TMIO_SPOOL", scratch.spool()).env("TMIO_RUN", run);
    let ends = std::thread::scope(|scope| {
        let program = scope.spawn(|| run_limited(command, Duration::from_secs(60)));
        let zeros = scratch.data().join("zeros");
        let has_written = || fs::metadata(&zeros).is_ok_and(|file| file.len() == 4 << 20);
        assert!(wait_until(Duration::from_secs(30), has_written));
        std::thread::sleep(Duration::from_millis(500));
        fs::remove_file(&page).expect("nobody else takes it away");
        program.join().expect("it has its time")
    });
    assert!(ends.success() && ends.stderr.is_empty(), "{ends:?}");
    assert_eq!(bytes_in(&scratch, &info(&scratch.trace())), (0, 4 << 20));
}

#[test]
fn groups_and_sessions() {
    sees_the_same(&["setsid", "--wait"], "alone", 1, &Way::WITH_US);
    let terminal = plain_program("sits_at_a_terminal");
    let program = plain_program("waits_for_children");
    for end in ["interrupt", "hangup"] {
        let command = || {
            let mut command = Command::new(&terminal);
            command.arg(end).arg(&program).arg("interrupted");
            command
        };
        let alone = Way::Alone.run(&Scratch::new(), &command());
        assert!(alone.success() && !alone.stdout.is_empty(), "{end}, alone: {alone:?}");
        for way in Way::WITH_US {
            let scratch = Scratch::new();
            assert_same(&format!("{end}, {way:?}"), &way.run(&scratch, &command()), &alone);
            if way.records() {
                let info = settled(&scratch, |info| bytes_in(&scratch, info) == (0, EACH));
                let info = info.unwrap_or_else(|| panic!("{end}, {way:?}: nothing to read"));
                assert_eq!(bytes_in(&scratch, &info), (0, EACH), "{end}, {way:?}: {info:#}");
            }
        }
    }
}

/// No process can be started: the user may have only this one.
#[test]
fn a_user_who_may_have_one_process() {
    if !is_root() {
        return;
    }
    // A user id of its own, so that no other test counts.
    let user = ["setpriv", "--reuid", "61236", "--regid", "61236", "--clear-groups"];
    let limit = ["prlimit", "--nproc=1"];
    sees_the_same(&[&limit[..], &user].concat(), "childless", 2, &[Way::Preloaded, Way::Recorded]);
}

/// The system calls that start a process or a thread.
#[cfg(target_arch = "x86_64")]
const STARTING: &str = "56,57,58,435";
#[cfg(not(target_arch = "x86_64"))]
const STARTING: &str = "220,435";

/// No process can be started: a filter forbids it. Whether it forbids more, and kills whoever says a word,
/// nobody can tell: nothing is recorded then, in silence.
#[test]
fn a_program_that_may_not_fork() {
    let filter = plain_program("filters_calls");
    for action in ["errno=1", "errno=11", "errno=38", "kill"] {
        let command = |_: &Scratch| {
            let mut command = Command::new(&filter);
            command
                .args(["deny", action, STARTING])
                .arg(plain_program("waits_for_children"))
                .arg("childless");
            command
        };
        is_the_same(action, &[Way::Preloaded, Way::Recorded], command);
    }
}

/// Limits are the program's, and so is the class in which it is scheduled, its terminal, its environment and
/// its descriptors: its helper has what others have.
#[test]
fn what_is_the_program_s_own() {
    let scratch = Scratch::new();
    let data = scratch.data();
    let class = if is_root() { "chrt --fifo 1" } else { "" };
    let limits = "ulimit -S -t 9; ulimit -S -s 256; ulimit -S -d 200000; ulimit -S -v 300000";
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{limits}; exec {class} \"$@\""), "sh"]).arg(plain_program("goes_on"));
    command.arg(&data).args(["-", "exit"]).env("LD_PRELOAD", libtmio()).env("TMIO_LAYERS", "posix,stdio");
    command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool()).stdout(Stdio::null());
    let mut program = command.spawn().expect("there is a shell");
    for point in ["begin", "middle", "end"] {
        assert!(
            wait_until(Duration::from_secs(60), || data.join(format!("at-{point}.0")).is_dir()),
            "{point}"
        );
        if point == "end" {
            let helper = PathBuf::from("/proc").join(helper_of(&scratch).expect("it runs"));
            let limits = fs::read_to_string(helper.join("limits")).expect("it is ours");
            for limit in ["cpu time", "data size", "stack size", "address space", "file size", "open files"] {
                let line = limits.lines().find(|line| line.starts_with(&format!("Max {limit}")));
                let words: Vec<&str> = line.expect("the kernel knows it").split_whitespace().collect();
                assert_eq!(words.get(3), words.get(4), "{line:?}");
            }
            let about = fs::read_to_string(helper.join("stat")).expect("it is ours");
            assert_eq!(about.split(' ').nth(40), Some("0"), "its class: {about}");
            assert_eq!(about.split(' ').nth(6), Some("0"), "its terminal: {about}");
            let variables = fs::read_to_string(helper.join("environ")).expect("it is ours");
            assert_eq!(variables, "TMIO_DISABLE=1\0");
            for file in names(&helper.join("fd")) {
                let file = fs::read_link(helper.join("fd").join(file)).unwrap_or_default();
                let own = [scratch.path(), scratch.spool()].iter().any(|place| file.starts_with(place));
                assert!(own || ["/dev/null", ""].contains(&&*file.to_string_lossy()), "{file:?}");
            }
        }
        fs::create_dir(data.join(format!("go-{point}"))).expect("it is ours");
    }
    assert_eq!(program.wait().expect("it is our child").code(), Some(3));
}

/// A stack of a few pages, which nobody may enlarge, is enough for `dd`: the helper takes nothing from it.
#[test]
fn a_small_stack() {
    let scratch = Scratch::new();
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -s 16; exec dd if=/dev/zero of=\"$0\" bs=64k count=32 status=none"]);
    // Variables lie on the stack, too, and the dynamic linker needs most of it.
    command.arg(scratch.data().join("zeros")).env_clear().env("LD_PRELOAD", libtmio());
    command.env("TMIO_LAYERS", "posix,stdio").env("TMIO_OUTPUT", scratch.trace());
    command.env("TMIO_SPOOL", scratch.spool());
    let outcome = run_limited(command, Duration::from_secs(60));
    assert!(outcome.success() && outcome.stderr.is_empty(), "{outcome:?}");
    assert!(wait_until(Duration::from_secs(20), || scratch.leftovers().is_empty()), "{scratch:?}");
    let info = info(&scratch.trace());
    assert_eq!(bytes_in(&scratch, &info), (0, 2 << 20), "{info:#}");
}

/// A helper that stands still is waited for once, for a second; then records are lost, and counted.
#[test]
fn a_helper_that_is_stopped() {
    let scratch = Scratch::new();
    let data = scratch.data();
    let mut command = Command::new(plain_program("goes_on"));
    command.arg(&data).args(["-", "exit"]).env("LD_PRELOAD", libtmio()).env("TMIO_LAYERS", "posix,stdio");
    command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool()).stdout(Stdio::null());
    command.env("TMIO_BUFFER", "64K");
    let mut program = command.spawn().expect("it was just compiled");
    let mut helper = String::new();
    let signal = |which: &str, helper: &str| Command::new("kill").args([which, helper]).status();
    for point in ["begin", "middle", "end"] {
        assert!(
            wait_until(Duration::from_secs(60), || data.join(format!("at-{point}.0")).is_dir()),
            "{point}"
        );
        match point {
            "middle" => {
                helper = helper_of(&scratch).expect("it runs");
                assert!(signal("-STOP", &helper).is_ok_and(|status| status.success()));
            }
            "end" => assert!(signal("-CONT", &helper).is_ok_and(|status| status.success())),
            _ => {}
        }
        fs::create_dir(data.join(format!("go-{point}"))).expect("it is ours");
    }
    assert_eq!(program.wait().expect("it is our child").code(), Some(3));
    let longest = names(&data)
        .iter()
        .find_map(|name| name.strip_prefix("longest-")?.split('.').next()?.parse::<u64>().ok());
    assert!(longest.is_some_and(|longest| longest < 4000), "{longest:?} ms");
    let all = 2 * (20_000 + 200);
    let done = |info: &serde_json::Value| {
        ["posix", "stdio"]
            .iter()
            .map(|layer| info["layers"][layer]["write"]["ops"].as_u64().unwrap_or(0))
            .sum::<u64>()
    };
    let info = settled(&scratch, |info| done(info) < all && info["lost"].as_u64() > Some(0));
    let info = info.expect("a trace");
    let lost = info["lost"].as_u64().unwrap_or(0);
    assert!(lost > 0 && done(&info) + lost >= all, "{info:#}");
}
