//! The requests so far, as bins: of the whole job, and of the recent past at a finer resolution.
//!
//! The bins of a whole job get wider as it goes on, because their number is bounded. A window that has become
//! much shorter than the job would then be left with a few of them. So the recent past has bins of its own,
//! made from those there are when the window first becomes short, and again whenever they have grown too
//! wide. Every request goes into both, once.

use crate::signal::AUTO_MIN_SAMPLES;
use crate::signal::bins::VolumeBins;
use crate::signal::collect::{Collected, bins, default_mode, width};
use sources::request::{Mode, Request, is_write};

/// A window with fewer bins than this deserves finer ones.
const ENOUGH: i64 = 4 * AUTO_MIN_SAMPLES as i64;

/// All requests of a mode; without one, all writes, or all reads as long as hardly anything was written.
#[derive(Clone, Debug)]
pub struct History {
    mode: Option<Mode>,
    frequency: Option<f64>,
    chosen: Track,
    reads: Option<Track>,
}

/// The requests of one mode.
#[derive(Clone, Debug)]
struct Track {
    all: VolumeBins,
    /// From some time on.
    recent: Option<(i64, VolumeBins)>,
}

impl History {
    /// `frequency` in Hz, if the user asks for one.
    pub fn new(mode: Option<Mode>, frequency: Option<f64>) -> Self {
        let track = Track { all: bins(frequency), recent: None };
        History { mode, frequency, reads: mode.is_none().then(|| track.clone()), chosen: track }
    }

    /// Take in requests.
    pub fn add(&mut self, requests: &[Request]) {
        let mode = self.mode.unwrap_or(Mode::Write);
        self.chosen.add(requests.iter().filter(|request| mode.selects(request.class)));
        if let Some(reads) = &mut self.reads {
            reads.add(requests.iter().filter(|request| !is_write(request.class)));
        }
    }

    /// The mode that is followed, as of now.
    pub fn mode(&self) -> Mode {
        match (self.mode, &self.reads) {
            (Some(mode), _) => mode,
            (None, Some(reads)) => default_mode(self.chosen.all.total_bytes(), reads.all.total_bytes()),
            (None, None) => Mode::Write,
        }
    }

    /// When the first request began.
    pub fn begins(&self) -> Option<i64> {
        self.track().all.extent().map(|(first, _)| first)
    }

    /// Bytes so far.
    pub fn total_bytes(&self) -> u64 {
        self.track().all.total_bytes()
    }

    /// What there is to be analysed in the window `[from, to)`.
    pub fn collected(&mut self, from: i64, to: i64) -> Collected {
        let (mode, frequency) = (self.mode(), self.frequency);
        let track = match &mut self.reads {
            Some(reads) if mode == Mode::Read && self.mode.is_none() => reads,
            _ => &mut self.chosen,
        };
        Collected { mode, bins: track.bins(from, to, frequency), stretches: None, lanes: None, other: None }
    }

    fn track(&self) -> &Track {
        match &self.reads {
            Some(reads) if self.mode() == Mode::Read => reads,
            _ => &self.chosen,
        }
    }
}

impl Track {
    fn add<'a>(&mut self, requests: impl Iterator<Item = &'a Request> + Clone) {
        let parts = requests.map(|request| (request.start, request.end, request.bytes));
        if let Some((_, recent)) = &mut self.recent {
            recent.add_all(parts.clone());
        }
        self.all.add_all(parts);
    }

    /// Bins that hold the window.
    fn bins(&mut self, from: i64, to: i64, frequency: Option<f64>) -> VolumeBins {
        let finest = frequency.map_or((to - from) / ENOUGH, width);
        let covers = self.recent.as_ref().is_some_and(|(start, _)| *start <= from);
        let best = match &self.recent {
            Some((_, recent)) if covers => recent,
            _ => &self.all,
        };
        if best.width() > finest.max(1) {
            // A window more, so that a window that was shortened too soon can be taken back.
            let start = from.saturating_sub(to - from);
            if let Some(finer) = finer(best, start, frequency).filter(|finer| finer.width() < best.width()) {
                self.recent = Some((start, finer));
            }
        }
        match &self.recent {
            Some((start, recent)) if *start <= from => recent.clone(),
            _ => self.all.clone(),
        }
    }
}

/// The same from `start` on, in bins that are as fine as that range allows. What was in one bin is spread
/// over it evenly.
fn finer(coarse: &VolumeBins, start: i64, frequency: Option<f64>) -> Option<VolumeBins> {
    let (_, end) = coarse.extent().filter(|(_, end)| *end > start)?;
    let mut finer = bins(frequency).with_window(Some(start), None);
    finer.fit(start, end);
    let (first, volumes, _) = coarse.volumes(start, end);
    for (edge, volume) in (0..).map(|i| first + i * coarse.width()).zip(volumes) {
        if volume > 0.0 {
            finer.add(edge, edge + coarse.width(), volume.round() as u64);
        }
    }
    Some(finer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sources::request::Class;

    const SECOND: i64 = 1_000_000_000;

    fn bursts(history: &mut History, range: std::ops::Range<i64>) {
        for i in range {
            history.add(&[Request::new(10 * i * SECOND, (10 * i + 2) * SECOND, 1 << 30, Class::WriteSync)]);
        }
    }

    #[test]
    fn a_short_window_of_a_long_job_keeps_its_resolution() {
        let mut history = History::new(None, None);
        for i in 0..4 {
            bursts(&mut history, 5000 * i..5000 * (i + 1));
            let end = 50_000 * (i + 1) * SECOND;
            history.collected(end - 50 * SECOND, end);
        }
        let end = 200_000 * SECOND;
        assert!(history.chosen.all.width() > SECOND, "{}", history.chosen.all.width());
        bursts(&mut history, 20_000..20_010);
        let collected = history.collected(end, end + 100 * SECOND);
        assert!(collected.bins.width() < SECOND / 4, "{}", collected.bins.width());
        let volume: f64 = collected.bins.volumes(end, end + 100 * SECOND).1.iter().sum();
        assert!((volume / (10.0 * (1u64 << 30) as f64) - 1.0).abs() < 1e-3, "{volume}");
        assert_eq!(history.total_bytes(), 20_010 << 30);
    }

    #[test]
    fn all_of_the_history_stays() {
        let mut history = History::new(None, None);
        bursts(&mut history, 0..100);
        history.collected(950 * SECOND, 1000 * SECOND);
        let all = history.collected(0, 1000 * SECOND);
        let volume: f64 = all.bins.volumes(0, 1000 * SECOND).1.iter().sum();
        assert_eq!(volume, (100u64 << 30) as f64);
    }

    #[test]
    fn writes_come_first() {
        let mut history = History::new(None, None);
        history.add(&[Request::new(0, 10, 5, Class::ReadSync)]);
        assert_eq!((history.mode(), history.total_bytes()), (Mode::Read, 5));
        assert_eq!(history.collected(0, 10).bins.total_bytes(), 5);
        history.add(&[Request::new(0, 10, 7, Class::WriteAsync), Request::new(0, 10, 5, Class::ReadSync)]);
        assert_eq!((history.mode(), history.total_bytes()), (Mode::Write, 7));
        let history = History::new(Some(Mode::ReadSync), Some(10.0));
        assert_eq!((history.mode(), history.total_bytes()), (Mode::ReadSync, 0));
    }
}
