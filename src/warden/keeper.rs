//! One keeper: it starts one program, keeps its time and its output, ends its tree, writes the record and leaves.
//!
//! It promises that when it reports "settled" nothing of the tree lives but what it names, and that the record is
//! written. It doesn't promise to survive `kill -9`: then the warden does both.

use std::collections::HashSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signalfd::SignalFd;

use super::capture::{Capture, Trouble};
use super::confine::Ahead;
use super::containment::{Delegation, Leaf};
use super::launch::{self, Launched};
use super::lifecycle::{Action, Lifecycle, Timings};
use super::notes::{LimitHit, Notes};
use super::peers::{Heard, Peers};
use super::protocol::{Limits, Order, Report, Specification};
use super::settle::{Ended, outcome};
use super::tree::Tree;
use super::warden::ProgramDefaults;
use crate::confinement::Rules;
use crate::limits;
use crate::os::clock::epoch_ms;
use crate::os::memory;
use crate::os::process::{self, Ending, Pid};
use crate::os::signal::SignalNumber;
use crate::vault::layout;
use crate::vault::record::{Cause, MainExit, Unkillable};

/// What the warden hands to a keeper: nothing of the host's but the command's own socket.
#[derive(Debug)]
pub struct Post {
    /// To the host.
    pub socket: UnixStream,
    /// The task's folder in the vault.
    pub folder: OwnedFd,
    /// The reserved record, whose lock says "live".
    pub pending: std::fs::File,
    /// fsync what is written.
    pub sync: bool,
    /// SIGCHLD as a descriptor, the signal being blocked.
    pub child_signals: SignalFd,
    /// Where cgroup leaves are made.
    pub delegation: Option<Delegation>,
    /// What the program gets back that the warden changed for itself.
    pub defaults: ProgramDefaults,
    /// The confinement, as far as it was made before there was a command.
    pub ahead: Option<Ahead>,
}

/// Serves one command from its specification to its record. Afterwards the process ends.
pub fn serve(post: Post) {
    let Some((launched, post)) = launch::launch(post) else { return };
    Keeper::new(launched, post).run();
}

/// Rounds of killing, spaced: at once when something was reaped, else 1 ms doubling to 50.
struct Rounds {
    next: Instant,
    pause: Duration,
}

impl Rounds {
    const FIRST: Duration = Duration::from_millis(1);
    const LAST: Duration = Duration::from_millis(50);

    fn begin(now: Instant) -> Self {
        Self { next: now, pause: Self::FIRST }
    }

    fn hurry(&mut self, now: Instant) {
        *self = Self::begin(now);
    }

    fn done(&mut self, now: Instant) {
        self.next = now + self.pause;
        self.pause = (self.pause * 2).min(Self::LAST);
    }
}

struct Keeper {
    peers: Peers,
    /// When other hosts are let in; `None` once they are.
    listen_at: Option<Instant>,
    folder: OwnedFd,
    pending: std::fs::File,
    sync: bool,
    child_signals: SignalFd,
    leaf: Option<Leaf>,
    limits: Limits,
    confinement: Option<Rules>,
    kill_grace: Duration,
    budget_ms: u64,
    main: Pid,
    /// Of the main process, as last looked at where that is limited.
    counted_cpu: Option<Duration>,
    started: Instant,
    life: Lifecycle,
    capture: Capture,
    tree: Tree,
    rounds: Option<Rounds>,
    main_exit: Option<MainExit>,
    strays: Vec<Pid>,
    stray_names: Vec<String>,
    notes: Notes,
    main_told: bool,
}

/// No branch of the tree is left out.
const NOBODY: fn() -> HashSet<Pid> = HashSet::new;

impl Keeper {
    fn new(launched: Launched, post: Post) -> Self {
        let Launched { specification, main, started, capture, leaf, peers, changed } = launched;
        let Specification { timeout_ms, kill_grace_ms, stray_grace_ms, limits, confinement, .. } =
            specification;
        let timings = Timings {
            budget: Duration::from_millis(timeout_ms),
            kill_grace: Duration::from_millis(kill_grace_ms),
            stray_grace: Duration::from_millis(stray_grace_ms),
        };
        let listen_at = Some(started + Duration::from_millis(limits::KEEPER_LISTENS_AFTER_MS));
        Self {
            peers,
            listen_at,
            folder: post.folder,
            pending: post.pending,
            sync: post.sync,
            child_signals: post.child_signals,
            leaf,
            limits,
            confinement,
            kill_grace: timings.kill_grace,
            budget_ms: timeout_ms,
            main,
            started,
            life: Lifecycle::new(timings, started),
            capture,
            tree: Tree::of_self(),
            rounds: None,
            counted_cpu: None,
            main_exit: None,
            strays: Vec::new(),
            stray_names: Vec::new(),
            notes: Notes { changed, ..Notes::default() },
            main_told: false,
        }
    }

