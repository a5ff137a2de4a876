//! What every command that studies a job may be told.

use super::Question;
use crate::inputs::InputArgs;
use crate::settings::{Numbers, Row, Setting};
use crate::signal::WindowArgs;
use crate::terminal::width::{columns, labelled};
use crate::values::duration;
use io_advice::{LIMITS, Limit, RULES, Thresholds};

/// How inputs are read, which part of them is looked at, and by which rules.
#[derive(Debug, clap::Args)]
pub struct StudyArgs {
    #[command(flatten)]
    pub input: InputArgs,

    #[command(flatten)]
    pub window: WindowArgs,

    #[command(flatten)]
    pub rules: RuleArgs,
}

impl StudyArgs {
    /// What is asked.
    pub fn question(&self) -> anyhow::Result<Question> {
        self.window.check()?;
        Ok(Question {
            options: self.window.options(),
            thresholds: self.rules.thresholds(),
            mtbf: self.rules.mtbf,
        })
    }
}

/// What decides about findings.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Rules")]
pub struct RuleArgs {
    /// Set a threshold; may be given several times. `--set help` lists all, and the rules
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = THRESHOLDS)]
    pub thresholds: Vec<Setting>,

    /// Mean time between failures of the machine, in seconds or as 30m, 24h, 7d: are checkpoints too
    /// frequent?
    #[arg(long, value_name = "TIME", value_parser = mtbf, allow_negative_numbers = true)]
    pub mtbf: Option<f64>,
}

const THRESHOLDS: Numbers = Numbers { about: rules, rows: limits };

/// All rules.
fn rules() -> String {
    let columns = columns();
    let mut out = String::from("Rules\n");
    for rule in RULES {
        out += &labelled(&format!("  {:<28}", rule.id), rule.when, columns);
        out += &labelled(&" ".repeat(30), &format!("[{}; needs {}]", rule.source, rule.needs), columns);
    }
    out + "\nThresholds\n"
}

/// All thresholds.
fn limits() -> Vec<Row> {
    let row = |limit: &'static Limit| Row {
        name: limit.name,
        default: limit.default,
        unit: limit.unit.to_owned(),
        range: (0.0, f64::INFINITY),
        meaning: limit.meaning,
        source: limit.source,
    };
    LIMITS.iter().map(row).collect()
}

impl RuleArgs {
    pub fn thresholds(&self) -> Thresholds {
        let mut thresholds = Thresholds::default();
        for (name, value) in &self.thresholds {
            // The parser has tried it.
            let _ = thresholds.set(name, *value);
        }
        thresholds
    }
}

/// A thousand years: what lasts longer never fails.
const MAX_MTBF: f64 = 1000.0 * 365.25 * 86_400.0;

/// `--mtbf`.
fn mtbf(text: &str) -> Result<f64, String> {
    let seconds = duration(text)?;
    if seconds > MAX_MTBF {
        return Err("expected at most a thousand years".into());
    }
    Ok(seconds)
}
