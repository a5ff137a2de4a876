//! The MPIs under test: how programs are compiled and launched with each, and what it lacks.
//!
//! Two come from Debian's packages. `scripts/mpi-environments` makes the others under `target/mpi`; they
//! are tested if they are there, and with `MPI_TESTS_ALL=1` (`scripts/test --all-mpi`) they must be.
//! `MPI_TESTS_ONLY` restricts the tests to some, by name, separated by commas.

use crate::harness::{skip, skip_for_lack_of, target_directory};
use std::path::{Path, PathBuf};
use std::process::Command;

/// An MPI under test. `{}` stands for its directory under `target/mpi`.
#[derive(Debug, Clone, Copy)]
pub struct Mpi {
    pub name: &'static str,
    /// Below `target/mpi`; `None`: installed in the system.
    environment: Option<&'static str>,
    compiler: &'static [&'static str],
    /// What follows the sources.
    libraries: &'static [&'static str],
    fortran: &'static [&'static str],
    launcher: &'static [&'static str],
    variables: &'static [(&'static str, &'static str)],
    give: fn(&str, &str) -> Vec<String>,
    lacks: &'static [Lack],
}

/// What an MPI cannot do, without any tracer: see the end of `mpi-tests/README.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Routines with a count of type `MPI_Count`.
    LargeCounts,
    /// A Fortran compiler command.
    Fortran,
    /// The module `mpi_f08` for this compiler.
    FortranF08,
    /// `MPI_Comm_spawn`.
    Spawn,
    /// `MPI_Testall` again after some of several file requests completed.
    RepeatedTestall,
    /// Nonblocking reads beyond the end of a file.
    NonblockingReadBeyondEnd,
    /// Nonblocking file operations from several threads at once.
    RequestsInThreads,
    /// A launcher whose exit code does not depend on chance when ranks were killed, or left without
    /// `MPI_Finalize`.
    ExitCodes,
    /// `MPI_Abort` in a signal handler that has interrupted MPI.
    AbortInHandler,
    /// `exit` in a signal handler that has interrupted MPI.
    ExitInHandler,
    /// An exception or a jump out of the error handler of a wait.
    LeavingAWait,
    /// A further call after an error handler that was left for good: it keeps a lock over the handler.
    LeavingItsHandler,
    /// Sessions, or MPI-IO in a program that has only sessions.
    Sessions,
}

fn by_x(name: &str, value: &str) -> Vec<String> {
    vec!["-x".into(), format!("{name}={value}")]
}

fn by_env(name: &str, value: &str) -> Vec<String> {
    vec!["-env".into(), name.into(), value.into()]
}

const AS_ROOT: (&str, &str) = ("OMPI_ALLOW_RUN_AS_ROOT", "1");
const AS_ROOT_INDEED: (&str, &str) = ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
/// Says that it cannot be used, in every program, on machines without its network.
const WITHOUT_UCX: (&str, &str) = ("OMPI_MCA_osc", "^ucx");
const INTEL: &[(&str, &str)] =
    &[("I_MPI_ROOT", "{}"), ("I_MPI_FABRICS", "shm"), ("LD_LIBRARY_PATH", "{}/lib")];

pub const KNOWN: [Mpi; 7] = [
    Mpi {
        name: "openmpi",
        environment: None,
        compiler: &["mpicc.openmpi"],
        libraries: &[],
        fortran: &["mpifort.openmpi"],
        launcher: &["mpirun.openmpi", "--oversubscribe"],
        variables: &[AS_ROOT, AS_ROOT_INDEED],
        give: by_x,
        lacks: &[
            Lack::LargeCounts,
            Lack::AbortInHandler,
            Lack::NonblockingReadBeyondEnd,
            Lack::RequestsInThreads,
            Lack::Sessions,
        ],
    },
    Mpi {
        name: "mpich",
        environment: None,
        compiler: &["mpicc.mpich"],
        libraries: &[],
        fortran: &["mpifort.mpich"],
        launcher: &["mpirun.mpich"],
        variables: &[],
        give: by_env,
        lacks: &[
            Lack::Spawn,
            Lack::RepeatedTestall,
            Lack::ExitCodes,
            Lack::LeavingItsHandler,
            Lack::Sessions,
        ],
    },
    Mpi {
        name: "openmpi-5",
        environment: Some("openmpi"),
        compiler: &["{}/bin/mpicc"],
        libraries: &[],
        fortran: &[],
        launcher: &["{}/bin/mpirun", "--oversubscribe"],
        variables: &[AS_ROOT, AS_ROOT_INDEED, WITHOUT_UCX],
        give: by_x,
        lacks: &[
            Lack::LargeCounts,
            Lack::AbortInHandler,
            Lack::ExitInHandler,
            Lack::Fortran,
            Lack::NonblockingReadBeyondEnd,
            Lack::RequestsInThreads,
        ],
    },
    Mpi {
        name: "mpich-5",
        environment: Some("mpich"),
        compiler: &["{}/bin/mpicc"],
        libraries: &[],
        fortran: &[],
        launcher: &["{}/bin/mpiexec"],
        variables: &[],
        give: by_env,
        lacks: &[Lack::Fortran, Lack::RepeatedTestall, Lack::Sessions],
    },
    Mpi {
        name: "mpich-5-abi",
        environment: Some("mpich"),
        compiler: &["{}/bin/mpicc_abi"],
        libraries: &[],
        fortran: &[],
        launcher: &["{}/bin/mpiexec"],
        variables: &[],
        give: by_env,
        lacks: &[Lack::Fortran, Lack::RepeatedTestall, Lack::LeavingAWait, Lack::Sessions],
    },
    Mpi {
        name: "intel",
        environment: Some("impi"),
        compiler: &["{}/bin/mpicc"],
        libraries: &[],
        fortran: &["{}/bin/mpif90", "-I{}/include/mpi/gfortran/12.4.0"],
        launcher: &["{}/bin/mpiexec.hydra"],
        variables: INTEL,
        give: by_env,
        lacks: &[Lack::FortranF08, Lack::Spawn, Lack::ExitCodes],
    },
    Mpi {
        name: "intel-abi",
        environment: Some("impi"),
        compiler: &["gcc", "-I{}/abi-include", "-idirafter", "{}/include"],
        libraries: &["-L{}/lib", "-Wl,-rpath,{}/lib", "-lmpi_abi"],
        fortran: &[],
        launcher: &["{}/bin/mpiexec.hydra"],
        variables: INTEL,
        give: by_env,
        lacks: &[Lack::Fortran, Lack::Spawn, Lack::ExitCodes, Lack::LeavingAWait],
    },
];

