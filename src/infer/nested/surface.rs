//! How the mode of the inner coordinates, and the factor of the curvature there, move with the outer ones:
//! polynomials through anchors.
//!
//! A Hessian costs a gradient for each of its colours, and crossed effects, latent functions and chains have
//! as many colours as coordinates. But draws may come from any Gaussian whose density is known: weights
//! correct what it is off by. So modes and Hessians are found at some hundred outer points, and between them
//! the factor is interpolated: the logarithm of each pivot, and each entry below it relative to it, which is
//! minus the weight of one coordinate in the conditional mean of another. Such a factor always has an
//! inverse, its determinant is known with its gradient, and an error of a tenth in each of fifty pivots costs
//! an eighth of a nat. Where it is known what the prior adds to the Hessian, the rest of it is interpolated
//! instead, which hardly changes, and the sum factored.

use crate::infer::gaussian::Gaussian;
use crate::infer::nested::anchor::Anchor;
use crate::infer::nested::lanes::{LANES, Lanes};
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::linalg::{Pattern, cholesky, dot, invert_lower, solve_cholesky};
use crate::num::real::{F16, LN_2PI, Real};
use crate::vi::Scale;
use std::ops::Range;

/// Most terms of a polynomial, the same where each anchor takes long, and where factors hardly bend besides;
/// and the highest degree.
pub(super) const MOST_TERMS: usize = 60;
pub(super) const MOST_TERMS_LARGE: usize = 20;
pub(super) const MOST_TERMS_NARROW: usize = 15;
const DEGREE: usize = 5;
/// Anchors for each term, and fewest in all.
const ANCHORS_EACH: usize = 5;
const FEWEST_ANCHORS: usize = 64;
/// Anchors that count for each term, at least.
const COUNTING_EACH: usize = 2;
/// Powers are those of a coordinate in units of so many standard deviations.
const UNIT: f64 = 2.0;
/// Polynomials hold within the distance from the centre that this share of the anchors has.
const WITHIN: f64 = 0.9;

/// Polynomials in the outer coordinates for all that a draw of the inner ones needs.
pub(super) struct Surface {
    /// The Gaussian that anchors lie around: its mean, and the inverse of its factor in units of powers.
    mean: Vec<f64>,
    inverse: Vec<f64>,
    /// Squared distance from the centre within which polynomials hold.
    reach: f64,
    /// The highest log density of an anchor, without the constant that integrating a Gaussian adds.
    pub(super) top: f64,
    /// Each term after the first, which is one: an earlier term times a coordinate.
    terms: Vec<(usize, usize)>,
    /// Where each column of the factor has its entries below the diagonal.
    columns: Vec<Range<usize>>,
    /// For each coordinate of the mode, the logarithm of each pivot, and each entry below relative to its
    /// pivot, the coefficients of all terms; instead of pivots and what is below, the entries of the Hessian
    /// less what the prior adds, where that is known.
    coefficients: Vec<f64>,
    /// Whether it is known.
    rest: bool,
    /// The coefficients of the sum of the logarithms of the pivots, where pivots are interpolated.
    determinant: Vec<f64>,
}

/// Anchors that polynomials of so many terms at most need in so many coordinates.
pub(super) fn anchors_for(d: usize, most: usize) -> usize {
    (ANCHORS_EACH * (terms(d, most).len() + 1)).max(FEWEST_ANCHORS).next_multiple_of(LANES)
}

/// The terms of polynomials of the highest degree that has not more, lowest degree first.
fn terms(d: usize, most: usize) -> Vec<(usize, usize)> {
    let mut all: Vec<(usize, usize)> = Vec::new();
    // Terms of the last degree, with the coordinate from which on they may be multiplied, so that each
    // product comes once.
    let mut last = vec![(0, 0)];
    for _ in 0..DEGREE {
        let grown: Vec<(usize, usize)> =
            last.iter().flat_map(|&(term, from)| (from..d).map(move |v| (term, v))).collect();
        if 1 + all.len() + grown.len() > most {
            break;
        }
        let first = all.len() + 1;
        last = grown.iter().enumerate().map(|(i, &(_, v))| (first + i, v)).collect();
        all.extend(grown);
    }
    all
}

