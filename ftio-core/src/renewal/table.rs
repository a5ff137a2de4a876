//! Every number that is set by hand, with its reason: [`NUMBERS`]. Nothing else is: what speaks for an answer
//! is weighed by the [weights](crate::renewal::weights), which are fitted.
//!
//! A few numbers are enough, for most bounds share them: it matters that a twentieth is little, and hardly
//! whether it is a twentieth or a sixteenth. What each bounds is said in [`USES`].

use std::f64::consts::{LN_2, LN_10};

/// A number and why it has that value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Its name.
    pub name: &'static str,
    /// Why it has the value it has.
    pub reason: &'static str,
}

macro_rules! table {
    ($all:ident, $what:literal: $($name:ident: $type:ty = $value:expr, $reason:literal;)*) => {
        $(
            #[doc = $reason]
            pub const $name: $type = $value;
        )*

        #[doc = $what]
        pub const $all: &[Entry] = &[$(Entry { name: stringify!($name), reason: $reason },)*];
    };
}

table! {
    NUMBERS, "The numbers, from small to large.":
    HAIR: f64 = 1e-9, "Less is nothing: quotients and logarithms stay finite; a nanosecond";
    CERTAIN: f64 = 1e-6, "Nothing is more certain";
    LEAST_SPREAD: f64 = 1e-4, "Pieces vary by 1 %, at least";
    TINY: f64 = 1e-3, "Bursts with less of the largest volume, and never busy, are left out";
    EXACT_PART: f64 = 0.002, "Places of equal parts are not known better";
    TRACES: f64 = 0.005, "A two-hundredth is a trace: of bytes, of the level, of probability";
    EVENEST_SIGMA: f64 = 0.008, "Distances that vary by less are as even as any";
    HUNDREDTH: f64 = 0.01, "A hundredth is no change";
    FIFTIETH: f64 = 0.02, "A fiftieth is hardly anything";
    SAME: f64 = 0.025, "Periods closer than this are one";
    NEAR: f64 = 0.03, "Three hundredths are near";
    PRIOR: f64 = 0.04, "Distances vary by so much before any is seen (weight: two distances)";
    TWENTIETH: f64 = 0.05, "A twentieth is little";
    ABOUT: f64 = 0.06, "About the same place";
    SIGMA_FIRST: f64 = 0.08, "First guess of the variation of distances";
    TENTH: f64 = 0.1, "A tenth is some";
    SPREAD: f64 = 0.15, "What is alike differs by so much";
    LOOSEST: f64 = 0.2, "Slots overlap where distances vary by more";
    QUARTER: f64 = 0.25, "A quarter is a good part";
    NEARLY_THIRD: f64 = 0.3, "A little less than a third";
    THIRD: f64 = 1.0 / 3.0, "A third";
    MANY_SHARE: f64 = 0.35, "More than a third is too much";
    SECTION: f64 = 0.382, "The golden section";
    SOME_SHARE: f64 = 0.4, "Less than half";
    HALF_LAGS: f64 = 0.55, "Lags up to half of the window";
    MORE_THAN_HALF: f64 = 0.6, "More than half";
    MANY_STRAYS: f64 = 0.75, "Three in four";
    MOST: f64 = 0.8, "Eight in ten are most";
    NEARLY_ALL: f64 = 0.9, "Nine in ten are nearly all";
    ROOT_OF_SIXTH: f64 = 0.41, "√2 of the deviation of a uniform number";
    EASED: f64 = 1.1, "Distances less excess have to be so much more even";
    PAIR_APART: f64 = 1.15, "Periods of two rhythms differ by this factor";
    ERRORS: f64 = 1.25, "Periods closer than so many standard errors of the looser one are one";
    LIKE_GAIN: f64 = 1.3, "Volumes judge where those of all spread so many times as much as alike ones";
    BOUNDED: f64 = 1.5, "Half as much again; what spreads further counts as so far";
    ONE_AND_MORE: f64 = 1.6, "Further is another one";
    TWO_SAMPLES: f64 = 2.2, "Periods of fewer samples cannot be told from others";
    PAUSE: f64 = 2.5, "−ln of the probability of a pause, one link in 12; and so many times is too long";
    THREE: usize = 3, "Three phases are the fewest, three times is long, three rounds are enough";
    NOISE: f64 = 3.5, "Quiet ends so many robust deviations above the background";
    FOUR: usize = 4, "Four are enough, and so many of each are tried";
    FIVE: usize = 5, "A rhythm beside another goes on for five periods";
    SIX: usize = 6, "Six are no longer few, or are as many as count";
    SEVEN: usize = 7, "Fewer phases do not tell a change from chance; 128 members, in octaves";
    EIGHT: usize = 8, "Fewer values show nothing: chance does it once in 256 times";
    OUTLYING: f64 = 10.0, "Squared residuals of more variances are out of the question";
    DOZEN: usize = 12, "A dozen are as many as matter";
    SIXTEEN: usize = 16, "Bins of a phase: starts are known to 6 % of it";
    STEPS: usize = 24, "Steps in which something is looked for: bounds the cost";
    BINS_OF_PERIOD: f64 = 32.0, "Bins of a period in which it is refined";
    PARTS: usize = 64, "Parts of a period, and bins at least; more are cut step by step: bounds the cost";
    FINE_SCALES: f64 = 100.0, "Scales below this part of the period say nothing about phases";
    DRIFT_PAIRS: usize = 200, "Of more distances, fewer pairs: bounds the cost";
    GROUPED: usize = 1 << 9, "Groupings into more phases, and more pairs, are not looked for: bounds the cost";
    COUNTED: usize = 1 << 12, "Bins in which maxima are counted, and most bursts: bounds the cost";
    FINE_BINS: usize = 1 << 14, "Bins over the window: a period of 1/1000 of it still has 16";
    MOST_BINS: usize = 1 << 17, "Most bins: bounds the cost";
}

