//! What a node does, from /proc: for `ftio agent`.

use crate::client::Host;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Of `/proc/diskstats`.
const SECTOR: f64 = 512.0;

type Sums = BTreeMap<&'static str, f64>;

fn add(values: &mut Sums, name: &'static str, value: f64) {
    *values.entry(name).or_default() += value;
}

/// The name of this host.
pub fn node_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    name.trim().to_owned()
}

/// A push about this node: gauges, and counters as running sums.
pub fn sample(node: &str) -> Value {
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let mut values: Sums = BTreeMap::new();
    memory(&read("/proc/meminfo"), &mut values);
    load(&read("/proc/loadavg"), &mut values);
    processor(&read("/proc/stat"), &mut values);
    disks(&read("/proc/diskstats"), &mut values);
    network(&read("/proc/net/dev"), &mut values);
    nfs(&read("/proc/self/mountstats"), &mut values);
    lustre(&mut values);
    let mut kinds = Map::new();
    let gauges = ["node_memory_total_bytes", "node_memory_available_bytes", "node_load1", "node_processes"];
    for name in values.keys() {
        kinds.insert((*name).into(), json!(if gauges.contains(name) { "gauge" } else { "counter" }));
    }
    json!({"node": node, "metrics": values, "kind": kinds})
}

fn memory(text: &str, values: &mut Sums) {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().trim_end_matches(" kB").parse::<f64>().ok()
    };
    for (name, key) in
        [("node_memory_total_bytes", "MemTotal:"), ("node_memory_available_bytes", "MemAvailable:")]
    {
        values.extend(field(key).map(|kilobytes| (name, 1024.0 * kilobytes)));
    }
}

fn load(text: &str, values: &mut Sums) {
    let words: Vec<&str> = text.split_whitespace().collect();
    let first = words.first().and_then(|word| word.parse().ok());
    values.extend(first.map(|load| ("node_load1", load)));
    let running = words.get(3).and_then(|word| word.split('/').nth(1)?.parse().ok());
    values.extend(running.map(|count| ("node_processes", count)));
}

/// Seconds of all processors, of a hundred ticks each.
fn processor(text: &str, values: &mut Sums) {
    let Some(line) = text.lines().find_map(|line| line.strip_prefix("cpu ")) else { return };
    let ticks: Vec<f64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    let [user, nice, system, _, wait, ..] = ticks.as_slice() else { return };
    values.insert("node_cpu_busy_seconds", (user + nice + system) / 100.0);
    values.insert("node_cpu_iowait_seconds", wait / 100.0);
}

/// Whole disks only: what their partitions move is among it.
fn disks(text: &str, values: &mut Sums) {
    for line in text.lines() {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let (Some(name), Some(_)) = (fields.get(2), fields.get(12)) else { continue };
        let passed_over =
            ["loop", "ram", "dm-", "md", "zram", "sr"].iter().any(|start| name.starts_with(start));
        if passed_over || is_partition(name) {
            continue;
        }
        let number = |place: usize| fields[place].parse::<f64>().unwrap_or(0.0);
        add(values, "node_disk_read_bytes", number(5) * SECTOR);
        add(values, "node_disk_written_bytes", number(9) * SECTOR);
        add(values, "node_disk_busy_seconds", number(12) / 1e3);
    }
}

/// `sda1`, `nvme0n1p2`, `mmcblk0p1`.
fn is_partition(name: &str) -> bool {
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let stem = &name[..name.len() - digits];
    if digits == 0 {
        return false;
    }
    match name.starts_with("nvme") || name.starts_with("mmcblk") {
        true => stem.ends_with('p'),
        false => ["sd", "hd", "vd", "xvd"].iter().any(|start| name.starts_with(start)),
    }
}

fn network(text: &str, values: &mut Sums) {
    for line in text.lines() {
        let Some((name, rest)) = line.split_once(':') else { continue };
        if name.trim() == "lo" {
            continue;
        }
        let numbers: Vec<f64> = rest.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        if let (Some(received), Some(sent)) = (numbers.first(), numbers.get(8)) {
            add(values, "node_network_received_bytes", *received);
            add(values, "node_network_sent_bytes", *sent);
        }
    }
}

