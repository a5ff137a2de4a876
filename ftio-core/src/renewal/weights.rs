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
    Rhythm "rhythm" -11.6686 Constant "a constant, once a rhythm";
    Members "members" 0.3462 For "log₂ of the number of members";
    Few "few" -1.4281 Against "log₂(6 / members), if there are fewer";
    Even "even" 0.0435 Free "−log₂ of the spread σ of the distances";
    Loose "loose" -0.9008 Against "how far it is above 0.35, in octaves";
    Likelihood "likelihood" 0.2007 For "log₂(1 + log-likelihood ratio)";
    LikelihoodEach "likelihood_each" 0.1937 For "log-likelihood ratio of each link";
    PausedTime "paused_time" -3.4104 Against "share of the time in pauses";
    LatePauses "late_pauses" -17.1599 Against "share of the links that are pauses of less than two periods";
    Strays "strays" -2.0984 Against "share of the phases that are no members";
    StraysApart "strays_apart" -2.4169 Against "the same, if they come at other times than the members";
    RunsAlike "runs_alike" -0.739 Against "log₂ of the number of runs alike between gaps";
    Volume "volume" 0.9547 For "share of the bytes in members";
    UnevenLoose "uneven_loose" -4.1726 Against "spread of the log-volumes times σ";
    UnevenFew "uneven_few" -3.7156 Against "spread of the log-volumes times `few`";
    EqualVolumes "equal_volumes" 0.9454 For "log₂ of the surprise of equal volumes";
    Cover "cover" 1.8512 For "share of the active time from first to last member";
    Front "front" 1.4589 Free "what of the active time comes before the first member";
    Correlation "correlation" 2.4054 For "autocorrelation one period later";
    Shorter "shorter" -1.391 Against "how much higher it is at a shorter hypothesis";
    Longer "longer" -1.0609 Against "how much higher it is at a longer hypothesis";
    Octaves "octaves" 0.8757 For "octaves of scale over which the list holds";
    Votes "votes" 0.2064 For "octaves of all lists that favour this period";
    VoteShare "vote_share" 1.2703 For "the same as a share of all";
    Power "power" 3.2908 For "√ of the power at 1/T and its multiples, against the best";
    Mean "mean" -2.2287 Free "all phases are members";
    Drift "drift" 0.0 Against "the period grows or shrinks";
    DriftLoose "drift_loose" -5.6787 Against "`drift` times σ";
    Change "change" -3.6658 Against "several periods follow one another";
    ChangeStep "change_step" 2.3425 For "the smallest step between them, in octaves";
    ChangeLikelihood "change_likelihood" 1.9282 Free "`change` times `likelihood_each`";
    ChangePower "change_power" -2.5244 Free "`change` times `power`";
    ChangeOctaves "change_octaves" 0.633 Free "`change` times `octaves`";
    ChangeMembers "change_members" -0.9371 Free "`change` times `members`";
    Coarse "coarse" -19.8959 Against "distance of the samples, in periods, above a sixteenth";
    Reading "reading" -0.704 Against "any reading but the whole";
    Small "small" -1.8025 Against "the largest bursts are left out";
    Root "root" -1.2806 Against "the fourth root of the bandwidth";
    PartFew "part_few" -2.0856 Against "a part of the window with few members";
    PartLeft "part_left" -5.3282 Against "the bytes beside that part";
    Wave "wave" -5.6191 Constant "a line of the spectrum";
    WavePower "wave_power" 3.2968 For "√ of the power of the line and its multiples";
    WaveRival "wave_rival" 2.3625 For "log₂ of its z against the next line";
    WaveFew "wave_few" -5.7539 Against "log₂(12 / phases), if there are fewer";
    WaveSteady "wave_steady" 0.8567 For "its weakest quarter of the window against the mean";
    WaveCoarse "wave_coarse" -6.0744 Against "distance of the samples, in periods of the line";
    Pair "pair" -2.0416 Constant "two rhythms at once";
    PairSizes "pair_sizes" -3.7123 Against "the slow phases are not larger than the fast ones";
    PairOverlap "pair_overlap" 4.445 For "share of the time in which both go on";
    PairDouble "pair_double" -6.8874 Against "one period is twice the other";
}

/// Logit of the confidence: slope and offset against that of the probability.
pub const CALIBRATION: (f64, f64) = (0.855, 0.207);

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
