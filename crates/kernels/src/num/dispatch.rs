//! Runs a piece of work compiled for the best instruction set that the processor has.
//!
//! One binary holds each piece of work several times over: for AVX-512, for AVX2 and for the baseline. There
//! are two ways in. [`best`] compiles plain code for each of them and leaves it to the compiler to find the
//! vectors in its loops. [`best_lanes`] gives the work a scalar type that is the processor's own register, of
//! the same layout as the type it was written for, so nothing is left to find: prefer it for kernels that are
//! generic in [`Real`](super::real::Real).
//!
//! The compiler never contracts a product and a sum, so every version gives the same bits, save where a
//! kernel asks for [`Real::mul_add`](super::real::Real::mul_add). Elementary functions do, of one number as
//! of a register ([`like_a_lane`]): the bits of a lane are those of one number.

use super::real::{F8, F16, Packed, Registers};
use std::cell::Cell;
use std::marker::PhantomData;
use std::sync::atomic::{AtomicU8, Ordering};

/// Work that wants the widest vectors. Mark `run` and everything hot below it `#[inline(always)]`: what is
/// not inlined is compiled for the baseline.
pub trait Work {
    /// What the work gives.
    type Out;
    /// Does the work.
    fn run(self) -> Self::Out;
}

/// A closure is work too, if it is marked `#[inline(always)]` like all that it calls. It must be one that
/// could be called again: calling such a closure for once goes through a function of the compiler's own,
/// which has no such mark.
impl<R, F: FnMut() -> R> Work for F {
    type Out = R;
    #[inline(always)]
    fn run(mut self) -> R {
        self()
    }
}

/// Work on numbers of type `T` that runs on any type of the same layout. Mark `run` and everything hot below
/// it `#[inline(always)]`, closures included.
pub trait LaneWork<T: Packed> {
    /// What the work gives.
    type Out;
    /// Does the work on numbers of type `U`, reached through the view.
    fn run<U: Packed>(self, view: View<T, U>) -> Self::Out;
}

/// A proof that `T` and `U` have the same layout, which turns slices of one into slices of the other.
#[derive(Debug)]
pub struct View<T, U>(PhantomData<(T, U)>);

impl<T, U> Clone for View<T, U> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T, U> Copy for View<T, U> {}

impl<T: Copy, U: Copy> View<T, U> {
    const SAME_SIZE: () = assert!(size_of::<T>() == size_of::<U>() && align_of::<T>() >= align_of::<U>());

    /// SAFETY: `T` and `U` must be arrays of as many f64 in the same order, or registers that hold them.
    #[inline(always)]
    unsafe fn new() -> Self {
        let () = Self::SAME_SIZE;
        View(PhantomData)
    }

    /// One number.
    #[inline(always)]
    pub fn value(self, x: T) -> U {
        // SAFETY: who made the view promised that `U` is the f64 of `T` in the same order.
        unsafe { std::mem::transmute_copy(&x) }
    }

    /// One number, back.
    #[inline(always)]
    pub fn back(self, x: U) -> T {
        // SAFETY: who made the view promised that `T` is the f64 of `U` in the same order.
        unsafe { std::mem::transmute_copy(&x) }
    }

    /// One number from as many f64 in memory, wherever they lie.
    #[inline(always)]
    pub fn load<const W: usize>(self, x: &[f64; W]) -> U {
        const { assert!(size_of::<[f64; W]>() == size_of::<U>()) };
        // SAFETY: `U` is f64 and nothing else, as who made the view promised, and takes up the whole array.
        unsafe { x.as_ptr().cast::<U>().read_unaligned() }
    }

    /// One number to where as many f64 are.
    #[inline(always)]
    pub fn store<const W: usize>(self, x: U, to: &mut [f64; W]) {
        const { assert!(size_of::<[f64; W]>() == size_of::<U>()) };
        // SAFETY: `U` is f64 and nothing else, as who made the view promised, and takes up the whole array.
        unsafe { to.as_mut_ptr().cast::<U>().write_unaligned(x) }
    }

