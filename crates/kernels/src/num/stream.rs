//! Seeded random streams: the same key gives the same numbers whatever the thread that draws them.
//!
//! A [`Stream`] is ChaCha with 8 rounds, keyed by (seed, purpose, index). Two streams whose keys differ in
//! any part are independent. Work that is shared out over threads opens one stream per piece (step t, draw
//! b), never one per thread.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Infallible, Rng, SeedableRng, TryRng};
use rand_distr::Distribution;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

/// The seed of a piece of work that has streams of its own: streams of two pieces, and of two seeds, are
/// independent of each other, which those of `seed` and `seed + 1000` are not where another piece adds 1000.
pub fn child(seed: u64, purpose: u64, index: u64) -> u64 {
    /// Sets these streams apart from those that are drawn from.
    const CHILD: u64 = 0x6368_696c_6400_0000;
    Stream::new(seed, purpose ^ CHILD, index).bits()
}

impl Stream {
    /// The stream of a seed, a purpose (who draws) and an index (which step, or which draw of which step).
    pub fn new(seed: u64, purpose: u64, index: u64) -> Stream {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8..16].copy_from_slice(&purpose.to_le_bytes());
        key[16..24].copy_from_slice(&index.to_le_bytes());
        key[24..].copy_from_slice(b"stickler");
        Stream(ChaCha8Rng::from_seed(key))
    }

    /// 64 random bits.
    #[inline]
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// The 64 random bits that come after so many others, of the whole stream.
    pub fn bits_at(&mut self, index: u64) -> u64 {
        self.0.set_word_pos(2 * u128::from(index));
        self.bits()
    }

    /// Uniform on the open interval (0, 1): odd multiples of 2^-53, so never 0 or 1.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        open_unit(self.bits())
    }

    /// A whole number below `n`, without bias (0 if n = 0).
    pub fn below(&mut self, n: usize) -> usize {
        // Lemire: the high half of a product, rejecting the low halves that are over-represented.
        let n = n as u64;
        if n == 0 {
            return 0;
        }
        let threshold = n.wrapping_neg() % n;
        loop {
            let product = u128::from(self.bits()) * u128::from(n);
            if product as u64 >= threshold {
                return (product >> 64) as usize;
            }
        }
    }

    /// Standard normal, by the ziggurat method.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        rand_distr::StandardNormal.sample(self)
    }

    /// Fills a slice with standard normals.
    pub fn fill_normal(&mut self, out: &mut [f64]) {
        out.iter_mut().for_each(|x| *x = self.normal());
    }

    /// Exponential with rate 1.
    pub fn exponential(&mut self) -> f64 {
        rand_distr::Exp1.sample(self)
    }

    /// Gamma with the given shape and scale 1; NaN unless the shape is positive and finite.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        rand_distr::Gamma::new(shape, 1.0).map_or(f64::NAN, |law| law.sample(self))
    }

    /// Puts things in an order by chance, every one as likely as another.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for i in (1..things.len()).rev() {
            things.swap(i, self.below(i + 1));
        }
    }
}

/// So that the laws of `rand_distr` can draw from a stream.
impl TryRng for Stream {
    type Error = Infallible;

    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

/// The 52 high bits as an odd multiple of 2^-53.
#[inline]
pub(crate) fn open_unit(bits: u64) -> f64 {
    ((bits >> 12) as f64 + 0.5) * (1.0 / (1_u64 << 52) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::special::{gamma_p, phi};

    /// The largest distance between the empirical cdf of a sample and the cdf, times √n: below 2 with
    /// probability 0.9993.
    fn kolmogorov(mut sample: Vec<f64>, cdf: impl Fn(f64) -> f64) -> f64 {
        sample.sort_by(f64::total_cmp);
        let n = sample.len() as f64;
        let gap = |(i, x): (usize, &f64)| {
            let p = cdf(*x);
            (p - i as f64 / n).max((i + 1) as f64 / n - p)
        };
        n.sqrt() * sample.iter().enumerate().map(gap).fold(0.0, f64::max)
    }

    #[test]
    fn laws() {
        let n = 40_000;
        let draw = |purpose: u64, f: fn(&mut Stream) -> f64| {
            let mut stream = Stream::new(11, purpose, 0);
            (0..n).map(|_| f(&mut stream)).collect::<Vec<f64>>()
        };
        assert!(kolmogorov(draw(1, Stream::uniform), |x| x) < 2.0);
        assert!(kolmogorov(draw(2, Stream::normal), phi) < 2.0);
        assert!(kolmogorov(draw(3, Stream::exponential), |x| -(-x).exp_m1()) < 2.0);
        assert!(kolmogorov(draw(4, |s| s.gamma(0.3)), |x| gamma_p(0.3, x)) < 2.0);
        assert!(kolmogorov(draw(5, |s| s.gamma(7.5)), |x| gamma_p(7.5, x)) < 2.0);
        let counts = draw(6, |s| s.below(6) as f64).iter().fold([0.0; 6], |mut c, x| {
            c[*x as usize] += 1.0;
            c
        });
        let expected = n as f64 / 6.0;
        let chi2: f64 = counts.iter().map(|c| (c - expected).powi(2) / expected).sum();
        assert!(chi2 < 20.0, "{counts:?}");
    }

    #[test]
    fn a_key_gives_its_numbers_and_no_others() {
        let first = |seed, purpose, index| Stream::new(seed, purpose, index).bits();
        assert_eq!(first(1, 2, 3), first(1, 2, 3));
        let keys = [(1, 2, 3), (1, 3, 2), (2, 1, 3), (3, 2, 1), (1, 2, 4), (0, 0, 0)];
        let drawn: std::collections::BTreeSet<u64> = keys.iter().map(|k| first(k.0, k.1, k.2)).collect();
        assert_eq!(drawn.len(), keys.len());
    }

    #[test]
    fn neighbouring_streams_are_uncorrelated() {
        let n = 20_000;
        let sum: f64 =
            (0..n).map(|i| Stream::new(1, 0, i).normal() * Stream::new(1, 0, i + 1).normal()).sum();
        assert!(sum.abs() < 4.5 * (n as f64).sqrt());
        let mut permutation: Vec<usize> = (0..100).collect();
        Stream::new(1, 9, 0).shuffle(&mut permutation);
        assert_ne!(permutation, (0..100).collect::<Vec<_>>());
        permutation.sort_unstable();
        assert_eq!(permutation, (0..100).collect::<Vec<_>>());
    }

    #[test]
    fn uniforms_are_never_0_or_1() {
        assert!(open_unit(0) > 0.0 && open_unit(u64::MAX) < 1.0);
        assert!(Stream::new(0, 0, 0).gamma(-1.0).is_nan());
    }
}
