//! Ranks: what each did when, and who is late.

use super::{NOTHING, gap, is_empty, number, sortable};
use crate::report::Subject;
use crate::units::{bytes, counted, seconds};
use inspect::usage::RankUsage;

/// So many of the busiest ranks are listed.
const LISTED: usize = 32;

pub fn ranks(study: &Subject<'_>) -> String {
    if is_empty(study) {
        return gap(NOTHING);
    }
    let mut out = String::new();
    let mapped = study.analysis.is_ok_and(|analysis| {
        let window = [analysis.detection.t_start, analysis.detection.t_end];
        analysis
            .lanes
            .as_ref()
            .is_some_and(|lanes| lanes.rows(window, 1).iter().flatten().any(|bytes| *bytes > 0.0))
    });
    if mapped {
        out += "<div data-chart=\"ranks\"></div>";
    } else {
        out +=
            &gap("What each rank did when is not known: it takes a trace of tmio, a Darshan log with DXT \
                (DXT_ENABLE_IO_TRACE=1) or one with the HEATMAP of Darshan 3.4 or newer.");
    }
    let ranks = &study.usage.by_rank;
    if ranks.is_empty() {
        return out;
    }
    let active = ranks.iter().filter(|rank| rank.bytes() > 0).count() as u64;
    let most = ranks.iter().max_by_key(|rank| rank.bytes()).map_or(0, RankUsage::bytes);
    let least = ranks.iter().min_by_key(|rank| rank.bytes()).map_or(0, RankUsage::bytes);
    out += &format!(
        "<p>{} of {} move data: from {} to {} each.</p>",
        active,
        counted(ranks.len() as u64, "rank"),
        bytes(least as f64),
        bytes(most as f64)
    );
    let mut slowest: Vec<&RankUsage> = ranks.iter().collect();
    slowest.sort_by(|a, b| b.time().total_cmp(&a.time()).then(a.rank.cmp(&b.rank)));
    let row = |rank: &&RankUsage| {
        [
            "<tr>".to_owned(),
            number(f64::from(rank.rank), &rank.rank.to_string()),
            number(rank.bytes_written as f64, &bytes(rank.bytes_written as f64)),
            number(rank.bytes_read as f64, &bytes(rank.bytes_read as f64)),
            number(rank.write_time, &seconds(rank.write_time)),
            number(rank.read_time, &seconds(rank.read_time)),
            number(rank.meta_time, &seconds(rank.meta_time)),
            number(rank.wait_time, &seconds(rank.wait_time)),
            "</tr>".to_owned(),
        ]
        .concat()
    };
    let rows: String = slowest.iter().take(LISTED).map(row).collect();
    if ranks.len() > LISTED {
        out += &format!("<p>The {LISTED} that spend most time in I/O:</p>");
    }
    out + &sortable(&["#Rank", "#Written", "#Read", "#Writing", "#Reading", "#Metadata", "#Waiting"], &rows)
}
