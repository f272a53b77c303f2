//! A second process exchanges directories and outward links while directories are opened.
//! `ARGVAULT_RACE_SECONDS` says for how long.

use std::collections::HashSet;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use argvault::sandbox::ConfinedDir;
use nix::fcntl::{AT_FDCWD, RenameFlags, renameat2};
use nix::sys::stat::fstat;

use crate::tree::Tree;

const SWAP_IN: &str = "ARGVAULT_SWAP_IN";

/// The second process of the race: nothing but exchanging names, until its standard input ends.
#[test]
fn the_swapper_of_the_race() {
    let Some(base) = std::env::var_os(SWAP_IN).map(PathBuf::from) else { return };
    let ended = std::thread::spawn(|| std::io::copy(&mut std::io::stdin(), &mut std::io::sink()));
    let pairs = [("root/spot", "away/spot"), ("root/link", "away/link"), ("root/up/mid", "outside/mid")]
        .map(|(a, b)| (base.join(a), base.join(b)));
    let mut swaps = 0_u64;
    while !ended.is_finished() {
        for (a, b) in &pairs {
            renameat2(AT_FDCWD, a, AT_FDCWD, b, RenameFlags::RENAME_EXCHANGE).unwrap();
            swaps += 1;
        }
    }
    std::fs::write(base.join("swaps"), swaps.to_string()).unwrap();
}

#[test]
fn no_directory_outside_is_opened_while_another_process_swaps_names() {
    let seconds = std::env::var("ARGVAULT_RACE_SECONDS").map_or(3, |text| text.parse().unwrap());
    let tree = Tree::new();
    for dir in ["root/spot/inner", "root/up/mid", "root/up/inner", "outside/inner", "outside/mid", "away"] {
        std::fs::create_dir_all(tree.path(dir)).unwrap();
    }
    symlink(tree.path("outside"), tree.path("away/spot")).unwrap();
    symlink(tree.path("root/up"), tree.path("root/link")).unwrap();
    symlink(tree.path("outside"), tree.path("away/link")).unwrap();
    let outside: HashSet<u64> =
        ["outside", "outside/inner"].map(|name| tree.path(name).metadata().unwrap().ino()).into();
    let mut swapper = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "race::the_swapper_of_the_race"])
        .env(SWAP_IN, &tree.base)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();

    // The twin: the same swapper beats a check by text, so it would beat a weaker one here too.
    let ceiling = Instant::now() + Duration::from_secs(60);
    let beaten = std::iter::repeat_with(|| {
        let path = tree.path("root/spot/inner");
        let checked = path.canonicalize().is_ok_and(|real| real.starts_with(tree.path("root")));
        checked && path.metadata().is_ok_and(|found| outside.contains(&found.ino()))
    })
    .take_while(|_| Instant::now() < ceiling)
    .any(|beaten| beaten);
    assert!(beaten, "the swapper never beat realpath: it proves nothing");

    let (mut opened, mut refused) = (0_u32, 0_u32);
    let end = Instant::now() + Duration::from_secs(seconds);
    while Instant::now() < end {
        let root = tree.root();
        for cwd in ["spot/inner", "link/inner", "up/mid/../inner", "link/mid/../inner", "spot"] {
            match ConfinedDir::open(&root, Some(cwd)) {
                Ok(dir) => {
                    opened += 1;
                    let ino = fstat(&dir).unwrap().st_ino;
                    assert!(!outside.contains(&ino), "{cwd} led outside: {:?}", dir.path());
                    assert!(dir.path().starts_with(tree.path("root")), "{:?}", dir.path());
                }
                Err(_) => refused += 1,
            }
        }
    }
    drop(swapper.stdin.take());
    assert!(swapper.wait().unwrap().success());
    let swaps: u64 = std::fs::read_to_string(tree.path("swaps")).unwrap().parse().unwrap();
    println!("{opened} opened, {refused} refused, {swaps} swaps in {seconds} s");
    assert!(opened >= 1000 && refused >= 1000 && swaps >= 1000, "{opened} {refused} {swaps}");
}
