//! Programs without MPI: a process records for itself, and is one of the ranks of its run.
//!
//! The processes of a run know nothing of each other. Each takes a number (the next byte of a file that all
//! append to), enters itself in the node's part when it begins to record, and says there that it has ended.
//! Nobody finishes the trace together: a reader takes the parts, and `ftio trace` makes one file of them
//! when its program has ended.
//!
//! Which calls are recorded, and from when on, is the caller's business (`tmio-preload`, folder `posix`).

use crate::buffers::{self, Buffers, Settings, Who};
use crate::files::{Files, IGNORED};
use crate::message::{self, Level};
use crate::options::{self, Options};
use crate::output::{self, Place, Values};
use crate::parts::Part;
use crate::record::Record;
use crate::shield::{Errno, NoSignals};
use crate::system;
use crate::thread::ThreadState;
use crate::{beside, clock, interrupting, slot};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};
use tmio_trace::frame::{self, FrameKind};
use tmio_trace::{FORMAT_VERSION, Flags, Header, Metadata, OpKind, RankInfo, liveness, parts};

/// The number of a file whose operations are not recorded.
pub const NOT_WANTED: u32 = IGNORED;

/// How `ftio trace` tells the processes of a run that they belong together:
/// `NUMBER:REALTIME:MONOTONIC:PROCESS:PATH`, in hexadecimal, but for the path of the trace.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Run {
    number: u64,
    /// The wall clock …
    real: i64,
    /// … and the monotonic clock, where the run began.
    monotonic: i64,
    /// Who has begun the run.
    process: u64,
    path: PathBuf,
}

impl Run {
    fn parse(text: &str) -> Option<Self> {
        let mut fields = text.splitn(5, ':');
        let mut number = || u64::from_str_radix(fields.next()?, 16).ok();
        let (number, real, monotonic, process) = (number()?, number()? as i64, number()? as i64, number()?);
        let path = PathBuf::from(fields.next()?);
        path.is_absolute().then_some(Self { number, real, monotonic, process, path })
    }

    /// Where the run began on this host's own clock, if that is the clock it was told by.
    fn epoch(&self) -> Option<(i64, i64)> {
        const APART: i64 = 2_000_000_000;
        let (real, monotonic) = (clock::realtime(), clock::monotonic());
        let difference = (real - self.real) - (monotonic - self.monotonic);
        (difference.abs() < APART && monotonic >= self.monotonic).then_some((self.real, self.monotonic))
    }
}

/// Where the records of a run go.
#[derive(Clone, Debug)]
struct Belonging {
    number: u64,
    /// The wall clock and the monotonic clock at job time 0.
    epoch: (i64, i64),
    place: Place,
    job: String,
}

/// When this program began in its process, and in which: what its fork children inherit. Without a
/// `TMIO_RUN`, that is what makes a run of them.
static ROOT: [AtomicU64; 3] = [const { AtomicU64::new(0) }; 3];

/// Notes that a program begins in this process.
pub fn program_begins() {
    let now = [u64::from(std::process::id()), clock::realtime() as u64, clock::monotonic() as u64];
    ROOT.iter().zip(now).for_each(|(place, value)| place.store(value, Relaxed));
}

/// A process that records.
#[derive(Debug)]
struct Process {
    info: RankInfo,
}

static PROCESS: parking_lot::Mutex<Option<Process>> = parking_lot::Mutex::new(None);

/// The process that has begun to record, 0: none has.
static PID: AtomicU64 = AtomicU64::new(0);

/// Whether a process records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// It does.
    Yes,
    /// It is not wanted.
    Refused,
    /// It cannot: there are no descriptors or no memory left, or the place cannot be written.
    Failed,
}

/// Begins to record this process.
pub fn begin(options: &Options) -> Begun {
    let errno = Errno::save();
    // A program that prints something else than without us is not the same program.
    let level = if options.log == Level::Debug { Level::Debug } else { Level::Silent };
    message::configure(level, level == Level::Debug);
    let begun = match options::has_agreed(options).then(|| Process::begin(options)) {
        None => Begun::Refused,
        Some(Ok(process)) => {
            PID.store(u64::from(std::process::id()), SeqCst);
            flush_every(options.flush);
            // Held for ever only in the child of a program with threads, which then does not say that it
            // ended.
            if let Some(mut place) = PROCESS.try_lock() {
                *place = Some(process);
            }
            Begun::Yes
        }
        Some(Err(reason)) => {
            message::debug(format_args!("no trace of this process: {reason}"));
            Begun::Failed
        }
    };
    drop(errno);
    begun
}

