//! The uncompressed header of a Darshan 3 log: byte order, compression, and where each region lies.

use std::borrow::Cow;

use crate::endian::{ByteOrder, Fields};
use crate::error::{Error, Place, Result, show_bytes};
use crate::format::{Format, MAGIC};
use crate::inflate::Compression;
use crate::module::{ModuleId, ModuleInfo};
use crate::region::Extent;
use crate::source::Source;

/// Length of the header up to format 3.21, with 16 module slots.
pub(crate) const LEN_16: usize = 360;
/// Length of the header from format 3.41 on, with 64 module slots.
pub(crate) const LEN_64: usize = 1328;

/// What the header says.
#[derive(Debug)]
pub(crate) struct Header {
    pub order: ByteOrder,
    pub compression: Compression,
    pub job: Extent,
    pub names: Extent,
    pub modules: Vec<ModuleInfo>,
}

/// How many module slots a header of this format has.
pub(crate) fn slots(format: Format) -> usize {
    if format < Format::V3_41 { 16 } else { 64 }
}

/// The module in a slot of the header. H5D (4) appeared with format 3.20, PNETCDF_VAR (6) with 3.41; before,
/// the modules after them had smaller numbers.
pub(crate) fn module_of_slot(format: Format, slot: usize) -> ModuleId {
    let mut id = slot as u8;
    if format < Format::V3_20 && id >= 4 {
        id += 1;
    }
    if format < Format::V3_41 && id >= 6 {
        id += 1;
    }
    ModuleId(id)
}

/// Byte order by the magic number, `None` if it is not there in either order.
pub(crate) fn byte_order(magic: [u8; 8]) -> Option<ByteOrder> {
    [ByteOrder::Little, ByteOrder::Big].into_iter().find(|order| order.u64(magic) == MAGIC)
}

pub(crate) fn compression_of(code: u8) -> Option<Compression> {
    match code {
        0 => Some(Compression::Zlib),
        1 => Some(Compression::Bzip2),
        2 => Some(Compression::None),
        _ => None,
    }
}

/// Reads the header of a log whose version is known to be a supported 3.x.
pub(crate) fn read(file: &str, source: &Source, format: Format) -> Result<Header> {
    let len = if slots(format) == 64 { LEN_64 } else { LEN_16 };
    let mut buffer = [0; LEN_64];
    let got = source.read_at(0, &mut buffer[..len]).map_err(|source| Error::Io {
        file: file.into(),
        action: "read",
        source,
    })?;
    let place = |offset| {
        Box::new(Place { region: Cow::Borrowed("header"), start: 0, offset: offset as u64, record: None })
    };
    if got < len {
        return Err(Error::Truncated {
            file: file.into(),
            place: place(got),
            expected: format!("a header of {len} bytes").into(),
            found: format!("{got} bytes"),
        });
    }
    let mut magic = [0; 8];
    magic.copy_from_slice(&buffer[8..16]);
    let order = byte_order(magic).ok_or_else(|| Error::Corrupt {
        file: file.into(),
        place: place(8),
        expected: format!("the magic number {MAGIC} in either byte order").into(),
        found: show_bytes(&magic),
    })?;
    let compression = compression_of(buffer[16]).ok_or_else(|| Error::Unsupported {
        file: file.into(),
        what: "compression type".into(),
        expected: "0 (zlib), 1 (bzip2) or 2 (none)".into(),
        found: buffer[16].to_string(),
    })?;

    let wide = slots(format) == 64;
    let mut fields = Fields::new(order, &buffer[..len]);
    fields.bytes(if wide { 24 } else { 20 });
    let partial = if wide { fields.u64() } else { u64::from(fields.u32()) };
    let names = Extent { start: fields.u64(), len: fields.u64() };
    let extents: Vec<Extent> =
        (0..slots(format)).map(|_| Extent { start: fields.u64(), len: fields.u64() }).collect();

    let mut modules = Vec::new();
    for (slot, extent) in extents.iter().enumerate() {
        let version = fields.u32();
        let partial = partial >> slot & 1 == 1;
        if extent.len > 0 || partial {
            modules.push(ModuleInfo {
                id: module_of_slot(format, slot),
                version,
                offset: extent.start,
                compressed_len: extent.len,
                partial,
            });
        }
    }
    Ok(Header { order, compression, job: job_extent(len, source.len(), names, &extents), names, modules })
}

/// The job's region is not in the map: it lies between the header and the names, or whatever comes first.
fn job_extent(header: usize, file: u64, names: Extent, modules: &[Extent]) -> Extent {
    let start = header as u64;
    let end = if names.start > 0 {
        names.start
    } else {
        modules.iter().map(|m| m.start).find(|s| *s > 0).unwrap_or(file)
    };
    Extent { start, len: end.saturating_sub(start) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_slots_are_moved_to_todays_numbers() {
        let name = |format, slot| module_of_slot(format, slot).name().into_owned();
        assert_eq!(name(Format::V3_00, 3), "H5F");
        assert_eq!(name(Format::V3_00, 4), "PNETCDF_FILE");
        assert_eq!(name(Format::V3_10, 5), "BG/Q");
        assert_eq!(name(Format::V3_10, 7), "STDIO");
        assert_eq!(name(Format::V3_10, 8), "DXT_POSIX");
        assert_eq!(name(Format::V3_21, 4), "H5D");
        assert_eq!(name(Format::V3_21, 8), "STDIO");
        assert_eq!(name(Format::V3_21, 14), "HEATMAP");
        assert_eq!(name(Format::V3_41, 15), "HEATMAP");
        for format in [Format::V3_00, Format::V3_10, Format::V3_20, Format::V3_21, Format::V3_41] {
            let ids: std::collections::BTreeSet<_> =
                (0..slots(format)).map(|slot| module_of_slot(format, slot)).collect();
            assert_eq!(ids.len(), slots(format), "no two slots of {format} are the same module");
        }
    }

    #[test]
    fn the_job_ends_where_the_next_region_begins() {
        let at = |start| Extent { start, len: 5 };
        assert_eq!(job_extent(360, 900, at(400), &[at(500)]).len, 40);
        assert_eq!(job_extent(360, 900, Extent::default(), &[Extent::default(), at(500)]).len, 140);
        assert_eq!(job_extent(360, 900, Extent::default(), &[]).len, 540);
        assert_eq!(job_extent(360, 100, at(10), &[]).len, 0);
    }
}