    fn run(mut self) {
        // The program runs: from here on a keeper only takes room, mostly with what it has from the warden.
        memory::trim();
        if self.notes.changed.is_some() {
            self.end(Cause::Kill, SignalNumber::KILL);
        }
        let unkillable = loop {
            self.wait();
            if self.reap() {
                break Vec::new();
            }
            self.tell_main_exit();
            let action = self.life.due(Instant::now());
            if action == Action::GiveUp {
                break self.tree.unkillable(&NOBODY());
            }
            self.act(action);
            self.kill_round();
        };
        self.settle(unkillable);
    }

    /// Waits for the next thing to happen and takes in what came through descriptors.
    fn wait(&mut self) {
        let round = self.rounds.as_ref().map(|rounds| rounds.next);
        let until =
            [round, self.listen_at].into_iter().flatten().fold(self.life.next_deadline(), Instant::min);
        let ready = ready(
            [Some(self.child_signals.as_fd()), self.capture.pipe(0), self.capture.pipe(1)]
                .into_iter()
                .chain(self.peers.descriptors()),
            until,
        );
        let [child, stdout, stderr, host, knock, others @ ..] = &ready[..] else { return };
        if *child {
            while let Ok(Some(_)) = self.child_signals.read_signal() {}
        }
        for (index, ready) in [stdout, stderr].into_iter().enumerate() {
            if *ready && let Some(trouble) = self.capture.pump(index) {
                self.trouble(trouble);
            }
        }
        if !self.capture.is_open() {
            self.life.pipes_closed(Instant::now());
        }
        if *host {
            match self.peers.hear_host() {
                Heard::Orders(orders) => self.obey(orders),
                Heard::Gone => self.end(Cause::HostGone, SignalNumber::TERM),
            }
        }
        if others.contains(&true) {
            let orders = self.peers.hear_others();
            self.obey(orders);
        }
        if *knock {
            self.peers.accept();
        }
        if self.listen_at.is_some_and(|at| at <= Instant::now()) {
            self.listen_at = None;
            self.peers.listen(self.folder.as_fd());
        }
    }

    fn obey(&mut self, orders: Vec<Order>) {
        for Order::End { signal, cause } in orders {
            if let Some(signal) = SignalNumber::from_raw(signal) {
                self.end(cause, signal);
            }
        }
    }

    fn trouble(&mut self, trouble: Trouble) {
        let cause = trouble.cause;
        self.notes.trouble.get_or_insert(trouble);
        self.end(cause, SignalNumber::TERM);
    }

    fn end(&mut self, cause: Cause, signal: SignalNumber) {
        self.note_strays();
        let action = self.life.end(cause, signal, Instant::now());
        self.act(action);
    }

    /// Reaps all that has ended; true when no descendant is left.
    fn reap(&mut self) -> bool {
        loop {
            if self.limits.cpu_seconds.is_some() && self.main_exit.is_none() {
                self.counted_cpu = process::counted_cpu(self.main);
            }
            match process::reap_any() {
                Ok(Some((pid, ending))) => {
                    if let Some(rounds) = &mut self.rounds {
                        rounds.hurry(Instant::now());
                    }
                    if pid == self.main {
                        // All that it wrote is in the pipes by now: a cap that it went over came before its exit.
                        if let (_, Some(trouble)) = self.capture.drain() {
                            self.trouble(trouble);
                        }
                        self.main_ended(ending);
                    }
                }
                Ok(None) => return false,
                Err(_) => return true, // ECHILD, the only error that waitpid(-1) has here
            }
        }
    }

    fn main_ended(&mut self, ending: Ending) {
        let (exit_code, signal) = match ending {
            Ending::Exited(code) => (Some(code), None),
            Ending::Signaled(signal) => (None, Some(signal)),
        };
        let out_of_memory = || self.leaf.as_ref().is_some_and(Leaf::had_oom_kill);
        self.notes.limit = signal
            .and_then(|signal| LimitHit::shown_by(signal, &self.limits, out_of_memory, self.counted_cpu));
        let cause = match (signal, self.notes.limit) {
            (None, _) => Cause::Exit,
            (Some(_), Some(_)) => Cause::Limit,
            (Some(_), None) => Cause::Signal,
        };
        self.main_exit = Some(MainExit { exit_code, signal: signal.map(SignalNumber::name), at: epoch_ms() });
        self.life.main_ended(cause, self.capture.is_open(), Instant::now());
    }

    /// Tells the host once that the program itself is done while others of its tree live on.
    fn tell_main_exit(&mut self) {
        if let (Some(exit), false, true) = (&self.main_exit, self.main_told, self.life.is_straying()) {
            self.peers.tell_host(&Report::MainEnded(exit.clone()));
            self.main_told = true;
        }
    }

