//! What the launcher of the job tells a process in its environment, before and without any communication.

use std::ffi::OsString;

fn number(name: &str) -> Option<u32> {
    std::env::var(name).ok()?.parse().ok()
}

/// The rank of this process; `None`: the launcher did not tell.
pub(crate) fn rank() -> Option<u32> {
    ["PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK", "PALS_RANKID", "FLUX_TASK_RANK", "SLURM_PROCID"]
        .iter()
        .find_map(|name| number(name))
}

/// The variables by which a launcher tells a process its rank, the number of ranks, how many of these are on
/// its node, and which job it is of: any of these that there are.
struct Variables {
    rank: &'static str,
    size: &'static [&'static str],
    local: &'static [&'static str],
    job: &'static [&'static str],
}

const VARIABLES: &[Variables] = &[
    Variables {
        rank: "OMPI_COMM_WORLD_RANK",
        size: &["OMPI_COMM_WORLD_SIZE"],
        local: &["OMPI_COMM_WORLD_LOCAL_SIZE"],
        job: &["PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"],
    },
    Variables {
        rank: "PMI_RANK",
        size: &["PMI_SIZE"],
        local: &["MPI_LOCALNRANKS", "PMI_LOCAL_SIZE"],
        job: &["PMI_JOBID", "I_MPI_HYDRA_UUID"],
    },
    Variables { rank: "FLUX_TASK_RANK", size: &["FLUX_JOB_SIZE"], local: &[], job: &["FLUX_JOB_ID"] },
    Variables {
        rank: "SLURM_PROCID",
        size: &["SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"],
        local: &[],
        job: &["SLURM_STEP_ID"],
    },
    Variables { rank: "PALS_RANKID", size: &[], local: &["PALS_LOCAL_SIZE"], job: &["PALS_APID"] },
    Variables { rank: "PMIX_RANK", size: &[], local: &[], job: &["PMIX_NAMESPACE"] },
];

/// What a launcher says about a process that MPI has made a rank of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Told {
    /// How many ranks of the job are on this node.
    pub(crate) local: Option<u32>,
}

/// What the launcher that has started this process as this rank of a job of this size says. `None`: none has,
/// or it has told the process something else, and then what it says is about another job; or it does not say
/// which job that is.
pub(crate) fn told(key: Option<JobKey>, rank: u32, size: u32) -> Option<Told> {
    told_by(key?.of_hydra, rank, size, |name| std::env::var(name).ok())
}

fn told_by(of_hydra: bool, rank: u32, size: u32, value_of: impl Fn(&str) -> Option<String>) -> Option<Told> {
    let number = |name: &str| value_of(name)?.parse::<u32>().ok();
    let first = |names: &[&str]| names.iter().find_map(|name| number(name));
    let names_job = |launcher: &Variables| {
        let is_told = |name: &&str| value_of(name).is_some_and(|value| !value.is_empty());
        launcher.job.iter().any(is_told) || (of_hydra && launcher.rank == "PMI_RANK")
    };
    let fits = |launcher: &&Variables| {
        number(launcher.rank) == Some(rank)
            && first(launcher.size).is_none_or(|told| told == size)
            && names_job(launcher)
    };
    let mut fitting = VARIABLES.iter().filter(fits).peekable();
    fitting.peek()?;
    let local = fitting.find_map(|launcher| match launcher.rank {
        "SLURM_PROCID" => slurm_tasks(&value_of("SLURM_STEP_TASKS_PER_NODE")?, number("SLURM_NODEID")?),
        _ => first(launcher.local),
    });
    Some(Told { local })
}

/// The number of tasks on a node of Slurm's list, such as `4(x2),3`.
fn slurm_tasks(list: &str, node: u32) -> Option<u32> {
    let mut first = 0;
    for entry in list.split(',') {
        let (tasks, times) = match entry.split_once("(x") {
            Some((tasks, times)) => (tasks, times.strip_suffix(')')?.parse::<u32>().ok()?),
            None => (entry, 1),
        };
        first += times;
        if node < first {
            return tasks.parse().ok();
        }
    }
    None
}

