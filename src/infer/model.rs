//! A model as read, with its data, in any coordinates of its hierarchical effects.

use crate::data::Dataset;
use crate::lower::{Coordinates, Lowered, lower_with};
use crate::source::Checked;
use crate::syntax::ast::Program;
use crate::target::ModelTarget;

/// A model as read, with its data.
#[derive(Clone, Copy)]
pub struct Model<'a> {
    /// The checked program.
    pub program: &'a Program,
    /// Its text.
    pub source: &'a str,
    /// The data.
    pub data: &'a Dataset,
}

impl Model<'_> {
    fn lower(&self, coordinates: Coordinates) -> Checked<Lowered> {
        lower_with(self.program, self.source, self.data, coordinates)
    }

    pub(super) fn compile(&self, coordinates: Coordinates) -> Checked<ModelTarget> {
        self.lower(coordinates).map(ModelTarget::from_lowered)
    }

    /// The model with effects of groups in standardised coordinates, where it has any that were not declared
    /// so.
    pub(super) fn standardised(&self) -> Option<ModelTarget> {
        let lowered =
            self.lower(Coordinates::Standardised).ok().filter(|lowered| !lowered.effects.is_empty());
        lowered.map(ModelTarget::from_lowered)
    }
}
