//! Files that claim to be TMIO's: odd ones are read, broken ones are described, none does harm.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::path::Path;
use tmio_trace::tmio::{self, Digest, DigestError, Format, Mode, ReadOptions};

/// Counts what the running test holds, and the most it ever held.
struct Counting;

thread_local! {
    static HELD: Cell<(isize, isize)> = const { Cell::new((0, 0)) };
}

fn count(bytes: isize) {
    // A thread that is ending has no count any more.
    let _ = HELD.try_with(|held| {
        let (now, most) = held.get();
        held.set((now + bytes, most.max(now + bytes)));
    });
}

// SAFETY: every call is passed on to the system's allocator unchanged; counting does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size() as isize);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-(layout.size() as isize));
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn try_read(bytes: &[u8]) -> Result<Digest, DigestError> {
    tmio::read(Path::new("input"), bytes, ReadOptions::ALL)
}

fn read(text: &str) -> Digest {
    try_read(text.as_bytes()).unwrap()
}

/// Reads, and gives the most bytes that were held for it.
fn memory_of(bytes: &[u8]) -> isize {
    let (before, _) = HELD.get();
    HELD.set((before, before));
    drop(try_read(bytes));
    HELD.get().1 - before
}

const FEW_MEGABYTES: isize = 2 << 20;

fn section(name: &str, bandwidth: &str) -> String {
    format!(
        "\t{{\"{name}\":{{\"total_bytes\": 4.19e+06,\"number_of_ranks\": 2,\"bandwidth\": {{{bandwidth}}}}}}}\n"
    )
}

const TWO_PHASES: &str =
    "\"max\": 1e1,\"b_rank_avr\": [ 10.5, 20],\"t_rank_s\": [ 1, 2],\"t_rank_e\": [ 1.5, 3]";

#[test]
fn no_numbers_are_read_in_every_spelling() {
    let lists = "\"b_rank_avr\": [NaN, nan, -nan, inf, -Infinity, null, 1], \"t_rank_s\": [1,2,3,4,5,6,7]";
    let digest = read(&section("write_sync", lists));
    let values = &digest.series(Mode::WriteSync).b_rank_avr;
    assert_eq!(values.iter().filter(|value| value.is_nan()).count(), 4);
    assert_eq!(values[3..5], [f64::INFINITY, f64::NEG_INFINITY]);
}

#[test]
fn missing_ends_are_the_next_starts() {
    let digest = read(&section("write_sync", "\"b_rank_avr\": [1,2,3],\"t_rank_s\": [1,4,9]"));
    assert_eq!(digest.series(Mode::WriteSync).t_rank_e, [4.0, 9.0, 9.0]);
}

#[test]
fn a_broken_line_costs_only_itself() {
    let broken = section("write_sync", TWO_PHASES).replace("20]", "20 x]");
    let text = section("write_sync", TWO_PHASES) + &broken + &section("write_sync", TWO_PHASES);
    let digest = read(&text);
    assert_eq!(digest.series(Mode::WriteSync).b_rank_avr, [10.5, 20.0, 10.5, 20.0]);
    assert!(!digest.complete);
    let start = section("write_sync", TWO_PHASES).len() + broken.find(" x]").unwrap() + 1;
    let place = format!("input: line 2, at byte {start}: expected ',' or ']', found 'x],\"t_ra'");
    assert_eq!(digest.warnings, [place]);
}

#[test]
fn lists_of_different_length_are_left_out() {
    let digest =
        read(&section("write_sync", "\"b_rank_avr\": [1,2,3],\"t_rank_s\": [1,4],\"t_rank_e\": [2,5]"));
    assert!(digest.series(Mode::WriteSync).is_empty());
    let expected = "input: line 1, at byte 15: in write_sync, expected as many numbers in b_rank_avr as in t_rank_s (2), found 3";
    assert_eq!(digest.warnings, [expected]);
}

