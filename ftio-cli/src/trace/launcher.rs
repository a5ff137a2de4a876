//! Launchers of MPI programs, and the options by which each sets a variable for the ranks it starts.
//!
//! Preloading the launcher itself would work as well, but only where the ranks inherit its environment; on
//! other nodes they do not.

use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, Stdio};

/// A launcher we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// `mpirun -x NAME=VALUE`
    OpenMpi,
    /// MPICH, Intel MPI, MVAPICH: `mpiexec -genv NAME VALUE`
    Hydra,
    /// Slurm: `srun --export=ALL,NAME=VALUE`
    Srun,
}

impl Launcher {
    /// Which launcher a command is, by its name, or else by its --version.
    pub fn of(program: &OsStr) -> Option<Self> {
        let name = Path::new(program).file_name()?.to_str()?;
        match Name::of(name) {
            Name::Launcher(launcher) => Some(launcher),
            Name::Ambiguous => Self::by_version(&version(program)?),
            Name::Other => None,
        }
    }

    fn by_version(text: &str) -> Option<Self> {
        let text = text.to_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
        if says(&["open mpi", "openrte", "prrte"]) {
            return Some(Launcher::OpenMpi);
        }
        says(&["hydra", "intel(r) mpi", "mpich"]).then_some(Launcher::Hydra)
    }

    /// The arguments that set variables for the ranks; they belong right after the launcher's name.
    ///
    /// `None` if this launcher cannot pass such a value on.
    pub fn arguments(self, variables: &[(&str, OsString)], given: &[OsString]) -> Option<Vec<OsString>> {
        let pair = |name: &str, value: &OsStr| {
            let mut pair = OsString::from(name);
            pair.push("=");
            pair.push(value);
            pair
        };
        match self {
            Launcher::OpenMpi => {
                let each = |(name, value): &(&str, OsString)| ["-x".into(), pair(name, value)];
                Some(variables.iter().flat_map(each).collect())
            }
            Launcher::Hydra => {
                let each =
                    |(name, value): &(&str, OsString)| ["-genv".into(), OsString::from(name), value.clone()];
                Some(variables.iter().flat_map(each).collect())
            }
            Launcher::Srun => {
                let exports = |arg: &OsString| arg.to_string_lossy().starts_with("--export");
                let has_comma = |(_, value): &(&str, OsString)| value.to_string_lossy().contains(',');
                if given.iter().any(exports) || variables.iter().any(has_comma) {
                    return None;
                }
                let mut list = OsString::from("--export=ALL");
                for (name, value) in variables {
                    list.push(",");
                    list.push(pair(name, value));
                }
                Some(vec![list])
            }
        }
    }
}

/// What the name of a command says.
enum Name {
    Launcher(Launcher),
    /// A launcher, but of several MPIs.
    Ambiguous,
    /// Not a launcher.
    Other,
}

impl Name {
    fn of(name: &str) -> Self {
        match name {
            "srun" => Name::Launcher(Launcher::Srun),
            "orterun" | "prterun" | "mpirun.openmpi" | "mpiexec.openmpi" => Name::Launcher(Launcher::OpenMpi),
            "mpiexec.hydra" | "mpirun.mpich" | "mpiexec.mpich" => Name::Launcher(Launcher::Hydra),
            "mpirun" | "mpiexec" => Name::Ambiguous,
            _ => Name::Other,
        }
    }
}

fn version(program: &OsStr) -> Option<String> {
    let output =
        Command::new(program).arg("--version").stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launchers_are_known_by_name_or_version() {
        let of = |name: &str| Launcher::of(OsStr::new(name));
        assert_eq!(of("/usr/bin/mpirun.openmpi"), Some(Launcher::OpenMpi));
        assert_eq!(of("mpiexec.hydra"), Some(Launcher::Hydra));
        assert_eq!(of("srun"), Some(Launcher::Srun));
        assert_eq!(of("./mpirunner"), None);
        assert_eq!(of("./no-such-directory/mpirun"), None);
        let by = Launcher::by_version;
        assert_eq!(by("mpirun (Open MPI) 4.1.4"), Some(Launcher::OpenMpi));
        assert_eq!(by("HYDRA build details:\n    Version: 4.0.2"), Some(Launcher::Hydra));
        assert_eq!(by("Intel(R) MPI Library for Linux* OS, Version 2021.13"), Some(Launcher::Hydra));
        assert_eq!(by("something else"), None);
    }

    #[test]
    fn each_launcher_has_its_own_options() {
        let variables =
            [("LD_PRELOAD", OsString::from("/lib/a.so")), ("TMIO_OUTPUT", OsString::from("/x y"))];
        let words = |launcher: Launcher| launcher.arguments(&variables, &[]).unwrap();
        assert_eq!(words(Launcher::OpenMpi), ["-x", "LD_PRELOAD=/lib/a.so", "-x", "TMIO_OUTPUT=/x y"]);
        assert_eq!(
            words(Launcher::Hydra),
            ["-genv", "LD_PRELOAD", "/lib/a.so", "-genv", "TMIO_OUTPUT", "/x y"]
        );
        assert_eq!(words(Launcher::Srun), ["--export=ALL,LD_PRELOAD=/lib/a.so,TMIO_OUTPUT=/x y"]);
        assert_eq!(Launcher::Srun.arguments(&variables, &["--export=NONE".into()]), None);
        assert_eq!(Launcher::Srun.arguments(&[("A", "b,c".into())], &[]), None);
    }
}
