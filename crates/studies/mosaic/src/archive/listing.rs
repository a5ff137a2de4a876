//! The logs of an archive: a list of paths that takes little memory.

use sources::Folder;
use std::fs;
use std::io::{self, BufRead};
use std::path::Path;

/// Paths in the order of their bytes, each once.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    text: String,
    /// Begin and end of each path in the text.
    places: Vec<(usize, usize)>,
    passed_over: u64,
    problems: Vec<String>,
    all_files: bool,
}

/// Is a folder one input, such as the parts of a job that runs?
fn is_one_input(folder: &Path) -> bool {
    matches!(sources::folder(folder), Ok(Folder::Input))
}

impl Listing {
    /// Files as they are, and of folders and all they hold the files with `.darshan` in their name. Hidden
    /// ones are passed over. A folder that is one input as a whole is listed as such.
    pub fn of<P: AsRef<Path>>(paths: &[P]) -> Listing {
        Listing::default().with(paths)
    }

    /// The same with every file of the folders, whatever its name.
    pub fn of_every_file<P: AsRef<Path>>(paths: &[P]) -> Listing {
        Listing { all_files: true, ..Listing::default() }.with(paths)
    }

    fn with<P: AsRef<Path>>(mut self, paths: &[P]) -> Listing {
        for path in paths {
            self.add(path.as_ref());
        }
        self.sorted()
    }

    fn add(&mut self, path: &Path) {
        if path.is_dir() && !is_one_input(path) { self.walk(path) } else { self.push(path) }
    }

    /// With the paths that a text has, one a line. Folders are walked as well.
    pub fn with_lines(mut self, lines: impl BufRead) -> io::Result<Listing> {
        for line in lines.lines() {
            let line = line?;
            let path = Path::new(line.trim_end_matches('\r'));
            if line.is_empty() {
                continue;
            }
            self.add(path);
        }
        Ok(self.sorted())
    }

    fn walk(&mut self, folder: &Path) {
        let mut waiting = vec![folder.to_owned()];
        while let Some(folder) = waiting.pop() {
            let entries = match fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(problem) => {
                    self.problems.push(format!("{}: {problem}", folder.display()));
                    continue;
                }
            };
            for entry in entries {
                let entry = match entry {
                    Ok(entry) => entry,
                    Err(problem) => {
                        self.problems.push(format!("{}: {problem}", folder.display()));
                        continue;
                    }
                };
                let name = entry.file_name();
                let name = name.as_encoded_bytes();
                if name.starts_with(b".") {
                    continue;
                }
                let path = entry.path();
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() && self.all_files && is_one_input(&path) => {
                        // Parts that were not cleared away hold nothing more than their trace.
                        if !path.with_extension("").is_file() {
                            self.push(&path);
                        }
                    }
                    Ok(kind) if kind.is_dir() => waiting.push(path),
                    // A link to a folder could lead round in circles.
                    Ok(kind) if kind.is_symlink() && !path.is_file() => self.passed_over += 1,
                    Ok(_) if self.all_files => self.push(&path),
                    Ok(_) if name.windows(8).any(|part| part == b".darshan") => self.push(&path),
                    _ => self.passed_over += 1,
                }
            }
        }
    }

    fn push(&mut self, path: &Path) {
        match path.to_str() {
            Some(path) => {
                let start = self.text.len();
                self.text.push_str(path);
                self.places.push((start, self.text.len()));
            }
            None => self.problems.push(format!("{}: the path is not valid UTF-8", path.display())),
        }
    }

    fn sorted(mut self) -> Listing {
        let Listing { text, places, .. } = &mut self;
        places.sort_unstable_by(|a, b| text[a.0..a.1].cmp(&text[b.0..b.1]));
        places.dedup_by(|a, b| text[a.0..a.1] == text[b.0..b.1]);
        self
    }

    /// The paths.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &str> {
        self.places.iter().map(|&(start, end)| &self.text[start..end])
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Are there none?
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Files in folders that were not taken for logs.
    pub fn passed_over(&self) -> u64 {
        self.passed_over
    }

    /// What could not be listed.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_walked_and_everything_is_listed_once() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir_all(root.join("2019/1")).unwrap();
        for name in
            ["b.darshan", "2019/1/a.darshan.gz", "2019/x.darshan_partial", "2019/readme.txt", ".c.darshan"]
        {
            fs::write(root.join(name), b"").unwrap();
        }
        let listing = Listing::of(&[root, &root.join("b.darshan")]);
        let names: Vec<&str> =
            listing.iter().map(|path| path.strip_prefix(root.to_str().unwrap()).unwrap()).collect();
        assert_eq!(names, ["/2019/1/a.darshan.gz", "/2019/x.darshan_partial", "/b.darshan"]);
        assert_eq!((listing.len(), listing.passed_over()), (3, 1));
        // A file that is named is taken, whatever its name.
        assert_eq!(Listing::of(&[root.join("2019/readme.txt")]).len(), 1);
        // All files, and the parts of a job that runs as one.
        fs::create_dir_all(root.join("2019/run.parts")).unwrap();
        fs::write(root.join("2019/run.parts/node"), b"").unwrap();
        let all = Listing::of_every_file(&[root]);
        let names: Vec<&str> = all.iter().filter_map(|path| path.rsplit('/').next()).collect();
        assert_eq!(names, ["a.darshan.gz", "readme.txt", "run.parts", "x.darshan_partial", "b.darshan"]);
        let listed = Listing::default().with_lines(&b"/z\n\n/a\n/z\n"[..]).unwrap();
        assert_eq!(listed.iter().collect::<Vec<_>>(), ["/a", "/z"]);
    }
}
