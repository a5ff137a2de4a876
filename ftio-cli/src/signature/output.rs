//! A signature as text, and as a table of seconds.

use crate::output;
use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, counted, percent, si};
use io_signature::Signature;
use io_signature::found::Found;
use std::fmt::Write as _;
use std::path::Path;

/// For people.
pub fn table(found: &Found, style: Style) -> String {
    let mut out = String::new();
    let signature = &found.signature;
    let used = signature.samples.iter().filter(|sample| sample.used).count();
    let _ = writeln!(out, "{}", style.bold(&printable(&found.name)));
    let _ = writeln!(
        out,
        "  {} in {:.0} s, {} ({}), from {used} of {}",
        counted(signature.bursts.len() as u64, "burst"),
        signature.duration,
        bytes(signature.bytes),
        found.direction,
        counted(signature.samples.len() as u64, "run")
    );
    if signature.bursts.is_empty() {
        let _ = writeln!(out, "  no signature");
    } else {
        let quality = &signature.quality;
        let shown = format!("{:.2}", quality.mean);
        let _ = writeln!(
            out,
            "  quality {} of 1; leaving a run out changes at most {}; runs correlate with it by {:.2} on \
             average",
            style.confidence(quality.mean, &shown),
            percent(1.0 - quality.minimum),
            quality.agreement
        );
    }
    if let Some(period) = found.period {
        let _ = writeln!(out, "  period {period:.1} s, confidence {}", percent(found.confidence));
    }
    let _ = writeln!(out, "  others: {} all the time", si(signature.background.level, "B/s"));
    for other in &signature.background.periodic {
        let who = match other.candidates.as_slice() {
            [] => String::new(),
            all => format!("; perhaps {}", all.join(", ")),
        };
        let _ = writeln!(
            out,
            "  others: a job that writes {} every {:.0} s (confidence {}) in {}{}",
            si(other.height, "B/s"),
            other.period,
            percent(other.confidence),
            printable(&other.samples.join(", ")),
            printable(&who)
        );
    }
    if !signature.bursts.is_empty() {
        let head = format!(
            "  {:>3}{:>9}{:>9}{:>9}{:>12}{:>13}{:>8}",
            "", "start", "crest", "end", "bytes", "height", "votes"
        );
        let _ = writeln!(out, "{}", style.dim(&head));
        for (number, burst) in signature.bursts.iter().enumerate() {
            let votes = format!("{}/{}", burst.votes, burst.samples);
            let _ = writeln!(
                out,
                "  {:>3}{:>9.1}{:>9.1}{:>9.1}{:>12}{:>13}{votes:>8}",
                number + 1,
                burst.start,
                burst.crest,
                burst.end,
                bytes(burst.bytes),
                si(burst.height, "B/s")
            );
        }
    }
    for sample in signature.samples.iter().filter(|sample| !sample.used) {
        let reason = sample.reason.as_deref().unwrap_or("");
        let _ = writeln!(out, "  not used: {}: {}", printable(&sample.name), printable(reason));
    }
    if let Some(truth) = &found.truth {
        let _ = writeln!(
            out,
            "  compared with the trace: cross-correlation {:.3} (shifted by {} s), correlation {:.3}, volume \
             {}, {} of {} bursts, {} foreign",
            truth.cross_correlation,
            truth.shift,
            truth.correlation,
            percent(truth.volume),
            truth.found,
            truth.bursts,
            truth.foreign
        );
    }
    out
}

/// Seconds and bytes per second: a table that ftio reads.
pub fn csv(signature: &Signature, path: &Path) -> anyhow::Result<()> {
    let mut table = String::from("time,bandwidth\n");
    for (second, value) in signature.series.iter().enumerate() {
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{second},{value}");
    }
    output::write(path, table.as_bytes())
}
