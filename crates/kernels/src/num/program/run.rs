//! Runs programs over tiles of numbers, in the registers of this processor.
//!
//! A step goes through the whole tile before the next begins: what it costs to find out what to do is shared
//! by the tile, whose numbers stay in the first-level cache. Numbers go through in eights, whatever the
//! processor holds in one register, so that every instruction set computes the same.

use super::compile::{Code, Place, Program, Step};
use super::primitive::{Binary, Several, Unary, binary, several, three, unary};
use crate::num::dispatch::{LaneWork, View, best_lanes};
use crate::num::real::{F8, F16, LANES, Packed};
use std::cell::Cell;
use std::mem::MaybeUninit;

/// Eights of numbers that there is room for on the way, in all: two thirds of the smallest first-level cache.
const ROOM: usize = 320;

/// Most eights that a step goes through at once: from here on the price of a step is no longer felt.
const TILE: usize = 32;

/// Most arguments and results of a program: six numbers and a value with slopes, each with a tangent.
pub const MOST_ENDS: usize = 14;

/// The numbers of an argument, for all that is computed.
#[derive(Clone, Copy, Debug)]
pub enum Source<'a> {
    /// One for each.
    Each(&'a [f64]),
    /// The same for all.
    One(f64),
    /// Sixteen draws of one quantity, the same for all elements.
    Draws(&'a F16),
    /// Sixteen draws of each element.
    EachDraws(&'a [F16]),
    /// Sixteen draws of the element that is listed.
    ListedDraws(&'a [F16], &'a [u32]),
    /// A number for each element, the same for its sixteen draws.
    Spread(&'a [f64]),
    /// The same of the number that is listed.
    ListedSpread(&'a [f64], &'a [u32]),
    /// The number that is listed.
    Listed(&'a [f64], &'a [u32]),
}

/// Where the numbers of a result go.
#[derive(Clone, Copy, Debug)]
pub enum Sink<'a> {
    /// There.
    Each(&'a [Cell<f64>]),
    /// Sixteen draws of each element, there.
    EachDraws(&'a [Cell<F16>]),
}

impl Source<'_> {
    /// For how many eights there are numbers.
    fn eights(&self) -> usize {
        match self {
            Source::Each(x) => x.len() / LANES,
            Source::One(_) | Source::Draws(_) => usize::MAX,
            Source::EachDraws(x) => 2 * x.len(),
            Source::Spread(x) => 2 * x.len(),
            Source::ListedDraws(_, list) | Source::ListedSpread(_, list) => 2 * list.len(),
            Source::Listed(_, list) => list.len() / LANES,
        }
    }

    /// Whether its numbers are brought together before a tile is computed.
    fn is_gathered(&self) -> bool {
        match self {
            Source::Each(_) | Source::Draws(_) | Source::EachDraws(_) => false,
            Source::One(_)
            | Source::ListedDraws(..)
            | Source::Spread(_)
            | Source::ListedSpread(..)
            | Source::Listed(..) => true,
        }
    }
}

impl Sink<'_> {
    fn eights(&self) -> usize {
        match self {
            Sink::Each(x) => x.len() / LANES,
            Sink::EachDraws(x) => 2 * x.len(),
        }
    }
}

/// Computes `eights` eights of numbers: two for each element of sixteen draws.
///
/// # Panics
/// If there are not as many arguments, results and numbers in them as the program needs.
pub fn run(program: &Program, eights: usize, sources: &[Source], sinks: &[Sink]) {
    assert!(sources.len() == program.inputs && sinks.len() == program.outputs);
    assert!(sources.len() <= MOST_ENDS && sinks.len() <= MOST_ENDS);
    assert!(sources.iter().all(|s| s.eights() >= eights) && sinks.iter().all(|s| s.eights() >= eights));
    best_lanes(Run { program, eights, sources, sinks });
}

struct Run<'a> {
    program: &'a Program,
    eights: usize,
    sources: &'a [Source<'a>],
    sinks: &'a [Sink<'a>],
}