impl Surface {
    /// Through anchors around a Gaussian, whose factors have this pattern, with what the prior adds to the
    /// Hessian at each where that is known, and so many terms at most; None where anchors are too few.
    pub(super) fn new(
        anchors: &[Anchor],
        q: &Gaussian,
        pattern: &Pattern,
        known: Option<&[Vec<f64>]>,
        most_terms: usize,
    ) -> Option<Surface> {
        let Scale::Dense(factor) = &q.factor else { return None };
        let d = q.mean.len();
        let inverse = invert_lower(factor, d).iter().map(|x| x / UNIT).collect();
        let mut surface = Surface {
            mean: q.mean.clone(),
            inverse,
            reach: 0.0,
            top: f64::NEG_INFINITY,
            terms: terms(d, most_terms),
            columns: pattern.columns(),
            coefficients: Vec::new(),
            rest: known.is_some(),
            determinant: Vec::new(),
        };
        let count = 1 + surface.terms.len();
        if anchors.len() < COUNTING_EACH * count {
            return None;
        }
        let mut distances: Vec<f64> = Vec::with_capacity(anchors.len());
        let mut basis: Vec<Vec<f64>> = Vec::with_capacity(anchors.len());
        for anchor in anchors {
            let at: Vec<Lanes> = anchor.at.iter().map(|x| [*x; LANES]).collect();
            let s = surface.standard(&at);
            distances.push(s.iter().map(|s| s[0] * s[0]).sum());
            basis.push(surface.powers(&s).iter().map(|t| t[0]).collect());
        }
        distances.sort_unstable_by(f64::total_cmp);
        surface.reach = distances[(WITHIN * (distances.len() - 1) as f64) as usize];
        let constant = 0.5 * surface.columns.len() as f64 * LN_2PI;
        surface.top = anchors.iter().fold(f64::NEG_INFINITY, |top, a| top.max(a.value - constant));
        let numbers: Vec<Vec<f64>> = match known {
            None => anchors.iter().map(|anchor| surface.numbers(anchor)).collect(),
            Some(known) => {
                anchors.iter().zip(known).map(|(a, known)| surface.rest_of(a, known, pattern)).collect()
            }
        };
        surface.coefficients = least_squares(&numbers, basis)?;
        if !surface.rest {
            surface.determinant = surface.coefficients.split_off(surface.coefficients.len() - count);
        }
        Some(surface)
    }

    /// What is interpolated, at an anchor; the sum of the logarithms of the pivots comes last.
    fn numbers(&self, anchor: &Anchor) -> Vec<f64> {
        let pivots = &anchor.factor[..self.columns.len()];
        let mut out = anchor.mode.clone();
        out.extend(pivots.iter().map(|p| p.ln()));
        for (column, pivot) in self.columns.iter().zip(pivots) {
            out.extend(anchor.factor[column.clone()].iter().map(|x| x / pivot));
        }
        out.push(pivots.iter().map(|p| p.ln()).sum());
        out
    }

    /// The same where it is known what the prior adds to the Hessian.
    fn rest_of(&self, anchor: &Anchor, known: &[f64], pattern: &Pattern) -> Vec<f64> {
        let mut out = anchor.mode.clone();
        out.extend(pattern.product(&anchor.factor).iter().zip(known).map(|(all, known)| all - known));
        out
    }

    /// Outer points in the coordinates of the polynomials.
    fn standard(&self, outer: &[Lanes]) -> Vec<Lanes> {
        let d = outer.len();
        let row = |row: &[f64]| -> Lanes {
            let mut out = [0.0; LANES];
            for ((by, outer), mean) in row.iter().zip(outer).zip(&self.mean) {
                (0..LANES).for_each(|b| out[b] += by * (outer[b] - mean));
            }
            out
        };
        self.inverse.chunks_exact(d.max(1)).map(row).collect()
    }

    /// The same, drawn back to where polynomials hold.
    fn within(&self, outer: &[Lanes]) -> Vec<Lanes> {
        let mut s = self.standard(outer);
        for b in 0..LANES {
            let distance: f64 = s.iter().map(|s| s[b] * s[b]).sum();
            if distance > self.reach {
                s.iter_mut().for_each(|s| s[b] *= (self.reach / distance).sqrt());
            }
        }
        s
    }

