#![no_main]

use ftio_serve::ingest::push::Push;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let _ = serde_json::from_slice::<Push>(bytes);
});
