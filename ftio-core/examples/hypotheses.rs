//! What the estimator weighed: `hypotheses FILE …` prints, for each trace, one line of JSON with all hypotheses, their features and the answer.
//!
//! `scripts/fit` fits the weights of `ftio-core/src/estimate/weights.rs` to this. The fields: `file`, `duration`, `period`, `periods`, `confidence`,
//! `signal`, `names` (of the features), and `hypotheses`: `{period, form, ends, features, one_burst}`.

use ftio_core::detect::{Options, detect, detect_hypotheses};
use ftio_core::estimate::score::is_one_burst;
use ftio_core::estimate::weights::WEIGHTS;
use ftio_core::source::{Input, OpenOptions, open};
use serde_json::json;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let names: Vec<&str> = WEIGHTS.iter().map(|weight| weight.name).collect();
    for file in std::env::args().skip(1) {
        let input = Input::Path(file.clone().into());
        let opened = || open(&input, &OpenOptions::default()).map(|mut opened| opened.pop());
        let (Some(first), Some(again)) = (opened()?, opened()?) else { continue };
        let options = Options::default();
        let found = detect(&file, first.into_source()?, &options)?.detection;
        let view = detect_hypotheses(again.into_source()?, &options)?;
        let hypotheses: Vec<_> = view
            .iter()
            .flat_map(|view| &view.pool)
            .map(|one| {
                json!({
                    "period": one.hypothesis.period,
                    "form": one.hypothesis.form,
                    "ends": one.hypothesis.ends,
                    "features": one.features,
                    "one_burst": is_one_burst(one),
                })
            })
            .collect();
        let periods: Vec<f64> = found.periods.iter().map(|one| one.period).collect();
        println!(
            "{}",
            json!({
                "file": file, "duration": found.t_end - found.t_start, "period": found.period, "periods": periods,
                "confidence": found.confidence, "signal": found.signal, "names": names, "hypotheses": hypotheses,
            })
        );
    }
    Ok(())
}
