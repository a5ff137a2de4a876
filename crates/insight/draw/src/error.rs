//! Why something cannot be drawn.

/// Why something cannot be drawn.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The ending of a file name is none of a picture.
    #[error("{name}: expected a name that ends in .html, .svg or .png")]
    UnknownFormat {
        /// The name of the file.
        name: String,
    },
    /// A PNG is asked for, and this crate was built without the feature `png`.
    #[error("{name}: this ftio was built without PNG")]
    NoPngFor {
        /// The name of the file.
        name: String,
    },
    /// The same, while drawing.
    #[error("this ftio was built without PNG")]
    NoPng,
    /// More pixels than a PNG may have.
    #[error("the picture is too large for PNG: choose .svg or .html, or fewer traces")]
    TooLarge,
    /// A picture of this size does not fit into memory.
    #[error("no memory for the picture")]
    NoMemory,
    /// The PNG could not be made.
    #[error("cannot encode the picture: {0}")]
    Encode(String),
    /// The data of a page could not be written as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}

/// What drawing gives.
pub type Result<T> = std::result::Result<T, Error>;
