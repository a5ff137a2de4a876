//! The renewal model: phases that follow one another one period apart, as one chain.
//!
//! In a time in which the period is 1, phase j is a member or a stray. A member follows another by a *slot
//! link*, n periods later (n − 1 are missing), with density N(d; n, σ²n + q²)·(1−p)·pⁿ⁻¹; or after a *pause*
//! of any length. d is the distance of the starts, or that less what the phase before was longer than usual
//! (the program then computes for its usual time), whichever fits better. Strays come at a rate of their own.
//! The best chain is found by dynamic programming, and σ, p, the scale and the rate are estimated from it,
//! again and again.

use crate::renewal::table::{
    EMPTY, EMPTY_FIRST, FEWEST_STRAYS, FIT_COST, LEAST, LIKE, LIKE_GAIN, LIKE_SHARE, LINK_COST, MANY_SINGLE,
    MISSING, NO_TIME, OTHER_DISTANCE, OUTLYING, PAUSE, PAUSE_LEAST, PRIOR, RESCALED, SIGMA, SIGMA_FIRST,
    STRAY_RATE,
};
use std::f64::consts::{LN_2, SQRT_2, TAU};

/// How a member follows the one before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// So many periods later.
    Slots(usize),
    /// After a pause of any length.
    Pause,
}

/// The phases of a list in a time in which the period is 1.
#[derive(Clone, Copy, Debug)]
pub struct Phases<'a> {
    /// When they begin.
    pub starts: &'a [f64],
    /// By how much each is longer than usual.
    pub excess: &'a [f64],
    /// Which are longer than usual with no more to transfer, as others are: the next comes so much later.
    pub delays: &'a [bool],
    /// The logarithms of their volumes.
    pub logarithms: &'a [f64],
    /// The spread of these.
    pub spread: f64,
    /// To what starts are known.
    pub exactness: f64,
}

/// The best chain.
#[derive(Clone, Debug, PartialEq)]
pub struct Chain {
    /// Which phases are members.
    pub members: Vec<usize>,
    /// How each but the first follows.
    pub links: Vec<Link>,
    /// The period, in those that were given.
    pub scale: f64,
    /// The relative spread of the distances.
    pub sigma: f64,
    /// Log-likelihood ratio to phases at random, less the cost of the parameters.
    pub likelihood: f64,
}

/// What is estimated from the chain that was found before.
struct Parameters {
    sigma: f64,
    /// The probability that a slot is empty.
    empty: f64,
    /// The logarithm of the strays' rate.
    strays: f64,
    exactness: f64,
}

/// A link of some periods: its variance, and what it gains where it fits exactly.
#[derive(Clone, Copy)]
struct Slots {
    variance: f64,
    exact: f64,
}

impl Parameters {
    /// Links of one period, of two …
    fn slots(&self) -> [Slots; MISSING] {
        let full = (1.0 - self.empty).ln();
        std::array::from_fn(|missing| {
            let variance = self.sigma * self.sigma * (missing + 1) as f64 + self.exactness * self.exactness;
            let exact = full + missing as f64 * self.empty.ln() - (TAU.ln() + variance.ln()) / 2.0;
            Slots { variance, exact }
        })
    }
}

/// The squared residual of a link of n periods, and what the choice of the distance costs: that of the
/// starts, or that less what the phase before was longer than usual.
fn residual(distance: f64, excess: f64, n: f64, variance: f64) -> (f64, f64) {
    let (plain, eased) = ((distance - n).powi(2), (distance - n - excess).powi(2));
    if plain <= eased + OTHER_DISTANCE * variance { (plain, 0.0) } else { (eased, LN_2) }
}

/// What a pause costs: it is rare, and may be of any length.
fn pause(distance: f64) -> f64 {
    let length = distance.max(1.0).ln();
    -PAUSE - length - 2.0 * (1.0 + length).ln()
}

/// Number of the period in which something is that far away.
fn slots_in(distance: f64) -> usize {
    (distance + 1.0 / 2.0) as usize
}

