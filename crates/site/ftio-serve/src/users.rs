//! Names and numbers of users, as `/etc/passwd` has them. Users of a directory service that it does not list
//! are shown, and can be given, by their numbers.

use crate::lock::locked;
use std::collections::HashMap;
use std::sync::Mutex;
use std::time::SystemTime;

/// The list of users, and when it was last changed: it is read again when it changes.
static KNOWN: Mutex<Option<(SystemTime, HashMap<u32, String>)>> = Mutex::new(None);

const PASSWD: &str = "/etc/passwd";

/// Names by number. Of several names of one number the first counts.
fn read() -> HashMap<u32, String> {
    let text = std::fs::read_to_string(PASSWD).unwrap_or_default();
    let mut names = HashMap::new();
    for line in text.lines() {
        let mut fields = line.split(':');
        let (name, number) = (fields.next(), fields.nth(1).and_then(|field| field.parse().ok()));
        if let (Some(name), Some(number)) = (name, number) {
            names.entry(number).or_insert_with(|| name.to_owned());
        }
    }
    names
}

/// The number of a user: by name, or as `uid:NUMBER`.
pub fn uid(name: &str) -> Option<u32> {
    if let Some(number) = name.strip_prefix("uid:") {
        return number.parse().ok();
    }
    let text = std::fs::read_to_string(PASSWD).ok()?;
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok())?
    })
}

/// The name of a user, or `uid:NUMBER`.
pub fn name(uid: u32) -> String {
    let changed =
        std::fs::metadata(PASSWD).and_then(|about| about.modified()).unwrap_or(SystemTime::UNIX_EPOCH);
    let mut known = locked(&KNOWN);
    if known.as_ref().is_none_or(|(at, _)| *at != changed) {
        *known = Some((changed, read()));
    }
    let found = known.as_ref().and_then(|(_, names)| names.get(&uid).cloned());
    found.unwrap_or_else(|| format!("uid:{uid}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        assert_eq!(uid("root"), Some(0));
        assert_eq!(name(0), "root");
        assert_eq!(uid("uid:4000000000"), Some(4_000_000_000));
        assert_eq!(name(4_000_000_000), "uid:4000000000");
        assert_eq!(uid("no such user"), None);
    }
}
