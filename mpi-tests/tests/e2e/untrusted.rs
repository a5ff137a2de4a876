//! What a part says about other files is not believed: whoever can write to the directory of a trace may have
//! written it.

use crate::harness::{ftio, run_limited};
use crate::traced::Scratch;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{FORMAT_VERSION, Header, RankInfo, liveness};

/// A part of a job that seems to run here, whose records are in `spool`.
fn part_with(scratch: &Scratch, spool: &Path) -> PathBuf {
    let header = Header { version: FORMAT_VERSION, job: "1".into(), ranks: 1, ..Header::default() };
    let mut info = RankInfo { spool: spool.display().to_string(), host: "h".into(), ..RankInfo::default() };
    liveness::identify(&mut info);
    let frames = [frame::encode(FrameKind::Header, &header), frame::encode(FrameKind::Rank, &info)];
    let bytes: Vec<u8> = frames.into_iter().flat_map(|frame| frame.expect("it is small")).collect();
    let parts = tmio_trace::parts::directory(&scratch.trace());
    fs::create_dir(&parts).expect("the scratch directory can be written");
    fs::write(parts.join("h.1.1"), bytes).expect("the scratch directory can be written");
    scratch.trace()
}

#[test]
fn a_spool_that_never_ends_or_never_answers() {
    let scratch = Scratch::new();
    let pipe = scratch.path().join("pipe.spool");
    let made = Command::new("mkfifo").arg(&pipe).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe can be made");
    let endless = scratch.path().join("endless.spool");
    std::os::unix::fs::symlink("/dev/zero", &endless).expect("a link can be made");
    // Larger than the memory that the program is given below, and no room on the disk.
    let large = scratch.path().join("large.spool");
    fs::File::create(&large).and_then(|file| file.set_len(64 << 30)).expect("a sparse file can be made");
    for spool in [Path::new("/dev/zero"), &endless, &pipe, &large, Path::new("/etc/shadow")] {
        let scratch = Scratch::new();
        let trace = part_with(&scratch, spool);
        for what in [&["info"][..], &["info", "--json"], &["recover"]] {
            // A gigabyte of address space: enough for ftio, and no more than that.
            let mut command = Command::new("prlimit");
            command.arg("--as=1073741824").arg(ftio()).args(what).arg(&trace);
            let outcome = run_limited(command, Duration::from_secs(20));
            let label = format!("{} {}", what.join(" "), spool.display());
            assert!(outcome.code.is_some_and(|code| code < 128), "{label}: {outcome:?}");
            let said = outcome.stdout + &outcome.stderr;
            assert!(!said.contains("memory allocation") && !said.contains("panicked"), "{label}: {said}");
            assert!(!said.contains("root:"), "{label}: {said}");
        }
    }
}
