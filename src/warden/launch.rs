//! From a specification to a running program, or to the record of why there is none.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::time::Instant;

use nix::fcntl::{FcntlArg, OFlag, fcntl};

use super::capture::Capture;
use super::confine;
use super::containment::Leaf;
use super::keeper::Post;
use super::peers::{Peers, tell};
use super::protocol::{ExecBy, Inbox, Limits, Refused, Report, Specification, encode};
use super::settle::{Ended, outcome};
use super::warden::ProgramDefaults;
use crate::confinement::Rules;
use crate::os::process::Pid;
use crate::os::socket;
use crate::os::spawn::{Executable, Program, ResourceLimit, SpawnFailure, Stage, spawn};
use crate::program::{ProgramFacts, ProgramKind, ResolvedProgram};
use crate::vault::layout;
use crate::vault::record::{Cause, Outcome};

/// A program that runs.
pub struct Launched {
    /// What was asked.
    pub specification: Specification,
    /// The main process.
    pub main: Pid,
    /// When it was started.
    pub started: Instant,
    /// Its output on the way to the vault.
    pub capture: Capture,
    /// Its cgroup.
    pub leaf: Option<Leaf>,
    /// Who is told.
    pub peers: Peers,
    /// The pinned file was no longer itself right after the exec: what runs may be something else.
    pub changed: Option<String>,
}

/// A pinned script, looked at again on this side.
struct Pinned(ResolvedProgram);

impl Pinned {
    fn of(specification: &Specification, descriptor: Option<&OwnedFd>) -> Result<Option<Self>, String> {
        let (ExecBy::Checked { path, identity, sha256 }, Some(descriptor)) =
            (&specification.exec, descriptor)
        else {
            return Ok(None);
        };
        let path = PathBuf::from(path);
        let interpreter = PathBuf::new();
        let facts = ProgramFacts {
            real: path.clone(),
            path,
            identity: *identity,
            kind: ProgramKind::Script { interpreter },
            pin: Some(*sha256),
        };
        let descriptor = descriptor.try_clone().map_err(|error| error.to_string())?;
        Ok(Some(Self(ResolvedProgram::from_parts(facts, descriptor))))
    }

    fn check(&self) -> Result<(), String> {
        self.0.verify().map_err(|error| error.to_string())
    }
}

/// The descriptors of a specification, by their meaning.
struct Handed {
    input: Option<OwnedFd>,
    outputs: [File; 2],
    cwd: OwnedFd,
    program: Option<OwnedFd>,
}

/// Starts the program. `None` when there is nothing to keep: the host has been told, or is gone.
pub fn launch(mut post: Post) -> Option<(Launched, Post)> {
    let mut inbox = Inbox::default();
    let (specification, handed) = match receive(&post, &mut inbox) {
        Ok(Some(received)) => received,
        Ok(None) => {
            let reason = "the process that started it ended before it had said what to run; nothing ran";
            let outcome = Outcome::bare(Cause::HostGone, reason);
            let _ = layout::store_outcome(&post.folder, &post.pending, &outcome, post.sync);
            return None;
        }
        Err(error) => {
            refuse(&post, Refused::Fault(format!("the specification was not understood: {error}")));
            return None;
        }
    };
    let ahead = post.ahead.take();
    let Post { delegation, socket, .. } = &post;
    let pinned = match Pinned::of(&specification, handed.program.as_ref()).and_then(|pinned| match &pinned {
        Some(program) => program.check().map(|()| pinned),
        None => Ok(pinned),
    }) {
        Ok(pinned) => pinned,
        Err(changed) => {
            refuse(&post, Refused::Changed(changed));
            return None;
        }
    };
    let mut leaf = delegation.as_ref().and_then(|delegation| delegation.leaf(&specification.task_id).ok());
    let start = |leaf: Option<&Leaf>, ahead: Option<confine::Ahead>| {
        start(&specification, &handed, leaf, &post.defaults, &post.pending, ahead)
    };
    let mut done = start(leaf.as_ref(), ahead);
    if let (Err(Failure::CgroupClosed(_)), Some(closed)) = (&done, &leaf) {
        // Made, but nobody can be moved into it: that asks for more than the directory (`cgroups(7)`, delegation).
        closed.remove();
        leaf = None;
        done = start(None, None);
    }
    match done {
        Ok((main, pipes)) => {
            let started = Instant::now();
            // First of all: the host goes on while the rest is done here.
            report(&post, &Report::Started);
            let Specification { max_output_bytes, max_total_output_bytes, .. } = specification;
            let capture =
                Capture::new(pipes, handed.outputs, &post.folder, max_output_bytes, max_total_output_bytes);
            let peers = match socket.try_clone() {
                Ok(socket) => Peers::new(socket, inbox),
                // Without a descriptor for the host the command can't be kept; parent-death kills the program.
                Err(_) => return None,
            };
            let changed = pinned.and_then(|pinned| pinned.check().err());
            Some((Launched { specification, main, started, capture, leaf, peers, changed }, post))
        }
        Err(failure) => {
            if let Some(leaf) = &leaf {
                leaf.remove();
            }
            report_failure(&post, &specification, failure);
            None
        }
    }
}

