//! Tables that end in the middle of a line: complete ones are read, what is seen to be cut off is refused or
//! doubted.

use stickler::data::{Dataset, Levels, Missing};

fn table(last: &str) -> Dataset {
    Dataset::from_texts(&[("t.csv", format!("x,y\n1,2.25\n2,-3.5\n3,{last}"))]).unwrap()
}

#[test]
fn a_last_cell_without_an_end_of_line_is_complete_or_half_a_number() {
    for (last, value) in
        [("4.75", 4.75), ("4", 4.0), ("-0.5e1", -5.0), ("Inf", f64::INFINITY), ("\"4\"", 4.0), ("7 ", 7.0)]
    {
        let found = table(last).require("y").unwrap().as_real(Missing::Refuse).unwrap();
        assert_eq!(found[2], value, "{last}");
    }
    assert!(table("NA").require("y").unwrap().as_real(Missing::Keep).unwrap()[2].is_nan());
    for last in ["4.", "-4.", "4e", "4.7e", "4e-", "4.7E+", "-", "+", "N", "In", "-In", "nul"] {
        let data = table(last);
        let error = data.require("y").unwrap_err();
        assert!(error.code == "cut-off" && error.message.contains("line 4"), "{last}: {error:?}");
        assert!(data.require("x").is_ok(), "{last}");
        // The same with an end of line is what it says.
        let ended = table(&format!("{last}\n"));
        assert!(ended.require("y").is_ok(), "{last}");
    }
}

#[test]
fn half_a_row_and_half_a_quote_are_refused() {
    for (text, code) in [
        ("x,y\n1,2\n3", "ragged-row"),
        ("x,y\n1,2\n3,\"a", "unclosed-quote"),
        ("x,y\n1,2\n3,\"a,\n4", "unclosed-quote"),
    ] {
        let error = Dataset::from_texts(&[("t.csv", text)]).unwrap_err();
        assert_eq!(error.code, code, "{text}");
    }
}

#[test]
fn a_label_that_begins_another_is_doubted() {
    let labels = |last: &str| format!("y,g\n1,north\n2,south\n3,north\n4,{last}");
    for (last, doubted) in
        [("nor", true), ("s", true), ("south", false), ("west", false), ("nor\n", false), ("northern", false)]
    {
        let data = Dataset::from_texts(&[("t.csv", labels(last))]).unwrap();
        let found = data.require("g").unwrap();
        assert!(found.as_category(&Levels::sorted(&[&found])).is_ok(), "{last}");
        assert_eq!(data.doubts().count(), usize::from(doubted), "{last}");
    }
}
