//! How one server's bandwidth is divided, as rates.

use super::Sharing;
use crate::queue::{JobId, Nanoseconds};
use crate::rules::Priority;

/// What one application transfers to one server.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Whose it is, by its place among the applications.
    pub application: usize,
    /// And by its id.
    pub job: JobId,
    /// Its set.
    pub priority: Priority,
    /// When its I/O phase began.
    pub since: Nanoseconds,
    /// Bytes left.
    pub left: f64,
    /// The most it takes, bytes per second.
    pub most: f64,
    /// Its share where all should get alike.
    pub weight: f64,
    /// What it gets, bytes per second.
    pub rate: f64,
}

/// Set the rates of all flows of a server. Nothing is left over while anybody could take more.
pub fn rates(flows: &mut [Flow], capacity: f64, sharing: Sharing) {
    match sharing {
        Sharing::Fair => {
            let demands: Vec<_> = flows.iter().map(|flow| (flow.weight, flow.most)).collect();
            for (flow, rate) in flows.iter_mut().zip(divide(&demands, capacity)) {
                flow.rate = rate;
            }
        }
        Sharing::FirstCome => {
            flows.sort_unstable_by_key(|flow| (flow.since, flow.job));
            in_order(flows, capacity);
        }
        // At this level nobody's patience is looked at.
        Sharing::Sets(_) => {
            flows.sort_unstable_by_key(|flow| (flow.priority, flow.job));
            let sets = || flows.chunk_by(|a, b| a.priority == b.priority);
            let demand = |set: &[Flow]| {
                let most = set.iter().map(|flow| flow.most).sum::<f64>();
                (f64::from(set.first().map_or(0, |flow| flow.priority.stored())), most)
            };
            let shares = divide(&sets().map(demand).collect::<Vec<_>>(), capacity);
            for (set, share) in flows.chunk_by_mut(|a, b| a.priority == b.priority).zip(shares) {
                in_order(set, share);
            }
        }
    }
}

/// The first one as much as it can take, the next one what is left, and so on.
fn in_order(flows: &mut [Flow], mut capacity: f64) {
    for flow in flows {
        flow.rate = flow.most.min(capacity);
        capacity -= flow.rate;
    }
}

/// By weight, but nobody more than it can take; what that leaves goes to the others, by weight again.
fn divide(demands: &[(f64, f64)], capacity: f64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..demands.len()).collect();
    let full_at = |i: usize| demands[i].1 / demands[i].0;
    order.sort_unstable_by(|&a, &b| full_at(a).total_cmp(&full_at(b)));
    let mut weights: f64 = demands.iter().map(|(weight, _)| weight).sum();
    let mut left = capacity;
    let mut rates = vec![0.0; demands.len()];
    for i in order {
        let (weight, most) = demands[i];
        rates[i] = most.min(left * weight / weights).max(0.0);
        left -= rates[i];
        weights -= weight;
    }
    rates
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::queue::Patience;
    use crate::rules::Set;
    use seeded_random::Random;

    fn flow(job: JobId, period: f64, most: f64) -> Flow {
        let priority = Set::of_period(period).unwrap().priority();
        Flow {
            application: 0,
            job,
            priority,
            since: u64::from(100 - job),
            left: 1.0,
            most,
            weight: 1.0,
            rate: f64::NAN,
        }
    }

    fn shared(flows: &[Flow], capacity: f64, sharing: Sharing) -> Vec<(JobId, f64)> {
        let mut flows = flows.to_vec();
        rates(&mut flows, capacity, sharing);
        let mut rates: Vec<_> = flows.iter().map(|flow| (flow.job, flow.rate)).collect();
        rates.sort_by_key(|(job, _)| *job);
        rates
    }

    const SETS: Sharing = Sharing::Sets(Patience::Endless);

    #[test]
    fn alike_but_no_more_than_one_can_take() {
        let flows = [flow(1, 10.0, 100.0), flow(2, 10.0, 5.0), flow(3, 10.0, 100.0)];
        assert_eq!(shared(&flows, 60.0, Sharing::Fair), [(1, 27.5), (2, 5.0), (3, 27.5)]);
    }

    #[test]
    fn who_began_first() {
        let flows = [flow(1, 10.0, 100.0), flow(2, 10.0, 50.0)];
        assert_eq!(shared(&flows, 60.0, Sharing::FirstCome), [(1, 10.0), (2, 50.0)]);
    }

    #[test]
    fn in_proportion_between_sets_exclusive_within() {
        let flows = [flow(1, 10.0, 100.0), flow(2, 10.0, 100.0), flow(3, 1000.0, 100.0)];
        let rates = shared(&flows, 101.0, SETS);
        assert_eq!(rates.iter().map(|(_, rate)| rate.round()).collect::<Vec<_>>(), [100.0, 0.0, 1.0]);
    }

    #[test]
    fn never_too_much_and_nothing_left_over() {
        let mut random = Random::new(11);
        for round in 0..2000 {
            let count = 1 + random.below(12);
            let flows: Vec<Flow> = (0..count)
                .map(|i| {
                    let period = [0.05, 1.0, 10.0, 100.0, 1000.0][random.below(5)];
                    let mut one = flow(i as JobId, period, 1.0 + 99.0 * random.unit());
                    one.weight = 0.5 + random.unit();
                    one.since = random.below(5) as u64;
                    one
                })
                .collect();
            let capacity = 1.0 + 400.0 * random.unit();
            let wanted: f64 = flows.iter().map(|flow| flow.most).sum();
            for sharing in [Sharing::Fair, Sharing::FirstCome, SETS] {
                let mut flows = flows.clone();
                rates(&mut flows, capacity, sharing);
                let sum: f64 = flows.iter().map(|flow| flow.rate).sum();
                assert!(
                    (sum - wanted.min(capacity)).abs() < 1e-6,
                    "{round}: {sum} of {capacity}, {wanted} wanted"
                );
                assert!(flows.iter().all(|flow| (0.0..=flow.most + 1e-9).contains(&flow.rate)), "{round}");
            }
        }
    }
}
