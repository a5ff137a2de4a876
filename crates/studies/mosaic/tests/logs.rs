//! Logs of every kind: which layer is taken, which operations, what makes a log invalid; and real ones.

mod support;

use darshan_log::write::{Darshan2Writer, LogWriter};
use darshan_log::{
    Darshan2Counter, Darshan2Record, Darshan2Time, DxtRecord, Format, Job, Log, ModuleId, MpiioCounter,
    MpiioRecord, MpiioTime, PosixCounter, PosixRecord, PosixTime, Segment, StdioCounter, StdioRecord,
    StdioTime, Timestamp,
};
use mosaic::archive::record::examine;
use mosaic::archive::{Record, Settings};
use mosaic::log::{InvalidKind, Origin, Reading};
use mosaic::{Thresholds, log};
use sources::Layer as FtioLayer;
use std::path::Path;

fn job(seconds: i64) -> Job {
    Job {
        nprocs: 4,
        start: Timestamp { seconds: 1000, nanoseconds: 0 },
        end: Timestamp { seconds: 1000 + seconds, nanoseconds: 0 },
        command: "/bin/app".into(),
        ..Job::default()
    }
}

fn posix(id: u64, start: f64, end: f64, bytes: i64) -> PosixRecord {
    let mut record = PosixRecord::new(id, -1);
    record[PosixCounter::Opens] = 4;
    record[PosixCounter::Seeks] = 8;
    record[PosixCounter::BytesWritten] = bytes;
    record[PosixTime::OpenStartTimestamp] = start;
    record[PosixTime::OpenEndTimestamp] = start;
    record[PosixTime::CloseStartTimestamp] = end;
    record[PosixTime::CloseEndTimestamp] = end;
    record[PosixTime::WriteStartTimestamp] = start;
    record[PosixTime::WriteEndTimestamp] = end;
    record
}

fn mpiio(id: u64, start: f64, end: f64, bytes: i64) -> MpiioRecord {
    let mut record = MpiioRecord::new(id, -1);
    record[MpiioCounter::CollOpens] = 4;
    record[MpiioCounter::BytesWritten] = bytes;
    record[MpiioTime::OpenStartTimestamp] = start;
    record[MpiioTime::OpenEndTimestamp] = start;
    record[MpiioTime::CloseStartTimestamp] = end;
    record[MpiioTime::CloseEndTimestamp] = end;
    record[MpiioTime::WriteStartTimestamp] = start;
    record[MpiioTime::WriteEndTimestamp] = end;
    record
}

fn stdio(id: u64, start: f64, end: f64, bytes: i64) -> StdioRecord {
    let mut record = StdioRecord::new(id, 0);
    record[StdioCounter::Opens] = 1;
    record[StdioCounter::BytesWritten] = bytes;
    record[StdioTime::OpenStartTimestamp] = start;
    record[StdioTime::OpenEndTimestamp] = start;
    record[StdioTime::CloseStartTimestamp] = end;
    record[StdioTime::CloseEndTimestamp] = end;
    record[StdioTime::WriteStartTimestamp] = start;
    record[StdioTime::WriteEndTimestamp] = end;
    record
}

fn read(writer: &LogWriter, reading: Reading) -> Result<log::LoggedRun, log::Invalid> {
    let log = Log::from_bytes(writer.to_bytes().unwrap()).unwrap();
    log::read(&log, &reading, &Thresholds::default())
}

const GB: i64 = 1_000_000_000;

#[test]
fn one_layer_is_taken_the_heaviest_and_of_equals_the_highest() {
    let with = |m: i64, p: i64, s: i64| {
        let writer = LogWriter::new(Format::V3_41, job(100))
            .records(3, &[mpiio(1, 1.0, 2.0, m)])
            .records(4, &[posix(1, 1.0, 2.0, p)])
            .records(2, &[stdio(2, 3.0, 4.0, s)]);
        let found = read(&writer, Reading::default()).unwrap();
        (found.layer, found.run.writes.iter().map(|op| op.bytes).sum::<u64>() as i64)
    };
    assert_eq!(with(GB, GB, 5), (Some(FtioLayer::MpiIo), GB));
    assert_eq!(with(GB, 2 * GB, 5), (Some(FtioLayer::Posix), 2 * GB));
    assert_eq!(with(1, 1, 5), (Some(FtioLayer::Stdio), 5));
    assert_eq!(with(0, 0, 0), (None, 0));
    let writer = LogWriter::new(Format::V3_41, job(100))
        .records(3, &[mpiio(1, 1.0, 2.0, GB)])
        .records(4, &[posix(1, 1.0, 2.0, 2 * GB)]);
    let reading = Reading { layer: Some(FtioLayer::MpiIo), ..Reading::default() };
    let found = read(&writer, reading).unwrap();
    assert_eq!(found.layer, Some(FtioLayer::MpiIo));
    assert_eq!(found.run.metadata.iter().map(|requests| requests.count).sum::<u64>(), 8);
}