/// The best chain of members.
fn best_chain(phases: &Phases, with: &Parameters) -> (Vec<usize>, Vec<Link>) {
    let times = phases.starts;
    let of_slots = with.slots();
    let judges_volumes = phases.spread > LIKE_GAIN * LIKE;
    let narrower = 1.0 / (LIKE * LIKE) - 1.0 / (phases.spread * phases.spread);
    let alike = |a: usize, b: usize| {
        let apart = (phases.logarithms[b] - phases.logarithms[a]) / SQRT_2;
        let ratio = (-apart * apart * narrower / 2.0).exp() * phases.spread / LIKE;
        (LIKE_SHARE * ratio + 1.0 - LIKE_SHARE).ln()
    };
    let most_alike = if judges_volumes { alike(0, 0) } else { 0.0 };
    // The gain of the best chain that ends with each phase, and how that one came to it.
    let mut gains: Vec<f64> = Vec::with_capacity(times.len());
    let mut before: Vec<Option<(usize, Link)>> = Vec::with_capacity(times.len());
    // The best chain that ends long enough before this phase for a pause.
    let (mut best_before, mut passed) = (None::<usize>, 0);
    for (j, &time) in times.iter().enumerate() {
        let (mut best, mut from) = (0.0, None);
        while passed < j && times[passed] <= time - PAUSE_LEAST {
            if best_before.is_none_or(|best: usize| gains[passed] > gains[best]) {
                best_before = Some(passed);
            }
            passed += 1;
        }
        // Logarithms take long, and most cannot win.
        if let Some(i) = best_before.filter(|&i| gains[i] - PAUSE - with.strays > best) {
            let gain = gains[i] + pause(time - times[i]) - with.strays;
            if gain > best {
                (best, from) = (gain, Some((i, Link::Pause)));
            }
        }
        for i in (0..j).rev() {
            let distance = time - times[i];
            if distance > MISSING as f64 + 1.0 / 2.0 {
                break;
            }
            let gain = |slots: usize| {
                let Slots { variance, exact } = *of_slots.get(slots.checked_sub(1)?)?;
                let (squared, cost) = residual(distance, phases.excess[i], slots as f64, variance);
                let fits = squared <= OUTLYING * variance;
                fits.then(|| (gains[i] + exact - squared / (2.0 * variance) - cost - with.strays, slots))
            };
            // After a phase that delays the next there are fewer slots than it looks.
            let plain = slots_in(distance);
            let eased = slots_in(distance - phases.excess[i]);
            let other = if phases.delays[i] && eased != plain { gain(eased) } else { None };
            let more = |a: (f64, usize), b: (f64, usize)| if b.0 > a.0 { b } else { a };
            let Some((gain, slots)) = gain(plain).into_iter().chain(other).reduce(more) else { continue };
            if gain + most_alike <= best {
                continue;
            }
            let gain = if judges_volumes { gain + alike(i, j) } else { gain };
            if gain > best {
                (best, from) = (gain, Some((i, Link::Slots(slots))));
            }
        }
        gains.push(best);
        before.push(from);
    }
    let larger = |a: usize, b: usize| if gains[b] > gains[a] { b } else { a };
    let Some(mut last) = (0..times.len()).reduce(larger) else { return (Vec::new(), Vec::new()) };
    let (mut members, mut links) = (vec![last], Vec::new());
    while let Some((i, link)) = before[last] {
        members.push(i);
        links.push(link);
        last = i;
    }
    members.reverse();
    links.reverse();
    (members, links)
}

