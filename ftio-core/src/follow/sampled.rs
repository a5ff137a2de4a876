//! Samples of a quantity as they come.
//!
//! A sample holds until the next one: its request is handed out when that comes. Offline, all samples are scaled so that the sum of all is exact
//! enough; here the scale must be known with the first sample that is not zero, and leaves room for values a billion times larger. Likewise
//! for values below zero: the least of the first look is taken as zero.

use crate::request::{Class, Request};
use crate::source::series::{Series, power_of_two};
use crate::time::nanoseconds;

/// What a first sample should amount to.
const FIRST: f64 = (1u64 << 30) as f64;

/// Most bytes of a request.
const MOST: f64 = (1u64 << 62) as f64;

/// Times beyond ±63 years are no times of a job.
const MAX_SECONDS: f64 = 2e9;

/// A quantity.
#[derive(Clone, Debug)]
pub(super) struct Sampled {
    class: Class,
    pub begins: Option<i64>,
    pub per_unit: Option<f64>,
    zero: Option<f64>,
    last: Option<(f64, f64)>,
}

impl Sampled {
    pub fn new(class: Class) -> Self {
        Sampled { class, begins: None, per_unit: None, zero: None, last: None }
    }

    /// The requests that further samples make, and up to when the quantity is known. Samples that are not later than the last one are known already.
    pub fn take(&mut self, series: &Series) -> (Vec<Request>, Option<i64>) {
        let usable = |sample: &&(f64, f64)| sample.0.abs() < MAX_SECONDS && sample.1.is_finite();
        let mut samples: Vec<(f64, f64)> = series.samples.iter().filter(usable).copied().collect();
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
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
        let bytes = (amount * scale).min(MOST).round() as u64;
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
        let (all, until) = at_once.take(&series(&samples));
        assert_eq!((all.len(), until, at_once.begins), (4, Some(19_000_000_000), Some(0)));
        let bytes = 0.25 * at_once.per_unit.unwrap();
        assert!(all.iter().all(|request| request.bytes as f64 == bytes), "{all:?}");
        assert_eq!((all[0].start, all[0].end), (3_000_000_000, 4_000_000_000));

        let mut one_by_one = Sampled::new(Class::WriteSync);
        let mut requests = Vec::new();
        for sample in &samples {
            requests.extend(one_by_one.take(&series(&[*sample])).0);
            // A proxy may send again what is known.
            requests.extend(one_by_one.take(&series(&[*sample])).0);
        }
        assert_eq!(requests, all);
    }

    #[test]
    fn what_is_no_number_is_left_out() {
        let mut sampled = Sampled::new(Class::WriteSync);
        let samples = [(0.0, 1.0), (f64::NAN, 1.0), (1.0, f64::INFINITY), (2.0, 1.0), (1e300, 1.0)];
        let (requests, until) = sampled.take(&series(&samples));
        assert_eq!((requests.len(), until), (1, Some(2_000_000_000)));
        assert_eq!(Sampled::new(Class::WriteSync).take(&series(&[(0.0, 0.0), (1.0, 0.0)])).1, None);
    }

    #[test]
    fn values_below_zero() {
        let mut sampled = Sampled::new(Class::WriteSync);
        let (requests, _) = sampled.take(&series(&[(0.0, -2.0), (1.0, 2.0), (2.0, 0.0), (3.0, 0.0)]));
        let bytes: Vec<u64> = requests.iter().map(|request| request.bytes).collect();
        assert_eq!(bytes.len(), 2, "the least is zero");
        assert_eq!(bytes[0], 2 * bytes[1]);
    }
}
