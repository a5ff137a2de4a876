//! What a storage server logs while an application runs among others: to measure how well its signature is
//! found.
//!
//! The applications are those of *Automatic Identification of Application I/O Signatures from Noisy
//! Server-Side Traces* (Liu et al., FAST 2014, section 6), "the paper". An [`Application`] writes bursts of
//! known volumes; a [`Disturbance`] is everything that others do at the same time. Others add to the
//! throughput, and they slow the application down, so that bursts become longer and whatever follows them
//! comes later: the paper's scaling and drift.
//!
//! Bandwidths are in bytes per second, times in seconds from the start of the job.

use crate::random::Random;

/// Bytes in the unit the paper's volumes are given in.
const GB: f64 = 1e9;

/// Seconds between two lines of the log (the paper's RAID controllers are polled every 2 s).
pub const STEP: usize = 2;

/// An application that computes, writes a burst, and computes again.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// What it is called.
    pub name: &'static str,
    /// Seconds before the first burst.
    pub first: usize,
    /// Seconds from the start of a burst to the next, if nobody disturbs.
    pub cycle: usize,
    /// For each burst its volume in bytes and the bandwidth it is written with.
    pub bursts: Vec<(f64, f64)>,
}

impl Application {
    fn new(name: &'static str, cycle: usize, volumes: &[f64]) -> Self {
        let bursts = volumes.iter().map(|volume| (volume * GB, 2.5 * GB)).collect();
        Application { name, first: cycle / 4, cycle, bursts }
    }

    /// 128 GB every 300 s, five times.
    pub fn ior_a() -> Self {
        Self::new("IOR_A", 300, &[128.0; 5])
    }

    /// 64 GB and 16 GB in turn every 120 s, ten bursts.
    pub fn ior_b() -> Self {
        Self::new("IOR_B", 120, &[64.0, 16.0].repeat(5))
    }

    /// 64, 32 and 16 GB in turn every 120 s, ten bursts.
    pub fn ior_c() -> Self {
        let mut volumes = [64.0, 32.0, 16.0].repeat(3);
        volumes.push(64.0);
        Self::new("IOR_C", 120, &volumes)
    }

    /// Like S3D: a checkpoint of 18,000 × 3.4 MB every 240 s, eight times; how fast it is written differs
    /// from one to the next, in the same way in every run.
    pub fn s3d() -> Self {
        let bandwidths = [2.4, 3.1, 1.9, 2.8, 2.2, 3.4, 2.0, 2.6];
        let bursts = bandwidths.iter().map(|bandwidth| (61.2 * GB, bandwidth * GB)).collect();
        Application { name: "S3D", first: 90, cycle: 240, bursts }
    }

    /// A job of that many seconds without any I/O.
    pub fn silent(seconds: usize) -> Self {
        Application { name: "silent", first: seconds, cycle: 0, bursts: Vec::new() }
    }

    /// The paper's three pseudo-applications, with 25 bursts in all, and the one like S3D.
    pub fn published() -> [Self; 4] {
        [Self::ior_a(), Self::ior_b(), Self::ior_c(), Self::s3d()]
    }

    /// What the application does alone: bytes per second, one value a second.
    pub fn truth(&self) -> Vec<f64> {
        let alone = |_: usize| 0.0;
        self.write(&alone, &mut |_, bandwidth| bandwidth, &mut |pause| pause)
    }

    /// When each burst begins and ends if nobody disturbs.
    pub fn spans(&self) -> Vec<(f64, f64)> {
        let mut start = self.first as f64;
        let mut spans = Vec::with_capacity(self.bursts.len());
        for &(volume, bandwidth) in &self.bursts {
            let end = start + volume / bandwidth;
            spans.push((start, end));
            start = end + self.pause(volume, bandwidth);
        }
        spans
    }

    /// Seconds of computing after a burst.
    fn pause(&self, volume: f64, bandwidth: f64) -> f64 {
        (self.cycle as f64 - volume / bandwidth).max(2.0)
    }

    /// Second by second, with what others do at that second. Bursts begin and end at any moment, not only
    /// with a second, as those of real programs do.
    fn write(
        &self,
        others: &dyn Fn(usize) -> f64,
        slowed: &mut dyn FnMut(f64, f64) -> f64,
        pause: &mut dyn FnMut(f64) -> f64,
    ) -> Vec<f64> {
        let mut own = Vec::new();
        let mut time = pause(self.first as f64);
        for &(volume, bandwidth) in &self.bursts {
            let mut left = volume;
            while left > 1.0 {
                let second = time as usize;
                let rate = slowed(others(second), bandwidth).max(0.02 * bandwidth);
                let until = (second as f64 + 1.0).min(time + left / rate);
                own.resize(own.len().max(second + 1), 0.0);
                own[second] += rate * (until - time);
                left -= rate * (until - time);
                // Rounding must not keep it from reaching the next second.
                time = until.max(time + 1e-9);
            }
            time += pause(self.pause(volume, bandwidth));
        }
        own.resize(own.len().max(time as usize), 0.0);
        own
    }

