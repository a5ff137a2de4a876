//! The course of a simulation.

use super::application::Dice;
use super::fluid::Fluid;
use super::requests::Requests;
use super::{
    Application, Demand, FileSystem, Known, Level, Noise, Placement, Platform, Predictor, Sharing,
    nanoseconds, seconds,
};
use crate::queue::Nanoseconds;
use crate::rules::Priority;
use crate::standing::Standing;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

/// What is to be simulated.
#[derive(Clone, Debug)]
pub struct Simulation<'a> {
    /// The file system.
    pub platform: Platform,
    /// Who uses it.
    pub applications: &'a [Application],
    /// How regular they are.
    pub noise: Noise,
    /// How servers share their bandwidth.
    pub sharing: Sharing,
    /// Where priorities come from; only sets need any.
    pub known: Known<'a>,
    /// How finely.
    pub level: Level,
    /// It ends when all I/O phases that began before this time, in seconds, have ended.
    pub until: f64,
    /// For all that is random.
    pub seed: u64,
}

/// One I/O phase. Times in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IoPhase {
    /// When it began.
    pub start: f64,
    /// When its last byte was written.
    pub end: f64,
    /// How many bytes.
    pub bytes: f64,
}

/// What an application did. Times in seconds. Where it did no I/O it computed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// When it started.
    pub start: f64,
    /// When it was done, or the simulation over.
    pub end: f64,
    /// Its I/O phases, in order.
    pub phases: Vec<IoPhase>,
    /// Its priorities, and since when each.
    pub priorities: Vec<(f64, Priority)>,
    /// How many predictions there were, and how many of them conclusive.
    pub predictions: [u32; 2],
}

/// What came of a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// In the order of the applications.
    pub courses: Vec<Course>,
}

/// An application on its way.
struct Runner<'a> {
    application: &'a Application,
    dice: Dice,
    placement: Placement,
    standing: Standing,
    predictor: Option<Box<dyn Predictor>>,
    course: Course,
    /// Start of the I/O phase that it is in.
    since: Option<Nanoseconds>,
    /// Of the next I/O phase.
    factors: [f64; 3],
}

impl Simulation<'_> {
    /// Run it.
    pub fn run(&self) -> Outcome {
        let mut runners = self.runners();
        let priorities: Vec<Priority> = runners.iter().map(|runner| runner.standing.priority()).collect();
        let keep = runners.iter().any(|runner| runner.predictor.is_some());
        let mut files: Box<dyn FileSystem> = match self.level {
            Level::Fluid => Box::new(Fluid::new(&self.platform, self.sharing, &priorities, keep)),
            Level::Requests => Box::new(Requests::new(&self.platform, self.sharing, &priorities, keep)),
        };
        let until = nanoseconds(self.until);
        // Who computes, and until when.
        let mut computing = BinaryHeap::new();
        for (i, runner) in runners.iter_mut().enumerate() {
            if let Some(ready) = runner.compute(nanoseconds(runner.course.start)) {
                computing.push(Reverse((ready, i)));
            }
        }
        // Phases that have begun before the end and have not ended.
        let mut open = 0;
        let mut ended = Vec::new();
        let mut now = 0;
        loop {
            let ready = computing.peek().map(|Reverse((time, _))| *time);
            let next = files.next();
            let Some(time) = ready.into_iter().chain(next).min() else { break };
            if time >= until && open == 0 {
                break;
            }
            now = time;
            if ready == Some(now)
                && let Some(Reverse((_, i))) = computing.pop()
            {
                let runner = &mut runners[i];
                runner.since = Some(now);
                open += usize::from(now < until);
                files.begin(&runner.demand(i, &self.platform), &runner.placement, now);
                continue;
            }
            files.advance(now, &mut ended);
            for i in ended.drain(..) {
                let runner = &mut runners[i];
                open -= usize::from(runner.since.is_some_and(|since| since < until));
                runner.finish_phase(now);
                if runner.predict(files.as_mut(), i, now) {
                    files.prioritise(i, runner.standing.priority());
                }
                if let Some(ready) = runner.compute(now) {
                    computing.push(Reverse((ready, i)));
                }
            }
        }
        Outcome { courses: runners.into_iter().map(|runner| runner.over(now.max(until))).collect() }
    }

    fn runners(&self) -> Vec<Runner<'_>> {
        let mut taken = BTreeSet::new();
        let numbers = 0..self.applications.len();
        let runner = |i: usize| {
            let mut runner = self.runner(i, &self.applications[i]);
            if let Known::Predicted(_) = self.known {
                let job = runner.application.job.to_string();
                runner.standing = Standing::unknown(&job, |priority| taken.contains(&priority));
                taken.insert(runner.standing.priority());
            }
            runner.course.priorities.push((runner.course.start, runner.standing.priority()));
            runner
        };
        numbers.map(runner).collect()
    }

    fn runner<'b>(&self, i: usize, application: &'b Application) -> Runner<'b> {
        let mut dice = Dice::new(self.seed, i, self.noise);
        let start = application.start + dice.start();
        let placement = dice.placement(application.processes, &self.platform);
        let standing = Standing::known(application.period(&self.platform));
        let predictor = match self.known {
            Known::All => None,
            Known::Predicted(new) => Some(new(application.job, nanoseconds(start))),
        };
        Runner {
            application,
            dice,
            placement,
            standing: standing.unwrap_or_else(|| Standing::unknown(&application.job.to_string(), |_| false)),
            predictor,
            course: Course { start, end: start, ..Course::default() },
            since: None,
            factors: [1.0; 3],
        }
    }
}

impl Runner<'_> {
    /// Until when it computes; `None` if it is done.
    fn compute(&mut self, now: Nanoseconds) -> Option<Nanoseconds> {
        self.course.end = seconds(now);
        let done = self.course.phases.len() as u64;
        if self.application.iterations.is_some_and(|count| done >= u64::from(count)) {
            return None;
        }
        self.course.end = f64::INFINITY;
        self.factors = self.dice.phase();
        Some(now + nanoseconds(self.application.compute * self.factors[0]))
    }

    fn demand(&self, application: usize, platform: &Platform) -> Demand {
        Demand {
            application,
            job: self.application.job,
            processes: self.application.processes,
            bytes: self.application.bytes,
            most: platform.alone * self.factors[1],
            weight: self.factors[2],
        }
    }

    fn finish_phase(&mut self, now: Nanoseconds) {
        if let Some(since) = self.since.take() {
            let phase =
                IoPhase { start: seconds(since), end: seconds(now), bytes: self.application.bytes as f64 };
            self.course.phases.push(phase);
        }
    }

    /// Ask the predictor, if there is one. Tells whether the priority has changed.
    fn predict(&mut self, files: &mut dyn FileSystem, application: usize, now: Nanoseconds) -> bool {
        let Some(predictor) = &mut self.predictor else { return false };
        let period = predictor.flush(&files.transfers(application), now);
        self.course.predictions[0] += 1;
        self.course.predictions[1] += u32::from(period.is_some());
        let changed = self.standing.predicted(period);
        if changed {
            self.course.priorities.push((seconds(now), self.standing.priority()));
        }
        changed
    }

    fn over(mut self, now: Nanoseconds) -> Course {
        self.course.end = self.course.end.min(seconds(now));
        self.course
    }
}
