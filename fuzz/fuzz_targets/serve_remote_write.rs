#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = ftio_serve::ingest::remote_write::decode(bytes);
});
