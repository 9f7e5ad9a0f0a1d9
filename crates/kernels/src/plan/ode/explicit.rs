//! Explicit solutions of a batch of draws side by side, and their derivatives backwards through the same
//! steps.
//!
//! Every draw has its own time and its own step size, so its result does not depend on those beside it: a
//! draw whose step is refused, or that has arrived, takes a step of size zero. The reverse sweep
//! differentiates the steps that were taken, stage by stage, so the gradient is exactly that of the numbers
//! returned (step sizes held); where tangents are carried, so are the Hessian-vector products. The error
//! estimate sees the states and not their derivatives, which move where states stand still (at an
//! equilibrium): so a direction is carried along with the linearised equation, and no step is longer than its
//! speed allows at the same tolerance.

use super::super::run::Workspace;
use super::kernels::{Advance, PullRate, Size, StepError};
use super::tableau::{LINES, NODES, STAGES};
use super::{OdeCode, rate_of};
use crate::graph::Tolerance;
use crate::num::dispatch::best_lanes;
use crate::num::real::Packed;
use crate::ops::operand::{Adjoint, Arg, Lane, accumulate};

/// The share of the tolerance that a step may use. The error estimate of so high an order promises more than
/// it keeps over a long way, most of all for derivatives: so the error at the end is about what methods of
/// order 5 leave at the same tolerance.
const SHARE: f64 = 0.1;
/// How far away states are that show how fast they move apart, in units of their sizes.
const NEAR_BY: f64 = 1e-7;
/// 9!
const NINE_FACTORIAL: f64 = 362_880.0;
/// States that fall back at an angle with at least this cosine, and the step, times speed, that is still
/// stable.
const FALLING: f64 = 0.9;
const STABLE: f64 = 3.0;

/// The buffers of one thread for one equation.
#[derive(Clone, Debug)]
pub(in crate::plan) struct Explicit<T> {
    work: Workspace<T>,
    /// The state of every draw, and that after the step at hand.
    states: Vec<T>,
    next: Vec<T>,
    /// Where the stages stand and what their rates are, [stage, state]; the last of the latter at the end of
    /// the step.
    points: Vec<T>,
    rates: Vec<T>,
    clocks: Vec<Clock>,
    /// A direction in the states, in units of their sizes, that turns towards the one in which they move
    /// apart fastest.
    direction: Vec<T>,
    path: Path<T>,
    /// Adjoints of the stages, the last those of the state after the step; of a rate; of theta.
    pulls: Vec<T>,
    pull: Vec<T>,
    pulled: Vec<T>,
}

/// Where a draw is in time.
#[derive(Clone, Copy, Debug)]
struct Clock {
    t: f64,
    /// The step that its last error suggests, the longest that the speed of derivatives allows, and the one
    /// it takes.
    h: f64,
    longest: f64,
    size: f64,
    /// Whether the step ends at the next of the times.
    hits: bool,
    /// How many of the times it has reached, and steps it has tried.
    done: usize,
    tries: usize,
    going: Going,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Going {
    On,
    Arrived,
    Failed,
}

/// The steps taken.
#[derive(Clone, Debug)]
struct Path<T> {
    /// Time and size of each.
    starts: Vec<T>,
    sizes: Vec<T>,
    /// Its stages, [step, stage, state].
    points: Vec<T>,
    /// How many of the times each draw had reached, before the first step and after each.
    reached: Vec<usize>,
}

/// What a step may use of the tolerance.
fn tolerance(code: &OdeCode) -> Tolerance {
    let whole = code.ode.tolerance;
    Tolerance { relative: SHARE * whole.relative, absolute: SHARE * whole.absolute, ..whole }
}

impl<T: Lane> Explicit<T> {
    pub(super) fn new(code: &OdeCode) -> Self {
        let (n, p) = (code.ode.states, code.ode.parameters);
        let zeros = |len: usize| vec![T::zero(); len];
        let clock = Clock {
            t: 0.0,
            h: 0.0,
            longest: 0.0,
            size: 0.0,
            hits: false,
            done: 0,
            tries: 0,
            going: Going::Arrived,
        };
        Self {
            work: Workspace::new(&code.rate),
            states: zeros(n),
            next: zeros(n),
            points: zeros(STAGES * n),
            rates: zeros((STAGES + 1) * n),
            clocks: vec![clock; T::WIDTH],
            direction: zeros(n),
            path: Path {
                starts: Vec::new(),
                sizes: Vec::new(),
                points: Vec::new(),
                reached: Vec::with_capacity(T::WIDTH),
            },
            pulls: zeros((STAGES + 1) * n),
            pull: zeros(n),
            pulled: zeros(p),
        }
    }

