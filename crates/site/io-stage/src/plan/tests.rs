//! The rules, one by one.

use super::*;
use crate::stamp::Stamp;
use std::path::Path;

const MIB: u64 = 1 << 20;

fn stamp(inode: u64, mib: u64, modified: f64) -> Stamp {
    let modified = (modified * 1e9) as i64;
    Stamp { device: 1, inode, size: mib * MIB, modified, changed: modified }
}

fn entry(path: &str, inode: u64, mib: u64, written: f64) -> Entry {
    let stamp = stamp(inode, mib, written);
    Entry { path: path.into(), stamp, kind: Kind::File, names: 1, room: mib * MIB, written }
}

/// Phases of 2 s at 0, 10, 20, …; what is known at `now`, with the next one expected on time.
fn after_phases(count: u32, now: f64, settings: Settings) -> Planner {
    let mut planner = Planner::new(settings);
    for i in 0..count {
        let start = 10.0 * f64::from(i);
        planner.request(start, start + 2.0, 100 * MIB);
    }
    let start = Some(10.0 * f64::from(count));
    let forecast = Forecast {
        period: Some(10.0),
        confidence: 0.9,
        start,
        start_low: start,
        start_high: None,
        bytes: Some(100 * MIB),
    };
    planner.flush(now, now, forecast);
    planner
}

fn rate(mib: f64) -> Settings {
    Settings { rate: Some(mib * MIB as f64), ..Settings::default() }
}

fn started(decision: Option<Decision>) -> Option<String> {
    match decision?.action {
        Action::Start(copy) => Some(copy.path.display().to_string()),
        other => panic!("{other:?}"),
    }
}

fn verified(planner: &mut Planner, now: f64) {
    let (copy, _) = planner.copying().unwrap();
    let outcome =
        Outcome::Verified { stamp: copy.stamp.unwrap(), copy: Stamp::default(), seconds: 0.1, certain: true };
    planner.copied(now, &outcome).unwrap();
}

#[test]
fn oldest_phase_first_then_the_smallest() {
    let mut planner = after_phases(3, 23.5, rate(1000.0));
    planner.scanned(
        vec![
            entry("new-small", 1, 1, 21.0),
            entry("old-large", 2, 9, 11.0),
            entry("old-small", 3, 2, 11.5),
            entry("older", 4, 50, 1.0),
        ],
        23.5,
    );
    let mut order = Vec::new();
    while let Some(path) = started(planner.decide(24.0)) {
        order.push(path);
        verified(&mut planner, 24.0);
    }
    assert_eq!(order, ["older", "old-small", "old-large", "new-small"]);
}

#[test]
fn only_what_fits_into_the_quiet_is_begun() {
    // Quiet until 29; at 10 MiB/s and 25 s there is room for 40 MiB. In a usual quiet of 6 s, for 60.
    let files = vec![entry("fits-later", 1, 50, 1.0), entry("fits", 2, 30, 11.0), entry("never", 3, 70, 1.0)];
    let mut planner = after_phases(3, 25.0, rate(10.0));
    planner.scanned(files.clone(), 25.0);
    assert_eq!(started(planner.decide(25.0)).as_deref(), Some("fits"), "although it is younger");
    verified(&mut planner, 28.0);
    let next = planner.decide(28.0).unwrap();
    assert_eq!(next.quiet_until, Some(29.0));
    assert_eq!(started(Some(next)).as_deref(), Some("never"), "it has to be spread over several");
    let decision = planner.decide(29.0).unwrap();
    assert_eq!((decision.action, decision.reason), (Action::Suspend, Reason::NextPhaseNear));
    assert_eq!(planner.decide(30.0), None);
    planner.request(30.0, 32.0, 100 * MIB);
    planner.flush(33.0, 33.0, Forecast { start: Some(40.0), start_low: Some(40.0), ..*planner.forecast() });
    assert_eq!(planner.decide(32.5), None, "too near to the phase");
    assert_eq!(planner.decide(33.0).unwrap().action, Action::Resume);
    let report = planner.report(34.0);
    assert_eq!((report.suspended, report.seconds_overlap, report.share_in_quiet), (1, 0.0, Some(1.0)));
    assert_eq!(report.seconds_copying, 5.0);
}

