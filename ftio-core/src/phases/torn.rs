//! Phases that chance tears into several bursts.
//!
//! Ranks that are late by more than a phase takes leave pauses inside it, some of them longer than those
//! between phases: neither smoothing nor the length of a pause tells where a phase begins. But a program
//! writes as much in every iteration. So there is a pause wherever another n-th part of all bytes has been
//! transferred, exactly; and the pauses inside the parts are anywhere.

use crate::phases::bursts::{Burst, Grouping, starts_after, sums};
use crate::phases::thresholds::{
    EXACT_PART, FINEST_SHARE, MAX_GROUPED, PART_TOLERANCE, TORN_ALIKE, TORN_PHASES, TORN_SURPRISE,
};
use std::f64::consts::LN_2;
use std::ops::RangeInclusive;

/// The clearest grouping into phases of exactly the same volume that are torn apart, each in another way, if
/// chance does not explain it.
pub fn torn_apart(bursts: &[Burst]) -> Option<Grouping> {
    let sums = sums(bursts);
    let counts = TORN_PHASES..=bursts.len().saturating_sub(1).min(MAX_GROUPED);
    // Chance explains every grouping of so many bursts that a part has one at each of the finest shares.
    let told = counts.clone().filter(|count| bursts.len() < count * FINEST_SHARE);
    let found = told.filter_map(|count| exact_parts(&sums, count));
    let weighed = found.map(|cuts| (surprise(&sums, cuts.len() + 1, &counts), cuts));
    let is_torn = |(surprise, cuts): &(f64, Vec<usize>)| {
        *surprise >= TORN_SURPRISE && differ(cuts, sums.len()) && !are_groups(&sums, cuts.len() + 1)
    };
    let (surprise, cuts) = weighed.filter(is_torn).max_by(|a, b| a.0.total_cmp(&b.0))?;
    // As of a level: in noise, a count of n holds over so many octaves with the same probability.
    let octaves = (surprise / cuts.len() as f64 / LN_2).min(4.0);
    let starts = starts_after(bursts, |i| cuts.binary_search(&i).is_ok());
    Some(Grouping { starts, octaves })
}

/// The burst that ends where a part of `count` equal ones ends, to within this share of a part.
fn end_of_part(sums: &[f64], count: usize, number: usize, within: f64) -> Option<usize> {
    let place = sums.last()? / count as f64 * number as f64;
    let slack = within * sums.last()? / count as f64;
    let found = sums.partition_point(|sum| *sum < place - slack);
    (sums.get(found)? - place <= slack).then_some(found)
}

/// The burst that ends each of `count` equal parts but the last, if one ends exactly there.
fn exact_parts(sums: &[f64], count: usize) -> Option<Vec<usize>> {
    let cuts: Vec<usize> =
        (1..count).map_while(|number| end_of_part(sums, count, number, EXACT_PART)).collect();
    (cuts.len() + 1 == count).then_some(cuts)
}

/// Are the parts made of different numbers of bursts? Where most are made of as many, that is how the program
/// writes, and no chance: phases of several kinds in turn, or groups of equal phases.
fn differ(cuts: &[usize], bursts: usize) -> bool {
    let ends: Vec<usize> = cuts.iter().map(|cut| cut + 1).chain([bursts]).collect();
    let starts = [0].iter().chain(&ends);
    let mut each: Vec<usize> = ends.iter().zip(starts).map(|(end, start)| end - start).collect();
    each.sort_unstable();
    let usual = each[each.len() / 2];
    let alike = each.iter().filter(|held| **held == usual).count();
    alike as f64 <= TORN_ALIKE * each.len() as f64
}

/// Is each part a group of smaller ones that are about equal? One in ten places may be different.
fn are_groups(sums: &[f64], count: usize) -> bool {
    let ends = |finer: usize| {
        let missed = (1..finer).filter(|number| end_of_part(sums, finer, *number, PART_TOLERANCE).is_none());
        10 * missed.count() <= finer
    };
    (2..=sums.len() / count).any(|each| ends(each * count))
}

