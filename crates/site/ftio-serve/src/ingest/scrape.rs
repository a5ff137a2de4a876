//! Other servers, asked now and then: any exporter of Prometheus. Only those that the configuration names.

use super::labelled::{parse_text, take};
use crate::client::send;
use crate::service::{Service, now};
use crate::tick::every;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How often.
pub const SCRAPE_PAUSE: Duration = Duration::from_secs(10);

/// Ask until told to stop.
pub fn run(service: &Service, url: &str, stop: &AtomicBool) {
    let rest = url.trim_start_matches("http://");
    let host = rest.split('/').next().unwrap_or(rest).to_owned();
    let full = if rest.contains('/') { url.to_owned() } else { format!("{url}/metrics") };
    every(SCRAPE_PAUSE, stop, || {
        let said = send("GET", &full, "", b"").map_err(|refused| refused.text);
        let done = said.and_then(|text| {
            let mut samples = parse_text(&text, now());
            for sample in &mut samples {
                sample.label_if_absent("instance", &host);
            }
            let owner = Some(rustix::process::geteuid().as_raw());
            take(service, &samples, owner).map(|_| ()).map_err(|error| error.to_string())
        });
        service.stats.problem(url, done.err().map(|error| format!("{url}: {error}")));
    });
}
