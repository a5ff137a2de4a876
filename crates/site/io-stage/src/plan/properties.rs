//! What holds whatever happens: random jobs, random forecasts, random outcomes.

use super::*;
use crate::stamp::Stamp;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::path::PathBuf;

#[derive(Clone, Debug)]
enum Step {
    /// Time passes.
    Wait(f64),
    /// The job does I/O that ends now.
    Request {
        seconds: f64,
        bytes: u64,
    },
    /// A flush with what is expected, in seconds from now.
    Flush {
        period: Option<f64>,
        confidence: f64,
        start: f64,
        earlier: f64,
    },
    /// The job writes a file, which a look then finds.
    Write {
        file: u8,
        mib: u64,
    },
    /// The job opens a file and closes it again, or not.
    Open {
        file: u8,
        closes: bool,
    },
    /// The copy under way ends.
    Copied(u8),
    /// The buffer is this full.
    Occupancy(u64),
    End,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0.01..6.0).prop_map(Step::Wait),
        3 => (0.0..2.0, 1u64..1 << 24).prop_map(|(seconds, bytes)| Step::Request { seconds, bytes }),
        3 => (proptest::option::of(0.5..60.0), 0.0..1.0, -5.0..40.0, 0.0..10.0).prop_map(
            |(period, confidence, start, earlier)| Step::Flush { period, confidence, start, earlier }
        ),
        3 => (0u8..6, 0u64..64).prop_map(|(file, mib)| Step::Write { file, mib }),
        1 => (0u8..6, any::<bool>()).prop_map(|(file, closes)| Step::Open { file, closes }),
        3 => any::<u8>().prop_map(Step::Copied),
        2 => (0u64..=100).prop_map(Step::Occupancy),
        1 => proptest::bool::weighted(0.1).prop_map(|ends| if ends { Step::End } else { Step::Wait(30.0) }),
    ]
}

/// What the test itself knows.
#[derive(Default)]
struct Truth {
    now: f64,
    ended: bool,
    requests: Vec<(f64, f64)>,
    files: BTreeMap<PathBuf, Stamp>,
    written: BTreeMap<PathBuf, f64>,
    opened: BTreeMap<PathBuf, f64>,
    open: BTreeMap<PathBuf, u32>,
    verified: BTreeMap<PathBuf, (Stamp, f64)>,
    writes: i64,
    used: u64,
    above: bool,
}

impl Truth {
    fn entries(&self) -> Vec<Entry> {
        let entry = |(path, stamp): (&PathBuf, &Stamp)| Entry {
            path: path.clone(),
            stamp: *stamp,
            kind: Kind::File,
            names: 1,
            room: stamp.size,
            written: self.written[path],
        };
        self.files.iter().map(entry).collect()
    }

    fn occupancy(&mut self, used: u64) {
        self.used = used;
        self.above = used > 80 || (self.above && used > 60);
    }
}

fn name(file: u8) -> PathBuf {
    PathBuf::from(format!("f{file}"))
}

/// The longest that a phase may be taken for.
fn longest(requests: &[(f64, f64)]) -> f64 {
    let first = requests.first().map_or(0.0, |request| request.0);
    requests.last().map_or(0.0, |last| last.1 - first)
}

/// A decision must be allowed by what the test knows.
fn check(decision: &Decision, planner: &Planner, truth: &Truth) -> Result<(), TestCaseError> {
    let settings = planner.settings();
    let trusted = planner.forecast().trusted(settings);
    let guard = settings.guard(trusted);
    match &decision.action {
        Action::Start(_) | Action::Resume => {
            let copy = planner.copying().unwrap().0;
            if !truth.ended {
                for (_, end) in &truth.requests {
                    prop_assert!(end + guard <= truth.now + 1e-9, "copies during a phase");
                }
            }
            if copy.direction == Direction::Out && !truth.ended {
                prop_assert!(trusted.is_some() || truth.above, "copies without a period");
                if let (Some(_), Some(start)) = (trusted, planner.forecast().start) {
                    prop_assert!(truth.now < start - guard + 1e-9, "too near to the next phase");
                }
            }
            if let (Action::Start(copy), Some(rate)) = (&decision.action, settings.rate) {
                prop_assert!(truth.files.contains_key(&copy.path));
                prop_assert!(
                    truth.verified.get(&copy.path).is_none_or(|(stamp, _)| Some(*stamp) != copy.stamp)
                );
                let seconds = copy.bytes as f64 / rate;
                if let (Some(end), Some(period)) = (decision.quiet_until, trusted) {
                    let fits = truth.now + seconds <= end + 1e-9;
                    let usual = period - 2.0 * guard - longest(&truth.requests);
                    prop_assert!(fits || seconds > usual - 1e-9, "does not fit");
                }
                if !truth.ended {
                    let written = truth.written[&copy.path];
                    let closed = truth.opened.get(&copy.path).is_some_and(|opened| opened + 0.05 >= written);
                    prop_assert!(closed || truth.now >= written + guard - 1e-9, "fresh");
                    prop_assert_eq!(truth.open.get(&copy.path).copied().unwrap_or(0), 0, "open");
                }
            }
        }
        Action::Evict { path, stamp, .. } => {
            prop_assert!(settings.evict && truth.above, "removed below the mark");
            prop_assert_eq!(truth.files.get(path), Some(stamp));
            let (verified, at) = truth.verified.get(path).copied().unwrap_or_default();
            prop_assert_eq!(verified, *stamp, "removed without a verified copy of this version");
            prop_assert!(truth.opened.get(path).is_none_or(|opened| *opened <= at), "opened since");
        }
        Action::Suspend | Action::Cancel => {}
    }
    Ok(())
}

