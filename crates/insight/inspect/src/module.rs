//! What the modules of a Darshan log hold.

use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;

/// What a module holds. What it does not have is left out.
#[derive(Clone, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct ModuleSummary {
    /// Version of its records; 0 for Darshan 2, which has no modules and is shown as if it had.
    pub version: u32,
    /// Records.
    pub records: u64,
    /// Whether Darshan ran out of memory for it.
    pub partial: bool,
    /// Bytes read; of a heatmap, those of `layer`.
    pub bytes_read: u64,
    /// Bytes written, likewise.
    pub bytes_written: u64,
    /// Reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<u64>,
    /// Writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<u64>,
    /// Opens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opens: Option<u64>,
    /// Records that stand for all ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_records: Option<u64>,
    /// Seconds in reads, over all ranks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_time: Option<f64>,
    /// Seconds in writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write_time: Option<f64>,
    /// Seconds in metadata operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meta_time: Option<f64>,
    /// DXT: single reads and writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segments: Option<u64>,
    /// DXT: when the first began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_start: Option<f64>,
    /// DXT: when the last ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_end: Option<f64>,
    /// Heatmap: bins of a rank.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bins: Option<u64>,
    /// Heatmap: seconds of a bin.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bin_width: Option<f64>,
    /// Heatmap: the layer that the bytes above are of. Layers are never added up: what MPI-IO writes, POSIX
    /// writes again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// Heatmap: all its layers.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub layers: BTreeMap<String, HeatmapLayer>,
    /// Why not all of it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub damage: Option<String>,
}

/// The heatmap of a layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, JsonSchema, Serialize)]
pub struct HeatmapLayer {
    /// Records: ranks that did any I/O.
    pub records: u64,
    /// Bins of a rank.
    pub bins: u64,
    /// Seconds of a bin.
    pub bin_width: f64,
    /// Bytes read.
    pub bytes_read: u64,
    /// Bytes written.
    pub bytes_written: u64,
}
