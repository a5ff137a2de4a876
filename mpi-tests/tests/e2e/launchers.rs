//! Programs under launchers that are not those of their MPI, and under variables that no launcher has set:
//! everyday mistakes, in which MPI makes a job of its own of every process, or of some. The tracer changes
//! nothing, and everything that the program did is in its traces, once.
//!
//! Each case is run without the tracer and with it. `scripts/launcher-matrix` runs all of them, and prints a
//! table; otherwise those are run that differ in what the tracer has to find out.

use crate::harness::{Mpi, installed_mpis, libtmio, run_all, run_limited};
use crate::traced::{Scratch, info, names};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The file to which a table is added (`LAUNCHER_MATRIX`): then every case is tried, with all MPIs that are
/// installed, on one to four processes. Without one, some, with Debian's two.
fn table() -> Option<PathBuf> {
    std::env::var_os("LAUNCHER_MATRIX").map(PathBuf::from)
}

fn mpis() -> Vec<Mpi> {
    let all = table().is_some();
    installed_mpis().into_iter().filter(|mpi| all || ["openmpi", "mpich"].contains(&mpi.name)).collect()
}

/// On how many processes a case is tried, and on how many if not all cases are.
fn processes(some: &[u32]) -> Vec<u32> {
    if table().is_some() { (1..=4).collect() } else { some.to_vec() }
}

/// A program that tells its world, with what stands in front of it so that it is traced, or not.
struct Program {
    words: Vec<OsString>,
}

impl Program {
    fn new(mpi: &Mpi, scratch: &Scratch, is_traced: bool) -> Self {
        Self::with_output(mpi, scratch, is_traced, "trace.msgpack")
    }

    fn with_output(mpi: &Mpi, scratch: &Scratch, is_traced: bool, output: &str) -> Self {
        // By `env`, for all launchers alike: each has its own ways of passing variables on.
        let mut words: Vec<OsString> = vec!["/usr/bin/env".into()];
        words.extend(mpi.variables().iter().map(|(name, value)| format!("{name}={value}").into()));
        if is_traced {
            for (name, value) in [
                ("LD_PRELOAD", libtmio()),
                ("TMIO_OUTPUT", scratch.trace().with_file_name(output)),
                ("TMIO_SPOOL", scratch.spool().into()),
            ] {
                words.push(format!("{name}={}", value.display()).into());
            }
        }
        words.push(mpi.program("tells_its_world").into());
        words.extend([scratch.data().into(), "5".into()]);
        Self { words }
    }

    /// For a shell.
    fn line(&self) -> String {
        self.words.iter().map(|word| format!("'{}'", word.to_string_lossy())).collect::<Vec<_>>().join(" ")
    }

    fn command(&self) -> Command {
        let mut command = Command::new("/usr/bin/env");
        command.args(self.words.iter().skip(1));
        command
    }

    /// Under a launcher.
    fn under(&self, launcher: &Mpi, processes: u32) -> Command {
        let mut command = launcher.launcher();
        command.arg("-n").arg(processes.to_string()).args(&self.words);
        command
    }

    /// A shell line under a launcher.
    fn shell_under(launcher: &Mpi, processes: u32, line: &str) -> Command {
        let mut command = launcher.launcher();
        command.arg("-n").arg(processes.to_string()).args(["/bin/sh", "-c", line]);
        command
    }
}

/// What became of a case.
struct Seen {
    codes: Vec<Option<i32>>,
    /// What the processes said about themselves.
    lines: Vec<String>,
    /// What the tracer said.
    said: Vec<String>,
    stderr: String,
}

impl Seen {
    fn of(commands: Vec<Command>) -> Self {
        let outcomes = run_all(commands, Duration::from_secs(120));
        let all = |stream: fn(&crate::harness::Outcome) -> &str| -> String {
            outcomes.iter().map(stream).collect::<Vec<_>>().join("\n")
        };
        // Some launchers put two processes' lines into one.
        let text = all(|outcome| &outcome.stdout).replace("rank ", "\nrank ");
        let mut lines: Vec<String> = text
            .lines()
            .filter(|line| line.starts_with("rank "))
            .map(|line| line.trim().to_owned())
            .collect();
        lines.sort();
        let stderr = all(|outcome| &outcome.stderr);
        let said = stderr.lines().filter(|line| line.contains("tmio:")).map(str::to_owned).collect();
        Self { codes: outcomes.iter().map(|outcome| outcome.code).collect(), lines, said, stderr }
    }

