//! Jobs on a file system of known capacity, which ask an arbiter as real ones do: in small steps of time,
//! with the messages of the protocol.
//!
//! For tests of the rules, and to see what an arbiter would do for a mix of jobs. Real jobs, real messages
//! and a real file system are in `scripts/bench iosets`.

use io_sets::arbiter::{Arbiter, NodeId, Settings};
use io_sets::simulate::{Course, IoPhase, Outcome};
use turns::{Hello, Kind, Message};

/// A job that computes, does I/O, and computes again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedJob {
    /// When it starts, in seconds.
    pub start: f64,
    /// Seconds from the end of a phase to the start of the next.
    pub compute: f64,
    /// Bytes of a phase.
    pub bytes: f64,
    /// Whether it asks the arbiter.
    pub takes_part: bool,
}

/// The file system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FileSystem {
    /// Bytes per second of all jobs together.
    pub capacity: f64,
    /// Bytes per second that one job can use.
    pub alone: f64,
    /// How far both vary, and every how many seconds they do. With 0.3, they are anything from 0.7 to 1.3 of
    /// what is said above.
    pub varies: (f64, f64),
}

impl FileSystem {
    /// Both of them at a time, as a share of their means.
    fn share(&self, now: f64) -> f64 {
        let (far, seconds) = self.varies;
        // The golden ratio spreads them evenly, in an order that does not repeat.
        let drawn = ((now / seconds).floor() * 0.618_033_988_749_895).fract();
        1.0 + far * (2.0 * drawn - 1.0)
    }
}

/// One step, in seconds.
const STEP: f64 = 1e-3;
/// After which silence a node gives its lease back.
const GRACE: f64 = 5e-3;
const BEAT: f64 = 0.25;

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Computing { until: f64 },
    Waiting,
    Working,
}

struct Client {
    job: SimulatedJob,
    state: State,
    /// Bytes left of the phase, and bytes that were not told yet.
    left: f64,
    untold: f64,
    began: f64,
    seq: u32,
    /// When it has been idle for long enough to give its lease back.
    yields: Option<f64>,
    beat: f64,
    joined: bool,
    course: Course,
}

/// Runs the jobs until a time. Without settings nobody asks, and all share alike.
pub fn run(jobs: &[SimulatedJob], system: FileSystem, until: f64, settings: Option<&Settings>) -> Outcome {
    let mut arbiter = settings.map(|settings| Arbiter::new(settings.clone()));
    let mut clients: Vec<Client> = jobs.iter().map(|job| Client::new(*job)).collect();
    let steps = (until / STEP) as u64;
    for step in 0..=steps {
        let now = step as f64 * STEP;
        let working = clients.iter().filter(|client| client.state == State::Working).count();
        let rate = system.share(now) * system.alone.min(system.capacity / working.max(1) as f64);
        for (index, client) in clients.iter_mut().enumerate() {
            if let Some(arbiter) = arbiter.as_mut().filter(|_| client.joins(now)) {
                let hello = Hello { job: index.to_string(), ..Hello::default() };
                let _ = arbiter.hello(now, index as NodeId, &hello, (1, 0.0), None);
            }
            for message in client.step(now, rate) {
                match arbiter.as_mut().filter(|_| client.job.takes_part) {
                    Some(arbiter) => _ = arbiter.receive(now, index as NodeId, &message),
                    None if message.kind == Kind::Ask => client.state = State::Working,
                    None => {}
                }
            }
        }
        let Some(arbiter) = &mut arbiter else { continue };
        arbiter.settle(now);
        for (node, message) in arbiter.take_messages() {
            clients[node as usize].receive(now, &message);
        }
    }
    Outcome { courses: clients.into_iter().map(|client| client.end(until)).collect() }
}

impl Client {
    fn new(job: SimulatedJob) -> Self {
        Client {
            job,
            state: State::Computing { until: job.start + job.compute },
            left: 0.0,
            untold: 0.0,
            began: 0.0,
            seq: 0,
            yields: None,
            beat: 0.0,
            joined: false,
            course: Course { start: job.start, ..Course::default() },
        }
    }

    /// Whether it says who it is now.
    fn joins(&mut self, now: f64) -> bool {
        self.job.takes_part && now >= self.job.start && !std::mem::replace(&mut self.joined, true)
    }

    /// What it has done so far; the phase in which it is counts as far as it got.
    fn end(mut self, until: f64) -> Course {
        if !matches!(self.state, State::Computing { .. }) {
            let bytes = self.job.bytes - self.left;
            self.course.phases.push(IoPhase { start: self.began, end: until, bytes });
        }
        self.course.end = until;
        self.course
    }

    fn tell(&mut self, kind: Kind, b: u64) -> Message {
        let bytes = std::mem::take(&mut self.untold);
        Message::new(kind).seq(self.seq).with(bytes as u64, b)
    }

    fn receive(&mut self, now: f64, message: &Message) {
        match (message.kind, self.state) {
            (Kind::Grant, State::Waiting) => self.state = State::Working,
            (Kind::Revoke, State::Working) => {
                // What it got so far is its answer.
                (self.state, self.beat) = (State::Waiting, f64::NEG_INFINITY);
            }
            // Its phase ended a moment ago, which the arbiter does not know: it says so at its next turn.
            (Kind::Revoke, State::Computing { .. }) => (self.yields, self.beat) = (None, f64::NEG_INFINITY),
            (Kind::Grant, State::Computing { .. }) => self.yields = Some(now + GRACE),
            _ => {}
        }
    }

    fn step(&mut self, now: f64, rate: f64) -> Vec<Message> {
        let mut said = Vec::new();
        if self.state == State::Working {
            let part = (rate * STEP).min(self.left);
            self.left -= part;
            self.untold += part;
            if self.left <= 0.0 {
                self.course.phases.push(IoPhase { start: self.began, end: now, bytes: self.job.bytes });
                self.state = State::Computing { until: now + self.job.compute };
                self.yields = Some(now + GRACE);
            }
        }
        if self.yields.is_some_and(|time| now >= time) {
            self.yields = None;
            said.push(self.tell(Kind::Yield, (GRACE * 1e9) as u64));
        }
        if matches!(self.state, State::Computing { until } if now >= until) {
            (self.state, self.left, self.began) = (State::Waiting, self.job.bytes, now);
            (self.seq, self.yields, self.beat) = (self.seq + 1, None, now);
            said.push(self.tell(Kind::Ask, 0));
        }
        if self.beat < 0.0 || (self.state == State::Working && now - self.beat >= BEAT) {
            self.beat = now;
            said.push(self.tell(Kind::Beat, 1));
        }
        said
    }
}
