//! Commands and options: what is printed without any, that each changes something, and how they were called.

use crate::support::{SECOND, Script, blocking, exit_code, ftio, stderr, stdout};
use serde_json::Value;
use std::path::Path;
use tmio_trace::Direction;

/// Two ranks that write every 10 s and read every 7 s, with a first phase that is longer.
fn mixed(dir: &Path) {
    let mut script = Script::bursts(2, 12);
    for (rank, operations) in script.blocks.iter_mut() {
        let at = |start: i64, direction| blocking(direction, start * SECOND, (start + 1) * SECOND, 1 << 21);
        operations.extend((0..16).map(|i| at(7 * i, Direction::Read)));
        operations.extend((0..3).map(|i| at(2 + i, Direction::Write)));
        operations.extend((0..20 * i64::from(*rank)).map(|i| at(5 * i + 3, Direction::Write)));
        operations.sort_by_key(|operation| operation.start);
    }
    script.write(&dir.join("t"));
}

/// What is told of a trace, without what only lists the spectrum.
fn answer(dir: &Path, args: &[&str]) -> Vec<Value> {
    let output = ftio(dir, &[&["--json"], args, &["t"]].concat());
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
    let one = |line: &str| {
        let mut value: Value = serde_json::from_str(line).unwrap();
        for listed in ["candidates", "harmonics", "evidence"] {
            value.as_object_mut().unwrap().remove(listed);
        }
        value
    };
    stdout(&output).lines().map(one).collect()
}

/// The options of some sections of the help.
fn listed(dir: &Path, sections: &[&str]) -> Vec<String> {
    let help = stdout(&ftio(dir, &["--help"]));
    let mut inside = false;
    let mut options = Vec::new();
    for line in help.lines() {
        if !line.is_empty() && !line.starts_with(' ') {
            inside = sections.contains(&line.trim_end_matches(':'));
        }
        let option = line.split_whitespace().find(|word| word.starts_with("--"));
        let indent = line.len() - line.trim_start().len();
        if inside && indent < 10 && line.trim_start().starts_with('-') {
            options.extend(option.map(|option| option.split(['=', '[', ',']).next().unwrap().to_owned()));
        }
    }
    options
}

#[test]
fn every_option_of_the_analysis_changes_an_answer() {
    let dir = tempfile::tempdir().unwrap();
    mixed(dir.path());
    let usual = answer(dir.path(), &[]);
    let changes: [&[&str]; 15] = [
        &["--mode", "read"],
        &["--freq", "3"],
        &["--min-period", "30"],
        &["--max-period", "4"],
        &["--ts", "30"],
        &["--te", "80"],
        &["--autocorrelation"],
        &["--skip-first-phase"],
        &["--compat"],
        &["--paper"],
        &["--top", "3"],
        &["--reconstruct", "2"],
        &["--over-time"],
        &["--per-rank"],
        &["--per-file"],
    ];
    for options in changes {
        assert_ne!(answer(dir.path(), options), usual, "{options:?} changes nothing");
    }
    let known: Vec<&str> = changes.iter().map(|options| options[0]).collect();
    for option in listed(dir.path(), &["What to analyse", "Method", "Results"]) {
        assert!(known.contains(&&*option), "{option} was not tried");
    }
    // Those of the spectrum are for the methods that have nothing else.
    let spectrum: [&[&str]; 3] = [&["--outlier", "dbscan"], &["--tol", "0.01"], &["--no-psd"]];
    for options in spectrum {
        for method in ["--paper", "--compat"] {
            let whole =
                |args: &[&str]| stdout(&ftio(dir.path(), &[&["--json", method], args, &["t"]].concat()));
            assert_ne!(whole(options), whole(&[]), "{method} {options:?} changes nothing");
        }
    }
    let known: Vec<&str> = spectrum.iter().map(|options| options[0]).collect();
    for option in listed(dir.path(), &["Of the spectrum, for --paper and --compat"]) {
        assert!(known.contains(&&*option), "{option} was not tried");
    }
}

