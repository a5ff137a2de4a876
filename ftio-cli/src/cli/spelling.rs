//! The command lines of the Python FTIO: its two-letter options (`-ts 10`), which clap would read as `-t s`,
//! and options that mean nothing here or something else.

use std::ffi::OsString;

/// What its options are called here.
const WORDS: [(&str, &str); 5] = [
    ("-ts", "--ts"),
    ("-te", "--te"),
    ("-np", "--no-psd"),
    ("-au", "--autocorrelation"),
    ("-cf", "--pattern"),
];

/// As many waves as the Python FTIO adds up if no number is given.
const WAVES: &str = "10";

/// The command that arguments are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    Detection,
    Prediction,
    /// The other commands keep what they are given: they may pass it on to a program.
    Others,
}

/// Replace them, up to a `--`. `commands` are the names of the subcommands.
pub fn accept(args: impl IntoIterator<Item = OsString>, commands: &[&str]) -> Vec<OsString> {
    let args: Vec<OsString> = args.into_iter().collect();
    let command = match args.get(1).and_then(|first| first.to_str()) {
        Some("predict") => For::Prediction,
        Some("plot" | "scale") => For::Detection,
        Some(first) if commands.contains(&first) => For::Others,
        _ => For::Detection,
    };
    let mut out = Vec::with_capacity(args.len());
    let mut rest = args.into_iter().peekable();
    while let Some(arg) = rest.next() {
        if arg == "--" {
            out.push(arg);
            out.extend(rest);
            break;
        }
        let Some(text) = arg.to_str() else {
            out.push(arg);
            continue;
        };
        let (word, value) = text.split_once('=').map_or((text, None), |(word, value)| (word, Some(value)));
        if let Some((_, long)) = WORDS.iter().find(|(short, _)| *short == word) {
            out.push(value.map_or((*long).into(), |value| format!("{long}={value}").into()));
            continue;
        }
        if command == For::Others {
            out.push(arg);
            continue;
        }
        let mut next = |wanted: &dyn Fn(&str) -> bool| {
            rest.next_if(|next| next.to_str().is_some_and(wanted)).and_then(|next| next.into_string().ok())
        };
        match word {
            // The engine of pictures: no, or an interactive page.
            "-e" | "--engine" => match value.map(str::to_owned).or_else(|| next(&is_engine)) {
                Some(engine) if engine == "no" => {}
                Some(engine) if is_engine(&engine) && command == For::Detection => {
                    out.push("--engine".into())
                }
                Some(_) | None => out.push(arg),
            },
            "-re" => {
                let count = value.map(str::to_owned).or_else(|| next(&is_number));
                out.push(format!("--reconstruct={}", count.as_deref().unwrap_or(WAVES)).into());
            }
            // Hits after which the window shrinks; of detection, the module of a Darshan log.
            "-x" | "--dxt_mode" | "-hi" | "--hits" => {
                let given = value.map(str::to_owned).or_else(|| next(&|_| true));
                match (given, command) {
                    (Some(hits), For::Prediction) if is_number(&hits) => {
                        out.push(format!("--window=hits:{hits}").into());
                    }
                    (Some(hits), _) if is_number(&hits) => {}
                    (Some(module), For::Detection) if layer_of(&module).is_some() => {
                        out.extend(layer_of(&module).map(|layer| format!("--layer={layer}").into()));
                    }
                    (Some(other), _) if value.is_none() => out.extend([arg.clone(), other.into()]),
                    _ => out.push(arg),
                }
            }
            // How a prediction's window follows: by hits, which is the default here, or by changes.
            "-w" | "--window_adaptation" => {
                let given = value.map(str::to_owned).or_else(|| next(&is_adaptation));
                match (given, command) {
                    (Some(rule), For::Prediction) if is_change(&rule) => out.push("--window=change".into()),
                    (Some(rule), _) if is_adaptation(&rule) => {}
                    (Some(_), _) => out.push(arg),
                    (None, For::Prediction)
                        if rest.peek().and_then(|next| next.to_str()).is_some_and(is_rule) =>
                    {
                        out.push(arg);
                    }
                    (None, _) => {}
                }
            }
            // The transformation and the kind of input: there is one, and inputs are recognised.
            "-tr" | "--transformation" if value == Some("dft") || next(&|next| next == "dft").is_some() => {}
            "-s" | "--source" if value.is_some() || next(&is_source).is_some() => {}
            _ => out.push(arg),
        }
    }
    out
}

