//! Commands and options as they were called in 0.2. They work for one release more, with a line that says
//! what they are called now.

use std::ffi::OsString;

/// Commands, and what they are now.
const COMMANDS: [(&[&str], &[&str]); 7] = [
    (&["clean"], &["recover", "--host"]),
    (&["schedule", "simulate"], &["simulate", "turns"]),
    (&["schedule", "measure"], &["measure"]),
    (&["stage", "simulate"], &["simulate", "staging"]),
    (&["batch", "simulate"], &["simulate", "batch"]),
    (&["batch", "generate"], &["simulate", "workload"]),
    (&["batch", "queue"], &["simulate", "queue"]),
];

/// The default analysis, which has no word for itself.
const DETECT: &str = "";

/// Commands that read quantities over time.
const READERS: &[&str] = &[
    DETECT,
    "predict",
    "run",
    "info",
    "report",
    "advise",
    "diff",
    "plot",
    "convert",
    "scale",
    "schedule",
    "measure",
    "signature",
    "simulate",
];

/// Commands with the rules of the advice.
const STUDIES: &[&str] = &["advise", "report", "diff"];

/// Commands with the rules of staging.
const STAGING: &[&str] = &["stage", "simulate"];

/// Methods that `-o` took: a file of such a name is `./zscore`.
const METHODS: [&str; 9] =
    ["zscore", "z-score", "dbscan", "db-scan", "isolation-forest", "forest", "lof", "peaks", "peak"];

/// What has become of an option.
enum Now {
    /// It has another name.
    Option(&'static str),
    /// It is the number of this name.
    Set(&'static str),
    /// It takes no value, and is this word.
    Word(&'static str),
}

/// An option that is called otherwise now: its commands, its name, and the values that have the old meaning.
type Former = (&'static [&'static str], &'static str, fn(&str) -> bool, Now);

const OPTIONS: &[Former] = &[
    (READERS, "--rate", |value| matches!(value, "auto" | "on" | "off"), Now::Option("--counters")),
    (STUDIES, "--threshold", any, Now::Option("--set")),
    (&["advise"], "--list", any, Now::Word("--set=help")),
    (&["report"], "--format", |value| value == "json", Now::Word("--json")),
    (&["model"], "--options", |value| value.contains('='), Now::Option("--set")),
    (&["model"], "--modeler", any, Now::Set("modeler")),
    (&["model"], "--measure", any, Now::Set("measure")),
    (&["model"], "-m", |value| !is_mode(value), Now::Option("--metric")),
    (&["model"], "-c", any, Now::Option("--callpath")),
    (&[DETECT, "predict"], "-o", are_methods, Now::Option("--outlier")),
    (&[DETECT, "predict", "run"], "-t", |value| value.parse::<f64>().is_ok(), Now::Option("--tol")),
    (STAGING, "--guard", any, Now::Set("guard")),
    (STAGING, "--min-confidence", any, Now::Set("min-confidence")),
    (STAGING, "--high-water", any, Now::Set("high-water")),
    (STAGING, "--low-water", any, Now::Set("low-water")),
    (&["schedule"], "--open-rate", any, Now::Set("open-rate")),
    (&["schedule"], "--closed-rate", any, Now::Set("closed-rate")),
    (&["serve"], "--budget", any, Now::Set("budget")),
    (&["serve"], "--memory", any, Now::Set("memory")),
    (&["serve"], "--disk-of-user", any, Now::Set("disk-of-user")),
    (&["serve"], "--poll", any, Now::Set("poll")),
    (&["serve"], "--metrics-jobs", any, Now::Set("metrics-jobs")),
];

fn any(_: &str) -> bool {
    true
}

fn are_methods(value: &str) -> bool {
    value.split(',').all(|method| METHODS.contains(&method))
}

fn is_mode(value: &str) -> bool {
    value.parse::<sources::request::Mode>().is_ok()
}

/// The arguments as they are spelled now, and what to say about those that were not. `commands` are the names
/// of the subcommands; `as_python`: the command was called by a name of the Python FTIO, whose letters stay.
pub fn modern(args: Vec<OsString>, commands: &[&str], as_python: bool) -> (Vec<OsString>, Vec<String>) {
    let mut notes = Vec::new();
    let mut note = |was: &str, now: &str| {
        let text = format!("{was} is called {now} now; the old spelling works for one release more");
        if !notes.contains(&text) {
            notes.push(text);
        }
    };
    let words: Vec<&str> = args.iter().skip(1).take(2).map(|arg| arg.to_str().unwrap_or_default()).collect();
    let mut rest = args.clone().into_iter().peekable();
    let mut out: Vec<OsString> = rest.next().into_iter().collect();
    let former = COMMANDS.iter().find(|(was, _)| words.starts_with(was));
    let command = match former {
        Some((was, now)) => {
            note(&format!("ftio {}", was.join(" ")), &format!("ftio {}", now.join(" ")));
            rest.by_ref().take(was.len()).for_each(drop);
            out.extend(now.iter().map(OsString::from));
            now[0]
        }
        None => match words.first() {
            Some(word) if commands.contains(word) => {
                out.extend(rest.next());
                word
            }
            _ => DETECT,
        },
    };
    // What follows may be a program's own options.
    let runs = matches!(command, "run" | "trace") && !args.iter().any(|arg| arg == "--");
    let compat = as_python || args.iter().any(|arg| arg == "--compat");
    let options: Vec<&Former> = OPTIONS.iter().filter(|(of, ..)| !runs && of.contains(&command)).collect();
    let numbers = numbers(command);
    while let Some(arg) = rest.next() {
        let Some(text) = arg.to_str().filter(|text| text.starts_with('-') && *text != "--") else {
            let ends = arg == "--";
            out.push(arg);
            if ends {
                out.extend(rest);
                break;
            }
            continue;
        };
        let (name, attached) = split(text);
        let value =
            attached.or_else(|| rest.peek().and_then(|next| next.to_str())).unwrap_or_default().to_owned();
        let number = numbers.iter().find(|number| name.strip_prefix("--") == Some(number));
        let now = match options.iter().find(|(_, was, ..)| *was == name) {
            Some((_, "-o", ..)) if compat => Some(&Now::Option("--outlier")),
            Some((_, _, wanted, now)) if wanted(&value) => Some(now),
            _ => None,
        };
        let now = match (now, number) {
            (Some(now), _) => now,
            (None, Some(number)) => &Now::Set(number),
            (None, None) => {
                out.push(arg);
                continue;
            }
        };
        if attached.is_none() && !matches!((name, now), ("--list", _)) {
            rest.next();
        }
        match now {
            Now::Option(option) => {
                if !(compat && name.len() == 2) {
                    note(name, option);
                }
                out.push(format!("{option}={value}").into());
            }
            Now::Set(number) => {
                note(name, &format!("--set {number}"));
                out.push(format!("--set={number}={value}").into());
            }
            Now::Word(word) => {
                note(text, word);
                out.push((*word).into());
            }
        }
    }
    (out, notes)
}

/// The name of an option, and the value that is in the same word.
fn split(text: &str) -> (&str, Option<&str>) {
    match text.strip_prefix("--") {
        Some(_) => text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value))),
        None => match text.split_at_checked(2) {
            Some((name, value)) if !value.is_empty() => {
                (name, Some(value.strip_prefix('=').unwrap_or(value)))
            }
            _ => (text, None),
        },
    }
}

