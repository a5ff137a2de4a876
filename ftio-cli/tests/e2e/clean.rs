//! `ftio recover --host`: spools of the dead, and what their users may have put in its way.
//!
//! Every attack is played as root, as in an epilog: whatever a user's spool says, nothing of anybody else's
//! is created, changed or removed, and nobody is waited for.

use crate::support::{ftio, skipped, stderr, stdout};
use std::ffi::OsStr;
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, lchown, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tmio_spool::{cell, layout};
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{ClockSample, Direction, FilePointer, Flags, Header, OpKind, RankInfo, Trace, liveness};

/// Users that need not be known to the system.
const ANNA: u32 = 54_331;
const BERT: u32 = 54_332;
/// What no trace begins with.
const THESIS: &str = "all that I know";

/// `spools/tmio-UID/1.spool` of a dead process of Anna's, and her folder `home`.
struct Rig {
    dir: TempDir,
    user: u32,
}

impl Rig {
    /// `None` if this process is not root's.
    fn new(user: u32) -> Option<Self> {
        if !files::user::is_root() {
            skipped("not root");
            return None;
        }
        let dir = tempfile::tempdir().unwrap();
        let rig = Rig { dir, user };
        fs::set_permissions(rig.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        rig.folder("spools", 0, 0o1777);
        rig.folder(&format!("spools/tmio-{user}"), user, 0o700);
        rig.folder("home", user, 0o755);
        rig.folder("home/out.msgpack.parts", user, 0o700);
        rig.folder("roots", 0, 0o700);
        Some(rig)
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn folder(&self, name: &str, user: u32, mode: u32) {
        fs::create_dir(self.at(name)).unwrap();
        fs::set_permissions(self.at(name), fs::Permissions::from_mode(mode)).unwrap();
        chown(self.at(name), Some(user), Some(user)).unwrap();
    }

    fn file(&self, name: &str, user: u32, content: &[u8]) -> PathBuf {
        let path = self.at(name);
        fs::write(&path, content).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        chown(&path, Some(user), Some(user)).unwrap();
        path
    }

    fn link(&self, name: &str, user: u32, leads_to: &Path) {
        symlink(leads_to, self.at(name)).unwrap();
        lchown(self.at(name), Some(user), Some(user)).unwrap();
    }

    fn part(&self) -> PathBuf {
        self.at("home/out.msgpack.parts/h.00000000000000aa.00000000000000bb")
    }

    /// A spool of a dead process with two operations, whose part is this.
    fn spool(&self, name: &str, part: &Path) -> PathBuf {
        self.file(&format!("spools/tmio-{}/{name}", self.user), self.user, &spool_of(self.user, part))
    }

    fn clean(&self) -> Output {
        finishes(Command::new(env!("CARGO_BIN_EXE_ftio")).args(["recover", "--host"]).arg(self.at("spools")))
    }

    /// Nothing is in root's folder, and all else that is not Anna's is as it was.
    fn nothing_of_roots(&self, what: &str) {
        let found: Vec<_> = fs::read_dir(self.at("roots")).unwrap().flatten().collect();
        assert!(found.is_empty(), "{what}: {found:?}");
    }
}

/// What a command that must not hang prints.
fn finishes(command: &mut Command) -> Output {
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if began.elapsed() > Duration::from_secs(100) {
            child.kill().unwrap();
            panic!("it hangs");
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    child.wait_with_output().unwrap()
}

/// Numbers of a process that has ended.
fn dead() -> RankInfo {
    let mut child = Command::new("true").spawn().unwrap();
    let mut info = RankInfo { rank: 3, host: "h".into(), pid: child.id(), ..RankInfo::default() };
    child.wait().unwrap();
    info.boot_id = liveness::boot_id();
    info.namespace = liveness::namespace();
    info.clock = vec![ClockSample { local: 0, job: 0, real: 0, error: 250 }];
    info
}

/// The bytes of a spool whose records belong to `part`.
pub fn spool_of(user: u32, part: &Path) -> Vec<u8> {
    const CELLS: usize = layout::SMALLEST_RING;
    let info = RankInfo { user: Some(user), ..dead() };
    let header = Header { version: 1, job: "1".into(), ranks: 4, number: Some(0xaa), ..Header::default() };
    let mut identity = (part.as_os_str().len() as u32).to_ne_bytes().to_vec();
    identity.extend(part.as_os_str().as_bytes());
    // No options of the job.
    identity.extend(0u32.to_ne_bytes());
    identity.extend(frame::encode(FrameKind::Header, &header).unwrap());
    identity.extend(frame::encode(FrameKind::Rank, &info).unwrap());
    let mut words = vec![0u64; layout::length(CELLS, 1) / 8];
    (words[0], words[layout::RANK], words[layout::PID]) = (layout::MAGIC, 3, u64::from(info.pid));
    (words[layout::RING_CELLS], words[layout::RINGS]) = (CELLS as u64, 1);
    words[layout::IDENTITY_LENGTH] = identity.len() as u64;
    let kind = OpKind::data(Direction::Write, FilePointer::Explicit, false, false, false);
    let record = |start: u64| [cell::identity(1, kind, Flags::default(), 0), start, start + 10, 64, 8];
    let records = [record(1000), record(2000)];
    words[layout::RING_HEADS_OFFSET / 8 + layout::RESERVED] = records.len() as u64;
    words[layout::RINGS_OFFSET / 8..][..records.concat().len()].copy_from_slice(&records.concat());
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
    bytes[layout::IDENTITY_OFFSET..][..identity.len()].copy_from_slice(&identity);
    bytes
}

fn operations(part: &Path) -> u64 {
    let parts = part.parent().unwrap();
    Trace::open(&parts.with_extension("")).unwrap().read(|_| {}).unwrap().operations
}

#[test]
fn records_join_their_part_in_the_name_of_their_user() {
    let Some(rig) = Rig::new(ANNA) else { return };
    let spool = rig.spool("1.spool", &rig.part());
    let output = rig.clean();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("1 spool removed"), "{}", stdout(&output));
    assert!(!spool.exists() && !rig.at(&format!("spools/tmio-{ANNA}")).exists());
    let meta = fs::metadata(rig.part()).unwrap();
    assert_eq!((meta.uid(), meta.mode() & 0o7777), (ANNA, 0o600));
    assert_ne!(meta.gid(), 0, "nothing is of root's group");
    assert_eq!(operations(&rig.part()), 2);
    // Another process of the same run: the part is there.
    rig.folder(&format!("spools/tmio-{ANNA}"), ANNA, 0o700);
    let before = fs::metadata(rig.part()).unwrap().len();
    rig.spool("2.spool", &rig.part());
    assert_eq!(rig.clean().status.code(), Some(0));
    assert!(fs::metadata(rig.part()).unwrap().len() > before);
    assert_eq!(fs::metadata(rig.part()).unwrap().uid(), ANNA);
}

/// The attack of the findings, and others that use links.
#[test]
fn links_lead_nowhere() {
    for what in ["to nothing", "to an empty file", "to a trace", "the folder", "a folder above", "two links"]
    {
        let Some(rig) = Rig::new(ANNA) else { return };
        let parts = rig.at("home/out.msgpack.parts");
        let name = rig.part().file_name().unwrap().to_owned();
        let aim = rig.at("roots").join(&name);
        match what {
            "to nothing" => rig.link(&format!("home/out.msgpack.parts/{}", name.display()), ANNA, &aim),
            "to an empty file" | "to a trace" => {
                let header = frame::encode(FrameKind::Header, &Header::default()).unwrap();
                let content = if what == "to a trace" { header } else { Vec::new() };
                fs::write(&aim, content).unwrap();
                rig.link(&format!("home/out.msgpack.parts/{}", name.display()), ANNA, &aim);
            }
            "two links" => {
                rig.link("home/second", ANNA, &aim);
                rig.link(&format!("home/out.msgpack.parts/{}", name.display()), ANNA, Path::new("../second"));
            }
            "the folder" => {
                fs::remove_dir(&parts).unwrap();
                rig.link("home/out.msgpack.parts", ANNA, &rig.at("roots"));
            }
            _ => {
                rig.folder("roots/out.msgpack.parts", 0, 0o700);
                fs::remove_dir(&parts).unwrap();
                fs::remove_dir(rig.at("home")).unwrap();
                rig.link("home", ANNA, &rig.at("roots"));
            }
        }
        let before = fs::read(&aim).ok();
        let spool = rig.spool("1.spool", &rig.part());
        let output = rig.clean();
        assert_eq!(output.status.code(), Some(1), "{what}: {}", stdout(&output));
        assert!(spool.exists(), "{what}: the records are kept");
        assert!(stderr(&output).contains("kept"), "{what}: {}", stderr(&output));
        assert_eq!(fs::read(&aim).ok(), before, "{what}");
        assert!(!rig.at("roots/out.msgpack.parts").join(&name).exists(), "{what}");
        if before.is_none() && what != "a folder above" {
            rig.nothing_of_roots(what);
        }
    }
}

#[test]
fn files_that_are_no_parts_are_left_alone() {
    for what in ["a thesis", "a second name", "of Bert", "a folder", "a pipe"] {
        let Some(rig) = Rig::new(ANNA) else { return };
        let header = frame::encode(FrameKind::Header, &Header::default()).unwrap();
        match what {
            "a thesis" => drop(rig.file("thesis", ANNA, THESIS.as_bytes())),
            "a second name" => fs::hard_link(rig.file("thesis", ANNA, &header), rig.at("second")).unwrap(),
            "of Bert" => drop(rig.file("thesis", BERT, b"")),
            "a folder" => rig.folder("thesis", ANNA, 0o700),
            _ => {
                assert!(Command::new("mkfifo").arg(rig.at("thesis")).status().unwrap().success());
                chown(rig.at("thesis"), Some(ANNA), None).unwrap();
            }
        }
        fs::rename(rig.at("thesis"), rig.part()).unwrap();
        // Anna may write to it: a check of the permissions alone would let it pass.
        fs::set_permissions(rig.part(), fs::Permissions::from_mode(0o777)).unwrap();
        let before = fs::metadata(rig.part()).unwrap();
        let spool = rig.spool("1.spool", &rig.part());
        let output = rig.clean();
        assert_eq!(output.status.code(), Some(1), "{what}: {}", stdout(&output));
        let after = fs::metadata(rig.part()).unwrap();
        assert_eq!((after.len(), after.mtime_nsec()), (before.len(), before.mtime_nsec()), "{what}");
        assert!(spool.exists(), "{what}");
    }
}

#[test]
fn odd_paths_of_parts() {
    let odd: [&[u8]; 8] = [
        b"",
        b"part",
        b"../x.parts/part",
        b"/",
        b"/a\0b.parts/x",
        b"/x.parts/..",
        b"/proc/self/cwd/x",
        b"/dev/shm/p",
    ];
    for path in odd {
        let Some(rig) = Rig::new(ANNA) else { return };
        let path = Path::new(OsStr::from_bytes(path));
        rig.spool("1.spool", path);
        let began = std::time::SystemTime::now();
        let output = finishes(
            Command::new(env!("CARGO_BIN_EXE_ftio"))
                .args(["recover", "--host"])
                .arg(rig.at("spools"))
                .current_dir(rig.at("roots")),
        );
        assert!(output.status.code().is_some_and(|code| code < 2), "{path:?}: {}", stderr(&output));
        rig.nothing_of_roots("");
        let left = fs::metadata("/dev/shm/p").and_then(|meta| meta.created());
        assert!(left.map_or(true, |made| made < began), "{path:?}");
    }
}

/// What is in a folder of spools without being one.
#[test]
fn odd_files_among_the_spools() {
    let Some(rig) = Rig::new(ANNA) else { return };
    let name = |name: &str| format!("spools/tmio-{ANNA}/{name}");
    assert!(Command::new("mkfifo").arg(rig.at(&name("pipe.spool"))).status().unwrap().success());
    fs::create_dir(rig.at(&name("folder.spool"))).unwrap();
    let secret = rig.file("roots/secret", 0, &spool_of(0, &rig.part()));
    rig.link(&name("link.spool"), ANNA, &secret);
    fs::hard_link(&secret, rig.at(&name("second.spool"))).unwrap();
    rig.link(&name("zero.spool"), ANNA, Path::new("/dev/zero"));
    // A whole machine's memory, if it were read.
    let huge = rig.spool("huge.spool", &rig.part());
    fs::File::options().write(true).open(&huge).unwrap().set_len(7 << 30).unwrap();
    rig.file(&name("damaged.spool"), ANNA, b"TMIOSPL1");
    rig.file(&name("of Bert.spool"), BERT, &spool_of(BERT, &rig.part()));
    let good = rig.spool("good.spool", &rig.part());
    let mut limited = Command::new("prlimit");
    limited
        .arg("--as=3000000000")
        .arg(env!("CARGO_BIN_EXE_ftio"))
        .args(["recover", "--host"])
        .arg(rig.at("spools"));
    let output = finishes(&mut limited);
    assert!(output.status.code().is_some_and(|code| code < 2), "{}", stderr(&output));
    assert!(stdout(&output).starts_with("1 spool removed"), "{}{}", stdout(&output), stderr(&output));
    assert!(!good.exists() && secret.exists() && huge.exists());
    assert_eq!(operations(&rig.part()), 2);
}

/// A folder is that of the user that it is named after, or it is not touched.
#[test]
fn folders_of_spools_that_are_not_what_they_say() {
    let Some(rig) = Rig::new(ANNA) else { return };
    let target = rig.at("home/out.msgpack.parts/h.00000000000000aa.00000000000000cc");
    for (name, owner, mode) in
        [("tmio-0", BERT, 0o700), ("tmio-54339", BERT, 0o700), ("tmio-54332", BERT, 0o770)]
    {
        rig.folder(&format!("spools/{name}"), owner, mode);
        rig.file(&format!("spools/{name}/1.spool"), owner, &spool_of(owner, &target));
    }
    rig.folder("roots/tmio", 0, 0o700);
    rig.file("roots/tmio/1.spool", 0, &spool_of(0, &target));
    rig.link("spools/tmio-54333", BERT, &rig.at("roots/tmio"));
    let output = rig.clean();
    assert!(stdout(&output).starts_with("0 spools removed"), "{}{}", stdout(&output), stderr(&output));
    assert!(!target.exists() && rig.at("roots/tmio/1.spool").exists());
    for name in ["tmio-0", "tmio-54339", "tmio-54332"] {
        assert!(rig.at(&format!("spools/{name}/1.spool")).exists(), "{name}");
    }
}

/// Bert leads Anna's records to another place of Anna's.
#[test]
fn nobody_leads_the_records_of_another() {
    let Some(rig) = Rig::new(ANNA) else { return };
    rig.folder("shared", 0, 0o1777);
    rig.folder("home/private.parts", ANNA, 0o700);
    rig.link("shared/out.msgpack.parts", BERT, &rig.at("home/private.parts"));
    let part = rig.at("shared/out.msgpack.parts/h.00000000000000aa.00000000000000bb");
    let spool = rig.spool("1.spool", &part);
    let output = rig.clean();
    assert_eq!(output.status.code(), Some(1), "{}", stdout(&output));
    assert_eq!(fs::read_dir(rig.at("home/private.parts")).unwrap().count(), 0);
    assert!(spool.exists());
    // A folder of Bert's that is not a link: nothing is created in it.
    fs::remove_file(rig.at("shared/out.msgpack.parts")).unwrap();
    rig.folder("shared/out.msgpack.parts", BERT, 0o777);
    rig.clean();
    assert_eq!(fs::read_dir(rig.at("shared/out.msgpack.parts")).unwrap().count(), 0);
}

/// A part of the user's own in a folder that everybody may write to is hers.
#[test]
fn a_part_in_a_folder_of_everybody() {
    let Some(rig) = Rig::new(ANNA) else { return };
    rig.folder("shared.parts", 0, 0o1777);
    let header = frame::encode(FrameKind::Header, &Header { version: 1, ..Header::default() }).unwrap();
    let part = rig.file("shared.parts/h.00000000000000aa.00000000000000bb", ANNA, &header);
    rig.spool("1.spool", &part);
    let output = rig.clean();
    assert_eq!(output.status.code(), Some(0), "{}{}", stdout(&output), stderr(&output));
    assert!(fs::metadata(&part).unwrap().len() > header.len() as u64);
}

/// Anna changes her part for a link to root's folder and back, as fast as she can, while root cleans.
#[test]
fn whoever_is_faster_root_stays_root() {
    let Some(rig) = Rig::new(ANNA) else { return };
    let name = rig.part().file_name().unwrap().to_str().unwrap().to_owned();
    let aim = rig.at("roots").join("authorized_keys");
    rig.folder("home/other.parts", ANNA, 0o700);
    rig.link(&format!("home/other.parts/{name}"), ANNA, &aim);
    let stop = Arc::new(AtomicBool::new(false));
    let home = files::Dir::open(&rig.at("home")).unwrap();
    let attacker = std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            while !stop.load(Relaxed) {
                let _ = home.exchange("other.parts", &home, "out.msgpack.parts");
            }
        }
    });
    for round in 0..40 {
        if !rig.at(&format!("spools/tmio-{ANNA}")).exists() {
            rig.folder(&format!("spools/tmio-{ANNA}"), ANNA, 0o700);
        }
        for spool in 0..5 {
            rig.spool(&format!("{round}-{spool}.spool"), &rig.part());
        }
        let output = rig.clean();
        assert!(output.status.code().is_some_and(|code| code < 2), "{}", stderr(&output));
        rig.nothing_of_roots("in between");
    }
    stop.store(true, Relaxed);
    attacker.join().unwrap();
}

