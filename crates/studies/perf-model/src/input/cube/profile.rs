//! One profile: the values of a metric by callpath and location. `N.index` tells which callpaths have values,
//! `N.data` has them, one for each location (process or thread) of each callpath.

use super::archive::Archive;
use super::tree::{Anchor, Metric};
use crate::error::{Error, Result};
use flate2::read::{GzDecoder, ZlibDecoder};
use std::collections::HashMap;
use std::io::Read;

const INDEX: &[u8] = b"CUBEX.INDEX";
const DATA: &[u8] = b"CUBEX.DATA";
const COMPRESSED: &[u8] = b"ZCUBEX.DATA";
/// More bytes are not unpacked: a profile of that size has a million callpaths on a thousand processes.
const MAX_BYTES: u64 = 8 << 30;

/// A profile in memory.
pub(super) struct Profile<'a> {
    archive: Archive<'a>,
    anchor: Anchor,
    source: &'a str,
}

/// The values of a metric at a callpath, without what it calls.
pub(super) struct Value {
    pub callpath: String,
    pub by_location: Vec<f64>,
}

impl<'a> Profile<'a> {
    pub fn open(bytes: &'a [u8], source: &'a str) -> Result<Self> {
        let wrong = |found: String| Error::format(source, None, "a Cube profile", found);
        let archive =
            Archive::open(bytes).ok_or_else(|| wrong("no tar archive, or one that is cut off".into()))?;
        let anchor =
            archive.file("anchor.xml").ok_or_else(|| wrong("an archive without anchor.xml".into()))?;
        let mut text = String::new();
        let read = match anchor.starts_with(b"\x1f\x8b") {
            true => GzDecoder::new(anchor).take(MAX_BYTES).read_to_string(&mut text),
            false => (&mut &*anchor).read_to_string(&mut text),
        };
        read.map_err(|error| wrong(format!("anchor.xml: {error}")))?;
        let anchor = Anchor::parse(&text).map_err(|why| wrong(format!("anchor.xml: {why}")))?;
        Ok(Profile { archive, anchor, source })
    }

    pub fn metrics(&self) -> &[Metric] {
        &self.anchor.metrics
    }

    /// The values, or in words why there are none that can be modelled.
    pub fn values(&self, metric: &Metric) -> Result<std::result::Result<Vec<Value>, String>> {
        let index = self.archive.file(&format!("{}.index", metric.id));
        let data = self.archive.file(&format!("{}.data", metric.id));
        let (Some(index), Some(data)) = (index, data) else {
            return Ok(Err("some profiles have no values of it".into()));
        };
        let damaged = || {
            let expected = format!("values of metric {} at each of its callpaths", metric.name);
            Error::format(self.source, None, expected, "a damaged index or damaged data")
        };
        let index = Index::parse(index).ok_or_else(damaged)?;
        let Some(width) = width(&metric.kind) else {
            return Ok(Err(format!("values of type {} are not numbers", metric.kind)));
        };
        let data = unpacked(data, index.little).ok_or_else(damaged)?;
        let values: Vec<f64> =
            data.chunks_exact(width).filter_map(|bytes| number(&metric.kind, bytes, index.little)).collect();
        let locations = self.anchor.locations;
        if locations == 0 || values.len() != index.places.len().saturating_mul(locations) {
            return Err(damaged());
        }
        let order = self.anchor.order(metric.inclusive);
        let mut of_call: HashMap<usize, &[f64]> = HashMap::new();
        for (place, values) in index.places.iter().zip(values.chunks_exact(locations)) {
            let call = usize::try_from(*place).ok().and_then(|place| order.get(place)).ok_or_else(damaged)?;
            of_call.insert(*call, values);
        }
        Ok(Ok(self.exclusive(metric, &of_call)))
    }

