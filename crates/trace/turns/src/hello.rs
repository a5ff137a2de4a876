//! Who asks: lines `name=value`, of which unknown ones are skipped.

/// What a node says about its job.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hello {
    /// The job's id, as the batch system has it.
    pub job: String,
    /// The number of the run, the same on all its nodes: it distinguishes the steps of a job.
    pub run: u64,
    /// The node.
    pub host: String,
    /// The secret that clients over the network must present.
    pub secret: String,
}

/// The longest id of a job that is taken.
const MAX_BYTES: usize = 64;

impl Hello {
    /// As a text.
    pub fn encode(&self) -> String {
        let clean = |text: &str| text.replace(['\n', '\r'], " ");
        format!(
            "job={}\nrun={:016x}\nhost={}\nsecret={}\n",
            clean(&self.job),
            self.run,
            clean(&self.host),
            clean(&self.secret)
        )
    }

    /// From the text of a message; `None`: it names no job.
    pub fn decode(text: &str) -> Option<Self> {
        let mut hello = Hello::default();
        for (name, value) in text.lines().filter_map(|line| line.split_once('=')) {
            match name {
                "job" => hello.job = printable(value),
                "host" => hello.host = printable(value),
                "secret" => hello.secret = value.to_owned(),
                "run" => hello.run = u64::from_str_radix(value, 16).ok()?,
                _ => {}
            }
        }
        (!hello.job.is_empty()).then_some(hello)
    }

    /// Whether the secret is this one, in a time that does not depend on where they differ.
    pub fn knows(&self, secret: &str) -> bool {
        let (ours, theirs) = (secret.as_bytes(), self.secret.as_bytes());
        let differing = ours.iter().zip(theirs).fold(0, |all, (a, b)| all | (a ^ b));
        differing == 0 && ours.len() == theirs.len()
    }
}

/// What ends up in tables and on terminals.
fn printable(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(MAX_BYTES).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_and_back() {
        let hello =
            Hello { job: "4711.0".into(), run: 0xfeed, host: "node-7".into(), secret: "s3=cret".into() };
        assert_eq!(Hello::decode(&hello.encode()), Some(hello.clone()));
        assert!(hello.knows("s3=cret") && !hello.knows("s3=cre") && !hello.knows("s3=creT"));
        assert_eq!(Hello::decode("run=1\n"), None);
        let odd = Hello::decode("job=a\u{1b}[2Jb\nmore=1\n").unwrap();
        assert_eq!(odd.job, "a[2Jb", "nothing that moves a cursor");
    }
}
