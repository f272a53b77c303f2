//! What a command costs without JavaScript, beside `posix_spawn` and `wait` in the same process, in rounds that take
//! turns: `cargo bench --no-default-features --bench start`. Arguments: rounds, and how many one round starts at once.
//!
//! `ARGVAULT_BENCH_WARDEN` is the warden to measure (the one that is shipped is built by `npm run build`), else that of
//! this build, which is neither static nor optimized across crates. The vault goes to `TMPDIR`, and is removed.
#![expect(clippy::print_stdout, reason = "a benchmark's result is what it prints")]

use std::error::Error;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use argvault::host::{Cancel, CommandHost, Listener, Reply};
use argvault::input::Value;
use argvault::supervisor::launch::Supervisor;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PROGRAM: &str = "/bin/true";
const EACH: usize = 20;

struct Nobody;

impl Listener for Nobody {
    fn settled(&self, _: argvault::host::Ended) {}
}

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let rounds: usize = args.next().map_or(Ok(20), |text| text.parse())?;
    let many: usize = args.next().map_or(Ok(100), |text| text.parse())?;
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_io().enable_time().build()?;
    let vault = tempfile::tempdir()?;
    let host = host(vault.path())?;
    let run = |count: usize| runtime.block_on(at_once(&host, count));

    run(EACH)?;
    let (mut bare, mut own) = ([Vec::new(), Vec::new()], [Vec::new(), Vec::new()]);
    for _ in 0..rounds {
        for _ in 0..EACH {
            bare[0].push(spawned(1)?);
        }
        for _ in 0..EACH {
            own[0].push(run(1)?);
        }
        bare[1].push(spawned(many)?);
        own[1].push(run(many)?);
    }
    runtime.block_on(host.dispose());
    for (at, what) in ["one at a time".to_owned(), format!("{many} at once")].iter().enumerate() {
        let (bare, own) = (median(&mut bare[at]), median(&mut own[at]));
        let ratio = own.as_secs_f64() / bare.as_secs_f64();
        println!("{PROGRAM}, {what}: {own:.1?}, posix_spawn + wait {bare:.1?}: {ratio:.2} times");
    }
    Ok(())
}

fn host(vault: &std::path::Path) -> Result<Arc<CommandHost>> {
    let warden = std::env::var_os("ARGVAULT_BENCH_WARDEN")
        .map_or_else(|| PathBuf::from(env!("CARGO_BIN_EXE_argvault-warden")), PathBuf::from);
    let supervisor = Arc::new(Supervisor::new(warden));
    let record = |entries: &[(&str, Value)]| {
        Value::Record(entries.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect())
    };
    let text = |text: &str| Value::Text(text.to_owned());
    let vault = vault.to_str().ok_or("a temporary path that is not UTF-8")?;
    let host =
        CommandHost::new(&record(&[("vaultDir", text(vault))]), &record(&[]), supervisor, Box::new(Nobody))?;
    let allowed = Value::List(vec![text(PROGRAM)]);
    host.set_policy(&record(&[("allowedExecutables", allowed), ("cwdRoot", text("/"))]), &record(&[]))?;
    Ok(host)
}

async fn at_once(host: &Arc<CommandHost>, count: usize) -> Result<Duration> {
    let begun = Instant::now();
    let commands: Vec<_> = (0..count).map(|_| tokio::spawn(settled(Arc::clone(host)))).collect();
    for command in commands {
        command.await?.map_err(|error| error.to_string())?;
    }
    Ok(begun.elapsed())
}

async fn settled(host: Arc<CommandHost>) -> std::result::Result<(), argvault::error::Error> {
    let argv = Value::List(vec![Value::Text(PROGRAM.to_owned())]);
    let env = Value::Record(vec![]);
    let started = host.start(host.policy(), argv, Value::Absent, env, Cancel::never()).await?;
    if let Reply::Started(started) = started {
        host.wait(&started.task_id, None, Cancel::never()).await?;
    }
    Ok(())
}

fn spawned(count: usize) -> Result<Duration> {
    let begun = Instant::now();
    let children = std::iter::repeat_with(|| Command::new(PROGRAM).spawn()).take(count);
    for mut child in children.collect::<std::io::Result<Vec<_>>>()? {
        child.wait()?;
    }
    Ok(begun.elapsed())
}

fn median(took: &mut [Duration]) -> Duration {
    took.sort_unstable();
    took[took.len() / 2]
}
