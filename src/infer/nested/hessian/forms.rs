//! The Hessian of the inner coordinates from the functions of affine forms that the log density is a sum of:
//! where its entries are, and what they are at sixteen outer points, for two gradients of those functions
//! however many coordinates there are.
//!
//! Where the log density is quadratic in the inner coordinates, second derivatives depend on the outer ones
//! alone, and those of many rows are in proportion (all that share a scale): the products of such rows are
//! added up once.

use crate::infer::nested::hessian::pattern::{LITTLE, PROBES};
use crate::infer::nested::lanes::{LANES, Lanes, PURPOSE};
use crate::infer::nested::partition::{How, Partition};
use crate::num::stream::Stream;
use crate::target::{Curvature, CurvatureEvaluator, Target};

/// Most products of coefficients of forms that are added up one by one: the places of their entries take a
/// quarter of a gigabyte.
const MOST_PRODUCTS: usize = 60_000_000;
/// Most classes of rows whose second derivatives are in proportion, and how nearly.
const MOST_CLASSES: usize = 16;
const ALIKE: f64 = 1e-8;
/// Widths of differences, in standard deviations of a form: where functions are quadratic, and where not.
const WIDE: f64 = 1.0;
const NARROW: f64 = 1e-4;
/// The width before standard deviations are known, for coefficients of this length in all.
const FIRST: f64 = 1e-5;

/// Coordinates up to which gradients tell a Hessian sooner than the graph is read.
const FEW: usize = 30;

/// The Hessian as sums over forms.
pub(in crate::infer) struct Forms {
    curvature: Curvature,
    /// Widths of differences.
    widths: Vec<f64>,
    /// Rows and columns of the entries, each unordered pair once, every diagonal entry among them.
    pub(in crate::infer) entries: Vec<(u32, u32)>,
    /// What each entry is multiplied by: the steps of its row and its column.
    scales: Vec<f64>,
    /// What second derivatives are added to entries.
    sums: Vec<Sum>,
    /// The diagonal at the first point of those where it was looked for.
    pub(in crate::infer) diagonal: Vec<f64>,
}

/// Entries that one second derivative is added to.
struct Sum {
    /// Which of the varying forms it is of.
    form: usize,
    into: Into,
}

enum Into {
    /// The entries, each so many times.
    Times(Vec<(u32, f64)>),
    /// The entries of all pairs of the form's own terms, each by the product of their coefficients.
    Pairs(Vec<u32>),
}

impl Forms {
    /// Of a target whose log density is known to be such a sum; None if it is not, if there is too much, or
    /// where gradients tell it for less than it takes to read the graph: of data that were added up to sums
    /// of squares they cost next to nothing.
    pub(in crate::infer) fn new(target: &dyn Target, parts: &Partition, seed: u64) -> Option<Forms> {
        let k = parts.inner.len();
        if k <= FEW || target.operations() * (1 + k) < target.elements() {
            return None;
        }
        let curvature = target.curvature(&parts.inner)?;
        let share = if parts.how == How::Quadratic { WIDE } else { FIRST };
        let widths: Vec<f64> = curvature.varying().iter().map(|v| share * length(&v.terms)).collect();
        let mut second = Vec::new();
        curvature.evaluator().second(&probes(target.dimension(), parts, seed), &widths, &mut second);
        if !second.iter().all(|x| x.iter().all(|x| x.is_finite())) {
            return None;
        }
        let classes = match parts.how {
            How::Quadratic => classes(&second),
            How::Searched => None,
        };
        let classes = classes.unwrap_or_else(|| each(&second));
        let terms: Vec<&[(u32, f64)]> = curvature.varying().iter().map(|v| v.terms.as_slice()).collect();
        let alone =
            classes.iter().filter(|class| class.rows.len() == 1).map(|class| terms[class.rows[0].0].len());
        if alone.map(pairs).sum::<usize>() > MOST_PRODUCTS {
            return None;
        }
        let places = Places::new(k, &classes, &terms);
        let sums: Vec<Sum> = classes.iter().map(|class| class.sum(k, &terms, &places)).collect();
        let entries = places.entries();
        let scales = vec![1.0; entries.len()];
        let mut forms = Forms { curvature, widths, entries, scales, sums, diagonal: Vec::new() };
        let mut found = Vec::new();
        forms.add_up(&second, &mut found);
        let on_diagonal = forms.entries.iter().zip(&found).filter(|((i, j), _)| i == j);
        forms.diagonal = on_diagonal.map(|(_, x)| x[0]).collect();
        Some(forms)
    }

