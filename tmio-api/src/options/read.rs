//! Reads the options from where they are set.

use super::site::{self, ThisProcess};
use super::table::{Entry, SITE, TABLE};
use super::{Options, wants_program};
use crate::process::message;
use crate::process::surroundings::Surroundings;
use std::fmt::Write as _;

/// The options, and what has to be said about them.
#[derive(Debug)]
pub struct Parsed {
    /// Options with every text that was understood.
    pub options: Options,
    /// The first text that was not understood, if any: tracing stays off then.
    pub problem: Option<String>,
    /// What the user has set, although the site has locked it.
    pub ignored: Option<String>,
    /// What was set, and by whom.
    pub sources: Sources,
}

/// The text of every option that was set, and where it was.
#[derive(Debug, Default)]
pub struct Sources(Vec<Setting>);

#[derive(Debug)]
struct Setting {
    name: &'static str,
    text: String,
    /// File and line; empty: the environment.
    by: String,
    locked: bool,
}

/// Reads the options: first the site's file, then the file of `name = value` lines that `TMIO_CONFIG` names,
/// then the environment.
pub fn read(around: &Surroundings) -> Parsed {
    let mut reading = Reading::default();
    match site::read_site() {
        Ok(None) => {}
        Ok(Some(text)) => reading.site(site::PATH, &text),
        // What it asks for is not known, so nothing is done.
        Err(error) => reading.trouble(format!("{}: {}", site::PATH, message::plain(&error))),
    }
    let text = |name: &str| around.text(name);
    let file = text("TMIO_CONFIG").filter(|path| !path.is_empty());
    reading.user(&|name| text(&format!("TMIO_{name}")), file.as_deref());
    // A path is bytes, not text.
    if let Some(raw) = around.variable("TMIO_OUTPUT").filter(|raw| raw.to_str().is_none())
        && reading.lock("OUTPUT").is_none()
    {
        reading.options.output = Some(raw);
    }
    let options = &mut reading.options;
    options.disable |= !site::wants_user(&options.users, &ThisProcess)
        || (!options.exclude_programs.is_empty()
            && !wants_program(&options.exclude_programs, &around.executable()));
    reading.finish()
}

#[derive(Default)]
struct Reading {
    options: Options,
    problem: Option<String>,
    ignored: Vec<(&'static str, String)>,
    sources: Sources,
}

impl Reading {
    fn finish(self) -> Parsed {
        let ignored = self.ignored.first().map(|(_, by)| {
            let names: Vec<String> = self.ignored.iter().map(|(name, _)| format!("TMIO_{name}")).collect();
            format!("{} cannot be changed here: locked by {by}", names.join(", "))
        });
        Parsed { options: self.options, problem: self.problem, ignored, sources: self.sources }
    }

    /// The first one counts.
    fn trouble(&mut self, problem: String) {
        self.problem.get_or_insert(problem);
    }

    /// Where an option was locked.
    fn lock(&self, name: &str) -> Option<&Setting> {
        self.sources.0.iter().find(|setting| setting.locked && setting.name == name)
    }

    fn site(&mut self, path: &str, text: &str) {
        self.options.site = true;
        if let Err(problem) = self.file(path, text, true) {
            self.trouble(problem);
        }
    }

    fn user(&mut self, environment: &dyn Fn(&str) -> Option<String>, config: Option<&str>) {
        if let Some(path) = config {
            let applied = site::read_file(path)
                .map_err(|error| format!("cannot read TMIO_CONFIG={path}: {}", message::plain(&error)))
                .and_then(|text| self.file(path, &text, false));
            if let Err(problem) = applied {
                self.trouble(problem);
            }
        }
        for entry in TABLE {
            let Some(text) = environment(entry.name) else { continue };
            if let Err(expected) = self.set(entry, text.trim(), String::new(), false) {
                self.trouble(format!("TMIO_{}={text}: expected {expected}", entry.name));
            }
        }
    }

    /// Sets an option, unless the site has locked it.
    fn set(&mut self, entry: &Entry, text: &str, by: String, locked: bool) -> Result<(), &'static str> {
        if let Some(lock) = self.lock(entry.name) {
            if lock.text != text && !self.ignored.iter().any(|(name, _)| *name == entry.name) {
                self.ignored.push((entry.name, lock.by.clone()));
            }
            return Ok(());
        }
        self.sources.0.push(Setting { name: entry.name, text: text.to_owned(), by, locked });
        (entry.set)(&mut self.options, text)
    }

