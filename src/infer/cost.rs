//! How much is looked at beside what is needed: less where a gradient takes long, for many data leave little
//! to be found.

use crate::target::Target;

/// Operations of a gradient up to which nothing is spared: those of some hundred thousand rows.
const LIGHT: usize = 2_000_000;

/// Whether something is spared.
pub(in crate::infer) fn is_heavy(target: &dyn Target) -> bool {
    target.operations() > LIGHT
}

/// So many points or draws where a gradient is light, fewer in proportion where it is not, and never less
/// than `least`.
pub(in crate::infer) fn spared(target: &dyn Target, usual: usize, least: usize) -> usize {
    let times = target.operations().div_ceil(LIGHT).max(1);
    (usual / times).max(least.min(usual))
}