#[test]
fn metadata_is_what_reaches_the_server() {
    // 4 opens, 8 seeks and 4 closes of POSIX, 1 and 1 of STDIO; those of MPI-IO are the same as POSIX's.
    let writer = LogWriter::new(Format::V3_41, job(100))
        .records(3, &[mpiio(1, 1.0, 2.0, GB)])
        .records(4, &[posix(1, 1.0, 2.0, GB)])
        .records(2, &[stdio(2, 3.0, 4.0, 7)]);
    let found = read(&writer, Reading::default()).unwrap();
    assert_eq!(found.run.metadata.iter().map(|requests| requests.count).sum::<u64>(), 18);
    let only_mpiio = LogWriter::new(Format::V3_41, job(100)).records(3, &[mpiio(1, 1.0, 2.0, GB)]);
    let found = read(&only_mpiio, Reading::default()).unwrap();
    assert_eq!(found.run.metadata.iter().map(|requests| requests.count).sum::<u64>(), 8);
}

#[test]
fn standard_streams_are_no_files() {
    let writer = LogWriter::new(Format::V3_41, job(100))
        .records(2, &[stdio(15_920_181_672_442_173_319, 1.0, 2.0, GB)]);
    let found = read(&writer, Reading::default()).unwrap();
    assert_eq!((found.layer, found.run.metadata.len()), (None, 0));
}

#[test]
fn a_complete_dxt_trace_tells_more_than_counters() {
    let writes: Vec<Segment> = (0..10)
        .map(|i| Segment {
            offset: 0,
            length: GB / 10,
            start: 10.0 * f64::from(i),
            end: 10.0 * f64::from(i) + 1.0,
            thread: None,
        })
        .collect();
    let dxt = DxtRecord { id: 1, rank: 0, hostname: "n".into(), shared: true, writes, reads: vec![] };
    let log = |bytes| {
        LogWriter::new(Format::V3_41, job(100)).records(4, &[posix(1, 0.0, 91.0, bytes)]).dxt(
            ModuleId::DXT_POSIX,
            1,
            std::slice::from_ref(&dxt),
        )
    };
    let found = read(&log(GB), Reading::default()).unwrap();
    assert_eq!((found.origin, found.run.writes.len()), (Origin::Dxt, 10));
    let names = |writer: &LogWriter, settings: &Settings| {
        let log = Log::from_bytes(writer.to_bytes().unwrap()).unwrap();
        examine(&log, settings).unwrap().categories.names()
    };
    assert!(names(&log(GB), &Settings::default()).contains(&"write_periodic_second"));
    let counters = Settings { reading: Reading { dxt: false, ..Reading::default() }, ..Settings::default() };
    assert_eq!(names(&log(GB), &counters)[1], "write_steady");
    // It misses data, or is said to.
    let found = read(&log(2 * GB), Reading::default()).unwrap();
    assert_eq!((found.origin, found.notes.len()), (Origin::Counters, 1));
    let found = read(&log(GB).partial(ModuleId::DXT_POSIX), Reading::default()).unwrap();
    assert_eq!((found.origin, found.notes.len()), (Origin::Counters, 1));
}

#[test]
fn darshan_2_is_read_as_well() {
    let mut record = Darshan2Record::new(1, -1, "out");
    record[Darshan2Counter::PosixOpens] = 4;
    record[Darshan2Counter::CollOpens] = 4;
    record[Darshan2Counter::BytesWritten] = GB;
    record[Darshan2Time::OpenTimestamp] = 90.0;
    record[Darshan2Time::WriteStartTimestamp] = 90.0;
    record[Darshan2Time::WriteEndTimestamp] = 95.0;
    record[Darshan2Time::CloseTimestamp] = 95.0;
    let format = Format { major: 2, minor: 6 };
    let bytes = Darshan2Writer::new(format, job(100)).records(&[record]).to_bytes().unwrap();
    let run = examine(&Log::from_bytes(bytes).unwrap(), &Settings::default()).unwrap();
    assert_eq!(run.layer, Some(FtioLayer::MpiIo));
    assert_eq!(run.categories.names()[..2], ["read_insignificant", "write_on_end"]);
    assert_eq!(run.findings.metadata.operations, 8);
}

