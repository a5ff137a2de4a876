//! Decompression one step at a time: zlib, gzip, bzip2, or nothing at all.

use flate2::FlushDecompress;

/// How the regions of a log are compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Compression {
    /// zlib (RFC 1950): what Darshan 3 writes.
    Zlib,
    /// bzip2: logs passed through `darshan-convert --bzip2`, of Darshan 2 or 3.
    Bzip2,
    /// Stored as they are.
    None,
    /// gzip (RFC 1952): what Darshan 2 writes.
    Gzip,
}

/// What one step of a [`Decoder`] did.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Step {
    /// Bytes of input used up.
    pub consumed: usize,
    /// Whether a compressed stream is open: input that ends now was cut off.
    pub inside: bool,
}

/// Decompresses a sequence of concatenated streams.
///
/// Every writing rank of a Darshan job compresses its own share, so that a region is one stream after the
/// other; the decoder starts the next one by itself.
#[derive(Debug)]
pub(crate) enum Decoder {
    Zlib(flate2::Decompress),
    Gzip(flate2::Decompress),
    Bzip2(Bzip2),
    None,
}

/// bzip2's decoder has no `Debug`.
pub(crate) struct Bzip2(bzip2::Decompress);

impl std::fmt::Debug for Bzip2 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bzip2")
    }
}

/// The largest window zlib knows, which reads streams made with any smaller one.
const WINDOW_BITS: u8 = 15;

impl Decoder {
    pub(crate) fn new(compression: Compression) -> Self {
        match compression {
            Compression::Zlib => Decoder::Zlib(flate2::Decompress::new(true)),
            Compression::Gzip => Decoder::Gzip(flate2::Decompress::new_gzip(WINDOW_BITS)),
            Compression::Bzip2 => Decoder::Bzip2(Bzip2(bzip2::Decompress::new(false))),
            Compression::None => Decoder::None,
        }
    }

    /// Decompresses from `input` into the spare capacity of `output`, which must not be empty, up to the end
    /// of one stream at most. The error says what is wrong with the stream.
    pub(crate) fn step(&mut self, input: &[u8], output: &mut Vec<u8>) -> Result<Step, String> {
        let room = output.capacity() - output.len();
        match self {
            Decoder::None => {
                let consumed = input.len().min(room);
                output.extend_from_slice(&input[..consumed]);
                Ok(Step { consumed, inside: false })
            }
            Decoder::Zlib(inner) | Decoder::Gzip(inner) => {
                let before = inner.total_in();
                let status = inner
                    .decompress_vec(input, output, FlushDecompress::None)
                    .map_err(|e| e.message().unwrap_or("invalid deflate data").to_owned())?;
                let consumed = (inner.total_in() - before) as usize;
                let inside = status != flate2::Status::StreamEnd;
                if !inside {
                    match self {
                        Decoder::Zlib(inner) => inner.reset(true),
                        other => *other = Decoder::new(Compression::Gzip),
                    }
                }
                Ok(Step { consumed, inside })
            }
            Decoder::Bzip2(Bzip2(inner)) => {
                let before = inner.total_in();
                let status = inner.decompress_vec(input, output).map_err(|e| e.to_string())?;
                let consumed = (inner.total_in() - before) as usize;
                match status {
                    bzip2::Status::MemNeeded => Err("a block larger than the memory at hand".to_owned()),
                    bzip2::Status::StreamEnd => {
                        *self = Decoder::new(Compression::Bzip2);
                        Ok(Step { consumed, inside: false })
                    }
                    _ => Ok(Step { consumed, inside: true }),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn compressed(compression: Compression, data: &[u8]) -> Vec<u8> {
        match compression {
            Compression::Zlib => {
                let mut e = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
                e.write_all(data).unwrap();
                e.finish().unwrap()
            }
            Compression::Gzip => {
                let mut e = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
                e.write_all(data).unwrap();
                e.finish().unwrap()
            }
            Compression::Bzip2 => {
                let mut e = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
                e.write_all(data).unwrap();
                e.finish().unwrap()
            }
            Compression::None => data.to_vec(),
        }
    }

    #[test]
    fn concatenated_streams_come_out_as_one_whatever_the_chunks() {
        for compression in [Compression::Zlib, Compression::Gzip, Compression::Bzip2, Compression::None] {
            let mut input = Vec::new();
            let mut expected = Vec::new();
            for part in 0..5u8 {
                let data: Vec<u8> = (0..700).map(|i| (i as u8).wrapping_mul(part)).collect();
                input.extend(compressed(compression, &data));
                expected.extend(data);
            }
            for chunk in [1, 3, 64, 10_000] {
                let (mut out, mut at, mut inside) = (Vec::new(), 0, false);
                let mut decoder = Decoder::new(compression);
                let mut idle = 0;
                while at < input.len() || idle < 2 {
                    out.reserve(chunk);
                    let end = (at + chunk).min(input.len());
                    if at == end && !inside {
                        break;
                    }
                    let before = out.len();
                    let step = decoder.step(&input[at..end], &mut out).unwrap();
                    idle = if step.consumed == 0 && out.len() == before { idle + 1 } else { 0 };
                    at += step.consumed;
                    inside = step.inside;
                }
                assert_eq!(out, expected, "{compression:?} by {chunk}");
                assert!(!inside);
            }
        }
    }

    #[test]
    fn garbage_is_an_error_and_not_a_panic() {
        for compression in [Compression::Zlib, Compression::Gzip, Compression::Bzip2] {
            let mut out = Vec::with_capacity(64);
            assert!(Decoder::new(compression).step(b"garbage garbage garbage", &mut out).is_err());
        }
    }
}
