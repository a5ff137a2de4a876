//! A page that compares several jobs.

use super::figures::{FIGURES, Figures};
use super::page::{drawn, whole};
use super::sections::findings::sentence;
use crate::Result;
use crate::canvas::escaped;
use crate::report::Subject;
use io_advice::Finding;
use std::collections::BTreeMap;

/// "3 runs of app", or "3 runs" if they are not of one program.
fn heading(studies: &[Subject<'_>]) -> String {
    let runs = format!("{} runs", studies.len());
    let first = studies[0].title();
    if studies.iter().all(|study| study.title() == first) { format!("{runs} of {first}") } else { runs }
}

/// The page.
pub fn page(studies: &[Subject<'_>]) -> Result<String> {
    let pictures: Vec<_> = studies.iter().map(drawn).collect();
    let mut charts = String::new();
    for (number, (study, picture)) in studies.iter().zip(&pictures).enumerate() {
        charts += &format!("<h3>{}</h3>", escaped(study.name));
        charts += &match (study.analysis, picture) {
            (_, Some(_)) => format!("<div data-chart=\"bandwidth\" data-picture=\"{number}\"></div>"),
            (Err(reason), _) => format!("<p class=\"gap\">{}</p>", escaped(reason)),
            _ => "<p class=\"gap\">There is nothing to draw.</p>".into(),
        };
    }
    let body = format!(
        "<header><h1>{}</h1><nav><a href=\"#numbers\">Numbers</a><a \
            href=\"#findings\">Findings</a><a href=\"#time\">Bandwidth over time</a></nav></header>\n<main \
            class=\"stack\"><section id=\"numbers\"><h2>Numbers</h2>{}</section><section \
            id=\"findings\"><h2>Findings</h2>{}</section><section id=\"time\"><h2>Bandwidth over \
            time</h2>{charts}</section></main>",
        escaped(&heading(studies)),
        numbers(studies),
        findings(studies)
    );
    whole(&format!("{} runs", studies.len()), &body, &pictures)
}

fn numbers(studies: &[Subject<'_>]) -> String {
    let all: Vec<Figures> = studies.iter().map(Figures::of).collect();
    let heads: String =
        studies.iter().map(|study| format!("<th class=\"n\">{}</th>", escaped(study.name))).collect();
    let mut rows = String::new();
    for figure in FIGURES {
        let values: Vec<Option<f64>> = all.iter().map(|figures| (figure.value)(figures)).collect();
        if values.iter().all(Option::is_none) {
            continue;
        }
        let cell = |value: &Option<f64>| {
            let text = value.map_or("–".into(), |value| (figure.text)(value));
            format!("<td class=\"n\">{}</td>", escaped(&text))
        };
        rows += &format!("<tr><th>{}</th>{}</tr>", figure.title, values.iter().map(cell).collect::<String>());
    }
    format!(
        "<div class=\"scroll\"><table \
            class=\"wide\"><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
}

/// Which finding which job has.
fn findings(studies: &[Subject<'_>]) -> String {
    let mut ids: BTreeMap<(std::cmp::Reverse<io_advice::Severity>, &str), &Finding> = BTreeMap::new();
    let mut worst: BTreeMap<&str, &Finding> = BTreeMap::new();
    for finding in studies.iter().flat_map(|study| study.findings) {
        let known = worst.entry(finding.id).or_insert(finding);
        if finding.severity > known.severity {
            *known = finding;
        }
    }
    for (id, finding) in worst {
        ids.insert((std::cmp::Reverse(finding.severity), id), finding);
    }
    if ids.is_empty() {
        return "<p>Nothing was found.</p>".into();
    }
    let heads: String = studies.iter().map(|study| format!("<th>{}</th>", escaped(study.name))).collect();
    let mut rows = String::new();
    for ((_, id), finding) in ids {
        let cell = |study: &Subject<'_>| {
            let found = study.findings.iter().find(|finding| finding.id == id);
            found.map_or("<td>–</td>".into(), |finding| {
                let severity = finding.severity.name();
                format!(
                    "<td><span class=\"badge {severity}\">{severity}</span><br>{}</td>",
                    escaped(&sentence(&finding.title))
                )
            })
        };
        let cells: String = studies.iter().map(cell).collect();
        rows += &format!("<tr><th title=\"{}\">{id}</th>{cells}</tr>", escaped(finding.why));
    }
    format!(
        "<div class=\"scroll\"><table \
            class=\"wide\"><thead><tr><th></th>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
}