    /// One run among others.
    pub fn run(&self, disturbance: Disturbance, scale: f64, random: &mut Random) -> Run {
        let longest = 3 * (self.first + self.bursts.len() * self.cycle) + 600;
        let others = disturbance.others(longest, scale, random);
        let at = |second: usize| others[second.min(longest - 1)];
        let mut dice = Random::new((random.unit() * 1e15) as u64);
        let mut jitter = Random::new((random.unit() * 1e15) as u64);
        let mut slowed = |others: f64, bandwidth: f64| {
            let unsteady = (1.0 + 0.06 * dice.normal()).max(0.2);
            match disturbance {
                // All share what the servers can do.
                Disturbance::FairShare => {
                    let capacity = 4.0 * GB;
                    bandwidth * unsteady * (capacity / (bandwidth + others)).min(1.0)
                }
                _ => bandwidth * unsteady * (1.0 - 0.35 * (others / (3.0 * GB)).min(1.0)),
            }
        };
        let mut pause = |seconds: f64| match disturbance {
            Disturbance::Unsteady => seconds * (1.0 + 0.01 * jitter.normal()),
            _ => seconds,
        };
        let own = self.write(&at, &mut slowed, &mut pause);
        let lines = own.len() / STEP;
        let mean = |line: usize| {
            let seconds = STEP * line..STEP * (line + 1);
            seconds.map(|second| own[second] + at(second)).sum::<f64>() / STEP as f64
        };
        Run { log: (0..lines).map(mean).collect(), own }
    }
}

/// What was logged while the application ran.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// The log: mean bandwidth of each [`STEP`] seconds.
    pub log: Vec<f64>,
    /// The application's own part of it, one value a second.
    pub own: Vec<f64>,
}

/// What others do. The first three are for choosing constants by, the others for judging the choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Disturbance {
    /// A background of 0.11 GB/s, bursts of others every 260 s, and in a third of the runs one that writes
    /// periodically.
    Bursts,
    /// A background that comes and goes over minutes, and fewer bursts.
    Slow,
    /// Short spikes all the time.
    Spikes,
    /// Rarely, but for minutes, somebody writes as much as the application or more.
    Floods,
    /// Two other jobs write periodically in every run.
    Neighbours,
    /// The servers' bandwidth is shared evenly, and bursts of others last from seconds to many minutes.
    FairShare,
    /// Like [`Bursts`](Disturbance::Bursts), and the application computes for a different time after each
    /// burst.
    Unsteady,
}

impl Disturbance {
    /// Those that constants were chosen by.
    pub const CALIBRATION: [Self; 3] = [Self::Bursts, Self::Slow, Self::Spikes];
    /// Those that were only judged by.
    pub const JUDGEMENT: [Self; 4] = [Self::Floods, Self::Neighbours, Self::FairShare, Self::Unsteady];

    /// What it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bursts => "bursts",
            Self::Slow => "slow background",
            Self::Spikes => "spikes",
            Self::Floods => "floods",
            Self::Neighbours => "periodic neighbours",
            Self::FairShare => "fair share",
            Self::Unsteady => "unsteady computing",
        }
    }

    /// Bandwidth of all others, second by second. With twice the scale others come twice as often.
    pub fn others(self, seconds: usize, scale: f64, random: &mut Random) -> Vec<f64> {
        let mut others = vec![0.0; seconds];
        match self {
            Self::Bursts | Self::Unsteady => {
                gamma(&mut others, 0.055, random);
                bursts(&mut others, 260.0 / scale, (18.0, 0.6), (0.2, 2.2), random);
                if random.unit() < 0.35 {
                    periodic(&mut others, (60.0, 400.0), (0.3, 1.2), random);
                }
            }
            Self::Slow => {
                slow(&mut others, scale, random);
                bursts(&mut others, 400.0 / scale, (25.0, 0.5), (0.3, 2.0), random);
            }
            Self::Spikes => {
                gamma(&mut others, 0.04, random);
                bursts(&mut others, 30.0 / scale, (3.0, 0.4), (0.1, 1.5), random);
                bursts(&mut others, 500.0 / scale, (20.0, 0.5), (0.2, 2.0), random);
            }
            Self::Floods => {
                gamma(&mut others, 0.05, random);
                bursts(&mut others, 1500.0 / scale, (180.0, 0.5), (0.5, 3.0), random);
                bursts(&mut others, 400.0 / scale, (12.0, 0.5), (0.2, 1.5), random);
            }
            Self::Neighbours => {
                gamma(&mut others, 0.055, random);
                for _ in 0..2 {
                    periodic(&mut others, (70.0 / scale.sqrt(), 350.0 / scale.sqrt()), (0.3, 1.8), random);
                }
                bursts(&mut others, 600.0 / scale, (15.0, 0.6), (0.2, 2.0), random);
            }
            Self::FairShare => {
                gamma(&mut others, 0.07, random);
                bursts(&mut others, 350.0 / scale, (12.0, 1.1), (0.2, 1.8), random);
            }
        }
        others
    }
}

