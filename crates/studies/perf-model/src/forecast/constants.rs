//! The constants of a forecast, each with its reason.
//!
//! They were chosen on 726 measured series of ten repositories. Chosen anew for each repository from the
//! others they hardly differ, and a grid of 108 around them changes the mean error by a few per cent: there
//! is nothing to gain from tuning them further.

/// Powers of a cost that grows.
pub(super) const RISING: [f64; 12] =
    [0.25, 1.0 / 3.0, 0.5, 2.0 / 3.0, 0.75, 1.0, 1.25, 4.0 / 3.0, 1.5, 2.0, 2.5, 3.0];
/// Powers of a cost that is shared.
pub(super) const FALLING: [f64; 9] =
    [-0.25, -1.0 / 3.0, -0.5, -2.0 / 3.0, -0.75, -1.0, -4.0 / 3.0, -1.5, -2.0];
/// Powers that are multiplied by a logarithm.
pub(super) const LOGGED: [f64; 4] = [0.5, 1.0, 1.5, 2.0];
/// How work is shared where something grows beside it.
pub(super) const SHARED: [f64; 2] = [-0.5, -1.0];

/// Fewest scales: the last slope goes through three of them.
pub(super) const FEWEST: usize = 3;
/// Fewest scales for sums of two terms: with five they gain nothing (0.355 and 0.353).
pub(super) const PAIRS_FROM: usize = 6;

/// Weight of a form: 1 / (error + LEAST)^SHARP, the error being leave-one-out. LEAST keeps exact series exact
/// to 10⁻⁴; powers from 2 to 4 are equal within 2 %.
pub(super) const LEAST: f64 = 0.002;
pub(super) const SHARP: i32 = 3;
/// Logarithms that are off by more are not told apart.
pub(super) const WORST: f64 = 20.0;

/// Share of the last slope where the series rises: what the largest scales know and no form does.
pub(super) const COURSE: f64 = 0.5;
/// Share of the mixture where it falls: what is shared by more and more has a rest that does not fall.
pub(super) const FALL: f64 = 0.85;
/// Share of the way that a rising rate does not go: rates saturate.
pub(super) const SATURATES: f64 = 0.15;
/// Misfit at which the forms are half believed. Below 0.3 % a form is right in practice; above 3 % the last
/// slope beside it is better by a quarter.
pub(super) const EXACT: f64 = 0.01;

/// Half width of the 95 % interval where everything fits, in the logarithm.
pub(super) const FLOOR: f64 = 0.02;
/// What the difference of mixture and last slope counts in it.
pub(super) const APART: f64 = 1.5;
/// What a series may do beyond its scales, down and up, for each factor e: measured costs lie above the
/// forecast more often than below.
pub(super) const DRIFT: (f64, f64) = (0.8, 1.4);
/// The same for a rate that rises.
pub(super) const RATE_DRIFT: (f64, f64) = (0.9, 0.7);
/// Misfit at which half of that counts. Smaller than EXACT: an interval must not trust what a value may.
pub(super) const HOLDS: f64 = 0.005;

/// Times the misfit that a run may be off close to the largest scale: about two deviations.
pub(super) const SCATTER: f64 = 2.0;
/// Points that lie no further from one curve than this, in the logarithm, are on it.
pub(super) const ON_IT: f64 = 1e-6;
/// At so many times the largest scale, the median error of a forecast as a factor.
pub(super) const TYPICAL: [(f64, f64); 4] = [(1.0, 1.0), (2.0, 1.13), (4.0, 1.28), (8.0, 1.47)];
