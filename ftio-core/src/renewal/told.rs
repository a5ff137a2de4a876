//! What was found, as the commands tell it: the period and its phases, and why, in plain words.

use crate::estimate::evidence::{Evidence, Inner, Weighed};
use crate::estimate::forecast::Provisional;
use crate::estimate::hypotheses::Form as Told;
use crate::estimate::kind::SignalKind;
use crate::estimate::{Estimate, FirstPhase, Given, PeriodOf};
use crate::phases::phase::Phase;
use crate::phases::regularity::{by_chance, volume_variation};
use crate::renewal::Found;
use crate::renewal::answer::{Answer, Group, Posterior, calibrated, calibrated_none, groups};
use crate::renewal::chain::Link;
use crate::renewal::forecast::{forecast, of_rhythm, standing_out, varies};
use crate::renewal::hypotheses::{Form, Hypothesis};
use crate::renewal::lists::List;
use crate::renewal::rows::{Place, Row, Search};
use crate::renewal::signal::Trace;
use crate::renewal::table::ANSWER;
use crate::renewal::weights::{COUNT, WEIGHTS, fitted};
use crate::signal::Signal;
use crate::signal::statistics::{median, variation};
use crate::spectral::SpectralResult;
use sources::amount::seconds;

/// Hypotheses that are told.
const LISTED: usize = 5;

/// Each with this probability at least, but for the first two.
const WEIGHED_LEAST: f64 = 0.005;

/// What speaks for and against each: so much of it.
const SIGNS: usize = 3;

/// In nats, at least.
const SIGN_LEAST: f64 = 0.1;

/// The next best guess is told from this probability on.
const WORTH_TELLING: f64 = 0.05;

/// A first phase this many times as long, or as large, is told apart.
const ODD_FIRST: f64 = 1.5;

/// Bursts belong to a phase from this share of the distance before it.
const INNER_SLACK: f64 = 0.1;

/// Phases are made of bursts if so many hold as many.
const INNER_ALIKE: f64 = 0.75;

/// Distances of a list without a rhythm vary by so much at least.
const PROVISIONAL: f64 = 0.1;

/// What is told of a window. `fine` are its samples; `trace` is what was looked at, in seconds from its
/// beginning.
pub fn told(
    found: &Found,
    trace: &Trace,
    fine: &Signal,
    spectral: Option<&SpectralResult>,
    given: &Given,
) -> Estimate {
    let Some(search) = &found.search else { return Estimate::default() };
    let telling = Telling { search, trace, fine, spectral, weights: fitted() };
    let (answer, best, outside) = telling.of_interest(found, given.periods);
    let mut told = telling.told(found, &answer, best.as_ref());
    told.reasons.extend(outside);
    if best.is_some_and(|best| search.rows[best.top].may_be_alias) {
        told.reasons.push("sampling cannot tell so short a period from a shorter one".into());
    }
    told
}

/// What there is to tell of.
struct Telling<'a> {
    search: &'a Search,
    trace: &'a Trace,
    fine: &'a Signal,
    spectral: Option<&'a SpectralResult>,
    weights: [f64; COUNT],
}

/// A probability in words: nothing is certain.
fn percent(probability: f64) -> String {
    match 100.0 * probability {
        low if low < 1.0 => "less than 1 %".into(),
        high if high > 99.0 => "more than 99 %".into(),
        some => format!("{some:.0} %"),
    }
}

