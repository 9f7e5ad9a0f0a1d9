//! Comparisons, logic and choice: 1 for true, 0 for false, no slope in the condition.

use super::{Facts, ScalarRow, scalar_row};
use crate::facts::{Jet, known};

scalar_row! { LT = "lt"(a, b), "a < b"; value a.if_less(b, T::one(), T::zero());
slopes(_y) [T::zero(), T::zero()]; probes [&[1.0, 2.0], &[2.0, 1.0]]; jumps true }
scalar_row! { LE = "le"(a, b), "a <= b"; value b.if_less(a, T::zero(), T::one());
slopes(_y) [T::zero(), T::zero()]; probes [&[1.0, 2.0], &[2.0, 1.0]]; jumps true }
scalar_row! { GT = "gt"(a, b), "a > b"; value b.if_less(a, T::one(), T::zero());
slopes(_y) [T::zero(), T::zero()]; probes [&[1.0, 2.0], &[2.0, 1.0]]; jumps true }
scalar_row! { GE = "ge"(a, b), "a >= b"; value a.if_less(b, T::zero(), T::one());
slopes(_y) [T::zero(), T::zero()]; probes [&[1.0, 2.0], &[2.0, 1.0]]; jumps true }
scalar_row! { EQ = "eq"(a, b), "a == b"; value a.if_equal(b, T::one(), T::zero());
slopes(_y) [T::zero(), T::zero()]; probes [&[1.0, 2.0]]; jumps true }
scalar_row! { NE = "ne"(a, b), "a != b"; value a.if_equal(b, T::zero(), T::one());
slopes(_y) [T::zero(), T::zero()]; probes [&[1.0, 2.0]]; jumps true }
scalar_row! {
    AND = "and"(a, b), "a && b";
    value a.if_equal(T::zero(), T::zero(), b.if_equal(T::zero(), T::zero(), T::one()));
    slopes(_y) [T::zero(), T::zero()]; probes [&[1.0, 1.0], &[1.0, 0.0]]; jumps true
}
scalar_row! {
    OR = "or"(a, b), "a || b";
    value a.if_equal(T::zero(), b.if_equal(T::zero(), T::zero(), T::one()), T::one());
    slopes(_y) [T::zero(), T::zero()]; probes [&[1.0, 1.0], &[1.0, 0.0]]; jumps true
}
scalar_row! { NOT = "not"(a), "!a"; value a.if_equal(T::zero(), T::one(), T::zero()); slopes(_y) [T::zero()];
probes [&[1.0]]; jumps true }
scalar_row! {
    WHERE = "where"(c, a, b), "a where c is true, b elsewhere";
    value c.if_equal(T::zero(), b, a);
    slopes(_y) [
        T::zero(),
        c.if_equal(T::zero(), T::zero(), T::one()),
        c.if_equal(T::zero(), T::one(), T::zero()),
    ];
    probes [&[1.0, 2.0, 3.0], &[0.0, 2.0, 3.0]];
    facts Facts::of(|x, k| {
        let c: [f64; 3] = known::fixed(x, k)?;
        let chosen = if c[0] == 0.0 { 2 } else { 1 };
        (k > 0).then(|| if k == chosen { Jet::identity(x[k]) } else { Jet::constant(c[chosen]) })
    })
}

pub(super) static ROWS: &[&ScalarRow] = &[&LT, &LE, &GT, &GE, &EQ, &NE, &AND, &OR, &NOT, &WHERE];
