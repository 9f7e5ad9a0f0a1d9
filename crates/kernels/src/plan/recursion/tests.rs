//! The two ways to run a loop agree with each other, and with the loop written out.

use super::super::{Plan, Sweep, Workspace};
use super::{LoopCode, RecursionCode};
use crate::graph::{Builder, Feed, NodeId, Origin, Recursion, Sequence, unrolled};
use crate::num::real::{Dual, F16, Packed, Real};
use crate::ops::array::LogSumExp;
use crate::ops::scalar::{EXP, SQRT};

const STEPS: usize = 50;

/// s_t = √(a s_{t-1}² + e^{x_t}) + s_{t-2}; `more`: with a function that is no instruction.
fn example(more: bool) -> Recursion {
    let mut b = Builder::new();
    let inputs: Vec<NodeId> = (0..4).map(|i| b.input(i, vec![])).collect();
    let [a, x, last, before] = inputs[..] else { panic!("four inputs") };
    let square = b.mul(last, last).unwrap();
    let scaled = b.mul(a, square).unwrap();
    let e = b.unary(&EXP, x);
    let inner = b.add2(scaled, e).unwrap();
    let root = b.unary(&SQRT, inner);
    let mut next = b.add2(root, before).unwrap();
    if more {
        let both = b.stack(&[next, x]);
        next = b.array(LogSumExp { axis: None }, &[both]).unwrap();
    }
    let earlier = |lag: usize| Origin::Earlier { sequence: 0, lag };
    let feeds = [Origin::Fixed, Origin::Step, earlier(1), earlier(2)].map(|origin| Feed { size: 1, origin });
    Recursion {
        graph: b.finish(),
        steps: STEPS,
        feeds: feeds.to_vec(),
        sequences: vec![Sequence { size: 1, lags: 2 }],
        ways: vec![vec![next]],
        way: Vec::new(),
    }
}

/// Σ of the sequence, weighted, over (a, x, the first two): as a node and written out.
fn plans(recursion: Recursion) -> [Plan; 2] {
    let mut b = Builder::new();
    let (a, x, first) = (b.input(0, vec![]), b.input(1, vec![STEPS]), b.input(1 + STEPS, vec![2]));
    let len = recursion.len();
    let s = b.recursion(recursion, vec![a, x, first]).unwrap();
    let weights: Vec<f64> = (0..len).map(|i| 0.01 * (1.0 + 0.3 * (1.9 * i as f64).sin())).collect();
    let weights = b.constant(weights, vec![len]);
    let weighted = b.mul(s, weights).unwrap();
    let total = b.sum(weighted, None).unwrap();
    let graph = b.finish();
    let (written_out, now) = unrolled(&graph, usize::MAX).unwrap();
    let inputs = 3 + STEPS;
    [Plan::new(&graph, &[total], inputs), Plan::new(&written_out, &[now[total.0 as usize]], inputs)]
}

fn run<T: Sweep>(plan: &Plan, set: impl Fn(usize) -> T) -> Vec<T> {
    let mut workspace = Workspace::<T>::new(plan);
    workspace.inputs(plan).iter_mut().enumerate().for_each(|(i, x)| *x = set(i));
    workspace.forward(plan, true);
    workspace.reverse(plan);
    std::iter::once(workspace.root(plan, 0, 0)).chain(workspace.gradient(plan).iter().copied()).collect()
}

#[test]
fn nodes_agree_with_the_loop_written_out() {
    let at = |i: usize| 0.3 + 0.2 * (0.7 * i as f64).sin();
    for more in [false, true] {
        let [node, written_out] = plans(example(more));
        for (a, b) in run(&node, at).iter().zip(run(&written_out, at)) {
            assert!((a - b).abs() <= 1e-12 * b.abs().max(1.0), "{a} {b}");
        }
        let wide = |i: usize| {
            let mut x = F16::splat(at(i));
            (0..F16::WIDTH).for_each(|lane| x.set_lane(lane, at(i) + 0.01 * lane as f64));
            x
        };
        for (a, b) in run(&node, wide).iter().zip(run(&written_out, wide)) {
            for lane in 0..F16::WIDTH {
                assert!((a.lane(lane) - b.lane(lane)).abs() <= 1e-12 * b.lane(lane).abs().max(1.0));
            }
        }
        let dual = |i: usize| Dual { v: at(i), d: (1.3 * i as f64).cos() };
        for (a, b) in run(&node, dual).iter().zip(run(&written_out, dual)) {
            assert!((a.d - b.d).abs() <= 1e-11 * b.d.abs().max(1.0), "{a:?} {b:?}");
        }
    }
}

#[test]
fn only_a_step_of_instructions_runs_in_place() {
    use super::super::code::Slot;
    let args = [Slot::Var { at: 0, len: 1 }, Slot::Var { at: 1, len: STEPS }, Slot::Var { at: 51, len: 2 }];
    for more in [false, true] {
        let code = RecursionCode::new(&std::sync::Arc::new(example(more)));
        let mut fixed = Vec::new();
        assert_eq!(LoopCode::new(&code, &args, [53, 53 + 52], &mut fixed, None).is_some(), !more);
    }
}
