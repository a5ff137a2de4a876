//! Units of times, sizes and rates, as people write them.

/// Seconds in a unit of time: `s`, `ms`, `us` (also `micro`, `µs`), `ns`, `min`, `h`.
pub fn time(unit: &str) -> Option<f64> {
    Some(match unit.trim().to_ascii_lowercase().as_str() {
        "s" | "sec" | "second" | "seconds" => 1.0,
        "ms" | "milli" | "msec" | "milliseconds" => 1e-3,
        "us" | "micro" | "usec" | "µs" | "microseconds" => 1e-6,
        "ns" | "nano" | "nsec" | "nanoseconds" => 1e-9,
        "min" | "minutes" => 60.0,
        "h" | "hours" => 3600.0,
        _ => return None,
    })
}

/// Bytes in a unit of size: `B`, `kB`, `MB`, `GB`, `TB` by thousands; `KiB`, `MiB`, `GiB`, `TiB` by 1024.
pub fn size(unit: &str) -> Option<f64> {
    Some(match unit.trim().to_ascii_lowercase().as_str() {
        "b" | "byte" | "bytes" => 1.0,
        "kb" => 1e3,
        "mb" => 1e6,
        "gb" => 1e9,
        "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1048576.0,
        "gib" => 1073741824.0,
        "tib" => 1099511627776.0,
        _ => return None,
    })
}

/// Bytes per second in a unit of bandwidth: a size, with or without `/s`.
pub fn rate(unit: &str) -> Option<f64> {
    let unit = unit.trim();
    size(unit.strip_suffix("/s").unwrap_or(unit))
}

/// A column name and its unit: `start_us`, `start [us]`, `start (us)`.
pub fn split(name: &str) -> (&str, Option<&str>) {
    let name = name.trim();
    for (open, close) in [('[', ']'), ('(', ')')] {
        if let Some((before, unit)) = name.strip_suffix(close).and_then(|name| name.rsplit_once(open)) {
            return (before.trim(), Some(unit.trim()));
        }
    }
    match name.rsplit_once('_') {
        Some((before, unit)) if time(unit).or(size(unit)).is_some() && !before.is_empty() => {
            // `b_s`, `t_s` are a bandwidth and a start in FTIO's files, not seconds of something.
            if unit == "s" { (name, None) } else { (before, Some(unit)) }
        }
        _ => (name, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_carry_their_unit() {
        assert_eq!(split("start_us"), ("start", Some("us")));
        assert_eq!(split("end [ms]"), ("end", Some("ms")));
        assert_eq!(split("volume (MiB)"), ("volume", Some("MiB")));
        assert_eq!(split("t_s"), ("t_s", None));
        assert_eq!(split("total_bytes"), ("total", Some("bytes")));
        assert_eq!(split("rank"), ("rank", None));
    }

    #[test]
    fn mebibytes_are_not_megabytes() {
        assert_eq!((rate("MiB/s"), rate("MB/s"), rate("mib")), (Some(1048576.0), Some(1e6), Some(1048576.0)));
        assert_eq!((time("micro"), time("fortnight")), (Some(1e-6), None));
    }
}