/// −ln of the probability that bursts end at all these places by chance, for any of the counts tried.
///
/// All bursts may be multiples of one volume: that of a rank, of a request, or of a phase if phases overlap
/// at random. Then they can end at so many places only, of which each set is as probable as any other, and
/// only those counts can be exact that divide the number of places.
fn surprise(sums: &[f64], count: usize, counts: &RangeInclusive<usize>) -> f64 {
    let shares = shares(sums, count);
    let places = count * shares;
    let tried = match shares {
        FINEST_SHARE => counts.clone().count(),
        _ => counts.clone().filter(|count| places.is_multiple_of(*count)).count(),
    };
    let free = |all: usize, taken: usize| all.saturating_sub(1 + taken) as f64;
    let probability = |taken: usize| (free(sums.len(), taken) / free(places, taken)).min(1.0);
    -(0..count - 1).map(|taken| probability(taken).ln()).sum::<f64>() - (tried as f64).ln()
}

/// The number of equal shares in a part of which all bursts are multiples.
fn shares(sums: &[f64], count: usize) -> usize {
    let part = sums.last().copied().unwrap_or(0.0) / count as f64;
    let is_multiple = |sum: &f64, shares: usize| {
        let multiple = sum / part * shares as f64;
        (multiple - multiple.round()).abs() <= 0.2
    };
    let fits = |shares: &usize| sums.iter().all(|sum| is_multiple(sum, *shares));
    (1..FINEST_SHARE).find(fits).unwrap_or(FINEST_SHARE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phases::bursts::by_volume;
    use seeded_random::Random;

    /// Phases as the volumes of their bursts, with pauses inside and after them.
    fn bursts(phases: &[&[f64]], inside: usize, after: usize) -> Vec<Burst> {
        let mut from = 0;
        let mut found = Vec::new();
        for phase in phases {
            for &volume in *phase {
                found.push(Burst { from, to: from + 1, volume });
                from += 1 + inside;
            }
            from = from + after - inside;
        }
        found
    }

    fn of_volumes(volumes: &[f64]) -> Option<Grouping> {
        torn_apart(&bursts(&[volumes], 5, 5))
    }

    #[test]
    fn pauses_inside_may_be_longer_than_between() {
        let shapes: [&[f64]; 4] = [&[8.0], &[3.0, 5.0], &[1.0, 6.0, 1.0], &[5.0, 1.0, 2.0]];
        let phases: Vec<&[f64]> = (0..12).map(|i| shapes[i * 7 % 4]).collect();
        let all = bursts(&phases, 30, 10);
        let found = torn_apart(&all).unwrap();
        let firsts = phases.iter().scan(0, |next, phase| {
            *next += phase.len();
            Some(*next - phase.len())
        });
        let expected: Vec<usize> = firsts.map(|first| all[first].from).collect();
        assert_eq!(found.starts, expected);
        assert!(found.octaves > 1.0, "{}", found.octaves);
        assert_eq!(by_volume(&all), None, "the pauses do not tell");
    }

    #[test]
    fn what_is_torn_in_the_same_way_each_time_is_no_chance() {
        assert_eq!(of_volumes(&[8.0; 24]), None, "equal phases");
        assert_eq!(of_volumes(&[5.0, 3.0].repeat(12)), None, "phases of two kinds in turn");
        assert_eq!(of_volumes(&[]), None);
    }

    #[test]
    fn random_volumes_are_no_phases() {
        let mut random = Random::new(3);
        let mut found = [0, 0];
        for _ in 0..400 {
            // Equal phases, some of which are seen as one because they overlap; and bursts of any volume.
            let overlapping: Vec<f64> =
                (0..40).map(|_| if random.unit() < 0.3 { 2.0 } else { 1.0 }).collect();
            let any: Vec<f64> = (0..40).map(|_| 0.2 + 0.8 * random.unit()).collect();
            found[0] += usize::from(of_volumes(&overlapping).is_some());
            found[1] += usize::from(of_volumes(&any).is_some());
        }
        assert!(found.iter().all(|found| *found <= 2), "{found:?} of 400");
    }
}
