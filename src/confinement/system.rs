//! What a program needs of the system before it has read a line of its own: libraries, locale, names, devices. Readable
//! under every restriction of reading.

use std::path::Path;
use std::sync::OnceLock;

use super::rules::Place;

/// Trees of data and libraries. Nothing here is a user's own.
const LIBRARIES: &[&str] = &[
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/usr/include",
    "/usr/lib",
    "/usr/lib32",
    "/usr/lib64",
    "/usr/libx32",
    "/usr/local/include",
    "/usr/local/lib",
    "/usr/local/share",
    "/usr/share",
    "/proc",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/sys/kernel/mm/transparent_hugepage",
];

/// Trees of programs: readable only where any file may be executed, for what can be read can be run by the loader.
const PROGRAMS: &[&str] = &["/usr", "/bin", "/sbin", "/opt", "/nix/store", "/gnu/store", "/snap"];

/// Of `/etc` only what holds no secret: root reads `/etc/shadow` and private keys.
const SETTINGS: &[&str] = &[
    "alternatives",
    "gai.conf",
    "gitattributes",
    "gitconfig",
    "group",
    "host.conf",
    "hostname",
    "hosts",
    "ld.so.cache",
    "ld.so.preload",
    "locale.alias",
    "localtime",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "pki/ca-trust",
    "pki/tls/certs",
    "protocols",
    "resolv.conf",
    "services",
    "ssl/certs",
    "ssl/openssl.cnf",
    "timezone",
];

/// Devices without a state.
const READABLE_DEVICES: &[&str] =
    &["/dev/full", "/dev/null", "/dev/random", "/dev/tty", "/dev/urandom", "/dev/zero"];

/// Where bytes may go that are to be forgotten, and the terminal, which a command doesn't have.
const WRITABLE_DEVICES: &[&str] = &["/dev/full", "/dev/null", "/dev/tty", "/dev/zero"];

/// Readable paths as they really are, each once. With `programs` those where programs are kept as well.
pub(super) fn readable(programs: bool) -> &'static [Place] {
    static WITH: OnceLock<Vec<Place>> = OnceLock::new();
    static WITHOUT: OnceLock<Vec<Place>> = OnceLock::new();
    let common = || {
        let settings = SETTINGS.iter().map(|name| format!("/etc/{name}"));
        LIBRARIES.iter().chain(READABLE_DEVICES).map(|path| (*path).to_owned()).chain(settings)
    };
    if programs {
        WITH.get_or_init(|| real(PROGRAMS.iter().map(|path| (*path).to_owned()).chain(common())))
    } else {
        WITHOUT.get_or_init(|| real(common()))
    }
}

/// Writable paths.
pub(super) fn writable() -> impl Iterator<Item = Place> {
    WRITABLE_DEVICES.iter().map(|path| Place { path: (*path).to_owned(), dir: false })
}

/// What exists, resolved; without what lies below another entry.
fn real(paths: impl Iterator<Item = String>) -> Vec<Place> {
    let mut found: Vec<Place> = Vec::new();
    for path in paths {
        let Ok(path) = std::fs::canonicalize(path) else { continue };
        let Some(text) = path.to_str() else { continue };
        if !found.iter().any(|known| path.starts_with(Path::new(&known.path))) {
            found.push(Place::of(text.to_owned()));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_readable_holds_neither_secrets_nor_without_need_programs() {
        let (with, without) = (readable(true), readable(false));
        let covers = |list: &[Place], path: &str| {
            list.iter().any(|known| Path::new(path).starts_with(Path::new(&known.path)))
        };
        for secret in
            ["/etc/shadow", "/etc/ssl/private/key.pem", "/root/.ssh/id", "/home/me", "/dev/sda", "/tmp/x"]
        {
            assert!(!covers(with, secret) && !covers(without, secret), "{secret}");
        }
        assert!(covers(with, "/usr/bin/env") && !covers(without, "/usr/bin/env"));
        assert!(covers(without, "/usr/lib/x") && covers(without, "/dev/null"));
    }
}