#[test]
fn a_flush_that_lacks_sections_is_said_to_be_incomplete() {
    let names = ["read_sync", "read_async_t", "read_async_b", "write_async_t", "write_async_b", "write_sync"];
    let flush: String = names.iter().map(|name| section(name, TWO_PHASES)).collect();
    let flush = flush + "\t{\"io_time\":{\"delta_t_agg\": 2.07e+01,\"delta_t_overhead_runtime\": 5e-1}}\n";
    let digest = read(&(flush.clone() + &flush));
    assert!(digest.complete);
    assert_eq!(digest.io_time.unwrap().application, 41.4);
    assert_eq!(digest.io_time.unwrap().overhead_during_run, 1.0);
    let digest = read(&(flush.clone() + &section("read_sync", TWO_PHASES)));
    assert!(!digest.complete);
    assert_eq!(digest.series(Mode::ReadSync).len(), 4);
}

#[test]
fn bandwidth_and_lists_may_stand_alone() {
    let digest = read("{\"bandwidth\": {\"b_overlap_avr\": [1,0], \"t_overlap\": [3,4]}}");
    assert!(digest.anonymous && digest.custom);
    assert_eq!(digest.series(Mode::ReadSync).t_overlap, [3.0, 4.0]);
    let digest = read("{\"name\": [\"x\"], \"b\": [1,0], \"time\": [3,4]}");
    assert_eq!(digest.series(Mode::ReadSync).b_overlap_avr, [1.0, 0.0]);
    let digest = read("{\"b\": [1,7], \"t_e\": [3,4], \"t_s\": [1,2]}");
    assert_eq!(digest.series(Mode::ReadSync).t_rank_s, [1.0, 2.0]);
    assert_eq!(digest.series(Mode::ReadSync).t_rank_e, [3.0, 4.0]);
    let error = try_read(b"{\"b\": [1], \"b2\": [1], \"t\": [1]}").unwrap_err().to_string();
    assert!(error.ends_with("found lists named b, b2, t)"), "{error}");
}

#[test]
fn what_is_not_tmio_is_refused_with_what_it_is() {
    let message = |bytes: &[u8]| try_read(bytes).unwrap_err().to_string();
    assert_eq!(message(b""), "input: is empty");
    assert_eq!(
        message(b"%PDF-1.4 and more"),
        "input: not a TMIO file: expected its JSON, JSONL or MessagePack, found '%PDF-1.4'"
    );
    assert_eq!(message(b"{\"a\": 1}"), "input: no complete section");
    assert_eq!(
        message(b"\t{\"write_sync\":{\"total_bytes\": 4"),
        "input: no complete section (line 1, at byte 32: expected ',' or '}', found the end)"
    );
}

/// An array `write_sync` with `claimed` phases, and these bytes after its totals.
fn class(claimed: u32, phases: &[u8]) -> Vec<u8> {
    let mut bytes = b"\x9e\xaawrite_sync\xc2\xc3".to_vec();
    bytes.extend([1; 10]);
    bytes.push(0xdd);
    bytes.extend(claimed.to_be_bytes());
    bytes.extend(phases);
    bytes
}

const PHASE: [u8; 10] = [0x99, 8, 1, 2, 0, 8, 8, 0, 0, 1];

#[test]
fn whole_phases_of_a_cut_array_are_used() {
    let bytes = class(3, &[&PHASE[..], &PHASE, &PHASE[..4]].concat());
    let digest = try_read(&bytes).unwrap();
    assert_eq!(digest.series(Mode::WriteSync).t_rank_e, [2.0, 2.0]);
    assert!(!digest.complete);
    let place = bytes.len();
    assert_eq!(digest.warnings, [format!("input: at byte {place}: expected phase 3 of 3, found the end")]);
}

#[test]
fn phases_with_nil_or_more_values_are_read() {
    let nil = [0x99, 8, 1, 2, 0xc0, 8, 8, 0, 0, 1];
    let longer = [0x9a, 8, 1, 2, 0, 8, 8, 0, 0, 1, 0x92, 1, 0xa1, b'x'];
    let digest = try_read(&class(4, &[&PHASE[..], &nil, &longer, &PHASE].concat())).unwrap();
    assert_eq!(digest.series(Mode::WriteSync).b_rank_avr, [8.0; 4]);
    let text = [0x99, 0xa1, b'x'];
    let digest = try_read(&class(2, &[&PHASE[..], &text].concat())).unwrap();
    assert_eq!(digest.series(Mode::WriteSync).len(), 1);
    assert!(digest.warnings[0].ends_with("expected a phase (an array of 9 numbers), found a string"));
}

