//! Where the file system's client looks up the priority of a job: `DIR/JOB/priority` (report §3.3).
//!
//! The client module of the report makes the directory `iosets` in the kernel's configfs; making a directory
//! there, named after the job, makes the kernel add the file `priority`. An integer written to it in one
//! write takes effect at once. In an ordinary directory (a test, or a client in user space that watches it)
//! the file is replaced by renaming a complete one. Either way a reader sees the old priority or the new one,
//! never half of one, and never none between the two.
//!
//! Who writes priorities may be root, and an ordinary directory may be one that others can write to. So
//! nothing is done by path below it: links are not followed, and a file that somebody has put in the way is
//! replaced, never written to.

use crate::rules::Priority;
use files::{Access, Dir, Expect};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;

/// The file of a job's directory that has its priority.
const FILE: &str = "priority";
/// The kernel's configfs (`statfs(2)`).
const CONFIGFS: u64 = 0x6265_6570;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigfsError {
    /// A job's name cannot be that of a directory.
    #[error("job id {0:?}: expected letters, digits, '.', '-' and '_', and not '.' first")]
    Job(String),
    /// It could not be done, or was not safe: which file or directory, and why.
    #[error("{action}: {source}")]
    File {
        /// What was to be done.
        action: &'static str,
        /// Why it was not.
        source: files::Error,
    },
    /// A value could not be written.
    #[error("{}: write: {source}", files::shown(path))]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why it was not.
        source: io::Error,
    },
}

/// The priorities that this process keeps in a directory. What it has put there it takes away again when
/// dropped.
#[derive(Debug)]
pub struct Configfs {
    root: PathBuf,
    kernel: bool,
    /// Jobs with a priority of ours, and whether we made their directory.
    jobs: BTreeMap<String, (Priority, bool)>,
}

impl Configfs {
    /// The directory must exist.
    pub fn open(root: impl Into<PathBuf>) -> Result<Self, ConfigfsError> {
        let root = root.into();
        let directory = Dir::open(&root).map_err(problem("open"))?;
        let kernel = directory.file_system() == Some(CONFIGFS);
        Ok(Configfs { root, kernel, jobs: BTreeMap::new() })
    }

    /// Set a job's priority. Nothing is written if it has that one already.
    pub fn set(&mut self, job: &str, priority: Priority) -> Result<(), ConfigfsError> {
        let before = self.jobs.get(job).copied();
        if before.is_some_and(|(old, _)| old == priority) {
            return Ok(());
        }
        let name = directory_name(job)?;
        // The directory may have been made anew since.
        let root = Dir::open(&self.root).map_err(problem("open"))?;
        let (directory, made) = match root.make_folder(name, 0o755) {
            Err(error) if error.exists() => (root.folder(name).map_err(problem("open"))?, false),
            made => (made.map_err(problem("make"))?, true),
        };
        let line = format!("{priority}\n");
        if self.kernel {
            let file =
                directory.file(FILE, Access::WriteOnly, &Expect::anybodys()).map_err(problem("open"))?;
            let failed = |source| ConfigfsError::Write { path: self.root.join(name).join(FILE), source };
            write_at_once(file, line.as_bytes()).map_err(failed)?;
        } else {
            directory.write_whole(FILE, line.as_bytes(), 0o644).map_err(problem("write"))?;
        }
        self.jobs.insert(job.to_owned(), (priority, made || before.is_some_and(|(_, made)| made)));
        Ok(())
    }

    /// The job is over: its priority goes, and its directory if we made it.
    pub fn remove(&mut self, job: &str) -> Result<(), ConfigfsError> {
        let name = directory_name(job)?;
        let Some((_, made)) = self.jobs.get(job).copied() else { return Ok(()) };
        let root = Dir::open(&self.root).map_err(problem("open"))?;
        if !self.kernel {
            gone(root.folder(name).and_then(|directory| directory.remove(FILE)))
                .map_err(problem("remove"))?;
        }
        if made {
            match gone(root.remove_folder(name)) {
                // Somebody has put something else there: it is theirs.
                Err(error) if error.exists() => {}
                other => other.map_err(problem("remove"))?,
            }
        }
        self.jobs.remove(job);
        Ok(())
    }

