//! FTIO's "custom JSON": what people write by hand, or with scripts of their own, to be analysed.
//!
//! Besides TMIO's sections, of which some may be missing, it can be
//!
//! - a `bandwidth` that stands alone, outside any section;
//! - lists that stand alone: one whose name begins with `b`, and either one whose name begins with `t`
//!   (bandwidth of the application from each time on), or two of which one ends in `s` and the other
//!   in `e` (bandwidth of phases, their starts and ends).
//!
//! In all of them the ends of phases may be missing: then each lasts until the next one starts.

use super::digest::Series;

/// Gives phases without ends the start of the next one, and the last its own start, as FTIO does.
pub(super) fn add_missing_ends(series: &mut Series, mark: [usize; 10]) {
    let [_, _, starts_before, ends_before, ..] = mark;
    if series.t_rank_e.len() == ends_before
        && let Some(starts) = series.t_rank_s.get(starts_before..)
        && let Some(last) = starts.last()
    {
        let ends = starts.iter().skip(1).chain([last]);
        series.t_rank_e.extend(ends);
    }
}

/// Makes a section of lists that stand alone.
pub(super) fn from_lists(lists: Vec<(Vec<u8>, Vec<f64>)>) -> Result<Series, String> {
    let describe = || {
        let names: Vec<String> = lists.iter().map(|(name, _)| name.escape_ascii().to_string()).collect();
        format!(
            "expected TMIO's sections, or one list of bandwidths (b…) and one or two of times (t…, or t…s and t…e), \
             found lists named {}",
            names.join(", ")
        )
    };
    let message = describe();
    let (mut bandwidths, mut times): (Vec<_>, Vec<_>) =
        lists.into_iter().partition(|(name, _)| name.starts_with(b"b"));
    let (Some((_, bandwidth)), true) = (bandwidths.pop(), bandwidths.is_empty()) else { return Err(message) };
    let mut series = Series { flushes: 1, ..Series::default() };
    match times.len() {
        1 => {
            series.t_overlap = times.pop().map(|(_, list)| list).unwrap_or_default();
            series.b_overlap_avr = bandwidth;
        }
        2 => {
            for (name, list) in times {
                match name.last() {
                    Some(b's') => series.t_rank_s = list,
                    Some(b'e') => series.t_rank_e = list,
                    _ => return Err(message),
                }
            }
            series.b_rank_avr = bandwidth;
        }
        _ => return Err(message),
    }
    let lengths = [
        (series.b_rank_avr.len(), series.t_rank_s.len()),
        (series.b_rank_avr.len(), series.t_rank_e.len()),
        (series.b_overlap_avr.len(), series.t_overlap.len()),
    ];
    match lengths.into_iter().find(|(bandwidths, times)| bandwidths != times) {
        Some((bandwidths, times)) => {
            Err(format!("expected as many bandwidths as times, found {bandwidths} and {times}"))
        }
        None => Ok(series),
    }
}
