//! How much memory reading takes: bounded by the data that are there, not by what they claim.
//!
//! One test only, because the allocator counts for the whole process.

use sources::content::Content;
use sources::format::Format;
use sources::formats::FORMATS;
use sources::{OpenOptions, Pattern, Span, open_as};
use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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

fn peak(format: &Format, bytes: &[u8], options: &OpenOptions) -> usize {
    let before = NOW.load(Relaxed);
    PEAK.store(before, Relaxed);
    let content = Content::from_bytes("x", bytes.to_vec()).unwrap();
    for opened in open_as(content, format, options).into_iter().flatten() {
        let _ = opened.into_source().and_then(|source| source.read(Span::Actual, &mut |_| {}));
    }
    PEAK.load(Relaxed) - before
}

#[test]
fn a_small_file_takes_little_memory() {
    let pattern = Pattern::parse("p", "request = '(?P<start>\\d)(?P<end>\\d)(?P<bytes>\\d)'").unwrap();
    let options = OpenOptions { pattern: Some(pattern), ..OpenOptions::default() };
    let mut inputs: Vec<Vec<u8>> = vec![
        vec![0xdd; 1024],
        vec![0xdf; 1024],
        vec![0x91; 1024],
        [&[0xdd, 0xff, 0xff, 0xff, 0xff][..], &[0x90; 1019]].concat(),
        [&[0xdc, 0x03, 0xfd][..], &[0x90; 1021]].concat(),
        [&[0xdb, 0xff, 0xff, 0xff, 0xff][..], &[b'a'; 1019]].concat(),
        vec![b'['; 1024],
        format!("{{\"b\": [{}]}}", "[],".repeat(330)).into_bytes(),
        "1,2\n".repeat(256).into_bytes(),
        "123".repeat(341).into_bytes(),
        vec![b','; 1024],
    ];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
    inputs.extend(files);
    // Lengths of the real formats, made as large as they can be.
    for index in 0..inputs.len() {
        let mut large = inputs[index].clone();
        large.iter_mut().skip(1).step_by(7).for_each(|byte| *byte = 0xff);
        inputs.push(large);
    }
    for format in FORMATS {
        for input in &inputs {
            let peak = peak(format, input, &options);
            assert!(
                peak < 4 << 20,
                "{}: {peak} bytes for {}",
                format.name,
                input[..input.len().min(40)].escape_ascii()
            );
        }
    }
    // However many phases TMIO's MessagePack holds, they are not kept.
    let file = many_phases(200_000);
    let format = FORMATS.iter().find(|format| format.name == "tmio-msgpack").unwrap();
    let peak = peak(format, &file, &options) - file.len();
    assert!(peak < 4 << 20, "{peak} bytes beside the {} of the file", file.len());
}

/// A file of TMIO's with so many blocking writes.
fn many_phases(count: i64) -> Vec<u8> {
    let mut builder = tmio_trace::tmio::PhaseBuilder::new();
    for i in 0..count {
        let (start, nonblocking) = (10_000_000 * i, None);
        let (end, bytes) = (start + 1_234_567, 1 << 20);
        let (kind, flags) = (tmio_trace::OpKind(0), tmio_trace::Flags(0));
        let (thread, file, offset) = (0, 1, 0);
        let write =
            tmio_trace::Operation { kind, flags, thread, file, offset, bytes, start, end, nonblocking };
        builder.push(0, &[write]).unwrap();
    }
    let phases = builder.finish();
    let io_time = tmio_trace::tmio::IoTime::default();
    let mut file = Vec::new();
    let flush = tmio_trace::tmio::Flush { phases: &phases, io_time, processes: 1 };
    tmio_trace::tmio::write_msgpack(&flush, &mut file).unwrap();
    file
}
