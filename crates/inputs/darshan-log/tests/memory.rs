//! How much memory reading takes: bounded by the data that are there, not by what they claim.
//!
//! One test only, because the allocator counts for the whole process.

#[path = "support/exercise.rs"]
mod exercise;
#[path = "support/mutate.rs"]
mod mutate;
#[path = "support/samples.rs"]
mod samples;
mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use darshan_log::write::LogWriter;
use darshan_log::{Compression, Format, Job, Log, ModuleId, PosixCounter};
use exercise::read_everything;
use mutate::{Random, damaged};

struct Counting;

static NOW: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged; only numbers are kept besides.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let now = NOW.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(now, Relaxed);
        // SAFETY: the caller's promise is the one `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        NOW.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller's promise is the one `System` asks for.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The most memory that was in use at once during `work`, beyond what was before.
fn peak(work: impl FnOnce()) -> usize {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    work();
    PEAK.load(Relaxed) - before
}

const MIB: usize = 1 << 20;

/// A log that is small on disk and large when inflated: `pattern` over and over in a module.
fn bomb(module: ModuleId, version: u32, pattern: &[u8], bytes: usize) -> Vec<u8> {
    let mut data = pattern.repeat(bytes.div_ceil(pattern.len()));
    data.truncate(bytes);
    LogWriter::new(Format::V3_41, Job::default())
        .compression(Compression::Bzip2)
        .module(module, version, &data)
        .to_bytes()
        .unwrap()
}

/// The same in the table of names.
fn bomb_of_names(entries: u64) -> Vec<u8> {
    let mut log = LogWriter::new(Format::V3_41, Job::default()).compression(Compression::Bzip2);
    for id in 0..entries {
        log = log.name(id, &"a".repeat(4000));
    }
    log.to_bytes().unwrap()
}

#[test]
fn memory_follows_the_data() {
    let mut worst = 0;
    for (number, (name, log)) in samples::all_logs().into_iter().enumerate() {
        let mut random = Random::new(1000 + number as u64);
        for round in 0..30 {
            let bytes = if round == 0 { log.clone() } else { damaged(&log, &mut random) };
            let peak = peak(|| {
                read_everything(&bytes);
            });
            worst = worst.max(peak);
            assert!(
                bytes.len() < 64 << 10 && peak < 8 * MIB,
                "{name}: {peak} bytes for a log of {}",
                bytes.len()
            );
        }
    }
    eprintln!("written logs, whole and damaged: at most {worst} bytes");

    let zeros: &[u8] = &[0];
    let width = 0.1f64.to_le_bytes();
    let mut many_bins = [&[0u8; 16][..], &width, &65536u64.to_le_bytes(), &[0; 16]].concat();
    many_bins.resize(48 + 2 * 8 * 65536, 0);
    let mut many_segments = vec![0; 88];
    many_segments.extend(500_000u64.to_le_bytes());
    many_segments.resize(104 + 32 * 500_000, 0);
    let bombs = [
        ("zeros as POSIX", bomb(ModuleId::POSIX, 4, zeros, 16 * MIB)),
        ("zeros as DXT", bomb(ModuleId::DXT_POSIX, 1, zeros, 16 * MIB)),
        ("many bins", bomb(ModuleId::HEATMAP, 1, &many_bins, 16 * MIB)),
        ("many segments", bomb(ModuleId::DXT_POSIX, 1, &many_segments, 16 * MIB)),
        ("names", bomb_of_names(5000)),
    ];
    for (what, bytes) in &bombs {
        assert!(bytes.len() < 80 << 10, "{what}: {} bytes", bytes.len());
        let mut outcome = exercise::Outcome::default();
        let peak = peak(|| outcome = read_everything(bytes));
        eprintln!("{what}: {} bytes on disk, {peak} in memory, {outcome:?}", bytes.len());
        assert!(peak < 8 * MIB, "{what}: {peak} bytes");
    }

    let Some(shared) = support::shared_or_skip("memory_of_real_logs") else { return };
    for (name, most) in [("e3sm_io_heatmap_only.darshan", MIB), ("partial_data_dxt.darshan", MIB)] {
        let path = shared.join("traces/darshan").join(name);
        let size = std::fs::metadata(&path).unwrap().len();
        let peak = peak(|| {
            let log = Log::open(&path).unwrap();
            assert!(log.totals().iter().all(|t| t.damage.is_none()));
            let bytes: i64 = log.posix().map(|r| r.unwrap()[PosixCounter::BytesWritten]).sum();
            assert!(bytes >= 0);
        });
        eprintln!("{name}: {size} bytes on disk, {peak} in memory");
        assert!(peak < most, "{name}: {peak}");
    }
}
