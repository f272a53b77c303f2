//! The descendants of this process: finding and signalling them, never a stranger that got a recycled id.
//!
//! Direct children are safe to signal by id, since only this process reaps them. A deeper one can be reaped by its
//! own parent at any moment, so it is signalled through a pidfd that was checked after it was opened. Whoever is
//! orphaned comes to this process, a subreaper, and is direct from then on: repeated rounds reach everything.

use std::collections::{HashMap, HashSet};
use std::io;

use crate::limits;
use crate::os::process::{self, Pid, PidFd, ProcessStat};
use crate::os::signal::SignalNumber;
use crate::vault::record::Unkillable;

/// A process of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Member {
    /// Its id when it was seen.
    pub pid: Pid,
    /// Its parent then.
    pub parent: Pid,
}

/// The tree below one process, but for some children that are not part of it.
#[derive(Debug)]
pub struct Tree {
    root: Pid,
    /// How the kernel tells children, if it does.
    children: fn(Pid) -> Option<Vec<Pid>>,
}

impl Tree {
    /// The tree below this process.
    pub fn of_self() -> Self {
        Self { root: nix::unistd::getpid().as_raw(), children: process::children }
    }

    /// Its members now, parents before children, without the branches below `except`.
    pub fn members(&self, except: &HashSet<Pid>) -> Vec<Member> {
        match (self.children)(self.root) {
            Some(direct) => self.walk(direct, except),
            None => below(
                self.root,
                except,
                process::all().iter().map(|p| Member { pid: p.pid, parent: p.parent }),
            ),
        }
    }

    fn walk(&self, direct: Vec<Pid>, except: &HashSet<Pid>) -> Vec<Member> {
        let mut found: Vec<Member> = direct
            .into_iter()
            .filter(|pid| !except.contains(pid))
            .map(|pid| Member { pid, parent: self.root })
            .collect();
        let mut at = 0;
        while at < found.len() {
            let parent = found[at].pid;
            let children = (self.children)(parent).unwrap_or_default();
            found.extend(children.into_iter().map(|pid| Member { pid, parent }));
            at += 1;
        }
        found
    }

    /// Sends `signal` to every member. One that is gone meanwhile is no failure.
    pub fn signal(&self, signal: SignalNumber, except: &HashSet<Pid>) {
        for member in self.members(except) {
            let _ = self.signal_member(member, signal);
        }
    }

    /// Sends `signal` to every member and, where that wants to be noticed, lets stopped ones go on. The signal comes
    /// first, so that it is pending when they do.
    pub fn signal_and_wake(&self, signal: SignalNumber, except: &HashSet<Pid>) {
        self.signal(signal, except);
        if signal.wakes() && signal != SignalNumber::KILL {
            self.signal(SignalNumber::CONT, except);
        }
    }

    fn signal_member(&self, member: Member, signal: SignalNumber) -> io::Result<()> {
        if member.parent == self.root {
            return process::signal_child(member.pid, signal);
        }
        let handle = PidFd::open(member.pid)?;
        // With the handle open, what `stat` says is of this process or of none: a recycled id would show another
        // parent.
        match process::stat(member.pid) {
            Some(now) if now.parent == member.parent || now.parent == self.root => handle.signal(signal),
            _ => Ok(()),
        }
    }

    /// The members that are not merely waiting to be reaped.
    pub fn alive(&self, except: &HashSet<Pid>) -> Vec<Pid> {
        self.those(except, |stat| !stat.ended)
    }

    /// The members that are not ending by themselves at this moment.
    pub fn going_on(&self, except: &HashSet<Pid>) -> Vec<Pid> {
        self.those(except, |stat| !stat.exiting)
    }

    fn those(&self, except: &HashSet<Pid>, wanted: fn(ProcessStat) -> bool) -> Vec<Pid> {
        let members = self.members(except).into_iter().map(|member| member.pid);
        members.filter(|&pid| process::stat(pid).is_some_and(wanted)).collect()
    }

    /// Those alive, by name, for a record.
    pub fn unkillable(&self, except: &HashSet<Pid>) -> Vec<Unkillable> {
        self.alive(except)
            .into_iter()
            .take(limits::MAX_UNKILLABLE_LISTED)
            .map(|pid| Unkillable { pid, name: process::name(pid).unwrap_or_default() })
            .collect()
    }
}