    /// Applies the lines of a file; in that of the site, `locked` may stand before a name.
    fn file(&mut self, path: &str, text: &str, site: bool) -> Result<(), String> {
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if line.is_empty() {
                continue;
            }
            let (name, value) = line
                .split_once('=')
                .ok_or_else(|| format!("{path}:{number}: expected name = value, found '{line}'"))?;
            let name = name.trim();
            let (locked, name) = match name.split_once(char::is_whitespace) {
                Some(("locked", name)) if site => (true, name.trim()),
                _ => (false, name),
            };
            let wanted = name.to_ascii_uppercase();
            let wanted = wanted.strip_prefix("TMIO_").unwrap_or(&wanted);
            if !site && SITE.iter().any(|entry| entry.name == wanted) {
                return Err(format!("{path}:{number}: '{name}' is an option of the site's own file"));
            }
            let entry = TABLE
                .iter()
                .chain(SITE)
                .find(|entry| entry.name == wanted)
                .ok_or_else(|| format!("{path}:{number}: there is no option '{name}'"))?;
            let value = value.trim().trim_matches('"');
            let by = format!("{path}:{number}");
            self.set(entry, value, by, locked)
                .map_err(|expected| format!("{path}:{number}: expected {expected}, found '{value}'"))?;
        }
        Ok(())
    }
}

