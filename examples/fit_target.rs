//! A log density of one's own in nalgebra's types, fitted from Rust: `cargo run --example fit_target`.

use std::ops::ControlFlow;
use stickler::infer::{Error, Options, fit};
use stickler::nalgebra::{DMatrix, DVector};
use stickler::target::from_dvector;

fn main() -> Result<(), Error> {
    // A line through four points, y = a + b x with errors of standard deviation 1 and priors of 10.
    let x = DMatrix::from_row_slice(4, 2, &[1.0, 0.0, 1.0, 1.0, 1.0, 2.0, 1.0, 3.0]);
    let y = DVector::from_vec(vec![1.1, 1.9, 3.2, 3.8]);
    let target = from_dvector(2, |z: &DVector<f64>| {
        let residual = &y - &x * z;
        let log_density = -0.5 * residual.norm_squared() - 0.005 * z.norm_squared();
        (log_density, x.transpose() * residual - 0.01 * z)
    });
    let options = Options { keep: 4000, ..Options::default() };
    let fit = fit(&target, &options, &mut |_| ControlFlow::Continue(()))?;
    println!("mean {:.3}sd {:.3}", fit.mean(), fit.sd());
    if let Some(covariance) = fit.covariance() {
        println!("covariance {covariance:.3}");
    }
    Ok(())
}