/// What tells a job from all others, as its launcher knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct JobKey {
    pub(crate) number: u64,
    /// The processes on other nodes have the same.
    pub(crate) on_all_nodes: bool,
    /// A launcher of MPICH's family has started the process.
    of_hydra: bool,
}

/// Variables that have the same value in all processes of a job, and another one in other jobs: alone or
/// together.
const OF_THE_JOB: &[&str] = &[
    "PMIX_NAMESPACE",
    "OMPI_MCA_ess_base_jobid",
    "OMPI_MCA_orte_hnp_uri",
    "OMPI_MCA_orte_precondition_transports",
    "PMI_JOBID",
    // Intel MPI: of the launcher's call, and of what its processes spawn. By the start of the daemon alone,
    // processes in time namespaces of their own would not find each other.
    "I_MPI_HYDRA_UUID",
    "HYDRA_BSTRAP_PGID",
    "PALS_APID",
    "FLUX_JOB_ID",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    // A job that was requeued has the numbers of its first run.
    "SLURM_RESTART_COUNT",
];

/// Those of them that several jobs of one batch job have in common.
const OF_SEVERAL: &[&str] =
    &["SLURM_JOB_ID", "SLURM_RESTART_COUNT", "OMPI_MCA_orte_hnp_uri", "HYDRA_BSTRAP_PGID"];

/// A hash of these variables, and whether they tell this job from all others.
fn of_variables(value_of: impl Fn(&str) -> Option<OsString>) -> (Hash, bool) {
    let mut hash = Hash::new();
    // Processes with a library that makes another kind of list do not find this one.
    hash.add(b"list 2");
    let mut told = false;
    for name in OF_THE_JOB {
        if let Some(value) = value_of(name).filter(|value| !value.is_empty()) {
            hash.add(name.as_bytes());
            hash.add(value.as_encoded_bytes());
            told |= !OF_SEVERAL.contains(name);
        }
    }
    (hash, told)
}

/// What tells this job from all others; `None`: the launcher gave no sign, or there is none.
pub(crate) fn job_key() -> Option<JobKey> {
    rank()?;
    let (mut hash, told) = of_variables(|name| std::env::var_os(name));
    let daemon = hydra();
    let of_hydra = daemon.is_some();
    let on_all_nodes = match daemon {
        Some(Daemon::Job(port)) => {
            hash.add(&port);
            true
        }
        Some(Daemon::Node(process)) if !told => {
            hash.add(&process);
            false
        }
        _ if told => true,
        _ => return None,
    };
    Some(JobKey { number: hash.value(), on_all_nodes, of_hydra })
}

/// The daemon that started this process, where it is one of MPICH's family, which sets no variable for the
/// job.
enum Daemon {
    /// Where all daemons of the job report to.
    Job(Vec<u8>),
    /// This very process.
    Node(Vec<u8>),
}

fn hydra() -> Option<Daemon> {
    // SAFETY: the call has no premises.
    let mut process = unsafe { libc::getppid() };
    // There may be a shell or a tool between.
    for _ in 0..8 {
        if process <= 1 {
            return None;
        }
        let command = std::fs::read(format!("/proc/{process}/cmdline")).ok()?;
        let words: Vec<&[u8]> = command.split(|&byte| byte == 0).collect();
        let value = |name: &[u8]| {
            let mut pairs = words.iter().zip(words.iter().skip(1));
            pairs.find(|(word, _)| **word == name).map(|(_, &value)| value)
        };
        if let Some(port) = value(b"--control-port") {
            return Some(Daemon::Job([port, &b" "[..], value(b"--pgid").unwrap_or_default()].concat()));
        }
        // The fields of stat follow the name, which is in parentheses and may hold anything.
        let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
        let after = stat.iter().rposition(|&byte| byte == b')')?;
        let fields: Vec<&[u8]> = stat.get(after + 2..)?.split(|&byte| byte == b' ').collect();
        let name =
            words.first().and_then(|path| path.rsplit(|&byte| byte == b'/').next()).unwrap_or_default();
        if [&b"hydra_pmi_proxy"[..], b"pmi_proxy", b"hydra_bstrap_proxy"].contains(&name) {
            let started = fields.get(19)?;
            return Some(Daemon::Node([process.to_string().as_bytes(), &b" "[..], started].concat()));
        }
        process = std::str::from_utf8(fields.get(1)?).ok()?.parse().ok()?;
    }
    None
}

