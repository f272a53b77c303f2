//! Whether one path of a confinement lies within another, by their text alone. Links are the next stage's: it holds
//! what paths lead to against the same rule.

/// What names and relative paths are compared on.
#[derive(Debug)]
pub(super) struct Ground<'p> {
    /// Where relative paths begin.
    pub(super) cwd_root: &'p str,
    /// What `execute: "allowed"` stands for.
    pub(super) allowed: Vec<String>,
}

/// `path` in one form: no `.`, no doubled or final slash. `None` with a `..` in it.
pub(super) fn normal(path: &str) -> Option<String> {
    let parts: Vec<_> = path.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    if parts.contains(&"..") {
        return None;
    }
    let joined = parts.join("/");
    Some(match (path.starts_with('/'), joined.is_empty()) {
        (true, _) => format!("/{joined}"),
        (false, true) => ".".into(),
        (false, false) => joined,
    })
}

/// Whether `path` is `base` or lies below it.
pub(super) fn beneath(path: &str, base: &str, ground: &Ground<'_>) -> bool {
    if path == base {
        return true;
    }
    let whole = |path: &str| {
        let joined =
            if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", ground.cwd_root) };
        normal(&joined)
    };
    match (whole(path), whole(base)) {
        (Some(path), Some(base)) => {
            base == "/"
                || path.strip_prefix(&base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_form() {
        let cases = [
            ("/a//b/./c/", Some("/a/b/c")),
            ("/", Some("/")),
            ("./", Some(".")),
            ("a/b", Some("a/b")),
            ("a/../b", None),
            ("..", None),
            ("a..b", Some("a..b")),
        ];
        for (given, expected) in cases {
            assert_eq!(normal(given).as_deref(), expected, "{given}");
        }
    }

    #[test]
    fn beneath_is_by_whole_components() {
        let ground = Ground { cwd_root: "/srv/p", allowed: Vec::new() };
        for (path, base, within) in [
            ("/srv/p/a", ".", true),
            (".", "/srv", true),
            ("a", "/srv/p", true),
            ("/srv/pq", "/srv/p", false),
            ("/srv", "/srv/p", false),
            ("/x", "/", true),
            ("git", "git", true),
            ("git", "/usr/bin/git", false),
        ] {
            assert_eq!(beneath(path, base, &ground), within, "{path} in {base}");
        }
    }
}
