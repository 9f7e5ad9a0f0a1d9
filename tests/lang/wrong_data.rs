//! Data files that are wrong, each with what a user reads about it. The files lie in `tests/wrong-data`;
//! those that an editor or git would spoil (ten megabytes, invalid UTF-8, NUL bytes) are made here.

use crate::property::for_all;
use proptest::arbitrary::any;
use proptest::collection::vec;
use proptest::sample::Index;
use stickler::data::{Dataset, Levels, Limit, Missing, Side};
use stickler::source::{Diagnostic, render};

/// What a model would ask of the data; an answer is thrown away.
type Ask = fn(&Dataset) -> Result<(), Diagnostic>;

fn read(data: &Dataset) -> Result<(), Diagnostic> {
    assert!(!data.is_empty());
    Ok(())
}

fn real(data: &Dataset, name: &str) -> Result<(), Diagnostic> {
    data.require(name)?.as_real(Missing::Refuse).map(drop)
}

fn above_zero(data: &Dataset, name: &str) -> Result<(), Diagnostic> {
    let found = data.require(name)?;
    let values = found.as_real(Missing::Refuse)?;
    found.check_limit(&values, &Limit { side: Side::Lower, at: &[0.0], closed: false })
}

fn category(data: &Dataset, name: &str) -> Result<(), Diagnostic> {
    let found = data.require(name)?;
    found.as_category(&Levels::sorted(&[&found])).map(drop)
}

fn counted(data: &Dataset, name: &str, size: usize) -> Result<(), Diagnostic> {
    let found = data.require(name)?;
    found.as_category(&Levels::counted(&[&found], size, "J")?).map(drop)
}

fn by_county(data: &Dataset) -> Result<(), Diagnostic> {
    let Some(county) = data.find_category("county")? else { return Ok(()) };
    let levels = Levels::sorted(&[&county]);
    data.require("uranium")?.matched(&county, &levels)?.as_real(Missing::Refuse).map(drop)
}

/// The files (by space), and what is asked of them.
const CASES: [(&str, Ask); 75] = [
    ("empty.csv", read),
    ("header-only.csv", read),
    ("no-header.csv", read),
    ("ragged-short.csv", read),
    ("ragged-long.csv", read),
    ("row-names.csv", read),
    ("duplicate-column.csv", read),
    ("unclosed-quote.csv", read),
    ("text-after-quote.csv", read),
    ("json.csv", read),
    ("no-such-file.csv", read),
    ("../wrong-data", read),
    ("text-cell.csv", |d| real(d, "dose")),
    ("decimal-comma.csv", |d| real(d, "dose")),
    ("thousands.csv", |d| real(d, "people")),
    ("percent.csv", |d| real(d, "share")),
    ("number-overflow.csv", |d| real(d, "x")),
    ("integer-overflow.csv", |d| d.require("id")?.as_int().map(drop)),
    ("not-an-integer.csv", |d| d.require("n")?.as_int().map(drop)),
    ("negative-count.csv", |d| d.require("deaths")?.as_count().map(drop)),
    ("not-binary.csv", |d| d.require("switched")?.as_binary().map(drop)),
    ("not-binary-text.csv", |d| d.require("vote")?.as_binary().map(drop)),
    ("missing-column.csv", |d| real(d, "doze")),
    ("missing-column.csv ", |d| d.columns("x", &["age", "race*"]).map(drop)),
    ("missing-column.csv  ", |d| d.columns("x", &["age", "income"]).map(drop)),
    ("spaces.csv", |d| real(d, "age")),
    ("missing-cells.csv", |d| real(d, "x")),
    ("missing-category.csv", |d| category(d, "clinic")),
    ("unknown-level.csv", |d| {
        d.require("size")?.as_category(&Levels::given(&["low", "middle", "high"])?).map(drop)
    }),
    ("level-zero.csv", |d| counted(d, "county", 2)),
    ("level-beyond.csv", |d| counted(d, "county", 3)),
    ("level-count.csv", |d| counted(d, "county", 3)),
    ("column-gap.csv", |d| real(d, "X")),
    ("out-of-bounds.csv", |d| above_zero(d, "sigma")),
    ("not-a-scalar.csv", |d| d.require("y")?.as_scalar().map(drop)),
    ("houses.csv counties-absent.csv", by_county),
    ("houses.csv counties-twice.csv", by_county),
    ("houses.csv counties-stranger.csv", by_county),
    ("houses.csv counties-unlabelled.csv", by_county),
    ("levels-by-id.csv by-id.csv", |d| {
        let Some(g) = d.find_category("g")? else { return Ok(()) };
        d.require("u")?.matched(&g, &Levels::sorted(&[&g]))?.as_real(Missing::Refuse).map(drop)
    }),
    ("houses.csv houses-again.csv", |d| real(d, "radon")),
    ("empty.json", read),
    ("trailing-comma.json", read),
    ("ragged-array.json", |d| real(d, "X")),
    ("mixed-depth.json", |d| real(d, "y")),
    ("nested-object.json", |d| real(d, "data")),
    ("records.json", read),
    ("duplicate-key.json", read),
    ("cut-off.json", read),
    ("bare-word.json", read),
    ("single-quotes.json", read),
    ("text-in-array.json", |d| real(d, "X")),
    ("null-in-array.json", |d| real(d, "x")),
    ("units-row.csv", |d| real(d, "dose")),
    ("total-row.csv", |d| d.require("deaths")?.as_count().map(drop)),
    ("dates.csv", |d| real(d, "day")),
    ("parentheses.csv", |d| real(d, "profit")),
    ("footnote-mark.csv", |d| real(d, "x")),
    ("below-detection.csv", |d| real(d, "lead")),
    ("spreadsheet-error.csv", |d| real(d, "x")),
    ("dash-for-missing.csv", |d| real(d, "x")),
    ("row-ends-in-comma.csv", read),
    ("web-page.csv", read),
    ("commas.tsv", |d| real(d, "x")),
    ("lines.json", read),
    ("coded-1-2.csv", |d| d.require("smoker")?.as_binary().map(drop)),
    ("coded-words.csv", |d| d.require("sex")?.as_binary().map(drop)),
    ("column-names.csv", |d| d.require_for("sepal_length", "sepal_length : real[N] > 0").map(drop)),
    ("column-names.csv ", |d| real(d, "body_mass_g")),
    ("quoted-lines.csv", |d| real(d, "y")),
    ("sep-line.csv", |d| real(d, "y")),
    ("title-line.csv", |d| real(d, "x")),
    ("unquoted-comma.csv", read),
    ("blank-rows.csv", |d| real(d, "y")),
    ("header-again.csv", |d| real(d, "x")),
];

