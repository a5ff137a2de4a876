//! Writes TMIO's MessagePack: five arrays for each flush.

use super::Flush;
use super::phases::Phase;
use super::summary::Totals;
use crate::{Class, Direction};
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
        array(out, 14)?;
        string(out, class.name())?;
        boolean(out, matches!(class, Class::ReadAsync | Class::WriteAsync))?;
        boolean(out, direction(class) == Direction::Write)?;
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
            unsigned(out, value)?;
        }
        array(out, totals.total_io_phases)?;
        flush.phases.of_class(class).try_for_each(|(_, phase)| self::phase(out, &phase))?;
    }
    array(out, 1 + IO_TIME.len() as u64)?;
    string(out, "io_time")?;
    IO_TIME.into_iter().try_for_each(|key| double(out, flush.io_time.get(key).unwrap_or_default()))
}

fn direction(class: Class) -> Direction {
    match class {
        Class::ReadAsync | Class::ReadSync => Direction::Read,
        Class::WriteAsync | Class::WriteSync => Direction::Write,
    }
}

fn phase(out: &mut impl Write, phase: &Phase) -> io::Result<()> {
    let seconds = |nanoseconds: i64| nanoseconds as f64 / 1e9;
    array(out, 9)?;
    unsigned(out, phase.bytes)?;
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
    unsigned(out, phase.operations)
}

/// As msgpack-c does: whole numbers as integers.
fn double(out: &mut impl Write, value: f64) -> io::Result<()> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value == value.trunc() && value.abs() <= EXACT {
        return if value >= 0.0 { unsigned(out, value as u64) } else { negative(out, value as i64) };
    }
    tagged(out, 0xcb, &value.to_be_bytes())
}

fn unsigned(out: &mut impl Write, value: u64) -> io::Result<()> {
    if let Ok(small) = u8::try_from(value) {
        return if small < 0x80 { out.write_all(&[small]) } else { out.write_all(&[0xcc, small]) };
    }
    if let Ok(value) = u16::try_from(value) {
        return tagged(out, 0xcd, &value.to_be_bytes());
    }
    match u32::try_from(value) {
        Ok(value) => tagged(out, 0xce, &value.to_be_bytes()),
        Err(_) => tagged(out, 0xcf, &value.to_be_bytes()),
    }
}

fn negative(out: &mut impl Write, value: i64) -> io::Result<()> {
    if let Ok(value) = i8::try_from(value) {
        let [byte] = value.to_be_bytes();
        return if value >= -32 { out.write_all(&[byte]) } else { out.write_all(&[0xd0, byte]) };
    }
    if let Ok(value) = i16::try_from(value) {
        return tagged(out, 0xd1, &value.to_be_bytes());
    }
    match i32::try_from(value) {
        Ok(value) => tagged(out, 0xd2, &value.to_be_bytes()),
        Err(_) => tagged(out, 0xd3, &value.to_be_bytes()),
    }
}

fn boolean(out: &mut impl Write, value: bool) -> io::Result<()> {
    out.write_all(&[if value { 0xc3 } else { 0xc2 }])
}

/// Of at most 31 bytes.
fn string(out: &mut impl Write, text: &str) -> io::Result<()> {
    out.write_all(&[0xa0 | (text.len() as u8 & 0x1f)])?;
    out.write_all(text.as_bytes())
}

fn array(out: &mut impl Write, length: u64) -> io::Result<()> {
    match (u16::try_from(length), u32::try_from(length)) {
        (Ok(length @ 0..16), _) => out.write_all(&[0x90 | length as u8]),
        (Ok(length), _) => tagged(out, 0xdc, &length.to_be_bytes()),
        (_, Ok(length)) => tagged(out, 0xdd, &length.to_be_bytes()),
        _ => Err(io::Error::other("more than 4294967295 phases do not fit TMIO's MessagePack")),
    }
}

fn tagged(out: &mut impl Write, tag: u8, bytes: &[u8]) -> io::Result<()> {
    out.write_all(&[tag])?;
    out.write_all(bytes)
}
