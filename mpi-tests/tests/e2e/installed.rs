//! Programs built against an installed prefix, with pkg-config, CMake and from Fortran, run with and without
//! the tracer.

use crate::harness::{Mpi, RECORDER, copy_libtmio, ftio, installed_mpis, libtmio, run_limited, skip};
use crate::mpis::in_path;
use crate::traced::{Scratch, info};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

const SOURCES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/programs");

fn run(mut command: Command) -> String {
    command.env_remove("LD_PRELOAD");
    let label = format!("{command:?}");
    let outcome = run_limited(command, Duration::from_secs(300));
    assert!(outcome.success(), "{label}: {outcome:?}");
    outcome.stdout
}

/// `scripts/install` below a DESTDIR; everything in the prefix finds its neighbours by relative paths.
fn install(scratch: &Scratch) -> PathBuf {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../scripts/install"));
    let built = scratch.path().join("built");
    std::fs::create_dir_all(&built).expect("a directory");
    std::fs::copy(ftio(), built.join("ftio")).expect("a copy");
    copy_libtmio(&built.join("libtmio.so"));
    command
        .args(["--no-build", "/opt/tmio"])
        .env("DESTDIR", scratch.path().join("root"))
        .env("TMIO_BUILD", built);
    run(command);
    scratch.path().join("root/opt/tmio")
}

fn pkg_config(prefix: &Path, package: &str) -> Vec<String> {
    let mut command = Command::new("pkg-config");
    command.args(["--cflags", "--libs", package]).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
    run(command).split_whitespace().map(str::to_owned).collect()
}

/// The program on two ranks, with `preload` or without any tracer; gives the recorded writes if there is a
/// trace.
fn writes(mpi: &Mpi, program: &Path, preload: Option<&Path>) -> Option<u64> {
    let scratch = Scratch::new();
    let mut job = mpi.job(2, program).args([scratch.data()]);
    job = job.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool());
    if let Some(library) = preload {
        job = job.env("LD_PRELOAD", library);
    }
    let outcome = job.run();
    assert!(
        outcome.success() && outcome.stderr.is_empty(),
        "{}: {}: {outcome:?}",
        mpi.name,
        program.display()
    );
    scratch.trace().is_file().then(|| info(&scratch.trace())["write_sync"]["ops"].as_u64().expect("a number"))
}

/// Only Debian's two have compilers for all languages.
fn mpis() -> Vec<Mpi> {
    installed_mpis().into_iter().filter(|mpi| ["openmpi", "mpich"].contains(&mpi.name)).collect()
}

#[test]
fn by_pkg_config() {
    if !in_path("pkg-config") {
        return skip("there is no pkg-config");
    }
    let scratch = Scratch::new();
    let prefix = install(&scratch);
    for mpi in mpis() {
        for (package, linked) in [("tmio-header", false), ("tmio", true)] {
            let program = scratch.path().join(format!("{}-{package}", mpi.name));
            let (mut compile, _) = mpi.compiler();
            compile
                .arg(format!("{SOURCES}/flushes.c"))
                .args(pkg_config(&prefix, package))
                .arg("-o")
                .arg(&program);
            run(compile);
            let label = format!("{}: {package}", mpi.name);
            assert_eq!(writes(&mpi, &program, None), linked.then_some(20), "{label}, not preloaded");
            if !linked {
                assert_eq!(writes(&mpi, &program, Some(&prefix.join("lib/libtmio.so"))), Some(20), "{label}");
            }
        }
    }
}

#[test]
fn by_cmake_from_c_and_fortran() {
    if !in_path("cmake") {
        return skip("there is no cmake");
    }
    let scratch = Scratch::new();
    let prefix = install(&scratch);
    for mpi in mpis() {
        let build = scratch.path().join(mpi.name);
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(format!("{SOURCES}/installed")).arg("-B").arg(&build);
        configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display()));
        configure.arg(format!("-DMPI_C_COMPILER=mpicc.{}", mpi.name));
        run({
            configure.arg(format!("-DMPI_Fortran_COMPILER=mpifort.{}", mpi.name));
            configure
        });
        let mut make = Command::new("cmake");
        make.arg("--build").arg(&build);
        run(make);
        for (program, linked) in [("with_header", false), ("linked", true), ("from_fortran", false)] {
            let label = format!("{}: {program}", mpi.name);
            let program = build.join(program);
            assert_eq!(writes(&mpi, &program, None), linked.then_some(20), "{label}, not preloaded");
            if !linked {
                assert_eq!(writes(&mpi, &program, Some(&prefix.join("lib/libtmio.so"))), Some(20), "{label}");
            }
        }
    }
}

