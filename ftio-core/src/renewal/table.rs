//! Every number that is set by hand, with its reason. Nothing else is: what speaks for an answer is weighed
//! by the [weights](crate::renewal::weights), which are fitted.

/// A number and why it has that value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Why it has the value it has.
    pub reason: &'static str,
}

macro_rules! table {
    ($($name:ident: $type:ty = $value:expr, $reason:literal;)*) => {
        $(
            #[doc = $reason]
            pub const $name: $type = $value;
        )*

        /// All numbers, in the order of the steps.
        pub const TABLE: &[Entry] = &[$(Entry { name: stringify!($name), reason: $reason },)*];
    };
}

table! {
    // The signal.
    FINE_BINS: usize = 1 << 14, "Bins over the window: a period of 1/1000 of it still has 16";
    MOST_BINS: usize = 1 << 17, "Most bins: bounds the cost";
    PER_PHASE: usize = 16, "Bins for each phase: starts are known to 6 % of a phase";
    FEWEST_BINS: usize = 8, "Fewer values have no rhythm";
    SHORTEST: f64 = 1e-9, "A nanosecond, in which a request without a length transfers; and a hair";
    CONSTANT: f64 = 0.05, "A signal that varies by less has no phases";
    SAMPLE_HELD: f64 = 1.5, "A sample holds for so many usual distances at most, where one is missing";
    STEADY_CLOCK: f64 = 0.01, "Distances of samples that differ by less are equal";
    FALL: f64 = 0.1, "A counter falls to this share of its rise: it was set back";
    MOST_FALLS: f64 = 0.02, "… and no more often than at this share of the samples";
    BACK_TO_FIRST: usize = 10, "… and it rises so many times for each fall";
    LEAST_RISES: usize = 8, "… and so often besides: chance does it once in 256 times";
    // Readings.
    PEDESTAL: f64 = 0.05, "The quantile of the bandwidth that flows always, and belongs to no phase";
    LEAST: usize = 3, "Two phases have one distance, which says nothing";
    BIGGEST: usize = 4, "At most so many huge transfers are left out";
    HIGH: f64 = 0.5, "The quantile of the busy samples at which values are cut";
    ROOT: f64 = 0.25, "The fourth root makes decades factors";
    CHANGED: f64 = 0.01, "A reading that changes less of the bytes is the whole again";
    SILENCE: f64 = 1.0 / 3.0, "A silence of a third of the window: the larger part is looked at alone";
    PART_OF_WHOLE: f64 = 0.9, "A part of nearly all is the whole again";
    PART_EDGE: f64 = 0.01, "What belongs to a part around it";
    // Quiet and busy.
    BUSY: f64 = 0.25, "The share of the level from which on a bin is busy";
    NOISE: f64 = 3.5, "Quiet ends so many robust deviations above the background";
    SILENT: f64 = 0.005, "The share of the level that is always quiet";
    QUIET_BELOW_BUSY: f64 = 0.9, "Quiet ends below busy";
    // Lists of phases.
    COUNTED: usize = 1 << 12, "Bins in which maxima are counted, and most bursts: bounds the cost";
    FINE_SCALES: f64 = 100.0, "Scales below this part of the period say nothing about phases";
    LEAD: usize = 3, "A rise so many times as long as usual has other traffic before it";
    LEAD_BINS: usize = 4, "… and so many bins more";
    HEADER: usize = 3, "A small burst belongs to a phase if the pause before it is so many times that after it";
    HEADERS: usize = 3, "At most so many of them";
    HEADER_VOLUME: f64 = 0.02, "… with no more than this share of a phase";
    CUT: f64 = 0.6, "A first phase that begins with the window and has less of the usual volume is cut by it";
    LEAST_UNCUT: usize = 4, "… if three others are left";
    NO_VOLUME: f64 = 1e-9, "The least share of the largest volume: logarithms stay finite";
    TINY: f64 = 1e-3, "Bursts with less of the largest volume, and never busy, are left out";
    GROUPED: usize = 1 << 9, "Groupings into more phases are not looked for: bounds the cost";
    LISTS: usize = 8, "Groupings by pauses: those with the largest jump from one pause to the next";
    GROUP_OCTAVES: f64 = 0.15, "Pauses between phases are longer than those inside by so much";
    FULL_OCTAVES: f64 = 4.0, "More octaves say no more";
    LEAST_PARTS: usize = 4, "Three parts are easily equal";
    EQUAL: f64 = 0.06, "A burst ends a part of equal volume this near to its place";
    EXACT_PART: f64 = 0.002, "Places are not known better";
    EQUAL_OCTAVES: f64 = 0.5, "Pauses between parts of equal volume are longer by so much";
    SURPRISE: f64 = 4.0, "Standard deviations by which equal parts are more than chance, for many are tried";
    // The renewal model.
    MISSING: usize = 4, "At most three phases in a row are missing";
    PAUSE: f64 = 2.5, "−ln of the probability of a pause: one link in 12";
    PAUSE_LEAST: f64 = 0.6, "A pause is longer than most of a period";
    SIGMA_FIRST: f64 = 0.08, "First guess of the variation of distances";
    SIGMA: (f64, f64) = (0.008, 0.2), "Below, nothing is gained; above, slots overlap";
    EMPTY_FIRST: f64 = 0.15, "First guess of the share of empty slots";
    EMPTY: (f64, f64) = (0.03, 0.45), "Bounds of that share";
    PRIOR: f64 = 0.04, "Distances vary by so much before any is seen (weight: two distances)";
    LIKE: f64 = 0.15, "Spread of the log-volumes of like phases";
    LIKE_GAIN: f64 = 1.3, "… where that of all is so many times as large, at least";
    LIKE_SHARE: f64 = 0.8, "Most members are alike";
    OTHER_DISTANCE: f64 = 1.4, "2 ln 2: what the choice of another distance costs, in variances";
    OUTLYING: f64 = 10.0, "Squared residuals of more variances are out of the question";
    MANY_SINGLE: usize = 4, "So many links of one period tell it alone";
    RESCALED: std::ops::RangeInclusive<f64> = 0.6..=1.6, "A period that moves further is another one";
    FEWEST_STRAYS: f64 = 0.5, "Strays that are expected where none was seen …";
    STRAY_RATE: f64 = 0.02, "… and as a share of the phases";
    LINK_COST: f64 = 1.5, "Half of ln n for each of three parameters";
    FIT_COST: f64 = 2.3, "ln 10: so many periods of a list are tried";
    NO_TIME: f64 = 1e-9, "The least time, and the least squares: quotients stay finite";
    EASED: f64 = 1.1, "Distances less excess have to be so much more even";
    TENTH: f64 = 0.1, "A tenth of the distances are shorter; and the edge of a histogram";
    MODE_BINS: usize = 20_000, "Distances over more decades have no mode";
    MODE_REACH: usize = 6, "Three widths of a kernel, in bins of half a width";
    MODE_WIDTH: f64 = 0.03, "Width of the kernel for distances, in ln";
    PAIR_WIDTH: f64 = 0.04, "… and for those of pairs";
    MODES: (usize, usize) = (3, 4), "How many modes of each are tried";
    FAR_DISTANCE: f64 = 4.0, "Pairs further apart than so many long distances say nothing";
    FAR_QUANTILE: f64 = 0.9, "A long distance is longer than this share";
    PAIRED: usize = 600, "Of more phases, fewer pairs: bounds the cost";
    PAIR_ORDERS: (usize, usize) = (8, 3), "Pairs of phases up to so many apart";
    PAIR_SPREAD: (f64, f64) = (0.05, 2.0), "Bounds of the spread of log-volumes";
    SHORTER: f64 = 0.8, "Periods below this share of a short distance are not tried …";
    LONGER: f64 = 1.5, "… nor those above so many far ones";
    TAIL_SHARE: f64 = 0.3, "What outliers add to the spread of log-volumes";
    BOUNDED_SPREAD: f64 = 1.5, "… where that is bounded";
    LONG_LIST: usize = 3000, "A list of more phases needs one round less";
    PASSES: usize = 3, "Rounds of estimating: more change nothing";
    RESOLVED: f64 = 0.35, "Starts are known to this share of the period, or it is not tried";
    WARPED: usize = 7, "Fewer phases do not tell a change from chance";
    CLOSE_PERIODS: f64 = 0.02, "Hypotheses of a list and form that are closer are one";
    KEEP: usize = 4, "Hypotheses of each list";
    MOST_PAUSES: f64 = 0.35, "A chain with a larger share of pauses is none";
    FULL: f64 = 0.55, "… or with fewer of its slots filled";
    MOST_STRAYS: f64 = 0.75, "… or with more strays";
    DRIFT: (f64, f64) = (0.1, 0.5), "Least drift in all, and most for each distance";
    DRIFT_PAIRS: usize = 200, "Of more distances, fewer pairs: bounds the cost";
    DRIFT_APART: usize = 3, "Slopes over a third of the distances and more";
    EXACTLY_CUT: usize = 60, "Of more distances, the best cuts one after another: bounds the cost";
    SEGMENTS: usize = 3, "At most so many periods one after another";
    LEAST_SPREAD: f64 = 1e-4, "Pieces vary by 1 %, at least";
    SPREAD_CUT: f64 = 1.5, "An outlying distance counts as so far from the usual one, in ln";
    // The spectrum.
    BLUR: f64 = 0.05, "The autocorrelation is taken of the signal blurred by 5 % of the period …";
    BLUR_LEAST: f64 = 0.4, "… and by so much of a bin at least";
    BLUR_REACH: f64 = 3.0, "Three widths of a Gaussian";
    BLUR_TAPS: i64 = 40, "… in so many steps: bounds the cost";
    BLUR_LOST: f64 = 0.02, "Where less than this is left, there was nothing but noise";
    NEAR_LAG: f64 = 0.03, "Lags so near count as one period";
    LAGS: i64 = 24, "… in so many steps: bounds the cost";
    FAR_LAG: f64 = 0.9, "Longer lags have too few pairs";
    FEWEST_PAIRS: f64 = 0.1, "Lags with fewer pairs count as if they had so many";
    LINE_WIDTH: f64 = 0.6, "A line reaches so many places of the window's own spectrum";
    MULTIPLES: usize = 4, "Multiples of a frequency that are looked at";
    TWO_SAMPLES: f64 = 2.2, "Periods of fewer samples cannot be told from others";
    PARTS_OF_WINDOW: usize = 4, "A line holds in each quarter of the window";
    LINE_LEAST: f64 = 2.0, "Standard deviations from which on power is a line";
    LINE_APART: f64 = 1.6, "Lines that are nearer are one";
    LEAST_CYCLES: f64 = 1.5, "A line with fewer periods in the window is its shape";
    STRONGEST: usize = 6, "Lines, and maxima of the autocorrelation at each resolution";
    RESOLUTIONS: u32 = 6, "From single bins to a thousand";
    BINS_OF_CORRELATION: usize = 24, "Fewer lags have no maxima to speak of";
    HALF_LAGS: f64 = 0.55, "Lags up to half of the window";
    STANDS_OUT: f64 = 0.05, "A maximum is so much higher than what comes before it …";
    CORRELATED: f64 = 0.03, "… and so high";
    SEEDS: usize = 4, "Lines that are tried as periods, and twice as many maxima";
    BINS_OF_PERIOD: f64 = 32.0, "Bins of a period in which it is refined";
    FEWEST_REFINED: usize = 64, "… and of the window";
    SAMPLES_OF_WAVE: f64 = 2.5, "A multiple needs so many samples";
    REFINED: usize = 25, "Frequencies that are tried";
    HALVINGS: usize = 16, "… and sections after that";
    GOLDEN: f64 = 0.382, "Of the golden section";
    // What speaks for a hypothesis.
    EXACT: f64 = 0.3, "Starts are known to this share of a bin …";
    EXACT_SAMPLES: f64 = 0.41, "… or of the distance of samples: √2 of the deviation of a uniform one";
    NO_POWER: f64 = 1e-12, "Less power is none";
    FEW: f64 = 6.0, "Fewer members are few";
    FEW_OF_PART: f64 = 16.0, "… and of a part of the window";
    FEW_OF_WAVE: f64 = 12.0, "… and phases of a line";
    EVENEST: f64 = 0.01, "Distances are no more even than to 1 %";
    VERY_EVEN: f64 = 3.0, "An eighth, in octaves";
    LOOSE: f64 = 1.5, "0.35, in octaves";
    MOST_MEMBERS: f64 = 7.0, "128 members, in octaves: more say no more";
    LIKELY: f64 = 6.0, "Nats a link: more say no more";
    UNLIKELY: f64 = -3.0, "… and fewer no less";
    UNEVEN: f64 = 1.5, "More spread of the log-volumes says no more";
    UNEVEN_AT: f64 = 0.4, "Distances that vary by more say no more of volumes";
    COARSEST: f64 = 0.5, "Two samples a period are the fewest";
    SHORTER_FROM: f64 = 0.15, "A shorter hypothesis is no less than this share of the period …";
    SHORTER_TO: f64 = 0.8, "… and no more than this";
    SKEWED: f64 = 2.0, "More skewness says no more";
    WAVES: usize = 2, "Lines that are answers of their own";
    WAVE_SIGMA: f64 = 0.1, "What varies in them";
    PROMINENT: f64 = 4.0, "… exceed the mean power by so many deviations";
    LONG_WAVE: f64 = 5.0, "… and hold over so many periods";
    MULTIPLE: f64 = 0.06, "So near to a whole number is a multiple …";
    MANY_TIMES: f64 = 1.5, "… but once";
    OWN_LINE: f64 = 0.01, "So near to a line is that line";
    RIVALS: (f64, f64) = (-2.0, 4.0), "Octaves between lines: more say no more";
    IRREGULAR: (f64, f64) = (0.15, 0.1), "What pauses, and empty slots and strays, add to the variance";
    EVEN_PHASES: f64 = 0.02, "Variation that any list may have";
    RATED_FEW: f64 = 8.0, "Fewer phases are easily even";
    DOUBT: f64 = 0.05, "… and so much is always doubted";
    FEW_DOUBT: f64 = 1.6, "… but of the fewest not more than so many times";
    CLEAR: f64 = 7.0, "Octaves times phases of a clear list: chance has them with e⁻⁵";
    LEAST_RATING: f64 = 1e-3, "Logarithms stay finite";
    CHANCE: [(f64, f64); 15] = [
        (1.0, 0.01),
        (2.0, 0.03),
        (3.0, 0.154),
        (4.0, 0.272),
        (5.0, 0.346),
        (6.0, 0.398),
        (8.0, 0.472),
        (10.0, 0.52),
        (12.0, 0.56),
        (15.0, 0.6),
        (19.0, 0.64),
        (25.0, 0.678),
        (40.0, 0.74),
        (60.0, 0.783),
        (100.0, 0.828),
    ], "Simulated: the variation of so many distances that one in ten random lists stays below";
    CHANCE_FAR: f64 = 0.172, "… and of more, with their root";
    VOTE_LEAST: f64 = 0.1, "A list favours its period with so many octaves at least";
    VOTES: f64 = 8.0, "More votes say no more";
    SAME: f64 = 0.025, "Periods closer than this are one";
    ERRORS: f64 = 1.25, "… or closer than so many standard errors of the looser one";
    // Two at once.
    PAIRS: usize = 2, "Hypotheses whose residual is searched for a second rhythm";
    OF_REST: usize = 3, "Rhythms of it that are tried";
    LEAST_IN_PAIR: usize = 5, "Members of the first rhythm, at least";
    LEAST_IN_REST: usize = 4, "… and of the second";
    PAIR_APART: f64 = 1.15, "Periods of two rhythms differ by this factor";
    PHASE_SAMPLES: f64 = 8.0, "Samples a period, where phases are told apart";
    LEAST_REST: f64 = 0.005, "Less of the bytes is no rhythm";
    DOUBLE: f64 = 0.03, "So near to twice is twice";
    PROFILE: usize = 64, "Parts of a period in which phases are seen to be busy …";
    PROFILE_END: usize = 2, "… but for the last ones, in which the next may begin";
    MOSTLY: f64 = 0.5, "… if so many of them are";
    OVERHANG: f64 = 0.3, "A phase may be longer by this share";
    TYPICAL: f64 = 2.5, "A phase that is so many times as long belongs to something else";
    // The answer.
    ANSWER: f64 = 0.5, "A period is given if it is more probable than not";
    MOST_ASKED: usize = 24, "Rows whose period is asked for: the others have no weight";
    CERTAIN: f64 = 1e-6, "Nothing is more certain";
    SHARP_SAMPLES: f64 = 16.0, "Samples a period from which on starts are sharp";
    STRAIGHT: f64 = 0.15, "A rhythm that varies more has no line of the spectrum";
    NEAR_LINE: f64 = 0.06, "The line of a rhythm is so near, at least";
    // The forecast.
    EARLY: f64 = 0.25, "A silence of so much of the period comes before a phase";
    EARLY_MEMBERS: f64 = 0.8, "… in so many of the members";
    EARLY_VARIES: f64 = 0.05, "… and the phase begins that much before, within so much of the period";
    MOST_ROWS: usize = 12, "Rows that foretell";
    LEAST_ROW: f64 = 0.005, "… each with this probability at least";
    REST_ROW: f64 = 0.02, "What is left goes to the list that stands out, if it is so much";
    EMPTY_SEEN: (f64, f64) = (0.3, 1.5), "Empty slots that were seen before any, and slots";
    EMPTY_MOST: f64 = 0.4, "Most of the slots are full";
    EMPTY_MEAN: f64 = 0.03, "… and of a mean nearly all";
    VARIES_MOST: f64 = 0.6, "Distances that vary by more are no distances";
    PRIOR_LIST: f64 = 0.2, "Variation of distances of a list without a rhythm, before any is seen";
    TWO_PHASES: f64 = 0.25, "Variation of one distance";
    LIST_DOUBT: (f64, f64) = (0.15, 0.01), "Variation, and octaves, that any list may have";
}