/// All options with their values, one a line, for `TMIO_DUMP_CONFIG`.
pub fn dump(sources: &Sources) -> String {
    let mut text = String::from("options\n");
    for entry in TABLE.iter().chain(SITE) {
        // What was set last counts.
        match sources.0.iter().rev().find(|setting| setting.name == entry.name) {
            Some(Setting { name, text: value, by, locked }) => {
                let by = if by.is_empty() { String::new() } else { format!(" ({by})") };
                let locked = if *locked { ", locked" } else { "" };
                _ = writeln!(text, "  TMIO_{name} = {value}{by}{locked}");
            }
            None if SITE.iter().any(|site| site.name == entry.name) => {}
            None => _ = writeln!(text, "  TMIO_{} = {} (default)", entry.name, entry.default),
        }
    }
    text.truncate(text.trim_end().len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::{Flush, wants_file, wants_rank};
    use crate::process::message::Level;
    use std::time::Duration;

    fn parse(environment: &dyn Fn(&str) -> Option<String>, config: Option<&str>) -> Parsed {
        let mut reading = Reading::default();
        reading.user(environment, config);
        reading.finish()
    }

    /// The site's file, and then the environment.
    fn at_a_site(text: &str, pairs: &[(&str, &str)]) -> Parsed {
        let mut reading = Reading::default();
        reading.site("/etc/tmio.conf", text);
        reading.user(&|name| pairs.iter().find(|(n, _)| *n == name).map(|(_, v)| (*v).to_owned()), None);
        reading.finish()
    }

    #[test]
    fn a_locked_option_stays_as_the_site_has_set_it() {
        let text = "locked output = /logs/%u/%j\nlocked\tbuffer=1M\nlog = info\n";
        let parsed = at_a_site(text, &[("OUTPUT", "mine"), ("BUFFER", "1M"), ("LOG", "silent")]);
        assert_eq!((parsed.problem, parsed.options.site), (None, true));
        assert_eq!(parsed.options.output.as_deref(), Some("/logs/%u/%j".as_ref()));
        assert_eq!((parsed.options.buffer, parsed.options.log), (1 << 20, Level::Silent));
        let said = parsed.ignored.unwrap();
        assert_eq!(said, "TMIO_OUTPUT cannot be changed here: locked by /etc/tmio.conf:1");
        let dump = dump(&parsed.sources);
        assert!(dump.contains("  TMIO_OUTPUT = /logs/%u/%j (/etc/tmio.conf:1), locked\n"), "{dump}");
        assert_eq!(at_a_site(text, &[]).ignored, None);
    }

    #[test]
    fn exclusions_add_up() {
        let text = "exclude_files = /secret/*, *.key\nexclude_programs = gdb\n";
        let options = at_a_site(text, &[("EXCLUDE_FILES", "*.tmp"), ("EXCLUDE_PROGRAMS", "none")]).options;
        assert_eq!(options.exclude_files, ["/secret/*", "*.key", "*.tmp"]);
        assert_eq!(options.exclude_programs, ["gdb"]);
    }

    #[test]
    fn what_only_the_site_may_set() {
        let options = at_a_site("users = !bob, @staff\nopt_in = yes", &[("USERS", "all")]).options;
        assert_eq!(options.users, ["!bob", "@staff"]);
        assert!(options.opt_in && !options.enable);
        let mut reading = Reading::default();
        let problem = reading.file("mine", "opt_in = 0", false).unwrap_err();
        assert_eq!(problem, "mine:1: 'opt_in' is an option of the site's own file");
        assert!(reading.file("mine", "locked log = info", false).is_err());
        assert!(at_a_site("users = alice, !", &[]).problem.is_some());
        assert!(at_a_site("what is this", &[]).problem.unwrap().starts_with("/etc/tmio.conf:1: "));
    }

    #[test]
    fn modes_and_limits() {
        let options = at_a_site("mode = 0440\nmax_bytes = 256M", &[]).options;
        assert_eq!((options.mode, options.max_bytes), (0o440, 256 << 20));
        for text in ["mode = 0644", "mode = 0700", "mode = rw", "max_bytes = 1", "max_bytes = much"] {
            assert!(at_a_site(text, &[]).problem.is_some(), "{text}");
        }
    }

    fn with(pairs: &[(&str, &str)]) -> Parsed {
        let pairs: Vec<(String, String)> =
            pairs.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        parse(&|name| pairs.iter().find(|(n, _)| n == name).map(|(_, v)| v.clone()), None)
    }

    #[test]
    fn texts_are_understood() {
        let parsed = with(&[
            ("BUFFER", "512k"),
            ("FLUSH", "interval:2.5"),
            ("RANKS", "0,4-7"),
            ("FILES", "*.h5,/scratch/?.dat"),
            ("DISABLE", "yes"),
        ]);
        assert_eq!(parsed.problem, None);
        let options = parsed.options;
        assert_eq!(options.buffer, 512 << 10);
        assert_eq!(options.flush, Flush::Interval(Duration::from_millis(2500)));
        assert!(wants_rank(&options.ranks, 5) && !wants_rank(&options.ranks, 3));
        let wants = |path| wants_file(&options.files, &[], path);
        assert!(wants("/a/b.h5") && wants("/scratch/x.dat") && !wants("/scratch/xy.dat"));
        assert!(options.disable);
    }

    #[test]
    fn a_bad_text_names_the_option_and_what_was_expected() {
        for (name, text) in [
            ("BUFFER", "lots"),
            ("BUFFER", "1"),
            ("FLUSH", "interval:-1"),
            ("RANKS", "7-4"),
            ("LOG", "loud"),
            ("SPOOL", "relative"),
            ("FORMAT", "xml"),
            ("FINALIZE_TIMEOUT", "-1"),
        ] {
            let problem = with(&[(name, text)]).problem.unwrap();
            assert!(problem.starts_with(&format!("TMIO_{name}={text}: expected ")), "{problem}");
        }
    }

    #[test]
    fn the_dump_shows_what_counts_and_who_set_it() {
        let path = std::env::temp_dir().join(format!("tmio-options-{}", std::process::id()));
        std::fs::write(&path, "flush = close\nbuffer = 1M\n").unwrap();
        let path = path.to_str().unwrap();
        let parsed = parse(&|name| (name == "BUFFER").then(|| "2M".to_owned()), Some(path));
        std::fs::remove_file(path).unwrap();
        let dump = dump(&parsed.sources);
        assert!(dump.contains(&format!("  TMIO_FLUSH = close ({path}:1)\n")), "{dump}");
        assert!(dump.contains("  TMIO_BUFFER = 2M\n"), "{dump}");
        assert!(dump.contains("  TMIO_LOG = warn (default)\n"), "{dump}");
    }

    #[test]
    fn a_file_is_read_line_by_line() {
        let mut reading = Reading::default();
        let text = "# comment\nbuffer = 1M\nTMIO_LOG = \"info\" # why not\n\n";
        reading.file("f", text, false).unwrap();
        assert_eq!((reading.options.buffer, reading.options.log), (1 << 20, Level::Info));
        assert_eq!(
            reading.file("f", "\nbuffer 1M", false).unwrap_err(),
            "f:2: expected name = value, found 'buffer 1M'"
        );
        assert_eq!(reading.file("f", "bufer = 1M", false).unwrap_err(), "f:1: there is no option 'bufer'");
    }
}