/// The descendants of `root` in a snapshot of all processes, parents before children.
fn below(root: Pid, except: &HashSet<Pid>, snapshot: impl Iterator<Item = Member>) -> Vec<Member> {
    let mut by_parent: HashMap<Pid, Vec<Pid>> = HashMap::new();
    for member in snapshot {
        by_parent.entry(member.parent).or_default().push(member.pid);
    }
    let mut found: Vec<Member> = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        // Taking the entry out makes a snapshot with a cycle, which ids recycled during the scan can give, end.
        for pid in by_parent.remove(&parent).unwrap_or_default() {
            if !(parent == root && except.contains(&pid)) {
                found.push(Member { pid, parent });
                parents.push(pid);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn snapshot(pairs: &[(Pid, Pid)]) -> impl Iterator<Item = Member> {
        pairs.iter().map(|&(pid, parent)| Member { pid, parent })
    }

    fn pids(found: Vec<Member>) -> Vec<Pid> {
        let mut pids: Vec<_> = found.into_iter().map(|member| member.pid).collect();
        pids.sort_unstable();
        pids
    }

    #[test]
    fn a_snapshot_gives_all_below_and_nobody_else() {
        let pairs = [(2, 1), (3, 2), (4, 3), (5, 1), (6, 99), (7, 5)];
        assert_eq!(pids(below(1, &HashSet::new(), snapshot(&pairs))), [2, 3, 4, 5, 7]);
        assert_eq!(pids(below(1, &HashSet::from([5]), snapshot(&pairs))), [2, 3, 4]);
        assert!(below(4, &HashSet::new(), snapshot(&pairs)).is_empty());
    }

    #[test]
    fn a_cycle_in_a_snapshot_ends() {
        assert_eq!(pids(below(1, &HashSet::new(), snapshot(&[(2, 1), (3, 2), (2, 3)]))), [2, 2, 3]);
    }

    /// A kernel without `CONFIG_PROC_CHILDREN` has no `children` files: `/proc/<pid>/stat` of all processes tells the same.
    #[test]
    fn a_kernel_that_lists_no_children_finds_and_ends_the_same_tree() {
        // Orphans come to the root of a tree, and any of them is reaped: the test runs once more, as a process of its own.
        const ALONE: &str = "ARGVAULT_TREE_ALONE";
        if std::env::var_os(ALONE).is_none() {
            let name = "warden::tree::tests::a_kernel_that_lists_no_children_finds_and_ends_the_same_tree";
            let own = std::env::current_exe().unwrap();
            let output = std::process::Command::new(own).args(["--exact", name]).env(ALONE, "1").output();
            let output = output.unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
            return;
        }
        nix::sys::prctl::set_child_subreaper(true).unwrap();
        let walking = Tree::of_self();
        let scanning = Tree { children: |_| None, ..Tree::of_self() };
        let nobody = HashSet::new();
        let members = |tree: &Tree| {
            let mut found = tree.members(&nobody);
            found.sort_by_key(|member| member.pid);
            found
        };
        let until = |what: &str, fact: &dyn Fn() -> bool| {
            let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
            while !fact() {
                if std::time::Instant::now() > end {
                    walking.signal(SignalNumber::KILL, &nobody);
                    panic!("waited in vain for {what}: {:?}", members(&walking));
                }
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        };
        let script = "sh -c 'sleep 100 & sleep 100 & wait' & wait";
        let mut main = std::process::Command::new("sh")
            .args(["-c", script])
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap();
        until("a tree of four", &|| members(&walking).len() == 4);
        assert_eq!(members(&scanning), members(&walking));
        assert!(scanning.members(&HashSet::from([main.id().cast_signed()])).is_empty());
        until("their ends", &|| {
            scanning.signal(SignalNumber::KILL, &nobody);
            loop {
                match process::reap_any() {
                    Ok(Some(_)) => {}
                    Ok(None) => return false,
                    Err(_) => return true,
                }
            }
        });
        assert!(main.wait().is_err(), "it was not reaped with the others");
    }
}
