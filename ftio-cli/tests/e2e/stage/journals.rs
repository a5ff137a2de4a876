//! Journals that somebody else has written, and those of version 0.2.

use super::{ended_job, folders, names, relieve};
use crate::support::{ftio, skipped, stderr, stdout};
use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The first line of a journal.
pub fn header(version: u32, dir: &Path) -> String {
    let dir = dir.canonicalize().unwrap();
    let (from, to) = (dir.join("bb"), dir.join("storage"));
    format!(
        "{{\"journal\":{{\"format\":\"ftio.stage-journal/{version}\",\"from\":{from:?},\"to\":{to:?}}}}}\n"
    )
}

/// The line of a draft that was begun.
pub fn draft_line(version: u32, path: &str) -> String {
    match version {
        1 => format!("{{\"draft\":{path:?}}}\n"),
        _ => format!("{{\"draft\":{{\"direction\":\"out\",\"path\":{path:?}}}}}\n"),
    }
}

/// Where the journal is by default.
pub fn journal(dir: &TempDir) -> PathBuf {
    let find = || {
        let names = fs::read_dir(dir.path().join("storage")).unwrap().flatten().map(|entry| entry.path());
        names.into_iter().find(|path| path.extension().is_some_and(|end| end == "journal"))
    };
    find().unwrap_or_else(|| {
        assert_eq!(stage(dir).0, Some(0));
        find().expect("a journal is made")
    })
}

pub fn stage(dir: &TempDir) -> (Option<i32>, String, String) {
    let args = [&["stage", "run", "--from", "bb", "--to", "storage"][..], &relieve()].concat();
    let output = ftio(dir.path(), &args);
    (output.status.code(), stdout(&output), stderr(&output))
}

/// A journal that others can have written is refused by name, with what to do.
#[test]
fn a_journal_of_somebody_else_is_refused() {
    let dir = folders();
    ended_job(dir.path());
    let path = journal(&dir);
    let checkpoint = dir.path().join("bb/checkpoint");
    fs::write(&checkpoint, "the only one").unwrap();
    let refused = |what: &str| {
        let (code, said, errors) = stage(&dir);
        assert_eq!(code, Some(1), "{what}: {said}{errors}");
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(errors.contains(name) && errors.contains("--journal"), "{what}: {errors}");
        assert!(checkpoint.exists(), "{what}");
    };
    for mode in [0o660, 0o606] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        refused("others may write to it");
    }
    fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    let other = dir.path().join("other");
    fs::rename(&path, &other).unwrap();
    symlink(&other, &path).unwrap();
    refused("a link");
    fs::remove_file(&path).unwrap();
    fs::hard_link(&other, &path).unwrap();
    refused("a second name");
    fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    refused("a pipe, which is not waited for");
    fs::remove_file(&path).unwrap();
    if !rustix::process::geteuid().is_root() {
        return skipped("a file of another user needs the administrator");
    }
    fs::copy(&other, &path).unwrap();
    chown(&path, Some(54_350), None).unwrap();
    refused("of another user");
}

/// Version 0.2 did not note the time of change: its copies are made anew, and it could go on with its
/// journal.
#[test]
fn a_journal_of_0_2_is_put_aside_and_its_copies_are_not_believed() {
    let dir = folders();
    ended_job(dir.path());
    let path = journal(&dir);
    fs::write(dir.path().join("bb/a"), "new").unwrap();
    fs::write(dir.path().join("storage/.ftio-stage.h.1.7"), "half").unwrap();
    let storage = dir.path().canonicalize().unwrap().join("storage");
    let draft = draft_line(1, storage.join(".ftio-stage.h.1.7").to_str().unwrap());
    let old = header(1, dir.path()) + &draft;
    fs::write(&path, &old).unwrap();
    let (code, said, errors) = stage(&dir);
    assert_eq!(code, Some(0), "{said}{errors}");
    assert!(errors.contains("version 0.2") && errors.contains(".journal.0.2"), "{errors}");
    let kept = PathBuf::from(format!("{}.0.2", path.display()));
    assert_eq!(fs::read_to_string(&kept).unwrap(), old);
    let left: Vec<String> = names(&storage).into_iter().filter(|name| !name.ends_with(".0.2")).collect();
    assert_eq!(left, ["a"], "its draft is gone");
    let (code, _, errors) = stage(&dir);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "it is told once");
}
