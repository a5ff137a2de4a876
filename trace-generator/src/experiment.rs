//! The settings of the experiment.

use crate::application::{Application, Noise};
use crate::generated::Generated;
use crate::irregular::Irregular;

/// A family of traces.
#[derive(Clone, Debug, PartialEq)]
pub enum Family {
    /// Applications of one setting.
    Application(Application),
    /// Signals of one kind.
    Irregular(Irregular),
}

/// A family with its name and the table it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Which table: `8a`, `8b`, `8c` (the figures of the paper), `none`, `two`.
    pub table: &'static str,
    /// What is varied, and its value.
    pub name: String,
    /// What to generate.
    pub family: Family,
}

impl Setting {
    /// The trace of that seed.
    pub fn generate(&self, seed: u64) -> Generated {
        match &self.family {
            Family::Application(application) => application.generate(seed),
            Family::Irregular(kind) => kind.generate(seed),
        }
    }
}

/// All settings: those of the paper's figures 8a, 8b and 8c, then signals without a period, then those with two.
pub fn settings() -> Vec<Setting> {
    let mut out = Vec::new();
    let mut add = |table, name: String, application| {
        out.push(Setting { table, name, family: Family::Application(application) });
    };
    for (noise, label) in [(Noise::None, ""), (Noise::Low, ", low noise"), (Noise::High, ", high noise")] {
        for compute in [2.0, 5.0, 11.0, 22.0, 44.0, 88.0] {
            let application = Application { compute, noise, ..Application::default() };
            add("8a", format!("t_cpu {compute} s{label}"), application);
        }
    }
    for desync in [5.0, 11.0, 22.0, 33.0] {
        add("8b", format!("desynchronisation {desync} s"), Application { desync, ..Application::default() });
    }
    for jitter in [0.25, 0.5, 1.0, 2.0] {
        add("8c", format!("jitter {jitter}"), Application { jitter, ..Application::default() });
    }
    let irregular =
        |table, kind: Irregular| Setting { table, name: kind.name().into(), family: Family::Irregular(kind) };
    out.extend(Irregular::NOT_PERIODIC.map(|kind| irregular("none", kind)));
    out.extend(Irregular::TWO_PERIODS.map(|kind| irregular("two", kind)));
    out
}
