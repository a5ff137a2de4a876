//! Every number the method depends on, with where it comes from. One table makes the struct, the options of
//! a command line and their documentation.

use serde::{Deserialize, Serialize};

/// What is known about a setting.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Setting {
    /// Its name: that of the option, and in JSON.
    pub name: &'static str,
    /// What it stands at unless told otherwise.
    pub default: f64,
    /// What `--as-published` sets it to.
    pub published: f64,
    /// Smallest and largest value that makes sense.
    pub range: (f64, f64),
    /// What it decides.
    pub meaning: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

macro_rules! settings {
    ($($field:ident = $name:literal, $default:expr, $published:expr, $low:expr, $high:expr, $source:literal,
        $meaning:literal;)*) => {
        /// The settings. What each does is written down in [`TABLE`].
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Settings {
            $(
                #[doc = $meaning]
                #[serde(rename = $name)]
                pub $field: f64,
            )*
        }

        impl Default for Settings {
            fn default() -> Self {
                Settings { $($field: $default,)* }
            }
        }

        /// The settings in the order of the steps.
        pub const TABLE: &[Setting] = &[
            $(Setting {
                name: $name,
                default: $default,
                published: $published,
                range: ($low, $high),
                meaning: $meaning,
                source: $source,
            },)*
        ];

        impl Settings {
            /// As in the paper, where it gives a number.
            pub fn published() -> Self {
                Settings { $($field: $published,)* }
            }

            /// The setting of a name in [`TABLE`].
            pub fn get_mut(&mut self, name: &str) -> Option<&mut f64> {
                match name {
                    $($name => Some(&mut self.$field),)*
                    _ => None,
                }
            }
        }
    };
}

/// More than any log holds, for settings without an upper bound.
const MAX_VALUE: f64 = 1e9;

settings! {
    least_runs = "least-runs", 5.0, 5.0, 2.0, MAX_VALUE, "paper 2.3: 5 to 10 samples are needed",
        "An application is looked at if it ran at least this many times; with fewer there is a warning";
    most_runs = "most-runs", 30.0, 30.0, 2.0, MAX_VALUE, "ours: more samples add nothing (docs/signature.md)",
        "Of an application that ran more often, the last runs up to this number are taken";
    least_points = "least-points", 60.0, 60.0, 8.0, MAX_VALUE, "ours: shorter runs have no room for bursts",
        "A run during which the log has fewer lines is dropped";
    coverage = "coverage", 0.95, 0.95, 0.0, 1.0, "ours",
        "A run is dropped if the log covers a smaller share of it";
    longest_gap = "longest-gap", 60.0, 60.0, 0.0, MAX_VALUE, "ours: a gap could hide a burst",
        "A run is dropped if the log has a gap of more than this many seconds in it";
    overlap = "overlap", 0.5, 1.0, 0.0, 1.0, "ours: the log of two runs at the same time is the same",
        "Of two runs that have more than this share of their time in common, one is dropped";
    idle_share = "idle-share", 1e-6, 1e-6, 0.0, 1.0, "ours",
        "A sample that moves less than this share of what the median sample moves is dropped as idle";
    outlier_factor = "outlier-factor", 1.5, 1.5, 1.0, MAX_VALUE, "open in the paper; 1.5 is usual for LOF",
        "A sample whose local outlier factor over run time and volume is larger is dropped";
    outlier_share = "outlier-share", 0.3, 0.3, 0.0, 1.0, "ours",
        "At most this share of the samples is dropped as outliers";
    least_left = "least-left", 4.0, 4.0, 1.0, MAX_VALUE, "ours",
        "Outliers are dropped only while more samples than this remain";
    level = "level", 2.0, 2.0, 1.0, 6.0, "paper 5.2",
        "Decomposition level of the discrete Meyer wavelet that smooths a sample";
    trough = "trough", 0.5, 1.0, 0.0, 1.0, "paper 5.2 has 1, which cuts long flat bursts into pieces",
        "A trough below this share of the mean height of wave crests separates bursts";
    gamma = "gamma", 0.5, 0.5, 0.0, 1.0, "paper 5.3",
        "A unit of the grid is dense if at least this share of the samples has a burst in it";
    kappa = "kappa", 0.9, 0.9, 0.0, 1.0, "paper 5.3",
        "A dense unit and its neighbours are a common burst if at least this share of the samples has one \
         there";
    kappa_low = "kappa-low", 0.7, 0.9, 0.0, 1.0, "ours: others may hide a burst in a few samples",
        "A burst of the aligned samples is kept if at least this share of them shows it";
    rare = "rare", 0.15, 0.15, 0.001, 0.5, "ours",
        "A sample shows a burst only if less than this share of its other places is as high";
    chance = "chance", 0.05, 0.05, 0.0, 1.0, "ours",
        "A burst is kept only if so many samples show it that noise does so with at most this probability";
    widths = "widths", 5.0, 5.0, 1.0, 100.0, "paper 5.3: 3 to 5",
        "Widths of grid units that are tried, from the mean length of bursts to their mean distance";
    heights = "heights", 5.0, 5.0, 1.0, 100.0, "paper 5.3: 3 to 5",
        "Heights of grid units that are tried";
    least_height = "least-height", 0.05, 0.05, 0.001, 1.0, "paper 5.3",
        "The smallest of these heights";
    largest_height = "largest-height", 0.25, 0.25, 0.001, 1.0, "paper 5.3",
        "The largest of these heights";
    rounds = "rounds", 4.0, 4.0, 1.0, 20.0, "ours: more change nothing",
        "How often samples are aligned with their median and the median is formed again";
    slack = "slack", 12.0, 12.0, 0.0, MAX_VALUE, "ours",
        "A burst may come earlier or later by this many seconds than the run time of its sample explains";
    reluctance = "reluctance", 0.03, 0.03, 0.0, 10.0, "ours",
        "What a second of additional delay between two edges costs, where a perfect edge is worth 1";
    contrast = "contrast", 5.0, 5.0, 0.0, MAX_VALUE, "ours",
        "A burst stands out of the noise of the median sample by at least this many deviations";
    prominence = "prominence", 0.15, 0.15, 0.0, 1.0, "ours",
        "A burst is at least this share as high as the high bursts are";
}

impl Settings {
    /// A number of samples that is at least a share of all.
    pub(crate) fn share_of(share: f64, samples: usize) -> usize {
        ((share * samples as f64 - 1e-9).ceil().max(1.0)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_and_the_struct_are_the_same() {
        let (mut settings, mut published) = (Settings::default(), Settings::published());
        for row in TABLE {
            assert_eq!(settings.get_mut(row.name).map(|value| *value), Some(row.default), "{}", row.name);
            assert_eq!(published.get_mut(row.name).map(|value| *value), Some(row.published), "{}", row.name);
            for value in [row.default, row.published] {
                assert!((row.range.0..=row.range.1).contains(&value), "{}", row.name);
            }
        }
        assert_eq!(settings.get_mut("none"), None);
        let json = serde_json::to_value(&settings).unwrap();
        assert_eq!(json.as_object().unwrap().len(), TABLE.len());
    }

    #[test]
    fn shares_are_rounded_up() {
        assert_eq!(Settings::share_of(0.9, 10), 9);
        assert_eq!(Settings::share_of(0.5, 5), 3);
        assert_eq!(Settings::share_of(0.0, 5), 1);
    }
}
