//! Trees of shell scripts, each in a file of its own, that know how much they write.

use std::fmt::Write as _;

use crate::random::Random;
use crate::rig::Place;

/// A tree before it is started.
#[derive(Debug)]
pub struct Tree {
    pub argv: Vec<String>,
    /// The mark with the keeper's id, written by the root.
    pub keeper: String,
    /// What it has written on stdout and stderr when all of it has ended by itself; `None` if it never does.
    pub writes: Option<[u64; 2]>,
    pub exit_code: u64,
}

struct Growing<'a> {
    random: &'a mut Random,
    place: &'a Place,
    name: &'a str,
    scripts: u64,
    endless: bool,
    writes: [u64; 2],
}

/// Each generation starts the next and ends. The chain is bound by its length.
const COMET: &str = "trap '' TERM; [ $1 -gt 20000 ] && exit\nsh $0 $(($1 + 1)) & exit\n";

impl Tree {
    /// One whose processes all end by themselves within a second or two.
    pub fn finite(random: &mut Random, place: &Place, name: &str) -> Self {
        Self::grow(random, place, name, false)
    }

    /// One that goes on for minutes.
    pub fn endless(random: &mut Random, place: &Place, name: &str) -> Self {
        Self::grow(random, place, name, true)
    }

    fn grow(random: &mut Random, place: &Place, name: &str, endless: bool) -> Self {
        let exit_code = random.between(0, 255);
        let mut growing = Growing { random, place, name, scripts: 0, endless, writes: [0, 0] };
        let depth = growing.random.between(0, 3);
        let keeper = format!("{name}-keeper");
        let before = format!("echo $PPID > $MARKS/{keeper}\n");
        let root = growing.script(depth, &before, &format!("exit {exit_code}\n"));
        let writes = (!endless).then_some(growing.writes);
        Self { argv: vec!["sh".into(), root], keeper, writes, exit_code }
    }
}

impl Growing<'_> {
    /// Writes the script of a process with up to `depth` levels below it, and gives its path.
    fn script(&mut self, depth: u64, before: &str, after: &str) -> String {
        let mut text = before.to_owned();
        if self.random.one_in(4) {
            text += "trap '' TERM HUP INT\n";
        }
        self.write(&mut text);
        let below = if depth == 0 { 0 } else { self.random.between(0, 3) };
        for _ in 0..below {
            let child = self.script(depth - 1, "", "");
            // In the group, in a session of its own, or with its parent gone.
            let _ = match self.random.between(0, 2) {
                0 => writeln!(text, "sh {child} &"),
                1 => writeln!(text, "setsid sh {child} &"),
                _ => writeln!(text, "(setsid sh {child} &)"),
            };
        }
        self.write(&mut text);
        if self.endless {
            self.go_on(&mut text);
        } else {
            text.push_str(self.random.pick::<&str>(&["", "", "sleep 0.05\n", "wait\n"]));
        }
        text += after;
        let path = self.place.mark(&format!("{}-{}.sh", self.name, self.scripts));
        self.scripts += 1;
        std::fs::write(&path, text).unwrap();
        path.display().to_string()
    }

    /// Some bytes on one of the streams.
    fn write(&mut self, text: &mut String) {
        if self.random.one_in(2) {
            return;
        }
        let high = *self.random.pick(&[10, 5_000, 70_000, 300_000]);
        let count = self.random.between(1, high);
        let stream = self.random.between(0, 1);
        self.writes[usize::try_from(stream).unwrap()] += count;
        let _ = writeln!(text, "head -c {count} /dev/zero >&{}", stream + 1);
    }

    fn go_on(&mut self, text: &mut String) {
        match self.random.between(0, 7) {
            0 => *text += "kill -s STOP $$\n",
            1 => *text += "yes | head -c 100000000000 &\n",
            2 => {
                let comet = self.place.mark(&format!("{}-comet.sh", self.name));
                std::fs::write(&comet, COMET).unwrap();
                let _ = writeln!(text, "setsid sh {} 0 > /dev/null 2>&1 &", comet.display());
            }
            _ => {}
        }
        *text += "sleep 100\nsleep 100\n";
    }
}
