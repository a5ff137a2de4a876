//! When the I/O took place: bandwidth, phases, nonblocking operations.

use super::findings::sentence;
use super::job::time;
use super::{NOTHING, gap, is_empty, number, pairs, perhaps, sortable};
use crate::canvas::escaped;
use crate::report::{Phase, Subject};
use crate::units::{Units, bytes, percent, seconds, si};
use inspect::summary::AsyncSummary;
use sources::Marked;

/// Marks that are named; the chart has more.
const MOST_MARKS: usize = 20;

/// More phases than this are not listed.
const MAX_PHASES: usize = 500;

pub fn bandwidth(study: &Subject<'_>) -> String {
    let analysis = match study.analysis {
        Ok(analysis) if !analysis.signal.samples.is_empty() => analysis,
        Ok(analysis) => return gap(&format!("There is nothing in mode {}.", analysis.detection.mode)),
        Err(reason) => {
            return gap(&format!(
                "{reason}. With Darshan 3.4 or newer, logs have a HEATMAP by default; DXT_ENABLE_IO_TRACE=1 \
                    records every request. A trace of tmio has every request, too."
            ));
        }
    };
    let found = &analysis.detection;
    let mut rows = vec![
        ("Analysed", escaped(&format!("{}, {}", found.mode, bytes(found.total_bytes as f64)))),
        ("Signal", escaped(&format!("{}: {}", found.signal, found.reasons.join("; ")))),
    ];
    if let Some(period) = found.period {
        let text = format!("{}, confidence {}", seconds(period), percent(found.confidence));
        rows.insert(0, ("Period", escaped(&text)));
    }
    let traits = &found.characterization;
    if let (Some(share), Some(bandwidth)) = (traits.r_io, traits.b_io) {
        rows.push(("I/O phases", format!("{} of the time at {}", percent(share), si(bandwidth, "B/s"))));
    }
    if let Some(next) = found.next_phase {
        let when = next.start_timestamp.map(|moment| format!(", {}", time(moment))).unwrap_or_default();
        let guess = if next.provisional { " (a guess: there is no period yet)" } else { "" };
        let volume = bytes(next.bytes as f64);
        let text = format!("{} to {}, {volume}", seconds(next.start), seconds(next.end));
        rows.push(("Next phase", format!("{text}{when}{guess}")));
    }
    if !analysis.marks.is_empty() {
        let told = |mark: &Marked| {
            let when = seconds(sources::time::seconds(mark.time));
            format!("{when} {}", escaped(&mark.text))
        };
        let marks: Vec<String> = analysis.marks.iter().take(MOST_MARKS).map(told).collect();
        rows.push(("Marks", marks.join(" · ")));
    }
    let notes: String = analysis.notes.iter().map(|note| gap(note)).collect();
    format!("<div data-chart=\"bandwidth\"></div><div data-chart=\"spectrum\"></div>{}{notes}", pairs(&rows))
}

pub fn phases(study: &Subject<'_>) -> String {
    let Ok(analysis) = study.analysis else {
        return gap("Phases need to know when the I/O took place; see above.");
    };
    let phases = study.phases();
    if phases.is_empty() {
        let none = "No phases stand out: the I/O goes on all the time, or there is none.";
        return gap(if is_empty(study) { NOTHING } else { none });
    }
    let units = Units::of(analysis);
    // A moment and a spread are left out where they are known of no phase.
    let clocks = phases.iter().any(|phase| phase.listed.start_time.is_some());
    let spreads = phases.iter().any(|phase| phase.told.spread.is_some());
    let row = |(i, phase): (usize, &Phase<'_>)| {
        let clock = phase.listed.start_time.map(|start| time(start.timestamp())).unwrap_or_default();
        [
            "<tr>".to_owned(),
            number(i as f64 + 1.0, &(i + 1).to_string()),
            number(phase.listed.start, &seconds(phase.listed.start)),
            number(phase.listed.end, &seconds(phase.listed.end)),
            if clocks { format!("<td>{clock}</td>") } else { String::new() },
            number(phase.listed.bytes as f64, &units.volume(phase.listed.bytes as f64)),
            perhaps(phase.listed.bandwidth(), |bandwidth| units.rate(bandwidth)),
            perhaps(phase.told.ranks.map(f64::from), |ranks| ranks.to_string()),
            perhaps(phase.told.lost_time, seconds),
            if spreads { perhaps(phase.told.spread, seconds) } else { String::new() },
            "</tr>".to_owned(),
        ]
        .concat()
    };
    let rows: String = phases.iter().enumerate().take(MAX_PHASES).map(row).collect();
    let mut headings = vec!["#Phase", "#Start", "#End"];
    headings.extend(clocks.then_some("Time of day"));
    headings.extend(["#Bytes", "#Bandwidth", "#Ranks", "#Lost time"]);
    headings.extend(spreads.then_some("#Ranks begin within"));
    let mut notes = phase_notes(study);
    let more = phases.len().saturating_sub(MAX_PHASES);
    if more > 0 {
        notes += &gap(&format!("and {more} more: ftio --csv=phases lists all"));
    }
    sortable(&headings, &rows) + &notes
}