    /// These jobs have these priorities, and no others of ours have any. What cannot be done for one job does
    /// not stop the others; a job whose name no directory can have is left out.
    ///
    /// # Errors
    /// One of what went wrong. The next call tries it again.
    pub fn keep(&mut self, wanted: &BTreeMap<String, Priority>) -> Result<(), ConfigfsError> {
        let over: Vec<String> = self.jobs.keys().filter(|job| !wanted.contains_key(*job)).cloned().collect();
        let mut problem = None;
        for job in over {
            problem = self.remove(&job).err().or(problem);
        }
        for (job, priority) in wanted {
            match self.set(job, *priority) {
                Ok(()) | Err(ConfigfsError::Job(_)) => {}
                Err(error) => problem = Some(error),
            }
        }
        problem.map_or(Ok(()), Err)
    }

    /// The jobs that have a priority of ours.
    pub fn jobs(&self) -> impl Iterator<Item = (&str, Priority)> {
        self.jobs.iter().map(|(job, (priority, _))| (job.as_str(), *priority))
    }
}

impl Drop for Configfs {
    fn drop(&mut self) {
        let jobs: Vec<String> = self.jobs.keys().cloned().collect();
        for job in jobs {
            // There is nobody left to tell.
            let _ = self.remove(&job);
        }
    }
}

/// The name of a job's directory.
fn directory_name(job: &str) -> Result<&str, ConfigfsError> {
    let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    if job.is_empty() || job.starts_with('.') || job.len() > 64 || !job.chars().all(fine) {
        return Err(ConfigfsError::Job(job.chars().take(80).collect()));
    }
    Ok(job)
}