    /// The states at the times; with `keep`, the steps are kept for the reverse sweep.
    pub(super) fn forward(&mut self, code: &OdeCode, args: [Arg<T>; 2], out: &mut [T], keep: bool) {
        self.start(code, args);
        self.arrive(code, out);
        self.path.clear();
        self.path.reached.extend(self.clocks.iter().map(|c| c.done));
        self.look_ahead(code, T::one());
        while self.choose_sizes(code) {
            let (t, h) = (self.spread(|c| c.t), self.spread(|c| c.size));
            let error = self.step(code, t, h);
            let accepted = self.decide(code, error);
            let Some(accepted) = accepted else { continue };
            if keep {
                self.keep_step(t, h, accepted);
            }
            self.accept(accepted);
            self.arrive(code, out);
            if keep {
                self.path.reached.extend(self.clocks.iter().map(|c| c.done));
            }
            self.look_ahead(code, accepted);
        }
        for lane in (0..T::WIDTH).filter(|&l| self.clocks[l].going == Going::Failed) {
            out.iter_mut().for_each(|x| x.set_lane(lane, f64::NAN));
        }
    }

    fn start(&mut self, code: &OdeCode, args: [Arg<T>; 2]) {
        let (n, ode) = (code.ode.states, &code.ode);
        let inputs = self.work.inputs(&code.rate);
        inputs[1 + n..].iter_mut().enumerate().for_each(|(j, x)| *x = args[1].get(j));
        self.states.iter_mut().enumerate().for_each(|(i, y)| *y = args[0].get(i));
        let spread = |i: usize| T::splat(1.0 + 0.3 * (1.0 + i as f64).sin());
        self.direction.iter_mut().enumerate().for_each(|(i, x)| *x = spread(i));
        let start = T::splat(ode.start);
        rate_of(&mut self.work, &code.rate, start, &self.states, &mut self.rates[..n]);
        let end = ode.times.last().copied().unwrap_or(ode.start);
        let sizes = self.first_sizes(code, start, end - ode.start);
        for (lane, clock) in self.clocks.iter_mut().enumerate() {
            let h = sizes.lane(lane);
            *clock = Clock {
                t: ode.start,
                h,
                longest: f64::INFINITY,
                size: 0.0,
                hits: false,
                done: 0,
                tries: 0,
                going: Going::On,
            };
        }
    }

    /// A first step from the sizes of states, rates and change of rates (Hairer, Nørsett and Wanner, section
    /// II.4).
    fn first_sizes(&mut self, code: &OdeCode, start: T, length: f64) -> T {
        let n = code.ode.states;
        let size = |x: &[T], y: &[T]| best_lanes(Size { x, y, tolerance: tolerance(code) });
        let (d0, d1) = (size(&self.states, &self.states), size(&self.rates[..n], &self.states));
        let mut short = T::zero();
        for lane in 0..T::WIDTH {
            let (d0, d1) = (d0.lane(lane), d1.lane(lane));
            let tiny = d0 < 1e-5 || d1 < 1e-5 || !d1.is_finite();
            short.set_lane(lane, if tiny { 1e-6 } else { 0.01 * d0 / d1 }.min(length));
        }
        let (first, second) = self.rates.split_at_mut(n);
        best_lanes(Advance { from: &self.states, h: short, rates: first, line: &[1.0], to: &mut self.next });
        rate_of(&mut self.work, &code.rate, start + short, &self.next, &mut second[..n]);
        second[..n].iter_mut().zip(&*first).for_each(|(b, a)| *b -= *a);
        let d2 = size(&second[..n], &self.states);
        let mut sizes = T::zero();
        for lane in 0..T::WIDTH {
            let short = short.lane(lane);
            let steep = d1.lane(lane).max(d2.lane(lane) / short);
            let long = if steep <= 1e-15 { (short * 1e-3).max(1e-6) } else { (0.01 / steep).powf(0.125) };
            sizes.set_lane(lane, (100.0 * short).min(long).min(length).max(short * 1e-3));
        }
        sizes
    }

