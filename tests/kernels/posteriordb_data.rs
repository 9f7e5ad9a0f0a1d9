//! The data files of posteriordb load unchanged, and a table says the same as the arrays it was made from.

use std::path::{Path, PathBuf};
use stickler::data::{Dataset, Missing};

/// The folders of the development set, or none where it is not at hand.
fn folders() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/posteriordb");
    let Ok(entries) = std::fs::read_dir(&root) else {
        eprintln!("skipped: there is no ../shared/posteriordb");
        return Vec::new();
    };
    entries.flatten().map(|e| e.path()).filter(|p| p.join("data.json").is_file()).collect()
}

#[test]
fn every_array_is_numeric_and_regular() {
    for folder in folders() {
        let data = Dataset::read(&[folder.join("data.json")]).unwrap_or_else(|d| panic!("{folder:?}: {d}"));
        for name in data.names() {
            let found = data.require(name).unwrap();
            let values = found.as_real(Missing::Refuse).unwrap_or_else(|d| panic!("{folder:?}, {name}: {d}"));
            assert_eq!(values.len(), found.shape().iter().product::<usize>(), "{folder:?}, {name}");
        }
    }
}

#[test]
fn a_table_agrees_with_the_arrays() {
    let mut compared = 0;
    for folder in folders().into_iter().filter(|f| f.join("data.csv").is_file()) {
        let arrays = Dataset::read(&[folder.join("data.json")]).unwrap();
        let table = Dataset::read(&[folder.join("data.csv")]).unwrap_or_else(|d| panic!("{folder:?}: {d}"));
        for name in arrays.names() {
            let array = arrays.require(name).unwrap();
            let Some(column) = table.find(name).unwrap().filter(|c| c.shape() == array.shape()) else {
                continue;
            };
            let (a, b) = (array.as_real(Missing::Refuse).unwrap(), column.as_real(Missing::Refuse).unwrap());
            assert_eq!(a, b, "{folder:?}, {name}");
            compared += 1;
        }
    }
    assert!(compared > 100 || folders().is_empty(), "only {compared} arrays were compared");
}
