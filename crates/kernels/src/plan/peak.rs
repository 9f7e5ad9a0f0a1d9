//! The most that this processor does, measured: what the speed of a gradient is compared with.

use crate::num::dispatch::{LaneWork, View, best, best_lanes};
use crate::num::real::{F16, Packed, Real};
use std::time::{Duration, Instant};

/// What one thread does at most.
#[derive(Clone, Copy, Debug)]
pub struct Peak {
    /// Additions and multiplications a second, in products of matrices that stay in the first-level cache.
    pub operations: f64,
    /// Bytes a second, read in order from an array of 64 MB.
    pub bytes: f64,
}

/// Sums that are carried at a time.
const SUMS: usize = 8;

/// Factors of each sum.
const FACTORS: usize = 64;

/// How often these are gone through between two looks at the clock.
const ROUNDS: usize = 200;

/// Numbers of the array that is read.
const NUMBERS: usize = 1 << 23;

impl Peak {
    /// Measures this processor, for about a tenth of a second.
    pub fn measure() -> Peak {
        let factors = vec![F16::splat(1e-3); FACTORS];
        let products = (2 * F16::WIDTH * SUMS * FACTORS * ROUNDS) as f64;
        let numbers = vec![1.0; NUMBERS];
        Peak {
            operations: products / fastest(|| best_lanes(Products(&factors)).lane(0)),
            bytes: (8 * NUMBERS) as f64
                / fastest(|| {
                    best(
                        #[inline(always)]
                        || read(&numbers),
                    )
                }),
        }
    }
}

/// Seconds of the fastest run.
fn fastest(work: impl Fn() -> f64) -> f64 {
    let (start, mut least) = (Instant::now(), f64::INFINITY);
    while start.elapsed() < Duration::from_millis(50) {
        let begin = Instant::now();
        std::hint::black_box(work());
        least = least.min(begin.elapsed().as_secs_f64());
    }
    least
}

/// Products as a block of a matrix product has them: all sums in registers.
struct Products<'a>(&'a [F16]);

impl LaneWork<F16> for Products<'_> {
    type Out = F16;

    #[inline(always)]
    fn run<U: Packed>(self, view: View<F16, U>) -> F16 {
        let mut sums = [U::zero(); SUMS];
        for _ in 0..ROUNDS {
            for &x in std::hint::black_box(view.slice(self.0)) {
                for s in &mut sums {
                    *s = x.mul_add(x, *s);
                }
            }
        }
        let mut total = U::zero();
        for s in sums {
            total += s;
        }
        view.back(total)
    }
}

#[inline(always)]
fn read(numbers: &[f64]) -> f64 {
    let mut sums = [0.0; 64];
    for chunk in numbers.chunks_exact(64) {
        for (s, x) in sums.iter_mut().zip(chunk) {
            *s += x;
        }
    }
    sums.iter().sum()
}
