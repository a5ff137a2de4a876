//! Where the file system's client looks up the priority of a job: `DIR/JOB/priority` (report §3.3).
//!
//! The client module of the report makes the directory `iosets` in the kernel's configfs; making a directory
//! there, named after the job, makes the kernel add the file `priority`. An integer written to it in one
//! write takes effect at once. In an ordinary directory (a test, or a client in user space that watches it)
//! the file is replaced by renaming a complete one. Either way a reader sees the old priority or the new one,
//! never half of one, and never none between the two.

use crate::rules::Priority;
use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What went wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigfsError {
    /// A job's name cannot be that of a directory.
    #[error("job id {0:?}: expected letters, digits, '.', '-' and '_', and not '.' first")]
    Job(String),
    /// The system said no.
    #[error("{}: {action}: {source}", path.display())]
    Io {
        /// Which file or directory.
        path: PathBuf,
        /// What was to be done.
        action: &'static str,
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
        let real = fs::canonicalize(&root).map_err(problem(&root, "open"))?;
        if !real.is_dir() {
            return Err(problem(&root, "open")(io::ErrorKind::NotADirectory.into()));
        }
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let kernel = file_system(&mounts, &real) == Some("configfs");
        Ok(Configfs { root, kernel, jobs: BTreeMap::new() })
    }

    /// Set a job's priority. Nothing is written if it has that one already.
    pub fn set(&mut self, job: &str, priority: Priority) -> Result<(), ConfigfsError> {
        let before = self.jobs.get(job).copied();
        if before.is_some_and(|(old, _)| old == priority) {
            return Ok(());
        }
        let directory = self.directory(job)?;
        let made = match fs::create_dir(&directory) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => false,
            Err(error) => return Err(problem(&directory, "make")(error)),
        };
        let file = directory.join("priority");
        let line = format!("{priority}\n");
        if self.kernel {
            let open = OpenOptions::new().write(true).open(&file);
            let written = open.and_then(|mut file| write_at_once(&mut file, line.as_bytes()));
            written.map_err(problem(&file, "write"))?;
        } else {
            let new = directory.join(format!(".priority.{}", std::process::id()));
            fs::write(&new, line).map_err(problem(&new, "write"))?;
            fs::rename(&new, &file).map_err(problem(&file, "replace"))?;
        }
        self.jobs.insert(job.to_owned(), (priority, made || before.is_some_and(|(_, made)| made)));
        Ok(())
    }

    /// The job is over: its priority goes, and its directory if we made it.
    pub fn remove(&mut self, job: &str) -> Result<(), ConfigfsError> {
        let directory = self.directory(job)?;
        let Some((_, made)) = self.jobs.get(job).copied() else { return Ok(()) };
        if !self.kernel {
            let file = directory.join("priority");
            gone(fs::remove_file(&file)).map_err(problem(&file, "remove"))?;
        }
        if made {
            match gone(fs::remove_dir(&directory)) {
                // Somebody has put something else there: it is theirs.
                Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty => {}
                other => other.map_err(problem(&directory, "remove"))?,
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

    fn directory(&self, job: &str) -> Result<PathBuf, ConfigfsError> {
        let fine = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
        if job.is_empty() || job.starts_with('.') || job.len() > 64 || !job.chars().all(fine) {
            return Err(ConfigfsError::Job(job.chars().take(80).collect()));
        }
        Ok(self.root.join(job))
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

/// The kernel takes what one write brings for the whole value.
fn write_at_once(file: &mut fs::File, line: &[u8]) -> io::Result<()> {
    match file.write(line)? {
        written if written == line.len() => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

fn gone(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

fn problem(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> ConfigfsError {
    let path = path.to_owned();
    move |source| ConfigfsError::Io { path, action, source }
}

/// The type of the file system that a directory is on, from the text of `/proc/self/mountinfo` (proc(5)).
fn file_system<'a>(mounts: &'a str, directory: &Path) -> Option<&'a str> {
    let mount = |line: &'a str| {
        let (place, kind) = line.split_once(" - ")?;
        let point = place.split(' ').nth(4)?.replace("\\040", " ");
        directory.starts_with(&point).then(|| (point.len(), kind.split(' ').next()))
    };
    // The longest mount point holds it; of equal ones, the last.
    mounts.lines().filter_map(mount).max_by_key(|(length, _)| *length)?.1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::Set;

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
        assert!(matches!(configfs.keep(&four), Err(ConfigfsError::Io { .. })));
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

    #[test]
    fn which_file_system() {
        let mounts = "22 1 0:20 / / rw - ext4 /dev/sda rw\n\
                      30 22 0:7 / /sys rw,nosuid - sysfs sysfs rw\n\
                      41 30 0:36 / /sys/kernel/config rw shared:12 - configfs configfs rw\n\
                      50 22 0:40 / /a\\040b rw - tmpfs tmpfs rw\n";
        let of = |path: &str| file_system(mounts, Path::new(path));
        assert_eq!(of("/sys/kernel/config/iosets"), Some("configfs"));
        assert_eq!(of("/sys/kernel"), Some("sysfs"));
        assert_eq!(of("/sys/kernel/configs"), Some("sysfs"));
        assert_eq!(of("/a b/c"), Some("tmpfs"));
        assert_eq!(of("/home"), Some("ext4"));
        assert_eq!(file_system("", Path::new("/")), None);
    }
}