    fn went_well(&self) -> bool {
        self.codes.iter().all(|code| *code == Some(0))
    }

    /// Each exit code, once.
    fn ends(&self) -> String {
        let code = |code: &Option<i32>| code.map_or("hangs".to_owned(), |code| code.to_string());
        let mut codes: Vec<String> = self.codes.iter().map(code).collect();
        codes.sort();
        codes.dedup();
        codes.join(", ")
    }

    /// Requests and bytes.
    fn written(&self) -> [u64; 2] {
        let mut sums = [0; 2];
        for line in &self.lines {
            let (_, told) = line.split_once(": ").expect("what was written");
            for (sum, part) in sums.iter_mut().zip(told.split(", ")) {
                *sum += part.split(' ').next().and_then(|word| word.parse::<u64>().ok()).expect("a number");
            }
        }
        sums
    }
}

/// What is wrong with a case, and a line for the table.
fn examine(
    name: &str,
    mpi: &Mpi,
    processes: u32,
    case: impl Fn(&Scratch, bool) -> Vec<Command>,
) -> (Vec<String>, String) {
    let scratch = Scratch::new();
    let plain = Seen::of(case(&scratch, false));
    let seen = Seen::of(case(&scratch, true));
    let mut wrong = Vec::new();
    // Where a launcher fails, its exit code may be a matter of chance.
    if plain.went_well() != seen.went_well() || (plain.went_well() && plain.codes != seen.codes) {
        wrong.push(format!("ended with {:?}, traced with {:?}\n{}", plain.codes, seen.codes, seen.stderr));
    }
    if plain.went_well() && plain.lines != seen.lines {
        wrong.push(format!("said {:?}, traced {:?}", plain.lines, seen.lines));
    }
    let is_remark = |line: &&String| line.contains("is the trace of another job; this one is");
    if let Some(line) = seen.said.iter().find(|line| !is_remark(line)) {
        wrong.push(format!("the tracer says: {line}"));
    }
    let (mut traced, mut traces) = ([0; 2], 0);
    for name in scratch.traces() {
        if !name.ends_with(".msgpack") {
            wrong.push(format!("{name} is left"));
            continue;
        }
        let info = info(&scratch.path().join("traces").join(&name));
        traces += 1;
        for (sum, figure) in traced.iter_mut().zip(["ops", "bytes"]) {
            *sum += info["write_sync"][figure].as_u64().expect("a number");
        }
        if info["complete"] != true {
            wrong.push(format!("{name} is not complete"));
        }
    }
    if seen.went_well() && traced != seen.written() {
        wrong.push(format!("wrote {:?}, in the traces {traced:?}", seen.written()));
    }
    if !names(scratch.spool()).is_empty() {
        wrong.push(format!("left in the spool: {:?}", names(scratch.spool())));
    }
    let worlds = plain.lines.iter().filter(|line| line.starts_with("rank 0 ")).count();
    let ended = if plain.went_well() { "well".to_owned() } else { plain.ends() };
    let verdict = if wrong.is_empty() { "same" } else { "WRONG" };
    let row = format!(
        "{:<12} {name:<50} {processes:>9} {ended:<10} {worlds:>6} {:>8} {traces:>6}  {verdict}\n",
        mpi.name,
        seen.written()[0]
    );
    (wrong, row)
}

/// Cases that are examined one after the other, and everything that is wrong with them.
struct Matrix {
    wrong: String,
}

impl Matrix {
    fn new() -> Self {
        Self { wrong: String::new() }
    }

    fn examine(
        &mut self,
        name: &str,
        mpi: &Mpi,
        processes: u32,
        case: impl Fn(&Scratch, bool) -> Vec<Command>,
    ) {
        let (wrong, row) = examine(name, mpi, processes, case);
        for what in wrong {
            let _ = writeln!(self.wrong, "{} under {name} on {processes}: {what}", mpi.name);
        }
        if let Some(table) = table() {
            use std::io::Write;
            let mut file = std::fs::File::options().append(true).create(true).open(table).expect("a table");
            file.write_all(row.as_bytes()).expect("it can be written");
        }
    }

