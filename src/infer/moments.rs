//! Means, standard deviations and covariances in nalgebra's types: of an answer, and of a Gaussian.

use crate::infer::fit::Fit;
use crate::infer::gaussian::Gaussian;
use crate::infer::importance::summary::Output;
use crate::vi::Scale;
use nalgebra::{DMatrix, DVector};
use thiserror::Error;

/// How far two entries of a covariance that should be the same may differ, in standard deviations of both:
/// far above rounding, far below any number that was meant.
const MAX_ASYMMETRY: f64 = 1e-8;

/// Why a mean and a covariance are those of no Gaussian.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum NotGaussian {
    /// Sizes that do not fit.
    #[error(
        "a mean of length {mean} needs a covariance of as many rows and columns, not of {} × {}",
        .covariance.0, .covariance.1
    )]
    Sizes {
        /// Length of the mean.
        mean: usize,
        /// Rows and columns of the covariance.
        covariance: (usize, usize),
    },
    /// A mean of another length than the target has coordinates.
    #[error("the target has {coordinates} unconstrained coordinates, but the mean has length {mean}")]
    Dimension {
        /// Coordinates of the target.
        coordinates: usize,
        /// Length of the mean.
        mean: usize,
    },
    /// Something infinite or not a number.
    #[error("the mean or the covariance holds a number that is infinite or not a number")]
    NotFinite,
    /// Entries that contradict each other; counted from 1.
    #[error("the covariance is not symmetric: entries ({row}, {column}) and ({column}, {row}) differ")]
    NotSymmetric {
        /// Row of one of them.
        row: usize,
        /// Its column.
        column: usize,
    },
    /// Directions without a positive variance.
    #[error("the covariance is not positive definite: along some direction the variance is zero or negative")]
    NotPositiveDefinite,
}

impl Gaussian {
    /// The Gaussian with this mean and covariance.
    ///
    /// ```
    /// use stickler::infer::Gaussian;
    /// use stickler::nalgebra::{DMatrix, DVector};
    /// let mean = DVector::from_vec(vec![1.0, -2.0]);
    /// let covariance = DMatrix::from_row_slice(2, 2, &[4.0, 1.0, 1.0, 9.0]);
    /// let q = Gaussian::from_moments(&mean, &covariance)?;
    /// assert!((q.covariance() - covariance).norm() < 1e-14);
    /// assert_eq!(q.sd(), DVector::from_vec(vec![2.0, 3.0]));
    /// assert!(Gaussian::from_moments(&mean, &DMatrix::from_element(2, 2, 1.0)).is_err());
    /// # Ok::<(), stickler::infer::NotGaussian>(())
    /// ```
    pub fn from_moments(mean: &DVector<f64>, covariance: &DMatrix<f64>) -> Result<Gaussian, NotGaussian> {
        let d = mean.len();
        if covariance.shape() != (d, d) {
            return Err(NotGaussian::Sizes { mean: d, covariance: covariance.shape() });
        }
        if mean.iter().chain(covariance).any(|x| !x.is_finite()) {
            return Err(NotGaussian::NotFinite);
        }
        for row in 0..d {
            for column in 0..row {
                let apart = (covariance[(row, column)] - covariance[(column, row)]).abs();
                let scale = (covariance[(row, row)] * covariance[(column, column)]).abs().sqrt();
                if apart > MAX_ASYMMETRY * scale {
                    return Err(NotGaussian::NotSymmetric { row: row + 1, column: column + 1 });
                }
            }
        }
        let factor = covariance.clone().cholesky().ok_or(NotGaussian::NotPositiveDefinite)?.unpack();
        let by_rows = factor.transpose().as_slice().to_vec();
        Ok(Gaussian { mean: mean.as_slice().to_vec(), factor: Scale::Dense(by_rows) })
    }

    /// The covariance.
    pub fn covariance(&self) -> DMatrix<f64> {
        self.factor.covariance(self.mean.len())
    }

    /// The standard deviation of each coordinate.
    pub fn sd(&self) -> DVector<f64> {
        self.factor.lengths(self.mean.len()).into()
    }
}