fn is_engine(text: &str) -> bool {
    matches!(text, "no" | "mat" | "matplotlib" | "plotly" | "html")
}

fn is_number(text: &str) -> bool {
    text.parse::<u32>().is_ok()
}

/// The layer that a module of Darshan records.
fn layer_of(module: &str) -> Option<&'static str> {
    match module.strip_prefix("DXT_").unwrap_or(module) {
        "MPIIO" => Some("mpiio"),
        "POSIX" => Some("posix"),
        "STDIO" => Some("stdio"),
        _ => None,
    }
}

/// The rules of its `--window_adaptation`.
fn is_adaptation(text: &str) -> bool {
    matches!(text, "frequency_hits" | "data") || is_change(text)
}

fn is_change(text: &str) -> bool {
    matches!(text, "adwin" | "cusum" | "ph")
}

fn is_source(text: &str) -> bool {
    matches!(text, "tmio" | "custom" | "unspecified")
}

/// What `--window` takes, or was meant to: its own parser says what is wrong.
fn is_rule(text: &str) -> bool {
    text.contains(':') || matches!(text, "hits" | "periods" | "seconds" | "change" | "all")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accepted(given: &str) -> String {
        let args = given.split(' ').map(OsString::from);
        let out = accept(args, &["predict", "trace", "info"]);
        out.iter().map(|arg| arg.to_str().unwrap()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn words_are_replaced_before_two_dashes_only() {
        assert_eq!(accepted("ftio -ts 1 -te=2 -t 0.5 a-ts -- -ts"), "ftio --ts 1 --te=2 -t 0.5 a-ts -- -ts");
    }

    #[test]
    fn examples_of_the_python_ftio() {
        for (given, meant) in [
            ("ftio 8.jsonl -e no", "ftio 8.jsonl"),
            ("ftio 8.jsonl -e plotly -v", "ftio 8.jsonl --engine -v"),
            ("ftio 8.jsonl -re -f 10", "ftio 8.jsonl --reconstruct=10 -f 10"),
            ("ftio -re 3 8.jsonl", "ftio --reconstruct=3 8.jsonl"),
            ("ftio -x DXT_POSIX a.darshan", "ftio --layer=posix a.darshan"),
            ("ftio -tr dft -s tmio a", "ftio a"),
            ("ftio -x POSIX a.darshan", "ftio --layer=posix a.darshan"),
            ("ftio --dxt_mode=DXT_MPIIO a.darshan", "ftio --layer=mpiio a.darshan"),
            ("ftio -x NONE a.darshan", "ftio -x NONE a.darshan"),
            ("ftio -w -x 3 8.jsonl", "ftio 8.jsonl"),
            ("ftio -w frequency_hits -hi 3 8.jsonl", "ftio 8.jsonl"),
            ("ftio predict a.jsonl -w -e no", "ftio predict a.jsonl"),
            ("ftio predict -w -x 2 a.jsonl", "ftio predict --window=hits:2 a.jsonl"),
            ("ftio predict -w frequency_hits -hi 5 a.jsonl", "ftio predict --window=hits:5 a.jsonl"),
            ("ftio predict -w adwin a.jsonl", "ftio predict --window=change a.jsonl"),
            ("ftio predict -x DXT_POSIX a.darshan", "ftio predict -x DXT_POSIX a.darshan"),
            ("ftio predict --window_adaptation=typo a", "ftio predict --window_adaptation=typo a"),
            ("ftio predict a.jsonl -x 5", "ftio predict a.jsonl --window=hits:5"),
            ("ftio predict -w frequency_hits a.jsonl", "ftio predict a.jsonl"),
            ("ftio predict -w seconds:30 a.jsonl", "ftio predict -w seconds:30 a.jsonl"),
            ("ftio trace -o x mpirun -x PATH -e no", "ftio trace -o x mpirun -x PATH -e no"),
        ] {
            assert_eq!(accepted(given), meant, "{given}");
        }
    }
}
