#![no_main]

use ftio_core::source::OpenOptions;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    ftio_fuzz::read(bytes, Some("tmio-trace"), &OpenOptions::default());
});
