//! The buffer, the copy under way, and the planner.

use super::{Oracle, Run, Storage, Transfer};
use crate::plan::{Action, Copy, Decision, Entry, Forecast, Kind, Outcome, Planner, Settings, Use, When};
use crate::stamp::Stamp;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug)]
struct File {
    size: u64,
    inode: u64,
    modified: f64,
}

/// Everything but the job.
pub(super) struct Engine<'a> {
    planner: Planner,
    oracle: &'a mut dyn Oracle,
    storage: Storage,
    files: BTreeMap<PathBuf, File>,
    inodes: u64,
    copy: Option<Moving>,
    /// Requests and uses of files since the last flush.
    requests: Vec<Transfer>,
    uses: Vec<(PathBuf, Use)>,
    next_flush: f64,
    /// When to decide again, if nothing happens.
    look_again: Option<f64>,
    decisions: Vec<Decision>,
}

struct Moving {
    copy: Copy,
    moved: f64,
    running: bool,
    seconds: f64,
}

impl<'a> Engine<'a> {
    pub fn new(settings: Settings, storage: Storage, oracle: &'a mut dyn Oracle) -> Self {
        let settings = Settings { rate: Some(storage.rate), ..settings };
        Engine {
            planner: Planner::new(settings),
            oracle,
            storage,
            files: BTreeMap::new(),
            inodes: 0,
            copy: None,
            requests: Vec::new(),
            uses: Vec::new(),
            next_flush: storage.flush,
            look_again: None,
            decisions: Vec::new(),
        }
    }

    /// Is a copy using the buffer?
    pub fn is_copying(&self) -> bool {
        self.copy.as_ref().is_some_and(|moving| moving.running)
    }

    /// The job has written to a file.
    pub fn wrote(&mut self, path: &Path, bytes: u64, at: f64) {
        self.inodes += 1;
        let new = File { size: 0, inode: self.inodes, modified: at };
        let file = self.files.entry(path.to_owned()).or_insert(new);
        file.size += bytes;
        file.modified = at;
    }

    /// The job has made a request.
    pub fn request(&mut self, transfer: Transfer) {
        self.requests.push(transfer);
    }

    /// The job has used a file.
    pub fn used(&mut self, path: &Path, used: Use) {
        self.uses.push((path.to_owned(), used));
    }

    /// Time has passed, in which a copy could move so many bytes per second.
    pub fn pass(&mut self, now: f64, step: f64, bandwidth: f64) {
        if let Some(moving) = self.copy.as_mut().filter(|moving| moving.running) {
            moving.moved += step * bandwidth;
            moving.seconds += step;
        }
        while let Some(moving) = self.copy.take_if(|moving| moving.moved >= moving.copy.bytes as f64) {
            let stamp = moving.copy.stamp.unwrap_or_default();
            let current = self.files.get(&moving.copy.path).map(stamp_of);
            let seconds = moving.seconds.max(step);
            let verified = Outcome::Verified { stamp, copy: stamp, seconds, certain: true };
            let outcome = if current == Some(stamp) { verified } else { Outcome::Changed };
            self.planner.copied(now, &outcome);
            self.decide(now);
            // What is left of the step goes to the next one.
            let rest = moving.moved - moving.copy.bytes as f64;
            if let Some(next) = self.copy.as_mut() {
                next.moved += rest.max(0.0);
            }
        }
        let flushes = now + 1e-9 >= self.next_flush;
        if flushes {
            self.flush(now);
        }
        // Between events only time can change what is to be done.
        if flushes || self.look_again.is_some_and(|time| now >= time) {
            self.decide(now);
        }
    }

    fn flush(&mut self, now: f64) {
        self.next_flush = now + self.storage.flush;
        for transfer in &self.requests {
            self.planner.request(transfer.start, transfer.end, transfer.bytes);
        }
        for (path, used) in self.uses.drain(..) {
            self.planner.used(&path, used);
        }
        // Who does not act upon it need not ask.
        let forecast = match self.planner.settings().when {
            When::Quiet => self.oracle.flush(&self.requests, now),
            When::AtOnce | When::AtEnd => Forecast::default(),
        };
        self.requests.clear();
        self.planner.flush(now, now, forecast);
        self.look(now);
    }

    fn look(&mut self, now: f64) {
        let entry = |(path, file): (&PathBuf, &File)| Entry {
            path: path.clone(),
            stamp: stamp_of(file),
            kind: Kind::File,
            names: 1,
            room: file.size,
            written: file.modified,
        };
        self.planner.scanned(self.files.iter().map(entry).collect(), now);
        self.planner.occupancy(self.occupied(), self.storage.capacity);
    }

    /// Bytes in the buffer.
    fn occupied(&self) -> u64 {
        self.files.values().map(|file| file.size).sum()
    }

    fn decide(&mut self, now: f64) {
        while let Some(decision) = self.planner.decide(now) {
            match &decision.action {
                Action::Start(copy) => {
                    let copy = copy.clone();
                    self.copy = Some(Moving { copy, moved: 0.0, running: true, seconds: 0.0 });
                }
                Action::Suspend => self.set_running(false),
                Action::Resume => self.set_running(true),
                Action::Cancel => {
                    self.copy = None;
                    self.planner.copied(now, &Outcome::Cancelled);
                }
                Action::Evict { path, .. } => {
                    self.files.remove(path);
                    self.planner.evicted(path);
                }
            }
            self.decisions.push(decision);
        }
        self.look_again = self.planner.look_again(now);
    }

    fn set_running(&mut self, running: bool) {
        if let Some(moving) = &mut self.copy {
            moving.running = running;
        }
    }

    /// The job has ended: copy the rest.
    pub fn finish(mut self, end: f64, stages: bool) -> Run {
        self.flush(end);
        let occupied = self.occupied();
        if !stages {
            let mut report = self.planner.report(end);
            report.peak_occupancy = report.peak_occupancy.max(occupied);
            return Run { end, drained: None, report, decisions: Vec::new() };
        }
        self.planner.job_ended(end);
        let mut now = end;
        self.decide(now);
        // Nothing disturbs copies any more: from one end to the next.
        while let Some(moving) = &self.copy {
            if !moving.running {
                break;
            }
            let step = ((moving.copy.bytes as f64 - moving.moved) / self.storage.rate).max(1e-9);
            now += step;
            self.next_flush = f64::INFINITY;
            self.pass(now, step, self.storage.rate * (1.0 + 1e-12));
        }
        let drained = self.planner.is_finished().then_some(now - end);
        let report = self.planner.report(now);
        Run { end, drained, report, decisions: self.decisions }
    }
}

fn stamp_of(file: &File) -> Stamp {
    let modified = (file.modified * 1e9) as i64;
    Stamp { device: 1, inode: file.inode, size: file.size, modified, changed: modified }
}
