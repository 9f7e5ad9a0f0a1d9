//! How noisy a gradient estimator may be: constants `a`, `b` with `E‖g‖² ≤ a‖w - w*‖² + b`.

/// What is known of the curvature of the target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constants {
    /// `M`: every eigenvalue of the Hessian of the log density lies in [-M, M].
    pub smoothness: f64,
    /// `μ`: every eigenvalue of minus the Hessian is at least this; 0 for a target that is only log-concave,
    /// below 0 for one that is not.
    pub strong_concavity: f64,
}

/// What the noise bounds depend on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Geometry {
    /// Number of coordinates `d`.
    pub dimension: usize,
    /// Fourth moment of the base: 3 for the normal.
    pub kurtosis: f64,
    /// `M` of the target.
    pub smoothness: f64,
    /// `K`, the smoothness of `log p - log q_{w*}`: at most 2M, and 0 for a Gaussian posterior.
    pub residual: f64,
    /// `‖w* - w̄‖²` with `w̄ = (mode, 0)`: at most d/μ.
    pub to_mode: f64,
    /// `‖w* - ŵ‖²` with `ŵ = (stationary point of log p - log q_{w*}, 0)`.
    pub to_residual_mode: f64,
}

impl Geometry {
    /// What can be said before the optimum is known: `K ≤ 2M`, `‖w* - w̄‖² ≤ d/μ`. Where nothing bounds a
    /// distance it is infinite, and so is `b`; the steps need only `a`.
    pub fn before_fit(dimension: usize, kurtosis: f64, constants: Constants) -> Self {
        let Constants { smoothness, strong_concavity: mu } = constants;
        Geometry {
            dimension,
            kurtosis,
            smoothness,
            residual: 2.0 * smoothness,
            to_mode: if mu > 0.0 { dimension as f64 / mu } else { f64::INFINITY },
            to_residual_mode: f64::INFINITY,
        }
    }

    /// (d + κ) M², the factor common to all bounds.
    pub fn scale(&self) -> f64 {
        (self.dimension as f64 + self.kurtosis) * self.smoothness.powi(2)
    }

    /// The sharp form for the energy estimator, an equality before `proj_V` for an isotropic quadratic:
    /// `E‖g‖² ≤ (d+1) M² ‖m - m̄‖² + (d+κ) M² ‖C‖²`.
    pub fn sharp_energy(&self, mean_to_mode_squared: f64, factor_squared: f64) -> f64 {
        (self.dimension as f64 + 1.0) * self.smoothness.powi(2) * mean_to_mode_squared
            + self.scale() * factor_squared
    }
}

/// `E‖g‖² ≤ a‖w - w*‖² + b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quadratic {
    /// The part that grows with the distance from the optimum.
    pub a: f64,
    /// The part that stays.
    pub b: f64,
}

impl Quadratic {
    /// The bound at a squared distance from the optimum.
    pub fn at(&self, distance_squared: f64) -> f64 {
        self.a * distance_squared + self.b
    }
}
