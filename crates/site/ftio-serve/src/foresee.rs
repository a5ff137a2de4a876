//! From a series to its period and the next phase. The period is what [`detect`] says of the bins, as for any
//! other input; nothing here finds periods by itself.

use crate::job::{READ, WRITTEN};
use crate::series::{Column, Series};
use ftio_core::detect::detection::Detection;
use ftio_core::detect::{Options, detect};
use sources::request::{Class, Request, Span};
use sources::time::nanoseconds;
use sources::{Job, Kind, Opened, Rate, Sampled, Source, SourceError, series};

/// At least this many bins with I/O are needed to say anything.
const MIN_REQUESTS: usize = 3;

/// A period of fewer bins may as well be one of them beating with the bins.
const MIN_BINS: f64 = 8.0;

/// Requests that are bins of a series.
struct Binned {
    requests: Vec<Request>,
    job: Job,
    bin: i64,
}

impl Source for Binned {
    fn bin(&self) -> Option<i64> {
        Some(self.bin)
    }

    fn read(self: Box<Self>, _: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        visit(&self.requests);
        Ok(self.job)
    }
}

/// What the bytes that a job has moved so far say, as of `until` (seconds of job time): by its writes if
/// these have a period, else by its reads. `None`: too little has happened.
pub fn of_bytes(name: &str, series: &Series, ranks: i64, until: f64) -> Option<Detection> {
    let mut each = by_direction(name, series, ranks, until);
    let told = each.iter().position(|found| found.period.is_some()).unwrap_or(0);
    (told < each.len()).then(|| each.swap_remove(told))
}

/// The same of writes and of reads, each by itself: a job may read every tenth of a second, and write
/// checkpoints every hour.
pub fn by_direction(name: &str, series: &Series, ranks: i64, until: f64) -> Vec<Detection> {
    let each = [(WRITTEN, Class::WriteSync), (READ, Class::ReadSync)].into_iter();
    each.filter_map(|(column, class)| of_direction(name, series, (column, class), ranks, until)).collect()
}

fn of_direction(
    name: &str,
    series: &Series,
    (column, class): (&str, Class),
    ranks: i64,
    until: f64,
) -> Option<Detection> {
    let period = series.period();
    let request = |(from, to, bytes): (f64, f64, f64)| {
        Request::new(nanoseconds(from), nanoseconds(to), bytes as u64, class)
    };
    let requests: Vec<Request> = series.moved(column).map(request).collect();
    if requests.len() < MIN_REQUESTS {
        return None;
    }
    let job = Job {
        ranks: u32::try_from(ranks).ok().filter(|ranks| *ranks > 0),
        start: Some(0),
        end: Some(nanoseconds(until)),
        ..Job::default()
    };
    let source = Binned { requests, job, bin: nanoseconds(period) };
    let found = detect(name, source, &Options::default()).ok()?.detection;
    Some(told_by_bins(found, period))
}

/// Without a period that so few bins cannot tell.
fn told_by_bins(mut found: Detection, bin: f64) -> Detection {
    if found.period.is_some_and(|period| period < (MIN_BINS + 0.5) * bin) {
        (found.periodic, found.confidence) = (false, 0.0);
        (found.period, found.frequency, found.next_phase) = (None, None, None);
        found.reasons =
            vec![format!("what recurs within {} s cannot be told from bins of {bin} s", MIN_BINS * bin)];
    }
    found
}

/// What one metric says: a counter by its rate, a gauge by its value. `options` as the user wants them.
pub fn of_metric(series: &Series, metric: &str, options: &Options) -> Result<Detection, String> {
    let column = series.column(metric).ok_or("no such metric")?;
    let rate = matches!(column, Column::Counter(_));
    let points = series.points(metric, rate);
    let samples = points.iter().map(|[time, value]| (*time, *value)).collect();
    let quantity = series::Series {
        name: metric.to_owned(),
        samples,
        class: Class::WriteSync,
        is_bandwidth: rate && metric.contains("bytes"),
    };
    // It is a rate already.
    let sampled = Sampled { input: metric.to_owned(), series: quantity, rate: Rate::Off, origin: None };
    let opened = Opened { name: metric.to_owned(), kind: Kind::Sampled(sampled) };
    let source = opened.into_source().map_err(|error| error.to_string())?;
    let analysis = detect(metric, source, options).map_err(|error| error.to_string())?;
    Ok(told_by_bins(analysis.detection, series.period()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job;

    #[test]
    fn bins_have_the_period_of_what_was_pushed() {
        let mut series = Series::default();
        for i in 0..20 {
            for second in 0..3 {
                let time = f64::from(i * 20 + second);
                series.add(WRITTEN, job::Kind::Counter, time, 1e9, 1 << 20);
            }
        }
        let found = of_bytes("job", &series, 4, 400.0).unwrap();
        assert!((found.period.unwrap() - 20.0).abs() < 0.2, "{found:?}");
        let next = found.next_phase.unwrap();
        assert!((next.start - 400.0).abs() < 2.0, "{next:?}");
        let alone = of_metric(&series, WRITTEN, &Options::default()).unwrap();
        assert!((alone.period.unwrap() - 20.0).abs() < 0.2);
        assert!(of_bytes("job", &Series::default(), 4, 10.0).is_none());
    }

    /// Reads of 10 ms every tenth of a second, checkpoints of half a second every two.
    fn training(level: i32) -> Series {
        let mut series = Series::new(level);
        for i in 0..400 {
            let start = 0.1 * f64::from(i);
            series.spread(job::READ, start, start + 0.01, 1_000_000, 1 << 20);
            if i % 20 == 0 {
                series.spread(WRITTEN, start, start + 0.5, 8_000_000, 1 << 20);
            }
        }
        series
    }

    #[test]
    fn each_direction_has_its_own_rhythm() {
        let found = by_direction("job", &training(-8), 4, 40.0);
        let periods: Vec<f64> = found.iter().filter_map(|found| found.period).collect();
        assert_eq!(periods.len(), 2, "{found:?}");
        assert!((periods[0] - 2.0).abs() < 0.02 && (periods[1] - 0.1).abs() < 0.005, "{periods:?}");
    }

    #[test]
    fn no_period_is_told_from_fewer_than_eight_bins() {
        // Bins of 62.5 ms: the tenth of a second has fewer than two.
        let found = by_direction("job", &training(-4), 4, 40.0);
        assert!((found[0].period.unwrap() - 2.0).abs() < 0.1, "{found:?}");
        assert_eq!((found[1].period, found[1].confidence), (None, 0.0));
        assert!(found[1].next_phase.is_none());
        let of_all = of_bytes("job", &training(-4), 4, 40.0).unwrap();
        assert_eq!(of_all.period, found[0].period);
        assert_eq!(of_metric(&training(-4), job::READ, &Options::default()).unwrap().period, None);
    }
}
