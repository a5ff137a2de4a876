//! Which column of a table is what.

use super::split::split;
use crate::date::seconds_since_1970;
use crate::error::excerpt;
use crate::request::Class;
use crate::series::Series;
use crate::units;
use std::borrow::Cow;
use tmio_trace::Metadata;

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    Rank,
    Start,
    End,
    Duration,
    Bytes,
    Bandwidth,
    Operation,
    Time,
    /// Anything else.
    Value,
}

/// What a column without a name is called.
pub(super) const UNNAMED: &str = "value";

/// As seconds since 1970 this would be the year 5138: a date is given in smaller units.
const LATEST_DATE: f64 = 1e11;

/// What the rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Table {
    Requests,
    Samples,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    quantity: Quantity,
    /// Seconds, bytes or bytes per second in its unit.
    unit: f64,
}

/// The columns of a table.
#[derive(Clone, Debug)]
pub(super) struct Columns {
    separator: char,
    columns: Vec<Column>,
}

/// The separator of a row: a tab, else a semicolon, else a comma.
pub(super) fn separator(row: &str) -> Option<char> {
    ['\t', ';', ','].into_iter().find(|separator| split(row, *separator).len() > 1)
}

/// A number; with semicolons between columns, a comma may stand for the decimal point, and points for
/// thousands: `1.234,5`. With commas between columns, a comma in a (quoted) number is for thousands:
/// `"1,234.5"`. `"0,125"` is neither.
pub(super) fn number(field: &str, separator: char) -> Option<f64> {
    field.parse().ok().or_else(|| match separator {
        ';' => {
            let (whole, rest) = field.split_once(',')?;
            let whole = if are_thousands(whole, '.') { whole.replace('.', "") } else { whole.to_owned() };
            format!("{whole}.{rest}").parse().ok()
        }
        ',' => {
            let (whole, rest) = field.split_once('.').unwrap_or((field, "0"));
            let first = whole.trim_start_matches(['-', '+']).chars().next()?;
            let grouped = whole.contains(',') && first != '0' && are_thousands(whole, ',');
            grouped.then(|| format!("{}.{rest}", whole.replace(',', "")).parse().ok())?
        }
        _ => None,
    })
}