/// Ask until there is nothing to say; all that is said is checked.
fn decide(planner: &mut Planner, truth: &mut Truth) -> Result<(), TestCaseError> {
    for _ in 0..100 {
        let Some(decision) = planner.decide(truth.now) else { return Ok(()) };
        check(&decision, planner, truth)?;
        if let Action::Evict { path, stamp, .. } = decision.action {
            truth.files.remove(&path);
            planner.evicted(&path);
            truth.occupancy(truth.used.saturating_sub(stamp.size));
        }
    }
    Err(TestCaseError::fail("does not come to an end"))
}

fn play(settings: Settings, steps: Vec<Step>) -> Result<(), TestCaseError> {
    let mut planner = Planner::new(Settings { noise: 0.0, ..settings });
    let mut truth = Truth::default();
    for step in steps {
        match step {
            Step::Wait(seconds) => truth.now += seconds,
            Step::Request { seconds, bytes } if !truth.ended => {
                truth.now += seconds;
                truth.requests.push((truth.now - seconds, truth.now));
                planner.request(truth.now - seconds, truth.now, bytes);
                let copying = planner.copying().is_some_and(|(_, suspended)| !suspended);
                if copying {
                    let said = planner.decide(truth.now).map(|decision| decision.action);
                    prop_assert!(matches!(said, Some(Action::Suspend | Action::Cancel)), "{said:?}");
                }
            }
            Step::Flush { period, confidence, start, earlier } => {
                let start = Some(truth.now + start);
                let start_low = start.map(|start| start - earlier);
                let forecast =
                    Forecast { period, confidence, start, start_low, start_high: None, bytes: None };
                planner.flush(truth.now, truth.now, forecast);
            }
            Step::Write { file, mib } if !truth.ended => {
                truth.writes += 1;
                let stamp = Stamp {
                    device: 1,
                    inode: u64::from(file),
                    size: mib << 20,
                    modified: truth.writes,
                    changed: truth.writes,
                };
                truth.files.insert(name(file), stamp);
                truth.written.insert(name(file), truth.now);
                let grows = truth.entries();
                planner.scanned(grows, truth.now);
            }
            Step::Open { file, closes } => {
                truth.opened.insert(name(file), truth.now);
                *truth.open.entry(name(file)).or_default() += u32::from(!closes);
                let (touched, closed) = (Some(truth.now), u32::from(closes));
                planner.used(&name(file), Use { opened: 1, closed, touched, read: None });
            }
            Step::Copied(how) => {
                if let Some((copy, suspended)) = planner.copying().map(|(copy, s)| (copy.clone(), s)) {
                    let current = truth.files.get(&copy.path).copied();
                    let outcome = match how % 5 {
                        _ if current != copy.stamp => Outcome::Changed,
                        _ if suspended => Outcome::Cancelled,
                        0 => Outcome::Failed("no".into()),
                        1 => Outcome::Full,
                        _ => {
                            let stamp = copy.stamp.unwrap();
                            truth.verified.insert(copy.path.clone(), (stamp, truth.now));
                            Outcome::Verified { stamp, copy: stamp, seconds: 0.5, certain: true }
                        }
                    };
                    planner.copied(truth.now, &outcome);
                }
            }
            Step::Occupancy(percent) => {
                truth.occupancy(percent);
                planner.occupancy(percent, Some(100));
            }
            Step::End => {
                truth.ended = true;
                planner.job_ended(truth.now);
            }
            Step::Request { .. } | Step::Write { .. } => {}
        }
        decide(&mut planner, &mut truth)?;
        let report = planner.report(truth.now);
        prop_assert!(report.seconds_overlap <= report.seconds_copying + 1e-9);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_decision_is_allowed(
        steps in proptest::collection::vec(step(), 1..120),
        evict in any::<bool>(),
        rate in proptest::option::of(1e5..1e9),
    ) {
        play(Settings { evict, rate, ..Settings::default() }, steps)?;
    }
}
