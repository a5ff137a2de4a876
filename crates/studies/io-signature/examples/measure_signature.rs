//! Signatures of simulated applications beside their truth, one JSON object a line: `measure_signature
//! SEEDS [PART…]`, with parts accuracy, noise, samples, level, gamma, kappa, silent, time. `scripts/bench
//! signature` makes tables of it. FIRST in the environment is the first seed of the part noise (default 0).

use io_signature::compare::{Comparison, compare};
use io_signature::{Method, Sample, Settings, Signature, dtw, published, resample, signature};
use serde_json::{Value, json};
use trace_generator::random::Random;
use trace_generator::server_log::{Application, Disturbance, STEP};

/// Seeds of calibration and judgement never meet.
const CALIBRATION: u64 = 0;
const JUDGEMENT: u64 = 1_000_000;

struct Case<'a> {
    application: &'a Application,
    disturbance: Disturbance,
    scale: f64,
    runs: usize,
    seed: u64,
}

impl Case<'_> {
    fn samples(&self) -> Vec<Sample> {
        let judged = Disturbance::JUDGEMENT.contains(&self.disturbance);
        let first = if judged { JUDGEMENT } else { CALIBRATION };
        let letters = self.application.name.bytes().fold(7, |sum: u64, byte| 31 * sum + u64::from(byte));
        let random =
            &mut Random::new(first + 1009 * self.seed + 77_003 * letters + (1000.0 * self.scale) as u64);
        (0..self.runs)
            .map(|run| Sample {
                name: format!("run {run}"),
                start: 0.0,
                step: STEP as f64,
                values: self.application.run(self.disturbance, self.scale, random).log,
            })
            .collect()
    }

    fn compared(&self, signature: &Signature) -> Comparison {
        compare(signature, &self.application.truth(), &self.application.spans())
    }

    fn line(&self, part: &str, value: Value, signature: &Signature) -> Value {
        let mut line = json!({
            "part": part, "value": value, "disturbance": self.disturbance.name(),
            "judged": Disturbance::JUDGEMENT.contains(&self.disturbance),
            "application": self.application.name, "scale": self.scale, "runs": self.runs, "seed": self.seed,
            "quality": signature.quality,
            "used": signature.samples.iter().filter(|sample| sample.used).count(),
        });
        let found = serde_json::to_value(self.compared(signature)).expect("numbers");
        line.as_object_mut().expect("an object").extend(found.as_object().expect("an object").clone());
        line
    }
}

fn all() -> impl Iterator<Item = Disturbance> {
    Disturbance::CALIBRATION.into_iter().chain(Disturbance::JUDGEMENT)
}

/// The series of a rival as a signature, its bursts found as in a series without noise.
fn rival(series: Vec<f64>) -> Signature {
    let bursts = io_signature::compare::bursts_of(&series);
    let burst = |&(start, end): &(f64, f64)| io_signature::Burst {
        start,
        crest: start,
        end,
        bytes: 0.0,
        height: 0.0,
        votes: 0,
        samples: 0,
    };
    let bytes = series.iter().sum();
    Signature { bursts: bursts.iter().map(burst).collect(), bytes, series, ..Signature::default() }
}

fn methods(case: &Case<'_>, part: &str) {
    let samples = case.samples();
    let default = signature(&samples, Method::Median, &Settings::default());
    println!("{}", case.line(part, json!("default"), &default));
    let as_published = signature(&samples, Method::Published, &Settings::published());
    println!("{}", case.line(part, json!("as published"), &as_published));
    let seconds: Vec<Vec<f64>> =
        samples.iter().map(|sample| resample::with_means_inserted(&sample.values)).collect();
    let plain = published::published(&seconds, false, &Settings::published());
    let mut plain_signature = rival(plain.series);
    plain_signature.bursts = plain
        .bursts
        .iter()
        .map(|burst| io_signature::Burst {
            start: burst.start,
            crest: burst.time,
            end: burst.end,
            bytes: 0.0,
            height: 0.0,
            votes: burst.votes,
            samples: case.runs,
        })
        .collect();
    println!("{}", case.line(part, json!("without preprocessing"), &plain_signature));
    if case.seed < 5 {
        println!("{}", case.line(part, json!("chained DTW"), &rival(dtw::chained(&seconds))));
    }
}

