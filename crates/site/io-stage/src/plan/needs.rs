//! Files that phases need.

use std::path::PathBuf;

/// A file that has to be in the buffer before a phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need {
    /// Its path below the folder.
    pub path: PathBuf,
    /// The number of the phase, from 1; `None`: every phase.
    pub phase: Option<usize>,
    /// How large it is.
    pub bytes: u64,
}

/// What is wrong with a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}, found \"{found}\"")]
pub struct BadNeed {
    /// Where.
    pub line: usize,
    /// What was expected.
    pub problem: &'static str,
    /// What was there.
    pub found: String,
}

/// A list of files: on each line a path, and after a tab the number of the phase that needs it, or `each`,
/// which is also meant where there is nothing. Empty lines and those that begin with `#` do not count.
pub fn parse_needs(text: &str) -> Result<Vec<(PathBuf, Option<usize>)>, BadNeed> {
    let mut needs = Vec::new();
    let lines = text.lines().enumerate().map(|(number, line)| (number + 1, line.trim_end()));
    for (line, text) in lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#')) {
        let bad = |problem, found: &str| BadNeed { line, problem, found: found.to_owned() };
        let (path, phase) = text.split_once('\t').unwrap_or((text, "each"));
        let phase = match phase.trim() {
            "each" | "" => None,
            number => match number.parse::<usize>() {
                Ok(number) if number > 0 => Some(number),
                _ => return Err(bad("expected the number of a phase, from 1, or \"each\"", number)),
            },
        };
        let path = PathBuf::from(path);
        let inside = path.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        if !inside || path.as_os_str().is_empty() {
            return Err(bad("expected a path below the folder", &path.display().to_string()));
        }
        needs.push((path, phase));
    }
    Ok(needs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_files() {
        let list = "# inputs\na/b c.dat\t3\n\nd\te\nf\teach\ng\n";
        let found = parse_needs(list).unwrap_err();
        assert_eq!(
            found.to_string(),
            "line 4: expected the number of a phase, from 1, or \"each\", found \"e\""
        );
        let needs = parse_needs("# inputs\na/b c.dat\t3\n\nf\teach\ng\n").unwrap();
        assert_eq!(needs, [("a/b c.dat".into(), Some(3)), ("f".into(), None), ("g".into(), None)]);
        for wrong in ["/etc/passwd", "../x", "a/../../b", "a\t0", "\t3"] {
            assert!(parse_needs(wrong).is_err(), "{wrong}");
        }
    }
}
