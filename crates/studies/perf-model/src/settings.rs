//! Options by name, as Extra-P's `--options KEY=VALUE` has them: which there are, their values, and setting
//! them from text.

use crate::experiment::Measure;
use crate::fraction::Fraction;
use crate::function::Exponents;
use crate::options::{Mode, Modeler, Options};
use crate::statistical::Shrinking;

/// Powers and powers of the logarithm that are combined to terms.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExponentLists {
    /// Powers of the parameter.
    pub powers: Vec<Fraction>,
    /// Powers of its logarithm.
    pub logs: Vec<Fraction>,
    /// The usual terms as well.
    pub retain_default: bool,
    /// Only products, no power or logarithm alone.
    pub force_combination: bool,
}

impl ExponentLists {
    /// Are there none, so that the usual terms are tried?
    pub fn is_empty(&self) -> bool {
        self.powers.is_empty() && self.logs.is_empty()
    }

    /// The terms: powers alone, logarithms alone, products.
    pub(crate) fn terms(&self, logs: bool, usual: &[Exponents]) -> Vec<Exponents> {
        let log_powers: &[Fraction] = if logs { &self.logs } else { &[] };
        let mut terms: Vec<Exponents> = Vec::new();
        if !self.force_combination {
            terms.extend(self.powers.iter().map(|&power| Exponents { power, log: Fraction::ZERO }));
            terms.extend(log_powers.iter().map(|&log| Exponents { power: Fraction::ZERO, log }));
        }
        for &power in &self.powers {
            terms.extend(log_powers.iter().map(|&log| Exponents { power, log }));
        }
        if self.retain_default {
            terms.extend(usual);
        }
        let mut distinct: Vec<Exponents> = Vec::new();
        for term in terms {
            let is_constant = term.power.is_zero() && term.log.is_zero();
            if !is_constant && !distinct.contains(&term) {
                distinct.push(term);
            }
        }
        distinct
    }
}

/// An option: its name, and what it decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    /// Its name, which is Extra-P's where Extra-P has it.
    pub name: &'static str,
    /// What it decides.
    pub about: &'static str,
}

/// All options of a fit.
pub const SETTINGS: [Setting; 10] = [
    Setting { name: "modeler", about: "how to search: default, refining or segmented" },
    Setting { name: "measure", about: "what repetitions become: mean, median, minimum or maximum" },
    Setting { name: "allow_log_terms", about: "terms may have logarithms" },
    Setting {
        name: "allow_negative_exponents",
        about: "terms may shrink: true, false, or falling: where the measurements fall",
    },
    Setting { name: "poly_exponents", about: "powers to try, such as 0,1/2,1; empty: the usual terms" },
    Setting { name: "log_exponents", about: "powers of the logarithm to try, such as 0,1,2" },
    Setting { name: "retain_default_exponents", about: "beside these lists, the usual terms" },
    Setting { name: "force_combination_exponents", about: "of these lists only products" },
    Setting { name: "use_crossvalidation", about: "with --compat: judge terms leave-one-out" },
    Setting { name: "compare_with_RSS", about: "with --compat: compare the RSS, not the SMAPE" },
];

impl Options {
    /// The value of an option as text; `None` if there is no such option.
    pub fn get(&self, name: &str) -> Option<String> {
        let list =
            |fractions: &[Fraction]| fractions.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        Some(match name {
            "modeler" => named(self.modeler, &MODELERS).to_owned(),
            "measure" => named(self.measure, &MEASURES).to_owned(),
            "allow_log_terms" => self.logs.to_string(),
            "allow_negative_exponents" => named(self.shrinking(), &SHRINKING).to_owned(),
            "poly_exponents" => list(&self.exponents.powers),
            "log_exponents" => list(&self.exponents.logs),
            "retain_default_exponents" => self.exponents.retain_default.to_string(),
            "force_combination_exponents" => self.exponents.force_combination.to_string(),
            "use_crossvalidation" => self.cross_validation.to_string(),
            "compare_with_RSS" => self.compare_rss.to_string(),
            _ => return None,
        })
    }

