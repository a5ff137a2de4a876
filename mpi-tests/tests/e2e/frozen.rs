//! A file system that does not answer costs the trace, never the job. The trace's file system is frozen at
//! every stage of a program: no call of the program is held up, it ends in time and as it would have, and
//! after the thaw all that was recorded can be read.

use crate::harness::{Mpi, Outcome, Room, installed_mpis, plain_program, skip, wait_until};
use crate::mpis::in_path;
use crate::traced::{Scratch, names};
use crate::ways::{Watched, Way, bytes_in, is_root, says_that_more_was_done, settled};
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Milliseconds: longer than any call takes on a busy machine. A call that waits for the file system takes
/// as long as that is frozen, which is `IN_TIME` if the program does not go on.
const LONGEST_CALL: u64 = 1000;
/// Within which a program comes to its next point, and ends; `TMIO_FINALIZE_TIMEOUT` is 1 s here.
const IN_TIME: Duration = Duration::from_secs(20);

/// File systems of a test's own: ext4 for the trace, which can be frozen, and a tmpfs for the program's
/// files, where nothing but a tracer can hold it up.
struct Mounts {
    scratch: Scratch,
    /// Thaws and unmounts at the end of its input, that is, also if this process is killed.
    guard: Child,
}

impl Mounts {
    fn new() -> Mounts {
        let scratch = Scratch::new();
        let make = "truncate -s 64M \"$1\"/image; mkfs.ext4 -q -F \"$1\"/image; \
                    mount -o loop \"$1\"/image \"$1\"/traces; rmdir \"$1\"/traces/lost+found; \
                    mount -t tmpfs tmpfs \"$1\"/data";
        let made = Command::new("sh").args(["-ec", make, "sh"]).arg(scratch.path()).output();
        let made = made.expect("there is a shell");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let undo = "cat > /dev/null; fsfreeze -u \"$1\"/traces; \
                    for try in 1 2 3 4 5 6 7 8 9; do umount \"$1\"/traces && break; sleep 0.3; done; \
                    umount -l \"$1\"/data";
        let mut guard = Command::new("sh");
        guard.args(["-c", undo, "sh"]).arg(scratch.path());
        guard.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Mounts { scratch, guard: guard.spawn().expect("there is a shell") }
    }

    fn freeze(&self, option: &str) {
        let done = Command::new("fsfreeze").arg(option).arg(self.scratch.path().join("traces")).status();
        assert!(done.is_ok_and(|status| status.success()), "fsfreeze {option}");
    }
}

impl Drop for Mounts {
    fn drop(&mut self) {
        drop(self.guard.stdin.take());
        let _ = self.guard.wait();
    }
}

/// What a program does, and while it does what the file system is frozen.
#[derive(Clone, Copy)]
struct Stage {
    /// Arguments of the program: how it works, how it ends.
    way: &'static str,
    end: &'static str,
    /// "start", "never", or a point where the program stops: "begin", "middle", "end".
    freezes: &'static str,
    /// A later point, or "never": not before the program has ended.
    thaws: &'static str,
    settings: &'static [(&'static str, &'static str)],
}

const STAGE: Stage = Stage { way: "-", end: "exit", freezes: "start", thaws: "never", settings: &[] };

/// How a program came through a stage.
struct Passed {
    mounts: Mounts,
    outcome: Outcome,
    wrong: Vec<String>,
}

impl Stage {
    fn run(&self, ranks: u32, start: impl Fn(&Scratch) -> Watched) -> Passed {
        let mounts = Mounts::new();
        let data = mounts.scratch.data();
        let mut wrong = Vec::new();
        let mut frozen = self.freezes == "start";
        if frozen {
            mounts.freeze("-f");
        }
        let run = start(&mounts.scratch);
        for point in ["begin", "middle", "end"] {
            // Before MPI_Init, no process knows its rank.
            let ranks = if point == "begin" { 1 } else { ranks };
            let there = || (0..ranks).all(|rank| data.join(format!("at-{point}.{rank}")).is_dir());
            if !wait_until(IN_TIME, there) {
                let state = if frozen { "frozen" } else { "not frozen" };
                wrong.push(format!("it does not come to its {point} ({state})"));
            }
            if frozen && (self.thaws == point || !wrong.is_empty()) {
                mounts.freeze("-u");
                frozen = false;
            } else if self.freezes == point && wrong.is_empty() {
                mounts.freeze("-f");
                frozen = true;
            }
            fs::create_dir(data.join(format!("go-{point}"))).expect("a tmpfs can be written");
        }
        if frozen {
            if !wait_until(IN_TIME, || run.has_ended()) {
                wrong.push("it does not end while the file system is frozen".into());
            } else if !wait_until(IN_TIME, || run.is_silent()) {
                wrong.push("somebody keeps its output open".into());
            }
            mounts.freeze("-u");
        }
        let outcome = run.finish();
        for name in names(&data) {
            let Some(longest) = name.strip_prefix("longest-") else { continue };
            let milliseconds: u64 = longest.split('.').next().and_then(|n| n.parse().ok()).expect("a number");
            if milliseconds >= LONGEST_CALL {
                wrong.push(format!("one of its calls took {milliseconds} ms"));
            }
        }
        Passed { mounts, outcome, wrong }
    }
}

