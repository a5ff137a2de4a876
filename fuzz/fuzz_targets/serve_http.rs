#![no_main]

use ftio_serve::{Config, Hooks, Service};
use std::sync::{Arc, OnceLock};

const HOOKS: Hooks = Hooks {
    report: |_| Err(String::new()),
    findings: |_| Err(String::new()),
};

/// All of a connection: HTTP, routes, parameters, bodies. Data is in a directory of its own.
fn service() -> &'static Arc<Service> {
    static SERVICE: OnceLock<Arc<Service>> = OnceLock::new();
    SERVICE.get_or_init(|| {
        let data = std::env::temp_dir().join(format!("ftio-fuzz-{}", std::process::id()));
        Service::open(Config::new(&data), HOOKS).expect("a directory for data")
    })
}

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let answer = ftio_serve::http::answered(service(), 0, bytes).expect("a connection");
    assert!(answer.is_empty() || answer.starts_with(b"HTTP/1."));
});
