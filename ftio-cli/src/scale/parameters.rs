//! The scale of a run: the number of processes and what else was varied.

use std::path::Path;
use std::str::FromStr;

/// The first parameter, as `ioparse` names it.
pub const PROCESSES: &str = "Processes";
/// More than these no model has.
const MAX_PARAMETERS: usize = 4;

/// `--param`.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    name: String,
    /// `None`: in the name of the trace.
    value: Option<f64>,
}

impl FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once('=') {
            None => (text, None),
            Some((name, value)) => {
                let number = value.trim().parse().ok().filter(|value: &f64| value.is_finite());
                let number = number.ok_or_else(|| format!("expected a number after =, found `{value}`"))?;
                (name, Some(number))
            }
        };
        let name = name.trim();
        if name.is_empty() {
            return Err("expected NAME or NAME=NUMBER".into());
        }
        Ok(Parameter { name: name.to_owned(), value })
    }
}

/// The names of all parameters: the processes, then those that were given.
pub fn names(given: &[Parameter]) -> Result<Vec<String>, String> {
    let mut names = vec![PROCESSES.to_owned()];
    for parameter in given {
        if parameter.name == PROCESSES {
            continue;
        }
        if names.contains(&parameter.name) {
            return Err(format!("--param {}: expected each parameter once", parameter.name));
        }
        names.push(parameter.name.clone());
    }
    if names.len() > MAX_PARAMETERS {
        return Err(format!(
            "expected at most {MAX_PARAMETERS} parameters with {PROCESSES}, found {}",
            names.len()
        ));
    }
    Ok(names)
}

/// Where a run stands, in the order of [`names`].
pub fn point(path: &Path, ranks: Option<u32>, given: &[Parameter]) -> Result<Vec<f64>, String> {
    let file = path.file_name().unwrap_or_default().to_string_lossy();
    let named = |parameter: &Parameter| {
        parameter.value.or_else(|| value_in_name(&file, &parameter.name)).ok_or_else(|| {
            let name = &parameter.name;
            format!(
                "{}: expected {name} and a number in its name (such as {name}8), found none",
                path.display()
            )
        })
    };
    let processes = match given.iter().find(|parameter| parameter.name == PROCESSES) {
        Some(parameter) => named(parameter)?,
        None => match ranks {
            Some(ranks) => f64::from(ranks),
            None => last_number(&file).ok_or_else(|| {
                format!("{}: the number of processes is neither in the trace nor in its name", path.display())
            })?,
        },
    };
    let others = given.iter().filter(|parameter| parameter.name != PROCESSES).map(named);
    std::iter::once(Ok(processes)).chain(others).collect()
}

/// The number after `name` where that is a word of its own: 10 for `n` in `p4.n10.r1.msgpack`,
/// `run_n=10.jsonl`, `n-10`.
fn value_in_name(file: &str, name: &str) -> Option<f64> {
    file.match_indices(name).find_map(|(at, _)| {
        let before = file[..at].chars().next_back();
        if before.is_some_and(char::is_alphabetic) {
            return None;
        }
        let rest = &file[at + name.len()..];
        let rest = rest.strip_prefix(['=', '_', '-']).unwrap_or(rest);
        number_at_start(rest)
    })
}

fn number_at_start(text: &str) -> Option<f64> {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
    let whole = digits(text);
    let fraction = text[whole..].strip_prefix('.').map_or(0, digits);
    let length = if whole > 0 && fraction > 0 { whole + 1 + fraction } else { whole };
    text[..length].parse().ok()
}

/// The last number in a file name without its ending, as `ioparse` does it.
fn last_number(file: &str) -> Option<f64> {
    let stem = Path::new(file).file_stem()?.to_str()?;
    let end = stem.rfind(|c: char| c.is_ascii_digit())? + 1;
    let start = stem[..end].rfind(|c: char| !c.is_ascii_digit()).map_or(0, |at| at + 1);
    // What comes before may be longer than one byte.
    stem.get(start..end).or_else(|| stem[..end].rsplit(|c: char| !c.is_ascii_digit()).next())?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(file: &str, ranks: u32, given: &[&str]) -> Result<Vec<f64>, String> {
        let given: Vec<Parameter> = given.iter().map(|text| text.parse().unwrap()).collect();
        point(Path::new(file), Some(ranks).filter(|ranks| *ranks > 0), &given)
    }

    #[test]
    fn the_trace_knows_better_than_its_name() {
        assert_eq!(at("runs/64.jsonl", 8, &[]), Ok(vec![8.0]));
        assert_eq!(at("runs/64.jsonl", 0, &[]), Ok(vec![64.0]));
        assert_eq!(at("runs7/app_12_try3.json", 0, &[]), Ok(vec![3.0]));
        assert_eq!(at("größe5é", 0, &[]), Ok(vec![5.0]));
        assert_eq!(at("x", 8, &["Processes=16"]), Ok(vec![16.0]));
        assert!(at("runs7/app.json", 0, &[]).unwrap_err().starts_with("runs7/app.json: "));
    }

    #[test]
    fn further_parameters() {
        assert_eq!(at("a", 8, &["n=1e3", "m=2"]), Ok(vec![8.0, 1000.0, 2.0]));
        assert_eq!(at("app.p4.n10.r1.msgpack", 4, &["n"]), Ok(vec![4.0, 10.0]));
        assert_eq!(at("run_n=1.5_4.msgpack", 4, &["n"]), Ok(vec![4.0, 1.5]));
        let error = at("run10.msgpack", 4, &["n"]).unwrap_err();
        assert_eq!(error, "run10.msgpack: expected n and a number in its name (such as n8), found none");
    }

    #[test]
    fn wrong_ones() {
        assert!("n=x".parse::<Parameter>().is_err() && "=3".parse::<Parameter>().is_err());
        let given = |texts: &[&str]| -> Vec<Parameter> { texts.iter().map(|t| t.parse().unwrap()).collect() };
        assert_eq!(names(&given(&["n=1", "Processes=3"])).unwrap(), ["Processes", "n"]);
        assert!(names(&given(&["n=1", "n=3"])).is_err());
        assert!(names(&given(&["a", "b", "c", "d"])).is_err());
    }
}
