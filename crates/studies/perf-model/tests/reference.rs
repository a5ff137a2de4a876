//! Extra-P 4.2.5's answers, case by case.
//!
//! `reference/` has measurements of our own and the models that Extra-P finds for them (`scripts/reference`
//! asks it again). Further cases are compared where the folder of shared test data is there.

use std::path::PathBuf;

use perf_model::output::formula::{Notation, function};
use perf_model::{
    Error, Experiment, Exponents, Factor, Formula, Fraction, Function, Measure, Model, Modeler, Note,
    Options, Shrinking, Term, input, model,
};
use serde_json::Value;

/// Relative difference that counts as equal.
const SAME: f64 = 1e-6;
/// Differences below this share of the values are rounding: exact data has costs of 1e-28 and constants of
/// 1e-14.
const ROUNDING: f64 = 1e-9;

/// A folder with inputs, and the cases of them.
type Cases = (PathBuf, Vec<Value>);

fn committed() -> Cases {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/reference");
    let cases = cases(&folder.join("extrap.json"));
    (folder, cases)
}

fn shared(test: &str) -> Option<Cases> {
    let folder = test_data::shared_or_skip(test, "reference/extrap_inputs")?.parent()?.to_path_buf();
    let cases = cases(&folder.join("extrap_reference.json"));
    Some((folder, cases))
}

fn cases(path: &std::path::Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).expect("the answers");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    document["cases"].as_array().expect("cases").clone()
}

/// Numbers, with Python's spelling of those JSON does not have.
fn number(value: &Value) -> f64 {
    match value {
        Value::String(text) => text.parse().expect("a number"),
        value => value.as_f64().expect("a number"),
    }
}

fn fraction(value: &Value) -> Fraction {
    let text = value.as_str().expect("a fraction");
    let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
    Fraction::new(numerator.parse().expect("numerator"), denominator.parse().expect("denominator"))
}

fn formula(value: &Value) -> Formula {
    let factor = |value: &Value| Factor {
        parameter: value["param_index"].as_u64().expect("index") as usize,
        exponents: Exponents { power: fraction(&value["poly"]), log: fraction(&value["log"]) },
    };
    let term = |value: &Value| Term {
        coefficient: number(&value["coefficient"]),
        factors: value["factors"].as_array().expect("factors").iter().map(factor).collect(),
    };
    Formula {
        constant: number(&value["constant"]),
        terms: value["terms"].as_array().expect("terms").iter().map(term).collect(),
    }
}

fn expected_function(value: &Value) -> Function {
    match value["type"].as_str() {
        Some("segmented") => Function::Segmented {
            lower_end: number(&value["intervals"][0][1]),
            upper_start: number(&value["intervals"][1][0]),
            formulas: Box::new([formula(&value["segments"][0]), formula(&value["segments"][1])]),
        },
        _ => Function::Formula(formula(value)),
    }
}

fn options(case: &Value) -> Options {
    let set = |key: &str| case["options"][key].as_bool();
    Options {
        modeler: match case["modeler"].as_str() {
            Some("Refining") => Modeler::Refining,
            Some("Segmented") => Modeler::Segmented,
            _ => Modeler::Default,
        },
        measure: if case["measure"] == "median" { Measure::Median } else { Measure::Mean },
        logs: set("allow_log_terms").unwrap_or(true),
        shrinking: set("allow_negative_exponents")
            .map(|on| if on { Shrinking::Always } else { Shrinking::Never }),
        cross_validation: set("use_crossvalidation").unwrap_or(true),
        compare_rss: set("compare_with_RSS").unwrap_or(false),
        ..Options::compat()
    }
}

fn read(folder: &std::path::Path, case: &Value) -> perf_model::Result<Experiment> {
    let format = match case["format"].as_str() {
        Some("jsonl") => input::Format::JsonLines,
        Some("json") => input::Format::Json,
        Some("text") => input::Format::Text,
        _ => input::Format::Talpas,
    };
    let path = folder.join(case["file"].as_str().expect("file"));
    let guessed = input::Format::guess(&std::fs::read_to_string(&path).expect("input"));
    assert_eq!(guessed, format, "{}", path.display());
    input::read(&path, None)
}

