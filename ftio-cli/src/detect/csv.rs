//! Results, signals, spectra and segments as comma-separated values (RFC 4180): one header, then rows. What is not known is empty.

use crate::cli::CsvChoice;
use ftio_core::detect::Analysis;
use std::fmt::Display;
use std::io::{self, Write};

/// The columns that say what a row belongs to.
const WHOSE: &str = "source,rank,file";

const RESULTS: &str = "mode,ranks,total_bytes,t_start,t_end,sampling_frequency,n_samples,abstraction_error,periodic,period,\
    frequency,confidence,refined_confidence,signal,sigma_vol,sigma_time,periodicity_score,r_io,b_io,bytes_per_period,\
    next_start,next_end,next_bytes,requests,complete";

/// The header line.
pub fn header(out: &mut impl Write, what: CsvChoice) -> io::Result<()> {
    let columns = match what {
        CsvChoice::Results => RESULTS,
        CsvChoice::Signal => "time,bandwidth,reconstruction",
        CsvChoice::Spectrum => "k,frequency,power",
        CsvChoice::Segments => "start,end,period,confidence",
    };
    writeln!(out, "{WHOSE},{columns}")
}

/// The rows of one result.
pub fn rows(out: &mut impl Write, analysis: &Analysis, what: CsvChoice) -> io::Result<()> {
    let found = &analysis.detection;
    let whose = format!(
        "{},{},{}",
        quoted(&found.source),
        optional(found.rank),
        found.file.as_deref().map(quoted).unwrap_or_default()
    );
    match what {
        CsvChoice::Results => writeln!(out, "{whose},{}", result(analysis)),
        CsvChoice::Signal => signal(out, analysis, &whose),
        CsvChoice::Spectrum => {
            let duration = analysis.signal.duration();
            for (power, k) in analysis.contributions.iter().zip(1u32..) {
                writeln!(out, "{whose},{k},{},{power}", f64::from(k) / duration)?;
            }
            Ok(())
        }
        CsvChoice::Segments => {
            for segment in found.over_time.iter().flat_map(|over_time| &over_time.segments) {
                let period = optional(segment.period);
                writeln!(out, "{whose},{},{},{period},{}", segment.start, segment.end, segment.confidence)?;
            }
            Ok(())
        }
    }
}

fn result(analysis: &Analysis) -> String {
    let found = &analysis.detection;
    let c = &found.characterization;
    let next = found.next_phase;
    [
        found.mode.to_string(),
        found.ranks.to_string(),
        found.total_bytes.to_string(),
        found.t_start.to_string(),
        found.t_end.to_string(),
        found.sampling_frequency.to_string(),
        found.n_samples.to_string(),
        found.abstraction_error.to_string(),
        found.periodic.to_string(),
        optional(found.period),
        optional(found.frequency),
        found.confidence.to_string(),
        optional(found.refined_confidence),
        found.signal.to_string(),
        optional(c.sigma_vol),
        optional(c.sigma_time),
        optional(c.periodicity_score),
        optional(c.r_io),
        optional(c.b_io),
        optional(c.bytes_per_period),
        optional(next.map(|next| next.start)),
        optional(next.map(|next| next.end)),
        optional(next.map(|next| next.bytes)),
        found.requests.to_string(),
        found.complete.to_string(),
    ]
    .join(",")
}

fn signal(out: &mut impl Write, analysis: &Analysis, whose: &str) -> io::Result<()> {
    let signal = &analysis.signal;
    let rebuilt = analysis.detection.reconstruction.as_ref();
    for (i, bandwidth) in signal.samples.iter().enumerate() {
        let time = signal.start_seconds() + i as f64 * signal.step();
        let rebuilt = optional(rebuilt.and_then(|rebuilt| rebuilt.samples.get(i)));
        writeln!(out, "{whose},{time},{bandwidth},{rebuilt}")?;
    }
    Ok(())
}

fn optional(value: Option<impl Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text field, in quotes where it has to be.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_that_need_quotes_have_them() {
        assert_eq!(quoted("plain.msgpack"), "plain.msgpack");
        assert_eq!(quoted("a,b"), "\"a,b\"");
        assert_eq!(quoted("say \"x\"\n"), "\"say \"\"x\"\"\n\"");
    }
}
