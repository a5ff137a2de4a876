//! What was found in a trace: the alternatives with their features, the truth, and which are right; as a
//! file.

use ftio_core::renewal::weights::{COUNT, WEIGHTS};
use std::error::Error;
use std::io::{self, Read, Write};
use trace_generator::generated::Truth;
use trace_generator::kinds::named;

/// An alternative.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub is_pair: bool,
    pub is_change: bool,
    pub is_wave: bool,
    /// Has it a twin that is *none*: a shorter period that was sampled too rarely?
    pub has_twin: bool,
    /// Which reading its hypotheses are of.
    pub readings: u32,
    /// Which form the first one has.
    pub form: u32,
    pub loose: f64,
    /// As the search has them.
    pub periods: Vec<f64>,
    /// As an answer says them; of two at once that of the one that moves more first.
    pub said: Vec<f64>,
    pub features: [f64; COUNT],
}

/// What an estimator says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Said {
    pub period: Option<f64>,
    pub periods: Vec<f64>,
    pub confidence: f64,
}

impl Said {
    pub fn is_answer(&self) -> bool {
        self.period.is_some() || !self.periods.is_empty()
    }
}

/// A trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen {
    pub kind: &'static str,
    pub is_sealed: bool,
    pub tolerance: f64,
    pub seed: u64,
    pub is_held_out: bool,
    pub truth: Truth,
    pub rows: Vec<Row>,
}

impl Seen {
    /// Is it right that there is no period?
    pub fn is_none(&self) -> bool {
        self.truth.or_none || (self.truth.period.is_none() && self.truth.periods.is_empty())
    }

    /// Is this alternative right? All its periods, and all that should be there.
    pub fn is_right(&self, row: &Row) -> bool {
        let near = |one: f64, other: f64| (one / other - 1.0).abs() <= self.tolerance;
        let Truth { period, periods, also, changes, .. } = &self.truth;
        if !changes.is_empty() && !periods.is_empty() {
            let mut pairs = row.periods.iter().zip(periods);
            return row.is_change && row.periods.len() == periods.len() && pairs.all(|(a, b)| near(*a, *b));
        }
        let mut wanted = if periods.is_empty() { period.as_slice() } else { periods }.iter().chain(also);
        !row.is_change
            && row.periods.iter().all(|one| wanted.clone().any(|other| near(*one, *other)))
            && wanted.next().is_some()
    }

    /// Which alternatives are right; where two are wanted and can be had, only both together.
    pub fn right(&self) -> Vec<bool> {
        let mut right: Vec<bool> = self.rows.iter().map(|row| self.is_right(row)).collect();
        if !self.truth.periods.is_empty() && self.truth.changes.is_empty() {
            let both: Vec<bool> =
                self.rows.iter().zip(&right).map(|(row, right)| *right && row.is_pair).collect();
            if both.contains(&true) {
                right = both;
            }
        }
        right
    }
}

struct Writer<W: Write>(W);

impl<W: Write> Writer<W> {
    fn whole(&mut self, value: u64) -> io::Result<()> {
        self.0.write_all(&value.to_le_bytes())
    }

    fn number(&mut self, value: f64) -> io::Result<()> {
        self.0.write_all(&value.to_le_bytes())
    }

    fn numbers(&mut self, values: &[f64]) -> io::Result<()> {
        self.whole(values.len() as u64)?;
        values.iter().try_for_each(|value| self.number(*value))
    }

    fn text(&mut self, text: &str) -> io::Result<()> {
        self.whole(text.len() as u64)?;
        self.0.write_all(text.as_bytes())
    }
}

struct Reader<R: Read>(R);

impl<R: Read> Reader<R> {
    fn bytes<const N: usize>(&mut self) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.0.read_exact(&mut bytes)?;
        Ok(bytes)
    }

    fn whole(&mut self) -> io::Result<u64> {
        Ok(u64::from_le_bytes(self.bytes()?))
    }

    fn number(&mut self) -> io::Result<f64> {
        Ok(f64::from_le_bytes(self.bytes()?))
    }

    fn numbers(&mut self) -> io::Result<Vec<f64>> {
        let count = self.whole()?;
        (0..count).map(|_| self.number()).collect()
    }

    fn text(&mut self) -> io::Result<String> {
        let mut bytes = vec![0; self.whole()? as usize];
        self.0.read_exact(&mut bytes)?;
        String::from_utf8(bytes).map_err(io::Error::other)
    }
}

fn head() -> String {
    WEIGHTS.iter().map(|weight| weight.name).collect::<Vec<_>>().join(" ")
}

/// Write traces to a file.
pub fn save(file: &str, traces: &[Seen]) -> io::Result<()> {
    let mut out = Writer(io::BufWriter::new(std::fs::File::create(file)?));
    out.text(&head())?;
    out.whole(traces.len() as u64)?;
    for trace in traces {
        let Seen { kind, seed, is_held_out, truth, rows, .. } = trace;
        out.text(kind)?;
        out.whole(*seed)?;
        out.whole(u64::from(*is_held_out))?;
        out.numbers(truth.period.as_slice())?;
        out.numbers(&truth.periods)?;
        out.numbers(&truth.also)?;
        out.numbers(&truth.changes)?;
        out.whole(u64::from(truth.or_none))?;
        out.whole(rows.len() as u64)?;
        for row in rows {
            let flags = [row.is_pair, row.is_change, row.is_wave, row.has_twin];
            out.whole(flags.iter().enumerate().map(|(i, flag)| u64::from(*flag) << i).sum())?;
            out.whole(u64::from(row.readings) << 32 | u64::from(row.form))?;
            out.number(row.loose)?;
            out.numbers(&row.periods)?;
            out.numbers(&row.said)?;
            for feature in row.features {
                out.0.write_all(&(feature as f32).to_le_bytes())?;
            }
        }
    }
    out.0.flush()
}

/// Read a file of them.
pub fn load(file: &str) -> Result<Vec<Seen>, Box<dyn Error>> {
    let mut input = Reader(io::BufReader::new(std::fs::File::open(file)?));
    if input.text()? != head() {
        return Err(format!("{file}: built with other features").into());
    }
    let count = input.whole()?;
    let mut traces = Vec::new();
    for _ in 0..count {
        let name = input.text()?;
        let kind = named(&name).ok_or_else(|| format!("{name}: no such kind"))?;
        let (seed, is_held_out) = (input.whole()?, input.whole()? != 0);
        let truth = Truth {
            period: input.numbers()?.first().copied(),
            periods: input.numbers()?,
            also: input.numbers()?,
            changes: input.numbers()?,
            or_none: input.whole()? != 0,
            ..Truth::default()
        };
        let mut rows = Vec::new();
        for _ in 0..input.whole()? {
            let (flags, of) = (input.whole()?, input.whole()?);
            let mut row = Row {
                is_pair: flags & 1 != 0,
                is_change: flags & 2 != 0,
                is_wave: flags & 4 != 0,
                has_twin: flags & 8 != 0,
                readings: (of >> 32) as u32,
                form: of as u32,
                loose: input.number()?,
                periods: input.numbers()?,
                said: input.numbers()?,
                features: [0.0; COUNT],
            };
            for feature in &mut row.features {
                *feature = f64::from(f32::from_le_bytes(input.bytes()?));
            }
            rows.push(row);
        }
        traces.push(Seen {
            kind: kind.name,
            is_sealed: kind.is_sealed(),
            tolerance: kind.tolerance,
            seed,
            is_held_out,
            truth,
            rows,
        });
    }
    Ok(traces)
}
