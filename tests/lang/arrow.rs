//! Arrow files give what the same table gives as CSV; what cannot be read is said of the column that is asked
//! for.

use crate::binary_tables;

use binary_tables::{assert_damage_is_harmless, assert_is_the_table, assert_refused};
use stickler::data::{Dataset, Missing};

fn folder(file: &str) -> String {
    format!("tests/arrow/{file}")
}

#[test]
fn an_arrow_file_is_the_table_that_it_was_written_from() {
    for file in ["default.feather", "plain.feather", "factor.feather", "zstd.feather", "stream.arrows"] {
        assert_is_the_table(&folder(file));
    }
}

#[test]
fn what_cannot_be_read_is_said_of_its_column_alone() {
    let wrong = [
        ("odd.feather", "lists", "lists or structures"),
        ("odd.feather", "pairs", "lists or structures"),
        ("odd.feather", "price", "decimal"),
        ("odd.feather", "day", "dates"),
        ("odd.feather", "huge", "exact up to 2^53"),
        ("odd.feather", "view", "views"),
    ];
    for (file, name, words) in wrong {
        assert_refused(&folder(file), name, words);
    }
    let odd = Dataset::read(&[folder("odd.feather")]).unwrap();
    assert_eq!(odd.require("last").unwrap().as_int().unwrap()[6], -36);
    let nothing = odd.require("nothing").unwrap().as_real(Missing::Keep).unwrap();
    assert!(nothing.len() == 40 && nothing.iter().all(|x| x.is_nan()));
    let text = std::fs::read(folder("plain.feather")).unwrap();
    let error = Dataset::from_texts(&[("x.csv", &text)]).unwrap_err();
    assert!(error.help.is_some_and(|h| h.contains(".feather")), "{}", error.message);
}

#[test]
fn two_columns_of_one_name_are_refused() {
    for file in ["default.feather", "stream.arrows"] {
        let mut bytes = std::fs::read(folder(file)).unwrap();
        // A text of one letter: its length, the letter, and a zero.
        let name = |letter: u8| [1, 0, 0, 0, letter, 0];
        let places: Vec<usize> = (0..bytes.len() - 6).filter(|&i| bytes[i..i + 6] == name(b'k')).collect();
        assert!(!places.is_empty(), "{file}");
        places.into_iter().for_each(|i| bytes[i..i + 6].copy_from_slice(&name(b'y')));
        let error = Dataset::from_texts(&[(file, bytes)]).unwrap_err();
        assert!(error.code == "duplicate-column" && error.notes[0].contains("1 and 2"), "{error:?}");
    }
}

/// A file with any byte changed, or cut off anywhere, is read or refused; it is never the end of the program.
#[test]
fn damaged_files_are_refused() {
    for file in ["default.feather", "factor.feather", "zstd.feather", "odd.feather"] {
        assert_damage_is_harmless(&folder(file), "x.arrow");
    }
}
