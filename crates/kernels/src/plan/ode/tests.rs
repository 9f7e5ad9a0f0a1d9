//! Solutions and their derivatives against closed forms, references and differences.

use super::super::{Plan, Workspace};
use crate::graph::{BuildError, Builder, NodeId, Ode, OdeMethod, Tolerance};
use crate::num::real::{Dual, F16, Packed};
use crate::ops::scalar::{EXP, MUL, NEG};

const METHODS: [OdeMethod; 2] = [OdeMethod::DormandPrince, OdeMethod::Radau];

/// Builds the rates from t, the states and theta.
type Rates = fn(&mut Builder, NodeId, &[NodeId], &[NodeId]) -> Result<Vec<NodeId>, BuildError>;

fn equation(rates: Rates, [n, p]: [usize; 2], times: &[f64], method: OdeMethod, tolerance: f64) -> Ode {
    let mut b = Builder::new();
    let t = b.input(0, vec![]);
    let states: Vec<NodeId> = (0..n).map(|i| b.input(1 + i, vec![])).collect();
    let theta: Vec<NodeId> = (0..p).map(|j| b.input(1 + n + j, vec![])).collect();
    let rates = rates(&mut b, t, &states, &theta).unwrap();
    let rate = b.stack(&rates);
    let tolerance = Tolerance { relative: tolerance, absolute: tolerance, ..Tolerance::default() };
    Ode {
        graph: b.finish(),
        rate,
        states: n,
        parameters: p,
        start: 0.0,
        times: times.to_vec(),
        method,
        tolerance,
    }
}

/// Σ w_i state_i as a plan over (initial state, theta), weights all different.
fn total(ode: Ode) -> Plan {
    let (mut b, n, p) = (Builder::new(), ode.states, ode.parameters);
    let (initial, theta) = (b.input(0, vec![n]), b.input(n, vec![p]));
    let count = ode.times.len() * n;
    let states = b.ode(ode, initial, theta).unwrap();
    let weights: Vec<f64> = (0..count).map(|i| 1.0 + 0.3 * (1.9 * i as f64).sin()).collect();
    let weights = b.constant(weights, b.dims(states).to_vec());
    let root = b.map_sum(&MUL, &[states, weights], None).unwrap();
    Plan::new(&b.finish(), &[root], n + p)
}

fn evaluate<T: crate::plan::Sweep>(plan: &Plan, z: &[T]) -> (T, Vec<T>) {
    let mut ws = Workspace::<T>::new(plan);
    ws.inputs(plan).copy_from_slice(z);
    ws.forward(plan, true);
    ws.reverse(plan);
    (ws.root(plan, 0, 0), ws.gradient(plan).to_vec())
}

/// u' = (a - b v) u, v' = (-c + d u) v.
fn lotka_volterra(b: &mut Builder, _: NodeId, y: &[NodeId], p: &[NodeId]) -> Result<Vec<NodeId>, BuildError> {
    let (bv, du) = (b.mul(p[1], y[1])?, b.mul(p[3], y[0])?);
    let (grow, die) = (b.sub(p[0], bv)?, b.sub(du, p[2])?);
    Ok(vec![b.mul(grow, y[0])?, b.mul(die, y[1])?])
}

/// Decay with a forcing that depends on time: y' = -a y + exp(-t).
fn forced(b: &mut Builder, t: NodeId, y: &[NodeId], p: &[NodeId]) -> Result<Vec<NodeId>, BuildError> {
    let (ay, minus) = (b.mul(p[0], y[0])?, b.unary(&NEG, t));
    let force = b.unary(&EXP, minus);
    Ok(vec![b.sub(force, ay)?])
}

