//! The numbers that decide, with where they come from. Users may set each of them.

use std::ops::Index;

/// A threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// Which it is.
    pub key: Key,
    /// What it is called in options.
    pub name: &'static str,
    /// Its value unless the user says otherwise.
    pub default: f64,
    /// What it is a number of.
    pub unit: &'static str,
    /// What it decides.
    pub meaning: &'static str,
    /// Where it comes from.
    pub source: &'static str,
}

macro_rules! limits {
    ($($key:ident, $name:literal, $default:expr, $unit:literal, $source:literal, $meaning:literal;)+) => {
        /// The name of a threshold in the code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // the table says what they are
        pub enum Key { $($key,)+ }

        /// All thresholds.
        pub const LIMITS: &[Limit] = &[$(Limit {
            key: Key::$key, name: $name, default: $default, unit: $unit, source: $source, meaning: $meaning,
        },)+];
    };
}

limits! {
    SmallShare, "small-share", 0.1, "share", "Drishti (small_requests)",
        "more small requests than this share of all are a finding";
    SmallCount, "small-count", 1000.0, "requests", "Drishti (small_requests_absolute)",
        "fewer small requests than this are not a finding";
    MisalignedShare, "misaligned-share", 0.1, "share", "Drishti (misaligned_requests)",
        "more misaligned requests than this share of all are a finding";
    RandomShare, "random-share", 0.2, "share", "Drishti (random_operations)",
        "more requests that go back in the file than this share of all are a finding";
    RandomCount, "random-count", 1000.0, "requests", "Drishti (random_operations_absolute)",
        "fewer of them than this are not a finding";
    RedundantTimes, "redundant-times", 2.0, "times", "ours: a file read twice",
        "a file read or written this many times over is a finding";
    IntensiveShare, "intensive-share", 0.1, "share", "Drishti (imbalance_operations)",
        "a job is called read or write intensive if its bytes differ by more than this share";
    StragglerShare, "straggler-share", 0.15, "share", "Drishti (imbalance_stragglers)",
        "ranks of a shared file whose times differ by more than this share are a finding";
    ImbalanceShare, "imbalance-share", 0.3, "share", "Drishti (imbalance_size)",
        "ranks whose bytes differ by more than this share are a finding";
    MetadataSeconds, "metadata-seconds", 30.0, "s", "Drishti (metadata_time_rank)",
        "a rank with more seconds than this in metadata operations is a finding";
    MetadataShare, "metadata-share", 0.3, "share", "ours",
        "more of the I/O time than this share in metadata is a finding, if it is also metadata-run-share of \
            the run time";
    MetadataRunShare, "metadata-run-share", 0.05, "share", "ours",
        "see metadata-share";
    CollectiveShare, "collective-share", 0.5, "share", "Drishti (collective_operations)",
        "fewer collective calls than this share on shared files are a finding";
    CollectiveCount, "collective-count", 1000.0, "calls", "Drishti (collective_operations_absolute)",
        "fewer independent calls than this are not a finding";
    StdioShare, "stdio-share", 0.1, "share", "Drishti (interface_stdio)",
        "more bytes than this share through STDIO are a finding";
    StdioBytes, "stdio-bytes", 10e6, "bytes", "ours: a log file is not a finding",
        "fewer bytes through STDIO than this are not a finding";
    ManyFiles, "many-files", 1000.0, "files", "ours: enough to load a metadata server",
        "more files than this, at least one for each rank, are a finding";
    HighShare, "high-share", 0.1, "share", "ours: a tenth of the run time",
        "a finding that concerns this share of the run time is high";
    MediumShare, "medium-share", 0.02, "share", "ours",
        "a finding that concerns this share of the run time is medium";
    LeastSeconds, "least-seconds", 1.0, "s", "ours: nobody tunes for less",
        "differences between ranks that cost less time than this are info, other findings at most low";
    HiddenShare, "hidden-share", 0.05, "share", "ours",
        "waiting for nonblocking operations for more of the run time than this share is a finding";
    GrowthShare, "growth-share", 0.25, "share", "ours",
        "a period that grows by more than this share from the first third of the phases to the last is a \
            finding";
    FirstTimes, "first-times", 2.0, "times", "ours",
        "a first phase this many times as long as the others is a finding";
    DriftShare, "drift-share", 0.1, "share", "ours",
        "ranks that begin a phase further apart than this share of the period, and further apart than \
            before, are a finding";
    CheckpointTimes, "checkpoint-times", 2.0, "times", "Young 1974, Daly 2006: the optimum is flat",
        "phases this many times as frequent, or as rare, as the optimal interval are a finding";
    SeenShare, "seen-share", 0.5, "share", "ours",
        "less of the bytes of the processes than this share in the trace is a finding";
}

/// The values that hold.
#[derive(Clone, Debug, PartialEq)]
pub struct Thresholds(Vec<f64>);

impl Default for Thresholds {
    fn default() -> Self {
        Thresholds(LIMITS.iter().map(|limit| limit.default).collect())
    }
}

impl Thresholds {
    /// Set one by its name.
    ///
    /// # Errors
    ///
    /// There is none of that name, or the value is no number of at least 0.
    pub fn set(&mut self, name: &str, value: f64) -> Result<(), String> {
        if !value.is_finite() || value < 0.0 {
            return Err(format!("{name}: expected a number of at least 0"));
        }
        let known = LIMITS.iter().position(|limit| limit.name == name);
        let index = known.ok_or_else(|| {
            let names: Vec<&str> = LIMITS.iter().map(|limit| limit.name).collect();
            format!("no threshold is called {name:?}: expected one of {}", names.join(", "))
        })?;
        self.0[index] = value;
        Ok(())
    }
}

impl Index<Key> for Thresholds {
    type Output = f64;

    fn index(&self, key: Key) -> &f64 {
        &self.0[key as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_threshold_is_found_by_its_name() {
        let mut thresholds = Thresholds::default();
        for (number, limit) in LIMITS.iter().enumerate() {
            assert_eq!(limit.key as usize, number, "{}", limit.name);
            thresholds.set(limit.name, number as f64).unwrap();
        }
        LIMITS
            .iter()
            .enumerate()
            .for_each(|(number, limit)| assert_eq!(thresholds[limit.key], number as f64));
        let names: BTreeSet<&str> = LIMITS.iter().map(|limit| limit.name).collect();
        assert_eq!(names.len(), LIMITS.len());
        assert!(thresholds.set("nope", 1.0).is_err() && thresholds.set("small-share", f64::NAN).is_err());
    }
}
