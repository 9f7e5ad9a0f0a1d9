//! Programs compute what their formulas say: in tiles of any size, alone, and with tangents.

use super::*;
use crate::num::real::{Dual, F16, LANES, Real, Zero};
use std::cell::Cell;

/// Everything that a recording can hold: constants, results that are arguments or each other, parts that
/// nobody reads, numbers used long after they were computed.
fn formula<T: Real>([x, mu, s]: [T; 3]) -> [T; 6] {
    let z = (x - mu) * s.recip();
    let (log, recip) = s.ln_and_recip();
    let [plain, _factor, slope] = z.log1p_exp_by_factor();
    let risen = s.lrise(s.shift(2.0)) + T::splat(3.0).lbeta(s);
    let y = (z.square() + log).scale(-0.5).shift(-1.0) + plain * slope + risen;
    let side = z.if_less(T::zero(), z.exp(), z.abs().sqrt());
    let called = z.lift1(f64::cos, |x| -x.sin()) + z.lift2(s, |a, b| a * b, |_, b| b, |a, _| a);
    [y, z * recip, z * recip, x, T::splat(2.0).exp(), side + called]
}

fn recorded() -> Formula {
    Formula::record(3, |x, y| y.extend(formula([x[0], x[1], x[2]])))
}

/// Points that differ in each element.
fn point(i: usize) -> [f64; 3] {
    let t = i as f64;
    [0.3 * t - 4.0, 0.01 * t - 1.0, 0.5 + 0.2 * t]
}

#[test]
fn tiles_and_single_elements_give_the_same_bits_for_every_choice_of_results() {
    let formula = recorded();
    for wanted in [0b111111, 0b1, 0b10, 0b110, 0b101000, 0b10001] {
        let program = formula.compile(|k| wanted >> k & 1 == 1);
        for eights in [1, 2, 7, 31, 32, 33, 70] {
            let n = eights * LANES;
            let columns: Vec<Vec<f64>> = (0..3).map(|k| (0..n).map(|i| point(i)[k]).collect()).collect();
            let mut out = vec![vec![0.0; n]; program.outputs];
            let sources: Vec<Source> = columns.iter().map(|c| Source::Each(c)).collect();
            let sinks: Vec<Sink> =
                out.iter_mut().map(|o| Sink::Each(Cell::from_mut(&mut o[..]).as_slice_of_cells())).collect();
            run(&program, eights, &sources, &sinks);
            for i in 0..n {
                let mut alone = vec![0.0; program.outputs];
                run_alone(&program, &point(i), &mut alone).expect("a small program");
                for (k, alone) in alone.iter().enumerate() {
                    assert_eq!(alone.to_bits(), out[k][i].to_bits(), "result {k} of {wanted:b} at {i}");
                }
            }
        }
    }
}

#[test]
fn programs_compute_their_formulas() {
    let program = recorded().compile(|_| true);
    for i in 0..60 {
        let (mut out, expected) = ([0.0; 6], formula(point(i)));
        run_alone(&program, &point(i), &mut out).expect("a small program");
        for (out, expected) in out.iter().zip(expected) {
            assert!((out - expected).abs() <= 1e-14 * expected.abs().max(10.0), "{i}: {out} for {expected}");
        }
    }
}

#[test]
fn tangents_are_those_of_dual_numbers() {
    let formula_with = recorded().tangents();
    let program = formula_with.compile(|_| true);
    for i in 1..60 {
        let x = point(i);
        let direction = [0.7, -0.2, 0.4];
        let dual = formula(std::array::from_fn(|k| Dual { v: x[k], d: direction[k] }));
        let inputs: Vec<f64> = (0..3).flat_map(|k| [x[k], direction[k]]).collect();
        let mut out = [0.0; 12];
        run_alone(&program, &inputs, &mut out).expect("a small program");
        for (out, dual) in out.chunks_exact(2).zip(dual) {
            for (got, expected) in [(out[0], dual.v), (out[1], dual.d)] {
                assert!(
                    (got - expected).abs() <= 1e-12 * expected.abs().max(10.0),
                    "{i}: {got} for {expected}"
                );
            }
        }
    }
}

#[test]
fn draws_are_gathered_spread_and_repeated() {
    let program = Formula::record(3, |x, y| y.extend([x[0] * x[1] + x[2], x[0] - x[2]])).compile(|_| true);
    let draw = |i: usize| F16(std::array::from_fn(|lane| i as f64 + 0.01 * lane as f64));
    let (draws, numbers) =
        ((0..40).map(draw).collect::<Vec<_>>(), (0..40).map(f64::from).collect::<Vec<_>>());
    let list: Vec<u32> = (0..37).map(|i| (i * 7) % 40).collect();
    let mut out = vec![F16::zero(); 2 * 37];
    let (product, gap) = Cell::from_mut(&mut out[..]).as_slice_of_cells().split_at(37);
    let sources =
        [Source::ListedDraws(&draws, &list), Source::ListedSpread(&numbers, &list), Source::Draws(&draws[3])];
    run(&program, 2 * 37, &sources, &[Sink::EachDraws(product), Sink::EachDraws(gap)]);
    for i in 0..37 {
        let at = list[i] as usize;
        for lane in 0..16 {
            let (x, y, z) = (draws[at].0[lane], numbers[at], draws[3].0[lane]);
            assert!((out[i].0[lane] - (x * y + z)).abs() <= 1e-12, "{i} {lane}");
            assert_eq!(out[37 + i].0[lane], x - z);
        }
    }
}

#[test]
fn what_nobody_asks_for_is_not_computed() {
    let formula = Formula::record(2, |x, y| y.extend([x[0].exp(), x[1].lgamma(), x[0].exp() * x[1]]));
    let text = formula.compile(|k| k != 1).to_string();
    assert_eq!(text, "out0 = exp(in0)\nout1 = mul(out0, in1)\n");
}
