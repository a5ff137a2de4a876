//! How the time of a job depends on the number of its nodes.

/// The shape of t(n).
#[derive(Clone, Debug, PartialEq)]
pub enum Scaling {
    /// A serial share, the rest divided by the nodes: t(n) = f + (1 − f) / n, in times of one node.
    ///
    /// The share is meant at the preferred size: t(n) = t(preferred) · (f + (1 − f) · preferred / n).
    Serial(f64),
    /// A formula of a performance model: constant + Σ coefficient · n^exponent · log2(n)^logarithm …
    Formula {
        /// The constant.
        constant: f64,
        /// The terms.
        terms: Vec<Term>,
    },
}

/// A term of a formula.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    /// Its coefficient.
    pub coefficient: f64,
    /// Its factors, all of the number of nodes.
    pub factors: Vec<Factor>,
}

/// A factor of a term: n^exponent · log2(n)^logarithm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Factor {
    /// The exponent of the number of nodes.
    pub exponent: f64,
    /// The exponent of its binary logarithm.
    pub logarithm: f64,
}

impl Default for Scaling {
    fn default() -> Self {
        Scaling::Serial(0.0)
    }
}

impl Scaling {
    /// t(nodes) / t(preferred).
    pub fn ratio(&self, nodes: u32, preferred: u32) -> f64 {
        if nodes == preferred {
            return 1.0;
        }
        match self {
            Scaling::Serial(serial) => {
                serial + (1.0 - serial) * f64::from(preferred) / f64::from(nodes.max(1))
            }
            Scaling::Formula { .. } => self.formula(nodes) / self.formula(preferred),
        }
    }

    fn formula(&self, nodes: u32) -> f64 {
        let Scaling::Formula { constant, terms } = self else { return 1.0 };
        let n = f64::from(nodes);
        let value = |term: &Term| {
            let factor = |f: &Factor| n.powf(f.exponent) * n.log2().powf(f.logarithm);
            term.coefficient * term.factors.iter().map(factor).product::<f64>()
        };
        constant + terms.iter().map(value).sum::<f64>()
    }

    /// A time has to be above 0 at every size.
    pub(crate) fn problem(&self, min: u32, preferred: u32, max: u32) -> Option<String> {
        if let Scaling::Serial(serial) = self {
            let good = (0.0..=1.0).contains(serial);
            return (!good).then(|| format!("its serial share is {serial}"));
        }
        let bad = |nodes: &u32| !(self.formula(*nodes).is_finite() && self.formula(*nodes) > 0.0);
        let nodes = [min, preferred, max].into_iter().find(bad)?;
        let time = self.formula(nodes);
        Some(format!(
            "by its model it takes {time} on {}",
            if nodes == 1 { "1 node".into() } else { format!("{nodes} nodes") }
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_serial_share_and_a_formula() {
        assert_eq!(Scaling::Serial(0.0).ratio(8, 4), 0.5);
        assert_eq!(Scaling::Serial(0.2).ratio(2, 4), 0.2 + 0.8 * 2.0);
        let factors = vec![Factor { exponent: -1.0, logarithm: 0.0 }];
        let model = Scaling::Formula { constant: 2.0, terms: vec![Term { coefficient: 8.0, factors }] };
        assert_eq!(model.ratio(8, 4), 3.0 / 4.0);
        assert_eq!(model.problem(1, 4, 8), None);
        let factors = vec![Factor { exponent: 1.0, logarithm: 0.0 }];
        let falls = Scaling::Formula { constant: 5.0, terms: vec![Term { coefficient: -1.0, factors }] };
        assert_eq!(falls.problem(1, 4, 8).unwrap(), "by its model it takes -3 on 8 nodes");
    }
}
