//! Arrow files give what the same table gives as CSV; what cannot be read is said of the column that is asked for.

use stickler::data::{Dataset, Levels, Missing};

fn folder(file: &str) -> String {
    format!("tests/arrow/{file}")
}

#[test]
fn an_arrow_file_is_the_table_that_it_was_written_from() {
    let csv = Dataset::read(&["tests/parquet/table.csv"]).unwrap();
    for file in ["default.feather", "plain.feather", "factor.feather", "stream.arrows"] {
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
fn what_cannot_be_read_is_said_of_its_column_alone() {
    let wrong = [
        ("zstd.feather", "y", "compressed with zstd"),
        ("odd.feather", "lists", "lists or structures"),
        ("odd.feather", "pairs", "lists or structures"),
        ("odd.feather", "price", "decimal"),
        ("odd.feather", "day", "dates or times"),
        ("odd.feather", "huge", "exact up to 2^53"),
        ("odd.feather", "view", "views"),
    ];
    for (file, name, words) in wrong {
        let data = Dataset::read(&[folder(file)]).unwrap();
        let error = data.require(name).unwrap_err();
        assert!(error.message.contains(words) && error.help.is_some(), "{file}, {name}: {error:?}");
    }
    let odd = Dataset::read(&[folder("odd.feather")]).unwrap();
    assert_eq!(odd.require("last").unwrap().as_int().unwrap()[6], -36);
    let nothing = odd.require("nothing").unwrap().as_real(Missing::Keep).unwrap();
    assert!(nothing.len() == 40 && nothing.iter().all(|x| x.is_nan()));
    let text = std::fs::read(folder("plain.feather")).unwrap();
    let error = Dataset::from_texts(&[("x.csv", &text)]).unwrap_err();
    assert!(error.help.is_some_and(|h| h.contains(".feather")), "{}", error.message);
}

/// A file with any byte changed, or cut off anywhere, is read or refused; it is never the end of the program.
#[test]
fn damaged_files_are_refused() {
    for file in ["default.feather", "factor.feather", "odd.feather"] {
        let whole = std::fs::read(folder(file)).unwrap();
        for at in 0..whole.len() {
            for change in [1, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                if let Ok(data) = Dataset::from_texts(&[("x.arrow", &bytes)]) {
                    for name in data.names() {
                        let _ = data.require(name).map(|found| found.len());
                    }
                }
            }
            assert!(Dataset::from_texts(&[("x.arrow", &whole[..at])]).is_err(), "{file} cut at {at}");
        }
    }
}
