//! The falsifier: sampled Hessians, gradients and chords of thousands of random models against what is
//! certified of them.

use crate::certificates;

use certificates::{falsify, try_model};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;
use stickler::certify::certify;
use stickler::num::stream::Stream;

/// Writes random models: priors of all kinds, nested functions, likelihoods, weights, bounds.
struct Author {
    rng: Stream,
    names: Vec<String>,
}

/// A model and its table.
struct Work {
    source: String,
    csv: String,
}

const UNARY: &[&str] = &[
    "exp",
    "log",
    "square",
    "tanh",
    "log1p_exp",
    "inv_logit",
    "abs",
    "sqrt",
    "log1p",
    "expm1",
    "sin",
    "cos",
    "atan",
    "inv",
    "Phi",
    "log_Phi",
    "log_inv_logit",
    "log1m_inv_logit",
    "lgamma",
    "sinh",
    "cosh",
    "asinh",
    "erf",
    "cbrt",
    "inv_sqrt",
    "inv_cloglog",
    "log1m",
    "log1m_exp",
    "logit",
    "digamma",
    "exp2",
    "floor",
    "inv_Phi",
    "tgamma",
];

const PRIORS: &[(&str, &str)] = &[
    ("", "normal(C, P)"),
    ("", "normal(C, P)"),
    ("", "logistic(C, P)"),
    ("", "student_t(P, C, P)"),
    ("", "cauchy(C, P)"),
    ("", "double_exponential(C, P)"),
    ("", "gumbel(C, P)"),
    ("", "skew_normal(C, P, C)"),
    ("", "exp_mod_normal(C, P, P)"),
    ("", "flat()"),
    (" : real > 0", "gamma(P, P)"),
    (" : real > 0", "inv_gamma(P, P)"),
    (" : real > 0", "lognormal(C, P)"),
    (" : real > 0", "exponential(P)"),
    (" : real > 0", "half_normal(P)"),
    (" : real > 0", "half_cauchy(P)"),
    (" : real > 0", "half_student_t(P, P)"),
    (" : real > 0", "weibull(P, P)"),
    (" : real > 0", "frechet(P, P)"),
    (" : real > 0", "rayleigh(P)"),
    (" : real > 0", "chi_square(P)"),
    (" : real > 0", "inv_chi_square(P)"),
    (" : real > 0", "scaled_inv_chi_square(P, P)"),
    (" : real > 0", "loglogistic(P, P)"),
    (" : real > 0", "normal(C, P)"),
    (" : real > 0.5", "normal(C, P)"),
    (" : real > C", "normal(C, P)"),
    (" : real < C", "normal(C, P)"),
    (" : real in (0, 1)", "beta(P, P)"),
    (" : real in (0, 1)", "beta_proportion(0.3, P)"),
    (" : real in (0, 1)", "flat()"),
    (" : real in (-1, 2)", "normal(C, P)"),
    (" : real in (0, P)", "flat()"),
    (" : real > 0", "flat()"),
];

