//! Affine forms: every element of an array as a constant plus a weighted sum of variables.

use crate::num::linalg::add_product;
use std::ops::Range;
use std::sync::Arc;

/// Most coefficients that one form holds; beyond, an array counts as variables of its own.
pub(super) const MOST_ENTRIES: usize = 40_000_000;
/// The same for running sums, which are computed faster than their forms are read.
const MOST_RUNNING: usize = 2_000_000;

/// `constant[i] + Σ_j value_ij · variable_j` for every element `i`. The columns of a row ascend.
#[derive(Clone, Debug)]
pub struct Affine {
    /// The constant of each element; those of data are the data themselves.
    pub constant: Arc<[f64]>,
    rows: Rows,
}

#[derive(Clone, Debug)]
enum Rows {
    /// All rows have these columns: a dense design matrix.
    Shared { columns: Arc<[u32]>, values: Arc<[f64]> },
    /// Each row has columns of its own.
    Own { starts: Vec<usize>, columns: Vec<u32>, values: Vec<f64> },
}

impl Affine {
    /// Numbers.
    pub fn constants(values: Arc<[f64]>) -> Affine {
        Affine { constant: values, rows: Rows::Shared { columns: [].into(), values: [].into() } }
    }

    /// The `n` variables from `base` on.
    pub fn variables(base: u32, n: usize) -> Affine {
        let mut out = Writer::default();
        (0..n as u32).for_each(|i| out.push(0.0, &[base + i], &[1.0]));
        out.finish()
    }

    /// `X v` for a matrix of numbers [rows, columns] and as many variables, from `base` on.
    pub fn design(matrix: Arc<[f64]>, base: u32, columns: usize) -> Affine {
        let rows = matrix.len() / columns.max(1);
        let filled = matrix.iter().filter(|x| **x != 0.0).count();
        if 3 * filled < matrix.len() {
            let mut out = Writer::default();
            for row in matrix.chunks(columns) {
                let present: Vec<usize> = (0..columns).filter(|&j| row[j] != 0.0).collect();
                let names: Vec<u32> = present.iter().map(|&j| base + j as u32).collect();
                let values: Vec<f64> = present.iter().map(|&j| row[j]).collect();
                out.push(0.0, &names, &values);
            }
            return out.finish();
        }
        let columns = (0..columns as u32).map(|j| base + j).collect();
        Affine { constant: vec![0.0; rows].into(), rows: Rows::Shared { columns, values: matrix } }
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.constant.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.constant.is_empty()
    }

