//! The share of the run time that goes into reading, writing, metadata and waiting.

use super::{NOTHING, gap, is_empty};
use crate::report::Subject;
use crate::units::{percent, seconds};
use inspect::usage::RankUsage;

pub fn cost(study: &Subject<'_>) -> String {
    let Some(share) = study.summary.io_share else {
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
    out += &bar("Reading", "read", share.read);
    out += &bar("Writing", "write", share.write);
    // Lists of requests have reads and writes only.
    if study.usage.layer.as_deref() != Some("requests") {
        out += &bar("Metadata", "meta", share.metadata);
    }
    if share.waiting > 0.0 {
        out += &bar("of these waiting", "wait", share.waiting);
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
