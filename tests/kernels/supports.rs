//! Outside its support or its arguments' domains a density is minus infinity, for every distribution: a
//! computed value may stray there. What is known to stay inside is not checked again.

use crate::events;

use events::{Array, Point};
use stickler::dist::{Distribution, Domain, End, Support, TABLE, log_density, log_density_sum, log_tail};
use stickler::facts::Range;
use stickler::graph::{Builder, NodeId};
use stickler::num::real::{F16, Packed, Real};
use stickler::plan::{Plan, Workspace};

/// Values outside the support, given a point inside.
fn outside(dist: &Distribution, point: &Point) -> Vec<Vec<f64>> {
    let x = &point.pieces[0].values;
    let (args, n) = (&point.pieces[1..], x.len().isqrt());
    let with = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut moved = x.clone();
        change(&mut moved);
        moved
    };
    let end = |e: End| match e {
        End::At(x) | End::Past(x) => x,
        End::Arg(k) => args[k].values[0],
        End::Length(k) => args[k].values.len() as f64,
    };
    match dist.support {
        Support::Interval(low, high) | Support::Integers(low, high) => {
            let mut all = Vec::new();
            if end(low).is_finite() {
                all.push(with(&|x| x[0] = end(low) - 1.0));
                all.push(with(&|x| x[0] = end(low) - 100.0));
            }
            if matches!(low, End::Past(_)) {
                all.push(with(&|x| x[0] = end(low)));
            }
            if end(high).is_finite() {
                all.push(with(&|x| x[0] = end(high) + 1.0));
            }
            all
        }
        Support::Counts => vec![with(&|x| x[0] = -1.0)],
        Support::Simplex => vec![with(&|x| x[0] = -x[0]), with(&|x| x[0] += 0.1)],
        Support::CorrMatrix => {
            vec![with(&|x| x[0] = 1.1), with(&|x| [1, n].iter().for_each(|&k| x[k] = 1.5))]
        }
        Support::CovMatrix => vec![with(&|x| x[0] = -x[0])],
        Support::CholeskyCorr => {
            vec![with(&|x| x[0] = -1.0), with(&|x| x[1] = 0.3), with(&|x| *x.last_mut().unwrap() *= 1.1)]
        }
        Support::Circle | Support::Anywhere => Vec::new(),
    }
}

/// Arguments outside a domain.
fn strays(domain: Domain, values: &[f64]) -> Vec<Vec<f64>> {
    let with = |change: &dyn Fn(&mut Vec<f64>)| {
        let mut moved = values.to_vec();
        change(&mut moved);
        moved
    };
    match domain {
        Domain::Positive => vec![with(&|a| a[0] = -1.5), with(&|a| a[0] = 0.0)],
        Domain::NonNegative => vec![with(&|a| a[0] = -1.5)],
        Domain::Unit => vec![with(&|a| a[0] = -0.5), with(&|a| a[0] = 1.5)],
        Domain::Simplex => vec![with(&|a| a[0] = -a[0]), with(&|a| a[0] += 0.1)],
        Domain::Ordered if values.len() > 1 => vec![with(&|a| a.reverse())],
        Domain::Covariance | Domain::CholeskyFactor => vec![with(&|a| a[0] = -a[0])],
        Domain::Ordered | Domain::Real | Domain::Count | Domain::Data => Vec::new(),
    }
}

/// The summed and the single log densities with everything but data an input, and the gradient of the sum.
fn evaluate(point: &Point) -> (f64, f64, Vec<f64>) {
    let mut b = Builder::new();
    let free = point.free();
    let mut start: Vec<f64> = Vec::new();
    let nodes: Vec<NodeId> = point
        .pieces
        .iter()
        .enumerate()
        .map(|(k, Array { values, dims })| {
            if !free.contains(&k) {
                return b.constant(values.clone(), dims.clone());
            }
            start.extend(values);
            b.input(start.len() - values.len(), dims.clone())
        })
        .collect();
    let sum = log_density_sum(&mut b, point.dist, nodes[0], &nodes[1..], None).unwrap();
    let each = log_density(&mut b, point.dist, nodes[0], &nodes[1..]).unwrap();
    let plan = Plan::new(&b.finish(), &[sum, each], start.len());
    let mut ws = Workspace::<F16>::new(&plan);
    ws.inputs(&plan).iter_mut().zip(&start).for_each(|(v, x)| *v = F16::splat(*x));
    ws.forward(&plan, true);
    let values = (ws.root(&plan, 0, 0).lane(0), ws.root(&plan, 1, 0).lane(0));
    ws.reverse(&plan);
    (values.0, values.1, ws.gradient(&plan).iter().map(|g| g.lane(0)).collect())
}