impl LaneWork<F8> for Run<'_> {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, _: View<F8, U>) {
        let mut room = [const { MaybeUninit::<F8>::uninit() }; ROOM];
        let mut rows = self.program.registers;
        let mut ends = [None; MOST_ENDS];
        for (k, source) in self.sources.iter().enumerate() {
            if source.is_gathered() {
                ends[k] = Some(rows);
                rows += 1;
            }
        }
        // Even, so that elements of sixteen draws stay together.
        let tile = (ROOM / rows.max(1)).min(TILE) & !1;
        assert!(tile > 0);
        let room: *mut f64 = room.as_mut_ptr().cast();
        // SAFETY: asked for one of `rows` rows of `tile` eights each, and `ROOM` eights hold all of them.
        let place = |row: usize| unsafe { room.add(row * tile * LANES) };
        let mut frame = Frame {
            constants: self.program.constants.as_ptr().cast(),
            room,
            tile,
            inputs: [(std::ptr::null(), 0); MOST_ENDS],
            outputs: [std::ptr::null_mut(); MOST_ENDS],
        };
        let mut start = 0;
        while start < self.eights {
            let count = tile.min(self.eights - start);
            for (k, source) in self.sources.iter().enumerate() {
                // SAFETY: `run` has checked that the argument has numbers for all eights; a row has room for
                // a whole tile.
                frame.inputs[k] = unsafe {
                    match ends[k] {
                        Some(row) => gather::<U>(source, start, count, place(row)),
                        None => in_place(source, start),
                    }
                };
            }
            for (k, sink) in self.sinks.iter().enumerate() {
                frame.outputs[k] = match sink {
                    Sink::Each(x) => x[start * LANES..].as_ptr().cast_mut().cast(),
                    Sink::EachDraws(x) => x[start / 2..].as_ptr().cast_mut().cast(),
                };
            }
            for step in &self.program.steps {
                // SAFETY: `run` has checked that arguments and results are as long as `eights`, all registers
                // have room, and the compiler numbers places within these bounds.
                unsafe { frame.step::<U>(step, count) };
            }
            start += count;
        }
    }
}

/// Where the numbers of an argument are, and what the index of an eight is cut down to.
///
/// SAFETY: the argument has numbers from eight `start` on.
#[inline(always)]
unsafe fn in_place(source: &Source, start: usize) -> (*const f64, usize) {
    let all: *const f64 = match source {
        Source::Each(x) => x.as_ptr(),
        Source::EachDraws(x) => x.as_ptr().cast(),
        Source::Draws(x) => return (x.0.as_ptr(), 1),
        Source::One(_)
        | Source::ListedDraws(..)
        | Source::Spread(_)
        | Source::ListedSpread(..)
        | Source::Listed(..) => return (std::ptr::null(), 0),
    };
    // SAFETY: the caller promises numbers from eight `start` on, eight f64 for each eight before it.
    (unsafe { all.add(start * LANES) }, usize::MAX)
}