impl Process {
    fn begin(options: &Options) -> Result<Self, String> {
        let run = Belonging::find(options)?;
        let mut info = RankInfo { host: system::host(), ..RankInfo::default() };
        liveness::identify(&mut info);
        let node = system::node_number(&info) as u64;
        let directory = parts::directory(&run.place.path);
        let part = |name: &str| Part::new(&directory, name, &run.place.stem, &run.place.private);
        let name = parts::name(&info.host, run.number, node);
        info.rank =
            take_number(&part(&format!("{name}.processes"))).map_err(|error| message::plain(&error))?;
        info.parent = Some(parent());
        info.executable = system::executable().to_string_lossy().into_owned();
        info.command = command();
        let (start, epoch) = run.epoch;
        info.clock.push(clock::sample(epoch, 0, 0));
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
        let settings = Settings {
            spool: options.spool.clone(),
            bytes: options.buffer,
            interval: None,
            online: false,
            salvages: false,
            most_bytes: options.max_bytes,
        };
        let files = Files::new(options.files.clone(), options.exclude_files.clone());
        let buffers = Buffers::new(part(&name), header, info.clone(), settings, files);
        let buffers = buffers.install().ok_or("tracing has begun before")?;
        if buffers.begin().is_none() || buffers.failure().is_some() {
            buffers::forget();
            return Err(buffers.failure().cloned().unwrap_or_else(|| "no memory".to_owned()));
        }
        if let Some(spool) = buffers.spool() {
            info.spool = spool.path();
        }
        Ok(Self { info })
    }
}

impl Belonging {
    fn find(options: &Options) -> Result<Self, String> {
        let text = std::env::var("TMIO_RUN").ok();
        if let Some(run) = text.as_deref().and_then(Run::parse) {
            let epoch = run.epoch().unwrap_or_else(|| (clock::realtime(), clock::monotonic()));
            let stem = run.path.parent().unwrap_or(Path::new("/")).to_owned();
            let place = Place { path: run.path, stem, private: PathBuf::new(), previous: None };
            return Ok(Self { number: run.number, epoch, place, job: system::job_id() });
        }
        let [pid, real, monotonic] = ROOT.each_ref().map(|value| value.load(Relaxed));
        let mut job = system::job_id();
        if job == std::process::id().to_string() {
            job = pid.to_string();
        }
        let values = Values { job: job.clone(), ranks: 1, host: system::host(), format: options.format };
        let place = output::choose(options.output.as_deref(), &values)?;
        // FNV-1a.
        let number = [pid, real, monotonic]
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        Ok(Self { number, epoch: (real as i64, monotonic as i64), place, job })
    }
}

/// A number that no other process of the run on this host has: how many bytes there were before its own.
fn take_number(file: &Part) -> io::Result<u32> {
    let place = file.append(b".")?;
    u32::try_from(place.start).map_err(io::Error::other)
}

fn parent() -> u32 {
    // SAFETY: the call has no premises.
    unsafe { libc::getppid() as u32 }
}

/// The words of the command, cut where they get long.
pub fn command() -> String {
    const LONGEST: usize = 1000;
    let bytes = std::fs::read("/proc/self/cmdline").unwrap_or_default();
    let text = String::from_utf8_lossy(bytes.strip_suffix(b"\0").unwrap_or(&bytes)).replace('\0', " ");
    text.chars().take(LONGEST).collect()
}

/// Whether this is the program that `ftio trace` was asked to run, and not one that it has started in turn.
pub fn is_first_of_run() -> bool {
    let run = std::env::var("TMIO_RUN").ok();
    run.as_deref().and_then(Run::parse).is_some_and(|run| run.process == u64::from(parent()))
}

/// Whether this very process, and not its parent, has begun to record.
pub fn is_recording() -> bool {
    PID.load(Relaxed) == u64::from(std::process::id())
}

/// The number under which a file of this name is recorded. 0: there is nobody to record it.
pub fn file_number(name: &str) -> u32 {
    let Some(buffers) = buffers::get() else { return 0 };
    let _signals = NoSignals::new();
    let errno = Errno::save();
    let number = crate::shield(|| match buffers.files.wants(name) {
        true => {
            buffers.has_layers.store(true, Relaxed);
            buffers.files.intern(name, |number| buffers.announce(number, name))
        }
        false => NOT_WANTED,
    });
    drop(errno);
    number.unwrap_or(0)
}

/// One operation on the file of a number.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// What it was, with its layer.
    pub kind: OpKind,
    /// How it ended.
    pub flags: Flags,
    /// The offset argument, or −1.
    pub offset: i64,
    /// Bytes transferred.
    pub bytes: u64,
    /// Entry of the call, in ticks.
    pub start: u64,
    /// Its return.
    pub end: u64,
}

impl Call {
    /// A call that moves no data.
    pub fn metadata(operation: Metadata, start: u64, end: u64) -> Self {
        Call { kind: OpKind::metadata(operation), flags: Flags::default(), offset: -1, bytes: 0, start, end }
    }
}

/// When what was recorded is to be written out next, in ticks; 0: when there is no more room.
static NEXT_FLUSH: AtomicU64 = AtomicU64::new(0);
/// How many ticks there are between two of them.
static FLUSH_TICKS: AtomicU64 = AtomicU64::new(0);

