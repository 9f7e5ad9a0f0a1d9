//! The no-U-turn sampler (multinomial, Hoffman and Gelman 2014, Betancourt 2017) in the coordinates of a
//! fitted Gaussian.
//!
//! In those coordinates the posterior is nearly standard where the Gaussian is good; where it is not, the
//! warm-up takes the scale of each coordinate from its own draws. The step size is adapted towards an
//! acceptance of 0.8 and then kept; where transitions diverge, all is done again with smaller steps.

use crate::infer::options::Stop;
use crate::infer::sampling::adapt::{Average, Window};
use crate::num::linalg::dot;
use crate::num::stream::Stream;
use crate::target::{Evaluator, Target};
use rayon::prelude::*;

/// Who draws: momenta, directions, choices.
const PURPOSE: u64 = 0x6e75_7473;
/// Chains.
pub(in crate::infer) const CHAINS: usize = 4;
/// Steps of the warm-up, and fewest draws kept, a chain.
const WARM_UP: usize = 500;
const KEPT: usize = 1000;
/// Where scales are taken from the draws since the one before: the first are still on their way, and steps
/// need some time after the last.
const WINDOWS: [usize; 4] = [75, 125, 225, 425];
/// Draws of a chain that are made whoever wants an end.
const FEWEST: usize = 100;
/// How far apart chains start, in standard deviations of the fitted Gaussian: R-hat means something only if
/// they start farther apart than they end (Gelman and Rubin, 1992).
const DISPERSED: f64 = 2.0;
/// Most doublings of a trajectory.
const DEPTH: u32 = 10;
/// Acceptances aimed at, one after the other while transitions diverge.
const ACCEPT: [f64; 3] = [0.8, 0.95, 0.99];
/// An error in the energy beyond this is a divergence.
const DIVERGED: f64 = 1000.0;

/// What the chains gave.
pub(in crate::infer) struct Chains {
    /// Draws of each chain.
    pub(in crate::infer) length: usize,
    /// Points, chain by chain, coordinate `i` of draw `b` of a chain at `i * length + b`.
    pub(in crate::infer) points: Vec<Vec<f64>>,
    pub(in crate::infer) divergent: usize,
    pub(in crate::infer) gradients: usize,
}

/// Samples a target whose posterior is about standard normal: at least so many draws. Chains start dispersed,
/// one after the other about the origin and about other modes. Where transitions diverge, chains with smaller
/// steps take the place of the first.
pub(in crate::infer) fn sample(
    target: &dyn Target,
    modes: &[Vec<f64>],
    count: usize,
    seed: u64,
    stop: &Stop,
) -> Chains {
    let [first, smaller @ ..] = ACCEPT;
    let run = |accept: f64| with_acceptance(target, modes, count, accept, seed, stop);
    let mut kept = run(first);
    for accept in smaller {
        if kept.divergent == 0 || stop.requested() {
            break;
        }
        let other = run(accept);
        let gradients = kept.gradients + other.gradients;
        let better = if other.divergent < kept.divergent { other } else { kept };
        kept = Chains { gradients, ..better };
    }
    kept
}

fn with_acceptance(
    target: &dyn Target,
    modes: &[Vec<f64>],
    count: usize,
    accept: f64,
    seed: u64,
    stop: &Stop,
) -> Chains {
    let (d, wanted) = (target.dimension(), KEPT.max(count.div_ceil(CHAINS)));
    let origin = vec![0.0; d];
    let centres: Vec<&[f64]> = std::iter::once(&origin).chain(modes).map(Vec::as_slice).collect();
    let run = |chain: u64| {
        let centre = centres[chain as usize % centres.len()];
        one(target, centre, wanted, accept, [seed, chain], stop)
    };
    let chains: Vec<Run> = (0..CHAINS as u64).into_par_iter().map(run).collect();
    // Where someone wanted an end, chains are as long as the shortest.
    let length = chains.iter().map(|run| run.draws.len()).min().unwrap_or(0);
    let mut out = Chains { length, points: Vec::new(), divergent: 0, gradients: 0 };
    for run in chains {
        out.points.push((0..d).flat_map(|i| run.draws[..length].iter().map(move |draw| draw[i])).collect());
        out.divergent += run.divergent;
        out.gradients += run.gradients;
    }
    out
}