#[test]
fn an_early_phase_suspends_at_its_first_request() {
    let mut planner = after_phases(3, 24.0, rate(10.0));
    planner.scanned(vec![entry("a", 1, 30, 1.0)], 24.0);
    assert!(started(planner.decide(24.0)).is_some());
    planner.request(25.0, 25.001, 40 * 1024);
    assert_eq!(planner.decide(25.1), None, "a line in a log is no phase");
    planner.request(25.2, 25.3, 4 * MIB);
    let decision = planner.decide(25.4).unwrap();
    assert_eq!((decision.action, decision.reason), (Action::Suspend, Reason::Phase));
    assert!((planner.report(25.4).seconds_overlap - 0.3).abs() < 1e-9, "from 25.0 on, to 25.3");
}

#[test]
fn a_file_that_grows_is_io_too() {
    let mut planner = after_phases(3, 24.0, rate(10.0));
    planner.scanned(vec![entry("a", 1, 30, 1.0), entry("b", 2, 1, 21.0)], 24.0);
    assert!(started(planner.decide(24.0)).is_some());
    planner.scanned(vec![entry("a", 1, 30, 1.0), entry("b", 2, 9, 25.9)], 26.0);
    assert_eq!(planner.decide(26.0).unwrap().action, Action::Suspend);
    assert_eq!(planner.phases().len(), 4);
}

#[test]
fn files_that_are_open_or_read_or_foreign_stay() {
    let mut planner = after_phases(4, 33.5, Settings { not_before: Some(-1.0), ..rate(1000.0) });
    let files = ["open", "read", "read-long-ago", "fresh", "foreign", "plain"];
    let written = |name: &&str| match *name {
        "fresh" => 33.2,
        "foreign" => -50.0,
        _ => 1.0,
    };
    let entries = files.iter().enumerate().map(|(i, name)| entry(name, i as u64, 1, written(name))).collect();
    planner.scanned(entries, 33.5);
    planner.used(Path::new("open"), Use { opened: 2, closed: 1, touched: Some(1.0), read: None });
    planner.used(Path::new("read"), Use { opened: 1, closed: 1, touched: Some(21.0), read: Some(21.0) });
    planner.used(
        Path::new("read-long-ago"),
        Use { opened: 1, closed: 1, touched: Some(11.0), read: Some(11.0) },
    );
    let mut order = Vec::new();
    while let Some(path) = started(planner.decide(34.0)) {
        order.push(path);
        verified(&mut planner, 34.0);
    }
    assert_eq!(order, ["plain", "read-long-ago"]);
    planner.job_ended(40.0);
    let mut rest = Vec::new();
    while let Some(path) = started(planner.decide(40.0)) {
        rest.push(path);
        verified(&mut planner, 40.0);
    }
    assert_eq!(rest, ["open", "read", "fresh"]);
    assert!(planner.is_finished());
    assert_eq!(planner.report(40.0).files_left, 0);
}

#[test]
fn without_a_period_files_leave_above_the_mark_or_at_the_end() {
    let mut planner = after_phases(3, 24.0, rate(10.0));
    planner.flush(24.0, 24.0, Forecast { confidence: 0.4, ..*planner.forecast() });
    planner.scanned(vec![entry("a", 1, 30, 1.0), entry("b", 2, 30, 1.0)], 24.0);
    planner.occupancy(79, Some(100));
    assert_eq!(planner.decide(24.0), None);
    planner.occupancy(81, Some(100));
    let decision = planner.decide(24.0).unwrap();
    assert_eq!((decision.reason, decision.quiet_until), (Reason::AboveMark, None));
    planner.request(25.0, 25.1, MIB);
    assert_eq!(planner.decide(25.1).unwrap().action, Action::Suspend);
    planner.job_ended(25.2);
    assert_eq!(planner.decide(25.2).unwrap().action, Action::Resume);
    verified(&mut planner, 26.0);
    assert_eq!(started(planner.decide(26.0)).as_deref(), Some("b"));
}

