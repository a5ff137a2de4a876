//! Which files of a process are recorded: what the helper leaves out, readers of a spool leave out as well.

use crate::TraceLayer;
use tmio_spool::pattern::{DEFAULT_EXCLUDED, matches_any};

/// Patterns, as a spool has them. What only the environment says, processes see to themselves; a site's file
/// of options they do not read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Patterns, separated by commas: of all files that are recorded (empty: all), …
    pub files: String,
    /// … of those that are not, …
    pub excluded: String,
    /// … and of those that are left out below MPI-IO; `None`: the usual ones.
    pub excluded_paths: Option<String>,
}

/// Stands for the usual paths that are left out.
const USUAL: &str = "(usual)";

impl Filter {
    /// As it stands in the text of a spool: names and values.
    pub fn tell(&self) -> [(&'static str, String); 3] {
        let paths = self.excluded_paths.clone().unwrap_or_else(|| USUAL.to_owned());
        [("files", self.files.clone()), ("excluded", self.excluded.clone()), ("paths", paths)]
    }

    /// Of that text, in which `value` finds the value of a name.
    pub fn told<'t>(value: impl Fn(&str) -> Option<&'t [u8]>) -> Self {
        let words = |name: &str| value(name).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        Self {
            files: words("files").unwrap_or_default(),
            excluded: words("excluded").unwrap_or_default(),
            excluded_paths: words("paths").filter(|paths| paths != USUAL),
        }
    }

    /// Whether operations on a file are recorded: those of MPI-IO, and those of the layers below it.
    pub fn wants(&self, path: &str) -> (bool, bool) {
        let is_in = |patterns: &str| matches_any(patterns.as_bytes(), path.as_bytes());
        let wanted = (self.files.is_empty() || is_in(&self.files)) && !is_in(&self.excluded);
        let left_out = is_in(self.excluded_paths.as_deref().unwrap_or(DEFAULT_EXCLUDED));
        (wanted, wanted && !left_out)
    }

    /// The same of a file whose name is not known. The names of those that are recorded are in the part
    /// before they leave the spool, others are forgotten; number 0 is a file whose opening was not seen.
    pub fn wants_unknown(&self, file: u32) -> bool {
        file == 0 || *self == Self::default()
    }

    /// Whether operations on a file are recorded at a layer, by what [`Self::wants`] says of it.
    pub fn at_layer((mpiio, below): (bool, bool), layer: TraceLayer) -> bool {
        if layer == TraceLayer::MpiIo { mpiio } else { below }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_what_was_meant() {
        let filter = Filter {
            files: "*.h5,/a/*".to_owned(),
            excluded: "/a/secret".to_owned(),
            excluded_paths: Some("/x/*".to_owned()),
        };
        for filter in [filter.clone(), Filter::default()] {
            let told = filter.tell();
            let value =
                |name: &str| told.iter().find(|entry| entry.0 == name).map(|entry| entry.1.as_bytes());
            assert_eq!(Filter::told(value), filter);
        }
        assert_eq!(filter.wants("/b/c.h5"), (true, true));
        assert_eq!(filter.wants("/x/c.h5"), (true, false));
        assert_eq!(filter.wants("/b/c.txt"), (false, false));
        assert_eq!(filter.wants("/a/secret"), (false, false));
        assert!(filter.wants_unknown(0) && !filter.wants_unknown(7));
        assert!(Filter::default().wants_unknown(7));
    }
}
