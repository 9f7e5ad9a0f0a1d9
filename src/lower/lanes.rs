//! Loops over rows as whole arrays: where each step of a loop gives one number and none depends on another, all steps are
//! lowered at once, with the loop variable as the array of its values.

use super::Lowerer;
use super::env::{Binding, Value};
use crate::dist;
use crate::func;
use crate::ops::scalar;
use crate::syntax::ast::{Arg, DistExpr, DistKind, Expr, ExprKind, ForLoop, Index, Stmt, StmtKind};

/// Fewest steps for which whole arrays are worth it.
const FEWEST: i64 = 3;

/// What an expression is inside the loop.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Lane {
    /// The same in every step, of any shape.
    Fixed,
    /// One number a step.
    Each,
}

/// What is known of the loop while its body is read.
struct Body<'a> {
    var: &'a str,
    /// Names defined in the body with one number a step.
    each: Vec<&'a str>,
    /// Arrays of which each step defines elements.
    defining: Vec<&'a str>,
    /// Those of which step `i` has defined element `i` already.
    elements: Vec<&'a str>,
}

impl Lowerer<'_> {
    /// Lowers the loop as whole arrays if that means the same. False if not: then nothing has happened.
    pub(super) fn whole_loop(&mut self, f: &ForLoop, from: i64, to: i64) -> super::Result<bool> {
        if to - from + 1 < FEWEST || !self.is_elementwise(f) {
            return Ok(false);
        }
        let steps: Vec<f64> = (from..=to).map(|i| i as f64).collect();
        let count = steps.len();
        self.env.push();
        let node = self.b.constant(steps, vec![count]);
        self.env.set(&f.var.name, Binding::Value(Value::integer(node, false)));
        let first = usize::try_from(from).unwrap_or(0);
        let done = f.body.iter().try_for_each(|stmt| self.whole_statement(stmt, first, count));
        self.env.pop();
        done.map(|()| true)
    }

    fn whole_statement(&mut self, stmt: &Stmt, first: usize, count: usize) -> super::Result<()> {
        let StmtKind::Let(l) = &stmt.kind else { return self.statement(stmt) };
        if l.indices.is_empty() {
            return self.statement(stmt);
        }
        let mut value = self.expr(&l.value)?;
        value.node = self.b.broadcast_to(value.node, &[count]);
        self.env.elements(&l.name.name).define_run(&l.name.name, first, count, value, l.name.span)
    }

    fn is_elementwise(&mut self, f: &ForLoop) -> bool {
        let defining = f.body.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Let(l) if !l.indices.is_empty() => Some(l.name.name.as_str()),
            _ => None,
        });
        let defining = defining.collect();
        let mut body = Body { var: &f.var.name, each: Vec::new(), defining, elements: Vec::new() };
        self.env.push();
        let fine = f.body.iter().all(|stmt| self.elementwise_statement(&mut body, stmt).is_some());
        self.env.pop();
        fine
    }

    fn elementwise_statement<'a>(&mut self, body: &mut Body<'a>, stmt: &'a Stmt) -> Option<()> {
        match &stmt.kind {
            StmtKind::Let(l) if l.indices.is_empty() => {
                match self.lane(body, &l.value)? {
                    Lane::Each => body.each.push(&l.name.name),
                    Lane::Fixed => {
                        let value = self.expr(&l.value).ok()?;
                        self.env.set(&l.name.name, Binding::Value(value));
                    }
                }
                Some(())
            }
            StmtKind::Let(l) => {
                let [index] = &l.indices[..] else { return None };
                is_name(index, body.var).then_some(())?;
                self.number(body, &l.value)?;
                body.elements.push(&l.name.name);
                Some(())
            }
            StmtKind::Sample(s) => {
                self.each_step(body, &s.value)?;
                self.elementwise_dist(body, &s.dist)?;
                s.weight.as_ref().map_or(Some(()), |w| self.number(body, w))
            }
            StmtKind::Target(e) => self.each_step(body, e),
            StmtKind::Data(_)
            | StmtKind::Param(_)
            | StmtKind::For(_)
            | StmtKind::If(_)
            | StmtKind::Fn(_)
            | StmtKind::Derive(_)
            | StmtKind::Predict(_) => None,
        }
    }

    /// One number a step that differs from step to step.
    fn each_step(&mut self, body: &Body, e: &Expr) -> Option<()> {
        (self.lane(body, e)? == Lane::Each).then_some(())
    }

    /// One number a step, the same for all or not.
    fn number(&mut self, body: &Body, e: &Expr) -> Option<()> {
        match self.lane(body, e)? {
            Lane::Each => Some(()),
            Lane::Fixed => self.fixed_rank(e, 0),
        }
    }

    /// A value that is the same in every step, with so many axes.
    fn fixed_rank(&mut self, e: &Expr, rank: usize) -> Option<()> {
        let value = self.expr(e).ok()?;
        (self.b.dims(value.node).len() == rank).then_some(())
    }

    fn elementwise_dist(&mut self, body: &Body, d: &DistExpr) -> Option<()> {
        let optional = |l: &mut Self, e: &Option<Expr>| e.as_ref().map_or(Some(()), |e| l.number(body, e));
        match &d.kind {
            DistKind::Call { name, args } => {
                let row = dist::find(&name.name)?;
                (row.event == 0).then_some(())?;
                for (k, arg) in args.iter().enumerate() {
                    let place = match &arg.name {
                        Some(name) => row.args.iter().position(|a| a.name == name.name)?,
                        None => k,
                    };
                    match row.args.get(place)?.rank {
                        0 => self.number(body, &arg.value)?,
                        rank => {
                            (self.lane(body, &arg.value)? == Lane::Fixed).then_some(())?;
                            self.fixed_rank(&arg.value, rank)?;
                        }
                    }
                }
                Some(())
            }
            DistKind::Mixture(parts) => parts.iter().try_for_each(|(weight, part)| {
                self.number(body, weight)?;
                self.elementwise_dist(body, part)
            }),
            DistKind::Truncated { inner, lower, upper } => {
                self.elementwise_dist(body, inner)?;
                optional(self, lower)?;
                optional(self, upper)
            }
            DistKind::Censored { inner, left, right, lower, upper } => {
                self.elementwise_dist(body, inner)?;
                [left, right, lower, upper].into_iter().try_for_each(|e| optional(self, e))
            }
            DistKind::ZeroInflated { probability, inner } => {
                self.number(body, probability)?;
                self.elementwise_dist(body, inner)
            }
        }
    }

    /// What an expression is in the loop; None if it is neither.
    fn lane(&mut self, body: &Body, e: &Expr) -> Option<Lane> {
        match &e.kind {
            ExprKind::Real(_) | ExprKind::Int(_) | ExprKind::Str(_) => Some(Lane::Fixed),
            ExprKind::Name(name) if name == body.var || body.each.contains(&name.as_str()) => {
                Some(Lane::Each)
            }
            ExprKind::Name(name) if body.defining.contains(&name.as_str()) => None,
            ExprKind::Name(_) => Some(Lane::Fixed),
            ExprKind::Unary(_, x) => self.lane(body, x),
            ExprKind::Binary(_, a, b) => self.together(body, &[a, b]),
            ExprKind::Transpose(x) => self.all_fixed(body, &[x]),
            ExprKind::Array(items) => self.all_fixed(body, &items.iter().collect::<Vec<_>>()),
            ExprKind::Call { name, args } => self.call_lane(body, &name.name, args),
            ExprKind::Index { base, indices } => self.index_lane(body, base, indices),
        }
    }

    fn all_fixed(&mut self, body: &Body, all: &[&Expr]) -> Option<Lane> {
        all.iter().all(|e| self.lane(body, e) == Some(Lane::Fixed)).then_some(Lane::Fixed)
    }

    /// Numbers that meet element by element.
    fn together(&mut self, body: &Body, all: &[&Expr]) -> Option<Lane> {
        let lanes = all.iter().map(|e| self.lane(body, e)).collect::<Option<Vec<Lane>>>()?;
        if lanes.iter().all(|&lane| lane == Lane::Fixed) {
            return Some(Lane::Fixed);
        }
        for (e, lane) in all.iter().zip(lanes) {
            if lane == Lane::Fixed && !matches!(e.kind, ExprKind::Str(_)) {
                self.fixed_rank(e, 0)?;
            }
        }
        Some(Lane::Each)
    }

    fn call_lane(&mut self, body: &Body, name: &str, args: &[Arg]) -> Option<Lane> {
        let values: Vec<&Expr> = args.iter().map(|a| &a.value).collect();
        if self.all_fixed(body, &values).is_some() {
            return Some(Lane::Fixed);
        }
        let own = matches!(self.env.get(name), Some(Binding::Function(_)));
        let density = super::call::density_of(name)
            .is_some_and(|row| row.event == 0 && row.args.iter().all(|a| a.rank == 0));
        let mixes = name == "log_mix" && args.len() == 3;
        let elementwise = scalar::find(name).is_some() && func::find(name).is_none();
        if own || !(density || mixes || elementwise) {
            return None;
        }
        self.together(body, &values)
    }

    fn index_lane(&mut self, body: &Body, base: &Expr, indices: &[Index]) -> Option<Lane> {
        if let ExprKind::Name(name) = &base.kind
            && body.defining.contains(&name.as_str())
        {
            // The element that this very step has defined; any other would make the steps depend on each other.
            let [Index::At(index)] = indices else { return None };
            let defined = body.elements.contains(&name.as_str());
            return (defined && is_name(index, body.var)).then_some(Lane::Each);
        }
        (self.lane(body, base)? == Lane::Fixed).then_some(())?;
        let mut lanes = Vec::with_capacity(indices.len());
        for index in indices {
            lanes.push(match index {
                Index::At(e) => self.lane(body, e)?,
                Index::Range { from, to, .. } => {
                    let ends: Vec<&Expr> = from.iter().chain(to.iter()).collect();
                    self.all_fixed(body, &ends)?
                }
                Index::All(_) => Lane::Fixed,
            });
        }
        if lanes.iter().all(|&lane| lane == Lane::Fixed) {
            return Some(Lane::Fixed);
        }
        for (index, lane) in indices.iter().zip(lanes) {
            match (index, lane) {
                (Index::At(e), Lane::Fixed) => self.fixed_rank(e, 0)?,
                (Index::At(_), Lane::Each) => {}
                (Index::Range { .. } | Index::All(_), _) => return None,
            }
        }
        self.fixed_rank(base, indices.len())?;
        Some(Lane::Each)
    }
}