impl Fit {
    /// The posterior mean of each output, in the order of `outputs`.
    ///
    /// ```
    /// # fn main() -> Result<(), stickler::Error> {
    /// let model = stickler::Model::from_path("models/eight_schools.ppl")?;
    /// let fit = model.bind("models/eight_schools.csv")?.fit()?;
    /// let (mean, sd) = (fit.mean(), fit.sd());
    /// assert_eq!(mean[0], fit.outputs[0].mean);
    /// // How strongly mu and tau go together.
    /// let covariance = fit.covariance().unwrap();
    /// let correlation = covariance[(0, 1)] / (sd[0] * sd[1]);
    /// assert!(correlation.abs() < 1.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn mean(&self) -> DVector<f64> {
        self.each(|output| output.mean)
    }

    /// The posterior standard deviation of each output.
    pub fn sd(&self) -> DVector<f64> {
        self.each(|output| output.sd)
    }

    fn each(&self, of: impl Fn(&Output) -> f64) -> DVector<f64> {
        DVector::from_iterator(self.outputs.len(), self.outputs.iter().map(of))
    }

    /// The posterior covariance of the outputs: correlations of the draws that were kept, with the standard
    /// deviations of [`Fit::sd`]. None where fewer than two draws were kept ([`Options::keep`]).
    ///
    /// [`Options::keep`]: super::Options::keep
    pub fn covariance(&self) -> Option<DMatrix<f64>> {
        let draws = self.kept.first().map_or(0, Vec::len);
        if draws < 2 {
            return None;
        }
        let mut columns = DMatrix::from_fn(draws, self.kept.len(), |i, j| self.kept[j][i]);
        for (mut column, output) in columns.column_iter_mut().zip(&self.outputs) {
            let mean = column.mean();
            column.add_scalar_mut(-mean);
            let length = column.norm();
            // A constant goes together with nothing.
            let scale = if length == 0.0 { 0.0 } else { output.sd / length };
            column.scale_mut(scale);
        }
        // Entry by entry: the bits of nalgebra's matrix product depend on the processor.
        let mut covariance = DMatrix::zeros(self.kept.len(), self.kept.len());
        for i in 0..self.kept.len() {
            for j in 0..i {
                covariance[(i, j)] = columns.column(i).dot(&columns.column(j));
                covariance[(j, i)] = covariance[(i, j)];
            }
            covariance[(i, i)] = self.outputs[i].sd * self.outputs[i].sd;
        }
        Some(covariance)
    }

    /// The Gaussian that was fitted, in the unconstrained coordinates of the target. None where the fit took
    /// coordinates of its own, or several Gaussians.
    pub fn approximation(&self) -> Option<Gaussian> {
        self.as_declared.then(|| Gaussian { mean: self.mean.clone(), factor: self.factor.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::{self, Ending, Options, Origin};
    use crate::target::from_dvector;
    use std::ops::ControlFlow;
    use std::time::Instant;

    #[test]
    fn what_no_gaussian_has_is_refused_with_the_reason() {
        let mean = DVector::from_vec(vec![0.0, 1.0]);
        let refused = |covariance: DMatrix<f64>| Gaussian::from_moments(&mean, &covariance).unwrap_err();
        let sizes = NotGaussian::Sizes { mean: 2, covariance: (1, 2) };
        assert_eq!(refused(DMatrix::from_row_slice(1, 2, &[1.0, 0.0])), sizes);
        assert_eq!(
            refused(DMatrix::from_row_slice(2, 2, &[1.0, f64::NAN, 0.0, 1.0])),
            NotGaussian::NotFinite
        );
        let (row, column) = (2, 1);
        assert_eq!(
            refused(DMatrix::from_row_slice(2, 2, &[1.0, 0.1, 0.2, 1.0])),
            NotGaussian::NotSymmetric { row, column }
        );
        assert_eq!(
            refused(DMatrix::from_row_slice(2, 2, &[1.0, 2.0, 2.0, 1.0])),
            NotGaussian::NotPositiveDefinite
        );
        assert_eq!(
            refused(DMatrix::from_row_slice(2, 2, &[1.0, 0.0, 0.0, 0.0])),
            NotGaussian::NotPositiveDefinite
        );
    }

    /// A Gaussian posterior: its moments are known, and so are those of what was fitted to it.
    #[test]
    fn a_fit_has_the_moments_of_its_posterior() {
        let (mean, covariance) = (
            DVector::from_vec(vec![1.0, -2.0, 0.5]),
            DMatrix::from_row_slice(3, 3, &[2.0, 0.6, 0.0, 0.6, 1.0, -0.3, 0.0, -0.3, 0.5]),
        );
        let precision = covariance.clone().try_inverse().unwrap();
        let centre = mean.clone();
        let target = from_dvector(3, move |z| {
            let slope = &precision * (&centre - z);
            (-0.5 * slope.dot(&(&centre - z)), slope)
        });
        let options = Options { keep: 4000, ..Options::default() };
        let fit = infer::fit(&target, &options, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!((fit.mean() - &mean).amax() < 0.02);
        assert!(
            fit.sd().iter().zip(covariance.diagonal().iter()).all(|(sd, v)| (sd * sd / v - 1.0).abs() < 0.02)
        );
        // 4000 draws know a correlation to 0.016.
        assert!((fit.covariance().unwrap() - &covariance).amax() < 0.08);
        let q = fit.approximation().unwrap();
        assert!((q.covariance() - &covariance).amax() < 0.02);
        let origin = Origin::new(Ending::Budget, f64::NAN, 0, Instant::now());
        let again = infer::assess(&target, &mean, &covariance, origin.clone(), &options).unwrap();
        assert!((again.approximation().unwrap().covariance() - &covariance).amax() < 1e-14);
        assert_eq!(again.approximation().unwrap().mean, mean.as_slice());
        let short = (DVector::zeros(1), DMatrix::identity(1, 1));
        let short = infer::assess(&target, &short.0, &short.1, origin, &options).unwrap_err();
        assert_eq!(short, NotGaussian::Dimension { coordinates: 3, mean: 1 });
    }

    #[test]
    fn without_draws_there_is_no_covariance() {
        let target = from_dvector(1, |z| (-0.5 * z.norm_squared(), -z));
        let fit = infer::fit(&target, &Options::default(), &mut |_| ControlFlow::Continue(())).unwrap();
        assert!(fit.covariance().is_none());
    }
}
