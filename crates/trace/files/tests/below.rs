//! What is reached from a folder, and what is not: by the kernel's own call, and step by step.

use files::{Access, Dir, Expect, Kind, Replace, Result, Way, Why};
use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use tempfile::TempDir;

const WAYS: [Way; 2] = [Way::Kernel, Way::Steps];

/// `inside/a/b/file`, and beside it what must not be reached: `outside/secret`.
fn place() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("inside/a/b")).unwrap();
    fs::create_dir(dir.path().join("outside")).unwrap();
    fs::write(dir.path().join("inside/a/b/file"), "inside").unwrap();
    fs::write(dir.path().join("outside/secret"), "secret").unwrap();
    dir
}

fn text(file: Result<fs::File>) -> Result<String> {
    let mut text = String::new();
    file.map(|mut file| file.read_to_string(&mut text).unwrap())?;
    Ok(text)
}

#[test]
fn files_below_a_folder_are_read() {
    for way in WAYS {
        let dir = place();
        let inside = Dir::open_in(&dir.path().join("inside"), way).unwrap();
        let any = Expect::anybodys();
        assert_eq!(text(inside.read("a/b/file", &any)).unwrap(), "inside");
        assert_eq!(text(inside.read("./a//b/./file", &any)).unwrap(), "inside");
        assert_eq!(text(inside.folder("a/b").unwrap().read("file", &any)).unwrap(), "inside");
        let (folder, name) = inside.parent("a/b/file").unwrap();
        assert_eq!((folder.stat().unwrap(), name), (inside.look("a/b").unwrap(), "file".into()));
        assert!(inside.read("a/none", &any).unwrap_err().is_missing());
        assert!(inside.look("none/file").unwrap_err().is_missing());
        assert_eq!(inside.look("a/b/file").unwrap().kind, Kind::File);
        let mut names: Vec<_> =
            inside.folder("a").unwrap().entries().unwrap().map(|e| e.unwrap().name).collect();
        names.sort();
        assert_eq!(names, ["b"]);
    }
}

#[test]
fn nothing_leads_out() {
    for way in WAYS {
        let dir = place();
        let at = |name: &str| dir.path().join("inside").join(name);
        symlink("../../outside", at("a/out")).unwrap();
        symlink("../../../outside/secret", at("a/b/link")).unwrap();
        symlink("b", at("a/harmless")).unwrap();
        let inside = Dir::open_in(&dir.path().join("inside"), way).unwrap();
        let any = Expect::anybodys();
        for path in ["a/out/secret", "a/b/link", "a/harmless/file"] {
            for access in [Access::Read, Access::Append, Access::Write] {
                let error = inside.file(path, access, &any).unwrap_err();
                assert!(matches!(error.why, Why::Link), "{way:?} {path}: {error}");
            }
        }
        let error = inside.folder("a/out").unwrap_err();
        assert!(matches!(error.why, Why::Link), "{error}");
        assert_eq!(error.path, at("a/out"), "the link is named, not what is behind it");
        assert_eq!(inside.folder("a/out/deeper").unwrap_err().path, at("a/out"));
        assert!(inside.look("a/out/secret").is_err());
        assert_eq!(inside.look("a/b/link").unwrap().kind, Kind::Link);
        let outside = dir.path().join("outside/secret");
        for path in [Path::new("../outside/secret"), Path::new("a/../../outside/secret"), &outside] {
            let error = inside.read(path, &any).unwrap_err();
            assert!(matches!(error.why, Why::Outside), "{way:?} {}: {error}", path.display());
            assert!(
                inside.folder(path).is_err() && inside.look(path).is_err() && inside.parent(path).is_err()
            );
        }
        for name in ["", ".", "..", "/", "a/b", "a\0b", "../outside/new"] {
            assert!(inside.create(name, 0o600).is_err(), "{name:?}");
            assert!(inside.make_folder(name, 0o700).is_err(), "{name:?}");
            assert!(inside.remove(name).is_err() && inside.remove_folder(name).is_err(), "{name:?}");
            assert!(inside.rename("a", &inside, name, Replace::Anything).is_err(), "{name:?}");
            assert!(inside.rename(name, &inside, "x", Replace::Never).is_err(), "{name:?}");
            assert!(inside.symlink(Path::new("x"), name).is_err() && inside.read_link(name).is_err());
        }
        assert_eq!(fs::read_to_string(outside).unwrap(), "secret");
    }
}

