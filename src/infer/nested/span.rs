//! Hessians of the inner coordinates that are sums of a few matrices, the same at all outer points, and what one product with a vector then tells.
//!
//! A regression has XᵀX / σ² + D, and groups add a matrix for each of their scales. Where the Hessian is Σ cₘ(θ) Bₘ, the difference of two gradients
//! along a vector v is Σ cₘ Bₘ v: as many equations as coordinates for a few numbers, so that what is not such a sum shows.

use super::conditional::{LANES, Lanes};
use crate::num::dispatch::best;
use crate::num::linalg::dot;
use crate::num::stream::Stream;

/// Most matrices; fewer where coordinates are fewer than so many for each.
const MOST: usize = 10;
const EQUATIONS: usize = 2;
/// What is left of a matrix when the others are taken from it, relative to it, if it is rounding.
const ROUNDING: f64 = 1e-11;
/// What may be left of a product, relative to it.
const LEFT: f64 = 1e-9;

/// The matrices.
pub(super) struct Span {
    /// The vector.
    pub(super) direction: Vec<f64>,
    /// Entries of matrices whose products with the vector have length one and are orthogonal to each other.
    matrices: Vec<Vec<f64>>,
    products: Vec<Vec<f64>>,
}

impl Span {
    /// What symmetric matrices have in common, whose entries at these places are given, for so many coordinates; None if that is too little.
    pub(super) fn new(
        examples: Vec<Vec<f64>>,
        places: &[(u32, u32)],
        coordinates: usize,
        seed: u64,
    ) -> Option<Span> {
        let mut stream = Stream::new(seed, super::PURPOSE, 1);
        let direction: Vec<f64> = (0..coordinates).map(|_| stream.normal()).collect();
        let mut rest: Vec<Example> =
            examples.into_iter().map(|entries| Example::new(entries, places, &direction)).collect();
        let most = MOST.min(coordinates / EQUATIONS).min(rest.len() / 2);
        let mut span = Span { direction, matrices: Vec::new(), products: Vec::new() };
        while let Some(next) = longest(&rest) {
            if span.matrices.len() == most {
                return None;
            }
            let Example { entries, product } = rest.swap_remove(next).normalised();
            rest.iter_mut().for_each(|example| example.take_out(&entries, &product));
            span.matrices.push(entries);
            span.products.push(product);
        }
        // What no product shows must not be there.
        let shown = |example: &Example| example.entries.iter().all(|x| x.abs() < ROUNDING);
        (!span.matrices.is_empty() && rest.iter().all(shown)).then_some(span)
    }

    /// The entries of the matrices that have these products with the vector, and where there are such.
    pub(super) fn entries(&self, product: &[Lanes], entries: &mut Vec<Lanes>) -> [bool; LANES] {
        let mut left = product.to_vec();
        entries.clear();
        entries.resize(self.matrices[0].len(), [0.0; LANES]);
        for (matrix, of_matrix) in self.matrices.iter().zip(&self.products) {
            best(
                #[inline(always)]
                || share(&mut left, of_matrix, entries, matrix),
            );
        }
        let (all, left) = (squares(product), squares(&left));
        std::array::from_fn(|b| left[b] <= LEFT * LEFT * all[b])
    }
}

/// Takes from vectors what they have of one of length one, and adds as much of a matrix to others.
#[inline(always)]
fn share(left: &mut [Lanes], of_matrix: &[f64], entries: &mut [Lanes], matrix: &[f64]) {
    let mut shares = [0.0; LANES];
    for (left, p) in left.iter().zip(of_matrix) {
        for b in 0..LANES {
            shares[b] += left[b] * p;
        }
    }
    for (left, p) in left.iter_mut().zip(of_matrix) {
        for b in 0..LANES {
            left[b] -= shares[b] * p;
        }
    }
    for (entry, x) in entries.iter_mut().zip(matrix) {
        for b in 0..LANES {
            entry[b] += shares[b] * x;
        }
    }
}

/// The sum of squares of each lane.
fn squares(of: &[Lanes]) -> Lanes {
    let mut sums = [0.0; LANES];
    of.iter().for_each(|x| (0..LANES).for_each(|b| sums[b] += x[b] * x[b]));
    sums
}