fn sensitivity(part: &str, seeds: u64, values: &[f64], set: impl Fn(&mut Settings, &mut Case<'_>, f64)) {
    for application in &Application::published() {
        for disturbance in [Disturbance::Bursts, Disturbance::Floods, Disturbance::Neighbours] {
            for seed in 0..seeds {
                for &value in values {
                    for method in [Method::Median, Method::Published] {
                        let mut case = Case { application, disturbance, scale: 1.0, runs: 10, seed };
                        let mut settings = if method == Method::Median {
                            Settings::default()
                        } else {
                            Settings::published()
                        };
                        set(&mut settings, &mut case, value);
                        let found = signature(&case.samples(), method, &settings);
                        let mut line = case.line(part, json!(value), &found);
                        line["method"] = json!(method);
                        println!("{line}");
                    }
                }
            }
        }
    }
}

/// Milliseconds that this thread was on a processor, whatever else the machine does.
fn on_cpu() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux");
    text.split(' ').next().and_then(|text| text.parse::<f64>().ok()).expect("nanoseconds") / 1e6
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let seeds: u64 = arguments.next().and_then(|seeds| seeds.parse().ok()).unwrap_or(20);
    let parts: Vec<String> = arguments.collect();
    let asked = |part: &str| parts.is_empty() || parts.iter().any(|one| one == part);
    let applications = Application::published();
    let few = (seeds / 4).max(2);
    let first = std::env::var("FIRST").ok().and_then(|first| first.parse().ok()).unwrap_or(0u64);
    if asked("accuracy") {
        for disturbance in all() {
            for application in &applications {
                for seed in 0..seeds {
                    methods(&Case { application, disturbance, scale: 1.0, runs: 10, seed }, "accuracy");
                }
            }
        }
    }
    if asked("noise") {
        for disturbance in all() {
            for application in &applications {
                for seed in first..first + seeds {
                    for scale in [0.5, 1.0, 2.0, 3.0, 5.0, 8.0] {
                        let case = Case { application, disturbance, scale, runs: 10, seed };
                        let found = signature(&case.samples(), Method::Median, &Settings::default());
                        println!("{}", case.line("noise", json!(scale), &found));
                    }
                }
            }
        }
    }
    if asked("samples") {
        sensitivity("samples", few, &[3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0], |_, case, value| {
            case.runs = value as usize;
        });
    }
    if asked("level") {
        sensitivity("level", few, &[1.0, 2.0, 3.0, 4.0], |settings, _, value| settings.level = value);
    }
    if asked("gamma") {
        let values = [0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];
        sensitivity("gamma", few, &values, |settings, _, value| settings.gamma = value);
    }
    if asked("kappa") {
        sensitivity("kappa", few, &[0.5, 0.6, 0.7, 0.8, 0.9, 1.0], |settings, _, value| {
            settings.kappa = value;
            settings.kappa_low = value;
        });
    }
    if asked("silent") {
        for disturbance in all() {
            for seed in 0..10 * seeds {
                let silent = Application::silent(600 + (seed as usize * 97) % 2400);
                let case = Case { application: &silent, disturbance, scale: 1.0, runs: 10, seed };
                let found = signature(&case.samples(), Method::Median, &Settings::default());
                println!(
                    "{}",
                    json!({"part": "silent", "disturbance": disturbance.name(), "bursts": found.bursts.len()})
                );
            }
        }
    }
    if asked("time") {
        let application = Application { first: 60, cycle: 200, ..Application::ior_b() };
        let case = Case {
            application: &application,
            disturbance: Disturbance::Bursts,
            scale: 1.0,
            runs: 10,
            seed: 1,
        };
        let mut samples = case.samples();
        samples.iter_mut().for_each(|sample| {
            sample.values.resize(1000, 1e8);
        });
        for method in [Method::Median, Method::Published] {
            let settings = if method == Method::Median { Settings::default() } else { Settings::published() };
            let begun = on_cpu();
            for _ in 0..20 {
                assert!(!signature(&samples, method, &settings).series.is_empty());
            }
            let milliseconds = (on_cpu() - begun) / 20.0;
            println!("{}", json!({"part": "time", "method": method, "milliseconds": milliseconds}));
        }
    }
}
