//! The log of the storage servers: throughput over months, and the samples cut out of it.

use crate::sample::Sample;
use crate::settings::Settings;
use crate::statistics::quantile_of;

/// Throughput at even steps of time; what is missing is known to be missing.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerLog {
    /// What messages call it: a file, a server, a partition.
    pub name: String,
    /// When the first interval begins, in seconds.
    pub start: f64,
    /// Seconds of an interval.
    pub step: f64,
    /// Bytes per second of each interval; NaN where nothing was logged. Months of a log are kept in half
    /// the memory.
    values: Vec<f32>,
    /// Where the clock was set back by much.
    set_back: Vec<SetBack>,
    /// What a reader should know: clock steps, gaps, resets.
    pub warnings: Vec<String>,
}

/// A clock that was set back. On one side of it, the times are not those of other logs: which, nobody knows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SetBack {
    /// What it showed then, in seconds.
    pub at: f64,
    /// By how many seconds.
    pub by: f64,
}

/// Why there is no log.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum LogError {
    #[error("{name}: expected at least two lines with a time and a throughput, found {found}")]
    TooShort { name: String, found: usize },
    #[error(
        "{name}: from {from} s to {to} s at steps of {step} s are {count:.0} intervals, more than can be \
         kept; are the times in seconds?"
    )]
    TooLong { name: String, from: f64, to: f64, step: f64, count: f64 },
    #[error(
        "{name}: its times begin at {from:.0} s, thousands of years from now; are they milliseconds? A \
         column called \"time [ms]\" is understood"
    )]
    NotSeconds { name: String, from: f64 },
    #[error("{first} has steps of {first_step} s and {second} of {second_step} s; they cannot be summed")]
    Steps { first: String, first_step: f64, second: String, second_step: f64 },
}

/// Ten years of seconds.
const MAX_SPAN: f64 = 3.2e8;

/// Times beyond are no seconds: it is the year 5138.
const LATEST: f64 = 1e11;

/// A clock that is set back by this many lines or more moves bursts to other places of a run.
const FAR_BACK: f64 = 10.0;

/// However far apart the lines of a log are, one holds for at most this many usual distances.
const MAX_BRIDGED: f64 = 10.0;

impl ServerLog {
    /// From lines of (time, bytes per second), each valid until the next. Times that go back are left out,
    /// and said.
    pub fn new(name: &str, mut lines: Vec<(f64, f64)>) -> Result<Self, LogError> {
        let mut warnings = Vec::new();
        let read = lines.len();
        lines.retain(|line| line.0.is_finite() && line.1.is_finite());
        say(&mut warnings, read - lines.len(), "lines have no time or no throughput and were left out");
        let (mut latest, mut before) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
        let (mut back, mut repeated) = (0, 0);
        let mut set_back: Vec<SetBack> = Vec::new();
        lines.retain(|&(time, _)| {
            let forward = time > latest;
            if forward {
                latest = time;
            } else if time == before {
                repeated += 1;
            } else {
                back += 1;
                if before == latest {
                    set_back.push(SetBack { at: latest, by: latest - time });
                }
            }
            before = time;
            forward
        });
        say(&mut warnings, repeated, "lines repeat the time of the line before and were left out");
        if let Some(SetBack { at, by }) = set_back.first() {
            let what = format!(
                "the clock goes back by {by} s at {at:.0} s; {back} lines of times already seen were left out"
            );
            warnings.push(what);
        }
        let negative = lines.iter().filter(|line| line.1 < 0.0).count();
        say(&mut warnings, negative, "throughputs are negative and count as missing");
        if lines.len() < 2 {
            return Err(LogError::TooShort { name: name.into(), found: lines.len() });
        }
        let mut distances: Vec<f64> = lines.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        let step = quantile_of(&mut distances, 0.5);
        set_back.retain(|one| one.by >= FAR_BACK * step);
        let (from, to) = (lines[0].0, lines[lines.len() - 1].0 + step);
        if from > LATEST {
            return Err(LogError::NotSeconds { name: name.into(), from });
        }
        let [short, long] = [0.05, 0.95].map(|share| quantile_of(&mut distances, share));
        if long > 1.5 * step || short < step / 1.5 {
            warnings.push(format!(
                "its lines are {} to {} s apart; each holds until the next, and means over {} s were taken",
                rounded(short),
                rounded(long),
                rounded(step)
            ));
        }
        let longest = (1.5 * long).clamp(1.5 * step, MAX_BRIDGED * step);
        // The last interval counts if more than half of it is known.
        let count = ((to - from) / step - 1e-6).round();
        if count.is_nan() || count > MAX_SPAN {
            return Err(LogError::TooLong { name: name.into(), from, to, step, count });
        }
        let mut values = means(&lines, step, longest, count as usize);
        bridge(&mut values);
        let missing = values.iter().filter(|value| value.is_nan()).count();
        if missing > 0 {
            let share = 100.0 * missing as f64 / values.len() as f64;
            warnings.push(format!("{share:.1} % of the time nothing was logged"));
        }
        Ok(ServerLog { name: name.into(), start: from, step, values, set_back, warnings })
    }