/// Brings the numbers of `count` eights together at `to`.
///
/// SAFETY: there is room for them, and the argument has as many.
#[inline(always)]
unsafe fn gather<U: Packed>(
    source: &Source,
    start: usize,
    count: usize,
    to: *mut f64,
) -> (*const f64, usize) {
    let (first, elements) = (start / 2, count.div_ceil(2));
    macro_rules! put {
        ($i:expr, $x:expr) => {{
            let (to, x): (*mut U, U) = (to.cast(), $x);
            // SAFETY: the caller promises room for `count` eights, and a row has room for an even number:
            // where `count` is odd, for one more.
            unsafe { to.add($i).write_unaligned(x) }
        }};
    }
    let mut mask = usize::MAX;
    match source {
        Source::One(x) => {
            put!(0, U::splat(*x));
            mask = 0;
        }
        Source::Spread(x) => {
            for (i, &x) in x[first..first + elements].iter().enumerate() {
                put!(2 * i, U::splat(x));
                put!(2 * i + 1, U::splat(x));
            }
        }
        Source::ListedSpread(x, list) => {
            for (i, &at) in list[first..first + elements].iter().enumerate() {
                put!(2 * i, U::splat(x[at as usize]));
                put!(2 * i + 1, U::splat(x[at as usize]));
            }
        }
        Source::ListedDraws(x, list) => {
            for (i, &at) in list[first..first + elements].iter().enumerate() {
                let from: *const U = std::ptr::from_ref(&x[at as usize]).cast();
                // SAFETY: sixteen draws are two eights.
                let [low, high] = unsafe { [from.read_unaligned(), from.add(1).read_unaligned()] };
                put!(2 * i, low);
                put!(2 * i + 1, high);
            }
        }
        Source::Listed(x, list) => {
            for (i, &at) in list[start * LANES..(start + count) * LANES].iter().enumerate() {
                // SAFETY: the caller promises room for `count` eights, and the list was cut to as many.
                unsafe { to.add(i).write(x[at as usize]) };
            }
        }
        Source::Each(_) | Source::Draws(_) | Source::EachDraws(_) => {}
    }
    (to.cast_const(), mask)
}

/// Where the numbers of a tile are.
struct Frame {
    constants: *const f64,
    room: *mut f64,
    /// Eights between one register and the next.
    tile: usize,
    inputs: [(*const f64, usize); MOST_ENDS],
    outputs: [*mut f64; MOST_ENDS],
}

/// An operand of a step: where it is, and what the index of an eight is cut down to.
#[derive(Clone, Copy)]
pub(super) struct Read(pub(super) *const f64, pub(super) usize);

/// An operand as a loop reads it.
trait Operand<U>: Copy {
    /// Eight `i` of the tile. SAFETY: there are as many.
    unsafe fn get(self, i: usize) -> U;
}

impl<U: Packed> Operand<U> for Read {
    #[inline(always)]
    unsafe fn get(self, i: usize) -> U {
        // SAFETY: the caller promises an eight `i`, or, of an operand that repeats, the one `i` is cut to.
        unsafe { self.0.add((i & self.1) * LANES).cast::<U>().read_unaligned() }
    }
}

/// One eight after another.
#[derive(Clone, Copy)]
struct Each(*const f64);

impl<U: Packed> Operand<U> for Each {
    #[inline(always)]
    unsafe fn get(self, i: usize) -> U {
        // SAFETY: the caller promises that there is an eight `i`.
        unsafe { self.0.add(i * LANES).cast::<U>().read_unaligned() }
    }
}

/// The same eight, in a register.
#[derive(Clone, Copy)]
struct Same<U>(U);

impl<U: Packed> Operand<U> for Same<U> {
    #[inline(always)]
    unsafe fn get(self, _: usize) -> U {
        self.0
    }
}

/// How an operand repeats.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Each,
    Same,
    Pair,
}

impl Read {
    #[inline(always)]
    fn kind(self) -> Kind {
        match self.1 {
            usize::MAX => Kind::Each,
            0 => Kind::Same,
            _ => Kind::Pair,
        }
    }

    #[inline(always)]
    fn each(self) -> Each {
        Each(self.0)
    }

    /// SAFETY: there is an eight.
    #[inline(always)]
    unsafe fn same<U: Packed>(self) -> Same<U> {
        // SAFETY: the caller promises that there is an eight.
        Same(unsafe { self.0.cast::<U>().read_unaligned() })
    }
}

/// A cheap function of one operand or several, for `count` eights. What is asked for each eight takes longer
/// than the function: there is a loop for each way in which operands usually repeat, four eights at a time.
macro_rules! cheap {
    ($out:ident, $count:ident, $($x:ident)+ => $value:expr) => {{
        let mut i = 0;
        // SAFETY: who calls `Frame::step` promises operands and a result of `count` eights; i is below that.
        unsafe {
            while i + 4 <= $count {
                for k in i..i + 4 {
                    $(let $x: U = $x.get(k);)+
                    $out.add(k * LANES).cast::<U>().write_unaligned($value);
                }
                i += 4;
            }
            while i < $count {
                $(let $x: U = $x.get(i);)+
                $out.add(i * LANES).cast::<U>().write_unaligned($value);
                i += 1;
            }
        }
    }};
}

