//! Our own interface, `/api/v1`.

pub mod apps;
pub mod jobs;
pub mod site;