    /// The sum of several servers. Where one of them is missing, the sum is.
    pub fn sum(name: &str, logs: &[ServerLog]) -> Result<Self, LogError> {
        let Some(first) = logs.first() else {
            return Err(LogError::TooShort { name: name.into(), found: 0 });
        };
        let start = logs.iter().map(|log| log.start).fold(f64::INFINITY, f64::min);
        let end = logs.iter().map(ServerLog::end).fold(f64::NEG_INFINITY, f64::max);
        let count = ((end - start) / first.step).round();
        if count.is_nan() || count > MAX_SPAN {
            let (name, from, to, step) = (name.into(), start, end, first.step);
            return Err(LogError::TooLong { name, from, to, step, count });
        }
        let mut values = vec![0.0; count as usize];
        let (mut warnings, mut set_back) = (Vec::new(), Vec::new());
        for log in logs {
            if (log.step / first.step - 1.0).abs() > 0.01 {
                return Err(LogError::Steps {
                    first: first.name.clone(),
                    first_step: first.step,
                    second: log.name.clone(),
                    second_step: log.step,
                });
            }
            let offset = ((log.start - start) / first.step).round() as usize;
            for (i, value) in values.iter_mut().enumerate() {
                *value += i.checked_sub(offset).and_then(|i| log.values.get(i)).copied().unwrap_or(f32::NAN);
            }
            set_back.extend(&log.set_back);
            warnings.extend(log.warnings.iter().map(|warning| format!("{}: {warning}", log.name)));
        }
        Ok(ServerLog { name: name.into(), start, step: first.step, values, set_back, warnings })
    }

    /// Where the clock was set back by much.
    pub fn set_back(&self) -> &[SetBack] {
        &self.set_back
    }

    /// When the last interval ends.
    pub fn end(&self) -> f64 {
        self.start + self.step * self.values.len() as f64
    }

    /// How many intervals there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Are there no intervals?
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The throughput at a moment, if it was logged.
    pub fn at(&self, time: f64) -> Option<f64> {
        let place = ((time - self.start) / self.step).floor();
        let value = if place >= 0.0 { self.values.get(place as usize) } else { None };
        value.filter(|value| !value.is_nan()).map(|value| f64::from(*value))
    }

    /// All throughputs that were logged.
    pub fn logged(&self) -> impl Iterator<Item = f64> + '_ {
        self.values.iter().filter(|value| !value.is_nan()).map(|value| f64::from(*value))
    }

    /// The log during a run, or why it is of no use.
    pub fn cut(&self, name: &str, start: f64, end: f64, settings: &Settings) -> Result<Sample, String> {
        if end.is_nan() || start.is_nan() || end <= start {
            return Err(format!(
                "the job ends at {end:.0} s, before its start at {start:.0} s: check the \
                 clock and daylight saving"
            ));
        }
        let first = ((start - self.start) / self.step).round() as i64;
        let last = ((end - self.start) / self.step).round() as i64;
        let count = (last - first).max(0);
        if (count as f64) < settings.least_points {
            return Err(format!(
                "too short: {count} lines of the log, expected at least {}",
                settings.least_points
            ));
        }
        if last <= 0 || first >= self.values.len() as i64 {
            return Err(format!(
                "not in the log: the run is from {start:.0} s to {end:.0} s, the log from {:.0} s to {:.0} s",
                self.start,
                self.end()
            ));
        }
        let value =
            |i: i64| usize::try_from(i).ok().and_then(|i| self.values.get(i)).copied().unwrap_or(f32::NAN);
        let mut values: Vec<f64> = (first..last).map(|i| f64::from(value(i))).collect();
        let covered = values.iter().filter(|value| !value.is_nan()).count() as f64 / count as f64;
        if covered < settings.coverage {
            let (found, least) = (100.0 * covered, 100.0 * settings.coverage);
            return Err(format!("the log covers {found:.0} % of the run, expected at least {least:.0} %"));
        }
        let gap = longest_gap(&values) as f64 * self.step;
        if gap > settings.longest_gap {
            return Err(format!(
                "the log has a gap of {gap:.0} s during the run, more than {} s",
                settings.longest_gap
            ));
        }
        fill(&mut values);
        Ok(Sample { name: name.into(), start, step: self.step, values })
    }
}

