//! Runs a program for one element, of one draw or of sixteen: a tile would be nearly empty, and what it takes
//! to begin one would cost more than the steps.

use super::compile::{Code, Place, Program, Step};
use super::primitive::{Binary, Unary};
use super::run::{Costly, Read};
use crate::num::dispatch::{LaneWork, View, Work, best_lanes, like_a_lane};
use crate::num::real::{F16, Packed, Real};
use std::cell::Cell;
use std::mem::MaybeUninit;

/// Most numbers of a program that is run alone; a larger one is worth a tile.
const MOST_NUMBERS: usize = 96;

/// The steps of a program with all its numbers in one list: constants, arguments, results, registers.
#[derive(Debug)]
pub(super) struct Alone {
    steps: Box<[AloneStep]>,
    /// The places of the constants, filled; the rest begins with the arguments.
    constants: Box<[f64]>,
    numbers: usize,
}

/// A step by places in the list.
#[derive(Clone, Copy, Debug)]
struct AloneStep {
    code: Code,
    args: [u16; 4],
    out: [u16; 3],
}

impl Alone {
    pub(super) fn new(steps: &[Step], constants: &[f64], registers: usize, ends: [usize; 2]) -> Self {
        let [inputs, outputs] = ends;
        let place = |p: Place| match p {
            Place::Constant(k) => k,
            Place::Input(k) => k + constants.len() as u16,
            Place::Output(k) => k + (constants.len() + inputs) as u16,
            Place::Register(k) => k + (constants.len() + inputs + outputs) as u16,
        };
        let steps = steps.iter();
        Alone {
            steps: steps
                .map(|s| AloneStep { code: s.code, args: s.args.map(place), out: s.out.map(place) })
                .collect(),
            constants: constants.into(),
            numbers: constants.len() + inputs + outputs + registers,
        }
    }
}

/// Computes the results for one number of each argument, rounded like a lane of a tile; None where the
/// program has too many numbers for that.
pub fn run_alone(program: &Program, inputs: &[f64], outputs: &mut [f64]) -> Option<()> {
    assert!(inputs.len() == program.inputs && outputs.len() == program.outputs);
    let alone = &program.alone;
    if alone.numbers > MOST_NUMBERS {
        return None;
    }
    let mut all = [0.0; MOST_NUMBERS];
    let first = alone.constants.len();
    all[..first].copy_from_slice(&alone.constants);
    all[first..first + inputs.len()].copy_from_slice(inputs);
    let numbers = Cell::from_mut(&mut all).as_array_of_cells();
    like_a_lane(OneDraw::<true>(&alone.steps, numbers), OneDraw::<false>(&alone.steps, numbers));
    outputs.copy_from_slice(&all[first + inputs.len()..][..outputs.len()]);
    Some(())
}

/// The same of sixteen draws: argument k is read from `input(k)`, and result k written to `output(k)`.
pub fn run_alone_draws<'a>(
    program: &'a Program,
    input: impl Fn(usize) -> &'a Cell<F16>,
    output: impl Fn(usize) -> &'a Cell<F16>,
) -> Option<()> {
    if program.alone.numbers > MOST_NUMBERS {
        return None;
    }
    best_lanes(Draws { program, input, output });
    Some(())
}

struct Draws<'a, I, O> {
    program: &'a Program,
    input: I,
    output: O,
}

impl<'a, I, O> LaneWork<F16> for Draws<'a, I, O>
where
    I: Fn(usize) -> &'a Cell<F16>,
    O: Fn(usize) -> &'a Cell<F16>,
{
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, view: View<F16, U>) {
        // Nothing is filled in that no step reads.
        let mut room = [const { MaybeUninit::<F16>::uninit() }; MOST_NUMBERS];
        let all: *mut U = room.as_mut_ptr().cast();
        let mut at = 0;
        // SAFETY: `run_alone_draws` has checked that there is room for all numbers, and the compiler numbers
        // them; it lets no step read what none has written. `U` is as large as F16.
        unsafe {
            for &c in &self.program.alone.constants {
                all.add(at).write(U::splat(c));
                at += 1;
            }
            for k in 0..self.program.inputs {
                all.add(at).write(view.value((self.input)(k).get()));
                at += 1;
            }
            for step in &self.program.alone.steps {
                let at = |k: u16| all.add(usize::from(k));
                let [a, b, c, _] = step.args;
                let y = match step.code {
                    Code::Copy => at(a).read(),
                    Code::Unary(Unary::Neg) => -at(a).read(),
                    Code::Unary(Unary::Square) => at(a).read().square(),
                    Code::Binary(Binary::Add) => at(a).read() + at(b).read(),
                    Code::Binary(Binary::Sub) => at(a).read() - at(b).read(),
                    Code::Binary(Binary::Mul) => at(a).read() * at(b).read(),
                    Code::Binary(Binary::Div) => at(a).read() / at(b).read(),
                    Code::MulAdd => at(a).read().mul_add(at(b).read(), at(c).read()),
                    code @ (Code::Unary(_)
                    | Code::Binary(_)
                    | Code::IfLess
                    | Code::IfEqual
                    | Code::Several(_)
                    | Code::Call1(_)
                    | Code::Call2(_)
                    | Code::Call3(_)) => {
                        // Sixteen draws are two eights.
                        let args = step.args.map(|k| Read(at(k).cast_const().cast(), usize::MAX));
                        let out = step.out.map(|k| at(k).cast());
                        best_lanes(Costly { code, args, out, count: 2 });
                        continue;
                    }
                };
                at(step.out[0]).write(y);
            }
            for k in 0..self.program.outputs {
                (self.output)(k).set(view.back(all.add(at).read()));
                at += 1;
            }
        }
    }
}

/// One draw, with products that are added rounded once or twice.
struct OneDraw<'a, const FUSED: bool>(&'a [AloneStep], &'a [Cell<f64>; MOST_NUMBERS]);

impl<const FUSED: bool> Work for OneDraw<'_, FUSED> {
    type Out = ();

    #[inline(always)]
    fn run(self) {
        let OneDraw(steps, numbers) = self;
        let get = |k: u16| numbers[usize::from(k)].get();
        for step in steps {
            let [a, b, c, d] = step.args;
            let y = match step.code {
                Code::Copy => get(a),
                Code::Unary(f) => f.of(get(a)),
                Code::Binary(f) => f.of(get(a), get(b)),
                Code::MulAdd if FUSED => f64::mul_add(get(a), get(b), get(c)),
                Code::MulAdd => get(a) * get(b) + get(c),
                Code::IfLess => get(a).if_less(get(b), get(c), get(d)),
                Code::IfEqual => get(a).if_equal(get(b), get(c), get(d)),
                Code::Several(f) => {
                    let results = f.of(get(a));
                    for k in 0..f.count() {
                        numbers[usize::from(step.out[k])].set(results[k]);
                    }
                    continue;
                }
                Code::Call1(f) => f(get(a)),
                Code::Call2(f) => f(get(a), get(b)),
                Code::Call3(f) => f(get(a), get(b), get(c)),
            };
            numbers[usize::from(step.out[0])].set(y);
        }
    }
}
