//! TMIO's formats: what is written is what is read, and stays as it is to the byte.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tmio_trace::tmio::{
    self, Digest, Flush, Format, IoTime, Mode, Phase, PhaseBuilder, Phases, ReadOptions, Series,
};
use tmio_trace::{AsyncTimes, Flags, OpKind, Operation, Trace};

fn read(bytes: &[u8]) -> Digest {
    tmio::read(Path::new("test"), bytes, ReadOptions::ALL).unwrap()
}

fn written(format: Format, phases: &Phases, processes: u32) -> Vec<u8> {
    let flush = Flush { phases, io_time: IoTime::of(phases, &BTreeMap::new()), processes };
    let mut bytes = Vec::new();
    tmio::write(format, &flush, &mut bytes).unwrap();
    bytes
}

/// Kind, microseconds from the one before, duration, how late the deadline is, bytes.
type Seed = (u8, i64, i64, i64, u64);

fn operations(seeds: &[Seed]) -> Vec<Operation> {
    let mut now = 1_000_000;
    let make = |&(kind, gap, duration, lead, bytes): &Seed| {
        let kind = OpKind(kind & 3);
        now += gap;
        let start = now;
        let end = start + duration;
        let times = AsyncTimes {
            issued: start,
            deadline: (end - lead).max(start),
            pending_until: start,
            test_time: 0,
        };
        let nonblocking = kind.is_nonblocking().then_some(times);
        Operation { kind, flags: Flags(0), thread: 0, file: 1, offset: 0, bytes, start, end, nonblocking }
    };
    seeds.iter().map(make).collect()
}

fn any_job() -> impl Strategy<Value = Phases> {
    let seed = (any::<u8>(), 0i64..3_000_000_000, 0i64..2_000_000_000, 0i64..1_000_000, 0u64..1 << 40);
    let ranks = prop::collection::vec(prop::collection::vec(seed, 0..30), 1..5);
    ranks.prop_map(|ranks| {
        let mut builder = PhaseBuilder::new().keep_requests();
        for (rank, seeds) in ranks.iter().enumerate() {
            builder.push(rank as u32, &operations(seeds)).unwrap();
        }
        builder.finish()
    })
}

fn column(phases: &Phases, mode: Mode, of: impl Fn(&Phase) -> f64) -> Vec<f64> {
    phases.of_class(mode.class()).map(|(_, phase)| of(&phase)).collect()
}

/// What a reader should see of a section: averages, sums, starts, ends.
fn expected(phases: &Phases, mode: Mode) -> [Vec<f64>; 4] {
    let seconds = |time: i64| time as f64 / 1e9;
    let of = |f: &dyn Fn(&Phase) -> f64| column(phases, mode, f);
    let start = of(&|phase| seconds(phase.start));
    if mode.is_required() {
        let end = of(&|phase| seconds(phase.required_end.unwrap()));
        [of(&Phase::required), of(&|phase| phase.required_sum), start, end]
    } else {
        [of(&Phase::throughput), of(&|phase| phase.throughput_sum), start, of(&|phase| seconds(phase.end))]
    }
}