#[test]
fn only_verified_files_are_removed_and_only_above_the_mark() {
    let mut planner = after_phases(3, 24.0, Settings { evict: true, ..rate(1000.0) });
    planner.scanned((0..4).map(|i| entry(&format!("f{i}"), i, 10, 1.0 + i as f64 * 0.1)).collect(), 24.0);
    let capacity = Some(50 * MIB);
    planner.occupancy(39 * MIB, capacity);
    for _ in 0..3 {
        assert!(started(planner.decide(24.0)).is_some());
        verified(&mut planner, 24.0);
    }
    planner.used(Path::new("f0"), Use { opened: 1, closed: 1, touched: Some(24.5), read: None });
    planner.occupancy(41 * MIB, capacity);
    let evicted = |planner: &mut Planner, now| match planner.decide(now)?.action {
        Action::Evict { path, .. } => Some(path.display().to_string()),
        _ => None,
    };
    assert_eq!(evicted(&mut planner, 25.0).as_deref(), Some("f1"), "f0 was opened since, f3 has no copy");
    planner.evicted(Path::new("f1"));
    assert_eq!(planner.buffer().0, 31 * MIB);
    assert_eq!(evicted(&mut planner, 25.0).as_deref(), Some("f2"), "down to the low mark");
    planner.evicted(Path::new("f2"));
    assert_eq!(evicted(&mut planner, 25.0), None);
    let report = planner.report(26.0);
    assert_eq!((report.files_evicted, report.bytes_evicted), (2, 20 * MIB));
    assert_eq!(report.peak_occupancy, 41 * MIB);
}

#[test]
fn a_file_that_was_changed_after_its_copy_is_not_removed_but_copied_again() {
    let mut planner = after_phases(3, 24.0, Settings { evict: true, ..rate(1000.0) });
    planner.scanned(vec![entry("a", 1, 10, 1.0)], 24.0);
    assert!(started(planner.decide(24.0)).is_some());
    verified(&mut planner, 24.0);
    planner.scanned(vec![entry("a", 1, 10, 2.0)], 24.0);
    planner.occupancy(90, Some(100));
    assert_eq!(started(planner.decide(24.5)).as_deref(), Some("a"));
    planner.scanned(vec![entry("a", 1, 10, 2.5)], 24.6);
    assert_eq!(planner.decide(24.6).unwrap().action, Action::Cancel, "changed under the copy");
    assert_eq!(planner.decide(24.6), None);
    planner.copied(24.7, &Outcome::Cancelled);
    assert_eq!(planner.decide(24.8), None, "it has to rest for the guard time first");
    assert!(started(planner.decide(25.8)).is_some());
}

#[test]
fn needed_files_come_in_before_their_phase() {
    let mut planner = Planner::new(rate(10.0));
    let need = |path: &str, phase, mib: u64| Need { path: path.into(), phase, bytes: mib * MIB };
    planner.set_needs(vec![need("first", Some(1), 5), need("third", Some(3), 20), need("each", None, 30)]);
    planner.occupancy(0, Some(100 * MIB));
    let arrive = |planner: &mut Planner, now: f64| {
        let (copy, _) = planner.copying().unwrap();
        let stamp = Stamp { size: copy.bytes, ..Stamp::default() };
        planner.copied(now, &Outcome::Verified { stamp, copy: stamp, seconds: 0.5, certain: true });
    };
    let first = planner.decide(0.0).unwrap();
    assert_eq!(first.reason, Reason::Needed);
    assert_eq!(started(Some(first)).as_deref(), Some("first"));
    arrive(&mut planner, 0.5);
    assert_eq!(started(planner.decide(0.5)).as_deref(), Some("each"));
    planner.request(2.0, 4.0, 100 * MIB);
    assert_eq!(planner.decide(2.0).unwrap().action, Action::Suspend, "the phase does not wait for it");
    planner.flush(6.0, 6.0, Forecast::default());
    assert_eq!(planner.decide(6.0).unwrap().action, Action::Resume);
    arrive(&mut planner, 8.0);
    assert_eq!(planner.decide(8.0), None, "there, and nothing else is needed in phase 2");
    planner.request(12.0, 14.0, 100 * MIB);
    planner.flush(16.0, 16.0, Forecast::default());
    assert_eq!(started(planner.decide(16.0)).as_deref(), Some("third"));
    arrive(&mut planner, 18.0);
    let report = planner.report(18.0);
    assert_eq!((report.files_in, report.bytes_in, report.bytes_left), (3, 55 * MIB, 0));
    assert_eq!(planner.buffer().0, 55 * MIB);
}

#[test]
fn nothing_comes_in_beyond_the_mark() {
    let mut planner = Planner::new(rate(10.0));
    planner.set_needs(vec![Need { path: "large".into(), phase: None, bytes: 30 * MIB }]);
    planner.occupancy(51 * MIB, Some(100 * MIB));
    assert_eq!(planner.decide(0.0), None);
    planner.occupancy(50 * MIB, Some(100 * MIB));
    assert!(started(planner.decide(0.0)).is_some());
    planner.copied(1.0, &Outcome::Failed("unreadable".into()));
    assert_eq!(planner.decide(1.0), None, "tried again before the next phase only");
}