/// FNV-1a.
struct Hash(u64);

impl Hash {
    fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes.iter().chain(&[0]) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn value(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_requeued_job_is_another_one() {
        let of = |pairs: &[(&str, &str)]| {
            let found = |name: &str| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.into());
            let (hash, told) = of_variables(found);
            (hash.value(), told)
        };
        let first = of(&[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0")]);
        let again = of(&[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0"), ("SLURM_RESTART_COUNT", "1")]);
        let third = of(&[("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "0"), ("SLURM_RESTART_COUNT", "2")]);
        assert!(first.1 && again.1 && third.1);
        assert!(first.0 != again.0 && again.0 != third.0 && first.0 != third.0);
        assert!(!of(&[("SLURM_JOB_ID", "7"), ("SLURM_RESTART_COUNT", "1")]).1, "of all its steps");
    }

    #[test]
    fn a_launcher_is_believed_about_the_rank_that_mpi_has_made() {
        let told = |rank, size, pairs: &[(&str, &str)]| {
            let found = |name: &str| pairs.iter().find(|pair| pair.0 == name).map(|pair| pair.1.to_owned());
            let of_hydra = pairs.iter().any(|pair| pair.0 == "hydra");
            told_by(of_hydra, rank, size, found).map(|told| told.local)
        };
        let slurm = |rank: &'static str| {
            [
                ("SLURM_STEP_ID", "0"),
                ("SLURM_PROCID", rank),
                ("SLURM_NTASKS", "2"),
                ("SLURM_NODEID", "0"),
                ("SLURM_STEP_TASKS_PER_NODE", "2"),
            ]
        };
        assert_eq!(told(1, 2, &slurm("1")), Some(Some(2)));
        // Two jobs of one rank each, or one of four that another launcher has started in this task.
        assert_eq!(told(0, 1, &slurm("1")), None);
        assert_eq!(told(1, 4, &slurm("1")), None);
        assert_eq!(told(0, 2, &slurm("1")), None);
        assert_eq!(told(0, 2, &[]), None);
        // A launcher inside a task of another one: each says something else, and one of them is right.
        let both = |rank: &'static str, size: &'static str, job: &'static str| {
            let inner = [("PMI_RANK", rank), ("PMI_SIZE", size), ("MPI_LOCALNRANKS", "3"), (job, "here")];
            [&slurm("0")[..], &inner].concat()
        };
        assert_eq!(told(2, 3, &both("2", "3", "hydra")), Some(Some(3)));
        assert_eq!(told(0, 2, &both("1", "3", "hydra")), Some(Some(2)));
        assert_eq!(told(1, 2, &both("2", "3", "hydra")), None);
        // It does not say of which job; several may be in this task.
        assert_eq!(told(2, 3, &both("2", "3", "nobody")), None);
        assert_eq!(told(2, 3, &both("2", "3", "PMI_JOBID")), Some(Some(3)));
        // Some do not tell the number of ranks.
        assert_eq!(told(3, 9, &[("PMIX_RANK", "3"), ("PMIX_NAMESPACE", "n")]), Some(None));
        assert_eq!(told(3, 9, &[("PMIX_RANK", "3"), ("PMIX_NAMESPACE", "")]), None);
        assert_eq!(told(3, 9, &[("PMIX_RANK", "x"), ("PMIX_NAMESPACE", "n")]), None);
    }

    #[test]
    fn slurm_s_list_of_tasks() {
        let on = |node| slurm_tasks("4(x2),3,1(x10)", node);
        assert_eq!(
            [on(0), on(1), on(2), on(3), on(12), on(13)],
            [Some(4), Some(4), Some(3), Some(1), Some(1), None]
        );
        assert_eq!(slurm_tasks("what", 0), None);
    }
}
