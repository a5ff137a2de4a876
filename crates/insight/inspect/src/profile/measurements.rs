//! What is measured of a run, and under which names: those of FTIO's `ioparse`, and our own beside them.

use super::{Profile, Series};
use crate::summary::{AsyncSummary, FileSummary};
use ftio_core::detect::detection::Detection;
use std::collections::BTreeMap;

const SIZE: &str = "Size (B)";
const HITS: &str = "Hits";
const BANDWIDTH: &str = "Bandwidth (B/s)";
const TIME: &str = "Time (s)";
const RATIO: &str = "Ratio";

/// One value of one run.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// What it is of, from the outside in, as in `write_sync->total_bytes`.
    pub callpath: String,
    /// What is measured, with its unit.
    pub metric: &'static str,
    /// In that unit.
    pub value: f64,
}

/// Sums over a function or a file: in a run that does not use them they are 0.
pub fn is_zero_if_absent(callpath: &str, metric: &str) -> bool {
    (callpath.starts_with("function->") || callpath.starts_with("file->")) && metric != BANDWIDTH
}

/// Everything, in `ioparse`'s order and then ours. What is not known is not in it; without a `detection`,
/// that is the period.
pub fn measurements(profile: &Profile, detection: Option<&Detection>) -> Vec<Measurement> {
    let mut list = List::default();
    for series in Series::ALL {
        mode(profile, series, &mut list);
    }
    times(profile, &mut list);
    asynchronous("write_async", profile.write_async.as_ref(), &mut list);
    asynchronous("read_async", profile.read_async.as_ref(), &mut list);
    functions(profile, &mut list);
    files(&profile.files, &mut list);
    for (name, value) in &profile.counters {
        list.push(name, "Value", *value);
    }
    list.push("main", "Frequency (Hz)", detection.and_then(|found| found.frequency));
    list.push("main", "Period (s)", detection.and_then(|found| found.period));
    list.0
}

#[derive(Default)]
struct List(Vec<Measurement>);

impl List {
    /// Nothing if the value is not known or no number.
    fn push(&mut self, callpath: &str, metric: &'static str, value: impl Into<Option<f64>>) {
        if let Some(value) = value.into().filter(|value| value.is_finite()) {
            self.0.push(Measurement { callpath: callpath.to_owned(), metric, value });
        }
    }

    fn count(&mut self, callpath: &str, metric: &'static str, value: impl Into<Option<u64>>) {
        self.push(callpath, metric, value.into().map(|value| value as f64));
    }
}

fn mode(profile: &Profile, series: Series, list: &mut List) {
    let (name, mode) = (series.name(), profile.mode(series));
    list.push(&format!("{name}->total_bytes"), SIZE, mode.total_bytes);
    list.push(&format!("{name}->max_bytes_per_rank"), SIZE, mode.max_bytes_per_rank);
    list.push(&format!("{name}->max_bytes_per_phase"), SIZE, mode.max_bytes_per_phase);
    list.push(&format!("{name}->max_io_phases_per_rank"), HITS, mode.max_io_phases_per_rank);
    list.push(&format!("{name}->total_io_phases"), HITS, mode.total_io_phases);
    list.push(&format!("{name}->max_io_ops_in_phase"), HITS, mode.max_io_ops_in_phase);
    list.push(&format!("{name}->max_io_ops_per_rank"), HITS, mode.max_io_ops_per_rank);
    list.push(&format!("{name}->total_io_ops"), HITS, mode.total_io_ops);
    list.push(&format!("{name}->number_of_ranks"), HITS, mode.number_of_ranks);
    let Some(bandwidth) = mode.bandwidth else { return };
    let letter = if series.is_required() { 'B' } else { 'T' };
    list.push(&format!("{name}->{letter}_E"), BANDWIDTH, bandwidth.exact);
    list.push(&format!("{name}->{letter}_A"), BANDWIDTH, bandwidth.average);
    list.push(&format!("{name}->{letter}_S"), BANDWIDTH, bandwidth.sum);
    let ranks = bandwidth.per_rank;
    list.push(&format!("{name}->per_rank->min"), BANDWIDTH, ranks.min);
    list.push(&format!("{name}->per_rank->max"), BANDWIDTH, ranks.max);
    list.push(&format!("{name}->per_rank->median"), BANDWIDTH, ranks.median);
    list.push(&format!("{name}->per_rank->weighted_harmonic_mean"), BANDWIDTH, ranks.weighted_harmonic_mean);
    list.push(&format!("{name}->per_rank->harmonic_mean"), BANDWIDTH, ranks.harmonic_mean);
    list.push(&format!("{name}->per_rank->arithmetic_mean"), BANDWIDTH, ranks.arithmetic_mean);
}