fn flush_every(flush: options::Flush) {
    let options::Flush::Interval(interval) = flush else { return };
    let ticks = (interval.as_nanos() as f64 / clock::scale().rate) as u64;
    FLUSH_TICKS.store(ticks, Relaxed);
    NEXT_FLUSH.store(clock::now().wrapping_add(ticks).max(1), Relaxed);
}

/// Writes out what was recorded, if it is time. There is no thread that could do it meanwhile: a program that
/// does nothing has nothing to say.
#[inline(always)]
pub fn flush_if_due(now: u64) {
    let due = NEXT_FLUSH.load(Relaxed);
    if due != 0 && now > due {
        flush_now(due, now);
    }
}

#[cold]
#[inline(never)]
fn flush_now(due: u64, now: u64) {
    let _signals = NoSignals::new();
    let next = now.wrapping_add(FLUSH_TICKS.load(Relaxed)).max(1);
    if is_recording() && NEXT_FLUSH.compare_exchange(due, next, Relaxed, Relaxed).is_ok() {
        crate::shield(|| buffers::get().map(|buffers| buffers.flush(Who::Application)));
    }
}

/// Records an operation.
#[inline(always)]
pub fn record(thread: &ThreadState, call: &Call, file: u32) {
    if !crate::storing::store_call(thread, call, file) {
        record_slowly(thread, &{ *call }, file);
    }
}

#[cold]
#[inline(never)]
fn record_slowly(thread: &ThreadState, call: &Call, file: u32) {
    let Call { kind, flags, offset, bytes, start, end } = *call;
    let record = Record { kind, flags, file: 0, offset, bytes, start, end, nonblocking: [0; 4] };
    // The thread may not be cancelled while a block is written, nor leave that by a jump.
    let _signals = NoSignals::new();
    crate::shield(|| buffers::get().map(|buffers| buffers.store(thread, &record, file)));
}

/// The process ends, or becomes another program: what it has recorded goes to the part.
pub fn end() {
    write_out(true);
}

/// What the process does from here on cannot be recorded: what it has recorded goes to the part, which does
/// not say that it has ended.
pub fn end_early() {
    write_out(false);
}

/// So many operations could be kept nowhere: the trace says so.
pub fn lose(operations: u64) {
    if let Some(buffers) = buffers::get() {
        buffers.lose(operations);
    }
}

fn write_out(has_ended: bool) {
    if !is_recording() {
        return;
    }
    let _signals = NoSignals::new();
    let errno = Errno::save();
    if let Some(buffers) = buffers::get()
        && let Some(process) = PROCESS.try_lock().as_deref().and_then(Option::as_ref)
    {
        let kept = buffers.write_out(Who::Application, true);
        if !kept && has_ended {
            buffers.lose_what_is_at_risk();
        }
        let mut info = process.info.clone();
        let own = buffers.own_bytes.load(Relaxed) as u64;
        info.finished = kept && has_ended;
        info.operations = buffers.operations();
        info.lost = buffers.lost.load(Relaxed);
        info.overhead_per_op = slot::measure_record();
        let recording = (info.operations as f64 * info.overhead_per_op) as i64;
        info.overhead = buffers.own_time.load(Relaxed) + recording;
        system::process_io().since(system::ProcessIo::default(), own).tell(&mut info, beside::sums());
        if kept
            && append_info(buffers, &info).is_ok()
            && let Some(spool) = buffers.spool()
        {
            spool.remove();
        }
    }
    drop(errno);
}

fn append_info(buffers: &Buffers, info: &RankInfo) -> io::Result<()> {
    let frame = frame::encode(FrameKind::Rank, info).map_err(io::Error::other)?;
    buffers.append(&frame).map(drop)
}

/// In the child of a fork: nothing of what the parent records with is the child's.
pub fn forget(thread: &ThreadState) {
    thread.begin_anew();
    buffers::forget();
    beside::forget();
    interrupting::forget();
    PID.store(0, Relaxed);
    NEXT_FLUSH.store(0, Relaxed);
}

/// MPI begins: the recorder of the process gives way to that of the rank.
pub(crate) fn give_way(thread: &ThreadState) {
    if is_recording() {
        end();
        forget(thread);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_told_in_one_line() {
        let run = Run::parse("1f:10:20:7:/a:b/t.msgpack").unwrap();
        assert_eq!((run.number, run.real, run.monotonic, run.process), (31, 16, 32, 7));
        assert_eq!(run.path, Path::new("/a:b/t.msgpack"), "a path may have colons");
        for wrong in ["", "1f", "x:0:0:1:/t", "1:2:3:4:t", "1:2:3:4", "1:2:3:/t"] {
            assert_eq!(Run::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_process_has_a_number_of_its_own() {
        let base = std::env::temp_dir().join(format!("tmio-numbers-{}", std::process::id()));
        std::fs::create_dir(&base).unwrap();
        let part = Part::new(&base.join("t.parts"), "h.1.2.processes", &base, Path::new(""));
        let numbers: Vec<u32> = (0..5).map(|_| take_number(&part).unwrap()).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4]);
        std::fs::remove_dir_all(&base).unwrap();
    }
}
