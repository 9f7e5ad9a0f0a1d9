//! Every function of the table: its example has the value it states, and its derivative is the derivative.

use stickler::func::{self, Function, Ty};
use stickler::graph::{Builder, NodeId};
use stickler::ops::scalar;
use stickler::plan::{Plan, Workspace};
use stickler::syntax::ast::{Arg, BinaryOp, Expr, ExprKind, StmtKind, UnaryOp};

/// Functions some of whose arguments must be known; these are never parameters.
const OF_DATA: &[&str] = &["order", "quantile", "linspace", "bspline"];

/// Builds expressions; with `free`, real numbers become coordinates instead of constants.
struct Build {
    b: Builder,
    free: bool,
    start: Vec<f64>,
}

impl Build {
    fn number(&mut self, x: f64, is_real: bool) -> NodeId {
        if self.free && is_real {
            self.start.push(x);
            self.b.input(self.start.len() - 1, vec![])
        } else {
            self.b.number(x)
        }
    }

    fn expr(&mut self, e: &Expr) -> (NodeId, bool) {
        match &e.kind {
            ExprKind::Real(x) => (self.number(*x, true), false),
            ExprKind::Int(n) => (self.number(*n as f64, false), true),
            ExprKind::Unary(UnaryOp::Neg, x) => {
                let (x, integer) = self.expr(x);
                (self.b.unary(&scalar::NEG, x), integer)
            }
            ExprKind::Binary(op, x, y) => {
                let ((x, i), (y, j)) = (self.expr(x), self.expr(y));
                let row = match op {
                    BinaryOp::Add => &scalar::ADD,
                    BinaryOp::Mul => &scalar::MUL,
                    BinaryOp::Pow => &scalar::POW,
                    BinaryOp::Eq => &scalar::EQ,
                    BinaryOp::Gt => &scalar::GT,
                    _ => panic!("{op:?} is not used in examples"),
                };
                (self.b.map(row, &[x, y]).unwrap(), i && j)
            }
            ExprKind::Array(items) => {
                let all: Vec<(NodeId, bool)> = items.iter().map(|e| self.expr(e)).collect();
                let nodes: Vec<NodeId> = all.iter().map(|p| p.0).collect();
                (self.b.stack(&nodes), all.iter().all(|p| p.1))
            }
            ExprKind::Call { name, args } => self.call(&name.name, args),
            other => panic!("{other:?} is not used in examples"),
        }
    }

    fn call(&mut self, name: &str, args: &[Arg]) -> (NodeId, bool) {
        let Some(row) = func::find(name) else {
            let row = scalar::find(name).unwrap_or_else(|| panic!("no function {name}"));
            let nodes: Vec<NodeId> = args.iter().map(|a| self.expr(&a.value).0).collect();
            return (self.b.map(row, &nodes).unwrap(), false);
        };
        let (nodes, types) = self.arguments(row, args);
        let ty = (row.check)(&types).unwrap_or_else(|e| panic!("{name}: {e}"));
        let id = (row.build)(&mut self.b, &nodes).unwrap_or_else(|e| panic!("{name}: {e}"));
        let shape: Vec<i64> = ty.shape.iter().map(|s| s.as_integer().unwrap()).collect();
        let dims: Vec<i64> = self.b.dims(id).iter().map(|&n| n as i64).collect();
        assert_eq!(shape, dims, "{name}: the shape checked and the shape built");
        (id, ty.integer)
    }

    fn arguments(&mut self, row: &Function, args: &[Arg]) -> (Vec<Option<NodeId>>, Vec<Option<Ty>>) {
        let mut nodes = vec![None; if row.variadic { args.len() } else { row.args.len() }];
        let mut types = vec![None; nodes.len()];
        for (i, arg) in args.iter().enumerate() {
            let named = arg.name.as_ref().map(|n| row.args.iter().position(|a| a.name == n.name).unwrap());
            let place = named.unwrap_or(i);
            let (node, integer) = self.expr(&arg.value);
            let shape = self.b.dims(node).iter().map(|&n| stickler::facts::Size::known(n)).collect();
            let value = self.b.scalar_of(node).filter(|_| integer);
            nodes[place] = Some(node);
            types[place] =
                Some(Ty { shape, integer, value: value.map(|v| stickler::facts::Size::integer(v as i64)) });
        }
        (nodes, types)
    }
}

fn parsed(text: &str) -> Expr {
    let program =
        stickler::syntax::parse(&format!("let x = {text}\n")).unwrap_or_else(|e| panic!("{text}: {e:?}"));
    match &program.statements[0].kind {
        StmtKind::Let(decl) => decl.value.clone(),
        other => panic!("{other:?}"),
    }
}

fn value(text: &str) -> (Vec<f64>, Vec<usize>) {
    let mut build = Build { b: Builder::new(), free: false, start: vec![] };
    let (id, _) = build.expr(&parsed(text));
    (build.b.constant_of(id).unwrap().to_vec(), build.b.dims(id).to_vec())
}

