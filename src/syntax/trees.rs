//! A table of every construct and the tree it is read as.

use super::{dump, parse};

/// A text, and its tree as `dump` shows it.
const TREES: &[(&str, &str)] = &[
    (
        r#"data { y : real[J]; sigma : real[J] > 0 }"#,
        r#"
data
  y
    type real
      size
        J
  sigma
    type real
      size
        J
      above
        0
"#,
    ),
    (
        r#"data x : real[N, D] = columns("age", "sex*")"#,
        r#"
data
  x
    type real
      size
        N
      size
        D
    columns
      "age"
      "sex*"
"#,
    ),
    (
        r#"data s : real[N] missing = column("Kid score")"#,
        r#"
data
  s
    type real
      size
        N
    missing
    column
      "Kid score"
"#,
    ),
    (
        r#"data { N : int = 5, k : count[N] }"#,
        r#"
data
  N
    type int
    default
      5
  k
    type count
      size
        N
"#,
    ),
    (
        r#"data g : category[N] of J levels("low", "high")"#,
        r#"
data
  g
    type category
      size
        N
      of J
      levels
        "low"
        "high"
"#,
    ),
    (
        r#"data b : binary[N]"#,
        r#"
data
  b
    type binary
      size
        N
"#,
    ),
    (
        r#"param mu ~ normal(0, 5)"#,
        r#"
param mu
  prior
    ~ normal
      0
      5
"#,
    ),
    (
        r#"param theta[J] : real ~ normal(mu, sigma = 1) noncentered"#,
        r#"
param theta
  size
    J
  type real
  prior
    ~ normal
      mu
      sigma =
        1
  noncentered
"#,
    ),
    (
        r#"param a : real >= 0 < 1 - b ~ flat() centered"#,
        r#"
param a
  type real
    at or above
      0
    below
      -
        1
        b
  prior
    ~ flat
  centered
"#,
    ),
    (
        r#"param p : real in [0, 1)"#,
        r#"
param p
  type real
    at or above
      0
    below
      1
"#,
    ),
    (
        r#"param z : real[K] offset m multiplier 2 * s"#,
        r#"
param z
  type real
    size
      K
    offset
      m
    multiplier
      *
        2
        s
"#,
    ),
    (
        r#"param t[M] : simplex[K] ~ dirichlet(alpha)"#,
        r#"
param t
  size
    M
  type simplex
    size
      K
  prior
    ~ dirichlet
      alpha
"#,
    ),
    (
        r#"param c : cholesky_factor_corr[K]"#,
        r#"
param c
  type cholesky_corr
    size
      K
"#,
    ),
    (
        r#"param u : unit_vector[3]"#,
        r#"
param u
  type unit_vector
    size
      3
"#,
    ),
    (
        r#"param o : positive_ordered[3]"#,
        r#"
param o
  type positive_ordered
    size
      3
"#,
    ),
    (
        r#"let eta = rowsum(x .* beta[clinic])"#,
        r#"
let eta
  call rowsum
    .*
      x
      index
        beta
        at
          clinic
"#,
    ),
    (
        r#"let s[t, 1] = sqrt(a)"#,
        r#"
let s
  at
    t
  at
    1
  call sqrt
    a
"#,
    ),
    (
        r#"let q = -x^2 + !b'"#,
        r#"
let q
  +
    -
      ^
        x
        2
    !
      transpose
        b
"#,
    ),
    (
        r#"let l = normal_lpdf(y | mu, 1)"#,
        r#"
let l
  call normal_lpdf
    y
    mu
    1
"#,
    ),
    (
        r#"let r = x[i, 2..K, :, ..3, 4.., ..]"#,
        r#"
let r
  index
    x
    at
      i
    range
      from
        2
      to
        K
    all
    range
      to
        3
    range
      from
        4
    range
"#,
    ),
    (
        r#"let m = [[1, 2.5], [true, "a"]]"#,
        r#"
let m
  array
    array
      1
      2.5
    array
      1
      "a"
"#,
    ),
    (
        r#"let w = a || b && c == d"#,
        r#"
let w
  ||
    a
    &&
      b
      ==
        c
        d
"#,
    ),
    (
        r#"for t in 2..T { let s[t] = s[t-1] }"#,
        r#"
for t
  from
    2
  to
    T
  do
    let s
      at
        t
      index
        s
        at
          -
            t
            1
"#,
    ),
    (
        r#"if N > 1 { y ~ flat() } else if M { z ~ flat() } else { target += 1 }"#,
        r#"
if
  >
    N
    1
  then
    sample
      y
      ~ flat
  else
    if
      M
      then
        sample
          z
          ~ flat
      else
        target
          1
"#,
    ),
    (
        r#"fn f(a, b) = a * b"#,
        r#"
fn f(a, b)
  return
    *
      a
      b
"#,
    ),
    (
        r#"fn g(x) { let y = x; return y / 2 }"#,
        r#"
fn g(x)
  let y
    x
  return
    /
      y
      2
"#,
    ),
    (
        r#"fn h() = 1"#,
        r#"
fn h()
  return
    1
"#,
    ),
    (
        r#"y ~ poisson_log(eta) weight w"#,
        r#"
sample
  y
  ~ poisson_log
    eta
  weight
    w
"#,
    ),
    (
        r#"(y - m) ~ mixture(w: normal(0, 1), 1 - w: cauchy(0, 1))"#,
        r#"
sample
  -
    y
    m
  ~ mixture
    part
      w
      ~ normal
        0
        1
    part
      -
        1
        w
      ~ cauchy
        0
        1
"#,
    ),
    (
        r#"y ~ truncated(normal(0, 1), lower = 0, upper = u)"#,
        r#"
sample
  y
  ~ truncated
    ~ normal
      0
      1
    lower
      0
    upper
      u
"#,
    ),
    (
        r#"y ~ censored(weibull(a, b), right = c, lower = 1)"#,
        r#"
sample
  y
  ~ censored
    ~ weibull
      a
      b
    right
      c
    lower
      1
"#,
    ),
    (
        r#"y ~ zero_inflated(p, poisson(lambda))"#,
        r#"
sample
  y
  ~ zero_inflated
    p
    ~ poisson
      lambda
"#,
    ),
    (
        r#"target += sum(x, axis = 1)"#,
        r#"
target
  call sum
    x
    axis =
      1
"#,
    ),
    (
        r#"derive d = tau^-2"#,
        r#"
derive d
  ^
    tau
    -
      2
"#,
    ),
    (
        r#"derive d[J] = tau"#,
        r#"
derive d
  size
    J
  tau
"#,
    ),
    (
        r#"predict y_rep[J] ~ normal(theta, sigma)"#,
        r#"
predict y_rep
  size
    J
  ~ normal
    theta
    sigma
"#,
    ),
];

#[test]
fn every_construct_is_read_as_its_tree() {
    for (source, tree) in TREES {
        let program = parse(source).unwrap_or_else(|problems| panic!("{source}\n{problems:#?}"));
        assert_eq!(dump(&program), tree.trim_start_matches('\n'), "{source}");
    }
}
