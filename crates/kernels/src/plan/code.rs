//! What a plan consists of: steps, where they read and write, and what each of them runs.

use super::idle::Idle;
use super::ode::OdeCode;
use super::program::Instruction;
use super::recursion::{LoopCode, RecursionCode};
use super::tiled::TiledCode;
use crate::ops::array::{OpRef, Operator};
use crate::ops::operand::Broadcast;
use crate::ops::scalar::ScalarRow;
use crate::source::Span;
use std::ops::Range;
use std::sync::Arc;

/// Most arguments that an operation takes, other than `concat` and loops.
pub(super) const MOST_ARGS: usize = 8;

/// Where an argument's numbers are.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// Known beforehand.
    Const(Arc<[f64]>),
    /// Set before a sweep, the same for every draw.
    Data { at: usize, len: usize },
    /// In the buffer of values.
    Var { at: usize, len: usize },
}

impl Slot {
    pub(super) fn len(&self) -> usize {
        match self {
            Slot::Const(c) => c.len(),
            Slot::Data { len, .. } | Slot::Var { len, .. } => *len,
        }
    }
}

/// What a step runs.
#[derive(Clone, Debug)]
pub(super) enum Code {
    Map {
        row: &'static ScalarRow,
        index: Vec<Broadcast>,
    },
    MapSum {
        row: &'static ScalarRow,
        index: Vec<Broadcast>,
        weights: Option<Slot>,
        count: usize,
        /// Arguments whose adjoints the sum is the first to touch: it sets them.
        fresh: Vec<bool>,
    },
    /// As `MapSum`, where argument `which` is a linear predictor; its slot is that of the coefficients.
    Predicted {
        row: &'static ScalarRow,
        index: Vec<Broadcast>,
        weights: Option<Slot>,
        which: usize,
        operator: Arc<Operator>,
    },
    Concat,
    Array {
        op: OpRef,
        dims: Vec<Vec<usize>>,
        /// The arguments whose adjoints nobody asks for.
        unasked: Vec<bool>,
    },
    Ode {
        code: Arc<OdeCode>,
        room: usize,
    },
    /// A loop whose step is a plan of its own.
    Recursion {
        code: Arc<RecursionCode>,
        room: usize,
    },
    /// Chains over many rows, a few rows at a time.
    Tiled {
        code: Arc<TiledCode>,
        room: usize,
    },
    /// A loop whose step is instructions alone.
    Loop(Box<LoopCode>),
    Program(Vec<Instruction>),
}

impl Code {
    /// What it does, for dumps and profiles.
    pub(super) fn name(&self) -> String {
        match self {
            Code::Map { row, .. } => row.name.to_string(),
            Code::MapSum { row, count, .. } => format!("sum.{} over {count}", row.name),
            Code::Predicted { row, operator, .. } => format!(
                "sum.{} over {} rows of {} coefficients",
                row.name, operator.rows, operator.coefficients
            ),
            Code::Concat => "concat".to_string(),
            Code::Array { op, .. } => op.0.name().to_string(),
            Code::Ode { code, .. } => format!("ode with {} states", code.states()),
            Code::Recursion { code, .. } => format!("loop of {} steps", code.steps()),
            Code::Tiled { code, .. } => code.name(),
            Code::Loop(code) => format!("loop of {} steps", code.steps()),
            Code::Program(code) => format!("{} instructions", code.len()),
        }
    }
}

/// One operation with its buffers. The instructions of a program say themselves where they read and write.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) code: Code,
    pub(super) args: Vec<Slot>,
    pub(super) at: usize,
    pub(super) len: usize,
    pub(super) saved_at: usize,
    pub(super) saved_len: usize,
    /// The part of the model it came from first.
    pub(super) span: Option<Span>,
    /// The same for each instruction of a program.
    pub(super) parts: Vec<Option<Span>>,
    /// Whether it is a term of the sum that is differentiated, and nothing else reads it: the forward sweep
    /// hands its slopes on.
    pub(super) term: bool,
}

/// A schedule for a set of roots. The first `inputs` values are the unconstrained coordinates themselves.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) inputs: usize,
    /// How many of these somebody asks the derivatives of: the first.
    pub(super) asked: usize,
    /// Numbers that are set before a sweep and have no derivatives.
    pub(super) data: usize,
    pub(super) steps: Vec<Step>,
    /// Numbers that are computed; constants for instructions stand after them.
    pub(super) values: usize,
    /// Numbers in the buffer of values.
    pub(super) buffer: usize,
    pub(super) saved: usize,
    /// Numbers that stand in the buffer of values from the beginning, with their places.
    pub(super) fixed: Vec<(usize, f64)>,
    /// Data that instructions read, and where a sweep first puts them in the buffer of values.
    pub(super) spread: Vec<(Range<usize>, usize)>,
    pub(super) roots: Vec<Slot>,
    /// Whether what is differentiated is the sum of the roots, so that the forward sweep begins to.
    pub(super) summed: bool,
    /// Adjoints that a sweep begins with: one where a root stands that is not a term, two where two do.
    pub(super) seeds: Vec<(Range<usize>, f64)>,
    /// Adjoints that are cleared before anything is added to them; the rest are set, or never read.
    pub(super) cleared: Vec<Range<usize>>,
    pub(super) odes: Vec<Arc<OdeCode>>,
    pub(super) recursions: Vec<Arc<RecursionCode>>,
    pub(super) tiles: Vec<Arc<TiledCode>>,
    pub(super) idle: Idle,
}

impl Plan {
    /// Number of unconstrained coordinates.
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// How many numbers are set before a sweep besides the coordinates.
    pub fn data(&self) -> usize {
        self.data
    }

    /// Whether there are differential equations among the steps.
    pub fn solves_equations(&self) -> bool {
        !self.odes.is_empty()
    }

    /// Number of roots.
    pub fn roots(&self) -> usize {
        self.roots.len()
    }

    /// Number of elements of each root.
    pub fn root_sizes(&self) -> Vec<usize> {
        self.roots.iter().map(Slot::len).collect()
    }
}