impl Frame {
    /// SAFETY: the place is one of this program.
    #[inline(always)]
    unsafe fn read(&self, place: Place) -> Read {
        match place {
            // SAFETY: the caller promises a place of this program, which has this constant in eight lanes.
            Place::Constant(k) => Read(unsafe { self.constants.add(usize::from(k) * LANES) }, 0),
            Place::Input(k) => {
                let (at, mask) = self.inputs[usize::from(k)];
                Read(at, mask)
            }
            Place::Output(_) | Place::Register(_) => {
                // SAFETY: the caller promises a place of this program; results and registers are written to.
                Read(unsafe { self.write(place) }.cast_const(), usize::MAX)
            }
        }
    }

    /// SAFETY: the place is one of this program that is written to.
    #[inline(always)]
    unsafe fn write(&self, place: Place) -> *mut f64 {
        match place {
            Place::Output(k) => self.outputs[usize::from(k)],
            // SAFETY: the caller promises a place that the program writes to, so this is one of its
            // registers, and there is room for all of them.
            Place::Register(k) | Place::Constant(k) | Place::Input(k) => unsafe {
                self.room.add(usize::from(k) * self.tile * LANES)
            },
        }
    }

    /// SAFETY: the step is one of this program, and everything is at least `count` eights long.
    #[inline(always)]
    unsafe fn step<U: Packed>(&self, step: &Step, count: usize) {
        // What reading and writing the places of the step asks for is what the caller promises.
        macro_rules! places {
            ($places:expr) => {{
                // SAFETY: the caller promises a step of this program: it reads and writes places that there
                // are, each of one eight at least, and names others again where it needs fewer.
                unsafe { $places }
            }};
        }
        let out = places!(self.write(step.out[0]));
        let [a, b, c, _] = step.args;
        macro_rules! cheap1 {
            ($a:ident => $value:expr) => {{
                let $a = places!(self.read($a));
                match $a.kind() {
                    Kind::Each => { let $a = $a.each(); cheap!(out, count, $a => $value) }
                    Kind::Same | Kind::Pair => cheap!(out, count, $a => $value),
                }
            }};
        }
        macro_rules! cheap2 {
            ($a:ident $b:ident => $value:expr) => {{
                let ($a, $b) = places!((self.read($a), self.read($b)));
                match ($a.kind(), $b.kind()) {
                    (Kind::Each, Kind::Each) => {
                        let ($a, $b) = ($a.each(), $b.each());
                        cheap!(out, count, $a $b => $value)
                    }
                    (Kind::Each, Kind::Same) => {
                        let ($a, $b) = ($a.each(), places!($b.same::<U>()));
                        cheap!(out, count, $a $b => $value)
                    }
                    (Kind::Same, Kind::Each) => {
                        let ($a, $b) = (places!($a.same::<U>()), $b.each());
                        cheap!(out, count, $a $b => $value)
                    }
                    _ => cheap!(out, count, $a $b => $value),
                }
            }};
        }
        macro_rules! cheap3 {
            ($a:ident $b:ident $c:ident => $value:expr) => {{
                let ($a, $b, $c) = places!((self.read($a), self.read($b), self.read($c)));
                match ($a.kind(), $b.kind(), $c.kind()) {
                    (Kind::Each, Kind::Each, Kind::Each) => {
                        let ($a, $b, $c) = ($a.each(), $b.each(), $c.each());
                        cheap!(out, count, $a $b $c => $value)
                    }
                    (Kind::Each, Kind::Same, Kind::Each) => {
                        let ($a, $b, $c) = ($a.each(), places!($b.same::<U>()), $c.each());
                        cheap!(out, count, $a $b $c => $value)
                    }
                    (Kind::Each, Kind::Same, Kind::Same) => {
                        let ($a, $b, $c) = ($a.each(), places!($b.same::<U>()), places!($c.same::<U>()));
                        cheap!(out, count, $a $b $c => $value)
                    }
                    _ => cheap!(out, count, $a $b $c => $value),
                }
            }};
        }
        match step.code {
            Code::Copy => cheap1!(a => a),
            Code::Unary(Unary::Neg) => cheap1!(a => -a),
            Code::Unary(Unary::Square) => cheap1!(a => a * a),
            Code::Binary(Binary::Add) => cheap2!(a b => a + b),
            Code::Binary(Binary::Sub) => cheap2!(a b => a - b),
            Code::Binary(Binary::Mul) => cheap2!(a b => a * b),
            Code::MulAdd => cheap3!(a b c => a.mul_add(b, c)),
            code @ (Code::Unary(_)
            | Code::Binary(_)
            | Code::IfLess
            | Code::IfEqual
            | Code::Several(_)
            | Code::Call1(_)
            | Code::Call2(_)
            | Code::Call3(_)) => {
                let (args, out) = places!((step.args.map(|p| self.read(p)), step.out.map(|p| self.write(p))));
                best_lanes(Costly { code, args, out, count });
            }
        }
    }
}

