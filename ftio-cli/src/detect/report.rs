//! A result as a compact block of text.

use super::sparkline::{marks, sparkline};
use crate::terminal::style::Style;
use crate::terminal::text::printable;
use crate::terminal::units::{bytes, counted, percent, ranks, seconds, si};
use ftio_core::detect::Analysis;
use ftio_core::detect::detection::Detection;
use std::fmt::Write;

/// How wide the sparkline is.
const WIDTH: usize = 64;

/// The result of one trace.
pub fn detection(analysis: &Analysis, style: Style) -> String {
    let found = &analysis.detection;
    let mut block = Block { out: format!("{}\n", style.bold(&printable(&found.source))), style };
    block.line("Analysed", &analysed(found));
    if found.n_samples > 0 {
        block.line("Window", &window(found));
        let highest = analysis.signal.samples.iter().copied().fold(0.0, f64::max);
        let line = format!("{}  max {}", sparkline(&analysis.signal.samples, WIDTH), si(highest, "B/s"));
        block.line("Bandwidth", &line);
        let phases: Vec<[f64; 2]> = analysis.phases.iter().map(|phase| [phase.start, phase.end]).collect();
        if !phases.is_empty() {
            let window = [analysis.signal.start_seconds(), analysis.signal.end_seconds()];
            let columns = WIDTH.min(found.n_samples);
            // With one in every other column, marks would be a solid line.
            let few = 2 * phases.len() <= columns;
            let below = if few { marks(&phases, window, columns) } else { " ".repeat(columns) };
            let line = format!("{below}  {}", counted(phases.len() as u64, "phase"));
            block.line("", &style.dim(&line));
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
    periods(found, &mut block);
    block.line("Signal", &format!("{}: {}", found.signal, found.reasons.join("; ")));
    candidates(found, &mut block);
    if let Some(text) = behaviour(found) {
        block.line("I/O phases", &text);
    }
    if let Some(next) = found.next_phase.filter(|next| !next.provisional) {
        let text = format!("{} to {}, {}", seconds(next.start), seconds(next.end), bytes(next.bytes as f64));
        block.line("Next phase", &text);
    }
    for wave in &found.top_frequencies {
        let text = format!(
            "{}  {}  amplitude {}, {} of the power",
            si(wave.frequency, "Hz"),
            seconds(1.0 / wave.frequency),
            si(wave.amplitude, "B/s"),
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
}

impl Block {
    fn line(&mut self, label: &str, text: &str) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.out, "  {} {text}", self.style.dim(&format!("{label:<11}")));
    }
}

fn analysed(found: &Detection) -> String {
    format!(
        "{}: {} in {} of {}{}",
        found.mode,
        bytes(found.total_bytes as f64),
        counted(found.requests, "request"),
        ranks(found.ranks),
        if found.complete { "" } else { "; the trace is incomplete" },
    )
}

fn window(found: &Detection) -> String {
    format!(
        "{} to {}, {} at {}",
        seconds(found.t_start),
        seconds(found.t_end),
        counted(found.n_samples as u64, "sample"),
        si(found.sampling_frequency, "Hz")
    )
}

fn confidence(found: &Detection, style: Style) -> String {
    let mut text = style.confidence(found.confidence, &percent(found.confidence));
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
fn periods(found: &Detection, block: &mut Block) {
    if found.periods.len() < 2 {
        return;
    }
    for one in &found.periods {
        let text = format!(
            "{}  {} from {} to {}, {}",
            seconds(one.period),
            counted(one.phases as u64, "phase"),
            seconds(one.first_start),
            seconds(one.last_start),
            bytes(one.bytes)
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

fn behaviour(found: &Detection) -> Option<String> {
    let c = &found.characterization;
    let mut text = format!("{} of the time at {}", percent(c.r_io?), si(c.b_io?, "B/s"));
    if let Some(volume) = c.bytes_per_period {
        let _ = write!(text, ", {} per period", bytes(volume));
    }
    if let Some(score) = c.periodicity_score {
        let _ = write!(text, "; periodicity score {}", percent(score));
    }
    Some(text)
}
