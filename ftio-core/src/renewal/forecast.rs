//! When the next phase begins: a mixture over the alternatives, each by its renewal model, and what is left
//! of the probability by the list of phases that stands out most.
//!
//! A line of the spectrum foretells nothing, so lines are no alternatives here. Pauses are no slots: what is
//! foretold is the next phase of a run, not the next run.

pub use crate::estimate::forecast::NextStart;
use crate::estimate::forecast::{Forecast, Part};
use crate::phases::phase::Phase;
use crate::renewal::answer::Posterior;
use crate::renewal::chain::Link;
use crate::renewal::hypotheses::{Form, Hypothesis};
use crate::renewal::lists::List;
use crate::renewal::residual::bytes;
use crate::renewal::rows::{Place, Row, Search};
use crate::renewal::signal::{Request, Trace};
use crate::renewal::table::{
    EARLY, EARLY_MEMBERS, EARLY_VARIES, EMPTY_MEAN, EMPTY_MOST, EMPTY_SEEN, FULL_OCTAVES, LEAST, LEAST_ROW,
    LIST_DOUBT, MOST_ROWS, PRIOR_LIST, PRIOR_NEXT, REST_ROW, SHORTEST, TWO_PHASES, VARIES_MOST,
};
use crate::renewal::view::View;
use crate::renewal::warps::Warp;
use crate::renewal::weights::COUNT;
use crate::signal::statistics::{deviation, mean, median, robust_spread, variation};

/// What is known about the next phase.
pub fn forecast(search: &Search, trace: &Trace, weights: &[f64; COUNT]) -> Forecast {
    let rows: Vec<&Row> = search.rows.iter().filter(|row| !row.is_wave).collect();
    let posterior = Posterior::of(rows.iter().copied(), weights);
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| posterior.rows[b].total_cmp(&posterior.rows[a]));
    let requests = Starts::of(trace);
    let mut parts = Vec::new();
    let mut typical = Vec::new();
    for i in order.into_iter().take(MOST_ROWS) {
        let probability = posterior.rows[i];
        if probability >= LEAST_ROW {
            let place = main(search, rows[i]);
            if parts.is_empty() {
                typical = search.phases(place);
            }
            let (view, one) = (&search.views[place.0], &search.described(place).hypothesis);
            parts.extend(parts_of(view, one, probability, &requests));
        }
    }
    let known = parts.iter().map(|part: &Part| part.weight).sum::<f64>();
    let left = 1.0 - known;
    if (left > REST_ROW || parts.is_empty())
        && let Some((part, phases)) = by_list(search, left.max(REST_ROW), &requests)
    {
        parts.push(part);
        if left > known {
            typical = phases;
        }
    }
    Forecast::with(parts, &typical)
}

/// The next start after `now`.
pub fn next_start(search: &Search, trace: &Trace, weights: &[f64; COUNT], now: f64) -> Option<NextStart> {
    forecast(search, trace, weights).next(now)
}

/// What one rhythm alone tells of it.
pub fn of_rhythm(search: &Search, trace: &Trace, place: Place) -> Forecast {
    let (view, one) = (&search.views[place.0], &search.described(place).hypothesis);
    Forecast::with(parts_of(view, one, 1.0, &Starts::of(trace)), &search.phases(place))
}

/// The list of at least two phases that stands out most: what is counted where there is no rhythm.
pub fn standing_out(search: &Search) -> Option<&List> {
    let view = &search.views[0];
    let outstanding = |list: &List| {
        let volumes = deviation(&list.volumes) / mean(&list.volumes).max(f64::MIN_POSITIVE);
        (list.octaves + LIST_DOUBT.1).min(FULL_OCTAVES) / (LIST_DOUBT.0 + varies(list)) / (1.0 + volumes)
    };
    view.lists.iter().chain(&view.twos).reduce(|a, b| if outstanding(b) > outstanding(a) { b } else { a })
}

