//! Crossed effects: what is integrated out against generalised least squares, with a factorisation at every
//! outer point and with polynomials through few of them.

use crate::data::Dataset;
use crate::infer::nested::conditional::Conditional;
use crate::infer::nested::explore::explore;
use crate::infer::nested::marginal::Marginal;
use crate::infer::nested::partition::{How, Partition, partitions};
use crate::infer::nested::solver::Solver;
use crate::num::linalg::{cholesky, log_det_cholesky, solve_cholesky};
use crate::num::real::LN_2PI;
use crate::num::stream::Stream;
use crate::target::{ModelTarget, Target};

const ROWS: usize = 150;
const GROUPS: [usize; 2] = [17, 23];

/// Rows with a slope and effects of two kinds of groups.
struct Crossed {
    x: Vec<f64>,
    y: Vec<f64>,
    groups: Vec<[usize; 2]>,
}

impl Crossed {
    fn new() -> Crossed {
        let mut stream = Stream::new(7, 0, 0);
        let effects = GROUPS.map(|count| (0..count).map(|_| 0.7 * stream.normal()).collect::<Vec<f64>>());
        let mut out = Crossed { x: Vec::new(), y: Vec::new(), groups: Vec::new() };
        for row in 0..ROWS {
            let group = [row % GROUPS[0], (row * row + row / 5) % GROUPS[1]];
            let x = stream.normal();
            out.y.push(1.0 + 0.5 * x + effects[0][group[0]] + effects[1][group[1]] + 0.6 * stream.normal());
            out.x.push(x);
            out.groups.push(group);
        }
        out
    }

    fn target(&self) -> ModelTarget {
        let row = |i: usize| {
            let [g, h] = self.groups[i];
            format!("{},{},g{g},h{h}\n", self.y[i], self.x[i])
        };
        let rows: String = (0..ROWS).map(row).collect();
        let data = Dataset::from_texts(&[("data.csv", &format!("y,x,g,h\n{rows}"))]).unwrap();
        let text = "data { y : real[N]\n x : real[N]\n g : category[N] of G\n h : category[N] of H }\n\
                    param a ~ normal(0, 2)\nparam b ~ normal(0, 1)\nparam u[G]\nparam v[H]\n\
                    param s ~ half_normal(1)\nparam t ~ half_normal(1)\nparam e ~ half_normal(1)\n\
                    u ~ normal(0, s)\nv ~ normal(0, t)\ny ~ normal(a + b * x + u[g] + v[h], e)";
        ModelTarget::new(text, &data).unwrap()
    }

    /// log p(y, log s, log t, log e): y is Gaussian with covariance 4 11ᵀ + xxᵀ + s² ZZᵀ + t² WWᵀ + e² I.
    fn exact(&self, logs: [f64; 3]) -> f64 {
        let variances = logs.map(|log| (2.0 * log).exp());
        let mut covariance = vec![0.0; ROWS * ROWS];
        for i in 0..ROWS {
            for j in 0..ROWS {
                let same = |k: usize| f64::from(self.groups[i][k] == self.groups[j][k]);
                let effects = variances[0] * same(0) + variances[1] * same(1);
                let own = if i == j { variances[2] } else { 0.0 };
                covariance[i * ROWS + j] = 4.0 + self.x[i] * self.x[j] + effects + own;
            }
        }
        cholesky(&mut covariance, ROWS).unwrap();
        let mut solved = self.y.clone();
        solve_cholesky(&covariance, ROWS, &mut solved);
        let square: f64 = solved.iter().zip(&self.y).map(|(a, b)| a * b).sum();
        let root = 0.5 * (2.0 / std::f64::consts::PI).ln();
        let prior: f64 = logs.iter().zip(variances).map(|(log, v)| root - 0.5 * v + log).sum();
        prior - 0.5 * (square + log_det_cholesky(&covariance, ROWS) + ROWS as f64 * LN_2PI)
    }
}

/// The Hessian is read from the functions of forms, not from gradients of all coordinates, and the log
/// density of the scales is that of generalised least squares.
#[test]
fn scales_have_the_density_of_generalised_least_squares() {
    let crossed = Crossed::new();
    let target = crossed.target();
    let parts = partitions(&target, 1).swap_remove(0);
    assert_eq!((parts.outer.len(), parts.how), (3, How::Quadratic));
    let mut stream = Stream::new(1, 0, 0);
    let points: Vec<f64> = (0..3 * 20).map(|_| 0.8 * stream.normal()).collect();
    let conditional = Conditional::new(&target, parts, 1).unwrap();
    let before = conditional.gradients();
    let mut values = vec![0.0; 20];
    let marginal = Marginal::new(&conditional, &[1.0; 3]);
    marginal.evaluator().log_density(&points, 20, &mut values);
    assert!(conditional.gradients() - before < 5 * 20, "{}", conditional.gradients() - before);
    for (k, value) in values.iter().enumerate() {
        let exact = crossed.exact(std::array::from_fn(|i| points[i * 20 + k]));
        assert!((value - exact).abs() < 1e-8 * exact.abs(), "{value} {exact}");
    }
}

