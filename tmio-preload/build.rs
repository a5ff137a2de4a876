//! Builds `libtmio.so`, the small object that is preloaded, and links the recorder.
//!
//! The object has no standard library and cannot unwind, which Cargo can say only of a whole workspace; so
//! the compiler is called here. Its sources are those of the package `tmio-entry` (folder `entry`), which
//! lints and tests see as any other. It is put where the recorder is: `target/PROFILE`.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

fn main() {
    // The recorder has a SONAME without a version, as nobody is linked to it. It stays in memory once it was
    // loaded (threads, exit handlers and MPI's callbacks may point into it until the process ends), and is
    // the helper when it is started as a program.
    for argument in ["-soname,libtmio_recorder.so", "-z,nodelete", "-e,tmio_program"] {
        println!("cargo:rustc-cdylib-link-arg=-Wl,{argument}");
    }
    for path in
        ["build.rs", "entry/src", "entry/layout.ld", "exported-symbols.txt", "../crates/trace/tmio-spool/src"]
    {
        println!("cargo:rerun-if-changed={path}");
    }
    if matches!(variable("CARGO_CFG_TARGET_ENV").to_str(), Some("gnu")) {
        build_object();
    }
}

fn variable(name: &str) -> OsString {
    env::var_os(name).unwrap_or_default()
}

fn is_aarch64() -> bool {
    variable("CARGO_CFG_TARGET_ARCH") == "aarch64"
}

fn build_object() {
    let out = PathBuf::from(variable("OUT_DIR"));
    let names = out.join("mpi_names.rs");
    fs::write(&names, mpi_names()).unwrap_or_else(|error| fail(&names, &error.to_string()));
    let layout = Path::new("entry/layout.ld");
    let spool = out.join("libtmio_spool.rlib");
    compile("rlib", "tmio_spool", Path::new("../crates/trace/tmio-spool/src/lib.rs"), &spool, |_| {});
    let object = out.join("libtmio.so");
    compile("cdylib", "tmio", Path::new("entry/src/lib.rs"), &object, |command| {
        command.env("TMIO_MPI_NAMES", &names).args(["--cfg", "tmio_object", "-C", "force-unwind-tables=yes"]);
        let mut library = OsString::from("tmio_spool=");
        library.push(&spool);
        command.arg("--extern").arg(library);
        if variable("PROFILE") == "release" {
            command.args(["-C", "strip=symbols"]);
        }
        let mut script = OsString::from("link-arg=-Wl,-T,");
        script.push(layout);
        command.arg("-C").arg(script);
        let arguments = [
            "-nostdlib",
            "-nostartfiles",
            "-Wl,-soname,libtmio.so.0",
            "-Wl,-z,nodelete",
            "-Wl,-z,norelro",
            "-Wl,--hash-style=gnu",
        ];
        for argument in arguments {
            command.args(["-C", &format!("link-arg={argument}")]);
        }
        // The largest page that a kernel for this processor may have.
        let page = if is_aarch64() { 65536 } else { 4096 };
        command.args(["-C", &format!("link-arg=-Wl,-z,max-page-size={page}")]);
    });
    // …/target/PROFILE/build/tmio-preload-HASH/out
    if let Some(profile) = out.ancestors().nth(3) {
        let place = profile.join("libtmio.so");
        println!("cargo:rerun-if-changed={}", place.display());
        // By a new file: processes may have the old one in memory.
        let draft = profile.join("libtmio.so.new");
        let placed = fs::copy(&object, &draft).and_then(|_| fs::rename(&draft, &place));
        placed.unwrap_or_else(|error| fail(&place, &error.to_string()));
    }
}

/// The functions of MPI that are exported.
fn mpi_names() -> String {
    let path = Path::new("exported-symbols.txt");
    let text = fs::read_to_string(path).unwrap_or_else(|error| fail(path, &error.to_string()));
    let names: Vec<&str> =
        text.lines().filter(|name| name.starts_with("MPI_") || name.starts_with("PMPI_")).collect();
    format!("mpi! {{ {} }}\n", names.join(" "))
}

fn compile(kind: &str, name: &str, source: &Path, output: &Path, more: impl FnOnce(&mut Command)) {
    let mut command = Command::new(variable("RUSTC"));
    command.args(["--edition", "2024", "--crate-type", kind, "--crate-name", name]);
    // Always optimised: without that, what cannot happen would be checked, and end in a panic.
    command.args([
        "-C",
        "panic=abort",
        "-C",
        "opt-level=3",
        "-C",
        "codegen-units=1",
        "-C",
        "relocation-model=pic",
    ]);
    command.arg("--target").arg(variable("TARGET"));
    if is_aarch64() {
        // Which of two kinds of instructions to use would be asked of the C library at load.
        command.args(["-C", "target-feature=-outline-atomics"]);
    }
    let linker = variable("RUSTC_LINKER");
    if !linker.is_empty() {
        let mut option = OsString::from("linker=");
        option.push(linker);
        command.arg("-C").arg(option);
    }
    more(&mut command);
    command.arg("-o").arg(output).arg(source);
    match command.status() {
        Ok(status) if status.success() => {}
        Ok(status) => fail(source, &format!("the compiler has ended with {status}")),
        Err(error) => fail(source, &error.to_string()),
    }
}

fn fail(path: &Path, reason: &str) -> ! {
    eprintln!("{}: {reason}", path.display());
    exit(1);
}
