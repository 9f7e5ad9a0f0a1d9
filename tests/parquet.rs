//! Parquet files give what the same table gives as CSV; what cannot be read is said of the column that is asked for.

use stickler::data::{Dataset, Levels, Missing};

fn folder(file: &str) -> String {
    format!("tests/parquet/{file}")
}

#[test]
fn a_parquet_file_is_the_table_that_it_was_written_from() {
    let csv = Dataset::read(&[folder("table.csv")]).unwrap();
    for file in ["default.parquet", "plain.parquet", "second.parquet"] {
        let data = Dataset::read(&[folder(file)]).unwrap();
        assert_eq!(data.names(), csv.names(), "{file}");
        for name in ["y", "k", "smoker", "single", "small"] {
            let (got, expected) = (data.require(name).unwrap(), csv.require(name).unwrap());
            let (got, expected) =
                (got.as_real(Missing::Keep).unwrap(), expected.as_real(Missing::Keep).unwrap());
            let same = |(a, b): (&f64, &f64)| a == b || a.is_nan() && b.is_nan();
            assert!(got.len() == 40 && got.iter().zip(expected.iter()).all(same), "{file}, {name}: {got:?}");
        }
        let (got, expected) = (data.require("site").unwrap(), csv.require("site").unwrap());
        assert!((0..40).all(|i| got.text(i) == expected.text(i)), "{file}");
        assert_eq!(Levels::sorted(&[&got]).labels(), ["east, far", "north", "south"]);
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
        let data = Dataset::read(&[folder(file)]).unwrap();
        let error = data.require(name).unwrap_err();
        assert!(error.message.contains(words) && error.help.is_some(), "{file}, {name}: {error:?}");
    }
    let odd = Dataset::read(&[folder("odd.parquet")]).unwrap();
    assert_eq!(odd.require("last").unwrap().as_int().unwrap()[6], 36);
}

/// A file with any byte changed, or cut off anywhere, is read or refused; it is never the end of the program.
#[test]
fn damaged_files_are_refused() {
    for file in ["default.parquet", "second.parquet"] {
        let whole = std::fs::read(folder(file)).unwrap();
        for at in 0..whole.len() {
            for change in [1, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                if let Ok(data) = Dataset::from_texts(&[("x.parquet", &bytes)]) {
                    for name in data.names() {
                        let _ = data.require(name).map(|found| found.len());
                    }
                }
            }
            assert!(Dataset::from_texts(&[("x.parquet", &whole[..at])]).is_err(), "{file} cut at {at}");
        }
    }
}
