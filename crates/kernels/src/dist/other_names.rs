//! Names that other languages give to distributions, each with what is written here instead.

/// A series of first order, an element given the one before.
const AUTOREGRESSION: &str = "write the first element and the others: `f[1] ~ normal(0, s / sqrt(1 - rho^2))` and `f[2..N] ~ normal(rho * f[1..N-1], s)`";

/// The sum of a normal and an exponential variable.
const EX_GAUSSIAN: &str =
    "write `exp_mod_normal(mu, sigma, lambda)`: lambda is the rate of the exponential part";

/// A probability whose logit is normal.
const LOGIT_NORMAL: &str = "write `param z ~ normal(mu, sigma)` and `let p = inv_logit(z)`";

/// A matrix with covariances of rows and of columns.
const MATRIX_NORMAL: &str = "rows that are independent have `multi_normal(mu, Sigma)` each; a latent matrix is `let x = mu + L_rows * z * L_columns'` with `param z[N, K] ~ std_normal()`";

/// Several distributions, each with its weight.
const MIXTURE: &str = "write `mixture(w: normal(a, s), 1 - w: normal(b, s))`, each part after its weight";

/// BUGS', R's, PyMC's or Stan's name, and what to say about it.
static NAMES: &[(&str, &str)] = &[
    ("ar1", AUTOREGRESSION),
    ("ar", AUTOREGRESSION),
    ("asymmetric_laplace", "write its log density with `target +=`"),
    ("bern", "write `bernoulli(theta)`"),
    ("bernoulli_cloglog", "write `bernoulli(inv_cloglog(eta))`"),
    (
        "bernoulli_logit_glm",
        "write `bernoulli_logit(alpha + x * beta)`: predictors are collected by themselves",
    ),
    ("bernoulli_probit", "write `bernoulli(Phi(eta))`"),
    ("bin", "write `binomial(N, theta)`"),
    ("binom", "write `binomial(N, theta)`"),
    ("binomial_cloglog", "write `binomial(N, inv_cloglog(eta))`"),
    (
        "binomial_logit_glm",
        "write `binomial_logit(N, alpha + x * beta)`: predictors are collected by themselves",
    ),
    ("binomial_probit", "write `binomial(N, Phi(eta))`"),
    ("categorical_logit_glm", "write `categorical_logit(alpha + x * beta)`"),
    (
        "censored",
        "write `censored(normal(mu, sigma), right = c)` with marks 0 and 1, or `upper = c` with a limit",
    ),
    ("dbern", "write `bernoulli(theta)`"),
    ("dbeta", "write `beta(alpha, beta)`"),
    ("dbin", "write `binomial(N, theta)`: the number of trials comes first"),
    ("dcat", "write `categorical(theta)`"),
    ("ddirch", "write `dirichlet(alpha)`"),
    ("dexp", "write `exponential(rate)`"),
    ("dgamma", "write `gamma(shape, rate)`"),
    (
        "discrete_uniform",
        "an observed integer has a constant density, which can be left out; a latent one is summed out with `mixture`",
    ),
    (
        "dlnorm",
        "write `lognormal(mu, sigma)`: the last argument is a standard deviation, 1 / sqrt(precision)",
    ),
    ("dmnorm", "write `multi_normal_prec(mu, Omega)`"),
    ("dmulti", "write `multinomial(theta)`"),
    ("dnegbin", "write `neg_binomial(r, p / (1 - p))` for `dnegbin(p, r)`"),
    ("dnorm", "write `normal(mu, sigma)`: the last argument is a standard deviation, 1 / sqrt(precision)"),
    ("dpois", "write `poisson(lambda)`"),
    (
        "dt",
        "write `student_t(nu, mu, sigma)`: degrees of freedom come first, and `sigma` is a scale, 1 / sqrt(precision)",
    ),
    ("dunif", "write `uniform(a, b)`"),
    ("dweib", "write `weibull(v, lambda^(-1 / v))` for `dweib(v, lambda)`: the last argument is a scale"),
    ("exgauss", EX_GAUSSIAN),
    ("exgaussian", EX_GAUSSIAN),
    ("expon", "write `exponential(rate)`"),
    ("exponnorm", EX_GAUSSIAN),
    (
        "car",
        "write `multi_normal_prec(mu, tau * (D - alpha * W))` with the adjacency matrix W and D = diag_matrix(rowsum(W))",
    ),
    (
        "car_normal",
        "write `flat()` and `target += -0.5 * dot_self(phi[a] - phi[b])` over the pairs of neighbours: models/spatial_icar.ppl",
    ),
    ("gaussian", "write `normal(mu, sigma)`"),
    (
        "gen_extreme_value",
        "define it with `fn gev_lpdf(y, mu, sigma, xi) = ...`; `gumbel(mu, beta)` is the case xi = 0",
    ),
    ("gev", "define it with `fn gev_lpdf(y, mu, sigma, xi) = ...`; `gumbel(mu, beta)` is the case xi = 0"),
    (
        "gp",
        "write `gp_exp_quad(x, alpha, rho)`, or another of `stickler list distributions` that begins with gp_",
    ),
    ("half_flat", "write `param s : real > 0 ~ flat()`"),
    ("half_t", "write `half_student_t(nu, sigma)`"),
    ("halft", "write `half_student_t(nu, sigma)`"),
    ("horseshoe", "write it with `half_cauchy` scales: models/horseshoe.ppl shows how"),
    (
        "hurdle",
        "define it: `fn hurdle_poisson_lpmf(y, p, lambda) = where(y == 0, log(p), log1m(p) + poisson_lpmf(y | lambda) - poisson_lccdf(0 | lambda))`",
    ),
    (
        "hurdle_lognormal",
        "describe the rows with `y > 0` by `weight y > 0`, and whether they are by `bernoulli`",
    ),
    ("hurdle_gamma", "describe the rows with `y > 0` by `weight y > 0`, and whether they are by `bernoulli`"),
    (
        "hurdle_negbinomial",
        "define it from neg_binomial_2_lpmf as the manual defines hurdle_poisson: `fn hurdle_negbinomial_lpmf(y, p, mu, phi) = ...`",
    ),
    (
        "hurdle_poisson",
        "define it: `fn hurdle_poisson_lpmf(y, p, lambda) = where(y == 0, log(p), log1m(p) + poisson_lpmf(y | lambda) - poisson_lccdf(0 | lambda))`",
    ),
    (
        "hurdlepoisson",
        "define it as the manual defines hurdle_poisson, with `fn hurdle_poisson_lpmf(y, p, lambda) = ...`",
    ),
    (
        "icar",
        "write `flat()` and `target += -0.5 * dot_self(phi[a] - phi[b])` over the pairs of neighbours: models/spatial_icar.ppl",
    ),
    (
        "icar_normal",
        "write `flat()` and `target += -0.5 * dot_self(phi[a] - phi[b])` over the pairs of neighbours: models/spatial_icar.ppl",
    ),
    ("improper_uniform", "write `flat()`"),
    ("inverse_gamma", "write `inv_gamma(alpha, beta)`"),
    ("inverse_gaussian", "write `inv_gaussian(mu, lambda)`"),
    ("invgauss", "write `inv_gaussian(mu, lambda)`"),
    ("laplace", "write `double_exponential(mu, sigma)`"),
    (
        "lkj",
        "write `lkj_corr_cholesky(eta)` with `cholesky_corr[K]`, or `lkj_corr(eta)` with `corr_matrix[K]`",
    ),
    ("lkjcholesky", "write `lkj_corr_cholesky(eta)` with `cholesky_corr[K]`"),
    ("lkjcholeskycov", "write `lkj_corr_cholesky(eta)` with `cholesky_corr[K]`, and a scale for each row"),
    ("logit_normal", LOGIT_NORMAL),
    ("logitnormal", LOGIT_NORMAL),
    ("matrix_normal", MATRIX_NORMAL),
    ("matrixnormal", MATRIX_NORMAL),
    ("mixture", MIXTURE),
    ("mvn", "write `multi_normal(mu, Sigma)`, or `multi_normal_cholesky(mu, L)`"),
    ("multivariate_normal", "write `multi_normal(mu, Sigma)`"),
    ("mv_normal", "write `multi_normal(mu, Sigma)`"),
    ("mvnormal", "write `multi_normal(mu, Sigma)`, or `multi_normal_cholesky(mu, L)`"),
    ("mvstudentt", "write `multi_student_t(nu, mu, Sigma)`"),
    ("n", "write `normal(mu, sigma)`: the second argument is a standard deviation, not a variance"),
    ("nbinom", "write `neg_binomial_2(mu, phi)`"),
    ("neg_binomial_2_log_glm", "write `neg_binomial_2_log(alpha + x * beta, phi)`"),
    ("negative_binomial", "write `neg_binomial_2(mu, phi)`"),
    ("negativebinomial", "write `neg_binomial_2(mu, phi)`"),
    ("negbin", "write `neg_binomial_2(mu, phi)`"),
    ("negbinom", "write `neg_binomial_2(mu, phi)`"),
    ("negbinomial", "write `neg_binomial_2(mu, phi)`"),
    ("norm", "write `normal(mu, sigma)`"),
    ("normal_id_glm", "write `normal(alpha + x * beta, sigma)`: predictors are collected by themselves"),
    ("normalmixture", MIXTURE),
    ("ordered_logistic_glm", "write `ordered_logistic(x * beta, c)`"),
    ("pois", "write `poisson(lambda)`"),
    ("poisson_log_glm", "write `poisson_log(alpha + x * beta)`: predictors are collected by themselves"),
    ("potential", "a term of the log density is written `target += ...`"),
    ("random_walk", "write `gaussian_random_walk(sigma)`"),
    ("randomwalk", "write `gaussian_random_walk(sigma)`"),
    ("s", "a smooth curve stands in the predictor: `y ~ normal(bspline(x, knots) * w, sigma)`"),
    ("skew_double_exponential", "write its log density with `target +=`"),
    ("t", "write `student_t(nu, mu, sigma)`"),
    ("truncated", "write `truncated(normal(mu, sigma), lower = a, upper = b)`"),
    ("truncatednormal", "write `truncated(normal(mu, sigma), lower = a, upper = b)`"),
    ("truncated_normal", "write `truncated(normal(mu, sigma), lower = a, upper = b)`"),
    ("unif", "write `uniform(a, b)`"),
    ("wald", "write `inv_gaussian(mu, lambda)`"),
    ("weibull_min", "write `weibull(alpha, sigma)`"),
    ("zip", "write `zero_inflated(p, poisson(lambda))`"),
    ("zinb", "write `zero_inflated(p, neg_binomial_2(mu, phi))`"),
    ("zero_inflated_negbinomial", "write `zero_inflated(p, neg_binomial_2(mu, phi))`"),
    ("zero_inflated_poisson", "write `zero_inflated(p, poisson(lambda))`"),
    ("zero_inflated_neg_binomial_2", "write `zero_inflated(p, neg_binomial_2(mu, phi))`"),
    ("zero_inflated_neg_binomial_2_log", "write `zero_inflated(p, neg_binomial_2_log(eta, phi))`"),
    ("zero_inflated_poisson_log", "write `zero_inflated(p, poisson_log(eta))`"),
    ("zero_inflated_binomial", "write `zero_inflated(p, binomial(N, theta))`"),
    ("zeroinflatedbinomial", "write `zero_inflated(p, binomial(N, theta))`"),
    ("zeroinflatednegativebinomial", "write `zero_inflated(p, neg_binomial_2(mu, phi))`"),
    ("zeroinflatedpoisson", "write `zero_inflated(p, poisson(lambda))`"),
];

/// What to write instead of a distribution that this language does not have under this name.
pub fn other_name(name: &str) -> Option<&'static str> {
    let lower = name.to_lowercase();
    NAMES.iter().find(|(theirs, _)| *theirs == lower).map(|(_, ours)| *ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_name_of_ours_is_another_language_s() {
        for (theirs, _) in NAMES {
            assert!(super::super::find(theirs).is_none(), "{theirs} exists");
        }
    }
}
