//! Any bytes are read as any format without a panic, and within bounds of memory. From the top folder:
//!
//! ```text
//! mkdir -p fuzz/corpus/csv && cp ftio-core/tests/fixtures/*.csv fuzz/corpus/csv     # examples to start from
//! cargo +nightly fuzz run csv -- -rss_limit_mb=512 -max_len=4096
//! ```

use ftio_core::source::content::Content;
use ftio_core::source::recognise::Format;
use ftio_core::source::{OpenOptions, Span, open_content};

/// Read bytes as a format; without one, as what they are taken for.
pub fn read(bytes: &[u8], format: Option<Format>, options: &OpenOptions) {
    for span in [Span::Actual, Span::Required] {
        let Ok(content) = Content::from_bytes("fuzz", bytes.to_vec()) else { return };
        let Some(format) = format.or_else(|| Format::of(&content)) else { return };
        for opened in open_content(content, format, options).into_iter().flatten() {
            let mut bad = 0u64;
            let _ = opened.source.read(span, &mut |requests| {
                bad += requests.iter().filter(|request| request.start.abs() > 1 << 61).count() as u64;
            });
            assert_eq!(bad, 0, "a time beyond the range of the analysis");
        }
        let Ok(content) = Content::from_bytes("fuzz", bytes.to_vec()) else { return };
        for opened in open_content(content, format, options).into_iter().flatten() {
            let _ = opened.source.read_pieces(span, &mut |_| {});
        }
    }
}