/// What all NFS mounts have read and written on the server.
fn nfs(text: &str, values: &mut Sums) {
    for line in text.lines() {
        let Some(rest) = line.trim().strip_prefix("bytes:") else { continue };
        let numbers: Vec<f64> = rest.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        if let (Some(read), Some(written)) = (numbers.get(4), numbers.get(5)) {
            add(values, "node_nfs_read_bytes", *read);
            add(values, "node_nfs_written_bytes", *written);
        }
    }
}

/// What all Lustre clients of the node have read and written.
fn lustre(values: &mut Sums) {
    for root in ["/proc/fs/lustre/llite", "/sys/kernel/debug/lustre/llite"] {
        let Ok(entries) = std::fs::read_dir(root) else { continue };
        for entry in entries.flatten() {
            let text = std::fs::read_to_string(entry.path().join("stats")).unwrap_or_default();
            for (name, key) in
                [("node_lustre_read_bytes", "read_bytes"), ("node_lustre_written_bytes", "write_bytes")]
            {
                let line = text.lines().find(|line| line.split_whitespace().next() == Some(key));
                let sum = line.and_then(|line| line.split_whitespace().nth(6)?.parse::<f64>().ok());
                if let Some(sum) = sum {
                    add(values, name, sum);
                }
            }
        }
    }
}

/// Where a push goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Server {
    host: Host,
    token: Option<String>,
}

impl Server {
    /// `http://HOST:PORT` or `unix:PATH`.
    pub fn parse(text: &str, token: Option<String>) -> Result<Self, String> {
        let host = if let Some(path) = text.strip_prefix("unix:") {
            Host::Unix(path.into())
        } else if let Some(host) = text.strip_prefix("http://") {
            let host = host.trim_end_matches('/');
            Host::Tcp(if host.contains(':') { host.to_owned() } else { format!("{host}:1337") })
        } else {
            return Err(format!("{text}: expected http://HOST:PORT or unix:PATH"));
        };
        Ok(Server { host, token })
    }

    /// Sends a push; `Err` says why it was not taken.
    pub fn push(&self, body: &str) -> Result<(), String> {
        let token = self.token.as_ref().map(|token| format!("Authorization: Bearer {token}\r\n"));
        let headers = format!("{}Content-Type: application/json\r\n", token.unwrap_or_default());
        let sent = self.host.send("POST", "api/v1/push", &headers, body.as_bytes());
        sent.map(drop).map_err(|refused| refused.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_proc_are_read() {
        let mut values = BTreeMap::new();
        disks(
            "   8 0 sda 10 0 200 5 20 0 400 9 0 1500 14\n   8 1 sda1 10 0 200 5 20 0 400 9 0 1500 14\n 259 0 nvme0n1 1 0 2 \
             0 1 0 2 0 0 500 0\n   7 0 loop0 9 9 9 9 9 9 9 9 9 9 9\n",
            &mut values,
        );
        assert_eq!(values["node_disk_read_bytes"], 202.0 * 512.0);
        assert_eq!(values["node_disk_busy_seconds"], 2.0);
        network("  lo: 5 0 0 0 0 0 0 0 5\neth0: 100 1 0 0 0 0 0 0 200 1\n", &mut values);
        assert_eq!(
            (values["node_network_received_bytes"], values["node_network_sent_bytes"]),
            (100.0, 200.0)
        );
        memory("MemTotal: 10 kB\nMemAvailable:   4 kB\n", &mut values);
        assert_eq!(values["node_memory_available_bytes"], 4096.0);
        nfs("device x\n\tbytes:\t1 2 3 4 50 60 7 8\n", &mut values);
        assert_eq!(values["node_nfs_written_bytes"], 60.0);
        for (name, partition) in
            [("sda", false), ("sda1", true), ("nvme0n1", false), ("nvme0n1p1", true), ("vdb", false)]
        {
            assert_eq!(is_partition(name), partition, "{name}");
        }
    }

    #[test]
    fn this_node_has_memory_and_load() {
        let push = sample("here");
        assert!(push["metrics"]["node_memory_total_bytes"].as_f64().unwrap() > 1e6);
        assert_eq!(push["kind"]["node_load1"], "gauge");
        assert!(Server::parse("ftp://x", None).is_err());
    }
}
