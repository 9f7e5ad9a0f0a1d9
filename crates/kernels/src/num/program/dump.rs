//! Programs as text, a step a line: what `dump --stage kernels` prints, and what a printer for another
//! processor would begin with.

use super::compile::{Code, Place, Program, Step};
use std::fmt::{Display, Formatter, Result};

impl Display for Program {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        self.steps.iter().try_for_each(|step| self.step(f, step))
    }
}

impl Program {
    fn step(&self, f: &mut Formatter<'_>, step: &Step) -> Result {
        let (name, args, results) = match step.code {
            Code::Copy => ("copy", 1, 1),
            Code::Unary(unary) => (unary.name(), 1, 1),
            Code::Binary(binary) => (binary.name(), 2, 1),
            Code::MulAdd => ("mul_add", 3, 1),
            Code::IfLess => ("if_less", 4, 1),
            Code::IfEqual => ("if_equal", 4, 1),
            Code::Several(several) => (several.name(), 1, several.count()),
            Code::Call1(_) => ("call", 1, 1),
            Code::Call2(_) => ("call", 2, 1),
            Code::Call3(_) => ("call", 3, 1),
        };
        let list = |places: &[Place]| places.iter().map(|p| self.place(*p)).collect::<Vec<_>>().join(", ");
        writeln!(f, "{} = {name}({})", list(&step.out[..results]), list(&step.args[..args]))
    }

    fn place(&self, place: Place) -> String {
        match place {
            Place::Constant(k) => format!("{:?}", self.constants[usize::from(k)][0]),
            Place::Input(k) => format!("in{k}"),
            Place::Output(k) => format!("out{k}"),
            Place::Register(k) => format!("r{k}"),
        }
    }
}
