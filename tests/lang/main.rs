//! The language as a user meets it: what is said of wrong models and data, what files may hold, and what
//! statements mean.

mod arrow;
mod binary_tables;
mod choices;
mod cut_tables;
mod labels;
mod layout;
mod limits;
mod loops;
mod model_meets_data;
mod parquet;
mod predict;
#[path = "../kernels/common/property.rs"]
mod property;
mod weights;
mod wrong_data;
mod wrong_models;
