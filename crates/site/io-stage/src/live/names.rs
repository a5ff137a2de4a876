//! Names of files in a trace, and paths below a folder.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

/// Finds the paths that names stand for.
#[derive(Clone, Debug)]
pub(super) struct Names {
    /// The folder, as it was given and without links in its path.
    folders: Vec<PathBuf>,
    /// Where files are looked for that were elsewhere in another run.
    there: PathBuf,
    known: BTreeMap<String, PathBuf>,
}

impl Names {
    /// Below this folder; files that had other folders above them are looked for in `there`.
    pub(super) fn below(folder: &Path, there: &Path) -> Self {
        let absolute = std::path::absolute(folder).ok();
        let folders = [Some(folder.to_owned()), absolute, folder.canonicalize().ok()];
        Names {
            folders: folders.into_iter().flatten().collect(),
            there: there.to_owned(),
            known: BTreeMap::new(),
        }
    }

    /// The path below the folder, if the name stands for one.
    pub(super) fn find(&mut self, name: &str) -> Option<PathBuf> {
        if let Some(path) = self.known.get(name) {
            return Some(path.clone());
        }
        let path = self.look_for(Path::new(without_driver(name)))?;
        self.known.insert(name.to_owned(), path.clone());
        Some(path)
    }

    fn look_for(&self, name: &Path) -> Option<PathBuf> {
        let inside = self.folders.iter().find_map(|folder| name.strip_prefix(folder).ok());
        if let Some(path) = inside {
            return is_plain(path).then(|| path.to_owned());
        }
        // The job may have been in another folder: the longest end of the name that is there.
        let parts: Vec<Component<'_>> = name.components().collect();
        let ends = (0..parts.len()).map(|first| parts[first..].iter().collect::<PathBuf>());
        ends.filter(|end| is_plain(end))
            .find(|end| self.there.join(end).symlink_metadata().is_ok_and(|meta| !meta.is_dir()))
    }
}

fn is_plain(path: &Path) -> bool {
    !path.as_os_str().is_empty() && path.components().all(|part| matches!(part, Component::Normal(_)))
}

/// ROMIO takes `ufs:/path` for a path on a file system of that kind.
fn without_driver(name: &str) -> &str {
    match name.split_once(':') {
        Some((driver, path)) if !driver.is_empty() && driver.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            path
        }
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_run_and_of_another() {
        let dir = tempfile::tempdir().unwrap();
        let (bb, storage) = (dir.path().join("bb"), dir.path().join("storage"));
        std::fs::create_dir_all(bb.join("out")).unwrap();
        std::fs::create_dir_all(storage.join("in")).unwrap();
        std::fs::write(storage.join("in/a"), "").unwrap();
        let mut names = Names::below(&bb, &storage);
        let inside = format!("{}/out/x", bb.display());
        assert_eq!(names.find(&inside), Some("out/x".into()), "it need not be there");
        assert_eq!(names.find(&format!("ufs:{inside}")), Some("out/x".into()));
        assert_eq!(names.find("/other/job17/in/a"), Some("in/a".into()));
        assert_eq!(names.find("./in/a"), Some("in/a".into()));
        assert_eq!(names.find("/other/in/b"), None);
        assert_eq!(names.find(&format!("{}/../secret", bb.display())), None);
        assert_eq!(names.find(&bb.display().to_string()), None);
    }
}
