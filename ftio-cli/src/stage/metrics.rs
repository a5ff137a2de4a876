//! Staging in the text format of Prometheus, with the predictions that it is based on.

use crate::predict::Published;
use emit::predictions::Predictions;
use emit::prometheus::{Kind::Counter, Kind::Gauge, Labels, Row, Text};
use ftio_core::predict::Prediction;
use io_stage::plan::{Planner, Report};

/// Without a value, a metric is left out.
type Metric = Row<fn(&Report, &Planner) -> Option<f64>>;

const METRICS: [Metric; 14] = [
    ("ftio_stage_out_bytes_total", Counter, "Bytes that have left the buffer, verified.", |r, _| {
        Some(r.bytes_out as f64)
    }),
    ("ftio_stage_out_files_total", Counter, "Files that have left the buffer, verified.", |r, _| {
        Some(r.files_out as f64)
    }),
    ("ftio_stage_in_bytes_total", Counter, "Bytes brought into the buffer, verified.", |r, _| {
        Some(r.bytes_in as f64)
    }),
    ("ftio_stage_in_files_total", Counter, "Files brought into the buffer, verified.", |r, _| {
        Some(r.files_in as f64)
    }),
    ("ftio_stage_evicted_bytes_total", Counter, "Bytes removed from the buffer.", |r, _| {
        Some(r.bytes_evicted as f64)
    }),
    ("ftio_stage_copying_seconds_total", Counter, "Seconds in which a copy was under way.", |r, _| {
        Some(r.seconds_copying)
    }),
    (
        "ftio_stage_overlap_seconds_total",
        Counter,
        "Seconds in which a copy was under way during an I/O phase of the job.",
        |r, _| Some(r.seconds_overlap),
    ),
    ("ftio_stage_suspended_total", Counter, "Times that a copy was suspended.", |r, _| {
        Some(r.suspended as f64)
    }),
    ("ftio_stage_failed_total", Counter, "Copies that failed.", |r, _| Some(r.failed as f64)),
    ("ftio_stage_discarded_total", Counter, "Copies thrown away because the file changed.", |r, _| {
        Some(r.discarded as f64)
    }),
    ("ftio_stage_copying", Gauge, "Whether a copy is under way (1) or not (0).", |_, planner| {
        Some(f64::from(u8::from(planner.copying().is_some_and(|(_, rests)| !rests))))
    }),
    ("ftio_stage_left_bytes", Gauge, "Bytes in the buffer that have not left it.", |r, _| {
        Some(r.bytes_left as f64)
    }),
    ("ftio_stage_occupancy_bytes", Gauge, "Bytes in the buffer.", |_, planner| {
        Some(planner.buffer().0 as f64)
    }),
    ("ftio_stage_capacity_bytes", Gauge, "Bytes that fit into the buffer.", |_, planner| {
        planner.buffer().1.map(|capacity| capacity as f64)
    }),
];

/// What is published.
#[derive(Debug)]
pub struct Metrics {
    predictions: Predictions,
    published: Published,
    last: String,
}

impl Metrics {
    /// At this address, or in this file.
    pub fn open(target: &str) -> anyhow::Result<Self> {
        Ok(Metrics {
            predictions: Predictions::default(),
            published: Published::open(target)?,
            last: String::new(),
        })
    }

    pub fn prediction(&mut self, prediction: &Prediction) {
        self.predictions.prediction(prediction);
    }

    /// Publish what has changed.
    pub fn publish(&mut self, source: &str, planner: &Planner, now: f64) -> anyhow::Result<()> {
        let mut text = Text::default();
        self.predictions.write(&mut text);
        write(source, planner, now, &mut text);
        let text = text.finish();
        if text != self.last {
            self.last.clone_from(&text);
            self.published.publish(text)?;
        }
        Ok(())
    }
}

fn write(source: &str, planner: &Planner, now: f64, text: &mut Text) {
    let report = planner.report(now);
    let labels = Labels::of([("source", source)]);
    for (name, kind, help, value) in METRICS {
        text.known((name, kind, help), value(&report, planner).map(|value| (&labels, value)));
    }
}
