#![no_main]

use ftio_core::source::{OpenOptions, recognise::Format};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ftio_fuzz::read(bytes, Some(Format::Recorder), &OpenOptions::default());
});
