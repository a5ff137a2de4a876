//! The renewal estimator says what its prototype says of the same traces (`golden/make_renewal.py`): the same
//! lists of phases in each reading, the same features of the alternatives that count, the same answer and
//! the same next start.

use ftio_core::renewal::lists::List;
use ftio_core::renewal::readings::Name;
use ftio_core::renewal::rows::{Row, Search};
use ftio_core::renewal::signal::{Request, Trace};
use ftio_core::renewal::weights::WEIGHTS;
use ftio_core::renewal::{estimate, next_start, table};
use serde::Deserialize;
use serde_json::Deserializer;

/// Numbers differ by the order of sums, and where the prototype rounds constants of nature.
const CLOSE: f64 = 1e-3;

#[derive(Deserialize)]
struct Golden {
    kind: String,
    requests: Option<Vec<(f64, f64, f64)>>,
    samples: Option<(Vec<f64>, Vec<f64>)>,
    #[serde(default)]
    counter: bool,
    readings: Vec<GoldenReading>,
    rows: Vec<GoldenRow>,
    answer: GoldenAnswer,
    next: Option<(f64, f64, f64)>,
}

#[derive(Deserialize)]
struct GoldenReading {
    name: String,
    /// Phases, the bins of the first and the last, octaves, surprise of equal volumes.
    lists: Vec<(usize, usize, usize, f64, f64)>,
}

#[derive(Deserialize)]
struct GoldenRow {
    form: String,
    readings: Vec<String>,
    periods: Vec<f64>,
    features: Vec<f64>,
}

#[derive(Deserialize)]
struct GoldenAnswer {
    period: Option<f64>,
    periods: Vec<f64>,
    confidence: f64,
}

fn goldens() -> Vec<Golden> {
    let text = include_str!("golden/renewal.jsonl");
    Deserializer::from_str(text).into_iter().collect::<Result<_, _>>().unwrap()
}

fn trace(golden: &Golden) -> Trace {
    if let Some((times, values)) = golden.samples.clone() {
        return Trace::Samples { times, values, counter: golden.counter };
    }
    let request = |&(start, end, bytes): &(f64, f64, f64)| Request { start, end, bytes };
    Trace::Requests(golden.requests.iter().flatten().map(request).collect())
}

fn name(search: &Search, view: usize) -> String {
    format!("{:?}", search.views[view].reading.name).to_lowercase()
}

fn form(search: &Search, row: &Row) -> String {
    match search.described(row.hypotheses[0]).hypothesis.form {
        _ if row.is_pair() => "pair".into(),
        form => format!("{form:?}").to_lowercase(),
    }
}

fn close(a: f64, b: f64) -> bool {
    (a / b - 1.0).abs() < CLOSE
}

fn is_that_list(
    list: &List,
    &(count, first, last, octaves, equal): &(usize, usize, usize, f64, f64),
) -> bool {
    (list.count(), list.first[0], list.first[list.count() - 1]) == (count, first, last)
        && (list.octaves - octaves).abs() < CLOSE
        && (list.equal - equal).abs() < CLOSE
}

#[test]
fn readings_and_lists_are_those_of_the_prototype() {
    for golden in goldens() {
        let found = estimate(&trace(&golden));
        let search = found.search.unwrap();
        let is_reading = |i: &usize| search.views[*i].reading.name != Name::Rest;
        let views: Vec<usize> = (0..search.views.len()).filter(is_reading).collect();
        let names: Vec<String> = views.iter().map(|&view| name(&search, view)).collect();
        let wanted: Vec<&String> = golden.readings.iter().map(|reading| &reading.name).collect();
        assert!(names.iter().eq(wanted.iter().copied()), "{}: {names:?}, {wanted:?}", golden.kind);
        for (view, reading) in views.into_iter().zip(&golden.readings) {
            let lists = &search.views[view].lists;
            assert_eq!(lists.len(), reading.lists.len(), "{}: {}", golden.kind, reading.name);
            for wanted in &reading.lists {
                let found = lists.iter().any(|list| is_that_list(list, wanted));
                assert!(found, "{}: {wanted:?} in {}", golden.kind, reading.name);
            }
        }
    }
}

#[test]
fn features_are_those_of_the_prototype() {
    for golden in goldens() {
        let search = estimate(&trace(&golden)).search.unwrap();
        for wanted in &golden.rows {
            let is_it = |row: &&Row| {
                form(&search, row) == wanted.form
                    && row.hypotheses.iter().map(|place| name(&search, place.0)).eq(wanted.readings.clone())
                    && row.periods.len() == wanted.periods.len()
                    && row.periods.iter().zip(&wanted.periods).all(|(a, b)| close(*a, *b))
            };
            let off = |row: &Row| {
                let pairs = row.features.0.iter().zip(&wanted.features);
                let (most, i) = pairs.zip(0..).fold((0.0, 0), |most, ((a, b), i)| {
                    let off = (a - b).abs();
                    if off > most.0 { (off, i) } else { most }
                });
                (most, WEIGHTS[i].name)
            };
            let least = search.rows.iter().filter(is_it).map(off).min_by(|a, b| a.0.total_cmp(&b.0));
            let who = format!("{}: {} {:?}", golden.kind, wanted.form, wanted.periods);
            assert!(least.is_some_and(|least| least.0 < CLOSE), "{who}: {least:?}");
        }
    }
}

#[test]
fn answers_and_forecasts_are_those_of_the_prototype() {
    for golden in goldens() {
        let trace = trace(&golden);
        let found = estimate(&trace);
        let (answer, wanted) = (&found.answer, &golden.answer);
        let same = answer.period.is_some() == wanted.period.is_some()
            && answer.periods.len() == wanted.periods.len()
            && answer.periods.iter().zip(&wanted.periods).all(|(a, b)| close(*a, *b))
            && (answer.confidence - wanted.confidence).abs() < 0.02;
        assert!(
            same,
            "{}: {answer:?}, {:?} {:?} {}",
            golden.kind, wanted.period, wanted.periods, wanted.confidence
        );
        let next = next_start(&trace, &found, None);
        assert_eq!(next.is_some(), golden.next.is_some(), "{}", golden.kind);
        if let Some((next, (start, low, high))) = next.zip(golden.next) {
            // Where many places are as good, the prototype takes another one of them. It cuts tails earlier.
            let slack = 0.1 * (high - low);
            let near = (low - slack..=high + slack).contains(&next.start)
                && (next.low - slack..=next.high + slack).contains(&start)
                && (next.low - low).abs() < slack;
            assert!(near, "{}: {next:?}, {start} {low} {high}", golden.kind);
        }
    }
}

#[test]
fn what_varies_by_nothing_has_no_answer() {
    let steady =
        Trace::Samples { times: (0..100).map(f64::from).collect(), values: vec![5.0; 100], counter: false };
    for trace in [steady, Trace::Requests(Vec::new())] {
        let found = estimate(&trace);
        assert!(found.search.is_none() && found.answer.period.is_none() && found.posterior.none == 1.0);
        assert!(next_start(&trace, &found, None).is_none());
    }
}

#[test]
fn every_number_and_every_weight_says_why() {
    assert!(table::TABLE.iter().all(|entry| entry.reason.len() > 10));
    let mut names: Vec<&str> = WEIGHTS.iter().map(|weight| weight.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), WEIGHTS.len());
}