#[derive(Clone)]
struct State {
    position: Vec<f64>,
    momentum: Vec<f64>,
    slope: Vec<f64>,
    value: f64,
}

/// A stretch of a trajectory.
struct Tree {
    back: State,
    front: State,
    /// Sum of the momenta.
    total: Vec<f64>,
    /// The point chosen from it.
    chosen: State,
    /// Log of the weight of all its points.
    log_weight: f64,
    /// Whether it has turned back or left the energy surface.
    ended: bool,
    diverged: bool,
    accept: f64,
    steps: usize,
}

struct Chain<'t> {
    evaluator: Box<dyn Evaluator + 't>,
    stream: Stream,
    /// Positions are in multiples of these.
    scales: Vec<f64>,
    step: f64,
    gradients: usize,
}

/// What one chain gave.
struct Run {
    draws: Vec<Vec<f64>>,
    divergent: usize,
    gradients: usize,
}

fn one(
    target: &dyn Target,
    centre: &[f64],
    length: usize,
    accept: f64,
    [seed, index]: [u64; 2],
    stop: &Stop,
) -> Run {
    let d = target.dimension();
    let mut chain = Chain {
        evaluator: target.evaluator(),
        stream: Stream::new(seed, PURPOSE, index),
        scales: vec![1.0; d],
        step: 1.0 / (d as f64).powf(0.25),
        gradients: 0,
    };
    let mut state = chain.start(centre);
    chain.warm_up(&mut state, accept, stop);
    let mut run = Run { draws: Vec::with_capacity(length), divergent: 0, gradients: 0 };
    while run.draws.len() < length && !(stop.requested() && run.draws.len() >= FEWEST) {
        let tree = chain.trajectory(&mut state);
        run.divergent += usize::from(tree.diverged);
        run.draws.push(state.position.iter().zip(&chain.scales).map(|(x, s)| s * x).collect());
    }
    Run { gradients: chain.gradients, ..run }
}

