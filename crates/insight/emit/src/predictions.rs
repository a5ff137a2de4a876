//! The last prediction of every trace, as metrics for Prometheus.

use crate::prometheus::{Kind::Counter, Kind::Gauge, Labels, Row, Text};
use ftio_core::predict::Prediction;
use std::collections::BTreeMap;

/// What is published about a trace.
#[derive(Clone, Debug, Default)]
struct Published {
    predictions: u64,
    changes: u64,
    last: Option<Prediction>,
}

/// All traces, by name.
#[derive(Clone, Debug, Default)]
pub struct Predictions {
    traces: BTreeMap<String, Published>,
}

/// Without a value, a metric is left out for that trace.
type Metric = Row<fn(&Published, &Prediction) -> Option<f64>>;

const METRICS: [Metric; 15] = [
    ("ftio_predictions_total", Counter, "Predictions made so far.", |counts, _| {
        Some(counts.predictions as f64)
    }),
    (
        "ftio_behaviour_changes_total",
        Counter,
        "Times that the I/O behaviour was found to have changed.",
        |counts, _| Some(counts.changes as f64),
    ),
    ("ftio_transferred_bytes_total", Counter, "Bytes transferred since the job began.", |_, last| {
        Some(last.total_bytes as f64)
    }),
    ("ftio_periodic", Gauge, "Whether the last prediction found a period (1) or not (0).", |_, last| {
        Some(f64::from(u8::from(last.period.is_some())))
    }),
    ("ftio_period_seconds", Gauge, "Period of the I/O phases, if there is one.", |_, last| last.period),
    ("ftio_confidence_ratio", Gauge, "Confidence in the period, 0 to 1.", |_, last| Some(last.confidence)),
    (
        "ftio_periodic_probability_ratio",
        Gauge,
        "Share of the predictions so far that found a period.",
        |_, last| Some(last.probability_periodic),
    ),
    ("ftio_flush_seconds", Gauge, "Job time up to which the I/O is known.", |_, last| Some(last.t)),
    ("ftio_window_start_seconds", Gauge, "Job time at which the analysed window begins.", |_, last| {
        Some(last.window[0])
    }),
    (
        "ftio_next_phase_start_seconds",
        Gauge,
        "Job time at which the next I/O phase is expected to begin.",
        |_, last| last.next_phase.map(|next| next.start),
    ),
    (
        "ftio_next_phase_end_seconds",
        Gauge,
        "Job time at which the next I/O phase is expected to end.",
        |_, last| last.next_phase.map(|next| next.end),
    ),
    (
        "ftio_next_phase_start_timestamp_seconds",
        Gauge,
        "When the next I/O phase is expected to begin, in seconds since 1970.",
        |_, last| last.next_phase.and_then(|next| next.start_timestamp),
    ),
    (
        "ftio_next_phase_end_timestamp_seconds",
        Gauge,
        "When the next I/O phase is expected to end, in seconds since 1970.",
        |_, last| last.next_phase.and_then(|next| next.end_timestamp),
    ),
    ("ftio_next_phase_bytes", Gauge, "Bytes that the next I/O phase is expected to transfer.", |_, last| {
        last.next_phase.map(|next| next.bytes as f64)
    }),
    ("ftio_period_trend_ratio", Gauge, "Seconds by which the period grows in a second.", |_, last| {
        last.trend.map(|trend| trend.slope)
    }),
];

impl Predictions {
    /// Another prediction of a trace.
    pub fn prediction(&mut self, prediction: &Prediction) {
        let counts = self.traces.entry(prediction.source.clone()).or_default();
        counts.predictions += 1;
        counts.changes += u64::from(prediction.changed);
        counts.last = Some(prediction.clone());
    }

    /// Write all of it.
    pub fn write(&self, text: &mut Text) {
        for (name, kind, help, value) in METRICS {
            let of = |(source, counts): (&String, &Published)| {
                let value = value(counts, counts.last.as_ref()?)?;
                Some((Labels::of([("source", source)]), value))
            };
            text.known((name, kind, help), self.traces.iter().filter_map(of));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ftio_core::predict::{PredictOptions, Predictor};

    #[test]
    fn the_text_of_two_traces() {
        let mut predictions = Predictions::default();
        let text = |predictions: &Predictions| {
            let mut text = Text::default();
            predictions.write(&mut text);
            text.finish()
        };
        assert_eq!(text(&predictions), "");
        for name in ["a \"b\"\\", "c"] {
            let mut predictor = Predictor::new(name, PredictOptions::default());
            predictions.prediction(&predictor.predict(1_500_000_000));
        }
        let text = text(&predictions);
        let start = "# HELP ftio_predictions_total Predictions made so far.\n\
                     # TYPE ftio_predictions_total counter\n\
                     ftio_predictions_total{source=\"a \\\"b\\\"\\\\\"} \
                         1\nftio_predictions_total{source=\"c\"} 1\n# HELP";
        assert!(text.starts_with(start), "{text}");
        assert!(text.contains("\nftio_flush_seconds{source=\"c\"} 1.5\n"), "{text}");
        assert!(
            !text.contains("ftio_period_seconds"),
            "a trace without a period has no metric for it: {text}"
        );
    }
}
