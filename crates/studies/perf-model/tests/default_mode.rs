//! What the default mode does that Extra-P does not.

use perf_model::output::json::Record;
use perf_model::{
    Error, Experiment, Exponents, Measure, Model, Modeler, NoiseKind, Note, Options, input, model, rank,
};
use serde_json::{Value, json};

const SCALES: [f64; 8] = [2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];

fn experiment(lines: impl IntoIterator<Item = String>) -> Experiment {
    input::parse(&lines.into_iter().collect::<String>(), "test", None).unwrap()
}

fn line(p: f64, callpath: &str, value: &str) -> String {
    format!(
        "{{\"params\":{{\"p\":{p}}},\"callpath\":\"{callpath}\",\"metric\":\"time\",\"value\":{value}}}\n"
    )
}

fn exponents(model: &Model) -> Option<Exponents> {
    model.function.leading().terms.first().map(|term| term.factors[0].exponents)
}

/// A fixed sequence that looks like noise of about `level`.
fn noise(k: usize, level: f64) -> f64 {
    level * [0.6, -1.1, 0.3, 1.4, -0.7, -0.2, 0.9, -1.0, 0.1, 0.5][k % 10]
}

#[test]
fn each_set_stands_on_its_own_points() {
    let mut lines: Vec<String> = SCALES.iter().map(|p| line(*p, "all", &format!("{}", 3.0 * p))).collect();
    lines.extend(SCALES[2..7].iter().map(|p| line(*p, "some", &format!("{}", 1.0 + p * p))));
    let experiment = experiment(lines);
    let models = model(&experiment, &Options::default()).unwrap();
    assert_eq!(exponents(&models.models[0]), Some(Exponents::new(1, 1, 0)));
    assert_eq!(exponents(&models.models[1]), Some(Exponents::new(2, 1, 0)));
    assert_eq!(models.models[1].points(), 5);
    assert!(matches!(
        model(&experiment, &Options::compat()),
        Err(Error::Ragged { expected: 8, found: 5, .. })
    ));
}

#[test]
fn a_single_line_is_a_file() {
    let models = model(&experiment([line(4.0, "a", "7.5")]), &Options::default()).unwrap();
    assert_eq!(models.models[0].evaluate(&[100.0]), 7.5);
    assert!(models.models[0].has(Note::FewPoints));
}

#[test]
fn missing_values_are_left_out() {
    let mut lines: Vec<String> = SCALES.iter().map(|p| line(*p, "a", &format!("{}", 2.0 * p))).collect();
    lines[3] = line(SCALES[3], "a", "-1");
    lines.extend(SCALES.iter().map(|p| line(*p, "nothing", "-1")));
    let models = model(&experiment(lines), &Options::default()).unwrap();
    assert_eq!(models.models.len(), 1);
    assert_eq!(models.models[0].points(), 7);
    assert!(models.models[0].has(Note::AbsentValues));
    assert_eq!(exponents(&models.models[0]), Some(Exponents::new(1, 1, 0)));
    assert_eq!(models.skipped[0].callpath, "nothing");
    // Values below zero that are meant stay.
    let lines = SCALES.iter().map(|p| line(*p, "a", &format!("{}", -p / 2.0)));
    let models = model(&experiment(lines), &Options::default()).unwrap();
    assert_eq!(models.models[0].points(), 8);
}

#[test]
fn the_measure_matters() {
    let lines = SCALES.iter().map(|p| line(*p, "a", &format!("[{p}, {p}, {}]", 10.0 * p)));
    let experiment = experiment(lines);
    let at = |measure, base: Options| {
        let models = model(&experiment, &Options { measure, ..base }).unwrap();
        models.models[0].evaluate(&[100.0])
    };
    for base in [Options::default(), Options::compat()] {
        for (measure, expected) in [
            (Measure::Mean, 400.0),
            (Measure::Median, 100.0),
            (Measure::Minimum, 100.0),
            (Measure::Maximum, 1000.0),
        ] {
            assert!((at(measure, base.clone()) - expected).abs() < 1e-6, "{measure:?}");
        }
    }
}

#[test]
fn repetitions_say_how_noisy_runs_are() {
    let lines = SCALES.iter().enumerate().map(|(k, p)| {
        let values: Vec<f64> = (0..5).map(|r| (5.0 + 2.0 * p) * (1.0 + noise(5 * k + r * 3, 0.05))).collect();
        line(*p, "a", &format!("{values:?}"))
    });
    let models = model(&experiment(lines), &Options::default()).unwrap();
    let noise = models.models[0].noise.unwrap();
    assert_eq!((noise.kind, noise.degrees), (NoiseKind::Relative, 32));
    assert!((0.02..0.08).contains(&noise.level), "{noise:?}");
    assert_eq!(exponents(&models.models[0]), Some(Exponents::new(1, 1, 0)));
}

#[test]
fn strong_scaling_is_found_and_does_not_turn_negative() {
    let lines = SCALES
        .iter()
        .enumerate()
        .map(|(k, p)| line(*p, "a", &format!("{}", (2.0 + 500.0 / p) * (1.0 + noise(k, 0.03)))));
    let models = model(&experiment(lines), &Options::default()).unwrap();
    let found = &models.models[0];
    assert_eq!(exponents(found), Some(Exponents::new(-1, 1, 0)));
    assert_eq!(found.negative_within(&[0.0], 1.0, 1e6), None);
    assert!(found.in_sample.smape < 5.0 && found.leave_one_out.unwrap().smape < 8.0);
}

