//! Numbers, operations, distributions, graphs, rewrites and plans: laws, reference values, and agreement of
//! all ways to compute the same.

mod common;
mod distribution_formulas;
mod distributions;
mod distributions_counts;
mod distributions_draws;
mod distributions_multivariate;
mod elementwise;
mod events;
mod facts;
mod functions;
mod plans;
mod posteriordb;
mod posteriordb_data;
mod random_plans;
mod recursions;
mod rewrite;
mod simplify;
mod special;
mod structure;
mod supports;
mod tiled_plans;
mod transforms;
