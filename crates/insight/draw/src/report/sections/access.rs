//! Sizes of requests, their order and alignment.

use super::{NOTHING, gap, is_empty, pairs};
use crate::report::Subject;
use crate::units::{bytes, grouped, percent};
use inspect::usage::{Access, SIZES};
use sources::amount::size;

pub fn access(study: &Subject<'_>) -> String {
    let usage = study.usage;
    let mut out = String::new();
    if let Some(layer) = &usage.layer {
        out += &format!("<p>Requests of the layer <b>{}</b>.</p>", crate::canvas::escaped(layer));
    }
    let any = usage.reads.sizes.is_some() || usage.writes.sizes.is_some();
    if is_empty(study) {
        out = gap(NOTHING);
    } else if any {
        out += &histogram(&usage.reads, &usage.writes);
    } else {
        out += &gap("Sizes of requests are not known here.");
    }
    let mut rows = Vec::new();
    for (name, access) in [("Writes", &usage.writes), ("Reads", &usage.reads)] {
        if access.ops > 0 {
            rows.push((name, describe(access)));
        }
    }
    if !usage.common.is_empty() {
        let alike = |of: u64| usage.common.iter().filter(|other| size(other.size) == size(of)).count() > 1;
        // Sizes that look the same when they are rounded are told to the byte.
        let told = |of: u64| if alike(of) { format!("{} B", grouped(of)) } else { size(of) };
        let common: Vec<String> =
            usage.common.iter().map(|one| format!("{} ({}×)", told(one.size), grouped(one.count))).collect();
        rows.push(("Most common sizes", common.join(", ")));
    }
    out += &pairs(&rows);
    out + &usage.gaps.iter().map(|text| gap(text)).collect::<String>()
}

fn histogram(reads: &Access, writes: &Access) -> String {
    let of = |access: &Access, class: usize| access.sizes.map_or(0, |sizes| sizes[class]);
    let most = (0..SIZES.len()).map(|class| of(reads, class) + of(writes, class)).max().unwrap_or(0).max(1);
    let mut out = String::from(
        "<p><span class=\"key write\">writes</span><span class=\"key read\">reads</span></p><div \
            class=\"bars\">",
    );
    for (class, (name, _)) in SIZES.iter().enumerate() {
        let (read, write) = (of(reads, class), of(writes, class));
        let width = |count: u64| 100.0 * count as f64 / most as f64;
        out += &format!(
            "<span>{name}</span><span class=\"bar\"><span class=\"write\" \
                style=\"width:{:.2}%\"></span><span class=\"read\" \
                style=\"width:{:.2}%\"></span></span><span class=\"value\">{}</span>",
            width(write),
            width(read),
            grouped(read + write)
        );
    }
    out + "</div>"
}

fn describe(access: &Access) -> String {
    let mut parts = vec![format!("{} requests, {}", grouped(access.ops), bytes(access.bytes as f64))];
    if access.placed > 0 {
        let share = |count: u64| percent(count as f64 / access.placed as f64);
        parts.push(format!(
            "{} consecutive, {} sequential, {} random",
            share(access.consecutive),
            share(access.sequential),
            share(access.random())
        ));
    }
    if let Some(misaligned) = access.misaligned {
        let all = if access.placed > 0 { access.placed } else { access.ops }.max(1);
        let block = access.alignment.map(|block| format!(" to {}", size(block))).unwrap_or_default();
        parts.push(format!("{} not aligned{block}", percent(misaligned as f64 / all as f64)));
    }
    parts.join("; ")
}
