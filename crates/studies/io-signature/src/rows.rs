//! Logs of servers whose tables are not one column per quantity: a row for each server and moment, as LMT's
//! database gives them, or the day and the time of day in columns of their own, as collectl writes them.
//! All other tables are read by ftio-core.

use crate::moment::moment;
use sources::request::Class;
use sources::series::Series;
use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read};

/// The names a column goes by.
const TIME: &[&str] = &["time", "timestamp", "ts", "datetime", "utc"];
const SERVER: &[&str] = &[
    "ost",
    "ost_name",
    "oss",
    "server",
    "host",
    "hostname",
    "target",
    "partition",
    "filesystem",
    "instance",
    "controller",
];

/// Why such a log cannot be read.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)] // the messages say it
pub enum RowsError {
    #[error("{name}: {source}")]
    Io { name: String, source: io::Error },
    #[error("{name}: expected rows with a time and numbers, found none in {lines} lines")]
    NoRows { name: String, lines: usize },
}

/// What the columns are.
#[derive(Clone, Debug, PartialEq)]
struct Columns {
    separator: Option<char>,
    day: Option<usize>,
    time: usize,
    server: Option<usize>,
    /// Place, name and bytes in a unit of every other column; 0 if the name does not tell.
    values: Vec<(usize, String, f64)>,
}

impl Columns {
    /// Of a line that names them; `None` if ftio-core reads such tables.
    fn of(line: &str) -> Option<Self> {
        let line = line.trim_start_matches('#').trim();
        let separator = [',', ';', '\t', '|'].into_iter().find(|separator| line.contains(*separator));
        let names = fields(line, separator);
        let place = |wanted: &[&str]| {
            names.iter().position(|name| wanted.iter().any(|wanted| name.eq_ignore_ascii_case(wanted)))
        };
        let day = place(&["date"]).filter(|_| place(TIME).is_some());
        let time = place(TIME).or_else(|| place(&["date"]))?;
        let server = place(SERVER);
        if day.is_none() && server.is_none() {
            return None;
        }
        // collectl names its subsystems in brackets; of its columns only those in KB or MB are throughput.
        let collectl = names.iter().any(|name| name.starts_with('['));
        let unit = |name: &str| match name.rsplit(']').next().unwrap_or(name) {
            _ if !collectl => 0.0,
            name if name.contains("KB") => 1024.0,
            name if name.contains("MB") => 1_048_576.0,
            _ => 0.0,
        };
        let taken = [Some(time), day, server];
        let values: Vec<(usize, String, f64)> = names
            .iter()
            .enumerate()
            .filter(|(place, _)| !taken.contains(&Some(*place)))
            .map(|(place, name)| (place, (*name).to_owned(), unit(name)))
            .filter(|(_, _, unit)| !collectl || *unit > 0.0)
            .collect();
        (!values.is_empty()).then_some(Columns { separator, day, time, server, values })
    }

    /// The moment of a row, if it has one.
    fn moment(&self, fields: &[&str]) -> Option<f64> {
        let time = fields.get(self.time)?;
        let Some(day) = self.day else { return moment(time, 0.0) };
        let day = fields.get(day)?;
        let digits = day.len() == 8 && day.bytes().all(|byte| byte.is_ascii_digit());
        let day = if digits {
            format!("{}-{}-{}", &day[..4], &day[4..6], &day[6..])
        } else {
            day.replace('/', "-")
        };
        moment(&format!("{day}T{time}"), 0.0)
    }
}

fn fields(line: &str, separator: Option<char>) -> Vec<&str> {
    match separator {
        Some(separator) => line.split(separator).map(|field| field.trim().trim_matches('"')).collect(),
        None => line.split_whitespace().collect(),
    }
}

fn begins_with_a_number(line: &str) -> bool {
    line.trim_start_matches('"').starts_with(|c: char| c.is_ascii_digit())
}

/// The columns that the lines before the first row name, if it is such a log.
fn columns<'a>(lines: impl Iterator<Item = &'a str>) -> Option<Columns> {
    let before = lines.map(str::trim).filter(|line| !line.is_empty());
    before.take_while(|line| !begins_with_a_number(line)).filter_map(Columns::of).last()
}

/// Is this the beginning of such a log?
pub fn looks_like(head: &[u8]) -> bool {
    columns(String::from_utf8_lossy(head).trim_start_matches('\u{feff}').lines()).is_some()
}

