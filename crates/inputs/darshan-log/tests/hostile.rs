//! Damaged, cut off and made-up logs: never a panic, never a loss without a word.

#[path = "support/exercise.rs"]
mod exercise;
#[path = "support/mutate.rs"]
mod mutate;
#[path = "support/samples.rs"]
mod samples;
mod support;

use darshan_log::write::LogWriter;
use darshan_log::{Compression, Error, Format, Job, Layer, Limits, Log, ModuleId};
use exercise::read_everything;
use mutate::{Random, damaged};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use samples::*;

fn damage_all(logs: Vec<(String, Vec<u8>)>, rounds: impl Fn(usize) -> usize) {
    let (mut opened, mut clean, mut tried) = (0, 0, 0);
    for (number, (name, log)) in logs.into_iter().enumerate() {
        let whole = read_everything(&log);
        assert_eq!((whole.opened, whole.errors), (true, 0), "{name}");
        let mut random = Random::new(number as u64);
        for _ in 0..rounds(log.len()) {
            let outcome = read_everything(&damaged(&log, &mut random));
            tried += 1;
            opened += u64::from(outcome.opened);
            clean += u64::from(outcome.errors == 0);
        }
    }
    eprintln!("{tried} damaged logs: {opened} opened, {clean} read without an error");
    assert!(opened > 0 && clean < tried);
}

#[test]
fn damaged_written_logs_do_not_panic() {
    damage_all(all_logs(), |_| 60);
}

#[test]
fn damaged_real_logs_do_not_panic() {
    let Some(shared) = support::shared_or_skip("damaged_real_logs_do_not_panic") else { return };
    let paths = ["traces/darshan", "traces/darshan2"].map(|dir| support::logs(&shared.join(dir))).concat();
    assert_eq!(paths.len(), 33);
    let read = |path: &std::path::PathBuf| (path.display().to_string(), std::fs::read(path).unwrap());
    damage_all(paths.iter().map(read).collect(), |len| (200_000 / len).clamp(3, 100));
}

/// Of a log cut anywhere, exactly the first records are read, and if any are missing an error says so.
#[test]
fn a_cut_log_yields_its_beginning_and_then_an_error() {
    for compression in COMPRESSIONS_3 {
        let bytes = log_3(Format::V3_21, ORDERS[0], compression, 2, NEWEST);
        let whole: Vec<_> = Log::from_bytes(bytes.as_slice()).unwrap().posix().map(Result::unwrap).collect();
        for len in 0..bytes.len() {
            let Ok(log) = Log::from_bytes(&bytes[..len]) else { continue };
            let items: Vec<_> = log.posix().collect();
            let read = items.iter().take_while(|item| item.is_ok()).count();
            assert!(
                items.iter().take(read).zip(&whole).all(|(item, record)| item.as_ref().unwrap() == record)
            );
            // With all records read, the checksum at the end of the stream may still be missing.
            let errors = items.len() - read;
            assert!(errors == 1 || read == whole.len() && errors == 0, "{compression:?} cut at {len}");
        }
    }
    for compression in COMPRESSIONS_2 {
        let bytes = log_2(Format::ALL[6], ORDERS[0], compression, 1);
        for len in (0..bytes.len()).step_by(7) {
            let Ok(log) = Log::from_bytes(&bytes[..len]) else { continue };
            let items: Vec<_> = log.darshan2().collect();
            let read = items.iter().take_while(|item| item.is_ok()).count();
            let at_a_border = compression == Compression::None && (len - 4096) % 1328 == 0;
            assert!(at_a_border || items.len() == read + 1, "{compression:?} cut at {len}");
        }
    }
}

/// A heatmap, or the counters, can be had from a log whose DXT is garbage: it is not even looked at.
#[test]
fn one_broken_module_does_not_hide_the_others() {
    let mut bytes = log_3(Format::V3_41, ORDERS[0], Compression::Zlib, 1, NEWEST);
    let log = Log::from_bytes(bytes.as_slice()).unwrap();
    for id in [ModuleId::DXT_POSIX, ModuleId::DXT_MPIIO] {
        let module = log.module(id).unwrap();
        let (start, len) = (module.offset as usize, module.compressed_len as usize);
        bytes[start..start + len].fill(0xa5);
    }
    let log = Log::from_bytes(bytes).unwrap();
    assert!(log.heatmap(Layer::Posix).unwrap().is_some());
    assert_eq!(log.posix().filter(|r| r.is_ok()).count(), 3);
    assert!(matches!(log.dxt_posix().next(), Some(Err(Error::Corrupt { .. }))));
    let damaged: Vec<_> =
        log.totals().into_iter().filter(|t| t.damage.is_some()).map(|t| t.info.id).collect();
    assert_eq!(damaged, [ModuleId::DXT_POSIX, ModuleId::DXT_MPIIO]);
}

