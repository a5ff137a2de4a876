//! Journals on a disk, whole, cut, and written by others.

use super::*;
use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::fs::{PermissionsExt, symlink};

const FROM: &str = "/bb";
const TO: &str = "/pfs";

fn copy(path: &str, size: u64) -> Verified {
    let stamp = Stamp { size, changed: 7, ..Stamp::default() };
    let (direction, path) = (Direction::Out, Path::new(path).into());
    Verified { direction, path, source: stamp, target: stamp, checksum: Some(u64::MAX), sealed: true }
}

fn draft(path: &str) -> DraftName {
    DraftName { direction: Direction::Out, path: Path::new(path).into() }
}

fn begun(path: &str) -> Begun {
    Begun { direction: Direction::Out, path: path.into(), replaces: None }
}

fn open(dir: &tempfile::TempDir) -> Result<(Journal, Past), JournalError> {
    let at = Dir::open(dir.path()).unwrap();
    Journal::open(&at, OsStr::new("journal"), Path::new(FROM), Path::new(TO))
}

#[test]
fn what_was_written_is_there_again_wherever_it_was_cut() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    let odd = || {
        let path = PathBuf::from(OsString::from_vec(vec![b'a', 0xff, b'\n']));
        DraftName { direction: Direction::In, path: path.as_path().into() }
    };
    {
        let (mut journal, past) = open(&dir).unwrap();
        assert!(past.verified.is_empty());
        let busy = open(&dir).unwrap_err();
        assert!(matches!(busy, JournalError::Busy { .. }), "{busy}");
        let change = Replaced { path: Path::new("x").into(), draft: Stamp::default(), old: Stamp::default() };
        for line in [
            Line::Draft(draft("one")),
            Line::Verified(copy("a", 1)),
            Line::Draft(odd()),
            Line::Dropped(odd()),
            Line::Verified(copy("a", 2)),
            Line::Draft(draft("two")),
            Line::Draft(draft("three")),
            Line::Replaces { draft: draft("three"), change: change.clone() },
        ] {
            journal.write(&line).unwrap();
        }
    }
    let whole = fs::read(&path).unwrap();
    let (_, past) = open(&dir).unwrap();
    assert_eq!(past.verified, [copy("a", 2)]);
    assert_eq!(past.drafts[..2], [begun("one"), begun("two")]);
    assert!(past.drafts.len() == 3 && past.drafts[2].replaces.is_some(), "{past:?}");
    for length in 0..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let (mut journal, past) = open(&dir).unwrap();
        assert!(past.damaged == 0 && past.verified.len() <= 1);
        journal.write(&Line::Draft(odd())).unwrap();
        drop(journal);
        let (_, past) = open(&dir).unwrap();
        assert!(past.drafts.iter().any(|begun| begun.direction == Direction::In), "cut at {length}");
    }
}

#[test]
fn files_of_others_are_not_taken_for_journals() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal");
    for foreign in ["text\n", "{}", "text without an end", "{\"a\":1}\n{}\n"] {
        fs::write(&path, foreign).unwrap();
        let error = open(&dir).unwrap_err();
        assert!(matches!(error, JournalError::Foreign { .. }), "{foreign}: {error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), foreign, "left as it was");
    }
    fs::remove_file(&path).unwrap();
    drop(open(&dir).unwrap());
    let at = Dir::open(dir.path()).unwrap();
    let other = Journal::open(&at, OsStr::new("journal"), Path::new(FROM), Path::new("/other"));
    assert!(matches!(other.unwrap_err(), JournalError::OtherFolders { .. }));
}

/// Whoever may write to the folder can have put it there.
#[test]
fn a_journal_that_somebody_else_may_have_written_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (path, other) = (dir.path().join("journal"), dir.path().join("other"));
    drop(open(&dir).unwrap());
    for mode in [0o660, 0o606, 0o666] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        let error = open(&dir).unwrap_err();
        assert!(matches!(error, JournalError::NotOwn { .. }), "{mode:o}: {error}");
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(&path, &other).unwrap();
    symlink("other", &path).unwrap();
    assert!(matches!(open(&dir).unwrap_err(), JournalError::NotOwn { .. }), "a link");
    fs::remove_file(&path).unwrap();
    fs::hard_link(&other, &path).unwrap();
    assert!(matches!(open(&dir).unwrap_err(), JournalError::NotOwn { .. }), "a second name");
    fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    assert!(matches!(open(&dir).unwrap_err(), JournalError::NotOwn { .. }), "a pipe");
    fs::remove_file(&path).unwrap();
    symlink("nowhere", &path).unwrap();
    assert!(open(&dir).is_err() && !dir.path().join("nowhere").exists());
    fs::remove_file(&path).unwrap();
    if files::user::is_root() {
        fs::copy(&other, &path).unwrap();
        std::os::unix::fs::chown(&path, Some(54_350), None).unwrap();
        assert!(matches!(open(&dir).unwrap_err(), JournalError::NotOwn { .. }), "of another user");
    }
}

/// Version 0.2 knew no time of change: its drafts are cleared away, its copies made anew, and it stays whole.
#[test]
fn a_journal_of_0_2_is_put_aside() {
    let dir = tempfile::tempdir().unwrap();
    let (path, kept) = (dir.path().join("journal"), dir.path().join("journal.0.2"));
    let old = "{\"journal\":{\"format\":\"ftio.stage-journal/1\",\"from\":\"/bb\",\"to\":\"/pfs\"}}\n\
               {\"draft\":\"/pfs/a/.ftio-stage.h.1.1\"}\n{\"draft\":\"/bb/.ftio-stage.h.1.2\"}\n\
               {\"draft\":\"/pfs/.ftio-stage.h.1.3\"}\n{\"dropped\":\"/pfs/.ftio-stage.h.1.3\"}\n\
               {\"draft\":\"/home/anna/thesis.tex\"}\n\
               {\"verified\":{\"direction\":\"out\",\"path\":\"x\",\"source\":{\"device\":1,\"inode\":1,\"size\":1,\
               \"modified\":1},\"target\":{\"device\":1,\"inode\":1,\"size\":1,\"modified\":1}}}\n";
    fs::write(&path, old).unwrap();
    let (journal, past) = open(&dir).unwrap();
    let inwards = Begun { direction: Direction::In, ..begun(".ftio-stage.h.1.2") };
    assert_eq!(past.drafts, [begun("a/.ftio-stage.h.1.1"), inwards]);
    assert!(past.verified.is_empty() && past.put_aside == Some(kept.clone()));
    assert_eq!(fs::read_to_string(&kept).unwrap(), old, "0.2 could go on with it");
    drop(journal);
    assert!(open(&dir).unwrap().1.put_aside.is_none());
    fs::write(&path, old).unwrap();
    assert!(matches!(open(&dir).unwrap_err(), JournalError::OldOne { .. }), "nothing is replaced");
}
