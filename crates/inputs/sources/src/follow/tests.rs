//! Files that grow, in every format.

use super::*;
use crate::request::Request;
use std::io::Write;
use tmio_trace::block::BlockEncoder;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{ClockSample, Direction, FilePointer, Flags, Header, OpKind, Operation, RankInfo, TraceEnd};

const SECOND: i64 = 1_000_000_000;

/// What was told, in short.
#[derive(Debug, Default)]
struct Told {
    restarts: usize,
    streams: Vec<String>,
    requests: Vec<Request>,
    flushes: Vec<(usize, i64)>,
    warnings: Vec<String>,
    clock: Option<i64>,
}

impl Told {
    fn look(&mut self, follower: &mut Follower) -> Status {
        follower.poll(&mut |event| self.take(event)).unwrap()
    }

    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Restarted => *self = Told { restarts: self.restarts + 1, ..Told::default() },
            Event::Stream(stream) => self.streams.push(stream.name.clone()),
            Event::Requests { requests, .. } => self.requests.extend(requests),
            Event::Flush { stream, until } => self.flushes.push((stream, until)),
            Event::Clock { origin, .. } => self.clock = Some(origin),
            Event::Warning(text) => self.warnings.push(text.to_owned()),
        }
    }
}

struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn new() -> Self {
        Place { dir: tempfile::tempdir().unwrap() }
    }

    fn path(&self) -> PathBuf {
        self.dir.path().join("trace")
    }

    fn follower(&self) -> Follower {
        Follower::new(&self.path(), Span::Actual, OpenOptions::default())
    }

    fn append(&self, name: &str, bytes: &[u8]) {
        let path = self.dir.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let mut file = std::fs::OpenOptions::new().append(true).create(true).open(path).unwrap();
        file.write_all(bytes).unwrap();
    }
}

fn header(job: &str, ranks: u32) -> Vec<u8> {
    let header = Header {
        version: 1,
        job: job.into(),
        ranks,
        executable: "app".into(),
        start: 5,
        mpi: String::new(),
        tmio: String::new(),
        ..Header::default()
    };
    frame::encode(FrameKind::Header, &header).unwrap()
}

fn rank(rank: u32) -> Vec<u8> {
    let clock = vec![ClockSample { local: 100, job: 0, real: 0, error: 0 }];
    frame::encode(FrameKind::Rank, &RankInfo { rank, clock, ..RankInfo::default() }).unwrap()
}

/// A block of one write of a second, which ends at `end` s; 100 ns are between the rank's clock and job time.
fn block(rank: u32, seq: u64, end: i64) -> Vec<u8> {
    let mut encoder = BlockEncoder::default();
    assert!(encoder.restart(1));
    encoder.push(&Operation {
        kind: OpKind::data(Direction::Write, FilePointer::Explicit, false, false, false),
        flags: Flags::default(),
        thread: 0,
        file: 0,
        offset: 0,
        bytes: 1 << 20,
        start: (end - 1) * SECOND + 100,
        end: end * SECOND + 100,
        nonblocking: None,
    });
    encoder.finish(rank, seq, end * SECOND + 100, Vec::new()).unwrap().to_vec()
}

fn end(ranks: u32, operations: u64, at: i64) -> Vec<u8> {
    frame::encode(FrameKind::End, &TraceEnd { end: at * SECOND, ranks, operations }).unwrap()
}

#[test]
fn our_trace_from_before_its_beginning_to_its_end() {
    let place = Place::new();
    let (mut follower, mut told) = (place.follower(), Told::default());
    assert_eq!(told.look(&mut follower), Status::default());
    place.append("trace.parts/a", &[header("1", 2), rank(0)].concat());
    place.append("trace.parts/b", &rank(1));
    assert!(told.look(&mut follower).found);
    place.append("trace.parts/a", &block(0, 0, 1));
    let status = told.look(&mut follower);
    assert!(status.grew && status.unsettled && told.flushes.is_empty(), "one rank of two");
    // A block that comes in two pieces.
    let whole = block(1, 0, 2);
    place.append("trace.parts/b", &whole[..30]);
    assert!(told.look(&mut follower).grew && told.requests.len() == 1);
    place.append("trace.parts/b", &whole[30..]);
    let status = told.look(&mut follower);
    assert!(!status.unsettled && told.requests.len() == 2);
    assert_eq!(told.flushes, [(0, SECOND)], "what both ranks have told");
    assert_eq!(told.requests[1].start, SECOND, "in job time");
    assert!(!told.look(&mut follower).grew);
    // The commit: the same blocks, and one more that was never in the parts.
    let all =
        [header("1", 2), rank(0), block(0, 0, 1), block(0, 1, 3), rank(1), block(1, 0, 2), end(2, 3, 4)];
    place.append("trace", &all.concat());
    std::fs::remove_dir_all(place.dir.path().join("trace.parts")).unwrap();
    assert!(told.look(&mut follower).ended);
    assert_eq!(told.requests.len(), 3, "each once");
    assert_eq!(told.flushes, [(0, SECOND), (0, 4 * SECOND)]);
    assert!(told.look(&mut follower).ended && told.flushes.len() == 2);
    assert_eq!((told.restarts, told.warnings.len()), (0, 0), "{told:?}");
}

