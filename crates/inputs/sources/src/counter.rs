//! Counters: quantities that only grow, such as bytes written since a server was started. What happens when
//! is their rate.

use super::options::Rate;

/// Names of counters end like this, as Prometheus recommends.
const TOTAL: &str = "_total";
const ENDINGS: [&str; 3] = ["_bytes", "_sum", "_count"];

/// A counter that falls below this share of its highest value was reset; a smaller fall is not a reset.
const RESET: f64 = 0.5;

/// A counter without a name that says so restarts at most this often, or once in this number of samples: what
/// falls again and again is the level of something that is filled and emptied.
const MAX_RESETS: usize = 5;
const SAMPLES_PER_RESET: usize = 50;

/// The last value of a counter, or most of its values if it was reset shortly before, is more than this many
/// times its median increment.
const GROWN: f64 = 3.0;

/// Is a quantity with these samples, in order, to be taken as a counter?
pub fn is_counter(name: &str, samples: &[(f64, f64)], rate: Rate) -> bool {
    match rate {
        Rate::On => true,
        Rate::Off => false,
        Rate::Auto => looks_like_counter(name, samples),
    }
}

/// Does the name say so, or do the values behave so?
fn looks_like_counter(name: &str, samples: &[(f64, f64)]) -> bool {
    // Labels follow the name in braces.
    let name = name.split('{').next().unwrap_or(name).trim().to_ascii_lowercase();
    let mut highest = f64::NEG_INFINITY;
    let (mut falls, mut resets) = (false, 0);
    let mut increments = Vec::new();
    for pair in samples.windows(2) {
        highest = highest.max(pair[0].1);
        let change = pair[1].1 - pair[0].1;
        if change < 0.0 {
            falls |= pair[1].1 >= RESET * highest;
            resets += 1;
        }
        if change > 0.0 {
            increments.push(change);
        }
    }
    if samples.iter().any(|sample| sample.1 < 0.0) {
        return false;
    }
    // In Prometheus a total is a counter, and any fall of it a reset.
    if name.ends_with(TOTAL) {
        return true;
    }
    // A gauge may have such a name; but a counter never falls a little.
    if falls {
        return false;
    }
    if ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        return true;
    }
    let Some(last) = samples.last().map(|sample| sample.1) else { return false };
    // Two levels of which the second is higher are not a counter yet.
    if increments.len() < 3 || resets > MAX_RESETS.max(samples.len() / SAMPLES_PER_RESET) {
        return false;
    }
    let middle = increments.len() / 2;
    let grown = GROWN * *increments.select_nth_unstable_by(middle, f64::total_cmp).1;
    last > grown || 2 * samples.iter().filter(|sample| sample.1 > grown).count() > samples.len()
}

/// (v₁ − v₀)/(t₁ − t₀) from t₀ on. After a fall the counter has restarted: all of the new value came since.
pub fn rates(samples: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let rate = |pair: &[(f64, f64)]| {
        let (from, to) = (pair[0], pair[1]);
        let time = to.0 - from.0;
        let change = if to.1 < from.1 { to.1 } else { to.1 - from.1 };
        (time > 0.0).then(|| (from.0, change / time))
    };
    samples.windows(2).filter_map(rate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at_each_second(values: &[f64]) -> Vec<(f64, f64)> {
        values.iter().zip(0u32..).map(|(value, time)| (f64::from(time), *value)).collect()
    }

    #[test]
    fn counters_are_known_by_name_or_by_growing() {
        let grows = at_each_second(&[0.0, 10.0, 10.0, 10.0, 20.0, 20.0, 30.0, 40.0]);
        let load = at_each_second(&[0.2, 0.7, 0.2, 0.2, 0.7, 0.2, 0.2, 0.7]);
        let flat = at_each_second(&[5.0; 8]);
        assert!(
            looks_like_counter("x", &grows)
                && !looks_like_counter("load", &load)
                && !looks_like_counter("x", &flat)
        );
        assert!(looks_like_counter("node_disk_written_bytes_total{device=\"sda\"}", &flat));
        // Free memory is in bytes and no counter.
        assert!(!looks_like_counter("memory_free_bytes", &at_each_second(&[9.0, 8.0, 9.0, 8.5])));
        assert!(!is_counter("x", &grows, Rate::Off) && is_counter("load", &load, Rate::On));
    }

    #[test]
    fn a_fall_is_a_reset() {
        let samples = at_each_second(&[0.0, 10.0, 30.0, 4.0, 8.0, 20.0, 40.0]);
        assert!(looks_like_counter("x", &samples));
        // A small one, too, of what is a counter by its name.
        let small = at_each_second(&[10.0, 20.0, 30.0, 24.0, 40.0]);
        assert!(looks_like_counter("written_bytes_total", &small) && !looks_like_counter("x", &small));
        let rates: Vec<f64> = rates(&samples).into_iter().map(|sample| sample.1).collect();
        assert_eq!(rates, [10.0, 20.0, 4.0, 4.0, 12.0, 20.0]);
    }

    #[test]
    fn a_reset_shortly_before_the_end_changes_nothing() {
        let mut values: Vec<f64> = (0..40u32).map(|k| f64::from(10 * (k / 2))).collect();
        values.extend([0.0, 0.0, 10.0, 10.0]);
        assert!(looks_like_counter("x", &at_each_second(&values)));
        // Bursts that rise by and by, and are idle for most of the time.
        let ramps: Vec<f64> = (0..60u32).map(|k| f64::from((k % 20).saturating_sub(12) * 10)).collect();
        assert!(!looks_like_counter("x", &at_each_second(&ramps[..55])));
    }

    #[test]
    fn what_is_filled_and_emptied_again_and_again_is_no_counter() {
        // A burst buffer that is full after 20 s and drained at once; wherever its samples end.
        let level: Vec<f64> = (0..400u32).map(|k| f64::from(10 * (k % 20))).collect();
        for end in 200..400 {
            assert!(!looks_like_counter("fill", &at_each_second(&level[..end])), "{end}");
        }
        assert!(looks_like_counter("written_total", &at_each_second(&level)), "its name says so");
        // Restarted a few times, it is one.
        let sums: Vec<f64> = (0..400u32).map(|k| f64::from(10 * (k % 100))).collect();
        assert!(looks_like_counter("x", &at_each_second(&sums)));
        let long: Vec<f64> = (0..2000u32).map(|k| f64::from(10 * (k % 150))).collect();
        assert!(looks_like_counter("x", &at_each_second(&long)), "thirteen times in two thousand samples");
    }
}
