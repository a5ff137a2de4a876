//! Sampled quantities as one table: `time`, and a column for each. `ftio` reads it back.

use ::csv::Writer;
use sources::Sampled;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// Quantities over time. Where one has no sample at a time of the others, there is none.
#[derive(Debug, Default)]
pub struct Samples {
    /// Of the quantities.
    pub names: Vec<String>,
    /// By the order of times (the bits of a number, so that they compare as the numbers do).
    rows: BTreeMap<i64, (f64, Vec<Option<f64>>)>,
}

impl Samples {
    /// A table of all of them.
    pub fn of(quantities: Vec<Sampled>) -> Self {
        let mut table = Samples::default();
        let count = quantities.len();
        for (i, quantity) in quantities.into_iter().enumerate() {
            table.names.push(unused(&table.names, quantity.series.name));
            for (time, value) in quantity.series.samples {
                let row = table.rows.entry(order(time)).or_insert_with(|| (time, vec![None; count]));
                row.1[i] = Some(value);
            }
        }
        table
    }

    /// Times, and the value of each quantity.
    pub fn rows(&self) -> impl Iterator<Item = (f64, &[Option<f64>])> {
        self.rows.values().map(|(time, values)| (*time, values.as_slice()))
    }

    /// As text; the first line has the names.
    pub fn write_csv(&self, out: impl Write) -> io::Result<()> {
        let mut out = Writer::from_writer(out);
        out.write_record(std::iter::once("time").chain(self.names.iter().map(String::as_str)))?;
        for (time, values) in self.rows() {
            let cells = values.iter().map(|value| value.map(|value| value.to_string()).unwrap_or_default());
            out.write_record(std::iter::once(time.to_string()).chain(cells))?;
        }
        out.flush()
    }
}

/// A name that no other column has.
fn unused(names: &[String], name: String) -> String {
    let taken = |name: &String| name == "time" || names.contains(name);
    let numbered = (2..).map(|number| format!("{name}_{number}"));
    std::iter::once(name.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(name)
}

/// Numbers that are ordered as times are.
fn order(time: f64) -> i64 {
    let bits = time.to_bits() as i64;
    bits ^ (((bits >> 63) as u64) >> 1) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_times_are_in_order() {
        let names: Vec<String> = vec!["load".into(), "load_2".into()];
        assert_eq!(unused(&names, "load".into()), "load_3");
        assert_eq!(unused(&names, "time".into()), "time_2");
        assert_eq!(unused(&names, "net".into()), "net");
        let times = [f64::NEG_INFINITY, -2.0, -1.0, 0.0, 0.5, 1e300];
        assert!(times.is_sorted_by_key(|time| order(*time)));
    }
}