fn columns(series: &Series) -> [&Vec<f64>; 4] {
    [&series.b_rank_avr, &series.b_rank_sum, &series.t_rank_s, &series.t_rank_e]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, rng_seed: RngSeed::Fixed(1), ..Default::default() })]

    #[test]
    fn messagepack_keeps_every_phase_exactly(phases in any_job()) {
        let digest = read(&written(Format::Msgpack, &phases, 7));
        prop_assert!(digest.complete);
        prop_assert_eq!((digest.format, digest.flushes), (Format::Msgpack, 1));
        for mode in Mode::ALL {
            let series = digest.series(mode);
            for (found, expected) in columns(series).into_iter().zip(expected(&phases, mode)) {
                prop_assert_eq!(found, &expected);
            }
            prop_assert_eq!(series.scalars.processes, 7.0);
        }
    }

    #[test]
    fn json_keeps_every_phase_to_its_six_decimals(phases in any_job(), one_line in any::<bool>()) {
        let format = if one_line { Format::Jsonl } else { Format::Json };
        let bytes = written(format, &phases, 7);
        let digest = read(&bytes);
        prop_assert!(digest.complete, "{:?}", digest.warnings);
        prop_assert_eq!(tmio::detect(&bytes), Some(format));
        prop_assert!(!digest.custom);
        for mode in Mode::ALL {
            let series = digest.series(mode);
            for (found, expected) in columns(series).into_iter().zip(expected(&phases, mode)) {
                prop_assert_eq!(found.len(), expected.len());
                for (found, expected) in found.iter().zip(expected) {
                    prop_assert!((found - expected).abs() <= 5.1e-7 + expected.abs() * 1e-15);
                }
            }
            prop_assert_eq!(series.b_ind.len() as f64, series.scalars.total_io_ops);
            prop_assert_eq!(series.t_ind_e.len(), series.b_ind.len());
        }
        // Nothing that a strict reader would refuse.
        let text = String::from_utf8(bytes).unwrap();
        prop_assert!(!text.contains("NaN") && !text.contains("inf"));
    }

    #[test]
    fn flushes_are_appended_and_merged(first in any_job(), second in any_job()) {
        for format in [Format::Jsonl, Format::Msgpack] {
            let parts = [written(format, &first, 4), written(format, &second, 4)];
            let (a, b, both) = (read(&parts[0]), read(&parts[1]), read(&parts.concat()));
            prop_assert_eq!(both.flushes, 2);
            prop_assert!(both.complete);
            for mode in Mode::ALL {
                let (a, b, both) = (a.series(mode), b.series(mode), both.series(mode));
                prop_assert_eq!(&both.t_rank_s, &[a.t_rank_s.as_slice(), &b.t_rank_s].concat());
                let (x, y, z) = (&a.scalars, &b.scalars, &both.scalars);
                prop_assert_eq!(z.total_bytes, x.total_bytes + y.total_bytes);
                prop_assert_eq!(z.number_of_ranks, x.number_of_ranks.max(y.number_of_ranks));
                prop_assert_eq!(z.max_bytes_per_phase, x.max_bytes_per_phase.max(y.max_bytes_per_phase));
            }
            let times = [a, b, both].map(|digest| digest.io_time.unwrap().io);
            prop_assert!((times[0] + times[1] - times[2]).abs() < 1e-9);
        }
    }

    #[test]
    fn whatever_is_cut_off_the_rest_is_read(phases in any_job(), at in any::<prop::sample::Index>()) {
        for format in Format::ALL {
            let bytes = written(format, &phases, 3);
            let cut = at.index(bytes.len());
            match tmio::read(Path::new("x"), &bytes[..cut], ReadOptions::ALL) {
                Ok(digest) => {
                    let whole = read(&bytes);
                    // The last bytes of JSON are only brackets and a new line.
                    prop_assert!(!digest.complete || bytes.len() - cut <= 1);
                    for mode in Mode::ALL {
                        let (part, whole) = (digest.series(mode), whole.series(mode));
                        prop_assert!(whole.t_rank_s.starts_with(&part.t_rank_s));
                        prop_assert_eq!(part.t_rank_s.len(), part.b_rank_avr.len());
                    }
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}

/// A small job with something of everything: blocking and not, reads and writes, two ranks.
fn small() -> Phases {
    let ms = 1_000_000;
    let mut builder = PhaseBuilder::new().keep_requests();
    let writes: Vec<Seed> = (0..3).map(|i| (1, 100 * ms, (20 + i) * ms, 0, 1 << 20)).collect();
    let requests = [(3, 500 * ms, 300 * ms, 50 * ms, 4096), (3, 10 * ms, 290 * ms, 50 * ms, 8192)];
    let reads = [(0, 1000 * ms, 7 * ms, 0, 12345)];
    builder.push(0, &operations(&[&writes[..], &requests, &reads].concat())).unwrap();
    builder.push(1, &operations(&writes)).unwrap();
    builder.finish()
}

/// With `TMIO_WRITE_FIXTURE=1` the snapshots are made anew.
#[test]
fn small_outputs_are_what_they_were() {
    for format in Format::ALL {
        let name = format!("small.{}", format.name().trim_start_matches("tmio-"));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/tmio").join(name);
        let bytes = written(format, &small(), 2);
        if std::env::var_os("TMIO_WRITE_FIXTURE").is_some() {
            std::fs::write(&path, &bytes).unwrap();
        }
        assert!(std::fs::read(&path).unwrap() == bytes, "{} is written differently now", path.display());
    }
}

#[test]
fn a_trace_is_converted_as_a_whole() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version-1.msgpack");
    for format in Format::ALL {
        let mut bytes = Vec::new();
        let outcome = tmio::convert(Trace::open(&path).unwrap(), format, None, &mut bytes).unwrap();
        assert!(outcome.complete);
        let digest = read(&bytes);
        assert!(digest.complete, "{:?}", digest.warnings);
        let operations: f64 =
            [Mode::ReadSync, Mode::ReadAsyncActual, Mode::WriteAsyncActual, Mode::WriteSync]
                .iter()
                .map(|&mode| digest.series(mode).scalars.total_io_ops)
                .sum();
        // Of the 111 operations of each of its 3 ranks, 13 move no data.
        assert_eq!(operations, 3.0 * 98.0);
        assert_eq!(digest.series(Mode::WriteSync).scalars.number_of_ranks, 3.0);
        assert!(digest.io_time.unwrap().application > 0.0);
    }
}

#[test]
fn a_conversion_that_needs_too_much_memory_is_refused() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/version-1.msgpack");
    let trace = Trace::open(&path).unwrap();
    let error = tmio::convert(trace, Format::Msgpack, Some(1000), &mut Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "converting the trace needs more than the 1000 bytes of memory that it may use"
    );
}

/// A trace that is not part of the project; `None`, with a message, where it is absent.
fn shared(test: &str, name: &str) -> Option<PathBuf> {
    test_data::shared_or_skip(test, &format!("traces/ftio/{name}"))
}

fn read_shared(test: &str, name: &str, options: ReadOptions) -> Option<Digest> {
    let path = shared(test, name)?;
    Some(tmio::read(&path, std::fs::File::open(&path).unwrap(), options).unwrap())
}

/// What the Python FTIO reads in the traces on which `scripts/reference` asks it.
#[test]
fn the_python_ftio_reads_the_same() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../ftio-core/tests/reference");
    let text = std::fs::read_to_string(folder.join("ftio.json")).unwrap();
    let records: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    let mut compared = 0;
    for record in records {
        let file = record["file"].as_str().unwrap();
        let args: Vec<&str> =
            record["args"].as_array().unwrap().iter().filter_map(|arg| arg.as_str()).collect();
        let mode = match args[..] {
            [] => Mode::WriteSync,
            ["-m", "write_async"] => Mode::WriteAsyncActual,
            _ => continue,
        };
        let path = folder.join("traces").join(file);
        let digest = tmio::read(&path, std::fs::File::open(&path).unwrap(), ReadOptions::ALL).unwrap();
        let series = digest.series(mode);
        let number = |key: &str| record[key].as_f64().unwrap();
        assert_eq!(series.scalars.number_of_ranks, number("ranks"), "{file}");
        assert_eq!(series.scalars.total_bytes, number("total_bytes"), "{file}");
        // But for the last bit, which serde_json may get wrong.
        let (first, last) = first_and_last(series);
        assert!((first - number("t_start")).abs() < 1e-12 * last, "{file}: {first}");
        assert!((last - number("t_end")).abs() < 1e-12 * last, "{file}: {last}");
        compared += 1;
    }
    assert_eq!(compared, 9);
}