fn receive(post: &Post, inbox: &mut Inbox) -> io::Result<Option<(Specification, Handed)>> {
    let mut buffer = vec![0; 32 * 1024];
    let mut descriptors: Vec<OwnedFd> = Vec::new();
    let specification: Specification = loop {
        let received = socket::receive(&post.socket, &mut buffer, true)?;
        if received.bytes == 0 {
            return Ok(None);
        }
        if received.descriptors_lost {
            return Err(io::Error::other("descriptors were lost on the way"));
        }
        descriptors.extend(received.descriptors);
        inbox.push(&buffer[..received.bytes]);
        if let Some(specification) = inbox.take()? {
            break specification;
        }
    };
    let mut given = descriptors.into_iter();
    let mut next = || given.next().ok_or_else(|| io::Error::other("a descriptor is missing"));
    let input = if specification.has_input { Some(next()?) } else { None };
    let outputs = [next()?.into(), next()?.into()];
    let cwd = next()?;
    let program = if specification.exec.has_descriptor() { Some(next()?) } else { None };
    Ok(Some((specification, Handed { input, outputs, cwd, program })))
}

/// Why there is no program.
enum Failure {
    /// Something that every start needs could not be had: nothing was recorded, the start is refused.
    Refused(Refused),
    /// The program itself: a settled command.
    Unstartable(String),
    /// The command's leaf can't be entered; without it there may be a program.
    CgroupClosed(io::Error),
}

