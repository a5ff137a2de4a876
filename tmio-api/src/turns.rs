//! Turns of jobs at their file system (`TMIO_IOSETS`): the gate of the crate `turns`. Built without the
//! feature `gate`, operations never wait, and a job that asks for turns is told that there are none.

#[cfg(feature = "gate")]
pub use turns::gate::{Turn, announce, enter};
#[cfg(feature = "gate")]
pub(crate) use turns::gate::{abandon, finish, opened};

#[cfg(not(feature = "gate"))]
pub use without::{Turn, announce, enter};
#[cfg(not(feature = "gate"))]
pub(crate) use without::{abandon, finish, opened};

use crate::process::message;
use turns::{IoSets, Place};

/// Begins to ask for turns.
#[cfg(feature = "gate")]
pub(crate) fn start(choice: &IoSets, job: &str, run: u64, host: &str, place: Place) {
    let process = turns::gate::Process {
        is_on: crate::process::state::is_on,
        begin_own_work: || crate::process::thread::with(|thread| thread.begin_own_work()),
        random: crate::process::system::random,
        warn: |text| message::warn(text),
        info: |text| message::info(text),
    };
    turns::gate::start(choice, job, run, host, place, process);
}

/// Says that there are no turns in this build.
#[cfg(not(feature = "gate"))]
pub(crate) fn start(_: &IoSets, _: &str, _: u64, _: &str, _: Place) {
    message::warn("TMIO_IOSETS: this tracer was built without turns; the job does not wait for its turn");
}

/// What the gate has, doing nothing.
#[cfg(not(feature = "gate"))]
mod without {
    /// An operation under way.
    #[derive(Debug)]
    pub struct Turn;

    impl Turn {
        /// The operation has moved so many bytes.
        pub fn moved(&self, _: u64) {}
    }

    impl Drop for Turn {
        fn drop(&mut self) {}
    }

    /// Before an operation that moves data.
    pub fn enter(_: usize, _: bool, _: impl FnMut()) -> Turn {
        Turn
    }

    /// An operation that must not wait begins.
    pub fn announce(_: usize, _: u64) {}

    pub(crate) fn opened(_: usize, _: &str) {}

    pub(crate) fn finish(_: bool) {}

    pub(crate) fn abandon(_: bool) {}
}
