//! Parquet files give what the same table gives as CSV; what cannot be read is said of the column that is
//! asked for.

use crate::binary_tables;

use binary_tables::{assert_damage_is_harmless, assert_is_the_table, assert_refused};
use stickler::data::{Dataset, Missing};

fn folder(file: &str) -> String {
    format!("tests/parquet/{file}")
}

#[test]
fn a_parquet_file_is_the_table_that_it_was_written_from() {
    for file in ["default", "plain", "second", "zstd", "gzip", "lz4"].map(|name| format!("{name}.parquet")) {
        assert_is_the_table(&folder(&file));
    }
}

#[test]
fn problems_name_the_row_and_the_column() {
    let data = Dataset::read(&[folder("default.parquet")]).unwrap();
    let error = data.require("y").unwrap().as_real(Missing::Refuse).unwrap_err();
    assert!(error.message.contains("row 1"), "{error:?}");
    let wrong = [
        ("brotli.parquet", "y", "compressed with Brotli"),
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

/// Fields of a structure of Thrift's compact protocol, in the order of their numbers.
#[derive(Default)]
struct Fields(Vec<u8>, u8);

impl Fields {
    fn field(mut self, id: u8, kind: u8, bytes: &[u8]) -> Self {
        self.0.push((id - self.1) << 4 | kind);
        self.0.extend(bytes);
        Self(self.0, id)
    }

    fn int(self, id: u8, value: u64) -> Self {
        self.field(id, 6, &varint(2 * value))
    }

    fn text(self, id: u8, text: &str) -> Self {
        let bytes = [varint(text.len() as u64), text.as_bytes().to_vec()].concat();
        self.field(id, 8, &bytes)
    }

    fn inner(self, id: u8, fields: Fields) -> Self {
        self.field(id, 12, &fields.end())
    }

    fn list(self, id: u8, items: Vec<Vec<u8>>, kind: u8) -> Self {
        let bytes = [vec![(items.len() as u8) << 4 | kind], items.concat()].concat();
        self.field(id, 9, &bytes)
    }

    fn end(mut self) -> Vec<u8> {
        self.0.push(0);
        self.0
    }
}

fn varint(mut value: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value > 127 {
        bytes.push(value as u8 | 128);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// A column: its name, physical type, older and newer note of its meaning, and its values as bytes.
struct Column(&'static str, u64, Option<u64>, Option<Fields>, Vec<u8>);

/// A file with these columns of so many required values each, plain and without compression.
fn parquet(columns: Vec<Column>, rows: u64) -> Vec<u8> {
    let mut file = b"PAR1".to_vec();
    let mut schema = vec![Fields::default().text(4, "schema").int(5, columns.len() as u64).end()];
    let mut chunks = Vec::new();
    for Column(name, kind, converted, logical, body) in columns {
        let size = body.len() as u64;
        let page = Fields::default().int(1, rows).int(2, 0).int(3, 3).int(4, 3);
        let header = Fields::default().int(1, 0).int(2, size).int(3, size).inner(5, page).end();
        let meta =
            Fields::default().int(1, kind).list(3, vec![Fields::default().text(4, name).0[1..].to_vec()], 8);
        let meta = meta.int(4, 0).int(5, rows).int(9, file.len() as u64);
        chunks.push(Fields::default().inner(3, meta).end());
        file.extend(header.iter().chain(&body));
        let mut element = Fields::default().int(1, kind).int(3, 0).text(4, name);
        if let Some(meaning) = converted {
            element = element.int(6, meaning);
        }
        if let Some(meaning) = logical {
            element = element.inner(10, meaning);
        }
        schema.push(element.end());
    }
    let group = Fields::default().list(1, chunks, 12).end();
    let footer = Fields::default().int(1, 1).list(2, schema, 12).int(3, rows).list(4, vec![group], 12).end();
    let length = (footer.len() as u32).to_le_bytes();
    [file, footer, length.to_vec(), b"PAR1".to_vec()].concat()
}

fn integer_type(bits: u8, signed: bool) -> Fields {
    let inner = Fields::default().field(1, 3, &[bits]).field(2, if signed { 1 } else { 2 }, &[]);
    Fields::default().inner(10, inner)
}

/// An integer whose highest bit of 32 is set.
const BIG: u32 = 3_000_000_000;

#[test]
fn integers_have_the_sign_that_either_notation_says() {
    let four = || [BIG.to_le_bytes(), 7_u32.to_le_bytes()].concat();
    let eight = || [u64::from(BIG).to_le_bytes(), 7_u64.to_le_bytes()].concat();
    let negative = f64::from(BIG.cast_signed());
    let cases = [
        (Column("n", 1, None, None, four()), negative),
        (Column("n", 1, Some(17), None, four()), negative),
        (Column("n", 1, None, Some(integer_type(32, true)), four()), negative),
        (Column("n", 1, Some(13), None, four()), 3e9),
        (Column("n", 1, None, Some(integer_type(32, false)), four()), 3e9),
        (Column("n", 1, Some(13), Some(integer_type(32, false)), four()), 3e9),
        (Column("n", 1, Some(11), None, four()), 3e9),
        (Column("n", 2, None, Some(integer_type(64, false)), eight()), 3e9),
        (Column("n", 2, Some(14), None, eight()), 3e9),
        (Column("n", 2, None, None, eight()), 3e9),
    ];
    for (k, (column, wanted)) in cases.into_iter().enumerate() {
        let data = Dataset::from_texts(&[("x.parquet", parquet(vec![column], 2))]).unwrap();
        let found = data.require("n").unwrap().as_real(Missing::Refuse).unwrap();
        assert_eq!(found[..], [wanted, 7.0], "case {k}");
    }
}

#[test]
fn dates_times_and_decimals_are_no_numbers() {
    let body = || [1_u64.to_le_bytes(), 2_u64.to_le_bytes()].concat();
    let logical = |id: u8| Some(Fields::default().inner(id, Fields::default()));
    let cases = [
        (1, Some(6), None, "dates"),
        (1, None, logical(6), "dates"),
        (1, Some(7), None, "times of day"),
        (2, Some(8), None, "times of day"),
        (2, None, logical(7), "times of day"),
        (2, Some(9), None, "points in time"),
        (2, Some(10), None, "points in time"),
        (2, None, logical(8), "points in time"),
        (3, None, None, "points in time"),
        (7, Some(21), None, "lengths of time"),
        (2, Some(5), None, "decimal"),
        (1, None, logical(5), "decimal"),
    ];
    for (kind, converted, logical, words) in cases {
        let column = Column("t", kind, converted, logical, body());
        let file = parquet(vec![column, Column("y", 2, None, None, body())], 2);
        let data = Dataset::from_texts(&[("x.parquet", file)]).unwrap();
        assert_eq!(data.require("y").unwrap().as_real(Missing::Refuse).unwrap()[..], [1.0, 2.0]);
        let error = data.require("t").unwrap_err();
        assert!(error.message.contains(words) && error.help.is_some(), "{words}: {error:?}");
    }
}

#[test]
fn two_columns_of_one_name_are_refused() {
    let column = |name| Column(name, 5, None, None, [1.0_f64.to_le_bytes(), 2.0_f64.to_le_bytes()].concat());
    let error =
        Dataset::from_texts(&[("x.parquet", parquet(vec![column("y"), column("x"), column("y")], 2))]);
    let error = error.unwrap_err();
    assert!(error.code == "duplicate-column" && error.notes[0].contains("1 and 3"), "{error:?}");
    assert!(Dataset::from_texts(&[("x.parquet", parquet(vec![column("y"), column("x")], 2))]).is_ok());
}

/// A file with any byte changed, or cut off anywhere, is read or refused; it is never the end of the program.
#[test]
fn damaged_files_are_refused() {
    for file in ["default.parquet", "second.parquet", "zstd.parquet", "gzip.parquet", "lz4.parquet"] {
        assert_damage_is_harmless(&folder(file), "x.parquet");
    }
}
