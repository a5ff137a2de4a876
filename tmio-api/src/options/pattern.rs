//! Which files, programs and ranks the patterns of options mean.

use super::{Layers, Options};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use tmio_spool::pattern::matches;

/// Whether a file is recorded: its path matches one of the patterns (with none, every path does), and none
/// of those that are excluded.
pub fn wants_file(patterns: &[String], excluded: &[String], path: &str) -> bool {
    let is_in = |patterns: &[String]| patterns.iter().any(|p| matches(p.as_bytes(), path.as_bytes()));
    (patterns.is_empty() || is_in(patterns)) && !is_in(excluded)
}

/// Whether a program is traced. A pattern without a slash is one of its file name.
pub fn wants_program(excluded: &[String], path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().as_bytes();
    let whole = path.as_os_str().as_bytes();
    !excluded.iter().any(|pattern| {
        let pattern = pattern.as_bytes();
        matches(pattern, if pattern.contains(&b'/') { whole } else { name })
    })
}

/// Whether `rank` is in one of the ranges; with none, every rank is.
pub fn wants_rank(ranges: &[(u32, u32)], rank: u32) -> bool {
    ranges.is_empty() || ranges.iter().any(|&(low, high)| (low..=high).contains(&rank))
}

impl Options {
    /// The options that leave layers, ranks or files out, as the trace names them. `TMIO_LAYERS` comes first:
    /// its value has no spaces, other than patterns. The patterns of excluded files are not told: a site may
    /// want to hide what they say. (Without MPI-IO a program of MPI looks like any other: nobody knows here
    /// whether there was something to leave out.)
    pub fn filters(&self) -> Option<String> {
        let Layers { mpiio, posix, stdio } = self.layers;
        let layers = [(mpiio, "mpiio"), (posix, "posix"), (stdio, "stdio")];
        let layers: Vec<&str> = layers.into_iter().filter(|(on, _)| *on).map(|(_, name)| name).collect();
        let ranks = self.ranks.iter().map(|(low, high)| match low == high {
            true => low.to_string(),
            false => format!("{low}-{high}"),
        });
        let ranks: Vec<String> = ranks.collect();
        let set = [
            (!(mpiio && posix && stdio)).then(|| format!("TMIO_LAYERS={}", layers.join(","))),
            (!ranks.is_empty()).then(|| format!("TMIO_RANKS={}", ranks.join(","))),
            (!self.files.is_empty()).then(|| format!("TMIO_FILES={}", self.files.join(","))),
            (!self.exclude_files.is_empty()).then(|| "TMIO_EXCLUDE_FILES".to_owned()),
        ];
        let set: Vec<String> = set.into_iter().flatten().collect();
        (!set.is_empty()).then(|| set.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_named() {
        let mut options = Options::default();
        assert_eq!(options.filters(), None);
        options.layers = Layers { mpiio: false, posix: true, stdio: true };
        assert_eq!(options.filters().as_deref(), Some("TMIO_LAYERS=posix,stdio"));
        options.layers = Layers { mpiio: true, posix: false, stdio: false };
        assert_eq!(options.filters().as_deref(), Some("TMIO_LAYERS=mpiio"));
        options.ranks = vec![(0, 0), (4, 7)];
        options.files = vec!["*.h5".into(), "/scratch/*".into()];
        options.exclude_files = vec!["/secret/*".into()];
        let text = "TMIO_LAYERS=mpiio TMIO_RANKS=0,4-7 TMIO_FILES=*.h5,/scratch/* TMIO_EXCLUDE_FILES";
        assert_eq!(options.filters().as_deref(), Some(text));
    }

    #[test]
    fn what_is_excluded_is_not_recorded() {
        let lists = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let (wanted, excluded) = (lists("*.h5 *.dat"), lists("/secret/*"));
        assert!(wants_file(&wanted, &excluded, "/a/b.h5") && !wants_file(&wanted, &excluded, "/a/b.txt"));
        assert!(!wants_file(&wanted, &excluded, "/secret/b.h5") && wants_file(&[], &[], "x"));
        let program = |path: &str| wants_program(&lists("gdb python3* /opt/vendor/*"), Path::new(path));
        assert!(program("/usr/bin/app") && program("/home/gdb/app") && program("/opt/vendor"));
        assert!(!program("/usr/bin/gdb") && !program("/x/python3.11") && !program("/opt/vendor/bin/app"));
    }
}
