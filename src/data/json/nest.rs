//! A nested array as it comes in: cells in order, lengths of the axes, and the first irregularity.

use super::super::array::{Array, Cells, Interner, MISSING};
use super::super::number::{self, Reading};

/// An array, or a scalar, being read.
#[derive(Default)]
pub struct Nest {
    numbers: Vec<f64>,
    text: Option<(Vec<u32>, Interner)>,
    /// The length of each axis, once an array of that depth has ended.
    lengths: Vec<Option<usize>>,
    /// The depth at which values stand, once one has been seen.
    depth: Option<usize>,
    /// The indices, from 1, of where reading stands.
    pub path: Vec<usize>,
    /// The first thing that is not regular, with the path to it.
    pub problem: Option<Problem>,
}

/// Why an array is not regular.
pub struct Problem {
    /// The indices, from 1, of the offending element.
    pub path: Vec<usize>,
    /// What is wrong with it.
    pub kind: ProblemKind,
}

/// What can be irregular.
pub enum ProblemKind {
    /// A row of another length than the first of its depth.
    Length {
        /// The length of those before.
        expected: usize,
        /// Its own length.
        found: usize,
    },
    /// An array beside values.
    Array,
    /// A value beside arrays.
    Value,
    /// An object inside an array, or in the place of one.
    Object,
}

impl Nest {
    /// An array opens here.
    pub fn open(&mut self) {
        let depth = self.path.len();
        if self.depth == Some(depth) {
            self.complain(ProblemKind::Array);
        }
        if self.lengths.len() == depth {
            self.lengths.push(None);
        }
        self.path.push(0);
    }

    /// The next element of the innermost array begins.
    #[inline]
    pub fn element(&mut self) {
        if let Some(last) = self.path.last_mut() {
            *last += 1;
        }
    }

    /// The innermost array ends.
    pub fn close(&mut self) {
        let found = self.path.pop().unwrap_or(0);
        let depth = self.path.len();
        match self.lengths.get(depth).copied().flatten() {
            Some(expected) if expected != found => self.complain(ProblemKind::Length { expected, found }),
            Some(_) => {}
            None => {
                if let Some(slot) = self.lengths.get_mut(depth) {
                    *slot = Some(found);
                }
            }
        }
    }

    /// Notes an irregularity at the place where reading stands.
    pub fn complain(&mut self, kind: ProblemKind) {
        self.problem.get_or_insert(Problem { path: self.path.clone(), kind });
    }

    /// A number, as it is written.
    pub fn number(&mut self, written: &[u8]) {
        match number::read_cell(written) {
            Reading::Number(value) => self.value(value),
            Reading::Missing => self.missing(),
            Reading::Text => self.label(&String::from_utf8_lossy(written)),
        }
    }

    /// A string: a number if it says `Inf`, missing if it says `NaN` or is another marker, and text
    /// otherwise.
    pub fn string(&mut self, text: &str) {
        match number::read_cell(text.trim().as_bytes()) {
            Reading::Missing => self.missing(),
            Reading::Number(value) if value.is_infinite() => self.value(value),
            Reading::Number(_) | Reading::Text => self.label(text.trim()),
        }
    }

    /// A missing value.
    pub fn missing(&mut self) {
        self.leaf();
        match &mut self.text {
            None => self.numbers.push(f64::NAN),
            Some((codes, _)) => codes.push(MISSING),
        }
    }

    /// A text.
    pub fn label(&mut self, text: &str) {
        self.leaf();
        let numbers = &mut self.numbers;
        let (codes, texts) = self.text.get_or_insert_with(|| as_text(&std::mem::take(numbers)));
        codes.push(texts.code(text));
    }

    /// A number.
    #[inline]
    pub fn value(&mut self, value: f64) {
        self.leaf();
        match &mut self.text {
            None => self.numbers.push(value),
            Some((codes, texts)) => codes.push(texts.code(&number::display(value))),
        }
    }

    #[inline]
    fn leaf(&mut self) {
        let depth = self.path.len();
        if self.lengths.len() > depth {
            self.complain(ProblemKind::Value);
        }
        self.depth.get_or_insert(depth);
    }

    /// The finished array, if it was regular.
    pub fn finish(mut self) -> Result<Array, Problem> {
        if let Some(problem) = self.problem.take() {
            return Err(problem);
        }
        let shape = self.lengths.iter().map(|n| n.unwrap_or(0)).collect();
        let cells = match self.text {
            Some((codes, texts)) => Cells::Text { codes, labels: texts.into_labels() },
            None => Cells::Numbers(self.numbers.into()),
        };
        Ok(Array { shape, cells })
    }
}

/// Numbers that turn out to stand among text.
fn as_text(numbers: &[f64]) -> (Vec<u32>, Interner) {
    let mut texts = Interner::default();
    let code = |v: &f64| if v.is_nan() { MISSING } else { texts.code(&number::display(*v)) };
    let codes = numbers.iter().map(code).collect();
    (codes, texts)
}