fn say(warnings: &mut Vec<String>, count: usize, what: &str) {
    if count > 0 {
        warnings.push(format!("{count} {what}"));
    }
}

/// A time for people: three digits.
fn rounded(seconds: f64) -> f64 {
    let digits = 10f64.powf(2.0 - seconds.abs().max(1e-9).log10().floor());
    (seconds * digits).round() / digits
}

/// The mean of each interval. A line holds until the next, but not longer than `longest`; an interval of
/// which half is not known is missing, and so is a negative throughput.
fn means(lines: &[(f64, f64)], step: f64, longest: f64, count: usize) -> Vec<f32> {
    let mut values = vec![f32::NAN; count];
    let Some(&(from, _)) = lines.first() else { return values };
    let (mut place, mut sum, mut known) = (0, 0.0, 0.0);
    for (i, &(time, value)) in lines.iter().enumerate() {
        let next = lines.get(i + 1).map_or(time + step, |next| next.0);
        let (begin, end) = ((time - from) / step, (next.min(time + longest) - from) / step);
        let first = begin as usize;
        for (interval, mean) in values.iter_mut().enumerate().take(end.ceil() as usize).skip(first) {
            if interval != place {
                (place, sum, known) = (interval, 0.0, 0.0);
            }
            if value >= 0.0 {
                let overlap = end.min(interval as f64 + 1.0) - begin.max(interval as f64);
                sum += overlap * value;
                known += overlap;
            }
            if known > 0.5 + 1e-6 {
                *mean = (sum / known) as f32;
            }
        }
    }
    values
}

/// Lines whose times jitter can fall into the same interval and leave the next one empty: a single missing
/// interval is its neighbours' mean.
fn bridge(values: &mut [f32]) {
    for i in 1..values.len().saturating_sub(1) {
        if values[i].is_nan() && !values[i - 1].is_nan() && !values[i + 1].is_nan() {
            values[i] = f32::midpoint(values[i - 1], values[i + 1]);
        }
    }
}

fn longest_gap(values: &[f64]) -> usize {
    let (mut longest, mut current) = (0, 0);
    for value in values {
        current = if value.is_nan() { current + 1 } else { 0 };
        longest = longest.max(current);
    }
    longest
}

