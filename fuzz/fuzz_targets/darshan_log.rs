//! Any bytes are read as a Darshan log, by every way there is, without a panic and within the limits of
//! memory.

#![no_main]

#[path = "../../crates/inputs/darshan-log/tests/support/exercise.rs"]
mod exercise;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    exercise::read_everything(bytes);
});