    fn end(self) {
        assert!(self.wrong.is_empty(), "\n{}", self.wrong);
    }
}

#[test]
fn every_program_under_every_launcher() {
    let mut matrix = Matrix::new();
    for mpi in mpis() {
        for launcher in mpis() {
            let is_own = mpi.name == launcher.name;
            for processes in processes(if is_own { &[2] } else { &[1, 4] }) {
                matrix.examine(
                    &format!("the launcher of {}", launcher.name),
                    &mpi,
                    processes,
                    |scratch, traced| vec![Program::new(&mpi, scratch, traced).under(&launcher, processes)],
                );
            }
        }
    }
    matrix.end();
}

/// What a batch system or a launcher tells one of several processes.
struct Batch {
    name: &'static str,
    /// `{}` stands for the number of the process, `{n}` for how many there are.
    variables: &'static [(&'static str, &'static str)],
}

/// As these systems set them for a program that they have started without anything that its MPI understands,
/// or that was left over from another one.
const BATCH: &[Batch] = &[
    Batch { name: "no variables", variables: &[] },
    Batch {
        name: "srun without PMI",
        variables: &[
            ("SLURM_JOB_ID", "4711"),
            ("SLURM_JOBID", "4711"),
            ("SLURM_STEP_ID", "0"),
            ("SLURM_STEPID", "0"),
            ("SLURM_NTASKS", "{n}"),
            ("SLURM_NPROCS", "{n}"),
            ("SLURM_STEP_NUM_TASKS", "{n}"),
            ("SLURM_STEP_TASKS_PER_NODE", "{n}"),
            ("SLURM_PROCID", "{}"),
            ("SLURM_LOCALID", "{}"),
            ("SLURM_NODEID", "0"),
            ("SLURM_NNODES", "1"),
        ],
    },
    Batch {
        name: "GNU parallel in a task of srun",
        variables: &[
            ("SLURM_JOB_ID", "4712"),
            ("SLURM_STEP_ID", "0"),
            ("SLURM_NTASKS", "1"),
            ("SLURM_STEP_NUM_TASKS", "1"),
            ("SLURM_STEP_TASKS_PER_NODE", "1"),
            ("SLURM_PROCID", "0"),
            ("SLURM_NODEID", "0"),
            ("PARALLEL_SEQ", "{}"),
        ],
    },
    Batch {
        name: "tasks of a job array, one job",
        variables: &[
            ("SLURM_JOB_ID", "4713"),
            ("SLURM_ARRAY_JOB_ID", "4713"),
            ("SLURM_ARRAY_TASK_ID", "{}"),
            ("SLURM_STEP_ID", "0"),
            ("SLURM_PROCID", "0"),
            ("SLURM_NTASKS", "{n}"),
        ],
    },
    Batch {
        name: "a Slurm batch script",
        variables: &[("SLURM_JOB_ID", "4714"), ("SLURM_PROCID", "0"), ("SLURM_NTASKS", "{n}")],
    },
    Batch {
        name: "PBS, pbsdsh",
        variables: &[
            ("PBS_JOBID", "4715.server"),
            ("PBS_ENVIRONMENT", "PBS_BATCH"),
            ("PBS_TASKNUM", "{}"),
            ("PBS_VNODENUM", "{}"),
            ("PBS_NODENUM", "0"),
        ],
    },
    Batch {
        name: "LSF, blaunch",
        variables: &[
            ("LSB_JOBID", "4716"),
            ("LSB_JOBINDEX", "0"),
            ("LSF_PM_TASKID", "{}"),
            ("LSB_DJOB_NUMPROC", "{n}"),
        ],
    },
    Batch {
        name: "LSF, jsrun, no server",
        variables: &[
            ("LSB_JOBID", "4717"),
            ("JSM_NAMESPACE_RANK", "{}"),
            ("JSM_NAMESPACE_SIZE", "{n}"),
            ("OMPI_COMM_WORLD_RANK", "{}"),
            ("OMPI_COMM_WORLD_SIZE", "{n}"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "{n}"),
        ],
    },
    Batch {
        name: "PMIx, no server",
        variables: &[("PMIX_RANK", "{}"), ("PMIX_NAMESPACE", "slurm.pmix.4718.0"), ("PMIX_VERSION", "4.2.2")],
    },
    Batch {
        name: "PMIx, a server that is gone",
        variables: &[
            ("PMIX_RANK", "{}"),
            ("PMIX_NAMESPACE", "1133314049"),
            ("PMIX_SERVER_URI2", "1133314048.0;tcp4://127.0.0.1:9"),
            ("PMIX_SERVER_URI21", "1133314048.0;tcp4://127.0.0.1:9"),
            ("PMIX_SERVER_URI3", "1133314048.0;tcp4://127.0.0.1:9"),
            ("PMIX_SERVER_URI4", "1133314048.0;tcp4://127.0.0.1:9"),
            ("PMIX_SERVER_URI41", "1133314048.0;tcp4://127.0.0.1:9"),
            ("PMIX_SECURITY_MODE", "native"),
            ("OMPI_COMM_WORLD_RANK", "{}"),
            ("OMPI_COMM_WORLD_SIZE", "{n}"),
        ],
    },
    Batch {
        name: "PMI, no server",
        variables: &[
            ("PMI_RANK", "{}"),
            ("PMI_SIZE", "{n}"),
            ("PMI_JOBID", "4719.0"),
            ("MPI_LOCALNRANKS", "{n}"),
        ],
    },
    Batch {
        name: "PALS",
        variables: &[
            ("PBS_JOBID", "4720.server"),
            ("PALS_APID", "8a7ef5b2-4720"),
            ("PALS_RANKID", "{}"),
            ("PALS_LOCAL_RANKID", "{}"),
            ("PALS_LOCAL_SIZE", "{n}"),
            ("PALS_NODEID", "0"),
        ],
    },
    Batch {
        name: "Flux",
        variables: &[
            ("FLUX_JOB_ID", "f4721"),
            ("FLUX_TASK_RANK", "{}"),
            ("FLUX_TASK_LOCAL_ID", "{}"),
            ("FLUX_JOB_SIZE", "{n}"),
            ("FLUX_JOB_NNODES", "1"),
        ],
    },
    Batch {
        name: "variables that make no sense",
        variables: &[
            ("SLURM_JOB_ID", "4722"),
            ("SLURM_STEP_ID", "x"),
            ("SLURM_PROCID", "7"),
            ("SLURM_NTASKS", "-1"),
            ("SLURM_STEP_TASKS_PER_NODE", "99999999999(x"),
            ("FLUX_TASK_RANK", "4294967295"),
            ("OMPI_COMM_WORLD_LOCAL_SIZE", "0"),
        ],
    },
];

