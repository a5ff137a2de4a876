//! The two-letter options of the Python FTIO (`-ts 10`), which clap would read as `-t s`.

use std::ffi::OsString;

/// What they are called here.
const WORDS: [(&str, &str); 6] = [
    ("-ts", "--ts"),
    ("-te", "--te"),
    ("-np", "--no-psd"),
    ("-au", "--autocorrelation"),
    ("-re", "--reconstruct"),
    ("-cf", "--pattern"),
];

/// Replace them, up to a `--`.
pub fn accept_short_words(args: impl IntoIterator<Item = OsString>) -> impl Iterator<Item = OsString> {
    let mut options = true;
    args.into_iter().map(move |arg| {
        options = options && arg != "--";
        let Some(text) = arg.to_str().filter(|_| options) else { return arg };
        let (word, value) = text.split_once('=').map_or((text, None), |(word, value)| (word, Some(value)));
        match (WORDS.iter().find(|(short, _)| *short == word), value) {
            (Some((_, long)), None) => (*long).into(),
            (Some((_, long)), Some(value)) => format!("{long}={value}").into(),
            (None, _) => arg,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_replaced_before_two_dashes_only() {
        let given = ["ftio", "-ts", "1", "-te=2", "-t", "0.5", "a-ts", "--", "-ts"];
        let accepted: Vec<OsString> = accept_short_words(given.iter().map(OsString::from)).collect();
        assert_eq!(accepted, ["ftio", "--ts", "1", "--te=2", "-t", "0.5", "a-ts", "--", "-ts"]);
    }
}