    /// Variables and coefficients of element `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[f64]) {
        match &self.rows {
            Rows::Shared { columns, values } => {
                let k = columns.len();
                (columns, &values[i * k..(i + 1) * k])
            }
            Rows::Own { starts, columns, values } => {
                let range = starts[i]..starts[i + 1];
                (&columns[range.clone()], &values[range])
            }
        }
    }

    /// Coefficients of consecutive elements, one after another.
    pub fn coefficients(&self, elements: Range<usize>) -> &[f64] {
        match &self.rows {
            Rows::Shared { columns, values } => {
                &values[elements.start * columns.len()..elements.end * columns.len()]
            }
            Rows::Own { starts, values, .. } => &values[starts[elements.start]..starts[elements.end]],
        }
    }

    /// The columns of all rows and the matrix [rows, columns], if all rows have the same.
    pub fn shared(&self) -> Option<(&[u32], &[f64])> {
        match &self.rows {
            Rows::Shared { columns, values } => Some((columns, values)),
            Rows::Own { .. } => None,
        }
    }

    /// Number of coefficients.
    pub fn entries(&self) -> usize {
        match &self.rows {
            Rows::Shared { values, .. } => values.len(),
            Rows::Own { values, .. } => values.len(),
        }
    }

    /// Whether all its numbers are finite.
    pub fn is_finite(&self) -> bool {
        let values = match &self.rows {
            Rows::Shared { values, .. } => &values[..],
            Rows::Own { values, .. } => values,
        };
        self.constant.iter().chain(values).all(|x| x.is_finite())
    }

    /// Whether no variable matters.
    pub fn is_constant(&self) -> bool {
        let values = match &self.rows {
            Rows::Shared { values, .. } => &values[..],
            Rows::Own { values, .. } => values,
        };
        values.iter().all(|v| *v == 0.0)
    }

    /// The largest variable that occurs.
    pub fn last_variable(&self) -> Option<u32> {
        match &self.rows {
            Rows::Shared { columns, .. } => columns.last().copied(),
            Rows::Own { columns, .. } => columns.iter().max().copied(),
        }
    }

    /// The variable that it is, element by element from `base` on, if it is nothing else.
    fn plain_variables(&self) -> Option<u32> {
        let base = *self.row(0).0.first()?;
        let plain = |i: usize| self.constant[i] == 0.0 && self.row(i) == (&[base + i as u32][..], &[1.0][..]);
        (0..self.len()).all(plain).then_some(base)
    }

    /// Element `at(i)` for each `i` below `n`.
    pub fn gather(&self, n: usize, at: impl Fn(usize) -> usize) -> Affine {
        if let (Rows::Shared { columns, values }, true) = (&self.rows, n > 0) {
            let k = columns.len();
            let constant = (0..n).map(|i| self.constant[at(i)]).collect();
            let values = (0..n * k).map(|e| values[at(e / k) * k + e % k]).collect();
            return Affine { constant, rows: Rows::Shared { columns: columns.clone(), values } };
        }
        let mut out = Writer::default();
        for i in 0..n {
            let from = at(i);
            let (columns, values) = self.row(from);
            out.push(self.constant[from], columns, values);
        }
        out.finish()
    }

    /// Every element `i` times `sign`, plus `plus(i)`. What keeps its sign shares its coefficients.
    pub fn shifted(self, sign: f64, plus: impl Fn(usize) -> f64) -> Affine {
        if sign != 1.0 {
            return self.scaled(|_| sign, plus);
        }
        let constant = self.constant.iter().enumerate().map(|(i, c)| c + plus(i)).collect();
        Affine { constant, rows: self.rows }
    }

    /// Every element `i` times `by(i)`, plus `plus(i)`.
    pub fn scaled(mut self, by: impl Fn(usize) -> f64, plus: impl Fn(usize) -> f64) -> Affine {
        self.constant = self.constant.iter().enumerate().map(|(i, c)| c * by(i) + plus(i)).collect();
        match &mut self.rows {
            Rows::Shared { columns, values } => {
                let k = columns.len().max(1);
                *values = values.iter().enumerate().map(|(e, v)| v * by(e / k)).collect();
            }
            Rows::Own { starts, values, .. } => {
                for i in 0..starts.len() - 1 {
                    values[starts[i]..starts[i + 1]].iter_mut().for_each(|v| *v *= by(i));
                }
            }
        }
        self
    }

    /// `self + sign · other`, element by element of equally long forms.
    pub fn plus(&self, other: &Affine, sign: f64) -> Affine {
        if let (Some((a, x)), Some((b, y))) = (self.shared(), other.shared()) {
            let constant =
                self.constant.iter().zip(other.constant.iter()).map(|(c, d)| c + sign * d).collect();
            let rows = match b.is_empty() {
                true => self.rows.clone(),
                false => plus_shared((a, x), (b, y), self.len(), sign),
            };
            return Affine { constant, rows };
        }
        let mut out = Writer::default();
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for i in 0..self.len() {
            columns.clear();
            values.clear();
            merge(self.row(i), other.row(i), sign, &mut columns, &mut values);
            out.push(self.constant[i] + sign * other.constant[i], &columns, &values);
        }
        out.finish()
    }

    /// An element of one form minus an element of another: gives the constant, and appends variables and
    /// coefficients.
    pub fn difference(
        (a, i): (&Affine, usize),
        (b, j): (&Affine, usize),
        columns: &mut Vec<u32>,
        values: &mut Vec<f64>,
    ) -> f64 {
        merge(a.row(i), b.row(j), -1.0, columns, values);
        a.constant[i] - b.constant[j]
    }

    /// All elements of the forms, one form after another.
    pub fn concat<'a>(forms: impl Iterator<Item = &'a Affine>) -> Affine {
        let mut out = Writer::default();
        for form in forms {
            for i in 0..form.len() {
                let (columns, values) = form.row(i);
                out.push(form.constant[i], columns, values);
            }
        }
        out.finish()
    }

    /// `n` sums: element `i` is the sum over the listed `(element, weight)`.
    pub fn sums(
        &self,
        n: usize,
        variables: usize,
        list: impl Fn(usize, &mut dyn FnMut(usize, f64)),
    ) -> Option<Affine> {
        let mut out = Writer::default();
        let mut total = Accumulator::new(variables);
        for i in 0..n {
            let mut constant = 0.0;
            list(i, &mut |element, weight| {
                constant += weight * self.constant[element];
                total.add(self.row(element), weight);
            });
            total.flush(constant, &mut out);
            if out.values.len() > MOST_ENTRIES {
                return None;
            }
        }
        Some(out.finish())
    }

    /// Running sums, begun anew after each `period` elements; None if that takes too many coefficients: each
    /// sum has those of all before it.
    pub fn running_sums(&self, period: usize, variables: usize) -> Option<Affine> {
        let mut out = Writer::default();
        let mut total = Accumulator::new(variables);
        let mut constant = 0.0;
        for i in 0..self.len() {
            if i % period == 0 {
                total.clear();
                constant = 0.0;
            }
            constant += self.constant[i];
            total.add(self.row(i), 1.0);
            total.write(constant, &mut out);
            if out.values.len() > MOST_RUNNING {
                return None;
            }
        }
        Some(out.finish())
    }

    /// `M v` for a matrix of numbers [rows, inner] and this vector.
    pub fn product(&self, matrix: &Arc<[f64]>, rows: usize, variables: usize) -> Option<Affine> {
        let inner = self.len();
        if let Some(base) = (inner > 0).then(|| self.plain_variables()).flatten() {
            return Some(Affine::design(matrix.clone(), base, inner));
        }
        if let Some((columns, values)) = self.shared() {
            let k = columns.len();
            if rows * k > MOST_ENTRIES {
                return None;
            }
            let (mut out, mut constant) = (vec![0.0; rows * k], vec![0.0; rows]);
            add_product(1.0, matrix, values, [rows, inner, k], &mut out);
            add_product(1.0, matrix, &self.constant, [rows, inner, 1], &mut constant);
            return Some(Affine {
                constant: constant.into(),
                rows: Rows::Shared { columns: columns.into(), values: out.into() },
            });
        }
        self.sums(rows, variables, |i, add| {
            matrix[i * inner..(i + 1) * inner].iter().enumerate().for_each(|(j, &w)| {
                if w != 0.0 {
                    add(j, w);
                }
            });
        })
    }
}

