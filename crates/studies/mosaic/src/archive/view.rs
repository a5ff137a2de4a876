//! A view of an archive: how many are of which category, and which categories go together.

use super::record::Valid;
use crate::category::{Category, Direction, Magnitude, Temporality};
use crate::run::Flow;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// A view of the archive.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct View {
    /// What is counted: applications or runs.
    pub count: u64,
    /// How many are of each category.
    pub categories: BTreeMap<&'static str, u64>,
    /// The paper's Table II, for both directions.
    pub table_2: ByDirection<Table2>,
    /// The paper's Table III.
    pub table_3: ByDirection<Table3>,
    /// How often which categories go together.
    pub jaccard: Jaccard,
    /// Of those of one category, the share that is of another: row by row, the row's category is given. The
    /// order is that of the Jaccard indices.
    pub conditional: Vec<Vec<f64>>,
    /// Share with at least one category that is not insignificant.
    pub described: f64,
    /// Whether FTIO agrees.
    pub witness: ByDirection<Agreement>,
}

/// Something for reads and for writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ByDirection<T> {
    /// Of reads.
    pub read: T,
    /// Of writes.
    pub write: T,
}

impl<T> ByDirection<T> {
    /// That of a direction.
    pub fn get(&self, direction: Direction) -> &T {
        match direction {
            Direction::Read => &self.read,
            Direction::Write => &self.write,
        }
    }

    fn get_mut(&mut self, direction: Direction) -> &mut T {
        match direction {
            Direction::Read => &mut self.read,
            Direction::Write => &mut self.write,
        }
    }
}

/// Shares of those that are periodic, and by which period. One with several periods is counted for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Table2 {
    /// Not periodic.
    pub non_periodic: f64,
    /// Periodic.
    pub periodic: f64,
    /// With a period of seconds.
    pub second: f64,
    /// Of minutes.
    pub minute: f64,
    /// Of hours.
    pub hour: f64,
    /// Of days.
    pub day_or_more: f64,
}

/// Shares of when bytes were moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct Table3 {
    /// Too few bytes.
    pub insignificant: f64,
    /// At the start.
    pub on_start: f64,
    /// At the end.
    pub on_end: f64,
    /// All the time.
    pub steady: f64,
    /// None of these: the five add up to 1.
    pub others: f64,
}

impl Table3 {
    /// What the paper lists for a direction: reads at the start, writes at the end …
    pub fn listed(&self, direction: Direction) -> f64 {
        if direction == Direction::Read { self.on_start } else { self.on_end }
    }

    /// … and what is left beside that, what is insignificant and what is steady.
    pub fn otherwise(&self, direction: Direction) -> f64 {
        self.others + if direction == Direction::Read { self.on_end } else { self.on_start }
    }
}

/// Jaccard indices: of those that are of one category or the other, the share that is of both.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct Jaccard {
    /// The categories that occur, in their order.
    pub categories: Vec<&'static str>,
    /// Row by row.
    pub matrix: Vec<Vec<f64>>,
}

/// What the two witnesses say of significant directions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, JsonSchema, Serialize)]
pub struct Agreement {
    /// Asked about.
    pub asked: u64,
    /// Both say periodic.
    pub both: u64,
    /// … and name the same period.
    pub same_period: u64,
    /// Only the segments do.
    pub only_mosaic: u64,
    /// Only FTIO does.
    pub only_ftio: u64,
    /// Neither does.
    pub neither: u64,
}

impl Agreement {
    /// Share of cases in which both say the same.
    pub fn share(&self) -> Option<f64> {
        (self.asked > 0).then(|| (self.both + self.neither) as f64 / self.asked as f64)
    }
}

/// Adds up a view.
#[derive(Clone, Debug)]
pub(super) struct Count {
    total: u64,
    of: Vec<u64>,
    pairs: Vec<u64>,
    witness: ByDirection<Agreement>,
    described: u64,
}

impl Count {
    pub fn new() -> Self {
        Count {
            total: 0,
            of: vec![0; Category::COUNT],
            pairs: vec![0; Category::COUNT * Category::COUNT],
            witness: ByDirection::default(),
            described: 0,
        }
    }

    pub fn add(&mut self, run: &Valid, weight: u64, within: f64) {
        self.total += weight;
        let categories: Vec<usize> = run.categories.iter().map(Category::index).collect();
        for &a in &categories {
            self.of[a] += weight;
            for &b in &categories {
                self.pairs[a * Category::COUNT + b] += weight;
            }
        }
        if run.categories.iter().any(|category| !category.name().contains("insignificant")) {
            self.described += weight;
        }
        for direction in Direction::ALL {
            let flow = run.findings.flow(direction);
            let Some(witness) = &flow.witness else { continue };
            let sum = self.witness.get_mut(direction);
            sum.asked += weight;
            match (flow.periodic.is_empty(), witness.periods.is_empty()) {
                (false, false) => {
                    sum.both += weight;
                    if witness.periods.iter().any(|period| is_named(flow, *period, within)) {
                        sum.same_period += weight;
                    }
                }
                (false, true) => sum.only_mosaic += weight,
                (true, false) => sum.only_ftio += weight,
                (true, true) => sum.neither += weight,
            }
        }
    }

