//! Trees that outlive a careless parent. Each ends by itself within two minutes, whatever happens to the test.

/// A script, and the marks that it writes once it stands.
#[derive(Debug, Clone, Copy)]
pub struct Fixture {
    pub argv: &'static [&'static str],
    pub marks: &'static [&'static str],
}

impl Fixture {
    const fn sh(script: &'static [&'static str; 3], marks: &'static [&'static str]) -> Self {
        Self { argv: script, marks }
    }
}

/// A loop in the background that writes for ever, and a main process that waits.
pub const BACKGROUND_LOOP: Fixture = Fixture::sh(
    &[
        "sh",
        "-c",
        "(i=0; while [ $i -lt 100 ]; do echo x; sleep 1; i=$((i+1)); done)& echo ok > $MARKS/up; sleep 60",
    ],
    &["up"],
);

/// A session of its own, away from the process group.
pub const DAEMON: Fixture =
    Fixture::sh(&["sh", "-c", "setsid sh -c 'echo $$ > $MARKS/daemon; sleep 100' & sleep 100"], &["daemon"]);

/// Twice forked, in a session of its own, its parent gone.
pub const DOUBLE_FORK: Fixture = Fixture::sh(
    &["sh", "-c", "(setsid sh -c '(echo ok > $MARKS/up; sleep 100) & exit 0' &) ; sleep 100"],
    &["up"],
);

/// Deaf to what can be ignored.
pub const DEAF: Fixture = Fixture::sh(
    &["sh", "-c", "trap '' TERM INT HUP; (echo ok > $MARKS/up; sleep 100) & sleep 100; sleep 100"],
    &["up"],
);

/// A stopped process in the tree, which wouldn't see SIGTERM.
pub const STOPPED: Fixture = Fixture::sh(
    &["sh", "-c", "sh -c 'echo $$ > $MARKS/stopped; kill -s STOP $$; sleep 100' & sleep 100"],
    &["stopped"],
);

/// A process that forks itself away every few milliseconds, from parent to parent.
pub const COMET: Fixture = Fixture {
    argv: &[
        "sh",
        "-c",
        // Each generation starts the next and ends; the chain is bound by its length.
        "echo 'trap \"\" TERM; n=$(($1 + 1)); [ $n -gt 20000 ] && exit; [ $n = 20 ] && echo ok > $MARKS/up; sh $0 $n & exit' \
         > $MARKS/comet.sh; setsid sh $MARKS/comet.sh 0 & sleep 100",
    ],
    marks: &["up"],
};

/// Three hundred processes in three levels.
pub const CROWD: Fixture = Fixture::sh(
    &[
        "sh",
        "-c",
        "for i in 1 2 3 4 5 6 7 8 9 10; do (for j in 1 2 3 4 5 6 7 8 9 10; do (for k in 1 2; do sleep 100 & done; wait) & done; \
         echo ok > $MARKS/up$i; wait) & done; sleep 100",
    ],
    &["up1", "up2", "up3", "up4", "up5", "up6", "up7", "up8", "up9", "up10"],
);

/// Holds the output open from a session of its own, after its parent has gone.
pub const PIPE_HOLDER: Fixture = Fixture::sh(
    &["sh", "-c", "setsid sh -c 'trap \"\" TERM; echo ok > $MARKS/up; sleep 100; sleep 100' & sleep 100"],
    &["up"],
);

/// Writes without end.
pub const FLOOD: Fixture =
    Fixture::sh(&["sh", "-c", "(yes | head -c 100000000000) & echo ok > $MARKS/up; sleep 100"], &["up"]);

/// Appends to a file, deaf to SIGTERM. Not one of [`ALL`]: it writes until it is ended.
pub const WRITER: Fixture = Fixture::sh(
    &[
        "sh",
        "-c",
        "trap '' TERM; (i=0; while [ $i -lt 2000000 ]; do echo x >> $MARKS/log; i=$((i+1)); done) & \
         echo ok > $MARKS/up; sleep 100; sleep 100",
    ],
    &["up", "log"],
);

/// All of them, by name.
pub const ALL: &[(&str, Fixture)] = &[
    ("background loop", BACKGROUND_LOOP),
    ("daemon", DAEMON),
    ("double fork", DOUBLE_FORK),
    ("deaf", DEAF),
    ("stopped", STOPPED),
    ("comet", COMET),
    ("crowd", CROWD),
    ("pipe holder", PIPE_HOLDER),
    ("flood", FLOOD),
];
