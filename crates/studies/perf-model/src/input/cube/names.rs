//! What the name of a run's folder tells: `app.p4.n10.r1`.

use std::collections::BTreeSet;

/// A run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    /// Parameters and their values, in the order of the name.
    parameters: Vec<(String, f64)>,
}

impl Run {
    /// Parts of a name with letters and then a number are parameters; `r1` at the end is the repetition. The
    /// first part is a name if others are parameters. A decimal point may be a comma.
    pub fn parse(name: &str) -> Option<Run> {
        let mut parts: Vec<String> = Vec::new();
        for part in name.split('.') {
            // 1.5 is one number.
            match parts.last_mut() {
                Some(last) if is_number(part) && last.ends_with(|c: char| c.is_ascii_digit()) => {
                    last.push('.');
                    last.push_str(part);
                }
                _ => parts.push(part.to_owned()),
            }
        }
        let mut parameters: Vec<(String, f64)> = Vec::new();
        let count = parts.len();
        for (index, part) in parts.iter().enumerate() {
            let digits = part.find(|c: char| c.is_ascii_digit()).unwrap_or(part.len());
            let (letters, number) = part.split_at(digits);
            let Ok(value) = number.replace(',', ".").parse::<f64>() else { continue };
            let is_repetition = letters == "r" && index + 1 == count && index > 0;
            if !is_repetition && !letters.is_empty() {
                parameters.push((letters.to_owned(), value));
            }
        }
        // app2.p4: with parameters behind it, the first part is the name of the program.
        if parameters.len() > 1 && parts[0].starts_with(&parameters[0].0) && parts[0].len() > 3 {
            parameters.remove(0);
        }
        (!parameters.is_empty()).then_some(Run { parameters })
    }

    pub fn value(&self, name: &str) -> Option<f64> {
        self.parameters.iter().find(|(other, _)| other == name).map(|(_, value)| *value)
    }

    fn names(&self) -> Vec<&str> {
        self.parameters.iter().map(|(name, _)| name.as_str()).collect()
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The parameters that are not the same in all runs; if there are none, all.
pub(super) fn varying<'a>(runs: impl Iterator<Item = &'a Run> + Clone) -> Result<Vec<String>, String> {
    let Some(first) = runs.clone().next() else { return Ok(Vec::new()) };
    if let Some(other) = runs.clone().find(|run| run.names() != first.names()) {
        return Err(format!("{:?} and {:?}", first.names(), other.names()));
    }
    let varies = |name: &&str| {
        let values: BTreeSet<u64> =
            runs.clone().filter_map(|run| run.value(name)).map(f64::to_bits).collect();
        values.len() > 1
    };
    let all = first.names();
    let names: Vec<String> = all.iter().copied().filter(varies).map(str::to_owned).collect();
    Ok(if names.is_empty() { all.into_iter().map(str::to_owned).collect() } else { names })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_parameters() {
        let parse = |name: &str| Run::parse(name).map(|run| run.parameters);
        let of = |pairs: &[(&str, f64)]| Some(pairs.iter().map(|(n, v)| ((*n).to_owned(), *v)).collect());
        assert_eq!(parse("app.p4.n10.r1"), of(&[("p", 4.0), ("n", 10.0)]));
        assert_eq!(parse("p4.n10.r12"), of(&[("p", 4.0), ("n", 10.0)]));
        assert_eq!(parse("app.x1.5.r1"), of(&[("x", 1.5)]));
        assert_eq!(parse("app.x1,5.r1"), of(&[("x", 1.5)]));
        assert_eq!(parse("nek5000.p64.r1"), of(&[("p", 64.0)]));
        assert_eq!(parse("p64"), of(&[("p", 64.0)]));
        assert_eq!(parse("app"), None);
        let runs: Vec<Run> = ["a.p4.n10", "a.p8.n10"].iter().filter_map(|name| Run::parse(name)).collect();
        assert_eq!(varying(runs.iter()).unwrap(), ["p"]);
        let runs: Vec<Run> = ["a.p4", "a.n10"].iter().filter_map(|name| Run::parse(name)).collect();
        assert!(varying(runs.iter()).is_err());
    }
}
