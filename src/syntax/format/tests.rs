//! Tests of the formatter: what it does to layouts, and that it is a fixed point of itself.

use super::{format, lay_out};
use crate::syntax::dump::dump;
use crate::syntax::parse;

/// Checks that a text is laid out as expected, that doing it again changes nothing, and that the meaning is
/// the same.
fn check(source: &str, expected: &str) {
    let formatted = lay_out(source);
    assert_eq!(formatted, expected, "from\n{source}");
    assert_eq!(lay_out(&formatted), formatted, "twice, from\n{source}");
    assert_eq!(dump(&parse(source).unwrap()), dump(&parse(&formatted).unwrap()), "meaning of\n{source}");
    assert_eq!(format(source).unwrap(), expected);
}

#[test]
fn blanks_within_a_line() {
    for (source, expected) in [
        ("let  x=a+b *c", "let x = a + b * c"),
        ("let x = - a ^ - 2 - ( - b )", "let x = -a^-2 - (-b)"),
        ("let x = f ( a , b = 1 ) [ t - 1 , : ] '", "let x = f(a, b = 1)[t-1, :]'"),
        ("let x = r[2 .. T]+r[ .. 3 ]+r[ 4 ..]", "let x = r[2..T] + r[..3] + r[4..]"),
        ("let x = [a+b,c]", "let x = [a + b, c]"),
        ("let x = ! a&&b", "let x = !a && b"),
        ("y~poisson (a)weight(w)", "y ~ poisson(a) weight (w)"),
        ("let x=f(1)\nweight[2]~normal(0,1)", "let x = f(1)\nweight[2] ~ normal(0, 1)"),
        ("y~normal(a,b)weight - w", "y ~ normal(a, b) weight -w"),
        ("y~normal(a,b)weight weight - w", "y ~ normal(a, b) weight weight - w"),
        (
            "y ~ mixture( w :normal(0,1) , 1-w:normal (1,2))",
            "y ~ mixture(w: normal(0, 1), 1 - w: normal(1, 2))",
        ),
        ("param x[J,2]:real in(0,1]~flat ( )", "param x[J, 2] : real in (0, 1] ~ flat()"),
        ("param x:real>-1", "param x : real > -1"),
        ("for t in-1..T{let s[t]=1}", "for t in -1..T { let s[t] = 1 }"),
        ("if(a){}else if b{}else{}", "if (a) {} else if b {} else {}"),
        ("fn f( a,b )=a", "fn f(a, b) = a"),
        ("fn f(a){let b=a;return - b}", "fn f(a) { let b = a; return -b }"),
        ("target+=normal_lpdf(y|0,1)", "target += normal_lpdf(y | 0, 1)"),
        ("let x = 2. ^ y + x[1. .. 2]", "let x = 2. ^y + x[1. ..2]"),
        ("let a = 1;let b = 2;", "let a = 1\nlet b = 2"),
        (
            "data { a:real[N-1]missing=columns( \"a\",\"b*\" ),b:int }",
            "data { a : real[N-1] missing = columns(\"a\", \"b*\"); b : int }",
        ),
    ] {
        check(source, &format!("{expected}\n"));
    }
}

#[test]
fn blocks_blank_lines_and_alignment() {
    check(
        "\n\n\ndata {\n\n y : real[J]\n\n\n\n sigma : real[J] > 0; k:int,\n\n}\nparam mu ~ normal(0, 5)\nparam theta[J] : real ~ normal(mu, 1)\n\n\n\n\ny ~ normal(theta, sigma)\n\n",
        "data {\n  y : real[J]\n\n  sigma : real[J] > 0\n  k     : int\n}\nparam mu       ~ normal(0, 5)\nparam theta[J] : real ~ normal(mu, 1)\n\ny ~ normal(theta, sigma)\n",
    );
    check(
        "for t in 2..T\n{\nlet s[t] = 1\nif N > 1 { y[t] ~ flat() }\nelse\n{\nz[t] ~ flat()\n}\n}",
        "for t in 2..T {\n  let s[t] = 1\n  if N > 1 { y[t] ~ flat() } else {\n    z[t] ~ flat()\n  }\n}\n",
    );
    check("", "");
    check("\n \n", "");
}

#[test]
fn comments_stay() {
    check(
        "#  title\n\n\n# more\ndata { # about data\n # own\n y : real[N]# trailing\n sigma : real // other\n # last\n}\n# end",
        "#  title\n\n# more\ndata {  # about data\n  # own\n  y     : real[N]  # trailing\n  sigma : real     // other\n  # last\n}\n# end\n",
    );
    check(
        "let x = f(a, # first\n # own\n b,\n c # third\n)\nparam y # name\n ~ normal(0, 1) # prior\nfor i in 1..2 # loop\n{ # body\n let z[i] = 1 # in\n} # out\nif a { } # then\nelse { } # else",
        "let x = f(a,  # first\n  # own\n  b,\n  c  # third\n)\nparam y           # name\n  ~ normal(0, 1)  # prior\nfor i in 1..2     # loop\n{                 # body\n  let z[i] = 1    # in\n}                 # out\nif a {}           # then\nelse {}           # else\n",
    );
}

#[test]
fn line_breaks_within_a_statement_stay() {
    check(
        "let x = a\n+ b *\n(c +\nd)\ny ~ mixture(\nw: normal(0, 1),\n1 - w: truncated(\nnormal(0, 1),\nlower = 0)\n)\n\nparam z\n: real\n~ flat()",
        "let x = a\n  + b *\n  (c +\n  d)\ny ~ mixture(\n  w: normal(0, 1),\n  1 - w: truncated(\n    normal(0, 1),\n    lower = 0)\n)\n\nparam z\n  : real\n  ~ flat()\n",
    );
}

#[test]
fn a_wrong_model_is_refused() {
    assert_eq!(format("let x = (").unwrap_err()[0].code, "unclosed-bracket");
}
