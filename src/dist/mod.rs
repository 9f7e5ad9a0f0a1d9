//! Every distribution, one file each, and what can be asked of any of them.

mod density;
mod row;

pub use density::{log_density, log_density_sum};
pub use row::{
    ArgSpec, BaseArg, Build, Density, Distribution, Domain, End, Noncentered, Part, Probe, Sampler, Support,
};

mod normal;
mod std_normal;

/// Every distribution, in the order of the manual.
pub static TABLE: &[&Distribution] = &[&normal::ROW, &std_normal::ROW];

/// The distribution called `name`.
pub fn find(name: &str) -> Option<&'static Distribution> {
    TABLE.iter().copied().find(|row| row.name == name)
}
