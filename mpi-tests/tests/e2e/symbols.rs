//! The names under which the library stands in for MPI: a list that can be read, and that leaves nothing out.

use crate::harness::{installed_mpis, libtmio, run_limited};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

fn list(name: &str) -> BTreeSet<String> {
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tmio-preload").join(name);
    fs::read_to_string(list).expect("the list is there").lines().map(str::to_owned).collect()
}

fn listed() -> BTreeSet<String> {
    list("exported-symbols.txt")
}

/// Functions of the system and of C streams, which are there only if `TMIO_LAYERS` asks for them.
fn of_the_system() -> BTreeSet<String> {
    list("exported-system-symbols.txt")
}

fn exported() -> BTreeSet<String> {
    let mut nm = Command::new("nm");
    nm.args(["-D", "--defined-only", "--format=posix"]).arg(libtmio());
    let outcome = run_limited(nm, Duration::from_secs(30));
    assert!(outcome.success(), "{outcome:?}");
    outcome.stdout.lines().filter_map(|line| line.split(' ').next()).map(str::to_owned).collect()
}

#[test]
fn exactly_those_listed_are_exported() {
    let (listed, exported) = (listed().union(&of_the_system()).cloned().collect::<BTreeSet<_>>(), exported());
    let missing: Vec<_> = listed.difference(&exported).collect();
    let surplus: Vec<_> = exported.difference(&listed).collect();
    assert!(missing.is_empty() && surplus.is_empty(), "not exported: {missing:?}; not listed: {surplus:?}");
    assert!(exported.len() > 100, "nm found only {exported:?}");
}

fn symbols(library: &Path, which: &str) -> String {
    let mut nm = Command::new("nm");
    nm.args(["-D", which, "--format=posix", "--with-symbol-versions"]).arg(library);
    let outcome = run_limited(nm, Duration::from_secs(30));
    assert!(outcome.success(), "{outcome:?}");
    outcome.stdout
}

fn read_elf(arguments: &[&str]) -> String {
    let mut readelf = Command::new("readelf");
    readelf.args(arguments).arg(libtmio());
    let outcome = run_limited(readelf, Duration::from_secs(30));
    assert!(outcome.success(), "{outcome:?}");
    outcome.stdout
}

/// It is loaded into every process: it needs no other library and no symbol of one, so that it loads under
/// any C library, is mapped in two pieces, and has nothing filled in but on its first page that can be
/// written.
#[test]
fn what_is_preloaded_costs_next_to_nothing_to_load() {
    assert_eq!(symbols(&libtmio(), "--undefined-only"), "");
    let dynamic = read_elf(&["-dW"]);
    assert!(!dynamic.contains("NEEDED") && !dynamic.contains("VERNEED"), "{dynamic}");
    let segments = read_elf(&["-lW"]);
    let loaded: Vec<&str> = segments.lines().filter(|line| line.trim_start().starts_with("LOAD")).collect();
    assert_eq!(loaded.len(), 2, "{segments}");
    let hex = |text: &str| u64::from_str_radix(text.trim_start_matches("0x"), 16).expect("a number");
    let data = hex(loaded[1].split_whitespace().nth(2).expect("an address"));
    let relocations = read_elf(&["-rW"]);
    let places = relocations.lines().filter(|line| line.contains("R_X86_64_") || line.contains("R_AARCH64_"));
    let places: Vec<u64> = places.map(|line| hex(line.split_whitespace().next().expect("a place"))).collect();
    assert!(!places.is_empty(), "{relocations}");
    assert!(places.iter().all(|place| (data..data + 4096).contains(place)), "{data:x}: {relocations}");
}