    /// The values of all terms.
    fn powers(&self, s: &[Lanes]) -> Vec<Lanes> {
        let mut out = vec![[1.0; LANES]];
        for &(term, v) in &self.terms {
            let next = std::array::from_fn(|b| out[term][b] * s[v][b]);
            out.push(next);
        }
        out
    }

    /// The modes and factors at outer points; of one beyond where polynomials hold, those at the nearest
    /// within. Where it is known what the prior adds to the Hessian, not factors but the rest of it.
    pub(super) fn at(&self, outer: &[Lanes], y: &mut [Lanes], factor: &mut Vec<Lanes>) {
        let powers = self.powers(&self.within(outer));
        let k = y.len();
        let below = self.columns.last().map_or(k, |c| c.end) - k;
        factor.resize(k + below, [0.0; LANES]);
        let (of_modes, of_factors) = self.coefficients.split_at(k * powers.len());
        best_lanes(Combine { coefficients: of_modes, powers: &powers, into: y });
        best_lanes(Combine { coefficients: of_factors, powers: &powers, into: factor });
        if self.rest {
            return;
        }
        let (pivots, below) = factor.split_at_mut(k);
        for (pivot, column) in pivots.iter_mut().zip(&self.columns) {
            *pivot = pivot.map(f64::exp);
            for x in &mut below[column.start - k..column.end - k] {
                (0..LANES).for_each(|b| x[b] *= pivot[b]);
            }
        }
    }

    /// The gradient of the logarithm of the determinant of the factor, at outer points.
    pub(super) fn slope(&self, outer: &[Lanes]) -> Vec<Lanes> {
        let d = outer.len();
        let s = self.within(outer);
        let powers = self.powers(&s);
        let along = |v: usize| -> Lanes {
            let mut slopes = vec![[0.0; LANES]];
            for &(term, w) in &self.terms {
                let same = if v == w { 1.0 } else { 0.0 };
                let next = std::array::from_fn(|b| slopes[term][b] * s[w][b] + same * powers[term][b]);
                slopes.push(next);
            }
            combine(&self.determinant, &slopes)
        };
        let slopes: Vec<Lanes> = (0..d).map(along).collect();
        let back = |i: usize| -> Lanes {
            let column: Vec<f64> = (0..d).map(|v| self.inverse[v * d + i]).collect();
            std::array::from_fn(|b| dot(&column, &slopes.iter().map(|s| s[b]).collect::<Vec<_>>()))
        };
        (0..d).map(back).collect()
    }
}

/// The coefficients of all numbers, from these at each anchor and the values of all terms there.
fn least_squares(numbers: &[Vec<f64>], basis: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let m = basis.first()?.len();
    let mut gram = vec![0.0; m * m];
    for row in &basis {
        for (i, x) in row.iter().enumerate() {
            gram[i * m..=i * m + i].iter_mut().zip(row).for_each(|(g, y)| *g += x * y);
        }
    }
    cholesky(&mut gram, m).ok()?;
    let mut coefficients = vec![0.0; numbers.first()?.len() * m];
    for (numbers, mut share) in numbers.iter().zip(basis) {
        solve_cholesky(&gram, m, &mut share);
        for (row, value) in coefficients.chunks_exact_mut(m).zip(numbers) {
            row.iter_mut().zip(&share).for_each(|(c, s)| *c += value * s);
        }
    }
    coefficients.iter().all(|c| c.is_finite()).then_some(coefficients)
}

/// One combination of the powers for each row of coefficients.
struct Combine<'a> {
    coefficients: &'a [f64],
    powers: &'a [Lanes],
    into: &'a mut [Lanes],
}

impl LaneWork<F16> for Combine<'_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Real>(self, view: View<F16, U>) {
        for (row, to) in self.coefficients.chunks_exact(self.powers.len()).zip(self.into) {
            let mut sum = U::splat(0.0);
            for (c, power) in row.iter().zip(self.powers) {
                sum += U::splat(*c) * view.load(power);
            }
            view.store(sum, to);
        }
    }
}

fn combine(coefficients: &[f64], powers: &[Lanes]) -> Lanes {
    let mut out = [0.0; LANES];
    for (c, p) in coefficients.iter().zip(powers) {
        (0..LANES).for_each(|b| out[b] += c * p[b]);
    }
    out
}