fn rows() -> impl Iterator<Item = &'static Function> {
    func::TABLE.iter().copied().flatten()
}

#[test]
fn examples_have_the_values_they_state() {
    for row in rows() {
        let (got, expected) = (value(row.example.0), value(row.example.1));
        assert_eq!(got.1, expected.1, "{}", row.example.0);
        for (x, y) in got.0.iter().zip(&expected.0) {
            assert!((x - y).abs() < 1e-14 * (1.0 + y.abs()), "{}: {x} against {y}", row.example.0);
        }
    }
}

#[test]
fn derivatives_at_the_examples_match_finite_differences() {
    for row in rows().filter(|row| !OF_DATA.contains(&row.name)) {
        let mut build = Build { b: Builder::new(), free: true, start: vec![] };
        let (id, _) = build.expr(&parsed(row.example.0));
        let mut b = build.b;
        let n: usize = b.dims(id).iter().product();
        let weights: Vec<f64> = (0..n).map(|i| 1.0 + 0.37 * (1.7 * i as f64).sin()).collect();
        let weights = b.constant(weights, b.dims(id).to_vec());
        let root = b.map_sum(&scalar::MUL, &[id, weights], None).unwrap();
        // Off the example a little: equal eigenvalues and ties have no derivative.
        let start: Vec<f64> =
            build.start.iter().enumerate().map(|(i, x)| x + 0.01 * ((3 * i + 1) as f64).sin()).collect();
        let plan = Plan::new(&b.finish(), &[root], start.len());
        let at = |z: &[f64]| {
            let mut ws = Workspace::<f64>::new(&plan);
            ws.inputs(&plan).copy_from_slice(z);
            ws.forward(&plan, true);
            ws.reverse(&plan);
            (ws.root(&plan, 0, 0), ws.gradient(&plan).to_vec())
        };
        let gradient = at(&start).1;
        for i in 0..start.len() {
            let moved = |step: f64| {
                let mut z = start.clone();
                z[i] += step;
                at(&z).0
            };
            let h = 1e-5;
            let (wide, narrow) = (moved(2.0 * h) - moved(-2.0 * h), moved(h) - moved(-h));
            let expected = (8.0 * narrow - wide) / (12.0 * h);
            assert!(
                (gradient[i] - expected).abs() < 1e-7 * (1.0 + expected.abs()),
                "{} in number {i}: {} against {expected}",
                row.example.0,
                gradient[i]
            );
        }
    }
}

#[test]
fn covariances_have_a_gradient_where_points_meet() {
    for name in ["gp_exp_quad_cov", "gp_matern32_cov", "gp_matern52_cov", "gp_exponential_cov"] {
        let mut b = Builder::new();
        let (x, alpha, rho) = (b.input(0, vec![3, 2]), b.input(6, vec![]), b.input(7, vec![]));
        let row = func::find(name).unwrap();
        let k = (row.build)(&mut b, &[Some(x), Some(alpha), Some(rho), None]).unwrap();
        let root = b.sum(k, None).unwrap();
        let plan = Plan::new(&b.finish(), &[root], 8);
        let mut ws = Workspace::<f64>::new(&plan);
        ws.inputs(&plan).copy_from_slice(&[0.5, 0.5, 0.5, 0.5, 0.1, 0.9, 1.2, 0.8]);
        ws.forward(&plan, true);
        ws.reverse(&plan);
        assert!(ws.gradient(&plan).iter().all(|g| g.is_finite()), "{name}");
    }
}

#[test]
fn parameters_are_sorted_and_ranked_like_data() {
    for n in 0..40_usize {
        // Numbers out of order, some of them equal.
        let numbers: Vec<f64> = (0..n).map(|i| ((7 * i + 3) % 11) as f64 - (i % 3) as f64).collect();
        for name in ["sort", "sort_desc", "rank"] {
            let row = func::find(name).unwrap();
            let mut b = Builder::new();
            let (free, known) = (b.input(0, vec![n]), b.constant(numbers.clone(), vec![n]));
            let (free, known) =
                ((row.build)(&mut b, &[Some(free)]).unwrap(), (row.build)(&mut b, &[Some(known)]).unwrap());
            let expected = b.constant_of(known).unwrap().to_vec();
            let roots: Vec<NodeId> = (0..n).map(|i| b.take(free, vec![i as u32], vec![])).collect();
            let plan = Plan::new(&b.finish(), &roots, n);
            let mut ws = Workspace::<f64>::new(&plan);
            ws.inputs(&plan).copy_from_slice(&numbers);
            ws.forward(&plan, false);
            let got: Vec<f64> = (0..n).map(|i| ws.root(&plan, i, 0)).collect();
            assert_eq!(got, expected, "{name} of {numbers:?}");
        }
    }
}
