//! What the warm-up of a chain learns: the scale of each coordinate, and the size of steps.

/// Draws of variance 1 that count beside those of a window.
const BESIDE: f64 = 5.0;

/// Means and squares of the positions of some draws (Welford).
pub(super) struct Window {
    count: f64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Window {
    pub(super) fn new(d: usize) -> Window {
        Window { count: 0.0, mean: vec![0.0; d], squares: vec![0.0; d] }
    }

    pub(super) fn add(&mut self, position: &[f64]) {
        self.count += 1.0;
        for ((x, mean), squares) in position.iter().zip(&mut self.mean).zip(&mut self.squares) {
            let off = x - *mean;
            *mean += off / self.count;
            *squares += off * (x - *mean);
        }
    }

    /// The standard deviations, drawn towards 1 as by a few draws more.
    pub(super) fn scales(&self) -> Vec<f64> {
        self.squares.iter().map(|s| ((s + BESIDE) / (self.count + BESIDE)).sqrt()).collect()
    }
}

/// Nesterov's dual averaging of the logarithm of the step.
pub(super) struct Average {
    accept: f64,
    centre: f64,
    error: f64,
    pub(super) settled: f64,
    count: f64,
}

impl Average {
    pub(super) fn new(step: f64, accept: f64) -> Average {
        Average { accept, centre: (10.0 * step).ln(), error: 0.0, settled: step.ln(), count: 0.0 }
    }

    pub(super) fn update(&mut self, accept: f64) -> f64 {
        self.count += 1.0;
        let share = 1.0 / (self.count + 10.0);
        let accept = if accept.is_finite() { accept } else { 0.0 };
        self.error = (1.0 - share) * self.error + share * (self.accept - accept);
        let log_step = self.centre - self.count.sqrt() / 0.05 * self.error;
        let share = self.count.powf(-0.75);
        self.settled = share * log_step + (1.0 - share) * self.settled;
        log_step.exp().clamp(1e-8, 1e3)
    }
}