const LIKELIHOODS: &[&str] = &[
    "y ~ normal(AFFINE, P)",
    "y ~ normal(AFFINE, P) weight u",
    "y ~ normal(ANY, P)",
    "y ~ normal(AFFINE, POSITIVE)",
    "y ~ student_t(P, AFFINE, P)",
    "y ~ cauchy(AFFINE, P)",
    "y ~ logistic(AFFINE, P)",
    "y ~ logistic(ANY, P)",
    "y ~ double_exponential(AFFINE, P)",
    "y ~ gumbel(AFFINE, P)",
    "y ~ skew_normal(AFFINE, P, C)",
    "y ~ exp_mod_normal(AFFINE, P, P)",
    "b ~ bernoulli_logit(AFFINE)",
    "b ~ bernoulli_logit(ANY)",
    "b ~ bernoulli(inv_logit(AFFINE))",
    "b ~ bernoulli(Phi(AFFINE))",
    "b ~ bernoulli(inv_cloglog(AFFINE))",
    "k ~ poisson_log(AFFINE)",
    "k ~ poisson(exp(AFFINE))",
    "k ~ poisson(POSITIVE)",
    "k ~ binomial_logit(20, AFFINE)",
    "k ~ neg_binomial_2_log(AFFINE, P)",
    "k ~ neg_binomial_2(exp(AFFINE), P)",
    "k ~ neg_binomial_2_log(AFFINE, POSITIVE)",
    "p ~ exponential(exp(AFFINE))",
    "p ~ gamma(P, exp(AFFINE))",
    "p ~ lognormal(AFFINE, P)",
    "p ~ weibull(P, exp(AFFINE))",
    "p ~ inv_gamma(P, exp(AFFINE))",
    "p ~ loglogistic(exp(AFFINE), P)",
    "y ~ truncated(normal(AFFINE, P), -9, 9)",
    "y ~ truncated(logistic(AFFINE, P), -9, 9)",
    "y ~ truncated(gumbel(AFFINE, P), -9, 9)",
    "p ~ exponential(exp(AFFINE) ./ (1 + u) .* exp(a0))",
    "p ~ gamma(P, P ./ (exp(AFFINE) * exp(SCALAR)))",
    "k ~ poisson(sqrt(exp(AFFINE)) .* exp(AFFINE))",
    "k ~ poisson(log1p_exp(AFFINE))",
    "k ~ binomial(20, Phi(AFFINE))",
    "k ~ binomial(20, inv_cloglog(AFFINE))",
    "k ~ geometric(inv_logit(AFFINE))",
    "k ~ geometric(1 - inv_logit(ANY))",
    "b ~ bernoulli(1 - exp(-exp(AFFINE)))",
    "b ~ bernoulli(1 ./ (1 + exp(-(AFFINE))))",
    "b ~ bernoulli(P / 4 + 0.2 * inv_logit(AFFINE))",
    "lev ~ ordered_logistic(AFFINE, [-1, -0.9, P])",
    "lev ~ ordered_logistic(AFFINE, [-1, 1, 9])",
    "y ~ mixture(inv_logit(a0): normal(C, P), 1 - inv_logit(a0): normal(C, P))",
    "y ~ mixture(inv_logit(a0): normal(AFFINE, P), 1 - inv_logit(a0): normal(C, P))",
    "y ~ mixture(0.3: normal(AFFINE, P), 0.7: normal(AFFINE, P))",
    "y ~ multi_student_t(P, AFFINE, [[2, 0.5, 0], [0.5, 1, 0], [0, 0, P]])",
    "target += -log(exp(SCALAR) + exp(SCALAR) + exp(C))",
    "target += -log(sum(exp(AFFINE)))",
    "target += C * log_add_exp(log_add_exp(SCALAR, SCALAR), SCALAR)",
    "target += -sqrt(sum(square(AFFINE)))",
    "target += C * sqrt(P + dot_self(AFFINE))",
    "target += C * log(P + dot_self(AFFINE))",
    "target += -log1p(dot_self(ANY))",
    "target += C * sum(log(cosh(AFFINE)))",
    "target += C * sum(log(log1p_exp(AFFINE)))",
    "target += -exp(a0) * exp(SCALAR)",
    "target += -exp(a0) / exp(SCALAR) + C * exp(a0)",
    "target += log(P * exp(SCALAR) * exp(SCALAR))",
    "param s : simplex[4] ~ dirichlet([P, P, P, P])\nlev ~ categorical(s)",
    "param s : simplex[3] ~ dirichlet([P, P, P])\ntarget += C * log(s[2])",
    "param o : ordered[3] ~ normal(C, P)",
    "param o : positive_ordered[3] ~ exponential(P)\ntarget += C * o[1]",
    "target += sum(ANY)",
    "target += -sum(square(AFFINE))",
    "target += -sum(square(ANY))",
    "target += -sum(log1p_exp(ANY))",
    "target += -sum(exp(ANY))",
    "target += C * sum(ANY)",
    "target += sum(log_inv_logit(AFFINE)) * P",
    "target += -log_sum_exp([SCALAR, SCALAR, C])",
    "target += -max([SCALAR, SCALAR])",
    "target += -abs(SCALAR)",
    "target += log_mix(0.3, SCALAR, SCALAR)",
    "target += -log_add_exp(SCALAR, SCALAR)",
    "target += min([SCALAR, C])",
    "target += -hypot(SCALAR, P)",
    "(k + 1) ~ truncated(poisson_log(AFFINE), lower = 1)",
    // Rates beyond e^20 leave no digits of what is left when they are divided out again.
    "k ~ truncated(poisson(exp(0.1 * (AFFINE))), upper = 9)",
    "k ~ truncated(binomial_logit(20, AFFINE), lower = 0, upper = 12)",
    "target += C * sum(poisson_log_lccdf(2 | AFFINE)) + P * sum(poisson_log_lpmf(k | AFFINE))",
    "b ~ bernoulli(0.2 + 0.8 * inv_logit(AFFINE))",
    "b ~ bernoulli(0.2 + 0.8 * Phi(ANY))",
    "k ~ poisson(log1p_exp(ANY))",
    "lev ~ ordered_logistic(AFFINE, a0 + [-1, P, 9])",
    "lev ~ ordered_probit(AFFINE, [C, a0, a0 + 1] + a0 .* [0, 0, 0])",
    "y ~ mixture(0.3: normal(AFFINE, P), 0.7: normal(C, P))",
    "let eta = AFFINE\ny ~ mixture(0.9: normal(eta, P), 0.1: normal(eta, P))",
    "let eta = AFFINE\ny ~ mixture(0.2: normal(eta, P), 0.8: normal(eta + C, P))",
    "target += -sum(square(fmax(AFFINE, 0)))",
    "target += C * sum(square(fmin(C * tanh(AFFINE), 0)))",
    "target += -sum(square(abs(ANY) + C))",
];

