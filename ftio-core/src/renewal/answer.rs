//! From the alternatives to an answer: one softmax over all of them and *none*, then a calibration.

use crate::renewal::hypotheses::Form;
use crate::renewal::residual::bytes;
use crate::renewal::rows::{Place, Row, Search};
use crate::renewal::spectrum::refined;
use crate::renewal::table::{ANSWER, CERTAIN, MOST_ASKED, NEAR_LINE, SAME, STRAIGHT, TWIN, WAVES};
use crate::renewal::weights::{CALIBRATION, COUNT};

/// The probability of each alternative, and that of none.
#[derive(Clone, Debug, PartialEq)]
pub struct Posterior {
    /// In the order of the rows.
    pub rows: Vec<f64>,
    /// That there is no period.
    pub none: f64,
}

impl Posterior {
    /// Of alternatives; *none* has a score of 0.
    pub fn of<'a>(rows: impl Iterator<Item = &'a Row>, weights: &[f64; COUNT]) -> Self {
        Self::among(rows, weights, |_| true)
    }

    /// Of those that count; the others have no probability.
    pub fn among<'a>(
        rows: impl Iterator<Item = &'a Row>,
        weights: &[f64; COUNT],
        counts: impl Fn(&Row) -> bool,
    ) -> Self {
        let all: Vec<&'a Row> = rows.collect();
        let score = |row: &&Row| if counts(row) { row.features.score(weights) } else { f64::NEG_INFINITY };
        let scores: Vec<f64> = all.iter().map(score).collect();
        let highest = scores.iter().copied().fold(0.0, f64::max);
        let rows: Vec<f64> = scores.iter().map(|score| (score - highest).exp()).collect();
        // A line of few samples has a twin: a shorter period that was sampled too rarely, of which nothing is
        // known but that it is another.
        let twins: f64 = all.iter().zip(&rows).filter(|(row, _)| row.may_be_alias).map(|(_, x)| x).sum();
        let none = (-highest).exp() + TWIN * twins;
        let all = rows.iter().sum::<f64>() + none;
        Posterior { rows: rows.iter().map(|weight| weight / all).collect(), none: none / all }
    }
}

/// The confidence that there is no period, of that probability.
pub fn calibrated_none(none: f64) -> f64 {
    1.0 - calibrated(1.0 - none)
}

/// The confidence in an answer of that probability.
pub fn calibrated(probability: f64) -> f64 {
    let probability = probability.clamp(CERTAIN, 1.0 - CERTAIN);
    let logit = (probability / (1.0 - probability)).ln();
    1.0 / (1.0 + (-CALIBRATION.0 * logit - CALIBRATION.1).exp())
}

/// What is said.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Answer {
    /// The period in seconds; of two at once, that of the one that moves more. None if several follow one
    /// another.
    pub period: Option<f64>,
    /// All periods: two at once, the one that moves more first, or several one after another.
    pub periods: Vec<f64>,
    /// How sure that is; where no answer is given, that of the best guess.
    pub confidence: f64,
    /// The hypotheses behind it.
    pub hypotheses: Vec<Place>,
    /// Do the periods follow one another?
    pub is_change: bool,
}

/// Rows that give the same answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// That of all of them.
    pub probability: f64,
    /// The most probable of them.
    pub top: usize,
    /// None if periods follow one another.
    pub period: Option<f64>,
    /// The rows.
    pub rows: Vec<usize>,
}

fn near(one: f64, other: f64, share: f64) -> bool {
    (one / other - 1.0).abs() < share
}

/// Rows that say this period, or the same change.
fn group(rows: &[Row], posterior: &Posterior, top: usize, period: Option<f64>) -> Group {
    let best = &rows[top];
    let says = |row: &Row| match period {
        Some(period) => {
            let share = row.loose.max(best.loose);
            !row.is_change && row.periods.iter().any(|other| near(*other, period, share))
        }
        None => {
            let mut pairs = row.periods.iter().zip(&best.periods);
            row.is_change
                && row.periods.len() == best.periods.len()
                && pairs.all(|(a, b)| near(*a, *b, 2.0 * SAME))
        }
    };
    let rows: Vec<usize> = (0..rows.len()).filter(|&i| says(&rows[i])).collect();
    Group { probability: rows.iter().map(|&i| posterior.rows[i]).sum(), top, period, rows }
}