fn close(found: f64, expected: f64, floor: f64) -> bool {
    found == expected
        || found.is_nan() && expected.is_nan()
        || (found - expected).abs() <= SAME * expected.abs() + floor
}

/// What differs between a model and the expected one; `Ok(true)` for a tie decided differently.
fn compare(found: &Model, expected: &Value) -> Result<bool, String> {
    let values: Vec<f64> = found.measured().map(|(_, value)| value).collect();
    let greatest = values.iter().fold(0.0f64, |greatest, value| greatest.max(value.abs()));
    let predictions: Vec<f64> =
        expected["predictions"].as_array().expect("predictions").iter().map(number).collect();
    for ((point, _), expected) in found.measured().zip(&predictions) {
        let found = found.evaluate(point);
        if !close(found, *expected, ROUNDING * greatest) {
            return Err(format!("prediction at {point:?}: {found} instead of {expected}"));
        }
    }
    let wanted = expected_function(&expected["function"]);
    let pairs: Vec<(&Formula, &Formula)> = match (&found.function, &wanted) {
        (Function::Formula(a), Function::Formula(b)) => vec![(a, b)],
        (
            Function::Segmented { lower_end, upper_start, formulas },
            Function::Segmented { lower_end: end, upper_start: start, formulas: others },
        ) if lower_end == end && upper_start == start => formulas.iter().zip(others.iter()).collect(),
        _ => return Err("segments differ".to_owned()),
    };
    for (a, b) in pairs {
        if !a.same_terms(b) {
            if found.has(Note::Tie) {
                return Ok(true);
            }
            return Err("terms differ".to_owned());
        }
        if !close(a.constant, b.constant, ROUNDING * greatest) {
            return Err(format!("constant {} instead of {}", a.constant, b.constant));
        }
        for (a, b) in a.terms.iter().zip(&b.terms) {
            if !close(a.coefficient, b.coefficient, 0.0) {
                return Err(format!("coefficient {} instead of {}", a.coefficient, b.coefficient));
            }
        }
    }
    let n = values.len() as f64;
    let costs = &found.costs;
    for (name, found, floor) in [
        ("RSS", costs.rss, n * (ROUNDING * greatest).powi(2)),
        ("rRSS", costs.relative_rss, n * ROUNDING * ROUNDING),
        ("nRSS", costs.normalised_rss, ROUNDING),
        ("SMAPE", costs.smape, 100.0 * ROUNDING),
        ("AR2", costs.adjusted_r2, ROUNDING),
        ("RE", costs.relative_error, ROUNDING),
    ] {
        let expected = number(&expected[name]);
        if !close(found, expected, floor) {
            return Err(format!("{name} {found} instead of {expected}"));
        }
    }
    Ok(false)
}

#[test]
fn compat_mode_agrees_with_extra_p() {
    assert_eq!(models_agree(&committed()), 210);
}

#[test]
fn compat_mode_agrees_with_extra_p_on_shared_cases() {
    if let Some(shared) = shared("compat_mode_agrees_with_extra_p_on_shared_cases") {
        assert!(models_agree(&shared) > 400);
    }
}

