//! Random trees, links and paths: confinement is realpath and a comparison of whole names, when nothing moves.

use std::os::unix::fs::symlink;

use argvault::sandbox::ConfinedDir;
use proptest::prelude::*;

use crate::tree::{Tree, variant};

/// What one step of a random tree makes.
#[derive(Debug, Clone)]
enum Node {
    Dir,
    File,
    Link(Spelled),
}

/// A path below one of the tree's places, or relative.
#[derive(Debug, Clone)]
struct Spelled {
    from: Option<&'static str>,
    names: Vec<&'static str>,
}

impl Spelled {
    fn in_tree(&self, tree: &Tree) -> String {
        let names = self.names.join("/");
        match self.from {
            Some(from) => format!("{}/{names}", tree.text(from)),
            None => names,
        }
    }
}

fn spelled(most: usize) -> impl Strategy<Value = Spelled> {
    let from = prop_oneof![
        4 => Just(None),
        2 => Just(Some("root")),
        1 => Just(Some("alias")),
        1 => Just(Some("outside")),
        1 => Just(Some("root-evil")),
    ];
    let name = prop_oneof![
        4 => Just("a"), 4 => Just("b"), 2 => Just("c"), 4 => Just(".."), 1 => Just("."),
        1 => Just("root"), 1 => Just("outside"), 1 => Just("root-evil"), 1 => Just("alias"),
    ];
    (from, proptest::collection::vec(name, 1..=most)).prop_map(|(from, names)| Spelled { from, names })
}

fn nodes() -> impl Strategy<Value = Vec<(Vec<&'static str>, Node)>> {
    let place = proptest::collection::vec(prop_oneof![Just("a"), Just("b"), Just("c")], 1..=3);
    let node = prop_oneof![
        3 => Just(Node::Dir),
        1 => Just(Node::File),
        4 => spelled(4).prop_map(Node::Link),
    ];
    proptest::collection::vec((place, node), 0..10)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn confinement_agrees_with_realpath_when_nothing_moves(
        nodes in nodes(),
        cwds in proptest::collection::vec(spelled(6), 1..8),
    ) {
        let tree = Tree::new();
        for dir in ["outside/a/b", "outside/b", "root-evil/a"] {
            std::fs::create_dir_all(tree.path(dir)).unwrap();
        }
        for (place, node) in &nodes {
            let path = tree.path("root").join(place.join("/"));
            // What can't be made, since something else has the name or the parent is no directory, is left out.
            let _ = match node {
                Node::Dir => std::fs::create_dir_all(&path),
                Node::File => std::fs::write(&path, ""),
                Node::Link(target) => symlink(target.in_tree(&tree), &path),
            };
        }
        let root = tree.root();
        for cwd in &cwds {
            let cwd = cwd.in_tree(&tree);
            let opened = ConfinedDir::open(&root, Some(&cwd));
            if let Ok(dir) = &opened {
                prop_assert!(dir.path().starts_with(root.path()), "{}", cwd);
            }
            let got = opened.map(|dir| dir.path().to_owned()).map_err(|error| variant(&error));
            match root.path().join(&cwd).canonicalize() {
                Ok(real) if !real.starts_with(root.path()) => {
                    prop_assert_eq!(got, Err("CwdOutsideRoot".into()), "{}", cwd);
                }
                Ok(real) if real.is_dir() => prop_assert_eq!(got, Ok(real), "{}", cwd),
                Ok(_) => prop_assert_eq!(got, Err("CwdNotADirectory".into()), "{}", cwd),
                Err(_) => prop_assert!(got.is_err(), "{} {:?}", cwd, got),
            }
        }
    }
}
