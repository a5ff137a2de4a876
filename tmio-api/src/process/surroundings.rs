//! What a process finds around it: its environment, program and directory. Of this process, or of one that
//! has told the helper.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;
use tmio_trace::spool::{said, said_path};

/// The surroundings of a process.
#[derive(Clone, Debug)]
pub struct Surroundings {
    /// `None`: those of this process.
    told: Option<Vec<u8>>,
    pub(crate) pid: u32,
}

impl Surroundings {
    /// Those of this process.
    pub fn here() -> Self {
        Self { told: None, pid: std::process::id() }
    }

    /// Those that a process has told in its spool.
    pub(crate) fn told(text: Vec<u8>, pid: u32) -> Self {
        Self { told: Some(text), pid }
    }

    /// A variable of the environment.
    pub(crate) fn variable(&self, name: &str) -> Option<OsString> {
        match &self.told {
            Some(text) => said(text, name).map(|value| OsStr::from_bytes(value).to_owned()),
            None => std::env::var_os(name),
        }
    }

    /// The same as a text.
    pub(crate) fn text(&self, name: &str) -> Option<String> {
        self.variable(name).map(|value| value.to_string_lossy().into_owned())
    }

    /// The path of the program.
    pub(crate) fn executable(&self) -> PathBuf {
        let path = match &self.told {
            Some(text) => said_path(text, "exe"),
            None => std::fs::read_link("/proc/self/exe").ok(),
        };
        path.unwrap_or_else(|| PathBuf::from("unknown"))
    }

    /// The current directory.
    pub(crate) fn directory(&self) -> std::io::Result<PathBuf> {
        match &self.told {
            Some(text) => said_path(text, "cwd").ok_or_else(|| std::io::ErrorKind::NotFound.into()),
            None => std::env::current_dir(),
        }
    }

    /// The words of the command, cut where they get long.
    pub(crate) fn command(&self) -> String {
        const LONGEST: usize = 1000;
        let bytes = match &self.told {
            Some(text) => said(text, "cmd").unwrap_or_default().to_vec(),
            None => std::fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default(),
        };
        let text = String::from_utf8_lossy(bytes.strip_suffix(b"\0").unwrap_or(&bytes)).replace('\0', " ");
        text.chars().take(LONGEST).collect()
    }

    /// Job id and step; outside a batch system `None`. `IOSETS_JOB_ID` is the name under which a file
    /// system's I/O scheduler knows the job (Inria RR-9537, section 3.1).
    pub(crate) fn job(&self) -> Option<String> {
        self.part_of_a_name("IOSETS_JOB_ID").or_else(|| self.batch_job())
    }

    /// Job id and step of the batch system; `None`: there is none.
    pub(crate) fn batch_job(&self) -> Option<String> {
        let step = || self.part_of_a_name("SLURM_STEP_ID").map(|step| format!(".{step}")).unwrap_or_default();
        let slurm = self.part_of_a_name("SLURM_JOB_ID").map(|job| job + &step());
        slurm.or_else(|| {
            let mut others = ["PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID", "COBALT_JOBID"].into_iter();
            others.find_map(|name| self.part_of_a_name(name))
        })
    }

    /// What a variable says that is to be part of a file's name.
    fn part_of_a_name(&self, name: &str) -> Option<String> {
        self.text(name).filter(|value| !value.is_empty() && !value.contains('/'))
    }

    /// The user's name, or else number, as a part of a path.
    pub(crate) fn user(&self) -> String {
        let name = ["USER", "LOGNAME"].iter().find_map(|name| self.text(name));
        let usable =
            |name: &String| !name.is_empty() && !name.contains(['/', '\0']) && !name.starts_with('.');
        // SAFETY: the call has no premises.
        name.filter(usable).unwrap_or_else(|| unsafe { libc::geteuid() }.to_string())
    }
}
