//! Where copies go: what is there already, links, mounts, owners and rights.

use super::{
    ANNA, BERT, Staging, content, ended_job, folders, is_root, names, open_folders, relieve, stage_as,
};
use crate::support::{ftio, skipped, stderr, stdout};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;
use tempfile::TempDir;

fn stage(dir: &TempDir, more: &[&str]) -> (Option<i32>, String, String) {
    let output = ftio(dir.path(), &[&["stage", "run", "--from", "bb", "--to", "storage"][..], more].concat());
    (output.status.code(), stdout(&output), stderr(&output))
}

/// The job writes a file that is being brought in: the job's stays.
#[test]
fn bringing_in_replaces_nothing() {
    let dir = folders();
    let at = |name: &str| dir.path().join(name);
    fs::write(at("storage/state"), content(1, 400_000)).unwrap();
    fs::write(at("list"), "state\teach\n").unwrap();
    let mut staging = Staging::start(dir.path(), &["--stage-in", "list", "--rate", "200k"]);
    let copy = staging.until("copy");
    assert_eq!(copy["direction"], "in");
    fs::write(at("bb/state"), "the job's new output").unwrap();
    let outcome = loop {
        let line = staging.next("the end of the copy");
        if line["path"] == "state" && line["event"] != "copy" {
            break line;
        }
    };
    assert_eq!(outcome["event"], "exists", "{outcome}");
    assert_eq!(fs::read(at("bb/state")).unwrap(), b"the job's new output");
    ended_job(dir.path());
    let (_, seen, said) = staging.end();
    assert_eq!(fs::read(at("bb/state")).unwrap(), b"the job's new output", "{said}{seen:#?}");
    assert_eq!(names(&at("bb")), ["state"], "no draft is left");
}

/// `scratch/out -> bb/out`, a usual way to use a buffer.
#[test]
fn a_link_in_the_destination_is_refused_by_name() {
    let dir = folders();
    let at = |name: &str| dir.path().join(name);
    ended_job(dir.path());
    fs::create_dir_all(at("bb/out/deeper")).unwrap();
    fs::create_dir_all(at("elsewhere/deeper")).unwrap();
    for link in ["../bb/out", "../elsewhere"] {
        let _ = fs::remove_file(at("storage/out"));
        symlink(link, at("storage/out")).unwrap();
        for name in ["f1", "deeper/f2"] {
            fs::write(at("bb/out").join(name), "data").unwrap();
        }
        let (code, said, errors) = stage(&dir, &relieve());
        assert_eq!(code, Some(1), "{link}: {said}{errors}");
        assert!(said.contains("storage/out: is a link"), "{link}: {said}");
        assert_eq!(names(&at("bb/out")), ["deeper", "f1"], "{link}: {said}");
        assert_eq!(
            (names(&at("bb/out/deeper")), names(&at("elsewhere/deeper")).len()),
            (vec!["f2".into()], 0)
        );
    }
}

/// A link of the source, which was copied as such, becomes a folder later.
#[test]
fn nothing_is_written_through_a_link_that_was_copied() {
    let dir = folders();
    let at = |name: &str| dir.path().join(name);
    ended_job(dir.path());
    fs::create_dir(at("outside")).unwrap();
    symlink(at("outside"), at("bb/d")).unwrap();
    assert_eq!(stage(&dir, &[]).0, Some(0));
    fs::remove_file(at("bb/d")).unwrap();
    fs::create_dir(at("bb/d")).unwrap();
    fs::write(at("bb/d/f"), "data").unwrap();
    let (code, said, _) = stage(&dir, &relieve());
    assert_eq!((code, names(&at("outside")).len()), (Some(1), 0), "{said}");
    assert!(at("bb/d/f").exists() && said.contains("storage/d: is a link"), "{said}");
}

/// A mount, undone at the end.
struct Mount(std::path::PathBuf);