#[test]
fn only_extra_p_lets_a_falling_line_turn_negative() {
    let lines = (1..=8).map(|k| line(f64::from(k), "a", &format!("{}", 100 - 3 * k)));
    let experiment = experiment(lines);
    let compat = model(&experiment, &Options::compat()).unwrap().models.remove(0);
    assert!(!compat.has(Note::NegativeInRange));
    let turning = compat.negative_within(&[0.0], 1.0, 1000.0).unwrap();
    assert!((33.0..36.0).contains(&turning), "{turning}");
    assert!(compat.predict(&[64.0], 0.95).unwrap().negative);
    let ours = model(&experiment, &Options::default()).unwrap().models.remove(0);
    assert_eq!(ours.negative_within(&[0.0], 1.0, 1000.0), None);
    let told = ours.predict(&[64.0], 0.95).unwrap();
    assert!(told.value > 0.0 && told.interval.unwrap().low > 0.0 && !told.negative, "{told:?}");
}

#[test]
fn few_noisy_points_are_called_ambiguous_and_many_clear_ones_not() {
    let series = |scales: &[f64], level: f64| {
        let lines = scales
            .iter()
            .enumerate()
            .map(|(k, p)| line(*p, "a", &format!("{}", (1.0 + p.sqrt()) * (1.0 + noise(k, level)))));
        model(&experiment(lines.collect::<Vec<_>>()), &Options::default()).unwrap().models.remove(0)
    };
    let few = series(&SCALES[..5], 0.05);
    assert!(few.has(Note::Ambiguous) && !few.runner_up.unwrap().distinguishable);
    let clear = series(&SCALES, 0.0005);
    assert!(!clear.has(Note::Ambiguous) && clear.runner_up.unwrap().distinguishable);
    assert_eq!(clear.function.leading().terms[0].factors[0].exponents, Exponents::new(1, 2, 0));
}

#[test]
fn refined_exponents_and_segments() {
    let lines = SCALES.iter().map(|p| line(*p, "a", &format!("{}", 1.0 + p.powf(0.6))));
    let options = Options { modeler: Modeler::Refining, ..Options::default() };
    let models = model(&experiment(lines), &options).unwrap();
    assert_eq!(exponents(&models.models[0]), Some(Exponents::new(3, 5, 0)));

    let lines = (1..=12).map(|k| {
        let p = f64::from(4 * k);
        line(p, "a", &format!("{}", if p <= 24.0 { p * p } else { 576.0 + p }))
    });
    let options = Options { modeler: Modeler::Segmented, ..Options::default() };
    let models = model(&experiment(lines), &options).unwrap();
    let record = Record::new(&models.models[0], &models.parameters).line();
    assert!(record.contains("\"segments\":[{\"from\":null,\"to\":"), "{record}");
    assert!(models.models[0].evaluate(&[26.0]).is_finite());
}

#[test]
fn who_dominates_at_scale() {
    let mut lines: Vec<String> =
        SCALES.iter().map(|p| line(*p, "compute", &format!("{}", 1000.0 / p))).collect();
    lines.extend(SCALES.iter().map(|p| line(*p, "write", &format!("{}", 0.01 * p))));
    let models = model(&experiment(lines), &Options::default()).unwrap();
    assert_eq!(rank(&models, &[2.0], None).unwrap()[0].callpath, "compute");
    let ranked = rank(&models, &[65536.0], Some("time")).unwrap();
    assert_eq!((ranked[0].callpath.as_str(), ranked[0].rank), ("write", 1));
    assert!(ranked[0].of_largest == 1.0 && (ranked[0].growth.unwrap() - 256.0).abs() < 1e-6);
    assert!(ranked[1].of_largest < 0.01);
    assert!(rank(&models, &[1.0, 2.0], None).is_err());
}

#[test]
fn json_reads_back() {
    let lines = SCALES.iter().map(|p| line(*p, "a", &format!("{}", 5.0 + 2.0 * p.log2())));
    let models = model(&experiment(lines), &Options::default()).unwrap();
    let record = Record::new(&models.models[0], &models.parameters).line();
    let line: Value = serde_json::from_str(&record).unwrap();
    assert!(record.starts_with("{\"schema\":\"ftio.model/1\","));
    let factor = &line["terms"][0]["factors"][0];
    assert_eq!((&factor["exponent"], &factor["log_exponent"]), (&json!("0"), &json!(1)));
    assert_eq!((&line["points"], &line["ranges"][0]["to"]), (&json!(8), &json!(256.0)));
}

#[test]
fn the_same_on_any_number_of_threads() {
    let lines: Vec<String> = (0..200)
        .flat_map(|set| {
            SCALES.iter().enumerate().map(move |(k, p)| {
                let value = (1.0 + p.powf(f64::from(set % 9) / 4.0)) * (1.0 + noise(k + set as usize, 0.04));
                line(*p, &format!("path{set}"), &format!("{value}"))
            })
        })
        .collect();
    let experiment = experiment(lines);
    let text = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let models = pool.install(|| model(&experiment, &Options::default())).unwrap();
        models.models.iter().map(|model| Record::new(model, &models.parameters).line()).collect::<Vec<_>>()
    };
    assert_eq!(text(1), text(4));
}
