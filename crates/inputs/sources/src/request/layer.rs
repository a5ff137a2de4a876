//! The layer of the I/O stack at which a request was seen.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A layer. Bytes that pass through one layer appear again in those below it, so layers are never added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Layer {
    /// `MPI_File_…`.
    MpiIo,
    /// `read`, `write` and relatives.
    Posix,
    /// `fread`, `fprintf` and relatives.
    Stdio,
    /// The file system of DAOS.
    Dfs,
    /// Objects of DAOS.
    Daos,
}

impl Layer {
    /// Every layer, in the order in which equals are preferred.
    pub const ALL: [Layer; 5] = [Layer::MpiIo, Layer::Posix, Layer::Stdio, Layer::Dfs, Layer::Daos];

    /// As in messages.
    pub fn name(self) -> &'static str {
        match self {
            Layer::MpiIo => "MPIIO",
            Layer::Posix => "POSIX",
            Layer::Stdio => "STDIO",
            Layer::Dfs => "DFS",
            Layer::Daos => "DAOS",
        }
    }

    /// The layer of that name, as Darshan, Recorder, dftracer or people spell it.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name.to_ascii_uppercase().as_str() {
            "MPIIO" | "MPI-IO" | "MPI_IO" | "MPI" => Layer::MpiIo,
            "POSIX" => Layer::Posix,
            "STDIO" => Layer::Stdio,
            "DFS" => Layer::Dfs,
            "DAOS" => Layer::Daos,
            _ => return None,
        })
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<tmio_trace::TraceLayer> for Layer {
    fn from(layer: tmio_trace::TraceLayer) -> Self {
        match layer {
            tmio_trace::TraceLayer::MpiIo => Layer::MpiIo,
            tmio_trace::TraceLayer::Posix => Layer::Posix,
            tmio_trace::TraceLayer::Stdio => Layer::Stdio,
        }
    }
}

impl From<darshan_log::Layer> for Layer {
    fn from(layer: darshan_log::Layer) -> Self {
        match layer {
            darshan_log::Layer::MpiIo => Layer::MpiIo,
            darshan_log::Layer::Stdio => Layer::Stdio,
            darshan_log::Layer::Dfs => Layer::Dfs,
            darshan_log::Layer::Daos => Layer::Daos,
            _ => Layer::Posix,
        }
    }
}

impl From<Layer> for darshan_log::Layer {
    fn from(layer: Layer) -> Self {
        match layer {
            Layer::MpiIo => darshan_log::Layer::MpiIo,
            Layer::Posix => darshan_log::Layer::Posix,
            Layer::Stdio => darshan_log::Layer::Stdio,
            Layer::Dfs => darshan_log::Layer::Dfs,
            Layer::Daos => darshan_log::Layer::Daos,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_keep_their_identity_on_the_way_to_darshan_and_back() {
        for layer in Layer::ALL {
            assert_eq!(Layer::from(darshan_log::Layer::from(layer)), layer);
            assert_eq!(Layer::named(layer.name()), Some(layer));
        }
    }
}
