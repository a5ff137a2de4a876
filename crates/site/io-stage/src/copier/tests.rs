//! Copies of real files.

use super::*;
use crate::journal::Journal;
use crate::plan::{Direction, Kind};
use crate::stamp::Stamp;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::{FileExt, MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};
use tempfile::TempDir;

struct Rig {
    dir: TempDir,
    folders: Places<PathBuf>,
    ledger: Arc<Mutex<Ledger>>,
}

impl Rig {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        let folders = Places { buffer: at("buffer"), storage: at("storage") };
        fs::create_dir(&folders.buffer).unwrap();
        fs::create_dir(&folders.storage).unwrap();
        let journal = journal(&dir, &folders).0;
        Rig { dir, folders, ledger: Arc::new(Mutex::new(Ledger::new(journal))) }
    }

    fn file(&self, name: &str, content: &[u8]) -> PathBuf {
        let path = self.folders.buffer.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn copier(&self, options: Options) -> Copier {
        let open = |path: &PathBuf| Dir::open(path).unwrap();
        let places = Places { buffer: open(&self.folders.buffer), storage: open(&self.folders.storage) };
        Copier::start(places, options, Arc::clone(&self.ledger), || {}).unwrap()
    }

    fn order(&self, name: &str) -> Copy {
        let meta = fs::symlink_metadata(self.folders.buffer.join(name)).unwrap();
        Copy {
            direction: Direction::Out,
            path: name.into(),
            stamp: Some(Stamp::of(&Dir::open(&self.folders.buffer).unwrap().look(name).unwrap())),
            kind: if meta.is_symlink() { Kind::Link } else { Kind::File },
            bytes: meta.len(),
            phase: 1,
            same_as: None,
        }
    }

    fn copy(&self, name: &str, options: Options) -> Outcome {
        let copier = self.copier(options);
        copier.begin(self.order(name));
        end(&copier)
    }

    /// What is at the destination, drafts included.
    fn there(&self) -> Vec<String> {
        let names = fs::read_dir(&self.folders.storage).unwrap();
        let mut names: Vec<String> =
            names.map(|item| item.unwrap().file_name().to_str().unwrap().to_owned()).collect();
        names.sort();
        names
    }

    fn copied(&self, name: &str) -> Vec<u8> {
        fs::read(self.folders.storage.join(name)).unwrap()
    }

    /// What the next process would find.
    fn past(self) -> (TempDir, crate::journal::Past) {
        drop(self.ledger);
        let past = journal(&self.dir, &self.folders).1;
        (self.dir, past)
    }
}

fn journal(dir: &TempDir, folders: &Places<PathBuf>) -> (Journal, crate::journal::Past) {
    let at = Dir::open(dir.path()).unwrap();
    Journal::open(&at, std::ffi::OsStr::new("journal"), &folders.buffer, &folders.storage).unwrap()
}

fn end(copier: &Copier) -> Outcome {
    copier.results.recv_timeout(Duration::from_secs(60)).unwrap().outcome
}

fn is_verified(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Verified { .. })
}

/// Ten seconds for a megabyte: time to do something to it.
fn slow() -> Options {
    Options { rate: Some(1e5), ..Options::default() }
}

fn until(what: impl Fn() -> bool) {
    let began = Instant::now();
    while !what() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never happened");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn noise(length: usize) -> Vec<u8> {
    let mut random = seeded_random::Random::new(1);
    (0..length).map(|_| random.bits() as u8).collect()
}

#[test]
fn a_copy_has_content_time_and_permissions() {
    for checksum in [false, true] {
        let rig = Rig::new();
        let content = noise(3_000_001);
        let path = rig.file("a/b/it's a \"file\"", &content);
        fs::set_permissions(&path, Permissions::from_mode(0o640)).unwrap();
        fs::set_permissions(rig.folders.buffer.join("a"), Permissions::from_mode(0o700)).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::new(1_600_000_000, 123_456_789);
        File::options().write(true).open(&path).unwrap().set_modified(time).unwrap();
        let outcome = rig.copy("a/b/it's a \"file\"", Options { checksum, ..Options::default() });
        assert!(is_verified(&outcome), "{outcome:?}");
        assert!(rig.copied("a/b/it's a \"file\"") == content);
        let meta = fs::metadata(rig.folders.storage.join("a/b/it's a \"file\"")).unwrap();
        assert_eq!((meta.mode() & 0o7777, meta.modified().unwrap()), (0o640, time));
        let folder = fs::metadata(rig.folders.storage.join("a")).unwrap();
        assert_eq!(folder.mode() & 0o7777, 0o700, "a private folder stays private");
        let (_dir, past) = rig.past();
        assert_eq!((past.verified.len(), past.verified[0].checksum.is_some()), (1, checksum));
        assert_eq!(past.verified[0].target.size, 3_000_001);
    }
}

