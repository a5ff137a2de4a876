//! Data that are found to be damaged: each is named in the log and in `/readyz`, and counted in `/metrics`.
//! What cannot be read is put aside, and everything else goes on.

use crate::lock::locked;
use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// What is damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A row of the database.
    Row,
    /// The database as a whole.
    Database,
    /// Its log: changes that were not in it yet.
    Log,
    /// What was pushed since series were last written.
    Journal,
    Series,
}

impl Kind {
    pub const ALL: [Kind; 5] = [Kind::Row, Kind::Database, Kind::Log, Kind::Journal, Kind::Series];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Row => "row",
            Kind::Database => "database",
            Kind::Log => "log",
            Kind::Journal => "journal",
            Kind::Series => "series",
        }
    }
}

/// Texts that are kept for `/readyz`.
const MAX_TEXTS: usize = 50;

/// All that was found since the start.
#[derive(Debug, Default)]
pub struct Damages {
    found: Mutex<(BTreeMap<Kind, u64>, VecDeque<String>)>,
}

impl Damages {
    fn locked(&self) -> MutexGuard<'_, (BTreeMap<Kind, u64>, VecDeque<String>)> {
        locked(&self.found)
    }

    /// Something is damaged: what, where, and what became of it.
    pub fn add(&self, kind: Kind, text: &str) {
        tracing::error!("damaged: {text}");
        let mut found = self.locked();
        *found.0.entry(kind).or_default() += 1;
        if found.1.len() >= MAX_TEXTS {
            found.1.pop_front();
        }
        found.1.push_back(text.to_owned());
    }

    /// How often which.
    pub fn count(&self, kind: Kind) -> u64 {
        self.locked().0.get(&kind).copied().unwrap_or(0)
    }

    /// The latest texts.
    pub fn latest(&self) -> Vec<String> {
        self.locked().1.iter().cloned().collect()
    }
}

/// The folder for what is put aside.
pub fn folder(data: &Path) -> PathBuf {
    data.join("damaged")
}

/// A name in that folder which nothing has yet.
pub fn free_name(data: &Path, name: &str) -> std::io::Result<PathBuf> {
    let folder = folder(data);
    crate::store::private_folder(&folder)?;
    let free = (1..).map(|number| folder.join(format!("{name}-{number}")));
    free.into_iter().find(|path| !path.exists()).ok_or_else(|| std::io::ErrorKind::NotFound.into())
}

/// Put a copy of a file aside; its name.
pub fn copy_aside(data: &Path, from: &Path, name: &str) -> std::io::Result<PathBuf> {
    let to = free_name(data, name)?;
    let mut copy = crate::store::private_file(&to)?;
    std::io::copy(&mut std::fs::File::open(from)?, &mut copy)?;
    Ok(to)
}
