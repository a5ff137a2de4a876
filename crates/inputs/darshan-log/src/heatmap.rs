//! Heatmaps: how many bytes each rank read and wrote in each interval of the run.
//!
//! Darshan (3.4 and later) keeps 200 bins per layer and rank. When a run outlasts them, neighbours are added
//! and the width doubles, so that a width is 0.1 s · 2ᵏ and a run of more than 20 s ends with 101 to 200
//! bins. The bytes of one call are spread evenly over its duration and rounded per bin: sums differ by a few
//! bytes from the counters.

use crate::endian::{ByteOrder, Fields};
use crate::error::{Error, Result};
use crate::module::Layer;
use crate::region::Region;

/// Bytes before the bins: id, rank, width, number of bins, and two pointers that mean nothing on disk.
pub(crate) const HEAD_LEN: usize = 48;

/// Bins taken from the region at a time, so that memory follows the data and not the number in the head.
const BINS_AT_ONCE: usize = 1024;

/// What one rank did in one layer, over time.
#[derive(Clone, Debug, PartialEq)]
pub struct HeatmapRecord {
    /// Record id, which stands for the layer.
    pub id: u64,
    /// The rank; heatmaps are never summed over ranks.
    pub rank: i64,
    /// Width of a bin in seconds.
    pub bin_width: f64,
    /// Bytes written per bin, the first beginning at 0 s.
    pub write_bins: Vec<i64>,
    /// Bytes read per bin.
    pub read_bins: Vec<i64>,
}

/// Record ids by layer: the hashes of `heatmap:POSIX` and so on.
const IDS: [(u64, Layer); 5] = [
    (16_592_106_915_301_738_621, Layer::Posix),
    (3_989_511_027_826_779_520, Layer::Stdio),
    (3_668_870_418_325_792_824, Layer::MpiIo),
    (1_597_927_878_319_380_788, Layer::Dfs),
    (4_131_494_093_108_637_317, Layer::Daos),
];

impl HeatmapRecord {
    /// The layer the record is about; `None` for one this crate does not know.
    pub fn layer(&self) -> Option<Layer> {
        IDS.iter().find(|(id, _)| *id == self.id).map(|(_, layer)| *layer)
    }

    /// The record id that stands for a layer.
    pub fn id_of(layer: Layer) -> u64 {
        IDS.iter().find(|(_, l)| *l == layer).map_or(0, |(id, _)| *id)
    }
}

/// The heatmap records of a log, read one at a time; see [`Records`](crate::Records) for damage.
#[derive(Debug)]
pub struct Heatmaps<'a> {
    region: Option<Region<'a>>,
    refused: Option<Error>,
    order: ByteOrder,
    max_bins: u64,
    next: u64,
}

impl<'a> Heatmaps<'a> {
    pub(crate) fn new(order: ByteOrder, region: Option<(Region<'a>, u32)>, max_bins: u64) -> Self {
        let mut heatmaps = Heatmaps { region: None, refused: None, order, max_bins, next: 0 };
        match region {
            Some((region, 1)) => heatmaps.region = Some(region),
            Some((region, version)) => {
                let what = "HEATMAP record version".to_owned();
                heatmaps.refused = Some(region.unsupported(what, "1".into(), version.to_string()));
            }
            None => {}
        }
        heatmaps
    }

    fn read(region: &mut Region<'_>, order: ByteOrder, max_bins: u64) -> Result<Option<HeatmapRecord>> {
        let Some(head) = region.take(HEAD_LEN, "a heatmap's head")? else { return Ok(None) };
        let mut fields = Fields::new(order, head);
        let (id, rank, bin_width, bins) = (fields.u64(), fields.i64(), fields.f64(), fields.i64());
        if !(bin_width.is_finite() && bin_width > 0.0) {
            return Err(region.corrupt("a positive bin width".into(), bin_width.to_string()));
        }
        let count = match u64::try_from(bins) {
            Ok(count) if count > max_bins => return Err(region.too_large(format!("{count} bins"), max_bins)),
            Ok(count) => count as usize,
            Err(_) => return Err(region.corrupt("a number of bins".into(), bins.to_string())),
        };
        let write_bins = read_bins(region, order, count)?;
        let read_bins = read_bins(region, order, count)?;
        Ok(Some(HeatmapRecord { id, rank, bin_width, write_bins, read_bins }))
    }
}

fn read_bins(region: &mut Region<'_>, order: ByteOrder, count: usize) -> Result<Vec<i64>> {
    let mut bins = Vec::new();
    while bins.len() < count {
        let n = (count - bins.len()).min(BINS_AT_ONCE);
        let (words, _) = region.take_promised(8 * n, "heatmap bins")?.as_chunks::<8>();
        bins.extend(words.iter().map(|word| order.i64(*word)));
    }
    Ok(bins)
}

impl Iterator for Heatmaps<'_> {
    type Item = Result<HeatmapRecord>;

