//! The input as a bandwidth in equal bins.

use crate::phases::scale_space::median_by_volume;
use crate::renewal::table::{
    BACK_TO_FIRST, BUSY, FALL, FEWEST_BINS, FINE_BINS, LEAST_RISES, MOST_BINS, MOST_FALLS, NOISE, PER_PHASE,
    QUIET_BELOW_BUSY, SAMPLE_HELD, SHORTEST, SILENT, STEADY_CLOCK,
};
use crate::signal::runs::runs_above;
use crate::signal::statistics::{mean, median, median_deviation};
use std::sync::Arc;

/// What was recorded of a job.
#[derive(Clone, Debug, PartialEq)]
pub enum Trace {
    /// Requests.
    Requests {
        /// In any order.
        requests: Vec<Request>,
        /// May they begin in the middle of a phase?
        cut: bool,
    },
    /// A quantity, read off at the given times.
    Samples {
        /// When, in seconds.
        times: Vec<f64>,
        /// What: bytes per second, or bytes so far.
        values: Vec<f64>,
        /// Is it known to be bytes so far?
        counter: bool,
    },
    /// What was in bins before.
    Binned(Bandwidth),
}

/// Bytes that were transferred from one time to another, in seconds. A bin that holds some is one, too.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Request {
    /// When it begins.
    pub start: f64,
    /// When it ends.
    pub end: f64,
    /// How much it transfers.
    pub bytes: f64,
}

/// A bandwidth in equal bins.
#[derive(Clone, Debug, PartialEq)]
pub struct Bandwidth {
    /// When the first bin begins, in seconds.
    pub start: f64,
    /// Seconds a bin.
    pub step: f64,
    /// The mean bandwidth of each bin.
    pub bins: Vec<f64>,
    /// Seconds between the samples that it was made from, if it was.
    pub native: Option<f64>,
    /// May it begin in the middle of a phase? A series of samples may.
    pub cut: bool,
    /// Where in each bin requests begin and end, if it was made from requests.
    pub edges: Option<Arc<[Edges]>>,
}

/// Where in a bin the first request begins that begins in it, and the last one ends that ends in it: shares
/// of the bin. Where none does, the bin's own edges.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edges {
    begin: f32,
    end: f32,
}

impl Bandwidth {
    /// The length of the window in seconds.
    pub fn duration(&self) -> f64 {
        self.step * self.bins.len() as f64
    }

    /// The same window with other values.
    pub fn with(&self, bins: Vec<f64>) -> Self {
        Bandwidth { bins, edges: self.edges.clone(), ..*self }
    }

    /// When something begins in a bin, seconds from the beginning of the window.
    pub fn begins_in(&self, bin: usize) -> f64 {
        let known = self.edges.as_ref().and_then(|edges| edges.get(bin));
        let begin = known.filter(|edges| edges.begin < 1.0).map_or(0.0, |edges| f64::from(edges.begin));
        (bin as f64 + begin) * self.step
    }

    /// When something ends in a bin.
    pub fn ends_in(&self, bin: usize) -> f64 {
        let known = self.edges.as_ref().and_then(|edges| edges.get(bin));
        let end = known.filter(|edges| edges.end > 0.0).map_or(1.0, |edges| f64::from(edges.end));
        (bin as f64 + end) * self.step
    }

    /// The same in at most so many bins.
    pub fn merged(&self, most: usize) -> Self {
        let factor = self.bins.len().div_ceil(most.max(1)).max(1);
        if factor == 1 {
            return self.clone();
        }
        let bins = self.bins.chunks(factor).map(|some| some.iter().sum::<f64>() / factor as f64).collect();
        Bandwidth { step: self.step * factor as f64, bins, edges: None, ..*self }
    }

    /// Runs of bins above the mean: a rough count of the phases.
    pub fn runs_above_mean(&self) -> usize {
        runs_above(&self.bins, mean(&self.bins) * (1.0 + SHORTEST)).count()
    }

    /// The bandwidth of all of a trace; nothing if there is nothing in it.
    pub fn of(trace: &Trace) -> Option<Self> {
        match trace {
            Trace::Requests { requests, cut } => {
                let from = requests.iter().map(|request| request.start).reduce(f64::min)?;
                let to = requests.iter().map(|request| request.end).reduce(f64::max)?;
                (to > from).then(|| Bandwidth { cut: *cut, ..Bandwidth::of_requests(requests, from, to) })
            }
            Trace::Samples { times, values, counter } => Bandwidth::of_samples(times, values, *counter),
            Trace::Binned(bandwidth) => Some(bandwidth.clone()),
        }
    }

    /// The bandwidth of requests from one time to another, in bins that are narrow enough for its phases.
    pub fn of_requests(requests: &[Request], from: f64, to: f64) -> Self {
        // Few requests have few phases.
        let enough = (PER_PHASE * requests.len()).next_power_of_two().min(FINE_BINS);
        let mut step = (to - from) / enough as f64;
        loop {
            let bins = (((to - from) / step).ceil() as usize).max(FEWEST_BINS);
            let (bins, edges) = in_bins(requests, from, step, bins);
            let found = Bandwidth { start: from, step, bins, native: None, cut: false, edges: Some(edges) };
            let bins = found.bins.len();
            if bins >= PER_PHASE * found.runs_above_mean() || 2 * bins > MOST_BINS {
                return found;
            }
            step /= 2.0;
        }
    }

