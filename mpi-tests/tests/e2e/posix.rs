//! Programs without MPI: what `ftio trace` says of them is what they did.

use crate::harness::{Outcome, ftio, libtmio, run_limited, skip, target_directory};
use crate::traced::{Scratch, info, names, run_ftio};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::Duration;

/// A command under `ftio trace`, in the directory of the program's files.
pub fn trace(scratch: &Scratch, words: &[&str]) -> Outcome {
    let mut command = Command::new(ftio());
    command.args(["trace", "-o"]).arg(scratch.trace()).arg("--library").arg(libtmio()).arg("--").args(words);
    command.current_dir(scratch.data()).env("TMIO_SPOOL", scratch.spool());
    for name in ["LD_PRELOAD", "TMIO_LAYERS", "TMIO_RUN", "TMIO_OUTPUT"] {
        command.env_remove(name);
    }
    run_limited(command, Duration::from_secs(120))
}

/// By layer and name within the program's directory: bytes read and written.
pub type Files = BTreeMap<(String, String), (u64, u64)>;

pub fn files(scratch: &Scratch, info: &Value) -> Files {
    let data = scratch.data().canonicalize().unwrap();
    let mut files = Files::new();
    for file in info["files"].as_array().unwrap() {
        let text = |key: &str| file[key].as_str().unwrap().to_owned();
        let Ok(name) = Path::new(&text("name")).strip_prefix(&data).map(|name| name.display().to_string())
        else {
            continue;
        };
        let bytes = (file["bytes_read"].as_u64().unwrap(), file["bytes_written"].as_u64().unwrap());
        if bytes != (0, 0) {
            files.insert((text("layer"), name), bytes);
        }
    }
    files
}

/// A trace of a command that succeeds, leaves nothing else behind, and says nothing more than without us.
pub fn traced(words: &[&str]) -> (Scratch, Outcome, Value) {
    let scratch = Scratch::new();
    let outcome = trace(&scratch, words);
    assert!(outcome.success() && outcome.stderr.is_empty(), "{words:?}: {outcome:?}");
    let info = info(&scratch.trace());
    assert_eq!(info["complete"], true, "{words:?}: {info:#}");
    assert_eq!(scratch.leftovers(), [""; 0], "{words:?}");
    (scratch, outcome, info)
}

/// A program of `programs/` that uses no MPI: each time a file of its own, for the caller to remove.
pub fn compiled(name: &str) -> Option<PathBuf> {
    let directory = target_directory().join("mpi-tests");
    fs::create_dir_all(&directory).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(format!("{name}.c"));
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Relaxed);
    let binary = directory.join(format!("{name}.{}.{count}", std::process::id()));
    let mut compile = Command::new("cc");
    compile
        .args(["-O2", "-Wall", "-Wextra", "-D_FORTIFY_SOURCE=2", "-pthread", "-rdynamic", "-o"])
        .arg(&binary)
        .arg(source);
    match compile.output() {
        Ok(output) => {
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            Some(binary)
        }
        Err(_) => {
            skip("no C compiler");
            None
        }
    }
}

/// While one thread begins to record on a slow file system, the others go on, and nothing is lost.
#[test]
fn threads_where_the_start_takes_long() {
    let Some(program) = compiled("slow_start") else { return };
    let (scratch, outcome, info) = traced(&[program.to_str().unwrap()]);
    let written: u64 = files(&scratch, &info).values().map(|(_, written)| written).sum();
    assert_eq!(outcome.stdout.trim(), written.to_string(), "{info:#}");
}

#[test]
fn every_way_to_read_and_write_in_c() {
    let Some(program) = compiled("posix_io") else { return };
    let (scratch, outcome, info) = traced(&[program.to_str().unwrap()]);
    let mut told = Files::new();
    for line in outcome.stdout.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let [layer, name, "read", read, "written", written] = words[..] else { panic!("{line}") };
        told.insert((layer.into(), name.into()), (read.parse().unwrap(), written.parse().unwrap()));
    }
    assert_eq!(files(&scratch, &info), told);
    // The program and its child that writes; the other one does nothing.
    assert_eq!(info["ranks"], 2, "{info:#}");
    let sum = |layer: &str, what: usize| -> u64 {
        told.iter().filter(|((of, _), _)| of == layer).map(|(_, bytes)| [bytes.0, bytes.1][what]).sum()
    };
    for layer in ["posix", "stdio"] {
        assert_eq!(info["layers"][layer]["read"]["bytes"], sum(layer, 0), "{layer}");
        assert_eq!(info["layers"][layer]["write"]["bytes"], sum(layer, 1), "{layer}");
    }
    assert!(info["layers"].get("mpiio").is_none());
    // Every write to what was closed, and nothing else, has failed.
    assert_eq!(info["layers"]["posix"]["write"]["bytes"], info["write_sync"]["bytes"], "POSIX moved most");
    fs::remove_file(program).unwrap();
}

