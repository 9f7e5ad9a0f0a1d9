//! What random graphs are made of: steps that pick, one small number after another, so that a graph on which
//! something fails can be made smaller.

use proptest::array::uniform8;
use proptest::strategy::Strategy;

/// Numbers of one step.
pub type Numbers = [u8; 8];

/// Numbers for a step, made smaller one by one.
pub fn numbers() -> impl Strategy<Value = Numbers> {
    uniform8(0_u8..)
}

/// The numbers of a step as they are used up; zeros after the last.
#[derive(Default)]
pub struct Picks {
    of: Numbers,
    next: usize,
}

impl Picks {
    /// To be used from the first.
    pub fn new(of: Numbers) -> Picks {
        Picks { of, next: 0 }
    }

    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        let number = self.of.get(self.next).copied().unwrap_or(0);
        self.next += 1;
        usize::from(number) % n
    }
}
