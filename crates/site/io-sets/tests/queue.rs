//! What holds for a server's queue whatever arrives: exclusivity, shares, work conservation, and an end to
//! every wait.

use io_sets::queue::{JobId, Nanoseconds, Patience, Queue};
use io_sets::rules::{Priority, Set};
use seeded_random::Random;
use std::collections::{BTreeMap, VecDeque};

const SECOND: Nanoseconds = 1_000_000_000;

/// 3.16 s in the set of periods of 10 s.
const SHORT: Patience = Patience::OfPeriod(0.316_227_766);

fn priority(period: f64) -> Priority {
    Set::of_period(period).unwrap().priority()
}

/// Requests arrive and are handled at random; `check` sees what was waiting before each is handled.
fn random_traffic(
    patience: Patience,
    seed: u64,
    mut check: impl FnMut(&BTreeMap<(Priority, JobId), VecDeque<u64>>, (Priority, JobId, u64)),
) {
    let mut random = Random::new(seed);
    let mut queue = Queue::new(patience);
    let mut waiting: BTreeMap<(Priority, JobId), VecDeque<u64>> = BTreeMap::new();
    let (mut now, mut number) = (0, 0);
    for step in 0..4000 {
        now += random.below(SECOND as usize / 10) as u64;
        // Half of the time more arrives than is handled.
        let arrivals = if step / 500 % 2 == 0 { random.below(4) } else { random.below(2) };
        for _ in 0..arrivals {
            let job = random.below(6) as JobId;
            let set = priority([1.0, 10.0, 1000.0][job as usize % 3]);
            number += 1;
            queue.push(job, set, number, now);
            waiting.entry((set, job)).or_default().push_back(number);
        }
        assert_eq!(queue.len(), waiting.values().map(VecDeque::len).sum::<usize>());
        // Work conservation: something is handled whenever something is waiting.
        let Some(next) = queue.pop(now) else {
            assert!(waiting.is_empty(), "{waiting:?}");
            continue;
        };
        let key = (next.priority, next.job);
        check(&waiting, (next.priority, next.job, next.request));
        let own = waiting.get_mut(&key).expect("it was waiting");
        assert_eq!(own.pop_front(), Some(next.request), "requests of a job keep their order");
        if own.is_empty() {
            waiting.remove(&key);
        }
    }
}

#[test]
fn within_a_set_the_first_job_that_waits_is_served() {
    for seed in 0..20 {
        random_traffic(Patience::Endless, seed, |waiting, (set, job, _)| {
            let first = waiting.keys().find(|(other, _)| *other == set).map(|(_, job)| *job);
            assert_eq!(first, Some(job), "seed {seed}");
        });
    }
}

#[test]
fn with_patience_work_is_conserved_and_jobs_keep_their_order() {
    for seed in 0..20 {
        random_traffic(Patience::OfPeriod(0.01), seed, |_, _| {});
    }
}

#[test]
fn shares_are_in_proportion_to_priorities() {
    let mut random = Random::new(5);
    for round in 0..50 {
        let smallest = 1 + random.below(1000) as u32;
        // Multiples of the smallest, so that credits are exact.
        let mut factors = vec![1];
        factors.extend((0..random.below(5)).map(|i| 2 + i as u32 * 7 + random.below(7) as u32));
        let mut queue = Queue::default();
        let push = |queue: &mut Queue<()>, job: usize| {
            queue.push(job as JobId, Priority::from_stored(smallest * factors[job]).unwrap(), (), 0);
        };
        (0..factors.len()).for_each(|job| (0..3).for_each(|_| push(&mut queue, job)));
        let mut handled = vec![0; factors.len()];
        let rounds = 20;
        for _ in 0..rounds * factors.iter().sum::<u32>() {
            let job = queue.pop(0).unwrap().job as usize;
            handled[job] += 1;
            push(&mut queue, job);
        }
        let expected: Vec<u32> = factors.iter().map(|factor| factor * rounds).collect();
        assert_eq!(handled, expected, "round {round}");
    }
}

#[test]
fn shares_of_known_sets_and_of_a_job_of_unknown_period() {
    let mut queue = Queue::default();
    let unknown = Priority::default_for("4711", |_| false);
    let sets = [priority(10.0), unknown, priority(100.0), priority(1000.0)];
    let mut handled = [0; 4];
    (0..4).for_each(|job| (0..2).for_each(|_| queue.push(job, sets[job as usize], (), 0)));
    for _ in 0..131 * 10 {
        let job = queue.pop(0).unwrap().job;
        handled[job as usize] += 1;
        queue.push(job, sets[job as usize], (), 0);
    }
    assert_eq!(handled, [1000, 200, 100, 10]);
}

