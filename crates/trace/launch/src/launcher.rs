//! Launchers of MPI programs, and the options by which each sets a variable for the ranks it starts.
//!
//! Preloading the launcher itself would work as well, but only where the ranks inherit its environment; on
//! other nodes they do not.

use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

/// A launcher we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// `mpirun -x NAME=VALUE`
    OpenMpi,
    /// MPICH, Intel MPI, MVAPICH: `mpiexec -genv NAME VALUE`
    Hydra,
    /// Slurm: `srun --export=ALL,NAME=VALUE`; a list that is given already is made longer
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

    /// The arguments of the launcher with those that set variables for the ranks.
    ///
    /// `None` if this launcher cannot pass such a value on.
    pub fn arguments(self, variables: &[(&str, OsString)], given: &[OsString]) -> Option<Vec<OsString>> {
        let pair = |name: &str, value: &OsStr| {
            let mut pair = OsString::from(name);
            pair.push("=");
            pair.push(value);
            pair
        };
        let mut words: Vec<OsString> = match self {
            Launcher::OpenMpi => {
                let each = |(name, value): &(&str, OsString)| ["-x".into(), pair(name, value)];
                variables.iter().flat_map(each).collect()
            }
            Launcher::Hydra => {
                let each =
                    |(name, value): &(&str, OsString)| ["-genv".into(), OsString::from(name), value.clone()];
                variables.iter().flat_map(each).collect()
            }
            Launcher::Srun => {
                let has_comma = |(_, value): &(&str, OsString)| value.to_string_lossy().contains(',');
                if variables.iter().any(has_comma) {
                    return None;
                }
                let (exported, rest) = take_export(given);
                let mut list = OsString::from("--export=");
                list.push(exported);
                for (name, value) in variables {
                    // It ends with the sign if nothing is exported otherwise.
                    list.push(if list.as_encoded_bytes().ends_with(b"=") { "" } else { "," });
                    list.push(pair(name, value));
                }
                return Some(std::iter::once(list).chain(rest).collect());
            }
        };
        words.extend_from_slice(given);
        Some(words)
    }
}

/// What srun is asked to export, and the other arguments. The program's own arguments are left alone: they
/// begin where something is that can be run.
fn take_export(given: &[OsString]) -> (OsString, Vec<OsString>) {
    let mut rest = given.to_vec();
    let program = rest.iter().position(|word| is_program(word)).unwrap_or(rest.len());
    let option =
        |word: &OsString| word.to_str().and_then(|word| word.strip_prefix("--export")).map(str::to_owned);
    let Some((place, value)) =
        rest.iter().take(program).enumerate().find_map(|(place, word)| Some((place, option(word)?)))
    else {
        return ("ALL".into(), rest);
    };
    let value = match value.strip_prefix('=') {
        Some(value) => {
            rest.remove(place);
            value.into()
        }
        // The list is the next argument; `--export-file` is another option.
        None if value.is_empty() && place + 1 < rest.len() => {
            rest.remove(place);
            rest.remove(place)
        }
        None => return ("ALL".into(), rest),
    };
    let nothing = ["NONE", "NIL"].iter().any(|word| value.eq_ignore_ascii_case(word));
    (if nothing { OsString::new() } else { value }, rest)
}

fn is_program(word: &OsStr) -> bool {
    let is_file = |path: &Path| {
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if word.as_encoded_bytes().starts_with(b"-") {
        return false;
    }
    if word.as_encoded_bytes().contains(&b'/') {
        return is_file(Path::new(word));
    }
    std::env::var_os("PATH")
        .is_some_and(|path| std::env::split_paths(&path).any(|dir| is_file(&dir.join(word))))
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
        let srun = |words: &[&str]| {
            let given: Vec<OsString> = words.iter().map(OsString::from).collect();
            let words = Launcher::Srun.arguments(&[("A", "b".into())], &given).unwrap();
            words.join(OsStr::new(" ")).into_string().unwrap()
        };
        assert_eq!(srun(&["-n", "2", "/bin/sh", "--export=x"]), "--export=ALL,A=b -n 2 /bin/sh --export=x");
        assert_eq!(srun(&["-n2", "--export=NONE", "/bin/sh"]), "--export=A=b -n2 /bin/sh");
        assert_eq!(srun(&["--export", "PATH,X=1", "sh"]), "--export=PATH,X=1,A=b sh");
        assert_eq!(srun(&["--export=ALL,Y=2", "sh"]), "--export=ALL,Y=2,A=b sh");
        assert_eq!(Launcher::Srun.arguments(&[("A", "b,c".into())], &[]), None);
    }
}