#[test]
fn claims_do_not_cost_memory() {
    let claim = class(u32::MAX, &PHASE);
    assert!(memory_of(&claim) < FEW_MEGABYTES, "{}", memory_of(&claim));
    let deep = [b"{\"write_sync\":{\"x\":".as_slice(), &[b'['; 1000]].concat();
    assert!(memory_of(&deep) < FEW_MEGABYTES);
    let nested = [b"\x9e\xa1x".as_slice(), &[0xdd; 1000]].concat();
    assert!(memory_of(&nested) < FEW_MEGABYTES);
}

/// Pieces of which TMIO's formats are made, so that garbage gets past the first bytes.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    let text = [
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\n",
        "\t{\"write_sync\":{",
        "\"bandwidth\": {",
        "\"io_time\":{",
        "\"b_rank_avr\": [",
        "\"t_rank_s\": [",
        "1.5",
        " 2,",
        "NaN",
        "-",
        "1e999",
        "\"total_bytes\": 1e3",
        "\\",
        "\"b\": [1]",
        "{\"t\":[",
    ];
    let binary: [&[u8]; 9] = [
        b"\x9e\xaawrite_sync\xc2\xc3",
        b"\x9e\xabwrite_async\xc3\xc3",
        b"\xdc\x00\x13\xa7io_time",
        &PHASE,
        b"\xdd\xff\xff\xff\xff",
        b"\xcb\x7f\xf0\x00\x00\x00\x00\x00\x00",
        b"\x01\x01\x01\x01\x01\x01\x01\x01\x01\x01\x92",
        b"\xdb\xff\xff\xff\xff",
        b"\xdf\xff\xff\xff\xff",
    ];
    let known: Vec<Vec<u8>> =
        text.iter().map(|text| text.as_bytes().to_vec()).chain(binary.map(<[u8]>::to_vec)).collect();
    prop_oneof![4 => prop::sample::select(known), 1 => prop::collection::vec(any::<u8>(), 0..12)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, rng_seed: RngSeed::Fixed(1), ..Default::default() })]

    #[test]
    fn garbage_is_survived_in_little_memory(pieces in prop::collection::vec(piece(), 0..120)) {
        let bytes: Vec<u8> = pieces.concat();
        prop_assert!(memory_of(&bytes) < FEW_MEGABYTES);
        let _ = tmio::detect(&bytes);
    }

    #[test]
    fn any_bytes_are_survived(bytes in prop::collection::vec(any::<u8>(), 0..1000)) {
        prop_assert!(memory_of(&bytes) < FEW_MEGABYTES);
    }
}

#[test]
fn formats_are_told_by_their_first_bytes() {
    assert_eq!(tmio::detect(b"{\n\t\"read_sync\":{\n"), Some(Format::Json));
    assert_eq!(tmio::detect(b"\t{\"read_sync\":{\"total_bytes\""), Some(Format::Jsonl));
    assert_eq!(tmio::detect(b"{\"io_time\": {\"del"), Some(Format::Jsonl));
    assert_eq!(tmio::detect(b"\xef\xbb\xbf{ \"bandwidth\": {"), Some(Format::Json));
    assert_eq!(tmio::detect(b"{\"b_ov\": [1"), Some(Format::Json));
    assert_eq!(tmio::detect(b"\x9e\xaaread_async\xc3\xc2"), Some(Format::Msgpack));
    for other in [&b"\x94\xa5tmio1\x00"[..], b"", b"{}", b"{\"traceEvents\": [", b"[1,2]", b"time,value\n"] {
        assert_eq!(tmio::detect(other), None, "{}", other.escape_ascii());
    }
}
