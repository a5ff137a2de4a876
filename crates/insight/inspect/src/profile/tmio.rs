//! The profile that a TMIO file carries with it.

use super::bandwidth::{Bandwidth, Statistics, Stretch, peak, statistics};
use super::figures::{ModeProfile, Profile, Series};
use sources::time::{nanoseconds, seconds};
use sources::tmio_file::ranks;
use tmio_trace::tmio::{self, Digest, IoTime, Mode};

/// Figures as the file has them; the bandwidth of the application, which TMIO does not write, from its
/// phases.
pub(super) fn profile(digest: &Digest) -> Profile {
    let time = digest.io_time;
    let mut profile = Profile {
        ranks: ranks(digest),
        total_time: time.map(|time| time.application + time.overhead).filter(|total| *total > 0.0),
        overhead: time.map(|time| time.overhead),
        warnings: digest.warnings.clone(),
        ..Profile::default()
    };
    for series in Series::ALL {
        profile.modes[series as usize] = mode(digest, series, time.as_ref());
    }
    profile
}

fn section(series: Series) -> Mode {
    match series {
        Series::ReadSync => Mode::ReadSync,
        Series::WriteSync => Mode::WriteSync,
        Series::ReadAsyncActual => Mode::ReadAsyncActual,
        Series::ReadAsyncRequired => Mode::ReadAsyncRequired,
        Series::WriteAsyncActual => Mode::WriteAsyncActual,
        Series::WriteAsyncRequired => Mode::WriteAsyncRequired,
    }
}

fn mode(digest: &Digest, series: Series, time: Option<&IoTime>) -> ModeProfile {
    let section = digest.series(section(series));
    let scalars = &section.scalars;
    let known = |value: f64| Some(value).filter(|value| value.is_finite());
    // 0 also stands for what the file does not say.
    let told = |value: f64| known(value).filter(|value| *value > 0.0 || section.is_empty());
    let (duration, lost) = match (time, series) {
        (None, _) => (None, None),
        (Some(time), Series::ReadSync) => (Some(time.read_sync), Some(0.0)),
        (Some(time), Series::WriteSync) => (Some(time.write_sync), Some(0.0)),
        (Some(time), Series::ReadAsyncActual) => (Some(time.read_async_actual), Some(time.read_async_lost)),
        (Some(time), Series::ReadAsyncRequired) => {
            (Some(time.read_async_required), Some(time.read_async_lost))
        }
        (Some(time), Series::WriteAsyncActual) => {
            (Some(time.write_async_actual), Some(time.write_async_lost))
        }
        (Some(time), Series::WriteAsyncRequired) => {
            (Some(time.write_async_required), Some(time.write_async_lost))
        }
    };
    ModeProfile {
        total_bytes: told(scalars.total_bytes),
        max_bytes_per_rank: told(scalars.max_bytes_per_rank),
        max_bytes_per_phase: told(scalars.max_bytes_per_phase),
        max_io_phases_per_rank: told(scalars.max_io_phases_per_rank),
        total_io_phases: told(scalars.total_io_phases),
        max_io_ops_in_phase: told(scalars.max_io_ops_in_phase),
        max_io_ops_per_rank: told(scalars.max_io_ops_per_rank),
        total_io_ops: told(scalars.total_io_ops),
        number_of_ranks: told(scalars.number_of_ranks),
        time: duration.and_then(known),
        lost_time: lost.and_then(known),
        bandwidth: bandwidth(section, series.is_required()),
    }
}

fn bandwidth(section: &tmio::Series, required: bool) -> Option<Bandwidth> {
    let stretches = |starts: &[f64], ends: &[f64], values: &[f64]| -> Vec<Stretch> {
        let times = starts.iter().zip(ends).zip(values);
        let usable =
            times.filter(|((start, end), value)| start.is_finite() && end > start && value.is_finite());
        usable
            .map(|((start, end), value)| Stretch {
                start: nanoseconds(*start),
                end: nanoseconds(*end),
                bandwidth: *value,
            })
            .collect()
    };
    let (starts, ends) = (&section.t_rank_s, &section.t_rank_e);
    let averages = stretches(starts, ends, &section.b_rank_avr);
    let sums = stretches(starts, ends, &section.b_rank_sum);
    let single = stretches(&section.t_ind_s, &section.t_ind_e, &section.b_ind);
    let of_ranks = if required && !sums.is_empty() { &sums } else { &averages };
    let weigh = |one: &Stretch| (one.bandwidth, (one.bandwidth * seconds(one.end - one.start)) as u64);
    let phases: Vec<(f64, u64)> = of_ranks.iter().filter(|one| one.bandwidth > 0.0).map(weigh).collect();
    let worked_out = statistics(phases)?;
    let fall_back = |first: &[Stretch], second: &[Stretch]| {
        peak(if first.is_empty() { second } else { first }.iter().copied())
    };
    Some(Bandwidth {
        exact: fall_back(&single, &averages),
        average: peak(averages.iter().copied()),
        sum: fall_back(&sums, &averages),
        per_rank: as_written(&section.scalars.statistics).unwrap_or(worked_out),
    })
}

/// The averages of the file, if it has all of them.
fn as_written(written: &tmio::Statistics) -> Option<Statistics> {
    let own = Statistics {
        min: written.min,
        max: written.max,
        median: written.median,
        weighted_harmonic_mean: written.weighted_harmonic_mean,
        harmonic_mean: written.harmonic_mean,
        arithmetic_mean: written.arithmetic_mean,
    };
    let all =
        [own.min, own.max, own.median, own.weighted_harmonic_mean, own.harmonic_mean, own.arithmetic_mean];
    all.iter().all(|value| value.is_finite() && *value > 0.0).then_some(own)
}
