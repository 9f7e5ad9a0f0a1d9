//! Where the cells of a grid begin and end along a coordinate: even near the centre, wider further out, and
//! each cut as often as it takes.

/// Most coordinates; most where an evaluation costs more than that of a model and cells are not cut; and the
/// same where each takes a search.
pub(in crate::infer) const MOST: usize = 4;
pub(in crate::infer) const MOST_UNCUT: usize = 3;
pub(in crate::infer) const MOST_SEARCHED: usize = 2;

/// How a coordinate is cut into whole cells.
#[derive(Clone, Copy)]
pub(in crate::infer) struct Cut {
    /// Width of the cells at the centre, in standard deviations of the Gaussian.
    pub(in crate::infer) width: f64,
    /// Cells of equal width on each side of the centre; each further one is wider by this factor; and all of
    /// them.
    pub(in crate::infer) even: usize,
    pub(in crate::infer) wider: f64,
    pub(in crate::infer) side: usize,
}

/// The smallest parts of a whole cell.
pub(in crate::infer) const PARTS: u32 = 1 << 14;

/// The lower corner of a cell, or its sides, in smallest parts; zero where there are fewer coordinates.
pub(in crate::infer) type Corner = [u32; MOST];

/// A coordinate cut into cells. A place on it is the number of smallest parts that lie below.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::infer) struct Axis {
    /// Where cells end, from the centre outwards.
    ends: Vec<f64>,
}

impl Axis {
    pub(in crate::infer) fn new(cut: Cut) -> Axis {
        let (mut at, mut width) = (0.5 * cut.width, cut.width);
        let mut ends = Vec::with_capacity(cut.side + 1);
        for k in 0..=cut.side {
            ends.push(at);
            width *= if k < cut.even { 1.0 } else { cut.wider };
            at += width;
        }
        Axis { ends }
    }

    /// Number of cells.
    pub(in crate::infer) fn count(&self) -> u32 {
        2 * self.ends.len() as u32 - 1
    }

    /// The place where the cell at the centre begins.
    pub(in crate::infer) fn centre(&self) -> u32 {
        (self.ends.len() as u32 - 1) * PARTS
    }

    /// Where a place lies.
    pub(in crate::infer) fn at(&self, place: u32) -> f64 {
        let (cell, part) = (place / PARTS, place % PARTS);
        let from = self.begin(cell);
        match part {
            0 => from,
            part => from + f64::from(part) / f64::from(PARTS) * (self.begin(cell + 1) - from),
        }
    }

    /// Where a cell begins.
    fn begin(&self, cell: u32) -> f64 {
        let middle = self.ends.len() as u32 - 1;
        match cell.checked_sub(middle + 1) {
            Some(right) => self.ends[right as usize],
            None => -self.ends[(middle - cell) as usize],
        }
    }

    /// The place at or below a number, if it is on the axis.
    pub(in crate::infer) fn place(&self, x: f64) -> Option<u32> {
        let far = self.ends.partition_point(|end| *end <= x.abs()) as u32;
        let middle = self.ends.len() as u32 - 1;
        if far > middle || x.is_nan() {
            return None;
        }
        let cell = if x < 0.0 { middle - far } else { middle + far };
        let (from, to) = (self.begin(cell), self.begin(cell + 1));
        let part = ((x - from) / (to - from) * f64::from(PARTS)).clamp(0.0, f64::from(PARTS - 1));
        Some(cell * PARTS + part as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_lie_in_the_cells_of_their_places() {
        let axis = Axis::new(Cut { width: 0.4, even: 12, wider: 1.15, side: 50 });
        for x in [-7.3, -0.21, -0.19, 0.0, 0.2001, 3.0, 40.0] {
            let place = axis.place(x).unwrap();
            assert!(axis.at(place) <= x + 1e-12 && x <= axis.at(place + 1) + 1e-12, "{x}");
        }
        assert!((axis.at(axis.centre()) + axis.at(axis.centre() + PARTS)).abs() < 1e-12);
        assert_eq!(axis.place(1e9), None);
        assert_eq!(axis.place(-1e9), None);
    }
}
