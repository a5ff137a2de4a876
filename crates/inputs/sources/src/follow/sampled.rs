//! Samples of a quantity as they come.
//!
//! A sample holds until the next one: its request is passed on when that comes. Offline, all samples are
//! scaled so that the sum of all is exact enough; here the scale must be known with the first sample that is
//! not zero, and leaves room for values a billion times larger. Likewise for values below zero: the least of
//! the first look is taken as zero.

use super::event::{Event, Stream};
use crate::request::{Class, Request};
use crate::series::{Series, choose, is_counter, power_of_two, rates};
use crate::time::nanoseconds;
use crate::{ABSOLUTE, OpenOptions, Rate, SourceError};
use std::collections::BTreeMap;

/// What a first sample should amount to.
const FIRST: f64 = (1u64 << 30) as f64;

/// Most bytes of a request.
const MAX_BYTES: f64 = (1u64 << 62) as f64;

/// Times beyond ±63 years are no times of a job.
const MAX_SECONDS: f64 = 2e9;

/// The quantities of an input.
#[derive(Debug, Default)]
pub(super) struct Quantities {
    /// By name, with their number once they are announced.
    known: BTreeMap<String, (Option<usize>, Sampled)>,
    announced: usize,
    /// What is subtracted from times that count from 1970.
    origin: Option<f64>,
}

impl Quantities {
    /// Take in further samples of those that are wanted.
    pub fn take(
        &mut self,
        input: &str,
        series: Vec<Series>,
        several: bool,
        options: &OpenOptions,
        visit: &mut dyn FnMut(Event<'_>),
    ) -> Result<(), SourceError> {
        for mut series in choose(input, series, options.metric.as_deref())? {
            self.shift(&mut series);
            let (number, sampled) =
                self.known.entry(series.name.clone()).or_insert_with(|| (None, Sampled::new(series.class)));
            let (requests, until) = sampled.take(&series, options.rate);
            let Some(until) = until else { continue };
            let stream = *number.get_or_insert_with(|| {
                let name = if several { format!("{input}: {}", series.name) } else { input.to_owned() };
                let stream = Stream { name, begins: sampled.begins, per_unit: sampled.per_unit };
                visit(Event::Stream(&stream));
                if let Some(origin) = self.origin.filter(|origin| *origin > 0.0) {
                    visit(Event::Clock { stream: self.announced, origin: nanoseconds(origin) });
                }
                self.announced += 1;
                self.announced - 1
            });
            visit(Event::Requests { stream, requests: &requests });
            visit(Event::Flush { stream, until });
        }
        Ok(())
    }
}

impl Quantities {
    /// Times that count from 1970 count from the first sample.
    fn shift(&mut self, series: &mut Series) {
        let first = series.samples.iter().map(|sample| sample.0).filter(|time| time.is_finite());
        let Some(first) = first.min_by(f64::total_cmp) else { return };
        let is_absolute = nanoseconds(first) > ABSOLUTE;
        let origin = *self.origin.get_or_insert(if is_absolute { first } else { 0.0 });
        series.samples.iter_mut().for_each(|sample| sample.0 -= origin);
    }
}

/// A quantity.
#[derive(Clone, Debug)]
struct Sampled {
    class: Class,
    begins: Option<i64>,
    per_unit: Option<f64>,
    zero: Option<f64>,
    last: Option<(f64, f64)>,
    /// Is it a counter? The first look decides.
    is_counter: Option<bool>,
    /// The last value of a counter.
    counted: Option<(f64, f64)>,
}

impl Sampled {
    fn new(class: Class) -> Self {
        Sampled {
            class,
            begins: None,
            per_unit: None,
            zero: None,
            last: None,
            is_counter: None,
            counted: None,
        }
    }

    /// Of a counter the rates since the last look; of anything else the samples.
    fn rates(&mut self, series: &Series, mut samples: Vec<(f64, f64)>, rate: Rate) -> Vec<(f64, f64)> {
        let is_counter = *self.is_counter.get_or_insert_with(|| is_counter(series, &samples, rate));
        if !is_counter {
            return samples;
        }
        samples.retain(|sample| self.counted.is_none_or(|last| sample.0 > last.0));
        let all: Vec<(f64, f64)> = self.counted.into_iter().chain(samples).collect();
        self.counted = all.last().copied();
        rates(&all)
    }

