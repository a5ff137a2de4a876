//! Every number that counting phases depends on, with its unit and where it comes from. One table makes the
//! constants and their documentation; the weights of the score are in
//! [`estimate::weights`](crate::estimate::weights).

/// What is known about a threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Threshold {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// What it is counted in.
    pub unit: &'static str,
    /// What it decides.
    pub meaning: &'static str,
    /// Where the value comes from.
    pub source: &'static str,
}

macro_rules! thresholds {
    ($($name:ident: $type:ty = $value:expr, $unit:literal, $source:literal, $meaning:literal;)*) => {
        $(
            #[doc = $meaning]
            pub const $name: $type = $value;
        )*

        /// All thresholds, in the order of the steps.
        pub const TABLE: &[Threshold] = &[
            $(Threshold {
                name: stringify!($name),
                value: $value as f64,
                unit: $unit,
                meaning: $meaning,
                source: $source,
            },)*
        ];
    };
}

thresholds! {
    PEDESTAL: f64 = 0.05, "share of the samples", "ours: what flows all the time is no part of a phase",
        "The bandwidth that all but this share of the samples exceed is taken off before phases are looked for";
    LOWEST_PEDESTAL: f64 = 0.01, "share of the samples", "ours: phases may fill 99 % of the period",
        "The same for a signal that is quiet at times …";
    QUIET_PEDESTAL: f64 = 0.1, "share of the pedestal", "ours",
        "… which it is if that is less than this share of the usual pedestal";
    COUNTED_SAMPLES: usize = 1 << 12, "samples", "ours: more change no count on generated traces, and cost time",
        "Maxima are counted in about this many samples, if that leaves enough for each phase";
    PERSISTENCE: f64 = 0.25, "share of the range", "ours: noise of a fifth of the bandwidth must not divide a phase",
        "A maximum counts if the bandwidth falls by this much on both sides of it";
    FOOT: f64 = 0.2, "share of the persistence", "ours",
        "The rise to a maximum begins at the last place that is lower than the lowest by no more than this";
    WIDTHS_PER_OCTAVE: i32 = 4, "widths", "ours: half as many shorten the ranges, twice as many change nothing",
        "Widths of the Gaussian for each doubling";
    MAX_PHASES: usize = 1 << 16, "phases", "ours: bounds the cost; more are counted in sections of the job",
        "Levels with more phases are not looked at";
    MIN_CONTRAST: f64 = 0.08, "(high − low)/(high + low)", "ours: smoothed noise has even ripples of 0.05",
        "Phases are more than ripples on a steady bandwidth";
    BUSY: f64 = 0.25, "share of the bandwidth in phases", "ours",
        "From here on the application is in a phase";
    QUIET_SHARE: f64 = 0.95, "share of the pauses", "ours",
        "Quiet is what this share of the samples between phases do not exceed …";
    QUIET_SLACK: f64 = 1.15, "factor", "ours",
        "… times this";
    QUIET_LEVEL: f64 = 0.005, "share of the bandwidth in phases", "ours",
        "… and this much more";
    SILENT: f64 = 1e-3, "share of the bandwidth in phases", "ours",
        "Up to here there is no I/O to speak of";
    HALF_SILENCE: f64 = 0.5, "share of the usual longest silence", "ours",
        "The last silence before a phase that is this long is the one before it";
    LONGEST_LEAD: usize = 3, "usual leads", "ours",
        "A phase whose rise takes longer than this many times the usual has other traffic before it";
    UNEVEN_STARTS: f64 = 0.1, "coefficient of variation", "ours",
        "Starts whose distances vary by more may be those of other traffic …";
    MANY_STARTS: usize = 6, "phases", "ours: fewer are easily even by chance",
        "… if there are at least this many …";
    EVENER_STARTS: f64 = 0.4, "share of the variation", "ours: twice as even would be chance now and then",
        "… and where the bandwidth changes most their distances vary by less than this share of it";
    HEADER_VOLUME: f64 = 0.02, "share of a phase's volume", "ours: NetCDF and HDF5 headers",
        "A little I/O shortly before a phase belongs to it up to this volume";
    HEADER_PAUSE: usize = 3, "pauses", "ours",
        "… if the pause before it is this many times as long as the one after it";
    ALIKE: f64 = 0.15, "share of the volume", "ours",
        "Volumes that differ by less are the same";
    MAX_PARTS: usize = 4, "phases", "ours",
        "A phase is divided into at most this many";
    TINY_BURST: f64 = 1e-3, "share of the largest", "ours",
        "Bursts with less volume, and never busy, are left out";
    MAX_BURSTS: usize = 1 << 12, "bursts", "ours: bounds the cost",
        "More bursts are not told apart; the shortest pauses are then taken as none";
    MAX_GROUPED: usize = 1 << 9, "phases", "ours: bounds the cost",
        "Groupings of bursts into more phases are not looked for";
    MAX_GROUPINGS: usize = 8, "groupings", "ours",
        "At most this many ways of grouping by pauses are kept";
    GROUP_OCTAVES: f64 = 0.15, "octaves", "ours",
        "Pauses between phases are longer than those inside by at least this";
    VOLUME_OCTAVES: f64 = 0.5, "octaves", "ours",
        "The same for groups of equal volume";
    PART_TOLERANCE: f64 = 0.06, "share of a part", "ours",
        "How far from its place a burst that ends a part of equal volume may end";
    EXACT_PART: f64 = 0.01, "share of a part", "ours: from samples, volumes are not known better",
        "Parts of the same volume, torn into bursts, end within this of where they must";
    TORN_PHASES: usize = 6, "phases", "ours: fewer are easily equal by chance",
        "At least this many phases are torn …";
    TORN_ALIKE: f64 = 0.75, "share of the phases", "ours",
        "… of which at most this share are made of the same number of bursts …";
    TORN_SURPRISE: f64 = 6.0, "nats", "ours: chance does it once in 400 times",
        "… and chance would have so many equal parts with a probability of e to the minus this";
    FINEST_SHARE: usize = 64, "shares", "ours: finer ones are not told apart",
        "Bursts that are no multiples of a larger share of a phase are taken as multiples of this one";
    TORN_EVEN: f64 = 0.1, "coefficient of variation", "ours",
        "Torn phases come at uneven distances, for each waits for the last rank: what varies by less is a group of others";
    TORN_IRREGULAR: f64 = 0.75, "irregularity", "simulated: of ten phases at random instants so even are 3 in 1000, of six 1 in 100",
        "… but they are far from random";
    CUT_SHARE: f64 = 0.6, "share of the usual volume", "ours",
        "A first phase that begins with the window and has less is cut off by it";
    LEAST_WITH_CUT: usize = 4, "phases", "ours: two distances must be left",
        "Of at least this many, the first gives no distance if it begins with a window that may have cut it";
    CLEAR: f64 = 7.0, "octaves times phases", "in noise a count of n holds over 1.44/n octaves on average; five times that is rare (e⁻⁵)",
        "A count that holds over this many octaves, divided by the count, is clear";
    FEW: f64 = 8.0, "phases", "ours",
        "Fewer phases are few: they are easily even by chance";
    FREE_VOLUME: f64 = 0.1, "coefficient of variation", "ours",
        "Volumes may differ by this much before they count against a list";
    VOLUME_SCALE: f64 = 0.3, "coefficient of variation", "ours",
        "Volumes that differ by this much more double what the distances must make up for";
    LONGEST_FIRST: f64 = 4.0, "usual volumes", "HACC-IO: 2.5 to 4",
        "A larger first phase is several phases; up to here it is one with initialisation";
    LONGEST_LAST: f64 = 1.5, "usual volumes", "ours",
        "A larger last phase is several phases";
    EQUAL_VOLUMES: f64 = 0.15, "coefficient of variation", "ours",
        "Phases whose volumes vary by less are equal: groups of them are no better for being equal";
    SAME_VOLUMES: f64 = 0.02, "coefficient of variation", "ours: chance does not make parts of phases so equal",
        "Phases whose volumes vary by less are whole: a finer list with unequal ones divides some of them";
    MAX_CYCLE: usize = 4, "phases", "ours",
        "Phases of at most this many kinds in turn are looked for";
    PATTERN_FLOOR: f64 = 0.05, "logarithm, or share of a distance", "ours",
        "Volumes, lengths and distances that differ by less are the same";
    PATTERN_GAIN: f64 = 8.0, "nats", "ours: 3 % of lists of random volumes have as much",
        "A cycle of kinds must explain the phases better by this much";
    SMALL_CEILING: f64 = 0.5, "share of the usual bandwidth of busy samples", "ours",
        "Small phases are looked for with the bandwidth cut at this";
    SPREAD_CEILING: f64 = 3.0, "factor", "ours",
        "… if the bandwidth that half of the bytes exceed is higher than that by this factor";
    NATURAL_OCTAVES: f64 = 0.5, "octaves", "ours",
        "A coarser list that holds a finer one must hold over this many";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_threshold_has_a_unit_a_meaning_and_a_source() {
        for threshold in TABLE {
            assert!(threshold.value > 0.0, "{threshold:?}");
            assert!(
                !threshold.unit.is_empty() && threshold.meaning.len() > 10 && !threshold.source.is_empty()
            );
        }
    }
}
