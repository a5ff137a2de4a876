//! Processes that are no ranks of MPI: where their records belong, and who they are.
//!
//! The processes of a run know nothing of each other. Each gets a number, enters itself in the node's part,
//! and says there that it has ended. Which run a process is of, it says by `TMIO_RUN` if `ftio trace` has
//! started it; otherwise all processes of a job of the batch system are one run, and outside of one a program
//! and its fork children are.

use super::frames::header_in;
use super::run;
use super::source::{APART, Source};
use crate::options::{self, Options};
use crate::place::destination::Destination;
use crate::place::output::{self, Place, Values};
use crate::place::parts::Part;
use crate::process::surroundings::Surroundings;
use crate::process::{clock, message, system};
use std::io;
use std::path::{Path, PathBuf};
use tmio_spool::layout;
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{ClockSample, FORMAT_VERSION, Header, RankInfo, liveness, parts};

/// How `ftio trace` tells the processes of a run that they belong together:
/// `NUMBER:REALTIME:MONOTONIC:PROCESS:PATH`, in hexadecimal but for the path of the trace. PROCESS is that of
/// `ftio`, with its thread that waits in the upper half.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    number: u64,
    /// The wall clock …
    real: i64,
    /// … and the monotonic clock, where the run began.
    monotonic: i64,
    path: PathBuf,
}

impl Run {
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.splitn(5, ':');
        let mut number = || u64::from_str_radix(fields.next()?, 16).ok();
        let (number, real, monotonic, _) = (number()?, number()? as i64, number()? as i64, number()?);
        let path = PathBuf::from(fields.next()?);
        path.is_absolute().then_some(Self { number, real, monotonic, path })
    }

    /// Where the run began on this host's own clock, if that is the clock it was told by.
    fn epoch(&self) -> Option<(i64, i64)> {
        let (real, monotonic) = (clock::realtime(), clock::monotonic());
        let difference = (real - self.real) - (monotonic - self.monotonic);
        (difference.abs() < APART && monotonic >= self.monotonic).then_some((self.real, self.monotonic))
    }
}

/// Where the records of a process belong.
#[derive(Clone, Debug)]
struct Belonging {
    number: u64,
    /// The wall clock and the monotonic clock at job time 0.
    epoch: (i64, i64),
    place: Place,
    job: String,
    /// Nobody else makes one file of the parts.
    ends_alone: bool,
}

/// A process that is to be recorded.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) destination: Destination,
    pub(super) info: RankInfo,
    pub(super) greeting: Vec<u8>,
    /// When its run has ended, the part becomes the trace.
    pub(super) ends_alone: bool,
}

/// Finds out where the records of a process belong. `None`: it is not to be recorded.
pub(super) fn identify(source: &Source) -> io::Result<Option<Member>> {
    let around = Surroundings::told(source.text(), source.pid);
    let parsed = options::read(&around);
    let options = parsed.options;
    let unwanted = options.disable || parsed.problem.is_some() || !options::has_agreed(&options, &around);
    let Some(run) = Belonging::find(source, &around, &options).filter(|_| !unwanted) else { return Ok(None) };
    let mut info = RankInfo { host: system::host(), ..RankInfo::default() };
    liveness::identify_process(&mut info, source.pid);
    info.started = source.started;
    let node = system::node_number(&info) as u64;
    let directory = parts::directory(&run.place.path);
    let name = parts::name(&info.host, run.number, node);
    let part = directory.join(&name);
    let numbers = Part::new(&parts::numbers(&part), &run.place.stem, &run.place.private);
    if run.ends_alone {
        run::resume(&part, &numbers, &run.place.path, run.number)?;
    }
    info.rank = first_number(&around, &info.host).wrapping_add(take_number(&numbers)?);
    info.parent = Some(source.memory.word(layout::PARENT) as u32);
    info.executable = around.executable().to_string_lossy().into_owned();
    info.command = around.command();
    info.spool = source.path.to_string_lossy().into_owned();
    let (start, epoch) = run.epoch;
    let local = source.memory.word(layout::MADE_NS) as i64;
    let real = source.memory.word(layout::MADE_REAL) as i64;
    let job = if source.behind == 0 { local - epoch } else { real - start };
    info.clock.push(ClockSample { local, job, real, error: 0 });
    let header = Header {
        version: FORMAT_VERSION,
        job: run.job.clone(),
        ranks: 0,
        executable: info.executable.clone(),
        start,
        mpi: String::new(),
        tmio: env!("CARGO_PKG_VERSION").to_owned(),
        number: Some(run.number),
        processes: true,
        layers: true,
        filters: options.filters(),
        command: Some(info.command.clone()).filter(|command| !command.is_empty()),
    };
    let mut greeting = frame::encode(FrameKind::Header, &header).map_err(io::Error::other)?;
    greeting.extend(frame::encode(FrameKind::Rank, &info).map_err(io::Error::other)?);
    let destination = Destination::new(part, &run.place, options.max_bytes, &options);
    Ok(Some(Member { destination, info, greeting, ends_alone: run.ends_alone }))
}

/// Whether nobody else makes one file of the parts of a process.
pub(super) fn ends_alone(source: &Source) -> bool {
    let around = Surroundings::told(source.text(), source.pid);
    around.text("TMIO_RUN").as_deref().and_then(Run::parse).is_none() && around.job().is_none()
}

