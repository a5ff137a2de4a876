//! TMIO's `io_time`: where the time of the job went, in seconds summed over ranks.

use super::phases::Phases;
use crate::{Class, RankInfo};
use std::collections::BTreeMap;

macro_rules! io_time {
    ($($(#[$doc:meta])* $field:ident = $key:literal;)*) => {
        /// Times in seconds; sums over all ranks unless they say otherwise.
        #[derive(Clone, Copy, Debug, Default, PartialEq)]
        pub struct IoTime { $($(#[$doc])* pub $field: f64,)* }

        impl IoTime {
            /// The value of one of TMIO's keys (`delta_t_agg`…).
            pub fn get(&self, key: &str) -> Option<f64> {
                match key { $($key => Some(self.$field),)* _ => None }
            }

            pub(super) fn get_mut(&mut self, key: &[u8]) -> Option<&mut f64> {
                $(if key == $key.as_bytes() { return Some(&mut self.$field); })*
                // Names of older versions.
                match key {
                    b"delta_t_overhead_runtime" => Some(&mut self.overhead_during_run),
                    b"delta_t_rank0_overhead_runtime" => Some(&mut self.rank0_overhead_during_run),
                    _ => None,
                }
            }

            /// Adds what a later flush says.
            pub(super) fn add(&mut self, other: &IoTime) { $(self.$field += other.$field;)* }
        }
    };
}

io_time! {
    /// From `MPI_Init` to `MPI_Finalize`, without the tracer's own time.
    application = "delta_t_agg";
    /// Blocking I/O and time lost to nonblocking I/O.
    io = "delta_t_agg_io";
    /// Blocking reads.
    read_sync = "delta_t_sr";
    /// Nonblocking reads, until they were complete.
    read_async_actual = "delta_t_ara";
    /// Nonblocking reads, until they had to be complete.
    read_async_required = "delta_t_arr";
    /// Nonblocking reads, from when they had to be complete until they were.
    read_async_lost = "delta_t_ar_lost";
    /// Blocking writes.
    write_sync = "delta_t_sw";
    /// Nonblocking writes, until they were complete.
    write_async_actual = "delta_t_awa";
    /// Nonblocking writes, until they had to be complete.
    write_async_required = "delta_t_awr";
    /// Nonblocking writes, from when they had to be complete until they were.
    write_async_lost = "delta_t_aw_lost";
    /// The tracer's own time.
    overhead = "delta_t_overhead";
    /// Part of it outside the run: setting up and writing out.
    overhead_after_run = "delta_t_overhead_post_runtime";
    /// Part of it within the run: recording.
    overhead_during_run = "delta_t_overhead_peri_runtime";
    /// Rank 0, with all of the tracer's time.
    rank0 = "delta_t_rank0";
    /// Rank 0, without the tracer's time.
    rank0_application = "delta_t_rank0_app";
    /// The tracer's time on rank 0 outside the run.
    rank0_overhead_after_run = "delta_t_rank0_overhead_post_runtime";
    /// The tracer's time on rank 0 within the run.
    rank0_overhead_during_run = "delta_t_rank0_overhead_peri_runtime";
    /// Time of TMIO's own frequency analysis (MessagePack only).
    overhead_analysis = "delta_t_overhead_dft";
}

impl IoTime {
    /// From the phases and what the ranks say of themselves.
    ///
    /// A rank's time ends with its last clock reading, or, if the job did not reach `MPI_Finalize`,
    /// with its last operation.
    pub fn of(phases: &Phases, ranks: &BTreeMap<u32, RankInfo>) -> Self {
        let mut time = Self::default();
        let seconds = |nanoseconds: f64| nanoseconds * 1e-9;
        for (number, rank) in ranks {
            let last_operation = Class::ALL
                .iter()
                .flat_map(|&class| phases.of_rank(*number, class))
                .map(|phase| phase.end)
                .max();
            let start = rank.clock.first().map_or(0, |sample| sample.job);
            let reading = rank.clock.last().map_or(start, |sample| sample.job);
            let end = if rank.finished { reading } else { reading.max(last_operation.unwrap_or(reading)) };
            let elapsed = seconds(end.saturating_sub(start).max(0) as f64);
            let overhead = seconds(rank.overhead.max(0) as f64);
            let during = seconds(rank.operations as f64 * rank.overhead_per_op.max(0.0)).min(overhead);
            let after = overhead - during;
            time.application += elapsed - during;
            time.overhead += overhead;
            time.overhead_during_run += during;
            time.overhead_after_run += after;
            if *number == 0 {
                time.rank0 = elapsed + after;
                time.rank0_application = elapsed - during;
                time.rank0_overhead_after_run = after;
                time.rank0_overhead_during_run = during;
            }
        }
        let [write_sync, read_sync, write_async, read_async] = Class::ALL.map(|class| {
            let (mut actual, mut required, mut lost) = (0.0, 0.0, 0.0);
            for (_, phase) in phases.of_class(class) {
                let needed = phase.required_end.unwrap_or(phase.end);
                actual += phase.end.saturating_sub(phase.start) as f64;
                required += needed.saturating_sub(phase.start) as f64;
                lost += phase.end.saturating_sub(needed).max(0) as f64;
            }
            (seconds(actual), seconds(required), seconds(lost))
        });
        time.write_sync = write_sync.0;
        time.read_sync = read_sync.0;
        (time.write_async_actual, time.write_async_required, time.write_async_lost) = write_async;
        (time.read_async_actual, time.read_async_required, time.read_async_lost) = read_async;
        time.io = time.write_async_lost + time.read_async_lost + time.read_sync + time.write_sync;
        time
    }
}
