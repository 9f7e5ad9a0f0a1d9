//! Scrambled Sobol points: a randomised low-discrepancy sequence of up to [`Sobol::MOST`] dimensions.
//!
//! What it is, exactly. Dimension 1 is van der Corput's sequence; the others use the primitive polynomials over GF(2) in
//! order of degree and then of value, found by computation (all of degree ≤ 13). The initial direction numbers m_k, odd
//! and below 2^k, are drawn from a fixed stream; for the first dimensions several sets are drawn and the one listed in
//! `CHOSEN` taken, the best by the two-dimensional projections onto earlier dimensions. The points are randomised by
//! Matoušek's linear scrambling (a random lower triangular bit matrix for each dimension) and a random digital shift, to
//! 52 bits, in Gray code order. Each point is uniform on the open cube, and any aligned block of 2^k points keeps the net
//! properties of the sequence.

use super::special::inv_phi;
use super::stream::{Stream, open_unit};
use std::sync::OnceLock;

/// Points are distinct up to this power of two.
const BITS: usize = 32;

/// Which set of initial direction numbers serves each of the first dimensions after the first; 0 for all others. Of 64
/// sets, the one with the smallest sum of 4^t / √j over the planes with each earlier dimension j, where t says how far the
/// plane is from a perfect net of 2^5, 2^8, 2^11 and 2^14 points.
const CHOSEN: [u8; 63] = [
    0, 0, 0, 20, 22, 35, 37, 9, 27, 55, 55, 6, 58, 15, 61, 61, 2, 44, 26, 54, 52, 36, 10, 9, 29, 61, 48, 63,
    19, 53, 22, 51, 43, 58, 3, 35, 47, 15, 44, 4, 60, 18, 28, 10, 39, 56, 56, 57, 20, 50, 53, 27, 58, 41, 26,
    19, 0, 59, 36, 15, 54, 13, 30,
];

/// A scrambled sequence.
#[derive(Clone, Debug)]
pub struct Sobol {
    /// For each dimension, what each bit of the Gray code of the index adds to the point, highest bit first.
    columns: Vec<[u64; BITS]>,
    shifts: Vec<u64>,
}

impl Sobol {
    /// The largest number of dimensions.
    pub const MOST: usize = 1111;

    /// The sequence of a seed and a purpose; None if there are more than [`Sobol::MOST`] dimensions.
    pub fn new(dimensions: usize, seed: u64, purpose: u64) -> Option<Sobol> {
        let unscrambled = direction_numbers(dimensions).get(..dimensions)?;
        let mut columns = Vec::with_capacity(dimensions);
        let mut shifts = Vec::with_capacity(dimensions);
        for (i, directions) in unscrambled.iter().enumerate() {
            let mut stream = Stream::new(seed, purpose, i as u64);
            shifts.push(stream.bits());
            columns.push(scramble(directions, &mut stream));
        }
        Some(Sobol { columns, shifts })
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.shifts.len()
    }

    /// The bits of coordinate `i` of the point `index`.
    fn bits(&self, i: usize, index: u64) -> u64 {
        let mut gray = (index ^ (index >> 1)) & u64::from(u32::MAX);
        let mut bits = self.shifts[i];
        while gray != 0 {
            bits ^= self.columns[i][gray.trailing_zeros() as usize];
            gray &= gray - 1;
        }
        bits
    }

    /// Coordinate `i` of the point `index`, in (0, 1).
    pub fn uniform(&self, i: usize, index: u64) -> f64 {
        open_unit(self.bits(i, index))
    }

    /// The points `first..first + count` in (0, 1): coordinate `i` of the k-th at `out[i * count + k]`.
    pub fn fill_uniform(&self, first: u64, count: usize, out: &mut [f64]) {
        for (i, row) in out.chunks_exact_mut(count).take(self.dimensions()).enumerate() {
            let mut bits = self.bits(i, first);
            for (index, x) in (first..).zip(row) {
                *x = open_unit(bits);
                bits ^= self.columns[i][(index.trailing_ones() as usize).min(BITS - 1)];
            }
        }
    }

    /// The same points carried to standard normals by the quantile function.
    pub fn fill_normal(&self, first: u64, count: usize, out: &mut [f64]) {
        self.fill_uniform(first, count, out);
        out.iter_mut().take(count * self.dimensions()).for_each(|x| *x = inv_phi(*x));
    }
}

