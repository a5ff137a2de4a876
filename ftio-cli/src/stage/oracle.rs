//! What the predictor expects, in the words of staging.

use ftio_core::predict::Prediction;
use io_stage::plan::Forecast;

/// What is expected after a flush.
pub fn forecast(prediction: &Prediction) -> Forecast {
    // Without a period the next phase is a guess, which is not acted upon.
    let next = prediction.next_phase.filter(|next| !next.provisional && prediction.period.is_some());
    Forecast {
        period: prediction.period,
        confidence: prediction.confidence,
        start: next.map(|next| next.start),
        start_low: next.map(|next| next.start_low),
        start_high: next.map(|next| next.start_high),
        bytes: next.map(|next| next.bytes),
    }
}