#[test]
fn what_is_installed() {
    let scratch = Scratch::new();
    let prefix = install(&scratch);
    let version = env!("CARGO_PKG_VERSION");
    let library = format!("lib/libtmio.so.{version}");
    for name in ["lib/libtmio.so", "lib/libtmio.so.0"] {
        assert_eq!(
            prefix.join(name).canonicalize().ok(),
            prefix.join(&library).canonicalize().ok(),
            "{name}"
        );
    }
    let mode = std::fs::metadata(prefix.join(&library)).expect("the library").permissions().mode();
    assert_eq!(mode & 0o777, 0o644, "a library is no program");
    let mode =
        std::fs::metadata(prefix.join("lib").join(RECORDER)).expect("the recorder").permissions().mode();
    assert_eq!(mode & 0o777, 0o755, "the recorder is one");
    let mut command = Command::new(prefix.join("bin/ftio"));
    command.arg("--version");
    assert!(run(command).contains(version));
    for name in [format!("share/modulefiles/tmio/{version}"), format!("share/modulefiles/tmio/{version}.lua")]
    {
        let text = std::fs::read_to_string(prefix.join(&name)).expect("a module file");
        assert!(text.contains("/opt/tmio") && !text.contains('@'), "{name}: {text}");
        assert!(!text.contains("LD_PRELOAD"), "{name} traces who loads it");
    }
}

/// `--from` takes a tree as `scripts/release` packs it, checks the tarball, and refuses one that was changed.
#[test]
fn from_binaries_that_are_built_already() {
    let scratch = Scratch::new();
    let version = env!("CARGO_PKG_VERSION");
    let name = format!("tmio-{version}-linux-{}", std::env::consts::ARCH);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let script = format!(
        "set -e; cd '{dist}'; mkdir -p {name}/bin {name}/lib; cp '{ftio}' {name}/bin/
         cp '{library}' '{recorder}' {name}/lib/
         cp -r '{root}/c-headers' '{root}/docs' '{root}/README.md' '{root}/LICENSE' {name}/
         : > {name}/lib/libtmio_fortran.a; tar -czf {name}.tar.gz {name}; rm -r {name}
         sha256sum {name}.tar.gz > SHA256SUMS",
        dist = scratch.path().display(),
        ftio = ftio().display(),
        library = libtmio().display(),
        recorder = libtmio().with_file_name(RECORDER).display(),
        root = root.display(),
    );
    let mut command = Command::new("sh");
    command.args(["-c", &script]);
    run(command);
    let install = |prefix: &Path| {
        let mut command = Command::new(root.join("scripts/install"));
        command
            .arg("--from")
            .arg(scratch.path())
            .args(["--libdir", "lib64"])
            .arg(prefix)
            .env("PATH", "/usr/bin:/bin");
        run_limited(command, Duration::from_secs(300))
    };
    let prefix = scratch.path().join("prefix");
    let outcome = install(&prefix);
    assert!(outcome.success(), "{outcome:?}");
    let libraries = ["lib64/libtmio.so", "lib64/libtmio_recorder.so", "lib64/pkgconfig/tmio.pc"];
    for file in ["bin/ftio", "include/tmio.h", "share/man/man1/ftio.1"].into_iter().chain(libraries) {
        assert!(prefix.join(file).is_file(), "{file}");
    }
    // `ftio trace` finds both where they are installed.
    let mut traced = Command::new(prefix.join("bin/ftio"));
    let trace = scratch.path().join("dd.msgpack");
    traced.args(["trace", "-o"]).arg(&trace).args([
        "--",
        "dd",
        "if=/dev/zero",
        "bs=1M",
        "count=4",
        "status=none",
    ]);
    traced.arg(format!("of={}", scratch.path().join("zeros").display())).env_remove("TMIO_LIBRARY");
    run(traced);
    assert_eq!(info(&trace)["write_sync"]["bytes"], 4 << 20);
    let tarball = scratch.path().join(format!("{name}.tar.gz"));
    let mut bytes = std::fs::read(&tarball).expect("the tarball");
    bytes.push(0);
    std::fs::write(&tarball, bytes).expect("a changed tarball");
    let refused = scratch.path().join("refused");
    assert!(!install(&refused).success() && !refused.exists());
}