fn first_and_last(series: &Series) -> (f64, f64) {
    let first = series.t_rank_s.iter().copied().fold(f64::INFINITY, f64::min);
    (first, series.t_rank_e.iter().copied().fold(0.0, f64::max))
}

#[test]
fn the_message_pack_of_an_ior_run_is_read() {
    let test = "the_message_pack_of_an_ior_run_is_read";
    let Some(digest) = read_shared(test, "384.msgpack", ReadOptions::ALL) else { return };
    assert!(digest.complete);
    assert_eq!(digest.flushes, 9);
    let series = digest.series(Mode::WriteSync);
    assert_eq!((series.scalars.total_bytes, series.scalars.number_of_ranks), (64424509440.0, 384.0));
    assert_eq!(first_and_last(series), (3.167433545, 79.15666212));
    assert_eq!((series.len(), series.scalars.total_io_phases), (30720, 30720.0));
    let volume: f64 =
        (0..series.len()).map(|i| series.b_rank_avr[i] * (series.t_rank_e[i] - series.t_rank_s[i])).sum();
    assert!((volume / series.scalars.total_bytes - 1.0).abs() < 1e-9);
}

#[test]
fn old_json_lines_are_read_in_bytes_or_as_they_are() {
    let test = "old_json_lines_are_read_in_bytes_or_as_they_are";
    let keep = ReadOptions { keep_units: true, ..ReadOptions::ALL };
    let Some(raw) = read_shared(test, "8.jsonl", keep) else { return };
    let Some(digest) = read_shared(test, "8.jsonl", ReadOptions::ALL) else { return };
    assert!(digest.complete && !digest.custom);
    assert_eq!((digest.flushes, digest.unit), (16, 1e6));
    let (megabytes, series) = (raw.series(Mode::WriteSync), digest.series(Mode::WriteSync));
    assert_eq!((megabytes.scalars.total_bytes, series.scalars.total_bytes), (4935.0, 4.935e9));
    assert_eq!(series.scalars.number_of_ranks, 8.0);
    assert_eq!(first_and_last(series), (0.05309, 28.982125));
    assert_eq!(series.b_rank_avr[5], megabytes.b_rank_avr[5] * 1e6);
    assert_eq!(series.b_ind.len(), series.len());
    assert!(digest.io_time.unwrap().overhead_during_run > 0.0);
}