/// Robertson's chemical reactions.
fn robertson(b: &mut Builder, _: NodeId, y: &[NodeId], p: &[NodeId]) -> Result<Vec<NodeId>, BuildError> {
    let slow = b.mul(p[0], y[0])?;
    let pair = b.mul(y[1], y[2])?;
    let back = b.mul(p[2], pair)?;
    let twice = b.mul(y[1], y[1])?;
    let fast = b.mul(p[1], twice)?;
    let first = b.sub(back, slow)?;
    let lost = b.add2(first, fast)?;
    Ok(vec![first, b.unary(&NEG, lost), fast])
}

const HARES: [f64; 6] = [33.0, 6.0, 0.55, 0.028, 0.8, 0.024];

#[test]
fn a_forced_decay_has_its_closed_form() {
    // y = c exp(-a t) + exp(-t) / (a - 1) with c = y0 - 1 / (a - 1).
    let (y0, a, t) = (2.0_f64, 0.4_f64, 3.0_f64);
    let value = |y0: f64, a: f64| (y0 - 1.0 / (a - 1.0)) * (-a * t).exp() + (-t).exp() / (a - 1.0);
    let in_a = {
        let r = 1.0 / (a - 1.0);
        r * r * (-a * t).exp() - t * (y0 - r) * (-a * t).exp() - r * r * (-t).exp()
    };
    for method in METHODS {
        for tolerance in [1e-6, 1e-10] {
            let plan = total(equation(forced, [1, 1], &[t], method, tolerance));
            let (got, gradient) = evaluate(&plan, &[y0, a]);
            let expected = [value(y0, a), (-a * t).exp(), in_a];
            for (g, e) in [got, gradient[0], gradient[1]].iter().zip(expected) {
                assert!((g - e).abs() < 10.0 * tolerance, "{method:?} at {tolerance}: {g} against {e}");
            }
        }
    }
}

#[test]
fn both_methods_agree_and_the_gradient_is_one() {
    let times: Vec<f64> = (1..=20).map(f64::from).collect();
    let of = |method, tolerance| total(equation(lotka_volterra, [2, 4], &times, method, tolerance));
    let explicit = of(OdeMethod::DormandPrince, 1e-11);
    let (value, gradient) = evaluate(&explicit, &HARES);
    let (other, other_gradient) = evaluate(&of(OdeMethod::Radau, 1e-11), &HARES);
    assert!((value - other).abs() < 1e-9 * value.abs(), "{value} against {other}");
    let default = evaluate(&of(OdeMethod::DormandPrince, 1e-8), &HARES).1;
    for i in 0..6 {
        let h = 1e-5 * HARES[i];
        let at = |step: f64| {
            let mut z = HARES;
            z[i] += step;
            evaluate(&explicit, &z).0
        };
        let expected = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        let close = |x: f64, y: f64, tolerance: f64| (x - y).abs() < tolerance * (1.0 + y.abs());
        assert!(close(gradient[i], expected, 1e-6), "{i}: {} against {expected}", gradient[i]);
        assert!(close(other_gradient[i], gradient[i], 1e-9), "{i}: {} {}", other_gradient[i], gradient[i]);
        assert!(close(default[i], gradient[i], 1e-5), "{i}: {} {}", default[i], gradient[i]);
    }
}

/// At an equilibrium the states stand still and tell nothing of their derivatives, which turn: with all
/// parameters and states at one, the linearised equation is u' = -v, v' = u, so ∂u(t)/∂u(0) = cos t and
/// ∂v(t)/∂u(0) = sin t.
#[test]
fn derivatives_at_an_equilibrium_are_as_precise_as_elsewhere() {
    let times: Vec<f64> = (1..=20).map(f64::from).collect();
    let weight = |i: usize| 1.0 + 0.3 * (1.9 * i as f64).sin();
    let expected: f64 =
        times.iter().enumerate().map(|(k, t)| weight(2 * k) * t.cos() + weight(2 * k + 1) * t.sin()).sum();
    for (tolerance, allowed) in [(1e-8, 1e-6), (1e-11, 1e-9)] {
        let plan = total(equation(lotka_volterra, [2, 4], &times, OdeMethod::DormandPrince, tolerance));
        let (_, gradient) = evaluate(&plan, &[1.0; 6]);
        assert!((gradient[0] - expected).abs() < allowed, "{tolerance}: {} against {expected}", gradient[0]);
    }
}

