//! What must hold in every simulation, whatever the workload and the policy.

use batch_sim::{EventKind, Expansion, Job, Kind, Metrics, Outcome, Policy, Scaling, Settings, simulate};
use proptest::prelude::*;

fn workloads() -> impl Strategy<Value = (Vec<Job>, Settings)> {
    let job = (
        0u32..200,
        1u32..=12,
        0u32..120,
        1u32..200,
        (0u8..3, -1i64..2),
        (1u32..=12, 0u32..12, 0.0f64..0.3),
        0.0f64..1.0,
    );
    let settings = (1u32..=12, 0usize..3, 0usize..4, any::<bool>(), 0u32..8);
    (prop::collection::vec(job, 1..40), settings).prop_map(
        |(jobs, (nodes, policy, expansion, balance, cost))| {
            let jobs = jobs.into_iter().enumerate().map(
                |(
                    number,
                    (submit, size, time, estimate, (kind, priority), (min, more, serial), io_share),
                )| {
                    let size = size.min(nodes);
                    let mut job = Job::rigid(number as u64, f64::from(submit), size, f64::from(time));
                    (job.estimate, job.priority) = (f64::from(estimate), priority);
                    (job.io_share, job.bandwidth) = (io_share, 1e9);
                    if kind > 0 {
                        job = job.malleable(min.min(size), size + more, Scaling::Serial(serial));
                        job.kind = if kind == 1 { Kind::Moldable } else { Kind::Malleable };
                    }
                    job
                },
            );
            let (policy, expansion) = (Policy::ALL[policy], Expansion::ALL[expansion]);
            let settings =
                Settings { nodes, policy, expansion, balance, cost: f64::from(cost), ..Settings::default() };
            (jobs.collect(), settings)
        },
    )
}

/// At no time are more nodes in use than there are.
fn nodes_suffice(outcome: &Outcome, nodes: u32) -> Result<(), TestCaseError> {
    let mut steps: Vec<(f64, i64)> = Vec::new();
    for (from, to, size) in outcome.jobs.iter().flat_map(|run| run.stretches()) {
        prop_assert!(from <= to);
        steps.extend([(from, i64::from(size)), (to, -i64::from(size))]);
    }
    // At the same moment, what is given back comes first.
    steps.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let mut used = 0;
    for (_, step) in steps {
        used += step;
        prop_assert!(used <= i64::from(nodes));
    }
    prop_assert_eq!(used, 0);
    Ok(())
}

/// Every job does its work: no more, no less.
fn work_is_conserved(job: &Job, run: &batch_sim::JobRun, cost: f64) -> Result<(), TestCaseError> {
    let mut done = 0.0;
    let mut owed = 0.0;
    for (place, (from, to, nodes)) in run.stretches().into_iter().enumerate() {
        owed += if place > 0 { cost } else { 0.0 };
        let paid = (to - from).min(owed);
        owed -= paid;
        done += (to - from - paid) / job.ratio(nodes);
    }
    prop_assert!((done - job.time).abs() <= 1e-6 * job.time.max(1.0), "{} of {}", done, job.time);
    Ok(())
}

