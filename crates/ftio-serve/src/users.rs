//! Names and numbers of users, as `/etc/passwd` has them. Users of a directory service that it does not list
//! are shown, and can be given, by their numbers.

/// The number of a user: by name, or as `uid:NUMBER`.
pub fn uid(name: &str) -> Option<u32> {
    if let Some(number) = name.strip_prefix("uid:") {
        return number.parse().ok();
    }
    let text = std::fs::read_to_string("/etc/passwd").ok()?;
    text.lines().find_map(|line| {
        let mut fields = line.split(':');
        (fields.next() == Some(name)).then(|| fields.nth(1)?.parse().ok())?
    })
}

/// The name of a user, or `uid:NUMBER`.
pub fn name(uid: u32) -> String {
    let text = std::fs::read_to_string("/etc/passwd").unwrap_or_default();
    let found = text.lines().find_map(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        (fields.get(2)?.parse() == Ok(uid)).then(|| fields[0].to_owned())
    });
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
