//! Beats of a rhythm with the samples it was seen in.
//!
//! Phases every 10 s, sampled every 4 s, meet the samples alike every 20 s: two phases look as one that
//! recurs exactly, while the phases themselves come early and late by a part of a sample. Such a multiple of
//! a rhythm says nothing that the rhythm and the samples do not explain.

use crate::estimate::features::Described;
use crate::estimate::hypotheses::Form;

/// A period is a whole number of samples, or of periods of the rhythm, to this share of one.
const WHOLE: f64 = 0.05;

/// At most this many periods of the rhythm.
const MOST: f64 = 8.0;

/// Distances that vary by at most this many times what sampling makes of even ones are even.
const EXPLAINED: f64 = 1.5;

/// The volumes of the phases of the rhythm are alike: their logarithms vary by no more than this.
const ALIKE: f64 = 0.15;

fn is_whole(number: f64) -> bool {
    (number - number.round()).abs() <= WHOLE && number.round() >= 1.0
}

/// Is a hypothesis a beat of another one with samples `sampled` seconds apart, which make distances known to
/// `exactness` seconds only?
fn is_beat(one: &Described, rhythm: &Described, sampled: f64, exactness: f64) -> bool {
    let (beat, base) = (&one.hypothesis, &rhythm.hypothesis);
    let times = beat.period / base.period;
    base.form == Form::Mean
        && times > 1.5
        && times <= MOST
        && is_whole(times)
        && is_whole(beat.period / sampled)
        && !is_whole(base.period / sampled)
        && base.sigma <= EXPLAINED * exactness / base.period
        && rhythm.uneven_volume <= ALIKE
}

/// Hypotheses without the beats of others.
pub fn without_beats(pool: Vec<Described>, sampled: f64, exactness: f64) -> Vec<Described> {
    let beats: Vec<bool> =
        pool.iter().map(|one| pool.iter().any(|other| is_beat(one, other, sampled, exactness))).collect();
    pool.into_iter().zip(beats).filter(|(_, is_beat)| !is_beat).map(|(one, _)| one).collect()
}
