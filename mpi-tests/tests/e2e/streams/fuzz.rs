//! Draws scripts for a while, plays them, and shows what fails, made small.

use super::batch::{Checks, Second, Shown, play, play_one};
use super::compare::{Aspect, Difference};
use super::generate;
use super::play::{NUMBER_OF_PLAYERS, Settings, Stage};
use super::report::{Report, say, trouble_alone};
use super::script::Script;
use super::shrink::shrink;
use crate::harness::target_directory;
use std::fs;
use std::time::{Duration, Instant};

/// Scripts that are played by one process after the other, under one trace.
const BATCH: usize = 128;

/// What to do.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// Of the first script; the next has the next number.
    seed: u64,
    sequences: usize,
    /// No batch begins later.
    until: Option<Instant>,
    calls: bool,
    /// Against another run without the library, instead of one with it.
    without_library: bool,
    /// As many failures are made small and shown; the others are counted.
    shown: usize,
}

fn settings_of(batch: usize) -> Settings {
    // Every player comes to the disk.
    Settings { player: batch % NUMBER_OF_PLAYERS, on_disk: batch.is_multiple_of(NUMBER_OF_PLAYERS + 1) }
}

fn describe(settings: Settings) -> String {
    format!(
        "player {}, {}",
        settings.player,
        if settings.on_disk { "on disk, default exclusions" } else { "in memory, TMIO_EXCLUDE_PATHS=none" }
    )
}

/// A failure, made small: what differs, the script, and how to play it again.
fn explain(
    stage: &Stage,
    seed: u64,
    script: &Script,
    settings: Settings,
    checks: Checks,
    found: &[Difference],
) -> String {
    let aspect = found.iter().map(|difference| difference.aspect).min().unwrap_or(Aspect::Trace);
    let small = shrink(stage, script, settings, checks, aspect);
    let mut differences = play_one(stage, &small, settings, checks);
    if differences.is_empty() {
        differences = found.to_vec();
    }
    let directory = target_directory().join("fuzz-streams");
    fs::create_dir_all(&directory).expect("target/ can be written");
    let path = directory.join(format!("{seed}.script"));
    fs::write(&path, small.numbered(0)).expect("target/ can be written");
    let differences: Vec<&str> = differences.iter().map(|difference| &*difference.text).collect();
    format!(
        "seed {seed} ({}):\n  {}\n{small}again: scripts/fuzz-streams --replay {} --player {}{}\n",
        describe(settings),
        differences.join("\n  "),
        path.display(),
        settings.player,
        if settings.on_disk { " --on-disk" } else { "" },
    )
}

fn fuzz(plan: Plan) -> Report {
    let stage = Stage::new();
    let mut report = Report::default();
    let mut batch = (plan.seed / BATCH as u64) as usize;
    while report.played < plan.sequences && plan.until.is_none_or(|until| Instant::now() < until) {
        let first = plan.seed + report.played as u64;
        let count = BATCH.min(plan.sequences - report.played);
        let scripts: Vec<Script> = (first..first + count as u64).map(generate::script).collect();
        let settings = settings_of(batch);
        let second = match batch % 8 {
            _ if plan.without_library => Second::Alone,
            7 => Second::TracedAndCounted,
            _ => Second::Traced,
        };
        let checks = Checks { second, calls: plan.calls };
        let Shown { differences, wrong, alone, .. } = play(&stage, &scripts, settings, checks);
        for (at, log) in alone.logs.iter().enumerate() {
            report.note_calls(log);
            if let Some(trouble) = trouble_alone(log) {
                // Not the library's fault: the script is not legal, or the model is wrong.
                let seed = first + at as u64;
                report.failed += 1;
                let text = format!("seed {seed}: alone, it {trouble}\n{}{log}", scripts[at]);
                say(&format!("\n{text}"));
                report.failures.push(text);
            }
        }
        report.played += count;
        report.failed += differences.len();
        if !wrong.is_empty() {
            let last = first + count as u64 - 1;
            let text = format!("seeds {first} to {last} ({}): {}\n", describe(settings), wrong.join("; "));
            say(&format!("\n{text}"));
            report.failed += 1;
            report.failures.push(text);
        }
        for (at, found) in differences {
            if report.failures.len() < plan.shown {
                let seed = first + at as u64;
                let text = explain(&stage, seed, &scripts[at], settings, checks, &found);
                say(&format!("\n{text}"));
                report.failures.push(text);
            }
        }
        batch += 1;
    }
    report
}