/// Starts the program, and gives the read ends of its output.
fn start(
    specification: &Specification,
    handed: &Handed,
    leaf: Option<&Leaf>,
    defaults: &ProgramDefaults,
    pending: &File,
    ahead: Option<confine::Ahead>,
) -> Result<(Pid, [OwnedFd; 2]), Failure> {
    let argv = strings(&specification.argv)?;
    let env = strings(&specification.env)?;
    let path = c_string(specification.exec.path())?;
    let null = match &handed.input {
        Some(_) => None,
        None => Some(OwnedFd::from(
            File::open("/dev/null").map_err(|error| resources("opening /dev/null", &error))?,
        )),
    };
    let Some(input) = handed.input.as_ref().or(null.as_ref()) else {
        return Err(Failure::Refused(Refused::Fault("no standard input".into())));
    };
    let (stdout_read, stdout_write) = output_pipe()?;
    let (stderr_read, stderr_write) = output_pipe()?;
    let procs = leaf.map(Leaf::procs).transpose().map_err(Failure::CgroupClosed)?;
    let limits = resource_limits(specification.limits, leaf, defaults)?;
    let confinement = confined(specification.confinement.as_ref(), ahead)
        .map_err(|error| Failure::Refused(Refused::Unconfined(error.to_string())))?;
    layout::mark_started(pending).map_err(|error| resources("marking the start", &error))?;
    let program = Program {
        executable: match (&specification.exec, &handed.program) {
            (ExecBy::Descriptor(_), Some(descriptor)) => Executable::Descriptor(descriptor.as_fd()),
            _ => Executable::Path(&path),
        },
        argv: &argv,
        env: &env,
        cwd: handed.cwd.as_fd(),
        stdio: [input.as_fd(), stdout_write.as_fd(), stderr_write.as_fd()],
        limits: &limits,
        umask: defaults.umask,
        cgroup: procs.as_ref().map(|procs| procs.as_fd()),
        confinement: None,
    };
    let spawned = match confinement {
        Some(prepared) => prepared.start(&program),
        None => spawn(&program),
    };
    match spawned {
        Ok(pid) => Ok((pid, [stdout_read, stderr_read])),
        Err(SpawnFailure { stage: Stage::Cgroup, error }) => Err(Failure::CgroupClosed(error)),
        Err(failure) => Err(explain(&failure, specification)),
    }
}

/// What the program is confined by, if it is. What was made ahead and isn't used is gone before the program starts.
fn confined(rules: Option<&Rules>, ahead: Option<confine::Ahead>) -> io::Result<Option<confine::Prepared>> {
    match (rules, ahead) {
        (None, _) => Ok(None),
        (Some(rules), None) => confine::prepare(rules).map(Some),
        (Some(rules), Some(ahead)) => ahead.prepare(rules).map(Some),
    }
}

fn c_string(text: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| Failure::Refused(Refused::Fault("a string holds NUL".into())))
}

fn strings(texts: &[String]) -> Result<Vec<CString>, Failure> {
    texts.iter().map(|text| c_string(text)).collect()
}

fn resources(doing: &str, error: &io::Error) -> Failure {
    let errno = error.raw_os_error().unwrap_or(0);
    Failure::Refused(Refused::Resources { doing: doing.into(), errno })
}