/// How many models were compared.
fn models_agree((folder, cases): &Cases) -> usize {
    let (mut agree, mut ties, mut refused, mut total) = (0, 0, 0, 0);
    let mut differences = Vec::new();
    for case in cases {
        let name = case["name"].as_str().expect("name");
        let experiment = read(folder, case).unwrap_or_else(|error| panic!("{name}: {error}"));
        let models = match (model(&experiment, &options(case)), case.get("error")) {
            (Ok(models), None) => models,
            (Err(Error::Ragged { expected, found, .. }), Some(message)) => {
                let message = message.as_str().expect("message");
                assert!(
                    message.contains(&format!("({found})")) && message.contains(&format!("({expected})")),
                    "{name}"
                );
                refused += 1;
                continue;
            }
            (result, error) => panic!("{name}: {result:?} instead of {error:?}"),
        };
        let expected = case["models"].as_array().expect("models");
        assert_eq!(models.models.len(), expected.len(), "{name}");
        for expected in expected {
            total += 1;
            let found = models
                .models
                .iter()
                .find(|model| expected["callpath"] == model.callpath && expected["metric"] == model.metric)
                .unwrap_or_else(|| {
                    panic!("{name}: no model for {} {}", expected["callpath"], expected["metric"])
                });
            match compare(found, expected) {
                Ok(false) => agree += 1,
                Ok(true) => {
                    ties += 1;
                    println!(
                        "tie: {name} {}: {} and {}",
                        found.callpath,
                        function(&found.function, &models.parameters, Notation::Plain),
                        expected["function"]["string"]
                    );
                }
                Err(difference) => differences.push(format!(
                    "{name} {} {}: {difference}\n    found    {}\n    expected {}",
                    found.callpath,
                    found.metric,
                    function(&found.function, &models.parameters, Notation::Plain),
                    expected["function"]["string"]
                )),
            }
        }
    }
    println!(
        "{} cases, {total} models: {agree} agree, {ties} ties with equal predictions, {} differ; {refused} \
         files refused as by Extra-P",
        cases.len(),
        differences.len()
    );
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    total
}

#[test]
fn readers_agree_on_points_and_repetitions() {
    readings_agree(&committed());
}

#[test]
fn readers_agree_on_points_and_repetitions_of_shared_cases() {
    if let Some(shared) = shared("readers_agree_on_points_and_repetitions_of_shared_cases") {
        readings_agree(&shared);
    }
}

fn readings_agree((folder, cases): &Cases) {
    for case in cases {
        let name = case["name"].as_str().expect("name");
        let experiment = read(folder, case).unwrap_or_else(|error| panic!("{name}: {error}"));
        let Some(models) = case["models"].as_array() else { continue };
        let parameters: Vec<&str> =
            case["parameters"].as_array().expect("names").iter().filter_map(Value::as_str).collect();
        assert_eq!(experiment.parameters, parameters, "{name}");
        for expected in models {
            let set = experiment
                .sets
                .iter()
                .find(|set| expected["callpath"] == set.callpath && expected["metric"] == set.metric)
                .unwrap_or_else(|| panic!("{name}: no set"));
            let points = expected["points"].as_array().expect("points");
            assert_eq!(set.measurements.len(), points.len(), "{name}");
            for point in points {
                let coordinate: Vec<f64> =
                    point["coordinate"].as_array().expect("coordinate").iter().map(number).collect();
                let found =
                    set.measurements.iter().find(|m| *experiment.coordinates[m.coordinate] == *coordinate);
                let values = &found.unwrap_or_else(|| panic!("{name}: no point {coordinate:?}")).values;
                assert_eq!(
                    values.len() as u64,
                    point["repetitions"].as_u64().expect("repetitions"),
                    "{name}"
                );
                for (key, measure) in [
                    ("mean", Measure::Mean),
                    ("median", Measure::Median),
                    ("min", Measure::Minimum),
                    ("max", Measure::Maximum),
                ] {
                    let (found, expected) = (measure.of(values), number(&point[key]));
                    assert_eq!(found, expected, "{name}: {key} of {values:?}");
                }
            }
        }
    }
}

#[test]
fn functions_are_written_as_by_extra_p() {
    writings_agree(&committed());
}

#[test]
fn functions_of_shared_cases_are_written_as_by_extra_p() {
    if let Some(shared) = shared("functions_of_shared_cases_are_written_as_by_extra_p") {
        writings_agree(&shared);
    }
}

fn writings_agree((_, cases): &Cases) {
    let mut strings = 0;
    for case in cases {
        let parameters: Vec<&str> =
            case["parameters"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        for expected in case["models"].as_array().into_iter().flatten() {
            let value = &expected["function"];
            let wanted = expected_function(value);
            assert_eq!(value["string"], function(&wanted, &parameters, Notation::Plain), "{}", case["name"]);
            if let Some(python) = value["python"].as_str() {
                assert_eq!(python, function(&wanted, &parameters, Notation::Python), "{}", case["name"]);
            }
            strings += 1;
        }
    }
    assert!(strings > 100, "only {strings} functions were compared");
}
