//! The file that a picture is written to.

use crate::exit::wrong_usage;
use crate::output;
use crate::terminal::text::printable;
use anyhow::Context;
use draw::Format;
use std::path::{Path, PathBuf};

/// A file that can be written, in the format that the ending of its name asks for.
#[derive(Clone, Debug)]
pub struct PictureFile {
    path: PathBuf,
    format: Format,
}

impl PictureFile {
    /// Before the work begins: is the format known, and can the file be written? What the file holds stays as
    /// it is.
    pub fn open(path: &Path) -> anyhow::Result<Self> {
        let format = format_of(path)?;
        output::check(path)?;
        Ok(PictureFile { path: path.to_owned(), format })
    }

    /// The same for a drawing, which cannot be a page.
    pub fn open_drawing(path: &Path) -> anyhow::Result<Self> {
        if format_of(path)? == Format::Html {
            let problem = format!("{}: expected a name that ends in .svg or .png", path.display());
            return Err(wrong_usage(problem));
        }
        Self::open(path)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn format(&self) -> Format {
        self.format
    }

    /// `plot-1.html`, `plot-2.html` … of `plot.html`.
    pub fn numbered(&self, number: usize) -> Self {
        PictureFile { path: numbered(&self.path, number), format: self.format }
    }

    /// Write what was drawn, and say on standard error where it is.
    pub fn write(&self, drawn: draw::Result<Vec<u8>>) -> anyhow::Result<()> {
        self.write_silently(drawn)?;
        eprintln!("{}", printable(&self.path.to_string_lossy()));
        Ok(())
    }

    /// Write what was drawn.
    pub fn write_silently(&self, drawn: draw::Result<Vec<u8>>) -> anyhow::Result<()> {
        let name = || self.path.display().to_string();
        output::write(&self.path, &drawn.with_context(name)?)
    }
}

/// `x-1.csv`, `x-2.csv` … of `x.csv`.
pub fn numbered(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map_or(String::new(), |ending| format!(".{}", ending.to_string_lossy()));
    path.with_file_name(format!("{stem}-{number}{ending}"))
}

/// Whether a name is one of a picture.
pub fn is_picture(path: &Path) -> bool {
    Format::of(path).is_ok()
}

/// A name that no picture has is wrong usage.
fn format_of(path: &Path) -> anyhow::Result<Format> {
    Format::of(path).map_err(|problem| wrong_usage(problem.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_that_can_be_written_is_left_as_it_is() {
        let dir = tempfile::tempdir().unwrap();
        let (new, old) = (dir.path().join("new.svg"), dir.path().join("old.svg"));
        fs::write(&old, "old").unwrap();
        assert!(PictureFile::open(&new).is_ok() && !new.exists());
        assert!(PictureFile::open(&old).is_ok());
        assert_eq!(fs::read_to_string(&old).unwrap(), "old");
        assert_eq!(PictureFile::open(&old).unwrap().numbered(2).path(), dir.path().join("old-2.svg"));
    }

    #[test]
    fn what_cannot_be_written_is_known_before_the_work() {
        let dir = tempfile::tempdir().unwrap();
        assert!(PictureFile::open(&dir.path().join("missing/new.svg")).is_err());
        assert!(PictureFile::open(&dir.path().join("new.pdf")).is_err());
        assert!(PictureFile::open_drawing(&dir.path().join("new.html")).is_err());
    }
}
