//! What is in a TMIO file: per section its phases as columns, and a few numbers about all of them.

use super::io_time::IoTime;
use super::summary::Statistics;
use super::{Format, Mode};

/// The contents of a TMIO file, of all its flushes.
#[derive(Clone, Debug, PartialEq)]
pub struct Digest {
    /// Which of the formats it was.
    pub format: Format,
    /// JSON that somebody else wrote for FTIO: some of TMIO's sections are missing.
    pub custom: bool,
    /// The file does not say whether its numbers are about reads or writes; they are in
    /// [`Mode::ReadSync`], where FTIO puts them.
    pub anonymous: bool,
    series: [Series; 6],
    /// Where the time went; summed over flushes. `None`: the file does not say.
    pub io_time: Option<IoTime>,
    /// Flushes that the file is made of.
    pub flushes: u64,
    /// Factor between the numbers of the file and bytes: 1, or 10⁶ for the first versions of TMIO.
    pub unit: f64,
    /// Every byte of the file could be used.
    pub complete: bool,
    /// What could not be used and why, for people.
    pub warnings: Vec<String>,
}

/// One section of a TMIO file. Times are seconds, bandwidths bytes per second.
///
/// `b_rank_…` and `t_rank_…` have one number per phase, rank after rank, flush after flush; `…_ind` one
/// per operation; `…_overlap` one per change of the bandwidth of the whole application. What the file
/// does not have, or was not asked for, is empty.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(missing_docs)] // the names are TMIO's, see docs/tmio-formats.md
pub struct Series {
    pub scalars: Scalars,
    pub b_rank_avr: Vec<f64>,
    pub b_rank_sum: Vec<f64>,
    pub t_rank_s: Vec<f64>,
    pub t_rank_e: Vec<f64>,
    pub b_ind: Vec<f64>,
    pub t_ind_s: Vec<f64>,
    pub t_ind_e: Vec<f64>,
    pub b_overlap_avr: Vec<f64>,
    pub b_overlap_sum: Vec<f64>,
    pub t_overlap: Vec<f64>,
    /// Bytes of each phase (MessagePack only): what bandwidth and times do not tell of one that took no time.
    pub rank_bytes: Vec<f64>,
    /// Flushes that had this section.
    pub(super) flushes: u64,
}

/// The numbers about a section as a whole; 0 where the file does not say.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[allow(missing_docs)] // as in [`Totals`](super::Totals)
pub struct Scalars {
    pub total_bytes: f64,
    pub max_bytes_per_rank: f64,
    pub max_bytes_per_phase: f64,
    pub max_io_phases_per_rank: f64,
    pub total_io_phases: f64,
    pub max_io_ops_in_phase: f64,
    pub max_io_ops_per_rank: f64,
    pub total_io_ops: f64,
    pub number_of_ranks: f64,
    /// All ranks of the job, also those without I/O (MessagePack only).
    pub processes: f64,
    /// Means over the phases (JSON and JSONL only); NaN where several flushes do not allow to compute it.
    pub statistics: Statistics,
}

impl Digest {
    pub(super) fn new(format: Format) -> Self {
        Self {
            format,
            custom: false,
            anonymous: false,
            series: Default::default(),
            io_time: None,
            flushes: 0,
            unit: 1.0,
            complete: true,
            warnings: Vec::new(),
        }
    }

    /// One section.
    pub fn series(&self, mode: Mode) -> &Series {
        let [read_sync, read_t, read_b, write_t, write_b, write_sync] = &self.series;
        match mode {
            Mode::ReadSync => read_sync,
            Mode::ReadAsyncActual => read_t,
            Mode::ReadAsyncRequired => read_b,
            Mode::WriteAsyncActual => write_t,
            Mode::WriteAsyncRequired => write_b,
            Mode::WriteSync => write_sync,
        }
    }

    pub(super) fn series_mut(&mut self, mode: Mode) -> &mut Series {
        let [read_sync, read_t, read_b, write_t, write_b, write_sync] = &mut self.series;
        match mode {
            Mode::ReadSync => read_sync,
            Mode::ReadAsyncActual => read_t,
            Mode::ReadAsyncRequired => read_b,
            Mode::WriteAsyncActual => write_t,
            Mode::WriteAsyncRequired => write_b,
            Mode::WriteSync => write_sync,
        }
    }

    /// Moves a section out.
    pub fn take_series(&mut self, mode: Mode) -> Series {
        std::mem::take(self.series_mut(mode))
    }

    /// Whether any section was in the file, be it an empty one.
    pub(super) fn has_sections(&self) -> bool {
        self.series.iter().any(|series| series.flushes > 0) || self.io_time.is_some()
    }

    pub(super) fn warn(&mut self, message: String) {
        self.complete = false;
        if self.warnings.len() < 100 {
            self.warnings.push(message);
        }
    }
}

impl Series {
    /// Number of phases.
    pub fn len(&self) -> usize {
        self.t_rank_s.len()
    }

    /// Whether it has neither phases nor a bandwidth of the application.
    pub fn is_empty(&self) -> bool {
        self.t_rank_s.is_empty() && self.t_overlap.is_empty()
    }

