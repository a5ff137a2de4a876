//! Every number the rules depend on, with where it comes from. One table makes the struct, the options of the
//! command line and their documentation.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What is known about a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Its name: that of the option, and in JSON.
    pub name: &'static str,
    /// What it stands at unless told otherwise.
    pub default: f64,
    /// Smallest and largest value that makes sense.
    pub range: (f64, f64),
    /// What it decides.
    pub meaning: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

macro_rules! thresholds {
    ($(
        $field:ident = $name:literal, $default:expr, $low:expr, $high:expr, $source:literal, $meaning:literal;
    )*) => {
        /// The thresholds. All comparisons are written down in [`TABLE`].
        #[derive(Clone, Debug, PartialEq, JsonSchema, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Thresholds {
            $(
                #[doc = $meaning]
                #[serde(rename = $name)]
                pub $field: f64,
            )*
        }

        impl Default for Thresholds {
            fn default() -> Self {
                Thresholds { $($field: $default,)* }
            }
        }

        /// The thresholds in the order of the pipeline.
        pub const TABLE: &[Threshold] = &[
            $(Threshold {
                name: $name,
                default: $default,
                range: ($low, $high),
                meaning: $meaning,
                source: $source,
            },)*
        ];

        impl Thresholds {
            /// The value of the threshold of a name in [`TABLE`].
            pub fn get(&self, name: &str) -> Option<f64> {
                match name {
                    $($name => Some(self.$field),)*
                    _ => None,
                }
            }

            /// The threshold of a name in [`TABLE`], to change it.
            pub fn get_mut(&mut self, name: &str) -> Option<&mut f64> {
                match name {
                    $($name => Some(&mut self.$field),)*
                    _ => None,
                }
            }
        }
    };
}

/// More than any archive holds, for thresholds without an upper bound.
const MAX_VALUE: f64 = 1e18;

thresholds! {
    clock_slack = "clock-slack", 2.0, 0.0, MAX_VALUE,
        "ours: logs before Darshan 3.4.1 count the job in whole seconds",
        "A log is invalid if I/O ends more than this many seconds after the job";
    neighbour_gap_of_run = "neighbour-gap-of-run", 0.001, 0.0, 1.0, "paper III-B2b",
        "Neighbouring operations merge if the gap between them is below this share of the run";
    neighbour_gap_of_operation = "neighbour-gap-of-operation", 0.01, 0.0, 1.0, "paper III-B2b",
        "… or below this share of the operation they become";
    group_size = "group-size", 2.0, 2.0, MAX_VALUE, "paper III-B3a: strictly greater than 1",
        "A group of at least this many segments is a periodic operation";
    bandwidth = "bandwidth", 0.25, 1e-6, 100.0,
        "open in the paper; the public code takes segments within 25 % of their mean as equal",
        "Radius of Mean Shift over the natural logarithms of duration and volume: 0.25 is about ±25 %";
    even_within = "even-within", 0.25, 0.0, MAX_VALUE, "ours",
        "Two distances between segments of a group are equal if they differ by at most this share";
    evenness = "evenness", 0.5, 0.0, 1.0, "ours; 0 takes every group, as the paper may be read",
        "A group is kept if more than this share of the distances between its segments is equal to their \
         median";
    period_bytes = "period-bytes", 0.01, 0.0, 1.0, "ours; 0 names every period, as the paper does",
        "A periodic operation is named if it moves at least this share of the direction's bytes";
    second_up_to = "second-up-to", 30.0, 0.0, MAX_VALUE, "open in the paper; public code",
        "Periods up to this many seconds are periodic_second";
    minute_up_to = "minute-up-to", 1800.0, 0.0, MAX_VALUE, "open in the paper; public code",
        "Longer ones up to this many are periodic_minute";
    hour_up_to = "hour-up-to", 43200.0, 0.0, MAX_VALUE, "open in the paper; public code",
        "Longer ones up to this many are periodic_hour, others periodic_day_or_more";
    low_busy = "low-busy", 0.25, 0.0, 1.0, "paper IV-D: less than 25 % of the time",
        "periodic_low_busy_time: operations take less than this share of the period";
    high_busy = "high-busy", 0.75, 0.0, 1.0, "open in the paper; public code",
        "periodic_high_busy_time: they take at least this share";
    significant_bytes = "significant-bytes", 1e8, 0.0, MAX_VALUE, "paper III-A: 100 MB",
        "A direction that moved fewer bytes is insignificant";
    chunks = "chunks", 4.0, 3.0, 1000.0, "paper III-B3b",
        "Parts of equal length that a run is cut into; the first is the start, the last the end";
    dominance = "dominance", 2.0, 0.0, MAX_VALUE, "paper III-B3b",
        "on_start, on_end: the first or last part holds more than this many times what all others hold";
    middle_dominance = "middle-dominance", 2.0, 0.0, MAX_VALUE, "open in the paper; as for start and end",
        "after_start_before_end: the parts between hold more than this many times what first and last hold";
    steady_variation = "steady-variation", 0.25, 0.0, MAX_VALUE, "paper III-B3b",
        "steady: the coefficient of variation of the parts is below this";
    little = "little", 0.2, 0.0, MAX_VALUE, "open in the paper; public code",
        "after_start, before_end: the first or last part holds less than this many times what all others \
         hold";
    metadata_per_rank = "metadata-per-rank", 1.0, 0.0, MAX_VALUE, "paper III-A",
        "Fewer metadata operations per rank are insignificant_load";
    high_spike = "high-spike", 250.0, 0.0, MAX_VALUE, "paper III-B3c",
        "high_spike: more metadata operations than this in a second";
    spike = "spike", 50.0, 0.0, MAX_VALUE, "paper III-B3c",
        "A second with at least this many metadata operations is a spike";
    spikes = "spikes", 5.0, 0.0, MAX_VALUE, "paper III-B3c",
        "multiple_spikes: at least this many spikes";
    density = "density", 50.0, 0.0, MAX_VALUE, "paper III-B3c",
        "high_density: multiple spikes, and at least this many metadata operations a second on average";
    witness_within = "witness-within", 0.2, 0.0, MAX_VALUE, "ours",
        "The periods of MOSAIC and of ftio are the same if they differ by at most this share";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_and_the_struct_are_the_same() {
        let mut thresholds = Thresholds::default();
        for row in TABLE {
            assert_eq!(thresholds.get_mut(row.name).map(|value| *value), Some(row.default), "{}", row.name);
            assert!(row.range.0 <= row.default && row.default <= row.range.1, "{}", row.name);
        }
        assert_eq!(thresholds.get_mut("none"), None);
        let json = serde_json::to_value(&thresholds).unwrap();
        assert_eq!(json.as_object().unwrap().len(), TABLE.len());
    }
}