    /// Operations that the entries take at one point.
    pub(in crate::infer) fn operations(&self) -> usize {
        let sum = |sum: &Sum| match &sum.into {
            Into::Times(entries) => entries.len(),
            Into::Pairs(entries) => entries.len(),
        };
        self.curvature.operations() + self.sums.iter().map(sum).sum::<usize>()
    }

    /// Measures coordinates in these steps from then on.
    pub(in crate::infer) fn measure_in(&mut self, steps: &[f64], how: How) {
        let share = if how == How::Quadratic { WIDE } else { NARROW };
        let scaled = |terms: &[(u32, f64)]| -> Vec<(u32, f64)> {
            terms.iter().map(|&(i, a)| (i, a * steps[i as usize])).collect()
        };
        let width = |terms: &[(u32, f64)]| share * length(&scaled(terms));
        self.widths = self.curvature.varying().iter().map(|v| width(&v.terms)).collect();
        self.scales = self.entries.iter().map(|&(i, j)| steps[i as usize] * steps[j as usize]).collect();
    }

    /// For each column its rows, ascending.
    pub(in crate::infer) fn columns(&self) -> Vec<Vec<usize>> {
        let mut columns = vec![Vec::new(); self.diagonal.len()];
        for &(i, j) in &self.entries {
            columns[i as usize].push(j as usize);
            if i != j {
                columns[j as usize].push(i as usize);
            }
        }
        columns.iter_mut().for_each(|rows| rows.sort_unstable());
        columns
    }

    /// Buffers of one thread.
    pub(in crate::infer) fn evaluator(&self) -> FormsEvaluator<'_> {
        FormsEvaluator { of: self, curvature: self.curvature.evaluator(), second: Vec::new() }
    }

    /// The entries of minus the Hessian, from these second derivatives.
    fn add_up(&self, second: &[Lanes], entries: &mut Vec<Lanes>) {
        entries.clear();
        entries.resize(self.entries.len(), [0.0; LANES]);
        for sum in &self.sums {
            let second = &second[sum.form];
            let mut subtract = |at: u32, times: f64| {
                let entry = &mut entries[at as usize];
                (0..LANES).for_each(|b| entry[b] -= times * second[b]);
            };
            match &sum.into {
                Into::Times(all) => all.iter().for_each(|&(at, times)| subtract(at, times)),
                Into::Pairs(places) => {
                    let terms = &self.curvature.varying()[sum.form].terms;
                    products(terms).zip(places).for_each(|((_, times), at)| subtract(*at, times));
                }
            }
        }
        for (entry, scale) in entries.iter_mut().zip(&self.scales) {
            entry.iter_mut().for_each(|x| *x *= scale);
        }
    }
}

/// Evaluates entries.
pub(in crate::infer) struct FormsEvaluator<'f> {
    of: &'f Forms,
    curvature: CurvatureEvaluator<'f>,
    second: Vec<Lanes>,
}

impl FormsEvaluator<'_> {
    /// The entries of minus the Hessian in steps, at sixteen points of all coordinates.
    pub(in crate::infer) fn entries(&mut self, points: &[f64], entries: &mut Vec<Lanes>) {
        self.curvature.second(points, &self.of.widths, &mut self.second);
        self.of.add_up(&self.second, entries);
    }
}

/// Forms whose second derivatives are so many times that of the first.
struct Class {
    rows: Vec<(usize, f64)>,
}

impl Class {
    /// The products of the coefficients of all its rows.
    fn sum(&self, k: usize, terms: &[&[(u32, f64)]], places: &Places) -> Sum {
        let form = self.rows[0].0;
        if self.rows.len() == 1 {
            let pairs = products(terms[form]).map(|((i, j), _)| places.at(i, j));
            return Sum { form, into: Into::Pairs(pairs.collect()) };
        }
        let mut into = Vec::new();
        let (mut sums, mut met) = (vec![0.0; k], Vec::new());
        for (j, rows) in by_column(k, self.rows.iter().copied(), terms).iter().enumerate() {
            for &(row, times, b) in rows {
                for &(i, a) in terms[row].iter().take_while(|(i, _)| *i as usize <= j) {
                    if sums[i as usize] == 0.0 {
                        met.push(i);
                    }
                    sums[i as usize] += times * a * b;
                }
            }
            met.sort_unstable();
            met.dedup();
            for i in met.drain(..) {
                into.push((places.at(i, j as u32), std::mem::take(&mut sums[i as usize])));
            }
        }
        Sum { form, into: Into::Times(into) }
    }
}

