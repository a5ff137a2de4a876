//! Any bytes are read as any format without a panic, and within bounds of memory. From the top folder:
//!
//! ```text
//! mkdir -p fuzz/corpus/csv
//! cp crates/inputs/sources/tests/fixtures/*.csv fuzz/corpus/csv     # examples to start from
//! cargo +nightly fuzz run csv -- -rss_limit_mb=512 -max_len=4096
//! ```

use sources::content::Content;
use sources::{OpenOptions, Opened, Span, formats, open_as, open_content};

/// Read bytes as the format of that name; without one, as what they are taken for.
pub fn read(bytes: &[u8], format: Option<&str>, options: &OpenOptions) {
    let format = format.map(|name| formats::named(name).expect("a format of the table"));
    let open = || -> Option<Vec<Opened>> {
        let content = Content::from_bytes("fuzz", bytes.to_vec()).ok()?;
        match format {
            Some(format) => open_as(content, format, options).ok(),
            None => open_content(content, options).ok(),
        }
    };
    for span in [Span::Actual, Span::Required] {
        for opened in open().into_iter().flatten() {
            let Ok(source) = opened.into_source() else { continue };
            let mut bad = 0u64;
            let _ = source.read(span, &mut |requests| {
                bad += requests.iter().filter(|request| request.start.abs() > 1 << 61).count() as u64;
            });
            assert_eq!(bad, 0, "a time beyond the range of the analysis");
        }
        for opened in open().into_iter().flatten() {
            let _ = opened.into_source().map(|source| source.read_pieces(span, &mut |_| {}));
        }
        for opened in open().into_iter().flatten() {
            let _ = opened.into_source().map(|source| source.read_detailed(span, &mut |_| {}));
        }
    }
}
