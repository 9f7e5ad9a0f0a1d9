//! What every binary format of tables must hold: the same table as the CSV beside it, plain reasons, and no
//! damage that ends the program.

use stickler::data::{Dataset, Levels, Missing};

/// Asserts that a file holds the table of `tests/parquet/table.csv`.
pub fn assert_is_the_table(file: &str) {
    let csv = Dataset::read(&["tests/parquet/table.csv"]).unwrap();
    let data = Dataset::read(&[file]).unwrap();
    assert_eq!(data.names(), csv.names(), "{file}");
    for name in ["y", "k", "smoker", "single", "small"] {
        let (got, expected) = (data.require(name).unwrap(), csv.require(name).unwrap());
        let (got, expected) = (got.as_real(Missing::Keep).unwrap(), expected.as_real(Missing::Keep).unwrap());
        let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
        assert!(got.len() == 40 && got.iter().zip(expected.iter()).all(same), "{file}, {name}: {got:?}");
    }
    let (got, expected) = (data.require("site").unwrap(), csv.require("site").unwrap());
    assert!((0..40).all(|i| got.text(i) == expected.text(i)), "{file}");
    assert_eq!(Levels::sorted(&[&got]).labels(), ["east, far", "north", "south"]);
}

/// Asserts that a column cannot be read, with these words and some help.
pub fn assert_refused(file: &str, name: &str, words: &str) {
    let error = Dataset::read(&[file]).unwrap().require(name).unwrap_err();
    assert!(error.message.contains(words) && error.help.is_some(), "{file}, {name}: {error:?}");
}

/// Asserts that a file with any byte changed, or cut off anywhere, is read or refused, under this name.
pub fn assert_damage_is_harmless(file: &str, name: &str) {
    let whole = std::fs::read(file).unwrap();
    for at in 0..whole.len() {
        for change in [1, 0x80, 0xff] {
            let mut bytes = whole.clone();
            bytes[at] ^= change;
            if let Ok(data) = Dataset::from_texts(&[(name, &bytes)]) {
                for name in data.names() {
                    let _ = data.require(name).map(|found| found.len());
                }
            }
        }
        assert!(Dataset::from_texts(&[(name, &whole[..at])]).is_err(), "{file} cut at {at}");
    }
}
