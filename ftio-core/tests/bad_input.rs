//! Whatever numbers come in: a sound answer, never a panic.

use ftio_core::detect::compat;
use ftio_core::detect::per_group::{Group, detect_each};
use ftio_core::detect::{Analysis, Method, Options, Outlier, detect};
use ftio_core::signal::step::Stretch;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use sources::request::{Batch, Detail};
use sources::request::{Class, Mode, Request};
use sources::{InMemory, Job, Source, SourceError, Span};

const METHODS: [Outlier; 5] =
    [Outlier::ZScore, Outlier::Dbscan, Outlier::IsolationForest, Outlier::LocalOutlierFactor, Outlier::Peaks];

fn assert_sound(analysis: &Analysis) {
    let found = &analysis.detection;
    assert_eq!(found.periodic, found.period.is_some());
    assert!((0.0..=1.0).contains(&found.confidence), "{found:?}");
    assert!(found.period.is_none_or(|period| period > 0.0 && period.is_finite()), "{found:?}");
    assert!(found.refined_confidence.is_none_or(|c| c.is_finite()), "{found:?}");
    for segment in found.over_time.iter().flat_map(|over_time| &over_time.segments) {
        assert!(segment.start < segment.end && (0.0..=1.0).contains(&segment.confidence), "{segment:?}");
    }
    // JSON has no NaN: a field that is one would become null, and a null frequency is a wrong answer.
    let json = serde_json::to_value(found).unwrap();
    for key in ["t_start", "t_end", "abstraction_error", "confidence"] {
        assert!(json[key].is_number(), "{key}: {}", json[key]);
    }
    // What was not sampled has no frequency of samples.
    let sampled = !analysis.signal.samples.is_empty();
    assert_eq!(json["sampling_frequency"].is_number(), sampled, "{}", json["sampling_frequency"]);
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -10.0f64..1000.0,
        1 => Just(f64::NAN),
        1 => Just(f64::INFINITY),
        1 => Just(f64::NEG_INFINITY),
        1 => Just(0.0),
        1 => -3e3f64..3e3,
    ]
}

/// Requests of two ranks on two files.
struct Detailed(Vec<Detail>);

impl Source for Detailed {
    fn read(self: Box<Self>, _span: Span, visit: &mut dyn FnMut(&[Request])) -> Result<Job, SourceError> {
        visit(&self.0.iter().map(|detail| detail.request).collect::<Vec<_>>());
        Ok(Job::default())
    }

    fn read_detailed(
        self: Box<Self>,
        _span: Span,
        visit: &mut dyn FnMut(Batch<'_>),
    ) -> Result<Job, SourceError> {
        visit(Batch { requests: &self.0, files: &[(0, "a"), (1, "")] });
        Ok(Job::default())
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 8,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_phases_with_compat(
        list in prop::collection::vec((number(), number(), number()), 0..30),
        method in 0usize..5,
        automatic in any::<bool>(),
        (from, to) in (prop::option::of(-5.0f64..500.0), prop::option::of(0.0f64..900.0)),
    ) {
        let phases: Vec<Stretch> =
            list.iter().map(|&(start, end, bandwidth)| Stretch { start, end, bandwidth }).collect();
        let options = Options {
            method: Method::Compat,
            outlier: METHODS[method],
            autocorrelation: true,
            top: 3,
            reconstruct: Some(2),
            frequency: automatic.then_some(0.5),
            from,
            to,
            ..Options::default()
        };
        assert_sound(&compat::analyse("any", &phases, Mode::WriteSync, &Job::default(), &options));
    }

    #[test]
    fn any_requests_with_everything(
        list in prop::collection::vec((-100i64..100_000, -50i64..5_000, 0u64..1 << 40), 0..40),
        (first, second) in (0usize..5, 0usize..5),
        mode in 0usize..9,
        frequency in prop::option::of(0.01f64..100.0),
    ) {
        let detail = |(i, &(start, length, bytes)): (usize, &(i64, i64, u64))| Detail {
            request: Request {
                start: start * 1_000_000,
                end: (start + length) * 1_000_000,
                bytes,
                class: Class::ALL[i % 4],
                rank: (i % 5 != 4).then_some(i as u32 % 2),
            },
            file: Some(i as u32 % 3),
            completion: None,
            held: None,
        };
        let details: Vec<Detail> = list.iter().enumerate().map(detail).collect();
        let options = Options {
            mode: Some(Mode::ALL[mode]),
            outlier: METHODS[first],
            second_outlier: Some(METHODS[second]),
            autocorrelation: true,
            over_time: true,
            reconstruct: Some(5),
            skip_first_phase: true,
            top: 4,
            frequency,
            ..Options::default()
        };
        assert_sound(&detect("any", Detailed(details.clone()), &options).unwrap());
        for group in [Group::Rank, Group::File] {
            for analysis in detect_each("any", Detailed(details.clone()), group, &options).unwrap() {
                assert_sound(&analysis);
                prop_assert_eq!(analysis.detection.rank.is_some(), group == Group::Rank);
            }
        }
    }
}

#[test]
fn ranks_that_are_not_known_are_said_so() {
    let request = Request { start: 0, end: 10, bytes: 5, class: Class::WriteSync, rank: Some(3) };
    let known = Detail::new(request);
    let unknown = Detail::new(Request { rank: None, ..request });
    let all = vec![known, unknown];
    let found = detect_each("some", Detailed(all), Group::Rank, &Options::default()).unwrap();
    assert_eq!((found.len(), found[0].detection.rank, found[0].detection.total_bytes), (1, Some(3), 5));
    assert!(found[0].detection.notes.iter().any(|note| note.contains("1 requests whose rank")));
    let plain = InMemory { requests: &[request], job: Job::default() };
    let error = detect_each("none", plain, Group::File, &Options::default()).unwrap_err();
    assert!(error.to_string().contains("files"), "{error}");
}

#[test]
fn many_groups_share_the_bins() {
    // 300 ranks with three requests each, handed over in both orders.
    let detail = |i: i64| {
        Detail::new(Request {
            start: i * 1_000_003,
            end: i * 1_000_003 + 500,
            bytes: 7,
            class: Class::WriteSync,
            rank: Some((i % 300) as u32),
        })
    };
    let mut details: Vec<Detail> = (0..900).map(detail).collect();
    let run = |details: &[Detail]| {
        let all = detect_each("many", Detailed(details.to_vec()), Group::Rank, &Options::default()).unwrap();
        all.into_iter().map(|analysis| analysis.detection).collect::<Vec<_>>()
    };
    let forwards = run(&details);
    details.reverse();
    assert_eq!(forwards.len(), 300);
    assert_eq!(forwards, run(&details));
    assert!(forwards.iter().all(|found| found.total_bytes == 21 && found.requests == Some(3)));
}
