//! A result as a compact block of text.

use crate::terminal::clock;
use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{Units, bytes, counted, percent, ranks, seconds, si};
use crate::terminal::width::labelled;
use draw::sparkline::{marks, sparkline};
use ftio_core::detect::Analysis;
use ftio_core::detect::detection::Detection;
use std::fmt::Write;

/// A period of less confidence is called a perhaps.
const PERHAPS: f64 = 0.75;

/// How wide the sparkline is where the terminal does not say.
const WIDTH: usize = 64;

/// Columns next to the sparkline: the label, and the highest sample with its length.
const BESIDE: usize = LABEL + 4 + 30;

/// In fewer columns, what is next to the sparkline goes below it.
const NARROW: usize = 76;

/// How wide labels are.
const LABEL: usize = 11;

/// The result of one trace, for a terminal of this width, if it is known.
pub fn detection(analysis: &Analysis, style: Style, columns: Option<usize>) -> String {
    let found = &analysis.detection;
    let units = Units::of(analysis);
    let out = format!("{}\n", style.bold(&printable(&found.source)));
    let mut block = Block { out, style, columns };
    let is_narrow = columns.is_some_and(|columns| columns < NARROW);
    let beside = if is_narrow { LABEL + 4 } else { BESIDE };
    let width = columns.map_or(WIDTH, |columns| columns.saturating_sub(beside).clamp(16, 400));
    block.line("Analysed", &analysed(found, units));
    if found.n_samples > 0 {
        block.line("Window", &window(found));
        let highest = analysis.signal.samples.iter().copied().fold(0.0, f64::max);
        // A short phase may be faster than any sample: it says what it is the mean of.
        let step = seconds(analysis.signal.step());
        let highest = match units.is_quantity {
            true => format!("max {}", units.rate(highest)),
            false => format!("max {} in {step}", units.rate(highest)),
        };
        let line = sparkline(&analysis.signal.samples, width);
        let line = if is_narrow { line } else { format!("{line}  {highest}") };
        block.plain(if units.is_quantity { "Value" } else { "Bandwidth" }, &line);
        // Two periods in turn have their phases as well.
        let in_turn = found.period.is_none() && found.periods.len() > 1;
        let phases: Vec<[f64; 2]> = match in_turn {
            true => found.phases.iter().map(|phase| [phase.start, phase.end]).collect(),
            false => analysis.phases.iter().map(|phase| [phase.start, phase.end]).collect(),
        };
        let count = counted(phases.len() as u64, "phase");
        if !phases.is_empty() {
            let window = [analysis.signal.start_seconds(), analysis.signal.end_seconds()];
            let columns = width.min(found.n_samples);
            // With one in every other column, marks would be a solid line.
            let few = 2 * phases.len() <= columns;
            let below = if few {
                marks(&phases, window, &analysis.signal.samples, width)
            } else {
                " ".repeat(columns)
            };
            let line = if is_narrow { below } else { format!("{below}  {count}") };
            if !line.trim().is_empty() {
                block.plain("", &style.dim(&line));
            }
        }
        if is_narrow {
            let count = if phases.is_empty() { String::new() } else { format!("; {count}") };
            block.line("", &format!("{highest}{}", style.dim(&count)));
        }
    }
    match found.period {
        Some(period) => {
            let hertz = si(found.frequency.unwrap_or_default(), "Hz");
            block.line("Period", &format!("{}  {}", style.bold(&seconds(period)), style.dim(&hertz)));
            block.line("Confidence", &confidence(found, style));
        }
        None if found.periods.len() > 1 => block.line("Period", &style.warn("no single one")),
        None => block.line("Period", &style.warn("none found")),
    }
    periods(found, units, &mut block);
    block.line("Signal", &format!("{}: {}", found.signal, found.reasons.join("; ")));
    candidates(found, &mut block);
    if let Some(text) = behaviour(found, units) {
        block.line("I/O phases", &text);
    }
    if let Some(next) = found.next_phase.filter(|next| !next.provisional) {
        let (start, end) = (seconds(next.start), seconds(next.end));
        let mut text = format!("{start} to {end}");
        // What is sampled has no bytes.
        if !units.is_quantity {
            let _ = write!(text, ", {}", bytes(next.bytes as f64));
        }
        if let Some(time) = next.start_time {
            let _ = write!(text, "; begins {}", clock::local(time));
        }
        block.line("Next phase", &text);
    }
    for wave in &found.top_frequencies {
        let text = format!(
            "{}  {}  amplitude {}, {} of the power",
            si(wave.frequency, "Hz"),
            seconds(1.0 / wave.frequency),
            units.rate(wave.amplitude),
            percent(wave.power)
        );
        block.line("Wave", &text);
    }
    if let Some(rebuilt) = &found.reconstruction {
        let waves = counted(rebuilt.waves.len() as u64, "wave");
        block.line("Rebuilt", &format!("{waves} hold {} of the power", percent(rebuilt.power)));
    }
    for segment in found.over_time.iter().flat_map(|over_time| &over_time.segments) {
        let period = match segment.period {
            Some(period) => format!("period {}, confidence {}", seconds(period), percent(segment.confidence)),
            None => "no period".into(),
        };
        block.line("Over time", &format!("{} to {}: {period}", seconds(segment.start), seconds(segment.end)));
    }
    for note in &analysis.notes {
        block.line("Note", &style.warn(&printable(note)));
    }
    block.out
}

