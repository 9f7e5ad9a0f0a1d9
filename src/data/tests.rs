//! Reading files that are right: what stands in them is what is found.

use super::{Dataset, Levels, Limit, Missing, Side};
use crate::source::Diagnostic;

fn table(text: &str) -> Dataset {
    Dataset::from_texts(&[("t.csv", text)]).unwrap()
}

fn json(text: &str) -> Dataset {
    Dataset::from_texts(&[("t.json", text)]).unwrap()
}

fn reals(data: &Dataset, name: &str) -> Vec<f64> {
    data.require(name).unwrap().as_real(Missing::Refuse).unwrap().to_vec()
}

fn texts(data: &Dataset, name: &str) -> Vec<String> {
    let found = data.require(name).unwrap();
    (0..found.len()).map(|i| found.text(i).unwrap_or_default()).collect()
}

fn code<T>(result: Result<T, Diagnostic>) -> &'static str {
    result.err().map_or("no error", |d| d.code)
}

#[test]
fn a_table_reads_the_same_however_it_is_written() {
    let expected = [1.5, -2.0, 3e5];
    for text in [
        "x,y\n1.5,a\n-2,b\n3e5,c\n",
        "x,y\n1.5,a\n-2,b\n3e5,c",
        "x,y\r\n1.5,a\r\n-2,b\r\n3e5,c\r\n",
        "\u{feff}x,y\n1.5,a\n-2,b\n3e5,c\n\n  \n",
        "x;y\n1.5;a\n-2;b\n3e5;c\n",
        "x\ty\n1.5\ta\n-2\tb\n3e5\tc\n",
        "x|y\n1.5|a\n-2|b\n3e5|c\n",
        " x , y \n 1.5 , a \n -2 , b\n 3e5,c\n",
        "\"x\",\"y\"\n\"1.5\",\"a\"\n\"-2\" , \"b\"\r\n 3e5,c\n",
        "\n\nx,y\n1.5,a\n\n-2,b\n3e5,c\n",
    ] {
        let data = table(text);
        assert_eq!(reals(&data, "x"), expected, "{text:?}");
        assert_eq!(texts(&data, "y"), ["a", "b", "c"], "{text:?}");
    }
    let tsv = Dataset::from_texts(&[("t.tsv", "x,1\ty\n1\t2\n")]).unwrap();
    assert_eq!(reals(&tsv, "x,1"), [1.0]);
    let bare = Dataset::from_texts(&[("bare", "{\"x\": 1}"), ("other", "y\n2\n")]).unwrap();
    assert_eq!((reals(&bare, "x"), reals(&bare, "y")), (vec![1.0], vec![2.0]));
}

#[test]
fn quotes_hold_delimiters_breaks_and_quotes() {
    let data = table("name,x\n\"Smith, \"\"Jo\"\"\",1\n\"two\nlines\",2\nplain,3\n");
    assert_eq!(texts(&data, "name"), ["Smith, \"Jo\"", "two\nlines", "plain"]);
    assert_eq!(reals(&data, "x"), [1.0, 2.0, 3.0]);
    let lines: Vec<_> = (0..3).map(|i| data.require("x").unwrap().place(i).line.unwrap()).collect();
    assert_eq!(lines, [2, 3, 5]);
}

#[test]
fn rows_that_straddle_the_window_are_read_whole() {
    // The window is 2^18 bytes; quoted cells of odd lengths make rows that end on either side of it.
    let mut text = String::from("label,x\n");
    for i in 0..9000 {
        text.push_str(&format!("\"{}\n\",{i}\n", "ab".repeat(i % 61)));
    }
    let data = table(&text);
    let x = data.require("x").unwrap();
    assert_eq!(x.as_int().unwrap(), (0..9000).collect::<Vec<i64>>());
    assert_eq!(x.place(8999).line, Some(2 + 2 * 8999));
    assert_eq!(data.require("label").unwrap().text(60).unwrap(), "ab".repeat(60));
}

