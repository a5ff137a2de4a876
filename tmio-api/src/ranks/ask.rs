//! Asking the helper, inside `MPI_Finalize`: a request in the control page, and its answer, if that comes in
//! time.
//!
//! The helper alone touches the trace's file system. If that does not answer, the helper does not either, and
//! nobody waits for it longer than `TMIO_FINALIZE_TIMEOUT`.

use crate::process::preloaded;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::time::{Duration, Instant};
use tmio_spool::control::{self, ANSWER, ANSWER_WORDS, FAILED, HELPER, REQUEST, REQUEST_WORDS, WORDS};

/// The helper of this node.
#[derive(Debug)]
pub(crate) struct Helper {
    deadline: Instant,
    limit: Duration,
    late: bool,
}

/// What a request is answered with.
pub(crate) type Answer = Result<([u64; WORDS - 1], Vec<u8>), String>;

impl Helper {
    /// All its work together may take `limit` from now on.
    pub(crate) fn new(limit: Duration) -> Self {
        Self { deadline: Instant::now() + limit, limit, late: false }
    }

    fn word(index: usize) -> Option<&'static AtomicU64> {
        let page = (preloaded::get()?.control)();
        // SAFETY: null, or the beginning of the control page, which is longer and stays as long as the
        // process.
        if page.is_null() { None } else { Some(unsafe { &*page.add(index) }) }
    }

    /// Asks for something, and waits for the answer, if there is time.
    pub(crate) fn ask(&mut self, what: u64, numbers: [u64; WORDS - 1], text: &[u8]) -> Answer {
        if self.late {
            return Err(self.too_late());
        }
        let core = preloaded::get().ok_or(NO_HELPER)?;
        // A rank that records nothing has none yet: what it asks for is about the job.
        (core.spool)();
        (core.helper)(true);
        let (Some(request), Some(answer)) = (Self::word(REQUEST), Self::word(ANSWER)) else {
            return Err(NO_HELPER.to_owned());
        };
        let number = request.load(Relaxed) + 1;
        write(REQUEST_WORDS, what, numbers);
        write_text(control::REQUEST_TEXT, text);
        request.store(number, Release);
        let mut pause = Duration::from_micros(20);
        while answer.load(Acquire) != number {
            (core.helper)(true);
            if Instant::now() >= self.deadline {
                self.late = true;
                return Err(self.too_late());
            }
            if !is_alive() {
                return Err(NO_HELPER.to_owned());
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(2));
        }
        let (status, numbers) = read(ANSWER_WORDS);
        let text = read_text(control::ANSWER_TEXT);
        if status == FAILED {
            return Err(String::from_utf8_lossy(&text).into_owned());
        }
        Ok((numbers, text))
    }

    /// Whether some answer did not come in time.
    pub(crate) fn is_late(&self) -> bool {
        self.late
    }

    /// Why there is no trace if other ranks were waited for in vain.
    pub(crate) fn nobody_answered(&self) -> String {
        format!("not every rank answered within TMIO_FINALIZE_TIMEOUT={}", self.limit.as_secs_f64())
    }

    fn too_late(&self) -> String {
        format!("the file system took longer than TMIO_FINALIZE_TIMEOUT={}", self.limit.as_secs_f64())
    }
}

const NO_HELPER: &str = "no helper process could be started";

/// Whether the helper runs, or is being started.
fn is_alive() -> bool {
    let Some(helper) = Helper::word(HELPER).map(|helper| helper.load(Acquire)) else { return false };
    // SAFETY: signal 0 is never delivered; the call only checks the id.
    unsafe { libc::kill(helper as u32 as libc::pid_t, 0) == 0 }
}

fn write(index: usize, first: u64, numbers: [u64; WORDS - 1]) {
    for (place, value) in (index..).zip(std::iter::once(first).chain(numbers)) {
        if let Some(word) = Helper::word(place) {
            word.store(value, Relaxed);
        }
    }
}

fn read(index: usize) -> (u64, [u64; WORDS - 1]) {
    let word = |place: usize| Helper::word(place).map_or(0, |word| word.load(Relaxed));
    let mut numbers = [0; WORDS - 1];
    numbers.iter_mut().zip(index + 1..).for_each(|(number, place)| *number = word(place));
    (word(index), numbers)
}

/// Bytes of a text in the page: the other side stores or reads them before or after, never meanwhile.
fn write_text(offset: usize, text: &[u8]) {
    let text = text.get(..text.len().min(control::TEXT_BYTES - 8)).unwrap_or_default();
    if let Some(place) = Helper::word(offset / 8) {
        place.store(text.len() as u64, Relaxed);
        // SAFETY: the page has room for so many bytes behind their number.
        unsafe {
            let place = std::ptr::from_ref(place).cast::<u8>().cast_mut().add(8);
            std::ptr::copy_nonoverlapping(text.as_ptr(), place, text.len());
        }
    }
}

fn read_text(offset: usize) -> Vec<u8> {
    let Some(place) = Helper::word(offset / 8) else { return Vec::new() };
    let length = (place.load(Relaxed) as usize).min(control::TEXT_BYTES - 8);
    // SAFETY: the page has so many bytes behind their number.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(place).cast::<u8>().add(8), length) }.to_vec()
}
