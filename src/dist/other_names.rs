//! Names that other languages give to distributions, each with what is written here instead.

/// BUGS', R's, PyMC's or Stan's name, and what to say about it.
static NAMES: &[(&str, &str)] = &[
    ("asymmetric_laplace", "write its log density with `target +=`"),
    ("bern", "write `bernoulli(theta)`"),
    (
        "bernoulli_logit_glm",
        "write `bernoulli_logit(alpha + x * beta)`: predictors are collected by themselves",
    ),
    ("binom", "write `binomial(N, theta)`"),
    (
        "binomial_logit_glm",
        "write `binomial_logit(N, alpha + x * beta)`: predictors are collected by themselves",
    ),
    ("categorical_logit_glm", "write `categorical_logit(alpha + x * beta)`"),
    ("dbern", "write `bernoulli(theta)`"),
    ("dbeta", "write `beta(alpha, beta)`"),
    ("dbin", "write `binomial(N, theta)`: the number of trials comes first"),
    ("dcat", "write `categorical(theta)`"),
    ("ddirch", "write `dirichlet(alpha)`"),
    ("dexp", "write `exponential(rate)`"),
    ("dgamma", "write `gamma(shape, rate)`"),
    ("discrete_uniform", "a latent integer is summed out with `mixture`"),
    (
        "dlnorm",
        "write `lognormal(mu, sigma)`: the last argument is a standard deviation, 1 / sqrt(precision)",
    ),
    ("dmnorm", "write `multi_normal_prec(mu, Omega)`"),
    ("dmulti", "write `multinomial(theta)`"),
    ("dnegbin", "write `neg_binomial_2(mu, phi)`"),
    ("dnorm", "write `normal(mu, sigma)`: the last argument is a standard deviation, 1 / sqrt(precision)"),
    ("dpois", "write `poisson(lambda)`"),
    ("dt", "write `student_t(nu, mu, sigma)`"),
    ("dunif", "write `uniform(a, b)`"),
    ("dweib", "write `weibull(alpha, sigma)`"),
    ("expon", "write `exponential(rate)`"),
    ("gaussian", "write `normal(mu, sigma)`"),
    ("half_flat", "write `param s : real > 0 ~ flat()`"),
    ("half_t", "write `half_student_t(nu, sigma)`"),
    ("halft", "write `half_student_t(nu, sigma)`"),
    ("horseshoe", "write it with `half_cauchy` scales: models/horseshoe.ppl shows how"),
    ("improper_uniform", "write `flat()`"),
    ("inverse_gamma", "write `inv_gamma(alpha, beta)`"),
    ("laplace", "write `double_exponential(mu, sigma)`"),
    (
        "lkj",
        "write `lkj_corr_cholesky(eta)` with `cholesky_corr[K]`, or `lkj_corr(eta)` with `corr_matrix[K]`",
    ),
    ("lkjcholesky", "write `lkj_corr_cholesky(eta)` with `cholesky_corr[K]`"),
    ("lkjcholeskycov", "write `lkj_corr_cholesky(eta)` with `cholesky_corr[K]`, and a scale for each row"),
    ("multivariate_normal", "write `multi_normal(mu, Sigma)`"),
    ("mv_normal", "write `multi_normal(mu, Sigma)`"),
    ("mvnormal", "write `multi_normal(mu, Sigma)`, or `multi_normal_cholesky(mu, L)`"),
    ("nbinom", "write `neg_binomial_2(mu, phi)`"),
    ("neg_binomial_2_log_glm", "write `neg_binomial_2_log(alpha + x * beta, phi)`"),
    ("negative_binomial", "write `neg_binomial_2(mu, phi)`"),
    ("negativebinomial", "write `neg_binomial_2(mu, phi)`"),
    ("negbinomial", "write `neg_binomial_2(mu, phi)`"),
    ("norm", "write `normal(mu, sigma)`"),
    ("normal_id_glm", "write `normal(alpha + x * beta, sigma)`: predictors are collected by themselves"),
    ("ordered_logistic_glm", "write `ordered_logistic(x * beta, c)`"),
    ("pois", "write `poisson(lambda)`"),
    ("poisson_log_glm", "write `poisson_log(alpha + x * beta)`: predictors are collected by themselves"),
    ("random_walk", "write `gaussian_random_walk(sigma)`"),
    ("randomwalk", "write `gaussian_random_walk(sigma)`"),
    ("t", "write `student_t(nu, mu, sigma)`"),
    ("truncatednormal", "write `truncated(normal(mu, sigma), lower = a, upper = b)`"),
    ("truncated_normal", "write `truncated(normal(mu, sigma), lower = a, upper = b)`"),
    ("unif", "write `uniform(a, b)`"),
    ("zero_inflated_negbinomial", "write `zero_inflated(p, neg_binomial_2(mu, phi))`"),
    ("zero_inflated_poisson", "write `zero_inflated(p, poisson(lambda))`"),
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
