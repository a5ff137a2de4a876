//! A job and its storage, played.
