//! Journals with lines that would make a program run or end, or touch a file that is no draft.

use super::journals::{draft_line, header, journal, stage};
use super::{ANNA, BERT, Staging, ended_job, folders, is_root, open_folders, relieve, stage_as, until_file};
use crate::support::{skipped, stderr};
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};

/// A program that has nothing to do with staging, the first of its group of processes.
struct Bystander(Child);

impl Bystander {
    fn start(user: u32) -> Self {
        let mut command = Command::new("sleep");
        command.arg("600").process_group(0);
        if is_root() {
            command.uid(user).gid(user);
        }
        Bystander(command.spawn().unwrap())
    }

    /// A line that says that it copies.
    fn line(&self, pid: i64) -> String {
        let started: u64 = field_of(self.0.id(), 22).unwrap().parse().unwrap();
        line(&json!({"command": {"pid": pid, "started": started, "line": "touch PLANTED"}}))
    }

    fn pid(&self) -> i64 {
        i64::from(self.0.id())
    }

    fn is_alive(&mut self) -> bool {
        self.0.try_wait().unwrap().is_none()
    }
}

impl Drop for Bystander {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A field of `/proc/PID/stat`, counted from 1, after the name.
fn field_of(pid: u32, number: usize) -> Option<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text.rsplit_once(')')?.1.split_whitespace().nth(number - 3).map(str::to_owned)
}

fn line(value: &Value) -> String {
    format!("{value}\n")
}

fn stamp(path: &Path) -> Value {
    let found = fs::symlink_metadata(path).unwrap();
    let time = |seconds: i64, rest: i64| seconds * 1_000_000_000 + rest;
    json!({
        "device": found.dev(), "inode": found.ino(), "size": found.size(),
        "modified": time(found.mtime(), found.mtime_nsec()),
        "changed": time(found.ctime(), found.ctime_nsec()),
    })
}

fn copied(path: &str, source: &Path, target: &Path) -> String {
    let (source, target) = (stamp(source), stamp(target));
    line(&json!({"verified": {
        "direction": "out", "path": path, "source": source, "target": target, "sealed": true,
    }}))
}

/// Whoever wrote it: no line of a journal starts a program, and none ends one that does not copy.
#[test]
fn no_program_runs_or_ends_because_of_a_journal() {
    for version in [1, 2] {
        let dir = folders();
        ended_job(dir.path());
        let path = journal(&dir);
        let mut bystander = Bystander::start(rustix::process::geteuid().as_raw());
        let run = [
            json!({"command": "touch PLANTED"}),
            json!({"command": ["sh", "-c", "touch PLANTED"]}),
            json!({"run": "touch PLANTED"}),
            json!({"exec": {"line": "touch PLANTED {src} {dst}"}}),
        ];
        let run: String = run.iter().map(line).collect();
        let end = bystander.line(bystander.pid()) + &bystander.line(-bystander.pid()) + &bystander.line(0);
        fs::write(&path, header(version, dir.path()) + &run + &end).unwrap();
        fs::write(dir.path().join("bb/a"), "a").unwrap();
        let (code, said, errors) = stage(&dir);
        assert!(bystander.is_alive(), "{version}: {said}{errors}");
        for place in ["", "bb", "storage"] {
            assert!(!dir.path().join(place).join("PLANTED").exists(), "{version}: {said}{errors}");
        }
        assert_eq!(code, Some(0), "{version}: {said}{errors}");
        assert_eq!(fs::read_to_string(dir.path().join("storage/a")).unwrap(), "a");
        if version == 2 {
            let told = format!("process {}: ", bystander.pid());
            assert!(errors.contains(&told) && errors.contains("left alone"), "{errors}");
            assert!(errors.contains("4 lines cannot be read"), "{errors}");
        }
    }
}

/// To the kernel, the group of process 1 means every process that one may end.
#[test]
fn a_journal_cannot_end_all_processes_of_a_user() {
    if !is_root() {
        return skipped("a user whose processes may all be ended needs the administrator");
    }
    // Nobody else's processes are at stake.
    const CLARA: u32 = 54_352;
    let dir = open_folders();
    chown(dir.path().join("bb"), Some(CLARA), None).unwrap();
    assert_eq!(stage_as(CLARA, &dir, &relieve()).status.code(), Some(0));
    let path = journal(&dir);
    let mut bystander = Bystander::start(CLARA);
    let started: u64 = field_of(1, 22).unwrap().parse().unwrap();
    let all = line(&json!({"command": {"pid": 1, "started": started}}));
    fs::write(&path, header(2, dir.path()) + &all).unwrap();
    let output = stage_as(CLARA, &dir, &relieve());
    assert!(bystander.is_alive());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stderr(&output).contains("process 1: "), "{output:?}");
}

/// A copy that `ftio stage` has begun with a program, and could not end itself.
#[test]
fn a_program_that_was_left_is_ended() {
    let dir = folders();
    ended_job(dir.path());
    fs::write(dir.path().join("bb/a"), "a").unwrap();
    let pid = dir.path().join("pid");
    let slow = "echo $$ > draft && mv draft pid && sleep 600 && cp {src} {dst}";
    let mut staging = Staging::start(dir.path(), &["--command", slow]);
    until_file("the program starts", || pid.exists());
    let pid: u32 = fs::read_to_string(&pid).unwrap().trim().parse().unwrap();
    let noted = format!("{{\"command\":{{\"pid\":{pid},");
    until_file("it is noted", || fs::read_to_string(journal(&dir)).unwrap().contains(&noted));
    staging.child.kill().unwrap();
    staging.child.wait().unwrap();
    let is_alive = || field_of(pid, 3).is_some_and(|state| state != "Z");
    assert!(is_alive());
    let (code, said, errors) = stage(&dir);
    until_file("the program is ended", || !is_alive());
    assert_eq!(code, Some(0), "{said}{errors}");
    assert_eq!(fs::read_to_string(dir.path().join("storage/a")).unwrap(), "a");
}

