//! `--set NAME=VALUE`: the numbers of a method, which `--set help` lists.

use crate::terminal::width::{columns, labelled};
use clap::builder::TypedValueParser;
use clap::error::ErrorKind;
use std::ffi::OsStr;

/// A number, and what it is set to.
pub type Setting = (String, f64);

/// A number that can be set.
#[derive(Clone, Debug)]
pub struct Row {
    pub name: &'static str,
    pub default: f64,
    /// Its unit, or what else there is to say about the default.
    pub unit: String,
    pub range: (f64, f64),
    pub meaning: &'static str,
    /// Where the default comes from.
    pub source: &'static str,
}

impl Row {
    /// One of ours, which needs no source.
    pub fn new(
        name: &'static str,
        default: f64,
        unit: &str,
        range: (f64, f64),
        meaning: &'static str,
    ) -> Self {
        Row { name, default, unit: unit.to_owned(), range, meaning, source: "" }
    }
}

/// The numbers of a method.
#[derive(Clone, Copy, Debug)]
pub struct Numbers {
    /// What `--set help` says before it lists them.
    pub about: fn() -> String,
    pub rows: fn() -> Vec<Row>,
}

impl Numbers {
    /// Numbers that explain themselves.
    pub const fn new(rows: fn() -> Vec<Row>) -> Self {
        Numbers { about: String::new, rows }
    }

    fn list(self) -> String {
        let columns = columns();
        let line = |row: Row| {
            let Row { name, default, unit, meaning, source, .. } = row;
            let value = if unit.is_empty() { default.to_string() } else { format!("{default} {unit}") };
            let source = if source.is_empty() { String::new() } else { format!(" [{source}]") };
            labelled(&format!("  {name:<28}"), &format!("{value}: {meaning}{source}"), columns)
        };
        (self.about)() + &(self.rows)().into_iter().map(line).collect::<String>()
    }

    fn parse(self, text: &str) -> Result<Setting, String> {
        let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, or help to list all")?;
        let (name, value) = (name.trim(), value.trim());
        let rows = (self.rows)();
        let Some(row) = rows.iter().find(|row| row.name == name) else {
            return Err(format!("there is no {name:?}: --set help lists all"));
        };
        let (low, high) = row.range;
        let expected = match high.is_finite() {
            true => format!("{name}: expected a number from {low} to {high}, found {value:?}"),
            false => format!("{name}: expected a number of at least {low}, found {value:?}"),
        };
        let number =
            value.parse().ok().filter(|number: &f64| number.is_finite() && (low..=high).contains(number));
        Ok((name.to_owned(), number.ok_or(expected)?))
    }
}

impl TypedValueParser for Numbers {
    type Value = Setting;

    /// `help` is a result, and no setting.
    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<Setting, clap::Error> {
        if value == "help" {
            return Err(clap::Error::raw(ErrorKind::DisplayHelp, self.list()).with_cmd(command));
        }
        let numbers = *self;
        let parser =
            clap::builder::StringValueParser::new().try_map(move |text: String| numbers.parse(&text));
        parser.parse_ref(command, arg, value)
    }
}

/// What a number is set to, by the last of the settings about it.
pub fn given(settings: &[Setting], name: &str) -> Option<f64> {
    settings.iter().rev().find(|(known, _)| known == name).map(|(_, value)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOME: Numbers = Numbers::new(|| {
        let (unit, source) = ("s".to_owned(), "a paper");
        vec![Row { name: "guard", default: 1.0, unit, range: (0.0, 10.0), meaning: "a distance", source }]
    });

    #[test]
    fn numbers_are_checked_and_listed() {
        assert_eq!(SOME.parse("guard = 2.5"), Ok(("guard".into(), 2.5)));
        for wrong in ["guard", "gard=1", "guard=x", "guard=11", "guard=NaN", "=1"] {
            assert!(SOME.parse(wrong).is_err(), "{wrong}");
        }
        assert!(SOME.list().contains("guard") && SOME.list().contains("1 s: a distance [a paper]"));
        let settings = [("guard".to_owned(), 2.0), ("guard".to_owned(), 3.0)];
        assert_eq!((given(&settings, "guard"), given(&settings, "other")), (Some(3.0), None));
    }
}
