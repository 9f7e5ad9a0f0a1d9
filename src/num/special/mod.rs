//! Special functions of real arguments, in double precision.
//!
//! None of them panics: NaN in gives NaN out, and an argument outside the domain gives NaN.

mod beta;
mod gamma;
mod logs;
mod normal;

pub use beta::{lbeta, lchoose, lfactorial};
pub use gamma::{digamma, lgamma, lgamma1p, lmultigamma, pentagamma, tetragamma, trigamma};
pub use logs::{
    inv_logit, log_diff_exp, log_inv_logit, log_sum_exp, log1m_exp, log1m_inv_logit, log1p_exp, logit,
};
pub use normal::{erf, erfc, erfcx, inv_erf, inv_erfc, inv_phi, log_phi, phi, phi_ratio};
