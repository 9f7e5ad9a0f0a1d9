//! Properties of everything that a strategy makes: a fixed number of cases from a fixed seed, and of those
//! that fail the smallest.

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, RngSeed, TestError, TestRunner};

/// Cases are the same on every machine, and failures are told, not kept in files.
const SEED: u64 = 1;

/// Checks a property, which panics where it does not hold, on so many cases.
pub fn for_all<S: Strategy>(cases: u32, of: S, property: impl Fn(S::Value)) {
    let config =
        Config { cases, failure_persistence: None, rng_seed: RngSeed::Fixed(SEED), ..Config::default() };
    let held = TestRunner::new(config).run(&of, |case| {
        property(case);
        Ok(())
    });
    match held {
        Ok(()) => {}
        Err(TestError::Fail(why, smallest)) => panic!("{why}\nthe smallest case that fails: {smallest:?}"),
        Err(TestError::Abort(why)) => panic!("{why}"),
    }
}