/// The numbers of a method, each of which was an option.
fn numbers(command: &str) -> Vec<&'static str> {
    match command {
        "categorize" => mosaic::thresholds::TABLE.iter().map(|row| row.name).collect(),
        "signature" => io_signature::settings::TABLE.iter().map(|row| row.name).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(text: &str) -> (String, usize) {
        let args = text.split(' ').map(OsString::from).collect();
        let commands =
            ["predict", "run", "advise", "model", "categorize", "signature", "report", "stage", "trace"];
        let (out, notes) = modern(args, &commands, false);
        let out: Vec<&str> = out.iter().map(|arg| arg.to_str().unwrap()).collect();
        (out.join(" "), notes.len())
    }

    #[test]
    fn former_spellings_are_the_present_ones_and_a_line_says_so() {
        for (was, now, lines) in [
            ("ftio clean /dev/shm --json", "ftio recover --host /dev/shm --json", 1),
            ("ftio batch queue a --copies 2", "ftio simulate queue a --copies 2", 1),
            ("ftio schedule --configfs d a", "ftio schedule --configfs d a", 0),
            ("ftio --rate off a.csv", "ftio --counters=off a.csv", 1),
            ("ftio stage --rate 5M a", "ftio stage --rate 5M a", 0),
            ("ftio advise --threshold=a=1 --threshold b=2 x", "ftio advise --set=a=1 --set=b=2 x", 1),
            ("ftio advise --list", "ftio advise --set=help", 1),
            ("ftio report --format json x", "ftio report --json x", 1),
            ("ftio report --format text x", "ftio report --format text x", 0),
            ("ftio -o dbscan x", "ftio --outlier=dbscan x", 1),
            ("ftio -ozscore,lof x", "ftio --outlier=zscore,lof x", 1),
            ("ftio -o out.txt x", "ftio -o out.txt x", 0),
            ("ftio -o ./zscore x", "ftio -o ./zscore x", 0),
            ("ftio --compat -o other x", "ftio --compat --outlier=other x", 0),
            ("ftio -t 0.5 x", "ftio --tol=0.5 x", 1),
            ("ftio model -m Time f", "ftio model --metric=Time f", 1),
            ("ftio model -m write f", "ftio model -m write f", 0),
            ("ftio model --modeler refining f", "ftio model --set=modeler=refining f", 1),
            (
                "ftio categorize --chunk-share 0.5 d -- --chunk-share",
                "ftio categorize --chunk-share 0.5 d -- --chunk-share",
                0,
            ),
            ("ftio run --rate on ./app --rate on", "ftio run --rate on ./app --rate on", 0),
            ("ftio run --rate on -- ./app --rate on", "ftio run --counters=on -- ./app --rate on", 1),
            ("ftio trace -o x -- app -o zscore", "ftio trace -o x -- app -o zscore", 0),
        ] {
            assert_eq!(spelled(was), (now.to_owned(), lines), "{was}");
        }
    }

    /// Every number of the two methods was an option.
    #[test]
    fn numbers_were_options() {
        for command in ["categorize", "signature"] {
            for number in numbers(command) {
                let now = format!("ftio {command} --set={number}=0.5 x");
                assert_eq!(spelled(&format!("ftio {command} --{number} 0.5 x")), (now, 1));
            }
        }
    }
}
