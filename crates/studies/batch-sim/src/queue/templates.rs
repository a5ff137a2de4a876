//! Jobs that behave alike: k-means++ over their profiles, with as many groups as stand apart best.

use seeded_random::Random;

/// Points of a profile.
const POINTS: usize = 32;
/// Numbers of groups that are tried.
const MAX_GROUPS: usize = 8;
const ROUNDS: usize = 50;
/// Groups have to stand apart at least this much, or all jobs are one.
const MIN_SILHOUETTE: f64 = 0.25;

/// A group of jobs that behave alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Places of its jobs.
    pub members: Vec<usize>,
    /// Their mean profile.
    pub profile: Vec<f64>,
}

/// A profile of any length as one of 32 points, each the mean of what it covers.
pub fn resampled(values: &[f64]) -> Vec<f64> {
    let step = values.len() as f64 / POINTS as f64;
    let covered = |point: usize| {
        let (from, to) = (point as f64 * step, (point + 1) as f64 * step);
        let overlap = |place: usize| (to.min(place as f64 + 1.0) - from.max(place as f64)).max(0.0);
        let sum: f64 = (from as usize..(to.ceil() as usize).min(values.len()))
            .map(|place| values[place] * overlap(place))
            .sum();
        sum / step
    };
    if values.is_empty() { vec![0.0; POINTS] } else { (0..POINTS).map(covered).collect() }
}

/// Group profiles of equal length.
pub fn templates(profiles: &[Vec<f64>], seed: u64) -> Vec<Template> {
    let all = |groups: &[usize]| {
        let count = groups.iter().max().map_or(0, |most| most + 1);
        let members = |group| (0..profiles.len()).filter(|place| groups[*place] == group).collect::<Vec<_>>();
        let of = |members: Vec<usize>| Template { profile: mean(profiles, &members), members };
        (0..count).map(members).filter(|members| !members.is_empty()).map(of).collect()
    };
    let mut best = (MIN_SILHOUETTE, vec![0; profiles.len()]);
    for count in 2..=MAX_GROUPS.min(profiles.len().saturating_sub(1)) {
        let groups = k_means(profiles, count, seed);
        let score = silhouette(profiles, &groups);
        if score > best.0 {
            best = (score, groups);
        }
    }
    all(&best.1)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>()
}

fn mean(profiles: &[Vec<f64>], members: &[usize]) -> Vec<f64> {
    let points = profiles.first().map_or(0, Vec::len);
    let at = |point: usize| members.iter().map(|place| profiles[*place][point]).sum::<f64>();
    (0..points).map(|point| at(point) / members.len().max(1) as f64).collect()
}

fn k_means(profiles: &[Vec<f64>], count: usize, seed: u64) -> Vec<usize> {
    let mut random = Random::new(seed);
    let mut centres = vec![profiles[random.below(profiles.len())].clone()];
    let nearest = |profile: &[f64], centres: &[Vec<f64>]| {
        let of = |(group, centre): (usize, &Vec<f64>)| (distance(profile, centre), group);
        centres.iter().enumerate().map(of).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((0.0, 0))
    };
    // Further centres are likely to be far from those that there are.
    while centres.len() < count {
        let away: Vec<f64> = profiles.iter().map(|profile| nearest(profile, &centres).0).collect();
        let mut left = random.unit() * away.iter().sum::<f64>();
        let chosen = away.iter().position(|away| {
            left -= away;
            left < 0.0
        });
        centres.push(profiles[chosen.unwrap_or(profiles.len() - 1)].clone());
    }
    let mut groups = vec![0; profiles.len()];
    for _ in 0..ROUNDS {
        let new: Vec<usize> = profiles.iter().map(|profile| nearest(profile, &centres).1).collect();
        for (group, centre) in centres.iter_mut().enumerate() {
            let members: Vec<usize> = (0..new.len()).filter(|place| new[*place] == group).collect();
            if !members.is_empty() {
                *centre = mean(profiles, &members);
            }
        }
        if new == groups {
            break;
        }
        groups = new;
    }
    groups
}

/// How much closer profiles are to their own group than to the next one, from −1 to 1, on average.
fn silhouette(profiles: &[Vec<f64>], groups: &[usize]) -> f64 {
    let count = groups.iter().max().map_or(0, |most| most + 1);
    let to_group = |place: usize, group: usize| {
        let others: Vec<f64> = (0..profiles.len())
            .filter(|other| *other != place && groups[*other] == group)
            .map(|other| distance(&profiles[place], &profiles[other]).sqrt())
            .collect();
        (!others.is_empty()).then(|| others.iter().sum::<f64>() / others.len() as f64)
    };
    let of = |place: usize| {
        let Some(own) = to_group(place, groups[place]) else { return 0.0 };
        let others = (0..count).filter(|group| *group != groups[place]);
        let next = others.filter_map(|group| to_group(place, group)).fold(f64::INFINITY, f64::min);
        if own.max(next) > 0.0 && next.is_finite() { (next - own) / own.max(next) } else { 0.0 }
    };
    (0..profiles.len()).map(of).sum::<f64>() / profiles.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_of_any_length() {
        assert_eq!(resampled(&[2.0]), [2.0; 32]);
        let ramp: Vec<f64> = (0..64).map(f64::from).collect();
        assert_eq!(resampled(&ramp)[..2], [0.5, 2.5]);
        assert_eq!(resampled(&[]), [0.0; 32]);
    }

    #[test]
    fn jobs_that_are_alike_are_one_template() {
        let profile = |phase: usize, level: f64| -> Vec<f64> {
            (0..32).map(|i| if (i + phase) % 8 < 2 { level } else { 0.0 }).collect()
        };
        let profiles: Vec<Vec<f64>> = (0..12).map(|i| profile(4 * (i % 2), 1.0 + 0.01 * i as f64)).collect();
        let found = templates(&profiles, 1);
        let members: Vec<&[usize]> = found.iter().map(|template| template.members.as_slice()).collect();
        assert_eq!(members.len(), 2);
        assert!(members.iter().all(|members| members.iter().all(|m| m % 2 == members[0] % 2)));
        let alike: Vec<Vec<f64>> = (0..6).map(|i| vec![1.0 + 0.001 * i as f64; 32]).collect();
        assert_eq!(templates(&alike, 1).iter().map(|t| t.members.len()).sum::<usize>(), 6);
        assert_eq!(templates(&[vec![1.0; 32]], 1).len(), 1);
    }
}