impl Author {
    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[(self.rng.uniform() * from.len() as f64) as usize % from.len()]
    }

    fn chance(&mut self, p: f64) -> bool {
        self.rng.uniform() < p
    }

    fn constant(&mut self) -> String {
        let plain = ["0", "1", "-1", "2", "0.5", "-0.5"];
        if self.chance(0.4) {
            self.pick(&plain).to_string()
        } else {
            format!("{:.2}", 2.0 * self.rng.normal())
        }
    }

    fn positive(&mut self) -> String {
        if self.chance(0.3) { "1".into() } else { format!("{:.2}", 0.2 + 3.0 * self.rng.uniform()) }
    }

    fn name(&mut self) -> String {
        let k = (self.rng.uniform() * self.names.len() as f64) as usize;
        self.names[k.min(self.names.len() - 1)].clone()
    }

    fn affine(&mut self) -> String {
        let mut out = if self.chance(0.5) { self.constant() } else { "0".into() };
        for _ in 0..1 + usize::from(self.chance(0.6)) {
            let name = self.name();
            let by = ["x", "x .* x", "1", "u", "-x"];
            let by = if self.chance(0.3) { self.constant() } else { self.pick(&by).to_string() };
            let _ = write!(out, " + ({by}) .* {name}");
        }
        out
    }

    /// An expression of any kind.
    fn any(&mut self, depth: usize, vectors: bool) -> String {
        if depth == 0 {
            return match self.rng.uniform() {
                r if r < 0.6 => self.name(),
                r if r < 0.75 && vectors => "x".into(),
                r if r < 0.9 && vectors => format!("({})", self.affine()),
                _ => self.constant(),
            };
        }
        let inner = self.any(depth - 1, vectors);
        match self.rng.uniform() {
            r if r < 0.5 => format!("{}({inner})", self.pick(UNARY)),
            r if r < 0.6 => format!("({inner} + {})", self.any(depth - 1, vectors)),
            r if r < 0.7 => format!("({inner} .* {})", self.any(depth - 1, vectors)),
            r if r < 0.75 => format!("({inner} ./ {})", self.any(depth - 1, vectors)),
            r if r < 0.8 => format!("({inner})^{}", self.pick(&["3", "1.5", "-2", "4", "0.5"])),
            r if r < 0.84 => format!("fmax({inner}, {})", self.constant()),
            r if r < 0.88 => format!("fmin({inner}, {})", self.any(0, vectors)),
            r if r < 0.92 => format!("where({inner} > 0, {inner}, {})", self.any(0, vectors)),
            r if r < 0.96 => format!("({} .* {inner})", self.constant()),
            _ => format!("log_add_exp({inner}, {})", self.any(0, vectors)),
        }
    }

    fn positive_expression(&mut self) -> String {
        let inner = if self.chance(0.7) { self.name() } else { self.any(1, false) };
        format!("{}({inner})", self.pick(&["exp", "log1p_exp", "square", "abs"]))
    }

    /// A template with its placeholders filled in.
    fn fill(&mut self, template: &str) -> String {
        let mut out = template.to_string();
        for (place, kind) in [("AFFINE", 0), ("ANY", 1), ("SCALAR", 2), ("POSITIVE", 3), ("P", 4), ("C", 5)] {
            while let Some(at) = find_word(&out, place) {
                let depth = 1 + (2.99 * self.rng.uniform()) as usize;
                let text = match kind {
                    0 => self.affine(),
                    1 => self.any(depth, true),
                    2 => self.any(depth - 1, false),
                    3 => self.positive_expression(),
                    4 => self.positive(),
                    _ => self.constant(),
                };
                out.replace_range(at..at + place.len(), &text);
            }
        }
        out
    }

    fn write(&mut self) -> Work {
        self.names.clear();
        let mut source = String::from(
            "data {\n  x : real[N]\n  y : real[N]\n  u : real[N]\n  p : real[N] > 0\n  k : count[N]\n  b : binary[N]\n  lev : int[N]\n}\n",
        );
        let parameters = 1 + (2.5 * self.rng.uniform()) as usize;
        for i in 0..parameters {
            let plain = self.chance(0.5);
            let last = if plain { 1 } else { PRIORS.len() };
            let (bounds, prior) = PRIORS[((self.rng.uniform() * last as f64) as usize).min(last - 1)];
            let (bounds, prior) = (self.fill(bounds), self.fill(prior));
            let _ = writeln!(source, "param a{i}{bounds} ~ {prior}");
            self.names.push(format!("a{i}"));
        }
        for _ in 0..1 + usize::from(self.chance(0.4)) {
            let template = self.pick(LIKELIHOODS);
            let line = self.fill(template);
            source += &line;
            source.push('\n');
        }
        Work { source, csv: self.table() }
    }

    fn table(&mut self) -> String {
        let mut csv = String::from("x,y,u,p,k,b,lev\n");
        for _ in 0..3 {
            let (x, y, u) = (self.rng.normal(), 2.0 * self.rng.normal(), self.rng.uniform());
            let (p, k, b) = (0.1 + self.rng.uniform(), (5.0 * self.rng.uniform()) as u32, self.chance(0.5));
            let level = 1 + (4.0 * self.rng.uniform()) as u32 % 4;
            let _ = writeln!(csv, "{x:.3},{y:.3},{u:.3},{p:.3},{k},{},{level}", u8::from(b));
        }
        csv
    }
}