impl Chain<'_> {
    /// Finds the scales and the step.
    fn warm_up(&mut self, state: &mut State, accept: f64, stop: &Stop) {
        let mut average = Average::new(self.step, accept);
        let mut window = Window::new(state.position.len());
        for t in 1..=WARM_UP {
            let tree = self.trajectory(state);
            self.step = average.update(tree.accept / tree.steps.max(1) as f64);
            window.add(&state.position);
            if WINDOWS.contains(&t) {
                // The first draws are on their way from the start.
                if t > WINDOWS[0] {
                    self.rescale(state, &window.scales());
                    average = Average::new(self.step, accept);
                }
                window = Window::new(state.position.len());
            }
            if stop.requested() {
                break;
            }
        }
        self.step = average.settled.exp();
    }

    fn at(&mut self, position: Vec<f64>, momentum: Vec<f64>) -> State {
        let (mut value, mut slope) = ([0.0], vec![0.0; position.len()]);
        let z: Vec<f64> = position.iter().zip(&self.scales).map(|(x, s)| s * x).collect();
        self.evaluator.evaluate(&z, 1, &mut value, &mut slope);
        slope.iter_mut().zip(&self.scales).for_each(|(g, s)| *g *= s);
        self.gradients += 1;
        State { position, momentum, slope, value: value[0] }
    }

    /// A random point of finite density about a centre, nearer to it the longer one is looked for.
    fn start(&mut self, centre: &[f64]) -> State {
        let mut scale = DISPERSED;
        loop {
            let position = centre.iter().map(|c| c + scale * self.stream.normal()).collect();
            let state = self.at(position, vec![0.0; centre.len()]);
            if (state.value.is_finite() && state.slope.iter().all(|g| g.is_finite())) || scale < 1e-12 {
                return state;
            }
            scale *= 0.7;
        }
    }

    /// Takes positions in multiples of scales that are so many times as large.
    fn rescale(&mut self, state: &mut State, by: &[f64]) {
        self.scales.iter_mut().zip(by).for_each(|(s, by)| *s *= by);
        state.position.iter_mut().zip(by).for_each(|(x, by)| *x /= by);
        state.slope.iter_mut().zip(by).for_each(|(g, by)| *g *= by);
    }

    fn leapfrog(&mut self, from: &State, step: f64) -> State {
        let half: Vec<f64> = from.momentum.iter().zip(&from.slope).map(|(p, g)| p + 0.5 * step * g).collect();
        let position = from.position.iter().zip(&half).map(|(x, p)| x + step * p).collect();
        let mut to = self.at(position, half);
        to.momentum.iter_mut().zip(&to.slope).for_each(|(p, g)| *p += 0.5 * step * g);
        to
    }

    /// One transition; the state becomes the point chosen.
    fn trajectory(&mut self, state: &mut State) -> Tree {
        self.stream.fill_normal(&mut state.momentum);
        let energy = energy(state);
        let mut tree = Tree {
            back: state.clone(),
            front: state.clone(),
            total: state.momentum.clone(),
            chosen: state.clone(),
            log_weight: 0.0,
            ended: false,
            diverged: false,
            accept: 0.0,
            steps: 0,
        };
        for depth in 0..DEPTH {
            let forward = self.stream.uniform() < 0.5;
            let edge = if forward { tree.front.clone() } else { tree.back.clone() };
            let grown = self.grow(&edge, if forward { 1.0 } else { -1.0 }, depth, energy);
            tree.accept += grown.accept;
            tree.steps += grown.steps;
            tree.diverged |= grown.diverged;
            if grown.ended {
                break;
            }
            // The new half is preferred, which moves further.
            if self.stream.uniform().ln() < grown.log_weight - tree.log_weight {
                tree.chosen = grown.chosen.clone();
            }
            join(&mut tree, grown, forward);
            if tree.ended {
                break;
            }
        }
        *state = tree.chosen.clone();
        tree
    }

    fn grow(&mut self, edge: &State, direction: f64, depth: u32, start: f64) -> Tree {
        if depth == 0 {
            let state = self.leapfrog(edge, direction * self.step);
            let change = start - energy(&state);
            let change = if change.is_nan() { f64::NEG_INFINITY } else { change };
            let diverged = change < -DIVERGED;
            return Tree {
                back: state.clone(),
                front: state.clone(),
                total: state.momentum.clone(),
                chosen: state,
                log_weight: change,
                ended: diverged,
                diverged,
                accept: change.exp().min(1.0),
                steps: 1,
            };
        }
        let mut first = self.grow(edge, direction, depth - 1, start);
        if first.ended {
            return first;
        }
        let forward = direction > 0.0;
        let edge = if forward { first.front.clone() } else { first.back.clone() };
        let second = self.grow(&edge, direction, depth - 1, start);
        first.accept += second.accept;
        first.steps += second.steps;
        first.diverged |= second.diverged;
        if second.ended {
            first.ended = true;
            return first;
        }
        let both = crate::num::special::log_sum_exp(&[first.log_weight, second.log_weight]);
        if self.stream.uniform().ln() < second.log_weight - both {
            first.chosen = second.chosen.clone();
        }
        join(&mut first, second, forward);
        first
    }
}

fn energy(state: &State) -> f64 {
    0.5 * dot(&state.momentum, &state.momentum) - state.value
}

