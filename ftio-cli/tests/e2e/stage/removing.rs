//! What leaves the buffer, and what must not: whoever writes, renames or maps a file while it is removed.

use super::{Staging, content, ended_job, folders, names, relieve, until_file};
use crate::support::{ftio, skipped, stderr, stdout};
use serde_json::Value;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::Duration;
use tempfile::TempDir;

/// The bytes of a file, wherever they are.
fn is_somewhere(dir: &TempDir, name: &str, bytes: &[u8]) -> bool {
    ["bb", "storage"]
        .iter()
        .any(|place| fs::read(dir.path().join(place).join(name)).is_ok_and(|b| b == bytes))
}

/// Stage what is there, and make all the room that can be made.
fn stage_out(dir: &TempDir) -> (Option<i32>, Vec<Value>) {
    let args = [&["stage", "run", "--from", "bb", "--to", "storage", "--json"][..], &relieve()].concat();
    let output = ftio(dir.path(), &args);
    let lines = stdout(&output).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    (output.status.code(), lines)
}

/// Stage, removing nothing.
fn copy_out(dir: &TempDir) {
    let output = ftio(dir.path(), &["stage", "run", "--from", "bb", "--to", "storage"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
}

fn of(seen: &[Value], event: &str) -> usize {
    seen.iter().filter(|line| line["event"] == event).count()
}

#[test]
fn what_was_copied_is_removed() {
    let dir = folders();
    ended_job(dir.path());
    std::os::unix::fs::symlink("f1", dir.path().join("bb/link")).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    for i in 0..5 {
        fs::write(dir.path().join(format!("bb/f{i}")), content(i, 10_000)).unwrap();
    }
    let (code, seen) = stage_out(&dir);
    assert_eq!((code, of(&seen, "evicted")), (Some(0), 6), "{seen:#?}");
    assert_eq!(names(&dir.path().join("bb")), [""; 0], "and nothing of ours is left");
    for i in 0..5 {
        assert!(fs::read(dir.path().join(format!("storage/f{i}"))).unwrap() == content(i, 10_000));
    }
    assert_eq!(seen.last().unwrap()["report"]["files_evicted"], 6);
}

/// A program writes `ckpt.tmp`, and renames it to `latest` while the older version is removed. With every
/// `fsync` made slow, that is certain to fall between the last look at the older one and its removal.
#[test]
fn a_new_version_that_takes_the_name_is_not_removed() {
    let able = Command::new("strace").args(["-qq", "true"]).output();
    if !able.is_ok_and(|output| output.status.success()) {
        return skipped("strace is not installed, or may not trace");
    }
    for moment in [50, 300, 700, 1100, 1600] {
        let dir = folders();
        ended_job(dir.path());
        let latest = dir.path().join("bb/latest");
        fs::write(&latest, "checkpoint 1").unwrap();
        copy_out(&dir);
        let new = dir.path().join("new");
        fs::write(&new, "checkpoint 2, which was never copied").unwrap();
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync", "-e"]);
        command.args(["inject=fsync:delay_enter=250000", env!("CARGO_BIN_EXE_ftio")]);
        let mut staging = Staging::start_as(command, dir.path(), &relieve());
        staging.until("evict");
        std::thread::sleep(Duration::from_millis(moment));
        fs::rename(&new, &latest).unwrap();
        let (code, seen, said) = staging.end();
        let kept = is_somewhere(&dir, "latest", b"checkpoint 2, which was never copied");
        assert!(kept && code.is_some(), "renamed after {moment} ms: {said}{seen:#?}");
    }
}

/// A process that does what it is told with a file.
struct Helper {
    child: Child,
    stdin: ChildStdin,
    answers: BufReader<std::process::ChildStdout>,
}

impl Helper {
    fn start(script: &str, path: &Path) -> Self {
        let mut child = Command::new("python3")
            .args(["-c", script])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut helper = Helper { child, stdin, answers: BufReader::new(stdout) };
        helper.answer();
        helper
    }

    fn answer(&mut self) {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        assert!(!line.is_empty(), "the helper has ended");
    }

    fn go_on(&mut self) {
        self.stdin.write_all(b"\n").unwrap();
        self.answer();
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Maps a file, closes it, and writes through the mapping when told to; at last it lets it go.
const MAPS: &str = "import mmap, os, sys
fd = os.open(sys.argv[1], os.O_RDWR); m = mmap.mmap(fd, 0); os.close(fd)
m[:4] = b'AAAA'; print('mapped', flush=True)
sys.stdin.readline(); m[:11] = b'IMPORTANT!!'; print('written', flush=True)
sys.stdin.readline(); m.close(); print('closed', flush=True); sys.stdin.readline()";

/// What is written through a mapping changes no time on tmpfs, and on others only the first time.
#[test]
fn a_file_that_is_written_through_a_mapping_is_not_removed() {
    for tmpfs in [true, false] {
        let dir = folders();
        let place = if tmpfs { tempfile::tempdir_in("/dev/shm") } else { tempfile::tempdir() }.unwrap();
        fs::remove_dir(dir.path().join("bb")).unwrap();
        std::os::unix::fs::symlink(place.path(), dir.path().join("bb")).unwrap();
        ended_job(dir.path());
        let state = dir.path().join("bb/state");
        fs::write(&state, vec![0u8; 200_000]).unwrap();
        let mut program = Helper::start(MAPS, &state);
        copy_out(&dir);
        program.go_on();
        copy_out(&dir);
        let copy = fs::read(dir.path().join("storage/state")).unwrap();
        assert!(copy.starts_with(b"IMPORTANT!!"), "tmpfs {tmpfs}: the copy is out of date");
        let (_, seen) = stage_out(&dir);
        let bytes = fs::read(&state).expect("a file that is mapped stays");
        assert!(bytes.starts_with(b"IMPORTANT!!"), "tmpfs {tmpfs}: {seen:#?}");
        // When nobody has it any more, it is copied as it is, and goes.
        program.go_on();
        let (code, seen) = stage_out(&dir);
        assert_eq!((code, state.exists()), (Some(0), false), "tmpfs {tmpfs}: {seen:#?}");
        assert!(fs::read(dir.path().join("storage/state")).unwrap() == bytes, "tmpfs {tmpfs}");
    }
}

/// `cp -p`, `rsync -t`, `tar`: another content with the same size and time.
#[test]
fn a_version_with_its_old_time_is_another_version() {
    let dir = folders();
    ended_job(dir.path());
    let path = dir.path().join("bb/a");
    fs::write(&path, "aaaa").unwrap();
    let before = fs::metadata(&path).unwrap();
    copy_out(&dir);
    let file = File::options().write(true).open(&path).unwrap();
    file.write_all_at(b"bbbb", 0).unwrap();
    file.set_modified(before.modified().unwrap()).unwrap();
    drop(file);
    let after = fs::metadata(&path).unwrap();
    assert_eq!(
        (before.ino(), before.len(), before.mtime_nsec()),
        (after.ino(), after.len(), after.mtime_nsec())
    );
    let (code, seen) = stage_out(&dir);
    assert!(code == Some(0) && is_somewhere(&dir, "a", b"bbbb"), "{seen:#?}");
    assert_eq!(fs::read(dir.path().join("storage/a")).unwrap(), b"bbbb", "{seen:#?}");
}

/// An open file keeps its file, reading or writing; afterwards it goes.
#[test]
fn a_file_that_is_open_is_not_removed() {
    for flags in ["O_RDONLY", "O_RDWR", "O_PATH"] {
        let dir = folders();
        ended_job(dir.path());
        let path = dir.path().join("bb/a");
        fs::write(&path, "content").unwrap();
        copy_out(&dir);
        let script = format!(
            "import os, sys\nfd = os.open(sys.argv[1], os.{flags}); print(1, flush=True); sys.stdin.readline()"
        );
        let program = Helper::start(&script, &path);
        let (_, seen) = stage_out(&dir);
        assert!(path.exists() && of(&seen, "kept") > 0, "{flags}: {seen:#?}");
        drop(program);
        let (code, seen) = stage_out(&dir);
        assert_eq!((code, path.exists()), (Some(0), false), "{flags}: {seen:#?}");
    }
}

/// The copy was changed at the destination after it was verified.
#[test]
fn a_file_whose_copy_is_gone_or_another_is_copied_again() {
    let dir = folders();
    ended_job(dir.path());
    for name in ["gone", "other"] {
        fs::write(dir.path().join("bb").join(name), content(1, 5000)).unwrap();
    }
    copy_out(&dir);
    fs::remove_file(dir.path().join("storage/gone")).unwrap();
    let other = File::options().write(true).open(dir.path().join("storage/other")).unwrap();
    let time = other.metadata().unwrap().modified().unwrap();
    other.write_all_at(b"damage", 0).unwrap();
    other.set_modified(time).unwrap();
    let (code, seen) = stage_out(&dir);
    assert_eq!(code, Some(0), "{seen:#?}");
    for name in ["gone", "other"] {
        assert!(is_somewhere(&dir, name, &content(1, 5000)), "{name}: {seen:#?}");
    }
}

/// Two names of one file: one after the other leaves, and the copies are one file as well.
#[test]
fn names_of_one_file_leave_one_after_the_other() {
    let dir = folders();
    ended_job(dir.path());
    fs::write(dir.path().join("bb/a"), content(3, 50_000)).unwrap();
    fs::hard_link(dir.path().join("bb/a"), dir.path().join("bb/b")).unwrap();
    let (code, seen) = stage_out(&dir);
    assert_eq!((code, of(&seen, "evicted")), (Some(0), 2), "{seen:#?}");
    let inode = |name: &str| fs::metadata(dir.path().join("storage").join(name)).unwrap().ino();
    assert_eq!(inode("a"), inode("b"));
    assert_eq!(names(&dir.path().join("bb")), [""; 0]);
}

/// Killed while files have their private names: the next start gives their names back, and none is lost.
#[test]
fn killed_while_files_are_set_aside() {
    let dir = folders();
    ended_job(dir.path());
    let bb = dir.path().join("bb");
    for i in 0..10 {
        fs::write(bb.join(format!("f{i}")), content(i, 1000)).unwrap();
    }
    let mut staging = Staging::start(dir.path(), &relieve());
    until_file("a file is set aside", || names(&bb).iter().any(|name| name.ends_with(".aside")));
    until_file("all are", || !names(&bb).iter().any(|name| name.starts_with('f')));
    staging.child.kill().unwrap();
    staging.child.wait().unwrap();
    // Meanwhile the job writes one of them anew.
    fs::write(bb.join("f3"), "a newer version").unwrap();
    copy_out(&dir);
    let left = names(&bb);
    assert!(left.len() > 2 && left.iter().all(|name| name.starts_with('f')), "{left:?}: names are back");
    for i in (0..10).filter(|i| *i != 3) {
        assert!(is_somewhere(&dir, &format!("f{i}"), &content(i, 1000)), "f{i} is lost");
    }
    assert_eq!(fs::read(dir.path().join("storage/f3")).unwrap(), b"a newer version");
    let (code, seen) = stage_out(&dir);
    assert_eq!((code, names(&bb).len()), (Some(0), 0), "{seen:#?}");
}

/// Interrupted meanwhile, it puts them back itself.
#[test]
fn interrupted_while_files_are_set_aside() {
    let dir = folders();
    ended_job(dir.path());
    let bb = dir.path().join("bb");
    fs::write(bb.join("a"), "content").unwrap();
    let staging = Staging::start(dir.path(), &relieve());
    until_file("it is set aside", || !bb.join("a").exists());
    let pid = staging.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let (code, seen, said) = staging.end();
    assert_eq!((code, names(&bb)), (Some(0), vec!["a".to_owned()]), "{said}{seen:#?}");
}

#[test]
fn only_one_removes_from_a_buffer() {
    let dir = folders();
    ended_job(dir.path());
    fs::create_dir(dir.path().join("elsewhere")).unwrap();
    fs::write(dir.path().join("bb/large"), content(1, 1_000_000)).unwrap();
    let mut staging = Staging::start(dir.path(), &[&relieve()[..], &["--rate", "100k"]].concat());
    staging.until("copy");
    let args = [&["stage", "run", "--from", "bb", "--to", "elsewhere"][..], &relieve()].concat();
    let output = ftio(dir.path(), &args);
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert!(stderr(&output).contains("another ftio stage --evict"), "{}", stderr(&output));
}
