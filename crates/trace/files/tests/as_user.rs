//! A process of root becomes a user: what the kernel says of it, and what it then can and cannot do.

use files::user::{Identity, effective, is_root, run_as};
use files::{Dir, Expect, Why};
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

/// Users that need not be known to the system.
const ANNA: u32 = 54_321;
const BERT: u32 = 54_322;

fn root(test: &str) -> bool {
    if !is_root() {
        test_data::skip(test, "not root");
    }
    is_root()
}

fn anna() -> Identity {
    Identity { user: ANNA, group: 60_001, groups: vec![60_002, 60_003] }
}

/// Lines of `/proc/thread-self/status`.
fn status() -> Vec<(String, Vec<String>)> {
    let text = fs::read_to_string("/proc/thread-self/status").unwrap();
    let words = |line: &str| {
        let (name, rest) = line.split_once(':')?;
        Some((name.to_owned(), rest.split_whitespace().map(str::to_owned).collect()))
    };
    text.lines().filter_map(words).collect()
}

fn value(name: &str) -> Vec<String> {
    status().into_iter().find(|(found, _)| found == name).unwrap().1
}

/// A folder of that user's.
fn folder_of(user: u32) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir(dir.path().join("mine")).unwrap();
    chown(dir.path().join("mine"), Some(user), Some(user)).unwrap();
    dir
}

#[test]
fn the_kernel_says_who_it_is() {
    if !root("the_kernel_says_who_it_is") {
        return;
    }
    let told = run_as(&anna(), None, || ["Uid", "Gid", "Groups", "CapEff"].map(value)).unwrap();
    // Real, effective, saved, and that of files.
    assert_eq!(told[0], ["0", "54321", "0", "54321"], "signals of that user do not reach us");
    assert_eq!(told[1][1], "60001");
    assert_eq!(told[1][3], "60001");
    assert_eq!(told[2], ["60002", "60003"]);
    assert_eq!(told[3], ["0000000000000000"], "no right that the user does not have");
    assert_eq!((effective(), value("Uid")[1].as_str()), (0, "0"), "this thread stays what it was");
}

/// A signal to one thread would end the whole process.
#[test]
fn signals_of_that_user_do_not_reach_it() {
    if !root("signals_of_that_user_do_not_reach_it") {
        return;
    }
    let (tell, told) = std::sync::mpsc::channel();
    let (end, ended) = std::sync::mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        run_as(&anna(), None, move || {
            let link = fs::read_link("/proc/thread-self").unwrap();
            tell.send(link.file_name().unwrap().to_str().unwrap().to_owned()).unwrap();
            let _ = ended.recv();
        })
    });
    let thread_id = told.recv().unwrap();
    let kill = Command::new("sh").args(["-c", "kill -0 $0", &thread_id]).uid(ANNA).output().unwrap();
    let said = String::from_utf8_lossy(&kill.stderr).into_owned();
    assert!(!kill.status.success() && said.contains("not permitted"), "{said}");
    drop(end);
    thread.join().unwrap().unwrap();
}

#[test]
fn what_it_creates_is_the_users() {
    if !root("what_it_creates_is_the_users") {
        return;
    }
    let dir = folder_of(ANNA);
    let mine = dir.path().join("mine");
    // Handles that root has opened are used by the user.
    let handle = Dir::open(&mine).unwrap();
    run_as(&anna(), None, move || {
        handle.create("file", 0o600).unwrap();
        handle.make_folder("folder", 0o700).unwrap();
        handle.symlink(Path::new("x"), "link").unwrap();
    })
    .unwrap();
    for name in ["file", "folder", "link"] {
        let meta = fs::symlink_metadata(mine.join(name)).unwrap();
        assert_eq!((meta.uid(), meta.gid()), (ANNA, 60_001), "{name}");
    }
}

#[test]
fn what_the_user_may_not_root_may_not_for_him() {
    if !root("what_the_user_may_not_root_may_not_for_him") {
        return;
    }
    let dir = folder_of(ANNA);
    let at = |name: &str| dir.path().join(name);
    fs::create_dir(at("roots")).unwrap();
    fs::set_permissions(at("roots"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::write(at("roots/secret"), "secret").unwrap();
    fs::write(at("readable"), "").unwrap();
    symlink(at("roots"), at("mine/link")).unwrap();
    let (roots, mine) = (Dir::open(&at("roots")).unwrap(), at("mine"));
    run_as(&anna(), None, move || {
        assert!(roots.read("secret", &Expect::anybodys()).is_err(), "even by root's own handle");
        assert!(roots.create("new", 0o600).is_err() && roots.remove("secret").is_err());
        assert!(fs::read(mine.join("link/secret")).is_err());
        assert!(fs::write(mine.join("link/new"), "").is_err());
        assert!(fs::set_permissions(mine.join("../readable"), fs::Permissions::from_mode(0o777)).is_err());
        assert!(chown(&mine, Some(BERT), None).is_err(), "nothing is given away");
    })
    .unwrap();
    assert_eq!(fs::read_dir(at("roots")).unwrap().count(), 1);
}

#[test]
fn groups_of_root_are_dropped() {
    if !root("groups_of_root_are_dropped") {
        return;
    }
    let dir = folder_of(ANNA);
    let path = dir.path().join("of group root");
    fs::write(&path, "for the group").unwrap();
    let shared = dir.path().join("of her group");
    fs::write(&shared, "for her group").unwrap();
    for (path, group) in [(&path, 0), (&shared, 60_003)] {
        chown(path, Some(0), Some(group)).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o640)).unwrap();
    }
    run_as(&anna(), None, move || {
        assert!(fs::read(&path).is_err());
        assert_eq!(fs::read_to_string(&shared).unwrap(), "for her group");
    })
    .unwrap();
}