#[test]
fn stiff_reactions_reach_their_reference() {
    // Reference at t = 40 computed with scipy's Radau at tolerance 1e-13.
    let expected = [0.715_827_068_719_403_2, 9.185_534_764_557_783e-6, 0.284_163_745_745_828_87];
    let mut ode = equation(robertson, [3, 3], &[40.0], OdeMethod::Radau, 1e-10);
    ode.tolerance.absolute = 1e-14;
    let mut b = Builder::new();
    let initial = b.input(0, vec![3]);
    let theta = b.constant(vec![0.04, 3e7, 1e4], vec![3]);
    let states = b.ode(ode, initial, theta).unwrap();
    let plan = Plan::new(&b.finish(), &[states], 3);
    let mut ws = Workspace::<f64>::new(&plan);
    ws.inputs(&plan).copy_from_slice(&[1.0, 0.0, 0.0]);
    ws.forward(&plan, false);
    for (i, e) in expected.into_iter().enumerate() {
        let got = ws.root(&plan, 0, i);
        assert!((got - e).abs() < 1e-8 * e, "{i}: {got} against {e}");
    }
}

#[test]
fn stiff_derivatives_match_differences() {
    let z = [1.0, 1e-5, 0.1, 0.04, 3e7, 1e4];
    let mut ode = equation(robertson, [3, 3], &[0.5, 40.0], OdeMethod::Radau, 1e-9);
    ode.tolerance.absolute = 1e-13;
    let plan = total(ode);
    let (_, gradient) = evaluate(&plan, &z);
    for i in [0, 2, 3, 4, 5] {
        let h = 1e-3 * z[i];
        let at = |step: f64| {
            let mut z = z;
            z[i] += step;
            evaluate(&plan, &z).0
        };
        let expected = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
        // In units of the coordinate: the rates differ by nine orders of magnitude.
        let (got, expected) = (gradient[i] * z[i], expected * z[i]);
        assert!((got - expected).abs() < 1e-6 * (1e-2 + expected.abs()), "{i}: {got} against {expected}");
    }
}

#[test]
fn hessian_vector_products_match_differences_of_the_gradient() {
    let times = [1.0, 3.0];
    let direction = [0.7, -0.2, 0.01, 0.002, -0.03, 0.001];
    for method in METHODS {
        let plan = total(equation(lotka_volterra, [2, 4], &times, method, 1e-10));
        let duals: Vec<Dual> = HARES.iter().zip(direction).map(|(&v, d)| Dual { v, d }).collect();
        let (value, products) = evaluate(&plan, &duals);
        let (plain, gradient) = evaluate(&plan, &HARES);
        assert_eq!(value.lane(0).to_bits(), plain.to_bits());
        let slope: f64 = gradient.iter().zip(direction).map(|(g, d)| g * d).sum();
        assert!((value.tangent(3) - slope).abs() < 1e-12 * slope.abs());
        let at = |step: f64| {
            let z: Vec<f64> = HARES.iter().zip(direction).map(|(x, d)| x + step * d).collect();
            evaluate(&plan, &z).1
        };
        let h = 1e-3;
        let (near, far) = ((at(h), at(-h)), (at(2.0 * h), at(-2.0 * h)));
        for (i, product) in products.iter().enumerate() {
            let expected = (8.0 * (near.0[i] - near.1[i]) - (far.0[i] - far.1[i])) / (12.0 * h);
            let got = product.tangent(5);
            assert!(
                (got - expected).abs() < 1e-6 * (1.0 + expected.abs()),
                "{method:?} {i}: {got} {expected}"
            );
        }
    }
}