#[test]
fn missing_cells_are_nan_and_must_be_declared() {
    let data = table("x,g\n1,a\nNA,b\n,\n.,c\nnan,d\n2,e\n");
    let x = data.require("x").unwrap();
    let values = x.as_real(Missing::Keep).unwrap();
    assert_eq!(values.iter().map(|v| v.is_nan()).collect::<Vec<_>>(), [false, true, true, true, true, false]);
    let refused = x.as_real(Missing::Refuse).unwrap_err();
    assert_eq!((refused.code, refused.places[0].line), ("missing-values", Some(3)));
    assert_eq!(code(data.require("g").unwrap().as_category(&Levels::default())), "missing-values");
    // In quotes, NA is a text among texts (Namibia), and missing among numbers.
    let quoted = table("country,x\n\"NA\",\"NA\"\nDE,1\n");
    assert_eq!(texts(&quoted, "country"), ["NA", "DE"]);
    assert!(quoted.require("x").unwrap().as_real(Missing::Keep).unwrap()[0].is_nan());
    // In a table of one column a blank line is a missing cell, except at the end.
    let single = table("x\n1\n\n3\n\n");
    let x = single.require("x").unwrap();
    assert_eq!((x.len(), x.place(2).line), (3, Some(4)));
    assert!(x.as_real(Missing::Keep).unwrap()[1].is_nan());
}

#[test]
fn text_that_comes_late_keeps_what_stood_before_as_written() {
    let data = table("id,x\n01,1\n1.50,2\n\nA3,3\n");
    assert_eq!(texts(&data, "id"), ["01", "1.50", "A3"]);
    assert_eq!(reals(&data, "x"), [1.0, 2.0, 3.0]);
    // Integers beyond 2^53 would merge as numbers; as categories they stay apart, as reals they are rounded.
    let big = table("id\n9007199254740993\n9007199254740992\n");
    let id = big.require("id").unwrap();
    let levels = Levels::sorted(&[&id]);
    assert_eq!(levels.len(), 2);
    assert_eq!(reals(&big, "id"), [9007199254740992.0, 9007199254740992.0]);
    assert_eq!(code(id.as_int()), "integer-overflow");
}

#[test]
fn json_holds_scalars_and_row_major_arrays() {
    let data = json(
        r#"{"N": 2, "x": [1, 2.5e3, "Inf", -Infinity], "X": [[1, 2, 3], [4, 5, 6]],
            "t": [[[1], [2]], [[3], [4]]], "name": "caf\u00e9 \ud83d\ude00", "flag": [true, false],
            "gap": [1, null, "NaN"], "none": [], "sites": ["a", "b"], "meta": {"a": [1, {"b": 2}]}}"#,
    );
    for (name, shape) in [("N", &[][..]), ("x", &[4]), ("X", &[2, 3]), ("t", &[2, 2, 1]), ("none", &[0])] {
        assert_eq!(data.require(name).unwrap().shape(), shape, "{name}");
    }
    assert_eq!(reals(&data, "N"), [2.0]);
    assert_eq!(reals(&data, "x"), [1.0, 2500.0, f64::INFINITY, f64::NEG_INFINITY]);
    assert_eq!(reals(&data, "X"), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(texts(&data, "name"), ["café 😀"]);
    assert_eq!(data.require("flag").unwrap().as_binary().unwrap()[..], [1.0, 0.0]);
    assert_eq!(code(data.require("gap").unwrap().as_real(Missing::Refuse)), "missing-values");
    assert_eq!(data.require("X").unwrap().locate(4), "X[2, 2]");
    assert_eq!(code(data.require("meta")), "nested-object");
}

#[test]
fn columns_come_in_the_order_of_the_patterns() {
    let data = table("sex_m,age,sex_f,dose,X_10,X_2,X_1\n1,20,0,5,10,2,1\n0,30,1,6,11,3,2\n");
    let x = data.columns("x", &["age", "sex*"]).unwrap();
    assert_eq!((x.shape(), x.column_names().unwrap()), (&[2, 3][..], vec!["age", "sex_m", "sex_f"]));
    assert_eq!(x.as_real(Missing::Refuse).unwrap()[..], [20.0, 1.0, 0.0, 30.0, 0.0, 1.0]);
    assert_eq!(data.columns("x", &["dose", "*"]).unwrap().column_names().unwrap().len(), 7);
    assert_eq!(x.place(5).column.as_deref(), Some("sex_f"));
    assert_eq!(code(data.columns("x", &["age", "age"])), "repeated-column");
    assert_eq!(data.column("d", "do?e").unwrap().shape(), [2]);
    assert_eq!(code(data.column("s", "sex_?")), "several-columns");
    assert_eq!(code(data.require("X")), "column-gap");
}

