//! What a phase looks like: which ranks write when.

use crate::random::Random;

/// What a phase looks like.
#[derive(Clone, Copy, Debug)]
pub(super) enum Form {
    /// One request of every writer.
    Whole,
    /// Requests back to back.
    Pieces,
    /// Groups of writers in turn.
    Waves,
    /// Writers that begin one after the other and end together.
    Staggered,
    /// A few small requests, then the bulk.
    Header,
    /// All but one writer are done early.
    Straggler,
    /// Rounds with an exchange between them.
    Rounds,
    /// Most of the bytes at first, into a cache.
    Cached,
}

/// All of them.
pub(super) const FORMS: [Form; 8] = [
    Form::Whole,
    Form::Pieces,
    Form::Waves,
    Form::Staggered,
    Form::Header,
    Form::Straggler,
    Form::Rounds,
    Form::Cached,
];

impl Form {
    /// The requests of a phase from 0 to 1: rank, from, to, and share of what one writer writes.
    pub fn requests(self, random: &mut Random, writers: u32, pieces: usize) -> Vec<(u32, f64, f64, f64)> {
        let lead = random.between(0.1, 0.4);
        let mut all = Vec::new();
        for rank in 0..writers {
            let done = if rank == 0 { 1.0 } else { random.between(0.9, 1.0) };
            let mut one = |from: f64, to: f64, part: f64| all.push((rank, from, to, part));
            match self {
                Form::Whole => one(0.0, done, 1.0),
                Form::Pieces => {
                    let parts: Vec<f64> = (0..pieces).map(|_| random.factor(0.25)).collect();
                    let whole: f64 = parts.iter().sum();
                    let mut from = 0.0;
                    for part in parts {
                        let to = from + done * part / whole;
                        one(from, to, 1.0 / pieces as f64);
                        from = to;
                    }
                }
                Form::Waves => {
                    let waves = f64::from(writers.min(4));
                    let wave = f64::from(rank % writers.min(4));
                    one(wave / waves, (wave + done) / waves, 1.0);
                    if rank == 0 {
                        // The last group ends the phase.
                        one(1.0 - 0.05 / waves, 1.0, 0.01);
                    }
                }
                Form::Staggered => one(if rank == 0 { 0.0 } else { 0.3 * random.unit() }, 1.0, 1.0),
                Form::Header => {
                    if rank == 0 {
                        one(0.0, 0.02, 1e-4);
                        one(0.5 * lead, 0.5 * lead + 0.01, 1e-4);
                    }
                    one(lead, done.max(lead + 0.3), 1.0);
                }
                Form::Straggler if rank > 0 || writers == 1 => one(0.0, 0.6 * done, 1.0),
                Form::Straggler => one(0.0, 1.0, 1.0),
                Form::Rounds => {
                    let each = 1.0 / (pieces as f64 - lead);
                    for round in 0..pieces {
                        let from = round as f64 * each;
                        one(from, from + (1.0 - lead) * each, 1.0 / pieces as f64);
                    }
                }
                Form::Cached => {
                    one(0.0, 0.2, 0.7);
                    one(0.2, done, 0.3);
                }
            }
        }
        all
    }
}
