//! Times in which the period is 1 although it drifts or changes.

use crate::renewal::table::{
    DRIFT, DRIFT_APART, DRIFT_PAIRS, EXACTLY_CUT, LEAST, LEAST_SPREAD, NO_TIME, SEGMENTS, SPREAD_CUT,
};
use crate::signal::statistics::median;

/// How a warped time comes about.
#[derive(Clone, Debug, PartialEq)]
pub enum Warp {
    /// It is time itself.
    None,
    /// Distances grow or shrink by this factor's logarithm each.
    Drift(f64),
    /// Pieces of constant period: how many distances each has.
    Change(Vec<usize>),
}

/// The logarithms of the distances.
fn logarithms(starts: &[f64]) -> Vec<f64> {
    starts.windows(2).map(|pair| (pair[1] - pair[0]).ln()).collect()
}

/// The time in which distances T·e^(b·i) are 1, and b, by the median slope (Theil and Sen).
pub fn drift(starts: &[f64]) -> Option<(Vec<f64>, f64)> {
    let y = logarithms(starts);
    let k = y.len();
    let slope = |a: usize, b: usize| (y[b] - y[a]) / (b - a) as f64;
    let slopes: Vec<f64> = if k <= DRIFT_PAIRS {
        let apart = (k / DRIFT_APART).max(1);
        (0..k).flat_map(|a| (a + apart..k).map(move |b| (a, b))).map(|(a, b)| slope(a, b)).collect()
    } else {
        (0..k / 2).map(|i| slope(i, k - k / 2 + i)).collect()
    };
    let b = median(&slopes);
    let at_first: Vec<f64> = y.iter().enumerate().map(|(i, y)| y - b * i as f64).collect();
    let first = median(&at_first).exp();
    let all = b.abs() * (k - 1) as f64;
    if all < DRIFT.0 || b.abs() > DRIFT.1 {
        return None;
    }
    let grown: Vec<f64> = starts.iter().map(|start| 1.0 + (start - starts[0]) * b.exp_m1() / first).collect();
    grown.iter().all(|z| *z > 0.0).then(|| (grown.iter().map(|z| z.ln() / b).collect(), b))
}

/// Sums up to each place, of values and of their squares.
struct Sums(Vec<(f64, f64)>);

impl Sums {
    fn of(values: &[f64]) -> Self {
        let mut sums = vec![(0.0, 0.0)];
        for (i, y) in values.iter().enumerate() {
            sums.push((sums[i].0 + y, sums[i].1 + y * y));
        }
        Sums(sums)
    }

    /// The squared deviations of the values from their mean.
    fn squares(&self, from: usize, to: usize) -> f64 {
        let (sum, square) = (self.0[to].0 - self.0[from].0, self.0[to].1 - self.0[from].1);
        square - sum * sum / (to - from).max(1) as f64
    }
}

/// The distances as pieces of constant period: where each but the first begins.
pub fn cuts(starts: &[f64]) -> Vec<usize> {
    let mut y = logarithms(starts);
    let n = y.len();
    let middle = median(&y);
    y.iter_mut().for_each(|y| *y = y.clamp(middle - SPREAD_CUT, middle + SPREAD_CUT));
    let sums = Sums::of(&y);
    if n <= EXACTLY_CUT { exact_cuts(&sums, n) } else { greedy_cuts(&sums, n) }
}

/// What cutting gains, in nats.
fn gain(n: usize, whole: f64, parts: f64, cuts: usize) -> f64 {
    let n = n as f64;
    let least = n * LEAST_SPREAD;
    (whole.max(least) / parts.max(least)).ln() * n / 2.0 - 2.0 * cuts as f64 * n.ln()
}

/// The best cuts into each number of pieces, by dynamic programming: what gains most of them.
fn exact_cuts(sums: &Sums, n: usize) -> Vec<usize> {
    let whole = sums.squares(0, n);
    // What is left of the squares up to each place, cut into so many pieces, and where the last begins.
    let mut parts: Vec<(f64, usize)> = (0..=n).map(|to| (sums.squares(0, to), 0)).collect();
    let mut before: Vec<Vec<usize>> = Vec::new();
    let mut best = (0.0, Vec::new());
    for count in 1..SEGMENTS {
        let cut = |to: usize| {
            let from = count * LEAST..(to + 1).saturating_sub(LEAST);
            let all = from.map(|from| (parts[from].0 + sums.squares(from, to), from));
            all.reduce(|a, b| if b.0 < a.0 { b } else { a }).unwrap_or((f64::INFINITY, 0))
        };
        parts = (0..=n).map(cut).collect();
        before.push(parts.iter().map(|part| part.1).collect());
        let gained = gain(n, whole, parts[n].0, count);
        if gained > best.0 {
            let step = |to: &mut usize, from: &Vec<usize>| {
                *to = from[*to];
                Some(*to)
            };
            let mut places: Vec<usize> = before.iter().rev().scan(n, step).collect();
            places.reverse();
            best = (gained, places);
        }
    }
    best.1
}

/// The cut that gains most, again.
fn greedy_cuts(sums: &Sums, n: usize) -> Vec<usize> {
    let mut edges = vec![0, n];
    while edges.len() <= SEGMENTS {
        let split = |a: usize, b: usize| {
            let n = b - a;
            let parts = |k: usize| sums.squares(a, k) + sums.squares(k, b);
            let less = |j: usize, k: usize| if parts(k) < parts(j) { k } else { j };
            let place = (a + LEAST..(b + 1).saturating_sub(LEAST)).reduce(less)?;
            let least = n as f64 * LEAST_SPREAD;
            let whole = sums.squares(a, b).max(NO_TIME);
            let gained = (whole / parts(place).max(least)).ln() * n as f64 / 2.0 - 2.0 * (n as f64).ln();
            Some((gained, place))
        };
        let all = edges.windows(2).filter_map(|edge| split(edge[0], edge[1]));
        let best = all.reduce(|a, b| if b.0 > a.0 { b } else { a });
        let Some((_, place)) = best.filter(|(gained, _)| *gained > 0.0) else { break };
        edges.push(place);
        edges.sort_unstable();
    }
    edges[1..edges.len() - 1].to_vec()
}

/// The time in which each piece has a period of 1, the periods, and how many distances each has.
pub fn change(starts: &[f64], cuts: &[usize]) -> (Vec<f64>, Vec<f64>, Vec<usize>) {
    let y = logarithms(starts);
    let edges: Vec<usize> = [0].into_iter().chain(cuts.iter().copied()).chain([y.len()]).collect();
    let periods: Vec<f64> = edges.windows(2).map(|edge| median(&y[edge[0]..edge[1]]).exp()).collect();
    let counts = edges.windows(2).map(|edge| edge[1] - edge[0]).collect();
    let mut warped = vec![0.0];
    for (edge, period) in edges.windows(2).zip(&periods) {
        let since = warped[edge[0]];
        warped.extend((edge[0] + 1..=edge[1]).map(|i| since + (starts[i] - starts[edge[0]]) / period));
    }
    (warped, periods, counts)
}
