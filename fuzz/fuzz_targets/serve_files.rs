#![no_main]

use ftio_serve::series::{decode, encode, journal};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut last = 0;
    let lost = journal::read(bytes, &mut |_| {}).expect("memory can be read");
    for one in &lost {
        assert!(last <= one.from && one.from < one.to && one.to <= bytes.len() as u64);
        last = one.to;
    }
    // With the right checksum, so that what is behind it is reached.
    let sum = crc32fast::hash(bytes).to_le_bytes();
    if let Some(series) = decode(&[bytes, &sum].concat()) {
        assert_eq!(decode(&encode(&series)).map(|again| encode(&again)), Some(encode(&series)));
    }
});