#[test]
fn another_run_under_the_same_name() {
    let place = Place::new();
    place.append("trace", &[header("1", 1), rank(0), block(0, 0, 1), end(1, 1, 2)].concat());
    let (mut follower, mut told) = (place.follower(), Told::default());
    assert!(told.look(&mut follower).ended && told.requests.len() == 1);
    place.append("trace.parts/a", &[header("2", 1), rank(0), block(0, 0, 7)].concat());
    let status = told.look(&mut follower);
    assert!(!status.ended && status.found, "{status:?}");
    assert_eq!((told.restarts, told.flushes.as_slice()), (1, &[(0, 7 * SECOND)][..]));
    // Its own parts written anew.
    std::fs::remove_dir_all(place.dir.path().join("trace.parts")).unwrap();
    place.append("trace.parts/a", &[header("3", 1), rank(0), block(0, 0, 5)].concat());
    told.look(&mut follower);
    assert_eq!((told.restarts, told.flushes.as_slice()), (2, &[(0, 5 * SECOND)][..]));
    // A follower that comes now takes the job that runs, and not the old trace.
    let (mut late, mut heard) = (place.follower(), Told::default());
    assert!(!heard.look(&mut late).ended);
    assert_eq!((heard.restarts, heard.flushes.as_slice()), (0, &[(0, 5 * SECOND)][..]));
    std::fs::remove_file(place.path()).unwrap();
    place.append("trace", &[header("3", 1), rank(0), block(0, 0, 5), end(1, 1, 9)].concat());
    assert!(heard.look(&mut late).ended && heard.requests.len() == 1);
}

#[test]
fn a_rank_that_has_nothing_to_say() {
    let place = Place::new();
    let (mut follower, mut told) = (place.follower(), Told::default());
    place.append("trace.parts/a", &[header("1", 2), rank(0), rank(1), block(1, 0, 3)].concat());
    assert!(told.look(&mut follower).unsettled);
    follower.settle(&mut |event| told.take(event));
    assert_eq!(told.flushes, [(0, 3 * SECOND)]);
    assert!(!told.look(&mut follower).unsettled);
}

#[test]
fn damage_between_blocks() {
    let place = Place::new();
    let (mut follower, mut told) = (place.follower(), Told::default());
    let mut broken = block(0, 1, 2);
    broken.truncate(40);
    place.append("trace.parts/a", &[header("1", 1), rank(0), block(0, 0, 1), broken].concat());
    told.look(&mut follower);
    for seq in 2..5 {
        place.append("trace.parts/a", &block(0, seq, seq as i64 + 1));
        told.look(&mut follower);
    }
    assert_eq!(told.requests.len(), 4, "{told:?}");
}

/// TMIO's phases: what the C++ tracer appends at a flush.
fn tmio_line(start: f64) -> String {
    let end = start + 1.0;
    let section = |mode: &str, lists: [String; 3]| {
        let [b, s, e] = lists;
        format!(
            "\t{{\"{mode}\":{{\"total_bytes\": 1.0e+06,\"number_of_ranks\": 2,\
             \"bandwidth\": {{\"b_rank_avr\": [{b}],\
             \"t_rank_s\": [{s}],\"t_rank_e\": [{e}]}}}}}}\n"
        )
    };
    let empty = || [const { String::new() }; 3];
    let full = ["1000000.0".into(), start.to_string(), end.to_string()];
    let modes = ["read_sync", "read_async_t", "read_async_b", "write_async_t", "write_async_b"];
    let mut text: String = modes.iter().map(|mode| section(mode, empty())).collect();
    text += &section("write_sync", full);
    text + "\t{\"io_time\":{\"delta_t_agg\": 1.0e+00}}\n"
}