/// A random lower triangular bit matrix with ones on its diagonal, applied to each column of direction bits.
fn scramble(directions: &[u32; BITS], stream: &mut Stream) -> [u64; BITS] {
    // Column j of the matrix: bit j from the top is one, lower bits are random.
    let matrix: [u64; BITS] = std::array::from_fn(|j| {
        let top = 1 << (63 - j);
        top | (stream.bits() & (top - 1))
    });
    // Bit by bit for all columns at once, without branches: sequences of a thousand dimensions are made often.
    let mut scrambled = [0; BITS];
    for (j, column) in matrix.iter().enumerate() {
        for (sum, direction) in scrambled.iter_mut().zip(directions) {
            *sum ^= column & u64::from(direction >> (BITS - 1 - j) & 1).wrapping_neg();
        }
    }
    scrambled
}

/// Dimensions of which most sequences need no more: the polynomials of all take milliseconds to find.
const FEW: usize = 64;

/// The direction numbers of so many dimensions at least, up to the most there are; computed once.
fn direction_numbers(dimensions: usize) -> &'static [[u32; BITS]] {
    static FIRST: OnceLock<Vec<[u32; BITS]>> = OnceLock::new();
    static ALL: OnceLock<Vec<[u32; BITS]>> = OnceLock::new();
    match dimensions <= FEW {
        true => FIRST.get_or_init(|| first_directions(FEW)),
        false => ALL.get_or_init(|| first_directions(Sobol::MOST)),
    }
}

fn first_directions(count: usize) -> Vec<[u32; BITS]> {
    let first = std::array::from_fn(|k| 1 << (BITS - 1 - k));
    let others = (1..).flat_map(primitive_polynomials).take(count - 1).enumerate();
    let numbers = |(i, polynomial)| directions(polynomial, i, CHOSEN.get(i).copied().unwrap_or(0));
    std::iter::once(first).chain(others.map(numbers)).collect()
}

/// The direction numbers of one polynomial, with the initial ones of set `choice`.
fn directions(polynomial: u32, dimension: usize, choice: u8) -> [u32; BITS] {
    let degree = polynomial.ilog2() as usize;
    let mut stream = Stream::new(u64::from(choice), 0x50b01, dimension as u64);
    let mut v = [0_u32; BITS];
    for k in 0..BITS {
        v[k] = if k < degree {
            // m odd and below 2^(k+1), as a binary fraction.
            let m = (stream.bits() as u32 & ((1 << k) - 1)) << 1 | 1;
            m << (BITS - 1 - k)
        } else {
            // v_k = a_1 v_{k-1} + … + a_{s-1} v_{k-s+1} + v_{k-s} + v_{k-s} / 2^s
            let earlier = v[k - degree];
            (1..degree)
                .filter(|j| polynomial >> (degree - j) & 1 == 1)
                .fold(earlier ^ (earlier >> degree), |sum, j| sum ^ v[k - j])
        };
    }
    v
}

/// The primitive polynomials of a degree, as bits from x^degree down to 1, in increasing order.
fn primitive_polynomials(degree: u32) -> impl Iterator<Item = u32> {
    let order = (1_u64 << degree) - 1;
    let factors: Vec<u64> = prime_factors(order);
    (1_u32 << degree..1 << (degree + 1)).filter(move |p| {
        // x must have the full order 2^degree - 1 in GF(2)[x] / p.
        p & 1 == 1
            && power_of_x(order, *p, degree) == 1
            && factors.iter().all(|f| power_of_x(order / f, *p, degree) != 1)
    })
}

fn prime_factors(mut n: u64) -> Vec<u64> {
    let mut found = Vec::new();
    let mut f = 2;
    while f * f <= n {
        if n.is_multiple_of(f) {
            found.push(f);
            while n.is_multiple_of(f) {
                n /= f;
            }
        }
        f += 1;
    }
    if n > 1 {
        found.push(n);
    }
    found
}

