//! The alternatives of the softmax: one hypothesis each, or two at once.

use crate::phases::phase::Phase;
use crate::renewal::hypotheses::Form;
use crate::renewal::lists::List;
use crate::renewal::readings::{Name, readings};
use crate::renewal::residual::{bytes, residuals};
use crate::renewal::signal::{Bandwidth, Trace};
use crate::renewal::table::{
    ALIASED, BETWEEN, CONSTANT, DOUBLE, ERRORS, FEWEST_BINS, LEAST_IN_PAIR, LEAST_IN_REST, LEAST_REST,
    OF_REST, PAIR_APART, PAIRS, PEDESTAL, PHASE_SAMPLES, SAME, SHARP_SAMPLES,
};
use crate::renewal::view::{Described, View, vote};
use crate::renewal::weights::{COUNT, Feature as F, Features};
use crate::signal::statistics::{median, quantile, variation};

/// A hypothesis: the index of its view, and its own in there.
pub type Place = (usize, usize);

/// An alternative of the softmax.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// One hypothesis, or two at once.
    pub hypotheses: Vec<Place>,
    /// Its periods, the shorter one of two first; of a change as they follow one another.
    pub periods: Vec<f64>,
    /// Do they follow one another?
    pub is_change: bool,
    /// Is it a line of the spectrum?
    pub is_wave: bool,
    /// Does it take so few samples that a shorter one, seen at another phase in each, explains as much?
    pub may_be_alias: bool,
    /// To what the period is known, relative to it.
    pub loose: f64,
    /// What speaks for it.
    pub features: Features,
}

impl Row {
    /// Two rhythms at once?
    pub fn is_pair(&self) -> bool {
        self.hypotheses.len() > 1
    }

    fn of(place: Place, one: &Described, native: Option<f64>) -> Self {
        let hypothesis = &one.hypothesis;
        let is_short = |period: &f64| native.is_some_and(|native| *period < ALIASED * native);
        let known = match hypothesis.form {
            Form::Mean | Form::Comb | Form::Drift => {
                ERRORS * hypothesis.sigma / (hypothesis.count() as f64).sqrt()
            }
            Form::Change | Form::Wave => 0.0,
        };
        Row {
            hypotheses: vec![place],
            periods: hypothesis.periods.clone(),
            is_change: hypothesis.form == Form::Change,
            is_wave: hypothesis.form == Form::Wave,
            may_be_alias: hypothesis.periods.iter().any(is_short),
            loose: known.max(SAME),
            features: one.features,
        }
    }
}

/// All readings of a trace that were looked at, and all alternatives.
#[derive(Clone, Debug)]
pub struct Search {
    /// The signal.
    pub signal: Bandwidth,
    /// Its readings, the whole first, and what is left of them without some rhythm.
    pub views: Vec<View>,
    /// The alternatives.
    pub rows: Vec<Row>,
}

impl Search {
    /// Look at a trace; nothing if there is nothing in it. The weights choose which residuals to look at.
    pub fn of(trace: &Trace, weights: &[f64; COUNT]) -> Option<Self> {
        let signal = Bandwidth::of(trace)?;
        let is_constant = variation(&signal.bins) < CONSTANT;
        if signal.bins.len() < FEWEST_BINS || is_constant {
            return None;
        }
        let mut views: Vec<View> = Vec::new();
        for reading in readings(&signal, trace) {
            let view = View::of(reading, &views);
            views.push(view);
        }
        vote(&mut views);
        let single = |(i, view): (usize, &View)| -> Vec<Row> {
            view.found
                .iter()
                .enumerate()
                .map(|(j, one)| Row::of((i, j), one, view.reading.signal.native))
                .collect()
        };
        let rows = views.iter().enumerate().flat_map(single).collect();
        let mut search = Search { signal, views, rows };
        search.look_for_pairs(weights);
        Some(search)
    }

    /// A hypothesis.
    pub fn described(&self, place: Place) -> &Described {
        &self.views[place.0].found[place.1]
    }

    /// Does little flow between the members of a hypothesis?
    pub fn has_pauses(&self, place: Place) -> bool {
        quantile(&self.signal.bins, PEDESTAL) <= BETWEEN * self.views[place.0].ground.level
    }

    /// Do most members of a hypothesis begin from quiet, and do samples tell when?
    pub fn is_sharp(&self, place: Place) -> bool {
        let (view, one) = (&self.views[place.0], &self.described(place).hypothesis);
        let signal = &view.reading.signal;
        let first = &view.lists[one.list].first;
        let is_quiet = |member: &&usize| match first[**member] {
            0 => 0.0 <= view.ground.quiet,
            bin => signal.bins[bin - 1] <= view.ground.quiet,
        };
        let from_quiet = 2 * one.members.iter().filter(is_quiet).count() >= one.count();
        from_quiet && signal.native.unwrap_or(0.0) <= one.period / SHARP_SAMPLES
    }

    /// The members of a hypothesis as phases; seconds from where times are counted from.
    pub fn phases(&self, place: Place) -> Vec<Phase> {
        let (view, one) = (&self.views[place.0], &self.described(place).hypothesis);
        self.phases_of(view, &view.lists[one.list], &one.members)
    }