/// The result of one trace in one line.
pub fn line(analysis: &Analysis, style: Style) -> String {
    let found = &analysis.detection;
    let name = printable(&found.source);
    match found.period {
        Some(period) => {
            let confidence = found.refined_confidence.unwrap_or(found.confidence);
            let sure = style.confidence(confidence, &percent(confidence));
            format!("{name}: {} ({sure})\n", style.bold(&seconds(period)))
        }
        None if found.periods.len() > 1 => {
            let periods: Vec<String> = found.periods.iter().map(|one| seconds(one.period)).collect();
            let confidence = found.periods.iter().map(|one| one.confidence).fold(1.0, f64::min);
            let sure = style.confidence(confidence, &percent(confidence));
            format!("{name}: {} ({sure})\n", style.bold(&periods.join(", then ")))
        }
        None => format!("{name}: {}\n", style.warn("no period")),
    }
}

/// The results of the ranks or files of one trace, one line each.
pub fn groups(name: &str, analyses: &[Analysis], style: Style) -> String {
    let mut out = format!("{}\n", style.bold(&printable(name)));
    for analysis in analyses {
        let found = &analysis.detection;
        let label = match (found.rank, &found.file) {
            (Some(rank), _) => format!("Rank {rank}"),
            (None, Some(file)) => printable(file).into_owned(),
            (None, None) => String::new(),
        };
        let verdict = match found.period {
            Some(period) => {
                let confidence = style.confidence(found.confidence, &percent(found.confidence));
                format!("period {}, confidence {confidence}", seconds(period))
            }
            None => format!("no period ({})", found.signal),
        };
        let volume = bytes(found.total_bytes as f64);
        let _ = writeln!(out, "  {} {verdict}; {} {volume}", style.dim(&format!("{label:<11}")), found.mode);
    }
    // Every result has the notes of the trace.
    let notes = analyses.first().map(|first| &first.notes);
    for note in notes.into_iter().flatten() {
        let _ = writeln!(out, "  {} {}", style.dim(&format!("{:<11}", "Note")), style.warn(&printable(note)));
    }
    out
}

struct Block {
    out: String,
    style: Style,
    columns: Option<usize>,
}

impl Block {
    fn line(&mut self, label: &str, text: &str) {
        self.out += &labelled(&self.label(label), text, self.columns);
    }

    /// A line that is never broken.
    fn plain(&mut self, label: &str, text: &str) {
        self.out += &labelled(&self.label(label), text, None);
    }

    fn label(&self, label: &str) -> String {
        format!("  {}", self.style.dim(&format!("{label:<LABEL$}")))
    }
}

fn analysed(found: &Detection, units: Units) -> String {
    if units.is_quantity {
        return counted(found.requests.unwrap_or(0), "sample");
    }
    let requests = found.requests.map(|requests| format!(" in {}", counted(requests, "request")));
    format!(
        "{}: {}{}{}{}",
        found.mode,
        bytes(found.total_bytes as f64),
        requests.unwrap_or_default(),
        // Of the job: not all of them need have made requests, or have been recorded.
        found.ranks.map_or(String::new(), |known| format!("; a job of {}", ranks(Some(known)))),
        if found.complete { "" } else { "; the trace is incomplete" },
    )
}

fn window(found: &Detection) -> String {
    format!(
        "{} to {}, {} at {}",
        seconds(found.t_start),
        seconds(found.t_end),
        counted(found.n_samples as u64, "sample"),
        si(found.sampling_frequency.unwrap_or(0.0), "Hz")
    )
}

fn confidence(found: &Detection, style: Style) -> String {
    let mut text = style.confidence(found.confidence, &percent(found.confidence));
    if found.evidence.is_some() && found.confidence < PERHAPS {
        text.push_str(": perhaps");
    }
    if let Some(refined) = found.refined_confidence {
        let refined = style.confidence(refined, &percent(refined));
        text = format!("{text}, refined {refined}");
    }
    if let Some(acf) = found.autocorrelation {
        let _ = write!(text, " (autocorrelation: {} at {})", seconds(acf.period), percent(acf.confidence));
    }
    text
}

/// All periods, if there are several.
fn periods(found: &Detection, units: Units, block: &mut Block) {
    if found.periods.len() < 2 {
        return;
    }
    for one in &found.periods {
        let phases = counted(one.phases as u64, "phase");
        let text = format!(
            "{}  {} from {} to {}, {}",
            seconds(one.period),
            one.mode.map_or(phases.clone(), |mode| format!("{phases} of {mode}s")),
            seconds(one.first_start),
            seconds(one.last_start),
            units.volume(one.bytes)
        );
        block.line("", &text);
    }
}

fn candidates(found: &Detection, block: &mut Block) {
    // With a period the spectrum is only a second opinion, and the reasons include it.
    if found.periodic && (found.evidence.is_some() || found.candidates.len() < 2) {
        return;
    }
    for candidate in found.candidates.iter().take(5) {
        let text = format!(
            "{}  {}, {} of the power, z = {:.1}",
            si(candidate.frequency, "Hz"),
            seconds(1.0 / candidate.frequency),
            percent(candidate.power),
            candidate.z
        );
        block.line("Candidate", &text);
    }
}

fn behaviour(found: &Detection, units: Units) -> Option<String> {
    let c = &found.characterization;
    let mut text = format!("{} of the time at {}", percent(c.r_io?), units.rate(c.b_io?));
    if let Some(volume) = c.bytes_per_period {
        let _ = write!(text, ", {} per period", units.volume(volume));
    }
    if let Some(score) = c.periodicity_score {
        let _ = write!(text, "; periodicity score {}", percent(score));
    }
    Some(text)
}
