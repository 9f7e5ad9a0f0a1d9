//! Hessians of the inner coordinates that are sums of two matrices, the same at all outer points, and what
//! one product with a vector then tells.
//!
//! A regression has XᵀX / σ² + D. Where the Hessian is Σ cₘ(θ) Bₘ, the difference of two gradients along a
//! vector v is Σ cₘ Bₘ v: as many equations as coordinates for two numbers, so that what is not such a sum
//! shows. Groups add a matrix for each of their scales: where several outer coordinates decide how large
//! matrices are, these differ so much in size that the rounding of large ones ends up in the small, and no
//! shortcut is taken.

use crate::infer::nested::lanes::{LANES, Lanes, PURPOSE};
use crate::num::dispatch::best;
use crate::num::linalg::dot;
use crate::num::stream::Stream;

/// Most matrices, and coordinates for each at least.
const MOST: usize = 2;
const EQUATIONS: usize = 2;
/// What is left of a matrix when the others are taken from it, relative to it, if it is rounding.
const ROUNDING: f64 = 1e-11;
/// What may be left of a product, relative to the diagonal, for each part of the latter that elimination
/// leaves.
const LEFT: f64 = 1e-8;

/// The matrices.
pub(in crate::infer) struct Span {
    /// The vector.
    pub(in crate::infer) direction: Vec<f64>,
    /// Entries of matrices whose products with the vector have length one and are orthogonal to each other.
    matrices: Vec<Vec<f64>>,
    products: Vec<Vec<f64>>,
    /// Which entry each coordinate has on the diagonal.
    diagonals: Vec<usize>,
}

impl Span {
    /// What symmetric matrices have in common, whose entries at these places are given, for so many
    /// coordinates; None if that is too little.
    pub(in crate::infer) fn new(
        examples: &[Vec<f64>],
        places: &[(u32, u32)],
        coordinates: usize,
        seed: u64,
    ) -> Option<Span> {
        let mut stream = Stream::new(seed, PURPOSE, 1);
        let direction: Vec<f64> = (0..coordinates).map(|_| stream.normal()).collect();
        let mut rest: Vec<Example> =
            examples.iter().map(|entries| Example::new(entries, places, &direction)).collect();
        let most = MOST.min(coordinates / EQUATIONS).min(rest.len() / 2);
        let on_diagonal = |i: usize| places.iter().position(|&(a, b)| a == b && a as usize == i);
        let diagonals = (0..coordinates).map(on_diagonal).collect::<Option<_>>()?;
        let mut span = Span { direction, matrices: Vec::new(), products: Vec::new(), diagonals };
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

    /// The entries of the matrices that have these products with the vector, and what is left of the
    /// products.
    pub(in crate::infer) fn entries(&self, product: &[Lanes], entries: &mut Vec<Lanes>) -> Lanes {
        let mut left = product.to_vec();
        entries.clear();
        entries.resize(self.matrices[0].len(), [0.0; LANES]);
        for (matrix, of_matrix) in self.matrices.iter().zip(&self.products) {
            best(
                #[inline(always)]
                || share(&mut left, of_matrix, entries, matrix),
            );
        }
        self.left(&left, entries)
    }

    /// What is left of products, relative to the diagonal of the matrix in the same row, at most.
    fn left(&self, left: &[Lanes], entries: &[Lanes]) -> Lanes {
        let mut most = [0.0; LANES];
        for (left, &diagonal) in left.iter().zip(self.diagonals.iter().cycle()) {
            for b in 0..LANES {
                let share = left[b].abs() / entries[diagonal][b];
                // What is no number, or below zero, must not pass.
                most[b] = if share <= most[b] && share >= 0.0 { most[b] } else { share.abs() };
            }
        }
        most
    }

    /// Whether matrices are known, by what is left of their products and by the pivots of their factors, of
    /// coordinate `i` at `places[i]`: what elimination leaves of the diagonal must be known too.
    pub(in crate::infer) fn tells(
        &self,
        left: &Lanes,
        entries: &[Lanes],
        pivots: &[Lanes],
        places: &[usize],
    ) -> bool {
        let mut least = [f64::INFINITY; LANES];
        for (&diagonal, &place) in self.diagonals.iter().zip(places) {
            for b in 0..LANES {
                let share = pivots[place][b] * pivots[place][b] / entries[diagonal][b];
                least[b] = if share >= least[b] { least[b] } else { share };
            }
        }
        (0..LANES).all(|b| left[b] <= LEFT * least[b])
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

/// A matrix and its product with the vector, less what others have of it.
struct Example {
    entries: Vec<f64>,
    product: Vec<f64>,
}

impl Example {
    /// With a largest entry of one.
    fn new(entries: &[f64], places: &[(u32, u32)], direction: &[f64]) -> Example {
        let largest = entries.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        let entries: Vec<f64> = entries.iter().map(|x| x / largest).collect();
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
        let examples =
            (0..6).map(|k| matrix([f64::from(k - 3).exp(), 1.0 + f64::from(k), 0.0])).collect::<Vec<_>>();
        Span::new(&examples, &places(), D, 1).unwrap()
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
            let left = span.entries(&product(&span, &matrix(shares)), &mut entries);
            assert!(left[3] < 1e-13, "{left:?}");
            for (found, expected) in entries.iter().zip(matrix(shares)) {
                assert!((found[3] - expected).abs() < 1e-11 * shares[0].max(1.0), "{} {expected}", found[3]);
            }
        }
    }

    #[test]
    fn one_that_is_not_shows() {
        let span = span();
        let (mut entries, other) = (Vec::new(), matrix([1.0, 1.0, 1e-6]));
        let left = span.entries(&product(&span, &other), &mut entries);
        assert!(left[3] > 1e-8, "{left:?}");
        let (pivots, order) = ([[1.0; LANES]; D], std::array::from_fn::<usize, D, _>(|i| i));
        assert!(!span.tells(&left, &entries, &pivots, &order));
        assert!(span.tells(&[1e-14; LANES], &entries, &pivots, &order));
        let entry = |x: i32, (i, j): (u32, u32)| (f64::from(1 + x) * f64::from(i + 3 * j)).sin();
        let all_different: Vec<Vec<f64>> =
            (0..16).map(|x| places().into_iter().map(|place| entry(x, place)).collect()).collect();
        assert!(Span::new(&all_different, &places(), D, 1).is_none());
    }
}
