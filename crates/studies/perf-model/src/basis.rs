//! Terms evaluated at points, once for all sets that were measured there.

use crate::function::Exponents;
use crate::points::Points;
use crate::search_space::SearchSpace;

/// A column of values for each term.
#[derive(Debug, Clone)]
pub(crate) struct Basis {
    exponents: Vec<Exponents>,
    columns: Vec<f64>,
    points: usize,
}

impl Basis {
    pub(crate) fn new(exponents: Vec<Exponents>, coordinates: &[f64]) -> Self {
        let columns = exponents.iter().flat_map(|e| coordinates.iter().map(|p| e.evaluate(*p))).collect();
        Basis { exponents, columns, points: coordinates.len() }
    }

    /// What Extra-P tries at these points of one parameter.
    pub(crate) fn compat(space: &SearchSpace, points: &Points) -> Self {
        let coordinates: Vec<f64> = points.parameter(0).collect();
        let smallest = coordinates.iter().copied().fold(f64::INFINITY, f64::min);
        Basis::new(space.compat(smallest), &coordinates)
    }

    /// All terms that are defined at these points of one parameter.
    pub(crate) fn defined(space: &SearchSpace, points: &Points) -> Self {
        let coordinates: Vec<f64> = points.parameter(0).collect();
        let smallest = coordinates.iter().copied().fold(f64::INFINITY, f64::min);
        Basis::new(space.defined(smallest), &coordinates)
    }

    /// The same terms at a range of the points.
    pub(crate) fn range(&self, range: std::ops::Range<usize>) -> Basis {
        let columns = self.columns.chunks_exact(self.points.max(1));
        Basis {
            exponents: self.exponents.clone(),
            points: range.len(),
            columns: columns.flat_map(|column| column[range.clone()].iter().copied()).collect(),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Exponents, &[f64])> {
        self.exponents.iter().copied().zip(self.columns.chunks_exact(self.points.max(1)))
    }

    /// The column of a term.
    pub(crate) fn column(&self, index: usize) -> &[f64] {
        &self.columns[index * self.points..(index + 1) * self.points]
    }
}
