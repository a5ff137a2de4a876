//! Functions that move data: of which layer they are, which way the bytes go, and which arguments tell how
//! many.
//!
//! For formats that record calls by name. One row a function, so that adding one is adding a row.

use crate::request::Class;
use crate::request::layer::Layer;

/// Where the number of bytes is among the arguments, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Amount {
    /// One argument is it.
    Bytes(usize),
    /// Size of an item, and number of items.
    Items(usize, usize),
    /// Number of elements, and their MPI datatype.
    Elements(usize, usize),
}

/// A function that moves data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Function {
    pub name: &'static str,
    pub layer: Layer,
    pub class: Class,
    pub amount: Amount,
}

/// A row for each name.
macro_rules! functions {
    ($($layer:ident $class:ident $amount:expr => $($name:literal)+;)*) => {
        const TABLE: &[Function] = &[$($(
            Function { name: $name, layer: Layer::$layer, class: Class::$class, amount: $amount },
        )+)*];
    };
}

// Arguments as in the C interfaces; of readv and its kin, tracers give the sum in place of the vector.
functions! {
    Posix ReadSync Amount::Bytes(2) => "read" "pread" "pread64";
    Posix WriteSync Amount::Bytes(2) => "write" "pwrite" "pwrite64";
    Posix ReadSync Amount::Bytes(1) => "readv" "preadv" "preadv64" "preadv2" "preadv64v2";
    Posix WriteSync Amount::Bytes(1) => "writev" "pwritev" "pwritev64" "pwritev2" "pwritev64v2";
    Stdio ReadSync Amount::Items(1, 2) => "fread" "fread_unlocked";
    Stdio WriteSync Amount::Items(1, 2) => "fwrite" "fwrite_unlocked";
    Stdio WriteSync Amount::Bytes(1) => "fprintf" "vfprintf";
    MpiIo ReadSync Amount::Elements(2, 3) => "MPI_File_read" "MPI_File_read_all" "MPI_File_read_shared"
        "MPI_File_read_ordered" "MPI_File_read_all_begin" "MPI_File_read_ordered_begin";
    MpiIo WriteSync Amount::Elements(2, 3) => "MPI_File_write" "MPI_File_write_all" "MPI_File_write_shared"
        "MPI_File_write_ordered" "MPI_File_write_all_begin" "MPI_File_write_ordered_begin";
    MpiIo ReadSync Amount::Elements(3, 4) =>
        "MPI_File_read_at" "MPI_File_read_at_all" "MPI_File_read_at_all_begin";
    MpiIo WriteSync Amount::Elements(3, 4) => "MPI_File_write_at" "MPI_File_write_at_all"
        "MPI_File_write_at_all_begin";
    MpiIo ReadAsync Amount::Elements(2, 3) => "MPI_File_iread" "MPI_File_iread_all" "MPI_File_iread_shared";
    MpiIo WriteAsync Amount::Elements(2, 3) =>
        "MPI_File_iwrite" "MPI_File_iwrite_all" "MPI_File_iwrite_shared";
    MpiIo ReadAsync Amount::Elements(3, 4) => "MPI_File_iread_at" "MPI_File_iread_at_all";
    MpiIo WriteAsync Amount::Elements(3, 4) => "MPI_File_iwrite_at" "MPI_File_iwrite_at_all";
}

/// Sizes of the predefined datatypes where every MPI on 64-bit Linux agrees.
const DATATYPES: &[(u64, &[&str])] = &[
    (
        1,
        &[
            "BYTE",
            "CHAR",
            "SIGNED_CHAR",
            "UNSIGNED_CHAR",
            "PACKED",
            "INT8_T",
            "UINT8_T",
            "C_BOOL",
            "CHARACTER",
        ],
    ),
    (1, &["CXX_BOOL", "INTEGER1"]),
    (2, &["SHORT", "UNSIGNED_SHORT", "INT16_T", "UINT16_T", "INTEGER2"]),
    (
        4,
        &[
            "INT", "UNSIGNED", "FLOAT", "INT32_T", "UINT32_T", "INTEGER", "REAL", "LOGICAL", "INTEGER4",
            "REAL4",
        ],
    ),
    (4, &["WCHAR"]),
    (8, &["LONG", "UNSIGNED_LONG", "LONG_LONG", "LONG_LONG_INT", "UNSIGNED_LONG_LONG", "DOUBLE", "INT64_T"]),
    (8, &["UINT64_T", "OFFSET", "AINT", "COUNT", "DOUBLE_PRECISION", "COMPLEX", "INTEGER8", "REAL8", "2INT"]),
    (8, &["C_COMPLEX", "C_FLOAT_COMPLEX", "CXX_FLOAT_COMPLEX"]),
    (16, &["LONG_DOUBLE", "DOUBLE_COMPLEX", "C_DOUBLE_COMPLEX", "CXX_DOUBLE_COMPLEX", "REAL16"]),
];