#[test]
fn an_ordinary_user_cleans_what_is_his() {
    let Some(rig) = Rig::new(ANNA) else { return };
    rig.folder(&format!("spools/tmio-{BERT}"), BERT, 0o700);
    let of_bert = rig.file(&format!("spools/tmio-{BERT}/1.spool"), BERT, &spool_of(BERT, &rig.part()));
    rig.spool("1.spool", &rig.part());
    let output = finishes(
        Command::new("setpriv")
            .args(["--reuid", &ANNA.to_string(), "--regid", &ANNA.to_string(), "--clear-groups"])
            .arg(env!("CARGO_BIN_EXE_ftio"))
            .args(["recover", "--host"])
            .arg(rig.at("spools")),
    );
    assert!(stdout(&output).starts_with("1 spool removed"), "{}{}", stdout(&output), stderr(&output));
    assert!(of_bert.exists());
    assert_eq!(operations(&rig.part()), 2);
}

/// Lists of processes that were killed while they started.
#[test]
fn lists_of_others_and_links_stay() {
    let Some(rig) = Rig::new(ANNA) else { return };
    let old = std::time::SystemTime::now() - Duration::from_secs(100);
    let list = |name: &str, user: u32| {
        let path = rig.file(&format!("spools/{name}"), user, &[0; 8]);
        fs::File::options().write(true).open(&path).unwrap().set_modified(old).unwrap();
        path
    };
    let hers = list(&format!("tmio-{ANNA}-roll-00000000000000aa"), ANNA);
    let false_name = list(&format!("tmio-{BERT}-roll-00000000000000ab"), ANNA);
    let roots = rig.file("roots/list", 0, &[0; 8]);
    rig.link(&format!("spools/tmio-{ANNA}-roll-00000000000000ac"), ANNA, &roots);
    let pipe = rig.at(&format!("spools/tmio-{ANNA}-roll-00000000000000ad"));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let output = rig.clean();
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(!hers.exists() && false_name.exists() && roots.exists() && pipe.exists());
}