#[test]
fn a_full_destination_is_tried_again_after_the_next_phase() {
    let mut planner = after_phases(3, 24.0, rate(1000.0));
    planner.scanned(vec![entry("a", 1, 10, 1.0), entry("b", 2, 10, 1.0)], 24.0);
    assert!(started(planner.decide(24.0)).is_some());
    planner.copied(24.1, &Outcome::Full);
    assert_eq!(planner.decide(24.2), None);
    planner.request(30.0, 32.0, 100 * MIB);
    planner.flush(34.0, 34.0, Forecast { start: Some(40.0), start_low: None, ..*planner.forecast() });
    assert!(started(planner.decide(34.0)).is_some());
    planner.copied(34.1, &Outcome::Full);
    planner.job_ended(35.0);
    assert!(started(planner.decide(35.0)).is_some(), "and once more at the end");
    planner.copied(35.1, &Outcome::Full);
    assert!(planner.decide(35.2).is_none() && planner.is_finished());
    assert_eq!((planner.report(36.0).files_left, planner.report(36.0).failed), (2, 3));
}

#[test]
fn what_fails_three_times_is_given_up_and_what_vanishes_is_forgotten() {
    let mut planner = after_phases(3, 24.0, rate(1000.0));
    planner.scanned(vec![entry("bad", 1, 1, 1.0), entry("gone", 2, 10, 1.0)], 24.0);
    assert_eq!(started(planner.decide(24.0)).as_deref(), Some("bad"));
    planner.copied(24.1, &Outcome::Failed("Permission denied".into()));
    assert_eq!(started(planner.decide(24.2)).as_deref(), Some("gone"));
    planner.copied(24.3, &Outcome::Vanished);
    assert_eq!(planner.decide(24.4), None);
    planner.job_ended(25.0);
    for _ in 0..2 {
        assert_eq!(started(planner.decide(25.0)).as_deref(), Some("bad"));
        planner.copied(25.0, &Outcome::Failed("Permission denied".into()));
    }
    assert!(planner.is_finished());
    assert_eq!(planner.report(25.0).files_left, 1);
}

#[test]
fn what_an_earlier_process_has_verified_is_not_copied_again() {
    let mut planner = after_phases(3, 24.0, rate(1000.0));
    planner.verified_before("a".into(), stamp(1, 10, 1.0), true);
    planner.verified_before("b".into(), stamp(2, 10, 0.5), true);
    planner.scanned(vec![entry("a", 1, 10, 1.0), entry("b", 2, 10, 1.0)], 24.0);
    assert_eq!(started(planner.decide(24.0)).as_deref(), Some("b"), "it has changed since");
    verified(&mut planner, 24.1);
    assert_eq!(planner.decide(24.1), None);
}

#[test]
fn the_second_name_of_a_file_is_a_link_to_its_copy() {
    let mut planner = after_phases(3, 24.0, rate(1000.0));
    let name = |path: &str| Entry { names: 2, ..entry(path, 7, 10, 1.0) };
    planner.scanned(vec![name("a"), name("b")], 24.0);
    assert_eq!(started(planner.decide(24.0)).as_deref(), Some("a"));
    assert_eq!(planner.copying().unwrap().0.same_as, None);
    verified(&mut planner, 24.1);
    assert_eq!(started(planner.decide(24.1)).as_deref(), Some("b"));
    assert_eq!(planner.copying().unwrap().0.same_as.as_deref(), Some(Path::new("a")));
}

#[test]
fn at_once_and_at_the_end_for_comparison() {
    let mut planner = after_phases(3, 23.5, Settings { when: When::AtOnce, ..rate(10.0) });
    planner.scanned(vec![entry("a", 1, 70, 1.0)], 23.5);
    planner.request(24.0, 24.5, MIB);
    assert_eq!(started(planner.decide(24.5)).as_deref(), Some("a"), "during a phase");
    planner.request(24.6, 24.7, MIB);
    assert_eq!(planner.decide(24.7), None, "and it goes on");
    let mut planner = after_phases(3, 23.5, Settings { when: When::AtEnd, ..rate(10.0) });
    planner.scanned(vec![entry("a", 1, 1, 1.0)], 23.5);
    planner.occupancy(99, Some(100));
    assert_eq!(planner.decide(25.0), None);
    planner.job_ended(26.0);
    assert_eq!(started(planner.decide(26.0)).as_deref(), Some("a"));
}

