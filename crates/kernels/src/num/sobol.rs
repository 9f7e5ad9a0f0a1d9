//! Scrambled Sobol points: a randomised low-discrepancy sequence of any number of dimensions.
//!
//! What it is, exactly. Dimension 1 is van der Corput's sequence; the others up to `SET` use the primitive
//! polynomials over GF(2) in order of degree and then of value. The initial direction numbers m_k, odd and
//! below 2^k, are drawn from a fixed stream, of several sets the one listed in `CHOSEN`, the best by the
//! two-dimensional projections onto earlier dimensions. The points are randomised by Matoušek's linear
//! scrambling (a random lower triangular bit matrix for each dimension) and a random digital shift, to 52
//! bits, in Gray code order. Each point is uniform on the open cube, and any aligned block of 2^k points
//! keeps the net properties of the sequence.
//!
//! Further dimensions are further sets of so many, each scrambled by itself, whose points are taken in a
//! random order within each aligned block of `BLOCK` (Latin supercube sampling; Owen 1998). From as many
//! points on every coordinate is then as evenly spread as the first, every set is a net, and coordinates of
//! different sets are as if independent. Sobol's sequence itself has planes in higher dimensions on which a
//! thousand points lie along a few lines: two coordinates would look correlated.

use super::dispatch::best;
use super::slices::inv_phi;
use super::stream::{Stream, open_unit};
use std::sync::LazyLock;

/// Points are distinct up to this power of two.
const BITS: usize = 32;

/// Dimensions of a set.
const SET: usize = 12;

/// The primitive polynomials of the dimensions after the first, as bits from the highest power of x down to
/// 1.
const POLYNOMIALS: [u32; SET - 1] = [3, 7, 11, 13, 19, 25, 37, 41, 47, 55, 59];

/// Which set of initial direction numbers serves each of the dimensions after the first. Of 64 sets, the one
/// with the smallest sum of 4^t / √j over the planes with each earlier dimension j, where t says how far the
/// plane is from a perfect net of 2^5, 2^8, 2^11 and 2^14 points.
const CHOSEN: [u8; SET - 1] = [0, 0, 0, 20, 22, 35, 37, 9, 27, 55, 55];

/// Points whose order is found together.
const BLOCK: usize = 64;
/// What random numbers are for: orders.
const ORDER: u64 = 0x6f72_6465;

/// A scrambled sequence.
#[derive(Clone, Debug)]
pub struct Sobol {
    /// For each dimension, what each bit of the Gray code of the index adds to the point, highest bit first.
    columns: Vec<[u64; BITS]>,
    shifts: Vec<u64>,
    /// For each set of dimensions after the first the key of its order.
    keys: Vec<u64>,
}

impl Sobol {
    /// The sequence of a seed and a purpose.
    pub fn new(dimensions: usize, seed: u64, purpose: u64) -> Sobol {
        let mut columns = Vec::with_capacity(dimensions);
        let mut shifts = Vec::with_capacity(dimensions);
        let mut keys = Vec::new();
        for i in 0..dimensions {
            let mut stream = Stream::new(seed, purpose, i as u64);
            shifts.push(stream.bits());
            columns.push(scramble(&MASKS[i % SET], &mut stream));
            if i >= SET && i % SET == 0 {
                keys.push(stream.bits());
            }
        }
        Sobol { columns, shifts, keys }
    }

    /// Number of dimensions.
    pub fn dimensions(&self) -> usize {
        self.shifts.len()
    }

    /// The bits of coordinate `i` of the point at `index`.
    fn bits(&self, i: usize, index: u64) -> u64 {
        let mut gray = (index ^ (index >> 1)) & u64::from(u32::MAX);
        let mut bits = self.shifts[i];
        while gray != 0 {
            bits ^= self.columns[i][gray.trailing_zeros() as usize];
            gray &= gray - 1;
        }
        bits
    }

    /// The points `first..first + count` in (0, 1): coordinate `i` of the k-th at `out[i * count + k]`.
    pub fn fill_uniform(&self, first: u64, count: usize, out: &mut [f64]) {
        self.each(first, count, |i, k, u| out[i * count + k] = u);
    }

