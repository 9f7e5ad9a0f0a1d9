//! Functions of all numbers of a slice, a register at a time.

use super::dispatch::{LaneWork, View, best_lanes};
use super::real::{F8, LANES, Packed};

/// A function of one number, written for a register of them. Mark `of` `#[inline(always)]`.
pub trait Function: Copy {
    /// Its value.
    fn of<U: Packed>(self, x: U) -> U;
}

/// Puts the value of a function in the place of each number.
pub fn map(x: &mut [f64], f: impl Function) {
    best_lanes(Map(x, f));
}

/// The sum of a function of all numbers.
pub fn sum(x: &[f64], f: impl Function) -> f64 {
    best_lanes(Sum(x, f))
}

/// Functions of a slice by the method of the same name, with a type for each.
macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident $kind:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(x: &mut [f64]) {
            map(x, $kind);
        }

        #[derive(Clone, Copy)]
        struct $kind;

        impl Function for $kind {
            #[inline(always)]
            fn of<U: Packed>(self, x: U) -> U {
                x.$name()
            }
        }
    )*};
}

functions! {
    /// The standard normal quantile of each.
    inv_phi InvPhi;
    /// The exponential of each.
    exp Exp;
    /// The logarithm of each.
    ln Ln;
}

struct Map<'x, F>(&'x mut [f64], F);

impl<F: Function> LaneWork<F8> for Map<'_, F> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<F8, U>) {
        let Map(x, f) = self;
        let (whole, rest) = x.as_chunks_mut::<LANES>();
        for x in whole {
            let y = f.of(view.load(x));
            view.store(y, x);
        }
        if let Some(mut last) = filled(rest) {
            let y = f.of(view.load(&last));
            view.store(y, &mut last);
            rest.copy_from_slice(&last[..rest.len()]);
        }
    }
}

struct Sum<'x, F>(&'x [f64], F);

impl<F: Function> LaneWork<F8> for Sum<'_, F> {
    type Out = f64;

    #[inline(always)]
    fn run<U: Packed>(self, view: View<F8, U>) -> f64 {
        let Sum(x, f) = self;
        let (whole, rest) = x.as_chunks::<LANES>();
        let mut sums = U::zero();
        for x in whole {
            sums += f.of(view.load(x));
        }
        let all: f64 = (0..LANES).map(|lane| sums.lane(lane)).sum();
        let Some(last) = filled(rest) else { return all };
        let last = f.of(view.load(&last));
        (0..rest.len()).fold(all, |sum, lane| sum + last.lane(lane))
    }
}

/// The last numbers of a slice, where there are some, and the first of them for each that is missing: what a
/// function takes longer for is not made up.
#[inline(always)]
fn filled(rest: &[f64]) -> Option<[f64; LANES]> {
    let first = rest.first()?;
    Some(std::array::from_fn(|k| *rest.get(k).unwrap_or(first)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy)]
    struct Square;

    impl Function for Square {
        #[inline(always)]
        fn of<U: Packed>(self, x: U) -> U {
            x * x
        }
    }

    #[test]
    fn slices_of_every_length_are_taken_whole() {
        for n in 0..40_u32 {
            let x: Vec<f64> = (0..n).map(f64::from).collect();
            let mut squares = x.clone();
            map(&mut squares, Square);
            assert!(squares.iter().zip(&x).all(|(s, x)| *s == x * x), "{n}");
            assert_eq!(sum(&x, Square), squares.iter().sum::<f64>(), "{n}");
        }
    }
}
