//! The constants of the decisions.

/// When files leave the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// In the quiet between phases.
    #[default]
    Quiet,
    /// As soon as they are closed, whatever the job does. To compare with.
    AtOnce,
    /// When the job has ended. To compare with.
    AtEnd,
}

/// What the user may choose.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// When files leave the buffer.
    pub when: When,
    /// Shortest distance that is kept from a phase, in seconds.
    pub least_guard: f64,
    /// The distance as a share of the period, if that is more.
    pub guard_share: f64,
    /// A period with less confidence than this is not acted upon.
    pub confidence: f64,
    /// At most so many bytes per second are copied; `None`: as many as possible.
    pub rate: Option<f64>,
    /// Above this share of the capacity the buffer has to be relieved …
    pub high: f64,
    /// … until no more than this share is used.
    pub low: f64,
    /// Remove files from the buffer once their copies were verified, if it has to be relieved.
    pub evict: bool,
    /// I/O of less than this share of a usual phase is no phase: a line in a log, say.
    pub noise: f64,
    /// Files that were read in this many phases before now stay out of the way of their readers.
    pub read_phases: usize,
    /// How often a file is tried that cannot be copied.
    pub attempts: u32,
    /// Files that were changed before this job time are not the job's, and stay where they are.
    pub not_before: Option<f64>,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            when: When::Quiet,
            least_guard: 1.0,
            guard_share: 0.1,
            confidence: 0.5,
            rate: None,
            high: 0.8,
            low: 0.6,
            evict: false,
            noise: 0.001,
            read_phases: 2,
            attempts: 3,
            not_before: None,
        }
    }
}

impl Settings {
    /// The distance to keep from phases that come with this period.
    pub fn guard(&self, period: Option<f64>) -> f64 {
        period.map_or(self.least_guard, |period| self.least_guard.max(self.guard_share * period))
    }
}
