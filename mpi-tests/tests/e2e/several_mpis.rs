//! More than one MPI in a process, or none: a call goes where it would go without us, and an MPI is known
//! by what it is.

use crate::harness::{Mpi, installed_mpis, libtmio, plain_program, run_limited, skip};
use crate::traced::{Scratch, info, traced};
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

/// Two MPIs of different families, in both orders.
fn pairs() -> Vec<[Mpi; 2]> {
    let find = |name: &str| installed_mpis().into_iter().find(|mpi| mpi.name == name);
    match (find("openmpi"), find("mpich")) {
        (Some(one), Some(other)) => vec![[one, other], [other, one]],
        _ => {
            skip("this takes Open MPI and MPICH");
            Vec::new()
        }
    }
}

/// Runs the host program with some modules, traced; what the last one says, and the trace.
fn host(modules: &[PathBuf], scratch: &Scratch) -> crate::harness::Outcome {
    let mut command = Command::new(plain_program("hosts_modules"));
    command.arg(scratch.data()).args(modules).env("LD_PRELOAD", libtmio());
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("TMIO_OUTPUT", scratch.trace()).env("TMIO_SPOOL", scratch.spool());
    run_limited(command, Duration::from_secs(60))
}

#[test]
fn two_modules_with_an_mpi_each() {
    for [unused, used] in pairs() {
        let scratch = Scratch::new();
        let outcome = host(&[unused.program("io_module"), used.program("io_module")], &scratch);
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", used.name);
        assert_eq!(outcome.stdout, "done\n", "{}", used.name);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 10, "{}", used.name);
    }
}

/// The program asked for MPI before it was there.
#[test]
fn an_mpi_that_is_loaded_late() {
    for mpi in installed_mpis().into_iter().filter(|mpi| ["openmpi", "mpich"].contains(&mpi.name)) {
        let scratch = Scratch::new();
        let outcome = host(&[mpi.program("io_module")], &scratch);
        assert!(outcome.success() && outcome.stderr.is_empty(), "{}: {outcome:?}", mpi.name);
        assert_eq!(outcome.stdout, "done\n", "{}", mpi.name);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 10, "{}", mpi.name);
    }
}

/// The other MPI is there for all to see, and nobody uses it.
#[test]
fn a_second_mpi_beside_the_first() {
    for [other, used] in pairs() {
        let scratch = Scratch::new();
        let module = other.program("io_module");
        let job = mpi_job(&used, &scratch, &module);
        let untraced = job.run();
        assert!(untraced.success(), "{}: without a tracer: {untraced:?}", used.name);
        let outcome = traced(job, &scratch).run();
        assert!(outcome.success() && outcome.stderr == untraced.stderr, "{}: {outcome:?}", used.name);
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 20, "{}", used.name);
    }
}

fn mpi_job(mpi: &Mpi, scratch: &Scratch, library: &std::path::Path) -> crate::harness::Job {
    mpi.job(2, mpi.program("loads_a_library")).args([scratch.data(), library.to_path_buf()]).args(["all"])
}

#[test]
fn an_mpi_that_is_not_known() {
    let scratch = Scratch::new();
    let outcome = host(&[plain_program("unknown_mpi_module")], &scratch);
    assert!(outcome.success(), "{outcome:?}");
    assert_eq!(outcome.stdout, "done\n", "{outcome:?}");
    assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
    assert!(outcome.stderr.contains("this MPI is not known"), "{outcome:?}");
    assert_eq!(scratch.traces(), [""; 0]);
}

#[test]
fn a_program_that_looks_for_an_mpi_and_finds_none() {
    let run = |preloaded: bool| {
        let mut command = Command::new(plain_program("looks_for_mpi"));
        if preloaded {
            command.env("LD_PRELOAD", libtmio());
        }
        run_limited(command, Duration::from_secs(30))
    };
    for outcome in [run(false), run(true)] {
        assert_eq!((outcome.code, outcome.stdout.as_str()), (Some(0), "serial run\n"), "{}", outcome.stderr);
    }
}

