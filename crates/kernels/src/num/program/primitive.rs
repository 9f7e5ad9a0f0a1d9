//! The primitives that formulas are made of: one table, from which follow how each is recorded, named and
//! computed.

use crate::num::real::{Fn3, Real};

/// A number of a formula: a place in its list of nodes.
pub type Id = u16;

/// One number of a formula, and what it is computed from. The operands of a node stand before it.
#[derive(Clone, Copy, Debug)]
pub enum Node {
    /// An argument of the formula.
    Input(Id),
    /// The same number everywhere.
    Constant(f64),
    /// A function of one number.
    Unary(Unary, Id),
    /// A function of two numbers.
    Binary(Binary, [Id; 2]),
    /// a · b + c, rounded as by [`Real::mul_add`].
    MulAdd([Id; 3]),
    /// The third where the first is less than the second, the fourth elsewhere.
    IfLess([Id; 4]),
    /// The third where the first equals the second, the fourth elsewhere.
    IfEqual([Id; 4]),
    /// Results that share their work; [`Node::Part`] reads them.
    Several(Several, Id),
    /// One of several results.
    Part(Id, u8),
    /// A function computed number by number, with its derivative.
    Call1([fn(f64) -> f64; 2], Id),
    /// A function of two, computed number by number, with its derivatives.
    Call2([fn(f64, f64) -> f64; 3], [Id; 2]),
    /// A function of three, computed number by number, with its derivatives.
    Call3([Fn3; 4], [Id; 3]),
}

/// An enum of functions of [`Real`] of one kind, with their names.
macro_rules! table {
    ($(#[$doc:meta])* $table:ident: $($variant:ident $method:ident),* $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)]
        pub enum $table {
            $($variant),*
        }

        impl $table {
            /// The name of the method of [`Real`] that it stands for.
            pub fn name(self) -> &'static str {
                match self {
                    $($table::$variant => stringify!($method)),*
                }
            }
        }
    };
}

/// Calls a macro with all functions of one number: variant and method of [`Real`].
macro_rules! unary {
    ($do:ident $(, $with:ident)?) => {
        $do! {
            $($with;)?
            Neg neg, Detach detach, Square square, Recip recip, Abs abs, Sqrt sqrt,
            Exp exp, Ln ln, Log1p log1p, Expm1 expm1,
            Sin sin, Cos cos, Tan tan, Asin asin, Acos acos, Atan atan, Sinh sinh, Cosh cosh, Tanh tanh,
            InvLogit inv_logit, Log1pExp log1p_exp, Lgamma lgamma, Digamma digamma, Trigamma trigamma,
            Erf erf, Erfc erfc, Phi phi, InvPhi inv_phi, LogPhi log_phi, PhiRatio phi_ratio
        }
    };
}
pub(super) use unary;

/// The same of two numbers.
macro_rules! binary {
    ($do:ident $(, $with:ident)?) => {
        $do! {
            $($with;)?
            Add add, Sub sub, Mul mul, Div div, Max max, Min min, Pow pow, Lrise lrise, LriseA lrise_a,
            Lbeta lbeta
        }
    };
}
pub(super) use binary;

/// The same of one number with several results, and how many.
macro_rules! several {
    ($do:ident $(, $with:ident)?) => {
        $do! {
            $($with;)?
            Log1pExpAndSlope log1p_exp_and_slope 2, LnAndRecip ln_and_recip 2,
            Log1pAndRecip log1p_and_recip 2,
            Log1pSquare log1p_square 2,
            LnByFactor ln_by_factor 2, Log1pExpByFactor log1p_exp_by_factor 3
        }
    };
}
pub(super) use several;

macro_rules! unary_table {
    ($($row:tt)*) => { table! { /** Functions of one number. */ Unary: $($row)* } };
}
macro_rules! binary_table {
    ($($row:tt)*) => { table! { /** Functions of two numbers. */ Binary: $($row)* } };
}
macro_rules! several_table {
    ($($variant:ident $method:ident $count:literal),*) => {
        table! { /** Functions of one number with several results. */ Several: $($variant $method),* }

        impl Several {
            /// How many results it has.
            pub fn count(self) -> usize {
                match self {
                    $(Several::$variant => $count),*
                }
            }
        }
    };
}
unary!(unary_table);
binary!(binary_table);
several!(several_table);

