//! A step allocates nothing: a counting allocator, every factor, estimator and operator that go together,
//! after a warm-up.

#[path = "vi/vi_support/mod.rs"]
mod vi_support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ops::ControlFlow;
use stickler::data::Dataset;
use stickler::infer::Options;
use stickler::infer::methods::{Descent, descend};
use stickler::target::{ModelTarget, Target};
use stickler::vi::draws::Draws;
use stickler::vi::estimator::Estimator;
use stickler::vi::factor::Space;
use stickler::vi::operator::Operator;
use stickler::vi::step::Rule;
use stickler::vi::{Choice, Config, Error, Observations, Row, Start, fit, fit_subsampled};
use vi_support::*;

struct Counting;

thread_local! {
    /// Of this thread alone: the harness has threads of its own, and they allocate when they please. A fit on
    /// one thread does all its work here.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

fn count() -> usize {
    COUNT.get()
}

// SAFETY: everything is left to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller keeps the promises of `GlobalAlloc`, and the system's asks for the same.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller gives a block of this allocator with its layout; all blocks are the system's.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller gives a block of this allocator with its layout; all blocks are the system's.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Steps after which everything has found its room.
const WARM: usize = 4;
const STEPS: usize = 60;

/// Allocations after the warm-up, as a watcher of the steps sees them.
fn allocations(target: &dyn Target, config: &Config) -> Result<usize, Error> {
    let (mut warm, mut last) = (0, 0);
    fit(target, config, &mut |p| {
        last = count();
        if p.step == WARM {
            warm = last;
        }
        ControlFlow::Continue(())
    })?;
    Ok(last - warm)
}

fn settings(model: &LinearModel) -> Config {
    let mut config = Config::named("prox-energy").unwrap();
    (config.steps, config.batch, config.elbo_draws) = (STEPS, 32, 2);
    // Below the floor of the projection and above it by turns, so that the eigendecomposition is met.
    config.start = Start::Standard;
    config.constants = Some(model.constants());
    config
}

#[test]
fn no_step_allocates() {
    // More than sixteen coordinates: the factorisations work in blocks.
    let model = LinearModel::logistic(30, 20);
    let mut combinations = 0;
    for factor in Space::table() {
        for estimator in Estimator::table() {
            for operator in Operator::table() {
                let mut config = settings(&model);
                (config.factor, config.estimator, config.operator) = (factor, estimator, operator);
                config.step = Some("curvature".parse().unwrap());
                match allocations(&model, &config) {
                    Ok(count) => {
                        let name = format!("{}, {}, {}", factor.name, estimator.name, operator.name);
                        assert_eq!(count, 0, "{name}");
                        combinations += 1;
                    }
                    Err(Error::Combination { .. }) => {}
                    Err(other) => panic!("{other}"),
                }
            }
        }
    }
    // Energy and STL with the prox, entropy and STL without; with the projection where it has a closed form.
    assert_eq!(combinations, 5 * 2 + 5 * 2 + 3 * 2);
    for rule in Rule::table() {
        for method in ["prox-energy", "proj-stl"] {
            let mut config = Config { step: Some(Choice::named(rule.name).unwrap()), ..settings(&model) };
            let named = Config::named(method).unwrap();
            (config.factor, config.estimator, config.operator) =
                (named.factor, named.estimator, named.operator);
            if let Ok(count) = allocations(&model, &config) {
                assert_eq!(count, 0, "{} with {method}", rule.name);
            }
        }
    }
    for draws in Draws::table() {
        let config = Config { draws, ..settings(&model) };
        assert_eq!(allocations(&model, &config).unwrap(), 0, "{} draws", draws.name);
    }
    for family in ["student_t=6", "laplace"] {
        let config = Config { family: family.parse().unwrap(), ..settings(&model) };
        assert_eq!(allocations(&model, &config).unwrap(), 0, "{family}");
    }
    a_compiled_model_in_whitened_coordinates_allocates_nothing_either();
    a_sub_sampled_step_allocates_nothing_either();
}

/// A hundred rows in slices of 23, so that each pass has a short one: both lengths are met in the first pass.
fn a_sub_sampled_step_allocates_nothing_either() {
    let text = include_str!("../models/logistic.ppl");
    let data = Dataset::from_texts(&[("data.csv", include_str!("../models/logistic.csv"))]).unwrap();
    let target = ModelTarget::new(text, &data).unwrap();
    let parts = Observations::of(&target).unwrap();
    let mut config = Config::named("prox-stl").unwrap();
    (config.steps, config.batch) = (STEPS, 32);
    let (mut warm, mut last) = (0, 0);
    fit_subsampled(&parts, 23, &config, &mut |p| {
        last = count();
        if p.step == 5 {
            warm = last;
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(last - warm, 0, "sub-sampled");
}

fn a_compiled_model_in_whitened_coordinates_allocates_nothing_either() {
    let text = include_str!("../models/logistic.ppl");
    let data = Dataset::from_texts(&[("data.csv", include_str!("../models/logistic.csv"))]).unwrap();
    let target = ModelTarget::new(text, &data).unwrap();
    for method in ["prox-energy", "proj-entropy", "proj-stl"] {
        let descent = Descent::named(method, target.dimension()).unwrap();
        let (mut warm, mut last) = (0, 0);
        descend(&target, &descent, &Options::default(), &mut |p| {
            last = count();
            if p.step == WARM {
                warm = last;
            }
            ControlFlow::Continue(())
        })
        .unwrap();
        assert_eq!(last - warm, 0, "{method}");
    }
}
