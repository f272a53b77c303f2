//! A cgroup v2 leaf per command where the warden's own cgroup is writable (`cgroups(7)`). It is a second hold on the
//! tree beside the subreaper: `cgroup.kill` (Linux 5.14) reaches every member at once, and controllers that are
//! enabled above it can bound memory and processes of the whole tree.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::path::{Path, PathBuf};

use nix::fcntl::{AT_FDCWD, AtFlags, OFlag, openat};
use nix::sys::stat::{Mode, mkdirat};
use nix::unistd::{AccessFlags, UnlinkatFlags, faccessat, geteuid, unlinkat};

use crate::os::{file, path, process};

/// What the names of the wardens' directories begin with; the warden's process id follows.
const PREFIX: &str = "argvault-";

/// The directory under which leaves are made: one per warden.
#[derive(Debug)]
pub struct Delegation {
    parent: OwnedFd,
    dir: OwnedFd,
    name: String,
}

const SUBTREE_CONTROL: &str = "cgroup.subtree_control";

const DIRECTORY: OFlag = OFlag::O_RDONLY.union(OFlag::O_DIRECTORY).union(OFlag::O_CLOEXEC);

impl Delegation {
    /// Makes the warden's directory; `None` where there is no cgroup v2 or none that is writable.
    pub fn make() -> Option<Self> {
        let own = own_cgroup(&read("/proc/self/mountinfo")?, &read("/proc/self/cgroup")?)?;
        let above = own.parent().filter(|above| is_handed_over(above));
        [Some(own.as_path()), above]
            .into_iter()
            .flatten()
            .find(|place| hands_on_memory(place))
            .and_then(Self::make_in)
            .or_else(|| Self::make_in(&own))
    }

    fn make_in(place: &Path) -> Option<Self> {
        let parent: OwnedFd = File::open(place).ok()?.into();
        let name = format!("{PREFIX}{}", std::process::id());
        mkdirat(&parent, name.as_str(), Mode::from_bits_truncate(0o700)).ok()?;
        let dir = openat(&parent, name.as_str(), DIRECTORY, Mode::empty()).ok()?;
        // Held by this process and by all keepers that it forks: free once the last of them is gone.
        let _ = file::try_lock(&dir);
        hand_on(&dir, "memory");
        hand_on(&dir, "pids");
        sweep(&parent, place);
        Some(Self { parent, dir, name })
    }

    /// Whether the memory of a leaf can be bounded.
    pub fn bounds_memory(&self) -> bool {
        is_handed_on(&self.dir, "memory")
    }

    /// A leaf for one command.
    pub fn leaf(&self, name: &str) -> io::Result<Leaf> {
        mkdirat(&self.dir, name, Mode::from_bits_truncate(0o700))?;
        let dir = openat(&self.dir, name, DIRECTORY, Mode::empty())?;
        let parent = self.dir.try_clone()?;
        Ok(Leaf { parent, dir, name: name.to_owned() })
    }

    /// Kills all that is in the leaves of `dir`, which is at `path`, and removes those that are empty by then.
    fn end_leaves(dir: &OwnedFd, path: &Path) {
        let Ok(entries) = std::fs::read_dir(path) else { return };
        let folders =
            entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|t| t.is_dir()));
        for name in folders.filter_map(|entry| entry.file_name().into_string().ok()) {
            let (Ok(own), Ok(parent)) =
                (openat(dir, name.as_str(), DIRECTORY, Mode::empty()), dir.try_clone())
            else {
                continue;
            };
            let leaf = Leaf { parent, dir: own, name };
            leaf.kill();
            leaf.remove();
        }
    }

    /// Its descriptors' numbers, for a keeper that closes all others.
    pub fn raw_fds(&self) -> [RawFd; 2] {
        [self.parent.as_raw_fd(), self.dir.as_raw_fd()]
    }

    /// Removes a leaf that a lost keeper left.
    pub fn remove_leaf(&self, name: &str) {
        let _ = unlinkat(&self.dir, name, UnlinkatFlags::RemoveDir);
    }

    /// Removes the warden's directory, which must be empty by now.
    pub fn remove(self) {
        let _ = unlinkat(&self.parent, self.name.as_str(), UnlinkatFlags::RemoveDir);
    }
}

