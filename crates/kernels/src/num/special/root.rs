//! The root of an increasing function, by Newton's method inside a bracket.

/// A function's value and slope at a point.
pub(super) struct Probe {
    pub value: f64,
    pub slope: f64,
}

/// The root of an increasing function on the line, from a guess: Newton's step where it stays inside the
/// bracket found so far and at least halves the last one, bisection elsewhere. Stops at the rounding of the
/// argument.
pub(super) fn increasing_root(guess: f64, probe: impl Fn(f64) -> Probe) -> f64 {
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    let mut u = if guess.is_finite() { guess } else { 0.0 };
    let mut last = f64::INFINITY;
    for _ in 0..200 {
        let Probe { value, slope } = probe(u);
        if value == 0.0 || value.is_nan() {
            return if value == 0.0 { u } else { f64::NAN };
        }
        if value > 0.0 {
            high = u;
        } else {
            low = u;
        }
        let newton = -value / slope;
        let inside = newton.is_finite() && u + newton > low && u + newton < high;
        // A step that does not shrink is cut, and where there is no bracket yet the search widens.
        let step = if inside && newton.abs() <= 0.7 * last.abs() {
            newton
        } else if low.is_finite() && high.is_finite() {
            0.5 * (low + high) - u
        } else {
            let wider = if last.is_finite() { 1.5 * last.abs() } else { 1.0 };
            (if inside { newton.abs().max(wider) } else { wider }).copysign(-value)
        };
        if step.abs() <= 4e-16 * u.abs().max(1e-3) || (inside && newton.abs() <= 1e-16 * u.abs().max(1.0)) {
            return u + step;
        }
        u += step;
        last = step;
    }
    u
}
