#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = std::str::from_utf8(bytes) {
        let _ = ftio_serve::ingest::labelled::parse_text(text, 0.0);
        let _ = ftio_serve::http::context::parse_query(text);
        let _ = ftio_serve::ingest::slurm::Queue::parse(text);
        let _ = ftio_serve::ingest::slurm::parse_completion(text);
        let _ = ftio_serve::alarms::RuleFile::parse(text);
    }
});
