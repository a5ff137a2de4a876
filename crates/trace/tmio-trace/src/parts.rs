//! `OUT.parts/`: where the blocks of unfinished jobs are.
//!
//! A part is named `HOST.JOB.NODE`: the host name, a number of the job and one of the node, both in
//! hexadecimal. Two jobs that were given the same output so never touch each other's parts, and two
//! nodes of the same name do not share one. Every rank begins with a header and a rank frame.

use crate::format::frame::is_trace_start;
use crate::format::frame::{FrameKind, FrameReader};
use crate::{Header, RankInfo};
use files::{Dir, Expect, Stat};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

/// Where the parts of the trace `path` are.
pub fn directory(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".parts");
    PathBuf::from(name)
}

/// The name of a part.
pub fn name(host: &str, job: u64, node: u64) -> String {
    format!("{host}.{job:016x}.{node:016x}")
}

/// Where processes that are not ranks of MPI take their numbers from, next to the part that they write to.
pub fn numbers(part: &Path) -> PathBuf {
    let mut name = part.as_os_str().to_owned();
    name.push(".processes");
    PathBuf::from(name)
}

/// The job that a part is of, by its name. `None`: any file that is not named like a part.
pub fn job_number(path: &Path) -> Option<u64> {
    let name = path.file_name()?.to_str()?;
    let mut fields = name.rsplitn(3, '.');
    let number = |field: Option<&str>| {
        let field = field.filter(|digits| digits.len() == 16)?;
        u64::from_str_radix(field, 16).ok()
    };
    let (node, job) = (number(fields.next()), number(fields.next()));
    node.and(job)
}

/// The parts of one job.
#[derive(Clone, Debug)]
pub struct Job {
    /// Number of the job, as its parts are named; `None`: they are not.
    pub number: Option<u64>,
    /// Its files, by name.
    pub files: Vec<PathBuf>,
    /// What is known of the job, if a header could be read: that of the host that began first.
    pub header: Option<Header>,
}

/// Opens a part. Whoever may write to its directory can have put a link, a pipe or anything else there: only
/// a regular file is opened.
pub fn open(path: &Path) -> io::Result<File> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Ok(Dir::open(directory)?.read(name, &Expect::anybodys())?)
}

/// What is known of a part; of a link, of the link itself.
pub fn look(path: &Path) -> io::Result<Stat> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    Ok(Dir::open(path.parent().unwrap_or(Path::new("")))?.look(name)?)
}

/// The jobs that have parts in this directory, the last one that began first.
pub fn jobs(directory: &Path) -> io::Result<Vec<Job>> {
    let mut found: BTreeMap<Option<u64>, Job> = BTreeMap::new();
    let opened = Dir::open(directory)?;
    for entry in opened.entries()? {
        let name = entry?.name;
        // It may be gone by now, when the job has ended, and anything may lie there.
        let Ok(file) = opened.read(&name, &Expect::anybodys()) else { continue };
        if !begins_like_a_trace(&file) {
            continue;
        }
        let path = directory.join(name);
        let number = job_number(&path);
        let job = found.entry(number).or_insert_with(|| Job { number, files: Vec::new(), header: None });
        if let Some(header) = header_in((&file).take(HEADER_WITHIN))
            && job.header.as_ref().is_none_or(|known| header.start < known.start)
        {
            job.header = Some(header);
        }
        job.files.push(path);
    }
    let mut jobs: Vec<Job> = found.into_values().collect();
    jobs.iter_mut().for_each(|job| job.files.sort());
    jobs.sort_by_key(|job| std::cmp::Reverse(job.header.as_ref().map(|header| header.start)));
    Ok(jobs)
}

/// A header is among the first bytes, or there is none.
const HEADER_WITHIN: u64 = 256 << 10;

fn begins_like_a_trace(file: &File) -> bool {
    let mut start = [0u8; 7];
    file.read_exact_at(&mut start, 0).is_ok() && is_trace_start(&start)
}

/// The parts of the very job whose recovered trace this is, if they are still there: they hold all that it
/// does, and what hosts have added since.
pub fn of_recovered(trace: &Path) -> Option<Job> {
    let directory = directory(trace);
    if !directory.is_dir() {
        return None;
    }
    let mut frames = FrameReader::new(File::open(trace).ok()?.take(HEADER_WITHIN));
    let mut run = None;
    while let Some(frame) = frames.next_frame().ok()? {
        match frame.kind {
            Some(FrameKind::Header) => {
                run = rmp_serde::from_slice(frame.body).ok().map(|header: Header| header.run());
            }
            // A job that ended has only ranks that did.
            Some(FrameKind::Rank) if RankInfo::parse(frame.body)?.finished => return None,
            Some(FrameKind::Rank) => break,
            _ => {}
        }
    }
    let run = run?;
    jobs(&directory).ok()?.into_iter().find(|job| job.header.as_ref().is_some_and(|its| its.run() == run))
}

/// The first header of a file.
pub fn first_header(path: &Path) -> Option<Header> {
    header_in(File::open(path).ok()?.take(HEADER_WITHIN))
}

/// The first header in some bytes.
pub fn header_in(bytes: impl Read) -> Option<Header> {
    let mut frames = FrameReader::new(bytes);
    while let Some(frame) = frames.next_frame().ok()? {
        if frame.kind == Some(FrameKind::Header) {
            return rmp_serde::from_slice(frame.body).ok();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names_tell_the_job() {
        let name = name("n01.cluster.org", 0xabc, 7);
        assert_eq!(job_number(Path::new(&name)), Some(0xabc));
        assert_eq!(job_number(Path::new("n01.cluster.org")), None);
        assert_eq!(job_number(Path::new("x.abc.7")), None);
    }

    #[test]
    fn a_recovered_trace_is_read_from_its_parts_while_they_are_there() {
        let base = std::env::temp_dir().join(format!("tmio-recovered-{}", std::process::id()));
        let trace = base.join("t.msgpack");
        fs::create_dir_all(directory(&trace)).unwrap();
        let write = |path: &Path, number: u64, finished: bool| {
            let header = Header { number: Some(number), ..Header::default() };
            let rank = RankInfo { finished, ..RankInfo::default() };
            let frames = [
                crate::format::frame::encode(FrameKind::Header, &header).unwrap(),
                crate::format::frame::encode(FrameKind::Rank, &rank).unwrap(),
            ];
            fs::write(path, frames.concat()).unwrap();
        };
        write(&trace, 7, false);
        assert!(of_recovered(&trace).is_none(), "there is no part");
        write(&directory(&trace).join(name("h1", 7, 1)), 7, false);
        assert_eq!(of_recovered(&trace).unwrap().number, Some(7));
        write(&trace, 8, false);
        assert!(of_recovered(&trace).is_none(), "another job");
        write(&trace, 7, true);
        assert!(of_recovered(&trace).is_none(), "the job has ended");
        fs::remove_dir_all(&base).unwrap();
    }
}