/// The sum of two design matrices.
fn plus_shared((a, x): (&[u32], &[f64]), (b, y): (&[u32], &[f64]), n: usize, sign: f64) -> Rows {
    if a == b {
        let values = x.iter().zip(y).map(|(x, y)| x + sign * y).collect();
        return Rows::Shared { columns: a.into(), values };
    }
    let mut columns: Vec<u32> = a.iter().chain(b).copied().collect();
    columns.sort_unstable();
    columns.dedup();
    let place = |names: &[u32]| -> Vec<Option<usize>> {
        columns.iter().map(|c| names.binary_search(c).ok()).collect()
    };
    let (in_a, in_b, k) = (place(a), place(b), columns.len());
    let value = |e: usize| {
        let (i, j) = (e / k, e % k);
        let first = in_a[j].map_or(0.0, |at| x[i * a.len() + at]);
        in_b[j].map_or(first, |at| first + sign * y[i * b.len() + at])
    };
    let values = (0..n * k).map(value).collect();
    Rows::Shared { columns: columns.into(), values }
}

/// Two ascending rows as one.
fn merge(a: (&[u32], &[f64]), b: (&[u32], &[f64]), sign: f64, columns: &mut Vec<u32>, values: &mut Vec<f64>) {
    let (mut i, mut j) = (0, 0);
    while i < a.0.len() || j < b.0.len() {
        let (from_a, from_b) = match (a.0.get(i), b.0.get(j)) {
            (Some(x), Some(y)) => (x <= y, y <= x),
            (x, y) => (x.is_some(), y.is_some()),
        };
        let mut value = 0.0;
        columns.push(if from_a { a.0[i] } else { b.0[j] });
        if from_a {
            value += a.1[i];
            i += 1;
        }
        if from_b {
            value += sign * b.1[j];
            j += 1;
        }
        values.push(value);
    }
}

/// Rows under construction.
#[derive(Default)]
struct Writer {
    constant: Vec<f64>,
    starts: Vec<usize>,
    columns: Vec<u32>,
    values: Vec<f64>,
    ragged: bool,
}

impl Writer {
    fn push(&mut self, constant: f64, columns: &[u32], values: &[f64]) {
        let first = self.starts.get(1).copied().unwrap_or(self.columns.len());
        if !self.constant.is_empty() && !self.ragged {
            self.ragged = self.columns[..first] != *columns;
        }
        self.constant.push(constant);
        self.starts.push(self.values.len());
        self.columns.extend_from_slice(columns);
        self.values.extend_from_slice(values);
    }

    fn finish(mut self) -> Affine {
        if self.ragged {
            self.starts.push(self.values.len());
            let rows = Rows::Own { starts: self.starts, columns: self.columns, values: self.values };
            return Affine { constant: self.constant.into(), rows };
        }
        let width = self.columns.len() / self.constant.len().max(1);
        self.columns.truncate(width);
        let rows = Rows::Shared { columns: self.columns.into(), values: self.values.into() };
        Affine { constant: self.constant.into(), rows }
    }
}

/// A sum of many rows under construction.
struct Accumulator {
    dense: Vec<f64>,
    seen: Vec<bool>,
    touched: Vec<u32>,
}

impl Accumulator {
    fn new(variables: usize) -> Self {
        Self { dense: vec![0.0; variables], seen: vec![false; variables], touched: Vec::new() }
    }

    fn add(&mut self, (columns, values): (&[u32], &[f64]), weight: f64) {
        for (&c, &v) in columns.iter().zip(values) {
            let at = c as usize;
            if !self.seen[at] {
                self.seen[at] = true;
                self.touched.push(c);
            }
            self.dense[at] += weight * v;
        }
    }

    fn flush(&mut self, constant: f64, out: &mut Writer) {
        self.write(constant, out);
        self.clear();
    }

    fn write(&mut self, constant: f64, out: &mut Writer) {
        self.touched.sort_unstable();
        let values: Vec<f64> = self.touched.iter().map(|&c| self.dense[c as usize]).collect();
        out.push(constant, &self.touched, &values);
    }

    fn clear(&mut self) {
        for &c in &self.touched {
            self.dense[c as usize] = 0.0;
            self.seen[c as usize] = false;
        }
        self.touched.clear();
    }
}
