//! What the writer writes, the reader reads: every format, byte order, compression and record version.

#[path = "support/samples.rs"]
mod samples;

use darshan_log::write::{Darshan2Writer, LogWriter, WriteError};
use darshan_log::{
    ByteOrder, Compression, Contents, Error, Format, Job, Layer, Log, ModuleId, MpiioTime, PosixRecord,
    StdioCounter,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use samples::*;

fn check_3(format: Format, order: ByteOrder, compression: Compression, streams: usize, versions: Versions) {
    let what = format!("{format} {order:?} {compression:?} {streams} streams, records {versions:?}");
    let log = Log::from_bytes(log_3(format, order, compression, streams, versions)).expect(&what);
    assert_eq!((log.format(), log.byte_order(), log.compression()), (format, order, compression), "{what}");
    assert_eq!(log.job(), &job(format), "{what}");

    let names = log.names().expect(&what);
    assert_eq!(
        names.iter().collect::<Vec<_>>(),
        [(1, "/scratch/one.dat"), (2, "/scratch/two.dat")],
        "{what}"
    );
    assert_eq!(log.job().mount_of("/scratch/one.dat").map(|m| m.fs_type.as_str()), Some("lustre"));

    let read: Vec<_> = log.posix().map(Result::unwrap).collect();
    let expected = [posix(1, -1), posix(2, 0), posix(2, 1)].map(|r| as_read_posix(r, versions[0]));
    assert_eq!(read, expected, "{what}");
    assert_eq!(read[0].mixes_streams(), versions[0] == 1);

    let mut expected = [mpiio(1, -1), mpiio(2, 3)];
    if versions[1] < 3 {
        for record in &mut expected {
            record[MpiioTime::CloseStartTimestamp] = -1.0;
            record[MpiioTime::OpenEndTimestamp] = -1.0;
        }
    }
    assert_eq!(log.mpiio().map(Result::unwrap).collect::<Vec<_>>(), expected, "{what}");

    let mut expected = stdio(1, 0);
    if versions[2] < 2 {
        expected[StdioCounter::Fdopens] = -1;
    }
    assert_eq!(log.stdio().map(Result::unwrap).collect::<Vec<_>>(), [expected], "{what}");

    let heatmaps = [heatmap(Layer::Posix, 0), heatmap(Layer::Posix, 1), heatmap(Layer::Stdio, 0)];
    assert_eq!(log.heatmaps().map(Result::unwrap).collect::<Vec<_>>(), heatmaps, "{what}");
    let sum = log.heatmap(Layer::Posix).unwrap().expect(&what);
    assert_eq!((sum.records, sum.write_bins[19], sum.bin_width), (2, 19 + 38, 0.1));
    assert_eq!(log.heatmap(Layer::MpiIo).unwrap(), None);

    let threads = versions[3] == 2;
    assert_eq!(
        log.dxt_posix().map(Result::unwrap).collect::<Vec<_>>(),
        [dxt(0, threads), dxt(1, threads)],
        "{what}"
    );
    let mut expected = dxt(0, versions[4] == 3);
    if versions[4] == 1 {
        expected.writes.iter_mut().chain(&mut expected.reads).for_each(|segment| segment.offset = -1);
    }
    assert_eq!(log.dxt_mpiio().map(Result::unwrap).collect::<Vec<_>>(), [expected], "{what}");

    let ids = [
        ModuleId::POSIX,
        ModuleId::MPIIO,
        ModuleId(8),
        ModuleId::STDIO,
        ModuleId::DXT_POSIX,
        ModuleId::DXT_MPIIO,
        ModuleId::HEATMAP,
    ];
    assert_eq!(log.modules().iter().map(|m| m.id).collect::<Vec<_>>(), ids, "{what}");
    let partial: Vec<_> = log.modules().iter().filter(|m| m.partial).map(|m| m.id).collect();
    assert_eq!(partial, [ModuleId::STDIO], "{what}");
    let totals = log.totals();
    assert!(totals.iter().all(|t| t.damage.is_none()));
    assert_eq!(
        totals.iter().map(|t| t.records()).collect::<Vec<_>>(),
        [Some(3), Some(2), None, Some(1), Some(2), Some(1), Some(3)]
    );
    let Contents::Counters(posix_totals) = &totals[0].contents else { panic!("{what}") };
    assert_eq!(posix_totals.uncertain_records, if versions[0] == 1 { 3 } else { 0 });
}

#[test]
fn every_format_is_read_in_every_byte_order_and_compression() {
    for format in FORMATS_3 {
        for order in ORDERS {
            for compression in COMPRESSIONS_3 {
                for streams in [1, 5] {
                    check_3(format, order, compression, streams, NEWEST);
                }
            }
        }
    }
}

#[test]
fn every_record_version_is_read_in_every_byte_order() {
    for order in ORDERS {
        for version in 1..=4 {
            let of = |newest: u32| version.min(newest);
            check_3(Format::V3_10, order, Compression::Zlib, 1, [version, of(3), of(2), of(2), of(3)]);
        }
    }
}

#[test]
fn every_format_of_darshan_2_is_read() {
    for format in Format::ALL.into_iter().filter(|f| f.major == 2) {
        for order in ORDERS {
            for compression in COMPRESSIONS_2 {
                for streams in [1, 3] {
                    let what = format!("{format} {order:?} {compression:?} {streams}");
                    let log = Log::from_bytes(log_2(format, order, compression, streams)).expect(&what);
                    assert_eq!((log.format(), log.byte_order()), (format, order), "{what}");
                    assert_eq!(log.compression(), compression, "{what}");
                    assert_eq!(log.job(), &job(format), "{what}");
                    let records: Vec<_> = log.darshan2().map(Result::unwrap).collect();
                    assert_eq!(records, [darshan2(1, -1), darshan2(2, 0), darshan2(3, 1)], "{what}");
                    assert_eq!(log.activities(Layer::Posix).count(), 3, "{what}");
                    assert_eq!(log.activities(Layer::Stdio).count(), 0, "{what}");
                    assert_eq!(log.totals().len(), 2, "{what}");
                    assert_eq!(log.posix().count() + log.heatmaps().count() + log.dxt_posix().count(), 0);
                }
            }
        }
    }
}

#[test]
fn logs_can_be_read_by_several_threads() {
    fn shared<T: Send + Sync>(value: T) -> T {
        value
    }
    let log = shared(Log::from_bytes(log_3(Format::V3_41, ORDERS[0], Compression::Zlib, 1, NEWEST)).unwrap());
    let counts = std::thread::scope(|scope| {
        let threads = [(); 4].map(|()| scope.spawn(|| log.posix().count()));
        threads.map(|thread| thread.join().unwrap())
    });
    assert_eq!(counts, [3; 4]);
}

#[test]
fn a_log_without_records_is_a_log() {
    for format in FORMATS_3 {
        let log = Log::from_bytes(LogWriter::new(format, job(format)).to_bytes().unwrap()).unwrap();
        assert_eq!(log.job().nprocs, 4);
        assert!(log.modules().is_empty() && log.names().unwrap().is_empty() && log.totals().is_empty());
        assert!(!log.is_partial());
    }
}

#[test]
fn a_module_that_kept_nothing_is_still_listed_as_partial() {
    let bytes =
        LogWriter::new(Format::V3_21, Job::default()).partial(ModuleId::DXT_POSIX).to_bytes().unwrap();
    let log = Log::from_bytes(bytes).unwrap();
    assert!(log.is_partial());
    assert!(log.module(ModuleId::DXT_POSIX).is_some_and(|m| m.partial && m.compressed_len == 0));
    assert_eq!(log.dxt_posix().count(), 0);
}

#[test]
fn versions_from_the_future_are_refused_by_name() {
    let bytes =
        LogWriter::new(Format::V3_41, Job::default()).module(ModuleId::POSIX, 9, &[0; 704]).to_bytes();
    let log = Log::from_bytes(bytes.unwrap()).unwrap();
    let items: Vec<_> = log.posix().collect();
    assert_eq!(items.len(), 1);
    let message = items[0].as_ref().unwrap_err().to_string();
    assert_eq!(message, "<memory>: POSIX record version is not supported: expected 1 to 4, found 9");

    let mut bytes = LogWriter::new(Format::V3_41, Job::default()).to_bytes().unwrap();
    bytes[..5].copy_from_slice(b"3.60\0");
    assert!(matches!(Log::from_bytes(bytes), Err(Error::Unsupported { .. })));
}

#[test]
fn other_files_are_told_apart() {
    let message = |bytes: &[u8]| Log::from_bytes(bytes).unwrap_err().to_string();
    assert!(message(b"").contains("an empty file"), "{}", message(b""));
    assert!(message(b"#!/bin/sh\nexit").contains("not a Darshan log"));
    assert!(message(b"3.14159 is pi and so on").contains("not a Darshan log"));
    assert!(message(b"1.19\0\0\0\0\0\x64\x35\x77").contains("found 1.19"));
    let wrapped = Darshan2Writer::new(Format::ALL[6], Job::default())
        .compression(Compression::None)
        .to_bytes()
        .unwrap();
    assert!(Log::from_bytes(&wrapped[..900]).unwrap_err().to_string().contains("truncated"));
}

#[test]
fn the_writer_refuses_what_would_not_be_a_log() {
    let job = Job { command: "x".repeat(4096), ..Job::default() };
    assert!(matches!(LogWriter::new(Format::V3_41, job).to_bytes(), Err(WriteError::TooLong { .. })));
    let log = || LogWriter::new(Format::V3_00, Job::default());
    assert_eq!(
        log().records::<PosixRecord>(7, &[]).to_bytes(),
        Err(WriteError::RecordVersion(ModuleId::POSIX, 7))
    );
    let no_slot = WriteError::NoSlot(Format::V3_00, ModuleId(40));
    assert_eq!(log().module(ModuleId(40), 1, &[1]).to_bytes(), Err(no_slot));
    assert!(log().compression(Compression::Gzip).to_bytes().is_err());
    assert!(log().module(ModuleId(1), 1, &[1]).byte_order(ByteOrder::Big).to_bytes().is_err());
    assert!(LogWriter::new(Format::ALL[0], Job::default()).to_bytes().is_err());
    assert!(Darshan2Writer::new(Format::V3_41, Job::default()).to_bytes().is_err());
}

prop_compose! {
    fn any_posix()(
        id in any::<u64>(),
        rank in -1i64..1000,
        counters in prop::collection::vec(any::<i64>(), darshan_log::PosixCounter::COUNT),
        bits in prop::collection::vec(any::<u64>(), darshan_log::PosixTime::COUNT),
    ) -> PosixRecord {
        let mut record = PosixRecord::new(id, rank);
        record.counters.copy_from_slice(&counters);
        record.fcounters.iter_mut().zip(bits).for_each(|(time, bits)| *time = f64::from_bits(bits));
        record
    }
}

fn config() -> Config {
    Config { cases: 64, rng_seed: RngSeed::Fixed(20_260_115), failure_persistence: None, ..Config::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_record_survives_any_log(
        records in prop::collection::vec(any_posix(), 0..20),
        format in 0..5usize,
        order in 0..2usize,
        compression in 0..3usize,
        streams in 1..9usize,
        version in 1..5u32,
    ) {
        let bytes = LogWriter::new(FORMATS_3[format], Job::default())
            .byte_order(ORDERS[order])
            .compression(COMPRESSIONS_3[compression])
            .streams(streams)
            .records(version, &records)
            .to_bytes()
            .unwrap();
        let log = Log::from_bytes(bytes).unwrap();
        let read: Vec<_> = log.posix().map(Result::unwrap).collect();
        prop_assert_eq!(read.len(), records.len());
        for (read, record) in read.into_iter().zip(records) {
            let expected = as_read_posix(record, version);
            prop_assert_eq!((read.id, read.rank), (expected.id, expected.rank));
            prop_assert_eq!(read.counters, expected.counters);
            // Bit patterns, so that NaN is compared as well.
            prop_assert_eq!(read.fcounters.map(f64::to_bits), expected.fcounters.map(f64::to_bits));
        }
    }

    #[test]
    fn any_text_survives(
        command in "[^\0\n]{0,200}",
        name in "[^\0]{1,200}",
        key in "[a-z_]{1,10}",
        value in "[^\0\n\r]{0,50}",
        nprocs in any::<i64>(),
        format in 0..5usize,
    ) {
        let metadata = vec![(key.clone(), value.clone())];
        let job = Job { command: command.clone(), nprocs, metadata, ..Job::default() };
        let bytes = LogWriter::new(FORMATS_3[format], job).name(5, &name).to_bytes().unwrap();
        let log = Log::from_bytes(bytes).unwrap();
        prop_assert_eq!(&log.job().command, &command);
        prop_assert_eq!(log.job().nprocs, nprocs);
        prop_assert_eq!(log.job().metadata_value(&key), Some(value.as_str()));
        let names = log.names().unwrap();
        prop_assert_eq!(names.get(5), Some(name.as_str()));
    }
}