/// What a hand-made module of one record is read as, with the fields given in order.
fn message_of(module: ModuleId, fields: &[u64]) -> String {
    let data: Vec<u8> = fields.iter().flat_map(|field| field.to_le_bytes()).collect();
    let bytes = LogWriter::new(Format::V3_41, Job::default()).module(module, 1, &data).to_bytes().unwrap();
    let log = Log::from_bytes(bytes).unwrap();
    let error = match module {
        ModuleId::HEATMAP => log.heatmaps().find_map(Result::err),
        _ => log.dxt_posix().find_map(Result::err),
    };
    error.expect("an error").to_string()
}

#[test]
fn lengths_are_checked_before_they_are_believed() {
    let width = 0.1f64.to_bits();
    let heatmap = |bins: i64| message_of(ModuleId::HEATMAP, &[1, 0, width, bins as u64, 0, 0, 9, 9]);
    assert!(heatmap(-1).contains("expected a number of bins, found -1"), "{}", heatmap(-1));
    assert!(heatmap(i64::MAX).contains("bins exceeds the limit of 65536"), "{}", heatmap(i64::MAX));
    assert!(heatmap(2).contains("record 0, inflated byte 64"), "{}", heatmap(2));
    let no_width = message_of(ModuleId::HEATMAP, &[1, 0, f64::NAN.to_bits(), 1, 0, 0, 9, 9]);
    assert!(no_width.contains("expected a positive bin width, found NaN"), "{no_width}");

    let dxt = |writes: i64, reads: i64| {
        let mut fields = vec![1, 0, 0];
        fields.extend([0; 8]);
        fields.extend([writes as u64, reads as u64, 5, 5, 5, 5]);
        message_of(ModuleId::DXT_POSIX, &fields)
    };
    assert!(dxt(-1, 0).contains("expected a number of segments, found -1"), "{}", dxt(-1, 0));
    assert!(dxt(0, i64::MAX).contains("exceeds the limit"), "{}", dxt(0, i64::MAX));
    assert!(dxt(1, 1).contains("expected a DXT segment of 32 bytes"), "{}", dxt(1, 1));
}

#[test]
fn limits_hold_and_can_be_raised() {
    let long = "x".repeat(70_000);
    let bytes = LogWriter::new(Format::V3_41, Job::default()).name(1, &long).to_bytes().unwrap();
    let log = Log::from_bytes(bytes.as_slice()).unwrap();
    assert!(matches!(log.names(), Err(Error::TooLarge { .. })));
    let mut limits = Limits::default();
    limits.name_bytes = 1 << 20;
    let log = Log::from_bytes_with("raised", bytes, limits).unwrap();
    assert_eq!(log.names().unwrap().get(1), Some(long.as_str()));
    assert_eq!(log.file(), "raised");

    let zeros = vec![0; 4 << 20];
    let bytes = LogWriter::new(Format::V3_41, Job::default())
        .compression(Compression::Bzip2)
        .module(ModuleId::POSIX, 4, &zeros)
        .to_bytes()
        .unwrap();
    let mut limits = Limits::default();
    (limits.inflated_bytes, limits.inflated_ratio) = (1 << 20, 1);
    let log = Log::from_bytes_with("lowered", bytes, limits).unwrap();
    let items: Vec<_> = log.posix().collect();
    assert!(items.len() >= (1 << 20) / 704 && items.len() < (2 << 20) / 704);
    assert!(matches!(items.last(), Some(Err(Error::TooLarge { .. }))));
}

proptest! {
    #![proptest_config(Config {
        cases: 300,
        rng_seed: RngSeed::Fixed(20_260_116),
        failure_persistence: None,
        ..Config::default()
    })]

    #[test]
    fn any_bytes_are_read_without_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
        read_everything(&bytes);
    }

    /// A header that looks right, then anything at all.
    #[test]
    fn any_body_is_read_without_a_panic(
        body in prop::collection::vec(any::<u8>(), 0..4000),
        format in 0..5usize,
        order in 0..2usize,
        compression in 0..3u8,
        extents in prop::collection::vec((0..6000u64, 0..5000u64), 17),
    ) {
        let format = FORMATS_3[format];
        let mut bytes = LogWriter::new(format, Job::default())
            .byte_order(ORDERS[order])
            .compression(COMPRESSIONS_3[usize::from(compression)])
            .to_bytes()
            .unwrap();
        let start = if format == Format::V3_41 { 32 } else { 24 };
        for (at, (offset, len)) in extents.into_iter().enumerate() {
            for (field, value) in [offset, len].into_iter().enumerate() {
                let at = start + 16 * at + 8 * field;
                let value = if order == 0 { value.to_le_bytes() } else { value.to_be_bytes() };
                bytes[at..at + 8].copy_from_slice(&value);
            }
        }
        bytes.extend(body);
        read_everything(&bytes);
    }
}