#[test]
fn only_regular_files_are_opened_and_nobody_is_waited_for() {
    for way in WAYS {
        let dir = place();
        let at = |name: &str| dir.path().join("inside").join(name);
        assert!(Command::new("mkfifo").arg(at("pipe")).status().unwrap().success());
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        let inside = Dir::open_in(&dir.path().join("inside"), way).unwrap();
        for name in ["pipe", "socket", "a"] {
            for access in [Access::Read, Access::Append, Access::Write] {
                let error = inside.file(name, access, &Expect::anybodys()).unwrap_err();
                assert!(matches!(error.why, Why::NotRegular), "{way:?} {name}: {error}");
            }
        }
        for name in ["pipe", "socket", "a/b/file"] {
            assert!(matches!(inside.folder(name).unwrap_err().why, Why::NotFolder), "{name}");
        }
        let error = Dir::open(&at("pipe")).unwrap_err();
        assert!(matches!(error.why, Why::NotFolder), "{error}");
        let devices = Dir::open_in(Path::new("/dev"), way).unwrap();
        assert!(matches!(devices.read("null", &Expect::anybodys()).unwrap_err().why, Why::NotRegular));
    }
}

/// Somebody changes a folder on the way for a link and back, as fast as he can.
#[test]
fn a_link_that_comes_in_between_is_not_followed() {
    for way in WAYS {
        let dir = place();
        let (real, link) = (dir.path().join("inside/a"), dir.path().join("link"));
        fs::create_dir_all(dir.path().join("outside/b")).unwrap();
        fs::write(dir.path().join("outside/b/file"), "secret").unwrap();
        symlink(dir.path().join("outside"), &link).unwrap();
        let inside = Dir::open_in(&dir.path().join("inside"), way).unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let attacker = std::thread::spawn({
            let (stop, handle) = (Arc::clone(&stop), Dir::open(dir.path()).unwrap());
            move || {
                let folder = handle.folder("inside").unwrap();
                while !stop.load(Relaxed) {
                    let _ = handle.exchange("link", &folder, "a");
                }
            }
        });
        let (mut read, mut refused) = (0, 0);
        while read < 2000 || refused < 2000 {
            match text(inside.read("a/b/file", &Expect::anybodys())) {
                Ok(text) => {
                    assert_eq!(text, "inside");
                    read += 1;
                }
                Err(_) => refused += 1,
            }
        }
        stop.store(true, Relaxed);
        attacker.join().unwrap();
        assert!(real.symlink_metadata().is_ok());
    }
}

#[test]
fn nothing_is_created_in_place_of_something() {
    let dir = place();
    let at = |name: &str| dir.path().join("inside").join(name);
    symlink("../outside/new", at("dangling")).unwrap();
    let inside = Dir::open(&dir.path().join("inside")).unwrap();
    for name in ["dangling", "a"] {
        assert!(inside.create(name, 0o600).unwrap_err().exists());
        assert!(inside.make_folder(name, 0o700).unwrap_err().exists());
    }
    assert!(matches!(inside.folder_or_new("dangling", 0o700).unwrap_err().why, Why::Link));
    assert!(!dir.path().join("outside/new").exists());
    let mut made = inside.create("new", 0o640).unwrap();
    made.write_all(b"text").unwrap();
    let found = inside.look("new").unwrap();
    assert_eq!((found.size, found.mode & !0o640, found.kind), (4, 0, Kind::File));
    assert_eq!(
        inside.folder_or_new("a", 0o700).unwrap().stat().unwrap().inode,
        inside.look("a").unwrap().inode
    );
    let made = inside.folder_or_new("folder", 0o700).unwrap();
    made.set_mode(0o1777).unwrap();
    assert_eq!(inside.look("folder").unwrap().mode, 0o1777);
    made.sync().unwrap();
}

