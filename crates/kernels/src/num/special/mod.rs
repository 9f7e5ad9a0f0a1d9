//! Special functions of real arguments, in double precision.
//!
//! None of them panics: NaN in gives NaN out, and an argument outside the domain gives NaN. The accuracy that
//! each states is held against reference values to 50 digits by `tests/kernels/special.rs`.

mod bessel;
mod beta;
mod erlang;
mod gamma;
mod incomplete_beta;
mod incomplete_gamma;
mod jet;
mod logs;
mod normal;
mod owen;
mod quadrature;
mod root;
mod student;

pub use bessel::{
    bessel_i0_scaled, bessel_i1_scaled, bessel_ratio, bessel_ratio_slope, log_bessel_i0, log_bessel_i1,
    von_mises_cdf,
};
pub use beta::{lbeta, lchoose, lfactorial};
pub use erlang::inv_gamma_p_whole;
pub use gamma::{digamma, lgamma, lgamma1p, lmultigamma, pentagamma, tetragamma, trigamma};
pub use incomplete_beta::{
    beta_inc, beta_inc_dab, beta_inc_dx, beta_inc_upper, inv_beta_inc, inv_beta_inc_upper, log_beta_inc,
    log_beta_inc_dab, log_beta_inc_upper,
};
pub use incomplete_gamma::{
    gamma_p, gamma_p_da, gamma_p_dx, gamma_q, inv_gamma_p, inv_gamma_q, log_gamma_p, log_gamma_pq_da,
    log_gamma_q,
};
pub use logs::{
    inv_logit, log_diff_exp, log_inv_logit, log_sum_exp, log1m_exp, log1m_inv_logit, log1p_exp, logit,
};
pub use normal::{erf, erfc, erfcx, inv_erf, inv_erfc, inv_phi, log_phi, mills_excess, phi, phi_ratio};
pub use owen::owens_t;
pub(crate) use quadrature::gauss_legendre;
pub use student::{
    inv_student_t_cdf, log_student_t_cdf, log_student_t_cdf_dnu, student_t_cdf, student_t_ratio,
};