/// Those that are tried around a launcher if not all are: no two of them tell the same.
const AROUND_A_LAUNCHER: [&str; 5] = [
    "no variables",
    "srun without PMI",
    "PBS, pbsdsh",
    "LSF, jsrun, no server",
    "variables that make no sense",
];

impl Batch {
    /// Where nothing tells that processes belong together, each has a trace of its own name, or would replace
    /// the one that it finds.
    fn output(&self) -> &'static str {
        if self.variables.is_empty() { "trace-%p.msgpack" } else { "trace.msgpack" }
    }

    fn add_to(&self, command: &mut Command, number: u32, processes: u32) {
        for (name, value) in self.variables {
            let value = value.replace("{n}", &processes.to_string()).replace("{}", &number.to_string());
            command.env(name, value);
        }
    }
}

#[test]
fn every_program_under_the_variables_of_batch_systems() {
    let mut matrix = Matrix::new();
    for mpi in mpis() {
        for batch in BATCH {
            for processes in processes(&[3]) {
                matrix.examine(batch.name, &mpi, processes, |scratch, traced| {
                    let command = |number| {
                        let program = Program::with_output(&mpi, scratch, traced, batch.output());
                        let mut command = program.command();
                        batch.add_to(&mut command, number, processes);
                        command
                    };
                    (0..processes).map(command).collect()
                });
            }
        }
    }
    matrix.end();
}