fn is_name(e: &Expr, name: &str) -> bool {
    matches!(&e.kind, ExprKind::Name(found) if found == name)
}

#[cfg(test)]
mod tests {
    use crate::data::Dataset;
    use crate::num::stream::Stream;
    use crate::target::{ModelTarget, Target};

    const DATA: &str = "x,y,k,g\n0.5,1.5,2,a\n1.0,2.0,0,b\n-0.5,0.3,1,a\n2.0,2.2,4,b\n0.1,-0.4,3,a\n";

    fn model(text: &str) -> ModelTarget {
        let data = Dataset::from_texts(&[("data.csv", DATA)]).unwrap();
        let head = "data { x : real[N]; y : real[N]; k : count[N]; g : category[N] of J }\n\
                    param a ~ normal(0, 1)\nparam b[J] ~ normal(0, 1)\nparam s ~ half_normal(1)\nparam w ~ beta(2, 2)\n";
        ModelTarget::new(&format!("{head}{text}"), &data).unwrap()
    }

    fn density(model: &ModelTarget) -> (f64, Vec<f64>) {
        let d = model.dimension();
        let mut z = vec![0.0; d];
        Stream::new(3, 0, 0).fill_normal(&mut z);
        let (mut value, mut gradient) = ([0.0], vec![0.0; d]);
        model.evaluator().evaluate(&z, 1, &mut value, &mut gradient);
        (value[0], gradient)
    }

