//! File system work with a deadline.
//!
//! A file server that does not answer keeps a system call for minutes, and nothing can be done about
//! that. In `MPI_Finalize` such calls are therefore made by a thread, for which nobody waits longer
//! than `TMIO_FINALIZE_TIMEOUT`: past it the thread is left behind, and the job ends.

use crate::flush_thread::with_all_signals_blocked;
use crate::thread;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

type Job = Box<dyn FnOnce() -> Result<(), String> + Send>;
type Answer = Result<(), String>;

#[derive(Debug)]
pub(crate) struct Worker {
    deadline: Instant,
    limit: Duration,
    /// `None`: there can be no thread; work is done where it is asked for.
    thread: Option<(Sender<Job>, Receiver<Answer>)>,
    late: bool,
}

impl Worker {
    /// All its work together may take `limit` from now on.
    pub(crate) fn new(limit: Duration) -> Self {
        let (jobs, to_do) = mpsc::channel::<Job>();
        let (done, results) = mpsc::channel();
        let started = with_all_signals_blocked(|| {
            std::thread::Builder::new().name("tmio-write".to_owned()).stack_size(1 << 20).spawn(move || {
                thread::with(|thread| thread.begin_own_work());
                for job in to_do {
                    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
                    if done.send(result.unwrap_or_else(|_| Err("an internal error".to_owned()))).is_err() {
                        return;
                    }
                }
            })
        });
        let thread = started.is_ok().then_some((jobs, results));
        Self { deadline: Instant::now() + limit, limit, thread, late: false }
    }

    /// Does some work and waits for it, if there is time.
    pub(crate) fn run(
        &mut self,
        job: impl FnOnce() -> Result<(), String> + Send + 'static,
    ) -> Result<(), String> {
        let Some((jobs, results)) = &self.thread else { return job() };
        let left = self.deadline.saturating_duration_since(Instant::now());
        if self.late || left.is_zero() || jobs.send(Box::new(job)).is_err() {
            return Err(self.too_late());
        }
        match results.recv_timeout(left) {
            Ok(result) => result,
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                self.late = true;
                Err(self.too_late())
            }
        }
    }

    /// Whether some work was left behind.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_waits_past_the_deadline() {
        let mut worker = Worker::new(Duration::from_millis(200));
        assert_eq!(worker.run(|| Ok(())), Ok(()));
        assert_eq!(worker.run(|| Err("no".to_owned())), Err("no".to_owned()));
        assert!(!worker.is_late());
        let stuck = worker.run(|| {
            std::thread::sleep(Duration::from_secs(3600));
            Ok(())
        });
        assert!(stuck.unwrap_err().contains("TMIO_FINALIZE_TIMEOUT=0.2"));
        assert!(worker.is_late() && worker.run(|| Ok(())).is_err());
    }
}
