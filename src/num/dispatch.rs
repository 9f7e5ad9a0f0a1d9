//! Runs a piece of work compiled for the best instruction set that the processor has.
//!
//! One binary holds each piece of work several times over: for AVX-512, for AVX2 and for the baseline. Code that is
//! inlined into [`Work::run`] is compiled for each of them, so plain loops over `[f64; 8]` become vector instructions
//! without a build for one particular machine. No fused multiply-add is ever contracted by the compiler, so every
//! version gives the same bits.

use std::sync::atomic::{AtomicU8, Ordering};

/// Work that wants the widest vectors. Mark `run` and everything hot below it `#[inline(always)]`: what is not inlined
/// is compiled for the baseline.
pub trait Work {
    /// What the work gives.
    type Out;
    /// Does the work.
    fn run(self) -> Self::Out;
}

/// The instruction sets told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What the target triple guarantees.
    Baseline,
    /// AVX2 with FMA: 4 lanes.
    Avx2,
    /// AVX-512 F, DQ, VL and BW: 8 lanes.
    Avx512,
}

/// 0 before the first look, then 1 + the level.
static DETECTED: AtomicU8 = AtomicU8::new(0);

/// The best level of this processor, looked up once.
#[inline]
pub fn level() -> Level {
    match DETECTED.load(Ordering::Relaxed) {
        1 => Level::Baseline,
        2 => Level::Avx2,
        3 => Level::Avx512,
        _ => {
            let found = detect();
            DETECTED.store(1 + found as u8, Ordering::Relaxed);
            found
        }
    }
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
    #[cfg(target_arch = "x86_64")]
    match wanted.min(level()) {
        // SAFETY: `level` has found the features that each function is compiled for.
        Level::Avx512 => return unsafe { on_avx512(work) },
        Level::Avx2 => return unsafe { on_avx2(work) },
        Level::Baseline => {}
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = wanted;
    work.run()
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
