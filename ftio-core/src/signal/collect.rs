//! One pass over the requests: choose those of the mode, and put them into bins.

use crate::signal::bins::{BinWidth, VolumeBins};
use crate::signal::lanes::Lanes;
use crate::signal::step::Stretch;
use crate::signal::{AUTO_MAX_SAMPLES, MAX_SAMPLES, PARTS_OF_SAMPLE};
use sources::request::{Class, Detail, Mode, Request, is_write};
use sources::time::{PER_SECOND, seconds};

/// With more requests than this the exact step function is not kept; the bins are fine enough to draw.
pub const MAX_STRETCHES: usize = 1 << 20;

/// A direction with less of the bytes is not looked at.
const LEAST_OTHER: f64 = 0.01;

/// Without a mode asked for, writes are taken if they hold at least this share of the bytes; else reads.
const LEAST_WRITTEN: f64 = 0.1;

/// The mode to take where none was asked for.
pub(crate) fn default_mode(written: u64, read: u64) -> Mode {
    let all = written as f64 + read as f64;
    if read > 0 && (written as f64) < LEAST_WRITTEN * all { Mode::Read } else { Mode::Write }
}

/// Collects the requests of a mode. Without one: all writes, or all reads if hardly anything was written.
#[derive(Clone, Debug)]
pub struct Collector {
    mode: Option<Mode>,
    chosen: Track,
    /// Reads, kept beside the writes where no mode was asked for.
    fallback: Option<Track>,
    keep_stretches: bool,
}

/// The requests of one mode.
#[derive(Clone, Debug)]
struct Track {
    bins: VolumeBins,
    stretches: Option<Vec<Stretch>>,
    lanes: Option<Lanes>,
}

/// What was collected.
#[derive(Clone, Debug)]
pub struct Collected {
    /// The mode asked for, or the one chosen.
    pub mode: Mode,
    /// Its requests as bytes per bin.
    pub bins: VolumeBins,
    /// The requests themselves, if asked for and not too many.
    pub stretches: Option<Vec<Stretch>>,
    /// What each rank did when, if asked for.
    pub lanes: Option<Lanes>,
    /// The other direction, where nobody asked for a mode and it holds some of the bytes.
    pub other: Option<Box<Collected>>,
}

impl Collector {
    /// `window` in nanoseconds of job time; `frequency` in Hz, `None` for the finest bins.
    pub fn new(
        mode: Option<Mode>,
        window: (Option<i64>, Option<i64>),
        frequency: Option<f64>,
        keep_stretches: bool,
    ) -> Self {
        let bins = bins(frequency).with_window(window.0, window.1);
        let track = Track { bins, stretches: keep_stretches.then(Vec::new), lanes: None };
        Collector { mode, fallback: mode.is_none().then(|| track.clone()), chosen: track, keep_stretches }
    }

    /// Keep what each rank did when, for pictures. Requests then come by
    /// [`add_detailed`](Self::add_detailed).
    pub fn keep_lanes(&mut self, window: (Option<i64>, Option<i64>)) {
        self.chosen.lanes = Some(Lanes::new(window));
        if let Some(reads) = &mut self.fallback {
            reads.lanes = Some(Lanes::new(window));
        }
    }

    /// Take in a batch, with what is known of each request.
    pub fn add_detailed(&mut self, details: &[Detail]) {
        let mode = self.mode.unwrap_or(Mode::Write);
        let fallback = self.fallback.as_mut().and_then(|reads| reads.lanes.as_mut());
        let tracks = [(Some(mode), self.chosen.lanes.as_mut()), (None, fallback)];
        for (mode, lanes) in tracks.into_iter().filter_map(|(mode, lanes)| Some((mode, lanes?))) {
            let selects = |detail: &&Detail| match mode {
                Some(mode) => mode.selects(detail.request.class),
                None => !is_write(detail.request.class),
            };
            details.iter().filter(selects).for_each(|detail| lanes.add(detail));
        }
        let requests: Vec<Request> = details.iter().map(|detail| detail.request).collect();
        self.add(&requests);
    }

    /// The bandwidth was known by samples before, `sampled` nanoseconds apart.
    pub fn of_samples(mut self, sampled: Option<i64>) -> Self {
        let width = sampled.map_or(0, |sampled| sampled / PARTS_OF_SAMPLE);
        self.chosen.bins.widen_to(width);
        if let Some(reads) = &mut self.fallback {
            reads.bins.widen_to(width);
        }
        self
    }

    /// Use at most this many bins, also for what was collected already.
    pub fn limit_bins(&mut self, max_bins: usize) {
        self.chosen.bins.limit(max_bins);
        if let Some(reads) = &mut self.fallback {
            reads.bins.limit(max_bins);
        }
    }