impl Telling<'_> {
    /// The answer among periods of interest, who says so, and what is to be said of others. A list of phases
    /// that a period outside explains best has none inside: every other phase is no rhythm.
    fn of_interest(&self, found: &Found, periods: (f64, f64)) -> (Answer, Option<Group>, Option<String>) {
        let best = found.groups.first().cloned();
        let is_inside = |period: &f64| (periods.0..=periods.1).contains(period);
        let of_group = |group: &Group| match group.period {
            Some(period) => is_inside(&period),
            None => self.search.rows[group.top].periods.iter().all(is_inside),
        };
        if found.groups.iter().all(of_group) {
            return (found.answer.clone(), best, None);
        }
        let inside: Vec<Group> = found.groups.iter().filter(|group| of_group(group)).cloned().collect();
        let outside = found.groups.iter().find(|group| !of_group(group));
        let outside = outside.filter(|group| calibrated(group.probability) >= ANSWER).map(|group| {
            let all = &self.search.rows[group.top].periods;
            let told: Vec<String> =
                group.period.map_or_else(|| all.clone(), |one| vec![one]).into_iter().map(seconds).collect();
            format!("{} is outside of the periods that were asked for", told.join(", then "))
        });
        let answer = Answer::of(self.search, &found.posterior, &inside);
        if !answer.periods.is_empty() {
            let kept = |(place, period): (&Place, &f64)| is_inside(period).then_some((*place, *period));
            let (hypotheses, periods): (Vec<Place>, Vec<f64>) = if answer.is_change {
                (answer.hypotheses.clone(), answer.periods.clone())
            } else {
                answer.hypotheses.iter().zip(&answer.periods).filter_map(kept).unzip()
            };
            let period = periods.first().copied().filter(|_| !answer.is_change);
            return (Answer { period, periods, hypotheses, ..answer }, inside.first().cloned(), outside);
        }
        let explained = |place: &Place| {
            let one = &self.search.described(*place).hypothesis;
            let others = self.search.views[place.0].found.iter().map(|other| &other.hypothesis);
            let better = |other: &Hypothesis| {
                other.list == one.list && other.likelihood > one.likelihood && !is_inside(&other.period)
            };
            !others.into_iter().any(better)
        };
        let counts = |row: &Row| row.periods.iter().all(is_inside) && row.hypotheses.iter().all(explained);
        let posterior = Posterior::among(self.search.rows.iter(), &self.weights, counts);
        let inside = groups(&self.search.rows, &posterior);
        let inside: Vec<Group> =
            inside.into_iter().filter(|group| counts(&self.search.rows[group.top])).collect();
        (Answer::of(self.search, &posterior, &inside), inside.first().cloned(), outside)
    }

    fn told(&self, found: &Found, answer: &Answer, best: Option<&Group>) -> Estimate {
        let Some(best) = best else {
            let reasons = vec!["fewer than three phases at every scale".into()];
            let listed = self.listed(None);
            let evidence = self.evidence(found, None);
            return self.foretold(Estimate { evidence, reasons, listed, ..Estimate::default() }, answer);
        };
        let top = self.search.rows[best.top].hypotheses[0];
        let estimate = match answer.hypotheses.as_slice() {
            [] => self.refused(found, best, top),
            [place] if answer.is_change => self.changing(found, answer, *place),
            [place] => self.periodic(found, answer, *place),
            [main, other, ..] => self.interleaved(found, answer, [*main, *other]),
        };
        self.foretold(estimate, answer)
    }

    fn hypothesis(&self, place: Place) -> &Hypothesis {
        &self.search.described(place).hypothesis
    }

    fn list(&self, place: Place) -> &List {
        &self.search.views[place.0].lists[self.hypothesis(place).list]
    }

    fn is_wave(&self, place: Place) -> bool {
        self.hypothesis(place).form == Form::Wave
    }

    /// The phases that have the period; a line of the spectrum has none.
    fn phases(&self, place: Place) -> Vec<Phase> {
        if self.is_wave(place) { Vec::new() } else { self.search.phases(place) }
    }

    /// All phases of the list of a hypothesis, or of the one that stands out.
    fn listed(&self, place: Option<Place>) -> Vec<Phase> {
        match place {
            Some(place) => {
                let list = self.list(place);
                let all: Vec<usize> = (0..list.count()).collect();
                self.search.phases_of(&self.search.views[place.0], list, &all)
            }
            None => standing_out(self.search).map_or_else(Vec::new, |list| {
                let all: Vec<usize> = (0..list.count()).collect();
                self.search.phases_of(&self.search.views[0], list, &all)
            }),
        }
    }

    /// With the next phase, and a provisional answer if there is no period.
    fn foretold(&self, told: Estimate, answer: &Answer) -> Estimate {
        let forecasts = match answer.hypotheses.as_slice() {
            [_, _, ..] => {
                answer.hypotheses.iter().map(|&place| of_rhythm(self.search, self.trace, place)).collect()
            }
            _ => vec![forecast(self.search, self.trace, &self.weights)],
        };
        let provisional = if told.periods.is_empty() { self.provisional() } else { None };
        Estimate { forecasts, provisional, ..told }
    }

    /// The mean distance of the phases of the list that stands out, as uncertain as Student's t has it.
    fn provisional(&self) -> Option<Provisional> {
        let Some(list) = standing_out(self.search) else {
            let view = &self.search.views[0];
            let first = view.reading.signal.bins.iter().position(|x| *x > view.ground.quiet)?;
            let begun = view.reading.signal.start + first as f64 * view.reading.signal.step;
            let low = (self.fine.duration() - begun).max(0.0);
            return Some(Provisional { period: None, low, high: None, phases: 1 });
        };
        let (period, k) = (list.period(), list.count() - 1);
        let factor = crate::estimate::forecast::provisional_factor(varies(list), k, PROVISIONAL);
        let (low, high) = (period / factor, Some(period * factor));
        Some(Provisional { period: Some(period), low, high, phases: k + 1 })
    }

    /// No hypothesis is probable enough.
    fn refused(&self, found: &Found, best: &Group, top: Place) -> Estimate {
        let one = self.hypothesis(top);
        let period = best.period.unwrap_or(one.period);
        let probability = percent(calibrated(best.probability));
        let none = percent(calibrated_none(found.posterior.none));
        let reason = format!(
            "the best guess, {}, by {}, is too unsure: {probability}, and no period {none}",
            seconds(period),
            self.what_varies(top)
        );
        let volumes_after = (!self.is_wave(top)).then_some(1);
        let evidence = self.evidence(found, Some(top));
        let listed = self.listed((!self.is_wave(top)).then_some(top));
        Estimate { evidence, reasons: vec![reason], volumes_after, listed, ..Estimate::default() }
    }

    /// How phases recur. How much their volumes vary is said of the phases as they are listed.
    fn what_varies(&self, place: Place) -> String {
        let one = self.hypothesis(place);
        let count = one.count();
        match one.form {
            Form::Wave => {
                let share = 100.0 * self.search.views[place.0].spectrum.share(one.period);
                format!("one frequency of the spectrum, which holds {share:.0} % of the power")
            }
            Form::Drift => {
                let starts = self.search.views[place.0].starts(one);
                let distance = |place: usize| seconds(starts[place + 1] - starts[place]);
                let (first, last) = (distance(0), distance(count - 2));
                format!("{count} phases, whose distances go from {first} to {last}")
            }
            Form::Change => format!("{count} phases, whose distances change"),
            Form::Mean | Form::Comb => {
                format!("{count} phases, whose distances vary by {:.1} %", 100.0 * one.sigma)
            }
        }
    }

    /// A period. What the spectrum says is told if it was asked.
    fn periodic(&self, found: &Found, answer: &Answer, place: Place) -> Estimate {
        let (one, view) = (self.hypothesis(place), &self.search.views[place.0]);
        let period = answer.periods[0];
        let phases = self.phases(place);
        let mut evidence = self.evidence(found, Some(place)).with_repetition(
            self.fine,
            view.spectrum.correlation(period),
            period,
        );
        evidence.method =
            Some(if self.is_wave(place) || period != one.period { "spectrum" } else { "phases" });
        let mut reasons = vec![self.what_varies(place)];
        let volumes_after = (!self.is_wave(place)).then_some(reasons.len());
        if one.form == Form::Comb {
            reasons.extend(gaps(one));
        }
        if let Some(inner) = &evidence.inner {
            let each = inner.bursts as f64 / evidence.phases.max(1) as f64;
            let apart = seconds(inner.mean_distance);
            reasons.push(format!("each of {each:.0} bursts, {apart} apart on average"));
        }
        match evidence.spectrum_period {
            Some(_) if evidence.spectrum_agrees(period) => reasons.push("the spectrum agrees".into()),
            Some(other) => reasons.push(format!("the spectrum alone would say {}", seconds(other))),
            None if self.spectral.is_some() => {
                reasons.push("no single frequency stands out of the spectrum".into());
            }
            None => {}
        }
        if let Some(next) = evidence.hypotheses.get(1).filter(|next| next.probability >= WORTH_TELLING) {
            let (next, probability) = (seconds(next.period), percent(next.probability));
            reasons.push(format!("the next best guess, {next}, has {probability}"));
        }
        let of = if phases.is_empty() {
            PeriodOf::of_wave(self.fine, period, answer.confidence)
        } else {
            PeriodOf::of(self.fine, period, answer.confidence, &phases)
        };
        let is_sharp = !phases.is_empty() && self.search.is_sharp(place) && self.search.has_pauses(place);
        Estimate {
            period: Some(period),
            confidence: answer.confidence,
            kind: is_sharp.then_some(SignalKind::Bursts),
            periods: vec![of],
            occupancy: (!phases.is_empty()).then_some(one.fill()),
            first_phase: self.first_phase(place),
            mean_distance: mean_distance(&phases),
            listed: if phases.is_empty() { Vec::new() } else { self.listed(Some(place)) },
            phases,
            reasons,
            volumes_after,
            evidence,
            ..Estimate::default()
        }
    }

    /// Two periods at once: the answer is that of the larger volume.
    fn interleaved(&self, found: &Found, answer: &Answer, two: [Place; 2]) -> Estimate {
        let main = two[0];
        let phases = two.map(|place| {
            let bytes = crate::renewal::residual::bytes(&self.search.views[place.0], self.hypothesis(place));
            let with = |(phase, volume): (Phase, f64)| Phase { volume, ..phase };
            self.search.phases(place).into_iter().zip(bytes).map(with).collect::<Vec<Phase>>()
        });
        let [period, second] = [answer.periods[0], answer.periods[1]];
        let mut evidence = self.evidence(found, Some(main)).with_repetition(
            self.fine,
            self.search.views[main.0].spectrum.correlation(period),
            period,
        );
        evidence.method = Some("phases");
        let reason = format!(
            "two periods at once: {} phases every {} and {} every {}",
            phases[0].len(),
            seconds(period),
            phases[1].len(),
            seconds(second)
        );
        let of = |(period, phases): (&f64, &Vec<Phase>)| {
            PeriodOf::of(self.fine, *period, answer.confidence, phases)
        };
        Estimate {
            period: Some(period),
            confidence: answer.confidence,
            kind: Some(SignalKind::Interleaved),
            periods: answer.periods.iter().zip(&phases).map(of).collect(),
            occupancy: Some(self.hypothesis(main).fill()),
            mean_distance: mean_distance(&phases[0]),
            listed: self.listed(Some(main)),
            phases: self.search.phases(main),
            reasons: vec![reason],
            evidence,
            ..Estimate::default()
        }
    }

    /// Periods that follow one another are no single one.
    fn changing(&self, found: &Found, answer: &Answer, place: Place) -> Estimate {
        let all = self.phases(place);
        let counts = match &self.hypothesis(place).warp {
            crate::renewal::warps::Warp::Change(counts) => counts.clone(),
            _ => vec![all.len()],
        };
        let list = self.list(place);
        // Distances of all phases of the list are cut; members are what is left of these.
        let mut first = 0;
        let mut parts: Vec<&[Phase]> = Vec::new();
        let since = self.search.views[place.0].reading.signal.start;
        let mut edge = 0;
        for (i, count) in counts.iter().enumerate() {
            edge += count;
            let until =
                list.starts.get(edge).filter(|_| i + 1 < counts.len()).map_or(f64::MAX, |t| since + t);
            let end = first + all[first..].partition_point(|phase| phase.start < until);
            parts.push(&all[first..end]);
            first = end;
        }
        let since = self.fine.start_seconds();
        let mut reason = String::from("the period changes");
        for (pair, part) in answer.periods.windows(2).zip(&parts[1..]) {
            let at = since + part.first().map_or(0.0, |phase| phase.start);
            let [at, was, is] = [at, pair[0], pair[1]].map(seconds);
            reason.push_str(&format!(" at {at}: {was} before, {is} after"));
        }
        let of =
            |(period, phases): (&f64, &&[Phase])| PeriodOf::of(self.fine, *period, answer.confidence, phases);
        Estimate {
            kind: Some(SignalKind::Changing),
            periods: answer.periods.iter().zip(&parts).map(of).collect(),
            evidence: self.evidence(found, Some(place)),
            reasons: vec![reason],
            listed: self.listed(Some(place)),
            ..Estimate::default()
        }
    }

    /// What led to the answer, or to none.
    fn evidence(&self, found: &Found, place: Option<Place>) -> Evidence {
        let rival = match found.groups.as_slice() {
            [best, next, ..] if best.probability > 0.0 => next.probability / best.probability,
            _ => 0.0,
        };
        let none = calibrated_none(found.posterior.none);
        let mut evidence =
            Evidence { rival, hypotheses: self.weighed(found), no_period: Some(none), ..Evidence::default() }
                .with_spectrum(self.spectral);
        let since = self.fine.start_seconds();
        let standing = place.is_none().then(|| standing_out(self.search)).flatten();
        let (view, list) = match (place, standing) {
            (Some(place), _) => (&self.search.views[place.0], self.list(place)),
            (None, Some(list)) => (&self.search.views[0], list),
            (None, None) => return evidence,
        };
        let members = match place {
            Some(place) => self.hypothesis(place).members.clone(),
            None => (0..list.count()).collect(),
        };
        let phases = self.search.phases_of(view, list, &members);
        evidence.phases = phases.len();
        evidence.first_start = phases.first().map(|phase| since + phase.start);
        evidence.last_start = phases.last().map(|phase| since + phase.start);
        evidence.octaves = list.octaves;
        if phases.len() > 1 {
            let distances: Vec<f64> = phases.windows(2).map(|pair| pair[1].start - pair[0].start).collect();
            let varies = variation(&distances);
            evidence.mean_distance = mean_distance(&phases);
            evidence.distance_variation = Some(varies);
            evidence.volume_variation =
                Some(volume_variation(phases.iter().map(|phase| phase.volume).collect()));
            evidence.irregularity = (phases.len() > 2).then(|| varies / by_chance(distances.len()));
        }
        let finer = view.lists.iter().filter(|finer| finer.count() > list.count());
        evidence.inner = finer
            .filter_map(|finer| Some((finer.octaves, inner(&phases, finer, view.reading.signal.start)?)))
            .reduce(|a, b| if b.0 > a.0 { b } else { a })
            .map(|(_, inner)| inner);
        evidence
    }

    /// The most probable hypotheses, in words.
    fn weighed(&self, found: &Found) -> Vec<Weighed> {
        let mut distinct: Vec<&Group> = Vec::new();
        for group in &found.groups {
            let same = |other: &&Group| {
                other.rows.contains(&group.top) && {
                    let period = |group: &Group| group.period.unwrap_or(0.0);
                    (period(group) - period(other)).abs() <= period(other) * self.search.rows[other.top].loose
                }
            };
            if !distinct.iter().any(same) {
                distinct.push(group);
            }
        }
        let listed = distinct.iter().take(LISTED).enumerate();
        let listed = listed.filter(|(number, one)| *number < 2 || one.probability >= WEIGHED_LEAST);
        let told = |(number, one): (usize, &&Group)| {
            let other = if number == 0 { distinct.get(1) } else { distinct.first() };
            let row = &self.search.rows[one.top];
            let (speaks_for, against) = self.compared(row, other.map(|other| &self.search.rows[other.top]));
            let hypothesis = self.hypothesis(row.hypotheses[0]);
            let form = match hypothesis.form {
                Form::Mean => Told::Mean,
                Form::Comb => Told::Comb,
                Form::Drift => Told::Drift,
                Form::Change => Told::Change,
                Form::Wave => Told::Line,
            };
            let period = one.period.unwrap_or(hypothesis.period);
            let (probability, phases) = (calibrated(one.probability), hypothesis.count());
            Weighed { form, period, probability, phases, speaks_for, against }
        };
        listed.map(told).collect()
    }

    /// What makes the score of a row higher, and lower, than that of another, or than nothing at all.
    fn compared(&self, one: &Row, other: Option<&Row>) -> (Vec<String>, Vec<String>) {
        let mut differences: Vec<(f64, String)> = Vec::new();
        for (i, weight) in WEIGHTS.iter().enumerate() {
            let value = one.features.0[i];
            let against = other.map(|other| other.features.0[i]);
            let difference = self.weights[i] * (value - against.unwrap_or(0.0));
            let words = match against {
                Some(against) => format!("{}: {value:.2} against {against:.2}", weight.meaning),
                None => format!("{}: {value:.2}", weight.meaning),
            };
            differences.push((difference, words));
        }
        differences.sort_by(|a, b| b.0.total_cmp(&a.0));
        let clear = |(difference, _): &&(f64, String)| difference.abs() >= SIGN_LEAST;
        let up = differences.iter().filter(clear).filter(|(difference, _)| *difference > 0.0);
        let down = differences.iter().rev().filter(clear).filter(|(difference, _)| *difference < 0.0);
        let words = |list: Vec<&(f64, String)>| list.into_iter().map(|(_, words)| words.clone()).collect();
        (words(up.take(SIGNS).collect()), words(down.take(SIGNS).collect()))
    }

    /// The first phase of the list, if it is longer or larger than the members.
    fn first_phase(&self, place: Place) -> Option<FirstPhase> {
        let one = self.hypothesis(place);
        if self.is_wave(place) || one.members[0] > 1 {
            return None;
        }
        let all = self.listed(Some(place));
        let members: Vec<&Phase> = one.members.iter().map(|&member| &all[member]).collect();
        let others = &members[usize::from(one.members[0] == 0)..];
        let first = all[0];
        let usual =
            |value: fn(&Phase) -> f64| median(&others.iter().map(|phase| value(phase)).collect::<Vec<_>>());
        let (length, volume) = (usual(|phase| phase.end - phase.start), usual(|phase| phase.volume));
        let (long, large) = ((first.end - first.start) / length, first.volume / volume);
        let since = self.fine.start_seconds();
        let is_odd =
            others.len() >= 3 && long.is_finite() && large.is_finite() && long.max(large) >= ODD_FIRST;
        is_odd.then(|| FirstPhase {
            start: since + first.start,
            end: since + first.end,
            bytes: first.volume.round(),
            times_as_long: long,
            times_as_large: large,
        })
    }
}