/// Whatever a journal of one's own says, only drafts below the two folders are removed.
#[test]
fn files_that_a_journal_names_stay_if_they_are_no_drafts() {
    for version in [1, 2] {
        let dir = folders();
        ended_job(dir.path());
        let path = journal(&dir);
        let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
        for folder in ["elsewhere", "storage/.ftio-stage.h.1.9"] {
            fs::create_dir(at(folder)).unwrap();
        }
        symlink("../elsewhere", at("storage/link")).unwrap();
        let files = [
            "thesis.tex",
            "storage/out.dat",
            "elsewhere/.ftio-stage.h.1.2",
            "storage/.ftio-stage.h.1.9/kept",
            "storage/.ftio-stage.notes",
            "storage/.ftio-stage.h.1.3",
        ];
        for name in &files {
            fs::write(at(name), name).unwrap();
        }
        let mut paths: Vec<String> = ["thesis.tex", "storage/out.dat", "storage/link/.ftio-stage.h.1.2"]
            .map(|name| shown(&at(name)))
            .into();
        let below = ["../thesis.tex", "out.dat", ".ftio-stage.h.1.9/../out.dat", "link/.ftio-stage.h.1.2"];
        paths.extend(below.map(str::to_owned));
        paths.extend(["", "/", ".", "..", ".ftio-stage.h.1.9", ".ftio-stage.notes"].map(str::to_owned));
        let mut text = header(version, dir.path());
        for name in &paths {
            text += &draft_line(version, name);
            text += &line(&json!({"draft": {"direction": "in", "path": name}}));
            text += &line(&json!({"evicted": name}));
            text += &copied(name, &at("thesis.tex"), &at("storage/out.dat"));
        }
        // A draft that is said to have changed places with them.
        for name in [shown(&at("thesis.tex")), "../thesis.tex".into()] {
            let change = json!({
                "path": name, "draft": stamp(&at("thesis.tex")), "old": stamp(&at("storage/out.dat")),
            });
            for draft in [".ftio-stage.h.1.3", "out.dat"] {
                let draft = json!({"direction": "out", "path": draft});
                text += &line(&json!({"replaces": {"draft": draft, "change": change}}));
            }
        }
        fs::write(&path, text).unwrap();
        let (code, said, errors) = stage(&dir);
        for name in &files {
            let kept = fs::read_to_string(at(name)).ok();
            assert_eq!(kept.as_deref(), Some(*name), "{version}: {said}{errors}");
        }
        assert_eq!(code, Some(0), "{version}: {said}{errors}");
        if version == 2 {
            for name in ["thesis.tex: is not a draft", "out.dat: is not a draft", "link: is a link"] {
                assert!(errors.contains(name), "{name}: {errors}");
            }
            assert!(errors.contains(".ftio-stage.h.1.3: is not what was begun there, and stays"), "{errors}");
        }
    }
}

fn shown(path: &Path) -> String {
    path.to_str().unwrap().to_owned()
}

/// The destination is everybody's, and another user has put a journal there.
#[test]
fn what_another_user_has_planted_is_refused() {
    if !is_root() {
        return skipped("a file of another user needs the administrator");
    }
    for victim in [BERT, 0] {
        for (version, mode) in [(1, 0o666), (2, 0o666), (1, 0o644), (2, 0o644), (2, 0o600)] {
            refused_as_planted(victim, version, mode);
        }
    }
}

fn refused_as_planted(victim: u32, version: u32, mode: u32) {
    let dir = open_folders();
    let at = |name: &str| dir.path().canonicalize().unwrap().join(name);
    chown(at("bb"), Some(victim), Some(victim)).unwrap();
    assert_eq!(stage_as(victim, &dir, &relieve()).status.code(), Some(0));
    let path = journal(&dir);
    let mut bystander = Bystander::start(victim);
    let files = [
        ("thesis.tex", victim),
        ("bb/checkpoint", victim),
        ("storage/.ftio-stage.h.1.2", victim),
        ("storage/checkpoint", ANNA),
    ];
    for (name, owner) in files {
        fs::write(at(name), name).unwrap();
        chown(at(name), Some(owner), Some(owner)).unwrap();
    }
    let drafts =
        ["storage/.ftio-stage.h.1.2", "thesis.tex"].map(|name| draft_line(version, &shown(&at(name))));
    let text = header(version, dir.path())
        + &bystander.line(bystander.pid())
        + &drafts.concat()
        + &draft_line(version, ".ftio-stage.h.1.2")
        + &copied("checkpoint", &at("bb/checkpoint"), &at("storage/checkpoint"));
    // As if it had been made by her.
    fs::remove_file(&path).unwrap();
    fs::write(&path, &text).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    chown(&path, Some(ANNA), Some(ANNA)).unwrap();
    let output = stage_as(victim, &dir, &relieve());
    let (case, errors) = (format!("user {victim}, version {version}, {mode:o}"), stderr(&output));
    for (name, _) in files {
        let kept = fs::read_to_string(at(name)).ok();
        assert_eq!(kept.as_deref(), Some(name), "{case}: {errors}");
    }
    assert!(bystander.is_alive(), "{case}: {errors}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text, "{case}: it stays as it is");
    assert_eq!(output.status.code(), Some(1), "{case}: {errors}");
    let name = path.file_name().unwrap().to_str().unwrap();
    let told = [name, &format!("belongs to user {ANNA}, expected user {victim}"), "--journal"];
    assert!(told.iter().all(|part| errors.contains(part)), "{case}: {errors}");
}
