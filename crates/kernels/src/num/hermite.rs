//! Gauss-Hermite rules: means over the standard normal, exact for polynomials.

use super::linalg::symmetric_eigen;

/// Points and weights.
pub struct Rule {
    /// Points.
    pub points: Vec<f64>,
    /// How much each counts; these add up to one.
    pub weights: Vec<f64>,
}

impl Rule {
    /// By the eigenvectors of the Jacobi matrix of the Hermite polynomials (Golub and Welsch).
    pub fn new(n: usize) -> Option<Rule> {
        let mut jacobi = vec![0.0; n * n];
        for k in 1..n {
            jacobi[k * n + k - 1] = (k as f64).sqrt();
            jacobi[(k - 1) * n + k] = (k as f64).sqrt();
        }
        let eigen = symmetric_eigen(&jacobi, n)?;
        let weights = (0..n).map(|k| eigen.vectors[k * n].powi(2)).collect();
        Some(Rule { points: eigen.values, weights })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A rule of n points is exact for powers up to the 2n - 1st: of even ones the mean is (k - 1)!!, of odd
    /// ones zero.
    #[test]
    fn powers_have_the_means_of_the_standard_normal() {
        for n in [1, 2, 7, 9, 16] {
            let rule = Rule::new(n).unwrap();
            for k in 0..2 * n as i32 {
                let mean: f64 = rule.points.iter().zip(&rule.weights).map(|(x, w)| w * x.powi(k)).sum();
                let size: f64 = (1..k).rev().step_by(2).map(f64::from).product();
                let expected = if k % 2 == 0 { size } else { 0.0 };
                assert!((mean - expected).abs() < 1e-11 * size, "{n} points, power {k}: {mean} {expected}");
            }
        }
    }
}
