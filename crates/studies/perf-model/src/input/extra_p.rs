//! Experiments as Extra-P saves them (`.extra-p`): a zip archive with `experiment.json`, and, if the values
//! of the repetitions were kept, `values/N.vals` with NumPy arrays and `values/N.indx` with their places.
//! The models that are saved beside are not read: we make our own.
//!
//! Where the values were not kept, there are their mean, median, minimum, maximum, standard deviation and
//! number. Values that have these take their place: all modelling needs is the middle and the scatter.

use super::bytes::{u16_at, u64_at};
use super::json::Ordered;
use super::zip::Zip;
use super::{builder, check_point};
use crate::error::{Error, Result};
use crate::experiment::{ExperimentBuilder, mean};
use serde::Deserialize;
use std::collections::HashMap;

const DOCUMENT: &str = "experiment.json";
const INDEX_START: &[u8] = b"Extra-P INDEX\0\0\0";
const VALUES_START: &[u8] = b"Extra-P VALUES\0\0";
/// Values that agree with the saved mean up to this share are taken.
const MAX_MEAN_ERROR: f64 = 1e-9;
/// More repetitions than this are represented by as many.
const MAX_REPETITIONS: usize = 10_000;

#[derive(Deserialize)]
struct Document {
    parameters: Vec<String>,
    measurements: Ordered<Ordered<Vec<Saved>>>,
}

#[derive(Deserialize)]
struct Saved {
    coordinate: Vec<f64>,
    mean: Option<f64>,
    median: Option<f64>,
    minimum: Option<f64>,
    maximum: Option<f64>,
    std: Option<f64>,
    repetitions: Option<u64>,
    /// The file of values, and which array in it.
    #[serde(default)]
    values: Option<(u64, usize)>,
}

pub(super) fn parse(bytes: &[u8], source: &str) -> Result<ExperimentBuilder> {
    let zip = Zip::open(bytes, source)?;
    let expected = "an experiment of Extra-P";
    let document = zip.file(DOCUMENT)?;
    let document = document
        .ok_or_else(|| Error::format(source, None, expected, format!("an archive without {DOCUMENT}")))?;
    let document: Document = serde_json::from_slice(&document).map_err(|error| {
        Error::format(
            source,
            None,
            format!("`parameters` and `measurements` in {DOCUMENT}"),
            error.to_string(),
        )
    })?;
    let mut experiment = builder(document.parameters, source, None)?;
    let mut arrays = Arrays { zip: &zip, source, chunks: HashMap::new() };
    for (callpath, metrics) in document.measurements.0 {
        for (metric, points) in metrics.0 {
            for saved in points {
                check_point(&saved.coordinate, source, None)?;
                if saved.coordinate.len() != experiment.dimensions() {
                    let expected = format!("points of {} values", experiment.dimensions());
                    return Err(Error::format(source, None, expected, format!("{:?}", saved.coordinate)));
                }
                let kept = saved.values.map(|place| arrays.read(place)).transpose()?;
                let values = saved.values(kept);
                if !values.is_empty() {
                    experiment.add(&callpath, &metric, &saved.coordinate, &values);
                }
            }
        }
    }
    Ok(experiment)
}

impl Saved {
    /// The values that were kept, if they are those that the mean is of, else values with the same figures.
    /// (What Extra-P has masked is in the arrays all the same.)
    fn values(&self, kept: Option<Vec<f64>>) -> Vec<f64> {
        let Some(average) = self.mean else { return kept.unwrap_or_default() };
        let same = |values: &Vec<f64>| (mean(values) - average).abs() <= MAX_MEAN_ERROR * average.abs();
        match kept.filter(|values| !values.is_empty() && same(values)) {
            Some(values) => values,
            None => self.like(average),
        }
    }

    fn like(&self, average: f64) -> Vec<f64> {
        let count = self.repetitions.map_or(1, |count| count.clamp(1, MAX_REPETITIONS as u64) as usize);
        let (Some(median), Some(low), Some(high)) = (self.median, self.minimum, self.maximum) else {
            return vec![average; count];
        };
        match count {
            1 => vec![average],
            2 => vec![low, high],
            3 => vec![low, median, high],
            _ => spread(count, average, median, [low, high], self.std.unwrap_or(0.0)),
        }
    }
}

/// Four values or more with this mean, median, minimum and maximum, and as far as possible this standard
/// deviation: the least, the median (twice if the number is even), the greatest, and in between as many of
/// one value below the median as of one above.
fn spread(count: usize, average: f64, median: f64, [low, high]: [f64; 2], deviation: f64) -> Vec<f64> {
    let (n, middle) = (count as f64, if count.is_multiple_of(2) { 2 } else { 1 });
    let each = (count - 2 - middle) / 2;
    let mut values = vec![low, high];
    if count == 4 {
        // Two in the middle, whose mean is the median.
        let squares = n * (deviation * deviation + average * average) - low * low - high * high;
        let half = (squares / 2.0 - median * median).max(0.0).sqrt().min(median - low).min(high - median);
        values.extend([median - half, median + half]);
    } else {
        values.extend(vec![median; middle]);
        let (k, m) = (each as f64, middle as f64);
        let sum = (n * average - low - high - m * median) / k;
        let squares =
            (n * (deviation * deviation + average * average) - low * low - high * high - m * median * median)
                / k;
        let half = (squares / 2.0 - sum * sum / 4.0).max(0.0).sqrt();
        // Whatever the deviation, the mean has to be right, and so the sum of the two.
        let below = (sum / 2.0 - half).max(low).max(sum - high).min(median);
        values.extend(vec![below; each]);
        values.extend(vec![sum - below; each]);
    }
    values
}