/// Jobs that their own launcher starts, in the environment of a batch system, which says something else.
#[test]
fn whole_jobs_under_the_variables_of_batch_systems() {
    let mut matrix = Matrix::new();
    for mpi in mpis() {
        let is_tried = |batch: &&Batch| table().is_some() || AROUND_A_LAUNCHER.contains(&batch.name);
        for batch in BATCH.iter().filter(|batch| !batch.name.starts_with("PMI")).filter(is_tried) {
            // Two of them at once, in the background of one script.
            matrix.examine(&format!("two of its launchers, {}", batch.name), &mpi, 2, |scratch, traced| {
                let command = |_| {
                    let program = Program::with_output(&mpi, scratch, traced, batch.output());
                    let mut command = program.under(&mpi, 2);
                    batch.add_to(&mut command, 0, 1);
                    command
                };
                (0..2).map(command).collect()
            });
        }
    }
    matrix.end();
}

/// What each process of a launcher does by a shell: one program after the other, two at once, and programs of
/// two MPIs beside each other.
#[test]
fn several_programs_in_each_process_of_a_launcher() {
    let mut matrix = Matrix::new();
    for mpi in mpis() {
        // Those that understand the same launcher would talk to it at once.
        let understands =
            |launcher: &&Mpi| launcher.name.starts_with("openmpi") == mpi.name.starts_with("openmpi");
        for launcher in mpis().iter().filter(|launcher| !understands(launcher)) {
            let mut examine = |name: &str, line: &dyn Fn(&str, &str) -> String| {
                let name = format!("{}: {name}", launcher.name);
                matrix.examine(&name, &mpi, 2, |scratch, traced| {
                    let [own, other] = [&mpi, launcher].map(|mpi| Program::new(mpi, scratch, traced).line());
                    vec![Program::shell_under(launcher, 2, &line(&own, &other))]
                });
            };
            examine("twice", &|own, _| format!("{own}; {own}"));
            examine("two at once", &|own, _| format!("{own} & {own}; wait"));
            examine("beside its own", &|own, other| format!("{own} & {other}; wait"));
            examine("before its own", &|own, other| format!("{own}; {other}"));
        }
    }
    matrix.end();
}

/// Runs a shell line of MPICH's ranks so that their launcher cannot be recognised, because it is not above
/// the processes: nothing tells that they belong together but MPI.
fn without_its_launcher(mpi: &Mpi, ranks: u32, line: &str, done: &Path) -> Command {
    let line = format!(
        "( ( {line}; echo $? > '{done}'.$PMI_RANK ) & ); while [ ! -s '{done}'.$PMI_RANK ]; do sleep 0.05; done; \
         exit $(cat '{done}'.$PMI_RANK)",
        done = done.display()
    );
    Program::shell_under(mpi, ranks, &line)
}

fn mpichs() -> impl Iterator<Item = Mpi> {
    mpis().into_iter().filter(|mpi| mpi.name.starts_with("mpich"))
}

/// They begin alone, some of their records leave before the end, and they make one trace in `MPI_Finalize`.
#[test]
fn a_launcher_that_nobody_knows() {
    for mpi in mpichs() {
        for ranks in 2..=3u32 {
            let scratch = Scratch::new();
            let mut program = Program::new(&mpi, &scratch, true);
            program.words.insert(1, "TMIO_FLUSH=interval:0.1".into());
            program.words.push("0.6".into());
            let done = scratch.path().join("done");
            let seen = Seen::of(vec![without_its_launcher(&mpi, ranks, &program.line(), &done)]);
            assert!(seen.went_well() && seen.said.is_empty(), "{}: {}", mpi.name, seen.stderr);
            assert_eq!(seen.lines.len(), ranks as usize, "{}: {:?}", mpi.name, seen.lines);
            let info = info(&scratch.trace());
            assert_eq!(info["complete"], true, "{}", mpi.name);
            assert_eq!(info["ranks"], ranks, "{}", mpi.name);
            let found = ["ops", "bytes"].map(|figure| info["write_sync"][figure].as_u64().expect("a number"));
            assert_eq!(found, seen.written(), "{}", mpi.name);
            assert_eq!(scratch.leftovers(), [""; 0], "{}", mpi.name);
        }
    }
}