#[test]
fn priorities_may_change_while_requests_wait() {
    let mut queue = Queue::default();
    queue.push(1, priority(1000.0), 'a', 0);
    queue.push(1, priority(10.0), 'b', 0);
    queue.push(2, priority(10.0), 'c', 0);
    let order: Vec<char> = std::iter::from_fn(|| queue.pop(0).map(|next| next.request)).collect();
    assert_eq!(order, ['b', 'c', 'a'], "each request goes by the priority it carries");
}

/// A server that takes a tenth of a second per request. Jobs keep that many requests waiting, always. What
/// each got in `requests`, and the longest time that a job went without being served.
fn endless(patience: Patience, depths: &[usize], requests: u64) -> (Vec<u64>, Vec<Nanoseconds>) {
    let mut queue = Queue::new(patience);
    let mut handled = vec![0; depths.len()];
    let (mut last, mut longest) = (vec![0; depths.len()], vec![0; depths.len()]);
    for (job, &depth) in depths.iter().enumerate() {
        (0..depth).for_each(|_| queue.push(job as JobId, priority(10.0), (), 0));
    }
    for step in 0..requests {
        let now = step * SECOND / 10;
        let job = queue.pop(now).unwrap().job as usize;
        handled[job] += 1;
        longest[job] = longest[job].max(now - last[job]);
        last[job] = now;
        queue.push(job as JobId, priority(10.0), (), now + SECOND / 20);
    }
    let end = requests * SECOND / 10;
    (handled, longest.iter().zip(&last).map(|(&longest, &last)| longest.max(end - last)).collect())
}

#[test]
fn with_endless_patience_the_first_job_starves_the_others() {
    let (handled, _) = endless(Patience::Endless, &[8, 8, 8], 3000);
    assert_eq!(handled, [3000, 0, 0], "the case that the report leaves open");
}

#[test]
fn patience_ends_every_wait() {
    // The set's period is 10 s; patience is 3.16 s, and so long may each of those who had none left be
    // served.
    let (handled, longest) = endless(SHORT, &[8, 8, 8], 3000);
    assert!(handled.iter().all(|count| (950..1050).contains(count)), "{handled:?}");
    let bound = 2 * (3_162_277_660 + SECOND / 5);
    assert!(longest.iter().all(|&wait| wait <= bound), "{longest:?}");
    // One that has a single request at a time is served as well.
    let (handled, longest) = endless(SHORT, &[8, 1], 3000);
    assert!(handled[1] > 300 && longest[1] <= bound, "{handled:?}, {longest:?}");
}

/// Four jobs with pauses keep the server busy together; how long the fifth waits until its 20 requests are
/// handled, at most `limit` requests.
fn crowd(patience: Patience, limit: u64) -> Option<u64> {
    let mut queue = Queue::new(patience);
    let mut idle_until = [0; 4];
    (0..20).for_each(|_| queue.push(9, priority(10.0), (), 0));
    let mut left = 20;
    for step in 0..limit {
        let now = step * SECOND / 10;
        for (job, until) in idle_until.iter_mut().enumerate().filter(|(_, until)| **until == step) {
            (0..10).for_each(|_| queue.push(job as JobId, priority(10.0), (), now));
            // 4 s from one phase to the next, into which one phase of each fits.
            *until = step + 40;
        }
        left -= u32::from(queue.pop(now).is_some_and(|next| next.job == 9));
        if left == 0 {
            return Some(step);
        }
    }
    None
}

#[test]
fn a_crowd_starves_nobody_either() {
    assert_eq!(crowd(Patience::Endless, 10_000), None, "each of them has pauses, but never all at once");
    // 3.2 s of waiting, and 2 s of requests.
    let step = crowd(SHORT, 10_000).unwrap();
    assert!(step <= 60, "{step}");
}

#[test]
fn where_nobody_waits_long_nothing_changes() {
    // Two jobs with 20 requests (2 s) every 10 s, of which one waits 2 s each time.
    let run = |patience| {
        let mut queue = Queue::new(patience);
        let mut order = Vec::new();
        for step in 0..1000 {
            let now = step * SECOND / 10;
            if step % 100 == 0 {
                (0..2).for_each(|job| (0..20).for_each(|_| queue.push(job, priority(10.0), (), now)));
            }
            order.extend(queue.pop(now).map(|next| next.job));
        }
        order
    };
    assert_eq!(run(SHORT), run(Patience::Endless));
}
