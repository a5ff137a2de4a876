//! The epilogues of the help: command lines that can be copied, however wide the terminal is.
//!
//! clap breaks long lines at any space. A command that is broken like that is another command, so those that
//! do not fit are broken here, with a backslash.

use clap::Command;

/// How far commands are indented in epilogues, and no other lines.
const COMMAND: &str = "      ";
/// How far the rest of a command is.
const REST: &str = "          ";

/// The same command, with epilogues that fit.
pub fn fitted(command: Command, columns: usize) -> Command {
    let text = command.get_after_long_help().map(|text| fit(&text.to_string(), columns));
    let command = match text {
        Some(text) => command.after_long_help(text),
        None => command,
    };
    command.mut_subcommands(|subcommand| fitted(subcommand, columns))
}

fn fit(text: &str, columns: usize) -> String {
    let indented = |line: &str| line.len() - line.trim_start().len();
    let lines = text.lines().map(|line| match indented(line) {
        _ if line.chars().count() <= columns => line.to_owned(),
        indent if indent == COMMAND.len() => broken(line.trim_start(), COMMAND, columns),
        indent if indent == REST.len() => broken(line.trim_start(), REST, columns),
        _ => hanging(line, columns),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A command in several lines, which a shell takes for one.
fn broken(text: &str, indent: &str, columns: usize) -> String {
    // It may go on in the next line already.
    if let Some(text) = text.strip_suffix(" \\") {
        return broken(text, indent, columns) + " \\";
    }
    let (mut done, mut line) = (String::new(), indent.to_owned());
    for word in words(text) {
        let empty = line.trim().is_empty();
        // Room for " \\".
        if !empty && line.chars().count() + 1 + word.chars().count() + 2 > columns {
            done += &format!("{} \\\n", line.trim_end());
            line = REST.to_owned();
        } else if !empty {
            line.push(' ');
        }
        line += word;
    }
    done + &line
}

/// At spaces outside of quotes.
fn words(text: &str) -> Vec<&str> {
    let mut quote = None;
    let outside = |c: char| {
        match quote {
            Some(open) if c == open => quote = None,
            None if c == '\'' || c == '"' => quote = Some(c),
            _ => (),
        }
        quote.is_none() && c == ' '
    };
    text.split(outside).filter(|word| !word.is_empty()).collect()
}

/// A row of a table, "  name   what it means", whose second column is wrapped below itself.
fn hanging(line: &str, columns: usize) -> String {
    let rest = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' '));
    let Some((name, meaning)) = rest.and_then(|rest| rest.split_once("  ")) else { return line.to_owned() };
    let indent = line.chars().count() - meaning.trim_start().chars().count();
    let Some(room) = columns.checked_sub(indent).filter(|room| *room > 20) else { return line.to_owned() };
    let lines = crate::terminal::width::wrapped(meaning.trim_start(), room);
    let gap = format!("\n{}", " ".repeat(indent));
    format!("  {name:<width$}{}", lines.join(&gap), width = indent - 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn each(command: &Command, check: &mut impl FnMut(&str, &str)) {
        let text = command.get_after_long_help().map(ToString::to_string).unwrap_or_default();
        check(command.get_name(), &text);
        command.get_subcommands().for_each(|subcommand| each(subcommand, check));
    }

    fn examples(command: &Command) -> Vec<String> {
        let mut found = Vec::new();
        each(command, &mut |_, text| {
            let whole = text.replace(&format!(" \\\n{REST}"), " ");
            let commands = whole.lines().filter_map(|line| line.strip_prefix(COMMAND));
            let commands = commands.filter(|line| !line.starts_with(' '));
            found.extend(commands.map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")));
        });
        found
    }

    #[test]
    fn commands_that_are_broken_are_still_the_same_commands() {
        let whole = examples(&crate::cli::helped(usize::MAX));
        assert!(whole.len() > 80, "{whole:?}");
        for columns in [60, 80, 100] {
            let narrow = crate::cli::helped(columns);
            assert_eq!(examples(&narrow), whole);
            each(&narrow, &mut |name, text| {
                let commands = text.lines().filter(|line| line.starts_with(COMMAND) && !line.ends_with('\\'));
                // A word that is wider than the terminal stays in one piece.
                let breakable = |line: &&str| words(line.trim()).len() > 2;
                let too_long = commands.filter(breakable).find(|line| line.chars().count() > columns);
                assert_eq!(too_long, None, "{name} at {columns}");
            });
        }
    }

    #[test]
    fn quotes_are_not_broken() {
        let text = "      ftio predict --exec 'logger \"period $FTIO_PERIOD\"' run.msgpack";
        assert_eq!(
            fit(text, 40),
            "      ftio predict --exec \\\n          'logger \"period $FTIO_PERIOD\"' \\\n          run.msgpack"
        );
    }

    #[test]
    fn meanings_stay_in_their_column() {
        assert_eq!(
            fit("  fcfs   first come, first served, and so on", 33),
            "  fcfs   first come, first\n         served, and so on"
        );
    }

    /// What a line of an example writes: the values of these options, and redirections.
    const WRITES: [&str; 8] =
        ["-o", "--output", "--plot", "--html", "--bad-logs", "--summary", ">", "--csv-out"];

    /// Examples are copied. None may replace what another one reads or has made, nor redirect by accident.
    #[test]
    fn no_example_overwrites_a_file() {
        each(&crate::cli::helped(usize::MAX), &mut |name, text| {
            let mut written: Vec<String> = Vec::new();
            for line in text.lines().filter_map(|line| line.strip_prefix(COMMAND)) {
                let words = words(line);
                // Traces of jobs are outputs by nature; measurements are added to a file.
                let adds =
                    line.contains("ftio trace") || line.contains("ftio run") || line.contains("ftio scale");
                for (i, word) in words.iter().enumerate() {
                    assert!(!word.contains("->") || word.contains('\''), "{name}: {line} redirects");
                    if !WRITES.contains(word) || adds {
                        continue;
                    }
                    let file = words[i + 1];
                    assert_eq!(words.iter().filter(|word| **word == file).count(), 1, "{name}: {line}");
                    assert!(!written.iter().any(|one| one == file), "{name}: {file} is written twice");
                    written.push(file.to_owned());
                }
            }
        });
    }
}
