//! Results, signals, spectra, segments and phases as comma-separated values (RFC 4180): one header, then
//! rows. What is not known is empty.

use super::args::CsvChoice;
use super::output::{Output, Results};
use crate::exit::Exit;
use ::csv::Writer;
use ftio_core::detect::Analysis;
use std::fmt::Display;
use std::io::{self, Stdout, Write};

/// The columns that say what a row belongs to.
const WHOSE: [&str; 3] = ["source", "rank", "file"];

const RESULTS: [&str; 25] = [
    "mode",
    "ranks",
    "total_bytes",
    "t_start",
    "t_end",
    "sampling_frequency",
    "n_samples",
    "abstraction_error",
    "periodic",
    "period",
    "frequency",
    "confidence",
    "refined_confidence",
    "signal",
    "sigma_vol",
    "sigma_time",
    "periodicity_score",
    "r_io",
    "b_io",
    "bytes_per_period",
    "next_start",
    "next_end",
    "next_bytes",
    "requests",
    "complete",
];

/// Prints them.
#[derive(Debug)]
pub struct Csv<W: Write = Stdout> {
    table: Table<W>,
    what: CsvChoice,
}

impl Csv {
    /// The header is written at once.
    pub fn open(what: CsvChoice) -> anyhow::Result<Self> {
        Ok(Csv { table: Table::new(io::stdout(), what)?, what })
    }
}

impl Output for Csv {
    fn results(&mut self, results: Results<'_>) -> anyhow::Result<Exit> {
        for analysis in results.analyses {
            self.table.rows(analysis, self.what)?;
        }
        self.table.0.flush()?;
        Ok(Exit::Done)
    }
}

#[derive(Debug)]
struct Table<W: Write>(Writer<W>);

impl<W: Write> Table<W> {
    fn new(out: W, what: CsvChoice) -> io::Result<Self> {
        let columns = match what {
            CsvChoice::Results => &RESULTS[..],
            CsvChoice::Signal => &["time", "bandwidth", "reconstruction"],
            CsvChoice::Spectrum => &["k", "frequency", "power"],
            CsvChoice::Segments => &["start", "end", "period", "confidence"],
            CsvChoice::Phases => &["phase", "start", "end", "bytes", "bandwidth", "start_time", "end_time"],
        };
        let mut table = Writer::from_writer(out);
        table.write_record(WHOSE.iter().chain(columns))?;
        Ok(Table(table))
    }

    /// The rows of one result.
    fn rows(&mut self, analysis: &Analysis, what: CsvChoice) -> io::Result<()> {
        match what {
            CsvChoice::Results => self.row(analysis, &result(analysis)),
            CsvChoice::Signal => self.signal(analysis),
            CsvChoice::Phases => self.phases(analysis),
            CsvChoice::Spectrum => {
                let duration = analysis.signal.duration();
                analysis.contributions.iter().zip(1u32..).try_for_each(|(power, k)| {
                    let frequency = f64::from(k) / duration;
                    self.row(analysis, &[k.to_string(), frequency.to_string(), power.to_string()])
                })
            }
            CsvChoice::Segments => {
                let over_time = analysis.detection.over_time.iter();
                over_time.flat_map(|over_time| &over_time.segments).try_for_each(|segment| {
                    let (start, end) = (segment.start.to_string(), segment.end.to_string());
                    let confidence = segment.confidence.to_string();
                    self.row(analysis, &[start, end, optional(segment.period), confidence])
                })
            }
        }
    }

    fn phases(&mut self, analysis: &Analysis) -> io::Result<()> {
        analysis.detection.phases.iter().zip(1u32..).try_for_each(|(phase, number)| {
            let fields = [
                number.to_string(),
                phase.start.to_string(),
                phase.end.to_string(),
                phase.bytes.to_string(),
                optional(phase.bandwidth()),
                optional(phase.start_time),
                optional(phase.end_time),
            ];
            self.row(analysis, &fields)
        })
    }

    fn signal(&mut self, analysis: &Analysis) -> io::Result<()> {
        let signal = &analysis.signal;
        let rebuilt = analysis.detection.reconstruction.as_ref();
        signal.samples.iter().enumerate().try_for_each(|(i, bandwidth)| {
            let time = signal.start_seconds() + i as f64 * signal.step();
            let rebuilt = optional(rebuilt.and_then(|rebuilt| rebuilt.samples.get(i)));
            self.row(analysis, &[time.to_string(), bandwidth.to_string(), rebuilt])
        })
    }

    /// One row, after the columns that say what it belongs to.
    fn row(&mut self, analysis: &Analysis, fields: &[String]) -> io::Result<()> {
        let found = &analysis.detection;
        let rank = optional(found.rank);
        for field in [found.source.as_str(), &rank, found.file.as_deref().unwrap_or_default()] {
            self.0.write_field(field)?;
        }
        // It ends the record that was begun.
        Ok(self.0.write_record(fields)?)
    }
}

fn result(analysis: &Analysis) -> Vec<String> {
    let found = &analysis.detection;
    let c = &found.characterization;
    let next = found.next_phase;
    vec![
        found.mode.to_string(),
        optional(found.ranks),
        found.total_bytes.to_string(),
        found.t_start.to_string(),
        found.t_end.to_string(),
        optional(found.sampling_frequency),
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
        optional(found.requests),
        found.complete.to_string(),
    ]
}

fn optional(value: Option<impl Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