/// Digits in groups of three: `1.234.567`.
fn are_thousands(whole: &str, between: char) -> bool {
    let mut groups = whole.trim_start_matches(['-', '+']).split(between);
    let first = groups.next().unwrap_or_default();
    (1..=3).contains(&first.len())
        && groups.all(|group| group.len() == 3 && group.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_time(quantity: Quantity) -> bool {
    matches!(quantity, Quantity::Time | Quantity::Start | Quantity::End)
}

/// A number or a date: what a row of a table has, and names of columns have not.
pub(super) fn is_value(field: &str, separator: char) -> bool {
    number(field, separator).is_some() || seconds_since_1970(field).is_some()
}

/// What a word says about a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Word {
    /// It moves data.
    Data(Class),
    /// It moves none: open, close, set_view …
    Metadata,
    Unknown,
}

/// The meaning of a word: a class, `r` or `w`, or an MPI function such as `iwrite_at_all`.
pub(super) fn word(text: &str) -> Word {
    let text = text.to_ascii_lowercase();
    match text.as_str() {
        "w" | "write_sync" => return Word::Data(Class::WriteSync),
        "r" | "read_sync" => return Word::Data(Class::ReadSync),
        "write_async" => return Word::Data(Class::WriteAsync),
        "read_async" => return Word::Data(Class::ReadAsync),
        _ if Metadata::ALL.iter().any(|operation| operation.name() == text) => return Word::Metadata,
        _ => {}
    }
    // Longest names first: `iwrite_at` begins with neither `write` nor `read`.
    let functions = [
        ("iwrite", Class::WriteAsync),
        ("iread", Class::ReadAsync),
        ("write", Class::WriteSync),
        ("read", Class::ReadSync),
    ];
    let found = functions.iter().find_map(|(name, class)| {
        let rest = text.strip_prefix(name)?;
        (rest.is_empty() || ENDINGS.contains(&rest)).then_some(*class)
    });
    found.map_or(Word::Unknown, Word::Data)
}

/// How the names of MPI's data access functions go on.
const ENDINGS: [&str; 5] = ["_at", "_at_all", "_all", "_shared", "_ordered"];

fn quantity(name: &str) -> Quantity {
    match name.to_ascii_lowercase().replace([' ', '-'], "_").as_str() {
        "rank" | "process" | "pid" => Quantity::Rank,
        "start" | "begin" | "t_start" | "start_time" | "ts" | "t_s" | "t_rank_s" => Quantity::Start,
        "end" | "stop" | "t_end" | "end_time" | "te" | "t_e" | "t_rank_e" => Quantity::End,
        "duration" | "dur" | "elapsed" => Quantity::Duration,
        "bytes" | "size" | "length" | "volume" => Quantity::Bytes,
        "bandwidth" | "throughput" | "b" | "bw" | "b_rank_avr" => Quantity::Bandwidth,
        "operation" | "op" | "mode" | "class" | "direction" | "kind" => Quantity::Operation,
        "time" | "t" | "timestamp" | "date" | "datetime" | "ts_time" => Quantity::Time,
        _ => Quantity::Value,
    }
}

impl Columns {
    /// From a row of names. The error says what was expected.
    pub fn named(row: &str, separator: char) -> Result<Self, String> {
        let column = |field: Cow<'_, str>| {
            let field = field.as_ref();
            let (name, unit) = units::split(field);
            let (mut kind, mut unit) = (quantity(name), unit);
            if quantity(field) != Quantity::Value {
                (kind, unit) = (quantity(field), None);
            }
            let factor = match kind {
                Quantity::Start | Quantity::End | Quantity::Duration | Quantity::Time => units::time,
                Quantity::Bytes => units::size,
                Quantity::Bandwidth => units::rate,
                _ => |_: &str| Some(1.0),
            };
            let name = if field.is_empty() { UNNAMED } else { field };
            match unit.map_or(Some(1.0), factor) {
                Some(unit) => Ok(Column { name: name.to_owned(), quantity: kind, unit }),
                None => Err(format!("a unit of {kind:?} for the column {field}")),
            }
        };
        let columns = split(row, separator).into_iter().map(column).collect::<Result<_, _>>()?;
        let mut columns = Columns { separator, columns };
        // A lone start is a time: a table of samples.
        let has = |quantity| columns.position(quantity).is_some();
        if !has(Quantity::End)
            && !has(Quantity::Duration)
            && !has(Quantity::Time)
            && let Some(start) = columns.position(Quantity::Start)
        {
            columns.columns[start].quantity = Quantity::Time;
        }
        columns.check()
    }

    /// By their number alone.
    pub fn unnamed(row: &str, separator: char) -> Result<Self, String> {
        let quantities: &[Quantity] = match split(row, separator).len() {
            2 => &[Quantity::Time, Quantity::Value],
            3 => &[Quantity::Start, Quantity::End, Quantity::Bytes],
            4 => &[Quantity::Rank, Quantity::Start, Quantity::End, Quantity::Bytes],
            _ => {
                return Err("2 columns (time, value), 3 (start, end, bytes), 4 (rank, start, end, \
                     bytes), or a first \
                            row that names them"
                    .into());
            }
        };
        let column = |&quantity| Column { name: UNNAMED.into(), quantity, unit: 1.0 };
        Ok(Columns { separator, columns: quantities.iter().map(column).collect() })
    }

    fn check(self) -> Result<Self, String> {
        let has = |quantity| self.position(quantity).is_some();
        let requests = has(Quantity::Start)
            && (has(Quantity::End) || has(Quantity::Duration))
            && (has(Quantity::Bytes) || has(Quantity::Bandwidth));
        let samples = has(Quantity::Time) && self.columns.len() > 1;
        if requests || samples {
            return Ok(self);
        }
        Err("columns start, end (or duration) and bytes (or bandwidth); or time and values (rename them in the \
             first row)"
            .into())
    }

    /// Times of a table whose first one is too large for seconds since 1970 are milli-, micro- or nanoseconds
    /// since then.
    pub fn find_unit_of_dates(&mut self, first_row: &str) {
        let Ok(fields) = self.fields(first_row) else { return };
        let first = [Quantity::Time, Quantity::Start]
            .into_iter()
            .find_map(|quantity| self.value(&fields, quantity).ok().flatten());
        let Some(first) = first.filter(|first| *first >= LATEST_DATE) else { return };
        let unit = [1e-3, 1e-6, 1e-9].into_iter().find(|unit| first * unit < LATEST_DATE);
        for column in self.columns.iter_mut().filter(|column| is_time(column.quantity)) {
            column.unit *= unit.unwrap_or(1.0);
        }
    }

    fn position(&self, quantity: Quantity) -> Option<usize> {
        self.columns.iter().position(|column| column.quantity == quantity)
    }

    /// Where a quantity is, and its unit.
    pub fn place(&self, quantity: Quantity) -> Option<(usize, f64)> {
        self.position(quantity).map(|index| (index, self.columns[index].unit))
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.columns.len()
    }

    pub fn separator(&self) -> char {
        self.separator
    }

    pub fn table(&self) -> Table {
        if self.position(Quantity::Start).is_some() { Table::Requests } else { Table::Samples }
    }

    /// The fields of a row: as many as there are columns.
    pub fn fields<'a>(&self, row: &'a str) -> Result<Vec<Cow<'a, str>>, String> {
        let fields = split(row, self.separator);
        if fields.len() < self.columns.len() {
            return Err(format!("expected {} columns, found {}", self.columns.len(), fields.len()));
        }
        Ok(fields)
    }

    /// A number in seconds, bytes or bytes per second; `None` if there is no such column.
    pub fn value(&self, fields: &[Cow<'_, str>], quantity: Quantity) -> Result<Option<f64>, String> {
        let Some(index) = self.position(quantity) else { return Ok(None) };
        let field = fields[index].as_ref();
        match number(field, self.separator) {
            Some(value) => Ok(Some(value * self.columns[index].unit)),
            None if is_time(quantity) => seconds_since_1970(field).map(Some).ok_or_else(|| {
                format!("expected a number or a date, found \"{}\"", excerpt(field.as_bytes()))
            }),
            None => Err(format!("expected a number, found \"{}\"", excerpt(field.as_bytes()))),
        }
    }

    /// What a row says it is; `None` for a row that moves no data. Without a word it is a write. A column
    /// called "kind" may hold anything: what is not understood there says nothing.
    pub fn class(&self, fields: &[Cow<'_, str>]) -> Result<Option<Class>, String> {
        let Some(index) = self.position(Quantity::Operation) else { return Ok(Some(Class::WriteSync)) };
        let text = fields[index].as_ref();
        match word(text) {
            Word::Data(class) => Ok(Some(class)),
            Word::Metadata => Ok(None),
            Word::Unknown if self.columns[index].name.eq_ignore_ascii_case("kind") => {
                Ok(Some(Class::WriteSync))
            }
            Word::Unknown => {
                Err(format!("expected read, write or a mode, found \"{}\"", excerpt(text.as_bytes())))
            }
        }
    }

    /// The columns that hold samples.
    pub fn values(&self) -> impl Iterator<Item = usize> {
        let is_sample = |quantity| !matches!(quantity, Quantity::Time | Quantity::Rank | Quantity::Operation);
        (0..self.columns.len()).filter(move |index| is_sample(self.columns[*index].quantity))
    }

    /// A sample; `None` for an empty field. What is no number is NaN, which leaves the sample out.
    pub fn sample(&self, fields: &[Cow<'_, str>], index: usize) -> Option<f64> {
        let field = fields[index].as_ref();
        (!field.is_empty())
            .then(|| number(field, self.separator).map_or(f64::NAN, |value| value * self.columns[index].unit))
    }

    /// Empty series for these columns.
    pub fn series(&self) -> Vec<Series> {
        let series = |index: usize| Series {
            name: self.columns[index].name.clone(),
            samples: Vec::new(),
            class: Class::WriteSync,
            is_bandwidth: self.columns[index].quantity == Quantity::Bandwidth,
        };
        self.values().map(series).collect()
    }
}
