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

/// What the bytes that a job has moved so far say, as of `until` (seconds of job time). `None`: too little
/// has happened.
pub fn of_bytes(name: &str, series: &Series, ranks: i64, until: f64) -> Option<Detection> {
    let period = series.period();
    let mut requests = Vec::new();
    for (column, class) in [(WRITTEN, Class::WriteSync), (READ, Class::ReadSync)] {
        let request = |(from, to, bytes): (f64, f64, f64)| {
            Request::new(nanoseconds(from), nanoseconds(to), bytes as u64, class)
        };
        requests.extend(series.moved(column).map(request));
    }
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
    detect(name, source, &Options::default()).ok().map(|analysis| analysis.detection)
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
    Ok(analysis.detection)
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
}
