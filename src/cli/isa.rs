//! The instruction set that all work is held to, for measurements and to compare processors.

use super::Failure;
use crate::num::dispatch::{Level, hold_to};

/// The variable that holds every command to an instruction set.
pub(super) const VARIABLE: &str = "STICKLER_ISA";

/// Holds all work to what [`VARIABLE`] names, if it is set.
pub(super) fn from_environment() -> Result<(), Failure> {
    match std::env::var(VARIABLE) {
        Ok(name) if !name.is_empty() => hold(&name, VARIABLE),
        _ => Ok(()),
    }
}

/// Holds all work to an instruction set; `from` is where its name was given.
pub(super) fn hold(name: &str, from: &str) -> Result<(), Failure> {
    let Some(level) = Level::ALL.into_iter().find(|level| level.name() == name) else {
        let names = Level::ALL.map(Level::name).join(", ");
        return Err(Failure::Usage(format!("{from}: there is no instruction set '{name}', only {names}")));
    };
    let held = hold_to(level);
    if held < level {
        let best = held.name();
        return Err(Failure::Usage(format!(
            "{from}: this processor has no {name}; the best it has is {best}"
        )));
    }
    Ok(())
}
