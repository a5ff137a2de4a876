//! Files: how many, read or written, the largest and the slowest.

use super::{NOTHING, gap, is_empty, number, sortable};
use crate::canvas::escaped;
use crate::report::Subject;
use crate::units::{bytes, counted, grouped, seconds};
use inspect::usage::FileUsage;

/// More files than this are not listed.
const MAX_FILES: usize = 200;

pub fn files(study: &Subject<'_>) -> String {
    let files = &study.usage.files;
    if files.is_empty() {
        return gap(if is_empty(study) { NOTHING } else { "This input does not name files." });
    }
    let count = |which: fn(&FileUsage) -> bool| files.iter().filter(|file| which(file)).count() as u64;
    let read_only = count(|file| file.read.bytes > 0 && file.write.bytes == 0);
    let write_only = count(|file| file.write.bytes > 0 && file.read.bytes == 0);
    let both = count(|file| file.write.bytes > 0 && file.read.bytes > 0);
    let shared = count(|file| file.ranks > Some(1));
    let mut out = format!(
        "<p>{}: {} read only, {} written only, {} read and written, {} without data; {} shared by ranks.</p>",
        counted(files.len() as u64, "file"),
        grouped(read_only),
        grouped(write_only),
        grouped(both),
        grouped(files.len() as u64 - read_only - write_only - both),
        grouped(shared)
    );
    let row = |file: &FileUsage| {
        [
            format!("<tr><td><code>{}</code></td>", escaped(&file.name)),
            number(
                f64::from(file.ranks.unwrap_or(0)),
                &file.ranks.map_or("?".into(), |ranks| ranks.to_string()),
            ),
            number(file.write.bytes as f64, &bytes(file.write.bytes as f64)),
            number(file.read.bytes as f64, &bytes(file.read.bytes as f64)),
            number((file.read.ops + file.write.ops) as f64, &grouped(file.read.ops + file.write.ops)),
            number(file.time(), &seconds(file.time())),
            number(file.meta.time, &seconds(file.meta.time)),
            "</tr>".to_owned(),
        ]
        .concat()
    };
    // The largest, and among the others the slowest.
    let (largest, rest) = files.split_at(files.len().min(MAX_FILES / 2));
    let mut slowest: Vec<&FileUsage> = rest.iter().collect();
    slowest.sort_by(|a, b| b.time().total_cmp(&a.time()));
    let rows: String = largest.iter().chain(slowest.into_iter().take(MAX_FILES / 2)).map(row).collect();
    out +=
        &sortable(&["File", "#Ranks", "#Written", "#Read", "#Requests", "#Time", "#of it metadata"], &rows);
    if files.len() > MAX_FILES {
        out += &gap(&format!("The largest and the slowest {MAX_FILES} of {} are listed.", files.len()));
    }
    out
}