/// A pipe whose read end doesn't block. The write end does, as programs expect.
fn output_pipe() -> Result<(OwnedFd, OwnedFd), Failure> {
    let make = || -> nix::Result<_> {
        let (read, write) = nix::unistd::pipe2(OFlag::O_CLOEXEC)?;
        fcntl(&read, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
        Ok((read, write))
    };
    make().map_err(|errno| resources("making a pipe", &errno.into()))
}

/// The program's limits as `setrlimit` takes them, and those of the tree set on its leaf.
fn resource_limits(
    limits: Limits,
    leaf: Option<&Leaf>,
    defaults: &ProgramDefaults,
) -> Result<Vec<ResourceLimit>, Failure> {
    let both = |resource, value: u64| ResourceLimit { resource, soft: value, hard: value };
    let mut set = vec![both(libc::RLIMIT_CORE, 0), defaults.open_files];
    if let Some(seconds) = limits.cpu_seconds {
        let hard = cpu_seconds_until_kill(seconds);
        set.push(ResourceLimit { resource: libc::RLIMIT_CPU, soft: seconds, hard });
    }
    set.extend(limits.address_space_bytes.map(|bytes| both(libc::RLIMIT_AS, bytes)));
    set.extend(limits.open_files.map(|count| both(libc::RLIMIT_NOFILE, count)));
    set.extend(limits.file_size_bytes.map(|bytes| both(libc::RLIMIT_FSIZE, bytes)));
    if let Some(count) = limits.processes
        && leaf.is_none_or(|leaf| leaf.set("pids.max", count).is_err())
    {
        if is_held_to_no_number_of_processes() {
            return Err(Failure::Unstartable(
                "limits.processes needs a delegated cgroup v2 with the pids controller when it is root that runs the \
                 command: the kernel holds root to no number of processes"
                    .into(),
            ));
        }
        set.push(both(libc::RLIMIT_NPROC, count));
    }
    if let Some(bytes) = limits.memory_bytes
        && leaf.is_none_or(|leaf| leaf.bound_memory(bytes).is_err())
    {
        return Err(Failure::Unstartable(
            "limits.memoryBytes needs a delegated cgroup v2 with the memory controller; limits.addressSpaceBytes works \
             without"
                .into(),
        ));
    }
    Ok(set)
}

/// The hard limit that goes with a soft one of processor time. One second between: at the hard limit the kernel sends
/// SIGKILL, which doesn't say why (`getrlimit(2)`).
pub fn cpu_seconds_until_kill(seconds: u64) -> u64 {
    seconds.saturating_add(1)
}

/// The machine's own root, as opposed to that of a user namespace, is not held to `RLIMIT_NPROC` (`getrlimit(2)`).
fn is_held_to_no_number_of_processes() -> bool {
    let map = std::fs::read_to_string("/proc/self/uid_map").unwrap_or_default();
    nix::unistd::getuid().is_root() && map.split_ascii_whitespace().nth(1) == Some("0")
}

/// What the kernel's refusal means for the one who asked. Shortages refuse the start; the rest is the program's.
fn explain(failure: &SpawnFailure, specification: &Specification) -> Failure {
    let SpawnFailure { stage, error } = failure;
    let path = specification.exec.path();
    let shortage =
        matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOMEM | libc::EMFILE | libc::ENFILE));
    match stage {
        Stage::Clone => resources("starting a process", error),
        _ if shortage => resources("starting the program", error),
        Stage::Limit => Failure::Unstartable(format!("a limit can't be set: {error}")),
        Stage::Cwd => Failure::Unstartable(format!("its working directory can't be entered: {error}")),
        Stage::Session | Stage::Cgroup | Stage::Stdio => {
            Failure::Refused(Refused::Fault(format!("the child's set-up failed at {stage:?}: {error}")))
        }
        Stage::Confine => {
            Failure::Refused(Refused::Unconfined(format!("the child could not confine itself: {error}")))
        }
        Stage::Exec => Failure::Unstartable(match error.raw_os_error() {
            Some(libc::ENOENT) => format!("{path} does not exist, or the interpreter that it names doesn't"),
            Some(libc::EACCES) if specification.confinement.is_some() => {
                format!("{path} may not be executed by this user, or confinement.execute doesn't list it")
            }
            Some(libc::EACCES) => format!("{path} may not be executed by this user, or is no file"),
            Some(libc::ENOEXEC) => {
                format!("{path} is neither a binary for this system nor a script that begins with #!")
            }
            Some(libc::E2BIG) => "argv and environment are larger than the kernel takes".into(),
            Some(libc::ETXTBSY) => format!("{path} is being written"),
            _ => format!("{path}: {error}"),
        }),
    }
}

fn report_failure(post: &Post, specification: &Specification, failure: Failure) {
    let reason = match failure {
        Failure::Refused(refused) => return refuse(post, refused),
        Failure::CgroupClosed(error) => {
            return refuse(post, Refused::Fault(format!("the command's cgroup can't be entered: {error}")));
        }
        Failure::Unstartable(reason) => reason,
    };
    let mut outcome = outcome(Ended::nothing_ran(Cause::StartFailed, specification.limits));
    outcome.error = Some(format!("could not be started: {reason}"));
    let stored = layout::store_outcome(&post.folder, &post.pending, &outcome, post.sync).is_ok();
    report(post, &Report::Settled { outcome: Box::new(outcome), stored });
}

fn refuse(post: &Post, refused: Refused) {
    report(post, &Report::Refused(refused));
}

fn report(post: &Post, report: &Report) {
    if let Ok(bytes) = encode(report) {
        tell(&post.socket, &bytes);
    }
}
