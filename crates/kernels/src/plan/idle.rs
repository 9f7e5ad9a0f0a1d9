//! Buffers for sixteen draws that no thread uses at present: to make them anew for every batch takes longer
//! than a small model does.

use super::code::Plan;
use super::run::Workspace;
use crate::num::real::F16;
use std::sync::Mutex;

/// The buffers of a plan; a copy of a plan begins without any.
#[derive(Debug, Default)]
pub(super) struct Idle(Mutex<Vec<Workspace<F16>>>);

impl Clone for Idle {
    fn clone(&self) -> Idle {
        Idle::default()
    }
}

impl Plan {
    /// Buffers for sixteen draws, to be given back: those that were used last, or new ones.
    pub fn take_buffers(&self) -> Workspace<F16> {
        let idle = self.idle.0.lock().ok().and_then(|mut idle| idle.pop());
        idle.unwrap_or_else(|| Workspace::new(self))
    }

    /// Keeps buffers for whoever takes some next.
    pub fn give_back(&self, buffers: Workspace<F16>) {
        if let Ok(mut idle) = self.idle.0.lock() {
            idle.push(buffers);
        }
    }
}
