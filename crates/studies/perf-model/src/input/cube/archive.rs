//! The files of a Cube profile: a tar archive. Checksums of its headers are not looked at: CubeLib has
//! written some that are wrong.

use std::collections::BTreeMap;

const BLOCK: usize = 512;

/// Files by name.
pub(super) struct Archive<'a>(BTreeMap<&'a [u8], &'a [u8]>);

impl<'a> Archive<'a> {
    /// `None` if it is no archive, or is cut off.
    pub fn open(bytes: &'a [u8]) -> Option<Self> {
        let mut files = BTreeMap::new();
        let mut at = 0;
        while at != bytes.len() {
            let header = bytes.get(at..at.checked_add(BLOCK)?)?;
            if header.iter().all(|byte| *byte == 0) {
                break;
            }
            let name = header[..100].split(|byte| *byte == 0).next()?;
            let size = number(&header[124..136])?;
            at += BLOCK;
            let content = bytes.get(at..at.checked_add(size)?)?;
            // A plain file.
            if matches!(header[156], b'0' | 0) {
                files.insert(name.strip_prefix(b"./").unwrap_or(name), content);
            }
            at = at.checked_add(size.checked_next_multiple_of(BLOCK)?)?;
        }
        (!files.is_empty()).then_some(Archive(files))
    }

    pub fn file(&self, name: &str) -> Option<&'a [u8]> {
        self.0.get(name.as_bytes()).copied()
    }
}

/// Octal digits, or, if they do not suffice, a binary number.
fn number(field: &[u8]) -> Option<usize> {
    if field[0] & 0x80 != 0 {
        let bytes = field.last_chunk::<8>()?;
        return usize::try_from(u64::from_be_bytes(*bytes)).ok();
    }
    let text = std::str::from_utf8(field).ok()?.trim_matches([' ', '\0']);
    usize::from_str_radix(text, 8).ok()
}
