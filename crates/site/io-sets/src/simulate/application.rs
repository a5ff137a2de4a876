//! What is simulated: applications, and how regular they are.

use super::Platform;
use crate::queue::JobId;
use seeded_random::Random;
use serde::Serialize;

/// Computes, does I/O, and computes again.
#[derive(Clone, Debug, PartialEq)]
pub struct Application {
    /// Its id; servers take the jobs of a set in this order.
    pub job: JobId,
    /// Processes that write, each to a file of its own.
    pub processes: u32,
    /// Seconds from the end of an I/O phase to the start of the next.
    pub compute: f64,
    /// Bytes per I/O phase, of all processes together.
    pub bytes: u64,
    /// How often it does so; `None`: as long as the simulation lasts.
    pub iterations: Option<u32>,
    /// When it starts, in seconds.
    pub start: f64,
}

impl Application {
    /// The time from the start of an I/O phase to that of the next, when it is alone.
    pub fn period(&self, platform: &Platform) -> f64 {
        self.compute + self.bytes as f64 / platform.alone
    }
}

/// How much applications differ from their description, and from one phase to the next. All are uniform.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Noise {
    /// They start up to so many seconds later.
    pub start: f64,
    /// A compute phase takes up to this part longer or shorter.
    pub compute: f64,
    /// What a phase reaches alone, up to this part more or less.
    pub bandwidth: f64,
    /// The share that an application gets in a phase where all should get alike, up to this part more or less
    /// (rates only).
    pub share: f64,
}

/// What an application draws: the same in each simulation with its seed.
#[derive(Clone, Debug)]
pub(super) struct Dice {
    random: Random,
    noise: Noise,
}

impl Dice {
    pub fn new(seed: u64, application: usize, noise: Noise) -> Self {
        let mut random = Random::new(seed);
        let mixed = random.bits() ^ (application as u64).wrapping_mul(0xd134_2543_de82_ef95);
        Dice { random: Random::new(mixed), noise }
    }

    pub fn start(&mut self) -> f64 {
        self.random.unit() * self.noise.start
    }

    /// Factors of compute time, bandwidth and share.
    pub fn phase(&mut self) -> [f64; 3] {
        let noise = self.noise;
        [noise.compute, noise.bandwidth, noise.share]
            .map(|part| 1.0 + part * (2.0 * self.random.unit() - 1.0))
    }

    pub fn placement(&mut self, processes: u32, platform: &Platform) -> Placement {
        let servers = platform.servers.max(1);
        let first = (0..processes).map(|_| self.random.below(servers)).collect();
        Placement { first, stripe: platform.stripe.clamp(1, servers), servers }
    }
}

/// On which servers the files of an application are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Placement {
    first: Vec<usize>,
    stripe: usize,
    servers: usize,
}

impl Placement {
    /// The server of a process's n-th request.
    pub(super) fn server(&self, process: usize, request: u64) -> usize {
        let first = self.first.get(process).copied().unwrap_or(0);
        (first + (request % self.stripe as u64) as usize) % self.servers
    }

    /// The part of the bytes that goes to each server.
    pub(super) fn parts(&self) -> Vec<f64> {
        let mut parts = vec![0.0; self.servers];
        let each = 1.0 / (self.first.len().max(1) * self.stripe) as f64;
        for process in 0..self.first.len().max(1) {
            (0..self.stripe as u64).for_each(|request| parts[self.server(process, request)] += each);
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_spread_over_as_many_servers_as_asked_for() {
        let platform = Platform { servers: 6, stripe: 4, capacity: 1.0, alone: 1.0, request: 1 };
        let placement = Dice::new(1, 0, Noise::default()).placement(8, &platform);
        let parts = placement.parts();
        assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        let mut servers: Vec<usize> = (0..9).map(|request| placement.server(3, request)).collect();
        assert_eq!(servers[0], servers[4]);
        servers.sort_unstable();
        servers.dedup();
        assert_eq!(servers.len(), 4);
    }

    #[test]
    fn each_application_draws_its_own_numbers() {
        let noise = Noise { start: 1.0, compute: 0.1, ..Noise::default() };
        let draw = |seed, application| Dice::new(seed, application, noise).start();
        assert_eq!(draw(1, 0), draw(1, 0));
        assert_ne!(draw(1, 0), draw(1, 1));
        assert_ne!(draw(1, 0), draw(2, 0));
    }
}