    /// All columns: first those of phases, then of operations, then of the application.
    pub(super) fn columns_mut(&mut self) -> [&mut Vec<f64>; 10] {
        [
            &mut self.b_rank_avr,
            &mut self.b_rank_sum,
            &mut self.t_rank_s,
            &mut self.t_rank_e,
            &mut self.b_ind,
            &mut self.t_ind_s,
            &mut self.t_ind_e,
            &mut self.b_overlap_avr,
            &mut self.b_overlap_sum,
            &mut self.t_overlap,
        ]
    }

    /// How long every column is now.
    pub(super) fn mark(&mut self) -> [usize; 10] {
        self.columns_mut().map(|column| column.len())
    }

    /// Goes back to a mark.
    pub(super) fn rewind(&mut self, mark: [usize; 10]) {
        for (column, length) in self.columns_mut().into_iter().zip(mark) {
            column.truncate(length);
        }
    }

    /// Multiplies the bandwidths that were added since `mark`.
    pub(super) fn scale(&mut self, mark: [usize; 10], factor: f64) {
        let is_bandwidth = [true, true, false, false, true, false, false, true, true, false];
        for ((column, length), _) in
            self.columns_mut().into_iter().zip(mark).zip(is_bandwidth).filter(|(_, bandwidth)| *bandwidth)
        {
            column.iter_mut().skip(length).for_each(|value| *value *= factor);
        }
    }
}

impl Scalars {
    /// The number with that key; old keys, too.
    pub(super) fn get_mut(&mut self, key: &[u8]) -> Option<&mut f64> {
        Some(match key {
            b"total_bytes" => &mut self.total_bytes,
            b"max_bytes_per_rank" => &mut self.max_bytes_per_rank,
            b"max_bytes_per_phase" | b"max_transfersize_over_ranks" => &mut self.max_bytes_per_phase,
            b"max_io_phases_per_rank" => &mut self.max_io_phases_per_rank,
            b"total_io_phases" => &mut self.total_io_phases,
            b"max_io_ops_in_phase" => &mut self.max_io_ops_in_phase,
            b"max_io_ops_per_rank" => &mut self.max_io_ops_per_rank,
            b"total_io_ops" => &mut self.total_io_ops,
            b"number_of_ranks" => &mut self.number_of_ranks,
            b"total_number_of_ranks" => &mut self.processes,
            _ => return None,
        })
    }

    /// The mean with that key.
    pub(super) fn statistic_mut(&mut self, key: &[u8]) -> Option<&mut f64> {
        let means = &mut self.statistics;
        Some(match key {
            b"weighted_harmonic_mean" => &mut means.weighted_harmonic_mean,
            b"harmonic_mean" => &mut means.harmonic_mean,
            b"arithmetic_mean" => &mut means.arithmetic_mean,
            b"median" => &mut means.median,
            b"max" => &mut means.max,
            b"min" => &mut means.min,
            _ => return None,
        })
    }

    pub(super) fn scale(&mut self, factor: f64) {
        self.total_bytes *= factor;
        self.max_bytes_per_rank *= factor;
        self.max_bytes_per_phase *= factor;
        let means = &mut self.statistics;
        for value in [
            &mut means.weighted_harmonic_mean,
            &mut means.harmonic_mean,
            &mut means.arithmetic_mean,
            &mut means.median,
            &mut means.max,
            &mut means.min,
        ] {
            *value *= factor;
        }
    }

    /// Puts a flush to the `flushes` that were there before: totals are added, of maxima and minima the
    /// extreme one holds, arithmetic means are averaged, other means are lost.
    pub(super) fn merge(&mut self, flush: &Scalars, flushes: u64) {
        if flushes == 0 {
            *self = *flush;
            return;
        }
        self.total_bytes += flush.total_bytes;
        self.total_io_phases += flush.total_io_phases;
        self.total_io_ops += flush.total_io_ops;
        self.max_bytes_per_rank = self.max_bytes_per_rank.max(flush.max_bytes_per_rank);
        self.max_bytes_per_phase = self.max_bytes_per_phase.max(flush.max_bytes_per_phase);
        self.max_io_phases_per_rank = self.max_io_phases_per_rank.max(flush.max_io_phases_per_rank);
        self.max_io_ops_in_phase = self.max_io_ops_in_phase.max(flush.max_io_ops_in_phase);
        self.max_io_ops_per_rank = self.max_io_ops_per_rank.max(flush.max_io_ops_per_rank);
        self.number_of_ranks = self.number_of_ranks.max(flush.number_of_ranks);
        self.processes = self.processes.max(flush.processes);
        let (means, other) = (&mut self.statistics, &flush.statistics);
        let before = flushes as f64;
        means.arithmetic_mean = (means.arithmetic_mean * before + other.arithmetic_mean) / (before + 1.0);
        means.max = means.max.max(other.max);
        means.min = means.min.min(other.min);
        means.weighted_harmonic_mean = f64::NAN;
        means.harmonic_mean = f64::NAN;
        means.median = f64::NAN;
    }
}
