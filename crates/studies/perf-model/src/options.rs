//! What can be chosen about modelling.

use crate::experiment::Measure;
use crate::search_space::SearchSpace;
use crate::settings::ExponentLists;
use crate::statistical::Shrinking;

/// Whose decisions to take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Mode {
    /// As accurate as we can make it.
    #[default]
    Default,
    /// Extra-P 4.2.5, reproduced.
    Compat,
}

/// How to search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Modeler {
    /// The usual exponents; one to four parameters.
    #[default]
    Default,
    /// Finer exponents; one parameter.
    Refining,
    /// Two formulas with a change between them, if there is one; one parameter.
    Segmented,
}

/// Everything that can be chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// Whose decisions.
    pub mode: Mode,
    /// How to search.
    pub modeler: Modeler,
    /// How repetitions become one value.
    pub measure: Measure,
    /// Allow logarithms.
    pub logs: bool,
    /// Allow negative exponents. In compatibility mode the default is never, as in Extra-P.
    pub shrinking: Option<Shrinking>,
    /// The terms to try, instead of the usual ones.
    pub space: Option<SearchSpace>,
    /// Exponents to combine, instead of the usual terms.
    pub exponents: ExponentLists,
    /// Compatibility mode: judge terms leave-one-out (Extra-P's default).
    pub cross_validation: bool,
    /// Compatibility mode: compare RSS instead of SMAPE.
    pub compare_rss: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            mode: Mode::Default,
            modeler: Modeler::Default,
            measure: Measure::Mean,
            logs: true,
            shrinking: None,
            space: None,
            exponents: ExponentLists::default(),
            cross_validation: true,
            compare_rss: false,
        }
    }
}

impl Options {
    /// Extra-P's options.
    pub fn compat() -> Self {
        Options { mode: Mode::Compat, ..Options::default() }
    }

    pub(crate) fn shrinking(&self) -> Shrinking {
        self.shrinking.unwrap_or(match self.mode {
            Mode::Default => Shrinking::WhereFalling,
            Mode::Compat => Shrinking::Never,
        })
    }

    pub(crate) fn search_space(&self) -> SearchSpace {
        if let Some(space) = &self.space {
            return space.clone();
        }
        if !self.exponents.is_empty() {
            let usual = Options { exponents: ExponentLists::default(), ..self.clone() }.search_space();
            return SearchSpace::of(self.exponents.terms(self.logs, usual.exponents()));
        }
        match (self.mode, self.modeler) {
            (Mode::Default, Modeler::Refining) => SearchSpace::fine(self.logs),
            (Mode::Default, _) => SearchSpace::new(self.logs, self.shrinking() != Shrinking::Never),
            (Mode::Compat, _) => SearchSpace::new(self.logs, self.shrinking() == Shrinking::Always),
        }
    }
}
