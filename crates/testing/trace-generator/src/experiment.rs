//! The settings of the experiment.

use crate::application::{Application, Noise};
use crate::generated::Generated;
use crate::irregular::Irregular;
use crate::random::Random;

/// A family of traces.
#[derive(Clone, Debug, PartialEq)]
pub enum Family {
    /// Applications of one setting.
    Application(Application),
    /// Signals of one kind.
    Irregular(Irregular),
    /// Applications of every kind: all parameters by chance.
    Any,
}

/// A family with its name and the table it belongs to.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Which table: `8a`, `8b`, `8c` (the figures of the paper), `own` (the same in the paper's own setting),
    /// `any`, `none`, `two`.
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
            Family::Any => any(seed).generate(seed),
        }
    }
}

/// An application with all parameters by chance, each disturbance in about half of them.
pub fn any(seed: u64) -> Application {
    let random = &mut Random::new(seed ^ 0xa2b1);
    let maybe = |random: &mut Random, none: f64, low: f64, high: f64| {
        if random.unit() < 0.5 { none } else { random.between(low, high) }
    };
    let phase = random.between(0.5f64.ln(), 30f64.ln()).exp();
    Application {
        ranks: [2, 8, 16, 32, 64][random.below(5)],
        iterations: random.between(4f64.ln(), 60f64.ln()).exp() as usize,
        compute: phase * random.between(0.2f64.ln(), 20f64.ln()).exp(),
        jitter: maybe(random, 0.0, 0.05, 1.0),
        desync: phase * maybe(random, 0.0, 0.02, 1.5),
        noise: [Noise::None, Noise::None, Noise::Low, Noise::High][random.below(4)],
        shape: None,
        phase,
        volume_spread: maybe(random, 0.0, 0.02, 0.4),
        first_phase: maybe(random, 1.0, 1.0, 4.0),
        idle: 30.0,
    }
}

/// All settings: those of the paper's figures 8a, 8b and 8c, then all kinds of applications, signals without
/// a period, then those with two.
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
    for jitter in [0.0, 0.25, 0.5, 0.55, 1.0, 2.0] {
        add("8c", format!("jitter {jitter}"), Application { jitter, ..Application::default() });
    }
    let own = Application::of_the_paper();
    for compute in [2.0, 11.0, 88.0] {
        add("own", format!("own t_cpu {compute} s"), Application { compute, ..own.clone() });
    }
    for desync in [1.0, 5.0, 11.0, 22.0] {
        add("own", format!("own desynchronisation {desync} s"), Application { desync, ..own.clone() });
    }
    for jitter in [0.0, 0.25, 0.55, 1.0, 2.0] {
        add("own", format!("own jitter {jitter}"), Application { jitter, ..own.clone() });
    }
    out.push(Setting { table: "any", name: "anything".into(), family: Family::Any });
    let irregular =
        |table, kind: Irregular| Setting { table, name: kind.name().into(), family: Family::Irregular(kind) };
    out.extend(Irregular::NOT_PERIODIC.map(|kind| irregular("none", kind)));
    out.extend(Irregular::TWO_PERIODS.map(|kind| irregular("two", kind)));
    out
}
