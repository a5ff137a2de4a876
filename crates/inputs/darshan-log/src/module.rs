//! The modules of a log: which there are, and what the header says about each.

use std::borrow::Cow;
use std::fmt;

use crate::region::Extent;

/// The number of a Darshan module, as current releases count them.
///
/// Older logs number some modules differently; the reader translates.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u8);

/// Module names by number, `darshan-log-format.h` of release 3.5.
const NAMES: [&str; 18] = [
    "NULL",
    "POSIX",
    "MPI-IO",
    "H5F",
    "H5D",
    "PNETCDF_FILE",
    "PNETCDF_VAR",
    "BG/Q",
    "LUSTRE",
    "STDIO",
    "DXT_POSIX",
    "DXT_MPIIO",
    "MDHIM",
    "APXC",
    "APMPI",
    "HEATMAP",
    "DFS",
    "DAOS",
];

impl ModuleId {
    /// Counters of POSIX I/O, one record per file (and rank).
    pub const POSIX: ModuleId = ModuleId(1);
    /// Counters of MPI-IO.
    pub const MPIIO: ModuleId = ModuleId(2);
    /// Counters of the C stdio streams.
    pub const STDIO: ModuleId = ModuleId(9);
    /// Every single POSIX read and write (DXT).
    pub const DXT_POSIX: ModuleId = ModuleId(10);
    /// Every single MPI-IO read and write (DXT).
    pub const DXT_MPIIO: ModuleId = ModuleId(11);
    /// Bytes over time, per layer and rank.
    pub const HEATMAP: ModuleId = ModuleId(15);

    /// The name the Darshan tools print (`"MPI-IO"`); `"MODULE_40"` for a number unknown to this crate.
    pub fn name(self) -> Cow<'static, str> {
        match NAMES.get(usize::from(self.0)) {
            Some(name) => Cow::Borrowed(name),
            None => Cow::Owned(format!("MODULE_{}", self.0)),
        }
    }

    /// The module of a name, in the Darshan tools' spelling.
    pub fn from_name(name: &str) -> Option<ModuleId> {
        let at = NAMES.iter().position(|n| *n == name)?;
        Some(ModuleId(at as u8))
    }
}

impl fmt::Display for ModuleId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name())
    }
}

/// What the header says about a module that has data in the log.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ModuleInfo {
    /// Which module.
    pub id: ModuleId,
    /// Version of its records.
    pub version: u32,
    /// Byte of the file at which its region begins.
    pub offset: u64,
    /// Length of its region in the file.
    pub compressed_len: u64,
    /// Darshan ran out of memory for this module: files, or operations, are missing from it.
    pub partial: bool,
}

impl ModuleInfo {
    /// The module's name, see [`ModuleId::name`].
    pub fn name(&self) -> Cow<'static, str> {
        self.id.name()
    }

    pub(crate) fn extent(&self) -> Extent {
        Extent { start: self.offset, len: self.compressed_len }
    }
}

/// An I/O interface, of which a program may use several on top of each other.
///
/// The same bytes appear once per layer they pass: what MPI-IO writes, POSIX writes again. Layers are
/// alternatives to choose from, never to be added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Layer {
    /// `read`, `write` and relatives.
    Posix,
    /// `MPI_File_…`.
    MpiIo,
    /// `fread`, `fprintf` and relatives.
    Stdio,
    /// DAOS file system.
    Dfs,
    /// DAOS objects.
    Daos,
}

impl Layer {
    /// `"POSIX"`, `"MPIIO"`, `"STDIO"`, `"DFS"`, `"DAOS"`: what follows `heatmap:` in record names.
    pub fn name(self) -> &'static str {
        match self {
            Layer::Posix => "POSIX",
            Layer::MpiIo => "MPIIO",
            Layer::Stdio => "STDIO",
            Layer::Dfs => "DFS",
            Layer::Daos => "DAOS",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_agree() {
        for id in 0..NAMES.len() as u8 {
            assert_eq!(ModuleId::from_name(&ModuleId(id).name()), Some(ModuleId(id)));
        }
        assert_eq!(ModuleId::MPIIO.to_string(), "MPI-IO");
        assert_eq!(ModuleId::HEATMAP.to_string(), "HEATMAP");
        assert_eq!(ModuleId::STDIO.to_string(), "STDIO");
        assert_eq!(ModuleId::DXT_POSIX.to_string(), "DXT_POSIX");
        assert_eq!(ModuleId::DXT_MPIIO.to_string(), "DXT_MPIIO");
        assert_eq!(ModuleId(40).to_string(), "MODULE_40");
        assert_eq!(ModuleId::from_name("posix"), None);
    }
}