fn mean_distance(phases: &[Phase]) -> Option<f64> {
    let (first, last) = (phases.first()?, phases.last()?);
    (phases.len() > 1).then(|| (last.start - first.start) / (phases.len() - 1) as f64)
}

/// Empty slots, pauses and phases that do not belong, in words.
fn gaps(one: &Hypothesis) -> Vec<String> {
    let mut words = Vec::new();
    let pauses = one.links.iter().filter(|link| **link == Link::Pause).count();
    let (empty, slots) = (one.slots - one.linked, one.slots + 1);
    if empty > 0 {
        words.push(format!("{empty} of {slots} slots are empty"));
    }
    match pauses {
        0 => {}
        1 => words.push("1 pause of another length".into()),
        _ => words.push(format!("{pauses} pauses of another length")),
    }
    let all = one.count() as f64 / (1.0 - one.strays);
    match all.round() as usize - one.count() {
        0 => {}
        1 => words.push("1 other phase does not belong to the rhythm".into()),
        extra => words.push(format!("{extra} other phases do not belong to the rhythm")),
    }
    words
}

/// Bursts inside of phases: those of a finer list, if most phases hold as many, and two or more.
fn inner(phases: &[Phase], finer: &List, since: f64) -> Option<Inner> {
    let slack = INNER_SLACK * mean_distance(phases)?;
    let before = |time: f64| finer.starts.partition_point(|start| since + start < time - slack);
    let edges = phases.iter().map(|phase| before(phase.start));
    let after = phases.last().map_or(0, |last| {
        finer.starts.partition_point(|start| since + start < last.end.max(last.start + slack))
    });
    let edges: Vec<usize> = edges.chain([after]).collect();
    let held: Vec<&[f64]> =
        edges.windows(2).map(|pair| finer.starts.get(pair[0]..pair[1]).unwrap_or_default()).collect();
    let mut counts: Vec<usize> = held.iter().map(|held| held.len()).collect();
    counts.sort_unstable();
    let usual = counts.get(counts.len() / 2).copied().filter(|usual| *usual >= 2)?;
    let alike = counts.iter().filter(|held| **held == usual).count();
    if (alike as f64) < INNER_ALIKE * counts.len() as f64 {
        return None;
    }
    let distances: usize = held.iter().map(|held| held.len().saturating_sub(1)).sum();
    let spans: f64 = held.iter().filter_map(|held| Some(held.last()? - held.first()?)).sum();
    Some(Inner { bursts: usual * phases.len(), mean_distance: spans / distances as f64 })
}
