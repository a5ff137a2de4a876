//! Any bytes are read, by every way there is, without a panic and within the limits of memory.
//!
//! ```text
//! cargo run --example seeds -- fuzz/corpus/read    # logs of every format to start from, in crates/darshan-log/
//! cargo +nightly fuzz run read -- -rss_limit_mb=512
//! ```

#![no_main]

#[path = "../../tests/support/exercise.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    exercise::read_everything(bytes);
});