    /// Some phases of a list of a view. Each has the bytes up to the next start of the list, as the signal
    /// has them (a reading may have others), or what is left of it without another rhythm.
    pub fn phases_of(&self, view: &View, list: &List, members: &[usize]) -> Vec<Phase> {
        let signal = if view.reading.name == Name::Rest { &view.reading.signal } else { &self.signal };
        let since = view.reading.signal.start;
        let add = |sum: &mut f64, x: &f64| {
            *sum += x * signal.step;
            Some(*sum)
        };
        let sums: Vec<f64> = [0.0].into_iter().chain(signal.bins.iter().scan(0.0, add)).collect();
        let before = |time: f64| {
            let place = ((time - signal.start) / signal.step).clamp(0.0, signal.bins.len() as f64);
            let (whole, part) = (place as usize, place.fract());
            sums[whole] + part * (sums.get(whole + 1).unwrap_or(&sums[whole]) - sums[whole])
        };
        let phase = |&member: &usize| {
            let (start, end) = (since + list.starts[member], since + list.ends[member]);
            let next = list.starts.get(member + 1).map_or(f64::MAX, |next| since + next);
            Phase { start, end, volume: before(next) - before(start) }
        };
        members.iter().map(phase).collect()
    }

    /// Two rhythms at once: for the best singles, what their residual shows.
    fn look_for_pairs(&mut self, weights: &[f64; COUNT]) {
        let mut best: Vec<(f64, Place)> =
            self.rows.iter().map(|row| (row.features.score(weights), row.hypotheses[0])).collect();
        best.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut done: Vec<f64> = Vec::new();
        for (_, place) in best {
            let one = &self.described(place).hypothesis;
            let period = one.period;
            let is_done = |other: &f64| (period / other).max(other / period) < PAIR_APART;
            if one.count() < LEAST_IN_PAIR || !self.is_phases(place) || done.iter().any(is_done) {
                continue;
            }
            if done.len() == PAIRS {
                break;
            }
            done.push(period);
            let of_first = median(&bytes(&self.views[place.0], one));
            for (rest, left) in residuals(&self.views[place.0], one) {
                if left < LEAST_REST {
                    continue;
                }
                let mut seen = [View::of(rest, &[])];
                vote(&mut seen);
                let index = self.views.len();
                self.views.extend(seen);
                let is_form = |j: &usize| is_chain(self.views[index].found[*j].hypothesis.form);
                let mut others: Vec<usize> = (0..self.views[index].found.len()).filter(is_form).collect();
                let score = |j: usize| self.views[index].found[j].features.score(weights);
                others.sort_by(|&a, &b| score(b).total_cmp(&score(a)));
                let pairs = others.into_iter().filter_map(|j| self.pair(place, (index, j), of_first));
                let pairs: Vec<Row> = pairs.take(OF_REST).collect();
                self.rows.extend(pairs);
            }
        }
    }

    /// Is it one of phases that the samples tell apart?
    fn is_phases(&self, place: Place) -> bool {
        let one = &self.described(place).hypothesis;
        let native = self.views[place.0].reading.signal.native.unwrap_or(0.0);
        is_chain(one.form) && native <= one.period / PHASE_SAMPLES
    }

    fn pair(&self, first: Place, second: Place, of_first: f64) -> Option<Row> {
        let (one, other) = (self.described(first), self.described(second));
        let (a, b) = (one.hypothesis.period, other.hypothesis.period);
        let ratio = (a / b).max(b / a);
        if other.hypothesis.count() < LEAST_IN_REST || ratio < PAIR_APART || !self.is_phases(second) {
            return None;
        }
        let of_second = median(&bytes(&self.views[second.0], &other.hypothesis));
        let (slow, fast) = if b > a { (of_second, of_first) } else { (of_first, of_second) };
        let larger = (slow.max(f64::MIN_POSITIVE) / fast.max(f64::MIN_POSITIVE)).log2();
        let mut features = one.features.and(&other.features);
        let (slower, faster) = if a > b { (first, second) } else { (second, first) };
        let explained = self.explained(faster, slower);
        for feature in [F::PausedTime, F::LatePauses, F::RunsAlike] {
            features[feature] += explained[feature] - self.described(faster).features[feature];
        }
        features[F::Pair] = 1.0;
        features[F::PairSizes] = (1.0 - larger.max(0.0)).max(0.0);
        features[F::PairOverlap] = self.overlap(first, second);
        features[F::PairDouble] = f64::from((ratio / 2.0 - 1.0).abs() < DOUBLE);
        Some(Row {
            hypotheses: vec![first, second],
            periods: vec![a.min(b), a.max(b)],
            is_change: false,
            is_wave: false,
            may_be_alias: false,
            loose: SAME,
            features,
        })
    }

    /// What speaks for the faster of two rhythms but for its pauses in which a slow phase comes: that is why
    /// it pauses.
    fn explained(&self, faster: Place, slower: Place) -> Features {
        let starts = |place: Place| {
            let (view, one) = (&self.views[place.0], &self.described(place).hypothesis);
            view.starts(one).into_iter().map(|start| view.reading.signal.start + start).collect::<Vec<f64>>()
        };
        let (fast, slow) = (starts(faster), starts(slower));
        let holds = |pair: &[f64]| {
            slow.partition_point(|start| *start <= pair[0]) < slow.partition_point(|start| *start < pair[1])
        };
        self.described(faster).hypothesis.of_pauses(&fast, holds)
    }

    /// The share of the time of two rhythms in which both go on.
    fn overlap(&self, first: Place, second: Place) -> f64 {
        let reach = |place: Place| {
            let one = &self.described(place).hypothesis;
            let list = &self.views[place.0].lists[one.list];
            (list.starts[one.members[0]], list.ends[one.members[one.members.len() - 1]])
        };
        let (one, other) = (reach(first), reach(second));
        let both = one.1.min(other.1) - one.0.max(other.0);
        both.max(0.0) / (one.1.max(other.1) - one.0.min(other.0))
    }
}

fn is_chain(form: Form) -> bool {
    matches!(form, Form::Mean | Form::Comb)
}
