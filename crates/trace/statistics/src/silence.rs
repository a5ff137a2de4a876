//! Requests with little time between them are one I/O phase.

use std::ops::Sub;

/// An I/O phase, or anything else that lasted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Phase<T> {
    /// When the first request began.
    pub start: T,
    /// When the last one had ended.
    pub end: T,
    /// What was transferred.
    pub bytes: u64,
    /// How many requests there were.
    pub requests: u64,
}

/// The phases of requests in the order of their starts (start, end, bytes): those with less than `silence`
/// between them are one.
pub fn phases<T>(requests: impl IntoIterator<Item = (T, T, u64)>, silence: T) -> Vec<Phase<T>>
where
    T: Copy + PartialOrd + Sub<Output = T>,
{
    let mut phases: Vec<Phase<T>> = Vec::new();
    for (start, end, bytes) in requests {
        match phases.last_mut() {
            Some(phase) if start - phase.end < silence => {
                phase.end = if end > phase.end { end } else { phase.end };
                phase.bytes = phase.bytes.saturating_add(bytes);
                phase.requests += 1;
            }
            _ => {
                let end = if end > start { end } else { start };
                phases.push(Phase { start, end, bytes, requests: 1 });
            }
        }
    }
    phases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_ends_a_phase() {
        let requests = [(0, 10, 1), (2, 4, 1), (14, 15, 1), (20, 21, 1), (30, 29, 1)];
        let found = phases(requests, 5);
        let told: Vec<_> = found.iter().map(|phase| (phase.start, phase.end, phase.requests)).collect();
        assert_eq!(told, [(0, 15, 3), (20, 21, 1), (30, 30, 1)]);
        assert_eq!(phases([(0.0, 1.0, 7), (1.5, 2.0, 8)], 0.6)[0].bytes, 15);
        assert!(phases::<f64>([], 1.0).is_empty());
    }
}