/// Whether only the density itself can tell that a matrix or an order is wrong, so that its slopes mean
/// nothing there.
fn whole(dist: &Distribution) -> bool {
    dist.event == 2
        || dist
            .args
            .iter()
            .any(|a| matches!(a.domain, Domain::Covariance | Domain::CholeskyFactor | Domain::Ordered))
}

fn is_never(point: &Point, what: &str) {
    let (sum, each, gradient) = evaluate(point);
    let name = point.dist.name;
    assert_eq!(sum, f64::NEG_INFINITY, "{name} with {what}: sum");
    assert_eq!(each, f64::NEG_INFINITY, "{name} with {what}: each");
    if !whole(point.dist) {
        assert!(gradient.iter().all(|g| g.is_finite()), "{name} with {what}: gradient {gradient:?}");
    }
}

#[test]
fn values_outside_the_support_have_density_zero() {
    for dist in TABLE.iter().copied() {
        let probe = &dist.probes[0];
        let point = Point::new(dist, probe.x, probe.args);
        // A category picks an entry, and is refused where there is none to pick.
        let picks = matches!(dist.support, Support::Integers(_, End::Length(_)))
            || matches!(dist.name, "ordered_logistic" | "ordered_probit");
        for x in outside(dist, &point).into_iter().filter(|_| !picks) {
            let mut moved = point.clone();
            moved.pieces[0].values = x;
            let what = format!("the value {:?}", moved.pieces[0].values);
            is_never(&moved, &what);
        }
    }
}

#[test]
fn arguments_outside_their_domains_give_density_zero() {
    for dist in TABLE.iter().copied() {
        let probe = &dist.probes[0];
        let point = Point::new(dist, probe.x, probe.args);
        for (k, spec) in dist.args.iter().enumerate().filter(|(_, a)| a.default.is_none()) {
            for a in strays(spec.domain, &point.pieces[k + 1].values) {
                let mut moved = point.clone();
                moved.pieces[k + 1].values = a;
                let what = format!("{} = {:?}", spec.name, moved.pieces[k + 1].values);
                is_never(&moved, &what);
            }
        }
    }
}

#[test]
fn what_is_known_to_lie_inside_is_not_checked() {
    let mut b = Builder::new();
    let x = b.input(0, vec![]);
    let positive = b.unary(&stickler::ops::scalar::EXP, x);
    let share = b.unary(&stickler::ops::scalar::INV_LOGIT, x);
    let before = b.graph().len();
    for (name, x, args) in [
        ("gamma", positive, vec![positive, positive]),
        ("beta", share, vec![positive, positive]),
        ("normal", x, vec![x, positive]),
    ] {
        let dist = stickler::dist::find(name).unwrap();
        log_density_sum(&mut b, dist, x, &args, None).unwrap();
    }
    let rows: Vec<&str> = b
        .graph()
        .iter()
        .skip(before)
        .map(|(_, n)| match &n.op {
            stickler::graph::Op::Map(row) | stickler::graph::Op::MapSum { row, .. } => row.name,
            _ => "",
        })
        .collect();
    assert!(!rows.contains(&"within") && !rows.contains(&"kept"), "{rows:?}");
    assert_eq!(b.range(positive), Range::POSITIVE);
}

/// log P(X <= x) and log P(X > x) with x an input.
fn tails(point: &Point) -> Option<[f64; 2]> {
    let mut b = Builder::new();
    let x = b.input(0, vec![]);
    let args: Vec<NodeId> =
        point.pieces[1..].iter().map(|p| b.constant(p.values.clone(), p.dims.clone())).collect();
    let roots = [false, true].map(|above| log_tail(&mut b, point.dist, above, x, &args).unwrap());
    let roots = [roots[0]?, roots[1]?];
    let plan = Plan::new(&b.finish(), &roots, 1);
    let mut ws = Workspace::<f64>::new(&plan);
    ws.inputs(&plan)[0] = point.pieces[0].values[0];
    ws.forward(&plan, true);
    let values = [ws.root(&plan, 0, 0), ws.root(&plan, 1, 0)];
    ws.reverse(&plan);
    assert!(ws.gradient(&plan)[0].is_finite(), "{}", point.dist.name);
    Some(values)
}

#[test]
fn below_the_support_lies_nothing_and_above_it_nothing_more() {
    for dist in TABLE.iter().copied().filter(|d| d.event == 0) {
        let probe = &dist.probes[0];
        let point = Point::new(dist, probe.x, probe.args);
        for x in outside(dist, &point) {
            let mut moved = point.clone();
            let below = x[0] < probe.x[0];
            moved.pieces[0].values = x;
            let Some(found) = tails(&moved) else { continue };
            let expected = if below { [f64::NEG_INFINITY, 0.0] } else { [0.0, f64::NEG_INFINITY] };
            assert_eq!(found, expected, "{} at {:?}", dist.name, moved.pieces[0].values);
        }
    }
}