/// A function that costs more than being called, for `count` eights: its code, which is most of all code
/// here, exists once for an instruction set.
///
/// SAFETY: who makes one has numbers and room for as many eights as its code reads and writes.
pub(super) struct Costly {
    pub(super) code: Code,
    pub(super) args: [Read; 4],
    pub(super) out: [*mut f64; 3],
    pub(super) count: usize,
}

impl LaneWork<F8> for Costly {
    type Out = ();

    #[inline(always)]
    fn run<U: Packed>(self, _: View<F8, U>) {
        let Costly { code, args: [a, b, c, d], out: [out, second, third], count } = self;
        macro_rules! each {
            ($($x:ident)+ => $value:expr) => {{
                for i in 0..count {
                    // SAFETY: who made this has numbers and room for `count` eights, as [`Costly`] asks.
                    unsafe {
                        $(let $x: U = $x.get(i);)+
                        out.add(i * LANES).cast::<U>().write_unaligned($value);
                    }
                }
            }};
        }
        macro_rules! unary_steps {
            ($f:ident; $($variant:ident $method:ident),*) => {
                match $f {
                    $(Unary::$variant => each!(a => a.$method())),*
                }
            };
        }
        macro_rules! binary_steps {
            ($f:ident; $($variant:ident $method:ident),*) => {
                match $f {
                    $(Binary::$variant => each!(a b => a.$method(b))),*
                }
            };
        }
        macro_rules! several_steps {
            ($f:ident; $($variant:ident $method:ident $results:literal),*) => {
                match $f {
                    $(Several::$variant => {
                        let out = [out, second, third];
                        for i in 0..count {
                            // SAFETY: who made this has numbers for `count` eights, and room for as many in
                            // each result that the function has, as [`Costly`] asks.
                            unsafe {
                                let x: U = a.get(i);
                                let results = three(x.$method());
                                for k in 0..$results {
                                    out[k].add(i * LANES).cast::<U>().write_unaligned(results[k]);
                                }
                            }
                        }
                    })*
                }
            };
        }
        match code {
            Code::Copy => each!(a => a),
            Code::MulAdd => each!(a b c => a.mul_add(b, c)),
            Code::Unary(f) => unary!(unary_steps, f),
            Code::Binary(f) => binary!(binary_steps, f),
            Code::IfLess => each!(a b c d => a.if_less(b, c, d)),
            Code::IfEqual => each!(a b c d => a.if_equal(b, c, d)),
            Code::Several(f) => several!(several_steps, f),
            Code::Call1(f) => each!(a => a.lift1(f, f)),
            Code::Call2(f) => each!(a b => a.lift2(b, f, f, f)),
            Code::Call3(f) => each!(a b c => a.lift3(b, c, f, [f; 3])),
        }
    }
}
