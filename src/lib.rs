//! A small modelling language and a variational-inference engine that can vouch for its answer.
//!
//! ```
//! # fn main() -> Result<(), stickler::Error> {
//! let model = stickler::Model::from_path("models/eight_schools.ppl")?;
//! let fit = model.bind("models/eight_schools.csv")?.fit()?;
//! for finding in fit.doubts() {
//!     println!("not to be trusted: {}", finding.kind().meaning);
//! }
//! for output in &fit.outputs {
//!     println!("{:>10} {:8.2} ± {:.2}", output.name, output.mean, output.sd);
//! }
//! let (mean, sd, covariance) = (fit.mean(), fit.sd(), fit.covariance()); // in nalgebra's types
//! # assert!(covariance.is_some_and(|c| c.nrows() == mean.len() && mean.len() == sd.len()));
//! # Ok(())
//! # }
//! ```
//!
//! What a user needs: [`Model`] and [`BoundModel`], [`infer::Fit`] with its [`infer::Output`]s and
//! [`infer::Finding`]s, [`infer::Options`], and [`data::Dataset`] for data that are not in files. A target
//! that is no model file is made by [`target::from_fn`] or, in nalgebra's types, [`target::from_dvector`]; it
//! is fitted by [`infer::fit`], step by step by [`vi::fit`]. A Gaussian that another method has found is
//! judged by [`infer::assess`]. Everything else is open for tests, benches and the curious, and may change.
//!
//! # The map
//!
//! A room uses only rooms above it in this list; `tests/cli/house.rs` holds that.
//!
//! | room | what lives there |
//! |---|---|
//! | [`num`] | special functions, scalars that carry lanes or tangents, linear algebra, random streams |
//! | [`source`] | spans, diagnostics, the one renderer |
//! | [`facts`] | sizes and shapes, known or symbolic; intervals and bounds on derivatives: lattices only |
//! | [`ops`] | every operation: shape rule, forward, reverse; one family a file |
//! | [`graph`] | interned array-valued nodes, the builder, text and dot dumps |
//! | [`transform`] | constrained and unconstrained coordinates, one constraint a file |
//! | [`func`] | functions of the language that are more than elementwise, one family a file |
//! | [`dist`] | every distribution, one file each |
//! | [`plan`] | schedule, buffers, forward and reverse sweeps |
//! | [`syntax`] | text to syntax tree and back |
//! | [`data`] | CSV, TSV, JSON, Parquet and Arrow to tables, with positions for errors |
//! | [`model`] | names, types, shapes in named sizes, supports: a model checked without data |
//! | [`lower`] | model and data to graph |
//! | [`structure`] | what the graph is as a function of its variables: affine forms, and what is left |
//! | [`rewrite`] | named rules that give a graph a cheaper form with the same value and gradient |
//! | [`certify`] | curvature and smoothness over that structure: constants, tiers, reasons |
//! | [`target`] | the one interface that inference sees, and compiled models behind it |
//! | [`testing`] | snapshot-tests of gradients |
//! | [`vi`] | families, estimators, operators, step rules, averages, the fit loop |
//! | [`infer`] | the default fit: modes, Gaussian variational inference, importance sampling, summaries |
//! | [`embed`] | a model for those who call the library |
//! | [`report`] | what a fit found, as text and JSON |
//! | [`cli`] | arguments, files, exit codes: the only room that prints |

pub use stickler_kernels::{dist, facts, func, graph, num, ops, plan, source, transform};

pub mod certify;
pub mod cli;
pub mod data;
pub mod embed;
pub mod infer;
pub mod lower;
pub mod model;
pub mod report;
pub mod rewrite;
pub mod structure;
pub mod syntax;
pub mod target;
pub mod testing;
pub mod vi;

pub use embed::{BoundModel, Error, Model};
/// Vectors and matrices of the interface: what a fit gives, and what a target of one's own takes.
pub use nalgebra;