/// Missing values on the straight line between those beside them.
fn fill(values: &mut [f64]) {
    let mut i = 0;
    while i < values.len() {
        if !values[i].is_nan() {
            i += 1;
            continue;
        }
        let end = (i..values.len()).find(|&j| !values[j].is_nan()).unwrap_or(values.len());
        let before = i.checked_sub(1).map(|before| values[before]);
        let behind = values.get(end).copied();
        let (from, to) = (before.or(behind).unwrap_or(0.0), behind.or(before).unwrap_or(0.0));
        let steps = (end - i + 1) as f64;
        for (step, value) in (1..).zip(&mut values[i..end]) {
            *value = from + (to - from) * f64::from(step) / steps;
        }
        i = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(lines: impl IntoIterator<Item = (f64, f64)>) -> ServerLog {
        ServerLog::new("log", lines.into_iter().collect()).unwrap()
    }

    fn even(count: usize) -> ServerLog {
        log((0..count).map(|i| (1000.0 + 2.0 * i as f64, i as f64)))
    }

    #[test]
    fn a_run_is_cut_out() {
        let found = even(1000).cut("run", 1200.0, 1400.0, &Settings::default()).unwrap();
        assert_eq!((found.values.len(), found.values[0], found.step), (100, 100.0, 2.0));
        assert_eq!(found.duration(), 200.0);
    }

    #[test]
    fn what_the_log_does_not_cover_is_said() {
        let log = even(1000);
        let refused = |start: f64, end: f64| log.cut("run", start, end, &Settings::default()).unwrap_err();
        assert!(refused(2900.0, 3200.0).contains("covers 33 %"), "{}", refused(2900.0, 3200.0));
        assert!(refused(9000.0, 9900.0).contains("not in the log"));
        assert!(refused(0.0, 900.0).contains("not in the log"));
        assert!(refused(1200.0, 1250.0).contains("too short"));
        assert!(refused(1400.0, 1200.0).contains("daylight saving"));
    }

    #[test]
    fn gaps_are_filled_or_refused() {
        let with_gap = |length: usize| {
            log((0..1000).filter(|i| !(300..300 + length).contains(i)).map(|i| (2.0 * i as f64, 5.0)))
        };
        let short = with_gap(10).cut("run", 400.0, 1400.0, &Settings::default()).unwrap();
        assert!(short.values.iter().all(|value| *value == 5.0));
        let long = with_gap(35).cut("run", 400.0, 1990.0, &Settings::default()).unwrap_err();
        assert!(long.contains("gap of 70 s"), "{long}");
        assert!(with_gap(40).warnings[0].contains("% of the time nothing was logged"));
    }

    #[test]
    fn a_clock_that_steps_back_is_said() {
        let lines = (0..100).map(|i| (2.0 * f64::from(i) - if i >= 50 { 30.0 } else { 0.0 }, 1.0));
        let found = log(lines);
        assert!(found.warnings[0].contains("goes back by 28 s"), "{:?}", found.warnings);
    }

    #[test]
    fn lines_that_repeat_a_time_are_said() {
        let found = log((0..100).flat_map(|i| [(2.0 * f64::from(i), 1.0); 2]));
        assert_eq!(found.warnings, ["100 lines repeat the time of the line before and were left out"]);
        assert_eq!((found.len(), found.step), (100, 2.0));
    }

    #[test]
    fn uneven_lines_hold_until_the_next() {
        // The throughput is the time; lines are 2, 4 or 6 s apart and tell the mean until the next.
        let mut lines = Vec::new();
        let mut time = 0.0;
        while time < 3000.0 {
            let distance = 2.0 * (1.0 + (lines.len() % 3) as f64);
            lines.push((time, time + distance / 2.0));
            time += distance;
        }
        let total: f64 = lines.windows(2).map(|pair| pair[0].1 * (pair[1].0 - pair[0].0)).sum();
        let found = log(lines.clone());
        assert!(found.warnings[0].contains("2 to 6 s apart"), "{:?}", found.warnings);
        assert_eq!((found.warnings.len(), found.step), (1, 4.0), "nothing is missing: {:?}", found.warnings);
        let sum: f64 = found.logged().sum::<f64>() * found.step;
        assert!((sum / total - 1.0).abs() < 0.01, "{sum} {total}");
        for place in (100..2900).step_by(100) {
            let (seen, expected) = (found.at(f64::from(place)).unwrap(), f64::from(place));
            assert!((seen - expected).abs() <= 6.0, "{seen} {expected}");
        }
        // A gap stays a gap.
        lines.retain(|line| !(1000.0..1200.0).contains(&line.0));
        let found = log(lines);
        assert!(found.at(1100.0).is_none());
        assert!(found.warnings[1].contains("% of the time nothing was logged"), "{:?}", found.warnings);
    }

    #[test]
    fn milliseconds_are_no_seconds() {
        let refused = ServerLog::new("log", (0..100).map(|i| (1.7e12 + 2e3 * f64::from(i), 1.0)).collect());
        assert!(refused.unwrap_err().to_string().contains("milliseconds?"));
    }

    #[test]
    fn servers_are_summed() {
        let found = ServerLog::sum("all", &[even(100), even(50)]).unwrap();
        assert_eq!(found.at(1020.0), Some(20.0));
        assert_eq!(found.at(1150.0), None);
        let other = log((0..50).map(|i| (1000.0 + 5.0 * f64::from(i), 1.0)));
        assert!(
            ServerLog::sum("all", &[even(100), other]).unwrap_err().to_string().contains("cannot be summed")
        );
    }

    #[test]
    fn logs_of_different_clocks_are_not_summed() {
        let since_1970 = log((0..50).map(|i| (1.7e9 + 2.0 * f64::from(i), 1.0)));
        let refused = ServerLog::sum("all", &[even(100), since_1970]).unwrap_err().to_string();
        assert!(refused.contains("more than can be kept"), "{refused}");
    }

    #[test]
    fn too_little_and_too_much() {
        assert!(ServerLog::new("log", vec![(0.0, 1.0)]).is_err());
        assert!(ServerLog::new("log", vec![(0.0, 1.0), (1.0, f64::NAN)]).is_err());
        let wide = ServerLog::new("log", vec![(0.0, 1.0), (1.0, 1.0), (2.0, 1.0), (1e12, 1.0)]);
        assert!(wide.unwrap_err().to_string().contains("are the times in seconds?"));
    }
}