#[test]
fn another_version_replaces_the_first_as_a_whole() {
    let rig = Rig::new();
    rig.file("a", b"first version");
    assert!(is_verified(&rig.copy("a", Options::default())));
    rig.file("a", b"second");
    assert!(is_verified(&rig.copy("a", Options::default())));
    assert_eq!(rig.copied("a"), b"second");
    assert_eq!(rig.there(), ["a"]);
    fs::remove_file(rig.folders.storage.join("a")).unwrap();
    fs::create_dir(rig.folders.storage.join("a")).unwrap();
    assert!(matches!(rig.copy("a", Options::default()), Outcome::Failed(_)), "a folder is in the way");
    assert_eq!(rig.there(), ["a"], "and no draft is left");
}

#[test]
fn holes_stay_holes() {
    for checksum in [false, true] {
        let rig = Rig::new();
        let path = rig.file("sparse", b"");
        let file = File::options().write(true).open(&path).unwrap();
        file.set_len(200 << 20).unwrap();
        file.write_all_at(&noise(10_000), 50 << 20).unwrap();
        file.write_all_at(b"end", (150 << 20) - 1).unwrap();
        assert!(is_verified(&rig.copy("sparse", Options { checksum, ..Options::default() })));
        let copy = File::open(rig.folders.storage.join("sparse")).unwrap();
        let meta = copy.metadata().unwrap();
        assert_eq!(meta.len(), 200 << 20);
        assert!(meta.blocks() * 512 < 4 << 20, "{} blocks", meta.blocks());
        let mut bytes = vec![0; 10_000];
        copy.read_exact_at(&mut bytes, 50 << 20).unwrap();
        assert_eq!(bytes, noise(10_000));
    }
    let rig = Rig::new();
    let empty = rig.file("hole", b"");
    File::options().write(true).open(&empty).unwrap().set_len(1 << 30).unwrap();
    assert!(is_verified(&rig.copy("hole", Options::default())));
    assert_eq!(fs::metadata(rig.folders.storage.join("hole")).unwrap().len(), 1 << 30);
}

#[test]
fn links_are_copied_as_links_and_second_names_as_such() {
    let rig = Rig::new();
    symlink("/nowhere/at all", rig.folders.buffer.join("link")).unwrap();
    assert!(is_verified(&rig.copy("link", Options::default())));
    assert_eq!(fs::read_link(rig.folders.storage.join("link")).unwrap(), Path::new("/nowhere/at all"));
    let path = rig.file("a", b"content");
    fs::hard_link(&path, rig.folders.buffer.join("b")).unwrap();
    assert!(is_verified(&rig.copy("a", Options::default())));
    for _ in 0..2 {
        let copier = rig.copier(Options::default());
        copier.begin(Copy { same_as: Some("a".into()), ..rig.order("b") });
        assert!(is_verified(&end(&copier)));
        let inode = |name: &str| fs::metadata(rig.folders.storage.join(name)).unwrap().ino();
        assert_eq!(inode("a"), inode("b"));
        assert_eq!(rig.there(), ["a", "b", "link"], "no draft is left, also the second time");
    }
}

