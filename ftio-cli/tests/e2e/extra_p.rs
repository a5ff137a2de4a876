//! What `ftio scale` writes is accepted by Extra-P itself, and both find the same.
//!
//! Extra-P is a Python program with 600 MB of packages, so this runs only where asked for: with
//! `FTIO_TEST_EXTRAP=1` it is installed into a virtual environment under `target/`, once;
//! `FTIO_EXTRAP=/path/to/extrap` takes one that is there.

use crate::support::{Script, ftio, skipped, stderr, stdout};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::tempdir;

fn run(program: &Path, args: &[&str]) -> std::io::Result<Output> {
    Command::new(program).args(args).output()
}

/// Where it is, or why it is not there.
fn extrap() -> Result<PathBuf, String> {
    if let Some(program) = std::env::var_os("FTIO_EXTRAP") {
        return Ok(program.into());
    }
    if std::env::var_os("FTIO_TEST_EXTRAP").is_none() {
        return Err("set FTIO_TEST_EXTRAP=1 to install Extra-P and compare with it".into());
    }
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("extrap-venv");
    let program = venv.join("bin/extrap");
    if program.is_file() {
        return Ok(program);
    }
    let made = run(Path::new("python3"), &["-m", "venv", &venv.to_string_lossy()]);
    if !made.is_ok_and(|output| output.status.success()) {
        return Err("python3 cannot make a virtual environment".into());
    }
    match run(&venv.join("bin/pip"), &["install", "--quiet", "extrap"]) {
        Ok(output) if output.status.success() => Ok(program),
        Ok(output) => Err(format!("pip cannot install extrap: {}", stderr(&output))),
        Err(error) => Err(format!("no pip: {error}")),
    }
}

#[test]
fn extra_p_reads_it_and_finds_the_same() {
    let extrap = match extrap() {
        Ok(extrap) => extrap,
        Err(reason) => return skipped(&reason),
    };
    let directory = tempdir().unwrap();
    let mut args = vec!["scale".to_owned(), "-o".to_owned(), "scale.jsonl".to_owned()];
    for (i, ranks) in [1, 2, 4, 8, 16].into_iter().enumerate() {
        let name = format!("{}.msgpack", char::from(b'a' + i as u8));
        // The last run is too short for a period: that metric must not make the file unreadable.
        Script::bursts(ranks, if ranks == 16 { 1 } else { 12 }).write(&directory.path().join(&name));
        args.push(name);
    }
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let output = ftio(directory.path(), &args);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));

    let file = directory.path().join("scale.jsonl");
    let format = "{callpath}|{metric}|{model}";
    let theirs = run(&extrap, &["--json", file.to_str().unwrap(), "--print", format]).unwrap();
    assert!(theirs.status.success(), "{}", stderr(&theirs));
    let ours = ftio(directory.path(), &["model", "scale.jsonl", "--compat", "--print", format]);
    let sorted = |output: &Output| {
        let mut lines: Vec<String> =
            stdout(output).lines().filter(|line| line.contains('|')).map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let (theirs, ours) = (sorted(&theirs), sorted(&ours));
    let names = |lines: &[String]| -> Vec<String> {
        lines.iter().filter_map(|line| Some(line.rsplit_once('|')?.0.to_owned())).collect()
    };
    assert!(theirs.len() > 100, "{} models", theirs.len());
    assert_eq!(names(&ours), names(&theirs));
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert!(same(ours, theirs), "ours: {ours}\ntheirs: {theirs}");
    }
}

/// Equal but for the last digits of numbers; what vanishes beside them is rounding.
fn same(a: &str, b: &str) -> bool {
    let model = |line: &str| line.rsplit_once('|').map(|(_, model)| model.to_owned()).unwrap_or_default();
    let (a, b) = (model(a), model(b));
    let number = |word: &str| word.parse::<f64>().map_or(0.0, f64::abs);
    let largest = a.split_whitespace().map(number).fold(0.0, f64::max);
    let words = |text: &str| {
        let constant = text
            .split_once(" + ")
            .filter(|(first, _)| first.parse().is_ok_and(|c: f64| c.abs() < 1e-12 + 1e-9 * largest));
        let text = constant.map_or(text, |(_, terms)| terms);
        text.split_whitespace().map(str::to_owned).collect::<Vec<String>>()
    };
    let (a, b) = (words(&a), words(&b));
    let near = |(a, b): (&String, &String)| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => (a - b).abs() <= 1e-6 * a.abs().max(b.abs()) + 1e-9 * largest,
        _ => a == b,
    };
    a.len() == b.len() && a.iter().zip(&b).all(near)
}
