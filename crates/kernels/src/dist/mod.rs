//! Every distribution, one file each, and what can be asked of any of them.

mod choice;
mod count;
mod density;
mod draw;
mod event;
mod gp;
mod incomplete;
mod jets;
pub mod natural;
mod numeric;
mod ordered;
mod other_names;
mod row;
mod shared;
mod tails;
mod truncated;

pub use density::{log_density, log_density_sum, weighted};
pub use exponential::JOINT as EXPONENTIAL_JOINT;
pub use gamma::RATE as GAMMA_RATE;
pub use guard::{BETWEEN as LOG_BETWEEN, SUM_WITHIN, log_tail, within};
pub use half_cauchy::{BY_INVERSE as HALF_CAUCHY_BY_INVERSE, JOINT as HALF_CAUCHY_JOINT};
pub use multi_student_t::TAIL as STUDENT_TAIL;
pub use normal::{JOINT as NORMAL_JOINT, SCALE as NORMAL_SCALE, VARIANCE as NORMAL_VARIANCE};
pub use ordered::FAR as NO_CUT;
pub use ordered_logistic::{AROUND as ORDERED_AROUND, BETWEEN as ORDERED_BETWEEN, GAP as ORDERED_GAP};
pub use other_names::other_name;
pub use poisson_log::JOINT as POISSON_LOG_JOINT;
pub use row::{
    ArgSpec, BaseArg, Build, Density, Distribution, Domain, End, LOG_X, LOG1M_X, Link, Noncentered, Part,
    Probe, Sampler, Support,
};
pub use shared::{MINUS_LOG, SHAPE_LOG};
pub use truncated::{ROWS as BETWEEN_LIMITS, log_density_between};
pub use weibull::{JOINT as WEIBULL_JOINT, LCCDF as WEIBULL_LCCDF};

mod bernoulli;
mod bernoulli_logit;
mod bernoulli_probit;
mod beta;
mod beta_binomial;
mod beta_proportion;
mod binomial;
mod binomial_logit;
mod categorical;
mod categorical_logit;
mod cauchy;
mod chi_square;
mod dirichlet;
mod dirichlet_multinomial;
mod double_exponential;
mod exp_mod_normal;
mod exponential;
mod flat;
mod frechet;
mod gamma;
mod gaussian_random_walk;
mod geometric;
mod gp_exp_quad;
mod gp_exponential;
mod gp_matern32;
mod gp_matern52;
mod gp_periodic;
mod guard;
mod gumbel;
mod half_cauchy;
mod half_normal;
mod half_student_t;
mod inv_chi_square;
mod inv_gamma;
mod inv_gaussian;
mod inv_wishart;
mod lkj_corr;
mod lkj_corr_cholesky;
mod logistic;
mod loglogistic;
mod lognormal;
mod multi_normal;
mod multi_normal_cholesky;
mod multi_normal_prec;
mod multi_student_t;
mod multinomial;
mod multinomial_logit;
mod neg_binomial;
mod neg_binomial_2;
mod neg_binomial_2_log;
mod normal;
mod ordered_logistic;
mod ordered_probit;
mod pareto;
mod pareto_type_2;
mod poisson;
mod poisson_log;
mod rayleigh;
mod scaled_inv_chi_square;
mod skew_normal;
mod std_normal;
mod student_t;
mod uniform;
mod von_mises;
mod weibull;
mod wishart;

/// Every distribution, in the order of the manual.
pub static TABLE: &[&Distribution] = &[
    &std_normal::ROW,
    &normal::ROW,
    &student_t::ROW,
    &cauchy::ROW,
    &double_exponential::ROW,
    &logistic::ROW,
    &gumbel::ROW,
    &skew_normal::ROW,
    &exp_mod_normal::ROW,
    &half_normal::ROW,
    &half_cauchy::ROW,
    &half_student_t::ROW,
    &lognormal::ROW,
    &loglogistic::ROW,
    &gamma::ROW,
    &inv_gamma::ROW,
    &inv_gaussian::ROW,
    &exponential::ROW,
    &chi_square::ROW,
    &inv_chi_square::ROW,
    &scaled_inv_chi_square::ROW,
    &weibull::ROW,
    &frechet::ROW,
    &rayleigh::ROW,
    &pareto::ROW,
    &pareto_type_2::ROW,
    &uniform::ROW,
    &beta::ROW,
    &beta_proportion::ROW,
    &von_mises::ROW,
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
    &categorical::ROW,
    &categorical_logit::ROW,
    &ordered_logistic::ROW,
    &ordered_probit::ROW,
    &multinomial::ROW,
    &multinomial_logit::ROW,
    &dirichlet::ROW,
    &dirichlet_multinomial::ROW,
    &multi_normal::ROW,
    &multi_normal_cholesky::ROW,
    &multi_normal_prec::ROW,
    &multi_student_t::ROW,
    &lkj_corr::ROW,
    &lkj_corr_cholesky::ROW,
    &wishart::ROW,
    &inv_wishart::ROW,
    &gaussian_random_walk::ROW,
    &gp_exp_quad::ROW,
    &gp_matern32::ROW,
    &gp_matern52::ROW,
    &gp_exponential::ROW,
    &gp_periodic::ROW,
];

/// The distribution called `name`.
pub fn find(name: &str) -> Option<&'static Distribution> {
    TABLE.iter().copied().find(|row| row.name == name)
}

/// The distribution whose name has the letters of `name`, whatever their case and the underscores between
/// them: `HalfNormal`.
pub fn spelled(name: &str) -> Option<&'static Distribution> {
    let letters = |name: &str| name.to_lowercase().replace('_', "");
    TABLE.iter().copied().find(|row| letters(row.name) == letters(name))
}