    /// How fast states near by move apart, from a difference of rates along the direction, which turns with
    /// them; and the longest step for which a solution of that speed is as precise as the tolerance asks: its
    /// error is (speed · step)⁹ / 9!. For the draws that have moved alone: how often others try must not
    /// show.
    fn look_ahead(&mut self, code: &OdeCode, moved: T) {
        let moved = |lane: &usize| moved.lane(*lane) > 0.0;
        let n = code.ode.states;
        let Tolerance { relative, absolute, .. } = tolerance(code);
        let size = |y: T| y.detach().abs().shift(absolute / relative).scale(NEAR_BY);
        for ((to, &y), &x) in self.next.iter_mut().zip(&self.states).zip(&self.direction) {
            *to = y.detach() + x * size(y);
        }
        let t = self.spread(|c| c.t);
        let (first, last) = self.rates.split_at_mut(STAGES * n);
        rate_of(&mut self.work, &code.rate, t, &self.next, last);
        let (mut squares, mut along, mut length) = (T::zero(), T::zero(), T::zero());
        for i in 0..n {
            let (x, speed) = (self.direction[i], (last[i] - first[i]).detach() / size(self.states[i]));
            squares += speed.square();
            along += x * speed;
            length += x.square();
            last[i] = speed;
        }
        let accuracy = (relative * NINE_FACTORIAL).powf(1.0 / 9.0);
        for lane in (0..T::WIDTH).filter(moved) {
            let clock = &mut self.clocks[lane];
            let (speed, length) = (squares.lane(lane).sqrt(), length.lane(lane).sqrt());
            // What falls back fast takes its errors with it: there only stability counts.
            let falls = along.lane(lane) < -FALLING * speed * length;
            let longest = length / speed * if falls { STABLE.max(accuracy) } else { accuracy };
            clock.longest = if longest > 0.0 { longest } else { f64::INFINITY };
        }
        let speed = squares.sqrt();
        for (x, &turned) in self.direction.iter_mut().zip(&*last) {
            let new = turned / speed;
            let lanes = (0..T::WIDTH).filter(|l| moved(l) && new.lane(*l).is_finite());
            lanes.for_each(|l| x.set_lane(l, new.lane(l)));
        }
    }

    /// Writes the states of the draws that stand at one of the times.
    fn arrive(&mut self, code: &OdeCode, out: &mut [T]) {
        let n = code.ode.states;
        for (lane, clock) in self.clocks.iter_mut().enumerate().filter(|(_, c)| c.going == Going::On) {
            while code.ode.times.get(clock.done).is_some_and(|&time| time <= clock.t) {
                for (to, from) in out[clock.done * n..].iter_mut().zip(&self.states) {
                    to.set_lane(lane, from.lane(lane));
                    to.set_tangent(lane, from.tangent(lane));
                }
                clock.done += 1;
            }
            if clock.done == code.ode.times.len() {
                clock.going = Going::Arrived;
            }
        }
    }

    /// Chooses each draw's next step; false if all have ended.
    fn choose_sizes(&mut self, code: &OdeCode) -> bool {
        for clock in &mut self.clocks {
            clock.size = 0.0;
            if clock.going != Going::On {
                continue;
            }
            // A step that would end just short of the time goes all the way.
            let left = code.ode.times[clock.done] - clock.t;
            let step = clock.h.min(clock.longest);
            clock.hits = 1.01 * step >= left;
            clock.size = if clock.hits { left } else { step };
            clock.tries += 1;
            let stuck = clock.t + 0.1 * clock.size == clock.t || !clock.size.is_finite();
            if stuck || clock.tries > code.ode.tolerance.most_steps {
                (clock.size, clock.going) = (0.0, Going::Failed);
            }
        }
        self.clocks.iter().any(|c| c.going == Going::On)
    }

    fn spread(&self, get: impl Fn(&Clock) -> f64) -> T {
        let mut all = T::zero();
        self.clocks.iter().enumerate().for_each(|(lane, clock)| all.set_lane(lane, get(clock)));
        all
    }

    /// Computes the states after the step, and the size of its error.
    fn step(&mut self, code: &OdeCode, t: T, h: T) -> T {
        let n = code.ode.states;
        self.points[..n].copy_from_slice(&self.states);
        for stage in 1..=STAGES {
            let (rates, rate) = self.rates.split_at_mut(stage * n);
            let to = match self.points.get_mut(stage * n..(stage + 1) * n) {
                Some(point) => point,
                None => &mut self.next[..],
            };
            best_lanes(Advance { from: &self.states, h, rates, line: LINES[stage], to });
            rate_of(&mut self.work, &code.rate, t + h.scale(NODES[stage]), to, &mut rate[..n]);
        }
        let (from, to, tolerance) = (&self.states[..], &self.next[..], tolerance(code));
        best_lanes(StepError { rates: &self.rates, h, from, to, tolerance })
    }

    /// Moves the clocks of the draws whose error is small enough, and fits all step sizes. One where a draw
    /// has moved, zero elsewhere; None if none has.
    fn decide(&mut self, code: &OdeCode, error: T) -> Option<T> {
        // 0.9 error^(-1/8).
        let growth = error.detach().max(T::splat(1e-10)).ln().scale(-0.125).exp().scale(0.9);
        let mut accepted = T::zero();
        let mut any = false;
        for (lane, clock) in self.clocks.iter_mut().enumerate().filter(|(_, c)| c.going == Going::On) {
            let (error, growth) = (error.lane(lane), growth.lane(lane));
            let growth = if error.is_finite() { growth.clamp(0.2, 5.0) } else { 0.25 };
            if !(error <= 1.0) {
                clock.h = clock.size * growth.min(1.0);
                continue;
            }
            accepted.set_lane(lane, 1.0);
            any = true;
            clock.t = if clock.hits { code.ode.times[clock.done] } else { clock.t + clock.size };
            // A step that was cut short to end at a time says little about the next.
            let next = clock.size * growth;
            clock.h = if clock.hits { clock.h.max(next) } else { next };
        }
        any.then_some(accepted)
    }

