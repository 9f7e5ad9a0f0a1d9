//! A row of the table of elementwise functions.

use super::kernel::Kernel;
use crate::facts::{Interval, Jet};
use crate::num::real::{Packed, Real};
use crate::ops::operand::{Arg, Index, Lane, Operand};

/// A smooth (almost everywhere) function of `N` numbers.
pub trait ScalarFn<const N: usize>: Send + Sync + 'static {
    /// Its value.
    fn value<T: Real>(x: [T; N]) -> T;

    /// Its partial derivatives at `x`, where its value is `y`. Entries for which `need` is false may be
    /// anything finite.
    fn slopes<T: Real>(x: [T; N], y: T, need: &[bool; N]) -> [T; N];

    /// Value and slopes together, where they share work.
    #[inline(always)]
    fn both<T: Real>(x: [T; N], need: &[bool; N]) -> (T, [T; N]) {
        let y = Self::value(x);
        (y, Self::slopes(x, y, need))
    }

    /// How often the logarithm of the factor below counts, where it has one of its own.
    const FACTORED: Option<f64> = None;

    /// A plain number, a factor from ½ to 4 whose logarithm is to be subtracted so many times, and the
    /// slopes: a sum of many values needs one logarithm, of a product.
    #[inline(always)]
    fn factored<T: Real>(x: [T; N], need: &[bool; N]) -> (T, T, [T; N]) {
        let (y, slopes) = Self::both(x, need);
        (y, T::one(), slopes)
    }
}

/// A function of `N` numbers that is computed one by one, such as a sum whose length depends on them.
pub trait OpaqueFn<const N: usize>: Send + Sync + 'static {
    /// Its value and its partial derivatives.
    fn both<T: Packed>(x: [T; N]) -> (T, [T; N]);
}

/// Everything true of an elementwise function, beside its formula.
pub struct ScalarRow {
    /// Its name, in the language and in dumps of the graph.
    pub name: &'static str,
    /// Names of its arguments.
    pub args: &'static [&'static str],
    /// One line for the manual.
    pub doc: &'static str,
    /// Its code.
    pub kernel: &'static Kernel,
    /// Points at which the table tests probe it: inside the domain, in the tails too, away from kinks.
    pub probes: &'static [&'static [f64]],
    /// What is known of its derivatives everywhere, where something is.
    pub facts: Option<Facts>,
    /// Whether it jumps: what it does where it jumps is in no slope.
    pub jumps: bool,
}

/// What is known of an elementwise function for all arguments at once. `certify` rests on these: each must be
/// proved, and the table tests hold each against sampled derivatives.
pub struct Facts {
    /// Two arguments that it depends on only through their difference, first minus second.
    pub difference: Option<(usize, usize)>,
    /// Bounds as a function of argument `k` alone, when that argument may be any of `args[k]` and the others
    /// are the points `args[j]`; None where nothing is known.
    pub jet: JetOf,
    /// The same as a function of t where argument `k` is exp(t): `args[k]` holds t. Where it is absent, and
    /// where it says None, compose [`Facts::jet`] with the exponential; where both speak, both hold. It is
    /// what makes a density of exp(t), which is concave in t though not in exp(t), known to be so.
    pub log_jet: Option<JetOf>,
    /// For a function of a probability θ, argument `k`, that is a log θ + b log(1 - θ): a and b, none below
    /// 0.
    pub odds: Option<OddsOf>,
    /// For a function of a positive number x, argument `k`, that is a log x + b x: a and b.
    pub rate: Option<OddsOf>,
    /// Whether it stays the same when one number is added to all its arguments.
    pub shifts: bool,
}

/// Bounds as a function of one argument, from where all arguments lie and which one varies.
pub type JetOf = fn(args: &[Interval], k: usize) -> Option<Jet>;

/// What log θ and log(1 - θ), or log x and x, are multiplied by, from the arguments and which one it is.
pub type OddsOf = fn(args: &[Interval], k: usize) -> Option<[f64; 2]>;

impl Facts {
    /// Bounds as a function of each argument, and nothing else.
    const fn plain(jet: JetOf) -> Self {
        Self { difference: None, jet, log_jet: None, odds: None, rate: None, shifts: false }
    }

    /// Facts as a function of each argument.
    pub const fn of(jet: JetOf) -> Option<Self> {
        Some(Self::plain(jet))
    }

    /// Facts as a function of each argument, one of them a probability.
    pub const fn with_odds(jet: JetOf, odds: OddsOf) -> Option<Self> {
        Some(Self { odds: Some(odds), ..Self::plain(jet) })
    }

    /// Facts as a function of each argument and of its logarithm.
    pub const fn with_log(jet: JetOf, log_jet: JetOf) -> Option<Self> {
        Some(Self { log_jet: Some(log_jet), ..Self::plain(jet) })
    }

    /// Both, of a function of one argument that may be a probability.
    pub const fn with_log_and_odds(jet: JetOf, log_jet: JetOf, odds: OddsOf) -> Option<Self> {
        Some(Self { log_jet: Some(log_jet), odds: Some(odds), ..Self::plain(jet) })
    }

    /// Facts as a function of each argument and of its logarithm, one of them a rate.
    pub const fn with_log_and_rate(jet: JetOf, log_jet: JetOf, rate: OddsOf) -> Option<Self> {
        Some(Self { log_jet: Some(log_jet), rate: Some(rate), ..Self::plain(jet) })
    }

    /// Facts of a function that depends on arguments `pair` through their difference.
    pub const fn difference(pair: (usize, usize), jet: JetOf) -> Option<Self> {
        Some(Self { difference: Some(pair), ..Self::plain(jet) })
    }