fn told(result: Result<(), Diagnostic>) -> String {
    match result {
        Ok(()) => "no error".to_string(),
        Err(diagnostic) => render(&diagnostic, "", ""),
    }
}

/// The snapshot of a case is called after its last file; a second case on the same file by a number.
fn check(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(format!("wrong-data-{name}"), text));
}

#[test]
fn each_wrong_file_is_explained() {
    for (files, ask) in CASES {
        let paths: Vec<String> = files.split_whitespace().map(|f| format!("tests/wrong-data/{f}")).collect();
        let result = Dataset::read(&paths).and_then(|data| ask(&data));
        let again = files.len() - files.trim_end().len();
        let last = files.split_whitespace().last().unwrap_or_default().replace(['.', '/'], "-");
        let name = if again == 0 { last } else { format!("{last}-{}", again + 1) };
        check(name.trim_start_matches('-'), &told(result));
    }
}

#[test]
fn each_wrong_text_is_explained() {
    let long = format!("label,x\n{},oops{}\n", "a".repeat(10 << 20), "s".repeat(1000));
    let deep = format!("{{\"x\": {}1{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let utf16: Vec<u8> = "x,y\n1,2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: [(&str, &str, Vec<u8>); 12] = [
        ("long-line", "long.csv", long.into_bytes()),
        ("invalid-utf8", "latin1.csv", b"town,x\nBonn,1\nK\xF6ln,2\n".to_vec()),
        ("invalid-utf8-header", "latin1.csv", b"gr\xF6\xDFe,x\n1,1\n".to_vec()),
        ("invalid-utf8-json", "latin1.json", b"{\"town\": \"K\xF6ln\", \"x\": 1}".to_vec()),
        ("nul-byte", "nul.csv", b"town,x\nBo\0nn,1\n".to_vec()),
        ("utf16", "excel.csv", [b"\xFF\xFE".to_vec(), utf16].concat()),
        ("spreadsheet-renamed", "book.csv", b"PK\x03\x04whatever".to_vec()),
        ("old-mac", "mac.csv", b"town,x\rBonn,1\rUlm,2\r".to_vec()),
        ("deep-nesting", "deep.json", deep.into_bytes()),
        ("unknown-format", "book.xlsx", b"PK\x03\x04whatever".to_vec()),
        ("blank", "blank.csv", b"\n  \n\n".to_vec()),
        ("no-data", "", Vec::new()),
    ];
    for (name, file, text) in cases {
        let texts: &[(&str, &[u8])] = if file.is_empty() { &[] } else { &[(file, &text)] };
        check(name, &told(Dataset::from_texts(texts).and_then(|data| real(&data, "x"))));
    }
}

/// Bytes that mean something to one of the readers.
const PIECES: &[u8] = b"\"\n\r,[]{}:\\u0e-.\0\xFFa";

/// Small files, to be changed.
const SEEDS: [(&str, &[u8]); 3] = [
    ("t.csv", b"a,\"b\"\"c\",d\r\n1,\"x\ny\",NA\n-2.5e3,,\"7\"\n"),
    ("t.json", br#"{"N": 2, "X": [[1, -2.5e3], ["NaN", null]], "s": "a\u00e9\n", "t": true}"#),
    ("t.txt", b"x\t y\n1\t2\n\n3\t4"),
];

/// A byte that is replaced by a piece, taken out or put in, somewhere.
type Change = (usize, usize, Index);

/// A file with its changes made, one after another.
fn changed(seed: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut text = seed.to_vec();
    for (kind, piece, place) in changes {
        let at = place.index(text.len());
        match kind {
            0 => text[at] = PIECES[*piece],
            1 => drop(text.remove(at)),
            _ => text.insert(at, PIECES[*piece]),
        }
    }
    text
}

/// Whatever comes of the changes, nothing panics.
#[test]
fn bytes_of_any_kind_are_read_or_refused() {
    let change = (0_usize..3, 0..PIECES.len(), any::<Index>());
    for_all(30_000, (0..SEEDS.len(), vec(change, 1..5)), |(seed, changes)| {
        let (name, seed) = SEEDS[seed];
        let text = changed(seed, &changes);
        if let Ok(data) = Dataset::from_texts(&[(name, &text)]) {
            for name in data.names() {
                let _ = data.require(name).and_then(|f| {
                    f.as_category(&Levels::sorted(&[&f])).map(drop)?;
                    f.as_binary().map(drop)?;
                    f.as_int().map(drop)
                });
            }
        }
    });
}