    /// Draws that did not move stand still: all stages at their state, a size of zero.
    fn keep_step(&mut self, t: T, h: T, accepted: T) {
        let path = &mut self.path;
        path.starts.push(t);
        path.sizes.push(T::zero().if_less(accepted, h, T::zero()));
        for point in self.points.chunks_exact(self.states.len()) {
            let moved = point.iter().zip(&self.states);
            path.points.extend(moved.map(|(&x, &y)| T::zero().if_less(accepted, x, y)));
        }
    }

    fn accept(&mut self, accepted: T) {
        let n = self.states.len();
        for (i, (y, &next)) in self.states.iter_mut().zip(&self.next).enumerate() {
            *y = T::zero().if_less(accepted, next, *y);
            // The rate at the end of a step is that at the beginning of the next.
            self.rates[i] = T::zero().if_less(accepted, self.rates[STAGES * n + i], self.rates[i]);
        }
    }

    /// Adds what the adjoints of the states at the times mean for the arguments; the forward sweep has kept
    /// its steps.
    pub(super) fn reverse(&mut self, code: &OdeCode, up: &[T], adjoints: [Adjoint<T>; 2]) {
        let n = code.ode.states;
        self.pulls.fill(T::zero());
        self.pulled.fill(T::zero());
        for step in (0..self.path.sizes.len()).rev() {
            self.collect(step + 1, up);
            self.step_back(code, step);
        }
        self.collect(0, up);
        for lane in (0..T::WIDTH).filter(|&l| self.clocks[l].going == Going::Failed) {
            let all = self.pulls.iter_mut().chain(&mut self.pulled);
            all.for_each(|x| x.set_lane(lane, f64::NAN));
        }
        let results = [&self.pulls[STAGES * n..], &self.pulled[..]];
        for (adjoint, values) in adjoints.into_iter().zip(results) {
            let Some(adjoint) = adjoint else { continue };
            values.iter().enumerate().for_each(|(i, &x)| accumulate(adjoint, i, x));
        }
    }

    /// Adds the adjoints of the times that were reached in a step, or before the first, to those of the state
    /// there.
    fn collect(&mut self, block: usize, up: &[T]) {
        let n = self.states.len();
        let state = &mut self.pulls[STAGES * n..];
        for lane in 0..T::WIDTH {
            let [from, to] = [block, block + 1].map(|b| self.path.reached[b * T::WIDTH + lane]);
            for at_time in up[from * n..to * n].chunks_exact(n) {
                for (a, u) in state.iter_mut().zip(at_time) {
                    let (value, tangent) = (a.lane(lane) + u.lane(lane), a.tangent(lane) + u.tangent(lane));
                    a.set_lane(lane, value);
                    a.set_tangent(lane, tangent);
                }
            }
        }
    }

    /// From the adjoints of the state after a step to those of the state before it.
    fn step_back(&mut self, code: &OdeCode, step: usize) {
        let n = code.ode.states;
        let (t, h) = (self.path.starts[step], self.path.sizes[step]);
        for stage in (0..STAGES).rev() {
            best_lanes(PullRate { pulls: &self.pulls, stage, h, to: &mut self.pull });
            let at = (step * STAGES + stage) * n;
            let inputs = self.work.inputs(&code.rate);
            inputs[0] = t + h.scale(NODES[stage]);
            inputs[1..1 + n].copy_from_slice(&self.path.points[at..at + n]);
            self.work.steps_forward(&code.rate, true);
            self.work.steps_reverse(&code.rate, &mut |at| {
                at.seed_from(&code.rate, &mut |_, rates| rates.copy_from_slice(&self.pull))
            });
            let gradient = self.work.gradient(&code.rate);
            self.pulls[stage * n..(stage + 1) * n].copy_from_slice(&gradient[1..1 + n]);
            self.pulled.iter_mut().zip(&gradient[1 + n..]).for_each(|(sum, &g)| *sum += g);
        }
        let (stages, state) = self.pulls.split_at_mut(STAGES * n);
        for stage in stages.chunks_exact(n) {
            state.iter_mut().zip(stage).for_each(|(sum, &a)| *sum += a);
        }
    }
}

impl<T: Packed> Path<T> {
    /// Nothing taken yet, and nothing reached.
    fn clear(&mut self) {
        self.starts.clear();
        self.sizes.clear();
        self.points.clear();
        self.reached.clear();
        self.reached.resize(T::WIDTH, 0);
    }
}