#[test]
fn impossible_logs_are_invalid() {
    let kind = |writer: &LogWriter| read(writer, Reading::default()).err().map(|invalid| invalid.kind);
    let with =
        |job: Job, record: PosixRecord| kind(&LogWriter::new(Format::V3_41, job).records(4, &[record]));
    let fine = || posix(1, 10.0, 20.0, 5);
    assert_eq!(with(job(100), fine()), None);
    assert_eq!(with(Job { nprocs: 0, ..job(100) }, fine()), Some(InvalidKind::ImpossibleJob));
    assert_eq!(with(job(0), fine()), Some(InvalidKind::ImpossibleJob));
    assert_eq!(with(job(-5), fine()), Some(InvalidKind::ImpossibleJob));
    // The slack of a clock of whole seconds, and its border.
    assert_eq!(with(job(100), posix(1, 10.0, 102.0, 5)), None);
    assert_eq!(with(job(100), posix(1, 10.0, 102.001, 5)), Some(InvalidKind::ImpossibleTimes));
    assert_eq!(with(job(100), posix(1, 30.0, 20.0, 5)), Some(InvalidKind::ImpossibleTimes));
    let no_times = || {
        let mut record = PosixRecord::new(1, -1);
        record[PosixCounter::BytesWritten] = 5;
        record
    };
    assert_eq!(with(job(100), no_times()), Some(InvalidKind::ImpossibleTimes));
    assert_eq!(
        Record::of("/none.darshan", &Settings::default()).invalid.unwrap().kind,
        InvalidKind::Unreadable
    );
}

#[test]
fn partial_modules_are_told() {
    let writer = LogWriter::new(Format::V3_41, job(100))
        .records(4, &[posix(1, 1.0, 2.0, GB)])
        .partial(ModuleId::POSIX);
    assert!(read(&writer, Reading::default()).unwrap().notes[0].contains("POSIX"));
}

/// The logs on which `scripts/reference` asks the Python FTIO and PyDarshan.
#[test]
fn logs_with_a_known_period_have_the_categories_that_follow() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..");
    let of = |name: &str| {
        let path = workspace.join("ftio-core/tests/reference/traces").join(name);
        Record::of(path.to_str().unwrap(), &Settings::default()).valid.unwrap()
    };
    // One file kept open: steady for the counters. The heatmap has two of every ten bins of 0.8 s.
    let heatmap = of("heatmap_4.darshan");
    assert!(heatmap.categories.names().contains(&"write_steady"));
    let witness = heatmap.findings.write.witness.unwrap();
    assert!((witness.period.unwrap() / 8.0 - 1.0).abs() < 0.03, "{witness:?}");
    // Twelve phases, 10.3 s apart.
    let segments = of("segments_4.darshan");
    assert_eq!(segments.origin, Origin::Dxt);
    assert!(segments.categories.names().contains(&"write_periodic_second"));
    for entry in std::fs::read_dir(workspace.join("crates/inputs/darshan-log/tests/reference")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "darshan") {
            let record = Record::of(path.to_str().unwrap(), &Settings::default());
            // Their counters are arbitrary numbers, but they can be read.
            let unreadable = record.invalid.is_some_and(|invalid| invalid.kind == InvalidKind::Unreadable);
            assert!(!unreadable, "{}", path.display());
        }
    }
}

/// The period of the writes, as `ftio FILE` finds it.
fn period_by_ftio(path: &std::path::Path) -> Option<f64> {
    use ftio_core::detect::{Options, detect};
    use sources::request::Mode;
    use sources::{Input, OpenOptions, open};
    let input = Input::new(path);
    let mut opened = open(&input, &OpenOptions::default()).unwrap();
    let options = Options { mode: Some(Mode::Write), ..Options::default() };
    let opened = opened.remove(0);
    detect(&opened.name.clone(), opened.into_source().unwrap(), &options).unwrap().detection.period
}

#[test]
fn real_logs_have_the_categories_that_are_known_of_them() {
    let test = "real_logs_have_the_categories_that_are_known_of_them";
    let Some(traces) = test_data::shared_or_skip(test, "traces/darshan2") else { return };
    let shared = traces.parent().and_then(Path::parent).unwrap();
    let of =
        |name: &str| Record::of(shared.join("traces").join(name).to_str().unwrap(), &Settings::default());
    // 512 ranks keep their file open: steady for the counters. The second witness says what ftio says of the
    // same heatmap.
    let e3sm = of("darshan/e3sm_io_heatmap_only.darshan").valid.unwrap();
    assert!(e3sm.categories.names().contains(&"write_steady"));
    let witness = e3sm.findings.write.witness.unwrap();
    assert_eq!(witness.period, period_by_ftio(&shared.join("traces/darshan/e3sm_io_heatmap_only.darshan")));
    // Written in a loop, 120 times and more.
    let dxt =
        of("darshan/treddy_mpi-io-test_id4373053_6-2-60198-9815401321915095332_1.darshan").valid.unwrap();
    assert_eq!(dxt.origin, Origin::Dxt);
    assert!(dxt.categories.names().contains(&"write_periodic_second"));
    // All others can be read; two logs of one machine have times that are not those of their job.
    let mut invalid = 0;
    for folder in ["darshan", "darshan2"] {
        for entry in std::fs::read_dir(shared.join("traces").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.to_str().unwrap().contains(".darshan") {
                let record = Record::of(path.to_str().unwrap(), &Settings::default());
                if let Some(reason) = record.invalid {
                    assert_eq!(reason.kind, InvalidKind::ImpossibleTimes, "{reason:?}");
                    invalid += 1;
                }
            }
        }
    }
    assert_eq!(invalid, 2);
}