/// The recorder has the functions of MPI and nothing else that the object beside it calls by name. It is
/// handed out for glibc 2.28: what came in 2.29 to 2.31 is new, and an older one would not load it (2.32 to
/// 2.34 gave new versions to what was there before).
#[test]
fn the_recorder_has_the_functions_of_mpi_and_needs_no_newer_c_library() {
    let recorder = libtmio().with_file_name("libtmio_recorder.so");
    let defined = symbols(&recorder, "--defined-only");
    let defined: BTreeSet<String> =
        defined.lines().filter_map(|line| line.split([' ', '@']).next()).map(str::to_owned).collect();
    let of_mpi: BTreeSet<String> = listed().into_iter().filter(|name| name.contains("MPI_")).collect();
    let expected: BTreeSet<String> = of_mpi.into_iter().chain(["tmio_attach".to_owned()]).collect();
    assert_eq!(defined, expected);
    let undefined = symbols(&recorder, "--undefined-only");
    assert!(undefined.contains("@GLIBC_2."), "{undefined}");
    let newer = ["@GLIBC_2.29", "@GLIBC_2.30", "@GLIBC_2.31"];
    let strong = undefined.lines().filter(|line| line.split(' ').nth(1) == Some("U"));
    let needed: Vec<_> = strong.filter(|line| newer.iter().any(|version| line.contains(version))).collect();
    assert!(needed.is_empty(), "{needed:?}");
}

#[test]
fn each_mpi_function_has_both_names() {
    // The C library's is wrapped to know when an MPI may be loaded.
    let others = |name: &str| name.starts_with("iotrace_") || name == "dlopen";
    for name in listed().iter().filter(|name| !others(name)) {
        let twin = name.strip_prefix('P').map_or(format!("P{name}"), str::to_owned);
        assert!(name.starts_with("MPI_") || name.starts_with("PMPI_"), "{name}");
        assert!(listed().contains(&twin), "{name} without {twin}");
    }
}

/// Functions on files that move no data and change nothing that a trace would tell, by the beginning of their
/// names.
const NOT_RECORDED: [(&str, &str); 10] = [
    ("MPI_File_get_", "a question about the file"),
    ("MPI_File_c2f", "converts a handle"),
    ("MPI_File_f2c", "converts a handle"),
    ("MPI_File_toint", "converts a handle"),
    ("MPI_File_fromint", "converts a handle"),
    ("MPI_File_create_errhandler", "error handlers stay the application's own"),
    ("MPIX_File_create_errhandler_x", "error handlers stay the application's own"),
    ("MPI_File_set_errhandler", "error handlers stay the application's own"),
    ("MPI_File_call_errhandler", "error handlers stay the application's own"),
    ("MPI_File_errhandler_", "error handlers stay the application's own"),
];

/// Names of the form `MPI_File_…` or `MPIX_File_…` that a header declares as functions.
fn file_functions(header: &str) -> BTreeSet<String> {
    let words = |line: &str| -> Vec<String> {
        let name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        line.match_indices('(')
            .map(|(end, _)| {
                let front = line[..end].trim_end();
                let start = front.rfind(|c| !name(c)).map_or(0, |at| at + 1);
                front[start..].to_owned()
            })
            .collect()
    };
    header
        .lines()
        .flat_map(words)
        .filter(|name| name.starts_with("MPI_File_") || name.starts_with("MPIX_File_"))
        // A type of callbacks.
        .filter(|name| !name.ends_with("_function") && !name.ends_with("_fn"))
        .collect()
}

#[test]
fn every_file_function_of_every_header_is_wrapped_or_has_a_reason_not_to_be() {
    let exported = exported();
    for mpi in installed_mpis() {
        let declared = file_functions(&mpi.preprocessed_header());
        assert!(declared.len() >= 58, "{}: found only {declared:?}", mpi.name);
        let forgotten: Vec<_> = declared
            .iter()
            .filter(|name| !exported.contains(*name))
            .filter(|name| !NOT_RECORDED.iter().any(|(start, _)| name.starts_with(start)))
            .collect();
        assert!(forgotten.is_empty(), "{}: neither wrapped nor listed here: {forgotten:?}", mpi.name);
    }
}