/// The installed MPIs, at least one where tests are strict; of each that should be there and is missing a
/// line says so.
pub fn installed_mpis() -> Vec<Mpi> {
    let only = std::env::var("MPI_TESTS_ONLY").ok();
    for name in only.iter().flat_map(|only| only.split(',')) {
        if KNOWN.iter().all(|mpi| mpi.name != name) {
            skip(&format!("MPI_TESTS_ONLY: there is no '{name}'"));
        }
    }
    let wanted = |mpi: &Mpi| only.as_ref().is_none_or(|only| only.split(',').any(|name| name == mpi.name));
    let all = std::env::var_os("MPI_TESTS_ALL").is_some();
    let mut found = Vec::new();
    for mpi in KNOWN.into_iter().filter(wanted) {
        if mpi.is_installed() {
            found.push(mpi);
        } else if mpi.environment.is_none() || all {
            skip(&format!("{} is not installed", mpi.name));
        }
    }
    if found.is_empty() {
        skip("no MPI is installed");
    }
    found
}

/// The installed MPIs that can do something. If none can, the test is skipped.
pub fn installed_mpis_with(what: Lack) -> Vec<Mpi> {
    let able: Vec<Mpi> = installed_mpis().into_iter().filter(|mpi| !mpi.lacks(what)).collect();
    if able.is_empty() {
        skip_for_lack_of(&format!("{what:?}"));
    }
    able
}

pub fn in_path(program: &str) -> bool {
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|directory| directory.join(program).is_file()))
}

impl Mpi {
    fn expand(&self, text: &str) -> String {
        let directory = target_directory().join("mpi").join(self.environment.unwrap_or_default());
        text.replace("{}", directory.to_str().expect("test paths are UTF-8"))
    }

    fn command(&self, words: &[&str]) -> Command {
        let mut words = words.iter().map(|word| self.expand(word));
        let mut command = Command::new(words.next().expect("a command"));
        command.args(words);
        command.envs(self.variables());
        command
    }

    /// What the environment of its launcher and of its programs has to hold.
    pub fn variables(&self) -> Vec<(&'static str, String)> {
        self.variables.iter().map(|&(name, value)| (name, self.expand(value))).collect()
    }

    fn is_installed(&self) -> bool {
        match self.environment {
            None => {
                self.compiler.iter().take(1).chain(self.launcher.iter().take(1)).all(|name| in_path(name))
            }
            Some(_) => Path::new(&self.expand("{}/complete")).is_file(),
        }
    }

    pub fn lacks(&self, what: Lack) -> bool {
        self.lacks.contains(&what)
    }

    /// On how many ranks the exact counts are compared: every case on a few, with the further MPIs on one,
    /// because the machine that this runs on may be small.
    pub fn rank_counts(&self) -> &'static [u32] {
        if self.environment.is_none() { &[1, 2, 4] } else { &[3] }
    }

    pub fn has_large_counts(&self) -> bool {
        !self.lacks(Lack::LargeCounts)
    }

    /// The C compiler, and what is to follow the sources.
    pub fn compiler(&self) -> (Command, Vec<String>) {
        (self.command(self.compiler), self.libraries.iter().map(|word| self.expand(word)).collect())
    }

    /// The Fortran compiler, if there is one.
    pub fn fortran(&self) -> Option<Command> {
        let able = !self.lacks(Lack::Fortran)
            && (self.environment.is_some() || self.fortran.first().is_some_and(|name| in_path(name)));
        able.then(|| self.command(self.fortran))
    }

    /// A program without any launcher, as one rank.
    pub fn singleton(&self, program: &Path) -> Command {
        self.command(&[program.to_str().expect("test paths are UTF-8")])
    }

    /// The launcher with the arguments that it always gets.
    pub fn launcher(&self) -> Command {
        self.command(self.launcher)
    }

    /// The launcher's arguments that give a variable to the ranks and not to the launcher.
    pub fn give(&self, name: &str, value: &str) -> Vec<String> {
        (self.give)(name, value)
    }

    /// The Python with an mpi4py for this MPI.
    pub fn python(&self) -> Option<PathBuf> {
        match (self.name, self.environment) {
            ("openmpi", _) => Some("/usr/bin/python3".into()),
            (_, Some(_)) if !self.name.ends_with("-abi") => Some(self.expand("{}/bin/python").into()),
            _ => None,
        }
    }

    /// The text of the header that its programs include, with all that this one includes.
    pub fn preprocessed_header(&self) -> String {
        let (mut compiler, _) = self.compiler();
        let directory = tempfile::TempDir::new().expect("a temporary directory");
        let source = directory.path().join("header.c");
        std::fs::write(&source, "#include <mpi.h>\n").expect("it was just made");
        let output = compiler.arg("-E").arg(&source).output().expect("the compiler can be run");
        assert!(output.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    }
}