    fn act(&mut self, action: Action) {
        match action {
            Action::Wait | Action::GiveUp => {}
            Action::Signal(signal) => {
                self.note_strays();
                self.notes.signal.get_or_insert(signal);
                self.tree.signal_and_wake(signal, &NOBODY());
            }
            Action::Kill => {
                self.note_strays();
                self.notes.escalated = self.notes.signal.is_some();
                self.notes.signal.get_or_insert(SignalNumber::KILL);
                self.rounds = Some(Rounds::begin(Instant::now()));
            }
        }
    }

    /// Those who outlived a main process that ended by itself, counted before they are ended.
    fn note_strays(&mut self) {
        let ended_by_itself = matches!(self.life.cause(), Some(Cause::Exit | Cause::Signal | Cause::Limit));
        if !ended_by_itself || !self.strays.is_empty() {
            return;
        }
        // The last to hold the output closes it on its way out: it is no stray.
        self.strays = self.tree.going_on(&NOBODY());
        self.stray_names =
            self.strays.iter().take(limits::MAX_STRAY_NAMES).filter_map(|&pid| process::name(pid)).collect();
    }

    fn kill_round(&mut self) {
        let Some(rounds) = &mut self.rounds else { return };
        let now = Instant::now();
        if now < rounds.next {
            return;
        }
        if let Some(leaf) = &self.leaf {
            leaf.kill();
        }
        self.tree.signal(SignalNumber::KILL, &NOBODY());
        rounds.done(now);
    }

    fn settle(mut self, unkillable: Vec<Unkillable>) {
        let (held_outside, trouble) = self.capture.drain();
        if let Some(trouble) = trouble {
            // The tree is empty, so there is nothing left to end; it stays a fact of the outcome.
            self.life.end(trouble.cause, SignalNumber::TERM, Instant::now());
            self.notes.trouble.get_or_insert(trouble);
        }
        if self.sync {
            let _ = self.capture.sync();
        }
        let has_tmp = self.confinement.as_ref().is_some_and(|rules| rules.remove_tmp);
        let swept =
            !has_tmp || !unkillable.is_empty() || layout::remove_tmp(&self.folder, limits::TMP_SWEEP_MS);
        let kept = [self.capture.kept(0), self.capture.kept(1)];
        // Closed before anybody is told: who still holds a pipe learns that nobody reads it, and nothing vanishes in it.
        drop(self.capture);
        let outcome = outcome(Ended {
            cause: self.life.cause().unwrap_or(Cause::Exit),
            main_exit: self.main_exit,
            duration: self.started.elapsed(),
            budget_ms: self.budget_ms,
            kill_grace: self.kill_grace,
            kept,
            notes: self.notes,
            limits: self.limits,
            strays: self.strays.len() as u64,
            stray_names: self.stray_names,
            held_outside: held_outside && unkillable.is_empty(),
            unkillable,
            in_cgroup: self.leaf.is_some(),
            confinement: self.confinement.as_ref().map(|rules| rules.confined.summary()),
        });
        self.peers.close_listener(&self.folder);
        let stored = layout::store_outcome(&self.folder, &self.pending, &outcome, self.sync).is_ok();
        self.peers.tell_all(&Report::Settled { outcome: Box::new(outcome), stored });
        if let Some(leaf) = &self.leaf {
            leaf.remove();
        }
        if !swept {
            // Nobody waits any more; what is left even then goes with the vault's own clean-up.
            layout::remove_tmp(&self.folder, limits::TMP_SWEEP_AFTERWARDS_MS);
        }
    }
}

/// Waits until one of the descriptors has something, or `until`. Says for each whether it has: input, an end or an
/// error.
pub fn ready<'fd>(descriptors: impl Iterator<Item = Option<BorrowedFd<'fd>>>, until: Instant) -> Vec<bool> {
    let descriptors: Vec<_> = descriptors.collect();
    let mut polled: Vec<_> =
        descriptors.iter().flatten().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)).collect();
    // Rounded up, so that a wake-up is never before the deadline; bounded, because poll counts in an int.
    let wait = until.saturating_duration_since(Instant::now()) + Duration::from_micros(999);
    let wait = u32::try_from(wait.as_millis()).unwrap_or(u32::MAX).min(60_000);
    let timeout = PollTimeout::try_from(wait).unwrap_or(PollTimeout::MAX);
    if poll(&mut polled, timeout).is_err() {
        return vec![false; descriptors.len()]; // interrupted: as if nothing had happened
    }
    let mut answers = polled.iter().map(|fd| fd.any().unwrap_or(false));
    descriptors.iter().map(|fd| fd.is_some() && answers.next().unwrap_or(false)).collect()
}
