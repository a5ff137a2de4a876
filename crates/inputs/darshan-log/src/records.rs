//! Iterators over the records of the counter modules.

use std::marker::PhantomData;

use crate::counters::{Activity, FileRecord, Layout};
use crate::endian::ByteOrder;
use crate::error::{Error, Result};
use crate::region::Region;

/// The records of a counter module, read one at a time.
///
/// Yields every whole record, then, if the region is damaged, one error, then nothing more. Whether the log
/// itself is [`partial`](crate::ModuleInfo::partial) is a different matter: Darshan says so in the header.
#[derive(Debug)]
pub struct Records<'a, R> {
    /// `None` once exhausted, or when the log has no such module.
    region: Option<Region<'a>>,
    layout: Option<&'static Layout>,
    /// Reported instead of records.
    refused: Option<Error>,
    order: ByteOrder,
    next: u64,
    kind: PhantomData<R>,
}

impl<'a, R: FileRecord> Records<'a, R> {
    /// `region` is the module's, with the version of its records; `None` where the log does not have the
    /// module.
    pub(crate) fn new(order: ByteOrder, region: Option<(Region<'a>, u32)>) -> Self {
        let mut records =
            Records { region: None, layout: None, refused: None, order, next: 0, kind: PhantomData };
        if let Some((region, version)) = region {
            records.layout = R::layouts().iter().find(|layout| layout.version == version);
            if records.layout.is_none() {
                let newest = R::layouts().len();
                let what = format!("{} record version", R::MODULE);
                let expected = format!("1 to {newest}").into();
                records.refused = Some(region.unsupported(what, expected, version.to_string()));
            } else {
                records.region = Some(region);
            }
        }
        records
    }

    /// The same records in the terms all layers share.
    pub fn activities(self) -> impl Iterator<Item = Result<Activity>> + use<'a, R> {
        self.map(|record| record.map(|record| record.activity()))
    }
}

impl<R: FileRecord> Iterator for Records<'_, R> {
    type Item = Result<R>;

    fn next(&mut self) -> Option<Result<R>> {
        if let Some(error) = self.refused.take() {
            return Some(Err(error));
        }
        let (region, layout) = (self.region.as_mut()?, self.layout?);
        region.set_record(self.next);
        let item = match region.take(layout.record_len(), "a record") {
            Ok(Some(bytes)) => {
                self.next += 1;
                return Some(Ok(R::decode(layout, self.order, bytes)));
            }
            Ok(None) => None,
            Err(error) => Some(Err(error)),
        };
        self.region = None;
        item
    }
}

impl<R: FileRecord> std::iter::FusedIterator for Records<'_, R> {}
