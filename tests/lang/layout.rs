//! The models that are shipped are in the layout that `stickler fmt` gives.

use std::path::{Path, PathBuf};

fn models(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "ppl"))
        .collect();
    files.sort();
    files
}

#[test]
fn shipped_models_are_in_canonical_layout() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("models");
    let all: Vec<PathBuf> = models(&folder).into_iter().chain(models(&folder.join("posteriordb"))).collect();
    assert!(all.len() >= 86, "only {} models found", all.len());
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        let tidy = stickler::syntax::format(&text).unwrap_or_else(|e| panic!("{}: {e:?}", path.display()));
        assert!(tidy == text, "run `stickler fmt` on {}", path.display());
    }
}
