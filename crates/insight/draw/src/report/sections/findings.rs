//! What was found, with advice.

use crate::canvas::escaped;
use io_advice::{Finding, Severity};

/// All findings.
pub fn findings(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return "<p>Nothing was found.</p>".into();
    }
    findings.iter().map(one).collect()
}

fn one(finding: &Finding) -> String {
    let severity = finding.severity.name();
    let files = if finding.files.is_empty() {
        String::new()
    } else {
        let names: Vec<String> =
            finding.files.iter().map(|name| format!("<code>{}</code>", escaped(name))).collect();
        format!("<p class=\"soft\">Files: {}</p>", names.join(", "))
    };
    let ranks = if finding.ranks.is_empty() {
        String::new()
    } else {
        let ranks: Vec<String> = finding.ranks.iter().map(u32::to_string).collect();
        format!("<p class=\"soft\">Ranks: {}</p>", ranks.join(", "))
    };
    format!(
        "<article class=\"finding {severity}\" data-id=\"{}\"><h3><span class=\"badge \
            {severity}\">{severity}</span> {}</h3><p>{}</p>{files}{ranks}<p><b>What to do:</b> {}</p><p \
            class=\"soft\">Why: {} <small>({})</small></p></article>",
        finding.id,
        escaped(&finding.title),
        escaped(&sentence(&finding.evidence)),
        escaped(&finding.advice),
        escaped(&sentence(finding.why)),
        escaped(finding.source)
    )
}

/// "2 high, 1 info".
pub fn tally(findings: &[Finding]) -> String {
    let count = |severity: Severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let each = [Severity::High, Severity::Medium, Severity::Low, Severity::Info];
    let told: Vec<String> = each
        .into_iter()
        .map(|severity| (count(severity), severity.name()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| format!("{count} {name}"))
        .collect();
    if told.is_empty() { "no findings".into() } else { told.join(", ") }
}

/// With a capital letter and a full stop.
pub fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().collect::<String>()).unwrap_or_default();
    let stop = if text.ends_with(['.', '!', '?']) { "" } else { "." };
    format!("{first}{}{stop}", letters.as_str())
}
