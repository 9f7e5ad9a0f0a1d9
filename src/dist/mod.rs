//! Every distribution, one file each, and what can be asked of any of them.

mod density;
mod numeric;
mod row;
mod shared;

pub use density::{log_density, log_density_sum};
pub use row::{
    ArgSpec, BaseArg, Build, Density, Distribution, Domain, End, LOG_X, LOG1M_X, Noncentered, Part, Probe,
    Sampler, Support,
};

mod cauchy;
mod count;
mod double_exponential;
mod draw;
mod exp_mod_normal;
mod exponential;
mod flat;
mod frechet;
mod gumbel;
mod half_cauchy;
mod half_normal;
mod logistic;
mod loglogistic;
mod lognormal;
mod normal;
mod pareto;
mod pareto_type_2;
mod rayleigh;
mod skew_normal;
mod tails;

mod bernoulli;
mod bernoulli_logit;
mod beta_binomial;
mod binomial;
mod binomial_logit;
mod geometric;
mod neg_binomial;
mod neg_binomial_2;
mod neg_binomial_2_log;
mod poisson;
mod poisson_log;
mod std_normal;
mod uniform;
mod weibull;

/// Every distribution, in the order of the manual.
pub static TABLE: &[&Distribution] = &[
    &std_normal::ROW,
    &normal::ROW,
    &cauchy::ROW,
    &double_exponential::ROW,
    &logistic::ROW,
    &gumbel::ROW,
    &skew_normal::ROW,
    &exp_mod_normal::ROW,
    &half_normal::ROW,
    &half_cauchy::ROW,
    &lognormal::ROW,
    &loglogistic::ROW,
    &exponential::ROW,
    &weibull::ROW,
    &frechet::ROW,
    &rayleigh::ROW,
    &pareto::ROW,
    &pareto_type_2::ROW,
    &uniform::ROW,
    &flat::ROW,
    &bernoulli::ROW,
    &bernoulli_logit::ROW,
    &binomial::ROW,
    &binomial_logit::ROW,
    &beta_binomial::ROW,
    &poisson::ROW,
    &poisson_log::ROW,
    &neg_binomial::ROW,
    &neg_binomial_2::ROW,
    &neg_binomial_2_log::ROW,
    &geometric::ROW,
];

/// The distribution called `name`.
pub fn find(name: &str) -> Option<&'static Distribution> {
    TABLE.iter().copied().find(|row| row.name == name)
}
