//! Lattices of points at which integrals over one or two coordinates of a group are found to many digits.

use crate::infer::nested::blocks::places;
use crate::infer::nested::lanes::{LANES, Lanes};
use crate::num::real::LN_2PI;
use crate::num::stream::Stream;

/// A lattice for integrals over the coordinates s of a group, where u = sinh(s): if it is shifted at random
/// the mean over all shifts is exact, and the error of each falls exponentially with the number of points.
#[derive(Debug)]
pub(super) struct Lattice {
    pub(super) points: usize,
    /// How far one point is from the next, in cells of the lattice.
    generators: [usize; 2],
    /// Each s lies between plus and minus this.
    reach: f64,
}

/// Lattices for groups of one coordinate, and of two at most; the widest last. Most groups are wholly within
/// five standard deviations; an effect of which the data say little on one side (no event among a few) is as
/// wide there as its prior, and narrow at its mode.
// A robust group of few is a needle at its mode where its scale is small, with tails that reach the data.
const ONE: [Lattice; 4] = [
    Lattice { points: 12, generators: [1, 0], reach: 2.3 },
    Lattice { points: 18, generators: [1, 0], reach: 3.2 },
    Lattice { points: 28, generators: [1, 0], reach: 4.5 },
    Lattice { points: 48, generators: [1, 0], reach: 7.5 },
];
// Neighbours among the numbers of Fibonacci make the most even lattices of two coordinates.
const TWO: [Lattice; 2] = [
    Lattice { points: 34, generators: [1, 21], reach: 2.75 },
    Lattice { points: 55, generators: [1, 34], reach: 3.5 },
];

/// The lattice that serves groups of which the largest has so many coordinates, and which reach so many
/// standard deviations from their modes, or the widest.
pub(super) fn lattice(largest: usize, far: f64) -> Option<&'static Lattice> {
    let all: &'static [Lattice] = match largest {
        1 => &ONE,
        2 => &TWO,
        _ => return None,
    };
    all.iter().find(|lattice| far <= lattice.reach.sinh()).or(all.last())
}

/// Candidates one after another: standard normal numbers, and how much each counts beside the density of its
/// group.
pub(super) trait Candidates {
    /// The next one: numbers in the order of elimination, and for each group how much it counts.
    fn next(&mut self) -> (Vec<Lanes>, Vec<Lanes>);
}

/// A lattice shifted at random for each number.
pub(super) struct Shifted<'a> {
    lattice: &'a Lattice,
    drawn_group: &'a [usize],
    count: usize,
    numbers: Vec<Number>,
    next: usize,
}

/// A standard normal number on a lattice.
struct Number {
    generator: usize,
    shift: Lanes,
    /// The exponential of the first s.
    first: Lanes,
}

impl<'a> Shifted<'a> {
    pub(super) fn new(
        lattice: &'a Lattice,
        streams: &mut [Stream],
        drawn_group: &'a [usize],
        count: usize,
    ) -> Shifted<'a> {
        let number = |place: usize| {
            let shift: Lanes = std::array::from_fn(|b| streams[b].uniform());
            let first = shift.map(|x| (lattice.reach * (2.0 * x - 1.0)).exp());
            Number { generator: lattice.generators[place], shift, first }
        };
        Shifted {
            lattice,
            drawn_group,
            count,
            numbers: places(drawn_group).into_iter().map(number).collect(),
            next: 0,
        }
    }
}

impl Candidates for Shifted<'_> {
    fn next(&mut self) -> (Vec<Lanes>, Vec<Lanes>) {
        let Lattice { points, reach, generators } = *self.lattice;
        // The mean over all points, times the width of the lattice, by the density of a standard normal
        // number at 0.
        let scale = 2.0 * reach * (-0.5 * LN_2PI).exp();
        // How far this point is from the first, and what that multiplies the exponential of s by: less where
        // it goes round.
        let steps = generators.map(|g| {
            let at = (self.next * g % points) as f64 / points as f64;
            (at, (2.0 * reach * at).exp(), (2.0 * reach * (at - 1.0)).exp())
        });
        let mut counts = vec![[1.0; LANES]; self.count];
        let mut u = Vec::with_capacity(self.numbers.len());
        for (Number { generator, shift, first }, &g) in self.numbers.iter().zip(self.drawn_group) {
            let (at, ahead, round) = steps[usize::from(*generator != generators[0])];
            let mut number = [0.0; LANES];
            for b in 0..LANES {
                let e = first[b] * if at + shift[b] < 1.0 { ahead } else { round };
                number[b] = 0.5 * (e - e.recip());
                counts[g][b] *= scale * 0.5 * (e + e.recip());
            }
            u.push(number);
        }
        self.next += 1;
        (u, counts)
    }
}