    /// Calls of the same path, such as two calls of one function, are added.
    fn exclusive(&self, metric: &Metric, of_call: &HashMap<usize, &[f64]>) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (index, call) in self.anchor.calls.iter().enumerate() {
            let Some(own) = of_call.get(&index) else { continue };
            let mut own = own.to_vec();
            if metric.inclusive && metric.adds_up() {
                for child in call.children.iter().filter_map(|child| of_call.get(child)) {
                    own.iter_mut().zip(*child).for_each(|(own, child)| *own -= child);
                }
            }
            match known.get(call.path.as_str()) {
                Some(&same) => {
                    let both = values[same].by_location.iter_mut().zip(own);
                    both.for_each(|(sum, value)| *sum = metric.sum(&[*sum, value]));
                }
                None => {
                    known.insert(&call.path, values.len());
                    values.push(Value { callpath: call.path.clone(), by_location: own });
                }
            }
        }
        values
    }
}

/// Which callpaths have values.
struct Index {
    /// The lowest byte comes first, here and in the data.
    little: bool,
    places: Vec<i32>,
}

impl Index {
    fn parse(bytes: &[u8]) -> Option<Index> {
        let bytes = bytes.strip_prefix(INDEX)?;
        // A 1, by which the order of bytes is known; version (2 bytes) and kind (1) follow.
        let little = bytes.first_chunk().copied().map(i32::from_le_bytes)? == 1;
        let read =
            |bytes: [u8; 4]| if little { i32::from_le_bytes(bytes) } else { i32::from_be_bytes(bytes) };
        let count = read(bytes.get(7..)?.first_chunk().copied()?);
        let places = bytes.get(11..)?;
        if usize::try_from(count).ok()?.checked_mul(4)? != places.len() {
            return None;
        }
        let places =
            places.chunks_exact(4).filter_map(|chunk| chunk.first_chunk().copied()).map(read).collect();
        Some(Index { little, places })
    }
}

fn unpacked(data: &[u8], little: bool) -> Option<Vec<u8>> {
    if let Some(plain) = data.strip_prefix(DATA) {
        return Some(plain.to_vec());
    }
    let data = data.strip_prefix(COMPRESSED)?;
    let read = |at: usize| -> Option<u64> {
        let bytes = data.get(at..)?.first_chunk().copied()?;
        Some(if little { u64::from_le_bytes(bytes) } else { u64::from_be_bytes(bytes) })
    };
    // For each piece: its place in the data, in the file, and its bytes in the file.
    let pieces = usize::try_from(read(0)?).ok()?;
    let mut at = pieces.checked_mul(24)?.checked_add(8)?;
    let mut unpacked = Vec::new();
    for piece in 0..pieces {
        let size = usize::try_from(read(8 + 24 * piece + 16)?).ok()?;
        let packed = data.get(at..at.checked_add(size)?)?;
        if size > 0 {
            let left = MAX_BYTES.saturating_sub(unpacked.len() as u64);
            ZlibDecoder::new(packed).take(left).read_to_end(&mut unpacked).ok()?;
        }
        at += size;
    }
    Some(unpacked)
}

/// Bytes of a value; `None`: it is no single number.
fn width(kind: &str) -> Option<usize> {
    Some(match kind {
        "CHAR" | "INT8" | "UINT8" => 1,
        "INT16" | "UINT16" | "SHORT INT" | "SIGNED SHORT INT" | "UNSIGNED SHORT INT" => 2,
        "INT" | "INT32" | "UINT32" | "SIGNED INT" | "UNSIGNED INT" => 4,
        "DOUBLE" | "FLOAT" | "MINDOUBLE" | "MAXDOUBLE" => 8,
        "INT64" | "UINT64" | "INTEGER" | "SIGNED INTEGER" | "UNSIGNED INTEGER" => 8,
        _ => return None,
    })
}

fn number(kind: &str, bytes: &[u8], little: bool) -> Option<f64> {
    let mut ordered = [0u8; 8];
    let part = ordered.get_mut(..bytes.len())?;
    part.copy_from_slice(bytes);
    if !little {
        part.reverse();
    }
    let raw = u64::from_le_bytes(ordered);
    let is_float = matches!(kind, "DOUBLE" | "FLOAT" | "MINDOUBLE" | "MAXDOUBLE");
    let is_unsigned = kind.starts_with('U') || kind == "CHAR";
    Some(match is_float {
        true => f64::from_bits(raw),
        false if is_unsigned => raw as f64,
        // The sign is the highest bit of the value's own width.
        false => ((raw << (64 - 8 * bytes.len())) as i64 >> (64 - 8 * bytes.len())) as f64,
    })
}