/// At the end they need a communicator of their own, and MPI has none left: an error of ours, and not the end
/// of the program, for which errors are fatal.
#[test]
fn an_error_in_finalize_is_not_the_program_s() {
    for mpi in mpichs() {
        let scratch = Scratch::new();
        let mut program = Program::new(&mpi, &scratch, true);
        program.words.truncate(program.words.len() - 3);
        program.words.extend([mpi.program("takes_all_communicators").into(), scratch.data().into()]);
        let done = scratch.path().join("done");
        let seen = Seen::of(vec![without_its_launcher(&mpi, 2, &program.line(), &done)]);
        assert!(seen.went_well(), "{}: {}", mpi.name, seen.stderr);
        let warned = |line: &&String| line.contains("each rank has a trace of its own");
        assert_eq!(seen.said.iter().filter(warned).count(), 1, "{}: {}", mpi.name, seen.stderr);
        assert_eq!(scratch.traces(), ["trace-2.msgpack", "trace.msgpack"], "{}", mpi.name);
        for name in scratch.traces() {
            let info = info(&scratch.trace().with_file_name(name));
            assert_eq!(info["write_sync"]["ops"], 10, "{}", mpi.name);
        }
        assert_eq!(names(scratch.spool()), [""; 0], "{}", mpi.name);
    }
}

/// Two jobs whose ranks have been told the same, as in one task of Slurm, and not by the launcher that has
/// made them ranks: each has its trace.
#[test]
fn two_jobs_that_were_told_the_same() {
    for mpi in mpichs() {
        for _ in 0..3 {
            let scratch = Scratch::new();
            let job = |number: u32| {
                let line = Program::new(&mpi, &scratch, true).line();
                let done = scratch.path().join(format!("done{number}"));
                let mut command = without_its_launcher(&mpi, 2, &line, &done);
                BATCH[2].add_to(&mut command, 0, 1);
                command
            };
            let seen = Seen::of((0..2).map(job).collect());
            assert!(seen.went_well(), "{}: {}", mpi.name, seen.stderr);
            assert_eq!(scratch.traces(), ["trace-2.msgpack", "trace.msgpack"], "{}", mpi.name);
            for name in scratch.traces() {
                let info = info(&scratch.trace().with_file_name(name));
                assert_eq!(info["write_sync"]["ops"], 5 + 6, "{}", mpi.name);
                assert_eq!((&info["ranks"], &info["complete"]), (&2.into(), &true.into()), "{}", mpi.name);
            }
        }
    }
}

/// The same, and of the one only rank 0 is traced, of the other only rank 1: they look like one job of two
/// ranks, and neither waits for the other.
#[test]
fn two_halves_of_jobs_that_look_like_one() {
    for mpi in mpichs() {
        let scratch = Scratch::new();
        let go = scratch.path().join("go");
        let job = |rank: u32, go: &str| {
            let [traced, plain] = [true, false].map(|is_traced| {
                let mut program = Program::new(&mpi, &scratch, is_traced);
                program.words.truncate(program.words.len() - 3);
                program.words.insert(1, "TMIO_FINALIZE_TIMEOUT=1".into());
                program.words.extend([mpi.program("waits_between").into(), scratch.data().into()]);
                program.words.extend(["5".into(), go.into()]);
                program.line()
            });
            let done = scratch.path().join(format!("done{rank}"));
            let line = format!("if [ $PMI_RANK = {rank} ]; then {traced}; else {plain}; fi");
            let mut command = without_its_launcher(&mpi, 2, &line, &done);
            BATCH[2].add_to(&mut command, 0, 1);
            command
        };
        let limit = Duration::from_secs(180);
        let long = job(1, go.to_str().expect("UTF-8"));
        let long = std::thread::spawn(move || run_limited(long, limit));
        let short = run_limited(job(0, "-"), limit);
        assert!(short.success(), "{}: {short:?}", mpi.name);
        assert!(!long.is_finished(), "{}: the one has waited for the other", mpi.name);
        std::fs::write(&go, "").expect("scratch can be written");
        let long = long.join().expect("it ends");
        assert!(long.success(), "{}: {long:?}", mpi.name);
        let ops = scratch.traces().into_iter().map(|name| {
            info(&scratch.trace().with_file_name(name))["write_sync"]["ops"].as_u64().expect("a number")
        });
        assert_eq!(ops.collect::<Vec<_>>(), [10, 10], "{}", mpi.name);
    }
}