    fn next(&mut self) -> Option<Result<HeatmapRecord>> {
        if let Some(error) = self.refused.take() {
            return Some(Err(error));
        }
        let region = self.region.as_mut()?;
        region.set_record(self.next);
        self.next += 1;
        let item = Self::read(region, self.order, self.max_bins).transpose();
        if !matches!(item, Some(Ok(_))) {
            self.region = None;
        }
        item
    }
}

impl std::iter::FusedIterator for Heatmaps<'_> {}

/// The heatmap of a layer summed over all ranks: the application's transfer per interval.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Heatmap {
    /// The layer.
    pub layer: Layer,
    /// Width of a bin in seconds. Nothing faster than two bins can be seen in it.
    pub bin_width: f64,
    /// Bytes written per bin.
    pub write_bins: Vec<u64>,
    /// Bytes read per bin.
    pub read_bins: Vec<u64>,
    /// How many records were added: ranks that did any I/O through the layer.
    pub records: u64,
}

impl Heatmap {
    pub(crate) fn new(layer: Layer) -> Self {
        Heatmap { layer, bin_width: 0.0, write_bins: Vec::new(), read_bins: Vec::new(), records: 0 }
    }

    /// Adds a rank. Ranks may have stopped with one bin more or less (Darshan 3.4.0 – 3.4.3), and, where they
    /// did not agree at the end of the run, with widths that differ by a power of two: the finer are added
    /// up.
    pub(crate) fn add(&mut self, record: &HeatmapRecord) {
        if self.records == 0 {
            self.bin_width = record.bin_width;
        } else if record.bin_width > self.bin_width {
            let fold = ratio(record.bin_width, self.bin_width);
            self.write_bins = folded(&self.write_bins, fold);
            self.read_bins = folded(&self.read_bins, fold);
            self.bin_width = record.bin_width;
        }
        let fold = ratio(self.bin_width, record.bin_width);
        add_folded(&mut self.write_bins, &record.write_bins, fold);
        add_folded(&mut self.read_bins, &record.read_bins, fold);
        self.records += 1;
    }
}

/// How many of the finer bins make one of the coarser.
fn ratio(coarse: f64, fine: f64) -> usize {
    ((coarse / fine).round() as usize).max(1)
}

fn folded(bins: &[u64], fold: usize) -> Vec<u64> {
    bins.chunks(fold).map(|chunk| chunk.iter().fold(0, |sum: u64, b| sum.saturating_add(*b))).collect()
}

fn add_folded(sum: &mut Vec<u64>, bins: &[i64], fold: usize) {
    let len = bins.len().div_ceil(fold);
    if sum.len() < len {
        sum.resize(len, 0);
    }
    for (at, bytes) in bins.iter().enumerate() {
        let bin = &mut sum[at / fold];
        *bin = bin.saturating_add(u64::try_from(*bytes).unwrap_or(0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(bin_width: f64, write_bins: &[i64]) -> HeatmapRecord {
        HeatmapRecord {
            id: HeatmapRecord::id_of(Layer::Posix),
            rank: 0,
            bin_width,
            write_bins: write_bins.to_vec(),
            read_bins: vec![0; write_bins.len()],
        }
    }

    #[test]
    fn ranks_are_added_bin_by_bin() {
        let mut sum = Heatmap::new(Layer::Posix);
        sum.add(&record(0.1, &[1, 2, 3]));
        sum.add(&record(0.1, &[10, 20, 30, 40]));
        assert_eq!(sum.write_bins, [11, 22, 33, 40]);
        assert_eq!(sum.read_bins, [0; 4]);
        assert_eq!(sum.records, 2);
    }

    #[test]
    fn finer_ranks_are_folded_whichever_comes_first() {
        for swap in [false, true] {
            let mut both = [record(0.1, &[1, 2, 3, 4, 5]), record(0.2, &[10, 20])];
            if swap {
                both.reverse();
            }
            let mut sum = Heatmap::new(Layer::Posix);
            both.iter().for_each(|r| sum.add(r));
            assert_eq!((sum.bin_width, sum.write_bins), (0.2, vec![13, 27, 5]));
        }
    }

    #[test]
    fn impossible_values_do_not_panic() {
        let mut sum = Heatmap::new(Layer::Posix);
        sum.add(&record(1e-300, &[i64::MIN, i64::MAX, i64::MAX]));
        sum.add(&record(1e300, &[i64::MAX]));
        assert_eq!(sum.write_bins.len(), 1);
    }

    #[test]
    fn layers_have_ids() {
        assert_eq!(record(0.1, &[]).layer(), Some(Layer::Posix));
        assert!(IDS.iter().all(|(id, layer)| HeatmapRecord::id_of(*layer) == *id));
    }
}