    /// Set an option from text.
    ///
    /// ```
    /// let mut options = perf_model::Options::default();
    /// options.set("poly_exponents", "1/2,1")?;
    /// assert_eq!(options.get("poly_exponents").as_deref(), Some("1/2,1"));
    /// assert!(options.set("poly_exponents", "x").is_err());
    /// # Ok::<(), String>(())
    /// ```
    ///
    /// # Errors
    /// There is no such option, or it cannot have such a value; in words.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let wrong = |expected: &str| format!("{name}: expected {expected}, found `{value}`");
        let flag = || value.to_ascii_lowercase().parse::<bool>().map_err(|_| wrong("true or false"));
        let list = || fractions(value).ok_or_else(|| wrong("numbers or fractions, such as 0,1/2,1"));
        match name {
            "modeler" => self.modeler = choice(value, &MODELERS).map_err(|one_of| wrong(&one_of))?,
            "measure" => self.measure = choice(value, &MEASURES).map_err(|one_of| wrong(&one_of))?,
            "allow_log_terms" => self.logs = flag()?,
            "allow_negative_exponents" => {
                self.shrinking = Some(choice(value, &SHRINKING).map_err(|one_of| wrong(&one_of))?);
            }
            "poly_exponents" => self.exponents.powers = list()?,
            "log_exponents" => self.exponents.logs = list()?,
            "retain_default_exponents" => self.exponents.retain_default = flag()?,
            "force_combination_exponents" => self.exponents.force_combination = flag()?,
            "use_crossvalidation" => self.cross_validation = flag()?,
            "compare_with_RSS" => self.compare_rss = flag()?,
            _ => {
                let names: Vec<&str> = SETTINGS.iter().map(|setting| setting.name).collect();
                return Err(format!("expected an option ({}), found `{name}`", names.join(", ")));
            }
        }
        if self.mode == Mode::Compat && self.shrinking == Some(Shrinking::WhereFalling) {
            return Err("allow_negative_exponents: Extra-P knows true and false, not falling".into());
        }
        Ok(())
    }
}

/// The first name of a value is the one that is shown.
type Names<T> = [(&'static str, T)];

const MODELERS: [(&str, Modeler); 4] = [
    ("default", Modeler::Default),
    ("basic", Modeler::Default),
    ("refining", Modeler::Refining),
    ("segmented", Modeler::Segmented),
];
const MEASURES: [(&str, Measure); 4] = [
    ("mean", Measure::Mean),
    ("median", Measure::Median),
    ("minimum", Measure::Minimum),
    ("maximum", Measure::Maximum),
];
const SHRINKING: [(&str, Shrinking); 3] =
    [("false", Shrinking::Never), ("falling", Shrinking::WhereFalling), ("true", Shrinking::Always)];

fn named<T: PartialEq + Copy>(value: T, names: &Names<T>) -> &'static str {
    names.iter().find(|(_, other)| *other == value).map_or("", |(name, _)| name)
}

fn choice<T: Copy>(text: &str, names: &Names<T>) -> Result<T, String> {
    let found = names.iter().find(|(name, _)| name.eq_ignore_ascii_case(text));
    let one_of = || names.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(" or ");
    found.map(|(_, value)| *value).ok_or_else(one_of)
}

fn fractions(text: &str) -> Option<Vec<Fraction>> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(fraction).collect()
}

/// `3/4`, `2` or `0.75`.
fn fraction(text: &str) -> Option<Fraction> {
    const MAX_EXPONENT: i32 = 100;
    if let Some((above, below)) = text.split_once('/') {
        let (above, below): (i32, i32) = (above.trim().parse().ok()?, below.trim().parse().ok()?);
        return (below != 0 && above.abs() <= MAX_EXPONENT && below.abs() <= MAX_EXPONENT)
            .then(|| Fraction::new(above, below));
    }
    let value: f64 = text.parse().ok()?;
    (value.abs() <= f64::from(MAX_EXPONENT)).then(|| Fraction::new((value * 1000.0).round() as i32, 1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_can_be_told_and_set() {
        let mut options = Options::default();
        for Setting { name, .. } in SETTINGS {
            let value = options.get(name).unwrap_or_else(|| panic!("{name}"));
            options.set(name, &value).unwrap();
        }
        assert!(options.get("x").is_none());
        let told = options.set("x", "1").unwrap_err();
        assert!(told.contains("poly_exponents") && told.contains("`x`"), "{told}");
        let told = options.set("measure", "mode").unwrap_err();
        assert_eq!(told, "measure: expected mean or median or minimum or maximum, found `mode`");
    }

    #[test]
    fn lists_become_terms_as_extra_p_combines_them() {
        let mut options = Options::default();
        options.set("poly_exponents", "0, 1/2, 0.75").unwrap();
        options.set("log_exponents", "0,1").unwrap();
        let e = Exponents::new;
        let terms = |options: &Options| options.search_space().exponents().to_vec();
        assert_eq!(terms(&options), [e(1, 2, 0), e(3, 4, 0), e(0, 1, 1), e(1, 2, 1), e(3, 4, 1)]);
        options.set("force_combination_exponents", "True").unwrap();
        assert_eq!(terms(&options), [e(0, 1, 1), e(1, 2, 0), e(1, 2, 1), e(3, 4, 0), e(3, 4, 1)]);
        options.set("allow_log_terms", "false").unwrap();
        options.set("force_combination_exponents", "false").unwrap();
        assert_eq!(terms(&options), [e(1, 2, 0), e(3, 4, 0)]);
        options.set("retain_default_exponents", "true").unwrap();
        assert!(terms(&options).len() > 15);
    }
}
