//! Writes TMIO's MessagePack: five arrays for each flush.

use super::Flush;
use super::phases::Phase;
use super::summary::Totals;
use crate::Class;
use rmp::encode::{write_array_len, write_bool, write_f64, write_sint, write_str, write_uint};
use std::io::{self, Write};

/// The order in which TMIO writes the classes.
const CLASSES: [Class; 4] = [Class::ReadAsync, Class::ReadSync, Class::WriteAsync, Class::WriteSync];

/// The keys of the array `io_time`, in its order.
pub(super) const IO_TIME: [&str; 18] = [
    "delta_t_agg",
    "delta_t_sr",
    "delta_t_sw",
    "delta_t_ara",
    "delta_t_arr",
    "delta_t_ar_lost",
    "delta_t_awa",
    "delta_t_awr",
    "delta_t_aw_lost",
    "delta_t_agg_io",
    "delta_t_rank0",
    "delta_t_rank0_app",
    "delta_t_rank0_overhead_post_runtime",
    "delta_t_rank0_overhead_peri_runtime",
    "delta_t_overhead",
    "delta_t_overhead_post_runtime",
    "delta_t_overhead_peri_runtime",
    "delta_t_overhead_dft",
];

/// Writes one flush; further flushes are appended.
pub fn msgpack(flush: &Flush<'_>, out: &mut impl Write) -> io::Result<()> {
    for class in CLASSES {
        let totals = Totals::of(flush.phases, class);
        write_array_len(out, 14)?;
        write_str(out, class.name())?;
        write_bool(out, matches!(class, Class::ReadAsync | Class::WriteAsync))?;
        write_bool(out, matches!(class, Class::WriteSync | Class::WriteAsync))?;
        for value in [
            totals.total_bytes,
            totals.max_bytes_per_rank,
            totals.max_bytes_per_phase,
            totals.max_io_phases_per_rank,
            totals.total_io_phases,
            totals.max_io_ops_in_phase,
            totals.max_io_ops_per_rank,
            totals.total_io_ops,
            totals.number_of_ranks,
            u64::from(flush.processes),
        ] {
            write_uint(out, value)?;
        }
        let too_many = |_| io::Error::other("more than 4294967295 phases do not fit TMIO's MessagePack");
        write_array_len(out, u32::try_from(totals.total_io_phases).map_err(too_many)?)?;
        flush.phases.of_class(class).try_for_each(|(_, phase)| self::phase(out, &phase))?;
    }
    write_array_len(out, 1 + IO_TIME.len() as u32)?;
    write_str(out, "io_time")?;
    IO_TIME.into_iter().try_for_each(|key| double(out, flush.io_time.get(key).unwrap_or_default()))
}

fn phase(out: &mut impl Write, phase: &Phase) -> io::Result<()> {
    let seconds = |nanoseconds: i64| nanoseconds as f64 / 1e9;
    write_array_len(out, 9)?;
    write_uint(out, phase.bytes)?;
    for value in [
        seconds(phase.start),
        seconds(phase.end),
        phase.required_end.map_or(0.0, seconds),
        phase.throughput_sum,
        phase.throughput(),
        phase.required_sum,
        phase.required(),
    ] {
        double(out, value)?;
    }
    write_uint(out, phase.operations)?;
    Ok(())
}

/// As msgpack-c does: whole numbers as integers.
fn double(out: &mut impl Write, value: f64) -> io::Result<()> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value == value.trunc() && value.abs() <= EXACT {
        write_sint(out, value as i64)?;
    } else {
        write_f64(out, value)?;
    }
    Ok(())
}