#[test]
fn a_file_that_somebody_holds_waits_and_another_run_begins_anew() {
    let mut planner = after_phases(3, 24.0, rate(1000.0));
    planner.scanned(vec![entry("a", 1, 1, 1.0)], 24.0);
    assert!(started(planner.decide(24.0)).is_some());
    planner.is_held(24.0);
    assert_eq!(planner.decide(24.5), None);
    assert!(started(planner.decide(25.0)).is_some());
    verified(&mut planner, 25.1);
    planner.job_ended(26.0);
    planner.job_restarted();
    assert_eq!((planner.phases().len(), planner.permission(0.0)), (0, Permission::Denied(Reason::NoPhase)));
    assert!(!planner.is_finished());
}

#[test]
fn a_file_that_was_seen_being_closed_need_not_rest() {
    let mut planner = after_phases(3, 24.0, rate(1000.0));
    planner.scanned(vec![entry("closed", 1, 1, 23.9), entry("changed", 2, 1, 23.9)], 24.0);
    let used = |touched: f64| Use { opened: 1, closed: 1, touched: Some(touched), read: None };
    planner.used(Path::new("closed"), used(23.9));
    planner.used(Path::new("changed"), used(23.0));
    assert_eq!(started(planner.decide(24.0)).as_deref(), Some("closed"));
    verified(&mut planner, 24.1);
    assert_eq!(planner.decide(24.2), None, "it was changed after it was closed");
    let mut planner = after_phases(3, 24.0, Settings { when: When::AtOnce, ..rate(1000.0) });
    planner.scanned(vec![entry("closed", 1, 1, 23.9), entry("changed", 2, 1, 23.9)], 24.0);
    planner.used(Path::new("closed"), used(23.9));
    planner.used(Path::new("changed"), used(23.0));
    assert_eq!(started(planner.decide(24.0)).as_deref(), Some("closed"));
    verified(&mut planner, 24.1);
    assert_eq!(planner.decide(24.2), None);
    assert_eq!(started(planner.decide(24.9)).as_deref(), Some("changed"));
}

#[test]
fn a_phase_that_came_but_is_told_at_its_end_is_not_waited_for() {
    let mut planner = after_phases(3, 24.0, rate(10.0));
    planner.scanned(vec![entry("a", 1, 70, 1.0)], 24.0);
    planner.flush(25.0, 25.0, Forecast { start_high: Some(39.8), ..*planner.forecast() });
    let next = Forecast { start: Some(40.0), start_low: Some(39.8), ..*planner.forecast() };
    planner.flush(31.0, 31.0, next);
    assert_eq!(planner.decide(31.0), None, "the phase of 30 has not come, and may until 39.8");
    planner.request(30.0, 32.0, 100 * MIB);
    planner.flush(32.0, 32.0, next);
    planner.flush(34.0, 34.0, next);
    assert!(started(planner.decide(34.0)).is_some(), "it has come");
}

#[test]
fn a_phase_that_is_late_is_waited_for() {
    let mut planner = after_phases(3, 24.0, rate(10.0));
    planner.scanned(vec![entry("a", 1, 70, 1.0)], 24.0);
    planner.flush(25.0, 25.0, Forecast { start_high: Some(30.5), ..*planner.forecast() });
    assert!(started(planner.decide(25.0)).is_some());
    assert_eq!(planner.decide(29.5).unwrap().action, Action::Suspend);
    // It should have come at 30, and the predictor has given it up already.
    let next = Forecast { start: Some(40.0), start_low: Some(40.0), ..*planner.forecast() };
    planner.flush(30.2, 30.2, next);
    planner.flush(30.4, 30.4, next);
    assert_eq!(planner.decide(30.4), None, "it may still come");
    assert_eq!(planner.look_again(30.4), Some(31.5));
    planner.flush(31.5, 31.5, next);
    assert_eq!(planner.decide(31.5).unwrap().action, Action::Resume);
    planner.request(32.0, 33.0, 100 * MIB);
    assert_eq!(planner.decide(32.0).unwrap().action, Action::Suspend);
}
