//! Room on the stack for kernels with everything inlined.
//!
//! Without optimisation each intermediate of each inlined function has a place of its own in one frame, which
//! takes megabytes: more than a thread has. Programs that depend on this crate are built so by default,
//! whatever its own profiles say.

/// Bytes that must be left, and bytes of a new stack where fewer are.
#[cfg(unoptimised)]
const LEFT: usize = 8 << 20;
#[cfg(unoptimised)]
const NEW: usize = 32 << 20;

/// Runs the work, on a stack of its own where this one is too small.
#[cfg(unoptimised)]
pub fn with_room<R>(work: impl FnOnce() -> R) -> R {
    stacker::maybe_grow(LEFT, NEW, work)
}

/// Runs the work.
#[cfg(not(unoptimised))]
#[inline(always)]
pub fn with_room<R>(work: impl FnOnce() -> R) -> R {
    work()
}