/// How much the distances of a list vary; of two phases, how much they might.
pub fn varies(list: &List) -> f64 {
    let distances = distances(&list.starts);
    if distances.len() > 1 { variation(&distances) } else { TWO_PHASES }
}

fn distances(starts: &[f64]) -> Vec<f64> {
    starts.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// The hypothesis of a row, or of two that with more bytes.
fn main(search: &Search, row: &Row) -> Place {
    let volume = |place: Place| {
        let (view, one) = (&search.views[place.0], &search.described(place).hypothesis);
        bytes(view, one).iter().sum::<f64>()
    };
    let first = row.hypotheses[0];
    let more = |a: Place, b: Place| if volume(b) > volume(a) { b } else { a };
    row.hypotheses.iter().copied().reduce(more).unwrap_or(first)
}

/// When requests begin, and how far those before have reached.
struct Starts(Vec<(f64, f64)>);

impl Starts {
    fn of(trace: &Trace) -> Self {
        let Trace::Requests { requests, .. } = trace else { return Starts(Vec::new()) };
        let mut sorted: Vec<&Request> = requests.iter().collect();
        sorted.sort_by(|a, b| a.start.total_cmp(&b.start));
        let reach = |before: &mut f64, request: &&Request| {
            let reached = *before;
            *before = before.max(request.end);
            Some((request.start, reached))
        };
        Starts(sorted.iter().scan(f64::NEG_INFINITY, reach).collect())
    }

    /// By how much the first request after the longest silence comes before each phase: small files before
    /// the bulk. 0 if that is not alike in all phases, or there is no silence to speak of.
    fn early(&self, view: &View, list: &List, members: &[usize], period: f64) -> Vec<f64> {
        let (start, step) = (view.reading.signal.start, view.reading.signal.step);
        let none = vec![0.0; members.len()];
        if self.0.is_empty() || members.len() < 2 {
            return none;
        }
        let mut silent = 0;
        let mut early = none.clone();
        for (early, &member) in early.iter_mut().zip(members) {
            let begins = list.starts[member] + start;
            let last = member.checked_sub(1).map_or(f64::NEG_INFINITY, |before| list.ends[before] + start);
            let place = |time: f64| self.0.partition_point(|request| request.0 < time);
            let (from, to) = (place(last - step), place(begins + step));
            let silence = |request: &(f64, f64)| {
                let silence = request.0 - request.1.max(last);
                if silence.is_finite() { silence.min(period) } else { period }
            };
            let longer = |a: (f64, f64), b: (f64, f64)| if b.1 > a.1 { b } else { a };
            let some = self.0.get(from..to).unwrap_or_default();
            let longest = some.iter().map(|request| (request.0, silence(request))).reduce(longer);
            if let Some((request, silence)) = longest {
                silent += usize::from(silence >= EARLY * period);
                *early = (begins - request).max(0.0);
            }
        }
        let alike = silent as f64 >= EARLY_MEMBERS * members.len() as f64
            && robust_spread(&early) <= EARLY_VARIES * period
            && 2.0 * median(&early) <= period;
        if alike { early } else { none }
    }
}

/// Scale and degrees of freedom of relative distances, of which k varied by sigma: a prior of two distances.
fn spread(sigma: f64, k: usize, before: f64) -> (f64, usize) {
    let seen = k.saturating_sub(1);
    let freedom = 2 + seen;
    let squares = 2.0 * before * before + seen as f64 * sigma * sigma;
    ((squares / freedom as f64).sqrt(), freedom)
}

fn parts_of(view: &View, one: &Hypothesis, weight: f64, requests: &Starts) -> Vec<Part> {
    let list = &view.lists[one.list];
    let early = requests.early(view, list, &one.members, one.period);
    let starts: Vec<f64> = view.starts(one).iter().zip(&early).map(|(start, early)| start - early).collect();
    let (since, k) = (view.reading.signal.start, starts.len() - 1);
    let last = since + starts[k];
    let distances: Vec<f64> = starts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let single = |period: f64, k: usize, wider: f64| {
        let (relative, freedom) = spread(one.sigma, k, PRIOR_NEXT);
        let scale = (relative * period * (1.0 + wider / k as f64).sqrt()).max(SHORTEST);
        vec![Part { weight, centre: last + period, scale, freedom, period }]
    };
    match &one.warp {
        Warp::Change(counts) => {
            return single(one.periods[one.periods.len() - 1], counts[counts.len() - 1].max(1), 1.0);
        }
        Warp::Drift(growth) => {
            let latest = &distances[k.saturating_sub(LEAST)..];
            let period = if k >= LEAST { median(latest) * (2.0 * growth).exp() } else { one.period };
            return single(period, k, LEAST as f64);
        }
        Warp::None => {}
    }
    // Links of one period; if there are fewer than two, all, each as what a slot of it is.
    let is_single = |link: &Link| *link == Link::Slots(1);
    let enough = one.links.iter().filter(|link| is_single(link)).count() >= 2;
    let (mut each, mut gaps) = (Vec::new(), Vec::new());
    for (i, link) in one.links.iter().enumerate().filter(|(_, link)| !enough || is_single(link)) {
        let slots = if let Link::Slots(n) = link { *n as f64 } else { 1.0 };
        each.push(distances[i] / slots);
        gaps.push((distances[i] - list.lengths[one.members[i]] - early[i]) / slots);
    }
    let (period, c) = (mean(&each), each.len());
    let around = |values: &[f64]| {
        let middle = (median(values) + mean(values)) / 2.0;
        let squares: f64 = values.iter().map(|value| (value - middle).powi(2)).sum();
        let relative = (squares / (c as f64 - 1.0).max(1.0)).sqrt() / period;
        (middle, spread(relative.min(VARIES_MOST), c, PRIOR_NEXT))
    };
    let ((distance, (sigma, freedom)), (gap, (of_gap, _))) = (around(&each), around(&gaps));
    // Distances or gaps: whichever is more regular.
    let by_gap = 1.0 / (1.0 + (of_gap / sigma).powf(c as f64));
    let empty = match one.form {
        Form::Comb => {
            let empty = (one.slots - one.linked) as f64 + EMPTY_SEEN.0;
            (empty / (one.slots as f64 + EMPTY_SEEN.1)).min(EMPTY_MOST)
        }
        _ => EMPTY_MEAN,
    };
    let ended = since + list.ends[one.members[one.members.len() - 1]];
    let mut parts = Vec::new();
    let mut chance = weight * (1.0 - empty);
    for slot in 1..=LEAST {
        let slots = slot as f64;
        let wide = period * (slots + 1.0 / c as f64).sqrt();
        let by_distance = Part {
            weight: chance * (1.0 - by_gap),
            centre: last + slots * distance,
            scale: (sigma * wide).max(SHORTEST),
            freedom,
            period: distance,
        };
        let centre = ended + gap + (slots - 1.0) * distance;
        let scale = (of_gap * wide).max(SHORTEST);
        parts.push(Part { weight: chance * by_gap, centre, scale, ..by_distance });
        parts.push(by_distance);
        chance *= empty;
    }
    parts
}

/// Without a rhythm: the list of at least two phases that stands out most.
fn by_list(search: &Search, weight: f64, requests: &Starts) -> Option<(Part, Vec<Phase>)> {
    let view = &search.views[0];
    let list = standing_out(search)?;
    let members: Vec<usize> = (0..list.count()).collect();
    let early = requests.early(view, list, &members, median(&distances(&list.starts)));
    let starts: Vec<f64> = list.starts.iter().zip(&early).map(|(start, early)| start - early).collect();
    let distances = distances(&starts);
    let (period, k) = (median(&distances), distances.len());
    let (relative, freedom) = spread(varies(list).min(VARIES_MOST), k, PRIOR_LIST);
    let scale = (relative * period * (1.0 + 1.0 / k as f64).sqrt()).max(SHORTEST);
    let centre = view.reading.signal.start + starts[k] + period;
    Some((Part { weight, centre, scale, freedom, period }, search.phases_of(view, list, &members)))
}