/// Joins a stretch to the front or the back of another, and sees whether the whole has turned back.
fn join(tree: &mut Tree, grown: Tree, forward: bool) {
    let (first, second) = if forward { (&*tree, &grown) } else { (&grown, &*tree) };
    let sum = |a: &[f64], b: &[f64]| -> Vec<f64> { a.iter().zip(b).map(|(a, b)| a + b).collect() };
    let turned = |total: &[f64], back: &State, front: &State| {
        dot(total, &back.momentum) <= 0.0 || dot(total, &front.momentum) <= 0.0
    };
    let total = sum(&tree.total, &grown.total);
    let ended = turned(&total, &first.back, &second.front)
        || turned(&sum(&first.total, &second.back.momentum), &first.back, &second.back)
        || turned(&sum(&second.total, &first.front.momentum), &first.front, &second.front);
    let log_weight = crate::num::special::log_sum_exp(&[tree.log_weight, grown.log_weight]);
    (tree.total, tree.ended, tree.log_weight) = (total, ended, log_weight);
    if forward {
        tree.front = grown.front;
    } else {
        tree.back = grown.back;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::infer::sampling::convergence::convergence;
    use crate::target::from_fn;

    #[test]
    fn a_correlated_normal_has_its_moments() {
        // Precision [[1, 0.6], [0.6, 1]]: variances 1 / 0.64.
        let target = from_fn(2, |z: &[f64], g: &mut [f64]| {
            let (a, b) = (z[0] - 0.5, z[1]);
            g[0] = -(a + 0.6 * b);
            g[1] = -(b + 0.6 * a);
            -0.5 * (a * a + b * b) - 0.6 * a * b
        });
        let chains = sample(&target, &[], 0, 3, &Stop::default());
        let first: Vec<Vec<f64>> = chains.points.iter().map(|p| p[..chains.length].to_vec()).collect();
        let (rhat, size) = convergence(&first);
        let all: Vec<f64> = first.concat();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / all.len() as f64;
        let error = (variance / size).sqrt();
        assert!(rhat < 1.02 && size > 400.0, "{rhat} {size}");
        assert!((mean - 0.5).abs() < 4.0 * error, "{mean} {error}");
        assert!((variance * 0.64 - 1.0).abs() < 0.15, "{variance}");
        assert_eq!(chains.divergent, 0);
    }

    /// A Gaussian that knows nothing of the scales leaves them to the warm-up: the steps of the widest are
    /// then as good as those of the narrowest.
    #[test]
    fn scales_are_learned_in_the_warm_up() {
        let scales = [0.02, 1.0, 50.0];
        let target = from_fn(3, move |z: &[f64], g: &mut [f64]| {
            (0..3).for_each(|i| g[i] = -z[i] / (scales[i] * scales[i]));
            (0..3).map(|i| -0.5 * (z[i] / scales[i]).powi(2)).sum()
        });
        let chains = sample(&target, &[], 0, 1, &Stop::default());
        for (i, scale) in scales.iter().enumerate() {
            let rows = i * chains.length..(i + 1) * chains.length;
            let columns: Vec<Vec<f64>> = chains.points.iter().map(|p| p[rows.clone()].to_vec()).collect();
            let (rhat, size) = convergence(&columns);
            let variance =
                columns.concat().iter().map(|x| x * x).sum::<f64>() / (CHAINS * chains.length) as f64;
            assert!(rhat < 1.02 && size > 400.0, "{rhat} {size}");
            assert!((variance.sqrt() / scale - 1.0).abs() < 0.1, "{variance}");
        }
        assert_eq!(chains.divergent, 0);
        // Steps as small as the narrowest, without its scale, would take thousands of gradients for each
        // draw.
        assert!(chains.gradients < 400_000, "{}", chains.gradients);
    }

    #[test]
    fn chains_that_someone_stops_are_short_and_there() {
        let target = from_fn(1, |z: &[f64], g: &mut [f64]| {
            g[0] = -z[0];
            -0.5 * z[0] * z[0]
        });
        let stop = Stop::default();
        stop.request();
        let chains = sample(&target, &[], 0, 1, &stop);
        assert_eq!((chains.length, chains.points.len()), (FEWEST, CHAINS));
    }
}