/// The quantities of such a log: one for each column, or for each server and column. Fields that are no
/// numbers are missing.
pub fn read(name: &str, input: impl Read) -> Result<Vec<Series>, RowsError> {
    let mut found: BTreeMap<(String, usize), Vec<(f64, f64)>> = BTreeMap::new();
    let mut known: Option<Columns> = None;
    let mut lines = 0;
    let mut input = BufReader::with_capacity(1 << 16, input);
    let mut buffer = Vec::new();
    loop {
        buffer.clear();
        let read = input
            .read_until(b'\n', &mut buffer)
            .map_err(|source| RowsError::Io { name: name.into(), source })?;
        if read == 0 {
            break;
        }
        lines += 1;
        let text = String::from_utf8_lossy(&buffer);
        let line = text.trim_start_matches('\u{feff}').trim();
        if !begins_with_a_number(line) {
            if found.is_empty() {
                known = Columns::of(line).or(known);
            }
            continue;
        }
        let Some(columns) = &known else { continue };
        let fields = fields(line, columns.separator);
        let Some(time) = columns.moment(&fields) else { continue };
        let server = columns.server.and_then(|place| fields.get(place)).copied().unwrap_or("");
        for (number, (place, _, _)) in columns.values.iter().enumerate() {
            let value = fields.get(*place).and_then(|field| field.parse::<f64>().ok());
            if let Some(value) = value.filter(|value| value.is_finite()) {
                found.entry((server.to_owned(), number)).or_default().push((time, value));
            }
        }
    }
    let (Some(columns), false) = (known, found.is_empty()) else {
        return Err(RowsError::NoRows { name: name.into(), lines });
    };
    let series = |((server, number), mut samples): ((String, usize), Vec<(f64, f64)>)| {
        let (_, column, unit) = columns.values.get(number).cloned().unwrap_or_default();
        let is_bandwidth = unit > 0.0;
        if is_bandwidth {
            samples.iter_mut().for_each(|sample| sample.1 *= unit);
        }
        let name = format!("{server} {column}").trim().to_owned();
        Series { name, samples, class: Class::WriteSync, is_bandwidth }
    };
    Ok(found.into_iter().map(series).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(series: &[Series]) -> Vec<&str> {
        series.iter().map(|one| one.name.as_str()).collect()
    }

    #[test]
    fn a_row_for_each_server_and_moment() {
        let text = "timestamp,ost,read_bytes,write_bytes\n\
            2024-05-01 12:00:00,OST0000,0,100\n2024-05-01 12:00:00,OST0001,5,300\n\
            2024-05-01 12:00:05,OST0000,0,200\n2024-05-01 12:00:05,OST0001,x,300\n";
        assert!(looks_like(text.as_bytes()));
        let found = read("x", text.as_bytes()).unwrap();
        assert_eq!(
            names(&found),
            ["OST0000 read_bytes", "OST0000 write_bytes", "OST0001 read_bytes", "OST0001 write_bytes"]
        );
        assert_eq!(found[1].samples, [(1_714_564_800.0, 100.0), (1_714_564_805.0, 200.0)]);
        assert_eq!(found[2].samples.len(), 1, "what is no number is missing");
    }

    #[test]
    fn day_and_time_of_day() {
        let text = "################\n# Collectl: V4.3\n################\n\
            #Date Time [CPU]User% [DSK]WriteTot [DSK]ReadKBTot [DSK]WriteKBTot\n\
            20240501 12:00:00 3 10 0 2048\n20240501 12:00:10 3 11 4 1024\n";
        assert!(looks_like(text.as_bytes()));
        let found = read("x", text.as_bytes()).unwrap();
        assert_eq!(names(&found), ["[DSK]ReadKBTot", "[DSK]WriteKBTot"]);
        assert_eq!(found[1].samples, [(1_714_564_800.0, 2_097_152.0), (1_714_564_810.0, 1_048_576.0)]);
        assert!(found[1].is_bandwidth);
    }

    #[test]
    fn other_tables_are_left_to_ftio_core() {
        for other in ["time,value\n0,1\n", "rank,start,end,bytes\n0,1,2,3\n", "0,1\n1,2\n", "", "{\"a\":1}"] {
            assert!(!looks_like(other.as_bytes()), "{other}");
        }
        assert!(read("x", "time,ost,bytes\n".as_bytes()).unwrap_err().to_string().contains("found none"));
    }

    #[test]
    fn any_text_is_read_or_refused() {
        let text = "#Date,Time,host,[DSK]WriteKBTot,b\n20240501,12:00:00,a,1,2\n20240501,12:00:10,b,3,4\n";
        let mut random = seeded_random::Random::new(4);
        for _ in 0..3000 {
            let mut bytes = text.as_bytes().to_vec();
            for _ in 0..=random.below(6) {
                let place = random.below(bytes.len());
                match random.below(3) {
                    0 => bytes[place] = random.below(256) as u8,
                    1 => bytes.insert(place, b",;|\t\n\"#\xe90 "[random.below(10)]),
                    _ => drop(bytes.remove(place)),
                }
            }
            let _ = looks_like(&bytes);
            if let Ok(found) = read("x", bytes.as_slice()) {
                assert!(found.iter().flat_map(|one| &one.samples).all(|one| one.0.is_finite()));
            }
        }
    }
}
