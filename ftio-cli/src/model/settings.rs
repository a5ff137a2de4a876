//! `--set`: what a fit depends on, by name; set with `NAME=VALUE`, listed by `help`.

use crate::exit::wrong_usage;
use crate::terminal::style::Style;
use perf_model::{Mode, Options, SETTINGS};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Options, and where those come from that are not the default.
#[derive(Debug, Default)]
pub struct Settings {
    pub options: Options,
    sources: BTreeMap<&'static str, &'static str>,
}

/// One line of `--set help --json`.
#[derive(JsonSchema, Serialize)]
pub struct Listed<'a> {
    schema: &'static str,
    /// Its name, as `--set NAME=VALUE` takes it.
    name: &'a str,
    /// Its value.
    value: String,
    /// Where that comes from: `default`, or the option of the command line.
    source: &'a str,
    /// What it decides.
    about: &'a str,
}

impl Settings {
    /// From the command line. Words without `=` are no options.
    pub fn new(compat: bool, words: &[String]) -> anyhow::Result<Self> {
        let mut settings = Settings::default();
        if compat {
            settings.options.mode = Mode::Compat;
            settings.sources.insert("allow_negative_exponents", "--compat");
        }
        for word in words {
            if let Some((name, value)) = word.split_once('=') {
                settings.set(name.trim(), value.trim(), "--set")?;
            }
        }
        Ok(settings)
    }

    fn set(&mut self, name: &str, value: &str, source: &'static str) -> anyhow::Result<()> {
        // As Extra-P has these words.
        let value = match (name, value) {
            ("measure", "min") => "minimum",
            ("measure", "max") => "maximum",
            ("modeler", "basic") => "default",
            (_, value) => value,
        };
        self.options.set(name, value).map_err(|problem| wrong_usage(format!("{source}: {problem}")))?;
        let known = SETTINGS.iter().find(|setting| setting.name == name);
        self.sources.extend(known.map(|setting| (setting.name, source)));
        Ok(())
    }

    /// All of them, one a line.
    pub fn list(&self, json: bool, style: Style) -> anyhow::Result<String> {
        let mut text = String::new();
        let method = match self.options.mode {
            Mode::Compat => ("as Extra-P 4.2 decides", "--compat"),
            Mode::Default => ("statistical", "default"),
        };
        let about = "how terms are chosen; --compat decides as Extra-P does";
        let first = ("method", method.0.to_owned(), method.1, about);
        let others = SETTINGS.iter().map(|setting| {
            let value = self.options.get(setting.name).unwrap_or_default();
            let source = self.sources.get(setting.name).copied().unwrap_or("default");
            (setting.name, value, source, setting.about)
        });
        for (name, value, source, about) in std::iter::once(first).chain(others) {
            if json {
                let listed = Listed { schema: "ftio.model-options/1", name, value, source, about };
                writeln!(text, "{}", serde_json::to_string(&listed)?)?;
            } else {
                let value = if value.is_empty() { "(none)" } else { &value };
                let about = style.dim(about);
                writeln!(text, "{name:<28} {value:<24} {source:<10} {about}")?;
            }
        }
        Ok(text)
    }
}
