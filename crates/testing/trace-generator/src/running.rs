//! Jobs that are still running: eight kinds, cut in the quiet after some phases, to ask when the next one
//! starts.

use crate::generated::Write;
use seeded_random::Random;

/// The kinds.
pub const KINDS: [&str; 8] =
    ["even", "loose", "missing", "long first", "sub-bursts", "growing", "volumes", "skewed distances"];

/// Phases of a job that goes on.
const PHASES: usize = 20;

/// A job up to now.
#[derive(Clone, Debug, PartialEq)]
pub struct Running {
    /// Its writes so far.
    pub writes: Vec<Write>,
    /// The starts of its phases so far.
    pub starts: Vec<f64>,
    /// When it is asked.
    pub now: f64,
    /// When its next phase will start.
    pub next: f64,
    /// Its period.
    pub period: f64,
}

/// A job of a kind after `count` phases, from 1 to 19, at a random moment of the quiet that follows.
pub fn running(kind: &str, count: usize, random: &mut Random) -> Running {
    let (starts, phases, period) = job(kind, random);
    let end = phases[count - 1].iter().map(|write| write.end).fold(0.0, f64::max);
    let now = end + (starts[count] - end) * (0.1 + 0.5 * random.unit());
    let writes = phases.into_iter().take(count).flatten().collect();
    Running { writes, now, next: starts[count], period, starts: starts[..count].to_vec() }
}

/// A normal number, by twelve uniform ones.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// The starts of all phases, the writes of each, and the period.
fn job(kind: &str, random: &mut Random) -> (Vec<f64>, Vec<Vec<Write>>, f64) {
    let period = 5.0 * (4.0 * random.unit()).exp2();
    let duty = 0.08 + 0.25 * random.unit();
    let mut at = period * random.unit();
    let (mut starts, mut phases) = (Vec::new(), Vec::new());
    let bursts = 3 + (4.0 * random.unit()) as usize;
    let mut slot = 0;
    while starts.len() < PHASES {
        let mut length = duty * period;
        let mut factor = 1.0;
        let mut distance = period * (1.0 + 0.02 * normal(random));
        match kind {
            "loose" => distance = period * (1.0 + 0.15 * normal(random)).max(duty + 0.1),
            "long first" if slot == 0 => {
                factor = 2.5 + 1.5 * random.unit();
                length *= factor;
                distance += (factor - 1.0) * duty * period;
            }
            "growing" => distance = period * 1.02f64.powi(slot) * (1.0 + 0.01 * normal(random)),
            "volumes" => factor = (0.5 * normal(random)).exp(),
            "skewed distances" => distance = period * (0.85 - 0.15 * (1.0 - random.unit()).ln()),
            _ => {}
        }
        if !(kind == "missing" && slot > 0 && random.unit() < 0.12) {
            let bytes = 1e9 * factor;
            let write = |offset: f64, length: f64, bytes: f64| Write {
                rank: 0,
                start: at + offset,
                end: at + offset + length,
                bytes: bytes as u64,
            };
            let each = length / bursts as f64;
            phases.push(match kind {
                "sub-bursts" => {
                    let part = |i: usize| write(i as f64 * each, 0.5 * each, bytes / bursts as f64);
                    (0..bursts).map(part).collect()
                }
                _ => vec![write(0.0, length, bytes)],
            });
            starts.push(at);
        }
        at += distance;
        slot += 1;
    }
    (starts, phases, period)
}
