//! The renewal estimator: no number without a reason, no answer without a signal.

use ftio_core::renewal::signal::Trace;
use ftio_core::renewal::table::{NUMBERS, USES};
use ftio_core::renewal::weights::WEIGHTS;
use ftio_core::renewal::{estimate, next_start};
use std::fs;
use std::path::Path;

/// At most so many numbers are set by hand.
const MOST_NUMBERS: usize = 100;

/// Files whose numbers change no answer: what is told, and what is fitted.
const FREE: [&str; 2] = ["told.rs", "weights.rs"];

#[test]
fn what_varies_by_nothing_has_no_answer() {
    let steady =
        Trace::Samples { times: (0..100).map(f64::from).collect(), values: vec![5.0; 100], counter: false };
    for trace in [steady, Trace::Requests { requests: Vec::new(), cut: false }] {
        let found = estimate(&trace);
        assert!(found.search.is_none() && found.answer.period.is_none() && found.posterior.none == 1.0);
        assert!(next_start(&trace, &found, None).is_none());
    }
}

#[test]
fn every_number_and_every_weight_says_why() {
    assert!(NUMBERS.iter().chain(USES).all(|entry| entry.reason.len() > 6));
    assert!(NUMBERS.len() <= MOST_NUMBERS);
    let mut names: Vec<&str> = WEIGHTS.iter().map(|weight| weight.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), WEIGHTS.len());
}

/// Numbers in code, without those in strings and comments; 0, 1 and 2 are no choice.
fn numbers(line: &str) -> Vec<String> {
    let code: String = line.split('"').step_by(2).collect::<Vec<&str>>().join(" ");
    let code = code.split("//").next().unwrap_or_default();
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let mut words = code.split(|c: char| !is_part(c));
    let found = words.by_ref().flat_map(|word| word.split("..")).filter_map(|word| {
        let is_number = word.starts_with(|c: char| c.is_ascii_digit());
        let plain = word.trim_end_matches("f64").trim_end_matches("usize").trim_end_matches('_');
        (is_number && !["0", "1", "2", "0.0", "1.0", "2.0"].contains(&plain)).then(|| word.to_owned())
    });
    found.collect()
}

#[test]
fn all_numbers_stand_in_the_table() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/renewal");
    let mut elsewhere = Vec::new();
    for file in fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&file).unwrap();
        let (_, shared) = text.split_once("\ntable! {\n    USES").unwrap_or(("", &text));
        let code = if name == "table.rs" { shared } else { &text };
        if FREE.contains(&name.as_str()) {
            continue;
        }
        for line in code.lines() {
            elsewhere.extend(numbers(line).into_iter().map(|number| format!("{name}: {number} in {line}")));
        }
    }
    assert!(elsewhere.is_empty(), "{}", elsewhere.join("\n"));
    assert_eq!(numbers("let a = 0.25 * x.0 + 1 << 3; // 7"), ["0.25", "3"]);
}