impl Mount {
    fn bind(from: &Path, to: &Path) -> Option<Self> {
        let done = Command::new("mount").arg("--bind").arg(from).arg(to).output();
        done.is_ok_and(|done| done.status.success()).then(|| Mount(to.to_owned()))
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// Mounts by which the destination is, in part or as a whole, in the buffer.
#[test]
fn a_mount_that_leads_back_into_the_buffer_is_refused_by_name() {
    for (from, to) in
        [("bb/out", "storage/out"), ("bb", "storage/out"), ("bb/out", "storage"), (".", "storage")]
    {
        let dir = folders();
        let at = |name: &str| dir.path().join(name);
        ended_job(dir.path());
        fs::create_dir_all(at("bb/out/out")).unwrap();
        fs::create_dir_all(at("bb/bb")).unwrap();
        fs::create_dir_all(at("storage/out")).unwrap();
        fs::write(at("bb/out/f"), "data").unwrap();
        fs::write(at("bb/bb/g"), "data").unwrap();
        let Some(mount) = Mount::bind(&at(from), &at(to)) else {
            return skipped("mounting needs the administrator");
        };
        let (code, said, errors) = stage(&dir, &relieve());
        let left = [at("bb/out/f"), at("bb/bb/g")].iter().filter(|path| path.exists()).count();
        drop(mount);
        let (status, why) = match to {
            "storage" => (2, &["one is inside the other"][..]),
            _ => {
                (1, &["out: is the same folder", "out: is one of the two folders", "out: is a mount of"][..])
            }
        };
        assert_eq!(code, Some(status), "{from} at {to}: {said}{errors}");
        let refused = why.iter().any(|why| said.contains(why) || errors.contains(why));
        assert!(refused, "{from} at {to}: {said}{errors}");
        assert!(left >= 1, "{from} at {to}: {said}{errors}");
        for name in names(&at("bb/out")) {
            assert!(["f", "out"].contains(&name.as_str()), "{from} at {to}: {name} came into the buffer");
        }
    }
}

/// What somebody has written there meanwhile, and after it.
#[test]
fn a_newer_file_at_the_destination_stays() {
    let dir = folders();
    let at = |name: &str| dir.path().join(name);
    ended_job(dir.path());
    fs::write(at("bb/a"), "old").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    fs::write(at("storage/a"), "NEWER on scratch").unwrap();
    let (code, said, _) = stage(&dir, &relieve());
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("newer at the destination"), "{said}");
    assert_eq!(fs::read(at("storage/a")).unwrap(), b"NEWER on scratch");
    assert_eq!(fs::read(at("bb/a")).unwrap(), b"old");
    fs::remove_file(at("storage/a")).unwrap();
    fs::write(at("storage/a"), "an older one").unwrap();
    std::thread::sleep(Duration::from_millis(50));
    fs::write(at("bb/a"), "new").unwrap();
    assert_eq!(stage(&dir, &[]).0, Some(0));
    assert_eq!(fs::read(at("storage/a")).unwrap(), b"new");
}

/// Set-uid files of somebody else would be set-uid files of the one who stages.
#[test]
fn set_uid_bits_fall_with_the_owner() {
    if !is_root() {
        return skipped("files of several users need the administrator");
    }
    let dir = open_folders();
    let program = dir.path().join("bb/program");
    fs::write(&program, "#!/bin/sh\n").unwrap();
    for (owner, group, mode) in
        [(ANNA, ANNA, 0o4755), (ANNA, BERT, 0o6755), (BERT, ANNA, 0o2755), (BERT, BERT, 0o4755)]
    {
        chown(&program, Some(owner), Some(group)).unwrap();
        fs::set_permissions(&program, Permissions::from_mode(mode)).unwrap();
        let output = stage_as(BERT, &dir, &[]);
        assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
        let copy = fs::metadata(dir.path().join("storage/program")).unwrap();
        let kept = (owner, group) == (BERT, BERT);
        let bits = if kept { mode & 0o6000 } else { 0 };
        assert_eq!((copy.uid(), copy.mode() & 0o6000), (BERT, bits), "{owner} {group} {mode:o}");
        for entry in fs::read_dir(dir.path().join("storage")).unwrap().flatten() {
            fs::remove_file(entry.path()).unwrap();
        }
    }
}

/// The rights of a group are for that group: if it cannot be kept, another one does not get them.
#[test]
fn another_group_gets_no_rights() {
    if !is_root() {
        return skipped("files of several users need the administrator");
    }
    let dir = open_folders();
    let secret = dir.path().join("bb/secret");
    fs::write(&secret, "for the group").unwrap();
    chown(&secret, Some(BERT), Some(ANNA)).unwrap();
    for mode in [0o660, 0o606, 0o640] {
        fs::set_permissions(&secret, Permissions::from_mode(mode)).unwrap();
        let output = stage_as(BERT, &dir, &[]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let copy = fs::metadata(dir.path().join("storage/secret")).unwrap();
        assert_eq!((copy.gid(), copy.mode() & 0o777), (BERT, 0o600), "{mode:o}");
        fs::remove_file(dir.path().join("storage/secret")).unwrap();
    }
}

/// `u::rw u:ANNA:rw g::--- m::rw o::---`, as `setfacl` writes it.
fn access_list() -> Vec<u8> {
    let entry = |tag: u16, rights: u16, id: u32| {
        [&tag.to_le_bytes()[..], &rights.to_le_bytes(), &id.to_le_bytes()].concat()
    };
    let entries = [(1, 6, u32::MAX), (2, 6, ANNA), (4, 0, u32::MAX), (16, 6, u32::MAX), (32, 0, u32::MAX)];
    let entries = entries.iter().flat_map(|(tag, rights, id)| entry(*tag, *rights, *id));
    2u32.to_le_bytes().into_iter().chain(entries).collect()
}

/// An access list and attributes are kept; without its list, a file must not be open to the group.
#[test]
fn access_lists_and_attributes_are_kept() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};
    let dir = folders();
    let (file, copy) = (dir.path().join("bb/f"), dir.path().join("storage/f"));
    ended_job(dir.path());
    fs::write(&file, "secret").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    let list = access_list();
    if setxattr(&file, "system.posix_acl_access", &list, XattrFlags::empty()).is_err() {
        return skipped("the file system for temporary files has no access lists");
    }
    let has_user = setxattr(&file, "user.origin", b"run 7", XattrFlags::empty()).is_ok();
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o660, "the mask");
    let (code, said, errors) = stage(&dir, &[]);
    assert_eq!(code, Some(0), "{said}{errors}");
    let read = |name: &str| {
        let mut value = vec![0u8; 1000];
        getxattr(&copy, name, &mut value[..]).map(|length| value[..length].to_vec())
    };
    assert_eq!(read("system.posix_acl_access"), Ok(list));
    assert!(!has_user || read("user.origin") == Ok(b"run 7".to_vec()));
}

