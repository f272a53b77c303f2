//! The warden: one per Node process. It forks a keeper per command and, when one is lost, ends its tree and writes
//! its record. It holds no output and keeps no time but that of keepers that stopped keeping theirs.
//!
//! A warden that is killed takes nothing along: its keepers go on, each with its own socket to the host.

use std::collections::HashSet;
use std::fs::File;
use std::os::fd::{AsFd as _, AsRawFd as _, IntoRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::stat::{Mode, umask};

use super::confine::Ahead;
use super::containment::Delegation;
use super::keeper::{self, Post, ready};
use super::lost::{self, Lost};
use super::peers::tell;
use super::protocol::{Forecast, Inbox, Launch, MAX_LAUNCH, Refused, Report, VERSION, encode};
use super::spare::{self, Spare};
use super::tree::Tree;
use crate::confinement::Rules;
use crate::limits;
use crate::os::process::{self, ChildEvent, Ending, Forked, Pid, SingleThreaded};
use crate::os::signal::{self, SignalNumber};
use crate::os::spawn::ResourceLimit;
use crate::os::{file, socket};
use crate::vault::layout;

/// What the warden changed for itself, and programs get back.
#[derive(Debug, Clone, Copy)]
pub struct ProgramDefaults {
    /// The host's file mode creation mask.
    pub umask: libc::mode_t,
    /// The host's limit of open files.
    pub open_files: ResourceLimit,
}

/// A live keeper.
#[derive(Debug)]
pub struct Keeper {
    pid: Pid,
    /// A duplicate of its socket: the host is told even when the keeper can't.
    pub socket: OwnedFd,
    /// The task's folder.
    pub folder: OwnedFd,
    /// The reserved record. Its lock lasts until the record is written.
    pub pending: File,
    /// fsync what is written.
    pub sync: bool,
    /// When it was forked.
    pub since: Instant,
    /// When it should be gone.
    overdue: Instant,
    stops: u32,
    /// It stands in for one that was lost.
    finishing: bool,
}

/// How often a keeper may be stopped before it is taken for lost: a command that stops it again and again would
/// never be timed.
const MOST_STOPS: u32 = 100;

struct Warden {
    host: Option<UnixStream>,
    inbox: Inbox,
    child_signals: SignalFd,
    proof: SingleThreaded,
    defaults: ProgramDefaults,
    delegation: Option<Delegation>,
    keepers: Vec<Keeper>,
    /// Forked ahead, for the next command.
    spare: Option<Spare>,
    /// When that one is let go.
    spare_until: Instant,
    /// What that one prepares for.
    forecast: Option<Rules>,
    lost: Lost,
    tree: Tree,
}

/// How long a keeper that was forked ahead waits for its command: a host that starts nothing holds nothing.
const SPARE_KEPT: Duration = Duration::from_millis(500);
/// Beside how many keepers one is forked ahead.
const SPARE_BESIDE: usize = 4;

/// Runs the warden on the socket that is its standard input, until the host is gone and the last keeper with it.
pub fn run() -> std::io::Result<()> {
    let host = UnixStream::from(file::take_stdin()?);
    let defaults = set_up(&host)?;
    let warden = Warden {
        host: Some(host),
        inbox: Inbox::default(),
        child_signals: child_signals()?,
        proof: SingleThreaded::prove()?,
        defaults,
        delegation: Delegation::make(),
        keepers: Vec::new(),
        spare: None,
        spare_until: Instant::now(),
        forecast: None,
        lost: Lost::default(),
        tree: Tree::of_self(),
    };
    warden.serve();
    Ok(())
}

/// SIGCHLD as a descriptor. Each process needs its own: one that was inherited across a fork would tell of the
/// reader's children all the same (`signalfd(2)`), but share its flags.
fn child_signals() -> std::io::Result<SignalFd> {
    let mask = signal::block_only_sigchld()?;
    Ok(SignalFd::with_flags(&mask, SfdFlags::SFD_NONBLOCK | SfdFlags::SFD_CLOEXEC)?)
}

/// Leaves behind what the host's process gave: its terminal, its descriptors, its directory.
fn set_up(host: &UnixStream) -> std::io::Result<ProgramDefaults> {
    signal::ignore_what_would_end_us();
    file::close_all_but(vec![0, 1, 2, host.as_raw_fd()])?;
    // Fails only for a process group leader, which was then given a session of its own already.
    let _ = nix::unistd::setsid();
    std::env::set_current_dir("/")?;
    nix::sys::prctl::set_child_subreaper(true)?;
    let null: OwnedFd = File::options().read(true).write(true).open("/dev/null")?.into();
    // Moving onto 0 closes the number that the socket came by; it lives on as `host`.
    let _ = file::move_to(null, 0)?.into_raw_fd();
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
    // Three descriptors for each live command.
    let _ = setrlimit(Resource::RLIMIT_NOFILE, hard, hard);
    let open_files = ResourceLimit { resource: libc::RLIMIT_NOFILE, soft, hard };
    Ok(ProgramDefaults { umask: umask(Mode::from_bits_truncate(0o077)).bits(), open_files })
}

impl Warden {
    fn serve(mut self) {
        while self.host.is_some() || !self.keepers.is_empty() || self.lost.any() {
            if self.host.is_none() {
                self.spare = None;
            }
            self.wait();
            self.take_child_events();
            self.hurry_overdue(Instant::now());
            self.end_lost();
        }
        if let Some(delegation) = self.delegation {
            delegation.remove();
        }
    }

    fn wait(&mut self) {
        const LONG: Duration = Duration::from_secs(60);
        let now = Instant::now();
        let overdue = self.keepers.iter().map(|keeper| keeper.overdue).min();
        let spare_until = self.spare.as_ref().map(|_| self.spare_until);
        let until = [overdue, self.lost.next_round(), spare_until];
        let until = until.into_iter().flatten().min().unwrap_or(now + LONG);
        let host = self.host.as_ref().map(|host| host.as_fd());
        let ready = ready([Some(self.child_signals.as_fd()), host].into_iter(), until);
        if ready.first() == Some(&true) {
            while let Ok(Some(_)) = self.child_signals.read_signal() {}
        }
        if ready.get(1) == Some(&true) {
            self.hear_host();
        } else if self.spare_until <= Instant::now() {
            self.spare = None;
        }
    }

    fn hear_host(&mut self) {
        let Some(host) = &self.host else { return };
        let mut buffer = [0; MAX_LAUNCH];
        match socket::receive(host, &mut buffer, false) {
            Ok(received) if received.bytes > 0 => {
                self.inbox.push(&buffer[..received.bytes]);
                // A launch is no larger than the buffer and carries its descriptors on its first byte; the kernel
                // never joins the bytes of two messages with descriptors in one receive (`unix(7)`).
                match self.inbox.take::<Launch>() {
                    Ok(Some(launch)) => self.launch(launch, received.descriptors),
                    Ok(None) => {}
                    Err(_) => self.host = None,
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => {}
            Ok(_) | Err(_) => self.host = None,
        }
    }

    fn launch(&mut self, mut launch: Launch, descriptors: Vec<OwnedFd>) {
        match launch.ahead.take() {
            None => {}
            Some(Forecast::Free) => self.forecast = None,
            Some(Forecast::Confined(rules)) => self.forecast = Some(*rules),
        }
        let spare = self.spare.take().filter(|_| launch.version == VERSION && descriptors.len() == 3);
        let employed = spare.and_then(|spare| spare.employ(&launch, &descriptors).ok());
        // Too few came when this process has no descriptor left for them; without the socket nobody can be told, and
        // the host reads the closing of the other copies as such.
        let Ok([socket, folder, pending]) = <[OwnedFd; 3]>::try_from(descriptors) else { return };
        let socket = UnixStream::from(socket);
        if launch.version != VERSION {
            refuse(&socket, Refused::Version { warden: VERSION.into() });
            return;
        }
        let since = Instant::now();
        let overdue = since + Duration::from_millis(launch.overdue_ms);
        let forked = employed.map_or_else(|| process::fork(&self.proof), |pid| Ok(Forked::Parent(pid)));
        match forked {
            Ok(Forked::Parent(pid)) => self.keepers.push(Keeper {
                pid,
                socket: socket.into(),
                folder,
                pending: pending.into(),
                sync: launch.sync,
                since,
                overdue,
                stops: 0,
                finishing: false,
            }),
            Ok(Forked::Child) => self.become_keeper(socket, folder, pending.into(), launch.sync),
            Err(error) => {
                let errno = error.raw_os_error().unwrap_or(0);
                refuse(&socket, Refused::Resources { doing: "forking a keeper".into(), errno });
            }
        }
    }

    /// In the child: keeps the descriptors of this command alone, serves it, and ends.
    fn become_keeper(&mut self, socket: UnixStream, folder: OwnedFd, pending: File, sync: bool) -> ! {
        self.forget_others();
        let delegation = self.delegation.take();
        let kept = [socket.as_raw_fd(), folder.as_raw_fd(), pending.as_raw_fd()];
        let defaults = self.defaults;
        end_with(&settle_in(&kept, delegation.as_ref()).map(|child_signals| {
            let ahead = None;
            keeper::serve(Post { socket, folder, pending, sync, child_signals, delegation, defaults, ahead });
        }))
    }

    /// Forks a keeper for a command that is still to come. Without one the next launch forks its own, which costs less
    /// where many run at once and nobody is idle meanwhile.
    fn fork_ahead(&mut self) {
        if self.host.is_none() || self.keepers.len() > SPARE_BESIDE {
            return;
        }
        self.spare_until = Instant::now() + SPARE_KEPT;
        if self.spare.is_some() {
            return;
        }
        let Ok((own, theirs)) = socket::pair() else { return };
        match process::fork(&self.proof) {
            Ok(Forked::Parent(pid)) => self.spare = Some(Spare::new(pid, own)),
            Ok(Forked::Child) => self.become_spare(theirs),
            Err(_) => {}
        }
    }

    /// In the child: waits for a command and serves it; ends with the warden if none comes.
    fn become_spare(&mut self, warden: UnixStream) -> ! {
        self.forget_others();
        let delegation = self.delegation.take();
        let defaults = self.defaults;
        let forecast = self.forecast.take();
        end_with(&settle_in(&[warden.as_raw_fd()], delegation.as_ref()).and_then(|child_signals| {
            spare::rehearse()?;
            // What can't be made now is made, or refused by name, when it is needed.
            let is_wanted = || ready([Some(warden.as_fd())].into_iter(), Instant::now()) == [true];
            let ahead = forecast.and_then(|rules| Ahead::make(rules, is_wanted).ok()?);
            let Some((launch, descriptors)) = spare::wait(&warden)? else { return Ok(()) };
            drop(warden);
            let three = <[OwnedFd; 3]>::try_from(descriptors);
            let [socket, folder, pending] =
                three.map_err(|_| std::io::Error::other("too few descriptors"))?;
            let (socket, pending, sync) = (socket.into(), pending.into(), launch.sync);
            keeper::serve(Post { socket, folder, pending, sync, child_signals, delegation, defaults, ahead });
            Ok(())
        }))
    }

    /// In a child: what the warden knows of other keepers is no use here, and takes memory. Their descriptors are closed by
    /// number.
    fn forget_others(&mut self) {
        std::mem::take(&mut self.keepers).into_iter().for_each(std::mem::forget);
    }

    fn take_child_events(&mut self) {
        while let Ok(Some(event)) = process::next_child_event() {
            match event {
                ChildEvent::Stopped(pid) => self.keeper_stopped(pid),
                ChildEvent::Ended(pid) => {
                    // The next command is likely to come, and what there was to do for this one is done. Before the
                    // reaping: who finds this process without children finds it at rest.
                    if self.keepers.iter().any(|keeper| keeper.pid == pid) {
                        self.fork_ahead();
                    }
                    let Ok(ending) = process::reap(pid) else { return };
                    self.lost.hurry();
                    if self.spare.as_ref().is_some_and(|spare| spare.pid == pid) {
                        self.spare = None;
                        continue;
                    }
                    let Some(at) = self.keepers.iter().position(|keeper| keeper.pid == pid) else { continue };
                    let keeper = self.keepers.swap_remove(at);
                    if ending != Ending::Exited(0) {
                        self.lost.add(keeper);
                    }
                }
            }
        }
    }

    /// A stopped keeper can't keep time, and one without a command can't leave: none is left stopped.
    fn keeper_stopped(&mut self, pid: Pid) {
        let stops = match self.keepers.iter_mut().find(|keeper| keeper.pid == pid) {
            Some(keeper) => {
                keeper.stops += 1;
                keeper.stops
            }
            // One that was forked ahead, or that is let go.
            None => 0,
        };
        let signal = if stops > MOST_STOPS { SignalNumber::KILL } else { SignalNumber::CONT };
        let _ = process::signal_child(pid, signal);
    }

    /// Ends keepers that should be gone: they hang, or are frozen from outside.
    fn hurry_overdue(&mut self, now: Instant) {
        for keeper in self.keepers.iter_mut().filter(|keeper| keeper.overdue <= now) {
            let _ = process::signal_child(keeper.pid, SignalNumber::KILL);
            keeper.overdue = now + Duration::from_secs(1);
        }
    }

    /// Whoever is a child and no keeper has lost its keeper.
    fn end_lost(&mut self) {
        let spare = self.spare.iter().map(|spare| spare.pid);
        let keepers: HashSet<Pid> = self.keepers.iter().map(|keeper| keeper.pid).chain(spare).collect();
        let Some((lost, unkillable)) = self.lost.round(&self.tree, &keepers) else { return };
        for keeper in lost {
            if unkillable.is_empty() && !keeper.finishing && layout::owes_removal(&keeper.folder) {
                self.finish(keeper);
            } else {
                lost::record(keeper, unkillable.clone(), self.delegation.as_ref());
            }
        }
    }

    /// Forks a process that finishes for a lost keeper, and is watched over as it was.
    fn finish(&mut self, keeper: Keeper) {
        match process::fork(&self.proof) {
            Ok(Forked::Parent(pid)) => {
                let most = limits::TMP_SWEEP_MS + limits::TMP_SWEEP_AFTERWARDS_MS + limits::KEEPER_OVERDUE_MS;
                let overdue = Instant::now() + Duration::from_millis(most);
                self.keepers.push(Keeper { pid, overdue, stops: 0, finishing: true, ..keeper });
            }
            Ok(Forked::Child) => {
                let kept = [keeper.socket.as_raw_fd(), keeper.folder.as_raw_fd(), keeper.pending.as_raw_fd()];
                let delegation = self.delegation.as_ref();
                end_with(&settle_in(&kept, delegation).map(|_| lost::finish(keeper, delegation)))
            }
            Err(_) => lost::record(keeper, Vec::new(), self.delegation.as_ref()),
        }
    }
}

/// In a child that has just been forked: closes all of the warden's but `kept`, and is a keeper from then on.
fn settle_in(kept: &[RawFd], delegation: Option<&Delegation>) -> std::io::Result<SignalFd> {
    let delegated = delegation.iter().flat_map(|delegation| delegation.raw_fds());
    file::close_all_but([0, 1, 2].into_iter().chain(kept.iter().copied()).chain(delegated).collect())?;
    nix::sys::prctl::set_child_subreaper(true)?;
    child_signals()
}

/// Ends this process. Nothing of the warden's is dropped on the way out: its descriptors are closed already, by number.
fn end_with(served: &std::io::Result<()>) -> ! {
    std::process::exit(i32::from(served.is_err()))
}

fn refuse(socket: &UnixStream, refused: Refused) {
    if let Ok(bytes) = encode(&Report::Refused(refused)) {
        tell(socket, &bytes);
    }
}