/// x^exponent modulo a polynomial over GF(2).
fn power_of_x(mut exponent: u64, polynomial: u32, degree: u32) -> u32 {
    let reduce = |x: u32| if x >> degree & 1 == 1 { x ^ polynomial } else { x };
    let multiply = |a: u32, b: u32| {
        (0..degree).rev().fold(0, |sum, k| reduce(sum << 1) ^ if b >> k & 1 == 1 { a } else { 0 })
    };
    let (mut result, mut base) = (1, reduce(2));
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = multiply(result, base);
        }
        base = multiply(base, base);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest t for which the first 2^bits points of the plane fill every elementary box of volume 2^(t - bits) alike.
    fn worst_t(a: &[u32; BITS], b: &[u32; BITS], bits: usize) -> usize {
        let row =
            |v: &[u32; BITS], r: usize| (0..bits).fold(0_u32, |x, k| x | (v[k] >> (BITS - 1 - r) & 1) << k);
        let rank = |mut rows: Vec<u32>| {
            let mut rank = 0;
            while let Some(pivot) = rows.pop() {
                if pivot != 0 {
                    rank += 1;
                    let low = pivot & pivot.wrapping_neg();
                    rows.iter_mut().filter(|r| **r & low != 0).for_each(|r| *r ^= pivot);
                }
            }
            rank
        };
        let full = |n: usize| {
            (0..=n).all(|q| {
                let rows = (0..q).map(|r| row(a, r)).chain((0..n - q).map(|r| row(b, r))).collect();
                rank(rows) == n
            })
        };
        (0..=bits).find(|t| full(bits - t)).unwrap_or(bits)
    }

    #[test]
    fn there_are_as_many_primitive_polynomials_as_there_should_be() {
        // φ(2^s - 1) / s
        let counts: Vec<usize> = (1..=13).map(|s| primitive_polynomials(s).count()).collect();
        assert_eq!(counts, [1, 1, 2, 2, 6, 6, 18, 16, 48, 60, 176, 144, 630]);
        assert_eq!(1 + counts.iter().sum::<usize>(), Sobol::MOST);
        assert!(Sobol::new(Sobol::MOST + 1, 0, 0).is_none());
    }

    #[test]
    fn every_coordinate_fills_every_interval_once() {
        let sobol = Sobol::new(Sobol::MOST, 3, 1).unwrap();
        let n = 256;
        let mut points = vec![0.0; Sobol::MOST * n];
        // An aligned block further on, not only the first.
        sobol.fill_uniform(3 * n as u64, n, &mut points);
        for (i, row) in points.chunks_exact(n).enumerate() {
            let mut seen = vec![false; n];
            row.iter().for_each(|x| seen[(x * n as f64) as usize] = true);
            assert!(seen.iter().all(|s| *s), "coordinate {i}");
            assert!((0..n).all(|k| row[k] == sobol.uniform(i, (3 * n + k) as u64)));
        }
    }

    #[test]
    fn planes_of_the_first_dimensions_are_close_to_perfect_nets() {
        let table = direction_numbers(Sobol::MOST);
        for i in 1..16 {
            for j in 0..i {
                let t = worst_t(&table[i], &table[j], 11);
                assert!(t <= 5, "dimensions {j} and {i}: t = {t}");
            }
        }
    }

    #[test]
    fn smooth_integrals_are_far_more_accurate_than_by_plain_sampling() {
        // E of Π (1 + z_i / (2 i)) + Σ z_i² / i over standard normals is 1 + Σ 1/i; plain sampling has a known variance.
        let (d, n, rounds) = (10, 1024, 30);
        let truth = 1.0 + (1..=d).map(|i| 1.0 / i as f64).sum::<f64>();
        let mut squares = 0.0;
        let mut mean = 0.0;
        let mut points = vec![0.0; d * n];
        for seed in 0..rounds {
            Sobol::new(d, seed, 0).unwrap().fill_normal(0, n, &mut points);
            let z = |i: usize, k: usize| points[(i - 1) * n + k];
            let value = |k: usize| {
                let product: f64 = (1..=d).map(|i| 1.0 + z(i, k) / (2 * i) as f64).product();
                product + (1..=d).map(|i| z(i, k).powi(2) / i as f64).sum::<f64>()
            };
            let error = (0..n).map(value).sum::<f64>() / n as f64 - truth;
            squares += error * error / rounds as f64;
            mean += error / rounds as f64;
        }
        let product: f64 = (1..=d).map(|i| 1.0 + 0.25 / (i * i) as f64).product();
        let plain = (product - 1.0 + (1..=d).map(|i| 2.0 / (i * i) as f64).sum::<f64>()) / n as f64;
        assert!(squares < plain / 100.0, "mean square error {squares:e} against {plain:e}");
        // Unbiased: the mean of the errors is within four of its standard errors.
        assert!(mean * mean < 16.0 * squares / rounds as f64);
    }
}