/// Names are written by others, and shown on a terminal.
#[test]
fn names_do_not_reach_the_terminal_raw() {
    let dir = folders();
    ended_job(dir.path());
    let name = "esc\x1b]0;pwned\x07\nftio: forged";
    fs::write(dir.path().join("bb").join(name), "x").unwrap();
    // A folder in its place: it cannot be copied.
    fs::create_dir(dir.path().join("storage").join(name)).unwrap();
    let (code, said, errors) = stage(&dir, &[]);
    assert_eq!(code, Some(1), "{said}");
    for text in [&said, &errors] {
        assert!(!text.contains('\x1b') && !text.contains('\x07'), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("ftio: forged")), "{text:?}");
    }
    assert!(said.contains("pwned"), "{said}");
}

/// Names like those of drafts are the user's, unless they are exactly a draft's: then they are told.
#[test]
fn files_that_are_named_like_ours_are_not_forgotten() {
    let dir = folders();
    ended_job(dir.path());
    fs::write(dir.path().join("bb/.ftio-stage.user"), "the user's").unwrap();
    let (code, said, errors) = stage(&dir, &[]);
    assert_eq!(code, Some(0), "{said}{errors}");
    assert_eq!(fs::read(dir.path().join("storage/.ftio-stage.user")).unwrap(), b"the user's");
    fs::write(dir.path().join("bb/.ftio-stage.other.1.2"), "a draft of another?").unwrap();
    let (_, _, errors) = stage(&dir, &[]);
    assert!(errors.contains(".ftio-stage.other.1.2"), "{errors}");
    assert!(dir.path().join("bb/.ftio-stage.other.1.2").exists());
}

/// A pipe or a device in the place of a copy, or of a file that is to be brought in, is not opened.
#[test]
fn pipes_are_not_waited_for() {
    let dir = folders();
    let at = |name: &str| dir.path().join(name);
    ended_job(dir.path());
    for pipe in ["storage/needed", "storage/taken", "bb/pipe"] {
        assert!(Command::new("mkfifo").arg(at(pipe)).status().unwrap().success());
    }
    fs::write(at("bb/taken"), "content").unwrap();
    fs::write(at("list"), "needed\teach\n").unwrap();
    let (code, said, errors) = stage(&dir, &["--stage-in", "list"]);
    assert!(errors.contains("needed: is not a regular file"), "{errors}");
    // It is older than the file, and no folder: the copy takes its place, or it stays; nobody waits for it.
    assert!(code.is_some() && at("bb/taken").exists(), "{said}{errors}");
}