impl Unary {
    /// Its value.
    #[inline(always)]
    pub fn of<T: Real>(self, x: T) -> T {
        macro_rules! arms {
            ($($variant:ident $method:ident),*) => {
                match self {
                    $(Unary::$variant => x.$method()),*
                }
            };
        }
        unary!(arms)
    }
}

impl Binary {
    /// Its value.
    #[inline(always)]
    pub fn of<T: Real>(self, a: T, b: T) -> T {
        macro_rules! arms {
            ($($variant:ident $method:ident),*) => {
                match self {
                    $(Binary::$variant => a.$method(b)),*
                }
            };
        }
        binary!(arms)
    }
}

impl Several {
    /// Its results, as many as it has.
    #[inline(always)]
    pub fn of<T: Real>(self, x: T) -> [T; 3] {
        macro_rules! arms {
            ($($variant:ident $method:ident $count:literal),*) => {
                match self {
                    $(Several::$variant => three(x.$method())),*
                }
            };
        }
        several!(arms)
    }
}

/// Two or three numbers as three.
pub(super) trait Three<T> {
    /// The numbers, the last again where there are two.
    fn all(self) -> [T; 3];
}

impl<T: Copy> Three<T> for (T, T) {
    #[inline(always)]
    fn all(self) -> [T; 3] {
        [self.0, self.1, self.1]
    }
}

impl<T: Copy> Three<T> for [T; 2] {
    #[inline(always)]
    fn all(self) -> [T; 3] {
        [self[0], self[1], self[1]]
    }
}

impl<T> Three<T> for [T; 3] {
    #[inline(always)]
    fn all(self) -> [T; 3] {
        self
    }
}

/// [`Three::all`].
#[inline(always)]
pub(super) fn three<T>(results: impl Three<T>) -> [T; 3] {
    results.all()
}

impl Node {
    /// The numbers that it takes.
    pub fn operands(&self) -> ([Id; 4], usize) {
        match *self {
            Node::Input(_) | Node::Constant(_) => ([0; 4], 0),
            Node::Unary(_, a) | Node::Several(_, a) | Node::Part(a, _) | Node::Call1(_, a) => {
                ([a, 0, 0, 0], 1)
            }
            Node::Binary(_, [a, b]) | Node::Call2(_, [a, b]) => ([a, b, 0, 0], 2),
            Node::MulAdd([a, b, c]) | Node::Call3(_, [a, b, c]) => ([a, b, c, 0], 3),
            Node::IfLess(all) | Node::IfEqual(all) => (all, 4),
        }
    }

    /// Whether it computes what `other` does: the same primitive of the same numbers, constants by their
    /// bits.
    pub fn is_same(&self, other: &Node) -> bool {
        let same = self.operands() == other.operands();
        same && match (*self, *other) {
            (Node::Input(a), Node::Input(b)) => a == b,
            (Node::Constant(a), Node::Constant(b)) => a.to_bits() == b.to_bits(),
            (Node::Unary(f, _), Node::Unary(g, _)) => f == g,
            (Node::Binary(f, _), Node::Binary(g, _)) => f == g,
            (Node::Several(f, _), Node::Several(g, _)) => f == g,
            (Node::Part(_, f), Node::Part(_, g)) => f == g,
            (Node::MulAdd(_), Node::MulAdd(_))
            | (Node::IfLess(_), Node::IfLess(_))
            | (Node::IfEqual(_), Node::IfEqual(_)) => true,
            (Node::Call1(f, _), Node::Call1(g, _)) => f[0] as usize == g[0] as usize,
            (Node::Call2(f, _), Node::Call2(g, _)) => f[0] as usize == g[0] as usize,
            (Node::Call3(f, _), Node::Call3(g, _)) => f[0] as usize == g[0] as usize,
            (
                Node::Input(_)
                | Node::Constant(_)
                | Node::Unary(..)
                | Node::Binary(..)
                | Node::MulAdd(_)
                | Node::IfLess(_)
                | Node::IfEqual(_)
                | Node::Several(..)
                | Node::Part(..)
                | Node::Call1(..)
                | Node::Call2(..)
                | Node::Call3(..),
                _,
            ) => false,
        }
    }
}
