//! Whatever comes in, what comes out is a model or a message, never a panic.

use perf_model::input::{Format, parse, parse_bytes};
use perf_model::output::print::{Print, print};
use perf_model::{Modeler, Options, model, model_series};
use proptest::prelude::*;

/// To be recognised, and every one that can be named.
const FORMATS: [Option<Format>; 5] =
    [None, Some(Format::JsonLines), Some(Format::Json), Some(Format::Text), Some(Format::Talpas)];

fn all_options() -> Vec<Options> {
    let modelers = [Modeler::Default, Modeler::Refining, Modeler::Segmented];
    modelers
        .into_iter()
        .flat_map(|modeler| {
            [Options { modeler, ..Options::default() }, Options { modeler, ..Options::compat() }]
        })
        .collect()
}

/// Values as they should not be, among values as they are.
fn awkward() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => 0.5f64..5000.0,
        1 => prop::sample::select(vec![
            0.0, -0.0, 1.0, -1.0, -3.5, 1e-300, 1e300,
            f64::MAX, f64::MIN_POSITIVE, f64::NAN, f64::INFINITY, f64::NEG_INFINITY,
        ]),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_series_has_a_model(points in prop::collection::vec((awkward(), awkward()), 0..14)) {
        let (coordinates, values): (Vec<f64>, Vec<f64>) = points.into_iter().unzip();
        for options in all_options() {
            let model = model_series(&coordinates, &values, &options);
            let _ = model.predict(&[64.0], 0.95);
            let _ = perf_model::output::json::Record::new(&model, &["p".to_owned()]).line();
        }
    }

    #[test]
    fn any_points_of_two_parameters_have_a_model(
        points in prop::collection::vec((0usize..6, 0usize..6, awkward()), 1..30),
    ) {
        let lines: String = points
            .iter()
            .map(|(x, y, value)| {
                format!("{{\"params\":{{\"x\":{},\"y\":{}}},\"value\":{value:?}}}\n", 1 << x, 10 * y)
            })
            .collect();
        if let Ok(experiment) = parse(&lines, "x.jsonl", Some(Format::JsonLines)) {
            for options in [Options::default(), Options::compat()] {
                if let Ok(models) = model(&experiment, &options) {
                    for model in &models.models {
                        let _ = model.predict(&[3.0, 7.0], 0.9);
                    }
                }
            }
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        for format in FORMATS {
            let _ = parse_bytes(bytes.clone(), "x", format);
        }
    }

    #[test]
    fn damaged_files_are_read_or_refused(cut in 0usize..400, insert in any::<char>(), which in 0usize..4) {
        let good = [
            "{\"params\":{\"p\":4,\"n\":2},\"callpath\":\"a->b\",\"metric\":\"t\",\"value\":[1.5,2]}\n\
             {\"params\":{\"p\":8,\"n\":2},\"value\":3}\n",
            "{\"parameters\":[\"x\"],\"measurements\":{\"sweep\":{\"time\":[{\"point\":[4],\"values\":[1,2]},\
             {\"point\":[8],\"values\":[3]}]}}}",
            "PARAMETER x y\nPOINTS ( 20 1 ) ( 30 1 )\nREGION a\nMETRIC m\nDATA 1 2\nDATA 3\n",
            "{\"parameters\":{\"x\":20,\"y\":1};\"metric\":\"time\";\
             \"callpath\":\"compute\";\"value\":1.5}\n",
        ][which];
        let mut cut = cut.min(good.len());
        while !good.is_char_boundary(cut) {
            cut -= 1;
        }
        for text in [good[..cut].to_owned(), format!("{}{insert}{}", &good[..cut], &good[cut..])] {
            for format in FORMATS {
                if let Err(error) = parse(&text, "name", format) {
                    prop_assert!(error.to_string().starts_with("name"), "{error}");
                }
            }
        }
    }

    #[test]
    fn any_format_string_prints_or_is_refused(text in "[{}?:;'\\\\a-z. ]{0,40}") {
        let lines = "{\"params\":{\"p\":4},\"value\":1}\n{\"params\":{\"p\":8},\"value\":2}\n";
        let experiment = parse(lines, "x", None).unwrap();
        let models = model(&experiment, &Options::default()).unwrap();
        let _ = print(&experiment, &models, &Print::parse(&text));
    }
}
