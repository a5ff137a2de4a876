//! A copy runs, rests, or is given up; and how fast it may be.

use crate::stop::Stop;
use std::sync::{Condvar, Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// A piece should take this long, so that a copy can be suspended soon.
const PIECE: f64 = 0.05;

/// The size of pieces, at least (with a limited rate, and without) and at most. Too small ones take longer to
/// come to than to copy.
const MIN_PIECE: u64 = 64 << 10;
const MIN_PIECE_FREE: u64 = 1 << 20;
const MAX_PIECE: u64 = 8 << 20;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum State {
    #[default]
    Running,
    Paused,
    Cancelled,
}

/// What a copy under way is told.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    state: Mutex<State>,
    changed: Condvar,
}

impl Flow {
    pub fn set(&self, state: State) {
        *self.lock() = state;
        self.changed.notify_all();
    }

    pub fn state(&self) -> State {
        *self.lock()
    }

    /// Wait while the copy has to rest. Returns how long that was.
    pub fn wait(&self) -> Result<Duration, Stop> {
        let mut state = self.lock();
        if *state == State::Running {
            return Ok(Duration::ZERO);
        }
        let since = Instant::now();
        while *state == State::Paused {
            state = self.changed.wait(state).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
        if *state == State::Cancelled { Err(Stop::Cancelled) } else { Ok(since.elapsed()) }
    }

    /// Wait for this long, or until the state is another one.
    pub fn sleep(&self, time: Duration) {
        let state = self.lock();
        let before = *state;
        let unchanged = |state: &mut State| *state == before;
        drop(self.changed.wait_timeout_while(state, time, unchanged));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// How fast a copy is, and may be.
#[derive(Debug)]
pub(crate) struct Pace {
    rate: Option<f64>,
    /// Before this moment nothing more may be copied.
    next: Instant,
    /// Bytes per second of the last pieces.
    speed: Option<f64>,
    /// When the copy began, and how long it has rested since.
    began: Instant,
    rested: Duration,
}

impl Pace {
    pub fn new(rate: Option<f64>) -> Self {
        let now = Instant::now();
        Pace { rate, next: now, speed: None, began: now, rested: Duration::ZERO }
    }

    /// A new copy begins.
    pub fn begin(&mut self) {
        (self.began, self.rested) = (Instant::now(), Duration::ZERO);
    }

    /// Seconds since then in which it did not rest.
    pub fn seconds(&self) -> f64 {
        self.began.elapsed().saturating_sub(self.rested).as_secs_f64()
    }

    pub fn rested(&mut self, time: Duration) {
        self.rested += time;
    }

    /// How many bytes to copy next.
    pub fn piece(&self) -> u64 {
        match self.rate {
            Some(rate) => ((rate * PIECE) as u64).clamp(MIN_PIECE, MAX_PIECE),
            None => ((self.speed.unwrap_or(0.0) * PIECE) as u64).clamp(MIN_PIECE_FREE, MAX_PIECE),
        }
    }

    /// Wait until that many bytes may be copied, and as long as the copy has to rest.
    pub fn wait(&mut self, bytes: u64, flow: &Flow) -> Result<(), Stop> {
        loop {
            self.rested += flow.wait()?;
            let now = Instant::now();
            let Some(rate) = self.rate else { return Ok(()) };
            if now >= self.next {
                self.next = now.max(self.next) + Duration::from_secs_f64(bytes as f64 / rate);
                return Ok(());
            }
            flow.sleep(self.next - now);
        }
    }

    /// So many bytes took this long.
    pub fn moved(&mut self, bytes: u64, time: Duration) {
        let speed = bytes as f64 / time.as_secs_f64().max(1e-6);
        let before = self.speed.unwrap_or(speed);
        self.speed = Some(before + 0.5 * (speed - before));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    #[test]
    fn the_rate_is_kept() {
        let flow = Flow::default();
        let mut pace = Pace::new(Some(10e6));
        let began = Instant::now();
        let mut bytes = 0;
        while bytes < 2_000_000 {
            let piece = pace.piece();
            pace.wait(piece, &flow).unwrap();
            bytes += piece;
        }
        // The last piece does not wait for its own time.
        assert!(began.elapsed().as_secs_f64() >= (bytes - pace.piece()) as f64 / 10e6 - 1e-3);
    }

    #[test]
    fn a_copy_rests_and_can_be_given_up() {
        let flow = Arc::new(Flow::default());
        flow.set(State::Paused);
        let other = Arc::clone(&flow);
        let (told, went_on) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let (began, mut pace) = (Instant::now(), Pace::new(Some(1e6)));
            told.send((pace.wait(1, &other), pace.seconds(), began.elapsed().as_secs_f64())).unwrap();
            while other.state() == State::Running {
                other.sleep(Duration::from_secs(60));
            }
            other.wait()
        });
        assert!(went_on.recv_timeout(Duration::from_millis(60)).is_err(), "it rests");
        flow.set(State::Running);
        let (waited, seconds, total) = went_on.recv().unwrap();
        assert!(waited.is_ok() && seconds <= total, "resting does not count");
        flow.set(State::Cancelled);
        assert!(matches!(thread.join().unwrap(), Err(Stop::Cancelled)));
    }

    #[test]
    fn pieces_suit_the_speed() {
        let mut pace = Pace::new(None);
        assert_eq!(pace.piece(), MIN_PIECE_FREE);
        pace.moved(100 << 20, Duration::from_secs(1));
        assert_eq!(pace.piece(), (100 << 20) / 20);
        assert_eq!(Pace::new(Some(1e5)).piece(), MIN_PIECE);
        assert_eq!(Pace::new(Some(1e12)).piece(), MAX_PIECE);
    }
}
