//! Results, signals, spectra, segments and phases as comma-separated values (RFC 4180): one header, then
//! rows. What is not known is empty.

use super::args::CsvChoice;
use super::output::{Output, Results};
use crate::exit::Exit;
use ::csv::Writer;
use ftio_core::detect::Analysis;
use ftio_core::detect::detection::Detection;
use std::fmt::Display;
use std::io::{self, Stdout, Write};

/// The columns that say what a row belongs to.
const WHOSE: [&str; 3] = ["source", "rank", "file"];

/// A column of results: its name, and what is in it.
type Column = (&'static str, fn(&Detection) -> String);

const RESULTS: [Column; 25] = [
    ("mode", |found| found.mode.to_string()),
    ("ranks", |found| optional(found.ranks)),
    ("total_bytes", |found| found.total_bytes.to_string()),
    ("t_start", |found| found.t_start.to_string()),
    ("t_end", |found| found.t_end.to_string()),
    ("sampling_frequency", |found| optional(found.sampling_frequency)),
    ("n_samples", |found| found.n_samples.to_string()),
    ("abstraction_error", |found| found.abstraction_error.to_string()),
    ("periodic", |found| found.periodic.to_string()),
    ("period", |found| optional(found.period)),
    ("frequency", |found| optional(found.frequency)),
    ("confidence", |found| found.confidence.to_string()),
    ("refined_confidence", |found| optional(found.refined_confidence)),
    ("signal", |found| found.signal.to_string()),
    ("sigma_vol", |found| optional(found.characterization.sigma_vol)),
    ("sigma_time", |found| optional(found.characterization.sigma_time)),
    ("periodicity_score", |found| optional(found.characterization.periodicity_score)),
    ("r_io", |found| optional(found.characterization.r_io)),
    ("b_io", |found| optional(found.characterization.b_io)),
    ("bytes_per_period", |found| optional(found.characterization.bytes_per_period)),
    ("next_start", |found| optional(found.next_phase.map(|next| next.start))),
    ("next_end", |found| optional(found.next_phase.map(|next| next.end))),
    ("next_bytes", |found| optional(found.next_phase.map(|next| next.bytes))),
    ("requests", |found| optional(found.requests)),
    ("complete", |found| found.complete.to_string()),
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
            CsvChoice::Results => &RESULTS.map(|(name, _)| name)[..],
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
            CsvChoice::Results => self.row(analysis, &RESULTS.map(|(_, cell)| cell(&analysis.detection))),
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

fn optional(value: Option<impl Display>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}
