//! The best Gaussian for a posterior, by sampling or by quadrature.

pub(in crate::infer) mod gaussian;
pub(in crate::infer) mod measure;
pub(in crate::infer) mod quadrature;
