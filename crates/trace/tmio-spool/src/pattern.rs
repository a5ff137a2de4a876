//! Patterns of paths, as options have them.

/// What the layers posix and stdio leave out, if nobody says otherwise: the system's own programs, libraries
/// and settings, and logs of tools.
pub const DEFAULT_EXCLUDED: &str = "/etc/*,/usr/*,/bin/*,/sbin/*,/lib/*,/lib32/*,/lib64/*,/boot/*,*/lib/python*,\
     */site-packages/*,*/dist-packages/*,*.so,*.so.*,*.py,*.pyc,*.darshan,*.darshan_partial";

/// Whether a path matches one of a list of patterns, separated by commas.
pub fn matches_any(patterns: &[u8], path: &[u8]) -> bool {
    patterns.split(|&byte| byte == b',').any(|pattern| {
        let pattern = pattern.trim_ascii();
        !pattern.is_empty() && matches(pattern, path)
    })
}

/// Shell pattern with `*` (anything) and `?` (one byte), in linear space and no recursion.
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                retry = Some((p, t));
                p += 1;
            }
            Some(&byte) if byte == b'?' || text.get(t) == Some(&byte) => {
                p += 1;
                t += 1;
            }
            _ => match retry {
                Some((star, from)) => {
                    retry = Some((star, from + 1));
                    p = star + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(p..).is_some_and(|rest| rest.iter().all(|&byte| byte == b'*'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    #[test]
    fn patterns_match_like_a_shell_without_backtracking_explosion() {
        let hit = |p: &str, t: &str| matches(p.as_bytes(), t.as_bytes());
        assert!(hit("*", "") && hit("a*c", "abbc") && hit("a*b*c", "axbxbc") && hit("??", "ab"));
        assert!(!hit("a*c", "ab") && !hit("", "a") && !hit("?", ""));
        let long = String::from("a").repeat(60);
        assert!(!hit(&"a*".repeat(40), &long[..39]));
    }
}