/// Seconds of all ranks together, as TMIO sums them.
struct Times {
    total: f64,
    overhead: Option<f64>,
    application: f64,
    io: Option<f64>,
    compute: Option<f64>,
}

impl Times {
    fn of(profile: &Profile) -> Option<Self> {
        let total = profile.total_time?;
        let overhead = profile.overhead;
        let application = (total - overhead.unwrap_or(0.0)).max(0.0);
        // Blocking operations keep a rank for as long as they take, others from the moment they had to be
        // complete.
        let part = |series: Series| {
            let mode = profile.mode(series);
            if matches!(series, Series::ReadSync | Series::WriteSync) { mode.time } else { mode.lost_time }
        };
        let parts = [Series::ReadSync, Series::WriteSync, Series::ReadAsyncActual, Series::WriteAsyncActual];
        let io: Option<f64> = parts.into_iter().map(part).sum();
        let compute = io.map(|io| (application - io).max(0.0));
        Some(Times { total, overhead, application, io, compute })
    }
}

/// `io_time` and `io_percent`. The spellings, with their spaces, are `ioparse`'s.
fn times(profile: &Profile, list: &mut List) {
    let Some(times) = Times::of(profile) else { return };
    let time = |series: Series| profile.mode(series).time;
    let lost = |series: Series| profile.mode(series).lost_time;
    let (lost_read, lost_write) = (lost(Series::ReadAsyncActual), lost(Series::WriteAsyncActual));

    const APPLICATION: &str = "io_time->total_time->total_app_time";
    list.push("io_time->total_time", TIME, times.total);
    list.push("io_time->total_time->lib_overhead_time", TIME, times.overhead);
    list.push(APPLICATION, TIME, times.application);
    list.push(&format!("{APPLICATION}->total_com_time"), TIME, times.compute);
    let io = format!("{APPLICATION}->total_io_time");
    list.push(&io, TIME, times.io);
    list.push(&format!("{io}->read_sync"), TIME, time(Series::ReadSync));
    list.push(&format!("{io}->delta_t_ar_lost"), TIME, lost_read);
    list.push(&format!("{io}->write_sync"), TIME, time(Series::WriteSync));
    list.push(&format!("{io}->delta_t_aw_lost"), TIME, lost_write);
    list.push("io_time->read_async_t", TIME, time(Series::ReadAsyncActual));
    list.push("io_time->read_async_b", TIME, time(Series::ReadAsyncRequired));
    list.push("io_time->delta_t_ar_lost", TIME, lost_read);
    list.push("io_time->write_async_t", TIME, time(Series::WriteAsyncActual));
    list.push("io_time->write_async_b", TIME, time(Series::WriteAsyncRequired));
    list.push("io_time->delta_t_aw_lost", TIME, lost_write);

    let bases = [("Total", Some(times.total)), ("IO", times.io), ("Compute", times.compute)];
    // As `ioparse` has it, a share of nothing is 0.
    let share = |part: Option<f64>, base: Option<f64>| {
        part.zip(base).map(|(part, base)| if base > 0.0 { 100.0 * part / base } else { 0.0 })
    };
    list.push("io_percent-> I/O to Total", RATIO, share(times.io, Some(times.total)));
    list.push("io_percent-> Compute to Total", RATIO, share(times.compute, Some(times.total)));
    list.push("io_percent-> I/O to Compute", RATIO, share(times.io, times.compute));
    let kinds = [
        ("AW", Series::WriteAsyncRequired, Series::WriteAsyncActual, lost_write),
        ("AR", Series::ReadAsyncRequired, Series::ReadAsyncActual, lost_read),
    ];
    for (name, required, actual, lost) in kinds {
        for (base, seconds) in bases {
            let base = if name == "AW" && base == "Compute" { "Comput" } else { base };
            for (letter, part) in [('B', time(required)), ('T', time(actual)), ('D', lost)] {
                list.push(
                    &format!("io_percent->{name}->{name} to {base} ({letter})"),
                    RATIO,
                    share(part, seconds),
                );
            }
        }
    }
    for (base, seconds) in bases {
        let part = time(Series::WriteSync);
        list.push(&format!("io_percent->SW->SW to {base}"), RATIO, share(part, seconds));
    }
    for (base, seconds) in bases {
        let part = time(Series::ReadSync);
        list.push(&format!("io_percent->SR-> SR to {base}"), RATIO, share(part, seconds));
    }
    for (base, seconds) in bases {
        list.push(
            &format!("io_percent->overhead-> lib overhead to {base}"),
            RATIO,
            share(times.overhead, seconds),
        );
    }
}