/// The run of a process goes on, if its trace was made.
pub(super) fn resume(place: &super::member::Place) -> io::Result<()> {
    let destination = &place.destination;
    let number = header_in(&place.greeting).and_then(|header| header.number);
    let Some(number) = number.filter(|_| place.ends_alone) else { return Ok(()) };
    let numbers = parts::numbers(&destination.part);
    let numbers = Part::new(&numbers, &destination.stem, &destination.private);
    run::resume(&destination.part, &numbers, &destination.trace(), number)
}

impl Belonging {
    fn find(source: &Source, around: &Surroundings, options: &Options) -> Option<Self> {
        if let Some(run) = around.text("TMIO_RUN").as_deref().and_then(Run::parse) {
            let epoch = run.epoch().unwrap_or_else(|| (clock::realtime(), clock::monotonic()));
            let stem = run.path.parent().unwrap_or(Path::new("/")).to_owned();
            let place = Place { path: run.path, stem, private: PathBuf::new() };
            let job = around.job().unwrap_or_else(|| around.pid.to_string());
            return Some(Self { number: run.number, epoch, place, job, ends_alone: false });
        }
        let root: Vec<u64> = around
            .text("root")?
            .split(':')
            .map(|field| u64::from_str_radix(field, 16).ok())
            .collect::<Option<_>>()?;
        let &[pid, real, monotonic] = root.as_slice() else { return None };
        let batch = around.job();
        let job = batch.clone().unwrap_or_else(|| pid.to_string());
        let host = system::host();
        let values =
            Values { job: job.clone(), ranks: 1, host: host.clone(), format: options.format, around };
        let place = output::choose(options.output.as_deref(), &values)
            .inspect_err(|reason| {
                message::debug(format_args!("no trace of process {}: {reason}", source.pid))
            })
            .ok()?;
        // All processes of a job have the same number, on every node.
        let parts: Vec<u8> = match &batch {
            Some(job) => [job.as_bytes(), place.path.as_os_str().as_encoded_bytes()].concat(),
            None => root.iter().flat_map(|value| value.to_le_bytes()).collect(),
        };
        let number = system::mix(system::SEED, &parts);
        Some(Self { number, epoch: (real as i64, monotonic as i64), place, job, ends_alone: batch.is_none() })
    }
}

/// The numbers of the processes of a node begin here. The nodes of a batch job do not know of each other, but
/// most batch systems number them; else two nodes have the same numbers only by a chance of 1 to 32,768.
fn first_number(around: &Surroundings, host: &str) -> u32 {
    const MAX_NODES: u64 = 1 << 15;
    const MAX_PROCESSES_OF_A_NODE: u32 = 1 << 17;
    let numbers = ["SLURM_NODEID", "PBS_NODENUM", "PALS_NODEID"];
    let told = numbers.iter().find_map(|name| around.text(name)?.parse::<u64>().ok());
    let is_on_one_node = around.job().is_none() || around.text("TMIO_RUN").is_some();
    let node = told.unwrap_or(if is_on_one_node { 0 } else { system::mix(system::SEED, host.as_bytes()) });
    // Below the modulus, so that it fits.
    (node % MAX_NODES) as u32 * MAX_PROCESSES_OF_A_NODE
}

/// A number that no other process of the run on this host has: how many bytes there were before its own.
fn take_number(file: &Part) -> io::Result<u32> {
    let place = file.append(b".")?;
    u32::try_from(place.start).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_in_one_line() {
        let run = Run::parse("1f:10:20:7:/a:b/t.msgpack").unwrap();
        assert_eq!((run.number, run.real, run.monotonic), (31, 16, 32));
        assert_eq!(run.path, Path::new("/a:b/t.msgpack"), "a path may have colons");
        for wrong in ["", "1f", "x:0:0:1:/t", "1:2:3:4:t", "1:2:3:4", "1:2:3:/t"] {
            assert_eq!(Run::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn nodes_have_numbers_of_their_own() {
        let of = |told: &str, host| first_number(&Surroundings::told(told.as_bytes().to_vec(), 7), host);
        assert_eq!(of("cwd=/\0", "a"), 0);
        assert_eq!(
            [of("SLURM_JOB_ID=7\0SLURM_NODEID=0\0", "a"), of("SLURM_JOB_ID=7\0SLURM_NODEID=2\0", "a")],
            [0, 2 << 17]
        );
        assert_ne!(of("PBS_JOBID=7\0", "a"), of("PBS_JOBID=7\0", "b"));
        assert_eq!(of("PBS_JOBID=7\0TMIO_RUN=1\0", "a"), 0);
    }

    #[test]
    fn every_process_has_a_number_of_its_own() {
        let base = std::env::temp_dir().join(format!("tmio-numbers-{}", std::process::id()));
        std::fs::create_dir(&base).unwrap();
        let part = Part::new(&base.join("t.parts/h.1.2.processes"), &base, Path::new(""));
        let numbers: Vec<u32> = (0..5).map(|_| take_number(&part).unwrap()).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
        std::fs::remove_dir_all(&base).unwrap();
    }
}