/// What a name says is not printed as it is.
#[test]
fn names_are_escaped() {
    let Some(rig) = Rig::new(ANNA) else { return };
    rig.folder("home/a\x1b[31m\nroot: all is well.parts", ANNA, 0o700);
    let part = rig.at("home/a\x1b[31m\nroot: all is well.parts/h.00000000000000aa.00000000000000bb");
    fs::write(&part, THESIS).unwrap();
    rig.spool("1.spool", &part);
    let output = rig.clean();
    let mut said = stdout(&output) + &stderr(&output);
    said.retain(|c| c != '\n');
    assert!(said.contains("\\u{a}root: all is well") && !said.contains('\x1b'), "{said}");
    assert!(!stderr(&output).contains("\nroot:"), "{}", stderr(&output));
}

#[test]
fn the_record_names_what_was_kept() {
    let Some(rig) = Rig::new(ANNA) else { return };
    fs::write(rig.part(), THESIS).unwrap();
    rig.spool("1.spool", &rig.part());
    let output = ftio(rig.dir.path(), &["recover", "--json", "--host", "spools"]);
    let record: serde_json::Value = serde_json::from_str(&stdout(&output)).unwrap();
    assert_eq!((&record["schema"], &record["failed"]), (&"ftio.clean/1".into(), &1.into()), "{record}");
    assert!(record["problems"][0].as_str().unwrap().contains("out.msgpack.parts"), "{record}");
    let mut text = String::new();
    fs::File::open(rig.part()).unwrap().read_to_string(&mut text).unwrap();
    assert_eq!(text, THESIS);
}
