//! A slow, obvious simulator of FCFS and EASY judges the fast one: it looks at every second, and asks for
//! every job whether the first of the queue could still start as early.

use batch_sim::{Job, Policy, Settings, simulate};
use proptest::prelude::*;

#[derive(Clone)]
struct Slow {
    /// Job, start, end, end by its estimate.
    running: Vec<(usize, u64, u64, u64)>,
    queue: Vec<usize>,
}

/// The first second from `now` on at which so many nodes are free, if jobs take as long as estimated.
fn earliest(jobs: &[Job], running: &[(usize, u64, u64, u64)], nodes: u32, need: u32, now: u64) -> u64 {
    (now..)
        .find(|second| {
            // A job that should be over may end at any moment.
            let used: u32 =
                running.iter().filter(|run| run.3.max(now) > *second).map(|run| jobs[run.0].preferred).sum();
            nodes - used >= need
        })
        .unwrap()
}

fn slow(jobs: &[Job], nodes: u32, policy: Policy) -> Vec<u64> {
    let mut starts = vec![None; jobs.len()];
    let mut state = Slow { running: Vec::new(), queue: Vec::new() };
    for now in 0.. {
        // The scheduler looks when a job comes or ends.
        let ends = state.running.iter().any(|run| run.2 == now);
        if !ends && jobs.iter().all(|job| job.submit as u64 != now) {
            continue;
        }
        state.running.retain(|run| run.2 > now);
        for (index, _) in jobs.iter().enumerate().filter(|(_, job)| job.submit as u64 == now) {
            state.queue.push(index);
        }
        state.queue.sort_by_key(|index| (-jobs[*index].priority, jobs[*index].submit as u64, *index));
        let mut place = 0;
        while place < state.queue.len() {
            let index = state.queue[place];
            let job = &jobs[index];
            let used: u32 = state.running.iter().map(|run| jobs[run.0].preferred).sum();
            let run = (index, now, now + job.time as u64, now + job.estimate as u64);
            let fits = job.preferred <= nodes - used;
            let head = jobs[state.queue[0]].preferred;
            let keeps = || {
                let mut then = state.running.clone();
                then.push(run);
                earliest(jobs, &then, nodes, head, now) <= earliest(jobs, &state.running, nodes, head, now)
            };
            if fits && (place == 0 || policy == Policy::Easy && keeps()) {
                starts[index] = Some(now);
                state.running.push(run);
                state.queue.remove(place);
                // The next one may be the first now.
                place = 0;
            } else {
                place += 1;
            }
        }
        if starts.iter().all(Option::is_some) {
            break;
        }
    }
    starts.into_iter().flatten().collect()
}

fn workloads() -> impl Strategy<Value = (u32, Vec<Job>)> {
    let job = (0u32..60, 1u32..=6, 1u32..40, 1u32..60, 0i64..2);
    (1u32..=6, prop::collection::vec(job, 1..25)).prop_map(|(nodes, jobs)| {
        let jobs = jobs.into_iter().enumerate().map(|(number, (submit, size, time, estimate, priority))| {
            let mut job = Job::rigid(number as u64, f64::from(submit), size.min(nodes), f64::from(time));
            (job.estimate, job.priority) = (f64::from(estimate), priority);
            job
        });
        (nodes, jobs.collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_fast_one_starts_every_job_at_the_same_second((nodes, jobs) in workloads()) {
        for policy in [Policy::Fcfs, Policy::Easy] {
            let settings = Settings { nodes, policy, ..Settings::default() };
            let fast = simulate(&jobs, &settings).unwrap();
            let starts: Vec<u64> = fast.jobs.iter().map(|run| run.start as u64).collect();
            prop_assert_eq!(starts, slow(&jobs, nodes, policy), "{:?}", policy);
        }
    }

    #[test]
    fn without_malleable_jobs_mebf_is_easy((nodes, jobs) in workloads()) {
        let of = |policy| simulate(&jobs, &Settings { nodes, policy, ..Settings::default() }).unwrap();
        prop_assert_eq!(of(Policy::Mebf), of(Policy::Easy));
    }

    /// With estimates that hold, nothing that comes later delays the first of the queue.
    #[test]
    fn easy_keeps_its_promise((nodes, mut jobs) in workloads()) {
        jobs.iter_mut().for_each(|job| (job.estimate, job.priority) = (job.time, 0));
        let settings = Settings { nodes, policy: Policy::Easy, ..Settings::default() };
        let with_all = simulate(&jobs, &settings).unwrap();
        let mut order: Vec<usize> = (0..jobs.len()).collect();
        order.sort_by(|a, b| jobs[*a].submit.total_cmp(&jobs[*b].submit).then(a.cmp(b)));
        // The first that had to wait: those before it started at once.
        let waits = |place: &usize| with_all.jobs[*place].start > jobs[*place].submit;
        if let Some(place) = order.iter().position(waits) {
            let some: Vec<Job> = order[..=place].iter().map(|index| jobs[*index].clone()).collect();
            let alone = simulate(&some, &settings).unwrap();
            prop_assert_eq!(alone.jobs[place].start, with_all.jobs[order[place]].start);
        }
    }
}