/// What rows say together, most probable first.
pub fn groups(rows: &[Row], posterior: &Posterior) -> Vec<Group> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|&a, &b| posterior.rows[b].total_cmp(&posterior.rows[a]));
    let groups = order.iter().take(MOST_ASKED).flat_map(|&top| {
        let periods: Vec<Option<f64>> = match &rows[top] {
            row if row.is_change => vec![None],
            row => row.periods.iter().copied().map(Some).collect(),
        };
        periods.into_iter().map(move |period| group(rows, posterior, top, period))
    });
    let mut all: Vec<Group> = groups.collect();
    all.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    all
}

impl Answer {
    /// The period that is most probable over all rows that have it; with a second one, or as a change, if
    /// most of that is.
    pub fn of(search: &Search, posterior: &Posterior, groups: &[Group]) -> Self {
        let rows = &search.rows;
        let Some(best) = groups.first() else { return Answer::default() };
        let confidence = calibrated(best.probability);
        if confidence < ANSWER {
            return Answer { confidence, ..Answer::default() };
        }
        let Some(period) = best.period else {
            let Row { hypotheses, periods, .. } = rows[best.top].clone();
            return Answer { period: None, periods, confidence, hypotheses, is_change: true };
        };
        let probability = |i: &usize| posterior.rows[*i];
        let most = |a: usize, b: usize| if probability(&b) > probability(&a) { b } else { a };
        let (pairs, singles): (Vec<usize>, Vec<usize>) = best.rows.iter().partition(|i| rows[**i].is_pair());
        let of_pairs: f64 = pairs.iter().map(probability).sum();
        if 2.0 * of_pairs >= best.probability
            && let Some(pair) = pairs.into_iter().reduce(most)
        {
            return Answer { confidence, ..Answer::of_pair(search, &rows[pair]) };
        }
        // Most of it is singles, so there are some.
        let top = singles.into_iter().reduce(most).unwrap_or(best.top);
        let off = |place: &Place| (search.described(*place).hypothesis.period - period).abs();
        let nearest = |a: Place, b: Place| if off(&b) < off(&a) { b } else { a };
        let Some(place) = rows[top].hypotheses.iter().copied().reduce(nearest) else {
            return Answer::default();
        };
        let period = exact(search, place);
        let (periods, hypotheses) = (vec![period], vec![place]);
        Answer { period: Some(period), periods, confidence, hypotheses, is_change: false }
    }

    fn of_pair(search: &Search, row: &Row) -> Self {
        let volume = |place: &Place| {
            bytes(&search.views[place.0], &search.described(*place).hypothesis).iter().sum::<f64>()
        };
        let mut hypotheses = row.hypotheses.clone();
        hypotheses.sort_by(|a, b| volume(b).total_cmp(&volume(a)));
        let periods: Vec<f64> = hypotheses.iter().map(|place| exact(search, *place)).collect();
        Answer { period: periods.first().copied(), periods, hypotheses, ..Answer::default() }
    }
}

/// The period by the members; where starts are not sharp (coarse samples, or phases that begin above quiet),
/// by the waves near it.
pub fn exact(search: &Search, place: Place) -> f64 {
    let view = &search.views[place.0];
    let one = &search.described(place).hypothesis;
    let signal = &view.reading.signal;
    let period = one.period;
    if one.form == Form::Wave {
        return refined(signal, period);
    }
    let is_sharp = search.is_sharp(place);
    let is_plain = matches!(one.form, Form::Mean | Form::Comb) && one.sigma < STRAIGHT;
    if is_sharp || !is_plain {
        return period;
    }
    let reach = NEAR_LINE.min(1.0 / one.count() as f64);
    let mut lines = view.spectrum.lines.iter().take(WAVES + 1).map(|line| line.period);
    lines.find(|line| (line / period - 1.0).abs() <= reach).map_or(period, |line| refined(signal, line))
}
