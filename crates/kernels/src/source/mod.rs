//! Places in a model's text, diagnostics about them, and the one renderer.

mod diagnostic;
mod nearest;
mod render;
mod span;

pub use diagnostic::{Diagnostic, Label, Place, Severity};
pub use nearest::nearest;
pub use render::render;
pub use span::Span;

/// The result of a stage that can find several problems at once.
pub type Checked<T> = Result<T, Vec<Diagnostic>>;
