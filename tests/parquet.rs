//! Parquet files give what the same table gives as CSV; what cannot be read is said of the column that is asked for.

mod binary_tables;

use binary_tables::{assert_damage_is_harmless, assert_is_the_table, assert_refused};
use stickler::data::{Dataset, Missing};

fn folder(file: &str) -> String {
    format!("tests/parquet/{file}")
}

#[test]
fn a_parquet_file_is_the_table_that_it_was_written_from() {
    for file in ["default.parquet", "plain.parquet", "second.parquet"] {
        assert_is_the_table(&folder(file));
    }
}

#[test]
fn problems_name_the_row_and_the_column() {
    let data = Dataset::read(&[folder("default.parquet")]).unwrap();
    let error = data.require("y").unwrap().as_real(Missing::Refuse).unwrap_err();
    assert!(error.message.contains("row 1"), "{error:?}");
    let wrong = [
        ("zstd.parquet", "y", "compressed with zstd"),
        ("odd.parquet", "lists", "lists or structures"),
        ("odd.parquet", "price", "decimal"),
        ("odd.parquet", "huge", "exact up to 2^53"),
    ];
    for (file, name, words) in wrong {
        assert_refused(&folder(file), name, words);
    }
    let odd = Dataset::read(&[folder("odd.parquet")]).unwrap();
    assert_eq!(odd.require("last").unwrap().as_int().unwrap()[6], 36);
}

/// A file with any byte changed, or cut off anywhere, is read or refused; it is never the end of the program.
#[test]
fn damaged_files_are_refused() {
    for file in ["default.parquet", "second.parquet"] {
        assert_damage_is_harmless(&folder(file), "x.parquet");
    }
}