#[test]
fn draws_do_not_depend_on_those_beside_them() {
    for method in METHODS {
        let plan = total(equation(lotka_volterra, [2, 4], &[2.0, 5.0], method, 1e-7));
        let draw = |l: usize| HARES.map(|x| x * (1.0 + 0.03 * l as f64));
        let wide: Vec<F16> = (0..6).map(|i| F16(std::array::from_fn(|l| draw(l)[i]))).collect();
        let (values, slopes) = evaluate(&plan, &wide);
        for l in 0..F16::WIDTH {
            let (value, slope) = evaluate(&plan, &draw(l));
            assert_eq!(values.lane(l).to_bits(), value.to_bits());
            assert!((0..6).all(|i| slopes[i].lane(l).to_bits() == slope[i].to_bits()));
        }
    }
}

#[test]
fn more_directions_than_lanes() {
    // Ten decays of their own: y_i' = -p_i y_i.
    fn decays(b: &mut Builder, _: NodeId, y: &[NodeId], p: &[NodeId]) -> Result<Vec<NodeId>, BuildError> {
        let rates = y.iter().zip(p).map(|(&y, &p)| b.mul(p, y)).collect::<Result<Vec<_>, _>>()?;
        Ok(rates.into_iter().map(|r| b.unary(&NEG, r)).collect())
    }
    let z: Vec<f64> =
        (0..20).map(|i| if i < 10 { 1.0 + 0.1 * i as f64 } else { 0.2 + 0.05 * i as f64 }).collect();
    for method in METHODS {
        let plan = total(equation(decays, [10, 10], &[1.5], method, 1e-10));
        let (_, gradient) = evaluate(&plan, &z);
        for i in 0..10 {
            let weight = 1.0 + 0.3 * (1.9 * i as f64).sin();
            let left = weight * (-z[10 + i] * 1.5).exp();
            assert!((gradient[i] - left).abs() < 1e-8);
            assert!((gradient[10 + i] + 1.5 * z[i] * left).abs() < 1e-8);
        }
    }
}

#[test]
fn an_equation_that_cannot_be_solved_gives_no_number() {
    fn explosion(b: &mut Builder, _: NodeId, y: &[NodeId], p: &[NodeId]) -> Result<Vec<NodeId>, BuildError> {
        let square = b.mul(y[0], y[0])?;
        Ok(vec![b.mul(p[0], square)?])
    }
    for method in METHODS {
        // y = 1 / (1 - t) has no value from t = 1 on.
        let plan = total(equation(explosion, [1, 1], &[2.0], method, 1e-8));
        let (value, gradient) = evaluate(&plan, &[1.0, 1.0]);
        assert!(value.is_nan() && gradient.iter().all(|g| g.is_nan()), "{method:?}");
        let (value, _) = evaluate(&plan, &[0.1, 1.0]);
        assert!((value - 0.125).abs() < 1e-6, "{method:?}: {value}");
    }
}

#[test]
fn times_and_constants() {
    let mut b = Builder::new();
    let (initial, theta) = (b.constant(vec![2.0], vec![1]), b.constant(vec![0.4], vec![1]));
    let ode = equation(forced, [1, 1], &[0.0, 0.0, 3.0, 3.0], OdeMethod::DormandPrince, 1e-10);
    let states = b.ode(ode, initial, theta).unwrap();
    // Nothing depends on parameters: the plan holds numbers and no step.
    let plan = Plan::new(&b.finish(), &[states], 0);
    let ws = Workspace::<f64>::new(&plan);
    let at: Vec<f64> = (0..4).map(|i| ws.root(&plan, 0, i)).collect();
    assert!(at[0] == 2.0 && at[1] == 2.0 && at[2] == at[3]);
    assert!(super::super::dump(&plan).contains(" 0 steps"));
    let mut b = Builder::new();
    let (initial, theta) = (b.input(0, vec![1]), b.input(1, vec![1]));
    let wrong = equation(forced, [1, 1], &[2.0, 1.0], OdeMethod::DormandPrince, 1e-10);
    assert!(b.ode(wrong, initial, theta).unwrap_err().to_string().contains("increase"));
}