#[test]
fn renaming_replaces_only_if_told_so() {
    let dir = place();
    let inside = Dir::open(&dir.path().join("inside")).unwrap();
    let folder = inside.folder("a").unwrap();
    let content = |name: &str| fs::read_to_string(dir.path().join("inside").join(name)).ok();
    for (name, text) in [("one", "1"), ("two", "2")] {
        fs::write(dir.path().join("inside").join(name), text).unwrap();
    }
    assert!(inside.rename("one", &inside, "two", Replace::Never).unwrap_err().exists());
    assert_eq!((content("one").as_deref(), content("two").as_deref()), (Some("1"), Some("2")));
    inside.rename("one", &folder, "three", Replace::Never).unwrap();
    assert_eq!((content("one"), content("a/three").as_deref()), (None, Some("1")));
    inside.exchange("two", &folder, "three").unwrap();
    assert_eq!((content("two").as_deref(), content("a/three").as_deref()), (Some("1"), Some("2")));
    inside.rename("two", &folder, "three", Replace::Anything).unwrap();
    assert_eq!((content("two"), content("a/three").as_deref()), (None, Some("1")));
    let missing = inside.rename("none", &folder, "x", Replace::Never).unwrap_err();
    assert!(missing.is_missing() && missing.path.ends_with("none"), "{missing}");
    let file = folder.read("three", &Expect::anybodys()).unwrap();
    assert!(folder.is_name_of("three", &file).unwrap());
    folder.rename("three", &folder, "four", Replace::Never).unwrap();
    assert!(!folder.is_name_of("three", &file).unwrap() && !folder.is_name_of("b", &file).unwrap());
}

#[test]
fn a_whole_file_is_written_or_none() {
    let dir = place();
    let at = |name: &str| dir.path().join("inside").join(name);
    symlink("../outside/secret", at("link")).unwrap();
    let inside = Dir::open(&dir.path().join("inside")).unwrap();
    for _ in 0..2 {
        inside.write_whole("link", b"new", 0o600).unwrap();
        assert_eq!(fs::read_to_string(at("link")).unwrap(), "new");
    }
    assert_eq!(fs::read_to_string(dir.path().join("outside/secret")).unwrap(), "secret");
    assert!(inside.write_whole("a", b"new", 0o600).is_err(), "a folder is in the way");
    assert_eq!(inside.entries().unwrap().count(), 2, "no draft is left");
}

#[test]
fn what_is_expected_is_asked_of_the_open_file() {
    let dir = place();
    let path = dir.path().join("inside/a/b/file");
    let inside = Dir::open(&dir.path().join("inside")).unwrap();
    let read = |expect: &Expect| inside.read("a/b/file", expect).map_err(|error| error.why);
    let me = inside.stat().unwrap().user;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    assert!(read(&Expect::own()).is_ok() && read(&Expect::of_user(me)).is_ok());
    assert!(matches!(read(&Expect::of_user(me + 1)), Err(Why::Owner { .. })));
    assert!(matches!(read(&Expect::of_user(me).private()), Err(Why::Public { mode: 0o644 })));
    for mode in [0o664, 0o646] {
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(matches!(read(&Expect::own()), Err(Why::Exposed { .. })));
    }
    fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    assert!(read(&Expect::own().private()).is_ok());
    fs::hard_link(&path, dir.path().join("outside/second")).unwrap();
    assert!(matches!(read(&Expect::own()), Err(Why::Names(2))));
    let folder = inside.folder("a").unwrap();
    folder.set_mode(0o777).unwrap();
    assert!(folder.check(&Expect::own()).is_err());
    folder.set_mode(0o700).unwrap();
    assert!(folder.check(&Expect::own().private()).is_ok());
}

#[test]
fn messages_name_the_file_and_keep_the_terminal_clean() {
    let dir = place();
    let inside = Dir::open(&dir.path().join("inside")).unwrap();
    let name = "no\nsuch\x1b[31m";
    let said = inside.read(name, &Expect::anybodys()).unwrap_err().to_string();
    assert!(said.contains("inside/no\\u{a}such\\u{1b}[31m: No such file"), "{said}");
    let said = std::io::Error::from(inside.read("a", &Expect::anybodys()).unwrap_err());
    assert!(said.to_string().ends_with("inside/a: is not a regular file"), "{said}");
}
