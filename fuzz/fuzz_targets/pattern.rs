#![no_main]

//! The first half is the pattern file, the second the text.

use sources::{OpenOptions, Pattern};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let (pattern, text) = bytes.split_at(bytes.len() / 2);
    if let Ok(pattern) = Pattern::parse("pattern", &String::from_utf8_lossy(pattern)) {
        let options = OpenOptions { pattern: Some(pattern), ..OpenOptions::default() };
        ftio_fuzz::read(text, Some("text"), &options);
    }
});