    #[test]
    fn a_loop_means_what_its_steps_mean() {
        let cases = [
            ("y ~ normal(a + b[g] .* x, s)", "for i in 1..N { y[i] ~ normal(a + b[g[i]] * x[i], s) }", true),
            ("k ~ poisson_log(a + x)", "for i in 1..N { let eta = a + x[i]; k[i] ~ poisson_log(eta) }", true),
            (
                "let mu = a * x\ny ~ normal(mu, s)",
                "for i in 1..N { let mu[i] = a * x[i]; y[i] ~ normal(mu[i], s) }",
                true,
            ),
            (
                "let mu = a * x\ny[2..N] ~ normal(mu[2..N], s)",
                "let mu[1] = a * x[1]\nfor i in 2..N { let mu[i] = a * x[i] }\ny[2..N] ~ normal(mu[2..N], s)",
                true,
            ),
            (
                "y ~ mixture(w: normal(a, s), 1 - w: normal(0, 1))",
                "for i in 1..N { target += log_mix(w, normal_lpdf(y[i] | a, s), normal_lpdf(y[i] | 0, 1)) }",
                true,
            ),
            (
                "k + 1 ~ categorical_logit([a, s, w, 0, 1])",
                "for i in 1..N { k[i] + 1 ~ categorical_logit([a, s, w, 0, 1]) }",
                true,
            ),
            (
                "let m = [a, a + y[1], a + y[1] + y[2], a + y[1] + y[2] + y[3], a + y[1] + y[2] + y[3] + y[4]]\ny ~ normal(m, s)",
                "let m[1] = a\nfor i in 2..N { let m[i] = m[i - 1] + y[i - 1] }\ny ~ normal(m, s)",
                false,
            ),
            (
                "b ~ normal(x[1] + x[2] + x[3], 1)",
                "for i in 1..1 { b ~ normal(x[1] + x[2] + x[3], 1) }",
                false,
            ),
        ];
        for (whole, stepwise, at_once) in cases {
            let (one, other) = (model(whole), model(stepwise));
            let ((p, g), (q, h)) = (density(&one), density(&other));
            assert!((p - q).abs() < 1e-12 * (1.0 + p.abs()), "{stepwise}: {q} against {p}");
            assert!(g.iter().zip(&h).all(|(g, h)| (g - h).abs() < 1e-11 * (1.0 + g.abs())), "{stepwise}");
            let terms = |m: &ModelTarget| m.lowered().terms.len();
            assert!(!at_once || terms(&one) == terms(&other), "{stepwise} was taken step by step");
        }
    }

    #[test]
    fn a_long_loop_makes_no_more_nodes_than_a_short_one() {
        let nodes = |rows: usize| {
            let lines: Vec<String> = (0..rows).map(|i| format!("{i},{}", i % 7)).collect();
            let text = format!("x,y\n{}\n", lines.join("\n"));
            let data = Dataset::from_texts(&[("data.csv", &text)]).unwrap();
            let source = "data { x : real[N]; y : real[N] }\nparam a ~ normal(0, 1)\nparam s ~ half_normal(1)\n\
                          for i in 1..N { let mu[i] = a * x[i]; y[i] ~ normal(mu[i], s) }";
            ModelTarget::new(source, &data).unwrap().lowered().graph.len()
        };
        assert_eq!(nodes(10), nodes(1000));
    }
}