/// The same scripts in every run, and some that nobody has seen before.
#[test]
fn what_is_recorded_is_what_the_kernel_counted() {
    let mut failures = Vec::new();
    let fresh = fresh_seed();
    for (seed, sequences) in [(0, 3200), (fresh, 640)] {
        let began = Instant::now();
        let report =
            fuzz(Plan { seed, sequences, until: None, calls: true, without_library: false, shown: 3 });
        say(&format!("streams: from seed {seed} on, "));
        report.print(began.elapsed().as_secs_f64());
        failures.extend(report.failures.iter().cloned());
        assert!(seed != 0 || report.never().is_empty(), "calls that never succeeded: {:?}", report.never());
        assert_eq!(report.failed, 0, "sequences failed from seed {seed} on:\n{}", failures.join("\n"));
    }
}

/// The scripts themselves do the same in every run: what differs with the library is its doing.
#[test]
fn every_run_without_the_library_is_the_same() {
    let plan =
        Plan { seed: 700_000, sequences: 640, until: None, calls: true, without_library: true, shown: 3 };
    let report = fuzz(plan);
    assert_eq!(report.failed, 0, "\n{}", report.failures.join("\n"));
}

fn asked(name: &str) -> Option<String> {
    std::env::var(format!("FUZZ_STREAMS_{name}")).ok().filter(|value| !value.is_empty())
}

fn number_asked(name: &str) -> Option<u64> {
    asked(name)
        .map(|value| value.parse().unwrap_or_else(|_| panic!("FUZZ_STREAMS_{name} is a number: {value}")))
}

/// What `scripts/fuzz-streams` runs.
#[test]
#[ignore = "takes as long as it is asked to: scripts/fuzz-streams"]
fn by_hand() {
    let calls = asked("BYTES_ONLY").is_none();
    if let Some(path) = asked("REPLAY") {
        return replay(&path, calls);
    }
    let began = Instant::now();
    let seconds = number_asked("SECONDS");
    let sequences = number_asked("SEQUENCES").map(|count| count as usize);
    let plan = Plan {
        seed: number_asked("SEED").unwrap_or_else(fresh_seed),
        sequences: sequences.unwrap_or(usize::MAX),
        // A minute, unless something is asked for.
        until: match (seconds, sequences) {
            (None, Some(_)) => None,
            (seconds, _) => Some(began + Duration::from_secs(seconds.unwrap_or(60))),
        },
        calls,
        without_library: asked("WITHOUT_LIBRARY").is_some(),
        shown: number_asked("SHOW").map_or(5, |count| count as usize),
    };
    say(&format!("seed {}\n", plan.seed));
    let report = fuzz(plan);
    report.print(began.elapsed().as_secs_f64());
    assert_eq!(report.failed, 0, "sequences failed");
}

fn replay(path: &str, calls: bool) {
    let script: Script = fs::read_to_string(path).expect(path).parse().unwrap();
    let player = number_asked("PLAYER").unwrap_or(0) as usize;
    let settings = Settings { player, on_disk: asked("ON_DISK").is_some() };
    let checks = Checks { second: Second::TracedAndCounted, calls };
    let stage = Stage::new();
    let shown = play(&stage, std::slice::from_ref(&script), settings, checks);
    say(&format!("{}\n", shown.alone.logs[0]));
    let found: Vec<Difference> = shown.differences.into_values().flatten().collect();
    found.iter().for_each(|difference| say(&format!("{:?}: {}\n", difference.aspect, difference.text)));
    shown.wrong.iter().for_each(|wrong| say(&format!("{wrong}\n")));
    shown.other_names.iter().for_each(|name| say(&format!("also in the trace: {name}\n")));
    assert!(found.is_empty() && shown.wrong.is_empty(), "it fails");
}

fn fresh_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64 % 1_000_000_000
}