/// Arrays in the files of values.
struct Arrays<'a> {
    zip: &'a Zip<'a>,
    source: &'a str,
    /// Index and values of each file.
    chunks: HashMap<u64, (Vec<u8>, Vec<u8>)>,
}

impl Arrays<'_> {
    fn read(&mut self, (chunk, place): (u64, usize)) -> Result<Vec<f64>> {
        let damaged = |source: &str, found: &str| {
            Error::format(source, None, format!("values of repetitions in values/{chunk}.vals"), found)
        };
        if !self.chunks.contains_key(&chunk) {
            let index = self.zip.file(&format!("values/{chunk}.indx"))?;
            let values = self.zip.file(&format!("values/{chunk}.vals"))?;
            let (Some(index), Some(values)) = (index, values) else {
                return Err(damaged(self.source, "no such file"));
            };
            if !index.starts_with(INDEX_START) || !values.starts_with(VALUES_START) {
                return Err(damaged(self.source, "another kind of file"));
            }
            self.chunks.insert(chunk, (index, values));
        }
        let (index, values) = &self.chunks[&chunk];
        let at = place.checked_mul(8).and_then(|at| u64_at(index, at.checked_add(INDEX_START.len() + 8)?));
        let array = at.and_then(|at| values.get(usize::try_from(at).ok()?..));
        array.and_then(array_of_numbers).ok_or_else(|| damaged(self.source, "a damaged array"))
    }
}

/// A NumPy array of numbers of eight bytes (NPY versions 1 to 3), whatever its shape.
fn array_of_numbers(bytes: &[u8]) -> Option<Vec<f64>> {
    let version = *bytes.strip_prefix(b"\x93NUMPY")?.first()?;
    let (length, start): (usize, usize) = match version {
        1 => (usize::from(u16_at(bytes, 8)?), 10),
        _ => (super::bytes::u32_at(bytes, 8)? as usize, 12),
    };
    let header = std::str::from_utf8(bytes.get(start..start.checked_add(length)?)?).ok()?;
    let of = |key: &str| Some(header.split_once(key)?.1.trim_start_matches([':', ' ']));
    let kind = of("'descr'")?.trim_start_matches('\'').split('\'').next()?;
    let shape = of("'shape'")?.strip_prefix('(')?.split(')').next()?;
    let mut count = 1usize;
    for size in shape.split(',').map(str::trim).filter(|size| !size.is_empty()) {
        count = count.checked_mul(size.parse().ok()?)?;
    }
    let data = bytes.get(start + length..)?.get(..count.checked_mul(8)?)?;
    let convert: fn([u8; 8]) -> f64 = match kind {
        "<f8" => f64::from_le_bytes,
        ">f8" => f64::from_be_bytes,
        "<i8" => |bytes| i64::from_le_bytes(bytes) as f64,
        ">i8" => |bytes| i64::from_be_bytes(bytes) as f64,
        _ => return None,
    };
    Some(data.chunks_exact(8).filter_map(|chunk| chunk.first_chunk().copied()).map(convert).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Measure, deviation};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn values_with_the_same_figures(values in prop::collection::vec(0.1f64..100.0, 1..40)) {
            let saved = Saved {
                coordinate: vec![1.0],
                mean: Some(Measure::Mean.of(&values)),
                median: Some(Measure::Median.of(&values)),
                minimum: Some(Measure::Minimum.of(&values)),
                maximum: Some(Measure::Maximum.of(&values)),
                std: Some(deviation(&values)),
                repetitions: Some(values.len() as u64),
                values: None,
            };
            let like = saved.values(None);
            prop_assert_eq!(like.len(), values.len());
            for measure in [Measure::Mean, Measure::Median, Measure::Minimum, Measure::Maximum] {
                let (ours, theirs) = (measure.of(&like), measure.of(&values));
                prop_assert!((ours - theirs).abs() <= 1e-9 * theirs, "{:?}: {} {}", measure, ours, theirs);
            }
            // Only where two values cannot have it, the scatter is another one.
            if values.len() < 6 {
                prop_assert!((deviation(&like) - deviation(&values)).abs() < 1e-6);
            }
            prop_assert!(deviation(&like) <= deviation(&values) * (1.0 + 1e-6) + 1e-6);
        }

        #[test]
        fn any_bytes_are_no_panic(
            mut bytes in prop::collection::vec(any::<u8>(), 0..300),
            at in 0usize..300,
        ) {
            bytes.splice(0..0, super::super::zip::START.iter().copied());
            let at = at.min(bytes.len());
            bytes.splice(at..at, b"PK\x05\x06".iter().copied());
            let _ = parse(&bytes, "x");
            let _ = array_of_numbers(&bytes);
        }
    }
}
