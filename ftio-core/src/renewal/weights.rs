//! What speaks for an answer, and what it weighs.
//!
//! The same features for every reading, list and hypothesis. What does not apply is 0. The weights are fitted
//! by `scripts/fit`: a conditional logit over the rows of a trace, every kind of made-up signal having the
//! same weight, with a penalty that draws them towards those of a prototype (on 116 kinds of its own), and
//! the sign of each fixed by its meaning. The two numbers of the calibration are from kinds left out.

/// What the sign of a weight has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It can only speak for a rhythm.
    For,
    /// It can only speak against one.
    Against,
    /// Either.
    Free,
    /// Either, and it is not drawn towards 0.
    Constant,
}

/// A feature, what it weighs, and what it means.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Weight {
    /// Its name.
    pub name: &'static str,
    /// Its weight.
    pub value: f64,
    /// What its sign has to be.
    pub sign: Sign,
    /// What it is.
    pub meaning: &'static str,
}

macro_rules! features {
    ($($feature:ident $name:literal $value:literal $sign:ident $meaning:literal;)*) => {
        /// A feature.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Feature {
            $(#[doc = $meaning] $feature,)*
        }

        /// The weights, in the order of the features.
        pub const WEIGHTS: &[Weight] = &[
            $(Weight { name: $name, value: $value, sign: Sign::$sign, meaning: $meaning },)*
        ];
    };
}

features! {
    Rhythm "rhythm" -11.8053 Constant "a constant, once a rhythm";
    Members "members" 0.3421 For "log₂ of the number of members";
    Few "few" -1.4119 Against "log₂(6 / members), if there are fewer";
    Even "even" 0.0471 Free "−log₂ of the spread σ of the distances";
    Loose "loose" -0.8814 Against "how far it is above 0.35, in octaves";
    Likelihood "likelihood" 0.1966 For "log₂(1 + log-likelihood ratio)";
    LikelihoodEach "likelihood_each" 0.1922 For "log-likelihood ratio of each link";
    PausedTime "paused_time" -3.3858 Against "share of the time in pauses";
    LatePauses "late_pauses" -28.252 Against "share of the links that are pauses of less than two periods";
    Strays "strays" -2.0829 Against "share of the phases that are no members";
    StraysApart "strays_apart" -3.8555 Against "the same, if they come at other times than the members";
    RunsAlike "runs_alike" -1.0956 Against "log₂ of the number of runs alike between gaps";
    Volume "volume" 0.952 For "share of the bytes in members";
    UnevenLoose "uneven_loose" -4.1577 Against "spread of the log-volumes times σ";
    UnevenFew "uneven_few" -3.7188 Against "spread of the log-volumes times `few`";
    EqualVolumes "equal_volumes" 1.0602 For "log₂ of the surprise of equal volumes, times the share of members";
    EqualLoose "equal_loose" -2.5839 Against "`equal_volumes` times how far σ is above a half, in octaves";
    Cover "cover" 1.8464 For "share of the active time from first to last member";
    Front "front" 1.4788 Free "what of the active time comes before the first member";
    Correlation "correlation" 2.4093 For "autocorrelation one period later";
    Shorter "shorter" -1.3845 Against "how much higher it is at a shorter hypothesis";
    Longer "longer" -0.2298 Against "how much higher it is at a longer hypothesis";
    Octaves "octaves" 0.8801 For "octaves of scale over which the list holds";
    Votes "votes" 0.2024 For "octaves of all lists that favour this period";
    VoteShare "vote_share" 1.305 For "the same as a share of all";
    Power "power" 3.2718 For "√ of the power at 1/T and its multiples, against the best";
    Mean "mean" -2.2096 Free "all phases are members";
    Drift "drift" 0.0 Against "the period grows or shrinks";
    DriftLoose "drift_loose" -4.9101 Against "`drift` times σ";
    Change "change" -3.6785 Against "several periods follow one another";
    ChangeStep "change_step" 2.3247 For "the smallest step between them, in octaves";
    ChangeLikelihood "change_likelihood" 1.917 Free "`change` times `likelihood_each`";
    ChangePower "change_power" -2.5376 Free "`change` times `power`";
    ChangeOctaves "change_octaves" 0.5794 Free "`change` times `octaves`";
    ChangeMembers "change_members" -0.9386 Free "`change` times `members`";
    Coarse "coarse" -20.3465 Against "distance of the samples, in periods, above an eighth";
    Reading "reading" -0.7068 Against "any reading but the whole";
    Small "small" -1.8218 Against "the largest bursts are left out";
    Root "root" -1.2707 Against "the fourth root of the bandwidth";
    PartFew "part_few" -2.0812 Against "a part of the window with few members";
    PartLeft "part_left" -5.4059 Against "the bytes beside that part";
    Wave "wave" -5.3981 Constant "a line of the spectrum";
    WavePower "wave_power" 3.3884 For "√ of the power of the line and its multiples";
    WaveRival "wave_rival" 2.3891 For "log₂ of its z against the next line";
    WaveFew "wave_few" -5.8076 Against "log₂(12 / phases), if there are fewer";
    WaveSteady "wave_steady" 0.9079 For "its weakest quarter of the window against the mean";
    WaveCoarse "wave_coarse" -5.9419 Against "distance of the samples, in periods of the line";
    Pair "pair" -4.0782 Constant "two rhythms at once";
    PairSizes "pair_sizes" -3.7243 Against "the slow phases are not larger than the fast ones";
    PairOverlap "pair_overlap" 4.3938 For "share of the time in which both go on";
    PairDouble "pair_double" -6.8566 Against "one period is twice the other";
}

/// Logit of the confidence: slope and offset against that of the probability.
pub const CALIBRATION: (f64, f64) = (0.843, 0.147);

/// How many features there are.
pub const COUNT: usize = WEIGHTS.len();

/// What speaks for an answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Features(pub [f64; COUNT]);

impl Default for Features {
    fn default() -> Self {
        Features([0.0; COUNT])
    }
}

impl std::ops::Index<Feature> for Features {
    type Output = f64;

    fn index(&self, feature: Feature) -> &f64 {
        &self.0[feature as usize]
    }
}

impl std::ops::IndexMut<Feature> for Features {
    fn index_mut(&mut self, feature: Feature) -> &mut f64 {
        &mut self.0[feature as usize]
    }
}

impl Features {
    /// With these values.
    pub fn of(values: &[(Feature, f64)]) -> Self {
        let mut features = Features::default();
        values.iter().for_each(|&(feature, value)| features[feature] = value);
        features
    }

    /// Those of two rhythms together.
    pub fn and(&self, other: &Features) -> Self {
        Features(std::array::from_fn(|i| self.0[i] + other.0[i]))
    }

    /// The weighted sum.
    pub fn score(&self, weights: &[f64; COUNT]) -> f64 {
        self.0.iter().zip(weights).map(|(feature, weight)| feature * weight).sum()
    }
}

/// The weights as they are fitted.
pub fn fitted() -> [f64; COUNT] {
    std::array::from_fn(|i| WEIGHTS[i].value)
}
