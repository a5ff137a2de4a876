//! What TMIO says about a class as a whole: totals over its phases and means of their bandwidths.

use super::phases::{Phase, Phases};
use crate::Class;

/// Sums and maxima over the phases of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Bytes of all ranks.
    pub total_bytes: u64,
    /// Bytes of the rank that moved most.
    pub max_bytes_per_rank: u64,
    /// Bytes of the largest phase.
    pub max_bytes_per_phase: u64,
    /// Phases of the rank that has most.
    pub max_io_phases_per_rank: u64,
    /// Phases of all ranks.
    pub total_io_phases: u64,
    /// Operations of the phase that has most.
    pub max_io_ops_in_phase: u64,
    /// Operations of the rank that has most.
    pub max_io_ops_per_rank: u64,
    /// Operations of all ranks.
    pub total_io_ops: u64,
    /// Ranks that have a phase of this class.
    pub number_of_ranks: u64,
}

impl Totals {
    /// Sums up a class.
    pub fn of(phases: &Phases, class: Class) -> Self {
        let mut totals = Self::default();
        for rank in phases.ranks() {
            let (mut bytes, mut count, mut operations) = (0u64, 0u64, 0u64);
            for phase in phases.of_rank(rank, class) {
                bytes = bytes.saturating_add(phase.bytes);
                count += 1;
                operations += phase.operations;
                totals.max_bytes_per_phase = totals.max_bytes_per_phase.max(phase.bytes);
                totals.max_io_ops_in_phase = totals.max_io_ops_in_phase.max(phase.operations);
            }
            totals.total_bytes = totals.total_bytes.saturating_add(bytes);
            totals.total_io_phases += count;
            totals.total_io_ops += operations;
            totals.max_bytes_per_rank = totals.max_bytes_per_rank.max(bytes);
            totals.max_io_phases_per_rank = totals.max_io_phases_per_rank.max(count);
            totals.max_io_ops_per_rank = totals.max_io_ops_per_rank.max(operations);
            totals.number_of_ranks += u64::from(count > 0);
        }
        totals
    }
}

/// Means of the bandwidths of phases, in bytes per second; all 0 without a phase.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Harmonic mean weighted with the bytes: all bytes over the sum of the durations.
    pub weighted_harmonic_mean: f64,
    /// Number of phases over the sum of the reciprocals.
    pub harmonic_mean: f64,
    /// Arithmetic mean.
    pub arithmetic_mean: f64,
    /// Median; of an even number, the mean of the middle two.
    pub median: f64,
    /// Largest.
    pub max: f64,
    /// Smallest.
    pub min: f64,
}

impl Statistics {
    /// Over the phases of a class, each with the bandwidth that `bandwidth` gives. Reciprocals of
    /// zeros are left out of the harmonic means, as TMIO does.
    pub fn of(phases: &Phases, class: Class, bandwidth: impl Fn(&Phase) -> f64) -> Self {
        let (mut sum, mut reciprocals, mut durations, mut bytes) = (0.0, 0.0, 0.0, 0.0);
        let mut values = Vec::new();
        for (_, phase) in phases.of_class(class) {
            let value = bandwidth(&phase);
            sum += value;
            bytes += phase.bytes as f64;
            if value > 0.0 {
                reciprocals += 1.0 / value;
                durations += phase.bytes as f64 / value;
            }
            if values.try_reserve(1).is_err() {
                return Self::default();
            }
            values.push(value);
        }
        let count = values.len() as f64;
        let over = |numerator: f64, denominator: f64| {
            if denominator > 0.0 { numerator / denominator } else { 0.0 }
        };
        let by_value = |a: &f64, b: &f64| a.total_cmp(b);
        Statistics {
            weighted_harmonic_mean: over(bytes, durations),
            harmonic_mean: over(count, reciprocals),
            arithmetic_mean: over(sum, count),
            max: values.iter().copied().max_by(by_value).unwrap_or(0.0),
            min: values.iter().copied().min_by(by_value).unwrap_or(0.0),
            median: statistics::median_of(&mut values),
        }
    }
}
