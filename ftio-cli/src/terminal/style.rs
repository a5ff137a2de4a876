//! Colours, where they are welcome: on a terminal, unless `NO_COLOR` is set, or as `--color` says.

use crate::cli::Colour;
use std::io::IsTerminal;
use std::sync::OnceLock;

static CHOICE: OnceLock<Colour> = OnceLock::new();

/// What `--color` says; once, before anything is printed.
pub fn choose(choice: Colour) {
    let _ = CHOICE.set(choice);
}

/// How to print emphasis.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    colours: bool,
}

impl Style {
    /// For stdout as it is.
    pub fn for_stdout() -> Self {
        match CHOICE.get() {
            Some(Colour::Always) => return Style { colours: true },
            Some(Colour::Never) => return Style { colours: false },
            Some(Colour::Auto) | None => {}
        }
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        Style { colours: std::io::stdout().is_terminal() && !forbidden && !dumb }
    }

    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// Something to look out for.
    pub fn warn(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// A confidence, from good to bad: green, blue, yellow, red (the levels of the Python FTIO).
    pub fn confidence(self, value: f64, text: &str) -> String {
        let code = match value {
            v if v >= 0.8 => "32",
            v if v >= 0.6 => "36",
            v if v >= 0.3 => "33",
            _ => "31",
        };
        self.paint(code, text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colours { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }
}
