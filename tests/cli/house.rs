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

/// The module that a file of `src/infer` is, below `infer`: `nested/solver` for `nested/solver/mod.rs`.
fn module_of(path: &Path) -> String {
    let below = path.strip_prefix("infer").unwrap().with_extension("");
    let below = if below.ends_with("mod") { below.parent().unwrap().to_path_buf() } else { below };
    below.to_str().unwrap().replace('\\', "/")
}

/// The modules of `src/infer`, less those of tests, each with those that it imports.
fn imports_within_infer() -> Vec<(String, Vec<String>)> {
    let all: Vec<(String, String)> = sources()
        .into_iter()
        .filter(|(path, _)| path.starts_with("infer") && !path.to_str().unwrap().contains("tests"))
        .map(|(path, text)| (module_of(&path), text))
        .collect();
    let names: Vec<&String> = all.iter().map(|(name, _)| name).collect();
    let resolve = |path: &str| {
        let parts: Vec<&str> = path.split("::").take_while(|part| !part.is_empty()).collect();
        (1..=parts.len()).rev().map(|k| parts[..k].join("/")).find(|found| names.contains(&found))
    };
    let imported = |(name, text): &(String, String)| {
        let code: String = text.split("#[cfg(test)]").next().unwrap_or("").replace('\n', " ");
        let uses = code.match_indices("use crate::infer::").map(|(at, head)| {
            let rest = &code[at + head.len()..];
            rest[..rest.find(';').unwrap_or(rest.len())].replace([' ', '\t'], "")
        });
        let paths = uses.flat_map(|path| match path.split_once('{') {
            None => vec![path],
            Some((stem, leaves)) => {
                leaves.trim_end_matches('}').split(',').map(|leaf| format!("{stem}{leaf}")).collect()
            }
        });
        let mut found: Vec<String> = paths.filter_map(|path| resolve(&path)).filter(|p| p != name).collect();
        found.sort();
        found.dedup();
        (name.clone(), found)
    };
    all.iter().map(imported).collect()
}

/// The files and folders of `src/infer` in order, as the table in its `mod.rs` lists them.
fn order_within_infer() -> Vec<String> {
    let text = std::fs::read_to_string(root().join("src/infer/mod.rs")).unwrap();
    let rows = text.lines().filter_map(|line| line.strip_prefix("//! | `")?.split_once("` |"));
    rows.map(|(name, _)| name.to_string()).collect()
}

#[test]
fn inference_imports_upwards_only() {
    let order = order_within_infer();
    let place = |module: &str| {
        let first = module.split('/').next().unwrap();
        order.iter().position(|name| name == first).unwrap_or_else(|| panic!("{module} is not in the table"))
    };
    for (name, imported) in imports_within_infer() {
        for other in imported.iter().filter(|_| !name.is_empty()) {
            assert!(place(other) <= place(&name), "infer/{name} uses infer/{other}, which lies below it");
        }
    }
}

/// Files that import each other, directly or through others, are two at most.
#[test]
fn no_circle_of_files_within_inference_is_larger_than_two() {
    let all = imports_within_infer();
    let index = |name: &String| all.iter().position(|(other, _)| other == name).unwrap();
    let reaches: Vec<Vec<bool>> = (0..all.len())
        .map(|from| {
            let (mut seen, mut open) = (vec![false; all.len()], vec![from]);
            while let Some(at) = open.pop() {
                for to in all[at].1.iter().map(index).filter(|to| all[*to].0 != *"") {
                    if !std::mem::replace(&mut seen[to], true) {
                        open.push(to);
                    }
                }
            }
            seen
        })
        .collect();
    for (a, (name, _)) in all.iter().enumerate() {
        let circle: Vec<&String> =
            (0..all.len()).filter(|&b| b != a && reaches[a][b] && reaches[b][a]).map(|b| &all[b].0).collect();
        assert!(circle.len() <= 1, "infer/{name} is in a circle with {circle:?}");
    }
}

/// A file of inference can be read in one sitting.
#[test]
fn no_file_of_inference_has_more_than_400_lines() {
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with("infer")) {
        assert!(text.lines().count() <= 400, "{} has {} lines", path.display(), text.lines().count());
    }
}

/// The files of `src/model` without `mod.rs`, each with those that it imports.
fn imports_within_model() -> Vec<(String, Vec<String>)> {
    let all: Vec<(String, String)> = sources()
        .into_iter()
        .filter(|(path, _)| path.starts_with("model") && !path.ends_with("mod.rs"))
        .map(|(path, text)| (path.file_stem().unwrap().to_str().unwrap().to_string(), text))
        .collect();
    let names: Vec<String> = all.iter().map(|(name, _)| name.clone()).collect();
    let uses = |text: &str| -> Vec<String> {
        let named = |other: &&String| text.contains(&format!("super::{other}::"));
        names.iter().filter(named).cloned().collect()
    };
    all.iter().map(|(name, text)| (name.clone(), uses(text))).collect()
}

#[test]
fn no_files_of_a_model_import_each_other() {
    let mut left = imports_within_model();
    while let Some(k) =
        left.iter().position(|(_, uses)| uses.iter().all(|u| left.iter().all(|(n, _)| n != u)))
    {
        left.swap_remove(k);
    }
    assert!(left.is_empty(), "these import each other: {left:?}");
}

/// A function of the room that checks models can be seen whole, and a file read in one sitting.
#[test]
fn functions_of_a_model_have_at_most_60_lines_and_files_400() {
    for (path, text) in sources().iter().filter(|(path, _)| path.starts_with("model")) {
        assert!(text.lines().count() <= 400, "{} has {} lines", path.display(), text.lines().count());
        let mut begun: Option<(usize, &str)> = None;
        for (number, line) in text.lines().enumerate() {
            let code = line.trim_start();
            if ["fn ", "pub fn ", "pub(super) fn "].iter().any(|head| code.starts_with(head)) {
                begun = Some((number, &line[..line.len() - code.len()]));
            }
            if let Some((first, _)) = begun.filter(|(_, indent)| line == format!("{indent}}}")) {
                let lines = number - first + 1;
                assert!(lines <= 60, "{}:{} has {lines} lines", path.display(), first + 1);
                begun = None;
            }
        }
    }
}