/// Compiles a program of `programs/` with a library of this name in the scratch directory, which it needs.
fn with_library(
    program: &str,
    mut compiler: Command,
    library: &std::path::Path,
    scratch: &Scratch,
) -> PathBuf {
    let source =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("programs").join(format!("{program}.c"));
    let binary = scratch.path().join(format!("{program}-{}", library.file_name().expect("a name").display()));
    compiler.args(["-O1", "-Wl,--no-as-needed", "-o"]).arg(&binary).arg(source).arg(library);
    compiler.args(["-ldl", "-Wl,-rpath"]).arg(scratch.path());
    let output = compiler.output().expect("there is a C compiler");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    binary
}

/// Libraries of compilers and others whose names hold "mpi" or "mpt". Whether there is an MPI is a question
/// of what a library defines.
#[test]
fn a_library_that_is_only_named_like_an_mpi() {
    let scratch = Scratch::new();
    let source = scratch.path().join("library.c");
    std::fs::write(&source, "int something(void) { return 0; }\n").expect("scratch can be written");
    for name in ["libomptarget.so", "libcompiler_rt.so", "libprompt.so", "libmpi_helpers.so"] {
        let library = scratch.path().join(name);
        let soname = format!("-Wl,-soname,{name}");
        let compiled =
            Command::new("cc").args(["-shared", "-fPIC", &soname, "-o"]).arg(&library).arg(&source).status();
        assert!(compiled.is_ok_and(|status| status.success()), "there is a C compiler");
        let program = with_library("looks_for_mpi", Command::new("cc"), &library, &scratch);
        for preloaded in [false, true] {
            let mut command = Command::new(&program);
            if preloaded {
                command.env("LD_PRELOAD", libtmio());
            }
            let outcome = run_limited(command, Duration::from_secs(30));
            let said = (outcome.code, outcome.stdout.as_str());
            assert_eq!(said, (Some(0), "serial run\n"), "{name}, preloaded {preloaded}: {}", outcome.stderr);
        }
    }
}

/// An MPICH whose file is called otherwise, as sites and vendors do.
#[test]
fn an_mpi_that_is_not_named_like_one() {
    let Some(mpi) = installed_mpis().into_iter().find(|mpi| mpi.name == "mpich") else {
        return skip("this takes MPICH");
    };
    let scratch = Scratch::new();
    let listed = Command::new("ldd").arg(mpi.program("loads_a_library")).output().expect("there is ldd");
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let path =
        listed.lines().find_map(|line| line.trim().strip_prefix("libmpich.so.12 => ")?.split(' ').next());
    let mut library = std::fs::read(path.expect("the program needs MPICH")).expect("it can be read");
    // The name by which programs will need it has the same length.
    for at in 0..library.len() - 14 {
        if library[at..].starts_with(b"libmpich.so.12") {
            library[at..at + 14].copy_from_slice(b"libodd_a.so.12");
        }
    }
    let odd = scratch.path().join("libodd_a.so.12");
    std::fs::write(&odd, library).expect("scratch can be written");
    let (compiler, _) = mpi.compiler();
    let headers = String::from_utf8_lossy(
        &Command::new(compiler.get_program()).arg("-show").output().expect("it tells what it runs").stdout,
    )
    .into_owned();
    let mut compiler = Command::new("cc");
    compiler.args(headers.split_whitespace().filter(|word| word.starts_with("-I")));
    let program = with_library("loads_a_library", compiler, &odd, &scratch);
    for bound in ["lazily", "at load"] {
        let job = mpi.job(2, &program).args([scratch.data()]).args(["nothing", "nobody"]);
        let job = if bound == "at load" { job.env("LD_BIND_NOW", "1") } else { job };
        let untraced = job.run();
        assert!(untraced.success(), "bound {bound}: without a tracer: {untraced:?}");
        let outcome = traced(job, &scratch).run();
        assert!(outcome.success() && outcome.stderr.is_empty(), "bound {bound}: {outcome:?}");
        assert!(scratch.trace().is_file(), "bound {bound}: no trace");
        assert_eq!(info(&scratch.trace())["write_sync"]["ops"], 20, "bound {bound}");
        std::fs::remove_file(scratch.trace()).expect("it is there");
    }
}