/// Threads of one process are different users at the same time, and none takes over from another.
#[test]
fn threads_do_not_change_each_other() {
    if !root("threads_do_not_change_each_other") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    fs::set_permissions(dir.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    let place: PathBuf = dir.path().to_owned();
    let stop = Arc::new(AtomicBool::new(false));
    let as_root = std::thread::spawn({
        let (place, stop) = (place.clone(), Arc::clone(&stop));
        move || {
            let mut count = 0;
            while !stop.load(Relaxed) || count == 0 {
                let path = place.join(format!("root{count}"));
                fs::write(&path, "").unwrap();
                assert_eq!((fs::metadata(&path).unwrap().uid(), effective()), (0, 0));
                count += 1;
            }
        }
    });
    let users: Vec<_> = [ANNA, BERT, 54_323, 54_324]
        .into_iter()
        .map(|user| {
            let place = place.clone();
            std::thread::spawn(move || {
                for round in 0..50 {
                    let path = place.join(format!("{user}-{round}"));
                    let made = path.clone();
                    run_as(&Identity::alone(user), None, move || {
                        fs::write(&made, "").unwrap();
                        // A thread that is begun here is that user as well.
                        let inner = std::thread::spawn(effective);
                        assert_eq!((effective(), inner.join().unwrap()), (user, user));
                    })
                    .unwrap();
                    let meta = fs::metadata(&path).unwrap();
                    assert_eq!((meta.uid(), meta.gid()), (user, 65_534));
                }
            })
        })
        .collect();
    users.into_iter().for_each(|user| user.join().unwrap());
    stop.store(true, Relaxed);
    as_root.join().unwrap();
}

#[test]
fn work_that_hangs_is_left_alone() {
    if !root("work_that_hangs_is_left_alone") {
        return;
    }
    let hangs = || std::thread::sleep(Duration::from_secs(3600));
    for who in [anna(), Identity::alone(0)] {
        let error = run_as(&who, Some(Duration::from_millis(50)), hangs).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::TimedOut);
        assert_eq!(run_as(&who, Some(Duration::from_secs(60)), || 5).unwrap(), 5);
    }
}

#[test]
fn nobody_else_becomes_a_user() {
    if !root("nobody_else_becomes_a_user") {
        return;
    }
    run_as(&anna(), None, || {
        assert_eq!(run_as(&anna(), None, effective).unwrap(), ANNA, "who is that user already works at once");
        for other in [BERT, 0] {
            assert!(run_as(&Identity::alone(other), None, || ()).is_err());
        }
    })
    .unwrap();
}

#[test]
fn users_have_the_groups_that_the_system_knows() {
    let root = Identity::of_user(0);
    assert_eq!((root.user, root.group), (0, 0));
    assert!(root.groups.contains(&0));
    assert_eq!(Identity::of_user(3_999_999_999), Identity::alone(3_999_999_999));
}

#[test]
fn links_on_the_way_are_followed_if_they_are_the_administrators_or_the_users() {
    if !root("links_on_the_way_are_followed_if_they_are_the_administrators_or_the_users") {
        return;
    }
    let dir = folder_of(ANNA);
    let at = |name: &str| dir.path().join(name);
    let link_of = |name: &str, user: u32, leads_to: &Path| {
        symlink(leads_to, at(name)).unwrap();
        std::os::unix::fs::lchown(at(name), Some(user), Some(user)).unwrap();
    };
    fs::create_dir(at("mine/parts")).unwrap();
    link_of("roots", 0, &at("mine"));
    link_of("annas", ANNA, Path::new("mine/../roots"));
    link_of("berts", BERT, &at("mine"));
    link_of("circle", 0, Path::new("circle"));
    let wanted = fs::metadata(at("mine/parts")).unwrap().ino();
    for way in ["mine/parts", "roots/parts", "annas/parts", "./mine/../annas/./parts/"] {
        assert_eq!(Dir::reach(&at(way), ANNA).unwrap().stat().unwrap().inode, wanted, "{way}");
    }
    for way in ["berts/parts", "circle", "circle/x"] {
        assert!(matches!(Dir::reach(&at(way), ANNA).unwrap_err().why, Why::Link), "{way}");
    }
    assert!(Dir::reach(&at("berts/parts"), BERT).is_ok());
    assert!(Dir::reach(&at("none/parts"), ANNA).unwrap_err().is_missing());
    assert!(matches!(Dir::reach(Path::new("mine"), ANNA).unwrap_err().why, Why::Outside));
    fs::write(at("file"), "").unwrap();
    assert!(matches!(Dir::reach(&at("file"), ANNA).unwrap_err().why, Why::NotFolder));
    assert!(matches!(Dir::reach(&at("file/x"), ANNA).unwrap_err().why, Why::NotFolder));
}