/// Whether `place` gives its children memory to share out, and has it do so where it can. A cgroup with processes can't
/// (`cgroups(7)`, "no internal processes" rule), unless it is the machine's root.
fn hands_on_memory(place: &Path) -> bool {
    let Ok(dir) = File::open(place).map(OwnedFd::from) else { return false };
    hand_on(&dir, "memory");
    let handed_on = is_handed_on(&dir, "memory");
    if handed_on {
        // Only then: given to a cgroup with processes alone, it would make threads' cgroups of its children, which hold
        // no process (`cgroups(7)`, "thread mode").
        hand_on(&dir, "pids");
    }
    handed_on
}

/// Has the cgroup give its children one controller, where it has it itself.
fn hand_on(dir: &OwnedFd, controller: &str) {
    let flags = OFlag::O_WRONLY | OFlag::O_CLOEXEC;
    if let Ok(control) = openat(dir, SUBTREE_CONTROL, flags, Mode::empty()) {
        let _ = File::from(control).write_all(format!("+{controller}").as_bytes());
    }
}

fn is_handed_on(dir: &OwnedFd, controller: &str) -> bool {
    read_at(dir, SUBTREE_CONTROL).split_ascii_whitespace().any(|given| given == controller)
}

/// Whether a cgroup that is not this process's own was given to whoever runs it. A service manager puts the processes of a
/// unit that it delegates into a cgroup below it (`DelegateSubgroup=`, `systemd.resource-control(5)`), so that the unit's
/// own has none. It says so by a mark (`user.delegate` or `trusted.delegate`, systemd 251). Without one, only the topmost
/// that this user may write counts, and for root none: what lies between is a service manager's of this very user, and a
/// tree that was moved there would have left the limits of its unit.
fn is_handed_over(cgroup: &Path) -> bool {
    let is_writable = |path: &Path| faccessat(AT_FDCWD, path, AccessFlags::W_OK, AtFlags::AT_EACCESS).is_ok();
    let marks = [c"user.delegate", c"trusted.delegate"];
    let is_marked = || marks.into_iter().any(|mark| path::has_attribute(cgroup, mark));
    let is_topmost = || !geteuid().is_root() && cgroup.parent().is_none_or(|above| !is_writable(above));
    ["", "cgroup.procs", SUBTREE_CONTROL].into_iter().all(|name| is_writable(&cgroup.join(name)))
        && (is_marked() || is_topmost())
}

/// Ends what wardens left that were killed together with their keepers, and removes their directories. One that was
/// killed alone leaves an empty directory behind.
fn sweep(parent: &OwnedFd, path: &Path) {
    let Ok(entries) = std::fs::read_dir(path) else { return };
    for name in entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok()) {
        let Some(warden) = name.strip_prefix(PREFIX).and_then(|pid| pid.parse().ok()) else { continue };
        // One that lives may be between the making of its directory and the locking.
        if process::stat(warden).is_some_and(|stat| !stat.ended) {
            continue;
        }
        let Ok(dir) = openat(parent, name.as_str(), DIRECTORY, Mode::empty()) else { continue };
        if file::try_lock(&dir).unwrap_or(false) {
            Delegation::end_leaves(&dir, &path.join(&name));
            let _ = unlinkat(parent, name.as_str(), UnlinkatFlags::RemoveDir);
        }
    }
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

/// One interface file; empty where it isn't there.
fn read_at(dir: &OwnedFd, name: &str) -> String {
    let mut text = String::new();
    if let Ok(fd) = openat(dir, name, OFlag::O_RDONLY | OFlag::O_CLOEXEC, Mode::empty()) {
        let _ = File::from(fd).read_to_string(&mut text);
    }
    text
}

/// Where this process's cgroup is, from `proc_pid_mountinfo(5)` and the `0::` line of `proc_pid_cgroup(5)`.
fn own_cgroup(mountinfo: &str, cgroup: &str) -> Option<PathBuf> {
    let path = cgroup.lines().find_map(|line| line.strip_prefix("0::"))?;
    mountinfo.lines().find_map(|line| {
        let (fields, tail) = line.split_once(" - ")?;
        tail.starts_with("cgroup2 ").then_some(())?;
        let mut fields = fields.split(' ').skip(3);
        let (root, mount_point) = (fields.next()?, fields.next()?);
        // A mount shows the hierarchy from `root` down; a cgroup outside of that has no path here.
        let below = if root == "/" { path } else { path.strip_prefix(root)? };
        Some(PathBuf::from(format!("{mount_point}/{}", below.trim_start_matches('/'))))
    })
}

