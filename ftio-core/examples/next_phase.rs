//! Predictions for a made-up job that writes for two seconds out of every ten, flush by flush.

use ftio_core::predict::{PredictOptions, Predictor};
use sources::request::{Class, Request};

fn main() {
    let second = 1_000_000_000;
    let mut predictor = Predictor::new("made-up job", PredictOptions::default());
    for phase in 0..8 {
        let (start, end) = ((10 * phase + 8) * second, (10 * phase + 10) * second);
        predictor.add(&[Request::new(start, end, 1 << 30, Class::WriteSync)]);
        let prediction = predictor.predict(end);
        match (prediction.period, prediction.next_phase) {
            (Some(period), Some(next)) => println!(
                "{:5.1} s: period {period:.2} s ({:.0} %), next phase at {:.1} s",
                prediction.t,
                100.0 * prediction.confidence,
                next.start
            ),
            _ => println!("{:5.1} s: no period yet", prediction.t),
        }
    }
}
