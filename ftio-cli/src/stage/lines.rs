//! Records for people.

use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, percent, seconds};
use io_stage::live::Record;
use io_stage::plan::{Direction, Reason, Report};
use std::fmt::Write;

/// The line of a record.
pub fn line(record: &Record, style: Style) -> String {
    if let Some(report) = &record.report {
        return summary(report, record.capacity);
    }
    let path = || printable(record.path.as_deref().unwrap_or("the file")).into_owned();
    let size = record.bytes.map_or(String::new(), |size| format!(" ({})", bytes(size as f64)));
    let inwards = record.direction == Some(Direction::In);
    let phase = match (record.phase, inwards) {
        (Some(phase), true) => format!(", for phase {phase}"),
        (Some(phase), false) if phase > 0 => format!(", of phase {phase}"),
        _ => String::new(),
    };
    let message = |other| printable(record.message.as_deref().unwrap_or(other)).into_owned();
    let why = record.reason.map_or("", reason);
    let until = record.quiet_until.map_or(String::new(), |until| format!(" until {}", seconds(until)));
    let text = match record.event {
        "copy" if inwards => format!("bring in {}{size}{phase}: {why}{until}", path()),
        "copy" => format!("copy {}{size}{phase}: {why}{until}", path()),
        "suspend" => style.warn(&format!("suspend {}: {why}", path())),
        "resume" => format!("go on with {}: {why}{until}", path()),
        "cancel" => style.warn(&format!("give up {}: it has changed or is gone", path())),
        "copied" => {
            let took = record.seconds.map_or(String::new(), |took| format!(" in {}", seconds(took)));
            style.dim(&format!("verified {}{took}", path()))
        }
        "confirmed" => style.dim(&format!("{} is as it was copied before", path())),
        "changed" => style.warn(&format!("{} changed under the copy: later again", path())),
        "vanished" => style.warn(&format!("{} is gone", path())),
        "exists" => format!("{} is there already, and stays", path()),
        "full" => style.warn(&format!("no room for {}: later again", path())),
        "cancelled" => format!("gave up {}", path()),
        "failed" => style.warn(&format!("cannot copy: {}", message("unknown"))),
        "held" => format!("{} is open: later", path()),
        "evict" => format!("remove {}{size}: {why}", path()),
        "evicted" => style.dim(&format!("removed {}", path())),
        "kept" => style.warn(&format!("kept {}: {}", path(), message(""))),
        "job-ended" => style.bold("the job has ended"),
        other => other.to_owned(),
    };
    format!("{:>9}  {text}", seconds(record.t))
}

fn reason(reason: Reason) -> &'static str {
    match reason {
        Reason::Quiet => "quiet",
        Reason::JobEnded => "the job has ended",
        Reason::BeforeFirstPhase => "before the first phase",
        Reason::AboveMark => "the buffer is above its mark",
        Reason::Phase => "a phase goes on",
        Reason::NextPhaseNear => "the next phase is near",
        Reason::AtOnce => "at once",
        Reason::NotEnded => "the job has not ended",
        Reason::NoPeriod => "no period is known",
        Reason::NoPhase => "no I/O was seen",
        Reason::Needed => "the next phase needs it",
        Reason::Interrupted => "interrupted",
    }
}

fn summary(report: &Report, capacity: Option<u64>) -> String {
    let size = |value: u64| bytes(value as f64);
    let mut text = format!("{} files out, {}", report.files_out, size(report.bytes_out));
    if report.files_in > 0 {
        let _ = write!(text, "; {} files in, {}", report.files_in, size(report.bytes_in));
    }
    if report.files_evicted > 0 {
        let _ = write!(text, "; {} removed, {}", report.files_evicted, size(report.bytes_evicted));
    }
    if let Some(share) = report.share_in_quiet {
        let (copying, overlap) = (seconds(report.seconds_copying), seconds(report.seconds_overlap));
        let quiet = percent(share);
        let _ = write!(text, "\ncopied for {copying}, {quiet} of it outside I/O phases ({overlap} inside)");
    }
    if report.seconds_after_end > 0.0 {
        let _ = write!(text, ", {} after the end of the job", seconds(report.seconds_after_end));
    }
    let most = capacity.map_or(String::new(), |capacity| format!(" of {}", size(capacity)));
    let _ = write!(text, "\nat most {}{most} in the buffer", size(report.peak_occupancy));
    let _ = write!(text, "; suspended {} times", report.suspended);
    for (count, what) in [(report.discarded, "thrown away"), (report.failed, "failed")] {
        if count > 0 {
            let _ = write!(text, "; {count} copies {what}");
        }
    }
    if report.files_older > 0 {
        let _ = write!(text, "\n{} files are older than the job, and were not looked at", report.files_older);
    }
    if report.files_left > 0 {
        let _ =
            write!(text, "\n{} files are left in the buffer, {}", report.files_left, size(report.bytes_left));
    }
    text
}
