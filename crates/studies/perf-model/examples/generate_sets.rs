//! Measurements to time modelling with: `generate_sets SETS POINTS [SEED]` writes JSON lines to standard
//! output.
//!
//! As a monitored application writes them: one parameter, whole nodes of 36 processes, callpaths such as
//! `strace_size..->scall->call17`, the metrics size, time and hits in turn, 5 % noise on the times.

use std::env;
use std::io::{BufWriter, Write};

fn main() -> std::io::Result<()> {
    let mut arguments = env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let sets = arguments.next().unwrap_or(5000);
    let points = arguments.next().unwrap_or(39);
    let mut state = arguments.next().unwrap_or(1);
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    };
    let mut out = BufWriter::new(std::io::stdout().lock());
    for set in 0..sets {
        let (kind, metric) =
            [("size", "Size (B)"), ("time", "Time (s)"), ("hits", "Hits")][(set % 3) as usize];
        let shape: fn(f64) -> f64 = match set % 7 {
            0 => |_| 0.0,
            1 => |p| p,
            2 => |p| p * p.log2(),
            3 => |p| p.sqrt(),
            4 => |p| 1e4 / p,
            5 => |p| p.log2(),
            _ => |p| p.powf(1.5),
        };
        let (constant, coefficient) = (1.0 + 1e3 * uniform(), 0.1 + 10.0 * uniform());
        for node in 1..=points {
            let processes = 36 * node;
            let mut value = constant + coefficient * shape(processes as f64);
            if kind == "time" {
                // Twelve uniforms less six: near enough to a normal distribution.
                let normal: f64 = (0..12).map(|_| uniform()).sum::<f64>() - 6.0;
                value *= 1.0 + 0.05 * normal;
            } else {
                value = value.round();
            }
            writeln!(
                out,
                "{{\"params\": {{\"Processes\": {processes}}}, \"callpath\": \
                 \"strace_{kind}..->scall->call{}\", \"metric\": \"{metric}\", \"value\": {value:?}}}",
                set / 3
            )?;
        }
    }
    out.flush()
}