#[test]
fn json_made_for_ftio_is_read() {
    let test = "json_made_for_ftio_is_read";
    let Some(digest) = read_shared(test, "custom.json", ReadOptions::ALL) else { return };
    assert!(digest.custom && !digest.anonymous);
    let series = digest.series(Mode::WriteSync);
    assert_eq!((series.len(), series.scalars.total_bytes, series.scalars.number_of_ranks), (32, 1.68e9, 4.0));
    let Some(digest) = read_shared(test, "custom_app.json", ReadOptions::ALL) else { return };
    let series = digest.series(Mode::WriteSync);
    assert_eq!(series.t_overlap, [1.0, 2.0, 4.0, 6.0, 7.0, 8.0]);
    assert_eq!(series.b_overlap_avr, [1e9, 2e9, 5e9, 2e9, 1e9, 0.0]);
    let Some(digest) = read_shared(test, "test.json", ReadOptions::ALL) else { return };
    assert_eq!(digest.series(Mode::ReadSync).len(), 73);
}

#[test]
fn other_formats_are_not_taken_for_tmio() {
    let test = "other_formats_are_not_taken_for_tmio";
    let Some(path) = shared(test, "trace_export.msgpack") else { return };
    assert_eq!(tmio::detect(&std::fs::read(path).unwrap()), None);
    let Some(path) = shared(test, "gekkofs_write_2024-02-28_20-50-02_x0024_34250.json") else { return };
    assert_eq!(tmio::detect(&std::fs::read(path).unwrap()), None);
}
