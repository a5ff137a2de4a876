//! Why something could not be done.

/// What could not be done; the cause, if there is one, is its source.
#[derive(Debug, thiserror::Error)]
#[error("{what}")]
pub struct Error {
    what: String,
    #[source]
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Error { what: what.into(), cause: None }
    }
}

/// Says what was tried when something failed.
pub(crate) trait Context<T> {
    fn context(self, what: impl Into<String>) -> Result<T, Error>;
}

impl<T, E: std::error::Error + Send + Sync + 'static> Context<T> for Result<T, E> {
    fn context(self, what: impl Into<String>) -> Result<T, Error> {
        self.map_err(|cause| Error { what: what.into(), cause: Some(Box::new(cause)) })
    }
}
