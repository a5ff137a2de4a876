//! Which estimator the tests ask: today's, or with `FTIO_TEST_METHOD=renewal` in the environment the one that
//! is to replace it.

use ftio_core::detect::{Method, Options};

/// The options of a test.
pub fn options() -> Options {
    match std::env::var("FTIO_TEST_METHOD").as_deref() {
        Ok("renewal") => Options { method: Method::Renewal, ..Options::default() },
        Ok(other) => panic!("FTIO_TEST_METHOD={other}: expected renewal"),
        Err(_) => Options::default(),
    }
}