fn find_word(text: &str, word: &str) -> Option<usize> {
    let plain = |c: Option<char>| !c.is_some_and(|c| c.is_alphanumeric() || c == '_');
    text.match_indices(word)
        .map(|(at, _)| at)
        .find(|&at| plain(text[..at].chars().next_back()) && plain(text[at + word.len()..].chars().next()))
}

/// Models tried; STICKLER_FALSIFY sets another number.
fn models() -> u64 {
    std::env::var("STICKLER_FALSIFY").ok().and_then(|n| n.parse().ok()).unwrap_or(10_000)
}

/// The tier of the model of a seed, and how it refutes its certificate if it does; None where it is no model.
fn tried(seed: u64) -> Option<(&'static str, Option<String>)> {
    let mut author = Author { rng: Stream::new(seed, 1, 0), names: Vec::new() };
    let work = author.write();
    let target = try_model(&work.source, &work.csv).ok()?;
    let certificate = certify(target.lowered());
    let tier = certificate.tier.name();
    let lie = falsify(&target, &certificate, &mut Stream::new(seed, 2, 0), 8);
    Some((tier, lie.map(|lie| format!("seed {seed}: {tier} but {lie}\n{}{}", work.source, work.csv))))
}

#[test]
fn no_random_model_refutes_its_certificate() {
    let found: Vec<_> = (0..models()).into_par_iter().map(tried).collect();
    let wrong = found.iter().filter(|model| model.is_none()).count();
    let mut tiers: BTreeMap<&str, usize> = BTreeMap::new();
    let mut lies = Vec::new();
    for (tier, lie) in found.into_iter().flatten() {
        *tiers.entry(tier).or_default() += 1;
        lies.extend(lie);
    }
    println!("{tiers:?}, {wrong} not models");
    assert!(lies.is_empty(), "{} lies; the first: {}", lies.len(), lies[..lies.len().min(3)].join("\n\n"));
    assert!(wrong as u64 * 5 < models(), "the author writes nonsense: {wrong} of {}", models());
}