#[test]
fn tmio_json_lines() {
    let place = Place::new();
    let (mut follower, mut told) = (place.follower(), Told::default());
    let first = tmio_line(4.0);
    place.append("trace", &first.as_bytes()[..20]);
    assert!(!told.look(&mut follower).found, "too little to tell what it is");
    place.append("trace", &first.as_bytes()[20..600]);
    assert!(told.look(&mut follower).found && told.flushes.is_empty());
    place.append("trace", &first.as_bytes()[600..]);
    told.look(&mut follower);
    assert_eq!(told.flushes, [(0, 5 * SECOND)], "{told:?}");
    place.append("trace", (tmio_line(14.0) + &tmio_line(24.0)).as_bytes());
    told.look(&mut follower);
    assert_eq!(told.flushes, [5, 15, 25].map(|t| (0, t * SECOND)), "one for each flush");
    assert_eq!(told.requests.len(), 3);
    // A new run truncates the file.
    std::fs::write(place.path(), tmio_line(1.0)).unwrap();
    told.look(&mut follower);
    assert_eq!((told.restarts, told.flushes.as_slice()), (1, &[(0, 2 * SECOND)][..]));
    // And one that is longer than what was there.
    std::fs::write(place.path(), tmio_line(3.0) + &tmio_line(6.0) + &tmio_line(9.0)).unwrap();
    told.look(&mut follower);
    assert_eq!((told.restarts, told.requests.len()), (2, 3));
    assert!(told.warnings.is_empty(), "{told:?}");
}

#[test]
fn tmio_message_pack() {
    let flush = |start: i64| {
        let trace = [header("1", 1), rank(0), block(0, 0, start + 1), end(1, 1, start + 1)].concat();
        let trace = tmio_trace::Trace::from_reader(Path::new("x"), Box::new(std::io::Cursor::new(trace)));
        let mut bytes = Vec::new();
        tmio_trace::tmio::convert(trace, tmio_trace::tmio::Format::Msgpack, None, &mut bytes).unwrap();
        bytes
    };
    let place = Place::new();
    let (mut follower, mut told) = (place.follower(), Told::default());
    for byte in flush(4) {
        place.append("trace", &[byte]);
        told.look(&mut follower);
    }
    assert_eq!((told.flushes.as_slice(), told.requests.len()), (&[(0, 5 * SECOND)][..], 1));
    place.append("trace", &[flush(10), flush(20)].concat());
    told.look(&mut follower);
    assert_eq!(told.flushes.len(), 3);
    assert!(told.warnings.is_empty(), "{told:?}");
}

#[test]
fn tables_of_requests_and_of_samples() {
    let place = Place::new();
    let (mut follower, mut told) = (place.follower(), Told::default());
    place.append("trace", b"# a comment\nrank,start,end,bytes\n");
    told.look(&mut follower);
    place.append("trace", b"0,1,2,1000\n1,1,2");
    told.look(&mut follower);
    assert_eq!((told.requests.len(), told.flushes.as_slice()), (1, &[(0, 2 * SECOND)][..]));
    place.append("trace", b".5,1000\n");
    told.look(&mut follower);
    assert_eq!((told.requests.len(), told.flushes.len()), (2, 2), "{told:?}");

    let place = Place::new();
    let (mut follower, mut told) = (place.follower(), Told::default());
    place.append("trace", b"time,load,power\n0,0.5,100\n1,0.5,200\n");
    told.look(&mut follower);
    place.append("trace", b"2,0.25,100\n3,0.5,200\n");
    told.look(&mut follower);
    let name = place.path().display().to_string();
    assert_eq!(told.streams, [format!("{name}: load"), format!("{name}: power")]);
    assert_eq!(told.requests.len(), 6);
    assert_eq!(told.flushes, [(0, SECOND), (1, SECOND), (0, 3 * SECOND), (1, 3 * SECOND)]);
}

#[test]
fn the_metric_proxy() {
    let place = Place::new();
    let options = OpenOptions { metric: Some("write".into()), ..OpenOptions::default() };
    let mut follower = Follower::new(&place.path(), Span::Actual, options);
    let mut told = Told::default();
    place.append("trace", b"{\"metrics\": {\"bytes_write\": [[0, 1], [1, 4]], \"load\": [[0, 1]]}}\n{\"metr");
    told.look(&mut follower);
    place.append("trace", b"ics\": {\"bytes_write\": [[1, 4], [2, 0]], \"load\": [[1, 1]]}}\n");
    told.look(&mut follower);
    assert_eq!(told.streams.len(), 1, "{told:?}");
    assert_eq!((told.requests.len(), told.flushes.as_slice()), (2, &[(0, SECOND), (0, 2 * SECOND)][..]));
}

#[test]
fn what_cannot_be_followed_is_said() {
    let place = Place::new();
    place.append("trace", &[0x1f, 0x8b, 8, 0]);
    assert!(place.follower().poll(&mut |_| {}).is_err());
    let place = Place::new();
    std::fs::create_dir(place.path()).unwrap();
    let problem = place.follower().poll(&mut |_| {}).unwrap_err().to_string();
    assert!(problem.contains("directory"), "{problem}");
    let place = Place::new();
    place.append("trace", &[b'x'; 5000]);
    let (mut follower, mut told) = (place.follower(), Told::default());
    assert!(!told.look(&mut follower).found && !told.look(&mut follower).found);
    assert_eq!(told.warnings.len(), 1);
}
