//! What was found in traces of some kinds, and what parts the best alternative from the best right one.

use crate::Asked;
use crate::build::{kinds, look, source};
use crate::judge::{Best, calibrated};
use ftio_core::detect::{Options, detect_trace};
use ftio_core::renewal::rows::{Place, Row, Search};
use ftio_core::renewal::weights::{CALIBRATION, WEIGHTS};
use std::error::Error;

/// Alternatives that are shown, and what parts two of them.
const SHOWN: usize = 3;

fn line(search: &Search, row: &Row, score: f64) -> String {
    let one = |place: Place| {
        let hypothesis = &search.described(place).hypothesis;
        let of = &search.views[place.0];
        format!(
            "{:?} {:?} {} of {} σ {:.3} pauses {:.2} fill {:.2}",
            of.reading.name,
            hypothesis.form,
            hypothesis.count(),
            of.lists[hypothesis.list].count(),
            hypothesis.sigma,
            hypothesis.pauses(),
            hypothesis.fill()
        )
    };
    let all: Vec<String> = row.hypotheses.iter().map(|place| one(*place)).collect();
    format!("{score:>7.2} {:.4?} {}", row.periods, all.join(" + "))
}

pub fn show(asked: &Asked) -> Result<(), Box<dyn Error>> {
    for kind in kinds(asked) {
        for seed in asked.seeds.clone() {
            let seen = look(&kind, seed, asked)?;
            let best = Best::of(&seen.rows, &asked.weights);
            let confidence = calibrated(best.probability, CALIBRATION);
            println!(
                "{} {seed}: {:?} {:.4?} at {confidence:.2}, none {:.2}",
                kind.name, best.period, best.periods, best.none
            );
            let truth = &seen.truth;
            println!(
                "  truth {:?} {:.4?} also {:.4?}, or none {}",
                truth.period, truth.periods, truth.also, truth.or_none
            );
            let made = kind.generate(seed);
            let Some(trace) = detect_trace(source(kind.name, &made)?, &Options::default())? else { continue };
            let Some(search) = Search::of(&trace, &asked.weights) else { continue };
            let score = |row: &Row| row.features.score(&asked.weights);
            let mut order: Vec<&Row> = search.rows.iter().collect();
            order.sort_by(|a, b| score(b).total_cmp(&score(a)));
            for row in order.iter().take(SHOWN) {
                println!("  {}", line(&search, row, score(row)));
            }
            let is_right = |row: &&&Row| {
                seen.rows
                    .iter()
                    .zip(seen.right())
                    .any(|(other, right)| right && other.features == row.features.0)
            };
            let (Some(top), Some(right)) = (order.first(), order.iter().find(is_right)) else { continue };
            println!("  right {}", line(&search, right, score(right)));
            let part = |i: usize| asked.weights[i] * (top.features.0[i] - right.features.0[i]);
            let mut parts: Vec<(f64, usize)> = (0..WEIGHTS.len()).map(|i| (part(i), i)).collect();
            parts.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
            let words = |(part, i): &(f64, usize)| format!("{} {part:+.2}", WEIGHTS[*i].name);
            let words: Vec<String> = parts.iter().take(2 * SHOWN).map(words).collect();
            println!("    {}", words.join(", "));
        }
    }
    Ok(())
}
