//! Extra-P's text format: `PARAMETER` and `POINTS` first, then per `REGION` and `METRIC` one `DATA` line a
//! point.

use super::{builder, check_point};
use crate::error::{Error, Result, excerpt};
use crate::experiment::ExperimentBuilder;

/// The format's own limit.
const MAX_PARAMETERS: usize = 4;

struct Reader<'a> {
    source: &'a str,
    parameters: Vec<String>,
    experiment: Option<ExperimentBuilder>,
    points: Vec<Vec<f64>>,
    callpath: String,
    metric: String,
    next_point: usize,
}

pub(super) fn parse(text: &str, source: &str) -> Result<ExperimentBuilder> {
    let mut reader = Reader {
        source,
        parameters: Vec::new(),
        experiment: None,
        points: Vec::new(),
        callpath: String::new(),
        metric: String::new(),
        next_point: 0,
    };
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if !trimmed.is_empty() && !trimmed.starts_with('#') {
            reader.line(trimmed, index + 1)?;
        }
    }
    Ok(reader.experiment.unwrap_or_default())
}

impl Reader<'_> {
    fn line(&mut self, line: &str, number: usize) -> Result<()> {
        let (field, value) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let value = value.trim();
        match field {
            "PARAMETER" => self.parameters(value, number),
            "POINTS" => self.points(value, number),
            "REGION" => {
                value.clone_into(&mut self.callpath);
                self.next_point = 0;
                Ok(())
            }
            "METRIC" => {
                value.clone_into(&mut self.metric);
                self.next_point = 0;
                Ok(())
            }
            "DATA" => self.data(value, number),
            _ => Err(self.error(number, "PARAMETER, POINTS, REGION, METRIC or DATA", excerpt(line))),
        }
    }

    fn parameters(&mut self, value: &str, number: usize) -> Result<()> {
        if self.experiment.is_some() {
            return Err(self.error(
                number,
                "all PARAMETER lines before the first POINTS line",
                "one after it",
            ));
        }
        self.parameters.extend(value.split_whitespace().map(str::to_owned));
        if self.parameters.len() > MAX_PARAMETERS {
            let found = self.parameters.len().to_string();
            return Err(self.error(number, "at most four parameters", found));
        }
        Ok(())
    }

    fn experiment(&mut self, number: usize) -> Result<&mut ExperimentBuilder> {
        match &mut self.experiment {
            Some(experiment) => Ok(experiment),
            none => Ok(none.insert(builder(self.parameters.clone(), self.source, Some(number))?)),
        }
    }

    /// `( 20 1 ) ( 30 1 )`, or for a single parameter also `20 30`.
    fn points(&mut self, value: &str, number: usize) -> Result<()> {
        let dimensions = self.experiment(number)?.dimensions();
        let groups: Vec<&str> = if value.contains('(') {
            let inner = value.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
            let inner = inner.ok_or_else(|| self.error(number, "points in parentheses", excerpt(value)))?;
            inner.split(')').map(|group| group.trim_start().trim_start_matches('(')).collect()
        } else if dimensions == 1 {
            value.split_whitespace().collect()
        } else {
            return Err(self.error(number, "points in parentheses", excerpt(value)));
        };
        for group in groups {
            let point = self.numbers(group, number)?;
            if point.len() != dimensions {
                let expected = format!("{dimensions} values in a point, one for each parameter");
                return Err(self.error(number, expected, excerpt(group)));
            }
            check_point(&point, self.source, Some(number))?;
            self.experiment(number)?.coordinate(&point);
            self.points.push(point);
        }
        Ok(())
    }

    fn data(&mut self, value: &str, number: usize) -> Result<()> {
        let values = self.numbers(value, number)?;
        let Some(point) = self.points.get(self.next_point).cloned() else {
            let found = format!("DATA line {}", self.next_point + 1);
            return Err(self.error(
                number,
                format!("{} DATA lines, one for each point", self.points.len()),
                found,
            ));
        };
        self.next_point += 1;
        let (callpath, metric) = (self.callpath.clone(), self.metric.clone());
        let values: Vec<f64> = values.into_iter().filter(|value| !value.is_nan()).collect();
        if !values.is_empty() {
            self.experiment(number)?.add(&callpath, &metric, &point, &values);
        }
        Ok(())
    }

    fn numbers(&self, text: &str, number: usize) -> Result<Vec<f64>> {
        let numbers: Result<Vec<f64>> = text
            .split_whitespace()
            .map(|word| word.parse().map_err(|_| self.error(number, "numbers", excerpt(word))))
            .collect();
        match numbers {
            Ok(numbers) if numbers.is_empty() => Err(self.error(number, "numbers", "nothing")),
            numbers => numbers,
        }
    }

    fn error(&self, line: usize, expected: impl Into<String>, found: impl Into<String>) -> Error {
        Error::format(self.source, Some(line), expected, found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_parameters() {
        let text = "# comment\nPARAMETER x y\nPOINTS\t(\t20\t1\t)(30 1)\nPOINTS ( 40 2 )\n\nREGION a \
            b\nMETRIC m\nDATA 1 2\nDATA 3\nDATA 4e0\n";
        let experiment = parse(text, "x.txt").unwrap().build();
        assert_eq!(experiment.parameters, ["x", "y"]);
        assert_eq!(experiment.coordinates[1].as_ref(), [30.0, 1.0]);
        assert_eq!(experiment.sets[0].callpath, "a b");
        assert_eq!(experiment.sets[0].measurements[0].values, [1.0, 2.0]);
        assert_eq!(experiment.sets[0].measurements.len(), 3);
    }

    #[test]
    fn errors_name_the_line() {
        for (text, message) in [
            ("PARAMETER x\nPOINTS 1 2 a", "x.txt:2: expected numbers, found `a`"),
            ("POINTS 1", "x.txt:1: expected at least one parameter, found none"),
            ("PARAMETER a b c d e", "x.txt:1: expected at most four parameters, found 5"),
            (
                "PARAMETER x y\nPOINTS (1 2) (3)",
                "x.txt:2: expected 2 values in a point, one for each parameter, found `3`",
            ),
            (
                "PARAMETER x\nPOINTS 1\nDATA 1\nDATA 2",
                "x.txt:4: expected 1 DATA lines, one for each point, found DATA line 2",
            ),
            ("HELLO", "x.txt:1: expected PARAMETER, POINTS, REGION, METRIC or DATA, found `HELLO`"),
            ("PARAMETER x\nPOINTS (", "x.txt:2: expected points in parentheses, found `(`"),
            ("PARAMETER x\nPOINTS 1\nDATA", "x.txt:3: expected numbers, found nothing"),
        ] {
            assert_eq!(parse(text, "x.txt").unwrap_err().to_string(), message);
        }
    }
}
