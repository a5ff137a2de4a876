//! Keyword arguments of Python become the options of the analysis, with the limits of the command line.

use crate::call::Problem;
use ftio_core::detect::per_group::Group;
use ftio_core::detect::{Method, Options, Outlier};
use ftio_core::predict::{PredictOptions, WindowRule};
use ftio_core::spectral::spectrum::Measure;
use serde::Deserialize;
use sources::Layer;
use sources::request::Mode;
use sources::{OpenOptions, Pattern, Rate};
use std::path::PathBuf;

/// How an input is read, and what is looked for in it. Comes as JSON; what is not given is left out.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Asked {
    mode: Option<String>,
    freq: Option<f64>,
    auto_freq: bool,
    ts: Option<f64>,
    te: Option<f64>,
    min_period: Option<f64>,
    max_period: Option<f64>,
    outlier: Vec<String>,
    tol: Option<f64>,
    psd: Option<bool>,
    autocorrelation: bool,
    skip_first_phase: bool,
    top: usize,
    reconstruct: Option<usize>,
    over_time: bool,
    compat: bool,
    paper: bool,
    pub by: Option<String>,
    pub merge: bool,
    pub required: bool,
    layer: Option<String>,
    metric: Option<String>,
    rate: Option<String>,
    pattern: Option<PathBuf>,
    window: Option<String>,
}

impl Asked {
    pub fn parse(text: &str) -> Result<Self, Problem> {
        serde_json::from_str(text).map_err(|error| Problem::usage(error.to_string()))
    }

    /// How to read.
    pub fn reading(&self) -> Result<OpenOptions, Problem> {
        let pattern = |path: &PathBuf| {
            let name = path.display().to_string();
            let text = std::fs::read_to_string(path).map_err(|error| Problem::system(&name, &error))?;
            Ok::<_, Problem>(Pattern::parse(&name, &text)?)
        };
        let layer = |name: &String| {
            let unknown =
                || Problem::usage(format!("layer: expected mpiio, posix, stdio, dfs or daos, found {name}"));
            Layer::named(name).ok_or_else(unknown)
        };
        Ok(OpenOptions {
            pattern: self.pattern.as_ref().map(pattern).transpose()?,
            layer: self.layer.as_ref().map(layer).transpose()?,
            metric: self.metric.clone(),
            rate: match self.rate.as_deref() {
                None | Some("auto") => Rate::Auto,
                Some("on") => Rate::On,
                Some("off") => Rate::Off,
                Some(other) => {
                    return Err(Problem::usage(format!("rate: expected auto, on or off, found {other}")));
                }
            },
            origin: None,
        })
    }

    /// What is analysed one by one, if anything is.
    pub fn group(&self) -> Result<Option<Group>, Problem> {
        match self.by.as_deref() {
            None => Ok(None),
            Some("rank") => Ok(Some(Group::Rank)),
            Some("file") => Ok(Some(Group::File)),
            Some(other) => Err(Problem::usage(format!("by: expected rank or file, found {other}"))),
        }
    }

    /// How to analyse.
    pub fn options(&self) -> Result<Options, Problem> {
        let mode = |name: &String| {
            name.parse::<Mode>().map_err(|expected| Problem::usage(format!("mode: {expected}, found {name}")))
        };
        within("freq", self.freq, 1e-9, 1e9)?;
        within("ts", self.ts, -1e9, 1e9)?;
        within("te", self.te, -1e9, 1e9)?;
        within("min_period", self.min_period, f64::MIN_POSITIVE, 1e9)?;
        within("max_period", self.max_period, f64::MIN_POSITIVE, 1e9)?;
        within("tol", self.tol, f64::MIN_POSITIVE, 1.0)?;
        ordered(["ts", "te"], self.ts, self.te)?;
        ordered(["min_period", "max_period"], self.min_period, self.max_period)?;
        let published = self.compat || self.paper;
        if self.compat && self.paper {
            return Err(Problem::usage("compat and paper exclude each other"));
        }
        if published && (self.over_time || self.skip_first_phase) {
            return Err(Problem::usage("compat and paper have no over_time and no skip_first_phase"));
        }
        let outliers: Vec<Outlier> =
            self.outlier.iter().map(|name| outlier(name)).collect::<Result<_, _>>()?;
        match outliers.as_slice() {
            [_, _, _, ..] => {
                return Err(Problem::usage("outlier: expected one method, or two different ones"));
            }
            [first, second] if published || first == second => {
                let text = "outlier: expected two different methods; compat and paper take only one";
                return Err(Problem::usage(text));
            }
            _ => {}
        }
        let usual = Options::default();
        Ok(Options {
            mode: self.mode.as_ref().map(mode).transpose()?,
            frequency: self.freq,
            automatic_frequency: self.auto_freq,
            from: self.ts,
            to: self.te,
            min_period: self.min_period,
            max_period: self.max_period,
            outlier: outliers.first().copied().unwrap_or(Outlier::ZScore),
            second_outlier: outliers.get(1).copied(),
            tolerance: self.tol.unwrap_or(usual.tolerance),
            measure: if self.psd == Some(false) { Measure::Amplitude } else { Measure::Power },
            autocorrelation: self.autocorrelation,
            skip_first_phase: self.skip_first_phase,
            top: self.top,
            reconstruct: self.reconstruct,
            over_time: self.over_time,
            method: match (self.compat, self.paper) {
                (true, _) => Method::Compat,
                (_, true) => Method::Paper,
                _ => Method::Ours,
            },
            ..usual
        })
    }

    /// How to predict.
    pub fn prediction(&self) -> Result<PredictOptions, Problem> {
        let window = match self.window.as_deref() {
            None => WindowRule::default(),
            Some(text) => text.parse().map_err(|problem| Problem::usage(format!("window: {problem}")))?,
        };
        Ok(PredictOptions { window, detect: self.options()? })
    }
}

fn within(name: &str, value: Option<f64>, least: f64, most: f64) -> Result<(), Problem> {
    match value {
        Some(value) if !(least..=most).contains(&value) => {
            let least = if least == f64::MIN_POSITIVE { "above 0".into() } else { format!("from {least}") };
            Err(Problem::usage(format!("{name}: expected a number {least} up to {most}, found {value}")))
        }
        _ => Ok(()),
    }
}

fn ordered(names: [&str; 2], low: Option<f64>, high: Option<f64>) -> Result<(), Problem> {
    match (low, high) {
        (Some(low), Some(high)) if low >= high => {
            Err(Problem::usage(format!("{} = {low} is not below {} = {high}", names[0], names[1])))
        }
        _ => Ok(()),
    }
}

fn outlier(name: &str) -> Result<Outlier, Problem> {
    match name {
        "zscore" | "z-score" => Ok(Outlier::ZScore),
        "dbscan" | "db-scan" => Ok(Outlier::Dbscan),
        "isolation-forest" | "forest" => Ok(Outlier::IsolationForest),
        "lof" => Ok(Outlier::LocalOutlierFactor),
        "peaks" | "peak" => Ok(Outlier::Peaks),
        _ => {
            let expected = "zscore, dbscan, isolation-forest, lof or peaks";
            Err(Problem::usage(format!("outlier: expected {expected}, found {name}")))
        }
    }
}