/// What goes past us is counted by the kernel: system calls of the program's own, and mapped files.
#[test]
fn what_went_past() {
    let Some(program) = compiled("goes_past") else { return };
    let (scratch, _, info) = traced(&[program.to_str().unwrap()]);
    let coverage = &info["coverage"];
    assert_eq!(coverage["posix_bytes"], 1_500_000, "{coverage}");
    let unseen = |what: &str| coverage["unseen"][what].as_u64().unwrap();
    // The dynamic linker reads something, too.
    assert!((3_000_000..3_100_000).contains(&unseen("written")), "{coverage}");
    assert!(unseen("read") < 1_000_000, "{coverage}");
    let system = Command::new("stat").args(["-f", "-c", "%T"]).arg(scratch.data()).output().unwrap();
    if system.stdout != b"tmpfs\n" {
        assert!(unseen("mapped_written") >= 8 << 20, "{coverage}");
    }
    let said = run_ftio(&["info"], &scratch.trace()).stdout;
    assert!(said.contains("by mapped files or io_uring"), "{said}");
    fs::remove_file(program).unwrap();
}

#[test]
fn dd_cp_tar_and_cat() {
    let script = "dd if=/dev/zero of=a bs=64k count=40 status=none; cp a b; tar cf c.tar a b; cat a b > d; \
                  dd if=d of=e bs=1M oflag=append conv=notrunc status=none";
    let (scratch, _, info) = traced(&["sh", "-c", script]);
    let size = |name: &str| fs::metadata(scratch.data().join(name)).unwrap().len();
    let files = files(&scratch, &info);
    let of = |name: &str| files.get(&("posix".to_owned(), name.to_owned())).copied().unwrap();
    // cp, tar and cat read a.
    assert_eq!(of("a"), (3 * size("a"), size("a")));
    assert_eq!(of("b"), (2 * size("b"), size("b")));
    assert_eq!(of("c.tar"), (0, size("c.tar")));
    assert_eq!(of("d"), (size("d"), size("d")));
    assert_eq!(of("e"), (0, size("e")));
    assert_eq!(size("a"), 40 << 16);
}

#[test]
fn python_with_workers() {
    let script = "
import multiprocessing, os
def work(i):
    with open(f'w{i}', 'wb') as f:
        for _ in range(20): f.write(b'x' * 100_000)
    with open(f'w{i}', 'rb') as f:
        while f.read(1 << 16): pass
if __name__ == '__main__':
    pool = multiprocessing.get_context('fork').Pool(3)
    pool.map(work, range(6), 1)
    pool.close(); pool.join()
    os.posix_spawnp('sh', ['sh', '-c', 'dd if=w0 of=x bs=1M status=none'], os.environ)
    os.wait()
    print('done')
";
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("no python3");
    }
    let (scratch, outcome, info) = traced(&["python3", "-c", script]);
    assert_eq!(outcome.stdout, "done\n");
    let files = files(&scratch, &info);
    let mut expected: Files =
        (1..6).map(|i| (("posix".into(), format!("w{i}")), (2_000_000, 2_000_000))).collect();
    expected.insert(("posix".into(), "w0".into()), (4_000_000, 2_000_000));
    expected.insert(("posix".into(), "x".into()), (0, 2_000_000));
    assert_eq!(files, expected);
}

#[test]
fn sqlite() {
    if Command::new("sqlite3").arg("--version").output().is_err() {
        return skip("no sqlite3");
    }
    let statements = "create table t (a, b); with recursive n(i) as (select 1 union all select i + 1 from n \
                      where i < 20000) insert into t select i, hex(randomblob(50)) from n; \
                      select count(*) from t;";
    let (scratch, outcome, info) = traced(&["sqlite3", "test.db", statements]);
    assert_eq!(outcome.stdout, "20000\n");
    let size = fs::metadata(scratch.data().join("test.db")).unwrap().len();
    let (_, written) = files(&scratch, &info)[&("posix".to_owned(), "test.db".to_owned())];
    assert!(written >= size, "{written} of {size} bytes");
}

/// `times` has the moments before and after each phase. Where in between a busy machine lets the phase begin
/// is open: the mean distance is known between two bounds, to which 1 % is added.
fn is_the_period(told: f64, times: &str, what: &str) {
    let times: Vec<f64> = times.split_whitespace().map(|time| time.parse().unwrap()).collect();
    let [first_begin, first_end, .., last_begin, last_end] = times[..] else { panic!("{what}: {times:?}") };
    let distances = (times.len() / 2 - 1) as f64;
    let (least, most) = ((last_begin - first_end) / distances, (last_end - first_begin) / distances);
    assert!(
        (0.99 * least..=1.01 * most).contains(&told),
        "{what}: {told} s, but the loop says {least} to {most} s"
    );
}