    /// A slice to read.
    #[inline(always)]
    pub fn slice(self, x: &[T]) -> &[U] {
        // SAFETY: who made the view promised the same f64 in each; `new` compares size and alignment.
        unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) }
    }

    /// A slice of arrays to read.
    #[inline(always)]
    pub fn nested<const N: usize>(self, x: &[[T; N]]) -> &[[U; N]] {
        // SAFETY: who made the view promised that `T` is laid out as `U`, and so are arrays of them.
        unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) }
    }

    /// A slice to write.
    #[inline(always)]
    pub fn slice_mut(self, x: &mut [T]) -> &mut [U] {
        // SAFETY: who made the view promised the same f64 in each; the new slice borrows as the old one did.
        unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) }
    }

    /// A slice of arrays to write.
    #[inline(always)]
    pub fn nested_mut<const N: usize>(self, x: &mut [[T; N]]) -> &mut [[U; N]] {
        // SAFETY: who made the view promised that `T` is laid out as `U`, and so are arrays of them; the new
        // slice borrows as the old one did.
        unsafe { std::slice::from_raw_parts_mut(x.as_mut_ptr().cast(), x.len()) }
    }

    /// A slice of cells.
    #[inline(always)]
    pub fn cells(self, x: &[Cell<T>]) -> &[Cell<U>] {
        // SAFETY: who made the view promised that `T` is laid out as `U`; a cell is laid out as its content.
        unsafe { std::slice::from_raw_parts(x.as_ptr().cast(), x.len()) }
    }
}

/// The instruction sets told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What the target triple guarantees: 2 lanes.
    Baseline,
    /// AVX2 with FMA: 4 lanes.
    Avx2,
    /// AVX-512 F, DQ, VL and BW: 8 lanes.
    Avx512,
}

impl Level {
    /// All, from the narrowest.
    pub const ALL: [Level; 3] = [Level::Baseline, Level::Avx2, Level::Avx512];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Baseline => "portable",
            Level::Avx2 => "avx2",
            Level::Avx512 => "avx512",
        }
    }
}

/// 0 before the first look, then 1 + the level.
static DETECTED: AtomicU8 = AtomicU8::new(0);

/// The best level of this processor, looked up once.
#[inline(always)]
pub fn level() -> Level {
    match DETECTED.load(Ordering::Relaxed) {
        1 => Level::Baseline,
        2 => Level::Avx2,
        3 => Level::Avx512,
        _ => first_look(),
    }
}

/// Holds all work to a level, or to the best one where the processor does not reach it: for measurements and
/// tests. What runs while this is called may use either.
pub fn hold_to(wanted: Level) -> Level {
    let held = wanted.min(detect());
    DETECTED.store(1 + held as u8, Ordering::Relaxed);
    held
}

