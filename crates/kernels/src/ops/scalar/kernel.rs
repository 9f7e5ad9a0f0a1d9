//! An elementwise function as programs: recorded once from its row, compiled for each choice of results, and
//! run for one draw, for sixteen, or with tangents.

use super::fused;
use super::row::{OpaqueFn, ScalarFn};
use crate::num::program::{
    Formula, MOST_ENDS, Program, Sink as Out, Source, Traced, run, run_alone, run_alone_draws,
};
use crate::num::real::{Dual, F16, LANES, Packed};
use crate::ops::operand::{Arg, Index, Operand};
use std::cell::Cell;
use std::sync::OnceLock;

/// Most arguments of an elementwise function.
pub const MOST_ARGS: usize = 6;

/// Most elements that are handled at a time where values and slopes need room.
pub const TILE: usize = 16;

/// An elementwise function for one scalar type.
pub trait Elementwise<T>: Send + Sync {
    /// `out[i] = f(args at i)`.
    fn values(&self, args: &[Operand<T>], out: &mut [T]);

    /// The same for n elements, with the slope in argument k of element i in `slopes[k * n + i]`; those of
    /// arguments that are not needed mean nothing.
    fn both(&self, args: &[Operand<T>], need: &[bool], out: &mut [T], slopes: &mut [T]);

    /// The slopes of elements whose values are known.
    fn slopes(&self, args: &[Operand<T>], need: &[bool], values: &[T], slopes: &mut [T]);

    /// As [`Elementwise::values`], but that the logarithm of a factor from ½ to 4 is to be subtracted from
    /// each element of `out`, [`Kernel::factored`] times.
    fn factored(&self, _args: &[Operand<T>], _out: &mut [T], _factors: &mut [T]) {}

    /// Value and slopes of one element whose arguments stand where `at` says: written behind one another from
    /// `out` on, a slope only where the bit of its argument is set in `need`. False where there is no such
    /// code.
    fn one(&self, _cells: &[Cell<T>], _at: &[usize], _need: u32, _out: usize) -> bool {
        false
    }

    /// So many times the sum of the values of `n` elements, few enough for the product of their factors to be
    /// a number; slopes go where `sinks` says. None where there is no such code.
    fn summed(&self, _args: &[Operand<T>], _sinks: &[Sink<T>], _n: usize, _times: f64) -> Option<T> {
        None
    }
}