    fn of_samples(times: &[f64], values: &[f64], counter: bool) -> Option<Self> {
        let (first, last) = (*times.first()?, *times.last()?);
        let between: Vec<f64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let native = if between.is_empty() { 1.0 } else { median(&between) };
        let mut widths: Vec<f64> = between.iter().copied().chain([native]).collect();
        let mut values = values.to_vec();
        let mut to = last;
        if counter || is_counter(&values) {
            let risen = |pair: &[f64]| if pair[1] < pair[0] { pair[1] } else { pair[1] - pair[0] };
            widths.pop();
            values = values
                .windows(2)
                .zip(&widths)
                .map(|(pair, width)| risen(pair) / width.max(SHORTEST))
                .collect();
            to = times[times.len().checked_sub(2)?];
        } else {
            widths.iter_mut().for_each(|width| *width = width.min(SAMPLE_HELD * native));
        }
        let parts = (FINE_BINS as f64 / ((to - first) / native).max(1.0)).log2().floor().max(0.0).exp2();
        let step = native / parts;
        let steady = widths.iter().all(|width| (width / native - 1.0).abs() < STEADY_CLOCK);
        let bins = if steady {
            values.iter().flat_map(|value| std::iter::repeat_n(*value, parts as usize)).collect()
        } else {
            let held = times.iter().zip(&widths).zip(&values);
            let requests: Vec<Request> = held
                .map(|((&start, &width), &value)| Request { start, end: start + width, bytes: value * width })
                .collect();
            let bins = ((to + native - first) / step).ceil() as usize;
            in_bins(&requests, first, step, bins.max(FEWEST_BINS)).0
        };
        Some(Bandwidth { start: first, step, bins, native: Some(native), cut: true, edges: None })
    }
}

/// The mean bandwidth of requests in each of some bins, and where they begin and end.
fn in_bins(requests: &[Request], from: f64, step: f64, count: usize) -> (Vec<f64>, Arc<[Edges]>) {
    let mut bins = vec![0.0; count];
    let mut edges = vec![Edges { begin: 1.0, end: 0.0 }; count];
    // Change of the rate at the beginning of each bin: what covers whole bins is noted at its two ends only.
    let mut slope = vec![0.0; count + 1];
    let place = |time: f64| ((time - from) / step).clamp(0.0, count as f64);
    for request in requests {
        let end = request.end.max(request.start + SHORTEST);
        let (low, high) = (place(request.start), place(end));
        if high <= low {
            continue;
        }
        let rate = request.bytes / (end - request.start);
        let (first, last) = (low as usize, (high as usize).min(count - 1));
        edges[first].begin = edges[first].begin.min((low - first as f64) as f32);
        edges[last].end = edges[last].end.max((high - last as f64) as f32);
        if first == last {
            bins[first] += rate * (high - low);
            continue;
        }
        bins[first] += rate * ((first + 1) as f64 - low);
        bins[last] += rate * (high - last as f64);
        slope[first + 1] += rate;
        slope[last] -= rate;
    }
    let mut rate = 0.0;
    for (bin, change) in bins.iter_mut().zip(slope) {
        rate += change;
        *bin = (*bin + rate).max(0.0);
    }
    (bins, edges.into())
}

/// Never falls but for resets to near its beginning, and rises often enough for that to be no chance.
fn is_counter(values: &[f64]) -> bool {
    let up = values.windows(2).filter(|pair| pair[1] > pair[0]).count();
    let falls: Vec<&[f64]> = values.windows(2).filter(|pair| pair[1] < pair[0]).collect();
    let is_reset =
        |pair: &&[f64]| pair[1] <= values[0] + FALL * (pair[0] - values[0]) || pair[1] <= FALL * pair[0];
    values.len() >= FEWEST_BINS
        && falls.len() as f64 <= MOST_FALLS * values.len() as f64
        && up >= BACK_TO_FIRST * falls.len() + LEAST_RISES
        && falls.iter().all(is_reset)
}

/// What is quiet, and what is busy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ground {
    /// Half of the volume flows at this bandwidth or a lower one.
    pub level: f64,
    /// What flows between phases.
    pub background: f64,
    /// From here on a bin is busy.
    pub busy: f64,
    /// Up to here it is quiet.
    pub quiet: f64,
}

impl Ground {
    /// Of a bandwidth.
    pub fn of(bins: &[f64]) -> Self {
        let level = median_by_volume(bins);
        let low: Vec<f64> = bins.iter().copied().filter(|x| *x < BUSY * level).collect();
        let middle = median(&low);
        let background = middle.min(mean(&low));
        let busy = background + BUSY * (level - background);
        let noise = NOISE * median_deviation(&low, middle);
        let quiet = (background + noise + SILENT * level).min(QUIET_BELOW_BUSY * busy);
        Ground { level, background, busy, quiet }
    }

    /// Up to here nothing of a phase goes on.
    pub fn silence(&self) -> f64 {
        self.quiet.max(self.background)
    }
}

/// Bins in a row that are not quiet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Burst {
    /// The first bin.
    pub from: usize,
    /// The first bin after it.
    pub to: usize,
    /// What is above the background, in bins times bandwidth.
    pub volume: f64,
    /// Is any bin of it busy?
    pub busy: bool,
}

/// All bursts.
pub fn bursts(bins: &[f64], ground: &Ground) -> Vec<Burst> {
    let burst = |run: std::ops::Range<usize>| {
        let held = &bins[run.clone()];
        Burst {
            from: run.start,
            to: run.end,
            volume: held.iter().map(|x| x - ground.background).sum(),
            busy: held.iter().any(|x| *x >= ground.busy),
        }
    };
    runs_above(bins, ground.quiet).map(burst).collect()
}