/// A background of a Gamma distribution of shape 2 with that scale, in GB/s.
fn gamma(others: &mut [f64], scale: f64, random: &mut Random) {
    others
        .iter_mut()
        .for_each(|value| *value += GB * (random.exponential(scale) + random.exponential(scale)));
}

/// A background that wanders between almost nothing and half a GB/s over minutes.
fn slow(others: &mut [f64], scale: f64, random: &mut Random) {
    let (period, phase) = (random.between(300.0, 1500.0), random.between(0.0, std::f64::consts::TAU));
    let mut wander = 0.0;
    for (second, value) in others.iter_mut().enumerate() {
        wander = 0.98 * wander + 0.02 * random.normal();
        let wave = 0.15 * (1.0 + (std::f64::consts::TAU * second as f64 / period + phase).sin());
        *value += GB * scale.sqrt() * (wave + 0.5 * wander + 0.03 * random.normal().abs()).max(0.01);
    }
}

/// Bursts that come at random: mean distance, median length with the deviation of its logarithm, range of
/// bandwidths.
fn bursts(others: &mut [f64], distance: f64, length: (f64, f64), bandwidth: (f64, f64), random: &mut Random) {
    let mut start = random.exponential(distance);
    while start < others.len() as f64 {
        let seconds = (length.0 * (length.1 * random.normal()).exp()) as usize + 1;
        add(others, start as usize, seconds, random.between(bandwidth.0, bandwidth.1));
        start += random.exponential(distance);
    }
}

/// Another job that writes for some seconds again and again.
fn periodic(others: &mut [f64], period: (f64, f64), bandwidth: (f64, f64), random: &mut Random) {
    let period = random.between(period.0, period.1);
    let bandwidth = random.between(bandwidth.0, bandwidth.1);
    let mut start = random.between(0.0, period);
    while start < others.len() as f64 {
        add(others, start as usize, random.between(5.0, 15.0) as usize, bandwidth);
        start += period;
    }
}

fn add(others: &mut [f64], start: usize, seconds: usize, bandwidth: f64) {
    let end = (start + seconds).min(others.len());
    others[start.min(end)..end].iter_mut().for_each(|value| *value += GB * bandwidth);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_volumes() {
        let volumes: Vec<f64> = Application::published()
            .iter()
            .map(|application| application.truth().iter().sum::<f64>() / GB)
            .collect();
        let expected = [640.0, 400.0, 400.0, 489.6];
        assert!(
            volumes.iter().zip(expected).all(|(found, expected)| (found - expected).abs() < 1e-3),
            "{volumes:?}"
        );
        let bursts = |number: usize| Application::published()[number].bursts.len();
        assert_eq!(bursts(0) + bursts(1) + bursts(2), 25);
    }

    #[test]
    fn spans_are_where_the_truth_writes() {
        for application in Application::published() {
            let truth = application.truth();
            for (start, end) in application.spans() {
                let (first, behind) = (start.floor() as usize, end.ceil() as usize);
                assert!(truth[first] > 0.0 && truth[first - 1] == 0.0, "{}", application.name);
                assert!(truth[behind - 1] > 0.0 && truth[behind] == 0.0, "{}", application.name);
            }
        }
    }

    #[test]
    fn others_only_prolong_and_the_same_seed_gives_the_same_run() {
        for disturbance in Disturbance::CALIBRATION.into_iter().chain(Disturbance::JUDGEMENT) {
            let run = |seed: u64| Application::ior_b().run(disturbance, 1.0, &mut Random::new(seed));
            assert_eq!(run(3), run(3));
            assert_ne!(run(3), run(4));
            let found = run(3);
            let volume = found.own.iter().sum::<f64>();
            assert!((volume / (400.0 * GB) - 1.0).abs() < 1e-6, "{disturbance:?}");
            assert!(found.log.iter().sum::<f64>() * STEP as f64 > 0.99 * volume);
            if disturbance != Disturbance::Unsteady {
                assert!(found.own.len() + 3 >= Application::ior_b().truth().len(), "{disturbance:?}");
            }
        }
    }

    #[test]
    fn a_silent_job_only_sees_others() {
        let run = Application::silent(900).run(Disturbance::Bursts, 1.0, &mut Random::new(1));
        assert_eq!(run.own, vec![0.0; 900]);
        assert_eq!(run.log.len(), 450);
    }
}
