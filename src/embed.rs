//! A model for those who call the library: read, bound to data and fitted in a line each.
//!
//! ```
//! # fn main() -> Result<(), stickler::Error> {
//! let model = stickler::Model::from_path("models/eight_schools.ppl")?;
//! let fit = model.bind("models/eight_schools.csv")?.fit()?;
//! for output in &fit.outputs {
//!     println!("{:>10} {:8.2} ± {:.2}", output.name, output.mean, output.sd);
//! }
//! # assert!(!fit.is_doubtful());
//! # Ok(())
//! # }
//! ```

use crate::data::Dataset;
use crate::infer::{self, Fit, Options, Progress};
use crate::source::{Diagnostic, render};
use crate::syntax::{ast::Program, parse};
use crate::target::ModelTarget;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use thiserror::Error;

/// Posterior draws that come with a fit by default: they know a correlation to 0.016.
const KEPT_DRAWS: usize = 4000;

/// Why there is no model, no data or no fit.
#[derive(Clone, Debug, Error)]
pub enum Error {
    /// A model file that cannot be read.
    #[error("{path} cannot be read: {error}", path = .path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: Arc<std::io::Error>,
    },
    /// What is wrong with a model, or with data for it.
    #[error("{text}")]
    Wrong {
        /// What is wrong, each with its place.
        diagnostics: Vec<Diagnostic>,
        /// The same as a terminal shows it.
        text: String,
    },
    /// A model and data without an answer.
    #[error(transparent)]
    Fit(#[from] infer::Error),
}

/// A model that has been read.
#[derive(Clone, Debug)]
pub struct Model {
    name: String,
    text: String,
    program: Program,
}

impl Model {
    /// Reads a model file.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Model, Error> {
        let path = path.as_ref();
        let unreadable = |error| Error::Unreadable { path: path.to_path_buf(), error: Arc::new(error) };
        let text = std::fs::read_to_string(path).map_err(unreadable)?;
        Model::named(path.display().to_string(), text)
    }

    /// Reads the text of a model.
    ///
    /// ```
    /// let error = stickler::Model::from_text("y ~ normal(0, 1").unwrap_err();
    /// assert!(error.to_string().contains("model:1:"));
    /// ```
    pub fn from_text(text: impl Into<String>) -> Result<Model, Error> {
        Model::named("model".into(), text.into())
    }

    fn named(name: String, text: String) -> Result<Model, Error> {
        match parse(&text) {
            Ok(program) => Ok(Model { name, text, program }),
            Err(diagnostics) => Err(wrong(diagnostics, &name, &text)),
        }
    }

    /// The model with data: a file, several, or a [`Dataset`].
    ///
    /// ```
    /// use stickler::{Model, data::Dataset};
    /// # fn main() -> Result<(), stickler::Error> {
    /// let model = Model::from_text("data { y : real[N] }\nparam mu ~ normal(0, 1)\ny ~ normal(mu, 1)")?;
    /// let data = Dataset::from_texts(&[("data.csv", "y\n1.5\n0.5\n")]).unwrap();
    /// let fit = model.bind(data)?.fit()?;
    /// assert!((fit.outputs[0].mean - 2.0 / 3.0).abs() < 1e-9);
    /// # Ok(())
    /// # }
    /// ```
    pub fn bind(self, data: impl IntoDataset) -> Result<BoundModel, Error> {
        let problems = |diagnostics| wrong(diagnostics, &self.name, &self.text);
        let data = data.into_dataset().map_err(|problem| problems(vec![problem]))?;
        let lowered = crate::lower::lower(&self.program, &self.text, &data).map_err(problems)?;
        Ok(BoundModel { target: ModelTarget::from_lowered(lowered), model: self, data })
    }
}

/// A model with its data, ready to be fitted.
pub struct BoundModel {
    model: Model,
    data: Dataset,
    target: ModelTarget,
}

impl BoundModel {
    /// The fit by default, with some draws to look at.
    pub fn fit(&self) -> Result<Fit, Error> {
        let options = Options { keep: KEPT_DRAWS, ..Options::default() };
        self.fit_with(&options, |_| ControlFlow::Continue(()))
    }

    /// The fit with options of your own, and someone who watches, and may end it.
    pub fn fit_with(
        &self,
        options: &Options,
        mut watch: impl FnMut(&Progress) -> ControlFlow<()>,
    ) -> Result<Fit, Error> {
        let Model { program, text, .. } = &self.model;
        let model = infer::Model { program, source: text, data: &self.data };
        Ok(infer::fit_model(&model, &self.target, options, &mut watch)?)
    }

    /// The log density with its gradient, on the unconstrained scale and back.
    pub fn target(&self) -> &ModelTarget {
        &self.target
    }
}

impl std::fmt::Debug for BoundModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundModel")
            .field("model", &self.model)
            .field("data", &self.data)
            .finish_non_exhaustive()
    }
}

/// What holds data for a model.
pub trait IntoDataset {
    /// The data.
    fn into_dataset(self) -> Result<Dataset, Diagnostic>;
}

impl IntoDataset for Dataset {
    fn into_dataset(self) -> Result<Dataset, Diagnostic> {
        Ok(self)
    }
}

macro_rules! one_file {
    ($($path:ty),*) => {$(
        impl IntoDataset for $path {
            fn into_dataset(self) -> Result<Dataset, Diagnostic> {
                Dataset::read(&[self])
            }
        }
    )*};
}
one_file!(&str, String, &Path, PathBuf);

impl<P: AsRef<Path>> IntoDataset for &[P] {
    fn into_dataset(self) -> Result<Dataset, Diagnostic> {
        Dataset::read(self)
    }
}

impl<P: AsRef<Path>, const N: usize> IntoDataset for [P; N] {
    fn into_dataset(self) -> Result<Dataset, Diagnostic> {
        Dataset::read(&self)
    }
}

fn wrong(diagnostics: Vec<Diagnostic>, name: &str, text: &str) -> Error {
    let rendered: Vec<String> = diagnostics.iter().map(|d| render(d, name, text)).collect();
    Error::Wrong { diagnostics, text: rendered.concat().trim_end().to_string() }
}