#[test]
fn alone_it_shows_what_there_is() {
    let dir = tempfile::tempdir().unwrap();
    for args in [&[][..], &["-h"]] {
        let output = ftio(dir.path(), args);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()));
        let text = stdout(&output);
        assert!(text.lines().count() <= 50, "{text}");
        for word in ["Record", "Understand", "Foresee", "Many runs", "Site", "Simulate", "ftio trace -o"] {
            assert!(text.contains(word), "{word}: {text}");
        }
    }
    assert_eq!(exit_code(dir.path(), &["--json"]), Some(2), "options without a trace are wrong usage");
}

/// The result, and the line that says what is called otherwise now.
fn both(dir: &Path, was: &[&str], now: &[&str]) {
    let (was, now) = (ftio(dir, was), ftio(dir, now));
    assert_eq!((was.status.code(), stdout(&was)), (now.status.code(), stdout(&now)));
    let said = stderr(&was);
    assert!(said.contains(" now; the old spelling works for one release more\n"), "{said}");
    assert!(!stderr(&now).contains("spelling"), "{}", stderr(&now));
}

#[test]
fn former_spellings_work_and_say_so() {
    let dir = tempfile::tempdir().unwrap();
    mixed(dir.path());
    std::fs::create_dir(dir.path().join("spools")).unwrap();
    std::fs::write(dir.path().join("load.csv"), "time,load\n0,1\n1,2\n2,1\n3,2\n4,1\n5,2\n").unwrap();
    for (was, now) in [
        (&["clean", "spools"][..], &["recover", "--host", "spools"][..]),
        (&["schedule", "measure", "t"], &["measure", "t"]),
        // One policy, as the others take their time.
        (
            &["schedule", "simulate", "--repetitions", "1", "--policies", "fcfs"],
            &["simulate", "turns", "--repetitions", "1", "--policies", "fcfs"],
        ),
        (&["batch", "queue", "t"], &["simulate", "queue", "t"]),
        (&["batch", "generate", "--jobs", "9"], &["simulate", "workload", "--jobs", "9"]),
        (&["stage", "simulate", "t", "--rate", "1M"], &["simulate", "staging", "t", "--rate", "1M"]),
        (&["-o", "dbscan", "t"], &["--outlier", "dbscan", "t"]),
        (&["-t", "0.5", "--json", "t"], &["--tol", "0.5", "--json", "t"]),
        (&["info", "--rate", "off", "load.csv"], &["info", "--counters", "off", "load.csv"]),
        (&["advise", "--threshold", "small-count=5", "t"], &["advise", "--set", "small-count=5", "t"]),
        (&["advise", "--list"], &["advise", "--set", "help"]),
        (&["report", "--format", "json", "t"], &["report", "--json", "t"]),
        (
            &["signature", "--least-runs", "3", "--samples", "load.csv"],
            &["signature", "--set", "least-runs=3", "--samples", "load.csv"],
        ),
        (
            &["categorize", "--group-size", "3", "--all-files", "t"],
            &["categorize", "--set", "group-size=3", "--all-files", "t"],
        ),
    ] {
        both(dir.path(), was, now);
    }
    // Under the method of the Python FTIO its letters stay.
    let compat = ftio(dir.path(), &["--compat", "-o", "dbscan", "-t", "0.5", "t"]);
    assert!(!stderr(&compat).contains("spelling"), "{}", stderr(&compat));
    // A file of such a name.
    assert_eq!(exit_code(dir.path(), &["-o", "./zscore", "t"]), Some(0));
    assert!(std::fs::read_to_string(dir.path().join("zscore")).unwrap().contains("period"));
}