table! {
    USES, "What they bound, in the order of the steps.":
    // The signal.
    PER_PHASE: usize = SIXTEEN, "Bins for each phase: starts are known to 6 % of a phase";
    FEWEST_BINS: usize = EIGHT, "Fewer values have no rhythm";
    SHORTEST: f64 = HAIR, "A nanosecond, in which a request without a length transfers; and a hair";
    CONSTANT: f64 = TWENTIETH, "A signal that varies by less has no phases";
    SAMPLE_HELD: f64 = BOUNDED, "A sample holds for so many usual distances at most, where one is missing";
    STEADY_CLOCK: f64 = HUNDREDTH, "Distances of samples that differ by less are equal";
    FALL: f64 = TENTH, "A counter falls to this share of its rise: it was set back";
    MOST_FALLS: f64 = FIFTIETH, "… and no more often than at this share of the samples";
    BACK_TO_FIRST: usize = EIGHT, "… and it rises so many times for each fall";
    LEAST_RISES: usize = EIGHT, "… and so often besides: chance does it once in 256 times";
    FLAT: f64 = HAIR, "Less is flat";
    // Readings.
    PEDESTAL: f64 = TWENTIETH, "The quantile of the bandwidth that flows always, and belongs to no phase";
    LEAST: usize = THREE, "Two phases have one distance, which says nothing";
    BIGGEST: usize = FOUR, "At most so many huge transfers are left out";
    HIGH: f64 = 1.0 / 2.0, "The quantile of the busy samples at which values are cut";
    ROOT: f64 = QUARTER, "The fourth root makes decades factors";
    CHANGED: f64 = HUNDREDTH, "A reading that changes less of the bytes is the whole again";
    SILENCE: f64 = THIRD, "A silence of a third of the window: the larger part is looked at alone";
    PART_OF_WHOLE: f64 = NEARLY_ALL, "A part of nearly all is the whole again";
    PART_EDGE: f64 = HUNDREDTH, "What belongs to a part around it";
    // Quiet and busy.
    BUSY: f64 = QUARTER, "The share of the level from which on a bin is busy";
    SILENT: f64 = TRACES, "The share of the level that is always quiet";
    QUIET_BELOW_BUSY: f64 = NEARLY_ALL, "Quiet ends below busy";
    // Lists of phases.
    LEAD: usize = THREE, "A rise so many times as long as usual has other traffic before it";
    LEAD_BINS: usize = FOUR, "… and so many bins more";
    HEADER: usize = THREE, "A small burst belongs to a phase if the pause before it is so many times that after it";
    HEADERS: usize = THREE, "At most so many of them";
    HEADER_VOLUME: f64 = FIFTIETH, "… with no more than this share of a phase";
    CUT: f64 = MORE_THAN_HALF, "A first phase that begins with the window and has less of the usual volume is cut by it";
    LEAST_UNCUT: usize = FOUR, "… if three others are left";
    NO_VOLUME: f64 = HAIR, "The least share of the largest volume: logarithms stay finite";
    LISTS: usize = EIGHT, "Groupings by pauses: those with the largest jump from one pause to the next";
    GROUP_OCTAVES: f64 = SPREAD, "Pauses between phases are longer than those inside by so much";
    FULL_OCTAVES: f64 = FOUR as f64, "More octaves say no more";
    LEAST_PARTS: usize = FOUR, "Three parts are easily equal";
    EQUAL: f64 = ABOUT, "A burst ends a part of equal volume this near to its place";
    EQUAL_OCTAVES: f64 = 1.0 / 2.0, "Pauses between parts of equal volume are longer by so much";
    SURPRISE: f64 = FOUR as f64, "Standard deviations by which equal parts are more than chance, for many are tried";
    // The renewal model.
    MISSING: usize = FOUR, "At most three phases in a row are missing";
    PAUSE_LEAST: f64 = MORE_THAN_HALF, "A pause is longer than most of a period";
    SIGMA: (f64, f64) = (EVENEST_SIGMA, LOOSEST), "Below, nothing is gained; above, slots overlap";
    EMPTY_FIRST: f64 = SPREAD, "First guess of the share of empty slots";
    EMPTY: (f64, f64) = (NEAR, SOME_SHARE), "Bounds of that share";
    LIKE: f64 = SPREAD, "Spread of the log-volumes of like phases";
    LIKE_SHARE: f64 = MOST, "Most members are alike";
    OTHER_DISTANCE: f64 = 2.0 * LN_2, "2 ln 2: what the choice of another distance costs, in variances";
    MANY_SINGLE: usize = FOUR, "So many links of one period tell it alone";
    RESCALED: std::ops::RangeInclusive<f64> = MORE_THAN_HALF..=ONE_AND_MORE, "A period that moves further is another one";
    FEWEST_STRAYS: f64 = 1.0 / 2.0, "Strays that are expected where none was seen …";
    STRAY_RATE: f64 = FIFTIETH, "… and as a share of the phases";
    LINK_COST: f64 = BOUNDED, "Half of ln n for each of three parameters";
    FIT_COST: f64 = LN_10, "ln 10: so many periods of a list are tried";
    NO_TIME: f64 = HAIR, "The least time, and the least squares: quotients stay finite";
    MODE_BINS: usize = FINE_BINS, "Distances over more decades have no mode";
    MODE_REACH: usize = SIX, "Three widths of a kernel, in bins of half a width";
    MODE_WIDTH: f64 = NEAR, "Width of the kernel for distances, in ln";
    PAIR_WIDTH: f64 = PRIOR, "… and for those of pairs";
    MODES: (usize, usize) = (THREE, FOUR), "How many modes of each are tried";
    FAR_DISTANCE: f64 = FOUR as f64, "Pairs further apart than so many long distances say nothing";
    FAR_QUANTILE: f64 = NEARLY_ALL, "A long distance is longer than this share";
    PAIRED: usize = GROUPED, "Of more phases, fewer pairs: bounds the cost";
    PAIR_ORDERS: (usize, usize) = (EIGHT, THREE), "Pairs of phases up to so many apart";
    PAIR_SPREAD: (f64, f64) = (TWENTIETH, 2.0), "Bounds of the spread of log-volumes";
    SHORTER: f64 = MOST, "Periods below this share of a short distance are not tried …";
    LONGER: f64 = BOUNDED, "… nor those above so many far ones";
    TAIL_SHARE: f64 = NEARLY_THIRD, "What outliers add to the spread of log-volumes";
    BOUNDED_SPREAD: f64 = BOUNDED, "… where that is bounded";
    LONG_LIST: usize = COUNTED, "A list of more phases needs one round less";
    PASSES: usize = THREE, "Rounds of estimating: more change nothing";
    RESOLVED: f64 = MANY_SHARE, "Starts are known to this share of the period, or it is not tried";
    WARPED: usize = SEVEN, "Fewer phases do not tell a change from chance";
    CLOSE_PERIODS: f64 = FIFTIETH, "Hypotheses of a list and form that are closer are one";
    KEEP: usize = FOUR, "Hypotheses of each list";
    MOST_PAUSES: f64 = MANY_SHARE, "A chain with a larger share of pauses is none";
    FULL: f64 = SOME_SHARE, "… or with fewer of its slots filled";
    MOST_STRAYS: f64 = MANY_STRAYS, "… or with more strays";
    DRIFT: (f64, f64) = (TENTH, 1.0 / 2.0), "Least drift in all, or step of a change, and most for each distance";
    DRIFT_APART: usize = THREE, "Slopes over a third of the distances and more";
    EXACTLY_CUT: usize = PARTS, "Of more distances, the best cuts one after another: bounds the cost";
    SEGMENTS: usize = SIX, "At most so many periods one after another";
    SPREAD_CUT: f64 = BOUNDED, "An outlying distance counts as so far from the usual one, in ln";
    // The spectrum.
    BLUR: f64 = TWENTIETH, "The autocorrelation is taken of the signal blurred by 5 % of the period …";
    BLUR_LEAST: f64 = SOME_SHARE, "… and by so much of a bin at least";
    BLUR_REACH: f64 = THREE as f64, "Three widths of a Gaussian";
    BLUR_PARTS: usize = DOZEN, "… in so many parts: bounds the cost";
    BLUR_LOST: f64 = FIFTIETH, "Where less than this is left, there was nothing but noise";
    NEAR_LAG: f64 = NEAR, "Lags so near count as one period";
    LAGS: usize = EIGHT, "… in so many steps: bounds the cost";
    FAR_LAG: f64 = NEARLY_ALL, "Longer lags have too few pairs";
    FEWEST_PAIRS: f64 = TENTH, "Lags with fewer pairs count as if they had so many";
    LINE_WIDTH: f64 = MORE_THAN_HALF, "A line reaches so many places of the window's own spectrum";
    MULTIPLES: usize = FOUR, "Multiples of a frequency that are looked at";
    ALIASED: f64 = FOUR as f64, "A period of fewer samples may as well be a shorter one …";
    TWIN: f64 = 1.0 / 2.0, "… which is half as probable";
    PARTS_OF_WINDOW: usize = FOUR, "A line holds in each quarter of the window";
    LINE_LEAST: f64 = 2.0, "Standard deviations from which on power is a line";
    LINE_APART: f64 = ONE_AND_MORE, "Lines that are nearer are one";
    LEAST_CYCLES: f64 = BOUNDED, "A line with fewer periods in the window is its shape";
    STRONGEST: usize = SIX, "Lines, and maxima of the autocorrelation at each resolution";
    RESOLUTIONS: u32 = SIX as u32, "From single bins to a thousand";
    BINS_OF_CORRELATION: usize = STEPS, "Fewer lags have no maxima to speak of";
    STANDS_OUT: f64 = TWENTIETH, "A maximum is so much higher than what comes before it …";
    CORRELATED: f64 = NEAR, "… and so high";
    SEEDS: usize = FOUR, "Lines that are tried as periods, and twice as many maxima";
    FEWEST_REFINED: usize = PARTS, "… and of the window";
    SAMPLES_OF_WAVE: f64 = PAUSE, "A multiple needs so many samples";
    REFINED: usize = STEPS + 1, "Frequencies that are tried";
    HALVINGS: usize = SIXTEEN, "… and sections after that";
    GOLDEN: f64 = SECTION, "Of the golden section";
    // What speaks for a hypothesis.
    EXACT: f64 = NEARLY_THIRD, "Starts are known to this share of a bin …";
    EXACT_SAMPLES: f64 = ROOT_OF_SIXTH, "… or of the distance of samples: √2 of the deviation of a uniform one";
    NO_POWER: f64 = HAIR, "Less power is none";
    FEW: f64 = SIX as f64, "Fewer members are few";
    FEW_OF_PART: f64 = SIXTEEN as f64, "… and of a part of the window";
    FEW_OF_WAVE: f64 = DOZEN as f64, "… and phases of a line";
    EVENEST: f64 = HUNDREDTH, "Distances are no more even than to 1 %";
    LOOSE: f64 = BOUNDED, "0.35, in octaves";
    MOST_MEMBERS: f64 = SEVEN as f64, "128 members, in octaves: more say no more";
    LIKELY: f64 = SIX as f64, "Nats a link: more say no more";
    UNLIKELY: f64 = -(THREE as f64), "… and fewer no less";
    UNEVEN: f64 = BOUNDED, "More spread of the log-volumes says no more";
    UNEVEN_AT: f64 = SOME_SHARE, "Distances that vary by more say no more of volumes";
    COARSEST: f64 = 1.0 / 2.0, "Two samples a period are the fewest";
    SHORTER_FROM: f64 = SPREAD, "A shorter hypothesis is no less than this share of the period …";
    SHORTER_TO: f64 = MOST, "… and no more than this";
    LONGER_FROM: f64 = BOUNDED, "A longer hypothesis is so many times as long";
    LATE: f64 = 2.0, "A pause of fewer periods may be a phase that is late";
    RUNS_LEAST: f64 = 2.0, "Runs of links without a gap, if there are as many …";
    RUNS_ALIKE: f64 = MOSTLY, "… and if so many of them are alike";
    WAVES: usize = 2, "Lines that are answers of their own";
    WAVE_SIGMA: f64 = TENTH, "What varies in them";
    PROMINENT: f64 = FOUR as f64, "… exceed the mean power by so many deviations";
    LONG_WAVE: f64 = FIVE as f64, "… and hold over so many periods";
    MULTIPLE: f64 = ABOUT, "So near to a whole number is a multiple …";
    MANY_TIMES: f64 = BOUNDED, "… but once";
    OWN_LINE: f64 = HUNDREDTH, "So near to a line is that line";
    RIVALS: (f64, f64) = (-2.0, FOUR as f64), "Octaves between lines: more say no more";
    DOUBT: f64 = TWENTIETH, "… and so much is always doubted";
    CLEAR: f64 = SEVEN as f64, "Octaves times phases of a clear list: chance has them with e⁻⁵";
    VOTE_LEAST: f64 = TENTH, "A list favours its period with so many octaves at least";
    VOTES: f64 = EIGHT as f64, "More votes say no more";
    // Two at once.
    PAIRS: usize = 2, "Hypotheses whose residual is searched for a second rhythm";
    OF_REST: usize = THREE, "Rhythms of it that are tried";
    LEAST_IN_PAIR: usize = FIVE, "Members of the first rhythm, at least";
    LEAST_IN_REST: usize = FOUR, "… and of the second";
    PHASE_SAMPLES: f64 = EIGHT as f64, "Samples a period, where phases are told apart";
    LEAST_REST: f64 = TRACES, "Less of the bytes is no rhythm";
    DOUBLE: f64 = NEAR, "So near to twice is twice";
    PROFILE: usize = PARTS, "Parts of a period in which phases are seen to be busy …";
    PROFILE_END: usize = 2, "… but for the last ones, in which the next may begin";
    MOSTLY: f64 = 1.0 / 2.0, "… if so many of them are";
    OVERHANG: f64 = NEARLY_THIRD, "A phase may be longer by this share";
    TYPICAL: f64 = PAUSE, "A phase that is so many times as long belongs to something else";
    // The answer.
    ANSWER: f64 = 1.0 / 2.0, "A period is given if it is more probable than not";
    MOST_ASKED: usize = STEPS, "Rows whose period is asked for: the others have no weight";
    SHARP_SAMPLES: f64 = SIXTEEN as f64, "Samples a period from which on starts are sharp";
    BETWEEN: f64 = TENTH, "Phases with pauses: no more than this share of their level flows between them";
    STRAIGHT: f64 = SPREAD, "A rhythm that varies more has no line of the spectrum";
    NEAR_LINE: f64 = ABOUT, "The line of a rhythm is so near, at least";
    // The forecast.
    EARLY: f64 = QUARTER, "A silence of so much of the period comes before a phase";
    EARLY_MEMBERS: f64 = MOST, "… in so many of the members";
    EARLY_VARIES: f64 = TWENTIETH, "… and the phase begins that much before, within so much of the period";
    MOST_ROWS: usize = DOZEN, "Rows that foretell";
    LEAST_ROW: f64 = TRACES, "… each with this probability at least";
    REST_ROW: f64 = FIFTIETH, "What is left goes to the list that stands out, if it is so much";
    EMPTY_SEEN: (f64, f64) = (NEARLY_THIRD, BOUNDED), "Empty slots that were seen before any, and slots";
    EMPTY_MOST: f64 = SOME_SHARE, "Most of the slots are full";
    EMPTY_MEAN: f64 = NEAR, "… and of a mean nearly all";
    VARIES_MOST: f64 = MORE_THAN_HALF, "Distances that vary by more are no distances";
    PRIOR_NEXT: f64 = FIFTIETH, "The same for the next start: intervals hold it eight times in ten";
    PRIOR_LIST: f64 = LOOSEST, "Variation of distances of a list without a rhythm, before any is seen";
    TWO_PHASES: f64 = QUARTER, "Variation of one distance";
    // Jobs with more phases than bins.
    AGREE: f64 = PRIOR, "Sections agree if their periods are so near";
    SECTION_RUNS: usize = EIGHT, "A section has so many phases at least";
    LEAST_GUESS: f64 = NEARLY_THIRD, "A guess of a section counts from this probability on";
    LIST_DOUBT: (f64, f64) = (SPREAD, HUNDREDTH), "Variation, and octaves, that any list may have";
}