    pub fn finish(&self) -> View {
        let share = |category: Category| {
            if self.total == 0 { 0.0 } else { self.of[category.index()] as f64 / self.total as f64 }
        };
        let table_2 = |direction| {
            let of = |magnitude| share(Category::magnitude(direction, magnitude));
            let periodic = share(Category::periodic(direction));
            Table2 {
                non_periodic: if self.total == 0 { 0.0 } else { 1.0 - periodic },
                periodic,
                second: of(Magnitude::Second),
                minute: of(Magnitude::Minute),
                hour: of(Magnitude::Hour),
                day_or_more: of(Magnitude::DayOrMore),
            }
        };
        let table_3 = |direction| {
            let of = |temporality| share(Category::temporality(direction, temporality));
            let insignificant = of(Temporality::Insignificant);
            let steady = of(Temporality::Steady);
            let (on_start, on_end) = (of(Temporality::OnStart), of(Temporality::OnEnd));
            let known = insignificant + steady + on_start + on_end;
            let others = if self.total == 0 { 0.0 } else { (1.0 - known).max(0.0) };
            Table3 { insignificant, on_start, on_end, steady, others }
        };
        let present: Vec<Category> = Category::all()
            .filter(|category| !category.is_derived() && self.of[category.index()] > 0)
            .collect();
        let index = |a: &Category, b: &Category| {
            let both = self.pairs[a.index() * Category::COUNT + b.index()];
            let either = self.of[a.index()] + self.of[b.index()] - both;
            if either == 0 { 0.0 } else { both as f64 / either as f64 }
        };
        let given = |a: &Category, b: &Category| {
            self.pairs[a.index() * Category::COUNT + b.index()] as f64 / self.of[a.index()] as f64
        };
        View {
            conditional: present.iter().map(|a| present.iter().map(|b| given(a, b)).collect()).collect(),
            described: if self.total == 0 { 0.0 } else { self.described as f64 / self.total as f64 },
            count: self.total,
            categories: Category::all()
                .filter(|category| self.of[category.index()] > 0)
                .map(|category| (category.name(), self.of[category.index()]))
                .collect(),
            table_2: ByDirection { read: table_2(Direction::Read), write: table_2(Direction::Write) },
            table_3: ByDirection { read: table_3(Direction::Read), write: table_3(Direction::Write) },
            jaccard: Jaccard {
                categories: present.iter().map(|category| category.name()).collect(),
                matrix: present.iter().map(|a| present.iter().map(|b| index(a, b)).collect()).collect(),
            },
            witness: self.witness,
        }
    }
}

/// Is a period one of those that the segments show, by their length or by how often they come back?
fn is_named(flow: &Flow, period: f64, within: f64) -> bool {
    let near = |other: f64| (period - other).abs() <= within * other;
    flow.periodic.iter().any(|operation| near(operation.period) || near(operation.recurrence))
}
#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::Operation;
    use crate::periodicity::periodic;
    use crate::thresholds::Thresholds;

    /// Ten applications: five read at the start, of which three write at the end; one more only writes there.
    #[test]
    fn shares_of_one_category_given_another() {
        let reads = Category::temporality(Direction::Read, Temporality::OnStart);
        let writes = Category::temporality(Direction::Write, Temporality::OnEnd);
        let mut count = Count { total: 10, described: 6, ..Count::new() };
        count.of[reads.index()] = 5;
        count.of[writes.index()] = 4;
        for (a, b, both) in [(reads, reads, 5), (writes, writes, 4), (reads, writes, 3), (writes, reads, 3)] {
            count.pairs[a.index() * Category::COUNT + b.index()] = both;
        }
        let view = count.finish();
        assert_eq!(view.jaccard.categories, [reads.name(), writes.name()]);
        assert_eq!(view.conditional, [[1.0, 0.6], [0.75, 1.0]]);
        assert_eq!((view.jaccard.matrix[0][1], view.described), (0.5, 0.6));
    }

    #[test]
    fn a_period_is_the_same_up_to_a_fifth() {
        let operations: Vec<Operation> =
            (0..5).map(|i| f64::from(i) * 100.0).map(|at| Operation::new(at, at + 1.0, 1000)).collect();
        let flow = Flow { periodic: periodic(&operations, &Thresholds::default()), ..Flow::default() };
        let within = Thresholds::default().witness_within;
        assert!(is_named(&flow, 120.0, within) && is_named(&flow, 80.0, within));
        assert!(!is_named(&flow, 120.1, within) && !is_named(&flow, 79.9, within));
        assert!(is_named(&flow, 120.1, 0.21));
        assert!(!is_named(&Flow::default(), 100.0, within));
    }
}