#[test]
fn numbered_columns_make_a_matrix_in_the_order_of_the_numbers() {
    for names in ["X_2,y,X_1,X_3", "X.2,y,X.1,X.3", "X[2],y,X[1],X[3]"] {
        let data = table(&format!("{names}\n2,0,1,3\n5,0,4,6\n"));
        let x = data.require("X").unwrap();
        assert_eq!(x.shape(), [2, 3]);
        assert_eq!(x.as_real(Missing::Refuse).unwrap()[..], [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "{names}");
    }
}

#[test]
fn levels_are_sorted_numbers_as_numbers_and_text_as_text() {
    let data = table("n,t,m\n10,b,10\n9,B,x\n10,a,9\n");
    for (name, expected) in [("n", vec!["9", "10"]), ("t", vec!["B", "a", "b"]), ("m", vec!["10", "9", "x"])]
    {
        let found = data.require(name).unwrap();
        assert_eq!(Levels::sorted(&[&found]).labels(), expected, "{name}");
    }
    let n = data.require("n").unwrap();
    assert_eq!(n.as_category(&Levels::sorted(&[&n])).unwrap(), [2, 1, 2]);
    let t = data.require("t").unwrap();
    let given = Levels::given(&["b", "a", "B", "never"]).unwrap();
    assert_eq!(t.as_category(&given).unwrap(), [1, 3, 2]);
    assert_eq!((given.code("never"), given.code("other")), (Some(4), None));
    let given = Levels::given(&["10.0", "9"]).unwrap();
    assert_eq!(n.as_category(&given).unwrap(), [1, 2, 1]);
}

#[test]
fn columns_may_share_levels() {
    let data = table("home,away\nB,A\nC,B\n");
    let (home, away) = (data.require("home").unwrap(), data.require("away").unwrap());
    let levels = Levels::sorted(&[&home, &away]);
    assert_eq!(levels.labels(), ["A", "B", "C"]);
    assert_eq!(
        (home.as_category(&levels).unwrap(), away.as_category(&levels).unwrap()),
        (vec![2, 3], vec![1, 2])
    );
}

#[test]
fn levels_are_one_to_j_where_the_data_say_j() {
    let data = table("g,t\n3,a\n1,b\n");
    let (g, t) = (data.require("g").unwrap(), data.require("t").unwrap());
    let levels = Levels::counted(&[&g], 4, "J").unwrap();
    assert_eq!((levels.len(), levels.are_indices()), (4, true));
    assert_eq!(g.as_category(&levels).unwrap(), [3, 1]);
    assert_eq!(code(Levels::counted(&[&g], 2, "J")), "level-out-of-range");
    assert_eq!(Levels::counted(&[&t], 2, "J").unwrap().labels(), ["a", "b"]);
    assert_eq!(code(Levels::counted(&[&t], 3, "J")), "level-count");
}

#[test]
fn group_tables_are_matched_by_label() {
    let houses = ("houses.csv", "county,radon\nC,1\nA,2\nB,3\nA,4\n");
    for counties in ["county,u\nB,0.2\nC,0.3\nA,0.1\n", "u,name\n0.2,B\n0.3,C\n0.1,A\n"] {
        let data = Dataset::from_texts(&[houses, ("counties.csv", counties)]).unwrap();
        let county = data.find_category("county").unwrap().unwrap();
        assert_eq!(county.file(), "houses.csv");
        let levels = Levels::sorted(&[&county]);
        let u = data.require("u").unwrap().matched(&county, &levels).unwrap();
        assert_eq!(u.as_real(Missing::Refuse).unwrap()[..], [0.1, 0.2, 0.3]);
        assert_eq!(u.place(0).line, Some(4));
        let wide = data.columns("w", &["u", "u*"]).unwrap().matched(&county, &levels).unwrap();
        assert_eq!(wide.shape(), [3, 1]);
        let radon = data.require("radon").unwrap().matched(&county, &levels);
        assert_eq!(
            code(radon),
            "differs-within-level",
            "radon has a value for each house, not for each county"
        );
    }
    let renamed = Dataset::from_texts(&[
        ("houses.csv", "County,radon\nC,1\nA,2\nA,3\n"),
        ("counties.csv", "county,u\nA,1\nC,2\nA,3\n"),
    ]);
    let renamed = renamed.unwrap();
    let county = renamed.column("county", "County").unwrap();
    let levels = Levels::sorted(&[&county]);
    assert_eq!(code(renamed.require("u").unwrap().matched(&county, &levels)), "duplicate-label");
    assert_eq!(code(renamed.columns("x", &["radon", "u"])), "two-tables");
    let order = Dataset::from_texts(&[("counties.csv", "county,u\nB,2\nC,3\nA,1\n"), houses]).unwrap();
    assert_eq!(order.find_category("county").unwrap().unwrap().file(), "houses.csv");
    let plain = Dataset::from_texts(&[("a.csv", "g\n1\n2\n2\n"), ("b.csv", "u\n5\n6\n")]).unwrap();
    let g = plain.find_category("g").unwrap().unwrap();
    let levels = Levels::counted(&[&g], 2, "J").unwrap();
    let u = plain.require("u").unwrap().matched(&g, &levels).unwrap();
    assert_eq!(u.as_real(Missing::Refuse).unwrap()[..], [5.0, 6.0]);
}

#[test]
fn the_command_line_goes_before_the_files() {
    let mut data = json(r#"{"s": 1, "y": [1, 2]}"#);
    for (name, value) in [("s", "0.5"), ("k", "[1, 2, 3]"), ("who", "me and you"), ("inf", "-Inf")] {
        data.set_scalar(name, value).unwrap();
    }
    assert_eq!((reals(&data, "s"), reals(&data, "k")), (vec![0.5], vec![1.0, 2.0, 3.0]));
    assert_eq!(texts(&data, "who"), ["me and you"]);
    assert_eq!(reals(&data, "inf"), [f64::NEG_INFINITY]);
    assert_eq!(code(data.set_scalar("s", "")), "bad-set");
}

#[test]
fn the_same_content_in_two_files_is_one_value() {
    let data = Dataset::from_texts(&[("a.json", r#"{"y": [1, 2], "z": 1}"#), ("b.csv", "y,z\n1.0,1\n2,2\n")])
        .unwrap();
    assert_eq!(reals(&data, "y"), [1.0, 2.0]);
    assert_eq!(code(data.require("z")), "ambiguous-name");
}

#[test]
fn kinds_are_taken_strictly() {
    let data = table("i,b,w,r,n\n3.0,1,Yes,0.5,-1\n-2,0,no,2,1\n");
    let get = |name: &str| data.require(name).unwrap();
    assert_eq!((get("i").all_integers(), get("r").all_integers()), (true, false));
    assert_eq!(get("i").as_int().unwrap(), [3, -2]);
    assert_eq!(
        (get("b").as_binary().unwrap(), get("w").as_binary().unwrap()),
        ([1.0, 0.0].into(), [1.0, 0.0].into())
    );
    assert_eq!(code(get("r").as_int()), "not-an-integer");
    assert_eq!(code(get("r").as_binary()), "not-binary");
    assert_eq!(code(get("n").as_count()), "negative-count");
    assert_eq!(code(get("w").as_real(Missing::Keep)), "not-a-number");
    assert_eq!(code(get("i").as_scalar()), "not-a-scalar");
    let one = json(r#"{"a": [7]}"#);
    assert_eq!(one.require("a").unwrap().as_scalar().unwrap().shape(), [] as [usize; 0]);
}

#[test]
fn limits_hold_for_each_value() {
    let data = table("x\n1\nNA\n3\n");
    let x = data.require("x").unwrap();
    let values = x.as_real(Missing::Keep).unwrap();
    let check = |side, at: &[f64], closed| code(x.check_limit(&values, &Limit { side, at, closed }));
    assert_eq!(check(Side::Lower, &[1.0], true), "no error");
    assert_eq!(check(Side::Lower, &[1.0], false), "out-of-bounds");
    assert_eq!(check(Side::Upper, &[1.0, 0.0, 3.0], true), "no error");
    assert_eq!(check(Side::Upper, &[2.0, 0.0, 3.0], false), "out-of-bounds");
}

#[test]
fn a_line_of_ten_megabytes_is_only_a_long_line() {
    let label = "x".repeat(10 << 20);
    let data = table(&format!("a,b\n{label},1\n\"{label}\",2\n"));
    assert_eq!(data.require("a").unwrap().text(1).unwrap().len(), 10 << 20);
    let wide: String = (0..100_000).map(|i| format!("v{i},")).collect();
    let cells = "0.123456789,".repeat(100_000);
    let data = table(&format!("{wide}end\n{cells}1\n"));
    assert_eq!(reals(&data, "v99999"), [0.123456789]);
}
