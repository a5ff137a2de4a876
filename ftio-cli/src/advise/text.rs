//! Findings for people.

use crate::study::Study;
use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::width::labelled;
use draw::report::tally;
use io_advice::{Finding, Severity};

/// The findings of one job.
pub fn block(study: &Study, style: Style, columns: Option<usize>) -> String {
    let mut out = format!("{}\n", style.bold(&printable(&study.name)));
    for finding in &study.findings {
        out += &one(finding, style, columns);
    }
    if study.findings.is_empty() {
        out += "  nothing found\n";
    } else {
        out += &format!("  {}\n", tally(&study.findings));
    }
    for gap in &study.usage.gaps {
        out += &labelled(&format!("  {}", style.dim("Not known")), gap, columns);
    }
    if let Err(reason) = &study.analysis {
        out += &labelled(&format!("  {}", style.dim("No period")), &printable(reason), columns);
    }
    out
}

fn one(finding: &Finding, style: Style, columns: Option<usize>) -> String {
    let severity = format!("{:<7}", finding.severity.name());
    let severity = match finding.severity {
        Severity::High => style.confidence(0.0, &severity),
        Severity::Medium => style.warn(&severity),
        Severity::Low => style.confidence(0.7, &severity),
        Severity::Info => style.dim(&severity),
    };
    let title = format!("{}  {}", style.bold(&printable(&finding.title)), style.dim(finding.id));
    let mut out = labelled(&format!("  {severity}"), &title, columns);
    let detail = |text: &str| labelled("         ", text, columns);
    out += &detail(&format!("{}.", capital(&printable(&finding.evidence))));
    if finding.severity > Severity::Info {
        out += &detail(&format!("Why: {}.", finding.why));
    }
    out += &detail(&format!("Do: {}", finding.advice));
    out
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}