#[test]
fn the_output_of_every_command_is_a_file_if_one_is_named() {
    let dir = tempfile::tempdir().unwrap();
    mixed(dir.path());
    for (number, args) in [
        &["t"][..],
        &["--json", "t"],
        &["info", "t"],
        &["advise", "t"],
        &["diff", "t", "t"],
        &["measure", "t"],
        &["simulate", "queue", "t"],
        &["predict", "--json", "--until-complete", "t"],
        &["recover", "--host", "spools"],
        &["man"],
    ]
    .into_iter()
    .enumerate()
    {
        if args[0] == "recover" {
            continue; // its -o is the trace
        }
        let name = format!("out{number}");
        let printed = stdout(&ftio(dir.path(), args));
        let output = ftio(dir.path(), &[args, &["-o", &name]].concat());
        assert_eq!((output.status.code(), stdout(&output)), (Some(0), String::new()), "{args:?}");
        assert_eq!(std::fs::read_to_string(dir.path().join(&name)).unwrap(), printed, "{args:?}");
    }
    let output = ftio(dir.path(), &["t", "-o", "t.svg"]);
    assert!(stdout(&output).contains("period"), "{}", stderr(&output));
    assert!(std::fs::read_to_string(dir.path().join("t.svg")).unwrap().starts_with("<svg"));
    // Nothing is lost where nothing can be said, and an input stays.
    std::fs::write(dir.path().join("old"), "old").unwrap();
    assert_eq!(exit_code(dir.path(), &["missing", "-o", "t"]), Some(1));
    assert_eq!(exit_code(dir.path(), &["t", "-o", "t"]), Some(2));
    assert_eq!(exit_code(dir.path(), &["info", "--layer", "none", "t", "-o", "old"]), Some(2));
    assert_eq!(std::fs::read_to_string(dir.path().join("old")).unwrap(), "old");
    assert_eq!(exit_code(dir.path(), &["t"]), Some(0));
    let full = ftio(dir.path(), &["info", "t", "-o", "/dev/full"]);
    assert!(
        full.status.code() == Some(1) && stderr(&full).contains("/dev/full: No space"),
        "{}",
        stderr(&full)
    );
}

#[test]
fn models_of_runs_need_no_file_between() {
    let dir = tempfile::tempdir().unwrap();
    for ranks in [1, 2, 4, 8, 16] {
        Script::bursts(ranks, 6).write(&dir.path().join(format!("run.p{ranks}.msgpack")));
    }
    let runs: Vec<String> = [1, 2, 4, 8, 16].map(|ranks| format!("run.p{ranks}.msgpack")).to_vec();
    let runs: Vec<&str> = runs.iter().map(String::as_str).collect();
    let only = ["--callpath", "write_sync->total_bytes", "--print", "{model}"];
    let direct = stdout(&ftio(dir.path(), &[&["model"], &runs[..], &only].concat()));
    assert!(direct.contains("6291456.0 * Processes^(1)"), "{direct}");
    std::fs::write(
        dir.path().join("scale.jsonl"),
        stdout(&ftio(dir.path(), &[&["scale"], &runs[..]].concat())),
    )
    .unwrap();
    assert_eq!(stdout(&ftio(dir.path(), &[&["model", "scale.jsonl"], &only[..]].concat())), direct);
    // One after the other, into a file that is modelled each time.
    for run in &runs {
        let output = ftio(dir.path(), &[&["model", run, "--points", "kept.jsonl"], &only[..]].concat());
        if *run == runs[4] {
            assert_eq!(stdout(&output), direct, "{}", stderr(&output));
        }
    }
    std::fs::create_dir(dir.path().join("folder")).unwrap();
    for run in &runs {
        std::fs::copy(dir.path().join(run), dir.path().join("folder").join(run)).unwrap();
    }
    assert_eq!(stdout(&ftio(dir.path(), &[&["model", "folder"], &only[..]].concat())), direct);
    assert_eq!(exit_code(dir.path(), &["model", "missing.msgpack"]), Some(1));
    assert_eq!(exit_code(dir.path(), &["model"]), Some(2));
}

#[test]
fn numbers_are_listed_and_checked() {
    let dir = tempfile::tempdir().unwrap();
    for (command, number) in [
        ("advise", "small-share"),
        ("report", "small-share"),
        ("diff", "small-share"),
        ("categorize", "group-size"),
        ("signature", "least-runs"),
        ("stage", "high-water"),
        ("schedule", "open-rate"),
        ("serve", "memory"),
        ("model", "poly_exponents"),
    ] {
        let output = ftio(dir.path(), &[command, "--set", "help"]);
        assert_eq!((output.status.code(), stderr(&output)), (Some(0), String::new()), "{command}");
        assert!(stdout(&output).contains(number), "{command}: {}", stdout(&output));
        for wrong in ["nothing=1", &format!("{number}=x")] {
            assert_eq!(exit_code(dir.path(), &[command, "--set", wrong, "t"]), Some(2), "{command} {wrong}");
        }
    }
}