    /// The requests that further samples make, and up to when the quantity is known. Samples that are not
    /// later than the last one are known already.
    fn take(&mut self, series: &Series, rate: Rate) -> (Vec<Request>, Option<i64>) {
        let usable = |sample: &&(f64, f64)| sample.0.abs() < MAX_SECONDS && sample.1.is_finite();
        let mut samples: Vec<(f64, f64)> = series.samples.iter().filter(usable).copied().collect();
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut samples = self.rates(series, samples, rate);
        samples.retain(|sample| self.last.is_none_or(|last| sample.0 > last.0));
        let least = samples.iter().map(|sample| sample.1).fold(0.0, f64::min);
        let zero = *self.zero.get_or_insert(least);
        let mut requests = Vec::new();
        for (time, value) in samples {
            let end = nanoseconds(time);
            self.begins.get_or_insert(end);
            if let Some((since, held)) = self.last.filter(|_| self.last.is_none_or(|last| time > last.0)) {
                requests.extend(self.request(since, time, (held - zero).max(0.0)));
            }
            self.last = Some((time, value));
        }
        let until = self.last.map(|last| nanoseconds(last.0)).filter(|_| self.per_unit.is_some());
        (requests, until)
    }

    fn request(&mut self, since: f64, until: f64, value: f64) -> Option<Request> {
        let amount = value * (until - since);
        if amount <= 0.0 || !amount.is_finite() {
            return None;
        }
        let scale = *self.per_unit.get_or_insert_with(|| power_of_two(FIRST / amount).max(1.0));
        let bytes = (amount * scale).min(MAX_BYTES).round() as u64;
        Some(Request::new(nanoseconds(since), nanoseconds(until), bytes, self.class))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(samples: &[(f64, f64)]) -> Series {
        Series { name: "x".into(), samples: samples.into(), class: Class::WriteSync, is_bandwidth: false }
    }

    #[test]
    fn the_same_in_one_look_or_in_many() {
        let samples: Vec<(f64, f64)> =
            (0..20).map(|i| (f64::from(i), if i % 5 == 3 { 0.25 } else { 0.0 })).collect();
        let mut at_once = Sampled::new(Class::WriteSync);
        let (all, until) = at_once.take(&series(&samples), Rate::Off);
        assert_eq!((all.len(), until, at_once.begins), (4, Some(19_000_000_000), Some(0)));
        let bytes = 0.25 * at_once.per_unit.unwrap();
        assert!(all.iter().all(|request| request.bytes as f64 == bytes), "{all:?}");
        assert_eq!((all[0].start, all[0].end), (3_000_000_000, 4_000_000_000));

        let mut one_by_one = Sampled::new(Class::WriteSync);
        let mut requests = Vec::new();
        for sample in &samples {
            requests.extend(one_by_one.take(&series(&[*sample]), Rate::Off).0);
            // A proxy may send again what is known.
            requests.extend(one_by_one.take(&series(&[*sample]), Rate::Off).0);
        }
        assert_eq!(requests, all);
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let mut sampled = Sampled::new(Class::WriteSync);
        let samples = [(0.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (2.0, 1.0), (1e300, 1.0)];
        let (requests, until) = sampled.take(&series(&samples), Rate::Off);
        assert_eq!((requests.len(), until), (1, Some(2_000_000_000)));
        assert_eq!(
            Sampled::new(Class::WriteSync).take(&series(&[(0.0, 0.0), (1.0, 0.0)]), Rate::Off).1,
            None
        );
    }

    #[test]
    fn values_below_zero() {
        let mut sampled = Sampled::new(Class::WriteSync);
        let (requests, _) =
            sampled.take(&series(&[(0.0, -2.0), (1.0, 2.0), (2.0, 0.0), (3.0, 0.0)]), Rate::Off);
        let bytes: Vec<u64> = requests.iter().map(|request| request.bytes).collect();
        assert_eq!(bytes.len(), 2, "the least is zero");
        assert_eq!(bytes[0], 2 * bytes[1]);
    }
}