/// What the columns mean, and why some are empty.
fn phase_notes(study: &Subject<'_>) -> String {
    let phases = study.phases();
    let mut out = String::from(
        "<p>Bandwidth is the bytes of a phase over the time from its start to its end: single samples above, \
            which are means over equal bins, may be lower or higher.",
    );
    if phases.iter().any(|phase| phase.told.lost_time.is_some()) {
        out += " Lost time is the time in which ranks could do nothing else, added up over all ranks: in \
            blocking calls, and in calls that issue, test and wait for nonblocking ones.";
    }
    out += "</p>";
    if phases.iter().all(|phase| phase.told.ranks.is_none()) {
        out += &gap("This input does not tell which rank made which request.");
    } else if phases.iter().all(|phase| phase.told.lost_time.is_none()) {
        out += &gap(
            "How much time the ranks lost is not known: it takes a trace of tmio or a Darshan log with DXT.",
        );
    }
    out
}

pub fn nonblocking(study: &Subject<'_>) -> String {
    let summary = study.summary;
    let classes = [("Writes", &summary.write_async), ("Reads", &summary.read_async)];
    if classes.iter().all(|(_, class)| class.class.ops == 0) {
        return gap(&no_nonblocking(study));
    }
    let rate = |value: Option<f64>| value.map_or("unknown".into(), |value| si(value, "B/s"));
    let row = |(name, class): &(&str, &AsyncSummary)| {
        format!(
            "<tr><td>{name}</td>{}{}<td class=\"n\">{}</td><td class=\"n\">{}</td><td class=\"n\">{}</td><td \
             class=\"n\">{}</td><td class=\"n\">{}</td></tr>",
            number(class.class.ops as f64, &class.class.ops.to_string()),
            number(class.class.bytes as f64, &bytes(class.class.bytes as f64)),
            rate(class.required_bandwidth),
            rate(class.actual_bandwidth),
            class.lost_time.map_or("unknown".into(), seconds),
            class.hidden.map_or("unknown".into(), percent),
            rate(class.hiding_bandwidth)
        )
    };
    let rows: String = classes.iter().filter(|(_, class)| class.class.ops > 0).map(row).collect();
    let headings = [
        "",
        "#Operations",
        "#Bytes",
        "#Required per rank",
        "#Actual per rank",
        "#Lost",
        "#Hidden",
        "#Would hide all, together",
    ];
    let drawn = study.analysis.is_ok_and(|analysis| {
        let window = [analysis.detection.t_start, analysis.detection.t_end];
        analysis.lanes.as_ref().is_some_and(|lanes| lanes.nonblocking(window, 1).is_some())
    });
    let chart = if drawn { "<div data-chart=\"overlap\"></div>" } else { "" };
    format!("{chart}{}", sortable(&headings, &rows))
}

fn no_nonblocking(study: &Subject<'_>) -> String {
    let hint = study.findings.iter().find(|finding| finding.id == "could-be-nonblocking");
    match (hint, study.usage.mpiio) {
        (Some(finding), _) => format!("There is no nonblocking I/O. {}", sentence(&finding.evidence)),
        (None, None) => "There is no nonblocking MPI-IO, or this input does not tell.".into(),
        (None, Some(_)) => "There is no nonblocking I/O.".into(),
    }
}