    /// Both.
    pub const fn difference_with_log(pair: (usize, usize), jet: JetOf, log_jet: JetOf) -> Option<Self> {
        Some(Self { difference: Some(pair), log_jet: Some(log_jet), ..Self::plain(jet) })
    }

    /// Facts of a function that depends on its arguments through their differences.
    pub const fn shifting(jet: JetOf) -> Option<Self> {
        Some(Self { shifts: true, ..Self::plain(jet) })
    }
}

impl ScalarRow {
    /// Its value at one point.
    pub fn at(&self, args: &[f64]) -> f64 {
        let operands: Vec<Operand<f64>> = args
            .iter()
            .map(|x| Operand { arg: Arg::Const(std::slice::from_ref(x)), index: Index::One })
            .collect();
        let mut out = [0.0];
        <f64 as Lane>::scalar(self.kernel).values(&operands, &mut out);
        out[0]
    }
}

impl std::fmt::Debug for ScalarRow {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

/// A row is itself: two rows are the same function only if they are the same row.
impl PartialEq for ScalarRow {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Eq for ScalarRow {}

/// Defines an elementwise function: a public static row, and the type that carries its code.
///
/// `scalar_row! { EXP = "exp"(x), "e^x"; |T| value x.exp(); slopes(y) [y]; probes [[-3.0], [0.5]] }`; a last
/// `facts` says what is known of its derivatives everywhere, and `jumps true` that it is not continuous.
///
/// Where value and slopes share more than the compiler finds, `both(at, need) (value, [slopes])` comes after
/// the slopes. `factored times (at, need) (value, factor, [slopes])` may follow. A function that cannot be
/// written as a formula has `opaque(at) (value, [slopes])` in their place, in which numbers can be looked at.
macro_rules! scalar_row {
    ($(#[$meta:meta])* $static:ident = $name:literal ($($arg:ident),+), $doc:literal;
     value $value:expr; slopes($y:ident $(, $need:ident)?) $slopes:expr;
     $(both($at:ident, $wanted:ident) $both:expr;)?
     $(factored $times:literal ($place:ident, $asked:ident) $factored:expr;)?
     probes $probes:expr $(; facts $facts:expr)? $(; jumps $jumps:literal)?) => {
        $(#[$meta])*
        #[doc = $doc]
        pub static $static: $crate::ops::scalar::ScalarRow = {
            const COUNT: usize = $crate::ops::scalar::scalar_row!(@count $($arg)+);
            struct Code;
            impl $crate::ops::scalar::ScalarFn<COUNT> for Code {
                #[inline(always)]
                #[allow(unused_variables)]
                fn value<T: $crate::num::real::Real>([$($arg),+]: [T; COUNT]) -> T {
                    $value
                }
                #[inline(always)]
                #[allow(unused_variables)]
                fn slopes<T: $crate::num::real::Real>(
                    [$($arg),+]: [T; COUNT],
                    $y: T,
                    need: &[bool; COUNT],
                ) -> [T; COUNT] {
                    $(let $need = need;)?
                    $slopes
                }
                $(
                    #[inline(always)]
                    fn both<T: $crate::num::real::Real>(
                        $at: [T; COUNT],
                        $wanted: &[bool; COUNT],
                    ) -> (T, [T; COUNT]) {
                        $both
                    }
                )?
                $(
                    const FACTORED: Option<f64> = Some($times);
                    #[inline(always)]
                    fn factored<T: $crate::num::real::Real>(
                        $place: [T; COUNT],
                        $asked: &[bool; COUNT],
                    ) -> (T, T, [T; COUNT]) {
                        $factored
                    }
                )?
            }
            $crate::ops::scalar::ScalarRow {
                name: $name,
                args: &[$(stringify!($arg)),+],
                doc: $doc,
                kernel: {
                    use $crate::ops::scalar::Kernel;
                    static KERNEL: Kernel = Kernel::new::<Code, COUNT>();
                    &KERNEL
                },
                probes: { const P: &[&[f64]] = &$probes; P },
                facts: $crate::ops::scalar::scalar_row!(@facts $($facts)?),
                jumps: false $(|| $jumps)?,
            }
        };
    };
    ($(#[$meta:meta])* $static:ident = $name:literal ($($arg:ident),+), $doc:literal;
     opaque($at:ident) $both:expr;
     probes $probes:expr $(; facts $facts:expr)? $(; jumps $jumps:literal)?) => {
        $(#[$meta])*
        #[doc = $doc]
        pub static $static: $crate::ops::scalar::ScalarRow = {
            const COUNT: usize = $crate::ops::scalar::scalar_row!(@count $($arg)+);
            struct Code;
            impl $crate::ops::scalar::OpaqueFn<COUNT> for Code {
                fn both<T: $crate::num::real::Packed>($at: [T; COUNT]) -> (T, [T; COUNT]) {
                    $both
                }
            }
            $crate::ops::scalar::ScalarRow {
                name: $name,
                args: &[$(stringify!($arg)),+],
                doc: $doc,
                kernel: {
                    use $crate::ops::scalar::Kernel;
                    static KERNEL: Kernel = Kernel::opaque::<Code, COUNT>();
                    &KERNEL
                },
                probes: { const P: &[&[f64]] = &$probes; P },
                facts: $crate::ops::scalar::scalar_row!(@facts $($facts)?),
                jumps: false $(|| $jumps)?,
            }
        };
    };
    (@facts) => { None };
    (@facts $facts:expr) => { $facts };
    (@count $($arg:ident)+) => { [$(stringify!($arg)),+].len() };
}
pub(crate) use scalar_row;