    /// Take in a batch.
    pub fn add(&mut self, requests: &[Request]) {
        let mode = self.mode.unwrap_or(Mode::Write);
        // Mostly all are of one class, which is then looked at once.
        let Some(first) = requests.first().map(|first| first.class) else { return };
        if requests.iter().all(|request| request.class == first) {
            if mode.selects(first) {
                self.chosen.add(requests.iter());
            }
            if let Some(reads) = self.fallback.as_mut().filter(|_| !is_write(first)) {
                reads.add(requests.iter());
            }
            return;
        }
        let selected = Class::ALL.map(|class| mode.selects(class));
        self.chosen.add(requests.iter().filter(|request| selected[request.class as usize]));
        if let Some(reads) = &mut self.fallback {
            reads.add(requests.iter().filter(|request| !is_write(request.class)));
        }
    }

    /// What was collected.
    pub fn finish(self) -> Collected {
        let of = |mode: Mode, track: Track| {
            let stretches = track.stretches.filter(|_| self.keep_stretches);
            Collected { mode, bins: track.bins, stretches, lanes: track.lanes, other: None }
        };
        let Some(reads) = self.fallback else { return of(self.mode.unwrap_or(Mode::Write), self.chosen) };
        let (written, read) = (self.chosen.bins.total_bytes(), reads.bins.total_bytes());
        let mode = default_mode(written, read);
        let (mut main, mut other) = (of(Mode::Write, self.chosen), of(Mode::Read, reads));
        if mode == Mode::Read {
            std::mem::swap(&mut main, &mut other);
        }
        let counts = other.bins.total_bytes() as f64 > LEAST_OTHER * (written as f64 + read as f64);
        Collected { other: counts.then(|| Box::new(other)), ..main }
    }
}

impl Track {
    fn add<'a>(&mut self, requests: impl Iterator<Item = &'a Request> + Clone) {
        self.bins.add_all(requests.clone().map(|request| (request.start, request.end, request.bytes)));
        if let Some(stretches) = &mut self.stretches {
            stretches.extend(
                requests.filter(|request| request.bytes > 0 && request.end > request.start).map(stretch),
            );
        }
        if self.stretches.as_ref().is_some_and(|stretches| stretches.len() > MAX_STRETCHES) {
            self.stretches = None;
        }
    }
}

/// Empty bins for a sampling frequency in Hz, or the finest. Their grid goes through job time 0, whatever
/// window is looked at later: the same requests are in the same bins for everybody.
pub fn bins(frequency: Option<f64>) -> VolumeBins {
    match frequency {
        // Phases are located more exactly than the signal is sampled.
        Some(hz) => VolumeBins::new(0, BinWidth::Nanoseconds(width(hz)), MAX_SAMPLES)
            .with_narrow_bins(AUTO_MAX_SAMPLES),
        None => VolumeBins::new(0, BinWidth::Finest, AUTO_MAX_SAMPLES).with_sections(),
    }
}

/// The width in nanoseconds of bins for a sampling frequency. A wide one that is no whole number of
/// nanoseconds is rounded to a multiple of 64, so that it can be halved.
pub fn width(hz: f64) -> i64 {
    const WIDE: f64 = 1e7;
    let width = PER_SECOND / hz;
    let is_whole = (width - width.round()).abs() < 1e-3;
    if width >= WIDE && !is_whole { (width / 64.0).round() as i64 * 64 } else { width.round() as i64 }
}

/// A request as a stretch of constant bandwidth; it must have a length.
pub(crate) fn stretch(request: &Request) -> Stretch {
    let (start, end) = (seconds(request.start), seconds(request.end));
    Stretch { start, end, bandwidth: request.bytes as f64 / seconds(request.end - request.start) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(class: Class, bytes: u64) -> Request {
        Request::new(0, 10, bytes, class)
    }

    fn collect(mode: Option<Mode>, requests: &[Request]) -> (Mode, u64) {
        let mut collector = Collector::new(mode, (None, None), None, false);
        // One by one, so that the choice is made on the way.
        requests.iter().for_each(|request| collector.add(std::slice::from_ref(request)));
        let collected = collector.finish();
        (collected.mode, collected.bins.total_bytes())
    }

    #[test]
    fn writes_come_first_unless_they_are_few() {
        let read = request(Class::ReadSync, 1);
        let write = request(Class::WriteAsync, 2);
        let nothing = request(Class::WriteSync, 0);
        assert_eq!(collect(None, &[read, read, write, read, write]), (Mode::Write, 4));
        let much = request(Class::ReadSync, 40);
        assert_eq!(collect(None, &[write, much, read]), (Mode::Read, 41));
        assert_eq!(collect(None, &[read, nothing, read]), (Mode::Read, 2));
        assert_eq!(collect(None, &[nothing]), (Mode::Write, 0));
        assert_eq!(collect(None, &[]), (Mode::Write, 0));
        assert_eq!(collect(Some(Mode::All), &[read, write]), (Mode::All, 3));
        assert_eq!(collect(Some(Mode::ReadAsync), &[read, write]), (Mode::ReadAsync, 0));
    }
}
