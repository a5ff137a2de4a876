#![no_main]

use ftio_serve::ingest::socket::Messages;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let mut messages = Messages::default();
    let _ = messages.take(first).and_then(|_| messages.take(second));
});