/// Between two changes of a job's size, a job starts or ends.
fn changes_are_rare(outcome: &Outcome) -> Result<(), TestCaseError> {
    let starts_or_ends = |kind| matches!(kind, EventKind::Start | EventKind::Backfill | EventKind::End);
    for run in &outcome.jobs {
        for pair in run.changes.windows(2) {
            let between = outcome.events.iter().filter(|event| starts_or_ends(event.kind));
            let mut times = between.map(|event| event.time);
            prop_assert!(times.any(|time| time >= pair[0].time && time <= pair[1].time));
            prop_assert!(pair[0].time < pair[1].time);
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1500,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn hold_for_every_policy((jobs, settings) in workloads()) {
        let outcome = simulate(&jobs, &settings).unwrap();
        prop_assert_eq!(outcome.jobs.len(), jobs.len());
        nodes_suffice(&outcome, settings.nodes)?;
        changes_are_rare(&outcome)?;
        for (job, run) in jobs.iter().zip(&outcome.jobs) {
            prop_assert!(run.start >= job.submit && run.end >= run.start);
            work_is_conserved(job, run, settings.cost)?;
            let sizes = run.stretches().into_iter().map(|(_, _, nodes)| nodes);
            let changes = settings.policy == Policy::Mebf;
            let (low, high) = match job.kind {
                Kind::Moldable if changes => (job.min, job.preferred),
                Kind::Malleable if changes => (job.min, job.max),
                _ => (job.preferred, job.preferred),
            };
            prop_assert!(sizes.clone().all(|nodes| (low..=high).contains(&nodes)));
            prop_assert!(run.changes.is_empty() || changes && job.kind == Kind::Malleable);
        }
        // The log and the jobs tell the same.
        let node_seconds: f64 = outcome.jobs.iter().map(|run| run.node_seconds()).sum();
        let last = outcome.events.last().unwrap();
        prop_assert_eq!((last.free, last.queued), (settings.nodes, 0));
        let mut logged = 0.0;
        for pair in outcome.events.windows(2) {
            logged += f64::from(settings.nodes - pair[0].free) * (pair[1].time - pair[0].time);
        }
        prop_assert!((node_seconds - logged).abs() <= 1e-6 * node_seconds.max(1.0));
        let metrics = Metrics::of(&jobs, &outcome, settings.nodes);
        prop_assert!(metrics.utilisation <= 1.0 + 1e-9 && metrics.mean_bounded_slowdown >= 1.0);
        // The bytes of all jobs, whatever their sizes.
        let bytes: f64 = jobs.iter().map(|job| job.io_share * job.bandwidth * job.time).sum();
        if settings.cost == 0.0 && metrics.makespan > 0.0 {
            let moved = metrics.bandwidth_mean * metrics.makespan;
            prop_assert!((moved - bytes).abs() <= 1e-6 * bytes.max(1.0), "{} of {}", moved, bytes);
        }
        prop_assert_eq!(simulate(&jobs, &settings).unwrap(), outcome);
    }

    #[test]
    fn first_come_first_served((jobs, settings) in workloads()) {
        let outcome = simulate(&jobs, &Settings { policy: Policy::Fcfs, ..settings }).unwrap();
        for (a, first) in jobs.iter().zip(&outcome.jobs) {
            for (b, second) in jobs.iter().zip(&outcome.jobs) {
                let before = a.priority == b.priority && a.submit < b.submit;
                prop_assert!(!before || first.start <= second.start);
            }
        }
    }
}

#[test]
fn by_hand() {
    let settings = |policy| Settings { nodes: 4, policy, ..Settings::default() };
    // A malleable job gets the idle nodes, and gives them back when another job comes.
    let jobs =
        [Job::rigid(1, 0.0, 2, 100.0).malleable(1, 4, Scaling::Serial(0.0)), Job::rigid(2, 20.0, 2, 10.0)];
    let outcome = simulate(&jobs, &settings(Policy::Mebf)).unwrap();
    assert_eq!(outcome.jobs[0].nodes, 4);
    let changes: Vec<(f64, u32)> = outcome.jobs[0].changes.iter().map(|c| (c.time, c.nodes)).collect();
    // 40 s of work in the first 20 s, 10 s beside the other job, and the last 50 s again on four nodes.
    assert_eq!(changes, [(20.0, 2), (30.0, 4)]);
    assert_eq!((outcome.jobs[0].end, outcome.jobs[1].start), (55.0, 20.0));
    // Under EASY nothing changes.
    let outcome = simulate(&jobs, &settings(Policy::Easy)).unwrap();
    assert_eq!((outcome.jobs[0].end, outcome.jobs[0].nodes), (100.0, 2));
    // A job of higher priority makes a lower one shrink; one that is too large for that waits.
    let mut jobs = vec![
        Job::rigid(1, 0.0, 4, 100.0).malleable(2, 4, Scaling::Serial(0.0)),
        Job::rigid(2, 10.0, 2, 50.0),
        Job::rigid(3, 10.0, 3, 50.0),
    ];
    jobs[1].priority = 1;
    let outcome = simulate(&jobs, &settings(Policy::Mebf)).unwrap();
    assert_eq!(outcome.jobs[1].start, 10.0);
    assert_eq!(outcome.jobs[0].changes[0].nodes, 2);
    let error = simulate(&[Job::rigid(7, 0.0, 5, 1.0)], &settings(Policy::Easy)).unwrap_err();
    assert_eq!(error.to_string(), "job 7: it needs 5 nodes, and there are 4");
}
