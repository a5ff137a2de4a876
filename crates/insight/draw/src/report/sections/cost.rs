//! The share of the run time that goes into reading, writing, metadata and waiting.

use super::{NOTHING, gap, is_empty};
use crate::report::Subject;
use crate::units::{percent, seconds};
use inspect::usage::RankUsage;

/// Seconds of an average rank: reading, writing, metadata, of these waiting.
fn shares(study: &Subject<'_>) -> Option<[f64; 4]> {
    let usage = study.usage;
    let run_time = usage.run_time;
    if run_time <= 0.0 {
        return None;
    }
    let layer = study.cost_layer?;
    let ranks = f64::from(usage.ranks.unwrap_or(1).max(1));
    let wait: f64 = usage.by_rank.iter().map(|rank| rank.wait_time).sum();
    let timed = usage.by_rank.iter().map(RankUsage::time).sum::<f64>();
    let [read, write, meta] = if usage.layer.as_deref() == Some("mpiio") && timed > 0.0 {
        // By rank, waits for several operations at once count once.
        let sum = |of: fn(&RankUsage) -> f64| usage.by_rank.iter().map(of).sum::<f64>();
        [sum(|rank| rank.read_time), sum(|rank| rank.write_time), sum(|rank| rank.meta_time)]
    } else {
        [layer.read.time, layer.write.time, layer.meta.time]
    };
    let any = read + write + meta > 0.0;
    any.then(|| [read, write, meta, wait].map(|seconds| seconds / ranks / run_time))
}

/// The share of the run time that an average rank spends in I/O.
pub fn io_share(study: &Subject<'_>) -> Option<f64> {
    shares(study).map(|[read, write, meta, _]| read + write + meta)
}

pub fn cost(study: &Subject<'_>) -> String {
    let Some([read, write, meta, wait]) = shares(study) else {
        let unknown = "This input does not tell how long operations took.";
        return gap(if is_empty(study) { NOTHING } else { unknown });
    };
    let bar = |name: &str, class: &str, share: f64| {
        let width = (100.0 * share).clamp(0.0, 100.0);
        format!(
            "<span>{name}</span><span class=\"bar\"><span class=\"{class}\" \
                style=\"width:{width:.2}%\"></span></span><span class=\"value\">{}</span>",
            percent(share)
        )
    };
    let mut out = String::from("<p>Shares of the run time, of an average rank:</p><div class=\"bars\">");
    out += &bar("Reading", "read", read);
    out += &bar("Writing", "write", write);
    // Lists of requests have reads and writes only.
    if study.usage.layer.as_deref() != Some("requests") {
        out += &bar("Metadata", "meta", meta);
    }
    if study.usage.by_rank.iter().any(|rank| rank.wait_time > 0.0) {
        out += &bar("of these waiting", "wait", wait);
    }
    out += "</div>";
    out + &spread(study)
}

/// How much ranks differ.
fn spread(study: &Subject<'_>) -> String {
    let mut times: Vec<f64> = study.usage.by_rank.iter().map(RankUsage::time).collect();
    times.sort_by(f64::total_cmp);
    let (Some(least), Some(most)) = (times.first(), times.last()) else { return String::new() };
    let median = times[(times.len() - 1) / 2];
    format!(
        "<p>Ranks spend from {} to {} in I/O; half of them at most {}.</p>",
        seconds(*least),
        seconds(*most),
        seconds(median)
    )
}