/// For each column the rows that have it, how often they count, and the coefficient.
fn by_column(
    k: usize,
    rows: impl Iterator<Item = (usize, f64)>,
    terms: &[&[(u32, f64)]],
) -> Vec<Vec<(usize, f64, f64)>> {
    let mut columns = vec![Vec::new(); k];
    for (row, times) in rows {
        terms[row].iter().for_each(|&(j, b)| columns[j as usize].push((row, times, b)));
    }
    columns
}

/// Where each entry of the upper triangle stands: column by column, rows ascending.
struct Places {
    start: Vec<usize>,
    rows: Vec<u32>,
}

impl Places {
    /// Of all entries that some row of a class has, and the diagonal.
    fn new(k: usize, classes: &[Class], terms: &[&[(u32, f64)]]) -> Places {
        let all = classes.iter().flat_map(|class| class.rows.iter().copied());
        let mut places = Places { start: vec![0], rows: Vec::new() };
        let mut seen = vec![usize::MAX; k];
        for (j, rows) in by_column(k, all, terms).iter().enumerate() {
            let first = places.rows.len();
            places.rows.push(j as u32);
            seen[j] = j;
            for &(row, _, _) in rows {
                for &(i, _) in terms[row].iter().take_while(|(i, _)| (*i as usize) < j) {
                    if std::mem::replace(&mut seen[i as usize], j) != j {
                        places.rows.push(i);
                    }
                }
            }
            places.rows[first..].sort_unstable();
            places.start.push(places.rows.len());
        }
        places
    }

    /// The place of row `i` of column `j`, where there is one.
    fn at(&self, i: u32, j: u32) -> u32 {
        let from = self.start[j as usize];
        let rows = &self.rows[from..self.start[j as usize + 1]];
        (from + rows.partition_point(|&row| row < i)) as u32
    }

    /// Row and column of each.
    fn entries(&self) -> Vec<(u32, u32)> {
        let columns = self.start.windows(2).enumerate();
        columns.flat_map(|(j, w)| self.rows[w[0]..w[1]].iter().map(move |&i| (i, j as u32))).collect()
    }
}

/// Forms by what their second derivatives are in proportion to; None where there are too many kinds.
fn classes(second: &[Lanes]) -> Option<Vec<Class>> {
    let mut classes: Vec<Class> = Vec::new();
    for (form, x) in second.iter().enumerate().filter(|(_, x)| **x != [0.0; LANES]) {
        let times = |class: &Class| {
            let first = &second[class.rows[0].0];
            let times = x[0] / first[0];
            let alike = |b: usize| (x[b] - times * first[b]).abs() <= ALIKE * x[b].abs();
            (times.is_finite() && (0..LANES).all(alike)).then_some(times)
        };
        match (0..classes.len()).find_map(|at| Some((at, times(&classes[at])?))) {
            Some((at, times)) => classes[at].rows.push((form, times)),
            None if classes.len() == MOST_CLASSES => return None,
            None => classes.push(Class { rows: vec![(form, 1.0)] }),
        }
    }
    Some(classes)
}

/// Every form that is not linear by itself.
fn each(second: &[Lanes]) -> Vec<Class> {
    let curved = second.iter().enumerate().filter(|(_, x)| **x != [0.0; LANES]);
    curved.map(|(form, _)| Class { rows: vec![(form, 1.0)] }).collect()
}

/// Points around those at which the patterns of other Hessians are found; the first near the origin.
fn probes(dimension: usize, parts: &Partition, seed: u64) -> Vec<f64> {
    let mut stream = Stream::new(seed, PURPOSE, 3);
    let mut z = vec![0.0; dimension * LANES];
    for b in 0..LANES {
        let (far, spread) = (PROBES[b % PROBES.len()], if b < PROBES.len() { LITTLE } else { 1.0 });
        parts.outer.iter().for_each(|&i| z[i * LANES + b] = far + spread * stream.uniform());
        parts.inner.iter().for_each(|&i| z[i * LANES + b] = 0.5 * stream.normal());
    }
    z
}

/// Every pair of terms, a term with itself among them: their columns, ascending, and the product of their
/// coefficients.
fn products(terms: &[(u32, f64)]) -> impl Iterator<Item = ((u32, u32), f64)> {
    let with = move |at: usize| terms[..=at].iter().map(move |&(i, a)| ((i, terms[at].0), a * terms[at].1));
    (0..terms.len()).flat_map(with)
}

fn length(terms: &[(u32, f64)]) -> f64 {
    terms.iter().map(|(_, a)| a * a).sum::<f64>().sqrt()
}

fn pairs(count: usize) -> usize {
    count * (count + 1) / 2
}
