//! Every distribution, one file each, and what can be asked of any of them.

mod density;
mod row;

pub use density::{log_density, log_density_sum};
pub use row::{
    ArgSpec, BaseArg, Build, Density, Distribution, Domain, End, Noncentered, Part, Probe, Sampler, Support,
};

mod count;
mod draw;
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
mod normal;
mod poisson;
mod poisson_log;
mod std_normal;

/// Every distribution, in the order of the manual.
pub static TABLE: &[&Distribution] = &[
    &normal::ROW,
    &std_normal::ROW,
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