/// The chain of some phases, estimated so many times; nothing if there is none.
pub fn fit(phases: &Phases, times: usize) -> Option<Chain> {
    let m = phases.starts.len();
    let mut starts = phases.starts.to_vec();
    let mut excess = phases.excess.to_vec();
    let mut span = starts[m - 1] - starts[0];
    let (mut scale, mut sigma) = (1.0, 0.0);
    let mut now = Parameters {
        sigma: SIGMA_FIRST,
        empty: EMPTY_FIRST,
        strays: (m as f64 / span.max(NO_TIME)).ln(),
        exactness: phases.exactness,
    };
    let (mut members, mut links) = (Vec::new(), Vec::new());
    for _ in 0..times {
        let warped = Phases { starts: &starts, excess: &excess, ..*phases };
        (members, links) = best_chain(&warped, &now);
        let c = members.len();
        if c < LEAST {
            return None;
        }
        let of_slots = now.slots();
        let (mut single, mut all, mut slots) = ((0, 0.0), (0, 0.0), 0);
        for (pair, link) in members.windows(2).zip(&links) {
            let &Link::Slots(n) = link else { continue };
            let mut distance = starts[pair[1]] - starts[pair[0]];
            let variance = of_slots[n - 1].variance;
            if residual(distance, excess[pair[0]], n as f64, variance).1 > 0.0 {
                distance -= excess[pair[0]];
            }
            all = (all.0 + 1, all.1 + distance);
            slots += n;
            if n == 1 {
                single = (single.0 + 1, single.1 + distance);
            }
        }
        if all.0 < 1 {
            return None;
        }
        let longer = if single.0 >= MANY_SINGLE { single.1 / single.0 as f64 } else { all.1 / slots as f64 };
        if !RESCALED.contains(&(longer * scale)) {
            return None;
        }
        starts.iter_mut().chain(&mut excess).for_each(|time| *time /= longer);
        scale *= longer;
        span /= longer;
        now.exactness /= longer;
        let one = |(pair, link): (&[usize], &Link)| match link {
            Link::Slots(n) => {
                let distance = starts[pair[1]] - starts[pair[0]];
                // The choice between distances is made at the variance of one period.
                let variance = now.sigma * now.sigma + now.exactness * now.exactness;
                residual(distance, excess[pair[0]], *n as f64, variance).0 / *n as f64
            }
            Link::Pause => 0.0,
        };
        let squares: f64 = members.windows(2).zip(&links).map(one).sum();
        let (linked, m, c) = (all.0 as f64, m as f64, c as f64);
        sigma = ((2.0 * PRIOR * PRIOR + squares) / (1.0 + linked)).sqrt();
        let seen = squares / (linked - 1.0).max(1.0) - now.exactness * now.exactness;
        now.sigma = seen.max(0.0).sqrt().clamp(SIGMA.0, SIGMA.1);
        now.empty = ((slots as f64 - linked) / slots as f64).clamp(EMPTY.0, EMPTY.1);
        now.strays = ((m - c).max(FEWEST_STRAYS) / span).max(STRAY_RATE * m / span).ln();
    }
    let of_slots = now.slots();
    let gain = |(pair, link): (&[usize], &Link)| {
        let distance = starts[pair[1]] - starts[pair[0]];
        match link {
            Link::Slots(n) => {
                let Slots { variance, exact } = of_slots[n - 1];
                let (squared, cost) = residual(distance, excess[pair[0]], *n as f64, variance);
                exact - squared / (2.0 * variance) - cost
            }
            Link::Pause => pause(distance),
        }
    };
    let linked: f64 = members.windows(2).zip(&links).map(gain).sum();
    // The period is the mean distance of starts, whatever explains why they vary.
    let (mut single, mut all, mut slots) = ((0, 0.0), 0.0, 0);
    for (pair, link) in members.windows(2).zip(&links) {
        let &Link::Slots(n) = link else { continue };
        let distance = starts[pair[1]] - starts[pair[0]];
        (all, slots) = (all + distance, slots + n);
        if n == 1 {
            single = (single.0 + 1, single.1 + distance);
        }
    }
    let longer = if single.0 >= MANY_SINGLE { single.1 / single.0 as f64 } else { all / slots.max(1) as f64 };
    scale *= longer;
    let (phases, c) = (m as f64, members.len() as f64);
    let strays = phases - c;
    let at_random = (c - 1.0) * (1.0 - (phases / span).ln());
    let of_strays = if strays > 0.0 { strays * (strays / phases).ln() } else { 0.0 };
    let cost = LINK_COST * (c - 1.0).max(2.0).ln() + FIT_COST;
    Some(Chain { members, links, scale, sigma, likelihood: linked + at_random + of_strays - cost })
}