#[test]
fn a_file_that_changes_or_vanishes_under_the_copy() {
    type Change = (&'static str, fn(&Path), Outcome);
    let changes: [Change; 4] = [
        (
            "appended",
            |path| drop(File::options().append(true).open(path).unwrap().write_at(b"x", 0)),
            Outcome::Changed,
        ),
        (
            "shortened",
            |path| File::options().write(true).open(path).unwrap().set_len(10).unwrap(),
            Outcome::Changed,
        ),
        ("removed", |path| fs::remove_file(path).unwrap(), Outcome::Vanished),
        (
            "replaced",
            |path| {
                fs::write(path.with_extension("new"), "x")
                    .and_then(|()| fs::rename(path.with_extension("new"), path))
                    .unwrap()
            },
            Outcome::Changed,
        ),
    ];
    for (what, change, expected) in changes {
        let rig = Rig::new();
        let path = rig.file("a", &noise(300_000));
        let copier = rig.copier(Options { rate: Some(1e6), ..Options::default() });
        copier.begin(rig.order("a"));
        until(|| copier.progress() > 0);
        change(&path);
        assert_eq!(end(&copier), expected, "{what}");
        assert_eq!(rig.there(), [""; 0], "{what}: nothing under its name, and no draft");
        drop(copier);
        let (_dir, past) = rig.past();
        assert!(past.verified.is_empty() && past.drafts.is_empty());
    }
    let rig = Rig::new();
    rig.file("a", b"old");
    let order = rig.order("a");
    rig.file("a", b"newer");
    let copier = rig.copier(Options::default());
    copier.begin(order);
    assert_eq!(end(&copier), Outcome::Changed, "before it was begun");
}

#[test]
fn what_cannot_be_read_is_reported() {
    let rig = Rig::new();
    rig.file("a", b"x");
    let order = rig.order("a");
    fs::remove_file(rig.folders.buffer.join("a")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(rig.folders.buffer.join("a")).status().unwrap();
    assert!(made.success());
    let copier = rig.copier(Options::default());
    copier.begin(order.clone());
    let outcome = end(&copier);
    assert!(matches!(&outcome, Outcome::Failed(why) if why.contains("not a regular file")), "{outcome:?}");
    fs::remove_file(rig.folders.buffer.join("a")).unwrap();
    symlink("/etc/passwd", rig.folders.buffer.join("a")).unwrap();
    copier.begin(order);
    assert!(matches!(end(&copier), Outcome::Failed(_)), "a link that took the place of a file");
    assert_eq!(rig.there(), [""; 0]);
}

#[test]
fn a_copy_is_suspended_goes_on_and_is_given_up() {
    let rig = Rig::new();
    let content = noise(1_000_000);
    rig.file("a", &content);
    let copier = rig.copier(slow());
    copier.begin(rig.order("a"));
    until(|| copier.progress() > 0);
    copier.suspend();
    std::thread::sleep(Duration::from_millis(50));
    let before = copier.progress();
    std::thread::sleep(Duration::from_millis(1500));
    // The piece that was under way may still have come; at 100 kB/s there would have been more.
    assert!(copier.progress() - before <= 64 << 10);
    assert!(rig.there()[0].starts_with(DRAFT));
    copier.resume();
    until(|| copier.progress() > before + (64 << 10));
    copier.cancel();
    assert_eq!(end(&copier), Outcome::Cancelled);
    assert_eq!(rig.there(), [""; 0]);
    drop(copier);
    assert!(is_verified(&rig.copy("a", Options::default())) && rig.copied("a") == content);
    // Ending the copier gives up what is under way.
    let copier = rig.copier(slow());
    copier.begin(rig.order("a"));
    until(|| copier.progress() > 0);
    drop(copier);
    assert_eq!(rig.there(), ["a"]);
}

#[test]
fn a_command_copies_instead() {
    let command = |text: &str| Options { command: Some(text.parse().unwrap()), ..Options::default() };
    let rig = Rig::new();
    let odd = "it's $(touch oops) `touch oops`; \"x\" \\";
    rig.file(odd, b"content");
    assert!(is_verified(&rig.copy(odd, command("cp {src} {dst}"))));
    assert_eq!(rig.copied(odd), b"content");
    assert!(!Path::new("oops").exists());
    let times = |folder: &Path| fs::metadata(folder.join(odd)).unwrap().modified().unwrap();
    assert_eq!(times(&rig.folders.buffer), times(&rig.folders.storage), "cp without -p");
    let with = Options { checksum: true, ..command("cp {src} {dst}") };
    rig.file(odd, b"another");
    assert!(is_verified(&rig.copy(odd, with)));
    for wrong in ["false {src} {dst}", "head -c 3 {src} > {dst}", "true {src} {dst}", "ln -s {src} {dst}"] {
        rig.file(odd, b"content");
        let outcome = rig.copy(odd, command(wrong));
        assert!(matches!(outcome, Outcome::Failed(_)), "{wrong}: {outcome:?}");
    }
    let altered = Options { checksum: true, ..command("tr o 0 < {src} > {dst}") };
    assert!(matches!(rig.copy(odd, altered), Outcome::Failed(_)), "the size alone would not tell");
    assert_eq!(rig.there(), [odd]);
    assert!("cp {src} /tmp".parse::<Template>().is_err() && "cp".parse::<Template>().is_err());
}

/// Where a write through a mapping changes no time, only the content tells: tmpfs.
#[test]
fn a_copy_in_doubt_is_compared_before_it_is_made_again() {
    let place = tempfile::tempdir_in("/dev/shm").unwrap();
    let rig = Rig::new();
    fs::remove_dir(&rig.folders.buffer).unwrap();
    symlink(place.path(), &rig.folders.buffer).unwrap();
    rig.file("a", b"content");
    assert!(is_verified(&rig.copy("a", Options::default())));
    assert_eq!(rig.copy("a", Options::default()), Outcome::Confirmed);
    fs::write(rig.folders.storage.join("a"), "somebody else's").unwrap();
    let outcome = rig.copy("a", Options::default());
    assert!(matches!(&outcome, Outcome::Failed(why) if why.contains("newer")), "{outcome:?}");
}

#[test]
fn a_command_is_stopped_while_it_has_to_rest() {
    let rig = Rig::new();
    rig.file("a", b"12345");
    let count = rig.dir.path().join("count");
    let script = format!(
        "while ! test -e '{0}.end'; do echo >> '{0}'; sleep 0.01; done; cp {{src}} {{dst}}",
        count.display()
    );
    let copier = rig.copier(Options { command: Some(script.parse().unwrap()), ..Options::default() });
    copier.begin(rig.order("a"));
    let steps = || fs::metadata(&count).map_or(0, |meta| meta.len());
    until(|| steps() > 1);
    copier.suspend();
    let rests = || {
        let before = steps();
        std::thread::sleep(Duration::from_millis(300));
        steps() == before
    };
    until(rests);
    let before = steps();
    copier.resume();
    until(|| steps() > before);
    copier.suspend();
    std::thread::sleep(Duration::from_millis(50));
    copier.cancel();
    assert_eq!(end(&copier), Outcome::Cancelled);
    let before = steps();
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!((steps(), rig.there().len()), (before, 0), "it was ended, not only stopped");
    fs::write(count.with_extension("end"), "").unwrap();
    copier.begin(rig.order("a"));
    assert!(is_verified(&end(&copier)));
}
