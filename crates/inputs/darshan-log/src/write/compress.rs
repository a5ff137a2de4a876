//! Compression of data in memory, as one or several streams.

use std::io::Write;

use crate::inflate::Compression;

/// Compresses `data` as `count` streams of about the same length, one after the other.
pub(super) fn streams(compression: Compression, data: &[u8], count: usize) -> Vec<u8> {
    if data.is_empty() {
        return stream(compression, data);
    }
    data.chunks(data.len().div_ceil(count)).flat_map(|part| stream(compression, part)).collect()
}

fn stream(compression: Compression, data: &[u8]) -> Vec<u8> {
    let level = flate2::Compression::default();
    let done = match compression {
        Compression::None => Ok(data.to_vec()),
        Compression::Zlib => {
            let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), level);
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
        Compression::Gzip => {
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), level);
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
        Compression::Bzip2 => {
            let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
            encoder.write_all(data).and_then(|()| encoder.finish())
        }
    };
    // Writing to a vector does not fail.
    done.unwrap_or_default()
}