impl Passed {
    /// It ended as it should, and the trace has all that it wrote, or says that there was more if only so
    /// much may be kept in memory.
    fn check(mut self, what: &str, code: i32, stdout: &str, written: u64, all: bool) {
        let outcome = &self.outcome;
        if outcome.code != Some(code) || outcome.stdout != stdout {
            self.wrong.push("it did not end as it does alone".into());
        }
        if outcome.stderr.lines().any(|line| !line.starts_with("tmio: ") && !line.starts_with("ftio: ")) {
            self.wrong.push("its standard error has other lines".into());
        }
        let scratch = &self.mounts.scratch;
        let has_all = |info: &serde_json::Value| bytes_in(scratch, info) == (0, written);
        match settled(scratch, has_all) {
            None => self.wrong.push("there is nothing to read after the thaw".into()),
            Some(info) if !has_all(&info) => {
                let (_, kept) = bytes_in(scratch, &info);
                if all || kept > written || !says_that_more_was_done(&info) {
                    self.wrong.push(format!("{kept} of {written} bytes are in the trace: {info}"));
                }
            }
            Some(_) => {}
        }
        assert!(self.wrong.is_empty(), "{what}: {:#?}\n{:?}", self.wrong, self.outcome);
    }
}

/// Bytes of a half of `goes_on`, and its line.
const HALF: u64 = 20_000 * 100 + 200 * 100;
const LINE: &str = "it has done its work\n";

fn can_freeze() -> bool {
    let missing: Vec<&str> = ["mkfs.ext4", "fsfreeze"].into_iter().filter(|name| !in_path(name)).collect();
    if !missing.is_empty() {
        skip(&format!("no {}", missing.join(", no ")));
    }
    missing.is_empty() && is_root()
}

/// A program without MPI.
fn without_mpi(way: Way, what: &str, stage: Stage) {
    if !can_freeze() {
        return;
    }
    let passed = stage.run(1, |scratch| {
        let mut command = Command::new(plain_program("goes_on"));
        command.arg(scratch.data()).args([stage.way, stage.end]).env("TMIO_FINALIZE_TIMEOUT", "1");
        command.envs(stage.settings.iter().copied());
        way.start(scratch, &command)
    });
    let code = if stage.end == "kill" { 137 } else { 3 };
    let stdout = if stage.end == "exec" { format!("{LINE}another program\n") } else { LINE.into() };
    let halves = if stage.way == "forks" { 4 } else { 2 };
    passed.check(what, code, &stdout, halves * HALF, stage.settings != SMALL_BUFFER);
}

/// An MPI program of two ranks, and the bytes that it writes.
const BY_MPI: u64 = 2 * 2 * 20_000 * 100;
fn with_mpi(what: &str, stage: Stage) {
    if !can_freeze() {
        return;
    }
    for mpi in installed_mpis() {
        let _room = Room::take(2);
        let passed = stage.run(2, |scratch| Way::Alone.start(scratch, &job(&mpi, scratch, &stage)));
        let all = stage.settings != SMALL_BUFFER;
        passed.check(&format!("{}: {what}", mpi.name), 0, &LINE.repeat(2), BY_MPI, all);
    }
}

fn job(mpi: &Mpi, scratch: &Scratch, stage: &Stage) -> Command {
    let job = mpi.job(2, mpi.program("goes_on_in_mpi")).args([scratch.data()]).args([stage.way, stage.end]);
    let mut job = crate::traced::traced(job, scratch).env("TMIO_FINALIZE_TIMEOUT", "1");
    for (name, value) in stage.settings {
        job = job.env(name, value);
    }
    job.command()
}

const SMALL_BUFFER: &[(&str, &str)] = &[("TMIO_BUFFER", "64K")];
const INTERVAL: &[(&str, &str)] = &[("TMIO_FLUSH", "interval:0.1")];
const CLOSE: &[(&str, &str)] = &[("TMIO_FLUSH", "close")];

const WHEN_BLOCKS_ARE_FULL: Stage =
    Stage { freezes: "middle", thaws: "end", settings: SMALL_BUFFER, ..STAGE };
const AT_A_FLUSH: Stage = Stage { way: "summary", freezes: "middle", thaws: "end", ..STAGE };
const WITH_INTERVALS: Stage =
    Stage { way: "slowly", freezes: "middle", thaws: "end", settings: INTERVAL, ..STAGE };