/// Where the slopes in an argument go.
#[derive(Clone, Copy)]
pub enum Sink<'a, T> {
    /// Nowhere.
    None,
    /// So many times their sum is added there.
    Sum(&'a Cell<T>),
    /// There, each as it is.
    Each(&'a [Cell<T>]),
}

/// Most elements of one draw that are computed by themselves rather than eight side by side.
const MOST_ALONE: usize = 2;

/// What a program computes.
#[derive(Clone, Copy)]
enum Wanted {
    /// The value and some slopes.
    Both,
    /// Some slopes; the value is one more argument.
    Slopes,
    /// A plain number, a factor, and some slopes.
    Factored,
}

impl Wanted {
    const COUNT: usize = 3;

    /// Results before the first slope.
    fn before_slopes(self) -> usize {
        match self {
            Wanted::Both => 1,
            Wanted::Slopes => 0,
            Wanted::Factored => 2,
        }
    }
}

/// What computes an elementwise function.
pub struct Kernel {
    count: usize,
    code: Code,
    /// How often the logarithms of its factors count, where it has such.
    pub factored: Option<f64>,
    /// So many times the sum of its values, where it has such.
    summed: Option<fn(&[Operand<F16>], &[Sink<F16>], usize, f64) -> F16>,
    /// Programs that somebody has asked for, by what they compute, for which arguments, and with tangents or
    /// not.
    programs: OnceLock<Box<[OnceLock<Program>]>>,
}

/// Computes what is wanted with numbers that leave a record.
type Trace = fn(Wanted, &[Traced], &mut Vec<Traced>);

/// How it is computed.
enum Code {
    /// By programs.
    Formula(Trace),
    /// Number by number: value and slopes, behind one another.
    Opaque(fn(&[f64], &mut [f64]), fn(&[Dual], &mut [Dual])),
}

impl Kernel {
    /// The code of a function of `N` numbers.
    pub const fn new<F: ScalarFn<N>, const N: usize>() -> Self {
        Self {
            count: N,
            code: Code::Formula(trace::<F, N>),
            factored: F::FACTORED,
            summed: if F::FACTORED.is_some() { Some(fused::summed::<F, N>) } else { None },
            programs: OnceLock::new(),
        }
    }

    /// The code of a function of `N` numbers that is computed one by one.
    pub const fn opaque<F: OpaqueFn<N>, const N: usize>() -> Self {
        let code = Code::Opaque(one_by_one::<F, f64, N>, one_by_one::<F, Dual, N>);
        Self { count: N, code, factored: None, summed: None, programs: OnceLock::new() }
    }

    /// What it is for all results, where it is not computed number by number.
    pub fn formula(&self) -> Option<Formula> {
        match self.code {
            Code::Formula(trace) => Some(self.record(trace, Wanted::Both)),
            Code::Opaque(..) => None,
        }
    }

    /// Its record, with all results of a kind.
    fn record(&self, trace: Trace, wanted: Wanted) -> Formula {
        let value = usize::from(matches!(wanted, Wanted::Slopes));
        Formula::record(self.count + value, |x, results| trace(wanted, x, results))
    }

    /// The program for some results, made when it is first asked for.
    #[inline]
    fn program(&self, trace: Trace, wanted: Wanted, need: u32, tangents: bool) -> &Program {
        let sets = 1 << self.count;
        let all = self.programs.get_or_init(|| {
            (0..2 * Wanted::COUNT * sets).map(|_| OnceLock::new()).collect::<Vec<_>>().into()
        });
        let at = (wanted as usize * 2 + usize::from(tangents)) * sets + (need as usize & (sets - 1));
        all[at].get_or_init(|| {
            let (plain, first) = (self.record(trace, wanted), wanted.before_slopes());
            let asked = |k: usize| k < first || (need >> (k - first)) & 1 == 1;
            match tangents {
                false => plain.compile(asked),
                true => plain.tangents().compile(|k| asked(k / 2)),
            }
        })
    }
}

/// What the row does, with all results.
fn trace<F: ScalarFn<N>, const N: usize>(wanted: Wanted, x: &[Traced], results: &mut Vec<Traced>) {
    let (&at, rest) = x.split_first_chunk().expect("as many arguments as the function has");
    let need = &[true; N];
    let slopes = match wanted {
        Wanted::Both => {
            let (y, slopes) = F::both(at, need);
            results.push(y);
            slopes
        }
        Wanted::Slopes => F::slopes(at, rest[0], need),
        Wanted::Factored => {
            let (y, factor, slopes) = F::factored(at, need);
            results.extend_from_slice(&[y, factor]);
            slopes
        }
    };
    results.extend_from_slice(&slopes);
}

fn one_by_one<F: OpaqueFn<N>, T: Packed, const N: usize>(x: &[T], out: &mut [T]) {
    let (y, slopes) = F::both(std::array::from_fn(|k| x[k]));
    out[0] = y;
    out[1..].copy_from_slice(&slopes);
}

/// The arguments that are needed, a bit for each.
fn bits(need: &[bool]) -> u32 {
    need.iter().enumerate().fold(0, |bits, (k, &need)| bits | u32::from(need) << k)
}

/// Results of sixteen draws.
impl Kernel {
    /// Computes `n` elements of sixteen draws; `extra` is one more argument.
    fn draws(&self, program: &Program, args: &[Operand<F16>], extra: Option<&[F16]>, n: usize, outs: &[Out]) {
        let mut sources = [Source::One(0.0); MOST_ARGS + 1];
        for (source, arg) in sources.iter_mut().zip(args) {
            *source = match (arg.arg, arg.index) {
                (Arg::Const(c), Index::One) => Source::One(c[0]),
                (Arg::Const(c), Index::Each) => Source::Spread(c),
                (Arg::Const(c), Index::Table(t)) => Source::ListedSpread(c, t),
                (Arg::Var(v), Index::One) => Source::Draws(&v[0]),
                (Arg::Var(v), Index::Each) => Source::EachDraws(v),
                (Arg::Var(v), Index::Table(t)) => Source::ListedDraws(v, t),
            };
        }
        if let Some(extra) = extra {
            sources[args.len()] = Source::EachDraws(extra);
        }
        run(program, 2 * n, &sources[..program.inputs()], outs);
    }

    /// The same of an opaque function, draw by draw.
    fn draws_one_by_one(
        &self,
        code: fn(&[f64], &mut [f64]),
        args: &[Operand<F16>],
        n: usize,
        mut out: impl FnMut(usize, usize, &[f64]),
    ) {
        let (mut x, mut y) = ([0.0; MOST_ARGS], [0.0; MOST_ARGS + 1]);
        for i in 0..n {
            for lane in 0..2 * LANES {
                for (x, arg) in x.iter_mut().zip(args) {
                    *x = match arg.arg {
                        Arg::Const(c) => c[arg.index.at(i)],
                        Arg::Var(v) => v[arg.index.at(i)].0[lane],
                    };
                }
                code(&x[..self.count], &mut y[..=self.count]);
                out(i, lane, &y[..=self.count]);
            }
        }
    }
}

/// The results that go to `out` and, where they are needed, to `slopes`, each `n` long: how many, and where.
fn results<'a, T, R>(
    out: Option<&'a [Cell<T>]>,
    slopes: &'a [Cell<T>],
    need: u32,
    n: usize,
    sink: fn(&'a [Cell<T>]) -> R,
    to: &mut [R],
) -> usize {
    let mut count = 0;
    if let Some(out) = out {
        to[0] = sink(out);
        count = 1;
    }
    for k in 0..MOST_ARGS {
        if need >> k & 1 == 1 {
            to[count] = sink(&slopes[k * n..(k + 1) * n]);
            count += 1;
        }
    }
    count
}

/// As cells.
fn cells<T>(x: &mut [T]) -> &[Cell<T>] {
    Cell::from_mut(x).as_slice_of_cells()
}

impl Elementwise<F16> for Kernel {
    fn values(&self, args: &[Operand<F16>], out: &mut [F16]) {
        match self.code {
            Code::Formula(formula) => {
                let program = self.program(formula, Wanted::Both, 0, false);
                self.draws(program, args, None, out.len(), &[Out::EachDraws(cells(out))]);
            }
            Code::Opaque(code, _) => {
                self.draws_one_by_one(code, args, out.len(), |i, lane, y| out[i].0[lane] = y[0]);
            }
        }
    }

    fn both(&self, args: &[Operand<F16>], need: &[bool], out: &mut [F16], slopes: &mut [F16]) {
        let (need, n) = (bits(need), out.len());
        match self.code {
            Code::Formula(formula) => {
                let mut to = [Out::Each(&[]); MOST_ENDS];
                let count = results(Some(cells(out)), cells(slopes), need, n, Out::EachDraws, &mut to);
                self.draws(self.program(formula, Wanted::Both, need, false), args, None, n, &to[..count]);
            }
            Code::Opaque(code, _) => self.draws_one_by_one(code, args, n, |i, lane, y| {
                out[i].0[lane] = y[0];
                (0..args.len()).for_each(|k| slopes[k * n + i].0[lane] = y[k + 1]);
            }),
        }
    }

    fn slopes(&self, args: &[Operand<F16>], need: &[bool], values: &[F16], slopes: &mut [F16]) {
        let (need, n) = (bits(need), values.len());
        match self.code {
            Code::Formula(formula) => {
                let mut to = [Out::Each(&[]); MOST_ENDS];
                let count = results(None, cells(slopes), need, n, Out::EachDraws, &mut to);
                let program = self.program(formula, Wanted::Slopes, need, false);
                self.draws(program, args, Some(values), n, &to[..count]);
            }
            Code::Opaque(code, _) => self.draws_one_by_one(code, args, n, |i, lane, y| {
                (0..args.len()).for_each(|k| slopes[k * n + i].0[lane] = y[k + 1]);
            }),
        }
    }

    fn factored(&self, args: &[Operand<F16>], out: &mut [F16], factors: &mut [F16]) {
        let Code::Formula(formula) = self.code else { return };
        let n = out.len();
        let to = [Out::EachDraws(cells(out)), Out::EachDraws(cells(factors))];
        self.draws(self.program(formula, Wanted::Factored, 0, false), args, None, n, &to);
    }

    fn one(&self, cells: &[Cell<F16>], at: &[usize], need: u32, out: usize) -> bool {
        let Code::Formula(formula) = self.code else { return false };
        let program = self.program(formula, Wanted::Both, need, false);
        let slopes = asked(need);
        let written = |k: usize| &cells[out + if k == 0 { 0 } else { 1 + slopes[k - 1] }];
        run_alone_draws(program, |k| &cells[at[k]], written).is_some()
    }

    fn summed(&self, args: &[Operand<F16>], sinks: &[Sink<F16>], n: usize, times: f64) -> Option<F16> {
        self.summed.map(|summed| summed(args, sinks, n, times))
    }
}

/// One draw: eight elements side by side.
impl Kernel {
    /// Computes the elements of `n` that make whole eights where they stand, and the rest in a place of their
    /// own.
    fn elements(
        &self,
        program: &Program,
        args: &[Operand<f64>],
        extra: Option<&[f64]>,
        n: usize,
        outs: &[&[Cell<f64>]],
    ) {
        if n <= MOST_ALONE && self.elements_alone(program, args, extra, n, outs).is_some() {
            return;
        }
        let (eights, rest) = (n / LANES, n % LANES);
        let mut sources = [Source::One(0.0); MOST_ARGS + 1];
        let mut sinks = [Out::Each(&[]); MOST_ARGS + 2];
        if eights > 0 {
            for (source, arg) in sources.iter_mut().zip(args) {
                let (Arg::Const(x) | Arg::Var(x)) = arg.arg;
                *source = match arg.index {
                    Index::One => Source::One(x[0]),
                    Index::Each => Source::Each(x),
                    Index::Table(t) => Source::Listed(x, t),
                };
            }
            if let Some(extra) = extra {
                sources[args.len()] = Source::Each(extra);
            }
            sinks.iter_mut().zip(outs).for_each(|(sink, out)| *sink = Out::Each(out));
            run(program, eights, &sources[..program.inputs()], &sinks[..outs.len()]);
        }
        if rest == 0 {
            return;
        }
        let start = eights * LANES;
        // Lanes beyond the last element repeat it.
        let mut x = [[0.0; LANES]; MOST_ARGS + 1];
        for (x, arg) in x.iter_mut().zip(args) {
            *x = std::array::from_fn(|lane| arg.at(start + lane.min(rest - 1)));
        }
        if let Some(extra) = extra {
            x[args.len()] = std::array::from_fn(|lane| extra[start + lane.min(rest - 1)]);
        }
        sources.iter_mut().zip(&x).for_each(|(source, x)| *source = Source::Each(x));
        let y = [const { [const { Cell::new(0.0) }; LANES] }; MOST_ARGS + 2];
        sinks.iter_mut().zip(&y).for_each(|(sink, y)| *sink = Out::Each(y));
        run(program, 1, &sources[..program.inputs()], &sinks[..outs.len()]);
        for (out, y) in outs.iter().zip(&y) {
            out[start..start + rest].iter().zip(y).for_each(|(out, y)| out.set(y.get()));
        }
    }

    /// The same for few elements, where the program is small enough.
    #[inline]
    fn elements_alone(
        &self,
        program: &Program,
        args: &[Operand<f64>],
        extra: Option<&[f64]>,
        n: usize,
        outs: &[&[Cell<f64>]],
    ) -> Option<()> {
        let (mut x, mut y) = ([0.0; MOST_ARGS + 1], [0.0; MOST_ARGS + 1]);
        for i in 0..n {
            x.iter_mut().zip(args).for_each(|(x, arg)| *x = arg.at(i));
            if let Some(extra) = extra {
                x[args.len()] = extra[i];
            }
            run_alone(program, &x[..program.inputs()], &mut y[..outs.len()])?;
            outs.iter().zip(&y).for_each(|(out, y)| out[i].set(*y));
        }
        Some(())
    }

    /// The same of an opaque function.
    fn elements_one_by_one<T: Packed>(
        &self,
        code: fn(&[T], &mut [T]),
        args: &[Operand<T>],
        n: usize,
        mut out: impl FnMut(usize, &[T]),
    ) {
        let (mut x, mut y) = ([T::zero(); MOST_ARGS], [T::zero(); MOST_ARGS + 1]);
        for i in 0..n {
            x.iter_mut().zip(args).for_each(|(x, arg)| *x = arg.at(i));
            code(&x[..self.count], &mut y[..=self.count]);
            out(i, &y[..=self.count]);
        }
    }
}

impl Elementwise<f64> for Kernel {
    fn values(&self, args: &[Operand<f64>], out: &mut [f64]) {
        match self.code {
            Code::Formula(formula) => {
                let program = self.program(formula, Wanted::Both, 0, false);
                self.elements(program, args, None, out.len(), &[cells(out)]);
            }
            Code::Opaque(code, _) => self.elements_one_by_one(code, args, out.len(), |i, y| out[i] = y[0]),
        }
    }

    fn both(&self, args: &[Operand<f64>], need: &[bool], out: &mut [f64], slopes: &mut [f64]) {
        let (need, n) = (bits(need), out.len());
        match self.code {
            Code::Formula(formula) => {
                let program = self.program(formula, Wanted::Both, need, false);
                let mut to = [cells(&mut []); MOST_ARGS + 1];
                let count = results(Some(cells(out)), cells(slopes), need, n, |at| at, &mut to);
                self.elements(program, args, None, n, &to[..count]);
            }
            Code::Opaque(code, _) => self.elements_one_by_one(code, args, n, |i, y| {
                out[i] = y[0];
                (0..args.len()).for_each(|k| slopes[k * n + i] = y[k + 1]);
            }),
        }
    }

    fn slopes(&self, args: &[Operand<f64>], need: &[bool], values: &[f64], slopes: &mut [f64]) {
        let (need, n) = (bits(need), values.len());
        match self.code {
            Code::Formula(formula) => {
                let program = self.program(formula, Wanted::Slopes, need, false);
                let mut to = [cells(&mut []); MOST_ARGS];
                let count = results(None, cells(slopes), need, n, |at| at, &mut to);
                self.elements(program, args, Some(values), n, &to[..count]);
            }
            Code::Opaque(code, _) => self.elements_one_by_one(code, args, n, |i, y| {
                (0..args.len()).for_each(|k| slopes[k * n + i] = y[k + 1]);
            }),
        }
    }
}

/// One draw with a tangent: values and tangents apart.
impl Kernel {
    /// Computes `n` elements; results are handed on element by element.
    fn tangents(
        &self,
        program: &Program,
        args: &[Operand<Dual>],
        extra: Option<&[Dual]>,
        n: usize,
        mut out: impl FnMut(usize, usize, Dual),
    ) {
        if n == 1 {
            let (mut x, mut y) = ([0.0; MOST_ENDS], [0.0; MOST_ENDS]);
            let numbers = args.iter().map(|arg| arg.at(0)).chain(extra.map(|extra| extra[0]));
            for (x, number) in x.chunks_exact_mut(2).zip(numbers) {
                (x[0], x[1]) = (number.v, number.d);
            }
            if run_alone(program, &x[..program.inputs()], &mut y[..program.outputs()]).is_some() {
                (0..program.outputs() / 2).for_each(|k| out(k, 0, Dual { v: y[2 * k], d: y[2 * k + 1] }));
                return;
            }
        }
        let mut x = [[0.0; LANES]; MOST_ENDS];
        let y = [const { [const { Cell::new(0.0) }; LANES] }; MOST_ENDS];
        for start in (0..n).step_by(LANES) {
            let width = LANES.min(n - start);
            let mut put = |k: usize, at: &dyn Fn(usize) -> Dual| {
                for lane in 0..LANES {
                    // Lanes beyond the last element repeat it.
                    let number = at(start + lane.min(width - 1));
                    (x[2 * k][lane], x[2 * k + 1][lane]) = (number.v, number.d);
                }
            };
            for (k, arg) in args.iter().enumerate() {
                put(k, &|i| arg.at(i));
            }
            if let Some(extra) = extra {
                put(args.len(), &|i| extra[i]);
            }
            let sources: [Source; MOST_ENDS] = std::array::from_fn(|k| Source::Each(&x[k]));
            let sinks: [Out; MOST_ENDS] = std::array::from_fn(|k| Out::Each(&y[k]));
            run(program, 1, &sources[..program.inputs()], &sinks[..program.outputs()]);
            for k in 0..program.outputs() / 2 {
                for lane in 0..width {
                    out(k, start + lane, Dual { v: y[2 * k][lane].get(), d: y[2 * k + 1][lane].get() });
                }
            }
        }
    }
}

/// The argument of each slope that is needed.
fn asked(need: u32) -> [usize; MOST_ARGS] {
    let (mut which, mut count) = ([0; MOST_ARGS], 0);
    for k in (0..MOST_ARGS).filter(|k| need >> k & 1 == 1) {
        which[count] = k;
        count += 1;
    }
    which
}

impl Elementwise<Dual> for Kernel {
    fn values(&self, args: &[Operand<Dual>], out: &mut [Dual]) {
        let n = out.len();
        match self.code {
            Code::Formula(formula) => {
                let program = self.program(formula, Wanted::Both, 0, true);
                self.tangents(program, args, None, n, |_, i, y| out[i] = y);
            }
            Code::Opaque(_, code) => self.elements_one_by_one(code, args, n, |i, y| out[i] = y[0]),
        }
    }

    fn both(&self, args: &[Operand<Dual>], need: &[bool], out: &mut [Dual], slopes: &mut [Dual]) {
        let (need, n) = (bits(need), out.len());
        match self.code {
            Code::Formula(formula) => {
                let (program, which) = (self.program(formula, Wanted::Both, need, true), asked(need));
                self.tangents(program, args, None, n, |k, i, y| match k {
                    0 => out[i] = y,
                    k => slopes[which[k - 1] * n + i] = y,
                });
            }
            Code::Opaque(_, code) => self.elements_one_by_one(code, args, n, |i, y| {
                out[i] = y[0];
                (0..args.len()).for_each(|k| slopes[k * n + i] = y[k + 1]);
            }),
        }
    }

    fn slopes(&self, args: &[Operand<Dual>], need: &[bool], values: &[Dual], slopes: &mut [Dual]) {
        let (need, n) = (bits(need), values.len());
        match self.code {
            Code::Formula(formula) => {
                let (program, which) = (self.program(formula, Wanted::Slopes, need, true), asked(need));
                self.tangents(program, args, Some(values), n, |k, i, y| slopes[which[k] * n + i] = y);
            }
            Code::Opaque(_, code) => self.elements_one_by_one(code, args, n, |i, y| {
                (0..args.len()).for_each(|k| slopes[k * n + i] = y[k + 1]);
            }),
        }
    }
}