/// Newton's steps lead to the top of it, and polynomials through some anchors follow it around that, with the
/// mean of the effects exactly as far as steps with these factors lead there.
#[test]
fn many_effects_need_few_factorisations() {
    let crossed = Crossed::new();
    let target = crossed.target();
    let parts = partitions(&target, 1).swap_remove(0);
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    conditional.hessian.large = true;
    let q = explore(&mut conditional, 1).unwrap();
    let top: [f64; 3] = std::array::from_fn(|i| q.mean[i]);
    for i in 0..3 {
        for by in [-0.1, 0.1] {
            let mut beside = top;
            beside[i] += by * q.scales()[i];
            assert!(crossed.exact(beside) < crossed.exact(top) + 1e-4, "{i} {by}");
        }
    }
    assert!(conditional.smooth(&q, 1));
    let mut stream = Stream::new(2, 0, 0);
    let around = |_: usize| [stream.normal(), stream.normal(), stream.normal()];
    let places: Vec<[f64; 3]> = (0..16).map(around).collect();
    let scales = q.scales();
    let points: Vec<f64> =
        (0..3 * 16).map(|p| q.mean[p / 16] + 0.7 * scales[p / 16] * places[p % 16][p / 16]).collect();
    let (mut followed, mut exactly) = (vec![0.0; 16], vec![0.0; 16]);
    Marginal::new(&conditional, &scales).evaluator().log_density(&points, 16, &mut followed);
    let plain = Conditional::new(&target, conditional.parts.clone(), 1).unwrap();
    Marginal::new(&plain, &scales).evaluator().log_density(&points, 16, &mut exactly);
    for (followed, exactly) in followed.iter().zip(&exactly) {
        assert!((followed - exactly).abs() < 0.02, "{followed} {exactly}");
    }
    let modes = |conditional: &Conditional| -> Vec<f64> {
        let mut solver = Solver::new(conditional);
        solver.solve(&points, 16);
        let at = |(i, y): (usize, &[f64; 16])| conditional.reference[i] + conditional.steps()[i] * y[3];
        solver.y.iter().enumerate().map(at).collect()
    };
    for (followed, exactly) in modes(&conditional).iter().zip(modes(&plain)) {
        assert!((followed - exactly).abs() < 1e-3, "{followed} {exactly}");
    }
}

/// Answers yes or no: every function of a form is concave, whatever the number of coordinates; and the mode
/// that is found has no slope.
#[test]
fn the_mode_of_a_logistic_model_is_found_with_few_factorisations() {
    let crossed = Crossed::new();
    let rows: String = (0..ROWS)
        .map(|i| {
            format!("{},g{},h{}\n", i32::from(crossed.y[i] > 1.0), crossed.groups[i][0], crossed.groups[i][1])
        })
        .collect();
    let data = Dataset::from_texts(&[("data.csv", &format!("y,g,h\n{rows}"))]).unwrap();
    let text = "data { y : binary[N]\n g : category[N] of G\n h : category[N] of H }\n\
                param a ~ normal(0, 2)\nparam u[G]\nparam v[H]\nparam s ~ half_normal(1)\n\
                param t ~ half_normal(1)\nu ~ normal(0, s)\nv ~ normal(0, t)\n\
                y ~ bernoulli_logit(a + u[g] + v[h])";
    let target = ModelTarget::new(text, &data).unwrap();
    let inner: Vec<usize> = (0..1 + GROUPS[0] + GROUPS[1]).collect();
    let outer = vec![inner.len(), inner.len() + 1];
    let parts = Partition { inner, outer, how: How::Searched };
    let mut conditional = Conditional::new(&target, parts, 1).unwrap();
    conditional.hessian.large = true;
    let q = explore(&mut conditional, 1).unwrap();
    assert!(conditional.smooth(&q, 1));
    let mut solver = Solver::new(&conditional);
    solver.solve(&q.mean, 1);
    let mut z: Vec<f64> = solver
        .y
        .iter()
        .enumerate()
        .map(|(i, y)| conditional.reference[i] + conditional.steps()[i] * y[0])
        .collect();
    z.extend(&q.mean);
    let (mut value, mut slope) = ([0.0], vec![0.0; z.len()]);
    target.evaluator().evaluate(&z, 1, &mut value, &mut slope);
    assert!(slope[..z.len() - 2].iter().all(|g| g.abs() < 0.02), "{slope:?}");
}