const WHEN_FILES_ARE_CLOSED: Stage = Stage { freezes: "middle", thaws: "end", settings: CLOSE, ..STAGE };
const AT_THE_END: Stage = Stage { freezes: "end", ..STAGE };

/// The judge is judged first: on a file system that answers, all is well.
#[test]
fn never() {
    for end in ["exit", "exec", "kill"] {
        for way in [Way::Recorded, Way::Traced] {
            without_mpi(way, &format!("{way:?}, {end}"), Stage { freezes: "never", end, ..STAGE });
        }
    }
    with_mpi("never", Stage { freezes: "never", end: "finalize", ..STAGE });
}

#[test]
fn before_the_first_block() {
    without_mpi(Way::Recorded, "from its start to its end", STAGE);
    without_mpi(Way::Recorded, "when it begins", Stage { freezes: "begin", thaws: "end", ..STAGE });
}

#[test]
fn when_blocks_are_full() {
    without_mpi(Way::Recorded, "full blocks", WHEN_BLOCKS_ARE_FULL);
}

#[test]
fn at_a_flush_that_the_program_asks_for() {
    without_mpi(Way::Recorded, "iotrace_summary", AT_A_FLUSH);
}

#[test]
fn with_flushes_at_intervals() {
    without_mpi(Way::Recorded, "interval", WITH_INTERVALS);
    without_mpi(Way::Recorded, "close", WHEN_FILES_ARE_CLOSED);
}

#[test]
fn while_children_come_and_go() {
    without_mpi(Way::Recorded, "forks", Stage { way: "forks", freezes: "middle", thaws: "end", ..STAGE });
}

#[test]
fn at_the_end_of_a_program() {
    for end in ["exit", "_exit", "exec", "kill"] {
        without_mpi(Way::Recorded, end, Stage { end, ..AT_THE_END });
    }
}

/// Of many processes one waits for the helper in vain, the others do not.
#[test]
fn while_programs_come_and_go() {
    if !can_freeze() {
        return;
    }
    let mounts = Mounts::new();
    mounts.freeze("-f");
    let mut command = Command::new("sh");
    command.args(["-c", "for i in 1 2 3 4 5 6; do dd if=/dev/zero of=$i bs=64k count=32 status=none; done"]);
    // A batch job is one run.
    command.env("SLURM_JOB_ID", "4711").env("TMIO_FINALIZE_TIMEOUT", "6");
    let run = Way::Recorded.start(&mounts.scratch, &command);
    let in_time = wait_until(IN_TIME, || run.has_ended());
    mounts.freeze("-u");
    let outcome = run.finish();
    assert!(in_time && outcome.success() && outcome.stderr.is_empty(), "{in_time}: {outcome:?}");
    let has_all = |info: &serde_json::Value| bytes_in(&mounts.scratch, info) == (0, 6 << 21);
    let info = settled(&mounts.scratch, has_all).expect("a trace");
    assert!(has_all(&info), "{info:#}");
}

/// Whoever waits for `ftio trace` is not held up either.
#[test]
fn at_the_end_of_ftio_trace() {
    without_mpi(Way::Traced, "ftio trace", AT_THE_END);
}

#[test]
fn mpi_before_the_first_block() {
    with_mpi("from its start to its end", Stage { end: "finalize", ..STAGE });
    with_mpi("when it begins", Stage { end: "finalize", freezes: "begin", thaws: "end", ..STAGE });
}

#[test]
fn mpi_when_blocks_are_full() {
    with_mpi("full blocks", Stage { end: "finalize", ..WHEN_BLOCKS_ARE_FULL });
}

#[test]
fn mpi_at_a_flush_that_the_program_asks_for() {
    with_mpi("iotrace_summary", Stage { end: "finalize", ..AT_A_FLUSH });
}

#[test]
fn mpi_with_flushes_at_intervals() {
    with_mpi("interval", Stage { end: "finalize", ..WITH_INTERVALS });
    with_mpi("close", Stage { end: "finalize", ..WHEN_FILES_ARE_CLOSED });
}

/// One that ends without `MPI_Finalize`; launchers would have something to say about it.
#[test]
fn mpi_at_exit() {
    if !can_freeze() {
        return;
    }
    for mpi in installed_mpis() {
        let passed = AT_THE_END.run(1, |scratch| {
            let mut command = mpi.singleton(&mpi.program("goes_on_in_mpi"));
            command.arg(scratch.data()).args(["-", "exit"]).env("TMIO_FINALIZE_TIMEOUT", "1");
            Way::Recorded.start(scratch, command.env("TMIO_LAYERS", "mpiio"))
        });
        passed.check(&format!("{}: exit", mpi.name), 0, LINE, BY_MPI / 2, true);
    }
}

#[test]
fn mpi_at_finalize() {
    with_mpi("MPI_Finalize", Stage { end: "finalize", ..AT_THE_END });
}