/// The bandwidth that would have hidden the I/O, the one that was, and what the difference cost, as in
/// `ftio info`.
fn asynchronous(name: &str, summary: Option<&AsyncSummary>, list: &mut List) {
    let Some(summary) = summary else { return };
    list.push(&format!("{name}->required_bandwidth"), BANDWIDTH, summary.required_bandwidth);
    list.push(&format!("{name}->actual_bandwidth"), BANDWIDTH, summary.actual_bandwidth);
    list.push(&format!("{name}->lost_time"), TIME, summary.lost_time);
}

fn functions(profile: &Profile, list: &mut List) {
    for (name, function) in &profile.functions {
        let callpath = format!("function->{name}");
        list.count(&callpath, HITS, function.calls);
        list.push(&callpath, TIME, function.time);
        list.count(&callpath, SIZE, function.bytes);
        let rate = (function.bytes > 0 && function.time > 0.0).then(|| function.bytes as f64 / function.time);
        list.push(&callpath, BANDWIDTH, rate);
    }
}

/// By name without its directory, numbers in it replaced by `#`: that makes one of `out.0`, `out.1` … of many
/// ranks, and lets files of different runs be compared.
fn files(files: &[FileSummary], list: &mut List) {
    #[derive(Default)]
    struct Sum {
        files: u64,
        operations: u64,
        read: u64,
        written: u64,
    }
    let mut groups: BTreeMap<String, Sum> = BTreeMap::new();
    for file in files {
        let sum = groups.entry(group(&file.name)).or_default();
        sum.files += 1;
        sum.operations += file.ops;
        sum.read = sum.read.saturating_add(file.bytes_read);
        sum.written = sum.written.saturating_add(file.bytes_written);
    }
    for (name, sum) in groups {
        let callpath = format!("file->{name}");
        list.count(&callpath, HITS, sum.operations);
        list.count(&format!("{callpath}->files"), HITS, sum.files);
        list.count(&format!("{callpath}->read"), SIZE, sum.read);
        list.count(&format!("{callpath}->written"), SIZE, sum.written);
    }
}

fn group(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            c if c.is_ascii_digit() => {
                if !out.ends_with('#') {
                    out.push('#');
                }
            }
            c => out.push(c),
        }
    }
    // Extra-P would take it for another level.
    out.replace("->", "-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_many_ranks_are_one() {
        assert_eq!(group("/scratch/job17/out_0012.dat"), "out_#.dat");
        assert_eq!(group("a->b"), "a-b");
        assert!(
            is_zero_if_absent("file->out_#.dat->read", SIZE) && is_zero_if_absent("function->open", HITS)
        );
        assert!(!is_zero_if_absent("function->open", BANDWIDTH) && !is_zero_if_absent("main", "Period (s)"));
    }
}
