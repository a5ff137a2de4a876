//! What every command that studies a job may be told.

use super::Question;
use crate::inputs::InputArgs;
use crate::signal::WindowArgs;
use crate::values::duration;
use io_advice::Thresholds;

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
    /// Set a threshold; may be given several times. `ftio advise --list` shows all
    #[arg(long = "threshold", value_name = "NAME=VALUE", value_parser = threshold)]
    pub thresholds: Vec<(String, f64)>,

    /// Mean time between failures of the machine, in seconds or as 30m, 24h, 7d: are checkpoints too
    /// frequent?
    #[arg(long, value_name = "TIME", value_parser = mtbf, allow_negative_numbers = true)]
    pub mtbf: Option<f64>,
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
const LONGEST: f64 = 1000.0 * 365.25 * 86_400.0;

/// `--mtbf`.
fn mtbf(text: &str) -> Result<f64, String> {
    let seconds = duration(text)?;
    if seconds > LONGEST {
        return Err("expected at most a thousand years".into());
    }
    Ok(seconds)
}

/// `--threshold`.
fn threshold(text: &str) -> Result<(String, f64), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    let value = value.parse().map_err(|_| format!("expected a number, found {value:?}"))?;
    Thresholds::default().set(name, value)?;
    Ok((name.to_owned(), value))
}