/// The kernel takes what one write brings for the whole value.
fn write_at_once(mut file: impl Write, line: &[u8]) -> io::Result<()> {
    match file.write(line)? {
        written if written == line.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

fn gone(result: files::Result<()>) -> files::Result<()> {
    result.or_else(|error| if error.is_missing() { Ok(()) } else { Err(error) })
}

fn problem(action: &'static str) -> impl FnOnce(files::Error) -> ConfigfsError {
    move |source| ConfigfsError::File { action, source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Set;
    use std::fs;

    fn priority(period: f64) -> Priority {
        Set::of_period(period).unwrap().priority()
    }

    #[test]
    fn written_updated_and_removed() {
        let root = tempfile::tempdir().unwrap();
        let read = |job: &str| fs::read_to_string(root.path().join(job).join("priority"));
        let mut configfs = Configfs::open(root.path()).unwrap();
        configfs.set("4711", priority(19.2)).unwrap();
        configfs.set("4712", priority(384.0)).unwrap();
        assert_eq!(
            (read("4711").unwrap().as_str(), read("4712").unwrap().as_str()),
            ("1000000\n", "10000\n")
        );
        configfs.set("4711", priority(384.0)).unwrap();
        assert_eq!(read("4711").unwrap(), "10000\n");
        let names: Vec<_> =
            fs::read_dir(root.path().join("4711")).unwrap().map(|e| e.unwrap().file_name()).collect();
        assert_eq!(names, ["priority"], "nothing but the priority is left");
        configfs.remove("4711").unwrap();
        assert!(!root.path().join("4711").exists());
        configfs.remove("4711").unwrap();
        drop(configfs);
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0, "the rest goes at the end");
    }

    #[test]
    fn exactly_these_jobs_have_a_priority() {
        let root = tempfile::tempdir().unwrap();
        let read = |job: &str| fs::read_to_string(root.path().join(job).join("priority")).ok();
        let wanted = |jobs: &[(&str, f64)]| {
            jobs.iter().map(|(job, period)| ((*job).to_owned(), priority(*period))).collect()
        };
        let mut configfs = Configfs::open(root.path()).unwrap();
        configfs.keep(&wanted(&[("1", 19.2), ("2", 384.0), ("../3", 10.0)])).unwrap();
        assert_eq!(read("1").as_deref(), Some("1000000\n"));
        configfs.keep(&wanted(&[("1", 384.0)])).unwrap();
        assert_eq!((read("1").as_deref(), read("2")), (Some("10000\n"), None));
        // A file where the directory of one job would be: the others are served, and it is tried again.
        fs::write(root.path().join("4"), "").unwrap();
        let four = wanted(&[("4", 10.0), ("5", 10.0)]);
        assert!(matches!(configfs.keep(&four), Err(ConfigfsError::File { .. })));
        assert_eq!((read("1"), read("5").as_deref()), (None, Some("1000000\n")));
        fs::remove_file(root.path().join("4")).unwrap();
        configfs.keep(&four).unwrap();
        assert_eq!(read("4").as_deref(), Some("1000000\n"));
    }

    #[test]
    fn what_others_made_stays() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir(root.path().join("1")).unwrap();
        let mut configfs = Configfs::open(root.path()).unwrap();
        configfs.set("1", priority(10.0)).unwrap();
        configfs.set("1", priority(1.0)).unwrap();
        configfs.set("2", priority(10.0)).unwrap();
        fs::write(root.path().join("2/other"), "").unwrap();
        drop(configfs);
        assert!(root.path().join("1").exists() && !root.path().join("1/priority").exists());
        assert!(root.path().join("2/other").exists());
    }

    #[test]
    fn names_stay_in_the_directory() {
        let root = tempfile::tempdir().unwrap();
        let mut configfs = Configfs::open(root.path()).unwrap();
        for name in ["", ".", "..", "../x", "a/b", "a b", "ä", ".hidden", &"x".repeat(65)] {
            let error = configfs.set(name, priority(1.0)).unwrap_err();
            assert!(matches!(error, ConfigfsError::Job(_)), "{name}: {error}");
        }
        assert!(Configfs::open(root.path().join("none")).unwrap_err().to_string().contains("none"));
    }

    #[test]
    fn a_reader_never_sees_less_than_a_priority() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("7/priority");
        let mut configfs = Configfs::open(root.path()).unwrap();
        configfs.set("7", priority(10.0)).unwrap();
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                for _ in 0..500 {
                    let text = fs::read_to_string(&file).unwrap();
                    assert!(text == "1000000\n" || text == "10000\n", "{text:?}");
                }
            });
            while !reader.is_finished() {
                configfs.set("7", priority(1000.0)).unwrap();
                configfs.set("7", priority(10.0)).unwrap();
            }
            reader.join().unwrap();
        });
    }

    /// Who may write to the directory as well cannot have files of others changed.
    #[test]
    fn what_others_have_put_in_the_way_is_not_followed() {
        let place = tempfile::tempdir().unwrap();
        let (root, victim) = (place.path().join("root"), place.path().join("victim"));
        fs::create_dir_all(root.join("2")).unwrap();
        fs::create_dir(&victim).unwrap();
        fs::write(victim.join("priority"), "precious").unwrap();
        fs::write(victim.join("draft"), "precious").unwrap();
        let link = std::os::unix::fs::symlink::<std::path::PathBuf, std::path::PathBuf>;
        link(victim.clone(), root.join("1")).unwrap();
        link(victim.join("priority"), root.join("2/priority")).unwrap();
        // The name that a draft had up to version 0.2.
        link(victim.join("draft"), root.join(format!("2/.priority.{}", std::process::id()))).unwrap();
        let mut configfs = Configfs::open(&root).unwrap();
        let error = configfs.set("1", priority(10.0)).unwrap_err().to_string();
        assert!(error.contains("1: is a link"), "{error}");
        configfs.set("2", priority(10.0)).unwrap();
        assert_eq!(fs::read_to_string(root.join("2/priority")).unwrap(), "1000000\n");
        assert!(fs::symlink_metadata(root.join("2/priority")).unwrap().is_file());
        // The directory becomes a link after it was written to.
        configfs.set("3", priority(10.0)).unwrap();
        fs::rename(root.join("3"), root.join("three")).unwrap();
        link(victim.clone(), root.join("3")).unwrap();
        assert!(configfs.set("3", priority(1000.0)).is_err() && configfs.remove("3").is_err());
        drop(configfs);
        for name in ["priority", "draft"] {
            assert_eq!(fs::read_to_string(victim.join(name)).unwrap(), "precious");
        }
        assert_eq!(fs::read_dir(&victim).unwrap().count(), 2);
    }
}
