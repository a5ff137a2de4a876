//! Colours, where they are wanted: on a terminal, as `NO_COLOR`, `CLICOLOR` and `CLICOLOR_FORCE` ask, or as
//! `--color` says.

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use anstyle::AnsiColor;

/// How to print emphasis.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    colours: bool,
}

impl Style {
    /// For stdout as it is.
    pub fn for_stdout() -> Self {
        Self::for_stream(&std::io::stdout())
    }

    /// For stderr as it is.
    pub fn for_stderr() -> Self {
        Self::for_stream(&std::io::stderr())
    }

    fn for_stream<S: RawStream>(stream: &S) -> Self {
        Style { colours: AutoStream::choice(stream) != ColorChoice::Never }
    }

    pub fn bold(self, text: &str) -> String {
        self.paint(anstyle::Style::new().bold(), text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint(anstyle::Style::new().dimmed(), text)
    }

    /// Something to look out for.
    pub fn warn(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }

    /// A confidence, from good to bad: green, blue, yellow, red (the levels of the Python FTIO).
    pub fn confidence(self, value: f64, text: &str) -> String {
        let colour = match value {
            v if v >= 0.8 => AnsiColor::Green,
            v if v >= 0.6 => AnsiColor::Cyan,
            v if v >= 0.3 => AnsiColor::Yellow,
            _ => AnsiColor::Red,
        };
        self.paint(colour.on_default(), text)
    }

    fn paint(self, style: anstyle::Style, text: &str) -> String {
        if self.colours { format!("{style}{text}{style:#}") } else { text.to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_only_where_colours_are_wanted() {
        let (with, without) = (Style { colours: true }, Style { colours: false });
        assert_eq!(with.bold("x"), "\x1b[1mx\x1b[0m");
        assert_eq!(with.confidence(0.7, "x"), "\x1b[36mx\x1b[0m");
        assert_eq!(without.warn("x"), "x");
    }
}
