#![no_main]

use sources::OpenOptions;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ftio_fuzz::read(bytes, Some("text"), &OpenOptions::default()));
