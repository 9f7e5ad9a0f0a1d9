//! The house itself: rooms import only from rooms above them, every file says what it is for, every row is
//! registered.

use std::path::{Path, PathBuf};

/// The rooms in order, as the map in src/lib.rs lists them.
fn rooms() -> Vec<String> {
    let map = std::fs::read_to_string(root().join("src/lib.rs")).unwrap();
    map.lines()
        .filter_map(|l| l.strip_prefix("//! | [`")?.split_once("`] |").map(|(room, _)| room.to_string()))
        .collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn files(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, into);
        } else if path.extension().is_some_and(|e| e == "rs") {
            into.push(path);
        }
    }
}

/// Where the rooms stand: those of the package, and those that are crates of their own because they take long
/// to compile.
const WINGS: [&str; 2] = ["src", "crates/kernels/src"];

/// The files of all rooms with their paths below `src`, and their text.
fn sources() -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for wing in WINGS.map(|wing| root().join(wing)) {
        let mut found = Vec::new();
        files(&wing, &mut found);
        let named =
            |p: PathBuf| (p.strip_prefix(&wing).unwrap().to_path_buf(), std::fs::read_to_string(&p).unwrap());
        all.extend(found.into_iter().map(named));
    }
    all
}

/// The room a file of src/ belongs to.
fn room(path: &Path) -> String {
    let first = path.components().next().unwrap().as_os_str().to_str().unwrap();
    first.trim_end_matches(".rs").to_string()
}

#[test]
fn the_map_names_every_room() {
    let rooms = rooms();
    for (path, _) in sources() {
        let room = room(&path);
        assert!(
            rooms.contains(&room) || room == "lib" || room == "main",
            "{} is in no room of the map",
            path.display()
        );
    }
}

#[test]
fn no_room_uses_one_below_it() {
    let rooms = rooms();
    let place = |room: &str| rooms.iter().position(|r| r == room);
    for (path, text) in sources() {
        let Some(own) = place(&room(&path)) else { continue };
        let code = text.split("#[cfg(test)]").next().unwrap_or("");
        for line in code.lines().filter(|l| !l.trim_start().starts_with("//")) {
            for (at, _) in line.match_indices("crate::") {
                let used: String =
                    line[at + 7..].chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                if let Some(other) = place(&used) {
                    assert!(other <= own, "{} uses `{used}`, which lies below it: {line}", path.display());
                }
            }
        }
    }
}

#[test]
fn every_file_opens_with_what_it_is_for() {
    for (path, text) in sources() {
        assert!(text.starts_with("//! "), "{} does not open with a sentence", path.display());
    }
}

#[test]
fn every_row_is_registered() {
    for folder in ["dist", "transform", "infer/methods"] {
        let sources = sources();
        let (_, table) = sources.iter().find(|(path, _)| *path == Path::new(folder).join("mod.rs")).unwrap();
        for (path, text) in &sources {
            if path.starts_with(folder) && text.contains("pub static ROW:") && !text.contains("macro_rules!")
            {
                let name = path.file_stem().unwrap().to_str().unwrap();
                assert!(table.contains(&format!("&{name}::")), "{} is not in the table", path.display());
            }
        }
    }
}

#[test]
fn only_the_command_line_prints() {
    for (path, text) in sources() {
        let is_print = |line: &str| {
            let code = !line.trim_start().starts_with("//");
            code && ["println!(", "print!(", "eprintln!(", "eprint!("].iter().any(|p| line.contains(p))
        };
        let prints = text.lines().any(is_print);
        assert!(!prints || room(&path) == "cli", "{} prints", path.display());
    }
}