    /// Calls `f(i, k, u)` with coordinate `i` of the k-th of the points `first..first + count`.
    #[inline]
    pub fn each(&self, first: u64, count: usize, mut f: impl FnMut(usize, usize, f64)) {
        for i in 0..self.dimensions().min(SET) {
            let mut bits = self.bits(i, first);
            for (k, index) in (first..).take(count).enumerate() {
                f(i, k, open_unit(bits));
                bits ^= self.step(i, index);
            }
        }
        for (later, key) in self.keys.iter().enumerate() {
            let start = SET * (later + 1);
            self.each_by_key(*key, start..self.dimensions().min(start + SET), first, count, &mut f);
        }
    }

    /// The same for dimensions whose points are taken in the order of a key.
    #[inline]
    fn each_by_key(
        &self,
        key: u64,
        dimensions: std::ops::Range<usize>,
        first: u64,
        count: usize,
        f: &mut impl FnMut(usize, usize, f64),
    ) {
        let size = BLOCK as u64;
        let (mut at, end) = (first, first + count as u64);
        while at < end {
            let start = at / size * size;
            let (places, before) = (order(key, at / size), (at - first) as usize);
            let places = &places[(at - start) as usize..size.min(end - start) as usize];
            for i in dimensions.clone() {
                let mut points = [0; BLOCK];
                let mut bits = self.bits(i, start);
                for (index, point) in (start..).zip(&mut points) {
                    *point = bits;
                    bits ^= self.step(i, index);
                }
                places.iter().enumerate().for_each(|(k, place)| f(i, before + k, open_unit(points[*place])));
            }
            at += places.len() as u64;
        }
    }

    /// What changes from the point at `index` to the next.
    fn step(&self, i: usize, index: u64) -> u64 {
        self.columns[i][(index.trailing_ones() as usize).min(BITS - 1)]
    }

    /// The same points carried to standard normals by the quantile function.
    pub fn fill_normal(&self, first: u64, count: usize, out: &mut [f64]) {
        self.fill_uniform(first, count, out);
        inv_phi(&mut out[..count * self.dimensions()]);
    }
}

/// The order in which the points of a block are taken by dimensions of a key. (Not one that keeps smaller
/// blocks together: points that are next to each other lie in opposite halves of every dimension, and would
/// still do so of two sets.)
fn order(key: u64, block: u64) -> [usize; BLOCK] {
    let mut stream = Stream::new(key, ORDER, block);
    let mut places = std::array::from_fn(|k| k);
    stream.shuffle(&mut places);
    places
}

/// A random lower triangular bit matrix with ones on its diagonal, applied to each column of direction bits.
fn scramble(masks: &[[u64; BITS]; BITS], stream: &mut Stream) -> [u64; BITS] {
    // Column j of the matrix: bit j from the top is one, lower bits are random.
    let matrix: [u64; BITS] = std::array::from_fn(|j| {
        let top = 1 << (63 - j);
        top | (stream.bits() & (top - 1))
    });
    // Bit by bit for all columns at once, without branches: sequences of a thousand dimensions are made
    // often.
    best(
        #[inline(always)]
        || {
            let mut scrambled = [0; BITS];
            for (column, masks) in matrix.iter().zip(masks) {
                for (sum, mask) in scrambled.iter_mut().zip(masks) {
                    *sum ^= column & mask;
                }
            }
            scrambled
        },
    )
}

/// For each dimension of a set and each bit of direction numbers, highest first: all ones where a column has
/// that bit, zero where it has not. Computed once.
static MASKS: LazyLock<[[[u64; BITS]; BITS]; SET]> = LazyLock::new(|| {
    let mask = |direction: u32, j: usize| u64::from(direction >> (BITS - 1 - j) & 1).wrapping_neg();
    DIRECTIONS.map(|of| std::array::from_fn(|j| of.map(|direction| mask(direction, j))))
});

/// The direction numbers of a set; computed once.
static DIRECTIONS: LazyLock<[[u32; BITS]; SET]> = LazyLock::new(|| {
    std::array::from_fn(|i| match i.checked_sub(1) {
        None => std::array::from_fn(|k| 1 << (BITS - 1 - k)),
        Some(later) => directions(POLYNOMIALS[later], later, CHOSEN[later]),
    })
});

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

#[cfg(test)]
mod tests {
    use super::*;

    /// The smallest t for which the first 2^bits points of the plane fill every elementary box of volume 2^(t
    /// - bits) alike.
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

