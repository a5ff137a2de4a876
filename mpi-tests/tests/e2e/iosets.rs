//! `TMIO_IOSETS`: jobs ask an arbiter for their turn, take turns, and go on whatever becomes of it.

use crate::harness::{Job, Mpi, Outcome, ftio, installed_mpis};
use crate::traced::{Scratch, info, traced};
use serde_json::Value;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use turns::{Hello, Kind, Message, Stream};

/// A running `ftio arbiter`, ended when dropped.
struct Arbiter {
    process: Child,
    phases: PathBuf,
}

fn socket(scratch: &Scratch) -> PathBuf {
    // The path of a socket is short.
    scratch.spool().join("arbiter")
}

impl Arbiter {
    fn start(scratch: &Scratch, listen: &str, arguments: &[&str]) -> Self {
        let phases = scratch.path().join("phases");
        let mut process = Command::new(ftio())
            .args(["arbiter", "--json", "--listen", listen])
            .args(arguments)
            .stdout(File::create(&phases).unwrap())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stderr.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.starts_with("listening at "), "{line}");
        Arbiter { process, phases }
    }

    fn on_socket(scratch: &Scratch, arguments: &[&str]) -> Self {
        Self::start(scratch, &format!("unix:{}", socket(scratch).display()), arguments)
    }

    fn signal(&self, name: &str) {
        signal(name, self.process.id());
    }

    /// The phases that it saw, after its end.
    fn phases(mut self) -> Vec<Value> {
        self.signal("-TERM");
        assert!(self.process.wait().unwrap().success());
        let text = std::fs::read_to_string(&self.phases).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

impl Drop for Arbiter {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn signal(name: &str, process: u32) {
    assert!(Command::new("kill").args([name, &process.to_string()]).status().unwrap().success());
}

fn report(address: &str) -> Value {
    let output = Command::new(ftio()).args(["top", "--json", "--arbiter", address]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Looks until it is so, or fails after a while.
fn until(what: &str, mut done: impl FnMut() -> bool) {
    let began = Instant::now();
    while !done() {
        assert!(began.elapsed() < Duration::from_secs(60), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// `takes_turns` under the tracer. `arguments`: mode, phases, writes, bytes, milliseconds of computing and of
/// thinking between writes.
fn job(mpi: &Mpi, scratch: &Scratch, name: &str, arguments: &str) -> Job {
    let job = mpi.job(2, mpi.program("takes_turns")).args([scratch.data()]).args([name]);
    let job = job.args(arguments.split(' '));
    let address = format!("unix:{},grace=50", socket(scratch).display());
    traced(job, scratch).env("IOSETS_JOB_ID", name).env("TMIO_IOSETS", address).alone()
}

/// Runs a second job beside the first.
fn beside(job: &Job) -> thread::JoinHandle<std::process::Output> {
    let mut command = job.command();
    command.stdin(Stdio::null());
    thread::spawn(move || command.output().unwrap())
}

fn is_right(what: &str, outcome: &Outcome) {
    assert!(outcome.success() && outcome.stdout.ends_with("right\n"), "{what}: {outcome:?}");
}

/// Another job, which holds the only lease for as long as it is wanted.
struct Holder {
    stream: UnixStream,
    stop: std::sync::Arc<AtomicBool>,
    beats: Option<thread::JoinHandle<()>>,
}

impl Holder {
    fn take(socket: &Path) -> Self {
        let mut stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let hello = Hello { job: "holder".into(), ..Hello::default() };
        stream.write_all(&Message::new(Kind::Hello).with(1, 1000).encode_with(&hello.encode())).unwrap();
        stream.write_all(&Message::new(Kind::Ask).seq(1).encode()).unwrap();
        let (mut said, mut bytes) = (Stream::new(4096), [0; 4096]);
        loop {
            let length = stream.read(&mut bytes).unwrap();
            assert!(length > 0, "the arbiter hung up");
            said.push(&bytes[..length]);
            let mut granted = false;
            while let Ok(Some((message, _))) = said.take() {
                granted |= message.kind == Kind::Grant;
            }
            if granted {
                break;
            }
        }
        let stop = std::sync::Arc::new(AtomicBool::new(false));
        let (mut writer, ends) = (stream.try_clone().unwrap(), stop.clone());
        let beats = thread::spawn(move || {
            while !ends.load(Relaxed) {
                let beat = Message::new(Kind::Beat).with(1 << 20, 1).encode();
                if writer.write_all(&beat).is_err_and(|error| error.kind() != ErrorKind::WouldBlock) {
                    return;
                }
                thread::sleep(Duration::from_millis(100));
            }
        });
        Holder { stream, stop, beats: Some(beats) }
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        let _ = self.stream.shutdown(std::net::Shutdown::Both);
        if let Some(beats) = self.beats.take() {
            let _ = beats.join();
        }
    }
}

#[test]
fn two_jobs_take_turns_and_lose_nothing() {
    for mpi in installed_mpis() {
        for mode in ["own", "mixed"] {
            let (a, b) = (Scratch::new(), Scratch::new());
            let arbiter = Arbiter::on_socket(&a, &["--leases", "1"]);
            let arguments = format!("{mode} 3 20 65536 500 5");
            let address = format!("unix:{},grace=50", socket(&a).display());
            let second = beside(&job(&mpi, &b, "second", &arguments).env("TMIO_IOSETS", address));
            let outcome = job(&mpi, &a, "first", &arguments).run();
            let other = second.join().unwrap();
            let what = format!("{}, {mode}", mpi.name);
            is_right(&what, &outcome);
            assert!(outcome.stderr.is_empty(), "{what}: {outcome:?}");
            assert!(other.status.success() && other.stdout.ends_with(b"right\n"), "{what}: {other:?}");
            // What was recorded is what was done, and nothing else.
            let class = &info(&a.trace())["read_sync"];
            assert_eq!((&class["ops"], &class["bytes"]), (&120.into(), &(120 * 65536).into()), "{what}");
            assert!(a.leftovers().iter().all(|name| name == "arbiter"), "{what}: {:?}", a.leftovers());
            let phases = arbiter.phases();
            let of = |name: &str| phases.iter().filter(|phase| phase["job"] == name).collect::<Vec<_>>();
            // Each phase asked, and was seen with all its bytes.
            for name in ["first", "second"] {
                assert!(of(name).len() >= 3, "{what}: {phases:?}");
                let bytes: u64 = of(name).iter().map(|phase| phase["bytes"].as_u64().unwrap()).sum();
                assert!(bytes >= 120 * 65536, "{what}: {phases:?}");
            }
            let held: f64 = phases.iter().map(|phase| phase["held"].as_f64().unwrap()).sum();
            let ends = phases.iter().map(|phase| phase["ended"].as_f64().unwrap());
            let starts = phases.iter().map(|phase| phase["asked"].as_f64().unwrap());
            let span = ends.fold(0.0, f64::max) - starts.fold(f64::INFINITY, f64::min);
            assert!(held <= span + 0.05, "{what}: two held at a time: {held} of {span} s");
        }
    }
}

#[test]
fn collective_nonblocking_and_split_operations_never_lock_up() {
    for mpi in installed_mpis() {
        for mode in ["all", "nonblocking", "split"] {
            let scratch = Scratch::new();
            let _arbiter = Arbiter::on_socket(&scratch, &["--leases", "1"]);
            // Somebody else interrupts again and again, between the ranks of a call.
            let (socket, stop) = (socket(&scratch), std::sync::Arc::new(AtomicBool::new(false)));
            let ends = stop.clone();
            let others = thread::spawn(move || {
                while !ends.load(Relaxed) {
                    drop(Holder::take(&socket));
                    thread::sleep(Duration::from_millis(30));
                }
            });
            let outcome = job(&mpi, &scratch, "job", &format!("{mode} 3 30 16384 50 2")).run();
            stop.store(true, Relaxed);
            others.join().unwrap();
            is_right(&format!("{}, {mode}", mpi.name), &outcome);
        }
    }
}

#[test]
fn an_arbiter_that_is_killed_stopped_or_absent_holds_nobody_up() {
    for mpi in installed_mpis() {
        for what in ["-KILL", "-STOP", "absent"] {
            let scratch = Scratch::new();
            // The holder is of a much heavier set: the job would wait for minutes.
            let priorities = scratch.path().join("priorities");
            std::fs::create_dir_all(priorities.join("holder")).unwrap();
            std::fs::write(priorities.join("holder/priority"), "1000000000\n").unwrap();
            let arguments = ["--leases", "1", "--priorities", priorities.to_str().unwrap()];
            let arbiter = (what != "absent").then(|| Arbiter::on_socket(&scratch, &arguments));
            let holder = arbiter.as_ref().map(|_| Holder::take(&socket(&scratch)));
            let address = format!("unix:{}", socket(&scratch).display());
            if holder.is_some() {
                until("the priority is known", || report(&address)["jobs"][0]["priority"] == 100.0);
            }
            let outcome = job(&mpi, &scratch, "job", "own 2 5 4096 200").run_with(|_| {
                if let Some(arbiter) = &arbiter {
                    until("the job waits", || report(&address)["waiting"] == 1);
                    arbiter.signal(what);
                }
            });
            is_right(&format!("{}, {what}", mpi.name), &outcome);
            if what == "absent" {
                assert!(outcome.stderr.contains("no arbiter at unix:"), "{}: {outcome:?}", mpi.name);
            } else {
                assert!(outcome.stderr.contains("without an answer"), "{}, {what}: {outcome:?}", mpi.name);
            }
            if what == "-STOP" {
                arbiter.as_ref().unwrap().signal("-CONT");
            }
            drop(holder);
        }
    }
}

#[test]
fn after_a_restart_the_arbiter_knows_the_job_again() {
    for mpi in installed_mpis() {
        let scratch = Scratch::new();
        let address = format!("unix:{}", socket(&scratch).display());
        let first = Arbiter::on_socket(&scratch, &[]);
        let outcome = job(&mpi, &scratch, "4711", "own 12 2 4096 400").run_with(|_| {
            let knows = || report(&address)["jobs"][0]["phases"].as_u64().unwrap_or(0) >= 1;
            until("the first one sees phases", knows);
            drop(first);
            let second = Arbiter::on_socket(&scratch, &[]);
            until("the second one sees phases", knows);
            assert_eq!(report(&address)["jobs"][0]["job"], "4711");
            drop(second);
        });
        is_right(mpi.name, &outcome);
    }
}

#[test]
fn a_job_that_is_killed_gives_its_turn_back() {
    for mpi in installed_mpis() {
        let (a, b) = (Scratch::new(), Scratch::new());
        let arbiter = Arbiter::on_socket(&a, &["--leases", "1"]);
        let address = format!("unix:{}", socket(&a).display());
        // It writes for a minute, thinking less than it may.
        let mut held = job(&mpi, &a, "held", "own 1 3000 1024 10 20").command();
        let mut held = held.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        until("it holds", || report(&address)["holding"] == 1);
        signal("-KILL", held.id());
        let _ = held.wait();
        // The launcher is gone: its ranks follow, or are ended here.
        for rank in ranks_of(&a) {
            let _ = Command::new("kill").args(["-KILL", &rank.to_string()]).status();
        }
        until("its turn is free", || report(&address)["holding"] == 0);
        let with = format!("{address},grace=50");
        let outcome = job(&mpi, &b, "next", "own 1 5 4096 10").env("TMIO_IOSETS", with).run();
        is_right(mpi.name, &outcome);
        assert!(arbiter.phases().iter().any(|phase| phase["job"] == "next"), "{}", mpi.name);
    }
}

/// The processes that write into a directory of this test.
fn ranks_of(scratch: &Scratch) -> Vec<u32> {
    let data = scratch.data();
    let is_ours = |process: &u32| {
        let line = std::fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
        words.first().is_some_and(|name| name.ends_with(b"/takes_turns"))
            && words.iter().any(|word| *word == data.as_os_str().as_encoded_bytes())
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.filter(is_ours).collect()
}

#[test]
fn through_a_directory_and_over_tcp_with_a_secret() {
    for mpi in installed_mpis().into_iter().take(1) {
        let scratch = Scratch::new();
        let directory = scratch.path().join("turns");
        let address = format!("dir:{}", directory.display());
        let arbiter = Arbiter::start(&scratch, &address, &["--leases", "1"]);
        let outcome = job(&mpi, &scratch, "4711", "own 3 5 4096 300").env("TMIO_IOSETS", &address).run();
        is_right("directory", &outcome);
        assert!(outcome.stderr.is_empty(), "{outcome:?}");
        assert!(arbiter.phases().iter().any(|phase| phase["job"] == "4711"));

        let secret = scratch.path().join("secret");
        std::fs::write(&secret, "open sesame\n").unwrap();
        let wrong = scratch.path().join("wrong");
        std::fs::write(&wrong, "open barley\n").unwrap();
        std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("tcp:127.0.0.1:{port}");
        let arbiter = Arbiter::start(&scratch, &address, &["--secret", secret.to_str().unwrap()]);
        for (file, right) in [(&secret, true), (&wrong, false)] {
            let with = format!("{address},secret={}", file.display());
            let outcome = job(&mpi, &scratch, "4711", "own 3 5 4096 300").env("TMIO_IOSETS", with).run();
            is_right("tcp", &outcome);
            assert_eq!(outcome.stderr.is_empty(), right, "{outcome:?}");
            assert!(right || outcome.stderr.contains("the secret is not right"), "{outcome:?}");
        }
        assert!(arbiter.phases().iter().all(|phase| phase["job"] == "4711"));
    }
}

/// `asks_oddly` under the tracer.
fn odd_job(mpi: &Mpi, scratch: &Scratch, mode: &str) -> Job {
    let job = mpi.job(2, mpi.program("asks_oddly")).args([scratch.data()]).args([mode]);
    let address = format!("unix:{},grace=10", socket(scratch).display());
    traced(job, scratch).env("IOSETS_JOB_ID", mode).env("TMIO_IOSETS", address).alone()
}

/// Takes the only lease away again and again, until it is dropped.
struct Rival {
    stop: std::sync::Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Rival {
    fn start(socket: PathBuf) -> Self {
        let stop = std::sync::Arc::new(AtomicBool::new(false));
        let ends = stop.clone();
        let thread = thread::spawn(move || {
            while !ends.load(Relaxed) {
                drop(Holder::take(&socket));
                thread::sleep(Duration::from_millis(20));
            }
        });
        Rival { stop, thread: Some(thread) }
    }
}

impl Drop for Rival {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn calls_in_any_order_threads_and_forks_take_turns_and_end() {
    for mpi in installed_mpis() {
        for mode in ["order", "threads", "fork"] {
            let scratch = Scratch::new();
            let arbiter = Arbiter::on_socket(&scratch, &["--leases", "1"]);
            let rival = Rival::start(socket(&scratch));
            let outcome = odd_job(&mpi, &scratch, mode).run();
            drop(rival);
            let what = format!("{}, {mode}", mpi.name);
            is_right(&what, &outcome);
            assert!(outcome.stderr.is_empty(), "{what}: {outcome:?}");
            let phases = arbiter.phases();
            assert!(phases.iter().any(|phase| phase["job"] == mode), "{what}: {phases:?}");
        }
    }
}

#[test]
fn a_job_that_aborts_or_loses_a_rank_gives_its_turn_back() {
    for mpi in installed_mpis() {
        for mode in ["abort", "leave"] {
            let scratch = Scratch::new();
            let _arbiter = Arbiter::on_socket(&scratch, &["--leases", "1"]);
            let outcome = odd_job(&mpi, &scratch, mode).run();
            let what = format!("{}, {mode}", mpi.name);
            assert!(!outcome.success(), "{what}: {outcome:?}");
            let address = format!("unix:{}", socket(&scratch).display());
            until(&format!("{what}: its turn is free"), || report(&address)["holding"] == 0);
            drop(Holder::take(&socket(&scratch)));
        }
    }
}

#[test]
fn what_answers_and_is_no_arbiter_of_this_version_holds_nobody_up() {
    let mpi = installed_mpis().into_iter().next().expect("an MPI");
    // Another version of the protocol; something else altogether; somebody who says nothing.
    let mut version = Message::new(Kind::Welcome).encode().to_vec();
    version[2] = 2;
    let answers = [version, b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".to_vec(), Vec::new()];
    for answer in answers {
        let scratch = Scratch::new();
        let listener = std::os::unix::net::UnixListener::bind(socket(&scratch)).unwrap();
        let says = answer.clone();
        // Ends with the test: nobody connects any more.
        thread::spawn(move || {
            let mut open = Vec::new();
            while let Ok((mut stream, _)) = listener.accept() {
                let _ = stream.write_all(&says);
                open.push(stream);
            }
        });
        let outcome = job(&mpi, &scratch, "job", "own 3 5 4096 400").run();
        is_right("another version", &outcome);
        let why = if answer.is_empty() { "no arbiter at" } else { "another protocol" };
        assert!(outcome.stderr.contains(why), "{outcome:?}");
    }
}
