//! What a job did with its files, where the input tells.

use std::collections::BTreeMap;
use tmio_trace::reader::Operations;
use tmio_trace::{Class, Metadata};

/// What was done with a file since the last time that was asked. Times are nanoseconds of job time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileUse {
    /// Its name, as the program gave it.
    pub name: String,
    /// How many times it was opened, by all ranks together.
    pub opened: u32,
    /// How many times it was closed.
    pub closed: u32,
    /// When something was last done with it.
    pub touched: Option<i64>,
    /// When it was last read.
    pub read: Option<i64>,
    /// When it was last written.
    pub written: Option<i64>,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}

/// All files of one trace.
#[derive(Clone, Debug, Default)]
pub(super) struct FileUses(BTreeMap<String, FileUse>);

impl FileUses {
    pub fn take(&mut self, block: &Operations<'_>) {
        let names: BTreeMap<u32, &str> = block.files.iter().copied().collect();
        for op in block.operations {
            let Some(name) = names.get(&op.file) else { continue };
            if !self.0.contains_key(*name) {
                let file = FileUse { name: (*name).to_owned(), ..FileUse::default() };
                self.0.insert((*name).to_owned(), file);
            }
            let Some(file) = self.0.get_mut(*name) else { continue };
            file.touched = file.touched.max(Some(op.end));
            match (op.kind.as_metadata(), op.kind.class()) {
                (Some(Metadata::Open), _) => file.opened = file.opened.saturating_add(1),
                (Some(Metadata::Close), _) => file.closed = file.closed.saturating_add(1),
                (_, Some(Class::ReadSync | Class::ReadAsync)) => {
                    file.read = file.read.max(Some(op.end));
                    file.bytes_read = file.bytes_read.saturating_add(op.bytes);
                }
                (_, Some(Class::WriteSync | Class::WriteAsync)) => {
                    file.written = file.written.max(Some(op.end));
                    file.bytes_written = file.bytes_written.saturating_add(op.bytes);
                }
                _ => {}
            }
        }
    }

    pub fn drain(&mut self) -> Vec<FileUse> {
        std::mem::take(&mut self.0).into_values().collect()
    }
}
