//! Approximations of a posterior: the best Gaussian, by sampling or by quadrature, and coordinates in which a
//! posterior is closer to one.

pub(in crate::infer) mod gaussian;
pub(in crate::infer) mod quadrature;
pub(in crate::infer) mod transport;