#[cold]
#[inline(never)]
fn first_look() -> Level {
    let found = detect();
    DETECTED.store(1 + found as u8, Ordering::Relaxed);
    found
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
        && is_x86_feature_detected!("avx512bw");
    match (avx2, avx512) {
        (true, true) => Level::Avx512,
        (true, false) => Level::Avx2,
        (false, _) => Level::Baseline,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Level {
    Level::Baseline
}

/// Runs the work at the best level of this processor.
#[inline]
pub fn best<W: Work>(work: W) -> W::Out {
    at(level(), work)
}

/// Runs the work at a given level, or at the best one if the processor does not reach it.
#[inline]
pub fn at<W: Work>(wanted: Level, work: W) -> W::Out {
    match wanted.min(level()) {
        // SAFETY: `level` is never above what `detect` found: the processor has all that the function uses.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { on_avx512(work) },
        // SAFETY: `level` is never above what `detect` found: the processor has AVX2 and FMA.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { on_avx2(work) },
        _ => work.run(),
    }
}

/// Runs the first of two forms of a work on one number if the processor's registers have fused multiply-add,
/// for which it is compiled, and the second if not: one number is then rounded like a lane of a register.
#[inline(always)]
pub fn like_a_lane<W: Work>(fused: W, plain: impl Work<Out = W::Out>) -> W::Out {
    // One comparison where the look has been taken: this is done for every exponential of one number.
    #[cfg(target_arch = "x86_64")]
    if DETECTED.load(Ordering::Relaxed) > Level::Avx2 as u8 {
        // SAFETY: no more is noted than `detect` found, and this is more than the baseline: AVX2 and FMA.
        return unsafe { on_avx2(fused) };
    }
    first_like_a_lane(fused, plain)
}

/// The same before the first look, and on processors without.
#[cold]
#[inline(never)]
fn first_like_a_lane<W: Work>(fused: W, plain: impl Work<Out = W::Out>) -> W::Out {
    match level() {
        // SAFETY: `level` is never above what `detect` found, which is AVX2 and FMA at least at both levels.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 | Level::Avx512 => unsafe { on_avx2(fused) },
        _ => plain.run(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma")]
fn on_avx512<W: Work>(work: W) -> W::Out {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn on_avx2<W: Work>(work: W) -> W::Out {
    work.run()
}

/// Runs the work at the best level of this processor, on that level's own registers.
#[inline(always)]
pub fn best_lanes<T: Packed, W: LaneWork<T>>(work: W) -> W::Out {
    lanes_at(level(), work)
}

/// Runs work on sixteen draws: all at once where there are registers for them, as on AVX-512, and by eights
/// elsewhere, where twice as many numbers at hand would not fit.
#[inline(always)]
pub fn best_parts<W: LaneWork<F16, Out = ()> + LaneWork<F8, Out = ()>>(work: W) {
    match level() {
        // SAFETY: `level` is never above what `detect` found, so the processor has AVX-512; `Registers`
        // promises that the register type holds the numbers of F16 in their order.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe {
            on_avx512(OnLanes::<F16, <F16 as Registers>::Avx512, W>(work, View::new()))
        },
        // SAFETY: `level` is never above what `detect` found, so the processor has AVX2 and FMA; `Registers`
        // promises that the register type holds the numbers of F8 in their order.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { on_avx2(OnLanes::<F8, <F8 as Registers>::Avx2, W>(work, View::new())) },
        // SAFETY: `Registers` promises that the register type holds the numbers of F8 in their order.
        _ => on_baseline(OnLanes::<F8, <F8 as Registers>::Baseline, W>(work, unsafe { View::new() })),
    }
}

/// Runs the work on the registers of a given level, or of the best one if the processor does not reach it.
///
/// Inlined, so that the work is put together where the version at hand looks for it: copying it in larger
/// pieces than it was written in makes the processor wait until all that was stored before is in the cache.
#[inline(always)]
pub fn lanes_at<T: Packed, W: LaneWork<T>>(wanted: Level, work: W) -> W::Out {
    // One number at a time gains nothing from wide registers: its code exists once. (Constant, so that the
    // compiler does not make the other copies only to throw them away.)
    if const { T::WIDTH == 1 } {
        // SAFETY: `Registers` promises that `T::Baseline` holds the numbers of `T` in their order.
        return on_baseline(OnLanes::<T, T::Baseline, W>(work, unsafe { View::new() }));
    }
    match wanted.min(level()) {
        // SAFETY: `level` is never above what `detect` found, so the processor has AVX-512; `Registers`
        // promises that `T::Avx512` holds the numbers of `T` in their order.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { on_avx512(OnLanes::<T, T::Avx512, W>(work, View::new())) },
        // SAFETY: `level` is never above what `detect` found, so the processor has AVX2 and FMA; `Registers`
        // promises that `T::Avx2` holds the numbers of `T` in their order.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { on_avx2(OnLanes::<T, T::Avx2, W>(work, View::new())) },
        // SAFETY: `Registers` promises that `T::Baseline` holds the numbers of `T` in their order.
        _ => on_baseline(OnLanes::<T, T::Baseline, W>(work, unsafe { View::new() })),
    }
}

#[inline(never)]
fn on_baseline<W: Work>(work: W) -> W::Out {
    work.run()
}

struct OnLanes<T, U, W>(W, View<T, U>);

impl<T: Packed, U: Packed, W: LaneWork<T>> Work for OnLanes<T, U, W> {
    type Out = W::Out;
    #[inline(always)]
    fn run(self) -> W::Out {
        self.0.run(self.1)
    }
}