    /// x^exponent modulo a polynomial over GF(2).
    fn power_of_x(exponent: u32, polynomial: u32) -> u32 {
        let degree = polynomial.ilog2();
        let times_x = |p: u32| if p << 1 >> degree & 1 == 1 { p << 1 ^ polynomial } else { p << 1 };
        (0..exponent).fold(1, |p, _| times_x(p))
    }

    #[test]
    fn polynomials_are_primitive() {
        for p in POLYNOMIALS {
            let order = (1 << p.ilog2()) - 1;
            assert!((1..order).all(|k| power_of_x(k, p) != 1) && power_of_x(order, p) == 1, "{p}");
        }
    }

    #[test]
    fn every_coordinate_fills_every_interval_once() {
        let (d, n) = (5 * SET + 3, 256);
        let sobol = Sobol::new(d, 3, 1);
        let mut points = vec![0.0; d * n];
        // An aligned block further on, not only the first.
        sobol.fill_uniform(3 * n as u64, n, &mut points);
        for (i, row) in points.chunks_exact(n).enumerate() {
            let mut seen = vec![false; n];
            row.iter().for_each(|x| seen[(x * n as f64) as usize] = true);
            assert!(seen.iter().all(|s| *s), "coordinate {i}");
        }
    }

    #[test]
    fn pieces_are_parts_of_the_whole() {
        let (d, n) = (2 * SET + 1, 300);
        let sobol = Sobol::new(d, 4, 0);
        let mut whole = vec![0.0; d * n];
        sobol.fill_uniform(100, n, &mut whole);
        for (from, count) in [(0, 1), (27, 1), (28, 64), (90, 210), (7, 130)] {
            let mut piece = vec![0.0; d * count];
            sobol.fill_uniform((100 + from) as u64, count, &mut piece);
            for i in 0..d {
                assert_eq!(piece[i * count..(i + 1) * count], whole[i * n + from..][..count]);
            }
        }
    }

    /// Sixteen sequences of 128 points, as a fit begins with: correlations of any two coordinates are what
    /// they are among independent draws, or less.
    #[test]
    fn coordinates_are_not_correlated() {
        let (d, n, sequences) = (90, 128, 16);
        let mut u = vec![0.0; d * n];
        let mut products = vec![0.0; d * d];
        for seed in 0..sequences {
            Sobol::new(d, seed, 7).fill_normal(0, n, &mut u);
            for (i, j) in (0..d * d).map(|p| (p / d, p % d)).filter(|(i, j)| j < i) {
                let terms = u[i * n..(i + 1) * n].iter().zip(&u[j * n..(j + 1) * n]);
                products[i * d + j] += terms.map(|(a, b)| a * b).sum::<f64>();
            }
        }
        let draws = (n * sequences as usize) as f64;
        let (mut squares, mut largest, mut pairs) = (0.0, 0.0_f64, 0.0);
        for (i, j) in (0..d * d).map(|p| (p / d, p % d)).filter(|(i, j)| j < i) {
            let standardised = products[i * d + j] / draws.sqrt();
            squares += standardised * standardised;
            largest = largest.max(standardised.abs());
            pairs += 1.0;
        }
        // Of 4005 independent standard normals: mean square 1 ± 0.022, largest 3.5 to 4.5.
        assert!(
            squares / pairs < 1.05 && largest < 4.9,
            "mean square {}, largest {largest}",
            squares / pairs
        );
    }

    #[test]
    fn planes_of_the_first_dimensions_are_close_to_perfect_nets() {
        for i in 1..SET {
            for j in 0..i {
                let t = worst_t(&DIRECTIONS[i], &DIRECTIONS[j], 11);
                assert!(t <= 5, "dimensions {j} and {i}: t = {t}");
            }
        }
    }

    #[test]
    fn smooth_integrals_are_far_more_accurate_than_by_plain_sampling() {
        // E of Π (1 + z_i / (2 i)) + Σ z_i² / i over standard normals is 1 + Σ 1/i; plain sampling has a
        // known variance.
        let (d, n, rounds) = (10, 1024, 30);
        let truth = 1.0 + (1..=d).map(|i| 1.0 / i as f64).sum::<f64>();
        let mut squares = 0.0;
        let mut mean = 0.0;
        let mut points = vec![0.0; d * n];
        for seed in 0..rounds {
            Sobol::new(d, seed, 0).fill_normal(0, n, &mut points);
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