/// One command's cgroup.
#[derive(Debug)]
pub struct Leaf {
    parent: OwnedFd,
    dir: OwnedFd,
    name: String,
}

impl Leaf {
    /// `cgroup.procs`, for the program to write itself into.
    pub fn procs(&self) -> io::Result<OwnedFd> {
        Ok(openat(&self.dir, "cgroup.procs", OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())?)
    }

    /// Sets one interface file; an error where the controller isn't enabled above.
    pub fn set(&self, file: &str, value: u64) -> io::Result<()> {
        let fd = openat(&self.dir, file, OFlag::O_WRONLY | OFlag::O_CLOEXEC, Mode::empty())?;
        File::from(fd).write_all(value.to_string().as_bytes())
    }

    /// Bounds the memory of all members together, in bytes, without swap to make up for it. Whoever goes beyond it takes the
    /// whole tree along (`memory.oom.group`, Linux 4.19): half of a build is nobody's. An error where the controller isn't
    /// enabled above.
    pub fn bound_memory(&self, bytes: u64) -> io::Result<()> {
        self.set("memory.max", bytes)?;
        let _ = self.set("memory.oom.group", 1);
        // Not there without swap accounting.
        let _ = self.set("memory.swap.max", 0);
        Ok(())
    }

    /// Kills every member. Not there before Linux 5.14: the rounds of the subreaper do it alone then.
    pub fn kill(&self) {
        let _ = self.set("cgroup.kill", 1);
    }

    /// Whether the kernel killed a member for its memory (`memory.events`).
    pub fn had_oom_kill(&self) -> bool {
        let text = read_at(&self.dir, "memory.events");
        text.lines().any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count != "0"))
    }

    /// Removes the leaf, which must be empty.
    pub fn remove(&self) {
        let _ = unlinkat(&self.parent, self.name.as_str(), UnlinkatFlags::RemoveDir);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "30 24 0:26 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n\
                          31 24 0:27 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu";

    #[test]
    fn the_own_cgroup_is_found_below_the_mount() {
        let found = own_cgroup(HYBRID, "4:memory:/x\n0::/user.slice/a\n").unwrap();
        assert_eq!(found, PathBuf::from("/sys/fs/cgroup/unified/user.slice/a"));
        assert_eq!(own_cgroup(HYBRID, "0::/\n").unwrap(), PathBuf::from("/sys/fs/cgroup/unified/"));
    }

    #[test]
    fn an_out_of_memory_kill_is_read_from_the_leafs_own_events() {
        let dir = tempfile::tempdir().unwrap();
        let open = || OwnedFd::from(File::open(dir.path()).unwrap());
        let leaf = Leaf { parent: open(), dir: open(), name: "x".into() };
        assert!(!leaf.had_oom_kill(), "no memory controller, no file");
        for (kills, had) in [("0", false), ("1", true), ("12", true)] {
            let events = format!("low 0\nhigh 0\nmax 7\noom 3\noom_kill {kills}\noom_group_kill 0\n");
            std::fs::write(dir.path().join("memory.events"), events).unwrap();
            assert_eq!(leaf.had_oom_kill(), had, "{kills}");
        }
        assert!(leaf.set("memory.max", 5).is_err(), "a file that isn't there is made by nobody");
    }

    #[test]
    fn a_cgroup_above_counts_only_if_it_was_handed_over() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!is_handed_over(dir.path()), "no cgroup");
        for name in ["cgroup.procs", SUBTREE_CONTROL] {
            std::fs::write(dir.path().join(name), "").unwrap();
        }
        assert!(
            !is_handed_over(dir.path()),
            "whoever may write it may write what is above it, and nobody has marked it"
        );
        assert!(!hands_on_memory(dir.path()), "a file that took the word and gave nothing");
    }

    #[test]
    fn a_mount_of_a_part_shows_only_what_is_below_it() {
        let part = "30 24 0:26 /docker/1 /sys/fs/cgroup ro - cgroup2 cgroup ro";
        assert_eq!(own_cgroup(part, "0::/docker/1/x").unwrap(), PathBuf::from("/sys/fs/cgroup/x"));
        assert_eq!(own_cgroup(part, "0::/docker/2"), None);
        assert_eq!(own_cgroup("", "0::/"), None);
    }
}