/// A matrix and its product with the vector, less what others have of it.
struct Example {
    entries: Vec<f64>,
    product: Vec<f64>,
}

impl Example {
    /// With a largest entry of one.
    fn new(mut entries: Vec<f64>, places: &[(u32, u32)], direction: &[f64]) -> Example {
        let largest = entries.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        entries.iter_mut().for_each(|x| *x /= largest);
        let product = times(&entries, places, direction);
        Example { entries, product }
    }

    fn length(&self) -> f64 {
        dot(&self.product, &self.product).sqrt()
    }

    /// With a product of length one.
    fn normalised(mut self) -> Example {
        let length = self.length();
        self.entries.iter_mut().chain(&mut self.product).for_each(|x| *x /= length);
        self
    }

    /// Takes out what it has of another, twice: the second time takes what rounding left.
    fn take_out(&mut self, entries: &[f64], product: &[f64]) {
        for _ in 0..2 {
            let share = dot(&self.product, product);
            self.product.iter_mut().zip(product).for_each(|(x, p)| *x -= share * p);
            self.entries.iter_mut().zip(entries).for_each(|(x, e)| *x -= share * e);
        }
    }
}

/// The product of a symmetric matrix, whose entries at these places are given, with a vector.
fn times(entries: &[f64], places: &[(u32, u32)], vector: &[f64]) -> Vec<f64> {
    let mut product = vec![0.0; vector.len()];
    for (&(i, j), x) in places.iter().zip(entries) {
        let (i, j) = (i as usize, j as usize);
        product[i] += x * vector[j];
        if i != j {
            product[j] += x * vector[i];
        }
    }
    product
}

/// The example with most left that is not rounding.
fn longest(examples: &[Example]) -> Option<usize> {
    let length = |k: usize| examples[k].length();
    let longest = (0..examples.len()).reduce(|a, b| if length(b) > length(a) { b } else { a })?;
    (length(longest) > ROUNDING).then_some(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const D: usize = 8;

    fn places() -> Vec<(u32, u32)> {
        (0..D as u32).flat_map(|j| (0..=j).map(move |i| (i, j))).collect()
    }

    /// A matrix of ones and more, an identity and one that is not of the kind, with these shares.
    fn matrix([full, identity, other]: [f64; 3]) -> Vec<f64> {
        let entry = |&(i, j): &(u32, u32)| {
            let (i, j) = (f64::from(i), f64::from(j));
            full * (1.0 + i * j) + identity * f64::from(i == j) + other * (i + j).sin()
        };
        places().iter().map(entry).collect()
    }

    fn span() -> Span {
        let examples = (0..6).map(|k| matrix([f64::from(k - 3).exp(), 1.0 + f64::from(k), 0.0])).collect();
        Span::new(examples, &places(), D, 1).unwrap()
    }

    /// The product of a matrix with the vector of a span, in all lanes.
    fn product(span: &Span, entries: &[f64]) -> Vec<Lanes> {
        times(entries, &places(), &span.direction).into_iter().map(|x| [x; LANES]).collect()
    }

    #[test]
    fn a_matrix_of_the_kind_is_told_by_its_product() {
        let span = span();
        assert_eq!(span.matrices.len(), 2);
        let mut entries = Vec::new();
        for shares in [[1e-4, 3.0, 0.0], [20.0, 0.5, 0.0]] {
            let known = span.entries(&product(&span, &matrix(shares)), &mut entries);
            assert_eq!(known, [true; LANES]);
            for (found, expected) in entries.iter().zip(matrix(shares)) {
                assert!((found[3] - expected).abs() < 1e-11 * shares[0].max(1.0), "{} {expected}", found[3]);
            }
        }
    }

    #[test]
    fn one_that_is_not_shows() {
        let span = span();
        let known = span.entries(&product(&span, &matrix([1.0, 1.0, 1e-6])), &mut Vec::new());
        assert_eq!(known, [false; LANES]);
        let all_different = (0..16).map(|k| {
            let x = f64::from(k);
            places().iter().map(|&(i, j)| ((1.0 + x) * f64::from(i + 3 * j)).sin()).collect()
        });
        assert!(Span::new(all_different.collect(), &places(), D, 1).is_none());
    }
}