/// The function of a name. The profiling interface and large counts are the same function.
pub(super) fn function(name: &str) -> Option<&'static Function> {
    let name = name.strip_prefix('P').filter(|rest| rest.starts_with("MPI_")).unwrap_or(name);
    let large = name.strip_suffix("_c").filter(|rest| rest.starts_with("MPI_"));
    let name = large.unwrap_or(name);
    TABLE.iter().find(|function| function.name == name)
}

impl Function {
    /// The bytes that a call moved, from its arguments; `Err` says what was there instead.
    pub fn bytes(&self, arguments: &[&str]) -> Result<u64, String> {
        let argument =
            |at: usize| arguments.get(at).copied().ok_or_else(|| format!("{} arguments", arguments.len()));
        let number = |at: usize| {
            let text = argument(at)?;
            text.parse::<u64>().map_err(|_| format!("{text:?} as argument {}", at + 1))
        };
        let product = |a: u64, b: u64| a.checked_mul(b).ok_or_else(|| format!("{a} times {b} bytes"));
        match self.amount {
            Amount::Bytes(at) => number(at),
            Amount::Items(size, count) => product(number(size)?, number(count)?),
            Amount::Elements(count, datatype) => {
                let name = argument(datatype)?;
                let size = datatype_size(name).ok_or_else(|| format!("the datatype {name:?}"))?;
                product(number(count)?, size)
            }
        }
    }
}

fn datatype_size(name: &str) -> Option<u64> {
    let name = name.strip_prefix("MPI_")?;
    DATATYPES.iter().find(|(_, names)| names.contains(&name)).map(|(size, _)| *size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_know_their_layer_direction_and_bytes() {
        let of = |name: &str, arguments: &[&str]| {
            let function = function(name)?;
            Some((function.layer, function.class, function.bytes(arguments)))
        };
        use Class::{ReadSync, WriteAsync, WriteSync};
        assert_eq!(of("pwrite64", &["f", "0x1", "10", "0"]), Some((Layer::Posix, WriteSync, Ok(10))));
        assert_eq!(of("readv", &["f", "30", "3"]), Some((Layer::Posix, ReadSync, Ok(30))));
        assert_eq!(of("fwrite", &["0x1", "8", "5", "f"]), Some((Layer::Stdio, WriteSync, Ok(40))));
        let arguments = ["fh", "0", "0x1", "100", "MPI_DOUBLE", "s"];
        assert_eq!(of("MPI_File_write_at_all", &arguments), Some((Layer::MpiIo, WriteSync, Ok(800))));
        assert_eq!(of("PMPI_File_iwrite_at_c", &arguments), Some((Layer::MpiIo, WriteAsync, Ok(800))));
        assert_eq!(of("MPI_File_open", &arguments), None);
        assert_eq!(of("MPI_File_write_all_end", &arguments), None);
        assert_eq!(of("opendir", &[]), None);
        let wrong = |name: &str, arguments: &[&str]| of(name, arguments).unwrap().2.unwrap_err();
        assert_eq!(wrong("write", &["f"]), "1 arguments");
        assert_eq!(wrong("write", &["f", "0x1", "-1"]), "\"-1\" as argument 3");
        assert_eq!(wrong("MPI_File_write", &["fh", "b", "1", "mine"]), "the datatype \"mine\"");
        assert!(wrong("fread", &["b", "4294967296", "4294967296"]).contains("times"));
    }

    #[test]
    fn every_name_is_there_once() {
        let mut names: Vec<&str> = TABLE.iter().map(|function| function.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), TABLE.len());
        // MPI-4.1, chapter 14: 12 blocking, 10 nonblocking and 6 begins of split collectives.
        assert_eq!(names.iter().filter(|name| name.starts_with("MPI_")).count(), 28);
    }
}