#[test]
fn the_period_of_a_shell_loop() {
    let script = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do date +%s.%N >> times; \
                  dd if=/dev/zero of=f bs=1M count=4 conv=fsync status=none; date +%s.%N >> times; \
                  sleep 0.5; done";
    let (scratch, _, _) = traced(&["sh", "-c", script]);
    let times = fs::read_to_string(scratch.data().join("times")).unwrap();
    let found = run_ftio(&["--json", "--mode", "write"], &scratch.trace());
    assert!(found.success(), "{found:?}");
    let found = found.json();
    let told = found["period"].as_f64().unwrap_or_else(|| panic!("no period: {found:#}"));
    is_the_period(told, &times, "dd");
}

/// A checkpoint by Python's own files, and a commit of its sqlite3, by the clock.
#[test]
fn the_period_of_loops_in_python() {
    if Command::new("python3").args(["-c", "import sqlite3"]).output().is_err() {
        return skip("no python3");
    }
    let loops = "
import sqlite3, time
base = sqlite3.connect('test.db')
base.execute('create table t (a, b)')
def checkpoint():
    with open('checkpoint', 'wb') as f:
        for _ in range(16): f.write(bytes(1 << 17))
def commit():
    base.executemany('insert into t values (?, ?)', [(i, 'x' * 200) for i in range(2000)])
    base.commit()
began = time.monotonic()
for phase in range(14):
    while time.monotonic() < began + phase * 0.25: time.sleep(0.001)
    print(time.monotonic(), flush=True)
";
    for body in ["checkpoint()", "commit()"] {
        let script = format!("{loops}    {body}\n    print(time.monotonic(), flush=True)\n");
        let (scratch, outcome, _) = traced(&["python3", "-c", &script]);
        let found = run_ftio(&["--json", "--mode", "write"], &scratch.trace()).json();
        let told = found["period"].as_f64().unwrap_or_else(|| panic!("{body}: no period: {found:#}"));
        is_the_period(told, &outcome.stdout, body);
    }
}

/// `ftio run` traces a program without MPI, too, predicts while it runs, and says what it found.
#[test]
fn ftio_run() {
    let scratch = Scratch::new();
    let script = "i=0; while [ $i -lt 8 ]; do dd if=/dev/zero of=f bs=1M count=2 status=none; sleep 0.4; \
                  i=$((i+1)); done";
    let mut command = Command::new(ftio());
    command.args(["run", "--json", "-o"]).arg(scratch.trace()).arg("--library").arg(libtmio());
    command.args(["--", "sh", "-c", script]).current_dir(scratch.data()).env("TMIO_SPOOL", scratch.spool());
    let outcome = run_limited(command, Duration::from_secs(120));
    assert!(outcome.success(), "{outcome:?}");
    let told: Vec<Value> =
        outcome.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let (last, before) = told.split_last().expect("a result");
    assert!(before.iter().all(|line| line["schema"] == "ftio.prediction/1"), "{outcome:?}");
    assert!(!before.is_empty(), "nothing was predicted: {outcome:?}");
    assert_eq!((&last["schema"], &last["layer"]), (&"ftio.detection/1".into(), &"posix".into()), "{last}");
    assert!(last["period"].as_f64().is_some_and(|period| (0.35..0.9).contains(&period)), "{last}");
    assert_eq!(scratch.leftovers(), [""; 0]);
}

#[test]
fn what_a_killed_process_did_is_kept() {
    let script = "dd if=/dev/zero of=a bs=1M count=3 status=none; exec python3 -c \"
import os, signal
f = os.open('b', os.O_CREAT | os.O_WRONLY)
for i in range(7): os.write(f, b'x' * 1000000)
os.kill(os.getpid(), signal.SIGKILL)\"";
    let scratch = Scratch::new();
    let outcome = trace(&scratch, &["sh", "-c", script]);
    assert!(!outcome.success(), "{outcome:?}");
    let info = info(&scratch.trace());
    assert_eq!(info["complete"], false);
    let files = files(&scratch, &info);
    let of = |name: &str| files[&("posix".to_owned(), name.to_owned())];
    assert_eq!((of("a"), of("b")), ((0, 3 << 20), (0, 7_000_000)));
    assert_eq!(scratch.leftovers(), [""; 0]);
}

#[test]
fn short_processes_leave_nothing_and_programs_are_as_without_us() {
    let script = "i=0; while [ $i -lt 50 ]; do echo $i > f$i; cat f$i > /dev/null; i=$((i+1)); done; \
                  echo out; echo err >&2; exit 5";
    let scratch = Scratch::new();
    let outcome = trace(&scratch, &["sh", "-c", script]);
    assert_eq!(
        (outcome.code, &*outcome.stdout, &*outcome.stderr),
        (Some(5), "out\n", "err\n"),
        "{outcome:?}"
    );
    assert_eq!(names(&scratch.data()).len(), 50);
    // The shell itself is what was asked for; of its commands, none did enough.
    let info = info(&scratch.trace());
    assert_eq!(info["ranks"], 1, "{info:#}");
    assert_eq!(scratch.leftovers(), [""; 0]);
}
