//! The categories of the paper's Table I, and sets of them.
//!
//! Table I names periodicity without a direction, but its Table II counts periodic *writes*. So each of these
//! exists three times: `read_periodic…`, `write_periodic…`, and `periodic…` for either.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Which way bytes went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From files.
    Read,
    /// To files.
    Write,
}

impl Direction {
    /// Both.
    pub const ALL: [Direction; 2] = [Direction::Read, Direction::Write];

    /// "read", "write".
    pub fn name(self) -> &'static str {
        match self {
            Direction::Read => "read",
            Direction::Write => "write",
        }
    }
}

/// When most of the bytes of a direction were moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Temporality {
    /// In the first quarter.
    OnStart,
    /// In the last quarter.
    OnEnd,
    /// Hardly any in the first quarter.
    AfterStart,
    /// Hardly any in the last quarter.
    BeforeEnd,
    /// In the two quarters between.
    AfterStartBeforeEnd,
    /// About the same in each quarter.
    Steady,
    /// Too few to be looked at.
    Insignificant,
}

/// The order of magnitude of a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Magnitude {
    /// Seconds.
    Second,
    /// Minutes.
    Minute,
    /// Hours.
    Hour,
    /// Days.
    DayOrMore,
}

/// How much of a period its operations take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Busy {
    /// Little.
    Low,
    /// Most of it.
    High,
}

/// What the metadata server had to bear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Load {
    /// A second with very many requests.
    HighSpike,
    /// Many requests throughout.
    HighDensity,
    /// Several seconds with many requests.
    MultipleSpikes,
    /// Fewer requests than ranks.
    InsignificantLoad,
}

/// One category; the number is its bit in a [`Categories`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Category(u8);

const NAMES: [&str; 39] = [
    "read_on_start",
    "read_on_end",
    "read_after_start",
    "read_before_end",
    "read_after_start_before_end",
    "read_steady",
    "read_insignificant",
    "write_on_start",
    "write_on_end",
    "write_after_start",
    "write_before_end",
    "write_after_start_before_end",
    "write_steady",
    "write_insignificant",
    "read_periodic",
    "read_periodic_second",
    "read_periodic_minute",
    "read_periodic_hour",
    "read_periodic_day_or_more",
    "read_periodic_low_busy_time",
    "read_periodic_high_busy_time",
    "write_periodic",
    "write_periodic_second",
    "write_periodic_minute",
    "write_periodic_hour",
    "write_periodic_day_or_more",
    "write_periodic_low_busy_time",
    "write_periodic_high_busy_time",
    "periodic",
    "periodic_second",
    "periodic_minute",
    "periodic_hour",
    "periodic_day_or_more",
    "periodic_low_busy_time",
    "periodic_high_busy_time",
    "metadata_high_spike",
    "metadata_high_density",
    "metadata_multiple_spikes",
    "metadata_insignificant_load",
];

/// Where periodicity begins in the table, and how many categories it has for each of read, write and either.
const PERIODIC: u8 = 14;
const PERIODIC_EACH: u8 = 7;
const METADATA: u8 = PERIODIC + 3 * PERIODIC_EACH;

impl Category {
    /// Every category, in the order in which results list them.
    pub fn all() -> impl DoubleEndedIterator<Item = Category> + Clone {
        (0..NAMES.len() as u8).map(Category)
    }

    /// How many there are.
    pub const COUNT: usize = NAMES.len();

    /// Its name.
    pub fn name(self) -> &'static str {
        NAMES[usize::from(self.0)]
    }

    /// Its place in [`all`](Category::all).
    pub fn index(self) -> usize {
        usize::from(self.0)
    }

    /// Whether it is one of those without a direction that say "read or write", which follow from others.
    pub fn is_derived(self) -> bool {
        (PERIODIC + 2 * PERIODIC_EACH..METADATA).contains(&self.0)
    }

    /// When a direction moved its bytes.
    pub fn temporality(direction: Direction, temporality: Temporality) -> Category {
        Category(direction as u8 * 7 + temporality as u8)
    }

    /// A direction is periodic.
    pub fn periodic(direction: Direction) -> Category {
        Category(PERIODIC + direction as u8 * PERIODIC_EACH)
    }

    /// With a period of that magnitude.
    pub fn magnitude(direction: Direction, magnitude: Magnitude) -> Category {
        Category(Self::periodic(direction).0 + 1 + magnitude as u8)
    }

    /// And so much of it busy.
    pub fn busy(direction: Direction, busy: Busy) -> Category {
        Category(Self::periodic(direction).0 + 5 + busy as u8)
    }

    /// A load on the metadata server.
    pub fn load(load: Load) -> Category {
        Category(METADATA + load as u8)
    }
}

/// A set of categories.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Categories(u64);

impl Categories {
    /// Add one; of a direction that is periodic also what says so without a direction.
    pub fn insert(&mut self, category: Category) {
        self.0 |= 1 << category.0;
        if (PERIODIC..PERIODIC + 2 * PERIODIC_EACH).contains(&category.0) {
            self.0 |= 1 << (PERIODIC + 2 * PERIODIC_EACH + (category.0 - PERIODIC) % PERIODIC_EACH);
        }
    }

    /// Is it one of them?
    pub fn contains(self, category: Category) -> bool {
        self.0 & (1 << category.0) != 0
    }

    /// Those in the set, in order.
    pub fn iter(self) -> impl Iterator<Item = Category> {
        Category::all().filter(move |category| self.contains(*category))
    }

    /// Their names.
    pub fn names(self) -> Vec<&'static str> {
        self.iter().map(Category::name).collect()
    }
}

impl FromIterator<Category> for Categories {
    fn from_iter<I: IntoIterator<Item = Category>>(categories: I) -> Self {
        let mut set = Categories::default();
        categories.into_iter().for_each(|category| set.insert(category));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_category_has_its_name() {
        use Direction::{Read, Write};
        let name = Category::name;
        assert_eq!(name(Category::temporality(Read, Temporality::OnStart)), "read_on_start");
        assert_eq!(name(Category::temporality(Write, Temporality::Insignificant)), "write_insignificant");
        assert_eq!(name(Category::periodic(Read)), "read_periodic");
        assert_eq!(name(Category::magnitude(Write, Magnitude::DayOrMore)), "write_periodic_day_or_more");
        assert_eq!(name(Category::busy(Write, Busy::High)), "write_periodic_high_busy_time");
        assert_eq!(name(Category::load(Load::HighSpike)), "metadata_high_spike");
        assert_eq!(name(Category::load(Load::InsignificantLoad)), "metadata_insignificant_load");
        assert_eq!(Category::all().filter(|category| category.is_derived()).count(), 7);
    }

    #[test]
    fn periodic_without_a_direction_follows() {
        let set: Categories = [Category::magnitude(Direction::Write, Magnitude::Hour)].into_iter().collect();
        assert_eq!(set.names(), ["write_periodic_hour", "periodic_hour"]);
    }
}
